"""The demo does the main job, and fails where that does not prove what was promised."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrewrite import demo


def test_without_tensorflow_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_interpreter", lambda _: None)
    assert demo.run(tmp_path) == 0
    said = capsys.readouterr().out
    assert "Nothing was run" in said
    assert "TFR101 [exact]" in said
    assert "+++" in said
    original, rewritten = (tmp_path / name / demo.SCRIPT for name in ("original", "rewritten"))
    assert original.read_bytes() != rewritten.read_bytes()


def test_the_interpreter_that_is_named_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFREWRITE_TF1_PYTHON", str(tmp_path))
    assert demo.find_interpreter(Path("mine")) == Path("mine")
    assert demo.find_interpreter(None) == tmp_path
    monkeypatch.setenv("TFREWRITE_TF1_PYTHON", str(tmp_path / "none"))
    monkeypatch.delenv("TFREWRITE_TF2_PYTHON", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert demo.find_interpreter(None) is None


@pytest.mark.tensorflow
def test_the_whole_demo(
    tf1_python: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demo, "STEPS", 25)
    assert demo.run(tmp_path, tf1_python) == 0
    said = capsys.readouterr().out
    assert "TFR301" in said
    assert "PASS" in said
    assert str(tmp_path / demo.REPORT) in said
    assert "<html" in (tmp_path / demo.REPORT).read_text()
