"""What is called faster or slower is so, under many kinds of noise; a real difference is found."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import accumulate
from random import Random

import pytest

from tfrewrite.verify.intervals import compare
from tfrewrite.verify.model import Speed, SpeedVerdict, TimedRun, Version
from tfrewrite.verify.steady import has_kinds, long_steps, quickest, step_times, typical, warm_up
from tfrewrite.verify.timing import LOOKS, MIN_EFFECT, RUNS, judge, schedule, slope

STEPS = 30
TRIALS = 200


def offsets(noise: str, random: Random, versions: tuple[Version, ...]) -> list[float]:
    """By how much each process of a series is slower than it should be, as a logarithm."""
    count = len(versions)
    sigma = {"2%": 0.02, "5%": 0.05, "10%": 0.1}.get(noise, 0.015)
    base = [random.gauss(0, sigma) for _ in versions]
    match noise:
        case "two-kinds":
            extra = [0.06 * (random.random() < 0.4) for _ in versions]
        case "one-sided":
            extra = [random.expovariate(20) for _ in versions]
        case "straight-drift":
            extra = [0.15 * place / count for place in range(count)]
        case "strong-drift":
            extra = [0.4 * place / count for place in range(count)]
        case "wandering":
            extra = list(accumulate(random.gauss(0, 0.03) for _ in versions))
        case "one-version-unsteady":
            unsteady = Version.REWRITTEN
            extra = [random.gauss(0, 0.05) * (version is unsteady) for version in versions]
        case _:
            extra = [0.0] * count
    return [one + other for one, other in zip(base, extra, strict=True)]


def step_noise(noise: str, random: Random) -> float:
    if noise == "heavy-tails":
        spike = min(random.paretovariate(1.2) - 1, 20) if random.random() < 0.1 else 0.0
        return random.gauss(0, 0.15) + spike
    return random.gauss(0, 0.05)


def bursts(noise: str, random: Random, processes: int) -> list[tuple[float, float, float]]:
    """When other work came, in processes since the start, for how long, and what it cost."""
    count = {"burst": 1, "bursts": 3}.get(noise, 0)
    return [
        (random.uniform(-1, processes), random.uniform(0.3, 3), random.uniform(0.1, 0.6))
        for _ in range(count)
    ]


def simulated(
    noise: str, random: Random, longer: float = 1.0, runs: int = RUNS
) -> list[list[float]]:
    """The steps' times in each process of a series, whose rewritten ones take `longer` times."""
    series = []
    versions = schedule(runs)
    busy = bursts(noise, random, len(versions))
    slower = offsets(noise, random, versions)
    for place, (version, offset) in enumerate(zip(versions, slower, strict=True)):
        steps = []
        factor = longer if version is Version.REWRITTEN else 1.0
        for step in range(STEPS):
            now = place + step / STEPS
            load = sum(cost for began, took, cost in busy if began <= now < began + took)
            steps.append(factor * math.exp(offset + load + step_noise(noise, random)))
        series.append(steps)
    return series


def verdicts(noise: str, longer: float = 1.0) -> list[SpeedVerdict]:
    random = Random(f"{noise} {longer}")  # noqa: S311
    return [looked(simulated(noise, random, longer, runs=RUNS * LOOKS)) for _ in range(TRIALS)]


def looked(series: list[list[float]]) -> SpeedVerdict:
    """What a series shows to one who takes more processes as long as something seems there."""
    versions = schedule(RUNS * LOOKS)
    for look in range(1, LOOKS + 1):
        so_far = versions[: 2 * RUNS * look]
        times_s = step_times(so_far, series[: len(so_far)])
        compared = compare(so_far, times_s, looks=LOOKS)
        if not compared.is_open(MIN_EFFECT):
            break
    return compared.verdict(MIN_EFFECT)


NOISES = [
    *("1.5%", "2%", "5%", "10%", "two-kinds", "one-sided", "heavy-tails"),
    *("straight-drift", "strong-drift", "wandering", "one-version-unsteady", "burst", "bursts"),
]


@pytest.mark.parametrize("noise", NOISES)
def test_a_script_is_hardly_ever_faster_or_slower_than_itself(noise: str) -> None:
    called = TRIALS - verdicts(noise).count(SpeedVerdict.NO_CHANGE)
    assert called <= TRIALS / 20


@pytest.mark.parametrize("noise", ["10%", "heavy-tails", "one-version-unsteady", "bursts"])
def test_what_is_slower_is_not_called_faster(noise: str) -> None:
    assert verdicts(noise, longer=1.1).count(SpeedVerdict.FASTER) <= TRIALS / 200


@pytest.mark.parametrize("noise", ["1.5%", "2%", "5%", "straight-drift", "strong-drift"])
@pytest.mark.parametrize(
    ("longer", "wanted"), [(1.1, SpeedVerdict.SLOWER), (1 / 1.1, SpeedVerdict.FASTER)]
)
def test_a_tenth_is_found(noise: str, longer: float, wanted: SpeedVerdict) -> None:
    assert verdicts(noise, longer).count(wanted) >= 0.9 * TRIALS


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    random = Random(5)  # noqa: S311
    held = 0
    for _ in range(TRIALS):
        times_s = step_times(schedule(RUNS), simulated("5%", random, 1.3))
        compared = compare(schedule(RUNS), times_s)
        held += compared.low <= -math.log(1.3) <= compared.high
    assert held >= 0.92 * TRIALS


def timed(
    version: Version,
    order: int,
    steps_s: tuple[float, ...] = (0.5, *[0.01] * STEPS),
    *,
    start_up_s: float = 1.0,
    factor: float = 1.0,
    load: float = 0.5,
) -> TimedRun:
    # A little noise that is the same in all runs of the tests.
    factor *= 1 + 0.002 * ((order * 7) % 5 - 2)
    scaled = tuple(step_s * factor for step_s in steps_s)
    return TimedRun(
        version=version,
        order=order,
        start_up_s=start_up_s * factor,
        first_step_s=scaled[0] if scaled else 0.0,
        steps_s=scaled,
        whole_s=start_up_s * factor + sum(scaled),
        peak_memory_mb=100.0,
        load=load,
    )


def series(
    original: tuple[float, ...],
    rewritten: tuple[float, ...],
    *,
    start_up_s: tuple[float, float] = (1.0, 1.0),
    runs: int = RUNS,
) -> list[TimedRun]:
    return [
        timed(version, order, original, start_up_s=start_up_s[0])
        if version is Version.ORIGINAL
        else timed(version, order, rewritten, start_up_s=start_up_s[1])
        for order, version in enumerate(schedule(runs))
    ]


def plain(step_s: float, first_s: float = 0.5, count: int = STEPS) -> tuple[float, ...]:
    return (first_s, *[step_s] * count)


def has_note(speed: Speed, text: str) -> bool:
    return any(text in note for note in speed.notes)


def test_the_versions_take_turns() -> None:
    letters = {Version.ORIGINAL: "A", Version.REWRITTEN: "B"}
    assert "".join(letters[version] for version in schedule(4)) == "ABBABAAB"
    assert "".join(letters[version] for version in schedule(3)) == "ABBABA"
    assert schedule(0) == ()
    places = [place for place, version in enumerate(schedule(4)) if version is Version.ORIGINAL]
    assert sum(places) == 14
    assert sum(place**2 for place in places) == 70


def test_faster() -> None:
    speed = judge(series(plain(0.02), plain(0.01)))
    assert speed.verdict is SpeedVerdict.FASTER
    assert speed.steady is not None
    assert speed.steady.low <= speed.steady.value <= speed.steady.high
    assert speed.steady.value == pytest.approx(2, rel=0.01)
    assert re.match(
        r"A step takes 10 ms instead of 19.9 ms: 1.99 times as fast \(95% interval", speed.reason
    )
    assert speed.control is not None
    assert speed.control.low <= 1 <= speed.control.high
    assert speed.notes == ()


def test_slower() -> None:
    speed = judge(series(plain(0.0002), plain(0.00025)))
    assert speed.verdict is SpeedVerdict.SLOWER
    assert re.match(r"A step takes 251 µs instead of 199 µs: 26% longer \(95%", speed.reason)


def test_a_difference_too_small_to_count_is_told_as_such() -> None:
    speed = judge(series(plain(0.0102), plain(0.01)))
    assert speed.verdict is SpeedVerdict.NO_CHANGE
    assert "less than the 3% that count" in speed.reason
    assert judge(series(plain(0.0102), plain(0.01)), min_effect=0.01).verdict is SpeedVerdict.FASTER


def test_the_same_gives_the_same_each_time() -> None:
    runs = series(plain(0.0102), plain(0.01))
    assert judge(runs) == judge(list(reversed(runs)))
    assert judge(runs).steady != judge(runs, seed=1).steady


def test_equal_times_have_an_interval_of_no_width() -> None:
    runs = [replace(run, steps_s=plain(0.01)) for run in series(plain(0.01), plain(0.01))]
    speed = judge(runs)
    assert speed.verdict is SpeedVerdict.NO_CHANGE
    assert speed.steady is not None
    assert speed.steady.low == pytest.approx(1)
    assert speed.steady.high == pytest.approx(1)


def test_first_step_start_up_and_whole_run_are_told_apart() -> None:
    speed = judge(series(plain(0.02, 0.1), plain(0.01, 0.4), start_up_s=(1.0, 2.0)))
    assert speed.first_step is not None
    assert speed.start_up is not None
    assert speed.whole is not None
    assert speed.first_step.value == pytest.approx(0.25, rel=0.02)
    assert speed.start_up.value == pytest.approx(0.5, rel=0.02)
    assert speed.whole.value == pytest.approx(1.7 / 2.7, rel=0.02)
    assert speed.verdict is SpeedVerdict.FASTER
    # What is lost at the start, 1.3 s, is made up for by 10 ms a step.
    assert has_note(speed, "whole run of 31 steps became slower all the same")
    assert has_note(speed, "even after about 13")


def test_a_version_that_warms_up_for_longer_costs_both_as_many_steps() -> None:
    slow_start = (0.5, 0.3, 0.2, 0.1, 0.05, *[0.01] * 26)
    speed = judge(series(plain(0.01), slow_start))
    assert speed.verdict is SpeedVerdict.NO_CHANGE
    assert has_note(speed, "The first 5 steps are counted as warm-up.")


@pytest.mark.parametrize(
    ("steps_s", "warm"),
    [
        (plain(0.01), 1),
        ((0.01,) * 30, 1),
        ((0.5, 0.4, *[0.01] * 28), 2),
        # A slow step now and then, or every other one, is no warm-up.
        ((0.5, *[0.01, 0.01, 0.01, 0.05] * 8), 1),
        ((0.5, *[0.01, 0.02] * 15), 1),
        # What grows has warmed up; what hardly settles is nearly half warm-up.
        (tuple(0.01 + 0.001 * step for step in range(30)), 1),
        (tuple(1 / (1 + step) for step in range(30)), 13),
        ((0.5,), 1),
        ((0.5, 0.1), 1),
    ],
)
def test_warm_up(steps_s: tuple[float, ...], warm: int) -> None:
    assert warm_up(
        [timed(version, order, steps_s) for order, version in enumerate(schedule())]
    ) == (warm)


def test_a_burst_in_the_first_steps_of_one_process_is_no_warm_up() -> None:
    runs = series(plain(0.01), plain(0.01))
    runs[3] = timed(runs[3].version, 3, (0.5, 0.05, 0.05, 0.05, *[0.01] * 27))
    assert warm_up(runs) == 1


def test_with_few_steps_the_whole_run_is_judged() -> None:
    speed = judge(series(plain(0.2, count=3), plain(0.1, count=3)))
    assert speed.steady is None
    assert speed.verdict is SpeedVerdict.FASTER
    assert speed.reason.startswith("The whole run takes ")
    assert has_note(speed, "Too few steps to judge them")


def test_without_steps_the_whole_run_is_judged() -> None:
    speed = judge(series((), (), start_up_s=(1.0, 1.5)))
    assert (speed.steady, speed.first_step, speed.start_up) == (None, None, None)
    assert speed.verdict is SpeedVerdict.SLOWER
    assert re.match(r"The whole run takes 1.5 s instead of .*: 5[01]% longer \(95%", speed.reason)
    assert has_note(speed, "No loop with steps")


def test_different_numbers_of_steps_are_not_compared_step_by_step() -> None:
    speed = judge(series(plain(0.01), plain(0.01, count=15)))
    assert speed.steady is None
    assert has_note(speed, "same number of steps")


@pytest.mark.parametrize("runs", [0, 1])
def test_one_run_of_each_is_no_measurement(runs: int) -> None:
    speed = judge(series(plain(0.02), plain(0.01), runs=runs))
    assert speed.verdict is SpeedVerdict.NOT_MEASURED
    assert len(speed.runs) == 2 * runs


@pytest.mark.parametrize("runs", [2, 3, 5, 40])
def test_other_numbers_of_runs(runs: int) -> None:
    assert judge(series(plain(0.02), plain(0.01), runs=runs)).verdict is SpeedVerdict.FASTER
    assert judge(series(plain(0.01), plain(0.01), runs=runs)).verdict is SpeedVerdict.NO_CHANGE


def test_times_of_zero_are_no_error() -> None:
    speed = judge(series((0.0,) * STEPS, (0.0,) * STEPS, start_up_s=(0.0, 0.0)))
    assert speed.verdict is SpeedVerdict.NO_CHANGE


def test_a_drift_is_taken_out_and_told() -> None:
    runs = [
        timed(version, order, plain(0.01), factor=1 + 0.05 * order)
        for order, version in enumerate(schedule(4))
    ]
    speed = judge(runs)
    assert speed.verdict is SpeedVerdict.NO_CHANGE
    assert has_note(speed, "% slower while the runs were timed")


def test_versions_one_after_the_other_cannot_be_told_from_a_drift() -> None:
    versions = sorted(schedule(4), key=lambda version: version.value)
    runs = [
        timed(version, order, plain(0.01), factor=1 + 0.05 * order)
        for order, version in enumerate(versions)
    ]
    assert judge(runs).verdict is SpeedVerdict.NO_CHANGE


def test_an_unsteady_machine_is_told() -> None:
    runs = [
        timed(version, order, plain(0.01), factor=(1.0, 1.2, 1.3, 1.1, 1.4, 1.2, 1.0, 1.1)[order])
        for order, version in enumerate(schedule(4))
    ]
    speed = judge(runs)
    assert speed.verdict is SpeedVerdict.NO_CHANGE
    assert has_note(speed, "Runs of one version differ by 1")


def test_one_slow_process_does_not_make_a_difference() -> None:
    runs = series(plain(0.01), plain(0.01))
    runs[4] = timed(runs[4].version, 4, plain(0.03))
    assert judge(runs).verdict is SpeedVerdict.NO_CHANGE


def test_a_rewritten_version_that_differs_from_itself_makes_no_difference() -> None:
    factors = {1: 1.0, 2: 1.3, 4: 1.02, 7: 1.25}
    runs = [
        timed(version, order, plain(0.01), factor=factors.get(order, 1.0))
        for order, version in enumerate(schedule(4))
    ]
    assert judge(runs).verdict is SpeedVerdict.NO_CHANGE


def test_a_busy_machine_is_told() -> None:
    runs = series(plain(0.02), plain(0.01))
    assert not has_note(judge(runs, cores=2), "busy")
    runs[2] = replace(runs[2], load=3.5)
    assert has_note(judge(runs, cores=2), "its load reached 3.5 on 2 cores")
    assert not has_note(judge(runs, cores=8), "busy")


def test_steps_that_take_much_longer_than_the_typical_one_are_told() -> None:
    steps_s = (0.5, *[0.01] * 9, *[0.2, *[0.01] * 9] * 3)
    assert has_note(judge(series(steps_s, steps_s)), "3 of the steps take more than 2 times")
    assert judge(series(plain(0.01), plain(0.01))).notes == ()


@pytest.mark.parametrize(
    ("steps_s", "middle"),
    [
        ([1.0], 1.0),
        ([1.0, 2.0], 1.5),
        ([1.0, 1.0, 1.0, 100.0], 1.0),
        # Half of one kind and half of another, and one more of either.
        ([1.0, 2.0] * 10, 1.5),
        ([1.0, 2.0] * 10 + [1.0], 1 + 5 / 11),
    ],
)
def test_the_typical_step(steps_s: list[float], middle: float) -> None:
    assert typical(steps_s) == pytest.approx(middle)


def test_work_of_others_does_not_make_steps_longer() -> None:
    random = Random(2)  # noqa: S311
    series = [[0.01 * random.choice((1.0, 1.0, 2.5)) for _ in range(STEPS)] for _ in schedule()]
    assert not has_kinds(series[:RUNS])
    assert step_times(schedule(), series) == pytest.approx([0.01] * 2 * RUNS)
    assert long_steps(series) == (0.0, 0)


def test_kinds_of_steps_all_count() -> None:
    random = Random(3)  # noqa: S311
    for other in (0.02, 0.03):
        series = [
            [step_s * random.uniform(1, 1.1) for step_s in (0.01, other) * 15] for _ in schedule()
        ]
        assert has_kinds(series)
        middle = pytest.approx((0.01 + other) / 2, rel=0.1)
        assert step_times(schedule(), series) == (middle,) * 2 * RUNS


def test_kinds_in_one_version_make_both_count_all() -> None:
    kinds = [0.01, 0.03] * 10
    noisy = [0.01, 0.01, 0.011, 0.012] * 5
    series = [kinds if version is Version.REWRITTEN else noisy for version in schedule(2)]
    assert step_times(schedule(2), series)[0] == pytest.approx(typical(noisy))
    assert quickest(noisy) == pytest.approx(0.01)
    assert typical(noisy) > 0.0103


def test_a_slope_is_found_in_noise() -> None:
    random = Random(1)  # noqa: S311
    steps_s = [0.01 * (1 + 0.002 * step) * math.exp(random.gauss(0, 0.05)) for step in range(300)]
    # The typical step, that in the middle, takes 1.3 times as long as the first.
    assert slope([1.0, *steps_s]) == pytest.approx(2 / 1.3, rel=0.1)
    assert slope([1.0, *reversed(steps_s)]) == pytest.approx(-2 / 1.3, rel=0.1)


def test_a_slope_is_not_moved_by_spikes() -> None:
    steps_s = [0.01 * (1 + 0.001 * step) + (step % 10 == 9) for step in range(500)]
    assert slope(steps_s) == pytest.approx(1 / 1.27, rel=0.1)


@pytest.mark.parametrize("count", [20, 60, 1000])
def test_noise_has_no_slope(count: int) -> None:
    random = Random(count)  # noqa: S311
    found = [
        slope([0.1, *[0.01 * math.exp(random.gauss(0, 0.1)) for _ in range(count)]])
        for _ in range(100)
    ]
    assert sum(value != 0 for value in found) <= 5


@pytest.mark.parametrize("steps_s", [[], [1.0], [1.0, 2.0, 3.0], [0.0] * 50])
def test_too_little_for_a_slope(steps_s: list[float]) -> None:
    assert slope(steps_s) == 0.0


def test_a_slope_of_very_many_steps_takes_no_time() -> None:
    steps_s = [1 + step / 10_000 for step in range(100_000)]
    assert slope(steps_s) == pytest.approx(0.1 / 6.5, rel=0.05)
