"""What traced code does with a Python number that it is given, and whether a tensor does as well.

A number is a constant of the graph and a tensor goes into it, so that the graph holds for every
number. But a number can be tested, count loops and be part of a shape or a name, and is computed
with in double precision, all of which a tensor is not or does otherwise.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.number_sorts import INTEGERS, Number
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding
    from tfrewrite.analysis.traces.compiled_functions import Compiled

_MAX_DEPTH = 8
_OF_TWO = frozenset(
    "add subtract multiply divide maximum minimum pow math.add math.subtract math.multiply"
    " math.divide math.maximum math.minimum math.pow".split()
)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_GIVING_NUMBERS = ("math.", "time.time", "time.perf_counter", "random.random", "random.uniform")
_BUILTIN_NUMBERS = frozenset(f"builtins.{name}" for name in "int float len abs round".split())
_SUMMARIES = ("summary.scalar", "summary.histogram", "summary.image", "summary.text")


@dataclass(frozen=True)
class Swap:
    """How a tensor takes the place of a number."""

    dtype: str = ""
    """The type that has to be said; empty where the number's own does."""
    exact: bool = True
    """Whether the number meets no arithmetic, in which constants are folded otherwise."""


@dataclass
class _Uses:
    """The uses of a number, by what happens to it."""

    met: list[ast.expr] = field(default_factory=list)
    """It is computed with beside a tensor that is float32."""
    cast: list[ast.expr] = field(default_factory=list)
    shown: list[ast.expr] = field(default_factory=list)
    """It is printed by an op."""
    steps: list[ast.expr] = field(default_factory=list)
    """It is the step of a summary."""

    def add(self, other: _Uses) -> None:
        self.met += other.met
        self.cast += other.cast
        self.shown += other.shown
        self.steps += other.steps


class NumberUses:
    """Follows a parameter through the code of a trace."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._numbers = facts.numbers
        self._floats = facts.float_tensors
        self._traced = facts.traced_code

    def swap(self, one: Compiled, parameter: Binding, sort: Number) -> Swap | Obstacle:
        """How a tensor can be given for a parameter that gets numbers of a sort."""
        assert one.code is not None
        found = self._all_uses(parameter, self._traced.bodies(one.code), 0)
        if isinstance(found, Obstacle):
            return found
        integer = sort in INTEGERS
        others = [*found.cast, *found.shown, *found.steps]
        if found.met and others and integer:
            return _needed(found.met[0], "meets float32 tensors, and is an integer elsewhere")
        if (found.shown or found.steps) and not integer:
            return _needed((found.shown or found.steps)[0], "is shown as Python writes it")
        if found.met:
            return Swap("float32", exact=False)
        # The step of a summary is a 64-bit integer.
        return Swap("int64" if found.steps else "", exact=not found.cast)

    def parameter(self, one: Compiled, call: ast.Call, argument: ast.expr) -> Binding | None:
        """The parameter that an argument of a call becomes."""
        code = one.code
        if code is None or any(isinstance(given, ast.Starred) for given in call.args):
            return None
        names = [arg.arg for arg in (*code.args.posonlyargs, *code.args.args)]
        if self._takes_self(one):
            names = names[1:]
        wanted = next((k.arg for k in call.keywords if k.value is argument), None)
        if wanted is None and argument in call.args:
            position = call.args.index(argument)
            wanted = names[position] if position < len(names) else None
        bindings = self._scopes.inside(code).bindings.get(wanted or "", [])
        only = len(bindings) == 1 and bindings[0].how is How.PARAMETER
        return bindings[0] if only else None

    def _takes_self(self, one: Compiled) -> bool:
        if one.code is None or not isinstance(self._source.parent(one.code), ast.ClassDef):
            return False
        return isinstance(one.code, ast.FunctionDef) and not any(
            self._names.dotted(decorator) == "builtins.staticmethod"
            for decorator in one.code.decorator_list
        )

    # Numbers that Python makes

    def sort(self, expr: ast.expr) -> Number | None:
        """The sort of a number of Python; None where it is not sure to be one."""
        if isinstance(expr, ast.Attribute) and self.is_counter(expr):
            return Number.INT
        if isinstance(expr, ast.Attribute) and self._is_rate(expr):
            return Number.FLOAT
        sort = self._numbers.of(expr)
        known = sort in (*INTEGERS, Number.FLOAT)
        return sort if known and self.is_python(expr) else None

    def is_counter(self, expr: ast.Attribute) -> bool:
        """Whether an attribute of an object holds an integer, and is counted up."""
        cls = self._classes.of_self(expr.value) if isinstance(expr.value, ast.Name) else None
        stores = self._classes.stores(cls, expr.attr) if cls is not None else None
        if not stores or cls is None or self._classes.replaced(cls, expr.attr):
            return False
        counted = [store for store in stores if store.augmented or _adds_to(store.value, expr)]
        steps = [store.value for store in stores if store not in counted or store.augmented]
        return (
            bool(counted)
            and all(store.index is None for store in stores)
            and all(isinstance(one, ast.Constant) and type(one.value) is int for one in steps)
        )

    def changes(self, expr: ast.Attribute) -> bool:
        """Whether an attribute of an object holds a number of Python, and others later."""
        return self.is_counter(expr) or self._is_rate(expr)

    def _is_rate(self, expr: ast.Attribute) -> bool:
        """Whether an attribute of an object holds a float of Python, whatever is made of it."""
        cls = self._classes.of_self(expr.value) if isinstance(expr.value, ast.Name) else None
        stores = self._classes.stores(cls, expr.attr) if cls is not None else None
        if not stores or cls is None or self._classes.replaced(cls, expr.attr):
            return False
        return all(
            store.value is not None
            and store.index is None
            and (
                isinstance(store.value, ast.Constant) and type(store.value.value) in (int, float)
                if store.augmented
                else self._is_float_beside(store.value, expr)
            )
            for store in stores
        )

    def _is_float_beside(self, value: ast.expr, attribute: ast.Attribute) -> bool:
        """Whether a value is a float of Python, where an attribute holds one that it may use."""
        match value:
            case ast.Constant(value=number):
                return isinstance(number, float)
            case ast.Attribute():
                return ast.dump(value) == ast.dump(attribute)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
                sides = (left, value.right)
                return any(self._is_float_beside(one, attribute) for one in sides) and all(
                    self._is_float_beside(one, attribute)
                    or (isinstance(one, ast.Constant) and type(one.value) is int)
                    for one in sides
                )
            case ast.Call(func=func, args=[_, _, *_] as args, keywords=[]):
                chosen = self._names.dotted(func) in ("builtins.min", "builtins.max")
                return chosen and all(self._is_float_beside(one, attribute) for one in args)
        return False

    def is_python(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether a number is surely one of Python's: numpy's are tensors to a `tf.function`."""
        if depth > _MAX_DEPTH:
            return False
        match expr:
            case ast.Constant(value=value):
                return isinstance(value, (int, float)) and not isinstance(value, bool)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.is_python(operand, depth + 1)
            case ast.BinOp(left=left, right=right):
                return self.is_python(left, depth + 1) and self.is_python(right, depth + 1)
            case ast.Call(func=func, args=args):
                path = self._names.dotted(func) or ""
                if path in ("builtins.min", "builtins.max"):
                    return len(args) > 1 and all(self.is_python(one, depth + 1) for one in args)
                if path in ("builtins.abs", "builtins.round"):
                    return bool(args) and self.is_python(args[0], depth + 1)
                return path in _BUILTIN_NUMBERS or path.startswith(_GIVING_NUMBERS)
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                return bool(bindings) and all(self._gives_python(b, depth) for b in bindings)
            case ast.Attribute():
                return self.changes(expr)
        return False

    def _gives_python(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        if binding.how is How.LOOP and isinstance(value, ast.Call):
            path = self._names.dotted(value.func)
            return path == "builtins.range" or (path == "builtins.enumerate" and binding.index == 0)
        if binding.how is How.PARAMETER:
            given = self._own.given(binding) if isinstance(binding.node, ast.arg) else None
            return bool(given) and all(self.is_python(one, depth + 1) for one in given or ())
        if binding.how in (How.ASSIGN, How.AUGMENT) and value is not None:
            itself = isinstance(value, ast.Name) and value.id == binding.name
            return not itself and self._is_python_beside(value, binding.name, depth)
        return False

    def _is_python_beside(self, value: ast.expr, name: str, depth: int) -> bool:
        """The same of `rate * 0.9` where that is what `rate` itself gets."""
        if isinstance(value, ast.Name) and value.id == name:
            return True
        if isinstance(value, ast.BinOp):
            return all(
                self._is_python_beside(part, name, depth) for part in (value.left, value.right)
            )
        if isinstance(value, ast.Call) and self._names.dotted(value.func) in (
            "builtins.min",
            "builtins.max",
        ):
            parts = value.args
            return len(parts) > 1 and all(
                self._is_python_beside(part, name, depth) for part in parts
            )
        return self.is_python(value, depth + 1)

    # What is done with them

    def _all_uses(
        self, parameter: Binding, bodies: Sequence[ast.AST], depth: int
    ) -> _Uses | Obstacle:
        found = _Uses()
        if depth > _MAX_DEPTH:
            return Obstacle("needs-python-value", f"what becomes of `{parameter.name}` is not seen")
        for use in self._own.uses(parameter):
            if self._source.function(use) is not self._source.function(parameter.node):
                return _needed(use, "is used by a function within, which may run as Python")
            parent = self._source.parent(use)
            keyword = parent if isinstance(parent, ast.keyword) else None
            call = self._source.parent(keyword) if keyword is not None else parent
            if isinstance(parent, ast.BinOp):
                if not self._meets_tensor(parent, use):
                    other = parent.right if parent.left is use else parent.left
                    if self.sort(other) is not None:
                        return _needed(use, "is computed with in Python, in double precision")
                    return _needed(use, f"meets `{ast.unparse(other)}`, of a type not known")
                found.met.append(use)
            elif isinstance(call, ast.Call) and call.func is not use:
                symbol = self._names.tf(call.func) or ""
                if symbol == "cast" and _is_first(call, use, "x"):
                    found.cast.append(use)
                elif symbol in _SUMMARIES and keyword is not None and keyword.arg == "step":
                    found.steps.append(use)
                elif symbol == "print" and keyword is None:
                    found.shown.append(use)
                elif symbol in _OF_TWO and len(call.args) > 1 and use in call.args[:2]:
                    other = call.args[1 - call.args.index(use)]
                    if not self._floats.sure(other):
                        return _needed(use, f"meets `{ast.unparse(other)}`, of a type not known")
                    found.met.append(use)
                else:
                    further = self._own.parameter(call, use)
                    if further is None or self._own.function(call) not in bodies:
                        return _needed(use, "is handed to code that may need a number")
                    inner = self._all_uses(further, bodies, depth + 1)
                    if isinstance(inner, Obstacle):
                        return inner
                    found.add(inner)
            else:
                return _needed(use, "is needed as a number: in a test, a count, a shape or a text")
        return found

    def _meets_tensor(self, operation: ast.BinOp, use: ast.expr) -> bool:
        other = operation.right if operation.left is use else operation.left
        return isinstance(operation.op, _ARITHMETIC) and self._floats.sure(other)


def _adds_to(value: ast.expr | None, expr: ast.Attribute) -> bool:
    """`self.steps + 1`, which is what `self.steps` gets."""
    match value:
        case ast.BinOp(left=ast.Attribute(attr=attr), op=ast.Add(), right=ast.Constant(int())):
            return attr == expr.attr
    return False


def _is_first(call: ast.Call, use: ast.expr, name: str) -> bool:
    if call.args:
        return call.args[0] is use
    return any(keyword.arg == name and keyword.value is use for keyword in call.keywords)


def _needed(use: ast.expr, why: str) -> Obstacle:
    message = f"`{ast.unparse(use)}` in line {use.lineno} {why}"
    return Obstacle("needs-python-value", message)
