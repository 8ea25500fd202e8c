"""Which lines changed since a revision of git, for `--since`.

What counts is the difference between the files as they are now, committed or not, and the commit at
which this branch left the revision. So what others have put onto a main branch meanwhile is not
taken for a change. Files that git does not track are new, with all their lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite.config import ConfigError
from tfrewrite.model import Finding, Outcome, Status

if TYPE_CHECKING:
    from tfrewrite.discovery import Found
    from tfrewrite.model import Notice, Refused
    from tfrewrite.policy import Chooser

# Whatever the user has configured, the answer has this form; a name in quotes is escaped bytes.
_QUIET = ("-c", "core.quotePath=true", "-c", "core.fsmonitor=false")
_DIFF = (
    "diff",
    "--unified=0",
    "--inter-hunk-context=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--text",
    "--find-renames",
    "--submodule=short",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_OF_HOOKS = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}
_LONE_CR = re.compile(rb"\r(?!\n)")

Lines = frozenset[int] | None
"""Numbers of lines; None is every line."""


@dataclass(frozen=True)
class OnLines:
    """Chooses the rewrites that stand on these lines, or would change one of them."""

    lines: frozenset[int]

    def __call__(self, finding: Finding, before: str, after: str) -> bool:
        del before, after
        return _meets(finding, self.lines)


@dataclass(frozen=True)
class Changes:
    """The changed lines of each file, by its path as it was found."""

    lines: dict[str, Lines]

    def concerned(self, found: Sequence[Found]) -> list[Found]:
        """Without the files in which nothing changed. What is not a file at all stays."""
        return [one for one in found if self._of(one.path) != frozenset()]

    def chooser(self, path: str) -> Chooser | None:
        """Which rewrites of a file are meant; None where all are.

        The others are not made even for the sake of what is found once they are: what is listed is
        what `apply` makes.
        """
        lines = self._of(path)
        return None if lines is None else OnLines(lines)

    def only(self, outcome: Outcome) -> Outcome:
        """The outcome without what stands on lines that did not change."""
        lines = self._of(outcome.path)
        if lines is None or outcome.status in {Status.FAILED, Status.SKIPPED}:
            return outcome
        return replace(
            outcome,
            findings=tuple(one for one in outcome.findings if _meets(one, lines)),
            refusals=tuple(one for one in outcome.refusals if _meets(one, lines)),
            notices=tuple(one for one in outcome.notices if _meets(one, lines)),
        )

    def _of(self, path: str) -> Lines:
        return self.lines.get(path)


def _meets(one: Finding | Refused | Notice, lines: frozenset[int]) -> bool:
    """Whether it stands on a changed line, or would change one."""
    touched = one.touched if isinstance(one, Finding) else ()
    stands = range(one.span.line, max(one.span.line, one.span.end_line) + 1)
    return not lines.isdisjoint(stands) or not lines.isdisjoint(touched)


def changes(revision: str, found: Sequence[Found]) -> Changes:
    """What changed in these files; `ConfigError` where git cannot tell."""
    tops: dict[str, str] = {}
    trees: dict[str, _Tree] = {}
    lines: dict[str, Lines] = {}
    for one in found:
        if one.problem or one.skipped:
            continue
        folder, name = os.path.split(os.path.realpath(one.path))
        if folder not in tops:
            tops[folder] = _top(folder)
        top = tops[folder]
        if top not in trees:
            trees[top] = _tree(top, revision)
        lines[one.path] = trees[top].changed(os.path.join(folder, name))  # noqa: PTH118
    return Changes(lines)


@dataclass(frozen=True)
class _Tree:
    """One work tree. Names are bytes, relative to its top, as git knows them."""

    top: str
    tracked: frozenset[bytes]
    lines: dict[bytes, frozenset[int]]

    def changed(self, path: str) -> Lines:
        name = os.fsencode(os.path.relpath(path, self.top).replace(os.sep, "/"))
        if name not in self.tracked:
            return None
        lines = self.lines.get(name, frozenset())
        # To git a line ends in "\n"; to Python also in a "\r" alone, and the numbers differ.
        return None if lines and _LONE_CR.search(Path(path).read_bytes()) else lines


def _top(folder: str) -> str:
    top = _git(folder, "rev-parse", "--show-toplevel")
    return os.path.realpath(os.fsdecode(top.rstrip(b"\n")))


def _tree(top: str, revision: str) -> _Tree:
    outer = os.fsdecode(_git(top, "rev-parse", "--show-superproject-working-tree").rstrip(b"\n"))
    commit = _commit(top, revision) if not outer else _linked(outer, top, revision)
    if not commit:
        return _Tree(top, frozenset(), {})
    tracked = frozenset(_git(top, "ls-files", "-z").split(b"\0"))
    return _Tree(top, tracked, dict(_changed_lines(_git(top, *_DIFF, commit, "--"))))


def _linked(outer: str, top: str, revision: str) -> str:
    """The commit of a submodule that the outer repository had then; empty where it had none."""
    place = os.path.relpath(top, os.path.realpath(outer)).replace(os.sep, "/")
    link = _git(outer, "ls-tree", _commit(outer, revision), "--", place).split()
    if link[1:2] != [b"commit"]:
        return ""
    return _commit(top, link[2].decode())


def _commit(top: str, revision: str) -> str:
    """Where the work tree's branch left the revision; without a common past, the revision."""
    name = f"{revision}^{{commit}}"
    try:
        commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    except ConfigError as error:
        raise ConfigError(
            f"--since: {revision!r} is no revision of the repository {top}; fetch it, or correct "
            "its name"
        ) from error
    # --end-of-options is printed too by some versions of git.
    found = commit.split()[-1].decode()
    try:
        return _git(top, "merge-base", found, "HEAD").split()[0].decode()
    except ConfigError:
        return found


def _git(folder: str, *arguments: str) -> bytes:
    git = shutil.which("git")
    if git is None:
        raise ConfigError("--since: git cannot be run; install it")
    # Within a hook of git these name another place than the one that is asked about.
    kept = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    done = subprocess.run(
        [git, "-C", folder, *_QUIET, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise ConfigError(f"--since: git: {said or 'no answer'}, in {folder}")
    return done.stdout


def _changed_lines(diff: bytes) -> Iterator[tuple[bytes, frozenset[int]]]:
    """For each file of a diff the lines that it has now and had not before."""
    lines = iter(diff.split(b"\n"))
    name = b""
    numbers: set[int] = set()
    for line in lines:
        if line.startswith(b"+++ "):
            if name:
                yield name, frozenset(numbers)
            name, numbers = _name(line[4:]), set()
        hunk = _HUNK.match(line)
        if hunk is None:
            continue
        gone = 1 if hunk[1] is None else int(hunk[1])
        come = 1 if hunk[3] is None else int(hunk[3])
        numbers.update(range(int(hunk[2]), int(hunk[2]) + come))
        # What stands in a hunk may look like anything; it is counted, and not read.
        while gone or come:
            first = next(lines)[:1]
            gone -= first == b"-"
            come -= first == b"+"
    if name:
        yield name, frozenset(numbers)


def _name(written: bytes) -> bytes:
    """The name that follows `+++`; empty for a file that is no more."""
    written = written.removesuffix(b"\t")
    if written.startswith(b'"'):
        written = _ESCAPED.sub(_unescaped, written[1:-1])
    return written[2:] if written.startswith(b"b/") else b""


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _LETTERS.get(code, code)
