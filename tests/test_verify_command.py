"""The command `verify` from the outside; most tests with runs that are made up."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fake_runs import FakeRuns, Ran
from tfrewrite import live, registry, verifying
from tfrewrite.cli import app
from tfrewrite.model import Contract
from tfrewrite.verify import cost
from tfrewrite.verify.batch import Job, verify_all
from tfrewrite.verify.experiment import Effort, Pair
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Subject, Verdict, Verification
from tfrewrite.verify.process import Ending, RunRequest, RunResult, run_script
from tfrewrite.verify.runs import Conditions, Program
from tfrewrite.verify.timing import RUNS
from toys import TOYS

Cli = Callable[..., Result]
CORPUS = Path(__file__).resolve().parent.parent / "corpus"
TRAIN = "import tensorflow as tf\nfor step in range(9):\n    old(1)\n"
NEW = TRAIN.replace("old", "new")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the program with the toy rules in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, ["verify", *arguments])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    """In place of all runs of scripts."""
    fake = FakeRuns()
    monkeypatch.setattr("tfrewrite.verify.runs.run_script", fake)
    return fake


def make(**files: str) -> None:
    for name, text in files.items():
        path = Path(f"{name.replace('__', '/')}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def settings(text: str) -> None:
    Path("pyproject.toml").write_text(f"[tool.tfrewrite]\n{text}")


# Verdicts and exit codes.


def test_a_pass(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    done = cli("train.py", "--quick")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("PASS  train.py: computes the same (exact), not timed\n")
    assert [run.text.count("new(1)") for run in runs.made] == [0, 1]
    assert Path("train.py").read_text() == TRAIN


def test_a_failure(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN, other=NEW)
    runs.prints = lambda run: "loss 2.5\n" if "new" in run.text else "loss 1.5\n"
    done = cli("train.py", "other.py")
    assert done.exit_code == 1
    assert done.stdout.startswith("FAIL  train.py: the rewritten version does not keep its promise")
    assert not runs.of("timed")


def test_what_is_inconclusive_is_no_success(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    runs.exit_code = 3
    done = cli("train.py")
    assert done.exit_code == 1
    assert done.stdout.startswith("INCONCLUSIVE  train.py: nothing was shown")
    assert len(runs.made) == 1


def test_nothing_to_verify(cli: Cli, runs: FakeRuns) -> None:
    make(plain="import tensorflow\nmain.run()\n")
    done = cli("plain.py")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "plain.py: nothing to verify: both versions of it are the same\n"
    assert cli("plain.py", "--quiet").stderr == ""
    assert cli(".").stderr == "plain.py: nothing to verify: both versions of it are the same\n"
    found = json.loads(cli(".", "--format", "json").stdout)
    assert found["verifications"] == []
    assert not runs.made


def test_many_with_nothing_to_verify_take_one_line(cli: Cli, runs: FakeRuns) -> None:
    plain = "import tensorflow\nmain.run()\n"
    make(a=plain, b=plain, c=TRAIN)
    done = cli(".", "--quick")
    assert done.exit_code == 0
    assert done.stderr == (
        "nothing to verify in 2 of 3 scripts: both versions of them are the same\n"
    )
    assert "b.py: nothing to verify" in cli(".", "--quick", "--verbose").stderr


def test_only_so_many_notes(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN, **{f"lib{number}": "old(1)\n" for number in range(8)})
    done = cli(".", "--quick")
    assert len(done.stderr.splitlines()) == 6
    assert "and 3 more such notes; see --verbose" in done.stderr
    assert len(cli(".", "--quick", "--verbose").stderr.splitlines()) == 8


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "none.py: no such file or directory"),
        (["-"], "cannot take one from -"),
        (["a.py", "-"], "cannot take one from -"),
        (["n.ipynb"], "n.ipynb: it is JSON and no notebook"),
        (["n.ipynb", "n.ipynb"], "n.ipynb: it is JSON and no notebook"),
        (["a.py", "."], "a.py and .: give two files or two directories"),
        (["a.py", "b.py", "a.py"], "verify takes one path or two"),
        (["a.py", "a.py"], "a.py and a.py are the same"),
        (["a.py", "--contract", "exakt"], "--contract: no contract 'exakt'; did you mean 'exact'"),
        (["a.py", "--steps", "many"], "--steps: 'many' is no number of steps; write 40, or all"),
        (["a.py", "--steps", "0"], "--steps: '0' is no number of steps"),
        (["a.py", "--args", "it's"], '--args: "it\'s" cannot be split as a shell does it'),
        (["a.py", "--timeout", "nan"], "--timeout: nan is no limit"),
        (["a.py", "--memory-limit", "inf"], "--memory-limit: inf is no limit"),
        (["a.py", "--python", "bin/python"], "bin/python: there is no such interpreter"),
        (["a.py", "--python", "."], ".: a directory; name the interpreter in it"),
        (["a.py", "--select", "TFR9999"], "TFR9999"),
        (["a.py", "--allow", "shfted"], "--allow: no contract 'shfted'"),
        (["a.py", "b.py", "--allow", "shfted"], "--allow: no contract 'shfted'"),
        (["a.py", "b.py", "--select", "TFR9999"], "TFR9999"),
        (["a.py", "b.py", "--target-tf", "old"], "--target-tf: 'old' is not"),
        (["a.py", "--config", "none.toml"], "none.toml: cannot be read"),
        (["a.py", "--output", "none/x"], "--output: none/x: there is no directory none"),
        (["a.py", "--output", "."], "--output: .: a directory; name a file"),
        (["a.py", "--output", "pdf=x"], "--output: 'pdf=x': write FILE, or one of text, json"),
        (["a.py", "--output", "html="], "--output: 'html=': write FILE"),
        (["a.py", "--output", "x,,y"], "--output: '': write FILE"),
        (["a.py", "--output", "x,json=x"], "--output: x: two reports cannot go to one file"),
    ],
)
def test_wrong_use(cli: Cli, runs: FakeRuns, arguments: list[str], said: str) -> None:
    make(a=TRAIN, b=NEW)
    Path("n.ipynb").write_text("{}")
    done = cli(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("tfrewrite: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not runs.made


@pytest.mark.parametrize(
    "arguments",
    [[], ["a.py", "--seeds", "0"], ["a.py", "--runs", "1"], ["a.py", "--device", "tpu"],
     ["a.py", "--format", "pdf"], ["a.py", "--jobs", "0"], ["a.py", "--timeout", "0"]],
)  # fmt: skip
def test_values_that_no_option_takes(cli: Cli, arguments: list[str]) -> None:
    assert cli(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "x"], "'x' is no whole number; write 1 or more"),
        (["--runs", "1"], "1 is too few; write 2 or more"),
        (["--timeout", "soon"], "'soon' is no number; write how many seconds"),
        (["--memory-limit", "1G"], "'1G' is no number; write how many MB"),
        (["--memory-limit", "0"], "0 is too little; write how many MB, 1 or more"),
    ],
)
def test_what_to_write_in_place_of_no_number(cli: Cli, arguments: list[str], said: str) -> None:
    done = cli("a.py", *arguments)
    assert done.exit_code == 2
    assert arguments[0] in done.stderr
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_wrong_settings_are_blamed_with_two_paths_too(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=NEW)
    settings("[tool.tfrewrite.verify]\nstep = 3\n")
    for paths in (["a.py", "b.py"], ["a.py"], ["."]):
        done = cli(*paths)
        assert done.exit_code == 2
        assert "pyproject.toml:3: no setting 'step'" in done.stderr


# Options.


def test_options_reach_the_runs(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    done = cli(
        "train.py", "--args", "--name 'a b'", "--steps", "7", "--timeout", "9",
        "--memory-limit", "500", "--device", "cpu", "--runs", "2", "--legacy-keras",
        "--synthetic-data", "--python", sys.executable,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for run in runs.made:
        request = run.request
        assert request.arguments == ("--name", "a b")
        assert (request.time_limit_s, request.memory_limit_mb) == (9, 500)
        assert request.python == Path(sys.executable)
        assert run.environment["CUDA_VISIBLE_DEVICES"] == "-1"
        assert run.environment["TF_USE_LEGACY_KERAS"] == "1"
        assert run.asked["synthetic"] is True
    assert [run.asked["steps"] for run in runs.of("observed")] == [7, 7]
    assert len(runs.of("timed")) == 4


def test_made_up_data_are_named_where_they_were_taken(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert "made-up" not in cli("train.py", "--synthetic-data").stdout
    runs.summary = {"served": ["cifar10", "mnist"]}
    done = cli("train.py", "--synthetic-data")
    assert "note      made-up data stood in for cifar10, mnist\n" in done.stdout


def test_without_options(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert cli("train.py").exit_code == 0
    first = runs.made[0]
    assert first.asked["budget_s"] > 0
    assert first.request.python == Path(sys.executable)
    assert "CUDA_VISIBLE_DEVICES" not in first.environment
    assert len(runs.of("timed")) == 2 * RUNS


def test_all_steps(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert cli("train.py", "--quick", "--steps", "all").exit_code == 0
    assert [(run.asked["steps"], run.asked["budget_s"]) for run in runs.made] == [(0, 0.0)] * 2


def test_seeds(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert cli("train.py", "--quick", "--seeds", "3").exit_code == 0
    assert {run.asked["seed"] for run in runs.made} == {1, 2, 3}


def test_an_interpreter_by_a_relative_path(cli: Cli, runs: FakeRuns) -> None:
    make(sub__train=TRAIN)
    Path("python").symlink_to(sys.executable)
    settings('[tool.tfrewrite.verify]\npython = "python"\n')
    assert cli("sub/train.py", "--quick").exit_code == 0
    assert cli("sub/train.py", "--quick", "--python", "./python").exit_code == 0
    assert {run.request.python.absolute() for run in runs.made} == {Path("python").absolute()}


def test_the_promise(cli: Cli, runs: FakeRuns) -> None:
    make(a="old(shift)\nold(1)\n", b="new(1)\n")
    for arguments, contract in (
        (["a.py"], "exact"),
        (["a.py", "--allow", "shifted"], "shifted"),
        (["a.py", "--allow", "shifted", "--contract", "exact"], "exact"),
        (["a.py", "b.py"], "rounding"),
        (["a.py", "b.py", "--contract", "shifted"], "shifted"),
    ):
        done = json.loads(cli(*arguments, "--quick", "--format", "json").stdout)
        assert done["verifications"][0]["contract"] == contract


def test_select_ignore_exclude_and_overrides(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=TRAIN)

    def verified(*arguments: str) -> list[str]:
        found = json.loads(cli(".", "--quick", "--format", "json", *arguments).stdout)
        return [one["script"] for one in found["verifications"]]

    assert verified() == ["a.py", "b.py"]
    assert verified("--select", "TFR902") == []
    assert verified("--ignore", "rename-old") == []
    assert verified("--exclude", "a.py") == ["b.py"]
    settings('exclude = ["b.py"]\n')
    assert verified() == ["a.py"]
    settings('[tool.tfrewrite.per-file."a.py"]\nselect = ["TFR902"]\n')
    assert verified() == ["b.py"]


# Settings.


def test_listed_scripts_with_settings_of_their_own(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b__c=TRAIN, d=TRAIN)
    Path("python").symlink_to(sys.executable)
    settings(
        "[tool.tfrewrite.verify]\nquick = true\nsteps = 3\nscripts = [\n"
        "  { path = 'a.py', args = '-x', steps = 5, timeout = 7, python = 'python',"
        " contract = 'rounding' },\n  { path = 'b/c.py' },\n]\n"
    )
    found = json.loads(cli(".", "--format", "json").stdout)["verifications"]
    assert [(one["script"], one["contract"]) for one in found] == [
        ("a.py", "rounding"), ("b/c.py", "exact"),
    ]  # fmt: skip
    own, other = runs.made[0], runs.made[-1]
    assert (own.script, own.request.arguments, own.asked["steps"]) == ("a.py", ("-x",), 5)
    assert own.request.time_limit_s == 7
    assert own.request.python.name == "python"
    assert (other.script, other.request.arguments, other.asked["steps"]) == ("b/c.py", (), 3)
    runs.made.clear()
    assert cli("a.py", "--args=-y").exit_code == 0
    assert runs.made[0].request.arguments == ("-y",)
    assert runs.made[0].asked["steps"] == 5


def test_a_listed_script_that_is_not_there(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN)
    settings("[tool.tfrewrite.verify]\nscripts = [{ path = 'b.py' }]\n")
    done = cli(".")
    assert done.exit_code == 2
    assert "there is no file b.py" in done.stderr


def test_a_script_for_version_1_by_what_it_imports(cli: Cli, runs: FakeRuns) -> None:
    make(
        run__train="from lib import net\nfor x in y:\n    old(1)\n",
        lib__net="import tensorflow as tf\nx = tf.placeholder(tf.float32)\n",
    )
    assert cli(".", "--quick").exit_code == 0
    first = runs.made[0]
    assert first.asked["is_tf1"] is True
    assert first.environment["PYTHONPATH"].split(os.pathsep)[1] == "."


# Reports.


def test_one_report_for_several_scripts(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=TRAIN)
    done = cli(".", "--quick")
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["PASS  a.py", "PASS  b.py"]
    assert lines[2].startswith("2 passes in 2 scripts")


def test_one_script_that_fails_makes_the_exit_code(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=TRAIN)
    runs.prints = lambda run: "9.5\n" if "new" in run.text and run.script == "b.py" else "1.5\n"
    done = cli(".", "--quick")
    assert done.exit_code == 1
    assert "PASS  a.py" in done.stdout
    assert "FAIL  b.py" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "on_stdout", "files"),
    [
        ([], "text", {}),
        (["--format", "json"], "json", {}),
        (["--format", "markdown"], "markdown", {}),
        (["--format", "html"], "html", {}),
        (["--output", "o"], "", {"o": "text"}),
        (["--format", "json", "--output", "o"], "", {"o": "json"}),
        (["--output", "html=h"], "text", {"h": "html"}),
        (["--output", "html=h,json=j"], "text", {"h": "html", "j": "json"}),
        (["--output", "html=h", "--output", "json=j"], "text", {"h": "html", "j": "json"}),
        (["--output", "text=t,markdown=m"], "", {"t": "text", "m": "markdown"}),
        (["--format", "json", "--output", "json=j,html=h"], "", {"j": "json", "h": "html"}),
        (["--format", "json", "--output", "html=h"], "json", {"h": "html"}),
        (["--output", "o, html=h"], "", {"o": "text", "h": "html"}),
        (["--output", "json=a b/j.json"], "text", {"a b/j.json": "json"}),
    ],
)
def test_outputs(
    cli: Cli, runs: FakeRuns, arguments: list[str], on_stdout: str, files: dict[str, str]
) -> None:
    make(train=TRAIN)
    Path("a b").mkdir()
    done = cli("train.py", "--quick", *arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert _format(done.stdout) == on_stdout
    assert {name: _format(Path(name).read_text()) for name in files} == files
    assert {path.name for path in Path().iterdir()} == {
        "train.py", "a b", *(name for name in files if "/" not in name),
    }  # fmt: skip


def _format(report: str) -> str:
    for name, start in (("json", "{"), ("html", "<!"), ("text", "PASS"), ("markdown", "")):
        if report.lstrip().startswith(start):
            return name if report else ""
    return report


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(train=TRAIN)
    monkeypatch.setattr("os.access", lambda path, _: path != Path())
    done = cli("train.py", "--output", "report.html")
    assert done.exit_code == 2
    assert "--output: report.html: cannot be written" in done.stderr
    assert not runs.made


def test_quiet(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert len(cli("train.py", "--quick", "--quiet").stdout.splitlines()) == 1


# Devices.


def test_both_devices(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    done = cli("train.py", "--quick", "--device", "both")
    assert done.exit_code == 1
    assert "PASS  train.py on cpu: computes the same" in done.stdout
    assert "INCONCLUSIVE  train.py on gpu: " in done.stdout
    assert "a GPU was asked for, and TensorFlow saw CPU" in done.stdout
    runs.summary = {"environment": {"devices": ["CPU", "GPU"]}}
    runs.made.clear()
    assert cli("train.py", "--quick", "--device", "both").exit_code == 0
    hidden = ["CUDA_VISIBLE_DEVICES" in run.environment for run in runs.made]
    assert hidden == [True, True, False, False]


# Batches.


def test_numbers_beside_each_other_and_times_alone(cli: Cli, runs: FakeRuns) -> None:
    make(**{f"s{number}": TRAIN for number in range(4)})
    runs.lasts_s = 0.1
    assert cli(".", "--runs", "2", "--jobs", "3").exit_code == 0
    assert max(run.beside for run in runs.of("observed")) in {1, 2}
    assert {run.beside for run in runs.of("timed")} == {0}
    kinds = [run.kind for run in runs.made]
    assert kinds == sorted(kinds)  # all that is observed comes first
    scripts = [run.script for run in runs.of("timed")]
    assert scripts == sorted(scripts)


def test_one_after_the_other_by_default(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=TRAIN)
    runs.lasts_s = 0.02
    assert cli(".", "--runs", "2").exit_code == 0
    assert {run.beside for run in runs.made} == {0}


def job(tree: Path, script: str = "train.py", **effort: Any) -> Job:
    subject = Subject(script, script, script, Contract.EXACT)
    original = Program(tree, script)
    rewritten = Program(tree, script, ((script, NEW.encode()),))
    pair = Pair(subject, original, rewritten, Promise(Contract.EXACT))
    return Job(
        pair, Conditions(Path(sys.executable)), Effort(**{"steps": 3, "timed": False} | effort)
    )


def ignored(script: str, what: str) -> None:
    del script, what


def test_an_executor_may_be_given(tmp_path: Path, runs: FakeRuns) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    threads = set()

    class Noting(ThreadPoolExecutor):
        def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
            threads.add(threading.get_ident())
            return super().submit(call, *arguments, **named)

    with Noting(2) as executor:
        found = verify_all([job(tmp_path), job(tmp_path)], ignored, executor=executor)
        assert executor.submit(int).result() == 0  # it is left to whoever gave it
    assert [one.verdict for one in found] == [Verdict.PASS] * 2
    assert threads


def test_each_has_its_own_time(tmp_path: Path, runs: FakeRuns) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.lasts_s = 0.5
    found = verify_all([job(tmp_path), job(tmp_path)], ignored)
    assert all(0.95 <= one.elapsed_s < 1.9 for one in found)


@pytest.mark.parametrize(
    ("executed", "verdict"),
    [
        (["a.py", "b.py"], "pass"),
        (["a.py"], "pass"),
        (["b.py"], "inconclusive"),
        ([], "inconclusive"),
    ],
)
def test_what_a_listed_script_may_load_or_not(
    cli: Cli, runs: FakeRuns, executed: list[str], verdict: str
) -> None:
    """No import tells whether it loads b.py; where it does not, only that file is left out."""
    make(a=TRAIN, b=TRAIN)
    settings("[tool.tfrewrite.verify]\nscripts = [{ path = 'a.py' }]\n")
    runs.summary = {"executed": executed}
    (one,) = json.loads(cli(".", "--quick", "--format", "json").stdout)["verifications"]
    assert one["verdict"] == verdict
    told = [note for note in (one["numerics"] or {"notes": []})["notes"] if "b.py" in note]
    of_b = [change for change in one["changes"] if change["message"].startswith("b.py: ")]
    if verdict == "pass":
        assert bool(told) is ("b.py" not in executed)
        assert bool(of_b) is ("b.py" in executed)


def test_a_listed_script_that_is_as_it_was_beside_files_of_others(cli: Cli, runs: FakeRuns) -> None:
    make(a="print('loss 1.5')\n", b=TRAIN)
    settings("[tool.tfrewrite.verify]\nscripts = [{ path = 'a.py' }]\n")
    runs.summary = {"executed": ["a.py"]}
    done = cli(".", "--quick", "--format", "json")
    (one,) = json.loads(done.stdout)["verifications"]
    assert (done.exit_code, one["verdict"], one["changes"]) == (0, "pass", [])
    assert any("nothing is shown of it: b.py" in note for note in one["numerics"]["notes"])


def test_a_changed_file_that_was_not_executed_shows_nothing(tmp_path: Path, runs: FakeRuns) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.summary = {"executed": ["other.py"]}
    (found,) = verify_all([job(tmp_path)], ignored)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.headline == "nothing was shown about the promise (exact)"
    assert found.reason == "train.py was changed, and the script did not execute it"
    assert found.numerics is not None
    assert found.numerics.verdict is Verdict.INCONCLUSIVE


def test_what_this_machine_cannot_do_ends_one_script_only(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=TRAIN)

    def prints(run: Ran) -> str:
        if run.script == "a.py":
            raise OSError(28, "No space left on device")
        return "loss 1.5\n"

    runs.prints = prints
    done = cli(".", "--runs", "2")
    assert done.exit_code == 1
    assert "INCONCLUSIVE  a.py: nothing was shown about the promise (exact)" in done.stdout
    assert "could not do what was needed: [Errno 28] No space left on device" in done.stdout
    assert "PASS  b.py: computes the same (exact), " in done.stdout


def test_an_interrupt_ends_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    stopped: list[bool] = []

    def running(request: RunRequest) -> Any:
        assert request.given_up is not None
        if len(stopped) == 0 and threading.current_thread().name.endswith("_0"):
            time.sleep(0.2)
            raise KeyboardInterrupt
        stopped.append(request.given_up.wait(20))
        raise KeyboardInterrupt

    monkeypatch.setattr("tfrewrite.verify.runs.run_script", running)
    with pytest.raises(KeyboardInterrupt):
        verify_all([job(tmp_path)] * 5, ignored, beside=2)
    assert all(stopped)


def test_a_run_that_is_given_up_ends(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import time; time.sleep(60)\n")
    given_up = threading.Event()
    threading.Timer(0.5, given_up.set).start()
    request = RunRequest(Path(sys.executable), tmp_path, "a.py", given_up=given_up)
    result = run_script(request)
    assert result.ending is Ending.TIMED_OUT
    assert result.elapsed_s < 20


def test_a_rewritten_version_that_was_stopped_once_is_tried_again(
    tmp_path: Path, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    stopped: list[RunRequest] = []

    def stopping(request: RunRequest) -> RunResult:
        result = runs(request)
        if stopped or not request.launcher or "new" not in runs.made[-1].text:
            return result
        stopped.append(request)
        return replace(result, ending=Ending.TIMED_OUT)

    monkeypatch.setattr("tfrewrite.verify.runs.run_script", stopping)
    (found,) = verify_all([job(tmp_path)], ignored)
    assert found.verdict is Verdict.PASS, found.reason
    assert stopped and ["new" in run.text for run in runs.made] == [False, True, True]


def test_a_race_of_the_original_that_not_each_of_its_runs_shows(
    tmp_path: Path, runs: FakeRuns
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)

    def raced(run: Ran) -> str:
        late = len([one for one in runs.made if "old" in one.text]) > 2
        return f"loss {1.5 + 0.1 * ('new' in run.text or late):.9f}\n"

    runs.prints = raced
    (found,) = verify_all([job(tmp_path)], ignored)
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert ["new" in run.text for run in runs.made] == [False, True, False, False, False]


@pytest.mark.parametrize("name", ["w:0", "v:0"])
def test_a_variable_that_only_the_original_forgets(
    tmp_path: Path, runs: FakeRuns, name: str
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.seen = {**runs.seen, "only_rewritten": [["weights", "w:0"], ["final", "w:0"]]}
    runs.summary = {"forgotten": [name]}
    was_made = name == "w:0"
    (found,) = verify_all([job(tmp_path)], ignored)
    assert found.verdict is (Verdict.PASS if was_made else Verdict.FAIL), found.reason
    assert found.numerics is not None
    kept = [note for note in found.numerics.notes if note.startswith("w:0: kept longer")]
    assert len(kept) == was_made


def test_an_interrupted_command(cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    make(train=TRAIN)

    def interrupted(run: Ran) -> str:
        raise KeyboardInterrupt

    runs.prints = interrupted
    done = cli("train.py", "--output", "report.txt")
    assert done.exit_code == 130
    assert done.stderr == "tfrewrite: interrupted; nothing was written\n"
    assert not Path("report.txt").exists()


# What it costs.


def rounded(run: Ran) -> str:
    """As if the rewrite and moved weights both changed the last digits."""
    moved = "new" in run.text or run.asked.get("nudge") is not None
    return f"loss {1.5 + 1e-7 * moved:.9f}\n"


@pytest.mark.parametrize("contract", list(Contract))
@pytest.mark.parametrize("steps", [None, 3])
def test_no_more_runs_than_foretold(
    tmp_path: Path, runs: FakeRuns, contract: Contract, steps: int | None
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.prints = rounded
    runs.summary = {"limits": {"1": 3}}
    told: list[str] = []
    one = job(tmp_path, steps=steps, timed=True, seeds=2)
    one = replace(one, pair=replace(one.pair, promise=Promise(contract)))
    verify_all([one], ignored, foretell=lambda _, what: told.append(what))
    most = cost.most_runs(one.effort, one.pair.promise)
    assert len(runs.made) <= most
    (line,) = told
    assert line.startswith(f"at most {most - 1} more runs of about ")


def test_the_most_runs_are_made_where_rounding_shows(tmp_path: Path, runs: FakeRuns) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.prints = rounded
    runs.summary = {"limits": {"1": 3}}
    one = job(tmp_path, steps=None, timed=True)
    one = replace(one, pair=replace(one.pair, promise=Promise(Contract.ROUNDING)))
    (found,) = verify_all([one], ignored)
    assert found.verdict is Verdict.PASS, found.reason
    assert len(runs.made) == cost.most_runs(one.effort, one.pair.promise)


ONEDNN = {"environment": {"python": "3.11", "tensorflow": "2.21.0", "devices": ["CPU"]}}


def without_onednn(run: Ran) -> bool:
    return run.environment.get("TF_ENABLE_ONEDNN_OPTS") == "0"


def rounded_by_onednn(by: float) -> Callable[[Ran], str]:
    def prints(run: Ran) -> str:
        return f"loss {1.5 + by * ('new' in run.text and not without_onednn(run)):.9f}\n"

    return prints


def held_to_rounding(tmp_path: Path, **asked: Any) -> Verification:
    (tmp_path / "train.py").write_text(TRAIN)
    one = job(tmp_path, **asked)
    one = replace(one, pair=replace(one.pair, promise=Promise(Contract.ROUNDING)))
    (found,) = verify_all([one], ignored)
    return found


def test_what_only_the_kernels_of_onednn_round_otherwise(tmp_path: Path, runs: FakeRuns) -> None:
    runs.prints = rounded_by_onednn(1e-4)
    runs.summary = ONEDNN
    found = held_to_rounding(tmp_path, steps=3)
    assert found.verdict is Verdict.PASS, found.reason
    assert found.numerics is not None
    assert "held to each other without oneDNN" in found.numerics.notes[-1]
    assert [without_onednn(run) for run in runs.made] == [False] * 5 + [True] * 2


def test_what_differs_by_other_kernels_as_well_fails(tmp_path: Path, runs: FakeRuns) -> None:
    runs.prints = lambda run: f"loss {1.5 + 1e-4 * ('new' in run.text):.9f}\n"
    runs.summary = ONEDNN
    found = held_to_rounding(tmp_path, steps=3)
    assert found.verdict is Verdict.FAIL
    assert found.numerics is not None and not found.numerics.notes
    assert len([run for run in runs.made if without_onednn(run)]) == 5


@pytest.mark.parametrize(
    ("by", "summary"),
    [(1e-1, ONEDNN), (1e-4, {}), (1e-4, {"environment": {"tensorflow": "2.4.4"}})],
    ids=["far away", "TensorFlow 1", "before oneDNN"],
)
def test_where_the_kernels_are_no_excuse(
    tmp_path: Path, runs: FakeRuns, by: float, summary: dict[str, Any]
) -> None:
    runs.prints = rounded_by_onednn(by)
    runs.summary = summary
    found = held_to_rounding(tmp_path, steps=3)
    assert found.verdict is Verdict.FAIL
    assert not any(map(without_onednn, runs.made))


@pytest.mark.parametrize(
    ("limits", "error", "advice"),
    [
        ({}, "ValueError: 3 and 9", "run it by itself with this interpreter first"),
        ({"1": 3}, "ValueError: 3 and 9", "its loops were cut short, which may be why"),
        ({"1": 3}, "ModuleNotFoundError: No module named 'gym'", "install gym there"),
        (
            {},
            "TypeError: float() argument must be a string or a number, not 'Tensor'",
            "it seems to be written for TensorFlow 2, and here is 1.15.5",
        ),
        (
            {},
            "AttributeError: 'Tensor' object has no attribute 'numpy'",
            "it seems to be written for TensorFlow 2",
        ),
    ],
)
def test_what_to_do_where_the_original_fails(
    cli: Cli, runs: FakeRuns, limits: dict[str, int], error: str, advice: str
) -> None:
    make(a=TRAIN)
    runs.summary = {"ended": "error", "error": error, "limits": limits}
    done = json.loads(cli("a.py", "--quick", "--steps", "3", "--format", "json").stdout)
    (one,) = done["verifications"]
    assert one["verdict"] == "inconclusive"
    assert one["advice"].startswith(advice)


def test_where_nothing_is_drawn_anew_one_seed_tells_more_than_several(
    cli: Cli, runs: FakeRuns
) -> None:
    make(a=TRAIN, b=NEW)
    (one,) = resampled(cli)
    assert (one["verdict"], one["numerics"]["contract"]) == ("pass", "resampled")
    assert "are the same bit for bit" in one["reason"]
    assert "might have been others and are the same" in one["numerics"]["notes"][-1]
    assert (one["numerics"]["seeds"], len(runs.made)) == (1, 2)


def test_other_draws_are_compared_over_all_seeds(cli: Cli, runs: FakeRuns) -> None:
    make(a=TRAIN, b=NEW)
    runs.prints = drawn
    (one,) = resampled(cli)
    assert one["verdict"] == "pass"
    assert (one["numerics"]["seeds"], len(runs.made)) == (7, 14)


@pytest.mark.parametrize("known", [True, False])
def test_values_of_before_an_update_among_other_draws(
    tmp_path: Path, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    """A loss read earlier is larger in each run, which is no matter of what is drawn."""
    (tmp_path / "train.py").write_text(TRAIN)
    times = {"loss:0": [True]}
    monkeypatch.setattr("tfrewrite.verify.experiment.read_with_updates", lambda _: times)
    runs.prints = lambda run: drawn(run, 5.0 if run.asked["early"] or "new" in run.text else 1.0)
    one = job(tmp_path, steps=3, seeds=5)
    others = frozenset({Contract.SHIFTED} if known else ())
    one = replace(one, pair=replace(one.pair, promise=Promise(Contract.RESAMPLED, others)))
    (found,) = verify_all([one], ignored)
    assert found.verdict is (Verdict.PASS if known else Verdict.FAIL), found.reason
    assert len(runs.made) == (15 if known else 10)
    assert len(runs.made) <= cost.most_runs(one.effort, one.pair.promise)


def test_values_of_before_an_update_among_rounding(
    tmp_path: Path, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    times = {"loss:0": [True]}
    monkeypatch.setattr("tfrewrite.verify.experiment.read_with_updates", lambda _: times)
    runs.prints = lambda run: (
        rounded(run) if run.asked["early"] or "new" in run.text else "loss 3.0\n"
    )
    one = job(tmp_path, steps=3)
    promise = Promise(Contract.SHIFTED, frozenset({Contract.ROUNDING, Contract.SHIFTED}))
    (found,) = verify_all([replace(one, pair=replace(one.pair, promise=promise))], ignored)
    assert found.verdict is Verdict.PASS, found.reason
    assert found.numerics is not None
    assert found.numerics.notes == ("loss:0: of before the update of the same step",)


@pytest.mark.parametrize(
    ("rewritten", "reason"),
    [
        ("", "nothing instead of"),
        ("loss 1.01\nloss 1.02\n", "instead of nothing"),
        ("cost 1.01\n", "'cost #' instead of 'loss #'"),
    ],
)
def test_what_is_no_matter_of_draws_has_to_be_the_same(
    cli: Cli, runs: FakeRuns, rewritten: str, reason: str
) -> None:
    make(a=TRAIN, b=NEW)
    runs.prints = lambda run: rewritten if "new" in run.text else drawn(run)
    (one,) = resampled(cli)
    assert one["verdict"] == "fail"
    assert reason in one["reason"]


@pytest.mark.parametrize("varies", [True, False])
def test_what_the_original_says_otherwise_under_another_seed_shows_nothing(
    cli: Cli, runs: FakeRuns, *, varies: bool
) -> None:
    make(a=TRAIN, b=NEW)

    def prints(run: Ran) -> str:
        often = run.asked["seed"] if varies else 1
        return drawn(run) + "better\n" * (often + ("new" in run.text))

    runs.prints = prints
    (one,) = resampled(cli)
    assert one["verdict"] == ("pass" if varies else "fail")


def test_steps_are_no_matter_of_draws(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(a=TRAIN, b=NEW)
    runs.prints = drawn
    real = runs._summary
    monkeypatch.setattr(
        runs, "_summary", lambda run: {**real(run), "steps": 8 if "new" in run.text else 9}
    )
    (one,) = resampled(cli)
    assert one["verdict"] == "fail"
    assert "makes 8 steps, the original 9" in one["reason"]


def test_a_script_with_all_its_own_seeds_shows_nothing_of_other_draws(
    cli: Cli, runs: FakeRuns
) -> None:
    make(a=TRAIN, b=NEW)
    runs.prints = lambda run: "loss 1.25\n" if "new" in run.text else "loss 1.5\n"
    (one,) = resampled(cli)
    assert one["verdict"] == "inconclusive"
    assert "gives its seeds itself" in one["reason"]


def drawn(run: Ran, loss: float = 1.0) -> str:
    """As if the rewrite drew other numbers."""
    other = 7 if "new" in run.text else 3
    return f"loss {loss + 0.01 * (run.asked['seed'] * other % 5):.9f}\n"


def resampled(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    asked = arguments or ("a.py", "b.py", "--contract", "resampled")
    done = cli(*asked, "--quick", "--steps", "3", "--format", "json")
    found: list[dict[str, Any]] = json.loads(done.stdout)["verifications"]
    return found


@pytest.mark.parametrize(
    ("own", "asked_for", "timed"),
    [((1.0, 1.0), None, 8), ((0.5, 0.5), None, 8), ((1.0, 1.2), None, 24), ((1.0, 1.2), 5, 10)],
    ids=["the same", "faster", "hard to tell", "a number was asked for"],
)
def test_more_runs_are_timed_where_they_may_show_a_difference(
    tmp_path: Path, runs: FakeRuns, own: tuple[float, ...], asked_for: int | None, timed: int
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)

    def step_s(run: Ran) -> float:
        number = len(runs.of("timed"))
        return 0.1 * own[number // 2 % 2] if "new" in run.text else 0.1

    runs.step_s = step_s
    one = job(tmp_path, timed=True)
    verify_all([replace(one, effort=replace(one.effort, runs=asked_for))], ignored)
    assert len(runs.of("timed")) == timed


def test_the_cost_of_a_script_that_is_cut_short(tmp_path: Path, runs: FakeRuns) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    runs.takes_s = 8.0

    def foretold(promise: Promise | None = None, **summary: Any) -> str:
        runs.summary = summary
        told: list[str] = []
        one = job(tmp_path, steps=None)
        one = replace(one, pair=replace(one.pair, promise=promise or one.pair.promise))
        verify_all([one], ignored, foretell=lambda _, what: told.append(what))
        return told[0]

    rounding = Promise(Contract.ROUNDING)
    told = foretold(rounding, limits={}, **ONEDNN)
    assert told.endswith(", and 40 s where only kernels may differ")
    assert foretold(limits={}) == "at most 4 more runs of about 8.0 s: 32 s"
    assert foretold(limits={"1": 4}, steps=4) == "at most 5 more runs of about 80 s: 7 min"
    assert foretold(limits={"1": 99}, steps=99) == "at most 5 more runs of about 8.0 s: 40 s"


# At a terminal.


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> str:
    """What is written to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        call()
    data = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        data += part
    os.close(ours)
    return data.decode()


def session(path: str, **options: Any) -> Callable[[], object]:
    def call() -> object:
        from tfrewrite.options import Options  # noqa: PLC0415

        asked = verifying.VerifyOptions([Path(path)], rules=Options([path]), **options)
        return verifying.VerifySession(asked).verifications()

    return call


def test_a_live_line_for_each_phase_and_run(
    cli: Cli, runs: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(train=TRAIN)
    runs.takes_s = 2.0
    seen = at_a_terminal(monkeypatch, session("train.py", steps="3", runs=2))
    parts = seen.split("\r\x1b[K")
    assert parts[0] == parts[-1] == ""
    phases = [part.partition(": ")[2] for part in parts[1:-1]]
    assert phases == [
        "numbers: original, plain",
        "at most 6 more runs of about 2.0 s: 12 s\r\n",
        "numbers: rewritten",
        "times: original (1 of 4)",
        "times: rewritten (2 of 4)",
        "times: rewritten (3 of 4)",
        "times: original (4 of 4)",
    ]
    assert at_a_terminal(monkeypatch, session("train.py", quiet=True)) == ""


def test_nothing_of_it_in_a_pipe(cli: Cli, runs: FakeRuns) -> None:
    make(train=TRAIN)
    assert cli("train.py").stderr == ""


def test_a_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    line = live.Live(silent=False)
    seen = at_a_terminal(
        monkeypatch, lambda: line.show(f"\x1b[31mlong/{'x' * 99}/name.py", "numbers\r: " + "y" * 99)
    )
    shown = seen.removeprefix("\r\x1b[K")
    assert len(shown) == 39
    assert not set(shown) & set("\r\x1b")


# With TensorFlow.


def verify(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tfrewrite", "verify", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.tensorflow
def test_a_tree_whose_module_has_the_loop(tf1_python: Path, tmp_path: Path) -> None:
    tree = tmp_path / "my tree"
    (tree / "pkg").mkdir(parents=True)
    source = (CORPUS / "regression_metrics" / "original.py").read_text()
    (tree / "pkg" / "loop.py").write_text(source)
    (tree / "run.py").write_text("from pkg import loop\n")
    python = Path(os.path.relpath(tf1_python, tmp_path))
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.tfrewrite.verify]\npython = {str(python)!r}\nquick = true\nsteps = 4\n"
        "scripts = [{ path = 'my tree/run.py' }]\n"
    )
    done = verify("my tree", "--output", "json=report.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.startswith("PASS  run.py: computes the same")
    (one,) = json.loads((tmp_path / "report.json").read_text())["verifications"]
    assert "pkg/loop.py: " in json.dumps(one)
    assert (tree / "pkg" / "loop.py").read_text() == source


@pytest.mark.tensorflow
def test_two_files_where_one_is_wrong(tf2_python: Path, tmp_path: Path) -> None:
    source = (CORPUS / "regression_metrics" / "original.py").read_text()
    (tmp_path / "train.py").write_text(source)
    assert "AdamOptimizer(0.1)" in source
    wrong = source.replace("AdamOptimizer(0.1)", "AdamOptimizer(0.1001)")
    (tmp_path / "wrong.py").write_text(wrong)
    done = verify(
        "train.py", "wrong.py", "--python", tf2_python, "--quick", "--steps", "4",
        "--contract", "exact", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("FAIL  train.py: ")
