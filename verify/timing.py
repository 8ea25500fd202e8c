"""Whether a rewritten script is faster, judged from processes that were timed.

Nothing is run here. The unit is the process: its many steps share one fate (where its memory came
to lie, what else the machine did just then), so they count as one value, what a step costs. What
is called a difference has to be beyond what chance and the machine do; how that is found out is in
`verify/intervals.py`. The rates of wrong and missed calls that come of it are tested in
`tests/test_verify_timing.py`, and with real processes by `benchmarks/timing_proof.py`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from tfrewrite.verify.intervals import OF_LOOKS, Comparison, compare
from tfrewrite.verify.model import Speed, SpeedVerdict, TimedRun, Version
from tfrewrite.verify.steady import LONG, long_steps, slope, step_times, warm_up

__all__ = ["MIN_EFFECT", "RUNS", "judge", "rounds", "schedule", "slope"]

RUNS = 4
"""Processes of each version; three find a tenth on a very quiet machine only."""
LOOKS = len(OF_LOOKS)
"""So many times as many processes are run where something shows, and might be chance."""
MIN_EFFECT = 0.03
"""The least difference that is called one: below it, a machine can be at odds with itself."""
LEAST_STEPS = 5
"""Steady steps; with fewer the whole run is judged."""
NOTED_SPREAD = 0.05
NOTED_DRIFT = 0.05
NOTED_LOAD = 1.5
"""Of the load average, for each core. The timed runs themselves add up to 1."""
NOTED_LONG = 0.3


def schedule(runs: int = RUNS) -> tuple[Version, ...]:
    """The order of `runs` processes of each version: ABBA BAAB …

    Neighbours are one of each version, and over eight processes no drift that is straight or a
    parabola favours one of them.
    """
    first, second = Version.ORIGINAL, Version.REWRITTEN
    pairs = (
        (second, first) if number.bit_count() % 2 else (first, second) for number in range(runs)
    )
    return tuple(version for pair in pairs for version in pair)


def rounds(runs: int | None) -> tuple[tuple[Version, ...], ...]:
    """The processes before each look at the times; there is one look if their number is given."""
    if runs is not None:
        return (schedule(runs),)
    order = schedule(RUNS * LOOKS)
    return tuple(order[2 * RUNS * look : 2 * RUNS * (look + 1)] for look in range(LOOKS))


def judge(
    runs: Sequence[TimedRun],
    *,
    looks: int = 1,
    min_effect: float = MIN_EFFECT,
    seed: int = 0,
    cores: int | None = None,
) -> Speed:
    """What the timed runs say: by their steady steps, or by the whole run where these are too few.

    Only a difference whose interval excludes 1, which is more than `min_effect`, and which is more
    than runs of one version differ by, is called one. `looks` is how often it may be asked.
    """
    ordered = tuple(sorted(runs, key=lambda run: run.order))
    versions = [run.version for run in ordered]
    if min(versions.count(version) for version in Version) < 2:
        reason = "Timing takes at least two runs of each version."
        return Speed(SpeedVerdict.NOT_MEASURED, reason, runs=ordered)

    counts = {len(run.steps_s) for run in ordered}
    alike = len(counts) == 1
    has_steps = 0 not in counts
    warm = warm_up(ordered) if alike and has_steps else 0
    whole = compare(versions, [run.whole_s for run in ordered], looks=looks, seed=seed)
    start_up = first_step = steady = None
    if has_steps:
        start_up = compare(versions, [run.start_up_s for run in ordered], looks=looks, seed=seed)
        first_step = compare(
            versions, [run.first_step_s for run in ordered], looks=looks, seed=seed
        )
    if alike and has_steps and min(counts) - warm >= LEAST_STEPS:
        steady_steps = [run.steps_s[warm:] for run in ordered]
        steady = compare(versions, step_times(versions, steady_steps), looks=looks, seed=seed)
    judged = steady or whole
    verdict = judged.verdict(min_effect)
    what = "A step" if steady else "The whole run"
    return Speed(
        verdict=verdict,
        is_open=judged.is_open(min_effect),
        reason=reason_for(judged, verdict, what, min_effect),
        steady=steady.ratio if steady else None,
        first_step=first_step.ratio if first_step else None,
        start_up=start_up.ratio if start_up else None,
        whole=whole.ratio,
        control=judged.control_ratio,
        runs=ordered,
        notes=(
            *(() if steady else (why_whole(counts, warm),)),
            *(notes_on_steps(ordered, steady, whole, warm, min_effect) if steady else ()),
            *notes_on_machine(judged, ordered, cores or os.cpu_count() or 1),
        ),
    )


def reason_for(judged: Comparison, verdict: SpeedVerdict, what: str, min_effect: float) -> str:
    ratio = judged.ratio
    interval = f"95% interval {ratio.low:.2f} to {ratio.high:.2f}"
    before, after = in_words(judged.original_s), in_words(judged.rewritten_s)
    if verdict is SpeedVerdict.FASTER:
        times = f"{ratio.value:.2f} times as fast"
        return f"{what} takes {after} instead of {before}: {times} ({interval})."
    if verdict is SpeedVerdict.SLOWER:
        longer = 1 / ratio.value - 1
        return f"{what} takes {after} instead of {before}: {longer:.0%} longer ({interval})."
    if ratio.low <= 1 <= ratio.high:
        return f"{what} takes about as long as before: the ratio may be 1 ({interval})."
    apart = abs(math.expm1(judged.effect))
    if abs(judged.effect) <= math.log1p(min_effect):
        least = f"less than the {min_effect:.0%} that count"
        return f"{what} differs by {apart:.1%}, {least} ({interval})."
    noise = math.expm1(judged.noise)
    return (
        f"{what} differs by {apart:.1%}, which runs of one version may do as well:"
        f" by up to {noise:.1%} ({interval})."
    )


def why_whole(counts: set[int], warm: int) -> str:
    if counts == {0}:
        return "No loop with steps was seen, so the whole run is judged."
    if len(counts) > 1:
        return "The runs did not make the same number of steps, so the whole run is judged."
    left = min(counts) - warm
    return (
        f"Too few steps to judge them: {left} after {warm} to warm up, and it takes {LEAST_STEPS}."
        " The whole run is judged; try more steps."
    )


def notes_on_steps(
    runs: Sequence[TimedRun],
    steady: Comparison,
    whole: Comparison,
    warm: int,
    min_effect: float,
) -> list[str]:
    notes = []
    if warm > 1:
        notes.append(f"The first {warm} steps are counted as warm-up.")
    share, number = long_steps([run.steps_s[warm:] for run in runs if is_of_original(run)])
    if share > NOTED_LONG:
        notes.append(
            f"{number} of the steps take more than {LONG:.0f} times the typical step and hold"
            f" {share:.0%} of the time; what became of those, the whole run tells."
        )
    verdicts = (steady.verdict(min_effect), whole.verdict(min_effect))
    saved = steady.original_s - steady.rewritten_s
    if set(verdicts) == {SpeedVerdict.FASTER, SpeedVerdict.SLOWER} and saved:
        steps = len(runs[0].steps_s)
        fixed = whole.rewritten_s - whole.original_s + saved * steps
        notes.append(
            f"The whole run of {steps} steps became {verdicts[1].value} all the same;"
            f" the versions are even after about {max(fixed / saved, 0):,.0f} steps."
        )
    return notes


def is_of_original(run: TimedRun) -> bool:
    return run.version is Version.ORIGINAL


def notes_on_machine(judged: Comparison, runs: Sequence[TimedRun], cores: int) -> list[str]:
    notes = []
    if abs(judged.drift) > NOTED_DRIFT:
        way = "slower" if judged.drift > 0 else "faster"
        part = abs(math.expm1(judged.drift))
        notes.append(
            f"The machine became {part:.0%} {way} while the runs were timed; this is taken out."
        )
    if judged.spread > NOTED_SPREAD:
        notes.append(
            f"Runs of one version differ by {judged.spread:.0%} (standard deviation); on a quieter"
            " machine, or with more runs, smaller differences show."
        )
    load = max(run.load for run in runs)
    if load > NOTED_LOAD * cores:
        notes.append(
            f"The machine was busy with other work: its load reached {load:.1f} on {cores} cores."
        )
    return notes


def in_words(time_s: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if time_s * factor >= 1:
            return f"{time_s * factor:.3g} {unit}"
    return f"{time_s * 1e6:.3g} µs"
