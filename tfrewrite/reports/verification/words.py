"""Verdicts, numbers and times in the words that all reports on verifications share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from tfrewrite.model import Contract
from tfrewrite.reports.summary import listed, plural
from tfrewrite.verify.model import (
    Change,
    Compared,
    Growth,
    Numerics,
    Ratio,
    Speed,
    TimedRun,
    Traffic,
    Trial,
    Verdict,
    Verification,
    Version,
)

UNKNOWN = "unknown"
VERSIONS = (Version.ORIGINAL, Version.REWRITTEN)

PROMISES = {
    Contract.EXACT: "every observed value is the same, bit for bit",
    Contract.ROUNDING: "the same mathematics; only floating-point rounding may differ",
    Contract.SHIFTED: "the same weights; a reported value is read at another moment of the step",
    Contract.RESAMPLED: "random draws come from elsewhere; equal in distribution only",
    Contract.PRECISION: "another numeric precision, on purpose",
}
_STRONGEST_FIRST = list(Contract)
_IN_CELL = re.compile(r"(?P<file>[^\n:]+\.ipynb: )?cell (?P<cell>\d+): ")


def overall(verifications: Sequence[Verification]) -> Verdict:
    """The worst verdict. Where nothing was verified, nothing was shown."""
    verdicts = {one.verdict for one in verifications}
    if Verdict.FAIL in verdicts:
        return Verdict.FAIL
    return Verdict.PASS if verdicts == {Verdict.PASS} else Verdict.INCONCLUSIVE


def total(verifications: Sequence[Verification]) -> str:
    """How many of each verdict, and how long it took."""
    counts = Counter(one.verdict for one in verifications)
    elapsed = math.fsum(one.elapsed_s for one in verifications if math.isfinite(one.elapsed_s))
    parts = [
        plural(counts[Verdict.PASS], "pass", "passes") if counts[Verdict.PASS] else "",
        plural(counts[Verdict.FAIL], "failure") if counts[Verdict.FAIL] else "",
        f"{counts[Verdict.INCONCLUSIVE]:,} inconclusive" if counts[Verdict.INCONCLUSIVE] else "",
    ]
    scripts = plural(len(verifications), "script")
    return f"{listed(parts) or 'nothing verified'} in {scripts} ({seconds(elapsed)})"


def evidence(change: Change, verification: Verification) -> str:
    """What a trial of a rewrite found, unless that is the reason of the whole verdict."""
    said = change.trial.evidence if change.trial else ""
    whole = {verification.reason, f"{verification.subject.script}: {verification.reason}"}
    return "" if said in whole else said


def placed(change: Change) -> str:
    """Where a rewrite is, and what it does; a line of a notebook is one of its cell."""
    cell = _IN_CELL.match(change.message)
    if cell is None:
        return f"line {change.line}: {change.message}"
    rest = change.message[cell.end() :]
    return f"line {change.line} of cell {cell['cell']}: {cell['file'] or ''}{rest}"


def outcome(change: Change, verification: Verification) -> str:
    """What became of the promise of one rewrite, when all of them were verified together.

    Where only those are kept that hold and pay: whether it was, and why.
    """
    if change.trial is not None:
        return tried(change.trial)
    numerics = verification.numerics
    if numerics is None or numerics.verdict is Verdict.INCONCLUSIVE:
        return "not shown"
    if numerics.verdict is Verdict.FAIL:
        return "broken" if len(verification.subject.changes) == 1 else "broken by these together"
    identical = all(one.identical for one in numerics.compared)
    judged, promised = map(_STRONGEST_FIRST.index, (numerics.contract, change.contract))
    if promised >= judged or (identical and numerics.compared):
        return "kept"
    return f"kept, judged as {numerics.contract.value}"


GROUNDS = {
    "faster": "faster with it",
    "no-measurable-change": "no measurable change with it",
    "not-timed": "not timed by itself",
    "needed": "the numbers do not hold without it",
    "contract-broken": "its promise is broken",
    "slower": "slower with it",
    "gain-too-small": "the gain is too small",
    "not-shown": "nothing was shown",
    "not-executed": "not executed",
    "needs-a-dropped-one": "it builds on a dropped one, or has no place without it",
}


def tried(trial: Trial) -> str:
    """Whether a rewrite is kept, and why, in one phrase."""
    parts = [GROUNDS.get(trial.ground, trial.ground)]
    if trial.ground == "faster" and trial.gain is not None:
        parts = [f"{factor(trial.gain.value)} times as fast with it"]
    if trial.share is not None:
        parts.append(f"{trial.share:.0%} of the gain")
    if trial.others:
        parts.append(f"together with {plural(trial.others, 'other')}")
    return f"{'kept' if trial.kept else 'dropped'}: {', '.join(parts)}"


def closeness(numerics: Numerics) -> str:
    """How far apart the versions are, in one phrase."""
    if numerics.compared and all(one.identical for one in numerics.compared):
        return "identical, bit for bit"
    if not numerics.compared:
        return "nothing was compared"
    return f"at most {times(numerics.worst_ratio)} the distance allowed"


def extent(numerics: Numerics) -> str:
    """What was compared, over how much of the script."""
    seen = "to the script's own end" if numerics.whole else "then the loops were ended"
    parts = [
        plural(len(numerics.compared), "observable"),
        f"{plural(numerics.steps, 'step')}, {seen}",
        plural(numerics.seeds, "seed"),
    ]
    return "; ".join(parts)


def worst_first(compared: Sequence[Compared]) -> list[Compared]:
    """Those that fail first, then by distance; what is not a number is worse than any.

    Of several that are alike, one that shows more.
    """
    order = [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS]

    def key(one: Compared) -> tuple[int, float, bool, int]:
        worst = math.inf if math.isnan(one.worst_ratio) else one.worst_ratio
        return order.index(one.verdict), -worst, one.identical, -len(one.points)

    return sorted(compared, key=key)


def ratios(speed: Speed) -> list[tuple[str, Ratio]]:
    """The ratios that there are, each with its name."""
    named = (
        ("steady state", speed.steady),
        ("first step", speed.first_step),
        ("start-up", speed.start_up),
        ("whole run", speed.whole),
        ("control", speed.control),
    )
    return [(name, ratio) for name, ratio in named if ratio is not None]


def steady_step(run: TimedRun) -> float:
    """The median step of one process, the first step left out where there are others."""
    steps = [step for step in run.steps_s[1:] or run.steps_s if math.isfinite(step)]
    return median(steps) if steps else math.nan


def typical(speed: Speed, name: str, version: Version) -> float:
    """As it was judged, or the median over the processes of one version.

    Not a number where there is none.
    """
    judged = dict(ratios(speed)).get(name)
    if judged is not None and judged.times_s is not None:
        return judged.times_s[VERSIONS.index(version)]
    quantities: dict[str, Callable[[TimedRun], float]] = {
        "steady state": steady_step,
        "first step": lambda run: run.first_step_s,
        "start-up": lambda run: run.start_up_s,
        "whole run": lambda run: run.whole_s,
        "peak memory": lambda run: run.peak_memory_mb,
    }
    if name not in quantities:
        return math.nan
    found = [quantities[name](run) for run in speed.runs if run.version is version]
    finite = [value for value in found if math.isfinite(value)]
    return median(finite) if finite else math.nan


def grown(verification: Verification, version: Version) -> Growth | None:
    return next((one for one in verification.growth if one.version is version), None)


def number(value: float) -> str:
    """Three significant digits."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        return f"{value:.2e}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def times(value: float) -> str:
    if math.isinf(value):
        return "infinitely many times"
    if math.isnan(value):
        return "an unknown multiple of"
    return f"{number(value)} times"


def factor(value: float) -> str:
    """A ratio of times; more digits near 1, where they matter."""
    if not math.isfinite(value) or not 0.01 <= abs(value) < 1000:
        return number(value)
    return f"{value:.3f}" if 0.9 <= value < 1.1 else f"{value:.2f}"


def interval(ratio: Ratio) -> str:
    ends = (ratio.low, ratio.high)
    if all(0.9 <= end < 1.1 for end in ends) or not all(0.01 <= end < 1000 for end in ends):
        return f"{factor(ratio.low)} to {factor(ratio.high)}"
    return f"{ratio.low:.2f} to {ratio.high:.2f}"


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    if not math.isfinite(value):
        return "unknown"
    size = abs(value)
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (120.0, 1.0, "s")):
        if size < limit:
            return f"{_short(value * scale)} {unit}"
    if size < 3600:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest:02} s"
    return f"{value / 3600:,.1f} h" if size < 3.6e9 else f"{value:.2e} s"


def _short(value: float) -> str:
    """Three digits without an exponent for what lies below 1000, so that columns are calm."""
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def memory(megabytes: float) -> str:
    if not math.isfinite(megabytes):
        return "unknown"
    if abs(megabytes) >= 1e7:
        return f"{megabytes:.2e} MB"
    return f"{megabytes / 1000:.2f} GB" if abs(megabytes) >= 1000 else f"{megabytes:.0f} MB"


def memory_course(each_step: Sequence[float]) -> str:
    """How much memory came or went from the first step to the last; with one step there is none."""
    if len(each_step) < 2 or not math.isfinite(change := each_step[-1] - each_step[0]):
        return UNKNOWN
    sign = "-" if round(change) < 0 else "+"
    return f"{sign}{memory(abs(change))} in {plural(len(each_step) - 1, 'step')}"


def slope(value: float) -> str:
    """A step-time slope, as percent of the median step in 1,000 steps."""
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value * 100:+,.1f}%" if abs(value) < 1e4 else f"{value * 100:+.2e}%"


def nodes(counts: Sequence[int]) -> str:
    """How the number of graph nodes went, from the first step to the last."""
    if not counts:
        return "none recorded"
    first, last = counts[0], counts[-1]
    return f"{last:,}, constant" if first == last else f"{first:,} to {last:,}"


def traffic(found: Traffic | None) -> str:
    """What a step exchanges with the graph; nothing where there are no sessions."""
    if found is None:
        return ""
    counts = f"{plural(found.runs, 'run')} a step, {size(found.fed_bytes)} fed"
    return f"{counts}, {found.outside:.0%} of a step outside of runs"


def size(count: float) -> str:
    """A number of bytes in the unit that suits it."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} GB"


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning and how much there was of it."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... ({len(text) - limit:,} more characters)"
