"""Finds the LibCST nodes that stand at given spans of a file.

`ast` and LibCST agree on where a node starts and ends, but for tuples and generators in
parentheses: `ast` counts those parentheses to the node, LibCST does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import libcst as cst
from libcst.metadata import CodeRange

from tfrewrite.model import Span

Line = cst.SimpleStatementLine | cst.BaseCompoundStatement
Positions = Mapping[cst.CSTNode, CodeRange]
NodeT = TypeVar("NodeT", bound=cst.CSTNode)
NodeT_co = TypeVar("NodeT_co", bound=cst.CSTNode, covariant=True)


@dataclass(frozen=True)
class Place(Generic[NodeT_co]):
    """A node, and what it stands in."""

    node: NodeT_co
    parent: cst.CSTNode
    line: Line
    """The nearest statement that comment lines can stand above."""
    ancestors: tuple[cst.CSTNode, ...]

    @property
    def in_block(self) -> bool:
        """Whether other statements can stand before it (an `elif` has none)."""
        return isinstance(
            self.parent,
            (cst.Module, cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite),
        )


class Places:
    """The statements and the expressions that stand at the wanted spans."""

    def __init__(self, module: cst.Module, positions: Positions, wanted: Collection[Span]) -> None:
        finder = _Finder(positions, wanted)
        module.visit(finder)
        self.statements = finder.statements
        self.expressions = finder.expressions


class _Finder(cst.CSTVisitor):
    def __init__(self, positions: Positions, wanted: Collection[Span]) -> None:
        super().__init__()
        self._positions = positions
        self._wanted = frozenset(wanted)
        self._path: list[cst.CSTNode] = []
        self.statements: dict[Span, Place[cst.CSTNode]] = {}
        self.expressions: dict[Span, Place[cst.BaseExpression]] = {}

    def on_visit(self, node: cst.CSTNode) -> bool:
        enter = True
        if isinstance(node, (cst.BaseStatement, cst.BaseSmallStatement)):
            enter = self._statement(node)
        elif isinstance(node, cst.BaseExpression):
            self._note(self.expressions, self._expression_span(node), node)
        self._path.append(node)
        return enter

    def on_leave(self, original_node: cst.CSTNode) -> None:
        del original_node
        self._path.pop()

    def _statement(self, node: cst.CSTNode) -> bool:
        """Notes a statement, and tells whether anything that is wanted stands in it."""
        span = _span(self._positions[node])
        if not isinstance(node, cst.SimpleStatementLine):
            self._note(self.statements, span, node)
        whole = span
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            first = self._positions[node.decorators[0]].start
            whole = Span(first.line, first.column, span.end_line, span.end_column)
            self._note(self.statements, whole, node)
        return any(whole.overlaps(wanted) for wanted in self._wanted)

    def _note(self, found: dict[Span, Place[NodeT]], span: Span, node: NodeT) -> None:
        if span not in self._wanted or span in found:
            return
        line = _line([*self._path, node])
        found[span] = Place(node, self._path[-1], line, tuple(self._path))

    def _expression_span(self, node: cst.BaseExpression) -> Span:
        inner = self._positions[node]
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
            start, end = self._positions[node.lpar[-1]].start, self._positions[node.rpar[0]].end
            return Span(start.line, start.column, end.line, end.column)
        return _span(inner)


def _span(position: CodeRange) -> Span:
    return Span(position.start.line, position.start.column, position.end.line, position.end.column)


def _line(path: Sequence[cst.CSTNode]) -> Line:
    """The innermost statement of the path that stands on lines of its own in a block."""
    for node, parent in zip(reversed(path[1:]), reversed(path[:-1]), strict=True):
        if isinstance(parent, (cst.Module, cst.IndentedBlock)) and isinstance(
            node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        ):
            return node
    raise AssertionError("every statement stands in a module")
