"""Which files a path stands for, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfrewrite.discovery import Filter, Found, discover


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(*paths: str, **filters: tuple[str, ...]) -> list[str]:
    return [one.path for one in discover(paths, Filter(str(Path.cwd()), **filters))]


def test_only_python_files_in_the_order_of_their_names(tree: Path) -> None:
    make(tree, "b.py", "a.py", "c.pyi", "d.txt", "z/a.py", "m/a.py", "m/n/b.py")
    assert found(".") == ["a.py", "b.py", "m/a.py", "m/n/b.py", "z/a.py"]
    assert found("m", "a.py") == ["m/a.py", "m/n/b.py", "a.py"]
    assert found(str(tree / "m")) == [str(tree / "m/a.py"), str(tree / "m/n/b.py")]


def test_notebooks_are_found_and_their_checkpoints_are_not(tree: Path) -> None:
    make(tree, "b.ipynb", "a.py", ".ipynb_checkpoints/b-checkpoint.ipynb", "m/c.ipynb", "d.ipynb.x")
    assert found(".") == ["a.py", "b.ipynb", "m/c.ipynb"]
    assert found(".", include=("*.py",)) == ["a.py"]
    assert found(".", exclude=("*.ipynb",)) == ["a.py"]


def test_each_file_is_found_once(tree: Path) -> None:
    make(tree, "m/a.py")
    assert found("m", "m/a.py", "./m/a.py", ".") == ["m/a.py"]


@pytest.mark.parametrize(
    "name",
    [
        ".hidden/a.py",
        "__pycache__/a.py",
        "build/a.py",
        "dist/a.py",
        "m/third_party/a.py",
        "vendor/a.py",
        "node_modules/x/a.py",
        "lib/site-packages/a.py",
        "venv/a.py",
        ".a.py",
    ],
)
def test_what_is_not_the_users_own_is_skipped_unless_named(tree: Path, name: str) -> None:
    make(tree, name)
    (only,) = discover(["."], Filter("."))
    assert "no Python files" in only.skipped
    assert found(name) == [name]


def test_an_environment_under_any_name(tree: Path) -> None:
    make(tree, "mine/pyvenv.cfg", "mine/a.py", "b.py")
    assert found(".") == ["b.py"]


def test_gitignore(tree: Path) -> None:
    make(
        tree,
        "a.py",
        "gen_a.py",
        "out/b.py",
        "m/c.py",
        "m/gen_keep.py",
        "m/local.py",
        "m/n/local.py",
    )
    (tree / ".gitignore").write_text("gen_*.py\nout/\n")
    (tree / "m/.gitignore").write_text("!gen_keep.py\n/local.py\n")
    assert found(".") == ["a.py", "m/c.py", "m/gen_keep.py", "m/n/local.py"]
    assert found("out/b.py") == ["out/b.py"]


def test_gitignore_above_holds_within_one_repository(tree: Path) -> None:
    make(tree, "repo/a.py", "repo/m/gen.py", "repo/m/x.py")
    (tree / ".gitignore").write_text("x.py\n")
    (tree / "repo/.gitignore").write_text("gen.py\n")
    (tree / "repo/.git").mkdir()
    assert found("repo/m") == ["repo/m/x.py"]


def test_a_broken_gitignore_is_no_obstacle(tree: Path) -> None:
    make(tree, "a.py")
    (tree / ".gitignore").write_bytes(b"\xff\n!\n")
    assert found(".") == ["a.py"]


def test_exclude_keeps_out_named_files_too(tree: Path) -> None:
    make(tree, "a.py", "a_test.py", "m/b.py", "m/n/c.py")
    assert found(".", exclude=("*_test.py", "m/n")) == ["a.py", "m/b.py"]
    (only,) = discover(["a_test.py"], Filter(".", exclude=("*_test.py",)))
    assert "excluded" in only.skipped


def test_include_takes_other_names(tree: Path) -> None:
    make(tree, "a.py", "train.script")
    assert found(".", include=("*.script",)) == ["train.script"]


def test_links_are_followed_within_the_tree_only(tree: Path) -> None:
    make(tree, "in/a.py", "out/b.py")
    (tree / "in/to_out").symlink_to(tree / "out")
    (tree / "in/to_self").symlink_to(tree / "in")
    (tree / "in/linked.py").symlink_to(tree / "out/b.py")
    (tree / "in/dangling.py").symlink_to(tree / "nowhere")
    (tree / "in/again.py").symlink_to(tree / "in/a.py")
    assert found("in") == ["in/a.py"]
    assert found("in/linked.py") == ["in/linked.py"]


@pytest.mark.usefixtures("tree")
def test_a_path_that_is_not_there() -> None:
    (only,) = discover(["nowhere"], Filter("."))
    assert only == Found("nowhere", named=True, problem=only.problem)
    assert "no such file" in only.problem


def test_a_directory_that_may_not_be_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tree, "a.py", "m/b.py")
    scan = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("m"):
            raise PermissionError(path)
        return scan(path)

    monkeypatch.setattr("tfrewrite.discovery.os.scandir", refuse)
    assert found(".") == ["a.py"]


def test_names_of_any_bytes(tree: Path) -> None:
    make(tree, "with space.py", "é.py", os.fsdecode(b"\xff.py"))
    assert len(found(".")) == 3
