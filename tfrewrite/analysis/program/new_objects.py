"""Which values are objects made anew, that nobody else has hold of."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.number_sorts import ARRAYS
from tfrewrite.analysis.program.python_calls import writes_to_argument
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_NEW_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "collections.deque"})
# With the place of their `dtype`, without which they hold numbers; none where another array or
# a value says what they hold.
_NEW_ARRAYS = {
    "numpy.ndarray": 1, "numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.arange": 3,
    "numpy.full": None, "numpy.zeros_like": None, "numpy.empty_like": None, "numpy.ones_like": None,
}  # fmt: skip
# They copy what they are given, unless they are told not to.
_JOINING = frozenset(
    f"numpy.{name}" for name in "array copy concatenate stack vstack hstack tile repeat".split()
)
_COPYING = frozenset({"astype", "copy"})
_NUMBER_TYPES = frozenset(
    "float float16 float32 float64 int int8 int16 int32 int64 uint8 uint16 bool bool_".split()
)


class NewObjects:
    """Tells of values whether evaluating them makes an object, and of what sort."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._data = facts.data_values
        self._numbers = facts.numbers

    def is_new(self, value: ast.expr) -> bool:
        """Whether a value is an array, a list or a dict that is made where it stands."""
        if isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.BinOp)):
            return True
        if not isinstance(value, ast.Call) or writes_to_argument(value, None):
            return False  # or it is told not to copy
        if isinstance(value.func, ast.Attribute) and value.func.attr in _COPYING:
            return self._data.expr(value.func.value)
        path = self._names.dotted(value.func) or ""
        if path == "numpy.ndarray" and (len(value.args) > 2 or len(value.keywords) > 0):
            return False  # it may be laid over the memory of another
        return path in _NEW_CONTAINERS or path in _NEW_ARRAYS or path in _JOINING

    def is_of_numbers(self, value: ast.expr | None) -> bool:
        """Whether a call makes an array of numbers: a list, or an array of objects, holds any."""
        if not isinstance(value, ast.Call) or self._names.dotted(value.func) not in _NEW_ARRAYS:
            return False
        at = _NEW_ARRAYS[str(self._names.dotted(value.func))]
        given = [one.value for one in value.keywords if one.arg in ("dtype", None)]
        if at is None:
            return bool(given) and all(map(self._is_number_type, given))
        return all(map(self._is_number_type, [*given, *value.args[at : at + 1]]))

    def _is_number_type(self, dtype: ast.expr) -> bool:
        if isinstance(dtype, ast.Constant):
            return dtype.value in _NUMBER_TYPES
        module, _, name = (self._names.dotted(dtype) or "").rpartition(".")
        return module in ("numpy", "builtins") and name in _NUMBER_TYPES

    def is_counted(self, values: list[ast.expr | None]) -> bool:
        """Whether a variable starts as a number, and gets nothing but what is computed for it."""
        return any(map(_is_number, values)) and all(map(self._is_computed, values))

    def _is_computed(self, value: ast.expr | None) -> bool:
        """Whether a value is a number, or made anew by an operator: nobody else has hold of it."""
        if isinstance(value, (ast.Constant, ast.BinOp, ast.UnaryOp)):
            return True
        if value is None or self._numbers.of(value) in (None, *ARRAYS):
            bindings = self._scopes.bindings(value) if isinstance(value, ast.Name) else []
            return bindings != [] and all(
                isinstance(binding.value, (ast.Constant, ast.BinOp, ast.UnaryOp))
                and binding.how in (How.ASSIGN, How.AUGMENT)
                for binding in bindings
            )
        return True

    def handed_out(self, binding: Binding, change: ast.Name) -> bool:
        """Whether a generator may have given an array away since it was made, before a change.

        TensorFlow 1.15 takes the memory of an array that happens to lie well for a tensor's, and
        the tensor may wait for its run while the generator goes on.
        """
        if _is_container(binding.value):
            return False  # an array is made of it anew
        function = self._source.function(change)
        for given in ast.walk(function) if function is not None else ():
            if not isinstance(given, (ast.Yield, ast.YieldFrom)):
                continue
            if getattr(binding.node, "lineno", 0) < given.lineno < change.lineno:
                return True
            for loop in self._source.ancestors(given):
                around = isinstance(loop, (ast.For, ast.While)) and loop in self._source.ancestors(
                    change
                )
                if around and loop not in self._source.ancestors(binding.node):
                    return True
        return False


def _is_number(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _is_container(value: ast.expr | None) -> bool:
    """Whether a value is a list or a dict as it is written."""
    return isinstance(value, (ast.List, ast.Dict, ast.ListComp))
