"""Whether a function of TensorFlow 2 code may be traced once, and replayed in place of its calls.

The function is gone through as a trace would, with what is known of its arguments and of what it
captures. All that it does must be known to be the same in a trace: what is not is an obstacle.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from math import inf, prod
from typing import TYPE_CHECKING

from tfrewrite.analysis.abstract_values import (
    Array,
    Bottom,
    Code,
    Done,
    Group,
    Number,
    Own,
    Place,
    Tensor,
    Thing,
    Unknown,
    Value,
    changed,
    flow_of,
    join,
    joined,
    parts,
)
from tfrewrite.analysis.flow import evaluated
from tfrewrite.analysis.gradient_flow import Flow, Read
from tfrewrite.analysis.trace import Trace, TraceError
from tfrewrite.analysis.traced_expressions import TracedExpressions, bends
from tfrewrite.analysis.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.flow import Loop
    from tfrewrite.analysis.obstacle import Obstacle
    from tfrewrite.analysis.scopes import Scope

_DEEPEST = 30
_ROUNDS = 4
_FEW_ITEMS = 8
_VARIABLES_OF_A_MODEL = 4
# So many elements of an array may become a part of a graph.
_MOST_KEPT = 100_000
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
        tracer.trace.asked = [one for one, _ in tracer.called]
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
    """One trace: what the names of the functions gone through hold at the moment."""

    def __init__(
        self, facts: Facts, during: Loop | None = None, asked: Sequence[Thing | Own] = ()
    ) -> None:
        self.facts = facts
        self.asked = asked
        self._during = during
        self.values = facts.eager_values
        self.trace = Trace()
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
        self._scopes = facts.scopes
        self._held: dict[tuple[Scope, str], Value] = {}
        self._running: list[ast.AST] = []
        self._sites: list[ast.AST] = []
        self._returned: list[list[Value]] = []
        self._expressions = TracedExpressions(self)
        self._places: list[ast.AST] = []
        """They stand for the positions in lists of objects."""
        self.called: list[tuple[Thing | Own, frozenset[Read]]] = []
        """Models that have been called, and so have their variables; what each call reads."""
        self.within: Read | None = None
        """The call of a model whose own code is gone through."""
        self.reads: list[Read] = []
        """Every call of a model and use of a variable so far."""

    # Functions

    def run(self, code: Code, arguments: dict[str, Value], site: ast.AST) -> Value:
        """Goes through a function of the file, and tells what it gives."""
        node = code.node
        name = getattr(node, "name", "a lambda")
        if node in self._running or len(self._running) > _DEEPEST:
            raise TraceError("not-followed", f"`{name}` calls itself")
        self._check_form(node, name)
        scope = self._scopes.inside(node)
        for key in [key for key in self._held if key[0] is scope]:
            del self._held[key]
        for parameter, value in self._filled(code, arguments, site).items():
            self._held[scope, parameter] = value
        self._running.append(node)
        self._sites.append(site)
        self.trace.bodies.add(node)
        self._returned.append([])
        with self.unconverted(when=not _is_converted(node)):
            if isinstance(node, ast.Lambda):
                self._returned[-1].append(self.value(node.body))
            else:
                self._block(node.body)
                if not _ends(node.body):
                    self._returned[-1].append(Number(ast.Constant(None)))
        self._running.pop()
        self._sites.pop()
        return joined(*self._returned.pop())

    def _check_form(self, node: ast.FunctionDef | ast.Lambda, name: str) -> None:
        for inner in evaluated_in(node):
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
        for decorator in getattr(node, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.facts.names.tf(called) != "function":
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
        self._expressions.calls.by_keras(value, given)

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

    # Statements

    def _statement(self, statement: ast.stmt) -> None:
        line = statement.lineno
        match statement:
            case ast.Assign(targets=targets, value=value):
                given = self.value(value)
                for target in targets:
                    self.bind(target, given)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.bind(target, self.value(value))
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                self._augment(target, op, self.value(value))
            case ast.AugAssign(target=target):
                message = f"line {line} changes `{ast.unparse(target)}`, which others see"
                raise TraceError("python-effect", message)
            case ast.Expr(value=value):
                self.value(value)
            case ast.Return(value=value):
                empty: Value = Number(ast.Constant(None))
                self._returned[-1].append(empty if value is None else self.value(value))
            case ast.If():
                self._if(statement)
            case ast.For():
                self._for(statement)
            case ast.With(items=items, body=body):
                for item in items:
                    self._enter(item, line)
                self._block(body)
            case ast.FunctionDef():
                if statement.decorator_list:
                    raise TraceError(
                        "not-followed", f"`{statement.name}` is decorated in the function"
                    )
                self._hold(statement, statement.name, Code(statement))
            case ast.Delete(targets=targets) if all(isinstance(t, ast.Name) for t in targets):
                pass
            case ast.Assert(test=test):
                self._expressions.plain_test(test)
            case ast.Pass():
                pass
            case ast.Raise():
                if not self.conditional:
                    raise TraceError("not-followed", f"line {line} raises")
            case ast.While():
                raise TraceError(
                    "tensor-decides", f"the `while` of line {line} may run on a tensor"
                )
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                raise TraceError(
                    "python-effect", f"line {line} binds `{names[0]}` for others to see"
                )
            case _:
                kind = type(statement).__name__.lower()
                raise TraceError("not-followed", f"the `{kind}` of line {line} is not followed")

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _if(self, statement: ast.If) -> None:
        test = self._expressions.plain_test(statement.test)
        if test.literal is not None:
            taken = bool(test.literal.value)
            self._block(statement.body if taken else statement.orelse)
            return
        before = dict(self._held)
        self.conditional += 1
        self._block(statement.body)
        after, self._held = self._held, before
        self._block(statement.orelse)
        self.conditional -= 1
        self._merge(after)

    def _merge(self, other: dict[tuple[Scope, str], Value]) -> None:
        for key, value in other.items():
            self._held[key] = join(self._held[key], value) if key in self._held else value

    def _for(self, statement: ast.For) -> None:
        for inner in ast.walk(statement):
            if isinstance(inner, (ast.Break, ast.Continue)) or (
                isinstance(inner, ast.Return) or statement.orelse
            ):
                message = f"the loop of line {statement.lineno} may be left early"
                raise TraceError("not-followed", message)
        iterable = self.value(statement.iter)
        if not isinstance(iterable, Group):
            message = f"the loop of line {statement.lineno} runs over what may be a tensor"
            raise TraceError("tensor-decides", message)
        if iterable.items is not None and not iterable.lazy and len(iterable.items) <= _FEW_ITEMS:
            for item in iterable.items:
                self.bind(statement.target, item)
                self._block(statement.body)
            return
        for number in range(_ROUNDS):
            before = dict(self._held)
            with self.counted(0 if number else _turns_at_least(statement, iterable)):
                self.bind(statement.target, self.turn(iterable, number))
                self._block(statement.body)
            self._merge(before)
            if self._held == before:
                return

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

    def _enter(self, item: ast.withitem, line: int) -> None:
        manager = item.context_expr
        symbol = self.facts.names.tf(manager.func) if isinstance(manager, ast.Call) else None
        if symbol not in ("GradientTape", "name_scope"):
            message = f"what `{ast.unparse(manager)}` in line {line} does is not followed"
            raise TraceError("not-followed", message)
        if item.optional_vars is not None:
            self.bind(item.optional_vars, Thing("tape", "GradientTape"))

    # Names

    def _hold(self, node: ast.AST, name: str, value: Value) -> None:
        owner = self._scopes.of(node).owner(name)
        if owner is None or owner.node not in {*self._running, self._scopes.of(node).node}:
            line = getattr(node, "lineno", 0)
            raise TraceError("python-effect", f"line {line} binds `{name}` for others to see")
        self._held[owner, name] = value

    def bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self._hold(target, name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self._unpack(target, elements, value)
            case ast.Subscript(value=ast.Name() as owner, slice=index):
                holder = self.value(owner)
                self.value(index)
                if not isinstance(holder, Group) or not holder.own:
                    message = f"line {target.lineno} writes to `{ast.unparse(owner)}`"
                    raise TraceError("python-effect", message)
                self.change(owner, holder, value)
            case _:
                message = f"line {target.lineno} writes `{ast.unparse(target)}`"
                raise TraceError("python-effect", message)

    def _unpack(self, target: ast.expr, elements: list[ast.expr], value: Value) -> None:
        if isinstance(value, Number):  # a shape
            value = Group(None, Number(varies=value.varies))
        if not isinstance(value, Group):
            message = (
                f"line {target.lineno} unpacks what may be a tensor, which a trace cannot; pass"
                " its parts as arguments of their own"
            )
            raise TraceError("fails-when-traced", message)
        for position, element in enumerate(elements):
            if isinstance(element, ast.Starred):
                raise TraceError("not-followed", f"line {target.lineno} unpacks with a star")
            known = value.items is not None and position < len(value.items)
            part = value.items[position] if known and value.items is not None else value.each
            self.bind(element, part)

    def _augment(self, target: ast.Name, op: ast.operator, added: Value) -> None:
        current, line = self.name(target), target.lineno
        if isinstance(current, Group):
            if not current.own or not isinstance(added, Group):
                raise TraceError("python-effect", f"line {line} changes `{target.id}` in place")
            self.change(target, current, added.each)
        elif isinstance(current, Thing) or any(
            isinstance(part, Tensor) and part.array for part in parts(current)
        ):
            raise TraceError("python-effect", f"line {line} changes `{target.id}` in place")
        else:
            bent = bends(op, None, None)
            self._hold(target, target.id, self.computed([current, added], target, bent))

    def change(self, name: ast.Name, before: Group, added: Value) -> None:
        """A list or dict that the function made gets another item, under all of its names."""
        new = Group(None, join(before.each, added), before.own)
        for key, held in self._held.items():
            self._held[key] = changed(held, before.own, new)
        self._hold(name, name.id, new)

    def place(self, node: ast.AST) -> frozenset[Place]:
        """Where a list or dict is made, by which it is known under other names."""
        return frozenset({(*self._sites, node)})

    def values_of(self, exprs: Sequence[ast.expr]) -> list[Value]:
        """What expressions give; a list that one of them changes is that of the others, too."""
        found = [self.value(expr) for expr in exprs]
        return [
            self.name(expr) if isinstance(expr, ast.Name) and isinstance(value, Group) else value
            for expr, value in zip(exprs, found, strict=True)
        ]

    def held(self, name: ast.Name) -> Value | None:
        """What a name of the functions that are gone through holds."""
        owner = self._scopes.of(name).owner(name.id)
        return None if owner is None else self._held.get((owner, name.id))

    def name(self, name: ast.Name) -> Value:
        owner = self._scopes.of(name).owner(name.id)
        if owner is not None and (owner, name.id) in self._held:
            return self._held[owner, name.id]
        if owner is not None and owner.node in self._running:
            message = f"`{name.id}` may have no value yet in line {name.lineno}"
            raise TraceError("not-followed", message)
        found = self.values.captured(name, self._during)
        if isinstance(found, Unknown):
            raise TraceError("captured-not-fixed", found.why)
        if isinstance(found, Array):
            return self._array(name, found)
        if isinstance(found, Group) and found.lazy:
            return self.known(found, name.id, name.lineno)
        if isinstance(found, Thing) and found.kind == "symbolic":
            raise TraceError("captured-not-fixed", f"`{name.id}` is a part of a model")
        self.check_mask(found, name.id)
        return found

    def _array(self, name: ast.Name, found: Array) -> Value:
        """An array that a trace keeps as it is at first."""
        small = found.shape is not None and prod(found.shape) <= _MOST_KEPT
        data = self.facts.captured
        if small and data.untouched(name, self._running[0], data.is_given_to_op):
            return Number()
        message = f"`{name.id}` is a numpy array, which a trace keeps as it is at first"
        raise TraceError("captured-not-fixed", message)

    def known(self, found: Value, text: str, line: int) -> Value:
        """A value that is found outside of the function, where it is the same at each call."""
        match found:
            case Unknown(why=why):
                raise TraceError("captured-not-fixed", f"`{text}` in line {line}: {why}")
            case Bottom():
                raise TraceError("not-followed", f"`{text}` in line {line} is not followed")
            case Array():
                message = f"`{text}` in line {line} is a numpy array, which may change in place"
                raise TraceError("captured-not-fixed", message)
            case Group(lazy=True):
                message = f"`{text}` in line {line} gives its items only once"
                raise TraceError("captured-not-fixed", message)
        self.check_mask(found, text)
        return found

    def check_mask(self, value: Value, text: str) -> None:
        """Notes what comes from outside and may have a mask of Keras, which stays there."""
        self.trace.masked = self.trace.masked or mask_lost(self.facts, value, f"`{text}`")

    def given(self, call: ast.Call) -> list[Value]:
        """What a call is given, by position and then by name."""
        return self.values_of([*call.args, *(keyword.value for keyword in call.keywords)])

    def value(self, expr: ast.expr) -> Value:
        """What an expression gives in the trace; stops where that is not known."""
        return self._expressions.value(expr)

    def computed(self, values: list[Value], node: ast.expr, bends: tuple[bool, ...] = ()) -> Value:
        """What an operator makes of values; `bends` says of which the gradient needs the value."""
        return self._expressions.computed(values, node, bends)

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


def evaluated_in(node: ast.FunctionDef | ast.Lambda) -> list[ast.AST]:
    """All that is evaluated when a function is called, without the functions in it."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return [inner for one in body for inner in evaluated(one)]


def _turns_at_least(loop: ast.For, iterable: Group) -> int:
    """How many turns a loop makes; a model has several variables, if not many."""
    told = turns([loop])
    of_model = all(isinstance(p, Thing) and p.kind == "variable" for p in parts(iterable))
    return int(told) if told < inf else _VARIABLES_OF_A_MODEL if of_model else 1


def returnable(value: Value) -> str:
    """Why what a function gives would not be the same from a trace; empty where it would be."""
    for part in parts(value):
        match part:
            case Tensor(array=False):
                continue
            case Number(literal=ast.Constant(value=None)) if not part.tensors:
                continue
            case Bottom():
                continue
            case Number():
                return "it returns a Python value, which a trace turns into a tensor"
            case Thing(kind="variable"):
                return "it returns a variable, of which a trace gives the value"
            case Done(words=words):
                return f"it returns what {words} gives, which is another thing in a trace"
            case Tensor():
                return "it returns a numpy array, which a trace turns into a tensor"
            case _:
                return "it returns what is no tensor"
    if _lazy(value):
        return "it returns what gives its items only once"
    return ""


def mask_lost(facts: Facts, value: Value, words: str) -> str:
    """Why a value may not go into a trace, or out of it, where it may have a mask of Keras."""
    line = facts.keras_masks.made
    if not line or not any(isinstance(part, Tensor) and part.layered for part in parts(value)):
        return ""
    return f"{words} may have the mask of line {line} on it, which does not go into a trace or out"


def _lazy(value: Value) -> bool:
    if not isinstance(value, Group):
        return False
    return value.lazy or any(_lazy(one) for one in (value.each, *(value.items or ())))


def _ends(body: list[ast.stmt]) -> bool:
    """Whether a block always ends in a return."""
    last = body[-1]
    if isinstance(last, ast.If) and last.orelse:
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.With):
        return _ends(last.body)
    return isinstance(last, (ast.Return, ast.Raise))
