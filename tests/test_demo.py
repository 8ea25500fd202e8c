"""The demo shows what was measured, and fails where the two versions do not agree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfrewrite import demo
from tfrewrite.demo.trial import Run, Trial, TrialError, first_difference, read_run, run_both
from tfrewrite.verify.process import Ending, RunResult

STAND_IN = """
import sys
print("loss", {loss})
print("TensorFlow 9.9 on Python 3", file=sys.stderr)
print("Median step: {step} ms", file=sys.stderr)
"""


def make_run(*lines: str, step_ms: float = 1.0) -> Run:
    return Run(lines=lines, step_ms=step_ms, versions="")


def write_versions(folder: Path, original: str, rewritten: str) -> tuple[Path, Path]:
    paths = folder / "original" / "script.py", folder / "rewritten" / "script.py"
    for path, source in zip(paths, (original, rewritten), strict=True):
        path.parent.mkdir()
        path.write_text(source)
    return paths


def test_equal_runs_do_not_differ() -> None:
    trial = Trial((make_run("a", "b"), make_run("a", "b")), (make_run("a", "b"),))
    assert first_difference(trial) == ""


@pytest.mark.parametrize(
    ("original", "rewritten", "said"),
    [
        (make_run("a", "b"), make_run("a", "c"), "line 2 of the rewritten version: c"),
        (make_run("a", "b"), make_run("a"), "the rewritten version printed 1 lines"),
        (make_run("1.0"), make_run("1.00"), "line 1 of the rewritten version: 1.00"),
    ],
)
def test_a_difference_is_named(original: Run, rewritten: Run, said: str) -> None:
    assert said in first_difference(Trial((original,), (rewritten,)))


def test_an_original_that_disagrees_with_itself_is_named() -> None:
    trial = Trial((make_run("a"), make_run("b")), (make_run("a"),))
    assert "the original, run again" in first_difference(trial)


def test_the_ratio_is_of_medians() -> None:
    slow = tuple(make_run(step_ms=value) for value in (2.0, 3.0, 90.0))
    fast = tuple(make_run(step_ms=value) for value in (1.0, 1.5, 2.0))
    assert Trial(slow, fast).ratio == 2.0


@pytest.mark.parametrize(("longest", "unsteady"), [(1.4, False), (1.6, True)])
def test_a_busy_machine_is_noticed(longest: float, *, unsteady: bool) -> None:
    steady = (make_run(step_ms=1.0), make_run(step_ms=1.1))
    varying = (make_run(step_ms=1.0), make_run(step_ms=longest))
    assert Trial(steady, varying).is_unsteady is unsteady
    assert Trial(varying, steady).is_unsteady is unsteady


def test_a_failed_run_shows_its_end() -> None:
    result = RunResult(Ending.EXITED, 1.0, exit_code=3, stderr="Median step: 1.0 ms\nbad luck\n")
    with pytest.raises(TrialError, match=r"(?s)ended with exit code 3.*bad luck"):
        read_run("script.py", result)


def test_the_versions_take_turns(tmp_path: Path) -> None:
    source = STAND_IN.format(loss=0.5, step=1.0)
    paths = write_versions(tmp_path, source, source)
    said: list[str] = []
    run_both(Path(sys.executable), *paths, rounds=1, progress=said.append)
    order = [line.strip() for line in said]
    warm_up = ["original", "rewritten"]
    assert order == [*warm_up, "original", "rewritten", "rewritten", "original"]


def test_agreement_and_times_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_versions(
        tmp_path, STAND_IN.format(loss=0.5, step=3.0), STAND_IN.format(loss=0.5, step=2.0)
    )
    assert demo.compare(Path(sys.executable), *paths) == 0
    said = capsys.readouterr().out
    assert "TensorFlow 9.9 on Python 3" in said
    assert "1.50 times as long" in said


def test_disagreement_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_versions(
        tmp_path, STAND_IN.format(loss=0.5, step=3.0), STAND_IN.format(loss=0.25, step=1.0)
    )
    assert demo.compare(Path(sys.executable), *paths) == 1
    captured = capsys.readouterr()
    assert "do not agree" in captured.err
    assert "times as long" not in captured.out


def test_without_tensorflow_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_interpreter", lambda _: None)
    assert demo.run(tmp_path) == 0
    said = capsys.readouterr().out
    assert "were not run" in said
    assert "TFR101 [exact]" in said
    assert (tmp_path / "original" / demo.SCRIPT).exists()


@pytest.mark.tensorflow
def test_the_whole_demo(
    tf1_python: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "ROUNDS", 1)
    assert demo.run(python=tf1_python) == 0
    said = capsys.readouterr().out
    assert "TFR301" in said
    assert "lines of numbers are the same" in said
