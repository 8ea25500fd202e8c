"""Makes text that comes from a script or a path fit to be printed."""

from __future__ import annotations

import re

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[PX^_][^\x1b]*(\x1b\\)?|[ -/]*[0-~])"
)
_CONTROL = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_HALF = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """The text on one line, without anything that a terminal would obey."""
    return _CONTROL.sub("?", _ESCAPE_SEQUENCE.sub("", text)).encode(errors="replace").decode()


def sound(text: str) -> str:
    """The text as Unicode that every reader takes; what is half a character becomes a mark."""
    return _HALF.sub("\ufffd", text)
