"""The steps of timed processes: which are steady, how long one takes, and whether they grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from tfrewrite.verify.model import TimedRun, Version

WARM = 0.1
"""A step this much above the later ones is still warming up."""
KINDS = 1.25
"""Costs of steps that lie apart by this factor, from their lower to their upper quarter."""
LONG = 2.0
QUICKEST_AT_LEAST = 8
SLOPE_POINTS = 60
SLOPE_AT_LEAST = 8
SLOPE_Z = 2.6
TINY_S = 1e-9


def step_times(versions: Sequence[object], series: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """How long a steady step takes in each process, from all its steady steps.

    What else a machine does makes steps longer and never shorter, so the quickest of them tell best
    what a step costs: over a second, the quickest tenth varied by half of what all steps did.
    Where steps are of several kinds, or grow, the quickest would be of one kind only.
    """
    several = any(
        has_kinds([steps for steps, its in zip(series, versions, strict=True) if its is version])
        for version in set(versions)
    )
    return tuple(map(typical if several else quickest, series))


def quickest(steps_s: Sequence[float]) -> float:
    """The mean of the quickest tenth, or quarter where steps are few."""
    few = min(len(steps_s) // 4, QUICKEST_AT_LEAST)
    return fmean(sorted(steps_s)[: max(len(steps_s) // 10, few, 1)])


def typical(steps_s: Sequence[float]) -> float:
    """The mean of the middle half.

    As little moved by a few slow steps as the median, and unlike it stable where two kinds of
    steps take turns.
    """
    ordered = sorted(steps_s)
    aside = len(ordered) // 4
    return fmean(ordered[aside : len(ordered) - aside])


def has_kinds(series: Sequence[Sequence[float]]) -> bool:
    """Whether some steps of a version cost more than others, in whichever process."""
    costs = sorted(undisturbed(series))
    return costs[3 * len(costs) // 4] > KINDS * costs[len(costs) // 4]


def undisturbed(series: Sequence[Sequence[float]]) -> list[float]:
    """What each step costs where nothing came between: its least time in any of the processes."""
    return [min(times) for times in zip(*series, strict=True)]


def warm_up(runs: Sequence[TimedRun]) -> int:
    """How many first steps are not steady yet; at least one, at most half, for all runs the same.

    A version has warmed up where two steps in a row, each in the median of its processes, are no
    longer above the later half by more than that varies itself.
    """
    return max(
        warm_up_of([run.steps_s for run in runs if run.version is version]) for version in Version
    )


def warm_up_of(series: Sequence[Sequence[float]]) -> int:
    profile = step_profile(series)
    half = max(len(profile) // 2, 1)
    later = profile[half:]
    if not later:
        return half
    middle = median(later)
    varies = 1.4826 * median(abs(value - middle) for value in later)
    bound = middle + max(WARM * middle, 3 * varies)
    calm = (
        first for first in range(1, half) if profile[first] <= bound and profile[first + 1] <= bound
    )
    return next(calm, half)


def step_profile(series: Sequence[Sequence[float]]) -> list[float]:
    """Each step in the median of the processes, as a part of a later step of its process."""
    scaled = []
    for steps_s in series:
        later = max(median(steps_s[len(steps_s) // 2 :]), TINY_S)
        scaled.append([step_s / later for step_s in steps_s])
    return [median(values) for values in zip(*scaled, strict=True)]


def long_steps(series: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Which part of the time goes to steps that are long in all processes, and how many these are.

    The typical step does not tell of them.
    """
    costs = undisturbed(series)
    bound = LONG * typical(costs)
    long = [cost for cost in costs if cost > bound]
    return sum(long) / max(sum(costs), TINY_S), len(long)


def slope(steps_s: Sequence[float]) -> float:
    """By which part of the typical step a step gets slower in 1,000 steps.

    It is the median of the slopes between all pairs of points, each the median of neighbouring
    steps. 0 where the steps are too few to tell, or show no trend beyond chance.
    """
    after_start = steps_s[max(1, len(steps_s) // 10) :]
    if len(after_start) < SLOPE_AT_LEAST:
        return 0.0
    width = math.ceil(len(after_start) / SLOPE_POINTS)
    points = [
        (
            start + (min(width, len(after_start) - start) - 1) / 2,
            median(after_start[start : start + width]),
        )
        for start in range(0, len(after_start), width)
    ]
    pairs = [
        ((later - earlier), (place - before))
        for index, (before, earlier) in enumerate(points)
        for place, later in points[index + 1 :]
    ]
    ups = sum((change > 0) - (change < 0) for change, _ in pairs)
    count = len(points)
    if abs(ups) < SLOPE_Z * math.sqrt(count * (count - 1) * (2 * count + 5) / 18):
        return 0.0
    middle = max(median(after_start), TINY_S)
    return 1000 * median(change / distance for change, distance in pairs) / middle
