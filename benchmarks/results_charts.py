"""Charts of the results as SVG files that stand by themselves: text in, text out.

They lie on a ground of their own, light or dark as the reader's browser asks, and are narrow, so
that a phone shows them in a size that can be read. What tells the versions apart is the form of a
mark or a line as well as its colour.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tfrewrite.reports.verification.charts import HEIGHT, WIDTH, Curve, Unit, over_steps
from tfrewrite.verify.model import Ratio

STYLE = """\
:root { --card: #ffffff; --ink: #1c1e21; --soft: #565c65; --rule: #e3e4e2;
  --original: #b45309; --rewritten: #1d5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --card: #1c1f23; --ink: #e4e6e9; --soft: #a6adb7; --rule: #343940;
    --original: #f0a04b; --rewritten: #78aaff; }
}
.ground { fill: var(--card); stroke: var(--rule); }
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
.title { font-size: 15px; font-weight: 600; fill: var(--ink); }
.name, .value { fill: var(--ink); stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
.value { font-weight: 600; }
.grid { stroke: var(--rule); }
.axis { stroke: var(--soft); }
.one { stroke: var(--soft); stroke-dasharray: 3 3; }
.range { stroke: var(--rewritten); stroke-width: 3; stroke-linecap: round; opacity: .55; }
.ratio { fill: var(--rewritten); }
.expert { fill: var(--card); stroke: var(--original); stroke-width: 2; }
.curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.curve.original { stroke: var(--original); }
.curve.rewritten { stroke: var(--rewritten); stroke-dasharray: 6 3; }
.dot.original { fill: var(--original); }
.dot.rewritten { fill: var(--rewritten); }
.above { fill: var(--original); }"""

EDGE = 16.0
LEFT, RIGHT = 24.0, 96.0
ROW = 42.0
HEAD = 66.0
FOOT = 44.0
NEAR = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3)
DECADES = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5)


@dataclass(frozen=True)
class Bar:
    """A gain with its interval, and what an expert gains in the same place, if that is known."""

    name: str
    gain: Ratio
    expert: float | None = None


def gains(title: str, bars: Sequence[Bar]) -> str:
    """How many times as fast, a row each, on a logarithmic axis: twice is as far as half."""
    height = HEAD + ROW * len(bars) + FOOT
    ends = [end for one in bars for end in (one.gain.low, one.gain.high, one.expert or 1.0)]
    low, high = math.log10(min([0.9, *ends])) - 0.03, math.log10(max([1.5, *ends])) + 0.05

    def place(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return LEFT + share * (WIDTH - RIGHT - LEFT)

    body = [
        text(EDGE, 26, title, "title"),
        *legend_of_gains(expert=any(one.expert for one in bars)),
    ]
    bottom = height - FOOT + 4
    for tick in ticks(low, high):
        style = "one" if tick == 1 else "grid"
        body.append(line(place(tick), HEAD - 6, place(tick), bottom, style))
        body.append(text(place(tick), bottom + 16, f"{tick:g}x", anchor="middle"))
    body.append(text(EDGE, bottom + 33, "original / rewritten time of a step; 1x is no change"))
    for number, one in enumerate(bars):
        y = HEAD + ROW * number
        body.append(text(EDGE, y + 14, one.name, "name"))
        body.append(text(WIDTH - 12, y + 33, times(one.gain.value), "value", "end"))
        if one.expert:
            body.append(diamond(place(one.expert), y + 28))
        body.append(line(place(one.gain.low), y + 28, place(one.gain.high), y + 28, "range"))
        body.append(
            f'<circle class="ratio" cx="{place(one.gain.value):.1f}" cy="{y + 28:.1f}" r="4"/>'
        )
    said = "; ".join(f"{one.name}: {times(one.gain.value)}" for one in bars)
    return standing_alone(title, said, height, body)


def ticks(low: float, high: float) -> list[float]:
    chosen: Sequence[float] = NEAR
    if high - low >= 0.45:
        chosen = STEPS if high - low < 1.2 else DECADES
    return [tick for tick in chosen if low <= math.log10(tick) <= high]


def legend_of_gains(*, expert: bool) -> list[str]:
    parts = [
        line(EDGE, 43, EDGE + 20, 43, "range"),
        f'<circle class="ratio" cx="{EDGE + 10:g}" cy="43" r="4"/>',
        text(EDGE + 27, 47, "rewritten, 95% interval"),
    ]
    if expert:
        parts += [diamond(222, 43), text(234, 47, "by an expert")]
    return parts


def growth(
    title: str,
    panels: Sequence[tuple[str, Unit, Sequence[tuple[str, Sequence[tuple[int, float]]]]]],
) -> str:
    """Panels below each other: what is drawn, its unit, and the points of each version."""
    top = 62.0
    body = [text(EDGE, 26, title, "title")]
    for x, version in ((EDGE, "original"), (130.0, "rewritten")):
        body.append(line(x, 43, x + 26, 43, f"curve {version}"))
        body.append(text(x + 33, 47, version))
    said = []
    for number, (name, unit, versions) in enumerate(panels):
        curves = [
            Curve(version, version, tuple((float(x), y) for x, y in points))
            for version, points in versions
            if points
        ]
        y = top + number * (HEIGHT + 24)
        body.append(text(EDGE, y + 12, name, "name"))
        drawn = over_steps(f"panel-{number}", name, curves, unit)
        said.append(re.sub(r".*<desc[^>]*>(.*)</desc>.*", rf"{name}: \1", drawn))
        inner = drawn.partition("</figcaption>")[2].removesuffix("</figure>")
        inner = re.sub(r"<title.*</desc>", "", inner).replace(' role="img"', "")
        inner = re.sub(r' aria-labelledby="[^"]*"', "", inner)
        place = f'<svg x="0" y="{y + 16:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
        body.append(inner.replace("<svg", place, 1))
    height = top + len(panels) * (HEIGHT + 24) + 4
    return standing_alone(title, "; ".join(said), height, body)


def standing_alone(title: str, said: str, height: float, body: Sequence[str]) -> str:
    lines = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}"'
        f' width="{WIDTH:g}" height="{height:g}" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(said)}</desc>\n"
        f"<style>\n{STYLE}\n</style>\n"
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1:g}" height="{height - 1:g}" rx="8"/>'
        f"\n{lines}\n</svg>\n"
    )


def times(value: float) -> str:
    return f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x"


def diamond(x: float, y: float) -> str:
    return f'<path class="expert" d="M{x - 6:.1f} {y:.1f}l6 -6l6 6l-6 6z"/>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x: float, y: float, content: str, style: str = "label", anchor: str = "start") -> str:
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(content)}</text>"
    )
