"""What functions capture: whether it is ordinary data.

A function that is traced makes constants of the data that it finds. It matters only that there is
no variable, no iterator and nothing else with a life of its own among them.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.constant_values import is_of_constants
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

# Whatever they are given, they return data.
_GIVING_DATA = (
    "numpy.",
    "math.",
    "os.path.",
    "glob.",
    "json.",
    "random.",
    "time.",
    "tensorflow.keras.datasets.",
    "tensorflow.io.gfile.",
    "tensorflow.gfile.",
    *(f"builtins.{name}" for name in "len int float str bool range".split()),
)
# They return what they are given, or a part of it.
_HANDING_ON = frozenset(
    f"builtins.{name}" for name in "list tuple dict set sorted min max sum abs round zip".split()
)
_OPTIONS = ("argparse.ArgumentParser", "tensorflow.flags.FLAGS", "absl.flags.FLAGS")
_FEATURES = frozenset(
    ["FixedLenFeature", "VarLenFeature", "FixedLenSequenceFeature", "SparseFeature"]
)
_ABOUT_IT = frozenset({"shape", "dtype", "ndim", "size"})


class Captured:
    """Questions about values that a function takes from outside."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls
        self._open: set[ast.expr] = set()
        self._asked: set[ast.expr] = set()

    def data(self, expr: ast.expr | None) -> bool:
        """Whether a value is surely ordinary data, all through."""
        if expr is None or expr in self._open:
            return expr is not None
        self._open.add(expr)
        try:
            return self._data(expr)
        finally:
            self._open.discard(expr)

    def _data(self, expr: ast.expr) -> bool:
        match expr:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                return all(self.data(value) for value in values)
            case ast.Dict(keys=keys, values=values):
                return all(self.data(value) for value in [*keys, *values])
            case ast.BinOp(left=left, right=right):
                return self.data(left) and self.data(right)
            case ast.UnaryOp(operand=operand):
                return self.data(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.data(body) and self.data(orelse)
            case ast.BoolOp(values=values):
                return all(self.data(value) for value in values)
            case ast.ListComp(elt=element) | ast.SetComp(elt=element):
                return self.data(element)
            case ast.Subscript(value=value):
                return self.data(value)
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
            return self._is_library_data(path)
        bindings = self._scopes.bindings(name)
        if not bindings or not all(self._bound(binding) for binding in bindings):
            return False
        holding = any(self._may_hold(binding) for binding in bindings)
        flat = all(_is_flat(binding.value) for binding in bindings)
        return not holding or all(
            self._keeps_data(use) or (flat and self._takes_one(use))
            for binding in bindings
            for use in self._own.uses(binding)
        )

    def _bound(self, binding: Binding) -> bool:
        if binding.how is How.PARAMETER:
            given = self._own.given(binding)
            default = binding.value is None or self.data(binding.value)
            return bool(given) and default and all(self.data(value) for value in given or ())
        if binding.how is How.LOOP and isinstance(binding.value, ast.Call):
            return self._names.dotted(binding.value.func) == "builtins.range"
        if binding.how in (How.ASSIGN, How.UNPACK, How.AUGMENT, How.LOOP):
            return self.data(binding.value)
        return False

    def _is_library_data(self, path: str) -> bool:
        """A type, or one of TensorFlow's: `tf.float32`, `np.pi`."""
        if path.endswith(_OPTIONS[1:]):
            return True
        if path in ("sys.argv", "os.environ"):
            return True
        return path.startswith(("numpy.", "math.")) or path.rpartition(".")[2].startswith(
            ("float", "int", "uint", "bool", "string", "complex", "half", "double")
        )

    def _attribute(self, attribute: ast.Attribute) -> bool:
        path = self._names.dotted(attribute)
        if path is not None:
            return self._is_library_data(path) or path.startswith(_OPTIONS[1:])
        owner = attribute.value
        cls = self._classes.of_self(owner) if isinstance(owner, ast.Name) else None
        if cls is None:
            return self._is_option(owner, attribute.attr) or (
                attribute.attr in _ABOUT_IT and self.data(owner)
            )
        return self._of_self(cls, attribute.attr)

    def _of_self(self, cls: ast.ClassDef, name: str) -> bool:
        """An attribute of an object of the file: all that is ever stored in it is data."""
        if self._classes.replaced(cls, name):
            return False
        stores = self._classes.stores(cls, name)
        if not stores or not all(self.data(store.value) for store in stores):
            return False
        holding = any(self._can_hold(store.value) for store in stores)
        return not holding or all(self._keeps_data(use) for use in self._classes.reads(name))

    def _is_option(self, owner: ast.expr, name: str) -> bool:
        """An option from the command line: nothing but data is ever stored under its name."""
        stored = [
            self._source.parent(node)
            for node in self._source.all(ast.Attribute)
            if node.attr == name and not isinstance(node.ctx, ast.Load)
        ]
        return self._is_namespace(owner) and all(
            isinstance(statement, ast.Assign) and self.data(statement.value) for statement in stored
        )

    def _is_namespace(self, owner: ast.expr) -> bool:
        """Whether a variable holds the options of the command line, by whatever way."""
        if owner in self._asked:
            return False
        self._asked.add(owner)
        if isinstance(owner, ast.Name):
            bindings = self._scopes.bindings(owner)
            found = bool(bindings) and all(map(self._binds_namespace, bindings))
        else:
            found = self._parses_options(owner)
        self._asked.discard(owner)
        return found

    def _binds_namespace(self, binding: Binding) -> bool:
        if binding.how is not How.PARAMETER:
            return (
                binding.how is How.ASSIGN
                and binding.value is not None
                and self._is_namespace(binding.value)
            )
        given = self._own.given(binding) or self._given_to_init(binding)
        return bool(given) and all(map(self._is_namespace, given))

    def _given_to_init(self, binding: Binding) -> list[ast.expr]:
        """What a parameter of `__init__` is given wherever its class is called."""
        init = self._source.function(binding.node)
        cls = self._source.parent(init) if init is not None else None
        if not isinstance(init, ast.FunctionDef) or not isinstance(cls, ast.ClassDef):
            return []
        if init.name != "__init__" or self._facts.eager_values.members.subclassed(cls):
            return []
        found: list[ast.expr] = []
        for call in self._classes.instantiations(cls):
            given = [one.value for one in call.keywords if one.arg == binding.name]
            position = (binding.index or 0) - 1
            plain = not any(isinstance(one, ast.Starred) for one in call.args)
            if plain and 0 <= position < len(call.args):
                given.append(call.args[position])
            if len(given) != 1:
                return []
            found += given
        return found

    def _parses_options(self, value: ast.expr | None) -> bool:
        """`parser.parse_args()`, of a parser from argparse."""
        if not isinstance(value, ast.Call):
            return False
        function = self._own.function(value)
        if function is not None:  # `def parse_args(): ... return parser.parse_args()`
            returned = self._own.returned(function)
            return bool(returned) and all(map(self._is_namespace, returned))
        if not isinstance(value.func, ast.Attribute):
            return False
        parser = value.func.value
        if value.func.attr != "parse_args" or not isinstance(parser, ast.Name):
            return False
        if value.keywords or not self._options_are_data:
            return False  # a namespace of somebody else's
        made = [binding.value for binding in self._scopes.bindings(parser)]
        return bool(made) and all(
            isinstance(one, ast.Call) and self._names.dotted(one.func) == _OPTIONS[0]
            for one in made
        )

    @cached_property
    def _options_are_data(self) -> bool:
        """Whether every default of an option is data, and none is made by TensorFlow."""
        for call in [*self._classes.calls("add_argument"), *self._classes.calls("set_defaults")]:
            for keyword in call.keywords:
                if keyword.arg == "type" and self._names.tf(keyword.value) is not None:
                    return False
                defaults = keyword.arg in ("default", "const", None) or not call.args
                if defaults and not self.data(keyword.value):
                    return False
        return True

    def _call(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if path is None:
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
            pure = effect_of_method(method) is CallEffect.PURE
            return pure and self.data(receiver) and all(self.data(one) for one in given)
        if path.startswith("tensorflow.") and path.rpartition(".")[2] in _FEATURES:
            return True
        if path == "tensorflow.constant":
            return bool(call.args) and is_of_constants(call.args[0])
        if path.startswith(_GIVING_DATA):
            return True
        return path in _HANDING_ON and all(self.data(one) for one in given)

    def _may_hold(self, binding: Binding) -> bool:
        """Whether something else could be put into a value later."""
        if binding.how is How.PARAMETER:
            return any(self._can_hold(one) for one in self._own.given(binding) or ())
        if binding.how is How.LOOP and isinstance(binding.value, ast.Call):
            return False
        return self._can_hold(binding.value)

    def _can_hold(self, value: ast.expr | None) -> bool:
        if isinstance(value, (ast.Constant, ast.JoinedStr)):
            return False
        if isinstance(value, ast.UnaryOp):
            return self._can_hold(value.operand)
        if isinstance(value, ast.BinOp):
            return self._can_hold(value.left) or self._can_hold(value.right)
        if isinstance(value, ast.Tuple):
            return any(self._can_hold(element) for element in value.elts)
        if isinstance(value, ast.Name):
            if value in self._asked:
                return False
            self._asked.add(value)
            held = any(self._may_hold(binding) for binding in self._scopes.bindings(value))
            self._asked.discard(value)
            return held
        if isinstance(value, ast.Attribute):
            return self._names.dotted(value) is None and not isinstance(value.value, ast.Name)
        if isinstance(value, ast.Call):
            path = self._names.dotted(value.func) or ""
            giving = path == "tensorflow.constant" or path.startswith(_GIVING_DATA)
            return path.startswith("json.") or not giving
        return True

    def _takes_one(self, use: ast.expr) -> bool:
        """Whether a use takes but one of the things in a container."""
        parent = self._source.parent(use)
        return (
            isinstance(parent, ast.Subscript)
            and parent.value is use
            and isinstance(parent.ctx, ast.Load)
            and not isinstance(parent.slice, ast.Slice)
        )

    def _keeps_data(self, use: ast.expr) -> bool:
        """Whether a use of a container puts nothing but data into it."""
        parent = self._source.parent(use)
        match parent:
            case ast.Subscript(value=value) if value is use:
                if isinstance(parent.ctx, ast.Load):
                    return self._keeps_data(parent)
                statement = self._source.parent(parent)
                return isinstance(statement, ast.Assign) and self.data(statement.value)
            case ast.Attribute(attr=method):
                call = self._source.parent(parent)
                if not isinstance(call, ast.Call) or call.func is not parent:
                    return method in _ABOUT_IT
                if effect_of_method(method) is CallEffect.UNKNOWN:
                    return False
                return all(self.data(one) for one in call.args) and not call.keywords
            case ast.Call() | ast.keyword():
                call = parent if isinstance(parent, ast.Call) else self._source.parent(parent)
                if not isinstance(call, ast.Call) or call.func is use:
                    return False
                path = self._names.dotted(call.func) or ""
                known = effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST)
                return known or path.startswith("tensorflow.")
            case ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.FormattedValue() | ast.For():
                return True
            case (
                ast.Subscript()
                | ast.comprehension()
                | ast.Expr()
                | ast.If()
                | ast.While()
                | ast.IfExp()
            ):
                return True
        return False


def _is_flat(value: ast.expr | None) -> bool:
    """Whether a container holds nothing that could hold something in its turn."""
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            values = list(elements)
        case ast.Dict(values=values):
            pass
        case _:
            return False
    return all(isinstance(one, (ast.Constant, ast.Call, ast.Attribute)) for one in values)
