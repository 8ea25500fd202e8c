"""What a turn of a loop has of its own: values made anew, and arithmetic with its number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_ARITHMETIC = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
               ast.expr_context)  # fmt: skip
_COUNTING = frozenset(
    [*(f"builtins.{name}" for name in "len int min max abs".split()), "numpy.array"]
)


class TurnValues:
    """Tells what varies from turn to turn, and what is no more than a number."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._headers = facts.loop_headers

    def varies(self, value: ast.expr, loop: ast.AST) -> bool:
        """Whether a value is made anew in each turn, and is more than the number of the turn."""
        if isinstance(value, ast.Constant):
            return False
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and not self._pure(node):
                return True
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if any(self.within(binding, loop) for binding in self._flow.reaching(node)):
                    return not self.counts(value)
        return False

    def counts(self, value: ast.expr) -> bool:
        """Whether a value is a counter of a loop: nothing to be made ahead."""
        if not isinstance(value, ast.Name):
            return False
        return all(
            binding.how is How.LOOP and self._headers.is_range(binding.value)
            for binding in self._flow.reaching(value)
        )

    def _pure(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if path is not None:
            return effect_of_path(path) is CallEffect.PURE
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return effect_of_method(method) is CallEffect.PURE

    def within(self, binding: Binding, loop: ast.AST) -> bool:
        return binding.node is loop or loop in self._source.ancestors(binding.node)

    def is_number_of_turn(self, value: ast.expr, making: set[ast.stmt], loop: ast.AST) -> bool:
        """Whether a value is computed from the number of the turn alone: a rate that decays."""
        if not self._is_sum(value) or not all(map(self.is_arithmetic, making)):
            return False
        for name in (node for root in (value, *making) for node in ast.walk(root)):
            if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
                continue
            bindings = self._flow.reaching(name)
            if any(binding.how is How.LOOP for binding in bindings) and not self.counts(name):
                return False
            for binding in bindings:
                if self.within(binding, loop) and binding.node is not loop:
                    if binding.node not in making:
                        return False
        return True

    def is_arithmetic(self, statement: ast.stmt) -> bool:
        """Whether a statement computes a name of numbers, and may as well be executed twice."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        if not isinstance(statement.targets[0], ast.Name):
            return False
        return self._is_sum(statement.value)

    def _is_sum(self, value: ast.expr) -> bool:
        """Whether a value is computed from names of numbers and sizes, with nothing behind."""
        stack: list[ast.AST] = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if self._names.dotted(node.func) not in _COUNTING or node.keywords:
                    return False
                stack += node.args
            elif isinstance(node, ast.Attribute) and node.attr in ("shape", "size"):
                pass
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                if not isinstance(node.value, ast.Attribute):
                    return False
                stack.append(node.value)
            elif isinstance(node, _ARITHMETIC):
                stack += ast.iter_child_nodes(node)
            else:
                return False
        return True
