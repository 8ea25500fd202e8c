"""New code from text to LibCST nodes that take on the style of the file they go into."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEWLINE = re.compile(r"\r\n|\r|\n")

_NEEDS_NO_PARENTHESES = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.SimpleString,
    cst.FormattedString,
    cst.Integer,
    cst.Float,
    cst.List,
    cst.ListComp,
    cst.Set,
    cst.SetComp,
    cst.Dict,
    cst.DictComp,
)
_TAKES_A_TUPLE = (cst.AssignTarget, cst.Assign, cst.Expr, cst.For, cst.Return)
_TAKES_ANYTHING_ELSE = (
    *_TAKES_A_TUPLE,
    cst.AnnAssign,
    cst.Arg,
    cst.AugAssign,
    cst.Element,
    cst.If,
    cst.Index,
    cst.While,
)


@dataclass(frozen=True)
class Snippet:
    """Statements, with the blank lines and comments before the first and after the last."""

    statements: tuple[cst.SimpleStatementLine | cst.BaseCompoundStatement, ...]
    footer: tuple[cst.EmptyLine, ...]

    def under(self, comments: Sequence[str]) -> Snippet:
        """The same statements below comments."""
        first, *rest = self.statements
        above = [cst.EmptyLine(comment=cst.Comment(comment)) for comment in comments]
        first = first.with_changes(leading_lines=[*first.leading_lines, *above])
        return Snippet((first, *rest), self.footer)

    def as_one_simple_line(self) -> cst.SimpleStatementLine | None:
        """The only line, where it can stand beside others after a semicolon."""
        if len(self.statements) != 1 or self.footer:
            return None
        line = self.statements[0]
        if not isinstance(line, cst.SimpleStatementLine) or line.leading_lines:
            return None
        return None if line.trailing_whitespace.comment else line


def _without_indent(lines: Sequence[cst.EmptyLine]) -> tuple[cst.EmptyLine, ...]:
    """A blank line has no indentation, however deep it goes."""
    return tuple(line if line.comment else line.with_changes(indent=False) for line in lines)


class Snippets:
    """Parses new code for one file.

    The indentation of the text is read from the text itself, so that LibCST writes it in that of
    the file; its line ends are made those of the file first.
    """

    def __init__(self, newline: str) -> None:
        self._newline = newline
        self._config = cst.PartialParserConfig(default_newline=newline)

    def statements(self, text: str) -> Snippet:
        module = cst.parse_module(self._with_newlines(text), config=self._config)
        body = list(module.body)
        if not body:
            return Snippet((), (*module.header, *module.footer))
        first = body[0]
        above = _without_indent((*module.header, *first.leading_lines))
        body[0] = first.with_changes(leading_lines=above)
        return Snippet(tuple(body), _without_indent(module.footer))

    def expression(self, text: str, indent: str = "") -> cst.BaseExpression:
        """The expression of a text, whose further lines stand as in a statement at `indent`.

        They may need brackets around them that are not part of the text.
        """
        text = self._with_newlines(text)
        if self._newline not in text:
            return cst.parse_expression(text, config=self._config)
        header = f"if 1:{self._newline}" if indent else ""
        whole = f"{header}{indent}({text}{self._newline}){self._newline}"
        module = cst.parse_module(whole, config=self._config)
        found = matchers.findall(module, matchers.Expr())[0]
        expression = cst.ensure_type(found, cst.Expr).value
        return expression.with_changes(lpar=expression.lpar[1:], rpar=expression.rpar[:-1])

    def _with_newlines(self, text: str) -> str:
        return _NEWLINE.sub(lambda _: self._newline, text)


def fitted(
    old: cst.BaseExpression, new: cst.BaseExpression, parent: cst.CSTNode
) -> cst.BaseExpression:
    """The new expression, in the parentheses of the old one and in its own where it needs any."""
    outer_left, outer_right = list(old.lpar), list(old.rpar)
    if isinstance(old, (cst.Tuple, cst.GeneratorExp)):
        # The innermost pair belongs to what is replaced.
        outer_left, outer_right = outer_left[:-1], outer_right[1:]
    left, right = list(new.lpar), list(new.rpar)
    if not left and not outer_left and _needs_parentheses(new, parent):
        left, right = [cst.LeftParen()], [cst.RightParen()]
    return new.with_changes(lpar=[*outer_left, *left], rpar=[*right, *outer_right])


def _needs_parentheses(new: cst.BaseExpression, parent: cst.CSTNode) -> bool:
    if isinstance(new, _NEEDS_NO_PARENTHESES):
        return False
    if isinstance(new, (cst.Tuple, cst.NamedExpr, cst.Yield)):
        return not (isinstance(new, cst.Tuple) and isinstance(parent, _TAKES_A_TUPLE))
    return not isinstance(parent, _TAKES_ANYTHING_ELSE)


class _Comments(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:  # noqa: N802
        self.found.append(node.value)


def comments_in(node: cst.CSTNode) -> Sequence[str]:
    """Every comment of a node, from top to bottom."""
    comments = _Comments()
    node.visit(comments)
    return comments.found
