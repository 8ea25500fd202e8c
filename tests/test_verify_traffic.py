"""What a step exchanges with its graph, as the probe counts it and as a report says it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tfrewrite.reports.verification import words
from tfrewrite.verify import growth
from tfrewrite.verify.model import Traffic, Version
from tfrewrite.verify.probe import traffic
from tfrewrite.verify.process import Ending, RunResult
from tfrewrite.verify.runs import Observation


class Sized:
    """What has a size, as an array has."""

    nbytes = 1000


def slept(seconds: float) -> str:
    time.sleep(seconds)
    return "value"


def run(counted: traffic.Traffic, takes_s: float = 0.0, recording_s: float = 0.0) -> object:
    with counted.around():
        value: object = counted.through({"x": Sized()}, lambda: slept(takes_s))
        time.sleep(recording_s)
    return value


def test_runs_and_bytes_are_those_of_the_step_in_the_middle() -> None:
    counted = traffic.Traffic()
    for runs in (9, 2, 2, 3):  # what comes before the first step ends is left out
        assert [run(counted) for _ in range(runs)] == ["value"] * runs
        counted.end_step()
        counted.begin_step()
    assert counted.a_step()[:2] == [2, 2000]


def test_recording_takes_no_time_of_the_step() -> None:
    counted = traffic.Traffic()
    counted.begin_step()
    run(counted, takes_s=0.05, recording_s=1.0)
    time.sleep(0.01)
    counted.end_step()
    _, _, inside_s, outside_s = counted.a_step()
    assert inside_s >= 0.04
    assert 0.005 <= outside_s < 0.9


def test_a_run_that_fails_is_counted_and_fails() -> None:
    counted = traffic.Traffic()
    counted.begin_step()
    with pytest.raises(ZeroDivisionError):
        counted.through(None, lambda: 1 / 0)
    counted.end_step()
    assert counted.a_step()[:2] == [1, 0]


def test_without_a_whole_step_nothing_is_known() -> None:
    counted = traffic.Traffic()
    assert counted.a_step() == []
    counted.end_step()
    assert counted.a_step() == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([2, 2000, 0.3, 0.1], Traffic(2, 2000, 0.25)),
        ([2, 2000, 0.0, 0.0], Traffic(2, 2000, 0.0)),
        ([0, 0, 0.0, 0.1], None),
        ([], None),
    ],
)
def test_the_part_outside_of_runs(found: list[float], expected: Traffic | None) -> None:
    observed = Observation(Path(), RunResult(Ending.EXITED, 1.0), {"traffic": found})
    (one,) = growth.of({Version.ORIGINAL: observed}, [])
    assert (one.traffic is None) == (expected is None)
    if one.traffic is not None and expected is not None:
        assert one.traffic.outside == pytest.approx(expected.outside)
        assert (one.traffic.runs, one.traffic.fed_bytes) == (expected.runs, expected.fed_bytes)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, ""),
        (Traffic(1, 0, 0.0), "1 run a step, 0 bytes fed, 0% of a step outside of runs"),
        (Traffic(4, 1_254_400, 0.213), "4 runs a step, 1.25 MB fed, 21% of a step outside of runs"),
        (Traffic(2, 5 * 10**9, 1.0), "2 runs a step, 5 GB fed, 100% of a step outside of runs"),
    ],
)
def test_it_is_said_in_words(found: Traffic | None, said: str) -> None:
    assert words.traffic(found) == said
