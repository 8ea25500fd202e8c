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
SHARE = 20
"""Looking at the time stamps may take one part in so many of the time."""
SETTLED_S = 0.1
"""What did not change for so long is no longer being written."""
PATIENCE_S = 2.0
"""A file that never comes to rest is read after this time all the same."""
MOST_NAMED = 5

Stamp = tuple[int, ...]


@dataclass(frozen=True)
class _Seen:
    """The files as they stand on the disk. Two are equal where nothing has changed."""

    found: tuple[Found, ...] = field(compare=False)
    stamps: dict[str, Stamp]
    settings: tuple[Path | None, Stamp]
    took_s: float = field(compare=False)


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
        missing = [one for one in handling.found() if one.problem]
        for one in missing:
            outputs.complain(f"{one.path}: error: {one.problem}")
        if missing:
            return WRONG_USE
        seen = _look(handling)
        self._show(handling, seen, list(seen.found))
        if not self._options.quiet:
            outputs.complain(f"watching {plural(len(seen.stamps), 'file')}; Ctrl-C ends it")
        while True:
            time.sleep(max(PAUSE_S, SHARE * seen.took_s))
            now = _look(handling)
            if now != seen:
                now = _settled(handling, now)
                handling = self._again(handling, seen, now)
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

    def _again(self, handling: Handling, before: _Seen, now: _Seen) -> Handling:
        """What changed between two looks, and what is found there now."""
        changed = [path for path, stamp in now.stamps.items() if before.stamps.get(path) != stamp]
        gone = [path for path in before.stamps if path not in now.stamps]
        new_settings = before.settings != now.settings
        if not (changed or gone or new_settings):
            return handling
        self._say(f"\n{time.strftime('%H:%M:%S')} {_changes_in_words(changed, gone, now, before)}")
        if new_settings:
            try:
                handling = Handling.of(self._options)
            except ConfigError as error:
                outputs.complain(f"tfrewrite: {error}; the settings before it still hold")
            else:
                now = _look(handling)
        everything = new_settings or bool(self._options.since)
        concerned = [one for one in now.found if everything or one.path in set(changed)]
        self._show(handling, now, concerned, set(changed))
        return handling

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


def _look(handling: Handling) -> _Seen:
    begun = time.perf_counter()
    stamps: dict[str, Stamp] = {}
    found: list[Found] = []
    try:
        for one in handling.found():
            stamp = () if one.skipped else _stamp(one.path)
            if not one.problem and stamp is not None:
                found.append(one)
                if not one.skipped:
                    stamps[one.path] = stamp
        settings = handling.options.settings_file()
    except OSError:  # the working directory itself is gone
        settings = None
    of_settings = (settings, (_stamp(str(settings)) or ()) if settings else ())
    return _Seen(tuple(found), stamps, of_settings, time.perf_counter() - begun)


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
        now = _look(handling)
        if now == seen:
            break
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
