"""Writes `num_parallel_calls=` into a call of `map`, in the layout of the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfrewrite.edits import ReplaceExpression
from tfrewrite.writing.autotune import autotune

if TYPE_CHECKING:
    import ast

    from tfrewrite.analysis.facts import Facts

# For a TensorFlow that cannot choose by itself.
_A_FEW = "4"
_COMMENT = re.compile(r"#[^\r\n]*")


def parallel_map(facts: Facts, call: ast.Call) -> ReplaceExpression:
    """The edit that lets a map's function run for several elements at a time."""
    source = facts.source
    last = call.args[0] if call.args else call.keywords[0].value
    text = source.segment(call)
    start = source.offsets(call)[0]
    end = _end_of_argument(text, source.offsets(last)[1] - start)
    argument = f"num_parallel_calls={autotune(facts, call) or _A_FEW}"
    return ReplaceExpression(
        source.span(call), f"{text[:end]},{_gap(facts, last)}{argument}{text[end:]}"
    )


def _end_of_argument(text: str, end: int) -> int:
    """Where an argument ends together with the parentheses around it."""
    tail = _COMMENT.sub(lambda comment: " " * len(comment[0]), text[end:-1])
    closing = tail.rfind(")")
    return end + closing + 1


def _gap(facts: Facts, argument: ast.expr) -> str:
    """What stands before a further argument: where each has a line of its own, a new one."""
    line = facts.source.line(argument.lineno)
    column = facts.source.span(argument).column
    before = line[:column].removesuffix("map_func=")
    if before.strip() or argument.lineno != argument.end_lineno:
        return " "
    return " " if "#" in line[column:] else f"\n{before}"
