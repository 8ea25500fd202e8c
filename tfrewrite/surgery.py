"""Makes edits to a LibCST tree, so that every byte they do not name stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import libcst as cst

from tfrewrite import syntax
from tfrewrite.edit_plan import Plan, plan_for
from tfrewrite.edits import Edit, EditError

if TYPE_CHECKING:
    from tfrewrite.places import Line
    from tfrewrite.snippets import Snippet

EmptyLines = Sequence[cst.EmptyLine]

# LibCST's parser overflows the stack, and takes the process with it, at some 5,000 levels.
_DEEPEST = 1_000
_ALIGNED = 3  # So many spaces before a comment are there to put it in a column.
_PLAIN = cst.Module(())


def operate(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made, or `EditError`."""
    if syntax.levels(text) > _DEEPEST:
        raise EditError("the file is nested too deeply for LibCST; break its longest expression up")
    tail = ""
    module = _parsed(text)
    if module.code != text:
        text, tail = _without_tail(text)
        module = _parsed(text)
    if module.code != text:
        raise EditError("LibCST does not keep every byte of this file (a form feed, a lone CR)")
    try:
        surgeon = _Surgeon(plan_for(module, edits))
        return module.visit(surgeon).code + tail
    except cst.CSTValidationError as error:
        raise EditError(f"the new code does not fit: {error}") from error


def _parsed(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise EditError(f"LibCST cannot read this file: {error.message}") from error


def _without_tail(text: str) -> tuple[str, str]:
    """Takes off the blank lines at the end, some of which LibCST drops when they hold spaces."""
    end = text.find("\n", len(text.rstrip(" \t\r\n"))) + 1
    return (text[:end], text[end:]) if end else (text, "")


class _Surgeon(cst.CSTTransformer):
    """Goes only where something is to be done, and rebuilds the blocks on the way back."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self._plan.on_the_way

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        replacement = self._plan.expressions.get(original_node)
        if replacement is not None:
            return cast("cst.CSTNodeT", replacement)
        left = super().on_leave(original_node, updated_node)
        if isinstance(original_node, cst.SimpleStatementLine):
            assert isinstance(left, cst.SimpleStatementLine)
            return cast("cst.CSTNodeT", _aligned(original_node, left))
        return left

    def leave_Module(  # noqa: N802
        self, original_node: cst.Module, updated_node: cst.Module
    ) -> cst.Module:
        return updated_node.with_changes(body=self._body(original_node.body, updated_node.body))

    def leave_FunctionDef(  # noqa: N802
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        new = self._plan.decorators.get(original_node)
        if not new:
            return updated_node
        return updated_node.with_changes(decorators=[*new, *updated_node.decorators])

    def leave_IndentedBlock(  # noqa: N802
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = self._body(original_node.body, updated_node.body)
        return updated_node.with_changes(body=body or [cst.SimpleStatementLine([cst.Pass()])])

    def leave_SimpleStatementSuite(  # noqa: N802
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        if not any(small in self._plan.statements for small in original_node.body):
            return updated_node
        line = cst.SimpleStatementLine(
            updated_node.body, trailing_whitespace=updated_node.trailing_whitespace
        )
        lines = self._edited(original_node.body, line)
        if not lines:
            return updated_node.with_changes(body=[cst.Pass()])
        only = lines[0]
        if len(lines) > 1 or not isinstance(only, cst.SimpleStatementLine) or only.leading_lines:
            return cst.IndentedBlock(body=lines)
        return updated_node.with_changes(
            body=only.body, trailing_whitespace=only.trailing_whitespace
        )

    def _body(self, old_body: Sequence[cst.CSTNode], new_body: Sequence[cst.CSTNode]) -> list[Line]:
        """The statements of a block with all edits made."""
        body: list[Line] = []
        blank: EmptyLines = ()
        for old, new in zip(_lines(old_body), _lines(new_body), strict=True):
            above = _comment_lines(self._plan.comments_before.get(old, ()))
            below = _comment_lines(self._plan.comments_after.get(old, ()))
            far, near = _cut(new.leading_lines)
            line = new.with_changes(leading_lines=[*far, *above, *near, *below])
            pieces = self._edited(_statements_of(old), line)
            if pieces:
                if old is not old_body[0] and not body:
                    pieces[0] = _topped(pieces[0], _lines(old_body)[0].leading_lines)
                else:
                    pieces[0] = _separated(pieces[0], blank)
                blank = ()
            elif not blank:
                # The blank line above a statement that goes still separates what is left.
                blank = _blank_start(old.leading_lines)
            body.extend(pieces)
        return body

    def _edited(self, old: Sequence[cst.CSTNode], line: Line) -> list[Line]:
        """What stands in the place of one line: itself, others, or nothing."""
        works = [self._plan.statements.get(node) for node in old]
        if not any(works):
            return [line]
        if isinstance(line, cst.SimpleStatementLine):
            kept = self._split(old, line)
        else:
            kept = [] if works[0] and works[0].removed else [line]
        if works[0] is None or not works[0].inserts:
            return kept
        return _with_inserts(works[0].inserts, kept, _bare(line) if works[0].kept else line)

    def _split(self, old: Sequence[cst.CSTNode], line: cst.SimpleStatementLine) -> list[Line]:
        """The statements of a line, in as many lines as the edits need.

        What is inserted before the first of them stands outside of the line and is left out.
        """
        pieces: list[Line] = []
        together: list[cst.BaseSmallStatement] = []
        for index, (node, small) in enumerate(zip(old, line.body, strict=True)):
            work = self._plan.statements.get(node)
            for insert in work.inserts if work and index else ():
                pieces.extend(_one_line(together))
                together = []
                pieces.extend(_unfooted(insert))
            if work and work.replacement:
                alone = work.replacement.as_one_simple_line()
                if alone:
                    together.extend(alone.body)
                else:
                    pieces.extend(_one_line(together))
                    together = []
                    pieces.extend(_unfooted(work.replacement))
            elif not (work and work.removed):
                together.append(small)
        pieces.extend(_one_line(together, closing=line.body[-1].semicolon))
        return _framed(pieces, line)


def _aligned(old: cst.SimpleStatementLine, new: cst.SimpleStatementLine) -> Line:
    """A line whose comment stays in its column, if it was put there, and if there is room."""
    space = old.trailing_whitespace.whitespace.value
    if not old.trailing_whitespace.comment or space != " " * max(len(space), _ALIGNED):
        return new
    before, after = (_PLAIN.code_for_node(one.with_changes(leading_lines=())) for one in (old, new))
    if before.count("\n") > 1 or after.count("\n") > 1:
        return new
    room = max(len(space) + len(before) - len(after), _ALIGNED - 1)
    return new.with_deep_changes(new.trailing_whitespace.whitespace, value=" " * room)


def _lines(body: Sequence[cst.CSTNode]) -> Sequence[Line]:
    return cast("Sequence[Line]", body)


def _statements_of(line: Line) -> Sequence[cst.CSTNode]:
    return line.body if isinstance(line, cst.SimpleStatementLine) else (line,)


def _one_line(
    together: Sequence[cst.BaseSmallStatement],
    closing: cst.Semicolon | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT,
) -> list[Line]:
    """Simple statements as one line, with the semicolon that the old line ended in."""
    if not together:
        return []
    last = together[-1].with_changes(semicolon=closing)
    return [cst.SimpleStatementLine([*together[:-1], last])]


def _unfooted(snippet: Snippet) -> list[Line]:
    """The statements of a snippet that stands within a line: what follows them has no place."""
    if any(line.comment for line in snippet.footer):
        raise cst.CSTValidationError("a comment at the end of new code within a line")
    return list(snippet.statements)


def _framed(pieces: list[Line], line: cst.SimpleStatementLine) -> list[Line]:
    """The pieces between what stood above the line and what stood at its end."""
    if not pieces:
        return []
    leading = list(line.leading_lines)
    last = pieces[-1]
    if isinstance(last, cst.SimpleStatementLine) and not last.trailing_whitespace.comment:
        pieces[-1] = _aligned(line, last.with_changes(trailing_whitespace=line.trailing_whitespace))
    elif line.trailing_whitespace.comment:
        leading.append(cst.EmptyLine(comment=line.trailing_whitespace.comment))
    pieces[0] = _below(leading, pieces[0])
    return pieces


def _with_inserts(inserts: Sequence[Snippet], kept: list[Line], line: Line) -> list[Line]:
    """New statements between the last blank line above a line and the comments right above it."""
    far, beside = _cut(line.leading_lines)
    above = list(far)
    if kept:
        kept[0] = kept[0].with_changes(leading_lines=kept[0].leading_lines[len(far) :])
    else:
        above.extend(beside)
        if isinstance(line, cst.SimpleStatementLine) and line.trailing_whitespace.comment:
            above.append(cst.EmptyLine(comment=line.trailing_whitespace.comment))
    lines: list[Line] = []
    for insert in inserts:
        for statement in insert.statements:
            lines.append(_below(above, statement))
            above = []
        above.extend(insert.footer)
    if kept:
        kept[0] = _below(above, kept[0])
    elif any(empty.comment for empty in above):
        raise cst.CSTValidationError("a comment with no statement below it")
    return [*lines, *kept]


def _bare(line: Line) -> Line:
    """A line without the comment at its end."""
    if isinstance(line, cst.SimpleStatementLine):
        return line.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    return line


def _below(empty: EmptyLines, line: Line) -> Line:
    return line.with_changes(leading_lines=[*empty, *line.leading_lines])


def _cut(leading: EmptyLines) -> tuple[EmptyLines, EmptyLines]:
    """What stands above a line: all down to the last blank line, and the comments below that."""
    blanks = [index for index, empty in enumerate(leading) if not empty.comment]
    cut = blanks[-1] + 1 if blanks else 0
    return leading[:cut], leading[cut:]


def _comment_lines(comments: Iterable[str]) -> list[cst.EmptyLine]:
    return [cst.EmptyLine(comment=cst.Comment(comment)) for comment in comments]


def _blank_start(leading: EmptyLines) -> EmptyLines:
    """The blank lines at the very top."""
    count = next((i for i, empty in enumerate(leading) if empty.comment), len(leading))
    return leading[:count]


def _topped(line: Line, first: EmptyLines) -> Line:
    """A line that comes to the top of its block, with as many blank lines as stood there first."""
    own = line.leading_lines[len(_blank_start(line.leading_lines)) :]
    return line.with_changes(leading_lines=[*_blank_start(first), *own])


def _separated(line: Line, blank: EmptyLines) -> Line:
    """A line with blank lines above it, unless it has its own."""
    return line if _blank_start(line.leading_lines) else _below(blank, line)
