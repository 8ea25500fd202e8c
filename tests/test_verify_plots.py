"""A plot that a loop left too short ends no run; other errors do."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tfrewrite.verify.probe import plots
from tfrewrite.verify.probe.loops import CountedLoops, TimedLoops

LENGTHS = "x and y must have same first dimension, but have shapes (100,) and (8,)"


@pytest.fixture
def axes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands in for the class of matplotlib; `plot` refuses as that does."""

    class Axes:
        def plot(self, x: list[int], y: list[int], form: str = "-") -> str:
            if form == "?":
                raise ValueError("'?' is not a valid format string")
            if len(x) != len(y):
                raise ValueError(LENGTHS)
            return "a line"

    module = types.ModuleType("matplotlib.axes")
    module.__dict__["Axes"] = Axes
    monkeypatch.setitem(sys.modules, "matplotlib.axes", module)
    return Axes


def test_what_still_fails(axes: Any) -> None:
    notes: list[str] = []
    plots.install(lambda: False, notes)
    with pytest.raises(ValueError, match="same first dimension"):
        axes().plot([1, 2], [1])
    assert axes().plot([1], [1]) == "a line"
    assert notes == []


def test_a_format_is_wrong_however_many_turns_there_were(axes: Any) -> None:
    notes: list[str] = []
    plots.install(lambda: True, notes)
    with pytest.raises(ValueError, match="format string"):
        axes().plot([1], [1], form="?")
    assert axes().plot([1], [1]) == "a line"
    assert notes == []


def test_a_plot_of_too_few_turns_is_left_out_and_noted_once(axes: Any) -> None:
    notes: list[str] = []
    for _ in range(2):  # as each part of matplotlib is imported
        plots.install(lambda: True, notes)
    assert axes().plot([1, 2], [1]) == []
    assert axes().plot([1, 2], [1]) == []
    assert notes == [plots.NOTE]
    assert axes.plot.__name__ == "plot"


def test_without_matplotlib_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.axes", raising=False)
    plots.install(lambda: True, [])


def test_which_loops_were_cut() -> None:
    counted = CountedLoops({}, 3, 0.0, 0)
    assert not counted.is_cut
    counted.limits[1] = 3
    assert counted.is_cut
    assert TimedLoops({}, {1: 3}, [1]).is_cut
    assert not TimedLoops({}, {}, [1]).is_cut
