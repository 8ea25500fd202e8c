"""Whether a function of TensorFlow 2 code may be traced once, and replayed in place of its calls.

The function is gone through as a trace would, with what is known of its arguments and of what it
captures. All that it does must be known to be the same in a trace: what is not is an obstacle.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Code,
    Group,
    Number,
    Own,
    Place,
    Thing,
    Value,
    flow_of,
    joined,
    parts,
)
from tfrewrite.analysis.program.flow import evaluated
from tfrewrite.analysis.traces.called_models import CalledModels
from tfrewrite.analysis.traces.gradient_flow import Flow, Read
from tfrewrite.analysis.traces.trace import Trace, TraceError
from tfrewrite.analysis.traces.traced_expressions import TracedExpressions
from tfrewrite.analysis.traces.traced_keras import TracedKeras
from tfrewrite.analysis.traces.traced_names import TracedNames
from tfrewrite.analysis.traces.traced_statements import TracedStatements, ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.obstacle import Obstacle
    from tfrewrite.analysis.program.flow import Loop

_DEEPEST = 30
_ORDINARY = frozenset({"__init__", "__call__", "__repr__", "__str__"})


class Tracing:
    """Goes through functions as a trace would."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def replayed(
        self,
        code: Code,
        arguments: Mapping[str, Value],
        during: Loop | None = None,
        asked: Sequence[Thing | Own] = (),
    ) -> Trace | Obstacle:
        """What a trace of a function does, or why it could not be replayed.

        With `during` the function is called in the turns of that loop only. What is in `asked` has
        surely been called before, and so has its variables.
        """
        tracer = Tracer(self._facts, during, asked)
        try:
            found = tracer.run(code, dict(arguments), code.node)
        except TraceError as stop:
            return stop.obstacle
        tracer.trace.returned = found
        tracer.trace.asked = tracer.models.all
        return tracer.trace

    def called(self, calls: Sequence[tuple[Value, list[Value]]]) -> Trace | Obstacle:
        """What a trace does that calls objects one after the other, each with some arguments."""
        tracer = Tracer(self._facts)
        tracer.relaxed = True
        try:
            for value, given in calls:
                tracer.call(value, given)
        except TraceError as error:
            return error.obstacle
        return tracer.trace


class Tracer:
    """One trace: where it is, and what it has come upon so far."""

    def __init__(
        self, facts: Facts, during: Loop | None = None, asked: Sequence[Thing | Own] = ()
    ) -> None:
        self.facts = facts
        self.values = facts.eager_values
        self.trace = Trace()
        self.models = CalledModels(facts, self.trace, asked)
        self.conditional = 0
        self.times = 1
        """How often what is gone through is run, at least about; 0 where it was counted before."""
        self.resting = False
        """Whether a call of Keras is gone through that was told not to train."""
        self.relaxed = False
        """Whether a dimension may be unknown, as in the traces that Keras makes."""
        self.converted = True
        """Whether AutoGraph sees to what is gone through: not where Keras calls it, nor in a lambda
        that shares its line with others."""
        self.running: list[ast.AST] = []
        """The functions gone through that have not come to their ends."""
        self.returned: list[list[Value]] = []
        """What each of these has given back so far."""
        self._sites: list[ast.AST] = []
        """The calls by which they are gone through."""
        self.names = TracedNames(self, during)
        self.keras = TracedKeras(self)
        self.expressions = TracedExpressions(self)
        self._statements = TracedStatements(self)
        self._places: list[ast.AST] = []
        """They stand for the positions in lists of objects."""
        self.within: Read | None = None
        """The call of a model whose own code is gone through."""
        self.reads: list[Read] = []
        """Every call of a model and use of a variable so far."""

    # Functions

    def run(self, code: Code, arguments: dict[str, Value], site: ast.AST) -> Value:
        """Goes through a function of the file, and tells what it gives."""
        node = code.node
        name = getattr(node, "name", "a lambda")
        if node in self.running or len(self.running) > _DEEPEST:
            raise TraceError("not-followed", f"`{name}` calls itself")
        self._check_form(node, name)
        self.names.enter(self.facts.scopes.inside(node), self._filled(code, arguments, site))
        self.running.append(node)
        self._sites.append(site)
        self.trace.bodies.add(node)
        self.returned.append([])
        with self.unconverted(when=not _is_converted(node)):
            if isinstance(node, ast.Lambda):
                self.returned[-1].append(self.value(node.body))
            else:
                self._statements.block(node.body)
                if not ends(node.body):
                    self.returned[-1].append(Number(ast.Constant(None)))
        self.running.pop()
        self._sites.pop()
        return joined(*self.returned.pop())

    def _check_form(self, node: ast.FunctionDef | ast.Lambda, name: str) -> None:
        for inner in _evaluated_in(node):
            if isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await)):
                raise TraceError("not-followed", f"`{name}` is a generator")
            named = getattr(inner, "attr", getattr(inner, "id", ""))
            if isinstance(named, str) and named.startswith("__") and not named.endswith("__"):
                line = getattr(inner, "lineno", node.lineno)
                message = f"AutoGraph does not support `{named}` in line {line}"
                raise TraceError("not-followed", message)
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise TraceError("not-followed", f"`{name}` takes any number of arguments")
        if not self.facts.own_calls.is_plain(node):
            raise TraceError("not-followed", f"`{name}` is decorated")

    def _filled(self, code: Code, given: dict[str, Value], site: ast.AST) -> dict[str, Value]:
        """The values of all parameters of a function."""
        arguments = code.node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: dict[str, ast.expr] = {}
        for parameter, default in zip(
            reversed(positional), reversed(arguments.defaults), strict=False
        ):
            defaults[parameter.arg] = default
        for parameter, keyword in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if keyword is not None:
                defaults[parameter.arg] = keyword
        found: dict[str, Value] = {}
        line = getattr(site, "lineno", 0)
        for name in names:
            if name in given:
                found[name] = given[name]
            elif name in defaults:
                found[name] = self.values.value(defaults[name])
                if not isinstance(found[name], Number):
                    raise TraceError(
                        "not-followed", f"the default of `{name}` is not a plain value"
                    )
            else:
                raise TraceError("not-followed", f"`{name}` is not given in line {line}")
        if set(given) - set(names):
            raise TraceError("not-followed", f"line {line} gives arguments that are not there")
        return found

    def call(self, value: Value, given: list[Value]) -> None:
        """Goes through the code of an object that is called by Keras."""
        self.keras.call(value, given)

    def read(self, node: ast.AST, words: str) -> Read:
        """A model is called, or a variable used."""
        if self.within is not None:
            return self.within
        self.reads.append(Read(node, len(self.reads), words))
        return self.reads[-1]

    def flow(self, value: Value, node: ast.AST) -> Flow:
        """What a value is computed from, variables among it being read here."""
        found = flow_of(value)
        if any(isinstance(part, Thing) and part.kind == "variable" for part in parts(value)):
            read = self.read(node, f"`{ast.unparse(node)}`")
            found |= Flow(straight=frozenset({read}))
        return found

    def check_class(self, cls: ast.ClassDef) -> None:
        """Stops at a class whose objects do more than their methods show."""
        for owner in self.values.members.family(cls) or ():
            for statement in owner.body:
                named = getattr(statement, "name", "")
                if named.startswith("__") and named.endswith("__") and named not in _ORDINARY:
                    raise TraceError("not-followed", f"`{owner.name}` has a method `{named}`")
        if self.values.members.family(cls) is None:
            message = f"what `{cls.name}` inherits is not in this file"
            raise TraceError("model-not-seen", message)

    @contextmanager
    def counted(self, times: int) -> Iterator[None]:
        """What is gone through meanwhile is run so many times."""
        before = self.times
        self.times *= times
        yield
        self.times = before

    @contextmanager
    def unconverted(self, *, when: bool = True) -> Iterator[None]:
        """What is gone through meanwhile is run as it is written, where that is so."""
        before = self.converted
        self.converted = before and not when
        yield
        self.converted = before

    @contextmanager
    def told(self, *, to_train: bool | None) -> Iterator[None]:
        """What is gone through meanwhile is called by Keras, and told this; None for nothing."""
        before = self.resting
        if to_train is not None:
            self.resting = not to_train
        self.trace.trains = self.trace.trains or bool(to_train)
        yield
        self.resting = before

    def turn(self, iterable: Group, number: int) -> Value:
        """What a loop gives in one of its turns."""
        each = iterable.each
        if not iterable.apart or iterable.lazy or not isinstance(each, (Thing, Own)):
            return each
        while len(self._places) <= number:
            self._places.append(ast.Pass())
        return replace(each, of=(*each.of, frozenset({self._places[number]})))

    def given(self, call: ast.Call) -> list[Value]:
        """What a call is given, by position and then by name."""
        return self.values_of([*call.args, *(keyword.value for keyword in call.keywords)])

    def values_of(self, exprs: Sequence[ast.expr]) -> list[Value]:
        """What expressions give; a list that one of them changes is that of the others, too."""
        found = [self.value(expr) for expr in exprs]
        return [
            self.names.value(expr)
            if isinstance(expr, ast.Name) and isinstance(value, Group)
            else value
            for expr, value in zip(exprs, found, strict=True)
        ]

    def place(self, node: ast.AST) -> frozenset[Place]:
        """Where a list or dict is made, by which it is known under other names."""
        return frozenset({(*self._sites, node)})

    def value(self, expr: ast.expr) -> Value:
        """What an expression gives in the trace; stops where that is not known."""
        return self.expressions.value(expr)

    def computed(self, values: list[Value], node: ast.expr, bends: tuple[bool, ...] = ()) -> Value:
        """What an operator makes of values; `bends` says of which the gradient needs the value."""
        return self.expressions.computed(values, node, bends)

    # Notes

    def lacks_shape(self, words: str) -> None:
        """Notes the first value whose shape only other values tell."""
        self.trace.shapeless = self.trace.shapeless or words

    def count(self, ops: int) -> None:
        """Notes that about so many ops are run."""
        if not self.conditional:
            self.trace.ops += self.times * ops

    def use(self, thing: Thing) -> None:
        """Notes that an object is used."""
        if thing not in self.trace.things:
            self.trace.things.append(thing)


def _is_converted(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether AutoGraph changes what a function does in a trace, where it may."""
    if isinstance(node, ast.Lambda):
        return False
    options = [k for d in node.decorator_list if isinstance(d, ast.Call) for k in d.keywords]
    return all(option.arg not in ("autograph", None) for option in options)


def _evaluated_in(node: ast.FunctionDef | ast.Lambda) -> list[ast.AST]:
    """All that is evaluated when a function is called, without the functions in it."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return [inner for one in body for inner in evaluated(one)]
