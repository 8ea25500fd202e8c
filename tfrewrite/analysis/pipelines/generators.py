"""The Python generators behind `from_generator`: whether anybody could tell when they run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import (
    CallEffect,
    effect_of_method,
    effect_of_path,
    gives_data,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_RANDOM = ("random.", "numpy.random.")
_LAZY = frozenset(
    f"builtins.{name}" for name in ["enumerate", "filter", "iter", "map", "open", "reversed", "zip"]
)
_LAZY_MODULES = ("itertools.", "csv.", "gzip.", "zipfile.", "glob.iglob", "os.scandir", "os.walk")
_GIVING_NEW = frozenset(
    [
        *(f"builtins.{name}" for name in "len int float str sum list range".split()),
        *(f"numpy.{name}" for name in "zeros ones empty arange full copy".split()),
    ]
)
_MUTABLE_ROOTS = (ast.Attribute, ast.Subscript)


class Generators:
    """Decides whether a generator runs the same, unseen, when it runs ahead of its consumer."""

    def __init__(self, facts: Facts) -> None:
        self._untouched = facts.untouched_data
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls
        self._code = facts.element_code

    def obstacle(self, making: ast.Call) -> Obstacle | None:
        """Why a `from_generator` must not run ahead."""
        func = next((k.value for k in making.keywords if k.arg == "generator"), None)
        func = func or next(iter(making.args), None)
        bodies = self._code.bodies(func) if func is not None else None
        if func is None or bodies is None:
            text = self._source.segment(func) if func is not None else "the generator"
            message = f"what `{text}` in line {making.lineno} does is not in this file"
            return Obstacle("generator-not-seen", message)
        for body in bodies:
            for node in ast.walk(body):
                found = self._node(node, bodies)
                if found is not None:
                    return found
        return None

    def _node(self, node: ast.AST, bodies: list[ast.AST]) -> Obstacle | None:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return _shares(node, f"binds `{node.names[0]}` for others to see")
        if isinstance(node, ast.Call):
            return self._call(node, bodies)
        if isinstance(node, _MUTABLE_ROOTS) and not isinstance(node.ctx, ast.Load):
            return self._stored(node, bodies)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            return self._augmented(node.target)
        if isinstance(node, ast.With) and not isinstance(node.items[0].context_expr, ast.Call):
            return _shares(node, f"enters `{ast.unparse(node.items[0].context_expr)}`")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            cls = self._classes.of_self(node.value)
            if cls is not None and self._own.named(node) is None:
                return self._attribute(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._name(node, bodies)
        return None

    def _call(self, call: ast.Call, bodies: list[ast.AST]) -> Obstacle | None:
        path = self._names.dotted(call.func)
        text = ast.unparse(call.func)
        symbol = self._names.tf(call.func)
        if path is None:
            return self._own_or_method(call, text, bodies)
        if path.startswith(_RANDOM) and not path.endswith(("RandomState", "default_rng")):
            message = (
                f"`{text}` in line {call.lineno} draws from a stream that others draw from too"
            )
            return Obstacle("generator-random", message)
        if writes_to_argument(call, path):
            return _shares(call, f"calls `{text}`, which may write to an array")
        effect = effect_of(symbol) if symbol is not None else None
        if effect is not None and effect.stateless:
            return None
        kind = effect_of_path(path)
        if kind is CallEffect.PURE or path == "builtins.next":
            return None
        if kind is CallEffect.HOST or path == "builtins.open":
            message = f"`{text}` in line {call.lineno} can be seen each time that it runs"
            return Obstacle("generator-io", message)
        message = f"what `{text}(...)` in line {call.lineno} does is not known"
        return Obstacle("generator-not-seen", message)

    def _own_or_method(self, call: ast.Call, text: str, bodies: list[ast.AST]) -> Obstacle | None:
        if self._own.function(call) is not None:
            return None
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if receiver is None:
            message = f"what `{text}(...)` in line {call.lineno} does is not known"
            return Obstacle("generator-not-seen", message)
        assert isinstance(call.func, ast.Attribute)
        effect = effect_of_method(call.func.attr)
        if effect is CallEffect.PURE or (
            effect is CallEffect.MUTATES and self._made_here(receiver, bodies)
        ):
            return None
        return _shares(call, f"calls `{text}`, which may change what others use")

    def _made_here(self, receiver: ast.expr, bodies: list[ast.AST]) -> bool:
        """Whether an object is one that the generator made itself."""
        if not isinstance(receiver, ast.Name) or not self._code.is_local(receiver, bodies):
            return False
        making_new = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
        return all(
            isinstance(binding.value, making_new)
            or (
                isinstance(binding.value, ast.Call)
                and self._names.dotted(binding.value.func)
                in ("builtins.list", "builtins.dict", "builtins.set", "numpy.zeros", "numpy.empty",
                    "numpy.random.permutation", "numpy.arange", "collections.deque")
            )
            for binding in self._scopes.bindings(receiver)
        )  # fmt: skip

    def _stored(
        self, target: ast.Attribute | ast.Subscript, bodies: list[ast.AST]
    ) -> Obstacle | None:
        if isinstance(target, ast.Subscript) and self._made_here(target.value, bodies):
            # What is in a list of its own may still be somebody else's array.
            augmented = isinstance(self._source.parent(target), ast.AugAssign)
            if not augmented or self._holds_numbers(target.value):
                return None
        return _shares(target, f"writes `{ast.unparse(target)}`")

    def _holds_numbers(self, name: ast.expr) -> bool:
        """Whether a container that the generator made can hold nothing but numbers."""
        return isinstance(name, ast.Name) and all(
            isinstance(binding.value, ast.Call)
            and (self._names.dotted(binding.value.func) or "").startswith("numpy.")
            for binding in self._scopes.bindings(name)
        )

    def _augmented(self, target: ast.Name) -> Obstacle | None:
        """`x += 1` changes an array in place, which may be somebody else's."""
        for binding in self._scopes.bindings(target):
            new = binding.how is How.AUGMENT or (
                binding.how is How.ASSIGN and self._is_new(binding.value)
            )
            if not new and not self._counts(binding):
                return _shares(target, f"changes `{target.id}` in place")
        return None

    def _is_new(self, value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return self._names.dotted(value.func) in _GIVING_NEW
        return isinstance(value, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.List, ast.JoinedStr))

    def _counts(self, binding: Binding) -> bool:
        """Whether a loop's variable is a number."""
        iterated = binding.value if binding.how is How.LOOP else None
        return isinstance(iterated, ast.Call) and (
            self._names.dotted(iterated.func) == "builtins.range"
        )

    def _name(self, name: ast.Name, bodies: list[ast.AST]) -> Obstacle | None:
        """A value from outside must be settled before the generator runs, and stay as it is."""
        if self._code.is_local(name, bodies) or self._names.dotted(name) is not None:
            return None
        bindings = self._scopes.bindings(name)
        if any(binding.how in (How.FUNCTION, How.CLASS) for binding in bindings):
            return None
        readers = [body for body in bodies if body in self._source.ancestors(name)]
        if any(self._untouched.holds(name, reader) for reader in readers):
            return None
        parameter = len(bindings) == 1 and bindings[0].how is How.PARAMETER
        settled = len(bindings) == 1 and bindings[0].how in (How.ASSIGN, How.UNPACK)
        if not parameter and not (settled and self._flow.loop(bindings[0].node) is None):
            return _shares(name, f"reads `{name.id}`, which gets another value")
        uses = self._own.uses(bindings[0])
        if not self._is_data(bindings[0]):
            message = f"what `{name.id}` in line {name.lineno} gives is not known"
            return Obstacle("generator-not-seen", message)
        for use in uses:
            if not self._is_read_only(use):
                return _shares(name, f"reads `{name.id}`, which line {use.lineno} may change")
        return None

    def _is_data(self, binding: Binding) -> bool:
        """Whether a name holds data, so that indexing or looping over it runs no code."""
        if binding.how is How.PARAMETER:
            given = self._own.given(binding)
            return bool(given) and all(self._gives_data(value) for value in given or ())
        return binding.value is not None and self._gives_data(binding.value)

    def _gives_data(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant() | ast.List() | ast.Dict() | ast.Tuple() | ast.Set():
                return True
            case ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.BinOp() | ast.Compare():
                return True
            case ast.Subscript(value=inner):
                return self._gives_data(inner)
            case ast.Name():
                bindings = self._scopes.bindings(value)
                return len(bindings) == 1 and self._is_data(bindings[0])
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if (
                self._names.dotted(value.func) is None
            ):
                return effect_of_method(method) is CallEffect.PURE and self._gives_data(inner)
            case ast.Call():
                path = self._names.dotted(value.func) or ""
                if path in _LAZY or path.startswith(_LAZY_MODULES):
                    return False
                datasets = path.startswith("tensorflow.keras.datasets.")
                pure = effect_of_path(path) is CallEffect.PURE
                return datasets or pure or gives_data(path)
        return False

    def _attribute(self, attribute: ast.Attribute) -> Obstacle | None:
        assert isinstance(attribute.value, ast.Name)
        cls = self._classes.of_self(attribute.value)
        stores = (self._classes.stores(cls, attribute.attr) if cls is not None else None) or []
        if len(stores) != 1 or stores[0].method is None or stores[0].method.name != "__init__":
            return _shares(attribute, f"reads `{ast.unparse(attribute)}`, which may change")
        if stores[0].value is None or not self._gives_data(stores[0].value):
            message = (
                f"what `{ast.unparse(attribute)}` in line {attribute.lineno} gives is not known"
            )
            return Obstacle("generator-not-seen", message)
        for use in self._classes.reads(attribute.attr):
            if not self._is_read_only(use):
                text = ast.unparse(attribute)
                return _shares(attribute, f"reads `{text}`, which line {use.lineno} may change")
        return None

    def _is_read_only(self, use: ast.expr) -> bool:
        """Whether a use of a value surely leaves it as it is."""
        parent = self._source.parent(use)
        match parent:
            case ast.Subscript(value=value, ctx=ctx):
                if value is not use:
                    return True
                return isinstance(ctx, ast.Load) and self._is_read_only(parent)
            case ast.Call() if parent.func is not use:
                return self._leaves(parent)
            case ast.keyword():
                call = self._source.parent(parent)
                return isinstance(call, ast.Call) and self._leaves(call)
            case ast.Attribute(attr=attribute):
                call = self._source.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return effect_of_method(attribute) is CallEffect.PURE
                return attribute in ("shape", "size", "dtype", "ndim")
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                return iterated is use
            case ast.Yield() | ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.FormattedValue():
                return True
            case ast.Tuple():
                return isinstance(self._source.parent(parent), ast.Yield)
            case ast.Assign(targets=[ast.Name()]) if isinstance(use, ast.Subscript):
                return True
        return False

    def _leaves(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if path is None:
            return False
        if path.startswith("tensorflow."):
            return True
        return effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST)


def _shares(node: ast.expr | ast.stmt, what: str) -> Obstacle:
    return Obstacle("generator-shares-state", f"in line {node.lineno} the generator {what}")
