"""`-`, with a name for what it reads and without one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from notebook_maker import notebook, written
from tfrewrite import registry
from tfrewrite.cli import app
from toys import TOYS

Cli = Callable[..., Result]
FORMATS = ["text", "json", "github", "gitlab", "sarif", "junit", "markdown", "html"]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the program with the toy rules in a directory with a project in a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)
    Path("src/sub").mkdir(parents=True)
    Path("src/pyproject.toml").write_text(
        '[tool.tfrewrite]\nexclude = ["generated.py"]\n'
        '[tool.tfrewrite.per-file."sub/*.py"]\nallow = ["shifted"]\n'
    )
    runner = CliRunner()

    def call(*arguments: str, stdin: str | bytes = "") -> Result:
        return runner.invoke(app, [*arguments], input=stdin)

    return call


def test_standard_input(cli: Cli) -> None:
    done = cli("check", "-", stdin="old(1)\n")
    assert done.exit_code == 1
    assert "<stdin>:1:1: TFR901" in done.stdout
    done = cli("apply", "-", stdin=b"old(1)  # \xc3\xa9\r\n")
    assert done.exit_code == 0
    assert done.stdout_bytes == b"new(1)  # \xc3\xa9\r\n"
    assert "TFR901 [exact] old -> new (done)" in done.stderr
    assert cli("apply", "-", stdin="x = 1").stdout == "x = 1"
    assert "-old(1)\n+new(1)\n" in cli("apply", "-", "--diff", stdin="old(1)\n").stdout


def test_standard_input_that_is_bad(cli: Cli) -> None:
    done = cli("apply", "-", stdin="print 'x'\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "<stdin>: error: line 1: Python 2 syntax" in done.stderr
    assert cli("check", "-", stdin="").exit_code == 0


def test_a_name_is_shown_and_finds_the_settings(cli: Cli) -> None:
    for name in ("src/sub/x.py", str(Path("src/sub/x.py").resolve())):
        done = cli("check", "-", "--stdin-filename", name, stdin="old(shift)\n")
        assert done.stdout.startswith(f"{name}:1:1: TFR901 [shifted] old -> new\n")
        assert done.exit_code == 1
    done = cli("check", "-", "--stdin-filename", "src/x.py", stdin="old(shift)\n")
    assert "available with --allow shifted" in done.stdout
    assert done.exit_code == 0
    done = cli("apply", "-", "--stdin-filename", "src/sub/x.py", stdin="old(shift)\n")
    assert (done.exit_code, done.stdout) == (0, "new(shift)\n")
    assert not Path("src/sub/x.py").exists()


def test_the_diff_has_the_name(cli: Cli) -> None:
    done = cli("apply", "-", "--diff", "--stdin-filename", "src/a b.py", stdin="old(1)\n")
    assert done.exit_code == 1
    assert "--- a/src/a b.py\t\n+++ b/src/a b.py\t\n" in done.stdout


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_has_the_name(cli: Cli, format_: str) -> None:
    arguments = ("-", "--stdin-filename", "src/x.py", "--format", format_)
    done = cli("check", *arguments, stdin="old(1)\nold(*x)\n")
    assert "x" in done.stdout
    assert "stdin" not in done.stdout
    assert "starred" in done.stdout
    made = cli("apply", *arguments, stdin="old(1)\n")
    assert made.stdout == "new(1)\n"
    assert "stdin" not in made.stderr


def test_what_was_made_is_said_to_be(cli: Cli) -> None:
    cli("apply", "-", "--output", "json=r.json", stdin="old(1)\n")
    report = json.loads(Path("r.json").read_text())
    assert report["files"] == [{"path": "<stdin>", "status": "rewritten", "error": ""}]
    assert report["findings"][0]["applied"] is True
    cli("apply", "-", "--diff", "--output", "json=r.json", stdin="old(1)\n")
    report = json.loads(Path("r.json").read_text())
    assert report["files"][0]["status"] == "would-rewrite"


def test_what_is_excluded_comes_out_as_it_came(cli: Cli) -> None:
    arguments = ("-", "--stdin-filename", "src/generated.py")
    said = "src/generated.py: skipped: excluded by the settings or by --exclude\n"
    made = cli("apply", *arguments, "--quiet", stdin="old(1)\n")
    assert (made.exit_code, made.stdout, made.stderr) == (0, "old(1)\n", said)
    checked = cli("check", *arguments, stdin="old(1)\n")
    assert (checked.exit_code, checked.stderr) == (0, said)
    assert cli("apply", *arguments, "--diff", stdin="old(1)\n").stdout == ""


def test_a_notebook_by_its_name(cli: Cli) -> None:
    arguments = ("-", "--stdin-filename", "src/n.ipynb")
    data = written(notebook("x = old(1)"))
    assert cli("check", *arguments, stdin=data).stdout.startswith("src/n.ipynb:cell 1:1:5: TFR901")
    assert cli("apply", *arguments, stdin=data).stdout_bytes == data.replace(b"old", b"new")
    other = cli("apply", *arguments, stdin="old(1)\n")
    assert (other.exit_code, other.stdout) == (2, "")
    assert "src/n.ipynb: error: " in other.stderr
    assert "it is no notebook" in other.stderr
    # A name that ends otherwise is that of a script.
    script = cli("check", "-", "--stdin-filename", "n.py", stdin="{'nbformat': old(1)}\n")
    assert script.stdout.startswith("n.py:1:14: TFR901")


def test_a_notebook_that_is_none_of_ours_comes_out_as_it_came(cli: Cli) -> None:
    text = (
        '{"cells": [], "nbformat": 4, "nbformat_minor": 5, '
        '"metadata": {"kernelspec": {"language": "R"}}}'
    )
    done = cli("apply", "-", stdin=text)
    assert (done.exit_code, done.stdout) == (0, text)
    assert "<stdin>: skipped: its kernel runs r, not Python" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "src", "--stdin-filename", "x.py"), "give - as the path"),
        (("apply", "src", "--stdin-filename", "x.py"), "give - as the path"),
        (("check", "-", "--stdin-filename", "src"), "--stdin-filename: src: a directory"),
        (("check", "-", "src"), "takes no other path beside it"),
        (("apply", "-", "-"), "takes no other path beside it"),
        (("check", "-", "--since", "HEAD"), "--since asks git about files"),
        (("apply", "-", "--since", "HEAD"), "--since asks git about files"),
        (("check", "-", "--shard", "1/2"), "--shard divides files"),
        (("check", "-", "--watch"), "--watch needs files"),
        (("apply", "-", "--interactive"), "--interactive asks on standard input"),
        (("apply", "-", "--verify"), "cannot take one from - (stdin)"),
        (("verify", "-"), "cannot take one from - (stdin)"),
        (
            ("apply", "-", "--verify", "--stdin-filename", "x.py"),
            "--stdin-filename and --verify do not go together",
        ),
        (("report", "-"), "-: not JSON"),
    ],
)
def test_what_does_not_go_together(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli(*arguments, stdin="old(1)\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_standard_input_that_is_closed(tmp_path: Path) -> None:
    program = "import sys; sys.stdin = None; from tfrewrite.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "check", "-"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "tfrewrite: standard input is closed, and - reads it\n"


def test_a_report_out_of_a_pipe(cli: Cli) -> None:
    found = cli("check", "-", "--format", "json", stdin="old(1)\n").stdout
    merged = cli("report", "-", stdin=found)
    assert merged.exit_code == 0
    assert "1 rewrite to make" in merged.stdout
