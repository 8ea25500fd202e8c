"""One run of `check` or `apply`: from options to a report and an exit code."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite import engine, outputs
from tfrewrite.config import ConfigError
from tfrewrite.discovery import EXCLUDED
from tfrewrite.fixes import with_fixes
from tfrewrite.handling import Handling
from tfrewrite.model import Outcome, Status
from tfrewrite.options import STDIN, Options
from tfrewrite.reports import diff as diff_report
from tfrewrite.reports import text
from tfrewrite.reports.formats import WITH_FIXES, WITH_STATISTICS, Format, View, render
from tfrewrite.reports.summary import Run, exit_code
from tfrewrite.runner import Keep

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            outputs.complain(f"tfrewrite: {error}")
            return WRONG_USE
        except KeyboardInterrupt:
            outputs.complain(
                "tfrewrite: interrupted; every file is whole, as it was or as rewritten"
            )
            return INTERRUPTED

    def _run(self, *, write: bool, diff: bool, interactive: bool) -> int:
        options = self._options
        options.require_sense(interactive=interactive)
        piped = STDIN in options.paths
        handling = Handling.of(options, write=write and not piped)
        self._targets = outputs.targets(options.outputs, options.format.value, FORMATS)
        if piped:
            return self._standard_input(handling, write=write, diff=diff)
        keep = Keep(texts=diff, fixes=wants_fixes(self._targets))
        outcomes = handling.outcomes(handling.found(), keep, ask=interactive)
        result = Run(tuple(outcomes), time.perf_counter() - self._begun)
        self._report(result, diff=diff)
        return exit_code(result, pending_matters=diff or not write)

    def _standard_input(self, handling: Handling, *, write: bool, diff: bool) -> int:
        if sys.stdin is None:
            raise ConfigError("standard input is closed, and - reads it")
        data = sys.stdin.buffer.read()
        outcome = _piped(data, handling)
        if outcome.status is Status.SKIPPED:
            outputs.complain(f"{outcome.path}: skipped: {outcome.error}")
        if wants_fixes(self._targets) and not write:
            outcome = with_fixes(outcome)
        if write and outcome.status is not Status.FAILED:
            sys.stdout.buffer.write(_rewritten(data, outcome))
            outcome = _made(outcome)
        result = Run((outcome,), time.perf_counter() - self._begun)
        self._report(result, diff=diff, beside=write)
        return exit_code(result, pending_matters=not write)

    def _report(self, result: Run, *, diff: bool, beside: bool = False) -> None:
        """Writes the reports; `beside` a rewritten source on standard output, they go elsewhere."""
        view = view_of(self._options)
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
        if view.statistics and not any(name in WITH_STATISTICS for name, _ in self._targets):
            for line in text.statistics(result):
                outputs.complain(line)
        for problem in text.problems(result):
            outputs.complain(problem)


def view_of(options: Options) -> View:
    return View(options.quiet, options.verbose, options.statistics)


def wants_fixes(targets: Sequence[outputs.Target]) -> bool:
    return any(format_ in WITH_FIXES for format_, _ in targets)


def _piped(data: bytes, handling: Handling) -> Outcome:
    """The outcome of what comes on standard input, under the name that it is said to have."""
    name = handling.options.stdin_filename
    if not name:
        return engine.handle_bytes(data, "<stdin>", handling.plan.base)
    if handling.wanted.excludes(name):
        return Outcome(name, Status.SKIPPED, error=EXCLUDED)
    return engine.handle_bytes(data, name, handling.plan.policy(name))


def _made(outcome: Outcome) -> Outcome:
    """The outcome of what was written to standard output."""
    if outcome.status is not Status.WOULD_REWRITE:
        return outcome
    findings = tuple(replace(one, applied=bool(one.touched)) for one in outcome.findings)
    return replace(outcome, status=Status.REWRITTEN, findings=findings)


def _rewritten(data: bytes, outcome: Outcome) -> bytes:
    if outcome.status is not Status.WOULD_REWRITE:
        return data
    return outcome.after.encode(outcome.encoding)
