"""What the names of a TensorFlow 2 script stand for, outside of any trace.

Everything that is not seen is `Unknown`. A name that is captured by a function counts as known only
where it gets its value once, so that what it stands for is the same at each call.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Bottom,
    Code,
    Group,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    at,
    is_nested,
    joined,
)
from tfrewrite.analysis.eager.eager_expressions import EagerExpressions, of_library
from tfrewrite.analysis.eager.members import Members
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.program.scopes import Binding, How, path_in

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.flow import Loop

# What goes round in circles is not remembered on the way, and would be followed ever again. In
# real code few questions need a hundred.
_MOST_PARTS = 1_000


class EagerValues:
    """Answers what an expression gives, as far as the file shows it."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._classes = facts.classes
        self.members = Members(facts, self)
        self._expressions = EagerExpressions(facts, self)
        self._once = facts.reached_once
        self._known: dict[ast.AST, Value] = {}
        self._open: set[ast.AST] = set()
        self._cycles = 0
        self._left = 0

    # What is asked from outside

    def value(self, expr: ast.expr) -> Value:
        """What an expression gives where it stands, at any time that it is evaluated."""
        if expr in self._known:
            return self._known[expr]
        if expr in self._open or len(self._open) > 200:
            self._cycles += 1
            return Bottom()
        if not self._open:
            self._left = _MOST_PARTS
        if not self._left:
            return Unknown("what is made of too much to be followed")
        self._left -= 1
        self._open.add(expr)
        cycles = self._cycles
        found = self._expressions.value(expr)
        self._open.discard(expr)
        if self._cycles == cycles or not self._open:
            self._known[expr] = found
        return found

    def is_metric(self, expr: ast.expr) -> bool:
        """Whether an expression gives a metric."""
        found = self.value(expr)
        return isinstance(found, Thing) and found.kind == "metric"

    def captured(self, name: ast.Name, during: Loop | None = None) -> Value:
        """What a function that does not bind a name sees of it, the same at each call.

        With `during` it is known that the function is called in the turns of that loop only.
        """
        path = self._names.dotted(name)
        if path is not None:
            return of_library(path)
        cls = self._classes.of_self(name)
        if cls is not None:
            return Own(cls, frozenset({cls}))
        bindings = self._scopes.bindings(name)
        if len(bindings) > 1 and during is not None:
            bindings = self._meanwhile(name, bindings, during) or bindings
        if not bindings:
            return Unknown(f"`{name.id}` is not bound in this file")
        if len(bindings) != 1:
            lines = ", ".join(str(getattr(b.node, "lineno", "?")) for b in bindings)
            return Unknown(f"`{name.id}` gets its value in several places: lines {lines}")
        binding = bindings[0]
        if binding.how in (How.LOOP, How.AUGMENT, How.WITH, How.OTHER) or self._repeats(binding):
            line = getattr(binding.node, "lineno", 0)
            return Unknown(f"`{name.id}` gets another value each time that line {line} runs")
        found = self.bound(binding)
        if isinstance(found, Number):
            return replace(found, varies=False)
        return self._unless_changed(found, name.id, list(self._scopes.uses(name)))

    def _meanwhile(self, name: ast.Name, bindings: list[Binding], loop: Loop) -> list[Binding]:
        """The one binding that holds all through a loop that itself binds nothing of the kind."""
        if self._scopes.of(name).owner(name.id) is not self._scopes.of(loop):
            return []
        if any(b.node is loop or loop in self._source.ancestors(b.node) for b in bindings):
            return []
        found = self._flow.before(name.id, loop) or []
        return found if len(found) == 1 else []

    def of_attribute(self, owner: Value, name: str) -> Value:
        """What an attribute of a value is."""
        match owner:
            case Own(cls=cls):
                found = self.members.member(cls, name)
                return replace(found, owner=owner) if isinstance(found, Code) else found
            case Thing(kind="model" | "layer") if name in keras_things.VARIABLES:
                return Group(None, Thing("variable", "Variable"))
            case Thing(kind="model" | "layer") if name == "losses":
                return Group(None, Tensor())
            case Thing(kind="layer") if name in ("kernel", "bias", "embeddings"):
                return Thing("variable", "Variable")
            case Thing(kind="model") if name in ("output", "input"):
                return replace(owner, kind="symbolic")
            case Thing(kind="optimizer") if name in ("iterations", "learning_rate", "lr"):
                return Thing("variable", "Variable")
            case Array() | Tensor() if name in ("shape", "ndim", "size", "dtype"):
                return Number(None, varies=True)
            case Thing(kind="variable") if name in ("shape", "dtype", "name"):
                return Number(None)
            case Array() if name == "T":
                return replace(owner, shape=None)
        return Unknown(f"what the attribute `{name}` holds is not known")

    # Names

    def _repeats(self, binding: Binding) -> bool:
        """Whether a variable may get its value more than once in its lifetime."""
        if isinstance(binding.node, ast.arg):
            return False
        home = self._scopes.of(binding.node)
        owner = home.owner(binding.name)
        in_loop = self._flow.loop(binding.node) is not None
        return in_loop or owner is not home

    def of_name(self, name: ast.Name) -> Value:
        """What a name stands for where it is read."""
        path = self._names.dotted(name)
        if path is not None:
            return of_library(path)
        cls = self._classes.of_self(name)
        if cls is not None:
            return Own(cls)
        bindings = self._flow.reaching(name)
        if not bindings:
            return Unknown(f"`{name.id}` is not bound in this file")
        found = joined(*(self.bound(binding) for binding in bindings))
        if isinstance(found, Number):
            steady = all(isinstance(b.node, ast.arg) or self._once.holds(b.node) for b in bindings)
            fixed = len(self._scopes.bindings(name)) == 1 and steady
            literal = found.literal is not None and not found.varies
            return replace(found, varies=found.varies if fixed or literal else True)
        return self._unless_changed(found, name.id, list(self._scopes.uses(name)))

    def bound(self, binding: Binding) -> Value:
        """What one place gives a name."""
        value = binding.value
        match binding.how:
            case How.FUNCTION if isinstance(binding.node, ast.FunctionDef):
                return Code(binding.node)
            case How.ASSIGN if value is not None:
                return self.value(value)
            case How.UNPACK if value is not None:
                return at(self.value(value), path_in(binding))
            case How.LOOP if value is not None:
                return at(self._expressions.turn(value), path_in(binding))
            case How.PARAMETER:
                return self._given(binding)
            case How.WITH if isinstance(value, ast.Call):
                if self._names.tf(value.func) == "GradientTape":
                    return Thing("tape", "GradientTape")
            case How.AUGMENT if value is not None:
                added = self.value(value)
                return Number(None, varies=True) if isinstance(added, Number) else added
        line = getattr(binding.node, "lineno", 0)
        how = "is imported" if binding.how is How.IMPORT else "gets its value"
        return Unknown(f"`{binding.name}` {how} in line {line}, and what it is is not known")

    def _given(self, binding: Binding) -> Value:
        """What the callers give for a parameter."""
        function = self._source.function(binding.node)
        unknown = Unknown(f"`{binding.name}` is given by callers that are not all known")
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            return self._given_to_init(function, binding) or unknown
        given = self._own.given(binding)
        if not given:
            return unknown
        found = joined(*(self.value(one) for one in given))
        if isinstance(found, Number) and len(given) > 1 and found.literal is None:
            return replace(found, varies=True)
        return found

    def _given_to_init(self, init: ast.FunctionDef, binding: Binding) -> Value | None:
        cls = self._source.parent(init)
        if not isinstance(cls, ast.ClassDef) or self.members.subclassed(cls):
            return None
        values: list[Value] = []
        for call in self._classes.instantiations(cls):
            if any(isinstance(one, ast.Starred) for one in call.args):
                return None
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            position = (binding.index or 0) - 1
            argument = given.get(binding.name) or (
                call.args[position] if 0 <= position < len(call.args) else binding.value
            )
            if argument is None or None in given:
                return None
            values.append(self.value(argument))
        return joined(*values) if values else None

    def _unless_changed(self, value: Value, name: str, uses: list[ast.Name]) -> Value:
        """A container only where nobody changes it or gets hold of it."""
        if isinstance(value, Group) and not value.lazy:
            for use in uses:
                if not self._facts.list_uses.leaves(use, nested=is_nested(value)):
                    return Unknown(f"`{name}` may be changed in line {use.lineno}")
        return value
