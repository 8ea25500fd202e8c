"""Compares versions that draw other random numbers: what they come to, over several seeds.

Every run gives one number for each observable: the mean of its last quarter. The numbers of both
versions are two samples, and a rewrite is wrong where they lie further apart than chance explains.
A small difference is not seen by this; the report says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from tfrewrite.model import Contract
from tfrewrite.verify import printed
from tfrewrite.verify.comparing import answered
from tfrewrite.verify.model import Compared, Divergence, Kind, Numerics, Point, Verdict
from tfrewrite.verify.runs import Laboratory, Observation

LARGEST_T = 5.0
"""By chance two samples of seven are further apart in one of some thousand comparisons."""
SMALLEST_PART = 1e-3
"""Of the values themselves: a spread below this is not told from none."""
NOTE = (
    "the versions draw other random numbers, so they were compared by what they come to, over {} "
    "seeds; a difference well within the spread of the original is not seen by that"
)

Runs = list[Mapping[str, Sequence[float]]]


def judge(laboratory: Laboratory, pairs: Sequence[tuple[Observation, Observation]]) -> Numerics:
    """The verdict on pairs of runs, one for each seed."""
    originals = _numbers(laboratory, [one for one, _ in pairs])
    rewritten = _numbers(laboratory, [one for _, one in pairs])
    names = [name for name in originals[0] if all(name in run for run in (*originals, *rewritten))]
    compared = [_compared(name, originals, rewritten) for name in names]
    failed = [one for one in compared if one.verdict is Verdict.FAIL]
    worst = max(compared, key=lambda one: one.worst_ratio, default=None)
    if worst is None:
        verdict, reason = Verdict.INCONCLUSIVE, "nothing was seen that could be compared"
    elif failed:
        verdict = Verdict.FAIL
        reason = f"{worst.name} comes to something else than in the original, whatever is drawn"
    else:
        verdict = Verdict.PASS
        reason = f"{len(compared):,} observables come to the same over {len(pairs)} seeds"
    return Numerics(
        verdict=verdict,
        contract=Contract.RESAMPLED,
        reason=reason,
        worst_ratio=worst.worst_ratio if worst else 0.0,
        divergence=_divergence(worst, originals, rewritten) if worst and failed else None,
        compared=tuple(compared),
        seeds=len(pairs),
        notes=(NOTE.format(len(pairs)),),
    )


def _compared(name: str, originals: Runs, rewritten: Runs) -> Compared:
    ours, theirs = ([come_to(run[name]) for run in runs] for runs in (originals, rewritten))
    distance = abs(fmean(ours) - fmean(theirs))
    allowed = LARGEST_T * error_of_difference(ours, theirs)
    ratio = distance / allowed if allowed else (math.inf if distance else 0.0)
    if not math.isfinite(distance):
        alike = [math.isfinite(one) for one in ours] == [math.isfinite(one) for one in theirs]
        ratio = 0.0 if alike else math.inf
    kind = {"fetched": Kind.FETCHED, "read": Kind.READ, "weights": Kind.WEIGHTS}.get(
        name.split(" ", 1)[0], Kind.PRINTED
    )
    verdict = Verdict.PASS if ratio <= 1.0 else Verdict.FAIL
    point = Point(0, distance, allowed, distance == 0.0)
    return Compared(name, kind, (point,), verdict, ratio)


def come_to(values: Sequence[float]) -> float:
    """The mean of the last quarter."""
    return fmean(values[-max(1, len(values) // 4) :])


def error_of_difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The standard error of the difference of two means."""
    least = SMALLEST_PART * max(abs(fmean(ours)), abs(fmean(theirs)))
    spread = [max(stdev(one), least) / math.sqrt(len(one)) for one in (ours, theirs)]
    return math.hypot(*spread)


def _numbers(laboratory: Laboratory, runs: Sequence[Observation]) -> Runs:
    asked = {"scalars": [str(one.folder) for one in runs]}
    found: list[dict[str, list[float]]] = answered(laboratory, asked)
    return [{**values, **_printed(run)} for values, run in zip(found, runs, strict=True)]


def _printed(run: Observation) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in printed.lines(run.printed):
        for place, number in enumerate(line.numbers, 1):
            if "." in number.text or "e" in number.text.lower():
                found.setdefault(f"printed {line.says} [{place}]", []).append(number.value)
    return found


def _divergence(worst: Compared, originals: Runs, rewritten: Runs) -> Divergence:
    ours, theirs = ([come_to(run[worst.name]) for run in runs] for runs in (originals, rewritten))
    return Divergence(
        observable=worst.name,
        kind=worst.kind,
        step=0,
        original=f"{fmean(ours):.6g}",
        rewritten=f"{fmean(theirs):.6g}",
        ratio=worst.worst_ratio,
    )
