"""`apply --verify` from the outside, with toy rules and runs that are made up."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fake_runs import FakeRuns, Ran
from keeping_script import SCRIPT
from tfrewrite import registry, textfile
from tfrewrite.analysis.facts import Facts
from tfrewrite.cli import app
from tfrewrite.keeping import session
from tfrewrite.keeping.deciding import decide
from tfrewrite.model import Site
from tfrewrite.options import Options
from tfrewrite.verifying import VerifyOptions
from toys import TOYS, MergePairs

Cli = Callable[..., Result]
THREE = """import tensorflow as tf
for step in range(9):
    old(1)
    old(2)
    old(3)
"""
"""Where `new(1)` is faster, `new(2)` slower, and `new(3)` something else."""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the command with the toy rules in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, ["apply", "--verify", *arguments])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    """In place of all runs of scripts."""
    fake = FakeRuns(prints=prints, step_s=step_s)
    monkeypatch.setattr("tfrewrite.verify.runs.run_script", fake)
    return fake


def prints(run: Ran) -> str:
    return "loss 2.5\n" if "new(3)" in everything(run) else "loss 1.5\n"


def step_s(run: Ran) -> float:
    text = everything(run)
    return 0.1 * (0.4 if "new(1)" in text else 1) * (1.5 if "new(2)" in text else 1)


def everything(run: Ran) -> str:
    return "".join(run.sources.values())


def make(**files: str) -> None:
    for name, text in files.items():
        path = Path(f"{name.replace('__', '/')}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def trials(report: dict[str, Any]) -> dict[str, dict[int, str]]:
    """By script and line: the ground of each rewrite."""
    return {
        one["script"]: {change["line"]: change["trial"]["ground"] for change in one["changes"]}
        for one in report["verifications"]
    }


# One file.


def test_keeps_the_good_one_of_three(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    done = cli("train.py", "--format", "json")
    report = json.loads(done.stdout)
    assert trials(report) == {
        "train.py": {3: "faster", 4: "slower", 5: "contract-broken"},
    }
    assert Path("train.py").read_text() == THREE.replace("old(1)", "new(1)")
    assert done.exit_code == 1
    (one,) = report["verifications"]
    assert (one["verdict"], one["speed"]["verdict"]) == ("pass", "faster")
    assert one["headline"].startswith("1 of 3 rewrites kept: computes the same (exact), 2.50 times")
    faster, slower, broken = (change["trial"] for change in one["changes"])
    assert faster["gain"]["ratio"] == pytest.approx(2.5)
    assert faster["share_of_gain"] == 1
    assert slower["gain"]["ratio"] == pytest.approx(1 / 1.5)
    assert "50% longer" in slower["evidence"]
    assert "loss" in broken["evidence"]
    assert report["files"] == [{"path": "train.py", "status": "rewritten"}]
    assert report["rewrites"] == {"kept": 1, "dropped": 2}


def test_the_report_for_people(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    lines = cli("train.py").stdout.splitlines()
    assert lines[0].startswith("PASS  train.py: 1 of 3 rewrites kept: computes the same (exact)")
    assert lines[-1] == "1 rewrite made in 1 file, 2 dropped"
    text = "\n".join(" ".join(line.split()) for line in lines)
    assert "rewrite TFR901 rename-old [exact] line 3: old -> new\nkept: 2.50 times as fast" in text
    assert "100% of the gain" in text
    assert "line 4: old -> new\ndropped: slower with it\nA step takes" in text
    assert "line 5: old -> new\ndropped: its promise is broken\n" in text
    assert cli("train.py", "--quiet").stdout.startswith("FAIL  train.py: nothing is kept")


@pytest.mark.parametrize("format_", ["markdown", "html"])
def test_other_reports_have_it_too(cli: Cli, runs: FakeRuns, format_: str) -> None:
    make(train=THREE)
    done = cli("train.py", "--format", format_)
    assert "slower with it" in done.stdout
    assert "longer" in done.stdout


def test_all_good(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nfor step in range(9):\n    old(1)\n    old(4)\n")
    done = cli("train.py")
    assert done.exit_code == 0, done.output
    assert "old" not in Path("train.py").read_text()
    assert "no measurable change with it" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 rewrites made in 1 file"


def test_what_is_slower_is_no_failure(cli: Cli, runs: FakeRuns) -> None:
    text = THREE.replace("    old(3)\n", "")
    make(train=text)
    assert cli("train.py").exit_code == 0
    assert Path("train.py").read_text() == text.replace("old(1)", "new(1)")
    make(train=text.replace("    old(1)\n", ""))
    done = cli("train.py")
    assert done.exit_code == 0
    assert "nothing is kept" in done.stdout
    assert "nothing was rewritten, 1 dropped" in done.stdout
    assert "new" not in Path("train.py").read_text()


def test_a_least_gain(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nfor step in range(9):\n    old(1)\n    old(4)\n")
    done = cli("train.py", "--min-speedup", "1.2", "--format", "json")
    assert trials(json.loads(done.stdout)) == {"train.py": {3: "faster", 4: "gain-too-small"}}
    assert "new(1)\n    old(4)\n" in Path("train.py").read_text()
    assert done.exit_code == 0
    make(train="import tensorflow\nfor step in range(9):\n    old(1)\n")
    assert cli("train.py", "--min-speedup", "3").exit_code == 0
    assert "old(1)" in Path("train.py").read_text()
    assert cli("train.py", "--min-speedup", "1").exit_code == 0
    assert "new(1)" in Path("train.py").read_text()


def test_numbers_only(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    done = cli("train.py", "--quick", "--format", "json")
    assert trials(json.loads(done.stdout)) == {
        "train.py": {3: "not-timed", 4: "not-timed", 5: "contract-broken"},
    }
    assert not runs.of("timed")
    assert Path("train.py").read_text() == THREE.replace("old(1)", "new(1)").replace(
        "old(2)", "new(2)"
    )


def test_the_diff_of_what_would_be_kept(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    done = cli("train.py", "--diff")
    assert done.exit_code == 1
    assert Path("train.py").read_text() == THREE
    assert [line for line in done.stdout.splitlines() if line[:1] in "+-"] == [
        "--- a/train.py", "+++ b/train.py", "-    old(1)", "+    new(1)",
    ]  # fmt: skip
    assert done.stdout.startswith("# TFR901 rename-old [exact]: old -> new\n#   safe because")
    assert "1 of 3 rewrites kept" in done.stderr
    assert "1 rewrite to make in 1 file, 2 dropped" in done.stderr
    found = json.loads(cli("train.py", "--diff", "--format", "json").stdout)
    assert found["files"] == [{"path": "train.py", "status": "would-rewrite"}]


def test_several_reports(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    done = cli("train.py", "--diff", "--output", "diff.txt,html=r.html,json=r.json")
    assert done.stdout == ""
    assert "+    new(1)" in Path("diff.txt").read_text()
    assert Path("r.html").read_text().startswith("<!")
    assert trials(json.loads(Path("r.json").read_text()))


def test_options_reach_the_runs(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    cli("train.py", "--args", "-x", "--steps", "7", "--timeout", "9", "--seeds", "2",
        "--synthetic-data", "--runs", "2", "--device", "cpu")  # fmt: skip
    assert {run.request.arguments for run in runs.made} == {("-x",)}
    assert {run.request.time_limit_s for run in runs.made} == {9}
    assert {run.asked["steps"] for run in runs.of("observed")} == {7}
    assert {run.asked["seed"] for run in runs.of("observed")} == {1, 2}
    assert all(run.environment["CUDA_VISIBLE_DEVICES"] == "-1" for run in runs.made)


def test_settings(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    Path("pyproject.toml").write_text(
        "[tool.tfrewrite.verify]\nquick = true\nscripts = [{ path = 'train.py', args = '-y' }]\n"
    )
    cli("train.py")
    assert {run.request.arguments for run in runs.made} == {("-y",)}
    assert not runs.of("timed")


def test_encodings_and_line_ends_stay(cli: Cli, runs: FakeRuns) -> None:
    data = b"\xef\xbb\xbfimport tensorflow  # \xc3\xa9\r\nfor step in x:\r\n\told(1)\r\n"
    Path("train.py").write_bytes(data)
    assert cli("train.py").exit_code == 0
    assert Path("train.py").read_bytes() == data.replace(b"old", b"new")


def test_rewrites_that_come_after_one_another(cli: Cli, runs: FakeRuns) -> None:
    """Two pairs become one `many` each; what is hoisted has its place in another line then."""
    text = (
        "import tensorflow\nfor step in x:\n    a = one(make())\n    b = one(2)\n    old(3)\n"
        "    c = one(5)\n    d = one(6)\n"
    )
    make(train=text)
    done = cli("train.py", "--format", "json")
    found = json.loads(done.stdout)
    grounds = sorted(trials(found)["train.py"].items())
    assert [line for line, ground in grounds if ground == "contract-broken"] == [5]
    after = Path("train.py").read_text()
    assert "old(3)" in after
    assert after.count("many(") == 2
    assert "made_0 = make()\nfor step" in after


class AnyPair(MergePairs):
    """As its base, of any pair: which ones there are depends on those that were made."""

    def sites(self, facts: Facts) -> Iterator[Site]:
        for _, block in facts.source.blocks():
            for first, second in pairwise(block):
                if "one(" in ast.unparse(first) and "one(" in ast.unparse(second):
                    assert isinstance(first, ast.Assign)
                    assert isinstance(second, ast.Assign)
                    yield self._merge(facts, first, second)


def test_what_has_its_place_only_without_a_dropped_one(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two rewrites compete, the second is tried once the first is dropped."""
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: (AnyPair,))
    make(
        train="import tensorflow\nfor step in x:\n    a = one(1)\n    b = one(2)\n    c = one(3)\n"
    )
    runs.prints = lambda run: "1\n" if "many(1, 2)" in run.text else "2\n"
    done = cli("train.py", "--format", "json")
    assert "    a = one(1)\n    b, c = many(2, 3)\n" in Path("train.py").read_text()
    assert trials(json.loads(done.stdout)) == {
        "train.py": {3: "contract-broken", 4: "no-measurable-change"},
    }


@pytest.mark.parametrize("path", ["train.py", "."])
def test_only_what_stands_on_changed_lines(cli: Cli, runs: FakeRuns, path: str) -> None:
    def git(*arguments: str) -> None:
        named = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
        command = [shutil.which("git") or "git", *named, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    text = THREE.replace("old(1)", "old(0)").replace("    old(3)\n", "    old(3)\n    old(4)\n")
    make(train=text, other=THREE)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "m")
    changed = text.replace("old(0)", "old(1)").replace("old(3)", "old( 3)")
    make(train=changed)
    done = cli(path, "--since", "HEAD", "--format", "json")
    assert trials(json.loads(done.stdout)) == {"train.py": {3: "faster", 5: "contract-broken"}}
    assert Path("train.py").read_text() == changed.replace("old(1)", "new(1)")
    assert Path("other.py").read_text() == THREE
    assert not any("new(2)" in everything(run) or "new(4)" in everything(run) for run in runs.made)
    git("add", ".")
    git("commit", "--quiet", "-m", "m")
    again = cli(path, "--since", "HEAD")
    assert again.exit_code == 0
    assert "nothing to verify: no rewrite is to be made" in again.stderr
    wrong = cli(path, "--since", "none")
    assert wrong.exit_code == 2
    assert "--since: 'none' is no revision" in wrong.stderr


# What cannot be shown.


def test_an_original_that_fails(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    runs.exit_code = 3
    done = cli("train.py")
    assert done.exit_code == 1
    assert done.stdout.startswith("INCONCLUSIVE  train.py: nothing is kept: nothing was shown")
    assert "dropped: nothing was shown" in done.stdout
    assert len(runs.made) == 1
    assert Path("train.py").read_text() == THREE


def test_an_original_that_does_not_repeat_itself(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    runs.prints = lambda _: f"loss {len(runs.made)}\n"
    done = cli("train.py", "--format", "json")
    assert done.exit_code == 1
    assert set(trials(json.loads(done.stdout))["train.py"].values()) == {"not-shown"}
    assert not runs.of("timed")
    assert Path("train.py").read_text() == THREE


def test_a_timed_run_that_fails(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nfor step in range(9):\n    old(1)\n    old(4)\n")
    before = Path("train.py").read_text()

    def fails(run: Ran) -> float:
        raise OSError(28, "No space left on device")

    runs.step_s = fails
    done = cli("train.py")
    assert done.exit_code == 1
    assert "No space left on device" in done.stdout
    assert Path("train.py").read_text() == before


def test_what_this_machine_cannot_do(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)

    def full(run: Ran) -> str:
        if "new" in run.text:
            raise OSError(28, "No space left on device")
        return "1\n"

    runs.prints = full
    done = cli("train.py")
    assert done.exit_code == 1
    assert done.stdout.startswith("INCONCLUSIVE  train.py: nothing is kept")
    assert "could not do what was needed: [Errno 28] No space left" in done.stdout
    assert Path("train.py").read_text() == THREE


def test_a_device_that_is_not_there(cli: Cli, runs: FakeRuns) -> None:
    make(train=THREE)
    done = cli("train.py", "--device", "gpu")
    assert done.exit_code == 1
    assert "a GPU was asked for, and TensorFlow saw CPU" in done.stdout
    assert Path("train.py").read_text() == THREE


# Directories.


def test_modules_are_rewritten_with_the_scripts_that_import_them(cli: Cli, runs: FakeRuns) -> None:
    make(
        train="import tensorflow\nimport lib\nfor step in x:\n    old(1)\n",
        lib="def f():\n    old(2)\n    old(3)\n    old(4)\n",
        other="import tensorflow\nimport lib\nfor step in x:\n    lib.f()\n",
        tools="def g():\n    old(5)\n",
    )
    before = {path.name: path.read_text() for path in Path().glob("*.py")}
    done = cli(".", "--format", "json")
    found = json.loads(done.stdout)
    (train,) = (one for one in found["verifications"] if one["script"] == "train.py")
    assert [(change["line"], change["trial"]["ground"]) for change in train["changes"]] == [
        (2, "slower"), (3, "contract-broken"), (4, "no-measurable-change"), (4, "faster"),
    ]  # fmt: skip
    others = {name: lines for name, lines in trials(found).items() if name != "train.py"}
    assert others == {
        "other.py": {2: "slower", 3: "contract-broken", 4: "no-measurable-change"},
        "tools.py": {2: "not-executed"},
    }
    assert done.exit_code == 1
    after = {path.name: path.read_text() for path in Path().glob("*.py")}
    assert after == {
        **before,
        "train.py": before["train.py"].replace("old(1)", "new(1)"),
        "lib.py": before["lib.py"].replace("old(4)", "new(4)"),
    }
    statuses = {Path(one["path"]).name: one["status"] for one in found["files"]}
    assert statuses == {
        "lib.py": "rewritten", "train.py": "rewritten", "tools.py": "unchanged",
        "other.py": "unchanged",
    }  # fmt: skip


def test_what_no_script_executes_is_named_with_the_reason(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nfor step in x:\n    old(1)\n", tools="old(5)\n")
    done = cli(".")
    assert done.exit_code == 1
    assert "INCONCLUSIVE  tools.py: nothing is kept" in done.stdout
    assert "no script that was run executes this file" in done.stdout
    assert Path("tools.py").read_text() == "old(5)\n"
    assert "new(1)" in Path("train.py").read_text()


def test_an_import_that_is_not_executed_shows_nothing(cli: Cli, runs: FakeRuns) -> None:
    make(
        train="import tensorflow\nif 0:\n    import lib\nfor step in x:\n    old(1)\n",
        lib="old(5)\n",
    )
    runs.summary = {"executed": ["train.py"]}
    done = cli(".")
    assert done.exit_code == 1
    assert Path("lib.py").read_text() == "old(5)\n"
    assert "new(1)" in Path("train.py").read_text()


def test_one_script_that_fails_does_not_stop_the_others(cli: Cli, runs: FakeRuns) -> None:
    make(
        a="import tensorflow\nimport lib\nfor step in x:\n    old(1)\n",
        b="import tensorflow\nimport lib\nfor step in x:\n    old(1)\n",
        lib="def f():\n    old(4)\n",
    )
    calls: list[str] = []

    def failing(run: Ran) -> str:
        calls.append(run.script)
        if run.script == "a.py":
            raise OSError(28, "No space left on device")
        return "1\n"

    runs.prints = failing
    done = cli(".")
    assert done.exit_code == 1
    assert "INCONCLUSIVE  a.py: nothing was shown" in done.stdout
    assert "old(1)" in Path("a.py").read_text()
    assert "new(1)" in Path("b.py").read_text()
    assert "new(4)" in Path("lib.py").read_text(), "b.py shows it"
    assert calls.count("a.py") == 1
    reason = "No space left on device"
    for format_ in ("text", "markdown", "html"):
        make(a="import tensorflow\nfor step in x:\n    old(1)\n    old(2)\n")
        assert cli("a.py", "--format", format_).stdout.count(reason) == 1, format_


def test_scripts_that_share_nothing_are_chosen_for_apart(cli: Cli, runs: FakeRuns) -> None:
    text = "import tensorflow\nfor step in x:\n    old({})\n"
    make(a=text.format(3), b=text.format(1))
    done = cli(".")
    assert done.exit_code == 1
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == (
        text.format(3),
        text.format(1).replace("old", "new"),
    )


def test_a_file_that_cannot_be_read(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nfor step in x:\n    old(1)\n", broken="old(\n")
    done = cli(".")
    assert done.exit_code == 2
    assert "broken.py: error:" in done.stderr
    assert "new(1)" in Path("train.py").read_text()


def test_nothing_to_do(cli: Cli, runs: FakeRuns) -> None:
    make(train="import tensorflow\nmain.run()\n")
    done = cli("train.py")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "train.py: nothing to verify: no rewrite is to be made\n"
    assert cli(".").exit_code == 0
    assert json.loads(cli(".", "--format", "json").stdout)["rewrites"] == {"kept": 0, "dropped": 0}
    assert cli(".", "--format", "html").stdout.startswith("<!")
    assert cli(".", "--diff").stdout == ""
    assert cli("train.py", "--exclude", "train.py").exit_code == 0
    make(other="import tensorflow\nold(*x)\n")
    assert cli(".").stderr == (
        ".: nothing to verify: no rewrite is to be made; 1 refusal (see tfrewrite check)\n"
    )
    assert not runs.made


# Notebooks.


def notebook(*cells: str, one_line: bool) -> str:
    """As Jupyter writes it, or with the source of a cell as one string."""
    found: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [],
         "source": cell if one_line else cell.splitlines(keepends=True)}
        for cell in cells
    ]  # fmt: skip
    return json.dumps(
        {"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


@pytest.mark.parametrize("one_line", [True, False])
@pytest.mark.parametrize("path", ["train.ipynb", "."])
def test_a_notebook(cli: Cli, runs: FakeRuns, path: str, *, one_line: bool) -> None:
    cells = [
        "import tensorflow as tf",
        "for step in range(9):\n    old(1)\n    old(2)\n    old(3)\n",
    ]
    Path("train.ipynb").write_text(notebook(*cells, one_line=one_line))
    done = cli(path, "--format", "json")
    found = json.loads(done.stdout)
    assert trials(found) == {"train.ipynb": {2: "faster", 3: "slower", 4: "contract-broken"}}
    assert found["verifications"][0]["changes"][0]["message"] == "cell 2: old -> new"
    cells[1] = cells[1].replace("old(1)", "new(1)")
    assert Path("train.ipynb").read_text() == notebook(*cells, one_line=one_line)


def test_the_report_for_people_names_cells(cli: Cli, runs: FakeRuns) -> None:
    Path("sub").mkdir()
    cells = ("import tensorflow as tf", "for step in range(9):\n    old(1)\n")
    Path("sub/train.ipynb").write_text(notebook(*cells, one_line=False))
    done = cli(".")
    assert "TFR901 rename-old [exact] line 2 of cell 2: old -> new\n" in done.stdout


# Wrong use.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.py", "b.py"], "takes one file or one directory, not 2 paths"),
        (["-"], "cannot take one from - (stdin)"),
        (["none.py"], "none.py: no such file"),
        (["a.py", "--interactive"], "--interactive and --verify do not go together"),
        (["a.py", "--shard", "1/2"], "--shard and --verify do not go together"),
        (["a.py", "--statistics"], "--statistics and --verify do not go together"),
        (["a.py", "--quick", "--min-speedup", "2"], "--min-speedup needs times"),
        (["a.py", "--min-speedup", "nan"], "--min-speedup: nan is no factor"),
        (["a.py", "--steps", "many"], "--steps: 'many' is no number of steps"),
        (["a.py", "--python", "none/python"], "there is no such interpreter"),
        (["a.py", "--output", "none/x"], "there is no directory none"),
        (["lib"], "no script was found that can be run"),
    ],
)
def test_wrong_use(cli: Cli, runs: FakeRuns, arguments: list[str], said: str) -> None:
    make(a=THREE, b=THREE, lib__c="old(1)\n")
    done = cli(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not runs.made
    assert Path("a.py").read_text() == THREE


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "3"], "--steps says how scripts are run: give --verify with it"),
        (["--min-speedup", "2"], "--min-speedup says how scripts are run: give --verify with it"),
        (["--format", "sarif", "--verify"], "--format sarif is for findings"),
    ],
)
def test_options_of_verify_without_it(cli: Cli, arguments: list[str], said: str) -> None:
    make(a=THREE)
    done = CliRunner().invoke(app, ["apply", "a.py", *arguments])
    assert done.exit_code == 2
    assert said in done.stderr
    assert Path("a.py").read_text() == THREE


# Interrupts and files that change meanwhile.


@pytest.mark.parametrize("kind", ["observed", "timed"])
def test_an_interrupt_leaves_the_files_as_they_were(cli: Cli, runs: FakeRuns, kind: str) -> None:
    make(train=THREE)

    def interrupted(run: Ran) -> str:
        if run.kind == kind and len(runs.of(kind)) > 3:
            raise KeyboardInterrupt
        return prints(run)

    runs.prints = interrupted
    done = cli("train.py", "--output", "report.txt")
    assert done.exit_code == 130
    assert done.stderr == "tfrewrite: interrupted; nothing was written\n"
    assert [path.name for path in Path().iterdir()] == ["train.py"]
    assert Path("train.py").read_text() == THREE


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What a shell starts in the background ignores Ctrl-C, and so do the tests in it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_while_files_are_written_waits(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import tensorflow\nfor step in x:\n    old(1)\n"
    make(a=text, b=text)
    write = textfile.write

    def interrupted(*arguments: Any) -> None:
        write(*arguments)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(textfile, "write", interrupted)
    assert cli(".").exit_code == 0
    assert "new(1)" in Path("a.py").read_text()
    assert "new(1)" in Path("b.py").read_text()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_file_that_changed_meanwhile_is_left_and_so_are_the_others(
    cli: Cli, runs: FakeRuns
) -> None:
    text = "import tensorflow\nfor step in x:\n    old(1)\n"
    make(a=text, b=text)

    def edits(run: Ran) -> str:
        if run.kind == "timed":
            Path("b.py").write_text(text + "# mine\n")
        return "1\n"

    runs.prints = edits
    done = cli(".")
    assert done.exit_code == 2
    assert "b.py: changed while it was being handled" in done.stderr
    assert "no file was rewritten" in done.stderr
    assert Path("a.py").read_text() == text
    assert Path("b.py").read_text() == text + "# mine\n"


def test_nothing_is_written_before_the_verdict(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(train=THREE)
    seen: list[str] = []

    def looking(run: Ran) -> str:
        seen.append(Path("train.py").read_text())
        return prints(run)

    runs.prints = looking

    def deciding(*arguments: Any) -> Any:
        found = decide(*arguments)
        assert Path("train.py").read_text() == THREE
        return found

    monkeypatch.setattr("tfrewrite.keeping.session.decide", deciding)
    cli("train.py")
    assert set(seen) == {THREE}
    assert Path("train.py").read_text() != THREE


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("number", "after_s"),
    [(signal.SIGINT, 3.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 3.0), (signal.SIGINT, 0.4)],
)
def test_a_signal_at_any_moment(tmp_path: Path, number: signal.Signals, after_s: float) -> None:
    """While the original runs, and before it does."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 12\n")
    python.chmod(0o755)
    script = tmp_path / "project" / "train.py"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    asked = [sys.executable, "-m", "tfrewrite", "apply", "--verify", str(script)]
    asked += ["--select", "TFR107", "--python", str(python)]
    # Not from the checkout, whose folders are not laid out as a package.
    with subprocess.Popen(asked, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        time.sleep(after_s)
        assert process.poll() is None
        process.send_signal(number)
        process.wait(10)
        assert process.stderr is not None
        said = process.stderr.read().decode() if number is not signal.SIGKILL else ""
    assert process.returncode != 0
    if process.returncode == 130:  # empty where it had not got that far
        assert said in {"", "tfrewrite: interrupted; nothing was written\n"}
    assert script.read_text() == SCRIPT
    assert [path.name for path in script.parent.iterdir()] == ["train.py"]


# At a terminal.


class Terminal(io.StringIO):
    """What is written to it is seen by a person."""

    def isatty(self) -> bool:
        return True


def said(monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[str]:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    asked = VerifyOptions([Path("train.py")], rules=Options(["train.py"]), runs=2, **options)
    session.KeepSession(session.KeepOptions(asked)).run()
    return terminal.getvalue().split("\r\x1b[K")


def test_what_it_costs_is_said_before_and_what_is_run_meanwhile(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(train=THREE.replace("    old(3)\n", ""))
    runs.takes_s = 2.0
    parts = [part.partition(": ")[2] for part in said(monkeypatch)]
    assert parts[2] == (
        "at most 6 more runs of about 2.0 s: 12 s; to tell 2 rewrites apart by their numbers at "
        "most 3 more runs: 6.0 s, by their times at most 3 comparisons of about 8.0 s: 24 s\n"
    )
    assert parts[3] == "with 2 rewrites, numbers: rewritten"
    assert "with 2 rewrites against 1, times: original (1 of 4)" in parts
    assert "with 1 rewrite against original, times: rewritten (2 of 4)" in parts


def test_nobody_is_told_who_wants_quiet(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(train=THREE)
    assert said(monkeypatch, quiet=True) == [""]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("bad", [0, 1, 2, 5])
def test_no_more_runs_than_foretold(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch, count: int, bad: int
) -> None:
    """Whether all hold, or none."""
    lines = "".join(f"    old({number + 10})\n" for number in range(count))
    make(train=f"import tensorflow\nfor step in x:\n{lines}")
    runs.prints = lambda run: (
        "2\n" if "new(" in run.text and f"new({bad + 9})" in run.text else "1\n"
    )
    runs.step_s = lambda run: 0.1 * 1.5 ** run.text.count("new(")
    told: list[str] = []
    monkeypatch.setattr("tfrewrite.live.Live.keep", lambda *said: told.append(said[-1]))
    cli("train.py", "--runs", "2")
    numbers, apart, comparisons = ([*map(int, re.findall(r"at most (\d+)", told[0])), 0, 0])[:3]
    assert len(runs.of("observed")) <= numbers + 1 + apart
    assert len(runs.of("timed")) <= 4 * (1 + comparisons)
