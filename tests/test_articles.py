"""The page on the articles is the one that was measured; its pictures stand by themselves."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from corpus_cases import CASES
from tfrewrite.reports.verification import charts
from tfrewrite.reports.verification.charts import Curve, Unit

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def articles() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.find_spec("articles")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def test_the_page_says_what_was_measured(articles: ModuleType) -> None:
    measured = json.loads(articles.MEASURED.read_text())
    assert articles.PAGE.read_text() == articles.page(measured)


def test_what_was_measured_is_of_the_scripts_as_they_are(articles: ModuleType) -> None:
    measured = json.loads(articles.MEASURED.read_text())
    digests = {study.name: articles.digest(study) for study in articles.STUDIES}
    stale = {name for name, known in digests.items() if measured[name].get("digest") != known}
    assert not stale, f"make articles ONLY={' '.join(sorted(stale))!r} measures them anew"


def test_every_study_is_measured_and_shown(articles: ModuleType) -> None:
    studies = {study.name for study in articles.STUDIES}
    assert set(json.loads(articles.MEASURED.read_text())) == studies
    shown = set(re.findall(r"\(articles/(\S+\.svg)\)", articles.PAGE.read_text()))
    wanted = {
        f"{study.name}-{articles.FILES[chart]}.svg"
        for study in articles.STUDIES
        for chart in study.charts
    }
    assert shown == wanted == {path.name for path in articles.PICTURES.glob("*.svg")}


def test_every_study_has_its_script_and_as_many_steps_as_it_asks_for(articles: ModuleType) -> None:
    cases = {case.name: case for case in CASES}
    for study in articles.STUDIES:
        case = cases[study.case]
        assert study.tensorflow in case.tensorflow
        assert articles.longer(study, case, "original.py")
        assert articles.longer(study, case, "expected.py")


def test_links_lead_somewhere(articles: ModuleType) -> None:
    links = re.findall(r"\]\((?!http|#)([^)#]+)", articles.PAGE.read_text())
    assert links
    for link in links:
        assert (articles.PAGE.parent / link).exists(), link


def test_a_picture_has_title_legend_and_style_of_its_own(articles: ModuleType) -> None:
    curves = [
        Curve("original <1>", "original", ((1.0, 2.0), (2.0, 3.0))),
        Curve("rewritten", "rewritten", ((1.0, 1.0), (2.0, 1.0))),
        Curve("one run", "original", ((1.0, 2.5), (2.0, 2.5)), faint=True),
    ]
    figure = charts.over_steps("t", "Time & steps", curves, Unit("ms"))
    root = ET.fromstring(articles.picture(figure))  # noqa: S314 - ours
    assert root.tag == f"{SVG}svg"
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert texts[:3] == ["Time & steps", "original <1>", "rewritten"]
    style = root.findtext(f"{SVG}style", "")
    assert "prefers-color-scheme: dark" in style
    assert "svg .curve.original" in style
    assert "body {" not in style
    assert len(list(root.iter(f"{SVG}polyline"))) == len(curves)
