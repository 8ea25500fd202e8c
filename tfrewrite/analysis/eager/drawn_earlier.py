"""What of a step may be done right before it: arrays that are drawn from numpy, and made of these.

A compiled step cannot draw from a stream of numpy: it would do so when it is traced only. What is
drawn has nothing to do with what the step has computed by then, where it only looks at other names.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Array, Library, Number, Tensor
from tfrewrite.analysis.eager.deferred import has_own_lines, in_turn, is_tape
from tfrewrite.analysis.program.python_calls import NUMPY_STREAMS, CallEffect, effect_of_path

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from tfrewrite.analysis.facts import Facts

_DRAWING = frozenset(
    "normal standard_normal uniform randn rand random random_sample randint integers choice"
    " permutation binomial poisson exponential laplace gumbel beta gamma".split()
)
_MAKING_ALIKE = frozenset("astype reshape round clip transpose flatten copy".split())
_PARTS = (
    ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Subscript, ast.Slice, ast.keyword,
)  # fmt: skip
_MARKS = (ast.expr_context, ast.operator, ast.unaryop)


class DrawnEarlier:
    """Finds the statements of a step that may be done before it instead."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._values = facts.eager_values

    def of(
        self, statements: Sequence[ast.stmt], deferred: Container[ast.stmt]
    ) -> tuple[ast.stmt, ...]:
        """Those statements of a step that may come before it, in their order."""
        within = [one for one in in_turn(statements) if one not in deferred]
        found: list[ast.stmt] = []
        made: set[str] = set()
        for one in within[1:]:
            others = {node for other in within if other is not one for node in _header(other)}
            name = self._drawn(one, made, others)
            if name and has_own_lines(self._source, one):
                found.append(one)
                made.add(name)
        for one in statements:
            if is_tape(one) and all(inner in found or inner in deferred for inner in one.body):
                found = [kept for kept in found if kept not in one.body]
        return tuple(found)

    def _drawn(self, statement: ast.stmt, made: set[str], others: set[ast.AST]) -> str:
        """The name that a statement gives to an array that is drawn; empty where it does more."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case _:
                return ""
        reads = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
        if not reads & made and not any(map(self._draws, ast.walk(value))):
            return ""
        bound = {one.id for one in others if isinstance(one, ast.Name) and _is_set(one)}
        attributes = {one.attr for one in ast.walk(value) if isinstance(one, ast.Attribute)}
        changed = any(
            (isinstance(one, ast.Attribute) and _is_set(one) and one.attr in attributes)
            or (isinstance(one, ast.Subscript) and _is_set(one))
            for one in others
        )
        above = any(_is_read_above(one, statement, name) for one in others)
        if name in bound or (reads - made) & bound or changed or above:
            return ""
        return name if self._only_makes(value, made) else ""

    def _draws(self, node: ast.AST) -> bool:
        """Whether a call draws an array from a stream of numpy."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr not in _DRAWING:
            return False
        path = self._names.dotted(node.func)
        if path is not None:
            return path == f"numpy.random.{node.func.attr}"
        found = self._values.value(node.func.value)
        return isinstance(found, Library) and found.path in NUMPY_STREAMS

    def _only_makes(self, part: ast.AST, made: set[str]) -> bool:
        """Whether an expression makes an array, and nothing else is done or looked at."""
        match part:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in made or self._is_data(part)
            case ast.Attribute():
                return self._names.dotted(part) is not None or self._is_data(part)
            case ast.Call(func=func, args=args, keywords=keywords):
                if not all(self._only_makes(one, made) for one in (*args, *keywords)):
                    return False
                if self._draws(part):
                    return True
                path = self._names.dotted(func)
                if path is not None:
                    return effect_of_path(path) is CallEffect.PURE
                if isinstance(func, ast.Attribute) and func.attr in _MAKING_ALIKE:
                    return self._only_makes(func.value, made)
        if isinstance(part, _PARTS):
            children = [one for one in ast.iter_child_nodes(part) if not isinstance(one, _MARKS)]
            return all(self._only_makes(one, made) for one in children)
        return False

    def _is_data(self, expr: ast.expr) -> bool:
        return isinstance(self._values.value(expr), (Number, Array, Tensor))


def _header(statement: ast.stmt) -> list[ast.AST]:
    """All of a statement, but of a tape only what comes before its body."""
    if is_tape(statement):
        return [node for item in statement.items for node in ast.walk(item)]
    return list(ast.walk(statement))


def _is_set(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_read_above(node: ast.AST, statement: ast.stmt, name: str) -> bool:
    """Whether a name is read before a statement gives it its value."""
    return isinstance(node, ast.Name) and node.id == name and node.lineno < statement.lineno
