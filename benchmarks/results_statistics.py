"""What the samples say, by the statistics of verify: ratios of times with their intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from results_samples import EXPERT, ORIGINAL, REWRITTEN, Process, Sample

from tfrewrite.verify.intervals import (
    Comparison,
    compare,
    differences_95,
    drawn_means,
    student_widening,
)
from tfrewrite.verify.model import Ratio, SpeedVerdict, Version
from tfrewrite.verify.timing import MIN_EFFECT

Figure = Callable[[Process], float]
GOAL = 4.0
GOAL_OF_EXPERT = 0.95
LEAST_SAVED = 0.03
"""An expert who saves less of a step saves nothing that can be told from chance."""
GROWN = 1.2
"""A graph that has so many times its nodes at the end is one that grows."""


def step(process: Process) -> float:
    """What is judged: a step, or the whole run where there were no steps to tell."""
    return process.whole_s if process.step_s is None else process.step_s


def first_step(process: Process) -> float:
    return process.first_step_s


def whole(process: Process) -> float:
    return process.whole_s


def middle(sample: Sample, version: str, figure: Figure) -> float:
    """The median of the processes."""
    return median(figure(one) for one in sample.of(version))


def compared(
    sample: Sample, figure: Figure = step, before: str = ORIGINAL, after: str = REWRITTEN
) -> Comparison:
    """Two versions of a script, as verify compares them; in the order in which they ran."""
    versions = {before: Version.ORIGINAL, after: Version.REWRITTEN}
    runs = [one for one in sample.processes if one.version in versions]
    return compare([versions[one.version] for one in runs], [figure(one) for one in runs])


def verdict(sample: Sample, figure: Figure = step) -> SpeedVerdict:
    return compared(sample, figure).verdict(MIN_EFFECT)


def geometric_mean(
    chosen: Iterable[Sample],
    figure: Figure = step,
    before: str = ORIGINAL,
    after: str = REWRITTEN,
) -> Ratio:
    """Of the ratios of the scripts; a script counts once, on however many TensorFlows it ran.

    For the interval, processes are drawn anew within each version of each script: it tells what
    other processes of the same scripts would have given, not what other scripts would.
    """
    of_scripts: dict[str, list[Sample]] = defaultdict(list)
    for sample in chosen:
        of_scripts[sample.script].append(sample)
    count = len(of_scripts)
    value = 0.0
    draws: list[list[float]] = []
    processes = means = 0
    for rows in of_scripts.values():
        for sample in rows:
            weight = 1 / len(rows) / count
            for version, sign in ((before, weight), (after, -weight)):
                logs = [math.log(max(figure(one), 1e-9)) for one in sample.of(version)]
                value += sign * fmean(logs)
                seed = 2 * means + (sign < 0)
                draws.append([sign * one for one in drawn_means(logs, seed)])
                processes += len(logs)
                means += 1
    drawn = [math.fsum(one) for one in zip(*draws, strict=True)]
    low, high = differences_95(drawn, [0.0] * len(drawn))
    wider = student_widening(processes, means)
    ends = (value + wider * (end - value) for end in (low, high))
    low, high = ends
    return Ratio(math.exp(value), math.exp(min(low, value)), math.exp(max(high, value)))


def share_of_expert(sample: Sample) -> float | None:
    """Of the time that the expert saves, the part that the tool saves; None if that is nothing."""
    if sample.expert == "none":
        return None
    original, rewritten, expert = (
        middle(sample, version, step) for version in (ORIGINAL, REWRITTEN, EXPERT)
    )
    if original - expert < LEAST_SAVED * original:
        return None
    return (original - rewritten) / (original - expert)


def is_told_from_expert(sample: Sample) -> bool:
    """Whether the expert's version is faster than the tool's beyond chance."""
    if sample.expert != "timed":
        return False
    of_both = compared(sample, step, REWRITTEN, EXPERT)
    return of_both.verdict(MIN_EFFECT) is SpeedVerdict.FASTER


@dataclass(frozen=True)
class Goal:
    """Something that is asked of the tool; `holds` None where it was not shown either way."""

    asked: str
    measured: str
    holds: bool | None


def counted(chosen: Iterable[Sample]) -> list[Sample]:
    """The slow scripts of the corpus: what is rewritten with the settings as they are."""
    return [one for one in chosen if one.family not in {"request", "demo"}]


def goals(chosen: Sequence[Sample]) -> list[Goal]:
    slow = counted(chosen)
    if not slow:
        return []
    mean = geometric_mean(slow)
    slower = [one for one in slow if verdict(one) is SpeedVerdict.SLOWER]
    shares = [(one, share) for one in slow if (share := share_of_expert(one)) is not None]
    missing = [one for one, share in shares if share < GOAL_OF_EXPERT]
    told = [one for one in missing if is_told_from_expert(one)]
    reached = None if mean.low < GOAL <= mean.high else mean.value >= GOAL
    scripts = len({one.script for one in slow})
    return [
        Goal(
            f"geometric mean of original / rewritten step time: at least {GOAL:g}",
            f"{mean.value:.1f} ({mean.low:.1f} to {mean.high:.1f}), {scripts} scripts",
            reached,
        ),
        Goal(
            "no script slower",
            f"{named(slower)} of {len(slow)}" if slower else f"none of {len(slow)}",
            not slower,
        ),
        Goal(
            f"at least {GOAL_OF_EXPERT:.0%} of what an expert saves, each script",
            expert_in_words(len(shares), missing, told),
            not missing or (None if not told else False),
        ),
    ]


def expert_in_words(count: int, missing: Sequence[Sample], told: Sequence[Sample]) -> str:
    if not missing:
        return f"all of {count}"
    unsure = [one for one in missing if one not in told]
    parts = [
        f"less: {named(told)}" if told else "",
        f"less, but not beyond chance: {named(unsure)}" if unsure else "",
    ]
    return f"{count - len(missing)} of {count}; {'; '.join(part for part in parts if part)}"


def named(chosen: Sequence[Sample]) -> str:
    return ", ".join(f"`{one.script}` ({one.tensorflow})" for one in chosen)


def grows(sample: Sample) -> bool:
    """Whether the original's graph gets larger while it trains."""
    nodes = sample.curves[ORIGINAL].nodes
    return len(nodes) > 2 and nodes[-1][1] > GROWN * max(nodes[0][1], 1)
