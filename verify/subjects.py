"""What is to be verified: pairs of versions, from paths that a user names.

A script runs in a copy of the folder that it lies in; the rewritten version is put in the place of
the original there, so that both see the same name and the same surroundings.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfrewrite import engine, syntax, textfile
from tfrewrite.model import Contract, Outcome, Status
from tfrewrite.policy import Policy
from tfrewrite.verify import judging
from tfrewrite.verify.experiment import Pair
from tfrewrite.verify.model import Change, Subject
from tfrewrite.verify.runs import Program

LARGEST_TREE = 2 << 30
MOST_FILES = 50_000
CONTRACTS = list(Contract)


class SubjectError(Exception):
    """What was named cannot be verified; says why and what to do."""


@dataclass(frozen=True)
class Nothing:
    """A script that the rules leave as it is."""

    script: str


Policies = Callable[[str], Policy]
Sources = Mapping[str, bytes]


def given(original: Path, rewritten: Path, contract: Contract | None) -> Pair:
    """Two files: the second is held against the first."""
    script, new = _read(original), _read(rewritten)
    if script == new:
        raise SubjectError(f"{original} and {rewritten} are the same: there is nothing to verify")
    tree = _tree(original.parent)
    promise = contract or Contract.ROUNDING
    return Pair(
        Subject(
            original.name,
            str(original),
            str(rewritten),
            promise,
            _diff({original.name: script}, {original.name: new}),
        ),
        Program.of(tree, original.name),
        Program.of(tree, original.name, ((original.name, new),)),
        judging.Promise(promise),
    )


def given_trees(
    original: Path, rewritten: Path, scripts: Sequence[str], contract: Contract | None
) -> list[Pair]:
    """Two directories: every runnable script of the first with that of the second."""
    ours, theirs = _python_files(original), _python_files(rewritten)
    tree, other = _tree(original), _tree(rewritten)
    differing = {
        name: theirs[name] for name in theirs if name not in ours or ours[name] != theirs[name]
    }
    if not differing:
        raise SubjectError(f"{original} and {rewritten} hold the same: there is nothing to verify")
    promise = contract or Contract.ROUNDING
    return [
        Pair(
            Subject(script, str(original), str(rewritten), promise, _diff(ours, differing)),
            Program.of(tree, script),
            Program.of(other, script),
            judging.Promise(promise),
        )
        for script in scripts or runnable(ours)
    ]


def rewritten_file(path: Path, policies: Policies, contract: Contract | None) -> Pair | Nothing:
    """A script and what the rules make of it."""
    outcome = _outcome(path, policies)
    if outcome.after == outcome.before:
        return Nothing(str(path))
    return _pair(_tree(path.parent), path.name, [(path.name, outcome)], str(path), contract)


def rewritten_tree(
    folder: Path, scripts: Sequence[str], policies: Policies, contract: Contract | None
) -> list[Pair | Nothing]:
    """The scripts of a directory; all of its files are rewritten as `apply` does it."""
    tree = _tree(folder)
    sources = _python_files(folder)
    changed: list[tuple[str, Outcome]] = []
    for name in sources:
        outcome = engine.handle(str(folder / name), policies(str(folder / name)), named=False)
        if outcome.status is Status.WOULD_REWRITE:
            changed.append((name, outcome))
    names = list(scripts) or runnable(sources)
    if not names:
        raise SubjectError(
            f"{folder}: no script was found that can be run; name the scripts in "
            "[tool.tfrewrite.verify], as in scripts = [{ path = 'train.py' }]"
        )
    found: list[Pair | Nothing] = []
    for script in names:
        matter = [one for one in changed if one[0] == script or not _is_script(sources, one[0])]
        found.append(
            _pair(tree, script, matter, str(folder / script), contract)
            if matter
            else Nothing(str(folder / script))
        )
    return found


def runnable(sources: Sources) -> list[str]:
    """The files that do something with TensorFlow when they are run, rather than when imported."""
    return [
        name for name in sources if _is_script(sources, name) and _uses_tensorflow(sources[name])
    ]


def _is_script(sources: Sources, name: str) -> bool:
    data = sources.get(name, b"")
    try:
        tree = syntax.parse(textfile.decode(data).text)
    except (textfile.TextFileError, syntax.NotPython):
        return False
    return any(_is_main_guard(one) or _works(one) for one in tree.body)


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test)


def _works(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.For, ast.While, ast.With))


def _uses_tensorflow(data: bytes) -> bool:
    return b"tensorflow" in data or b"keras" in data


def _pair(
    tree: Path,
    script: str,
    changed: Iterable[tuple[str, Outcome]],
    shown: str,
    contract: Contract | None,
) -> Pair:
    changed = list(changed)
    changes = tuple(change for name, one in changed for change in _changes(name, one, script))
    weakest = max((one.contract for one in changes), key=CONTRACTS.index, default=Contract.EXACT)
    promise = contract or weakest
    new = tuple((name, one.after.encode(one.encoding)) for name, one in changed)
    diff = "".join(_one_diff(name, one.before, one.after) for name, one in changed)
    reads_less = any(one.rule in judging.READS_LESS for one in changes)
    return Pair(
        Subject(script, shown, f"{shown} (rewritten)", promise, diff, changes),
        Program.of(tree, script),
        Program.of(tree, script, new),
        judging.Promise(promise, reads_less=reads_less),
    )


def _changes(name: str, outcome: Outcome, script: str) -> Iterator[Change]:
    for one in outcome.findings:
        if one.contract is not None and one.touched:
            where = "" if name == script else f"{name}: "
            yield Change(
                one.rule, one.name, one.span.line, where + one.message, one.contract, one.changes
            )


def _outcome(path: Path, policies: Policies) -> Outcome:
    outcome = engine.handle(str(path), policies(str(path)))
    if outcome.status is Status.FAILED:
        raise SubjectError(f"{path}: {outcome.error}")
    return outcome


# Files.


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SubjectError(f"{path}: {error.strerror or error}") from error


def _tree(folder: Path) -> Path:
    """The folder that every run gets a copy of, if it is small enough for that."""
    size = count = 0
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in {".git", "__pycache__"}]
        for name in names:
            count += 1
            try:
                size += os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118
            except OSError:
                continue
        if size > LARGEST_TREE or count > MOST_FILES:
            raise SubjectError(
                f"{folder} holds more than is copied for each run ({count:,} files, "
                f"{size / 1e6:,.0f} MB so far); put the script and what it needs into a folder of "
                "its own"
            )
    return folder.resolve()


def _python_files(folder: Path) -> dict[str, bytes]:
    from tfrewrite.discovery import Filter, discover  # noqa: PLC0415

    found = {}
    for one in discover([str(folder)], Filter(str(folder.resolve()))):
        if not one.problem and not one.skipped:
            path = Path(one.path)
            found[os.path.relpath(path, folder)] = _read(path)
    return found


def _diff(before: Sources, after: Sources) -> str:
    return "".join(
        _one_diff(name, _text(before.get(name, b"")), _text(after[name])) for name in sorted(after)
    )


def _one_diff(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"original/{name}",
        f"rewritten/{name}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
