"""`check --watch` as a process whose files change."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from notebook_maker import notebook, written
from tfrewrite import watching
from tfrewrite.cli import app
from tfrewrite.discovery import Found
from tfrewrite.handling import Handling
from tfrewrite.options import Options

PROGRAM = """
import signal
# A background job of a shell ignores the signal, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
import toys
import tfrewrite.plan
tfrewrite.plan.all_rules = lambda: toys.TOYS
from tfrewrite.__main__ import main
main()
"""
WAIT_S = 30
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "check", "--watch", *arguments]


def _environment(folder: Path) -> dict[str, str]:
    tests = str(Path(__file__).parent)
    return {**os.environ, "PYTHONPATH": tests, "XDG_CACHE_HOME": str(folder / ".cache")}


class Watched:
    """A process that watches, and what it has said so far."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.said = self.complained = ""
        self._process = subprocess.Popen(
            _command(*arguments),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._read, args=(name,)) for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str) -> None:
        stream = getattr(self._process, name)
        kept = {"stdout": "said", "stderr": "complained"}[name]
        for line in stream:
            setattr(self, kept, getattr(self, kept) + line)

    def wait_for(self, text: str, *, complained: bool = False) -> None:
        deadline = time.monotonic() + WAIT_S
        while text not in (self.complained if complained else self.said):
            assert time.monotonic() < deadline, (text, self.said, self.complained)
            assert self._process.poll() is None, (text, self.said, self.complained)
            time.sleep(0.02)

    def then(self) -> str:
        """What was said since this was asked before; it is complete once a count ends it."""
        said, self.said = self.said, ""
        return re.sub(r"\d\d:\d\d:\d\d", "TIME", re.sub(r" \(\d+\.\d+ s\)", "", said))

    def end(self, number: int = signal.SIGINT) -> int:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)
        try:
            code = self._process.wait(WAIT_S)
        finally:
            self._process.kill()
            for reader in self._readers:
                reader.join()
            assert self._process.stdout is not None
            assert self._process.stderr is not None
            self._process.stdout.close()
            self._process.stderr.close()
        return code


Watch = Callable[..., Watched]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Starts one, and waits until it has said what there is."""
    monkeypatch.chdir(tmp_path)
    started: list[Watched] = []

    def start(*arguments: str) -> Watched:
        started.append(Watched(tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_what_changes_is_said_again_and_the_rest_is_counted(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\n")
    Path("b.py").write_text("bug()\n")
    one = watch(".")
    one.wait_for("watching 2 files; Ctrl-C ends it", complained=True)
    assert one.then() == (
        "a.py:1:1: TFR901 [exact] old -> new\n    because they are the same\n"
        "b.py:1:1: TFR904 [report] this is a bug\n1 rewrite to make, 1 report in 2 files\n"
    )
    Path("a.py").write_text("new(1)\n")
    one.wait_for("1 report in 2 files")
    assert one.then() == "\nTIME changed: a.py\na.py: nothing to do\n1 report in 2 files\n"
    Path("c.py").write_text("old(2)\n")
    one.wait_for("1 rewrite to make, 1 report in 3 files")
    assert one.then().startswith("\nTIME changed: c.py\nc.py:1:1: TFR901 [exact] old -> new\n")
    assert one.end() == 130
    assert one.complained == ("watching 2 files; Ctrl-C ends it\ntfrewrite: stopped watching\n")


def test_files_that_vanish_and_come_back(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\n")
    Path("folder").mkdir()
    Path("folder/b.py").write_text("old(1)\n")
    one = watch("a.py", "folder")
    one.wait_for("2 rewrites to make in 2 files")
    one.then()
    Path("a.py").unlink()
    one.wait_for("1 rewrite to make in 1 file")
    assert one.then() == "\nTIME gone: a.py\n1 rewrite to make in 1 file\n"
    shutil.rmtree("folder")
    one.wait_for("nothing to do in 0 files")
    assert one.then() == "\nTIME gone: folder/b.py\nnothing to do in 0 files\n"
    # As editors save: another file takes the name.
    Path("new").write_text("old(1)\n")
    Path("new").rename("a.py")
    one.wait_for("1 rewrite to make in 1 file")
    assert one.then().startswith("\nTIME changed: a.py\na.py:1:1: TFR901")
    Path("folder").mkdir()
    Path("folder/c.py").write_text("bug()\n")
    one.wait_for("1 rewrite to make, 1 report in 2 files")
    assert one.end(signal.SIGTERM) == -signal.SIGTERM
    assert one.complained == "watching 2 files; Ctrl-C ends it\n"


def test_half_written_files_and_syntax_errors(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\n")
    one = watch("a.py")
    one.wait_for("1 rewrite to make in 1 file")
    one.then()
    with Path("a.py").open("w") as file:
        for _ in range(12):
            file.write("old(")
            file.flush()
            time.sleep(0.05)
            file.write("2)\n")
            file.flush()
    one.wait_for("12 rewrites to make")
    assert "failed" not in one.then()
    Path("a.py").write_text("old(\n")
    one.wait_for("1 file failed in 1 file")
    one.wait_for("a.py: error: line 1: syntax error", complained=True)
    assert one.then() == "\nTIME changed: a.py\n1 file failed in 1 file\n"
    Path("a.py").write_bytes(b"\0")
    one.wait_for("contains null bytes", complained=True)
    Path("a.py").write_text("x = 1\n")
    one.wait_for("a.py: nothing to do\nnothing to do in 1 file")
    assert one.end() == 130


def test_settings_that_change(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\nbug()\n")
    one = watch(".")
    one.wait_for("1 rewrite to make, 1 report in 1 file")
    one.then()
    Path("pyproject.toml").write_text('[tool.tfrewrite]\nignore = ["TFR904"]\n')
    one.wait_for("1 rewrite to make in 1 file")
    assert one.then().startswith("\nTIME changed: pyproject.toml\na.py:1:1: TFR901")
    Path("pyproject.toml").write_text('[tool.tfrewrite]\nignored = ["TFR904"]\n')
    one.wait_for("no setting 'ignored'", complained=True)
    one.wait_for("1 rewrite to make in 1 file")
    assert one.complained.endswith("; the settings before it still hold\n")
    one.then()
    Path("b.py").write_text("old(1)\n")
    one.wait_for("2 rewrites to make in 2 files")
    Path("pyproject.toml").write_text('[tool.tfrewrite]\nexclude = ["b.py"]\n')
    one.wait_for("1 rewrite to make, 1 report in 1 file")
    Path("b.py").write_text("old(2)\n")
    Path("pyproject.toml").unlink()
    one.wait_for("2 rewrites to make, 1 report in 2 files")
    one.then()
    Path("b.py").unlink()
    one.wait_for("1 rewrite to make, 1 report in 1 file")
    one.then()
    Path(".gitignore").write_text("a.py\n")
    one.wait_for("nothing to do in 0 files")
    assert one.then() == "\nTIME gone: a.py\nnothing to do in 0 files\n"


def test_reports_are_written_whole_each_time(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\n")
    Path("n.ipynb").write_bytes(written(notebook("old(1)")))
    one = watch(".", "--output", "json=r.json,sarif=r.sarif", "--statistics")
    one.wait_for("2 rewrites to make in 2 files")
    first = json.loads(Path("r.json").read_text())
    assert [finding["path"] for finding in first["findings"]] == ["a.py", "n.ipynb"]
    one.then()
    Path("b.py").write_text("old(3)\n")
    one.wait_for("3 rewrites to make in 3 files")
    assert "TFR901  rename-old        3         0       0" in one.then()
    later = json.loads(Path("r.json").read_text())
    assert [file["path"] for file in later["files"]] == ["a.py", "b.py", "n.ipynb"]
    assert len(json.loads(Path("r.sarif").read_text())["runs"][0]["results"]) == 3


def test_only_what_changed_since_a_revision(watch: Watch) -> None:
    def git(*arguments: str) -> None:
        named = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
        command = [shutil.which("git") or "git", *named, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    Path("a.py").write_text("old(1)\nold(2)\n")
    Path(".gitignore").write_text(".cache\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "m")
    one = watch(".", "--since", "HEAD")
    one.wait_for("nothing to do in 0 files")
    one.then()
    Path("a.py").write_text("old(1)\nold(3)\n")
    one.wait_for("1 rewrite to make in 1 file")
    assert one.then().startswith("\nTIME changed: a.py\na.py:2:1: TFR901")


def test_quiet_says_errors_only(watch: Watch) -> None:
    Path("a.py").write_text("old(1)\n")
    one = watch(".", "--quiet", "--output", "json=r.json")
    deadline = time.monotonic() + WAIT_S
    while not Path("r.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    Path("a.py").write_text("old(\n")
    one.wait_for("a.py: error:", complained=True)
    assert one.end() == 130
    assert one.said == ""
    assert one.complained.count("\n") == 2


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """As `head` does. The process finds out when it next has something to say."""
    file = tmp_path / "a.py"
    file.write_text("old(1)\n")
    reading, writing = os.pipe()
    with subprocess.Popen(
        _command("a.py"),
        cwd=tmp_path,
        env=_environment(tmp_path),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(writing)
        assert os.read(reading, 4).decode() == "a.py"
        os.close(reading)
        file.write_text("old(2)\n")
        _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "none.py: error: no such file or directory; check the spelling"),
        (["-"], "--watch needs files, and standard input is none"),
        (["."], "no rule 'TFR9O1'"),
        ([".", "--shard", "1/2"], "--shard and --watch do not go together"),
        ([".", "--format", "json"], "as with --output json=FILE"),
        ([".", "--output", "none/x"], "there is no directory none"),
        ([".", "--since", "HEAD"], "--since: git"),
    ],
)
def test_wrong_use_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("old(1)\n")
    if arguments == ["."]:
        arguments = [".", "--select", "TFR9O1"]
    done = CliRunner().invoke(app, ["check", "--watch", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_never_comes_to_rest_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PATIENCE_S", 0.3)
    monkeypatch.setattr(watching, "SETTLED_S", 0.01)
    file = tmp_path / "a.py"
    looks: list[watching._Seen] = []

    def look(handling: Handling, before: watching._Seen | None = None) -> watching._Seen:
        file.write_text("x = 1\n" * (len(looks) + 1))
        stamp = watching._stamp(str(file))
        assert stamp is not None
        looks.append(watching._Seen((), {"a.py": stamp}, (None, None)))
        return looks[-1]

    monkeypatch.setattr(watching, "_look", look)
    begun = time.monotonic()
    handling = Handling.of(Options([str(file)]))
    assert watching._settled(handling, look(handling)) is looks[-1]
    assert 0.2 < time.monotonic() - begun < WAIT_S


def test_directories_are_read_again_only_where_they_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "GRAIN_NS", 0)
    for folder in ("a", "a/empty", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a/x.py").write_text("")
    handling = Handling.of(Options([str(tmp_path / "a"), str(tmp_path / "b/y.py")]))
    walks: list[Handling] = []
    find = Handling.found

    def counted(self: Handling, entered: Callable[[str], None]) -> list[Found]:
        walks.append(self)
        return find(self, entered)

    monkeypatch.setattr(Handling, "found", counted)
    seen = watching._look(handling)

    def names(walked: int) -> list[str]:
        nonlocal seen
        walks.clear()
        seen = watching._look(handling, seen)
        assert len(walks) == walked
        return [str(Path(path).relative_to(tmp_path)) for path in seen.stamps]

    assert names(0) == ["a/x.py"]
    (tmp_path / "a/x.py").write_text("x = 1\n")
    assert names(0) == ["a/x.py"]
    (tmp_path / "a/empty/z.py").write_text("")
    assert names(1) == ["a/x.py", "a/empty/z.py"]
    (tmp_path / "b/y.py").write_text("")
    assert names(1) == ["a/x.py", "a/empty/z.py", "b/y.py"]
    (tmp_path / "b/y.py").write_text("y = 1\n")
    assert names(0) == ["a/x.py", "a/empty/z.py", "b/y.py"]
    (tmp_path / "a/.gitignore").write_text("x.py\n")
    assert names(1) == ["a/empty/z.py", "b/y.py"]
    (tmp_path / "a/.gitignore").write_text("x.py\nz.py\n")
    assert names(1) == ["b/y.py"]
    (tmp_path / "b/y.py").unlink()
    assert names(1) == []
    monkeypatch.setattr(watching, "GRAIN_NS", 60_000_000_000)
    (tmp_path / "b/y.py").write_text("")
    assert names(1) == names(1) == ["b/y.py"]
