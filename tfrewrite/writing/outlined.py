"""Writes a stretch of a loop's body as a compiled function above the loop."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.inline_steps import InlineStep


def outlined(facts: Facts, step: InlineStep, name: str, decorator: str) -> tuple[Edit, ...]:
    """The function goes before the outermost loop, and a call of it stands where the step was."""
    first = step.statements[0]
    given = ", ".join(step.parameters)
    results = ", ".join(step.results)
    body = textwrap.indent(_text(facts, step), "    ", lambda line: bool(line.strip()))
    end = f"    return {results}\n" if results else ""
    function = f"@{decorator}\ndef {name}({given}):\n{body}{end}"
    call = f"{results} = {name}({given})" if results else f"{name}({given})"
    return (
        InsertBefore(facts.source.span(step.loop), f"{function}\n\n"),
        InsertBefore(facts.source.span(first), call),
        *(
            RemoveStatement(facts.source.span(one), facts.source.span(first), kept=True)
            for one in step.statements
        ),
    )


def spans_lines(step: InlineStep) -> bool:
    """Whether a text in the step goes over several lines, so that its indentation is text."""
    return any(
        isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno != node.end_lineno
        for statement in step.statements
        for node in ast.walk(statement)
    )


def _text(facts: Facts, step: InlineStep) -> str:
    """The lines of the step, with the comments in it and right above it."""
    source = facts.source
    start = step.statements[0].lineno
    while start > 1 and source.line(start - 1).lstrip().startswith("#"):
        start -= 1
    end = step.statements[-1].end_lineno or start
    lines = [source.line(number) for number in range(start, end + 1)]
    return textwrap.dedent("\n".join(lines)) + "\n"
