"""Finds the Python files and the notebooks that a command is about.

A directory gives its `.py` and `.ipynb` files, in the order of their names, but for what
`.gitignore` files name, hidden directories, environments, build output, and vendored code.
Symbolic links are followed to files and directories within the tree only. A file that is named
outright is taken whatever it is called and wherever it lies; only the user's own `exclude` keeps
it out, so that hooks which name every file can rely on the settings.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SKIPPED_DIRECTORIES = frozenset(
    {
        "__pycache__",
        "__pypackages__",
        "_build",
        "bower_components",
        "build",
        "buck-out",
        "dist",
        "env",
        "node_modules",
        "site-packages",
        "dist-packages",
        "third_party",
        "third-party",
        "thirdparty",
        "vendor",
        "vendored",
        "_vendor",
        "venv",
    }
)


NOTEBOOK = ".ipynb"
MISSING = "no such file or directory; check the spelling"
EXCLUDED = "excluded by the settings or by --exclude"


def is_notebook(path: str) -> bool:
    return path.endswith(NOTEBOOK)


@dataclass(frozen=True)
class Found:
    """One file to handle, as the user would call it.

    `named` tells that the user named this very file, rather than a directory it is in; `skipped`
    says why it is left out, and `problem` why it cannot be handled.
    """

    path: str
    named: bool = False
    skipped: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Filter:
    """The user's own patterns, in the syntax of `.gitignore`, relative to `root`."""

    root: str
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    def excludes(self, path: str, *, directory: bool = False) -> bool:
        return bool(self.exclude) and _matches(self.exclude, self.root, path, directory=directory)

    def includes(self, path: str) -> bool:
        if not self.include:
            return path.endswith((".py", NOTEBOOK))
        return _matches(self.include, self.root, path, directory=False)


@dataclass(frozen=True)
class _Ignore:
    """One `.gitignore` and those above it, which it overrules."""

    directory: str
    spec: GitIgnoreSpec
    above: _Ignore | None

    def ignores(self, path: str, *, directory: bool) -> bool:
        ignore: _Ignore | None = self
        while ignore is not None:
            relative = path[len(ignore.directory) :].lstrip(os.sep)
            verdict = ignore.spec.check_file(relative + "/" if directory else relative).include
            if verdict is not None:
                return verdict
            ignore = ignore.above
        return False


def _nothing(directory: str) -> None:
    del directory


def discover(
    paths: Iterable[str], wanted: Filter, entered: Callable[[str], None] = _nothing
) -> Iterator[Found]:
    """Every file that the given paths stand for, each one once.

    `entered` is told of each directory before that is read.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _below(path, wanted, entered):
            real = os.path.realpath(found.path)
            if real not in seen:
                seen.add(real)
                yield found


def _below(path: str, wanted: Filter, entered: Callable[[str], None]) -> Iterator[Found]:
    if os.path.isdir(path):  # noqa: PTH112
        count = 0
        for name in _walk(path, wanted, entered):
            count += 1
            yield Found(name)
        if not count:
            yield Found(path, named=True, skipped="no Python files to look at in this directory")
    elif not os.path.lexists(path):
        yield Found(path, named=True, problem=MISSING)
    elif wanted.excludes(path):
        yield Found(path, named=True, skipped=EXCLUDED)
    else:
        yield Found(path, named=True)


def _walk(top: str, wanted: Filter, entered: Callable[[str], None]) -> Iterator[str]:
    """The files of a tree; names are sorted, and a directory's files come before those below."""
    root = os.path.realpath(top)
    stack: list[tuple[str, str, _Ignore | None]] = [(top, root, _ignores_above(root))]
    visited = {root}
    while stack:
        directory, real, ignore = stack.pop()
        entered(directory)
        files, directories, ignore = _entries(directory, real, ignore)
        for entry in files:
            path = _join(real, entry.name)
            if _skipped(path, ignore, wanted) or not wanted.includes(path):
                continue
            if entry.is_symlink() and not _inside(path, root):
                continue
            yield _join(directory, entry.name)
        for entry in reversed(directories):
            path = _join(real, entry.name)
            if _skipped(path, ignore, wanted, directory=True):
                continue
            target = os.path.realpath(path) if entry.is_symlink() else path
            if target not in visited and (target == path or _inside(target, root)):
                visited.add(target)
                stack.append((_join(directory, entry.name), target, ignore))


def _entries(
    directory: str, real: str, ignore: _Ignore | None
) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]], _Ignore | None]:
    files, directories = [], []
    try:
        with os.scandir(directory) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return [], [], ignore
    for entry in listed:
        name = entry.name
        if name == ".gitignore":
            ignore = _read_ignore(real, ignore)
        elif name.startswith("."):
            continue
        elif entry.is_dir():
            if name not in SKIPPED_DIRECTORIES and not _is_environment(entry.path):
                directories.append(entry)
        elif entry.is_file():
            files.append(entry)
    return files, directories, ignore


def _skipped(path: str, ignore: _Ignore | None, wanted: Filter, *, directory: bool = False) -> bool:
    if ignore is not None and ignore.ignores(path, directory=directory):
        return True
    return wanted.excludes(path, directory=directory)


def _inside(path: str, root: str) -> bool:
    """Whether what a path stands for lies in the tree, wherever its links lead."""
    return os.path.realpath(path).startswith(root.rstrip(os.sep) + os.sep)


def _is_environment(directory: str) -> bool:
    return os.path.exists(_join(directory, "pyvenv.cfg"))  # noqa: PTH110


def _join(directory: str, name: str) -> str:
    if directory == ".":
        return name
    return directory + name if directory.endswith(os.sep) else directory + os.sep + name


def _ignores_above(root: str) -> _Ignore | None:
    """The `.gitignore` files between a directory and the top of its repository, from the top."""
    parents = [str(parent) for parent in Path(root).parents]
    top = next((at for at, one in enumerate([root, *parents]) if _is_repository(one)), 0)
    ignore: _Ignore | None = None
    for parent in reversed(parents[:top]):
        ignore = _read_ignore(parent, ignore)
    return ignore


def _is_repository(directory: str) -> bool:
    return os.path.exists(_join(directory, ".git"))  # noqa: PTH110


def _read_ignore(directory: str, above: _Ignore | None) -> _Ignore | None:
    try:
        text = Path(directory, ".gitignore").read_text(encoding="utf-8", errors="replace")
        return _Ignore(directory, GitIgnoreSpec.from_lines(text.splitlines()), above)
    except (OSError, ValueError):
        return above  # not there, or a pattern that git itself would not read


def _matches(patterns: Sequence[str], root: str, path: str, *, directory: bool) -> bool:
    relative = os.path.relpath(path, root)
    spec = _spec(tuple(patterns))
    if spec.match_file(relative + "/" if directory else relative):
        return True
    # Outside of the root, a pattern without a slash still names the file.
    return relative.startswith("..") and spec.match_file(os.path.basename(path))  # noqa: PTH119


@lru_cache(maxsize=64)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)
