"""Data that nothing in the file changes once it is read.

A generator looks at what it captures again for each element, and a trace only once. To both it is
the same where the data stays as it is.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.constant_values import is_of_constants
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfrewrite.analysis.facts import Facts

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


class UntouchedData:
    """Goes through all that a file does with what a name holds."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._own = facts.own_calls
        self._captured = facts.captured

    def holds(
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
        if all(b.how is How.ASSIGN and is_of_constants(b.value) for b in bindings):
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
            return number and arithmetic and self._captured.data(value.left)
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
        if path == "numpy.array" and not is_of_constants(value.args[0] if value.args else None):
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
