"""Every format there is can be asked for, and says what it has to say."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from report_samples import applied, everything
from tfrewrite import reports
from tfrewrite.reports import formats
from tfrewrite.reports.formats import PLAIN, Format, View, render
from tfrewrite.reports.summary import Run

HOME = Path(reports.__path__[0])
MODULES = set(formats._MODULES.values())


def test_the_list_is_complete() -> None:
    assert set(formats._MODULES) == set(Format)
    with_render = {
        path.stem
        for path in HOME.glob("*.py")
        if hasattr(import_module(f"tfrewrite.reports.{path.stem}"), "render")
    }
    assert with_render - {"diff", "formats"} == MODULES


@pytest.mark.parametrize("name", sorted(MODULES))
def test_formats_are_made_alike(name: str) -> None:
    module = import_module(f"tfrewrite.reports.{name}")
    parameters = list(inspect.signature(module.render).parameters.values())
    assert [one.name for one in parameters[:2]] == ["run", "view"]
    assert all(one.default is not inspect.Parameter.empty for one in parameters[1:])


@pytest.mark.parametrize("format_", list(Format))
def test_what_each_has_room_for(format_: Format) -> None:
    report = render(format_, everything(), PLAIN)
    assert report.endswith("\n") or format_ is Format.HTML
    # People get the errors on standard error.
    failed = "1 file failed" if format_ is Format.TEXT else "bad.py"
    for said in ("TFR901", "starred", "TFR904", "m/x.py", failed, "exempts nothing"):
        assert said in report.replace("&#46;", "."), said
    assert render(format_, everything(), PLAIN) == report
    assert render(format_, Run(()), View(statistics=True))
    assert render(format_, applied(), View(quiet=True)) is not None
