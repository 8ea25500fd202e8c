"""`check --watch`: says what there is, and then, whenever files change, what is there now.

Files are asked for their time stamps again and again. That takes no library, and it sees what
changes in containers and on the file systems of a network, of which an operating system's own
notifications tell nothing.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import outputs
from tfrewrite.config import ConfigError
from tfrewrite.discovery import MISSING
from tfrewrite.handling import Handling
from tfrewrite.model import Outcome, Status
from tfrewrite.options import STDIN, Options
from tfrewrite.reports import text
from tfrewrite.reports.formats import Format, render
from tfrewrite.reports.paths import relative
from tfrewrite.reports.summary import Run, plural
from tfrewrite.runner import Keep
from tfrewrite.session import FORMATS, INTERRUPTED, WRONG_USE, view_of, wants_fixes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.discovery import Found

PAUSE_S = 0.4
SHARE = 10
"""Looking at the time stamps may take one part in so many of the time."""
SETTLED_S = 0.1
"""What did not change for so long is no longer being written."""
PATIENCE_S = 2.0
"""A file that never comes to rest is read after this time all the same."""
GRAIN_NS = 2_000_000_000
"""What a file system may take for one moment in its time stamps."""
IGNORE = ".gitignore"
MOST_NAMED = 5

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class _Seen:
    """The files as they stand on the disk. Two are equal where nothing has changed."""

    found: tuple[Found, ...] = field(compare=False)
    stamps: dict[str, Stamp]
    settings: tuple[Path | None, Stamp | None]
    took_s: float = field(default=0.0, compare=False)
    places: dict[str, Stamp | None] = field(default_factory=dict, compare=False)
    """Of what tells whether other files may be there now."""
    settled: bool = field(default=True, compare=False)
    """Whether time stamps would show that a directory has changed after it was read."""


class Watch:
    """Looks until somebody ends it."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._outcomes: dict[str, Outcome] = {}
        self._targets: list[outputs.Target] = []

    def run(self) -> int:
        try:
            return self._run()
        except ConfigError as error:
            outputs.complain(f"tfrewrite: {error}")
            return WRONG_USE
        except KeyboardInterrupt:
            outputs.complain("tfrewrite: stopped watching")
            return INTERRUPTED

    def _run(self) -> int:
        self._require_sense()
        self._targets = outputs.targets(self._options.outputs, Format.TEXT.value, FORMATS)
        handling = Handling.of(self._options)
        missing = [path for path in self._options.paths if not os.path.lexists(path)]
        for path in missing:
            outputs.complain(f"{path}: error: {MISSING}")
        if missing:
            return WRONG_USE
        seen = _look(handling)
        self._show(handling, seen, list(seen.found))
        if not self._options.quiet:
            outputs.complain(f"watching {plural(len(seen.stamps), 'file')}; Ctrl-C ends it")
        while True:
            time.sleep(max(PAUSE_S, SHARE * seen.took_s))
            now = _look(handling, seen)
            if now != seen:
                now = _settled(handling, now)
                handling, now = self._again(handling, seen, now)
            seen = now

    def _require_sense(self) -> None:
        self._options.require_sense()
        if STDIN in self._options.paths:
            raise ConfigError("--watch needs files, and standard input is none")
        if self._options.shard:
            raise ConfigError("--shard and --watch do not go together; leave one of them out")
        if self._options.format is not Format.TEXT:
            name = self._options.format.value
            raise ConfigError(
                f"--watch prints text; have another format in a file, as with --output {name}=FILE"
            )

    def _again(self, handling: Handling, before: _Seen, now: _Seen) -> tuple[Handling, _Seen]:
        """Says what changed between two looks, and what is found there; by new settings if any."""
        changed = {
            path: None for path, stamp in now.stamps.items() if before.stamps.get(path) != stamp
        }
        gone = [path for path in before.stamps if path not in now.stamps]
        new_settings = before.settings != now.settings
        if not (changed or gone or new_settings):
            return handling, now
        self._say(
            f"\n{time.strftime('%H:%M:%S')} {_changes_in_words([*changed], gone, now, before)}"
        )
        if new_settings:
            try:
                handling = Handling.of(self._options)
            except ConfigError as error:
                outputs.complain(f"tfrewrite: {error}; the settings before it still hold")
            else:
                now = _look(handling)
        everything = new_settings or bool(self._options.since)
        concerned = [one for one in now.found if everything or one.path in changed]
        self._show(handling, now, concerned, set(changed))
        return handling, now

    def _show(
        self,
        handling: Handling,
        seen: _Seen,
        concerned: Sequence[Found],
        changed: set[str] | None = None,
    ) -> None:
        """Handles these files, and prints what is said of those that changed or are other now."""
        begun = time.perf_counter()
        made = handling.outcomes(concerned, Keep(fixes=wants_fixes(self._targets)))
        old = self._outcomes
        handled = {one.path for one in concerned}
        there = {path: one for path, one in old.items() if path not in handled}
        there |= {one.path: one for one in made if not _is_gone(one)}
        self._outcomes = {one.path: there[one.path] for one in seen.found if one.path in there}
        news = [
            one
            for path, one in self._outcomes.items()
            if changed is None or path in changed or one != old.get(path)
        ]
        elapsed_s = time.perf_counter() - begun
        self._report(Run(tuple(news), elapsed_s), again=changed is not None)

    def _report(self, news: Run, *, again: bool) -> None:
        view = view_of(self._options)
        whole = Run(tuple(self._outcomes.values()), news.elapsed_s)
        for name, target in self._targets:
            if target is None:
                said = text.news(news, whole, view) if again else text.render(whole, view)
                outputs.write(said.encode("utf-8", "replace"), None)
            else:
                report = render(Format(name), whole, view)
                outputs.write(report.encode("utf-8", "replace"), target)
        for problem in text.problems(news):
            outputs.complain(problem)

    def _say(self, line: str) -> None:
        if not self._options.quiet and any(target is None for _, target in self._targets):
            outputs.write(f"{line}\n".encode("utf-8", "replace"), None)


def _look(handling: Handling, before: _Seen | None = None) -> _Seen:
    """What is there. The directories are read again only where they have changed since `before`."""
    begun = time.perf_counter()
    if before is None or not before.settled or _have_changed(before.places):
        found, places, settled = _walked(handling)
    else:
        found, places, settled = before.found, before.places, True
    stamps: dict[str, Stamp] = {}
    for one in found:
        stamp = None if one.skipped or one.problem else _stamp(one.path)
        if stamp is not None:
            stamps[one.path] = stamp
    there = tuple(one for one in found if one.skipped or one.path in stamps)
    try:
        settings = handling.options.settings_file()
    except OSError:  # the working directory itself is gone
        settings = None
    return _Seen(
        there,
        stamps,
        (settings, _stamp(str(settings)) if settings else None),
        time.perf_counter() - begun,
        places,
        settled,
    )


def _walked(handling: Handling) -> tuple[tuple[Found, ...], dict[str, Stamp | None], bool]:
    places: dict[str, Stamp | None] = {}

    def entered(directory: str) -> None:
        places[directory] = _place_stamp(directory)
        ignore = os.path.join(directory, IGNORE)  # noqa: PTH118
        stamp = _place_stamp(ignore)
        if stamp is not None:
            places[ignore] = stamp

    try:
        for path in handling.options.paths:
            places[path] = _place_stamp(path)
            for parent in Path(path).resolve().parents:
                places[str(parent / IGNORE)] = _place_stamp(str(parent / IGNORE))
        found = tuple(handling.found(entered))
    except OSError:
        found = ()
    newest = max((stamp[0] for stamp in places.values() if stamp), default=0)
    return found, places, newest < time.time_ns() - GRAIN_NS


def _have_changed(places: dict[str, Stamp | None]) -> bool:
    return any(_place_stamp(path) != stamp for path, stamp in places.items())


def _place_stamp(path: str) -> Stamp | None:
    """Changes with the entries of a directory; of a file only with its being there."""
    stamp = _stamp(path)
    if stamp is None or path.endswith(IGNORE) or os.path.isdir(path):  # noqa: PTH112
        return stamp
    return ()


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _settled(handling: Handling, seen: _Seen) -> _Seen:
    """What is there once nobody writes any more: a file that is half written is no news."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        time.sleep(SETTLED_S)
        now = _look(handling, seen)
        if now == seen:
            return now
        seen = now
    return seen


def _is_gone(outcome: Outcome) -> bool:
    """Whether the file went between looking and reading; the next look will not find it."""
    return outcome.status is Status.FAILED and not os.path.exists(outcome.path)  # noqa: PTH110


def _changes_in_words(
    changed: Sequence[str], gone: Sequence[str], now: _Seen, before: _Seen
) -> str:
    if now.settings != before.settings:
        changed = [relative(str(now.settings[0] or before.settings[0])), *changed]
    parts = [
        f"changed: {_names(changed)}" if changed else "",
        f"gone: {_names(gone)}" if gone else "",
    ]
    return "; ".join(part for part in parts if part)


def _names(paths: Sequence[str]) -> str:
    if len(paths) <= MOST_NAMED:
        return ", ".join(paths)
    return plural(len(paths), "file")
