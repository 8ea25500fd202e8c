"""Charts as inline SVG: text in, text out, with neither script nor style of their own.

How they look is said by the style sheet of the page, which tells the curves apart by their class.
Whatever was measured can be drawn: nothing, one point, the infinite, and what is not a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from tfrewrite.reports.safe import printable
from tfrewrite.reports.verification import words
from tfrewrite.verify.model import Point, Ratio

WIDTH, HEIGHT = 440.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 16.0, 26.0, 34.0
PLOT_RIGHT, PLOT_BOTTOM = WIDTH - RIGHT, HEIGHT - BOTTOM
BAND = 18.0
NAMES = 94.0
"""What a logarithmic axis keeps free below for zero, and above for the infinite."""

MOST_POINTS = 400
LARGEST = 1e300
SMALLEST = 1e-300

XY = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One curve. `style` names the class of the style sheet; a faint one is not in the legend."""

    label: str
    style: str
    points: tuple[XY, ...]
    faint: bool = False


@dataclass(frozen=True)
class Unit:
    """What an axis counts in: the name above it, and the factor that gets there."""

    name: str
    scale: float = 1.0


@dataclass(frozen=True)
class Axis:
    """Places a value between two edges of the plot, and says where its ticks are."""

    place: Callable[[float], float]
    ticks: tuple[tuple[float, str], ...]


def seconds_unit(values: Sequence[float]) -> Unit:
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if size >= 1 or size == 0:
        return Unit("s")
    return Unit("ms", 1e3) if size >= 1e-3 else Unit("µs", 1e6)


def memory_unit(values: Sequence[float]) -> Unit:
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return Unit("GB", 1e-3) if size >= 10_000 else Unit("MB")


def over_steps(
    identity: str,
    title: str,
    curves: Sequence[Curve],
    unit: Unit,
    *,
    from_zero: bool = True,
    top: float = math.inf,
) -> str:
    """Curves over the steps on a linear axis. What lies above `top` is marked at the upper edge."""
    curves = [replace(one, points=_thinned(one.points)) for one in curves]
    scaled = [
        replace(one, points=tuple((x, _bounded(y * unit.scale)) for x, y in one.points))
        for one in curves
    ]
    values = [y for one in scaled for _, y in one.points if math.isfinite(y)]
    highest = max((y for y in values if y <= top * unit.scale), default=max(values, default=0.0))
    lowest = min(values, default=0.0)
    across = _steps_axis([x for one in scaled for x, _ in one.points])
    up = _linear(lowest, highest, from_zero=from_zero)
    body = [*_frame(across, up, unit.name, "step")]
    for one in sorted(scaled, key=lambda curve: not curve.faint):
        body.extend(_curve(one, across, up))
    if not values:
        body.append(_nothing())
    return _figure(identity, title, _summary(scaled, unit), _legend(scaled), body)


def divergence(identity: str, title: str, points: Sequence[Point]) -> str:
    """How far two versions are apart, and how far they may be, on a logarithmic axis."""
    allowed = Curve("allowed", "allowed", _thinned([(p.step, p.allowed) for p in points]))
    distance = Curve("distance", "distance", _thinned([(p.step, p.distance) for p in points]))
    curves = [allowed, distance]
    values = [abs(y) for one in curves for _, y in one.points]
    across = _steps_axis([x for one in curves for x, _ in one.points])
    up = _logarithmic(values)
    body = [*_frame(across, up, "distance (log scale)", "step")]
    body.extend(_area(allowed, across, up))
    for one in curves:
        body.extend(_curve(one, across, up))
    beyond = [(p.step, p.distance) for p in points if not p.distance <= p.allowed]
    for x, y in _thinned(beyond):
        body.append(_dot(across.place(x), up.place(y), "beyond", 2.6))
    if not points:
        body.append(_nothing())
    legend = [("allowed", "allowed"), ("distance", "distance")]
    legend += [("beyond what is allowed", "beyond")] if beyond else []
    text = f"{len(points)} moments; the distance is beyond what is allowed at {len(beyond)} of them"
    return _figure(identity, title, text, legend, body)


def intervals(
    identity: str, title: str, rows: Sequence[tuple[str, Ratio]], *, names: float = NAMES
) -> str:
    """Ratios with their intervals beside each other; the line at 1 is where nothing changed.

    `names` is the room for what stands to the left of them.
    """
    height = TOP + 30.0 * max(len(rows), 1) + BOTTOM
    left, right = names + 10, WIDTH - 78.0
    across = _ratios_axis([end for _, ratio in rows for end in _ends(ratio)], left, right)
    bottom = height - BOTTOM
    body = [
        part
        for value, label in across.ticks
        for part in (
            _line(across.place(value), TOP - 8, across.place(value), bottom, "grid"),
            _text(across.place(value), bottom + 17, label, "middle"),
        )
    ]
    body.append(_line(across.place(1), TOP - 8, across.place(1), bottom, "one"))
    body.append(_text(across.place(1), TOP - 13, "no change", "middle"))
    for index, (name, ratio) in enumerate(rows):
        y = TOP + 30.0 * index + 15
        style = "control" if name == "control" else "ratio"
        value = "unknown" if math.isnan(ratio.value) else words.factor(ratio.value)
        low, high = (across.place(end) for end in _ends(ratio))
        body.append(_text(left - 10, y + 4, name, "end"))
        body.append(_line(low, y, high, y, f"{style} range"))
        if not math.isnan(ratio.value):
            body.append(_dot(across.place(ratio.value), y, style, 4.5))
        body.append(_text(WIDTH - 4, y + 4, value, "end", "value"))
    if not rows:
        body.append(_nothing(height))
    text = "; ".join(
        f"{name} {words.factor(ratio.value)}, {words.interval(ratio)}" for name, ratio in rows
    )
    return _figure(identity, title, text or "no ratios", [], body, height)


def _figure(
    identity: str,
    title: str,
    description: str,
    legend: Sequence[tuple[str, str]],
    body: Sequence[str],
    height: float = HEIGHT,
) -> str:
    keys = "".join(
        f'<li><svg viewBox="0 0 22 10" aria-hidden="true">{_swatch(style)}</svg>{_said(label)}</li>'
        for label, style in legend
    )
    return (
        f'<figure class="chart"><figcaption><strong>{_said(title)}</strong>'
        + (f"<ul>{keys}</ul>" if keys else "")
        + f'</figcaption><svg viewBox="0 0 {WIDTH:g} {height:g}" role="img"'
        f' aria-labelledby="{identity}-title {identity}-text">'
        f'<title id="{identity}-title">{_said(title)}</title>'
        f'<desc id="{identity}-text">{_said(description)}</desc>'
        f"{''.join(body)}</svg></figure>"
    )


def _swatch(style: str) -> str:
    if style == "beyond":
        return _dot(11, 5, style)
    area = '<rect class="allowed area" width="22" height="10"/>' if style == "allowed" else ""
    return area + _line(0, 5, 22, 5, f"curve {style}")


def _legend(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    return [(one.label, one.style) for one in curves if not one.faint]


def _summary(curves: Sequence[Curve], unit: Unit) -> str:
    parts = []
    for one in curves:
        values = [y for _, y in one.points if math.isfinite(y)]
        if values and not one.faint:
            first, last, least, most = values[0], values[-1], min(values), max(values)
            ends = f"from {words.number(first)} to {words.number(last)} {unit.name}"
            between = f"between {words.number(least)} and {words.number(most)}"
            parts.append(f"{one.label}: {ends}, {between}")
    return "; ".join(parts) or "nothing was recorded"


def _frame(across: Axis, up: Axis, unit: str, below: str) -> Iterator[str]:
    for value, label in up.ticks:
        y = up.place(value)
        yield _line(LEFT, y, PLOT_RIGHT, y, "grid")
        yield _text(LEFT - 8, y + 4.5, label, "end")
    yield _line(LEFT, PLOT_BOTTOM, PLOT_RIGHT, PLOT_BOTTOM, "axis")
    for value, label in across.ticks:
        x = across.place(value)
        yield _line(x, PLOT_BOTTOM, x, PLOT_BOTTOM + 4, "axis")
        yield _text(x, PLOT_BOTTOM + 18, label, "middle")
    yield _text(LEFT - 8, 13, unit, "end" if len(unit) < 8 else "start", "unit", low=2.0)
    yield _text(LEFT - 8, PLOT_BOTTOM + 18, below, "end", "unit")


def _curve(one: Curve, across: Axis, up: Axis) -> Iterator[str]:
    style = f"curve {one.style}{' faint' if one.faint else ''}"
    for part in _unbroken(one.points):
        places = [(across.place(x), up.place(y)) for x, y in part]
        if len(places) == 1:
            yield _dot(*places[0], style)
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            yield f'<polyline class="{style}" points="{path}"/>'
        if not one.faint:
            for x, y in places:
                if y <= TOP - 4:
                    yield f'<path class="above {one.style}" d="M{x - 4:.1f} {y + 4:.1f}h8l-4-6z"/>'


def _area(one: Curve, across: Axis, up: Axis) -> Iterator[str]:
    for part in _unbroken(one.points):
        places = [f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in part]
        first, last = across.place(part[0][0]), across.place(part[-1][0])
        places += [f"{last:.1f},{PLOT_BOTTOM:.1f}", f"{first:.1f},{PLOT_BOTTOM:.1f}"]
        yield f'<polygon class="{one.style} area" points="{" ".join(places)}"/>'


def _unbroken(points: Sequence[XY]) -> Iterator[list[XY]]:
    """The stretches between points that are not numbers."""
    part: list[XY] = []
    for x, y in points:
        if not math.isnan(y):
            part.append((x, y))
        elif part:
            yield part
            part = []
    if part:
        yield part


def _thinned(points: Sequence[XY]) -> tuple[XY, ...]:
    """At most `MOST_POINTS` or so. No spike is lost, and nothing that is not a number.

    Of each stretch the lowest and the highest are kept, and the first that is not a number.
    """
    size = math.ceil(len(points) / (MOST_POINTS // 3))
    if len(points) <= MOST_POINTS:
        return tuple(points)
    kept = {0, len(points) - 1}
    for start in range(0, len(points), size):
        part = range(start, min(start + size, len(points)))
        numbers = [index for index in part if not math.isnan(points[index][1])]
        if numbers:
            kept.add(min(numbers, key=lambda index: points[index][1]))
            kept.add(max(numbers, key=lambda index: points[index][1]))
        if len(numbers) < len(part):
            kept.add(next(index for index in part if math.isnan(points[index][1])))
    return tuple(points[index] for index in sorted(kept))


def _steps_axis(steps: Sequence[float]) -> Axis:
    finite = [step for step in steps if math.isfinite(step)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    inner_left, inner_right = LEFT + 6, PLOT_RIGHT - 6

    def place(value: float) -> float:
        share = 0.5 if high == low else (value - low) / (high - low)
        return inner_left + share * (inner_right - inner_left)

    step = max(1.0, _nice((high - low) / 5))
    ticks = {low} | {n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)}
    # The first one is where the reader begins; its neighbour makes room for it.
    shown = [tick for tick in sorted(ticks) if tick == low or tick - low >= step * 0.6]
    return Axis(place, tuple((tick, _count(tick)) for tick in shown))


def _linear(lowest: float, highest: float, *, from_zero: bool) -> Axis:
    lowest, highest = _bounded(lowest), _bounded(highest)
    if from_zero or lowest < 0:
        low, high = min(0.0, lowest), max(0.0, highest)
    else:
        # Growth is to be seen, but noise is not to be blown up to fill the chart.
        room = max(highest - lowest, 0.05 * highest)
        middle = (highest + lowest) / 2
        low, high = max(0.0, middle - 0.7 * room), middle + 0.6 * room
    if high == low:
        high = low + 1
    step = _nice((high - low) / 5)
    first, last = math.ceil(low / step), math.floor(high / step)
    high = max(high, last * step)
    ticks = [number * step for number in range(first, last + 1)]

    def place(value: float) -> float:
        if value > high:
            return TOP - 6
        share = (max(value, low) - low) / (high - low)
        return PLOT_BOTTOM - share * (PLOT_BOTTOM - TOP)

    digits = max(0, -math.floor(math.log10(step)))
    return Axis(place, tuple((tick, _label(tick, digits)) for tick in ticks))


def _logarithmic(values: Sequence[float]) -> Axis:
    """Zero has a place of its own below, what is infinite or not a number one above."""
    positive = [min(max(y, SMALLEST), LARGEST) for y in values if 0 < y < math.inf]
    low = math.floor(math.log10(min(positive, default=1e-8)))
    high = math.ceil(math.log10(max(positive, default=1.0)))
    low, high = (low, high) if high - low >= 2 else (low - 1, low + 1)
    zero = any(y == 0 for y in values)
    beyond = "/".join(
        name
        for name, holds in (("inf", math.isinf), ("NaN", math.isnan))
        if any(holds(y) for y in values)
    )
    bottom = PLOT_BOTTOM - (BAND if zero else 0)
    top = TOP + (BAND if beyond else 0)

    def place(value: float) -> float:
        if value == 0:
            return PLOT_BOTTOM
        if math.isinf(value) or math.isnan(value):
            return TOP
        share = (math.log10(min(max(abs(value), SMALLEST), LARGEST)) - low) / (high - low)
        return bottom - share * (bottom - top)

    every = max(1, math.ceil((high - low) / 5))
    ticks = [(10.0**power, f"1e{power}") for power in range(low, high + 1, every)]
    ticks += [(0.0, "0")] if zero else []
    ticks += [(math.inf, beyond)] if beyond else []
    return Axis(place, tuple((value, {"1e0": "1"}.get(label, label)) for value, label in ticks))


def _ratios_axis(ends: Sequence[float], left: float, right: float) -> Axis:
    """Logarithmic, so that twice as fast is as far from 1 as twice as slow."""
    known = [math.log2(end) for end in ends if 0 < end < math.inf]
    low = max(-20.0, min([-0.15, *known]) - 0.05)
    high = min(20.0, max([0.15, *known]) + 0.05)

    def place(value: float) -> float:
        power = -math.inf if value <= 0 else math.log2(value)
        return left + (min(max(power, low), high) - low) / (high - low) * (right - left)

    choices = (
        (0.9, 1.0, 1.1),
        (0.8, 0.9, 1.0, 1.1, 1.2),
        (0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0),
        (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0),
        (0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
        tuple(4.0**power for power in range(-10, 11)),
        tuple(32.0**power for power in range(-4, 5)),
    )
    fitting = [[tick for tick in ticks if low <= math.log2(tick) <= high] for ticks in choices]
    spans = (0.35, 0.7, 1.2, 2.5, 5.0, 14.0, math.inf)
    chosen = next(ticks for ticks, span in zip(fitting, spans, strict=True) if high - low <= span)
    return Axis(place, tuple((tick, f"{tick:g}") for tick in chosen))


def _ends(ratio: Ratio) -> tuple[float, float]:
    known = [value for value in (ratio.low, ratio.high, ratio.value) if not math.isnan(value)]
    return (min(known), max(known)) if known else (1.0, 1.0)


def _nice(span: float) -> float:
    """The next of 1, 2, 5, 10, ... that is at least this."""
    if span <= 0:
        return 1.0
    size = 10.0 ** max(-307, math.floor(math.log10(span)))
    return next((factor * size for factor in (1, 2, 5) if factor * size >= span), 10 * size)


def _bounded(value: float) -> float:
    """What can be calculated with; the infinite stays what it is."""
    return value if not math.isfinite(value) else min(max(value, -LARGEST), LARGEST)


def _label(value: float, digits: int) -> str:
    if abs(value) >= 1e5 or digits > 4:
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e") if value else "0"
    return f"{value:,.{digits}f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.3g}"


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _dot(x: float, y: float, style: str, radius: float = 3.5) -> str:
    return f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def _text(
    x: float, y: float, content: str, anchor: str, style: str = "tick", low: float = 0.0
) -> str:
    x = low if anchor == "start" else x
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{_said(content)}</text>"
    )


def _nothing(height: float = HEIGHT) -> str:
    return _text(WIDTH / 2, height / 2, "nothing was recorded", "middle", "unit")


def _said(text: str) -> str:
    return escape(printable(text))
