"""Writes the session that serves all turns of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.kept_sessions import restores
from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    import ast

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.opened_sessions import OpenedSession


def kept_session(
    facts: Facts, opened: OpenedSession, before: ast.stmt, name: str
) -> tuple[Edit, ...]:
    """The session is opened and restored before the loop, and closed after it.

    In the loop it is the default session where it was before. Where nothing follows the loop, it is
    closed with its function, or with the program.
    """
    place = facts.source.span(before)
    lines = [f"{name} = {text_of(facts, opened.call)}"]
    edits: list[Edit] = []
    for restore in restores(opened):
        saver, path = text_of(facts, restore.saver), text_of(facts, restore.path)
        lines.append(f"{saver}.restore({name}, {path})")
        edits.append(RemoveStatement(facts.source.span(restore.statement), place, moved=True))
    edits.append(InsertBefore(place, "\n".join(lines)))
    edits.append(ReplaceExpression(facts.source.span(opened.call), f"{name}.as_default()"))
    block, index = facts.source.position(before)
    if index + 1 < len(block):
        edits.append(InsertBefore(facts.source.span(block[index + 1]), f"{name}.close()"))
    return tuple(edits)
