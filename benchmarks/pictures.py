"""Makes a chart of the verification's page into a picture that stands by itself.

On the page, the style sheet says how a chart looks, and its title and legend are HTML above it. A
picture has all that within: the rules of the style sheet that concern charts, for light and for
dark, and the title and the legend as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from xml.etree import ElementTree as ET

from tfrewrite.reports import pages

EDGE = 12.0
HEAD = 46.0
"""Of the picture, what title and legend take."""
LETTER = 6.6
"""How wide a letter of the legend is, about."""
FONT = (
    "svg { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial,"
    " sans-serif; }\n"
    "svg .card { fill: var(--card); stroke: var(--rule); }\n"
    "svg .title { fill: var(--ink); font-size: 14px; font-weight: 600; }\n"
)


def picture(figure: str) -> str:
    """The `<figure>` of a chart as the text of an SVG file."""
    root = ET.fromstring(figure)  # noqa: S314 - ours
    chart = root.find("svg")
    assert chart is not None
    width, height = map(float, chart.attrib["viewBox"].split()[2:])
    title = root.findtext("figcaption/strong", "")
    outer_width, outer_height = width + 2 * EDGE, height + HEAD + EDGE
    body = "".join(ET.tostring(part, encoding="unicode") for part in chart)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {outer_width:g} {outer_height:g}"'
        f' width="{outer_width:g}" height="{outer_height:g}" role="img"'
        f' aria-labelledby="{chart.attrib["aria-labelledby"]}">\n'
        f"<style>\n{style()}</style>\n"
        f'<rect class="card" x="0.5" y="0.5" width="{outer_width - 1:g}"'
        f' height="{outer_height - 1:g}" rx="8"/>\n'
        f'<text class="title" x="{EDGE:g}" y="22">{escape(title)}</text>\n'
        f"{''.join(legend(root))}"
        f'<g transform="translate({EDGE:g} {HEAD:g})">{body}</g>\n</svg>\n'
    )


def legend(root: ET.Element) -> Iterator[str]:
    """Each curve's name behind a piece of it, one beside the other."""
    across = EDGE
    for item in root.iterfind("figcaption/ul/li"):
        [swatch] = item
        label = swatch.tail or ""
        drawn = "".join(ET.tostring(part, encoding="unicode") for part in swatch)
        yield f'<g transform="translate({across:g} 34)">{drawn}</g>\n'
        yield f'<text x="{across + 28:g}" y="43">{escape(label)}</text>\n'
        across += 28 + LETTER * len(label) + 18


def style() -> str:
    """What the page's style sheet says of colours and of charts."""
    lines = pages.style().splitlines(keepends=True)
    colours = lines[: next(n for n, line in enumerate(lines) if line.startswith("* "))]
    return "".join([*colours, FONT, *(line for line in lines if line.startswith("svg "))])
