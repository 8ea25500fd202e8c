"""Which files the options mean, and what becomes of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import engine
from tfrewrite.cache import Cache, default_directory
from tfrewrite.discovery import Filter, Found, discover
from tfrewrite.model import Outcome, Status
from tfrewrite.outputs import complain
from tfrewrite.plan import Plan
from tfrewrite.runner import Keep, Means, left_out, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfrewrite.config import Settings
    from tfrewrite.options import Options
    from tfrewrite.since import Changes


@dataclass(frozen=True)
class Handling:
    """The files and the rules that a run is about."""

    options: Options
    settings: Settings
    plan: Plan

    @classmethod
    def of(cls, options: Options, *, write: bool = False) -> Handling:
        """What the options and the settings file say; `ConfigError` where that is wrong."""
        settings = options.settings()
        return cls(options, settings, Plan(settings, write=write))

    @property
    def wanted(self) -> Filter:
        return Filter(self.settings.root, self.settings.exclude, self.settings.include)

    def found(self, entered: Callable[[str], None] | None = None) -> list[Found]:
        """Which files there are; `entered` is told of the directories that are read for it."""
        number, count = self.options.shard_of()
        more = () if entered is None else (entered,)
        return list(discover(self.options.paths, self.wanted, *more))[number - 1 :: count]

    def outcomes(self, found: Sequence[Found], keep: Keep, *, ask: bool = False) -> list[Outcome]:
        """Of each file; with `--since` of those that changed, with what stands on changed lines."""
        changes = self._changes(found)
        if changes is not None:
            found = changes.concerned(found)
        outcomes = self._asked(found, changes) if ask else self._handled(found, keep, changes)
        for one, outcome in zip(found, outcomes, strict=True):
            # What was come across in a directory is left out without a word.
            if one.named and outcome.status is Status.SKIPPED:
                complain(f"{one.path}: skipped: {outcome.error}")
        return outcomes if changes is None else [changes.only(one) for one in outcomes]

    def _changes(self, found: Sequence[Found]) -> Changes | None:
        if not self.options.since:
            return None
        from tfrewrite.since import changes  # noqa: PLC0415

        return changes(self.options.since, found)

    def _asked(self, found: Sequence[Found], changes: Changes | None) -> list[Outcome]:
        from tfrewrite.interactive import Questions  # noqa: PLC0415

        questions = Questions()
        outcomes: list[Outcome] = []
        for one in found:
            if one.problem or one.skipped:
                outcomes.append(left_out(one))
                continue
            questions.about(one.path, None if changes is None else changes.chooser(one.path))
            policy = self.plan.policy(one.path)
            outcomes.append(engine.handle(one.path, policy, named=one.named, choose=questions))
        return outcomes

    def _handled(
        self, found: Sequence[Found], keep: Keep, changes: Changes | None
    ) -> list[Outcome]:
        settings = self.settings
        directory = Path(settings.cache_dir) if settings.cache_dir else default_directory()
        quiet = self.options.quiet or not sys.stderr.isatty()
        means = Means(
            jobs=settings.jobs,
            cache=None if self.options.no_cache else Cache(directory),
            keep=keep,
            progress=None if quiet else _show_progress,
        )
        if changes is not None:
            means = replace(means, chooser=changes.chooser)
        try:
            return run(found, self.plan, means)
        finally:
            if not quiet:
                sys.stderr.write("\r\x1b[K")


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done:,} of {total:,} files")
    sys.stderr.flush()
