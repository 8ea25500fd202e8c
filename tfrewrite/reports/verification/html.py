"""Verifications as one page that needs nothing but itself: no network and no scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from tfrewrite.reports import pages
from tfrewrite.reports.verification import charts, words
from tfrewrite.reports.verification.charts import Curve
from tfrewrite.reports.verification.diff_lines import Line, read
from tfrewrite.verify.model import (
    Compared,
    Environment,
    Growth,
    Speed,
    TimedRun,
    Verification,
)

MOST_DIFF_LINES = 4_000
MOST_OBSERVABLES = 2_000
MOST_OUTPUT_LINES = 200
MOST_SAMPLES = 2_000
LONGEST_NAME = 300
WORST = 6
"""So many observables are drawn."""
OPEN_DIFF = 120
"""A diff of at most so many lines is shown at once."""
FAINT_RUNS = 8
"""So many runs of each version are drawn one by one."""


def render(verifications: Sequence[Verification]) -> str:
    """The page, to be written as UTF-8."""
    return pages.template("verification/page.html.jinja").render(
        style=pages.style(),
        policy=pages.policy(),
        verdict=words.overall(verifications).value,
        total=words.total(verifications),
        words=words,
        subjects=[_subject(f"s{n}", one) for n, one in enumerate(verifications, 1)],
    )


@dataclass(frozen=True)
class Fact:
    """One figure of the strip below the verdict."""

    label: str
    value: str
    detail: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Subject:
    """What the template shows of one verification."""

    identity: str
    one: Verification
    script: str
    facts: tuple[Fact, ...]
    changes: tuple[tuple[str, ...], ...]
    diff: tuple[Line, ...]
    diff_left_out: int
    diff_open: bool
    added: int
    removed: int
    times: tuple[tuple[str, ...], ...]
    speed_charts: tuple[Markup, ...]
    step_time_note: str
    growth: tuple[tuple[str, ...], ...]
    growth_charts: tuple[Markup, ...]
    worst: tuple[tuple[Compared, str, Markup], ...]
    observables: tuple[tuple[Compared, str], ...]
    observables_left_out: int
    environment: tuple[tuple[str, str], ...]
    runs: tuple[tuple[str, ...], ...]
    samples: tuple[tuple[str, Markup], ...]
    output: tuple[str, ...]


def _subject(identity: str, one: Verification) -> Subject:
    lines = list(read(one.subject.diff))
    compared = words.worst_first(one.numerics.compared) if one.numerics else []
    output = one.output.rstrip("\n").split("\n")[-MOST_OUTPUT_LINES:] if one.output else []
    runs = sorted(one.speed.runs, key=lambda run: run.order) if one.speed else []
    top = top_of(one.speed) if one.speed else math.inf
    return Subject(
        identity=identity,
        one=one,
        script=words.clipped(one.subject.script, LONGEST_NAME),
        facts=tuple(_facts(one)),
        changes=tuple(_changes(one)),
        diff=tuple(
            Line(line.kind, _line(line.text), line.before, line.after)
            for line in lines[:MOST_DIFF_LINES]
        ),
        diff_left_out=max(0, len(lines) - MOST_DIFF_LINES),
        diff_open=len(lines) <= OPEN_DIFF,
        added=sum(line.kind == "added" for line in lines),
        removed=sum(line.kind == "removed" for line in lines),
        times=tuple(_times(one.speed)) if one.speed else (),
        speed_charts=tuple(speed_charts(identity, one.speed, top)) if one.speed else (),
        step_time_note=_above(runs, top),
        growth=tuple(_growth(one)),
        growth_charts=tuple(growth_charts(identity, one.growth)),
        worst=tuple(
            (
                each,
                words.clipped(each.name, LONGEST_NAME),
                _drawn(
                    charts.divergence(
                        f"{identity}-d{n}",
                        f"Distance of {words.clipped(each.name, 60)}",
                        each.points,
                    )
                ),
            )
            for n, each in enumerate(compared[:WORST])
            if n == 0 or not each.identical
        ),
        observables=tuple(
            (each, words.clipped(each.name, LONGEST_NAME)) for each in compared[:MOST_OBSERVABLES]
        ),
        observables_left_out=max(0, len(compared) - MOST_OBSERVABLES),
        environment=tuple(_environment(one.environment)) if one.environment else (),
        runs=tuple(_run(run) for run in runs),
        samples=tuple((f"Run {run.order}, {run.version.value}", _samples(run)) for run in runs),
        output=tuple(_line(line) for line in output),
    )


def _drawn(svg: str) -> Markup:
    """The charts escape what they write themselves."""
    return Markup(svg)  # noqa: S704


def _line(text: str) -> str:
    return words.clipped(text, pages.LONGEST)


def _facts(one: Verification) -> Iterator[Fact]:
    if numerics := one.numerics:
        promise = words.PROMISES[numerics.contract]
        yield Fact("Contract", numerics.contract.value, promise)
        identical = numerics.compared and all(each.identical for each in numerics.compared)
        value = "none" if identical else _multiple(words.number(numerics.worst_ratio))
        detail = "identical, bit for bit" if identical else "of the distance allowed, at worst"
        if numerics.compared:
            yield Fact("Difference", value, detail, numerics.verdict.value)
    if speed := one.speed:
        for name, title in (("steady state", "Steady step"), ("whole run", "Whole run")):
            ratio = dict(words.ratios(speed)).get(name)
            if ratio:
                tone = speed.verdict.value if name == "steady state" else ""
                detail = f"as fast; 95% interval {words.interval(ratio)}"
                yield Fact(title, _multiple(words.factor(ratio.value)), detail, tone)
    grown = [words.grown(one, version) for version in words.VERSIONS]
    if grown[0] and grown[1]:
        before, after = grown[0].peak_memory_mb, grown[1].peak_memory_mb
        yield Fact("Peak memory", words.memory(after), f"{words.memory(before)} originally")
    if numerics:
        end = "to the script's own end" if numerics.whole else "then the loops were ended"
        seeds = "seed" if numerics.seeds == 1 else "seeds"
        yield Fact("Steps", f"{numerics.steps:,}", f"{numerics.seeds} {seeds}; {end}")


def _multiple(number: str) -> str:
    return f"{number}\u00d7" if number[-1].isdigit() else number


def _changes(one: Verification) -> Iterator[tuple[str, ...]]:
    for change in one.subject.changes:
        yield (
            change.rule,
            change.name,
            f"{change.line:,}",
            change.contract.value,
            words.outcome(change, one),
            change.message,
            change.changes,
            words.evidence(change, one),
        )


def _times(speed: Speed) -> Iterator[tuple[str, ...]]:
    for name, ratio in words.ratios(speed):
        control = name == "control"
        both = [
            "" if control else words.seconds(words.typical(speed, name, version))
            for version in words.VERSIONS
        ]
        yield name, *both, words.factor(ratio.value), words.interval(ratio)


def speed_charts(identity: str, speed: Speed, top: float) -> Iterator[Markup]:
    if ratios := words.ratios(speed):
        title = "Original / rewritten: right of 1 is faster"
        yield _drawn(charts.intervals(f"{identity}-ratios", title, ratios))
    if not speed.runs:
        return
    curves = []
    for version in words.VERSIONS:
        runs = [run.steps_s for run in speed.runs if run.version is version]
        if not runs:
            continue
        label = version.value
        curves.append(Curve(f"{label}, median of its runs", label, _median_curve(runs)))
        if len(runs) > 1:
            curves += [
                Curve(label, label, tuple(enumerate(steps, 1)), faint=True)
                for steps in runs[:FAINT_RUNS]
            ]
    unit = charts.seconds_unit([min(y, top) for one in curves for _, y in one.points])
    drawn = charts.over_steps(f"{identity}-steps", "Time of each step", curves, unit, top=top)
    yield _drawn(drawn)


def _median_curve(runs: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    """The median over the runs, step by step, where at least one has a number."""
    points = []
    for index in range(max(map(len, runs), default=0)):
        found = [steps[index] for steps in runs if index < len(steps)]
        numbers = [value for value in found if not math.isnan(value)]
        points.append((float(index + 1), median(numbers) if numbers else math.nan))
    return tuple(points)


def top_of(speed: Speed) -> float:
    """Where the axis of step times ends: the first steps of a run would flatten all others."""
    later = sorted(
        step for run in speed.runs for step in run.steps_s[1:] if math.isfinite(step) and step >= 0
    )
    if not later:
        return math.inf
    usual = later[len(later) // 2]
    medians = [
        y
        for version in words.VERSIONS
        for x, y in _median_curve([run.steps_s for run in speed.runs if run.version is version])
        if x > 1 and math.isfinite(y) and y <= 20 * usual
    ]
    return max([later[int(0.97 * (len(later) - 1))], *medians])


def _above(runs: Sequence[TimedRun], top: float) -> str:
    """Says what the chart of step times cut off."""
    above = [
        (step, index, run.version.value)
        for run in runs
        for index, step in enumerate(run.steps_s, 1)
        if top < step < math.inf
    ]
    if not above:
        return ""
    step, index, version = max(above)
    total = sum(len(run.steps_s) for run in runs)
    values = "1 value lies" if len(above) == 1 else f"{len(above):,} values lie"
    return (
        f"{values} above the scale, of {total:,}: the longest is {words.seconds(step)}, "
        f"step {index} of the {version} script."
    )


def _growth(one: Verification) -> Iterator[tuple[str, ...]]:
    both = [words.grown(one, version) for version in words.VERSIONS]
    if not any(both):
        return

    def each(say: str) -> list[str]:
        return [_grown(growth, say) if growth else "" for growth in both]

    for say in ("step time in 1,000 steps", "graph nodes", "retraces", "memory", "peak memory"):
        yield say, *each(say)
    if any(growth.traffic for growth in both if growth):
        yield "sessions", *(words.traffic(growth.traffic) if growth else "" for growth in both)


def _grown(growth: Growth, say: str) -> str:
    if say == "graph nodes":
        return words.nodes(growth.graph_nodes)
    if say == "retraces":
        return f"{growth.retraces:,}"
    if say == "memory":
        return words.memory_course(growth.memory_mb)
    if say == "peak memory":
        return words.memory(growth.peak_memory_mb)
    return words.slope(growth.step_time_slope)


def growth_charts(identity: str, growth: Sequence[Growth]) -> Iterator[Markup]:
    memory = [Curve(g.version.value, g.version.value, _numbered(g.memory_mb)) for g in growth]
    nodes = [Curve(g.version.value, g.version.value, _numbered(g.graph_nodes)) for g in growth]
    if any(curve.points for curve in memory):
        unit = charts.memory_unit([y for curve in memory for _, y in curve.points])
        name = f"{identity}-memory"
        yield _drawn(charts.over_steps(name, "Memory", memory, unit, from_zero=False))
    if any(curve.points for curve in nodes):
        unit = charts.Unit("nodes")
        yield _drawn(charts.over_steps(f"{identity}-nodes", "Graph nodes", nodes, unit))


def _numbered(values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    return tuple((float(step), float(value)) for step, value in enumerate(values, 1))


def _environment(environment: Environment) -> Iterator[tuple[str, str]]:
    yield "Python", environment.python
    yield "TensorFlow", environment.tensorflow
    yield "numpy", environment.numpy
    yield "Device", environment.device
    yield "Processor", environment.processor
    yield "Cores", str(environment.cores)
    yield "Threads", environment.threads
    yield "Platform", environment.platform
    yield "Interpreter", environment.interpreter


def _run(run: TimedRun) -> tuple[str, ...]:
    return (
        f"{run.order:,}",
        run.version.value,
        words.seconds(run.start_up_s),
        words.seconds(run.first_step_s),
        words.seconds(words.steady_step(run)),
        f"{len(run.steps_s):,}",
        words.seconds(run.whole_s),
        words.memory(run.peak_memory_mb),
        f"{run.load:.2f}",
    )


def _samples(run: TimedRun) -> Markup:
    """Milliseconds, as many as one may want to read; all of them are in the JSON report."""
    shown = " ".join(f"{step * 1e3:.4g}" for step in run.steps_s[:MOST_SAMPLES])
    left_out = len(run.steps_s) - MOST_SAMPLES
    more = f" ... and {left_out:,} more" if left_out > 0 else ""
    return Markup(shown + more)  # noqa: S704 - numbers
