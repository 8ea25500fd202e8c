"""Several reports of one run, each where it is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfrewrite.config import ConfigError
from tfrewrite.outputs import targets, write

FORMATS = ("text", "json", "sarif")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_any_the_format_goes_to_standard_output() -> None:
    assert targets([], "json", FORMATS) == [("json", None)]


def test_a_file_takes_the_format() -> None:
    assert targets(["a"], "json", FORMATS) == [("json", Path("a"))]


def test_lists_and_repetitions() -> None:
    assert targets(["sarif=a, json=b", "c"], "text", FORMATS) == [
        ("sarif", Path("a")),
        ("json", Path("b")),
        ("text", Path("c")),
    ]


def test_what_no_file_has_goes_to_standard_output() -> None:
    assert targets(["sarif=a"], "text", FORMATS) == [("sarif", Path("a")), ("text", None)]
    assert targets(["json=a=b.json"], "json", FORMATS) == [("json", Path("a=b.json"))]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("xml=a", "write FILE, or one of text, json, sarif with a file"),
        ("json=", "write FILE"),
        ("", "write FILE"),
        ("json=a,", "write FILE"),
        ("a,json=a", "two reports cannot go to one file"),
        ("no/a", "there is no directory no"),
        ("folder", "a directory; name a file"),
        ("json=locked", "cannot be written"),
    ],
)
def test_what_cannot_be(output: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("folder").mkdir()
    monkeypatch.setattr("os.access", lambda path, _: path.name != "locked")
    Path("locked").write_text("")
    with pytest.raises(ConfigError, match=said):
        targets([output], "text", FORMATS)


def test_writing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(b"\xff\n", Path("a"))
    assert Path("a").read_bytes() == b"\xff\n"
    write(json.dumps("é").encode(), None)
    assert capfdbinary.readouterr().out == b'"\\u00e9"'
    with pytest.raises(ConfigError, match="--output: no/a: No such file"):
        write(b"", Path("no/a"))
