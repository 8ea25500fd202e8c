"""The page about verifications: whole in itself, whatever the scripts have written."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import verification_samples as samples
from tfrewrite.reports.safe import printable
from tfrewrite.reports.verification import html, markdown
from tfrewrite.reports.verification.diff_lines import Line, read
from tfrewrite.verify.model import Compared, Kind, SpeedVerdict, Verdict, Verification

PAGES: dict[str, list[Verification]] = {
    "pass": [samples.passing()],
    "fail": [samples.failing()],
    "inconclusive": [samples.inconclusive()],
    "slower": [samples.slower()],
    "several": list(samples.several()),
    "odd": [samples.odd_numbers()],
    "none": [],
    "hostile": [samples.hostile(text) for text in samples.HOSTILE],
}
VOID = {"meta", "br"}
TAGS = set(
    "html head meta title style body header strong main article section h1 h2 h3 p span code "
    "small dl div dt dd ul li table thead tbody tr th td details summary pre i a br figure "
    "figcaption svg desc line polyline polygon circle path rect text".split()
)
ATTRIBUTES = set(
    "lang charset http-equiv content name class id role aria-label aria-labelledby aria-hidden "
    "tabindex href open data-n data-of viewbox x y x1 y1 x2 y2 cx cy r d points width height "
    "text-anchor".split()
)


class Structure(HTMLParser):
    """Fails at whatever is not closed; collects what a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_made_of_nothing_else(name: str) -> None:
    page = html.render(PAGES[name])
    page.encode("utf-8")
    found = Structure(page)
    assert found.tags <= TAGS
    assert {attribute for attribute, _ in found.attributes} <= ATTRIBUTES
    links = {value for attribute, value in found.attributes if attribute == "href"}
    identities = [value for attribute, value in found.attributes if attribute == "id"]
    assert len(identities) == len(set(identities))
    assert links <= {f"#{identity}" for identity in identities}
    labels = [value.split() for name, value in found.attributes if name == "aria-labelledby"]
    assert {label for each in labels for label in each} <= set(identities)
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_is_shown_as_text(text: str) -> None:
    found = Structure(html.render([samples.hostile(text)]))
    assert any(printable(text)[:200] in shown for shown in found.text)
    for shown in found.text:
        for line in shown.split("\n"):
            assert printable(line) == line
            assert len(line) < 6_000 or "--page" in shown


def test_the_page_of_a_pass() -> None:
    page = html.render(PAGES["pass"])
    text = " ".join(" ".join(Structure(page).text).split())
    assert "<title>pass: tfrewrite verification</title>" in page
    assert '<h1 class="headline">Same numbers within rounding' in page
    for said in (
        "Contract rounding the same mathematics; only floating-point rounding may differ",
        "Steady step 1.52\u00d7 as fast; 95% interval 1.47 to 1.58",
        "Peak memory 412 MB 471 MB originally",
        "TFR201 hoist-graph-op 63 exact kept, judged as rounding",
        "All 5 observables, the furthest apart first",
        "34 values lie above the scale, of 720: the longest is 670 ms, step 1 of the rewritten",
        "graph nodes 120 to 946 122, constant",
        "memory +53 MB in 59 steps +1 MB in 59 steps",
        "sessions 4 runs a step, 1.25 MB fed, 21% of a step outside of runs 1 run a step",
        "TensorFlow 1.15.5",
        "12 processes, in the order in which they ran",
    ):
        assert said in text
    assert "Where it diverged" not in text
    titles = re.findall(r"<title id=[^>]*>([^<]*)</title>", page)
    assert titles == [
        "Distance of cross_entropy:0",
        "Distance of accuracy:0",
        "Distance of Variable (784, 10)",
        "Original / rewritten: right of 1 is faster",
        "Time of each step",
        "Memory",
        "Graph nodes",
    ]


def test_the_page_of_what_did_not_pass() -> None:
    text = " ".join(" ".join(Structure(html.render(PAGES["fail"])).text).split())
    assert "First at step 4 , in cross_entropy:0 (fetched)." in text
    assert "Original 0.69314718 Rewritten 0.70121104 Distance 214 times what is allowed" in text
    assert "Speed not measured No equivalence, no speed figure." in text
    assert "broken by these together" in text
    page = html.render(PAGES["inconclusive"])
    assert "<span>ModuleNotFoundError: No module named &#39;sonnet&#39;</span>" in page
    assert 'class="badge slower"' in html.render(PAGES["slower"])


def test_several_begin_with_an_overview() -> None:
    page = html.render(PAGES["several"])
    overview = page.partition("<article")[0]
    assert re.findall(r'<a href="#(s\d)">([^<]*)</a>', overview) == [
        ("s1", "examples/mnist_softmax.py"),
        ("s2", "examples/cifar/train.py"),
        ("s3", "legacy/rnn.py"),
        ("s4", "examples/tiny_mlp.py"),
        ("s5", "examples/quick.py"),
    ]
    assert page.count("<article id=") == 5
    assert page.count("<h1") == 1
    assert "nothing verified in 0 scripts" in html.render([])


def test_the_policy_forbids_all_but_the_style_sheet() -> None:
    page = html.render([])
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'",
        policy,
    )
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_a_page_stays_small() -> None:
    many = tuple(Compared(f"v{n}", Kind.WEIGHTS, (), Verdict.PASS, 0.0) for n in range(9_000))
    one = samples.passing()
    assert one.numerics and one.speed
    diff = "@@ -0,0 +1,90000 @@\n" + "+x\n" * 90_000
    runs = tuple(replace(run, steps_s=run.steps_s * 100) for run in one.speed.runs)
    page = html.render(
        [
            replace(
                one,
                subject=replace(one.subject, diff=diff),
                numerics=replace(one.numerics, compared=many),
                speed=replace(one.speed, runs=runs, verdict=SpeedVerdict.NO_CHANGE),
                output="y\n" * 90_000,
            )
        ]
    )
    assert len(page) < 2_500_000
    assert "86001 more lines are in the JSON report." in page
    assert "7000 more are in the JSON report." in page
    assert "... and 4,000 more" in page
    assert page.count("<span>y</span>") == 200


def test_the_curve_of_a_version_is_the_median_of_its_runs() -> None:
    assert html._median_curve([[1.0, 2.0, 9.0], [3.0, math.nan], [8.0]]) == (
        (1.0, 3.0),
        (2.0, 2.0),
        (3.0, 9.0),
    )


def test_a_diff_is_read_by_its_counts() -> None:
    assert list(read("")) == []
    lines = list(
        read("# why\n--- a\n+++ b\n@@ -3,2 +3,2 @@ def f\n x\n--- y\n+++ z\n--- c\n+++ d\n")
    )
    assert [line.kind for line in lines] == [
        *("about", "about", "about", "hunk"),
        *("same", "removed", "added"),
        *("about", "about"),
    ]
    assert lines[4:7] == [
        Line("same", " x", 3, 3),
        Line("removed", "--- y", before=4),
        Line("added", "+++ z", after=4),
    ]
    assert [line.kind for line in read("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b")] == [
        "hunk",
        "removed",
        "about",
        "added",
    ]


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_markdown_renders_to_the_same_text(text: str) -> None:
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    found = Structure(reader.render(markdown.render([samples.hostile(text)])))
    assert found.tags <= set(
        "h4 p strong code table thead tbody tr th td ul li details summary pre".split()
    )
    assert {name for name, _ in found.attributes} <= {"class"}
    shown = printable(text).strip()[:200].replace("@", "@\u200b").replace("#", "#\u200b")
    assert any(shown in part for part in "".join(found.text).split("\n"))


# In a browser ------------------------------------------------------------------------------------

WIDTHS = {"light": (320, 1280), "dark": (390,)}
SHOWN = {**PAGES, "hostile": [samples.hostile(samples.HOSTILE[n]) for n in (3, -1)]}

ATTACK = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"

MEASURE = """
onload = () => {
  const found = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, root = page.documentElement;
    const style = (e) => frame.contentWindow.getComputedStyle(e);
    const cut = [];
    for (const text of page.querySelectorAll('svg[role=img] text')) {
      const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
      if (box.width && (box.x < 0 || box.x + box.width > view.width)) cut.push(text.textContent);
    }
    for (const cell of page.querySelectorAll('.facts, .facts dd, figure, h1, h2, h3, summary'))
      if (cell.scrollWidth > cell.clientWidth + 1) cut.push(cell.textContent.slice(0, 80));
    found.push({
      name: frame.name, title: page.title, width: root.clientWidth, needs: root.scrollWidth,
      height: root.scrollHeight, back: style(page.body).backgroundColor,
      ink: style(page.body).color, cut: cut,
      small: Math.min(...[...page.querySelectorAll('svg[role=img] text')].map(
        (t) => parseFloat(style(t).fontSize) * (t.getScreenCTM() || {a: 1}).a)),
      active: page.querySelectorAll('script, img, iframe, link, object, embed').length,
    });
  }
  const out = document.createElement('pre');
  out.id = 'found';
  out.textContent = JSON.stringify(found);
  document.body.replaceChildren(out);
};
"""


def browse(chromium: str, page: Path, *options: str) -> str:
    """What Chromium made of the page, as HTML."""
    profile = page.parent / "profile"
    command = [
        chromium,
        *("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        f"--user-data-dir={profile}",
        *options,
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
        env={**os.environ, "HOME": str(page.parent)},
    )
    return done.stdout


def frame(name: str, page: str, width: int, sandbox: str = 'sandbox="allow-same-origin"') -> str:
    """The page at a width. In the sandbox no script of it would run."""
    return (
        f'<iframe name="{name}" {sandbox} width="{width}" height="900" style="border:0" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def measured(chromium: str, room: Path, frames: list[str], *options: str) -> list[dict[str, Any]]:
    harness = room / "harness.html"
    harness.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f"<body>{''.join(frames)}<script>{MEASURE}</script>",
        encoding="utf-8",
    )
    dumped = browse(chromium, harness, *options)
    found = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.DOTALL)
    assert found, dumped[-2_000:]
    result: list[dict[str, Any]] = json.loads(unescape(found[1]))
    return result


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_pages_fit_every_width_with_scripting_off(
    chromium: str, tmp_path: Path, scheme: str
) -> None:
    frames = [
        frame(
            f"{name} at {width}",
            html.render(SHOWN[name]).replace("<details>", "<details open>"),
            width,
        )
        for name in SHOWN
        for width in WIDTHS[scheme]
    ]
    option = f"--blink-settings=preferredColorScheme={['dark', 'light'].index(scheme)}"
    pages = measured(chromium, tmp_path, frames, option)
    assert len(pages) == len(frames)
    for page in pages:
        assert page["needs"] <= page["width"], page["name"]
        assert page["cut"] == [], page["name"]
        assert page["height"] > 90, page["name"]
        assert page["title"].endswith(": tfrewrite verification")
        assert page["active"] == 0
        assert page["small"] is None or page["small"] > 9, page["name"]
        back, ink = (int(re.findall(r"\d+", page[key])[0]) for key in ("back", "ink"))
        assert (back > 240 and ink < 60) if scheme == "light" else (back < 40 and ink > 200)


@pytest.mark.browser
def test_nothing_that_scripts_wrote_is_run(chromium: str, tmp_path: Path) -> None:
    page, empty = html.render(PAGES["hostile"]), html.render([])
    policy = r'<meta http-equiv="Content-Security-Policy"[^>]*>'
    assert len(re.findall(policy, page)) == len(re.findall(policy, empty)) == 1
    unprotected, attacked = re.sub(policy, "", page), empty.replace("</body>", f"{ATTACK}</body>")
    frames = [
        # Scripting is on: escaping alone must do, and where it failed, the policy alone.
        frame("escaped", unprotected, 800, sandbox=""),
        frame("forbidden", attacked, 800, sandbox=""),
        frame("neither", re.sub(policy, "", attacked), 800, sandbox=""),
    ]
    titles = {one["name"]: one["title"] for one in measured(chromium, tmp_path, frames)}
    assert titles["escaped"] == "fail: tfrewrite verification"
    assert titles["forbidden"] == "inconclusive: tfrewrite verification"
    assert titles["neither"] == "owned", "the test itself sees nothing"


@pytest.mark.browser
def test_the_page_opens_as_a_file_and_makes_a_picture(chromium: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(html.render(PAGES["hostile"]), encoding="utf-8")
    picture = tmp_path / "page.png"
    options = ["--window-size=1280,900", f"--screenshot={picture}"]
    dumped = browse(chromium, tmp_path / "page.html", *options)
    assert "<title>fail: tfrewrite verification</title>" in dumped
    assert picture.stat().st_size > 10_000
