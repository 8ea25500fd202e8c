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
        InsertBefore(facts.source.span(step.loop), _spaced(facts, step, function)),
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


def _spaced(facts: Facts, step: InlineStep, function: str) -> str:
    """The function with blank lines around it: two at the margin, one in another block."""
    wanted = 2 if step.loop.col_offset == 0 else 1
    number = step.loop.lineno - 1
    while number and facts.source.line(number).lstrip().startswith("#"):
        number -= 1
    there = 0
    while number - there > 0 and not facts.source.line(number - there).strip():
        there += 1
    _, index = facts.source.position(step.loop)
    above = wanted if index else 0
    return "\n" * max(0, above - there) + function + "\n" * wanted


def _text(facts: Facts, step: InlineStep) -> str:
    """The lines of the step with the comments in it; those above it stay above the call."""
    source = facts.source
    start = step.statements[0].lineno
    end = step.statements[-1].end_lineno or start
    margin = source.line(start)[: step.statements[0].col_offset]
    lines = [source.line(number) for number in range(start, end + 1)]
    # Comments and what goes on in brackets may stand further left.
    return "\n".join(_without(line, margin) for line in lines) + "\n"


def _without(line: str, margin: str) -> str:
    return line[len(margin) :] if line.startswith(margin) else line.lstrip()
