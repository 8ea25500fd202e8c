"""Verifications as a comment on a pull request.

GitHub refuses comments above 65,536 characters, so what is long gives way: first the diffs, then
everything but one line for each script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfrewrite.reports.markup import code, folded, prose, table, that_fit
from tfrewrite.reports.verification import words
from tfrewrite.verify.model import Change, Divergence, Speed, Verdict, Verification

LIMIT = 60_000
SHORTEST_DIFF = 400
OUTPUT_LINES = 30

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
        yield from table(
            ("Rewrite", "Line", "Contract", "Outcome", "What it does"),
            (
                (
                    f"{code(change.rule)} {prose(change.name)}",
                    str(change.line),
                    prose(change.contract.value),
                    prose(words.outcome(change, one)),
                    prose(": ".join(part for part in _what(change, one) if part)),
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
        yield from folded("The end of what it wrote", "", lines)
    if room is not None:
        lines = one.subject.diff.removesuffix("\n").split("\n")
        yield from folded("Diff", "diff", that_fit(lines, room))


def _what(change: Change, one: Verification) -> tuple[str, str, str]:
    return change.message, change.changes, words.evidence(change, one)


def _divergence(divergence: Divergence) -> Iterator[str]:
    where = code(divergence.observable)
    if divergence.step:
        where += f" at step {divergence.step}"
    yield f"**Diverged:** {where}, {prose(words.times(divergence.ratio))} the distance allowed.\n"
    yield from table(
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
        yield from table(titles, rows)


def _growth(one: Verification) -> Iterator[str]:
    found = [(v, grown) for v in words.VERSIONS if (grown := words.grown(one, v))]
    if found:
        titles = (
            "Growth",
            "Step time, in 1,000 steps",
            "Graph nodes",
            "Retraces",
            "Memory",
            "Peak memory",
        )
        yield from table(
            titles,
            (
                (
                    version.value,
                    words.slope(grown.step_time_slope),
                    words.nodes(grown.graph_nodes),
                    f"{grown.retraces:,}",
                    words.memory_course(grown.memory_mb),
                    words.memory(grown.peak_memory_mb),
                )
                for version, grown in found
            ),
        )
    exchanged = [(v.value, said) for v, grown in found if (said := words.traffic(grown.traffic))]
    if exchanged:
        yield from table(("Sessions", "In a step"), exchanged)


def _notes(one: Verification) -> Iterator[str]:
    if environment := one.environment:
        yield (
            f"Ran on Python {environment.python}, TensorFlow {environment.tensorflow}, "
            f"numpy {environment.numpy}, {environment.device}, {environment.cores} cores"
        )
    for part in (one.numerics, one.speed, one.environment):
        yield from part.notes if part else ()
