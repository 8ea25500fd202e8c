"""The command line, from the outside."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tfrewrite
from tfrewrite import registry
from tfrewrite.cli import app
from tfrewrite.rule_texts import rule_texts
from toys import TOYS

Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the program with the toy rules in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)
    monkeypatch.setattr("tfrewrite.catalogue.all_rules", lambda: TOYS)
    runner = CliRunner()

    def call(*arguments: str, stdin: str | bytes = "") -> Result:
        return runner.invoke(app, [*arguments], input=stdin)

    return call


def make(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def test_check_writes_nothing_and_finds(cli: Cli) -> None:
    make(x="old(1)\n", y="x = 1\n")
    done = cli("check", ".")
    assert done.exit_code == 1
    assert "x.py:1:1: TFR901 [exact] old -> new" in done.stdout
    assert "1 rewrite to make in 2 files" in done.stdout
    assert Path("x.py").read_text() == "old(1)\n"
    assert {path.name for path in Path().iterdir()} == {".cache", "x.py", "y.py"}


def test_check_with_nothing_to_do(cli: Cli) -> None:
    make(x="x = 1\n", empty="")
    done = cli("check", "x.py", "empty.py")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("nothing to do in 2 files")


def test_a_dry_run_says_what_a_wet_one_does(cli: Cli) -> None:
    make(x="a = one(old(1))\nb = one(2)\nold(shift)\n")
    dry = json.loads(cli("check", ".", "--format", "json").stdout)
    wet = json.loads(cli("apply", ".", "--format", "json").stdout)
    for finding in dry["findings"]:
        finding["applied"] = finding["applicable"]
    assert dry["findings"] == wet["findings"]
    assert Path("x.py").read_text() == "a, b = many(new(1), 2)\nold(shift)\n"
    assert wet["files"] == [{"path": "x.py", "status": "rewritten", "error": ""}]
    assert cli("check", ".").exit_code == 0
    assert cli("apply", ".").exit_code == 0


def test_allow(cli: Cli) -> None:
    make(x="old(shift)\n")
    assert "available with --allow shifted" in cli("apply", "x.py").stdout
    assert cli("apply", "x.py", "--allow", "shifted,precision").exit_code == 0
    assert Path("x.py").read_text() == "new(shift)\n"


def test_select_and_ignore(cli: Cli) -> None:
    make(x="old(1)\nbug()\n")
    assert "TFR904" not in cli("check", "x.py", "--select", "TFR901,TFR902").stdout
    assert "TFR901" not in cli("check", "x.py", "--ignore", "rename-old").stdout
    assert cli("check", "x.py", "--ignore", "TFR901", "--ignore", "TFR904").exit_code == 0


def test_diff_writes_nothing(cli: Cli) -> None:
    make(x="old(1)\n", y="x\n")
    done = cli("apply", ".", "--diff")
    assert done.exit_code == 1
    assert done.stdout == (
        "# TFR901 rename-old [exact]: old -> new\n#   safe because they are the same\n"
        "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@\n-old(1)\n+new(1)\n"
    )
    assert Path("x.py").read_text() == "old(1)\n"
    assert cli("apply", "y.py", "--diff").exit_code == 0


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ("y\nn\ny\n", "new(1)\nold(2)\nnew(3)\n"),
        ("n\na\n", "old(1)\nnew(2)\nnew(3)\n"),
        ("y\nq\n", "new(1)\nold(2)\nold(3)\n"),
        ("?\nwhat\ny\n", "new(1)\nold(2)\nold(3)\n"),
        ("", "old(1)\nold(2)\nold(3)\n"),
    ],
)
def test_interactive(cli: Cli, answers: str, result: str) -> None:
    make(x="old(1)\nold(2)\nold(3)\n")
    done = cli("apply", "x.py", "--interactive", stdin=answers)
    assert done.exit_code == 0
    assert Path("x.py").read_text() == result
    assert "-old(1)\n+new(1)\n" in done.stderr
    assert done.stdout.count("(done)") == result.count("new")


def test_output(cli: Cli) -> None:
    make(x="old(1)\n")
    done = cli("check", "x.py", "--format", "json", "--output", "report.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert json.loads(Path("report.json").read_text())["summary"]["findings"] == 1
    done = cli("check", "x.py", "--output", "no/such/place")
    assert done.exit_code == 2
    assert "--output: no/such/place: there is no directory no/such" in done.stderr


def test_statistics_quiet_and_verbose(cli: Cli) -> None:
    make(x="old(1)\n", y="x = 1\n")
    assert "TFR901  rename-old" in cli("check", ".", "--statistics").stdout
    assert cli("check", ".", "--quiet").stdout == ""
    assert "y.py: unchanged\n" in cli("check", ".", "--verbose").stdout


def test_several_reports_of_one_run(cli: Cli) -> None:
    make(x="old(1)\nold(*x)\n", bad="print 'x'\n")
    wanted = "sarif=a.sarif,gitlab=a.json,junit=a.xml"
    done = cli("check", ".", "--output", wanted, "--output", "markdown=a.md,github=a.txt")
    assert done.exit_code == 2
    assert "x.py:1:1: TFR901 [exact] old -> new" in done.stdout
    (run,) = json.loads(Path("a.sarif").read_text())["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["TFR901", "TFR901"]
    assert run["results"][0]["fixes"]
    assert len(json.loads(Path("a.json").read_text())) == 3
    assert '<testsuites name="tfrewrite" tests="3"' in Path("a.xml").read_text()
    assert "<code>x&#46;py&#58;1</code>" in Path("a.md").read_text()
    assert "::error file=bad.py,line=1" in Path("a.txt").read_text()


@pytest.mark.parametrize("format_", ["github", "gitlab", "sarif", "junit", "markdown"])
def test_each_format_on_standard_output(cli: Cli, format_: str) -> None:
    make(x="old(1)\n")
    runs = [cli("check", "x.py", "--format", format_) for _ in range(2)]
    assert "TFR901" in runs[0].stdout
    assert runs[0].exit_code == 1
    same = [re.sub(r'time="[0-9.]+"', "", run.stdout) for run in runs]
    assert same[0] == same[1]
    assert "TFR901" in cli("check", "-", "--format", format_, stdin="old(1)\n").stdout
    made = cli("apply", "-", "--format", format_, stdin="old(1)\n")
    assert made.stdout == "new(1)\n"
    assert "TFR901" in made.stderr or format_ == "gitlab"


def test_fixes_do_not_come_from_the_cache(cli: Cli) -> None:
    make(x="old(1)\n")
    cli("check", "x.py")
    for arguments in (["x.py"], ["-"]):
        done = cli("check", *arguments, "--format", "sarif", stdin="old(1)\n")
        (result,) = json.loads(done.stdout)["runs"][0]["results"]
        (replaced,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
        assert replaced["insertedContent"]["text"] == "new(1)\n"


def test_a_diff_beside_other_reports(cli: Cli) -> None:
    make(x="old(1)\n")
    done = cli("apply", "x.py", "--diff", "--output", "markdown=a.md,json=a.json")
    assert "-old(1)\n+new(1)\n" in done.stdout
    assert "-old(1)\n+new(1)\n" in Path("a.md").read_text()
    assert json.loads(Path("a.json").read_text())["findings"][0]["applied"] is False
    assert Path("x.py").read_text() == "old(1)\n"


def test_statistics_that_a_format_has_no_room_for(cli: Cli) -> None:
    make(x="old(1)\nold(*x)\n")
    done = cli("check", "x.py", "--statistics", "--format", "gitlab")
    json.loads(done.stdout)
    assert done.stderr.splitlines() == [
        "rule               findings available refused",
        "TFR901  rename-old        1         0       1",
        "contract   rewrites available",
        "exact             1         0",
        "refused reason  sites",
        "TFR901  starred     1",
    ]
    counted = json.loads(cli("check", "x.py", "--format", "json").stdout)["statistics"]
    assert counted == {
        "rules": [
            {"rule": "TFR901", "name": "rename-old", "findings": 1, "available": 0, "refusals": 1}
        ],
        "contracts": [{"contract": "exact", "rewrites": 1, "available": 0}],
        "reasons": [{"rule": "TFR901", "reason": "starred", "refusals": 1}],
    }


def test_since(cli: Cli) -> None:
    def git(*arguments: str) -> None:
        named = ["-c", "user.name=n", "-c", "user.email=e@x"]
        program = shutil.which("git") or "git"
        subprocess.run([program, *named, *arguments], check=True, capture_output=True)

    make(x="old(1)\nold(2)\n", y="old(1)\n", bad="print 'x'\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "m")
    assert cli("check", ".", "--since", "HEAD").exit_code == 0
    make(x="old(1)\nold(3)\n", new="bug()\n")
    done = cli("check", ".", "--since", "HEAD", "--format", "json")
    assert (done.exit_code, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    places = [(one["path"], one["line"]) for one in report["findings"]]
    assert places == [("new.py", 1), ("x.py", 2)]
    assert report["summary"]["files"] == 2
    wrong = cli("check", ".", "--since", "nowhere")
    assert wrong.exit_code == 2
    assert "--since: 'nowhere' is no revision" in wrong.stderr
    assert cli("check", "-", "--since", "HEAD").exit_code == 2
    assert cli("check", "none.py", "--since", "HEAD").exit_code == 2


def test_shards_are_parts_of_the_whole(cli: Cli) -> None:
    make(**{f"f{number}": "old(1)\n" for number in range(5)})
    parts = [
        json.loads(cli("check", ".", "--format", "json", "--shard", f"{part}/3").stdout)
        for part in (1, 2, 3)
    ]
    files = [file["path"] for part in parts for file in part["files"]]
    assert sorted(files) == [f"f{number}.py" for number in range(5)]
    assert [len(part["files"]) for part in parts] == [2, 2, 1]


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", "1/", "1/0"])
def test_shards_that_are_none(cli: Cli, shard: str) -> None:
    make(x="")
    done = cli("check", "x.py", "--shard", shard)
    assert done.exit_code == 2
    assert "write it as 3/10" in done.stderr


def test_settings_of_the_project(cli: Cli) -> None:
    make(x="old(shift)\n", skipped="old(1)\n", some="old(1)\nbug()\n")
    Path("pyproject.toml").write_text(
        '[tool.tfrewrite]\nallow = ["shifted"]\nexclude = ["skipped.py"]\n'
        '[tool.tfrewrite.per-file-ignores]\n"some.py" = ["TFR901"]\n'
    )
    done = cli("check", ".")
    assert "x.py:1:1: TFR901 [shifted]" in done.stdout
    assert "skipped.py" not in done.stdout
    assert "some.py:1" not in done.stdout
    assert "some.py:2:1: TFR904" in done.stdout
    assert "skipped.py: skipped: excluded" in cli("check", "skipped.py").stderr
    Path("other.toml").write_text('[tool.tfrewrite]\nselect = ["TFR904"]\n')
    assert "TFR901" not in cli("check", ".", "--config", "other.toml").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check",), "Missing argument"),
        (
            ("check", "x.py", "--select", "TFR9O1"),
            "there is no rule 'TFR9O1'; did you mean TFR901?",
        ),
        (("check", "x.py", "--ignore", "rename"), "there is no rule 'rename'"),
        (
            ("check", "x.py", "--allow", "shift"),
            "--allow: no contract 'shift'; did you mean 'shifted'",
        ),
        (
            ("check", "x.py", "--target-tf", "1,15"),
            "--target-tf: '1,15' is not a TensorFlow version",
        ),
        (("check", "x.py", "--config", "none.toml"), "none.toml: cannot be read"),
        (("check", "x.py", "--format", "xml"), "xml"),
        (("check", "x.py", "--jobs", "-1"), "jobs"),
        (("check", "x.py", "-"), "takes no other path"),
        (("apply", "-", "--interactive"), "--interactive asks on standard input"),
        (("frobnicate",), "No such command"),
        (("explain", "TFR9"), "there is no rule 'TFR9'"),
    ],
)
def test_wrong_use(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    make(x="old(1)\n")
    done = cli(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_names_its_line(cli: Cli) -> None:
    make(x="old(1)\n")
    Path("pyproject.toml").write_text("[tool.tfrewrite]\nselct = []\n")
    done = cli("check", ".")
    assert done.exit_code == 2
    assert "pyproject.toml:2: no setting 'selct'" in done.stderr
    assert "did you mean 'select'?" in done.stderr


def test_bad_files_do_not_stop_the_others(cli: Cli) -> None:
    make(py2="print 'x'\n", comma="try: pass\nexcept E, e: pass\n", tabs="if x:\n\ty\n        z\n")
    make(broken="def f(:\n", good="old(1)\n", locked="old(1)\n")
    Path("binary.py").write_bytes(b"\x7f\0")
    Path("latin.py").write_bytes(b"x = '\xe9'\n")
    Path("locked.py").chmod(0o444)
    Path("nothing").mkdir()
    done = cli("apply", ".", "missing.py", "nothing", "no/such")
    assert done.exit_code == 2
    assert Path("good.py").read_text() == "new(1)\n"
    lines = done.stderr.splitlines()
    for path, cause in {
        "py2.py": "line 1: Python 2 syntax",
        "comma.py": "line 2: Python 2 syntax",
        "tabs.py": "line 3: tabs and spaces are mixed",
        "broken.py": "line 1: syntax error",
        "binary.py": "null bytes",
        "latin.py": "line 1: byte 0xe9 is not utf-8",
        "locked.py": "is read-only",
        "missing.py": "no such file or directory",
        "no/such": "no such file or directory",
    }.items():
        (line,) = [line for line in lines if line.startswith(f"{path}: error: ")]
        assert cause in line
    assert "nothing: skipped: no Python files to look at in this directory" in lines
    assert len(lines) == 10
    assert Path("locked.py").read_text() == "old(1)\n"


def test_a_file_that_is_skipped_though_it_was_named(cli: Cli) -> None:
    make(data="x = 1\n" * 200_000)
    assert "data.py: skipped: 1,200,000 bytes" in cli("check", "data.py").stderr
    done = cli("check", ".", "--verbose")
    assert done.stderr == ""
    assert "data.py: skipped: 1,200,000 bytes" in done.stdout
    interactive = cli("apply", "data.py", "none.py", "--interactive")
    assert interactive.exit_code == 2
    assert "data.py: skipped" in interactive.stderr


def test_a_directory_without_python(cli: Cli) -> None:
    Path("nothing").mkdir()
    done = cli("check", "nothing")
    assert done.exit_code == 0
    assert "nothing: skipped: no Python files" in done.stderr


def test_the_cache_can_be_left_alone(cli: Cli) -> None:
    make(x="old(1)\n")
    assert cli("check", ".", "--no-cache").exit_code == 1
    assert not Path(".cache").exists()
    for _ in range(2):
        assert "x.py:1:1" in cli("check", ".").stdout
    assert Path(".cache/tfrewrite").is_dir()


def test_rules(cli: Cli) -> None:
    lines = cli("rules").stdout.splitlines()
    assert len(lines) == len(rule_texts())
    assert re.match(r"TFR101  merge-session-runs +Makes one `session.run`", lines[0])
    assert lines[0].endswith("[exact/rounding/shifted]")
    assert any(line.endswith("[exact, on request]") for line in lines)


def test_explain(cli: Cli) -> None:
    catalogue = json.loads(cli("rules", "--format", "json").stdout)
    assert catalogue["rules"][0]["reasons"] == {"starred": "the number of arguments is not known"}
    for name in ("TFR901", "rename-old"):
        assert "starred  the number of arguments is not known" in cli("explain", name).stdout


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").stdout == f"tfrewrite {tfrewrite.__version__}\n"
    assert "check" in cli("--help").stdout
    assert "--show-completion" in cli("--help").stdout


PROGRAM = """
import signal, sys, time
# A background job of a shell ignores the signal, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
import toys
import tfrewrite.plan

class Slow(toys.RenameOld):
    def sites(self, facts):
        time.sleep(0.05)
        return super().sites(facts)

tfrewrite.plan.all_rules = lambda: (Slow,)
from tfrewrite.__main__ import main
print("ready", flush=True)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals to process groups")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_leaves_everything_whole(tmp_path: Path, jobs: str) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}.py").write_text("old(1)\n")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "apply", ".", "--jobs", jobs, "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while (tmp_path / "000.py").read_text() == "old(1)\n" and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == ("tfrewrite: interrupted; every file is whole, as it was or as rewritten\n")
    assert len(list(tmp_path.iterdir())) == 100
    texts = [path.read_text() for path in sorted(tmp_path.iterdir())]
    assert set(texts) == {"old(1)\n", "new(1)\n"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["rules"], ["check", "--help"], ["check", "x.py"]]
)
def test_nothing_is_imported_before_it_is_needed(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "x.py").write_text(
        "import tensorflow as tf\nwith tf.Session() as s:\n    s.run(x)\n"
    )
    program = (
        "import sys\nfrom tfrewrite.__main__ import main\n"
        "try:\n    main()\nfinally:\n    print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split())
    heavy = {"libcst", "rich", "pydantic", "multiprocessing", "tensorflow", "numpy", "asyncio"}
    heavy |= {f"tfrewrite.reports.{name}" for name in ("sarif", "html", "markdown", "json_report")}
    heavy |= {"jinja2", "tfrewrite.verify", "tfrewrite.since", "tfrewrite.merging"}
    if arguments != ["check", "x.py"]:
        heavy |= {"sqlite3", "pathspec", "tfrewrite.engine"}
    assert not heavy & loaded
