"""From the path that a user names to the rewrites there, and the scripts that can show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfrewrite import textfile
from tfrewrite.discovery import Found as FoundFile
from tfrewrite.discovery import discover
from tfrewrite.keeping.rewrites import Rewrites, RewrittenFile
from tfrewrite.model import Outcome, Status
from tfrewrite.since import Changes, changes
from tfrewrite.verify import subjects
from tfrewrite.verify.notebooks import readable
from tfrewrite.verify.trees import python_files


@dataclass(frozen=True)
class Script:
    """A script that imports rewritten files. `shown` is how the user calls it."""

    name: str
    shown: Path
    imports: frozenset[str]
    """Of the files that would change, those that it imports, as far as names tell."""


@dataclass(frozen=True)
class Found:
    """What there is. `others` are the outcomes of the files that no rule changes."""

    rewrites: Rewrites
    tree: Path
    scripts: tuple[Script, ...] = ()
    others: tuple[Outcome, ...] = ()
    notes: tuple[str, ...] = ()


def find(path: Path, rules: subjects.Rules, listed: Sequence[str], since: str = "") -> Found:
    """`SubjectError` where there is nothing that could be run.

    With `since`, a revision of git, only rewrites on lines that changed since then are meant.
    """
    subjects.require_runnable(path)
    return _in_tree(path, rules, listed, since) if path.is_dir() else _of_file(path, rules, since)


def _changes(since: str, paths: Iterable[str]) -> Changes | None:
    return changes(since, [FoundFile(path) for path in paths]) if since else None


def _of_file(path: Path, rules: subjects.Rules, since: str) -> Found:
    """A script by itself: what it imports is left as it is."""
    real = path.resolve()
    if rules.wanted.excludes(str(path)):
        note = f"{path}: excluded by the settings or by --exclude"
        return Found(Rewrites([]), real.parent, notes=(note,))
    try:
        data = textfile.read(str(path))
    except textfile.TextFileError as error:
        failed = Outcome(str(path), Status.FAILED, error=str(error))
        return Found(Rewrites([]), real.parent, others=(failed,))
    policy, changed = rules.policy(str(path)), _changes(since, [str(path)])
    file = RewrittenFile(real.name, str(path), data, policy, named=True, changes=changed)
    if not file.full.made:
        one = file.full.outcome
        notes = (f"{path}: skipped: {one.error}",) if one.status is Status.SKIPPED else ()
        return Found(Rewrites([]), real.parent, others=(one,), notes=notes)
    tree = subjects.copied_tree(real.parent)
    script = Script(real.name, path, frozenset([real.name]))
    return Found(Rewrites([file]), tree, (script,), notes=_notes([script]))


def _in_tree(folder: Path, rules: subjects.Rules, listed: Sequence[str], since: str) -> Found:
    """The files that `apply` would handle, and the scripts that `verify` would run."""
    real = folder.resolve()
    sources = python_files(folder)
    for name in listed:
        sources.setdefault(name, subjects.script_data(folder / name))
    changing: list[RewrittenFile] = []
    others: list[Outcome] = []
    handled = _handled(folder, rules, listed)
    changed = _changes(since, handled)
    for path, name in handled.items():
        try:
            data = textfile.read(path)
        except textfile.TextFileError as error:
            others.append(Outcome(path, Status.FAILED, error=str(error)))
            continue
        policy = rules.policy(path)
        file = RewrittenFile(name, path, data, policy, named=False, changes=changed)
        sources.setdefault(name, readable(name, data) or data)
        if file.full.made:
            changing.append(file)
        else:
            others.append(file.full.outcome)
    if not changing:
        return Found(Rewrites([]), real, others=tuple(others))
    tree = subjects.copied_tree(folder)
    concern = subjects.Concern.of(sources, listed, [one.name for one in changing], folder)
    scripts = tuple(
        Script(name, folder / name, frozenset(concern.changed(name)))
        for name in concern.scripts
        if concern.changed(name)
    )
    return Found(Rewrites(changing), tree, scripts, tuple(others), _notes(scripts))


def _notes(scripts: Iterable[Script]) -> tuple[str, ...]:
    """What a run of a notebook leaves out."""
    return tuple(note for script in scripts for note in subjects.notes_of(script.shown))


def _handled(folder: Path, rules: subjects.Rules, listed: Sequence[str]) -> Mapping[str, str]:
    """The files that are rewritten, as the user would call them, with their names in the tree."""
    real = folder.resolve()
    paths = [one.path for one in discover([str(folder)], rules.wanted)]
    paths += [str(folder / name) for name in listed]
    found: dict[str, str] = {}
    for path in paths:
        target = Path(path).resolve()
        if target.is_file() and target.is_relative_to(real) and not rules.wanted.excludes(path):
            name = target.relative_to(real).as_posix()
            if name not in found.values():
                found[path] = name
    return found
