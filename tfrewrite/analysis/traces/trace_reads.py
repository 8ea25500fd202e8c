"""What the code of a trace reads from outside, calls, and does in Python, node by node.

All that is not known to be the same from one trace to the next is told as an obstacle.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.traces.held_values import Held

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_FORBIDDEN = (
    ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef, ast.Import,
    ast.ImportFrom, ast.Delete, ast.AsyncFor, ast.AsyncWith, ast.NamedExpr,
)  # fmt: skip
_OF_TENSORS = frozenset("set_shape get_shape as_list ref".split())
OF_TAPES = frozenset("gradient watch jacobian batch_jacobian".split())
_OF_VARIABLES = frozenset(
    "assign assign_add assign_sub read_value value scatter_nd_add scatter_nd_update".split()
)
OF_OBJECTS = frozenset(
    "apply_gradients update_state result call compute_loss gradient watch normal uniform"
    " truncated_normal uniform_full_int as_default assign assign_add assign_sub read_value write"
    " read stack unstack".split()
)
SETTINGS = (
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


class TraceReads:
    """One look through the code of a trace, node by node."""

    def __init__(self, facts: Facts, bodies: list[ast.AST], loop: ast.AST, *, once: bool) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._traced = facts.traced_code
        self._held = facts.held_values
        self._untouched = facts.untouched_data
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
        text = self._source.segment(target)
        message = f"line {target.lineno} sets `{text}` at each trace"
        return Obstacle("python-effect", message)

    def _with(self, statement: ast.With) -> Obstacle | None:
        for item in statement.items:
            symbol = ""
            if isinstance(item.context_expr, ast.Call):
                symbol = self._names.tf(item.context_expr.func) or ""
            known = symbol in ("GradientTape", "name_scope", "device")
            if not known and not self._is_writer(item.context_expr):
                text = self._source.segment(item.context_expr)
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
            for outer in self._source.ancestors(call)
            if any(body in self._source.ancestors(outer) for body in self._bodies)
        )

    # Calls

    def _call(self, call: ast.Call) -> Obstacle | None:
        func = call.func
        text = self._source.segment(func).split("\n")[0]
        unseen = Obstacle("call-not-seen", f"what `{text}` in line {call.lineno} does is not known")
        symbol = self._names.tf(func)
        if symbol is not None:
            return self._symbol(symbol, text, call)
        path = self._names.dotted(func)
        if path is not None:
            if effect_of_path(path) is CallEffect.PURE and not path.startswith("builtins.type"):
                return None
            if effect_of_path(path) is CallEffect.HOST:
                message = f"`{text}` in line {call.lineno} is run at each trace"
                return Obstacle("python-effect", message)
            return None if path == "builtins.super" else unseen
        entered = self._own.named(func)
        if entered is not None:
            return None if entered in self._bodies and not self._is_replaced(func) else unseen
        if isinstance(func, ast.Attribute):
            return None if self._method(func) else unseen
        return None if self._is_callable_object(func) else unseen

    def _is_replaced(self, func: ast.expr) -> bool:
        """Whether a subclass of the file may have another method of that name."""
        if not isinstance(func, ast.Attribute):
            return False
        cls = self._hoisting.class_of(func.value)
        return cls is not None and self._classes.replaced(cls, func.attr)

    def _symbol(self, symbol: str, text: str, call: ast.Call) -> Obstacle | None:
        if self._is_written(call, symbol):
            return None
        effect = effect_of(symbol, "2")
        last = symbol.rpartition(".")[2]
        if symbol == "Variable" or symbol.startswith(_MAKING_VARIABLES):
            message = f"`{text}` in line {call.lineno} makes variables when it is traced"
            return Obstacle("makes-variables", message)
        loss = symbol.startswith("keras.losses.")
        if (effect is None and not loss) or symbol.startswith(SETTINGS):
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
        if held is Held.LIBRARY:
            return method in OF_OBJECTS or self._is_callable_object(func)
        if held is Held.OWN:
            return self._is_callable_object(func)  # `net.dense(x)`
        if isinstance(receiver, ast.Name) and self._traced.is_local(receiver, self._bodies):
            if self._held.is_tape(receiver):
                return method in OF_TAPES
            if self._is_own_container(receiver):
                return method in ("append", "extend", "items", "keys", "values", "get")
            return method in _OF_TENSORS
        return method in _OF_TENSORS and held is Held.TENSOR

    def _is_callable_object(self, func: ast.expr) -> bool:
        held = self._held_by(func)
        if held is Held.OWN:
            cls = self._hoisting.class_of(func)
            body = self._traced.called(cls) if cls is not None else None
            return body in self._bodies
        return held is Held.LIBRARY

    def _held_by(self, expr: ast.expr) -> Held:
        return self._held.of(expr)

    def _is_own_container(self, name: ast.Name) -> bool:
        """Whether a name holds a list or dict that the traced code makes itself."""
        bindings = self._scopes.bindings(name)
        return self._traced.is_local(name, self._bodies) and all(
            binding.how is How.ASSIGN
            and isinstance(binding.value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp))
            for binding in bindings
        )

    # Names from outside

    def _name(self, name: ast.Name) -> Obstacle | None:
        path = self._names.dotted(name)
        if path is not None and path.partition(".")[0] in _KNOWN_MODULES:
            return None
        traced, source = self._traced, self._source
        is_self = self._classes.of_self(name) is not None
        if traced.is_local(name, self._bodies) and not is_self:
            return self._parameter(name)
        entered = self._own.named(name)
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
        parent = self._source.parent(name)
        used = isinstance(parent, ast.Call) and parent.func is name
        used |= isinstance(parent, ast.Attribute) and parent.attr not in _TENSOR_ATTRIBUTES
        bindings = self._scopes.bindings(name)
        if not used or not any(binding.how is How.PARAMETER for binding in bindings):
            return None
        if isinstance(parent, ast.Attribute) and parent.attr in _OF_TENSORS:
            return None
        origins = self._held.origins(name)
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
            parent = self._source.parent(expr)
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
        unsure = self._hoisting.unsure(expr, self._loop)
        if unsure is not None:
            message = f"{unsure.message}, and is read when it is traced"
            return Obstacle("python-value", message)
        if self._once and not self._is_set_once(expr):
            message = f"`{shown}` (line {line}) gets several values, and is read when it is traced"
            return Obstacle("python-value", message)
        return None

    def _is_method_of_self(self, expr: ast.expr) -> bool:
        """`self.loss`, a method: what it does is looked at where it is called."""
        named = self._own.named(expr)
        return isinstance(expr, ast.Attribute) and named in self._bodies

    def _is_untouched(self, name: ast.Name) -> bool:
        bindings = self._scopes.bindings(name)
        return len(bindings) == 1 and self._untouched.holds(name, self._bodies[0])

    def _is_set_once(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            return len(bindings) == 1 and not self._hoisting.loops(bindings[0].node)
        if isinstance(expr, ast.Attribute):
            return self._hoisting.set_when_made(expr) is not None
        return False


def _may_change(expr: ast.expr) -> Obstacle:
    message = (
        f"`{ast.unparse(expr)}` (line {expr.lineno}) is read when it is traced, and may change"
    )
    return Obstacle("python-value", message)
