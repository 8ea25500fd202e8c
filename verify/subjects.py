"""What is to be verified: pairs of versions, from paths that a user names.

A script runs in a copy of the folder that it lies in; the rewritten version is put in the place of
the original there, so that both see the same name and the same surroundings.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from tfrewrite import engine, textfile
from tfrewrite.discovery import Filter, is_notebook
from tfrewrite.model import Contract, Outcome, Status
from tfrewrite.policy import Policy
from tfrewrite.verify import judging
from tfrewrite.verify.experiment import Pair
from tfrewrite.verify.model import Change, Subject
from tfrewrite.verify.notebooks import NoScript, as_python, notes_on, readable
from tfrewrite.verify.process import is_left_out
from tfrewrite.verify.runs import Program
from tfrewrite.verify.trees import Modules, Scripts, python_files

LARGEST_TREE = 2 << 30
MOST_FILES = 50_000
CONTRACTS = list(Contract)
STDIN = "-"
NO_SCRIPT = (
    "no script was found that can be run; name the scripts in [tool.tfrewrite.verify], "
    "as in scripts = [{ path = 'train.py' }]"
)

Sources = Mapping[str, bytes]


class SubjectError(Exception):
    """What was named cannot be verified; says why and what to do."""


@dataclass(frozen=True)
class Rules:
    """What `apply` would do: which rules for which file, and which files it leaves out."""

    policy: Callable[[str], Policy]
    wanted: Filter


@dataclass(frozen=True)
class Found:
    """What there is to verify, the scripts that both versions have in common, what to know."""

    pairs: tuple[Pair, ...] = ()
    unchanged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def require_runnable(path: Path) -> None:
    """A path that stands for files which can be run; `SubjectError` says what else it is."""
    if str(path) == STDIN:
        raise SubjectError("verify runs scripts where they are; it cannot take one from - (stdin)")
    if not path.exists():
        broken = "a link that leads nowhere" if path.is_symlink() else "no such file or directory"
        raise SubjectError(f"{path}: {broken}; check the spelling")
    if not path.is_dir() and not path.is_file():
        raise SubjectError(f"{path}: neither a file nor a directory")


def given(original: Path, rewritten: Path, contract: Contract | None) -> Found:
    """Two files: the second is held against the first, in the surroundings of the first."""
    if is_notebook(original.name) != is_notebook(rewritten.name):
        raise SubjectError(f"{original} and {rewritten}: give two scripts or two notebooks")
    script, new = (as_python(one.name, script_data(one)) for one in (original, rewritten))
    if script == new:
        raise SubjectError(f"{original} and {rewritten} are the same: there is nothing to verify")
    real = original.resolve()
    tree = copied_tree(real.parent)
    promise = contract or Contract.ROUNDING
    diff = _diff({real.name: script}, {real.name: new})
    pair = Pair(
        Subject(original.name, str(original), str(rewritten), promise, diff),
        Program.of(tree, real.name),
        Program.of(tree, real.name, ((real.name, new),)),
        judging.Promise(promise),
    )
    return Found((pair,), notes=tuple(notes_of(original)))


def given_trees(
    original: Path, rewritten: Path, scripts: Sequence[str], contract: Contract | None
) -> Found:
    """Two directories: every script of the first with that of the second."""
    ours, theirs = python_files(original), python_files(rewritten)
    names = list(dict.fromkeys([*ours, *theirs]))
    differing = {name for name in names if _run_as(ours, name) != _run_as(theirs, name)}
    if not differing:
        raise SubjectError(
            f"the Python files of {original} and {rewritten} are the same: there is nothing to "
            "verify"
        )
    tree, other = copied_tree(original), copied_tree(rewritten)
    promise = contract or Contract.ROUNDING
    concern = Concern.of(ours, scripts, differing, original)
    pairs, unchanged = [], []
    for script in concern.scripts:
        changed = [name for name in names if name in concern.changed(script)]
        if not changed:
            unchanged.append(str(original / script))
            continue
        if script not in theirs and not (other / script).is_file():
            raise SubjectError(f"{rewritten}: there is no {script}, which {original} has")
        diff = "".join(_one_diff(name, _text(ours, name), _text(theirs, name)) for name in changed)
        subject = Subject(script, str(original / script), str(rewritten / script), promise, diff)
        pairs.append(
            Pair(
                subject,
                Program.of(tree, script),
                Program.of(other, script, _named(theirs, changed)),
                judging.Promise(promise),
                concern.perhaps,
            )
        )
    return Found(tuple(pairs), tuple(unchanged), tuple(concern.notes("differs")))


def rewritten_file(path: Path, rules: Rules, contract: Contract | None) -> Found:
    """A script and what the rules make of it."""
    script_data(path)
    if rules.wanted.excludes(str(path)):
        return Found(notes=(f"{path}: excluded by the settings or by --exclude",))
    outcome = engine.handle(str(path), rules.policy(str(path)))
    if outcome.status is Status.FAILED:
        raise SubjectError(f"{path}: {outcome.error}")
    if outcome.status is Status.SKIPPED:
        raise SubjectError(f"{path}: {outcome.error}")
    if outcome.after == outcome.before:
        return Found(unchanged=(str(path),))
    real = path.resolve()
    pair = pair_of(copied_tree(real.parent), real.name, [(real.name, outcome)], path, contract)
    return Found((pair,), notes=tuple(notes_of(path)))


def rewritten_tree(
    folder: Path, scripts: Sequence[str], rules: Rules, contract: Contract | None
) -> Found:
    """The scripts of a directory; its files are rewritten as `apply` does it."""
    tree = copied_tree(folder)
    sources = python_files(folder)
    for name in scripts:
        sources.setdefault(name, script_data(folder / name))
    changed: dict[str, Outcome] = {}
    notes: list[str] = []
    for name in sources:
        path = str(folder / name)
        if rules.wanted.excludes(path) or not (name in scripts or rules.wanted.includes(path)):
            continue
        outcome = engine.handle(path, rules.policy(path), named=False)
        if outcome.status is Status.WOULD_REWRITE:
            changed[name] = outcome
        elif outcome.status is Status.FAILED:
            notes.append(f"{path}: left as it is: {outcome.error}")
    concern = Concern.of(sources, scripts, changed.keys(), folder)
    pairs, unchanged = [], []
    for script in concern.scripts:
        matter = concern.changed(script)
        if matter:
            outcomes = [(name, one) for name, one in changed.items() if name in matter]
            pair = pair_of(tree, script, outcomes, folder / script, contract)
            pairs.append(replace(pair, perhaps=concern.perhaps))
            notes += notes_of(folder / script)
        else:
            unchanged.append(str(folder / script))
    return Found(tuple(pairs), tuple(unchanged), (*notes, *concern.notes("would be rewritten")))


class Concern:
    """Which of the changed files concern which script."""

    def __init__(
        self, scripts: Sequence[str], modules: Modules, changed: Iterable[str], *, listed: bool
    ) -> None:
        self.scripts = scripts
        self._reached = {script: set(modules.reached(script)) for script in scripts}
        self._changed = set(changed)
        reached: set[str] = set().union(*self._reached.values())
        self._unreached = self._changed - reached
        self._listed = listed

    @classmethod
    def of(
        cls, sources: Sources, listed: Sequence[str], changed: Iterable[str], folder: Path
    ) -> Concern:
        found = Scripts(sources)
        names = list(listed) or found.runnable()
        if not names:
            raise SubjectError(f"{folder}: {NO_SCRIPT}")
        return cls(names, found.modules, changed, listed=bool(listed))

    @property
    def perhaps(self) -> frozenset[str]:
        """Those of which no import tells: a script that was listed may load them."""
        return frozenset(self._unreached if self._listed else ())

    def changed(self, script: str) -> set[str]:
        """Those that it imports; one that no script imports may be loaded in another way."""
        return (self._changed & self._reached[script]) | self.perhaps

    def notes(self, what: str) -> Iterator[str]:
        for name in () if self._listed else sorted(self._unreached):
            yield f"{name} {what}, and no script was found that imports it: it is not verified"


def pair_of(
    tree: Path,
    script: str,
    changed: Sequence[tuple[str, Outcome]],
    shown: Path,
    contract: Contract | None,
) -> Pair:
    changes = tuple(change for name, one in changed for change in changes_of(name, one, script))
    weakest = max((one.contract for one in changes), key=CONTRACTS.index, default=Contract.EXACT)
    promise = contract or weakest
    new = tuple((name, one.after.encode(one.encoding)) for name, one in changed)
    diff = "".join(_diff_of(name, one) for name, one in changed)
    name = shown.name if len(PurePosixPath(script).parts) == 1 else script
    return Pair(
        Subject(name, str(shown), f"{shown} (rewritten)", promise, diff, changes),
        Program.of(tree, script),
        Program.of(tree, script, new),
        judging.Promise(promise, frozenset(() if contract else (one.contract for one in changes))),
    )


def changes_of(name: str, outcome: Outcome, script: str) -> Iterator[Change]:
    for one in outcome.findings:
        if one.contract is not None and one.touched:
            where = "" if name == script else f"{name}: "
            line = one.span.line
            if one.cell is not None:
                where, line = f"{where}cell {one.cell.number}: ", one.cell.line
            yield Change(one.rule, one.name, line, where + one.message, one.contract, one.changes)


# Files.


def script_data(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SubjectError(f"{path}: {error.strerror or error}") from error
    try:
        textfile.decode(as_python(path.name, data))
    except (textfile.TextFileError, NoScript) as error:
        raise SubjectError(f"{path}: {error}") from error
    return data


def notes_of(path: Path) -> list[str]:
    """What a run of this file leaves out, if it is a notebook."""
    return notes_on(str(path), path.read_bytes()) if is_notebook(path.name) else []


def copied_tree(folder: Path) -> Path:
    """The folder that every run gets a copy of, if it is small enough for that."""
    size = count = 0
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not is_left_out(Path(where, name))]
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


def _named(sources: Sources, names: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
    return tuple((name, sources[name]) for name in names if name in sources)


def _diff(before: Sources, after: Sources) -> str:
    return "".join(_one_diff(name, _text(before, name), _text(after, name)) for name in after)


def _diff_of(name: str, outcome: Outcome) -> str:
    """What a rewrite changes in a file, or in the cells of a notebook."""
    if not outcome.cells:
        return _one_diff(name, outcome.before, outcome.after)
    return "".join(
        _one_diff(f"{name}:cell {one.number}", one.before + "\n", one.after + "\n")
        for one in outcome.cells
    )


def _one_diff(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"original/{name}",
        f"rewritten/{name}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _text(sources: Sources, name: str) -> str:
    return (_run_as(sources, name) or b"").decode("utf-8", errors="replace")


def _run_as(sources: Sources, name: str) -> bytes | None:
    """What of a file is run; the outputs of a notebook are not."""
    data = sources.get(name)
    return data if data is None else readable(name, data) or data
