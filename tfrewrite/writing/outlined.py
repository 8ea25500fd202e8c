"""Writes a stretch of a loop's body as a compiled function above the loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfrewrite.analysis.eager.inline_steps import InlineStep
    from tfrewrite.analysis.facts import Facts


def outlined(
    facts: Facts, step: InlineStep, name: str, decorator: str, given: Mapping[str, str]
) -> tuple[Edit, ...]:
    """The function goes before the outermost loop, and a call of it stands where the step was.

    `given` says what is passed for a parameter where that is not the variable itself.
    """
    source = facts.source
    owner = [step.owner] if step.owner else []
    parameters = ", ".join([*owner, *step.parameters])
    start = _start(facts, step)
    body = _text(facts, step.statements, margin="    ", start=start, step=step)
    given_back = ", ".join(step.results) if step.value is None else _returned(facts, step.value)
    end = f"    return {given_back}\n" if given_back else ""
    function = f"@{decorator}\ndef {name}({parameters}):\n{body}{end}"
    passed = ", ".join(given.get(one, one) for one in step.parameters)
    call = f"{step.owner}.{name}({passed})" if step.owner else f"{name}({passed})"
    made = InsertBefore(source.span(step.place), _spaced(facts, step, function))
    if step.value is not None:
        heir = source.span(source.statement(step.value))
        called: Edit = ReplaceExpression(source.span(step.value), call, kept=True)
    else:
        first = step.statements[0]
        heir = source.span(first)
        before, after = (
            [
                _text(facts, [one], start=_lines(facts, one, first.lineno)[0]).rstrip("\n")
                for one in kept
            ]
            for kept in (step.earlier, step.deferred)
        )
        results = f"{given_back} = " if given_back else ""
        called = InsertBefore(heir, "\n".join([*before, f"{results}{call}", *after]))
    removed = [RemoveStatement(source.span(one), heir, kept=True) for one in step.statements]
    return (made, called, *removed)


def kept_lines(facts: Facts, step: InlineStep) -> list[int]:
    """The lines of the step that the function has, in order."""
    start = _start(facts, step)
    end = (step.statements[-1].end_lineno or 0) if step.statements else -1
    left_out = {number for one in step.outside for number in _lines(facts, one, start)}
    kept = [number for number in range(start, end + 1) if number not in left_out]
    if step.value is not None:
        kept += range(step.value.lineno, (step.value.end_lineno or 0) + 1)
    return kept


def _start(facts: Facts, step: InlineStep) -> int:
    """The line that the function begins with; where no call takes its place, with the comments."""
    if not step.statements:
        return 0
    first = step.statements[0]
    return first.lineno if step.value is None else _lines(facts, first, 0)[0]


def _returned(facts: Facts, value: ast.expr) -> str:
    """The text of an expression, which may go over several lines, behind a `return`."""
    source = facts.source
    first, *others = source.segment(value).split("\n")
    line = source.line(value.lineno)
    old = line[: len(line) - len(line.lstrip())]
    whole = set(_within_texts(value))
    lines = [first]
    for number, text in enumerate(others, value.lineno + 1):
        moved = number not in whole and text.startswith(old)
        lines.append("    " + text[len(old) :] if moved else text)
    text = "\n".join(lines)
    is_call = isinstance(value, ast.Call) and "\n" not in source.segment(value.func)
    return text if is_call or not others else f"({text})"


def _spaced(facts: Facts, step: InlineStep, function: str) -> str:
    """The function with blank lines around it: two at the margin, one in another block."""
    wanted = 2 if step.place.col_offset == 0 else 1
    number = step.place.lineno - 1
    while number and facts.source.line(number).lstrip().startswith("#"):
        number -= 1
    there = 0
    while number - there > 0 and not facts.source.line(number - there).strip():
        there += 1
    _, index = facts.source.position(step.place)
    above = wanted if index else 0
    return "\n" * max(0, above - there) + function + "\n" * wanted


def _text(
    facts: Facts,
    statements: Sequence[ast.stmt],
    margin: str = "",
    start: int | None = None,
    step: InlineStep | None = None,
) -> str:
    """The lines of some statements with the comments in them; those above stay above the call.

    With `step` they are those of its function.
    """
    source = facts.source
    if not statements:
        return ""
    start = start or statements[0].lineno
    end = statements[-1].end_lineno or start
    whole = {number for one in statements for number in _within_texts(one)}
    old = source.line(statements[0].lineno)[: statements[0].col_offset]
    lines = []
    without = step.outside if step is not None else ()
    numbers = step.numbers if step is not None else ()
    left_out = {number for one in without for number in _lines(facts, one, start)}
    for number in range(start, end + 1):
        line = _renamed(facts, number, numbers)
        if number in left_out:
            continue
        if number not in whole and line.strip():
            # Comments and what goes on in brackets may stand further left.
            line = margin + (line[len(old) :] if line.startswith(old) else line.lstrip())
        lines.append(line if number in whole or line.strip() else "")
    return "\n".join(lines) + "\n"


def _renamed(facts: Facts, number: int, numbers: Sequence[tuple[ast.Attribute, str]]) -> str:
    """A line with the names of parameters in place of the attributes that they stand for."""
    line = facts.source.line(number)
    spans = [(facts.source.span(one), name) for one, name in numbers]
    for span, name in sorted(spans, key=lambda one: one[0].column, reverse=True):
        if span.line == number:
            line = line[: span.column] + name + line[span.end_column :]
    return line


def _lines(facts: Facts, statement: ast.stmt, start: int) -> range:
    """The lines of a statement, with the comments right above it."""
    first = statement.lineno
    while first - 1 > start and facts.source.line(first - 1).lstrip().startswith("#"):
        first -= 1
    return range(first, (statement.end_lineno or first) + 1)


def _within_texts(statement: ast.AST) -> Iterator[int]:
    """The lines that begin within a text, so that their indentation is a part of it."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            yield from range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
