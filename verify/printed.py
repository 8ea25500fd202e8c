"""Reads what a script prints as series of numbers: lines that say the same, time after time.

Times, dates, durations and addresses are no results; a number that differs between two runs of the
same script is none that can be compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)\b"
)
_DIGIT = re.compile(r"\d")
_UNIT = r"(?:s|secs?|seconds?|ms|milliseconds?|us|µs|min|mins|minutes?|h|hrs?|hours?)"
_PER = r"(?:it|its|steps?|batch(?:es)?|examples?|samples?|images?|imgs?|words?|tokens?|frames?)"
# Begins where digits begin: begun at each digit, a long number takes the square of its length.
_AMOUNT = r"(?<!\d)\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_VALUE = r"[-+]?(?:nan|inf|\.?\d[\d.]*(?:e[-+]?\d+)?)(?![\d.])(?!e[-+]?\d)"
_NAMES_WHAT_FOLLOWS = rf"(?<=min)\s*[:\s]\s*{_VALUE}(?!\s*{_UNIT}\b)|\s*=\s*{_VALUE}"
"""As in "mean 0.25 min 0.11" and in "0.9 s=0.3": there it is no unit."""
TIMES = re.compile(
    # What any of these begins with is looked at first, since most of a line is none of it.
    rf"""(?=[\d_detsfmw])(?:
        \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?        # a date
      | \b\d{{1,2}}:\d\d(?::\d\d(?:\.\d+)?)?\b                          # a time of the day
      | \b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b,?
        \s+[a-z]+\s+\d+[\s\d:]*                                         # a date in words
      | 0x[0-9a-fA-F]+                                                  # an address
      | {_AMOUNT}(?:
            \s*{_UNIT}\s*/\s*(?:step|batch|epoch|iter|it|sample)\w* | {_UNIT}\b
          | \s*{_PER}\s*(?:/|per)\s*s(?:ec(?:ond)?)?\b
          | \s+{_UNIT}\b(?!{_NAMES_WHAT_FOLLOWS})                       # a duration
        )
      | (?:\b|_)(?:time(?![\s-]*steps?[\s:=#]+\d+(?![\d.]))|elapsed|took|duration|(?-i:ETA)|speed
        |fps|throughput)\b[^\d\n]{{0,20}}{_AMOUNT}                        # its name before it
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_ONLY_PROGRESS = re.compile(r"[\b\s]*\d+/\d+ (?:[━─ ]*[━─]|\[[=>. ]*\] -)(?: +<time>)*$")
"""What Keras draws of a predict, or of training without metrics, in versions 3 and 2."""


@dataclass(frozen=True)
class Printed:
    """A number on standard output. `unit` is one in its last printed place."""

    line: int
    text: str
    value: float
    unit: float


@dataclass(frozen=True)
class Line:
    """A line, its numbers apart from what it says."""

    number: int
    says: str
    numbers: tuple[Printed, ...]
    text: str


@lru_cache(maxsize=16)
def lines(output: str) -> tuple[Line, ...]:
    """A line that was drawn over, as a progress bar is, counts as it was left.

    A bar of Keras that shows how far it came and how long it took, and no result, is left out.
    """
    found = []
    for number, raw in enumerate(output.replace("\r\n", "\n").split("\n"), 1):
        text = raw.rstrip().rpartition("\r")[2]
        if text and not _ONLY_PROGRESS.match(TIMES.sub("<time>", _COLOUR.sub("", text))):
            found.append(_line(number, text))
    return tuple(found)


def _line(number: int, text: str) -> Line:
    bare = TIMES.sub("<time>", text)
    numbers = tuple(_numbers(number, bare))
    return Line(number, NUMBER.sub("#", bare), numbers, text)


def _numbers(line: int, text: str) -> Iterator[Printed]:
    for match in NUMBER.finditer(text):
        word = match[0]
        yield Printed(line, word, float(word), _unit(word))


def _unit(word: str) -> float:
    """What one in the last place of a number is worth, as it is written.

    Nothing for an integer, and for what is too large or small for a number, as in a made-up name.
    """
    mantissa, _, exponent = word.lower().partition("e")
    if "." not in mantissa and not exponent:
        return 0.0
    one = _DIGIT.sub("0", mantissa)[:-1] + "1"
    unit = abs(float(f"{one}e{exponent or 0}"))
    return unit if math.isfinite(unit) else 0.0


def decimals(word: str) -> int | None:
    """How many digits a number has behind its point; None for what has no digits."""
    mantissa = word.lower().partition("e")[0]
    return len(mantissa.partition(".")[2]) if any(map(str.isdigit, mantissa)) else None


def digits(word: str) -> int:
    """How many digits a number has from the first that is not zero."""
    mantissa = word.lower().partition("e")[0]
    return len("".join(filter(str.isdigit, mantissa)).lstrip("0"))


def last_place(value: float, count: int) -> float:
    """What one in the last of so many digits of a number is worth."""
    if value == 0.0 or count == 0:
        return 0.0
    return float(10.0 ** (math.floor(math.log10(value)) - count + 1))


def same_shape(one: Sequence[Line], other: Sequence[Line]) -> bool:
    return [line.says for line in one] == [line.says for line in other]
