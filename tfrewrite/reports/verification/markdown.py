"""Verifications as a comment on a pull request.

GitHub refuses comments above 65,536 characters, so what is long gives way: first the diffs, then
everything but one line for each script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import plural
from tfrewrite.reports.verification import words
from tfrewrite.verify.model import Change, Divergence, Speed, Verdict, Verification

LIMIT = 60_000
LONGEST = 500
"""Of one text from a script, or one line of a diff, in characters."""
SHORTEST_DIFF = 400
OUTPUT_LINES = 30
# Dots and brackets mean something too: "1." and "1)" begin a list, "www.x.org" is made a link.
_MEANING = re.compile(r"(?<!\d)\.(?=\S)|(?<=\d)\.(?!\d)|(?<=\d)\)|[^\w .;()/,]|_")

_MARKS = {Verdict.PASS: "✅", Verdict.FAIL: "❌", Verdict.INCONCLUSIVE: "⚠️"}


def render(verifications: Sequence[Verification], *, limit: int = LIMIT) -> str:
    """The comment, in GitHub's Markdown; at most `limit` characters of it."""
    diffs = sum(bool(one.subject.diff) for one in verifications)
    bare = _document(verifications, lambda _: None)
    room = (limit - len(bare)) // max(diffs, 1)
    if room >= SHORTEST_DIFF:
        return _document(verifications, lambda one: room if one.subject.diff else None)
    return bare if len(bare) <= limit else _short(verifications, limit)


Room = Callable[[Verification], int | None]


def _document(verifications: Sequence[Verification], room: Room) -> str:
    parts = [_total(verifications)] if len(verifications) != 1 else []
    parts.extend("\n".join(_subject(one, room(one))) for one in verifications)
    return "\n".join(parts)


def _short(verifications: Sequence[Verification], limit: int) -> str:
    """A line for each script, those that pass last; as many as there is room for."""
    order = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)
    lines = [f"- {_headline(one)}\n" for v in order for one in verifications if one.verdict is v]
    text = _total(verifications) + "\n"
    for index, line in enumerate(lines):
        more = f"- and {len(lines) - index:,} more\n"
        if len(text) + len(line) + len(more) > limit:
            return text + more
        text += line
    return text


def _total(verifications: Sequence[Verification]) -> str:
    mark = _MARKS[words.overall(verifications)]
    return f"### {mark} Verification: {prose(words.total(verifications))}\n"


def _headline(one: Verification) -> str:
    verdict = one.verdict.value.upper()
    return f"{_MARKS[one.verdict]} **{verdict}** {code(one.subject.script)}: {prose(one.headline)}"


def _subject(one: Verification, room: int | None) -> Iterator[str]:
    yield f"#### {_headline(one)}\n"
    if one.reason:
        yield f"{prose(one.reason)}\n"
    if one.advice:
        yield f"**What to do:** {prose(one.advice)}\n"
    if one.numerics:
        numerics = one.numerics
        yield f"**Numbers:** {prose(numerics.contract.value)}, {prose(words.closeness(numerics))}."
        yield f"{prose(words.extent(numerics))}.\n"
        if numerics.divergence:
            yield from _divergence(numerics.divergence)
    if one.subject.changes:
        yield from _table(
            ("Rewrite", "Line", "Contract", "Outcome", "What it does"),
            (
                (
                    f"{code(change.rule)} {prose(change.name)}",
                    str(change.line),
                    prose(change.contract.value),
                    prose(words.outcome(change, one)),
                    prose(": ".join(part for part in _what(change) if part)),
                )
                for change in one.subject.changes
            ),
        )
    if one.speed:
        yield from _speed(one.speed)
    yield from _growth(one)
    for note in _notes(one):
        yield f"- {prose(note)}"
    yield ""
    if one.output:
        lines = one.output.rstrip("\n").split("\n")[-OUTPUT_LINES:]
        yield from _folded("The end of what it wrote", "", lines)
    if room is not None:
        lines = one.subject.diff.removesuffix("\n").split("\n")
        yield from _folded("Diff", "diff", _that_fit(lines, room))


def _what(change: Change) -> tuple[str, str, str]:
    return change.message, change.changes, change.trial.evidence if change.trial else ""


def _divergence(divergence: Divergence) -> Iterator[str]:
    where = f"{code(divergence.observable)} at step {divergence.step}"
    yield f"**Diverged:** {where}, {prose(words.times(divergence.ratio))} the distance allowed.\n"
    yield from _table(
        ("Original", "Rewritten"), [(code(divergence.original), code(divergence.rewritten))]
    )


def _speed(speed: Speed) -> Iterator[str]:
    yield f"**Speed:** {prose(speed.verdict.value)}. {prose(speed.reason)}\n"
    rows = [
        (
            name,
            "" if name == "control" else words.seconds(words.typical(speed, name, before)),
            "" if name == "control" else words.seconds(words.typical(speed, name, after)),
            words.factor(ratio.value),
            words.interval(ratio),
        )
        for name, ratio in words.ratios(speed)
        for before, after in [words.VERSIONS]
    ]
    if rows:
        titles = ("Time", "Original", "Rewritten", "Ratio (above 1 is faster)", "95% interval")
        yield from _table(titles, rows)


def _growth(one: Verification) -> Iterator[str]:
    found = [(v, grown) for v in words.VERSIONS if (grown := words.grown(one, v))]
    if found:
        titles = ("Growth", "Step time, in 1,000 steps", "Graph nodes", "Retraces", "Peak memory")
        yield from _table(
            titles,
            (
                (
                    version.value,
                    words.slope(grown.step_time_slope),
                    words.nodes(grown.graph_nodes),
                    f"{grown.retraces:,}",
                    words.memory(grown.peak_memory_mb),
                )
                for version, grown in found
            ),
        )
    exchanged = [(v.value, said) for v, grown in found if (said := words.traffic(grown.traffic))]
    if exchanged:
        yield from _table(("Sessions", "In a step"), exchanged)


def _notes(one: Verification) -> Iterator[str]:
    if environment := one.environment:
        yield (
            f"Ran on Python {environment.python}, TensorFlow {environment.tensorflow}, "
            f"numpy {environment.numpy}, {environment.device}, {environment.cores} cores"
        )
    for part in (one.numerics, one.speed, one.environment):
        yield from part.notes if part else ()


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]] | Iterator[Sequence[str]]
) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"|{' --- |' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _folded(title: str, language: str, lines: Sequence[str]) -> Iterator[str]:
    """A block that opens on a click. Its fence is longer than any that its content holds."""
    content = [printable(words.clipped(line, LONGEST)) for line in lines]
    runs = (len(run) for line in content for run in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    yield f"<details><summary>{title}</summary>\n"
    yield f"{fence}{language}"
    yield from content
    yield f"{fence}\n"
    yield "</details>\n"


def _that_fit(lines: Sequence[str], room: int) -> list[str]:
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
