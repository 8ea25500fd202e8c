"""What functions capture: ordinary data, and data that nothing changes.

A function that is traced makes constants of the data that it finds. It matters only that there is
no variable, no iterator and nothing else with a life of its own among them. A generator looks at
the data again for each element, so that data must also stay as it is.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
_FRESH = frozenset(
    [
        *(
            f"numpy.{name}"
            for name in "array arange zeros ones full empty linspace eye load".split()
        ),
        *(f"numpy.{name}" for name in "loadtxt genfromtxt concatenate stack vstack".split()),
        *(f"numpy.random.{name}" for name in "rand randn random normal uniform randint".split()),
    ]
)
_GIVING_NEW = frozenset(
    "mean sum std var min max argmax argmin copy astype tolist item count index any all".split()
)
_LOOKING = frozenset(
    [
        *(
            f"builtins.{name}"
            for name in "len sum min max float int str bool print any all".split()
        ),
        *(f"numpy.{name}" for name in "mean sum std var min max average prod unique".split()),
        "builtins.range",
        "builtins.enumerate",
        "builtins.zip",
    ]
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

    # Data, at the time of tracing

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
        for call in self._source.all(ast.Call):
            if self._classes.defined(call.func) is cls:
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
            return bool(call.args) and _is_deeply_constant(call.args[0])
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

    # Data that stays as it is

    def untouched(
        self,
        name: ast.Name,
        reader: ast.AST,
        copied_by: Callable[[ast.expr], bool] = lambda _: False,
    ) -> bool:
        """Whether a name holds data that nothing in the file changes once a function reads it.

        What the function itself does with the data is for others to judge. `copied_by` knows of
        further uses that leave the data as it is.
        """
        bindings = self._scopes.bindings(name)
        only = len(bindings) == 1
        if not bindings or not all(
            self._is_settled(binding, reader, only=only) for binding in bindings
        ):
            return False
        uses = self._own.uses(bindings[0])
        if all(b.how is How.ASSIGN and _is_deeply_constant(b.value) for b in bindings):
            return all(self._leaves(use) or copied_by(use) for use in uses)
        return all(self._is_fresh(binding) for binding in bindings) and all(
            self._looks(use, reader) or copied_by(use) for use in uses
        )

    def is_given_to_op(self, use: ast.expr) -> bool:
        """Whether an array is handed to an op, which copies it, and changes nothing."""
        parent = self._source.parent(use)
        call = self._source.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is use:
            return False
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol, "2") if symbol is not None else None
        return effect is not None and effect.stateless and effect.returns_tensor

    def _is_settled(self, binding: Binding, reader: ast.AST, *, only: bool) -> bool:
        """Whether a name has its value for good before the function that reads it may run."""
        statement = binding.node
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return False
        if binding.how not in (How.ASSIGN, How.UNPACK) or self._flow.loop(statement) is not None:
            return False
        same = self._source.function(statement) is self._source.function(reader)
        return only or (same and statement.lineno < getattr(reader, "lineno", 0))

    def _is_fresh(self, binding: Binding) -> bool:
        """Whether a binding gives an array, or numbers, that nobody else has hold of."""
        value = binding.value
        if isinstance(value, ast.BinOp):
            number = isinstance(value.right, ast.Constant) and isinstance(
                value.right.value, (int, float)
            )
            arithmetic = isinstance(value.op, (ast.Div, ast.Sub, ast.Pow))
            return number and arithmetic and self.data(value.left)
        if not isinstance(value, ast.Call) or any(k.arg == "copy" for k in value.keywords):
            return False
        path = self._names.dotted(value.func)
        if path is None:
            return False
        if path.startswith("tensorflow.keras.datasets.") and path.endswith(".load_data"):
            return binding.how is How.UNPACK
        if path == "numpy.load" and value.keywords:
            return False  # a file that is mapped
        if path == "builtins.list" and value.args:
            inner = value.args[0]
            return isinstance(inner, ast.Call) and self._names.dotted(inner.func) == (
                "builtins.range"
            )
        if path == "numpy.array" and not _is_deeply_constant(value.args[0] if value.args else None):
            return False  # it may be an array of lists
        if "object" in ast.unparse(value):
            return False
        return binding.how is How.ASSIGN and (path in _FRESH or path == "builtins.range")

    def _leaves(self, use: ast.expr) -> bool:
        """Whether a use of a list or dict of constants leaves it alone, and keeps no hold of it."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return isinstance(parent.ctx, ast.Load) and not isinstance(parent.slice, ast.Slice)
        if isinstance(parent, ast.Attribute):
            call = self._source.parent(parent)
            pure = effect_of_method(parent.attr) is CallEffect.PURE
            return isinstance(call, ast.Call) and call.func is parent and pure
        return self._is_looked_at(parent, loops=True)

    def _looks(self, use: ast.expr, reader: ast.AST) -> bool:
        """Whether a use of an array only looks at it: elsewhere rows of it go nowhere either."""
        loops = reader in self._source.ancestors(use)
        parent = self._source.parent(use)
        match parent:
            case ast.Subscript(value=value):
                if value is not use:
                    return True
                element = self._source.parent(parent)
                return isinstance(parent.ctx, ast.Load) and self._is_looked_at(element, loops=loops)
            case ast.Attribute(attr=attribute):
                call = self._source.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return attribute in _GIVING_NEW and not call.keywords
                return attribute in _ABOUT_IT and isinstance(parent.ctx, ast.Load)
        return self._is_looked_at(parent, loops=loops)

    def _is_looked_at(self, parent: ast.AST | None, *, loops: bool) -> bool:
        """Whether what is around an array, or a part of one, makes something new of it."""
        match parent:
            case ast.Call():
                path = self._names.dotted(parent.func)
                if path in ("builtins.zip", "builtins.enumerate") and not loops:
                    return False
                return path in _LOOKING and not parent.keywords
            case ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.FormattedValue():
                return True
            case ast.For() | ast.comprehension() | ast.Yield():
                return loops
            case ast.Tuple():
                return loops and isinstance(self._source.parent(parent), ast.Yield)
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


def _is_deeply_constant(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return _all_constant(elements)
        case ast.Dict(keys=keys, values=values):
            return _all_constant([*(key for key in keys if key is not None), *values])
    return False


def _all_constant(values: Sequence[ast.expr]) -> bool:
    return all(isinstance(value, ast.Constant) for value in values)
