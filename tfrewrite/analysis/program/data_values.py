"""Which values are arrays, numbers, texts or containers of them, so that indexing one runs no code
of the script's.

Unlike `captured`, this asks what a value is, not whether it stays what it is.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import (
    NUMPY_STREAMS,
    CallEffect,
    effect_of_method,
    gives_data,
)
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

# What these give has `train`, `validation` and `test`, each with `images`, `labels`, `next_batch`.
KNOWN_DATASETS = (
    "tensorflow.examples.tutorials.mnist.input_data.read_data_sets",
    "tensorflow.contrib.learn.datasets.mnist.read_data_sets",
    "tensorflow.contrib.learn.python.learn.datasets.mnist.read_data_sets",
)
_PARTS = frozenset({"train", "validation", "test"})
_ARRAYS = frozenset({"images", "labels", "num_examples", "epochs_completed"})
_DATA = frozenset(
    f"builtins.{name}" for name in "len int float str bool range xrange ord chr".split()
)
MOVING_RANGE = frozenset({"six.moves.xrange", "six.moves.range"})
_HANDING_ON = frozenset(
    f"builtins.{name}"
    for name in "list tuple dict set sorted min max sum abs round zip enumerate reversed".split()
)
_LAZY = frozenset(f"builtins.{name}" for name in "zip enumerate reversed".split())
_LOADERS = ("tensorflow.keras.datasets.", "tensorflow.contrib.learn.datasets.")
_OPTIONS = ("tensorflow.flags.FLAGS", "tensorflow.app.flags.FLAGS", "absl.flags.FLAGS")
# What these give is an object with code of its own, or one that goes on.
_NO_ARRAYS = (
    "h5py.", "itertools.", "pickle.", "builtins.iter", "os.popen", "csv.", "random.Random",
    "numpy.random.RandomState", "numpy.random.default_rng", "numpy.nditer", "numpy.vectorize",
    "numpy.memmap", "numpy.frompyfunc",
)  # fmt: skip
# What these give can be looped over again and again: arrays, lists, frames, numbers.
_LASTING = (
    "builtins.", "numpy.", "math.", "time.", "random.", "json.", "collections.", "pandas.", "cv2.",
    "scipy.", "skimage.", "sklearn.datasets.", "sklearn.preprocessing.", "PIL.", "string.",
    "matplotlib.", "imageio.imread", "glob.glob", "os.listdir", "os.path.", "re.findall",
    "re.split", "sklearn.utils.shuffle", "sklearn.utils.resample", "argparse.", "datetime.",
    "sklearn.model_selection.train_test_split", "sklearn.cross_validation.train_test_split",
)  # fmt: skip
_ONCE = frozenset(
    [
        "numpy.ndindex",
        "numpy.ndenumerate",
        *(f"builtins.{name}" for name in ("iter", "open", "map", "filter")),
    ]
)
_BY_PIECES = frozenset(["chunksize", "iterator"])
_LASTING_METHODS = frozenset(
    "to_numpy as_matrix toarray todense fit_transform transform head tail drop dropna fillna"
    " sample unique readlines read splitlines swapaxes repeat take next_batch".split()
)
_SPLITTING = frozenset(["split", "rsplit"])


class DataValues:
    """Follows values to where they are made."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._sessions = facts.sessions
        self._open: set[ast.AST] = set()

    def expr(self, expr: ast.expr | None) -> bool:
        """Whether a value is surely data."""
        if expr is None or expr in self._open:
            return expr is not None
        self._open.add(expr)
        try:
            return self._expr(expr)
        finally:
            self._open.discard(expr)

    def dataset(self, expr: ast.expr) -> bool:
        """Whether an expression is `mnist.train` of one of TensorFlow's tutorials."""
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            return (
                len(bindings) == 1
                and bindings[0].how is How.ASSIGN
                and bool(
                    bindings[0].value is not None
                    and not isinstance(bindings[0].value, ast.Name)
                    and self.dataset(bindings[0].value)
                )
            )
        if not isinstance(expr, ast.Attribute) or expr.attr not in _PARTS:
            return False
        owner = expr.value
        bindings = self._scopes.bindings(owner) if isinstance(owner, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 else None
        return isinstance(value, ast.Call) and self._names.dotted(value.func) in KNOWN_DATASETS

    def reiterable(self, expr: ast.expr) -> bool:
        """Whether a value is data that can be looped over twice, and gives the same."""
        match expr:
            case ast.Call():
                if self._names.dotted(expr.func) in _LAZY:
                    return all(self.reiterable(one) for one in expr.args)
                return self.expr(expr)
            case ast.GeneratorExp():
                return False
        return self.expr(expr) and not self._lazy(expr, set())

    def used_up(self, expr: ast.expr) -> bool:
        """Whether a value may be an iterator, which gives each of its elements only once."""
        return self._lazy(expr, set())

    def _lazy(self, expr: ast.expr | None, seen: set[ast.AST]) -> bool:
        """Whether a name may hold what is used up by looping over it."""
        if expr is None or expr in seen:
            return False
        seen.add(expr)
        match expr:
            case ast.Call():
                return self._gives_once(expr, seen)
            case ast.GeneratorExp() | ast.Attribute(attr="flat"):
                return True
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(self._lazy(part, seen) for part in parts)
            case ast.IfExp(body=body, orelse=orelse):
                return self._lazy(body, seen) or self._lazy(orelse, seen)
            case ast.Subscript(value=value):
                return self._lazy(value, seen)
            case ast.Name():
                return any(self._lazy_binding(one, seen) for one in self._scopes.bindings(expr))
            case ast.Attribute(value=ast.Name() as owner, attr=attribute):
                cls = self._classes.of_self(owner)
                stores = self._classes.stores(cls, attribute) if cls is not None else None
                return any(self._lazy(store.value, seen) for store in stores or ())
        return False

    def _lazy_binding(self, binding: Binding, seen: set[ast.AST]) -> bool:
        if binding.how in (How.LOOP, How.UNPACK):
            return self._holds_lazy(binding.value, seen)
        values = [binding.value, *(self._own.given(binding) or [])]
        return any(self._lazy(value, seen) for value in values)

    def _holds_lazy(self, expr: ast.expr | None, seen: set[ast.AST]) -> bool:
        """Whether an element of a value may be what is used up."""
        match expr:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
                return any(self._lazy(part, seen) for part in parts)
            case ast.ListComp(elt=element):
                return self._lazy(element, seen)
            case ast.Name():
                values = [one.value for one in self._scopes.bindings(expr)]
                if expr in seen:
                    return False
                seen.add(expr)
                return any(self._holds_lazy(value, seen) for value in values)
            case ast.Call():
                function = self._own.function(expr)
                if function is not None:
                    return any(self._holds_lazy(one, seen) for one in self._own.returned(function))
                if isinstance(expr.func, ast.Attribute) and expr.func.attr in ("items", "values"):
                    return self._holds_lazy(expr.func.value, seen)
                passing = self._names.dotted(expr.func) in _LAZY | _HANDING_ON
                return passing and any(self._holds_lazy(one, seen) for one in expr.args)
        return False

    def _gives_once(self, call: ast.Call, seen: set[ast.AST]) -> bool:
        """Whether what a call gives may be an iterator."""
        path = self._names.dotted(call.func)
        if path is not None:
            if path in _LAZY or path in _ONCE:
                return True
            if any(keyword.arg in _BY_PIECES for keyword in call.keywords):
                return True
            return not path.startswith((*_LASTING, *_LOADERS, *MOVING_RANGE))
        function = self._own.function(call)
        if function is not None:
            return any(self._lazy(one, seen) for one in self._own.returned(function))
        if call in self._sessions.runs or not isinstance(call.func, ast.Attribute):
            return False
        method, receiver = call.func.attr, call.func.value
        if method in _SPLITTING:
            # `"1 2".split()` gives a list, but `KFold(5).split(rows)` goes on.
            return not all(isinstance(one, ast.Constant) for one in call.args)
        lasting = effect_of_method(method) is CallEffect.PURE or method in _LASTING_METHODS
        return not lasting and not self._from_stream(receiver)

    def _expr(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                return all(self.expr(value) for value in values)
            case ast.Dict(values=values):
                return all(self.expr(value) for value in values)
            case ast.BinOp(left=left, right=right):
                return self.expr(left) and self.expr(right)
            case ast.UnaryOp(operand=operand):
                return self.expr(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.expr(body) and self.expr(orelse)
            case ast.BoolOp(values=values):
                return all(self.expr(value) for value in values)
            case ast.ListComp(elt=element) | ast.SetComp(elt=element):
                return self.expr(element)
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return self.expr(value)
            case ast.Name():
                return self._name(expr)
            case ast.Attribute():
                return self._attribute(expr)
            case ast.Call():
                return self._call(expr)
        return False

    def _name(self, name: ast.Name) -> bool:
        path = self._names.dotted(name)
        if path is not None:
            return path.startswith(("numpy.", "math.")) or path in (
                "builtins.int", "builtins.float", "builtins.bool",
            )  # fmt: skip
        bindings = self._scopes.bindings(name)
        return bool(bindings) and all(self._bound(binding) for binding in bindings)

    def _bound(self, binding: Binding) -> bool:
        if binding.how is How.PARAMETER:
            given = self._own.given(binding) or self._given_to_class(binding)
            default = binding.value is None or self.expr(binding.value)
            return bool(given) and default and all(self.expr(one) for one in given or ())
        if binding.how in (How.ASSIGN, How.UNPACK, How.AUGMENT, How.LOOP):
            return self.expr(binding.value)
        return False

    def _given_to_class(self, binding: Binding) -> list[ast.expr]:
        """What a parameter of `__init__` is given where objects of its class are made."""
        function = self._source.function(binding.node)
        cls = self._source.parent(function) if function is not None else None
        if not isinstance(cls, ast.ClassDef) or getattr(function, "name", "") != "__init__":
            return []
        if self._classes.extended(cls) or binding.index is None:
            return []
        found = []
        for call in self._classes.instantiations(cls):
            named = [k.value for k in call.keywords if k.arg == binding.name]
            at = call.args[binding.index - 1 : binding.index]
            hidden = any(isinstance(one, ast.Starred) for one in call.args)
            given = [*named, *at] or [*filter(None, [binding.value])]
            if hidden or not given or any(k.arg is None for k in call.keywords):
                return []
            found.append(given[0])
        return found

    def _attribute(self, node: ast.Attribute) -> bool:
        path = self._names.dotted(node)
        if path is not None:
            return path.startswith(("numpy.", "math.", *_OPTIONS))
        if self.dataset(node.value):
            return node.attr in _ARRAYS
        owner = node.value
        cls = self._classes.of_self(owner) if isinstance(owner, ast.Name) else None
        if cls is not None:
            stores = self._classes.stores(cls, node.attr)
            return bool(stores) and all(self.expr(store.value) for store in stores or ())
        if isinstance(owner, ast.Name) and self._is_options(owner):
            return True
        return self.expr(owner)

    def _is_options(self, name: ast.Name) -> bool:
        """`args = parser.parse_args()`, where each option has a type of Python's own."""
        bindings = self._scopes.bindings(name)
        value = bindings[0].value if len(bindings) == 1 else None
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        return value.func.attr == "parse_args" and not value.args

    def _call(self, call: ast.Call) -> bool:
        if call in self._sessions.runs:
            return True
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        path = self._names.dotted(call.func)
        if path is not None:
            if path in _DATA or path in MOVING_RANGE or path.startswith(_LOADERS):
                return True
            if path.startswith(_NO_ARRAYS):
                return False
            if path in _HANDING_ON:
                return all(self.expr(one) for one in given)
            return gives_data(path)
        function = self._own.function(call)
        if function is not None:
            returned = self._own.returned(function)
            return bool(returned) and all(self.expr(one) for one in returned)
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver = call.func.value
        if call.func.attr == "next_batch":
            return self.dataset(receiver)
        if self._from_stream(receiver):
            return True
        pure = effect_of_method(call.func.attr) is CallEffect.PURE
        return (pure or self._from_library(receiver)) and self.expr(receiver)

    def _from_stream(self, receiver: ast.expr) -> bool:
        bindings = self._scopes.bindings(receiver) if isinstance(receiver, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 else receiver
        path = self._names.dotted(value.func) if isinstance(value, ast.Call) else None
        return path in NUMPY_STREAMS

    def _from_library(self, receiver: ast.expr) -> bool:
        """Whether an object is a library's that works with data: a frame, a scaler."""
        if isinstance(receiver, ast.Name):
            bindings = self._scopes.bindings(receiver)
            return bool(bindings) and all(
                isinstance(binding.value, ast.Call)
                and self._names.dotted(binding.value.func) is not None
                for binding in bindings
            )
        return isinstance(receiver, (ast.Call, ast.Attribute, ast.Subscript))
