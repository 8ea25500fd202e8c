"""Reports name files in a way that other programs find them by."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given

from report_samples import NAMES
from tfrewrite.reports.paths import relative, uri


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repo" / "sub"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_below_the_working_directory(here: Path) -> None:
    assert relative("x.py") == "x.py"
    assert relative("./a//x.py") == "a/x.py"
    assert relative(str(here / "a" / "x.py")) == "a/x.py"
    assert relative("<stdin>") == "<stdin>"


def test_elsewhere_the_name_that_was_given(here: Path) -> None:
    assert relative("../x.py") == "../x.py"
    assert relative("/somewhere/x.py") == "/somewhere/x.py"
    assert relative(f"{here}x/y.py") == f"{here}x/y.py"


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_in_ci_below_the_checkout(
    here: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"{here.parent}/")
    assert relative("x.py") == "sub/x.py"
    assert relative("../x.py") == "x.py"
    monkeypatch.setenv(variable, "/another/checkout")
    assert relative("x.py") == "x.py"


def test_as_an_address() -> None:
    assert uri("a b/x#1?%é:.py") == "a%20b/x%231%3F%25%C3%A9%3A.py"
    assert uri("<stdin>") == "%3Cstdin%3E"
    assert uri("/some where/x.py") == "file:///some%20where/x.py"


@given(NAMES)
def test_any_name_comes_back_from_its_address(name: str) -> None:
    assert unquote_to_bytes(uri(name)) == os.fsencode(name)
    assert uri(name).isascii()
    assert not set(uri(name)) & set(' :?#<>"\\^`{}|\n\r\t')
