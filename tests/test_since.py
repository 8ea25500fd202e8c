"""Only what git saw change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from notebook_maker import notebook, written
from tfrewrite.cli import app
from tfrewrite.config import ConfigError
from tfrewrite.discovery import Filter, discover
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Outcome, Status
from tfrewrite.since import Changes, _changed_lines, _name, changes
from toys import TOYS

NAMED = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")


def git(*arguments: str) -> str:
    command = [shutil.which("git") or "git", *NAMED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit() -> str:
    git("add", "-A")
    git("commit", "--quiet", "--allow-empty", "-m", "m")
    return git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file of five lines and one in a folder, and the user's odd settings."""
    folder = tmp_path / "tree"
    folder.mkdir()
    monkeypatch.chdir(folder)
    config = tmp_path / "config"
    config.write_text(
        "[diff]\n\tnoprefix = true\n\tmnemonicPrefix = true\n\tinterHunkContext = 9\n"
        "\texternal = false\n\trelative = true\n\tcontext = 5\n[color]\n\tui = always\n"
        "[core]\n\tquotePath = false\n[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    git("init", "--quiet")
    Path("x.py").write_text("old(1)\nold(2)\nold(3)\nold(4)\nold(5)\n")
    Path("sub").mkdir()
    Path("sub/y.py").write_text("old(1)\nold(2)\n")
    commit()
    return folder


def lines(revision: str = "HEAD", *paths: str) -> dict[str, object]:
    found = list(discover(paths or ["."], Filter(".")))
    seen = changes(revision, found)
    return {
        one.path: "all" if (of := seen.lines[one.path]) is None else sorted(of)
        for one in seen.concerned(found)
    }


def test_nothing_changed() -> None:
    assert lines() == {}


def test_uncommitted_staged_and_committed_lines() -> None:
    base = git("rev-parse", "HEAD")
    Path("x.py").write_text("old(1)\nnew\nold(3)\nold(4)\nold(5)\nmore\n")
    assert lines() == {"x.py": [2, 6]}
    git("add", "x.py")
    assert lines() == {"x.py": [2, 6]}
    commit()
    assert lines() == {}
    assert lines(base) == lines("HEAD~1") == {"x.py": [2, 6]}


def test_deleted_lines_are_no_lines() -> None:
    Path("x.py").write_text("old(1)\nold(3)\nold(4)\nold(5)\n")
    assert lines() == {}


def test_in_a_subdirectory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub/y.py").write_text("old(1)\nchanged\n")
    assert lines("HEAD", "sub") == {"sub/y.py": [2]}
    monkeypatch.chdir(tree / "sub")
    assert lines() == {"y.py": [2]}
    assert lines("HEAD", "..", "y.py") == {"../sub/y.py": [2]}
    assert lines("HEAD", str(tree)) == {str(tree / "sub/y.py"): [2]}


def test_renamed_files() -> None:
    git("mv", "x.py", "sub/z.py")
    assert lines() == {}
    Path("sub/z.py").write_text("old(1)\nold(2)\nold(3)\nold(4)\nfive\n")
    assert lines() == {"sub/z.py": [5]}


def test_new_files_are_new_throughout() -> None:
    Path("untracked.py").write_text("old(1)\n")
    Path("added.py").write_text("old(1)\nold(2)\n")
    git("add", "added.py")
    Path("intended.py").write_text("old(1)\n")
    git("add", "--intent-to-add", "intended.py")
    Path(".gitignore").write_text("ignored.py\n")
    Path("ignored.py").write_text("old(1)\n")
    assert lines() == {"added.py": [1, 2], "intended.py": [1], "untracked.py": "all"}
    assert lines("HEAD", "ignored.py") == {"ignored.py": "all"}


def test_what_others_put_on_the_main_branch_is_no_change_of_ours() -> None:
    git("checkout", "--quiet", "-b", "topic")
    Path("x.py").write_text("old(1)\nold(2)\nold(3)\nours\nold(5)\n")
    commit()
    git("checkout", "--quiet", "main")
    Path("x.py").write_text("theirs\nold(2)\nold(3)\nold(4)\nold(5)\n")
    commit()
    git("checkout", "--quiet", "topic")
    assert lines("main") == {"x.py": [4]}


def test_a_past_that_is_not_common() -> None:
    git("checkout", "--quiet", "--orphan", "other")
    Path("x.py").write_text("old(1)\nother\nold(3)\nold(4)\nold(5)\n")
    commit()
    assert lines("main") == {"x.py": [2]}


ODD_NAMES = [
    "a b.py",
    'q"uo\\te.py',
    "tab\there.py",
    "line\nbreak.py",
    "é\u202e.py",
    "-dash.py",
    "b",
    "* [x].py",
    os.fsdecode(b"\xff\xfe.py"),
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names(name: str) -> None:
    Path(name).write_text("1\n2\n3\n")
    commit()
    Path(name).write_text("1\n+++ b/x.py\n@@ -1 +1 @@\n3\n")
    assert lines("HEAD", f"./{name}") == {f"./{name}": [2, 3]}
    assert lines() == ({name: [2, 3]} if name.endswith(".py") else {})


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_names_in_quotes(name: bytes) -> None:
    letters = dict(zip(b'\a\b\t\n\v\f\r"\\', b'abtnvfr"\\', strict=True))

    def escaped(one: int) -> bytes:
        if one in letters:
            return b"\\%c" % letters[one]
        return b"%c" % one if 32 <= one < 127 else b"\\%03o" % one

    quoted = b"".join(map(escaped, name))
    assert _name(b'"b/' + quoted + b'"') == name


def test_a_file_that_git_takes_for_binary() -> None:
    Path(".gitattributes").write_text("*.py binary\n")
    commit()
    Path("x.py").write_text("old(1)\nold(2)\nthree\nold(4)\nold(5)\n")
    assert lines() == {"x.py": [3]}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends(newline: str) -> None:
    Path("x.py").write_bytes(newline.join(["1", "2", "3"]).encode())
    commit()
    Path("x.py").write_bytes(newline.join(["1", "two", "3", ""]).encode())
    # The last line has changed too: it has an end now.
    assert lines() == {"x.py": [2, 3]}


def test_lines_that_python_counts_otherwise() -> None:
    Path("x.py").write_bytes(b"a\rold(1)\nb\n")
    assert lines() == {"x.py": "all"}


def test_a_file_in_the_place_of_a_directory_and_the_like() -> None:
    Path("x.py").unlink()
    Path("link.py").symlink_to("sub/y.py")
    assert lines() == {}
    git("mv", "sub/y.py", "sub/y.txt")
    Path("link.py").unlink()
    Path("x.py").mkdir()
    Path("x.py/in.py").write_text("1\n")
    assert lines() == {"x.py/in.py": "all"}


def test_submodules(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    git("init", "--quiet", "--initial-branch=other")
    Path("z.py").write_text("1\n2\n")
    commit()
    monkeypatch.chdir(tree)
    before = git("rev-parse", "HEAD")
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "in ner")
    commit()
    assert lines() == {}
    assert lines(before) == {"in ner/z.py": "all"}
    Path("in ner/z.py").write_text("1\n2\nthree\n")
    assert lines("main") == {"in ner/z.py": [3]}


def test_wrong_revisions(tree: Path) -> None:
    for revision in ("nowhere", "--all", "HEAD^{tree}", "HEAD:x.py", "-h", ""):
        with pytest.raises(ConfigError, match=r"is no revision of the repository .*; fetch it"):
            lines(revision)
    assert not list(tree.glob("*.txt"))


def test_within_a_hook(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub/y.py").write_text("old(1)\nchanged\n")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    monkeypatch.chdir(tree / "sub")
    assert lines() == {"y.py": [2]}


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.py").write_text("1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"--since: git: .*not a git repository"):
        lines()


def test_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="git cannot be run; install it"):
        lines()


def test_before_the_first_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    git("init", "--quiet")
    Path("x.py").write_text("1\n")
    with pytest.raises(ConfigError, match="'HEAD' is no revision"):
        lines()


SOURCE = "a = one(1)\nb = one(2)\nold(3)\nold(*x)\ny = 1  # tfrewrite: ignore\n"


@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        ({1}, ["TFR902"]),
        ({2}, ["TFR902"]),  # the rewrite would take this line away
        ({3}, ["TFR901"]),
        ({4}, ["starred"]),
        ({5}, ["notice"]),
        ({3, 5}, ["TFR901", "notice"]),
        ({99}, []),
    ],
)
def test_what_is_left_of_an_outcome(changed: set[int], rules: list[str]) -> None:
    outcome = rewrite_text(SOURCE, TOYS, path="x.py")
    left = Changes({"x.py": frozenset(changed)}).only(outcome)
    said = [one.rule for one in left.findings] + [one.reason for one in left.refusals]
    assert said + ["notice" for _ in left.notices] == rules
    assert Changes({"x.py": None}).only(outcome) == outcome


def test_a_file_that_failed_says_so() -> None:
    failed = Outcome("x.py", Status.FAILED, error="line 1: no")
    assert Changes({"x.py": frozenset({9})}).only(failed) == failed


def test_reading_a_diff() -> None:
    diff = (
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ def f():\n--- a/y\n-old\n"
        b"+++ b/y\n+@@ -1 +1 @@\n+z\n\\ No newline at end of file\n"
        b"@@ -9 +10 @@\n-a\n\\ No newline at end of file\n+b\n"
        b"diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    )
    assert dict(_changed_lines(diff)) == {b"x": frozenset({1, 2, 3, 10})}


# Rewriting what changed, and nothing else.


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    return lambda *arguments, stdin="": CliRunner().invoke(app, [*arguments], input=stdin)


def test_apply_rewrites_what_stands_on_changed_lines(cli: Callable[..., Result]) -> None:
    Path("x.py").write_text("old(1)\nold(22)\nold(3)\nold(4)\nold(5)\n")
    Path("new.py").write_text("old(1)\n")
    dry = cli("apply", ".", "--since", "HEAD", "--diff")
    assert dry.exit_code == 1
    changed = [line for line in dry.stdout.splitlines() if line[:1] in "+-"]
    assert [line for line in changed if line[:3] not in {"---", "+++"}] == [
        "-old(1)", "+new(1)", "-old(22)", "+new(22)",
    ]  # fmt: skip
    done = cli("apply", ".", "--since", "HEAD")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("new.py:1:1: TFR901 [exact] old -> new (done)\n")
    assert "2 rewrites made in 2 files" in done.stdout
    assert Path("x.py").read_text() == "old(1)\nnew(22)\nold(3)\nold(4)\nold(5)\n"
    assert Path("sub/y.py").read_text() == "old(1)\nold(2)\n"
    assert cli("check", ".", "--since", "HEAD").exit_code == 0


def test_check_lists_what_apply_makes(cli: Callable[..., Result]) -> None:
    """A pair that stands on lines as they were is left, and what is in it stays as well."""
    Path("x.py").write_text("a = one(1)\nb = one(2)\nif z:\n    c = one(3)\n")
    Path("many.py").write_text("a = one(old(1))\n\n\nold(2)\n")
    commit()
    Path("x.py").write_text("a = one(1)\nb = one(2)\nif z:\n    c = one(3)\n    d = one(4)\n")
    Path("many.py").write_text("a = one(old(1))\nb = one(2)\n\nold(2)\n")
    arguments = (".", "--since", "HEAD", "--format", "json")
    dry = json.loads(cli("check", *arguments).stdout)
    wet = json.loads(cli("apply", *arguments).stdout)
    for finding in dry["findings"]:
        finding["applied"] = finding["applicable"]
    assert dry["findings"] == wet["findings"]
    assert [(one["path"], one["line"]) for one in dry["findings"]] == [("many.py", 1), ("x.py", 4)]
    after = "a = one(1)\nb = one(2)\nif z:\n    c, d = many(3, 4)\n"
    assert Path("x.py").read_text() == after
    assert Path("many.py").read_text() == "a, b = many(old(1), 2)\n\nold(2)\n"
    # What a rewrite changed has changed: the next run sees all of that line.
    assert cli("apply", *arguments).exit_code == 0
    assert Path("many.py").read_text() == "a, b = many(new(1), 2)\n\nold(2)\n"
    assert cli("check", *arguments).exit_code == 0


def test_many_files_in_processes(cli: Callable[..., Result]) -> None:
    for number in range(20):
        Path(f"f{number}.py").write_text("old(1)\nold(2)\n")
    commit()
    for number in range(20):
        Path(f"f{number}.py").write_text("old(1)\nold(3)\n")
    assert cli("apply", ".", "--since", "HEAD", "--jobs", "2").exit_code == 0
    assert {Path(f"f{number}.py").read_text() for number in range(20)} == {"old(1)\nnew(3)\n"}


def test_nothing_is_asked_about_other_lines(cli: Callable[..., Result]) -> None:
    Path("x.py").write_text("old(1)\nold(22)\nold(3)\nold(44)\nold(5)\n")
    done = cli("apply", ".", "--since", "HEAD", "--interactive", stdin="n\ny\n")
    assert done.exit_code == 0
    assert done.stderr.count("Make this rewrite") == 2
    assert Path("x.py").read_text() == "old(1)\nold(22)\nold(3)\nnew(44)\nold(5)\n"


def test_a_notebook_is_rewritten_on_changed_lines(cli: Callable[..., Result]) -> None:
    Path("n.ipynb").write_bytes(written(notebook("old(1)\nold(2)", "old(3)")))
    commit()
    text = Path("n.ipynb").read_text()
    Path("n.ipynb").write_text(text.replace("old(2)", "old(22)"))
    assert cli("apply", ".", "--since", "HEAD").exit_code == 0
    after = text.replace("old(2)", "new(22)")
    assert Path("n.ipynb").read_text() == after
