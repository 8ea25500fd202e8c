"""Text that comes from scripts, as Markdown: it means itself, there and in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import plural
from tfrewrite.reports.verification import words

LONGEST = 500
"""Of one text from a script, or one line of a diff, in characters."""
# Dots and brackets mean something too: "1." and "1)" begin a list, "www.x.org" is made a link.
_MEANING = re.compile(r"(?<!\d)\.(?=\S)|(?<=\d)\.(?!\d)|(?<=\d)\)|[^\w .;()/,]|_")


def table(
    titles: Sequence[str], rows: Sequence[Sequence[str]] | Iterator[Sequence[str]]
) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"|{' --- |' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def folded(title: str, language: str, lines: Sequence[str]) -> Iterator[str]:
    """A block that opens on a click. Its fence is longer than any that its content holds."""
    content = [printable(words.clipped(line, LONGEST)) for line in lines]
    runs = (len(run) for line in content for run in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    yield f"<details><summary>{title}</summary>\n"
    yield f"{fence}{language}"
    yield from content
    yield f"{fence}\n"
    yield "</details>\n"


def that_fit(lines: Sequence[str], room: int) -> list[str]:
    """The first lines that take no more than `room`, which also holds what stands around them."""
    # A fence is longer than the longest run of backticks, so that twice the length is safe.
    left = room - 200
    for index, line in enumerate(lines):
        left -= 1 + min(len(line), LONGEST + 50) + 2 * line.count("`")
        if left < 0:
            more = f"... {plural(len(lines) - index, 'more line')}, in the other reports"
            return [*lines[:index], more]
    return list(lines)


def prose(text: str) -> str:
    """A text that means itself in Markdown and in HTML, and that calls nobody."""
    return _escaped(text).replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;")


def code(text: str) -> str:
    """The same in fixed width; unlike backticks, this form can hold anything."""
    return f"<code>{_escaped(text) or ' '}</code>"


def _escaped(text: str) -> str:
    """A character that could mean anything in Markdown is given by its number."""
    return _MEANING.sub(
        lambda found: f"&#{ord(found[0])};", printable(words.clipped(text, LONGEST)).strip()
    )
