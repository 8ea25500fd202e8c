"""What the names and expressions of a TensorFlow 2 script stand for, outside of any trace.

Everything that is not seen is `Unknown`. A name that is captured by a function counts as known only
where it gets its value once, so that what it stands for is the same at each call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis import array_shapes
from tfrewrite.analysis.abstract_values import (
    Array,
    Bottom,
    Code,
    Dataset,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    group,
    is_nested,
    joined,
    turned,
)
from tfrewrite.analysis.eager_calls import EagerCalls
from tfrewrite.analysis.members import Members
from tfrewrite.analysis.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.scopes import COMPREHENSIONS, Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.flow import Loop

_CONSTANTS = ("numpy.pi", "numpy.e", "numpy.inf", "math.pi", "math.e", "math.inf")
_VARIABLES = frozenset(
    "trainable_variables trainable_weights variables weights non_trainable_variables".split()
)
_LOOKING = frozenset("items values keys get index count copy".split())
_OF_KERAS = ("model", "layer")
_KNOWN_LIBRARIES = frozenset("tensorflow numpy math builtins functools operator".split())
# What goes round in circles is not remembered on the way, and would be followed ever again. In
# real code few questions need a hundred.
_MOST_PARTS = 1_000
_PROGRESS = frozenset({"tqdm.tqdm", "tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm"})


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
        self._calls = EagerCalls(facts, self)
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
        found = self._value(expr)
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
            return _of_library(path)
        cls = self._classes.of_self(name)
        if cls is not None:
            return Own(cls, frozenset({cls}))
        bindings = self._scopes.bindings(name)
        if len(bindings) > 1 and during is not None:
            bindings = self._meanwhile(name, bindings, during) or bindings
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

    def runs_once(self, node: ast.AST) -> bool:
        """Whether a place of the file is reached at most once while the program runs."""
        return self._runs_once(node, set())

    # Names

    def _runs_once(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        if self._flow.loop(node) is not None or in_comprehension(self._source.ancestors(node)):
            return False
        function = self._source.function(node)
        if function is None:
            return True
        if function in seen or not isinstance(function, ast.FunctionDef):
            return False
        calls = self._own.calls(function)
        if calls is None or len(calls) > 1:
            return self._starts_the_program(function)
        return all(self._runs_once(call, {*seen, function}) for call in calls)

    def _starts_the_program(self, function: ast.FunctionDef) -> bool:
        """Whether a function is only handed to `app.run`."""
        uses = [n for n in self._source.all(ast.Name) if n.id == function.name]
        parents = [self._source.parent(use) for use in uses]
        return len(parents) == 1 and all(
            isinstance(call, ast.Call) and self._names.dotted(call.func) == "absl.app.run"
            for call in parents
        )

    def _repeats(self, binding: Binding) -> bool:
        """Whether a variable may get its value more than once in its lifetime."""
        if isinstance(binding.node, ast.arg):
            return False
        home = self._scopes.of(binding.node)
        owner = home.owner(binding.name)
        in_loop = self._flow.loop(binding.node) is not None
        return in_loop or owner is not home

    def _name(self, name: ast.Name) -> Value:
        path = self._names.dotted(name)
        if path is not None:
            return _of_library(path)
        cls = self._classes.of_self(name)
        if cls is not None:
            return Own(cls)
        bindings = self._flow.reaching(name)
        if not bindings:
            return Unknown(f"`{name.id}` is not bound in this file")
        found = joined(*(self.bound(binding) for binding in bindings))
        if isinstance(found, Number):
            steady = all(
                isinstance(b.node, ast.arg) or self._runs_once(b.node, set()) for b in bindings
            )
            fixed = len(self._scopes.bindings(name)) == 1 and steady
            literal = found.literal is not None and not found.varies
            return replace(found, varies=found.varies if fixed or literal else True)
        return self._unless_changed(found, name.id, list(self._scopes.uses(name)))

    def bound(self, binding: Binding) -> Value:
        value = binding.value
        match binding.how:
            case How.FUNCTION if isinstance(binding.node, ast.FunctionDef):
                return Code(binding.node)
            case How.ASSIGN if value is not None:
                return self.value(value)
            case How.UNPACK if value is not None:
                return self.at(self.value(value), path_in(binding))
            case How.LOOP if value is not None:
                return self.at(self._turn(value), path_in(binding))
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
        for call in self._source.all(ast.Call):
            if self._classes.defined(call.func) is cls:
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
                if not self.leaves(use, nested=is_nested(value)):
                    return Unknown(f"`{name}` may be changed in line {use.lineno}")
        return value

    def leaves(self, use: ast.expr, *, nested: bool = False) -> bool:
        """Whether a use of a list or dict leaves it as it is, and keeps no hold of it.

        Where there are others in it, that holds of these as well.
        """
        parent = self._source.parent(use)
        if self._is_copied(use):
            return True
        match parent:
            case ast.Subscript(value=value):
                if value is not use:
                    return True
                kept = not nested or self.leaves(parent, nested=True)
                return isinstance(parent.ctx, ast.Load) and kept
            case ast.Attribute(attr=attribute):
                return attribute in _LOOKING and not nested
            case ast.For() | ast.comprehension() | ast.BinOp():
                return not nested
            case ast.Call(func=func):
                if func is use:
                    return False
                path = self._names.dotted(func) or ""
                pure = effect_of_path(path) is CallEffect.PURE or path == "builtins.print"
                tape = isinstance(func, ast.Attribute) and func.attr in (
                    "gradient", "apply_gradients", "watch",
                )  # fmt: skip
                if nested:
                    return path in ("builtins.len", "builtins.print")
                return pure or tape or path.startswith("tensorflow.") or self._is_layer(func)
            case ast.keyword():
                call = self._source.parent(parent)
                named = self._names.dotted(call.func) if isinstance(call, ast.Call) else None
                return (named or "").startswith("tensorflow.") and not nested
            case ast.Compare():
                return True
        return False

    def _is_layer(self, func: ast.expr) -> bool:
        """Whether a layer of Keras' own is called, which takes lists apart and no more."""
        found = self.value(func)
        return isinstance(found, Thing) and found.kind in _OF_KERAS and not found.code

    def _is_copied(self, use: ast.expr) -> bool:
        """Whether a compiled function is given a list, or gives one back: they are its own."""
        outer = self._source.parent(use)
        while isinstance(outer, (ast.Tuple, ast.List)):
            outer = self._source.parent(outer)
        function: ast.AST | None = None
        if isinstance(outer, ast.Return):
            function = self._source.function(outer)
        elif isinstance(outer, ast.Call) and outer.func is not use:
            function = self._own.function(outer)
        is_compiled = bool(getattr(function, "decorator_list", ()))
        return function is not None and is_compiled and self._own.is_plain(function)

    # Expressions

    def _value(self, expr: ast.expr) -> Value:
        match expr:
            case ast.Constant():
                return Number(expr)
            case ast.Name():
                return self._name(expr)
            case ast.Attribute():
                return self._attribute(expr)
            case ast.Call():
                return self._calls.call(expr)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return group(*(self.value(element) for element in elements))
            case ast.Dict(keys=keys, values=values) if all(keys):
                return Group(None, joined(*(self.value(value) for value in values)))
            case ast.ListComp(elt=element):
                each = self.value(element)
                apart = isinstance(each, (Thing, Own)) and each.made == {element}
                return Group(None, each, apart=apart)
            case ast.DictComp(value=element):
                return Group(None, self.value(element))
            case ast.IfExp(body=body, orelse=orelse):
                return joined(self.value(body), self.value(orelse))
            case ast.JoinedStr() | ast.Compare() | ast.BoolOp():
                inner = [one for one in ast.iter_child_nodes(expr) if isinstance(one, ast.expr)]
                return self._computed([self.value(one) for one in inner])
            case ast.BinOp(left=left, op=op, right=right):
                sides = [self.value(left), self.value(right)]
                both = _put_together(*sides) if isinstance(op, ast.Add) else None
                return both or self._computed(sides)
            case ast.UnaryOp(op=op, operand=operand):
                found = self.value(operand)
                return turned(op, found) if isinstance(found, Number) else self._computed([found])
            case ast.Subscript():
                return self._subscript(expr)
            case ast.Starred(value=value):
                return self.value(value)
            case ast.Lambda():
                return Code(expr)
        return Unknown(f"`{ast.unparse(expr)}` in line {expr.lineno} is not followed")

    def _computed(self, values: list[Value]) -> Value:
        """What an operator makes of values."""
        for value in values:
            if isinstance(value, Unknown):
                return value
        circular = any(isinstance(value, Bottom) for value in values)
        values = [value for value in values if not isinstance(value, Bottom)]
        symbolic = [v for v in values if isinstance(v, Thing) and v.kind == "symbolic"]
        if symbolic:
            return joined(*symbolic)
        if any(isinstance(v, Thing) and v.kind == "variable" for v in values):
            return Tensor()
        tensors = [v for v in values if isinstance(v, Tensor)]
        if tensors:
            return Tensor(static=all(t.static for t in tensors))
        if any(isinstance(value, Array) for value in values):
            return joined(*(value for value in values if isinstance(value, Array)))
        if all(isinstance(value, Number) for value in values):
            varies = any(isinstance(value, Number) and value.varies for value in values)
            return Bottom() if circular or not values else Number(None, varies=varies)
        return Unknown("what an operator makes of it is not known")

    def _attribute(self, attribute: ast.Attribute) -> Value:
        path = self._names.dotted(attribute)
        if path is not None:
            return _of_library(path)
        owner = attribute.value
        if isinstance(owner, ast.Name):
            cls = self._classes.of_self(owner)
            if cls is not None:
                held = self.members.member(cls, attribute.attr)
                if isinstance(held, Unknown) and self._facts.number_uses.changes(attribute):
                    return Number(None, varies=True)
                return held
        found = self.of_attribute(self.value(owner), attribute.attr)
        if isinstance(found, Unknown) and self._facts.captured.data(attribute):
            return Number(None, varies=bool(self.members.stores(attribute.attr)))
        return found

    def of_attribute(self, owner: Value, name: str) -> Value:
        """What an attribute of a value is."""
        match owner:
            case Own(cls=cls):
                found = self.members.member(cls, name)
                return replace(found, owner=owner) if isinstance(found, Code) else found
            case Thing(kind="model" | "layer") if name in _VARIABLES:
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

    def _subscript(self, subscript: ast.Subscript) -> Value:
        owner = self.value(subscript.value)
        match owner:
            case Group(items=items, each=each):
                match subscript.slice:
                    case ast.Constant(value=int(position)) if items is not None:
                        return items[position] if position < len(items) else each
                    case ast.Slice():
                        return Group(None, each)
                return each
            case Number():
                return Number(None, varies=True)
            case Array(steady=steady, shape=shape):
                shape = array_shapes.of_part(shape, self.value(subscript.slice))
                return Array(steady and self._is_steady(subscript.slice), shape)
            case Tensor():
                if self._is_steady(subscript.slice):
                    return owner
                return Unknown(f"the part that line {subscript.lineno} takes differs in its shape")
            case Thing(kind="symbolic") | Bottom():
                return owner
            case Thing(kind="variable"):
                return Tensor()
        return owner if isinstance(owner, Unknown) else Unknown("what is taken of it is not known")

    def _is_steady(self, index: ast.expr) -> bool:
        """Whether the part that an index takes has the same shape each time."""
        match index:
            case ast.Tuple(elts=elements):
                return all(self._is_steady(element) for element in elements)
            case ast.Slice(lower=lower, upper=upper):
                only = lower if upper is None else upper
                if only is None or (lower is not None and upper is not None):
                    return True
                found = self.value(only)
                return isinstance(found, Number) and not found.varies
            case ast.Compare():
                return False
        found = self.value(index)
        return isinstance(found, (Number, Library)) or (
            isinstance(found, (Array, Tensor))
            and not (isinstance(found, Array) and not found.steady)
        )

    def at(self, value: Value, path: tuple[int, ...]) -> Value:
        """A part of a value that is unpacked."""
        for position in path:
            match value:
                case Group(items=items, each=each):
                    known = items is not None and 0 <= position < len(items)
                    value = items[position] if known and items is not None else each
                case Number():
                    value = Number(None, varies=value.varies)
        return value

    def _turn(self, iterable: ast.expr) -> Value:
        """What a loop gives in each of its turns."""
        if isinstance(iterable, ast.Call):
            path = self._names.dotted(iterable.func)
            if path == "builtins.range":
                return Number(None, varies=True)
            if path == "builtins.enumerate" and iterable.args:
                return group(Number(None, varies=True), self._turn(iterable.args[0]))
            if path == "builtins.zip":
                return group(*(self._turn(argument) for argument in iterable.args))
            if path in _PROGRESS and iterable.args:
                return self._turn(iterable.args[0])
        found = self.value(iterable)
        match found:
            case Dataset():
                return Tensor(nest=True)
            case Group(each=each):
                return each
            case Array(shape=shape):
                return replace(found, shape=shape[1:] if shape else None)
            case Number():
                return Number(None, varies=True)
            case Unknown() | Bottom():
                return found
        return Unknown("what the loop runs over")

    # Calls


def _of_library(path: str) -> Value:
    if path in _CONSTANTS:
        return Number(None)
    if path.partition(".")[0] in _KNOWN_LIBRARIES:
        return Library(path)
    return Unknown(f"`{path}` is not in this file")


def _put_together(left: Value, right: Value) -> Group | None:
    """The list that two lists make."""
    if not isinstance(left, Group) or not isinstance(right, Group) or left.lazy or right.lazy:
        return None
    known = left.items is not None and right.items is not None
    items = (*(left.items or ()), *(right.items or ())) if known else None
    return Group(items, joined(left.each, right.each))


def in_comprehension(ancestors: Iterable[ast.AST]) -> bool:
    """Whether something that stands in all this is evaluated for each element of a sequence."""
    for node in ancestors:
        if isinstance(node, ast.stmt):
            return False
        if isinstance(node, COMPREHENSIONS):
            return True
    return False


def path_in(binding: Binding) -> tuple[int, ...]:
    """Where in the target of an assignment or a loop a name stands: (1, 0) for x in `i, (x, y)`."""
    node = binding.node
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, (ast.Name, ast.Tuple, ast.List)):  # of a comprehension
        targets = [node]
    for target in targets:
        found = _find(target, binding.name)
        if found is not None:
            return found
    return ()


def _find(target: ast.expr, name: str) -> tuple[int, ...] | None:
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)):
        for position, element in enumerate(target.elts):
            found = _find(element, name)
            if found is not None:
                return (position, *found)
    if isinstance(target, ast.Starred):
        return _find(target.value, name)
    return None
