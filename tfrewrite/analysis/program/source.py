"""One file as text and as a tree: where a node stands, what it says, and what stands around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TypeVar, cast

from tfrewrite.model import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")

Block = list[ast.stmt]
Kind = TypeVar("Kind", bound=ast.AST)


class Source:
    """The text of a file with its syntax tree, and the questions about places in it."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree
        self._parents: dict[ast.AST, ast.AST] = {}
        self._blocks: dict[ast.stmt, tuple[Block, int]] = {}
        self._kinds: dict[type[ast.AST], list[ast.AST]] = {}
        self._children: dict[ast.AST, list[ast.AST]] = {}
        self._link(tree)

    def _link(self, root: ast.AST) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            self._kinds.setdefault(kind, []).append(node)
            fields = _FIELDS[kind]
            if not fields:
                continue
            if kind in _HOLDING_BLOCKS:
                for block in blocks_of(node):
                    for index, statement in enumerate(block):
                        self._blocks[statement] = (block, index)
            inner: list[ast.AST] = []
            for name in fields:
                value = getattr(node, name, None)
                if value.__class__ is list:
                    inner += value
                elif value is not None:
                    inner.append(value)
            if None in inner:  # a `**` in a dict has no key
                inner = list(filter(None, inner))
            if inner:
                self._children[node] = inner
                stack += inner
                for child in inner:
                    self._parents[child] = node

    def children(self, node: ast.AST) -> list[ast.AST]:
        """The nodes directly in a node, in the order of the text; no operators or contexts."""
        return self._children.get(node, [])

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Every node of a kind, in no particular order."""
        return cast("list[Kind]", self._kinds.get(kind, []))

    def calls_in_loop(self, names: Collection[str]) -> bool:
        """Whether a loop makes calls by one of these last names: a first look, by the text only."""
        return any(
            _last_name(call.func) in names
            and any(isinstance(outer, LOOPS) for outer in self.ancestors(call))
            for call in self.all(ast.Call)
        )

    @cached_property
    def _lines(self) -> list[str]:
        return _NEWLINE.split(self.text)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def _column(self, line: int, byte_offset: int) -> int:
        text = self._lines[line - 1]
        if text.isascii():
            return byte_offset
        return len(text.encode()[:byte_offset].decode())

    def span(self, node: ast.expr | ast.stmt) -> Span:
        end_line, end_offset = node.end_lineno, node.end_col_offset
        assert end_line is not None and end_offset is not None  # set by every parse
        return Span(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, end_offset),
        )

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node, as it is written."""
        start, end = self.offsets(node)
        return self.text[start:end]

    def in_one_line(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node for a message: where it goes over several lines, as one."""
        span = self.span(node)
        return self.segment(node) if span.line == span.end_line else ast.unparse(node)

    def offsets(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        span = self.span(node)
        return (
            self._line_starts[span.line - 1] + span.column,
            self._line_starts[span.end_line - 1] + span.end_column,
        )

    def line(self, number: int) -> str:
        return self._lines[number - 1]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node belongs to (itself, if it is one)."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def position(self, statement: ast.stmt) -> tuple[Block, int]:
        """The block that a statement stands in, and its index there."""
        return self._blocks[statement]

    def blocks(self) -> Iterator[tuple[ast.AST, Block]]:
        """Every block of the file with the node that owns it, in the order of the text."""
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            nested: list[ast.AST] = []
            for block in blocks_of(node):
                yield node, block
                nested.extend(block)
            nested.extend(getattr(node, "handlers", ()))
            nested.extend(getattr(node, "cases", ()))
            stack.extend(reversed(nested))

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        """The innermost function that a node stands in."""
        for outer in self.ancestors(node):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return outer
        return None


def _last_name(expr: ast.expr) -> str:
    """`f` of `f` and of `module.f`."""
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else ""


def blocks_of(node: ast.AST) -> Iterator[Block]:
    """The statement lists that belong to a node directly."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block


LOOPS = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_HOLDING_BLOCKS = frozenset(
    kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and "body" in kind._fields
)
# Shared by all nodes that have the same one, so that they have no place of their own.
_PLACELESS = frozenset({"ctx", "op", "ops", "kind", "type_comment", "conversion", "level"})
# These hold no nodes: texts, numbers, flags.
_PLAIN = frozenset(
    {"arg", "asname", "attr", "id", "is_async", "kwd_attrs", "module", "rest", "simple", "str"}
)
_NO_NODES = (ast.alias, ast.Constant, ast.Global, ast.MatchSingleton, ast.Nonlocal)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that hold nodes, or lists of them."""
    if issubclass(kind, _NO_NODES):
        return ()
    # A `type` statement is named by a node, all else by a text.
    texts = _PLAIN if kind.__name__ == "TypeAlias" else _PLAIN | {"name"}
    return tuple(name for name in kind._fields if name not in _PLACELESS | texts)


_FIELDS = {
    kind: _fields(kind)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
