"""One run of `check` or `apply`: from options to a report and an exit code."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import engine
from tfrewrite.cache import Cache, default_directory
from tfrewrite.config import ConfigError, Settings
from tfrewrite.discovery import Filter, Found, discover
from tfrewrite.model import Outcome, Status
from tfrewrite.options import STDIN, Format, Options
from tfrewrite.plan import Plan
from tfrewrite.reports import diff as diff_report
from tfrewrite.reports import json_report, text
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run, exit_code
from tfrewrite.runner import Means, left_out, run

if TYPE_CHECKING:
    from collections.abc import Sequence

WRONG_USE = 2
INTERRUPTED = 130


class Session:
    """What the user asked for, and how it went."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._begun = time.perf_counter()

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
        plan = Plan(settings, write=write and STDIN not in options.paths)
        if STDIN in options.paths:
            return self._standard_input(plan, write=write, diff=diff, interactive=interactive)
        found = self._found(settings)
        outcomes = (
            self._asked(found, plan) if interactive else self._handled(found, plan, diff=diff)
        )
        for one, outcome in zip(found, outcomes, strict=True):
            # What was come across in a directory is left out without a word.
            if one.named and outcome.status is Status.SKIPPED:
                _complain(f"{one.path}: skipped: {outcome.error}")
        result = Run(tuple(outcomes), time.perf_counter() - self._begun)
        if diff and options.format is Format.TEXT:
            self._emit(b"".join(diff_report.render(one) for one in outcomes))
            self._report_problems(result)
        else:
            self._report(result)
        return exit_code(result, pending_matters=diff or not write)

    def _found(self, settings: Settings) -> list[Found]:
        number, count = self._options.shard_of()
        wanted = Filter(settings.root, settings.exclude, settings.include)
        return list(discover(self._options.paths, wanted))[number - 1 :: count]

    def _handled(self, found: Sequence[Found], plan: Plan, *, diff: bool) -> list[Outcome]:
        settings = self._options.settings()
        directory = Path(settings.cache_dir) if settings.cache_dir else default_directory()
        quiet = self._options.quiet or not sys.stderr.isatty()
        means = Means(
            jobs=settings.jobs,
            cache=None if self._options.no_cache else Cache(directory),
            texts=diff,
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
        if interactive:
            raise ConfigError("--interactive asks on standard input, so it cannot read a file too")
        data = sys.stdin.buffer.read()
        outcome = engine.handle_bytes(data, "<stdin>", plan.base)
        if write and outcome.status is not Status.FAILED:
            sys.stdout.buffer.write(_rewritten(data, outcome))
            made = tuple(replace(one, applied=bool(one.touched)) for one in outcome.findings)
            outcome = replace(outcome, findings=made)
        result = Run((outcome,), time.perf_counter() - self._begun)
        if diff and self._options.format is Format.TEXT:
            self._emit(diff_report.render(outcome))
            self._report_problems(result)
        else:
            self._report(result, beside=write)
        return exit_code(result, pending_matters=not write)

    def _report(self, result: Run, *, beside: bool = False) -> None:
        """Writes the report; `beside` a rewritten source on standard output, it goes elsewhere."""
        options = self._options
        if options.format is Format.JSON:
            report = json_report.render(result)
        else:
            report = text.render(
                result,
                quiet=options.quiet,
                verbose=options.verbose,
                statistics=options.statistics,
            )
        self._emit(report.encode(), beside=beside)
        self._report_problems(result)

    def _report_problems(self, result: Run) -> None:
        for problem in text.problems(result):
            _complain(problem)

    def _emit(self, report: bytes, *, beside: bool = False) -> None:
        target = self._options.output
        if target is None:
            stream = sys.stderr if beside else sys.stdout
            stream.flush()
            stream.buffer.write(report)
            stream.flush()
            return
        try:
            target.write_bytes(report)
        except OSError as error:
            raise ConfigError(f"--output: {target}: {error.strerror or error}") from error


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
