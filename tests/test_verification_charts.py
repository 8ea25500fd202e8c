"""Charts are drawn of whatever was measured, within their frame, and say in words what they are."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrewrite.reports.verification import charts
from tfrewrite.reports.verification.charts import Curve, Unit
from tfrewrite.verify.model import Point, Ratio

ANY = st.floats(allow_nan=True, allow_infinity=True)


def parse(figure: str) -> ET.Element:
    return ET.fromstring(figure)  # noqa: S314 - ours


def said(figure: str, style: str) -> list[str]:
    texts = parse(figure).iter("text")
    return [one.text or "" for one in texts if one.get("class") == style]


def check(figure: str) -> None:
    """Well-formed, and every coordinate a number within the frame."""
    root = parse(figure)
    svg = root.find("svg")
    assert svg is not None
    width, height = map(float, svg.attrib["viewBox"].split()[2:])
    assert svg.attrib["aria-labelledby"].split() == [
        one.attrib["id"] for one in root.iter() if one.tag in {"title", "desc"}
    ]
    for one in svg.iter():
        across = [one.get(key) for key in ("x", "x1", "x2", "cx")]
        up = [one.get(key) for key in ("y", "y1", "y2", "cy")]
        for pair in (one.get("points") or "").split():
            x, y = pair.split(",")
            across.append(x)
            up.append(y)
        assert all(0 <= float(x) <= width for x in across if x is not None)
        assert all(0 <= float(y) <= height for y in up if y is not None)


def line(*values: float, style: str = "original", faint: bool = False) -> Curve:
    return Curve(style, style, tuple((float(n), y) for n, y in enumerate(values, 1)), faint)


def test_curves_have_axes_a_legend_and_a_title() -> None:
    curves = [line(1, 2, 3), line(3, 2, 1, style="rewritten"), line(1, 1, 1, faint=True)]
    figure = charts.over_steps("c1", "Step <time>", curves, Unit("ms"))
    check(figure)
    assert "<strong>Step &lt;time&gt;</strong>" in figure
    assert '<title id="c1-title">Step &lt;time&gt;</title>' in figure
    assert "original: from 1 to 3 ms, between 1 and 3; rewritten: from 3 to 1 ms" in figure
    assert said(figure, "tick") == ["0", "1", "2", "3", "1", "2", "3"]
    assert said(figure, "unit") == ["ms", "step"]
    assert len(parse(figure).findall("./figcaption/ul/li")) == 2
    drawn = [one.attrib["class"] for one in parse(figure).iter("polyline")]
    assert drawn == ["curve original faint", "curve original", "curve rewritten"]


def test_a_higher_value_is_drawn_higher() -> None:
    (curve,) = parse(charts.over_steps("a", "t", [line(1, 5, 2)], Unit("s"))).iter("polyline")
    heights = [float(pair.split(",")[1]) for pair in curve.attrib["points"].split()]
    assert heights[1] < heights[2] < heights[0]


def test_nothing_one_point_and_gaps() -> None:
    for curves in ([], [line()], [line(math.nan, math.nan)]):
        figure = charts.over_steps("a", "t", curves, Unit("s"))
        check(figure)
        assert "nothing was recorded" in said(figure, "unit")
    one = charts.over_steps("a", "t", [line(7)], Unit("s"))
    check(one)
    assert [dot.attrib["class"] for dot in parse(one).iter("circle")] == ["dot curve original"]
    gaps = charts.over_steps("a", "t", [line(1, 2, math.nan, 3, math.nan, 4, 5)], Unit("s"))
    check(gaps)
    assert len(list(parse(gaps).iter("polyline"))) == 2
    assert len(list(parse(gaps).iter("circle"))) == 1


def test_what_lies_above_the_scale_is_marked() -> None:
    figure = charts.over_steps("a", "t", [line(900, 1, 2, 1, math.inf)], Unit("s"), top=2)
    check(figure)
    assert (
        len([one for one in parse(figure).iter("path") if one.get("class") == "above original"])
        == 2
    )
    assert max(float(tick) for tick in said(figure, "tick")[:4]) <= 2


def test_noise_is_not_blown_up_to_fill_the_chart() -> None:
    flat = line(1000.0, 1000.1, 999.9)
    (curve,) = parse(charts.over_steps("a", "t", [flat], Unit("MB"), from_zero=False)).iter(
        "polyline"
    )
    heights = [float(pair.split(",")[1]) for pair in curve.attrib["points"].split()]
    assert max(heights) - min(heights) < 2


def test_divergence_shows_where_too_much_is() -> None:
    points = [
        Point(1, 0.0, 1e-7, identical=True),
        Point(2, 1e-8, 1e-7, identical=False),
        Point(3, 1e-3, 1e-6, identical=False),
        Point(4, math.nan, 1e-6, identical=False),
        Point(5, math.inf, 1e-6, identical=False),
    ]
    figure = charts.divergence("d", "t", points)
    check(figure)
    beyond = [one for one in parse(figure).iter("circle") if "beyond" in one.attrib["class"]]
    assert len(beyond) == 3 + 1  # and the one of the legend
    assert "5 moments; the distance is beyond what is allowed at 3 of them" in figure
    assert {"0", "inf/NaN", "1e-8"} <= set(said(figure, "tick"))
    calm = charts.divergence("d", "t", points[:2])
    assert "beyond what is allowed</li>" not in calm
    check(charts.divergence("d", "t", []))


def test_intervals_stand_around_one() -> None:
    rows = [("steady state", Ratio(2.0, 1.9, 2.1)), ("control", Ratio(1.0, 0.98, 1.02))]
    figure = charts.intervals("i", "t", rows)
    check(figure)
    assert said(figure, "value") == ["2.00", "1.000"]
    assert "steady state 2.00, 1.90 to 2.10; control 1.000, 0.980 to 1.020" in figure
    (one,) = (x for x in parse(figure).iter("line") if x.get("class") == "one")
    faster, control = (float(dot.attrib["cx"]) for dot in parse(figure).iter("circle"))
    assert faster > control == pytest.approx(float(one.attrib["x1"]))
    check(charts.intervals("i", "t", []))


@pytest.mark.parametrize("span", [1.01, 1.3, 1.9, 3, 20, 900, 1e9])
def test_intervals_of_any_width_have_ticks(span: float) -> None:
    figure = charts.intervals("i", "t", [("whole run", Ratio(span, 1 / span, span))])
    check(figure)
    assert (
        2 <= len([tick for tick in said(figure, "tick") if re.fullmatch(r"[\d.e+-]+", tick)]) <= 12
    )


@given(st.lists(ANY, max_size=12), st.lists(ANY, max_size=12), ANY, st.booleans())
@settings(max_examples=150)
def test_any_curve_can_be_drawn(
    first: list[float],
    second: list[float],
    top: float,
    from_zero: bool,  # noqa: FBT001
) -> None:
    curves = [line(*first), line(*second, style="rewritten")]
    unit = charts.seconds_unit([*first, *second])
    check(charts.over_steps("a", "t", curves, unit, from_zero=from_zero, top=top))


@given(st.lists(st.tuples(st.integers(0, 10**9), ANY, ANY), max_size=12))
@settings(max_examples=150)
def test_any_divergence_can_be_drawn(values: list[tuple[int, float, float]]) -> None:
    points = [Point(step, distance, allowed, identical=False) for step, distance, allowed in values]
    check(charts.divergence("a", "t", points))


@given(st.lists(st.tuples(ANY, ANY, ANY), max_size=4))
@settings(max_examples=150)
def test_any_interval_can_be_drawn(values: list[tuple[float, float, float]]) -> None:
    check(charts.intervals("a", "t", [("control", Ratio(*each)) for each in values]))


def test_a_long_curve_is_thinned_and_keeps_its_spikes() -> None:
    values = [1.0] * 50_000
    values[31_234] = 99.0
    values[40_000] = math.nan
    figure = charts.over_steps("a", "t", [line(*values)], Unit("s"))
    check(figure)
    assert len(figure) < 20_000
    assert "between 1 and 99" in figure
    assert len(list(parse(figure).iter("polyline"))) == 2
    steps = [float(tick.replace(",", "")) for tick in said(figure, "tick")[-5:]]
    assert all(a < b for a, b in pairwise(steps))


def test_units_suit_the_values() -> None:
    assert charts.seconds_unit([]).name == "s"
    assert charts.seconds_unit([0.02, math.inf]).name == "ms"
    assert charts.seconds_unit([2e-5]).name == "µs"
    assert charts.memory_unit([500.0]).name == "MB"
    assert charts.memory_unit([12_000.0, math.nan]).name == "GB"
