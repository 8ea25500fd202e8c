"""Whether each trace of a `tf.function` would give the same graph, so that one trace is enough.

A function that is made anew in each turn of a loop, or called with another Python number each time,
is traced each time: it sees the Python values of the moment. To trace it once, every value that it
reads must stay what it is, and nothing that it does in Python may be seen. All that is not known to
be so stands in the way.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.held_values import Held
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.compiled_functions import Compiled
    from tfrewrite.analysis.facts import Facts

_FORBIDDEN = (
    ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef, ast.Import,
    ast.ImportFrom, ast.Delete, ast.AsyncFor, ast.AsyncWith, ast.NamedExpr,
)  # fmt: skip
_OF_TENSORS = frozenset("set_shape get_shape as_list ref".split())
_OF_TAPES = frozenset("gradient watch jacobian batch_jacobian".split())
_OF_VARIABLES = frozenset(
    "assign assign_add assign_sub read_value value scatter_nd_add scatter_nd_update".split()
)
_OF_OBJECTS = frozenset(
    "apply_gradients update_state result call compute_loss gradient watch normal uniform"
    " truncated_normal uniform_full_int as_default assign assign_add assign_sub read_value write"
    " read stack unstack".split()
)
# What a loop may do with an object of Keras, beside: its Python state stays.
_LEAVING_OBJECTS = _OF_OBJECTS | frozenset(
    "save save_weights get_weights set_weights load_weights summary evaluate predict"
    " predict_on_batch reset_states reset_state numpy from_seed count_params".split()
)
_SETTINGS = (
    "config.", "keras.backend.", "keras.mixed_precision.", "keras.config.", "random.set_seed",
    "keras.utils.set_random_seed", "debugging.", "compat.", "set_random_seed", "executing_eagerly",
    "autograph.", "distribute.", "summary.", "profiler.", "get_static_value",
    "inside_function", "autodiff.", "experimental.", "data.", "io.", "Graph",
)  # fmt: skip
_MAKING_VARIABLES = (
    "keras.layers.", "keras.models.", "keras.Sequential", "keras.Model", "keras.optimizers.",
    "keras.metrics.", "keras.applications.", "optimizers.", "Module", "function",
)  # fmt: skip
_TENSOR_ATTRIBUTES = frozenset({"shape", "dtype", "ndim", "T"})
# What they hold is the same whenever it is read.
_KNOWN_MODULES = frozenset({"tensorflow", "numpy", "math", "builtins"})
_KERAS_BASES = ("keras.", "Module")


@dataclass(frozen=True)
class Draws:
    """Whether ops that the function runs draw random numbers, and from which stream."""

    ops: bool = False
    """Ops with a stream that begins anew at each trace."""
    layers: bool = False
    """Layers of Keras that draw: from variables in Keras 3, from such ops before."""


class SteadyTraces:
    """Looks through traced code for what could differ from one trace to the next."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._traced = facts.traced_code
        self._held = facts.held_values
        self._captured = facts.captured
        self._compiled = facts.compiled_functions

    def obstacle(
        self,
        one: Compiled,
        loop: ast.AST,
        meanwhile: Sequence[ast.AST],
        *,
        once: bool = False,
        unseen: str = "",
    ) -> Obstacle | None:
        """What could make two traces differ; `meanwhile` is all that may run between them.

        With `once` every value must have been set once for all, not just for one loop. `unseen` are
        the words for what may run in other files.
        """
        if one.code is None or isinstance(one.code, ast.AsyncFunctionDef):
            return Obstacle("code-not-seen", f"the code of `{one.name}` is not in this file")
        bodies = self.bodies(one)
        look = _Look(self, bodies, loop, once=once)
        seen: set[ast.AST] = set()
        for body in bodies:
            for node in _walk(body):
                found = look.node(node)
                if found is not None:
                    return found
                seen.add(node)
        if unseen and not all(self._is_private(expr, loop) for expr in look.read):
            return Obstacle("callers-not-seen", f"{unseen}, and may change what is traced")
        rest = [node for node in meanwhile if node not in seen]
        names = {node.attr for node in seen if isinstance(node, ast.Attribute)}
        return self._handed_out(look.read) or self._changes(names, rest)

    def bodies(self, one: Compiled) -> list[ast.AST]:
        """All code of the file that may run in a trace, that of layers and losses included."""
        assert one.code is not None
        found = self._traced.bodies(one.code)
        for body in [*found, *self._handed_to_keras()]:
            for inner in self._traced.bodies(body):
                if inner not in found:
                    found.append(inner)
        return found

    def draws(self, one: Compiled) -> Draws:
        """Whether what the function runs is random."""
        ops = any(
            effect is not None and effect.random and not effect.writes
            for body in self.bodies(one)
            for symbol in self._symbols(body)
            if not symbol.startswith(("keras.", "random.Generator", "random.stateless"))
            for effect in [effect_of(symbol, "2")]
        )
        layers = any(
            effect is not None and effect.random and symbol.startswith("keras.")
            for symbol in self._symbols(self._source.tree)
            for effect in [effect_of(f"{symbol}.__call__", "2")]
        )
        pretrained = any(
            symbol.startswith("keras.applications.") for symbol in self._symbols(self._source.tree)
        )
        return Draws(ops, layers or pretrained)

    def _symbols(self, node: ast.AST) -> Iterator[str]:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                symbol = self._names.tf(inner.func)
                if symbol is not None:
                    yield symbol

    def _handed_to_keras(self) -> list[ast.AST]:
        """Functions that are given to layers and models, and what layers of the file do."""
        found: list[ast.AST] = []
        for call in self._source.all(ast.Call):
            symbol = self._names.tf(call.func) or ""
            if not symbol.startswith("keras."):
                continue
            for given in [*call.args, *(keyword.value for keyword in call.keywords)]:
                named: ast.AST | None = given if isinstance(given, ast.Lambda) else None
                if isinstance(given, (ast.Name, ast.Attribute)):
                    named = self._own.named(given)
                if named is not None and not symbol.startswith("keras.callbacks"):
                    found.append(named)
        for cls in self._source.all(ast.ClassDef):
            if any((self._names.tf(base) or "").startswith(_KERAS_BASES) for base in cls.bases):
                found += [
                    statement
                    for statement in cls.body
                    if isinstance(statement, ast.FunctionDef)
                    and statement.name in ("call", "__call__")
                ]
        return found

    # What may happen between two traces

    def _changes(self, attributes: set[str], meanwhile: Sequence[ast.AST]) -> Obstacle | None:
        for node in meanwhile:
            found: str = ""
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                found = self._changed_by_store(node, attributes)
            elif isinstance(node, ast.Call):
                found = self._changed_by_call(node)
            if found:
                line = getattr(node, "lineno", 0)
                message = f"line {line} may change what `{found}` is or does between two traces"
                return Obstacle("state-changes", message)
        return None

    def _is_private(self, expr: ast.expr, loop: ast.AST) -> bool:
        """Whether a value belongs to the function around a loop, so that no other file has it."""
        root = expr
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self._classes.of_self(root) is not None:
            return False
        owner = self._scopes.of(root).owner(root.id)
        if owner is None:
            return False
        bound = owner.bindings.get(root.id, [])
        given = any(binding.how is How.PARAMETER for binding in bound)
        return owner.node is self._source.function(loop) and not given

    def _handed_out(self, read: list[ast.expr]) -> Obstacle | None:
        """Whether code of another file has got hold of an object, and may change it any time."""
        if not any(self._is_object(expr) for expr in read):
            return None
        for call in self._held.foreign_calls:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            for argument in given:
                if self._is_object(argument):
                    text = self._source.segment(argument)
                    message = f"line {call.lineno} hands `{text}` to code of another file"
                    return Obstacle("state-changes", message)
        return None

    def _changed_by_store(self, target: ast.Attribute, read: set[str]) -> str:
        name = self._source.segment(target)
        if target.attr in read:
            return name
        if self._held.of(target.value) is Held.OWN:
            cls = self._hoisting.class_of(target.value)
            family = self._classes.family(cls) if cls is not None else None
            return "" if family is not None else name
        return name

    def _changed_by_call(self, call: ast.Call) -> str:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return symbol if symbol.startswith(_SETTINGS) and not _is_harmless(symbol) else ""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        handed = [arg for arg in given if self._is_object(arg)]
        if isinstance(call.func, ast.Attribute) and self._is_object(call.func.value):
            receiver = call.func.value
            own = self._own.named(call.func) is not None
            if not own and call.func.attr not in _LEAVING_OBJECTS:
                return self._source.segment(receiver)
        elif handed and self._own.function(call) is None and not self._is_known_call(call):
            return self._source.segment(handed[0])
        return ""

    def _is_known_call(self, call: ast.Call) -> bool:
        """A call that looks at what it is given, or hands it to what is looked at itself."""
        path = self._names.dotted(call.func) or ""
        if effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST):
            return True
        if any(call in (self._compiled.calls(one) or ()) for one in self._compiled.all):
            return True
        if self._held.of(call.func) is Held.LIBRARY:
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver, method = call.func.value, call.func.attr
        if isinstance(receiver, ast.Name) and self.is_tape(receiver):
            return method in _OF_TAPES
        return effect_of_method(method) is CallEffect.PURE

    def is_tape(self, name: ast.Name) -> bool:
        """Whether a name is a tape that a `with` opens."""
        bindings = self._scopes.bindings(name)
        return bool(bindings) and all(
            binding.how is How.WITH
            and isinstance(binding.value, ast.Call)
            and self._names.tf(binding.value.func) == "GradientTape"
            for binding in bindings
        )

    def _is_object(self, expr: ast.expr) -> bool:
        """Whether an expression is, or is in, an object whose Python code a trace may run."""
        if isinstance(expr, (ast.Name, ast.Attribute)):
            return self._held.of(expr) in (Held.LIBRARY, Held.OWN)
        return False


class _Look:
    """One look through the code of a trace."""

    def __init__(
        self, traces: SteadyTraces, bodies: list[ast.AST], loop: ast.AST, *, once: bool
    ) -> None:
        self._all = traces
        self._bodies = bodies
        self._loop = loop
        self._once = once
        self.read: list[ast.expr] = []

    def node(self, node: ast.AST) -> Obstacle | None:
        """What one node of the code does that could differ."""
        if isinstance(node, _FORBIDDEN):
            line = getattr(node, "lineno", 0)
            kind = type(node).__name__.lower()
            message = f"line {line} has an effect at each trace, or stops it (`{kind}`)"
            return Obstacle("python-effect", message)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return self._store(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.With):
            return self._with(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._name(node)
        return None

    def _store(self, target: ast.Attribute | ast.Subscript) -> Obstacle | None:
        value = target.value
        if isinstance(target, ast.Subscript) and isinstance(value, ast.Name):
            if self._is_own_container(value):
                return None
        text = self._all._source.segment(target)
        message = f"line {target.lineno} sets `{text}` at each trace"
        return Obstacle("python-effect", message)

    def _with(self, statement: ast.With) -> Obstacle | None:
        for item in statement.items:
            symbol = ""
            if isinstance(item.context_expr, ast.Call):
                symbol = self._all._names.tf(item.context_expr.func) or ""
            known = symbol in ("GradientTape", "name_scope", "device")
            if not known and not self._is_writer(item.context_expr):
                text = self._all._source.segment(item.context_expr)
                message = f"what `with {text}` in line {statement.lineno} does is not known"
                return Obstacle("call-not-seen", message)
        return None

    def _is_writer(self, manager: ast.expr) -> bool:
        """`writer.as_default()`, where the writer stays the same."""
        if not isinstance(manager, ast.Call) or not isinstance(manager.func, ast.Attribute):
            return False
        receiver = manager.func.value
        plain = manager.func.attr == "as_default" and not manager.args and not manager.keywords
        return plain and self._held_by(receiver) is Held.LIBRARY

    def _is_written(self, call: ast.Call, symbol: str) -> bool:
        """A summary that goes to a writer which the traced code itself names."""
        if symbol not in ("summary.scalar", "summary.histogram", "summary.image", "summary.text"):
            return False
        if not any(keyword.arg == "step" for keyword in call.keywords):
            return False
        return any(
            isinstance(outer, ast.With)
            and any(self._is_writer(item.context_expr) for item in outer.items)
            for outer in self._all._source.ancestors(call)
            if any(body in self._all._source.ancestors(outer) for body in self._bodies)
        )

    # Calls

    def _call(self, call: ast.Call) -> Obstacle | None:
        func = call.func
        text = self._all._source.segment(func).split("\n")[0]
        unseen = Obstacle("call-not-seen", f"what `{text}` in line {call.lineno} does is not known")
        symbol = self._all._names.tf(func)
        if symbol is not None:
            return self._symbol(symbol, text, call)
        path = self._all._names.dotted(func)
        if path is not None:
            if effect_of_path(path) is CallEffect.PURE and not path.startswith("builtins.type"):
                return None
            if effect_of_path(path) is CallEffect.HOST:
                message = f"`{text}` in line {call.lineno} is run at each trace"
                return Obstacle("python-effect", message)
            return None if path == "builtins.super" else unseen
        entered = self._all._own.named(func)
        if entered is not None:
            return None if entered in self._bodies and not self._is_replaced(func) else unseen
        if isinstance(func, ast.Attribute):
            return None if self._method(func) else unseen
        return None if self._is_callable_object(func) else unseen

    def _is_replaced(self, func: ast.expr) -> bool:
        """Whether a subclass of the file may have another method of that name."""
        if not isinstance(func, ast.Attribute):
            return False
        cls = self._all._hoisting.class_of(func.value)
        return cls is not None and self._all._classes.replaced(cls, func.attr)

    def _symbol(self, symbol: str, text: str, call: ast.Call) -> Obstacle | None:
        if self._is_written(call, symbol):
            return None
        effect = effect_of(symbol, "2")
        last = symbol.rpartition(".")[2]
        if symbol == "Variable" or symbol.startswith(_MAKING_VARIABLES):
            message = f"`{text}` in line {call.lineno} makes variables when it is traced"
            return Obstacle("makes-variables", message)
        loss = symbol.startswith("keras.losses.")
        if (effect is None and not loss) or symbol.startswith(_SETTINGS):
            message = f"what `{text}` in line {call.lineno} does is not known"
            return Obstacle("call-not-seen", message)
        if effect is not None and (effect.creates or last == "init_scope"):
            message = f"`{text}` in line {call.lineno} makes variables when it is traced"
            return Obstacle("makes-variables", message)
        return None

    def _method(self, func: ast.Attribute) -> bool:
        """Whether a method of an object is known to leave no trace in Python."""
        receiver, method = func.value, func.attr
        held = self._held_by(receiver)
        if held is Held.VARIABLE:
            return method in _OF_VARIABLES
        if held in (Held.LIBRARY, Held.OWN):
            return method in _OF_OBJECTS or self._is_layer(func)
        if isinstance(receiver, ast.Name) and self._all._traced.is_local(receiver, self._bodies):
            if self._all.is_tape(receiver):
                return method in _OF_TAPES
            if self._is_own_container(receiver):
                return method in ("append", "extend", "items", "keys", "values", "get")
            return method in _OF_TENSORS
        return method in _OF_TENSORS and held is Held.TENSOR

    def _is_layer(self, func: ast.Attribute) -> bool:
        """`self.dense(x)`: an attribute that is a layer, and is called."""
        return self._is_callable_object(func)

    def _is_callable_object(self, func: ast.expr) -> bool:
        held = self._held_by(func)
        if held is Held.OWN:
            cls = self._all._hoisting.class_of(func)
            body = self._all._traced.called(cls) if cls is not None else None
            return body in self._bodies
        return held is Held.LIBRARY

    def _held_by(self, expr: ast.expr) -> Held:
        return self._all._held.of(expr)

    def _is_own_container(self, name: ast.Name) -> bool:
        """Whether a name holds a list or dict that the traced code makes itself."""
        bindings = self._all._scopes.bindings(name)
        return self._all._traced.is_local(name, self._bodies) and all(
            binding.how is How.ASSIGN
            and isinstance(binding.value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp))
            for binding in bindings
        )

    # Names from outside

    def _name(self, name: ast.Name) -> Obstacle | None:
        path = self._all._names.dotted(name)
        if path is not None and path.partition(".")[0] in _KNOWN_MODULES:
            return None
        traced, source = self._all._traced, self._all._source
        is_self = self._all._classes.of_self(name) is not None
        if traced.is_local(name, self._bodies) and not is_self:
            return self._parameter(name)
        entered = self._all._own.named(name)
        if entered is not None:
            # Else it may be an attribute of the function that is read.
            called = isinstance(source.parent(name), (ast.Call, ast.keyword))
            if entered in self._bodies and called:
                return None
            return Obstacle(
                "call-not-seen", f"`{name.id}` in line {name.lineno} is not called as it stands"
            )
        whole = self._whole(name)
        parent = source.parent(whole)
        return self._outer(whole, called=isinstance(parent, ast.Call) and parent.func is whole)

    def _parameter(self, name: ast.Name) -> Obstacle | None:
        """A parameter that is used as an object comes from outside, as a name does."""
        parent = self._all._source.parent(name)
        used = isinstance(parent, ast.Call) and parent.func is name
        used |= isinstance(parent, ast.Attribute) and parent.attr not in _TENSOR_ATTRIBUTES
        bindings = self._all._scopes.bindings(name)
        if not used or not any(binding.how is How.PARAMETER for binding in bindings):
            return None
        if isinstance(parent, ast.Attribute) and parent.attr in _OF_TENSORS:
            return None
        origins = self._all._held.origins(name)
        if origins is None:
            message = f"what is given for `{name.id}` (line {name.lineno}) is not known"
            return Obstacle("call-not-seen", message)
        called = isinstance(parent, ast.Call) and parent.func is name
        for origin in origins:
            if self._held_by(origin) is Held.OWN and not called:
                return _may_change(origin)
            found = self._outer(origin, called=called)
            if found is not None:
                return found
        return None

    def _whole(self, name: ast.Name) -> ast.expr:
        """From `self` to the attribute that is no longer an object of the file."""
        expr: ast.expr = name
        while self._held_by(expr) is Held.OWN:
            parent = self._all._source.parent(expr)
            if not isinstance(parent, ast.Attribute):
                break
            expr = parent
        return expr

    def _outer(self, expr: ast.expr, *, called: bool) -> Obstacle | None:
        held = self._held_by(expr)
        if held is Held.CODE and self._is_method_of_self(expr):
            return None
        shown = ast.unparse(expr)
        line = expr.lineno
        if held in (Held.UNKNOWN, Held.CODE):
            if isinstance(expr, ast.Name) and self._is_untouched(expr):
                return None
            return _may_change(expr)
        if held is Held.OWN and not called:
            return _may_change(expr)
        self.read.append(expr)
        unsure = self._all._hoisting.unsure(expr, self._loop)
        if unsure is not None:
            message = f"{unsure.message}, and is read when it is traced"
            return Obstacle("python-value", message)
        if self._once and not self._is_set_once(expr):
            message = f"`{shown}` (line {line}) gets several values, and is read when it is traced"
            return Obstacle("python-value", message)
        return None

    def _is_method_of_self(self, expr: ast.expr) -> bool:
        """`self.loss`, a method: what it does is looked at where it is called."""
        named = self._all._own.named(expr)
        return isinstance(expr, ast.Attribute) and named in self._bodies

    def _is_untouched(self, name: ast.Name) -> bool:
        bindings = self._all._scopes.bindings(name)
        return len(bindings) == 1 and self._all._captured.untouched(name, self._bodies[0])

    def _is_set_once(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Name):
            bindings = self._all._scopes.bindings(expr)
            return len(bindings) == 1 and not self._all._hoisting.loops(bindings[0].node)
        if isinstance(expr, ast.Attribute):
            return self._all._hoisting.set_when_made(expr) is not None
        return False


def _walk(body: ast.AST) -> Iterator[ast.AST]:
    """All of a function but its decorators."""
    assert isinstance(body, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    inner: list[ast.AST] = [body.body] if isinstance(body, ast.Lambda) else [*body.body]
    inner += body.args.defaults
    inner += [default for default in body.args.kw_defaults if default is not None]
    for part in inner:
        yield from ast.walk(part)


def _may_change(expr: ast.expr) -> Obstacle:
    message = (
        f"`{ast.unparse(expr)}` (line {expr.lineno}) is read when it is traced, and may change"
    )
    return Obstacle("python-value", message)


def _is_harmless(symbol: str) -> bool:
    return symbol.startswith(("data.", "io.", "summary."))
