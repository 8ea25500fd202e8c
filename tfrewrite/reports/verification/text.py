"""The summary at the terminal: the verdict in one line, and below it what it rests on.

Plain strings: what a script printed is never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import plural
from tfrewrite.reports.verification import words
from tfrewrite.verify.model import (
    Divergence,
    Environment,
    Growth,
    Numerics,
    Speed,
    Verdict,
    Verification,
)

OUTPUT_LINES = 20
LONGEST = 1_000
LONGEST_NAME = 100


def render(
    verifications: Sequence[Verification], *, quiet: bool = False, verbose: bool = False
) -> str:
    """One verification in full, or a line for each of several and a total.

    `verbose` gives all of them in full, `quiet` nothing but the lines with the verdicts.
    """
    lines: list[str] = []
    full = verbose or len(verifications) == 1
    for one in verifications:
        lines.append(_verdict(one))
        if quiet:
            continue
        lines.extend(_tried(one))
        if full:
            lines.extend(_details(one))
        elif one.verdict is not Verdict.PASS:
            lines.extend(_why(one))
    if len(verifications) != 1:
        lines.append(words.total(verifications))
    return "".join(f"{printable(words.clipped(line, LONGEST))}\n" for line in lines)


def _verdict(one: Verification) -> str:
    script = words.clipped(one.subject.script, LONGEST_NAME)
    return f"{one.verdict.value.upper()}  {script}: {one.headline}"


def _why(one: Verification) -> Iterator[str]:
    if one.reason:
        yield f"    {one.reason}"
    if one.advice:
        yield f"    What to do: {one.advice}"
    if one.numerics and one.numerics.divergence:
        yield _row("diverged", _divergence(one.numerics.divergence))


def _details(one: Verification) -> Iterator[str]:
    yield from _why(one)
    if one.output:
        yield from _output(one.output)
    if one.numerics:
        yield from _numerics(one.numerics, said=one.reason)
    if one.speed:
        yield from _speed(one.speed)
    grown = [growth for v in words.VERSIONS if (growth := words.grown(one, v))]
    for index, growth in enumerate(grown):
        yield _row("" if index else "growth", f"{growth.version.value:<9}  {_grown(growth)}")
    exchanged = [(growth, said) for growth in grown if (said := words.traffic(growth.traffic))]
    for index, (growth, said) in enumerate(exchanged):
        yield _row("" if index else "traffic", f"{growth.version.value:<9}  {said}")
    if one.environment:
        yield from _environment(one.environment)
    yield _row("took", words.seconds(one.elapsed_s))


def _tried(one: Verification) -> Iterator[str]:
    """Which rewrites are kept, where they were chosen."""
    for change in one.subject.changes:
        if change.trial is not None:
            promise = f"{change.rule} {change.name} [{change.contract.value}]"
            yield _row("rewrite", f"{promise} {words.placed(change)}")
            yield _row("", words.tried(change.trial))
            if found := words.evidence(change, one):
                yield _row("", found)


def _row(label: str, content: str) -> str:
    return f"    {label:<10}{content}"


def _divergence(divergence: Divergence) -> str:
    name = words.clipped(divergence.observable, LONGEST_NAME)
    before = words.clipped(divergence.original, LONGEST_NAME)
    after = words.clipped(divergence.rewritten, LONGEST_NAME)
    step = f"step {divergence.step}, " if divergence.step else ""
    return (
        f"{step}{name} ({divergence.kind.value}): original {before}, "
        f"rewritten {after}; {words.times(divergence.ratio)} the distance allowed"
    )


def _output(output: str) -> Iterator[str]:
    lines = output.rstrip("\n").split("\n")
    shown = f"The last {OUTPUT_LINES} lines" if len(lines) > OUTPUT_LINES else "The end"
    yield f"    {shown} of what it wrote:"
    for line in lines[-OUTPUT_LINES:]:
        yield f"      | {line}"


def _numerics(numerics: Numerics, said: str) -> Iterator[str]:
    contract = numerics.contract.value
    yield _row("numerics", f"{numerics.verdict.value} [{contract}]: {words.closeness(numerics)}")
    yield _row("", words.extent(numerics))
    if numerics.reason not in {"", said}:
        yield _row("", numerics.reason)
    for note in numerics.notes:
        yield _row("note", note)


def _speed(speed: Speed) -> Iterator[str]:
    yield _row("speed", f"{speed.verdict.value}: {speed.reason}".removesuffix(": "))
    for name, ratio in words.ratios(speed):
        line = f"{name:<13} {words.factor(ratio.value):>6}  ({words.interval(ratio)})"
        yield _row("", f"{line:<42}  {_from_to(speed, name)}".rstrip())
    for note in speed.notes:
        yield _row("note", note)


def _from_to(speed: Speed, name: str) -> str:
    if name == "control":
        return "original against original"
    before, after = (words.typical(speed, name, version) for version in words.VERSIONS)
    both = (words.seconds(before), words.seconds(after))
    return "" if "unknown" in both else f"{both[0]} -> {both[1]}"


def _grown(growth: Growth) -> str:
    slope = words.slope(growth.step_time_slope)
    course = words.memory_course(growth.memory_mb)
    parts = [
        "" if slope == words.UNKNOWN else f"{slope} step time in 1,000 steps",
        f"graph nodes {words.nodes(growth.graph_nodes)}" if growth.graph_nodes else "",
        plural(growth.retraces, "retrace"),
        "" if course == words.UNKNOWN else f"memory {course}",
        f"peak {words.memory(growth.peak_memory_mb)}",
    ]
    return ", ".join(part for part in parts if part)


def _environment(environment: Environment) -> Iterator[str]:
    yield _row("ran on", ", ".join(part for part in _facts(environment) if part))
    for note in environment.notes:
        yield _row("note", note)


def _facts(environment: Environment) -> Iterator[str]:
    for name, version in (
        ("Python", environment.python),
        ("TensorFlow", environment.tensorflow),
        ("numpy", environment.numpy),
    ):
        if version:
            yield f"{name} {version}"
    yield environment.device
    yield f"{environment.cores} cores" if environment.cores != 1 else "1 core"
    yield environment.platform
