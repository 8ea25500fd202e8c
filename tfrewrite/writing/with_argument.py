"""Writes a call with one more keyword argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import ReplaceExpression

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def with_argument(facts: Facts, call: ast.Call, text: str) -> ReplaceExpression:
    """The edit that adds `name=value` behind the other arguments of a call, as these are laid out.

    Arguments on lines of their own get one more line.
    """
    source = facts.source
    whole = source.segment(call)
    offset = source.offsets(call)[0]
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not given:
        start = source.offsets(call.func)[1] - offset
        opening = whole.index("(", start) + 1
        return ReplaceExpression(source.span(call), whole[:opening] + text + whole[opening:])
    last = max(given, key=lambda one: (one.lineno, one.col_offset))
    value = last.value if isinstance(last, ast.keyword) else last
    end = _behind(whole, source.offsets(value)[1] - offset)
    rest = whole[end:]
    line = source.line(last.lineno)
    indent = line[: len(line) - len(line.lstrip())]
    begins = len(line.encode()[: last.col_offset].decode()) == len(indent)
    if not begins or last.lineno == call.lineno or "\n" not in rest:
        return ReplaceExpression(source.span(call), f"{whole[:end]}, {text}{_closing(rest)}")
    comma = rest.lstrip().startswith(",")
    place = rest.index(",") + 1 if comma else 0
    line_end = rest.index("\n", place)
    head = whole[:end] + ("" if comma else ",") + rest[:line_end]
    tail = "," if comma else ""
    new = "".join([head, "\n", indent, text, tail, rest[line_end:]])
    return ReplaceExpression(source.span(call), new)


def _behind(whole: str, end: int) -> int:
    """Past the parentheses that an argument stands in; the last one closes the call."""
    depth = 0
    place = end
    behind = end
    while place < len(whole) - 1:
        char = whole[place]
        if char == ")":
            depth += 1
            behind = place + 1
        elif char == "#":
            place = whole.find("\n", place)
            if place < 0:
                break
        elif not char.isspace():
            break
        place += 1
    return behind if depth else end


def _closing(rest: str) -> str:
    """What follows the last argument, without a comma that would be doubled."""
    stripped = rest.lstrip()
    if not stripped.startswith(","):
        return rest
    behind = stripped[1:]
    return behind.lstrip(" ") if behind.lstrip(" ").startswith(")") else behind
