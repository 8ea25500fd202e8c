"""One run of `check` or `apply`: from options to a report and an exit code."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import engine, outputs
from tfrewrite.cache import Cache, default_directory
from tfrewrite.config import ConfigError, Settings
from tfrewrite.discovery import Filter, Found, discover
from tfrewrite.fixes import with_fixes
from tfrewrite.model import Outcome, Status
from tfrewrite.options import STDIN, Options
from tfrewrite.plan import Plan
from tfrewrite.reports import diff as diff_report
from tfrewrite.reports import text
from tfrewrite.reports.formats import WITH_FIXES, WITH_STATISTICS, Format, View, render
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run, exit_code
from tfrewrite.runner import Keep, Means, left_out, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.since import Changes

FORMATS = tuple(one.value for one in Format)
WRONG_USE = 2
INTERRUPTED = 130


class Session:
    """What the user asked for, and how it went."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._begun = time.perf_counter()
        self._targets: list[outputs.Target] = []

    def check(self) -> int:
        return self._guarded(write=False)

    def apply(self, *, diff: bool, interactive: bool) -> int:
        return self._guarded(write=not diff, diff=diff, interactive=interactive)

    def _guarded(self, *, write: bool, diff: bool = False, interactive: bool = False) -> int:
        """Runs, with one line instead of a traceback for what the user can do something about."""
        try:
            return self._run(write=write, diff=diff, interactive=interactive)
        except ConfigError as error:
            _complain(f"tfrewrite: {error}")
            return WRONG_USE
        except KeyboardInterrupt:
            _complain("tfrewrite: interrupted; every file is whole, as it was or as rewritten")
            return INTERRUPTED

    def _run(self, *, write: bool, diff: bool, interactive: bool) -> int:
        options = self._options
        settings = options.settings()
        self._targets = outputs.targets(options.outputs, options.format.value, FORMATS)
        plan = Plan(settings, write=write and STDIN not in options.paths)
        if STDIN in options.paths:
            return self._standard_input(plan, write=write, diff=diff, interactive=interactive)
        found = self._found(settings)
        changes = self._changes(found)
        found = found if changes is None else changes.concerned(found)
        outcomes = (
            self._asked(found, plan) if interactive else self._handled(found, plan, diff=diff)
        )
        for one, outcome in zip(found, outcomes, strict=True):
            # What was come across in a directory is left out without a word.
            if one.named and outcome.status is Status.SKIPPED:
                _complain(f"{one.path}: skipped: {outcome.error}")
        if changes is not None:
            outcomes = [changes.only(outcome) for outcome in outcomes]
        result = Run(tuple(outcomes), time.perf_counter() - self._begun)
        self._report(result, diff=diff)
        return exit_code(result, pending_matters=diff or not write)

    def _found(self, settings: Settings) -> list[Found]:
        number, count = self._options.shard_of()
        wanted = Filter(settings.root, settings.exclude, settings.include)
        return list(discover(self._options.paths, wanted))[number - 1 :: count]

    def _changes(self, found: Sequence[Found]) -> Changes | None:
        if not self._options.since:
            return None
        from tfrewrite.since import changes  # noqa: PLC0415

        return changes(self._options.since, found)

    def _handled(self, found: Sequence[Found], plan: Plan, *, diff: bool) -> list[Outcome]:
        settings = self._options.settings()
        directory = Path(settings.cache_dir) if settings.cache_dir else default_directory()
        quiet = self._options.quiet or not sys.stderr.isatty()
        means = Means(
            jobs=settings.jobs,
            cache=None if self._options.no_cache else Cache(directory),
            keep=Keep(texts=diff, fixes=self._wants_fixes),
            progress=None if quiet else _show_progress,
        )
        try:
            return run(found, plan, means)
        finally:
            if not quiet:
                sys.stderr.write("\r\x1b[K")

    def _asked(self, found: Sequence[Found], plan: Plan) -> list[Outcome]:
        from tfrewrite.interactive import Questions  # noqa: PLC0415

        questions = Questions()
        outcomes: list[Outcome] = []
        for one in found:
            if one.problem or one.skipped:
                outcomes.append(left_out(one))
                continue
            questions.path = one.path
            policy = plan.policy(one.path)
            outcomes.append(engine.handle(one.path, policy, named=one.named, choose=questions))
        return outcomes

    def _standard_input(self, plan: Plan, *, write: bool, diff: bool, interactive: bool) -> int:
        if len(self._options.paths) > 1:
            raise ConfigError("- stands for standard input, and takes no other path beside it")
        if self._options.since:
            raise ConfigError("--since asks git about files, and standard input is none")
        if interactive:
            raise ConfigError("--interactive asks on standard input, so it cannot read a file too")
        data = sys.stdin.buffer.read()
        outcome = engine.handle_bytes(data, "<stdin>", plan.base)
        if self._wants_fixes and not write:
            outcome = with_fixes(outcome)
        if write and outcome.status is not Status.FAILED:
            sys.stdout.buffer.write(_rewritten(data, outcome))
            made = tuple(replace(one, applied=bool(one.touched)) for one in outcome.findings)
            outcome = replace(outcome, findings=made)
        result = Run((outcome,), time.perf_counter() - self._begun)
        self._report(result, diff=diff, beside=write)
        return exit_code(result, pending_matters=not write)

    @property
    def _wants_fixes(self) -> bool:
        return any(format_ in WITH_FIXES for format_, _ in self._targets)

    def _report(self, result: Run, *, diff: bool, beside: bool = False) -> None:
        """Writes the reports; `beside` a rewritten source on standard output, they go elsewhere."""
        options = self._options
        view = View(options.quiet, options.verbose, options.statistics)
        for name, target in self._targets:
            format_ = Format(name)
            if diff and format_ is Format.TEXT:
                report = b"".join(diff_report.render(one) for one in result.outcomes)
            else:
                report = render(format_, result, view).encode("utf-8", "replace")
            if target is None and beside:
                sys.stderr.buffer.write(report)
                sys.stderr.flush()
            else:
                outputs.write(report, target)
        if options.statistics and not any(name in WITH_STATISTICS for name, _ in self._targets):
            for line in text.statistics(result):
                _complain(line)
        for problem in text.problems(result):
            _complain(problem)


def _rewritten(data: bytes, outcome: Outcome) -> bytes:
    if outcome.status is not Status.WOULD_REWRITE:
        return data
    return outcome.after.encode(outcome.encoding)


def _complain(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done:,} of {total:,} files")
    sys.stderr.flush()
