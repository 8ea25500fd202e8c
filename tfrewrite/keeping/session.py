"""One run of `apply --verify`: from options to what is kept, written and reported."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tfrewrite import outputs, textfile
from tfrewrite.config import ConfigError
from tfrewrite.discovery import is_notebook
from tfrewrite.keeping.deciding import Decision, Wanted, decide
from tfrewrite.keeping.finding import Found, Script, find
from tfrewrite.keeping.trials import Runnable
from tfrewrite.live import Live
from tfrewrite.model import Contract, Outcome, Status
from tfrewrite.reports import diff as diff_report
from tfrewrite.reports.summary import listed, plural
from tfrewrite.verify import subjects
from tfrewrite.verify.experiment import Effort
from tfrewrite.verify.settings import VerifySettings
from tfrewrite.verify.timing import MIN_EFFECT
from tfrewrite.verifying import (
    FORMATS,
    SIGNALS,
    WRONG_USE,
    VerifyOptions,
    ended_by_signals,
    jobs_of,
    rendered,
    rules_of,
    settings_of,
)


@dataclass(frozen=True)
class KeepOptions:
    """What the command line says beside what `verify` takes."""

    verify: VerifyOptions
    diff: bool = False
    min_speedup: float | None = None
    """How many times as fast a rewrite has to make a script; None: it may not make it slower."""


class KeepSession:
    """What the user asked for, and how it went."""

    def __init__(self, options: KeepOptions) -> None:
        self._options = options
        self._written = False

    def run(self) -> int:
        """The exit code; one line instead of a traceback for what the user can mend."""
        try:
            return self._run()
        except (ConfigError, subjects.SubjectError) as error:
            outputs.complain(f"tfrewrite: {error}")
            return WRONG_USE
        except textfile.TextFileError as error:
            outputs.complain(f"tfrewrite: {error}; no file was rewritten")
            return WRONG_USE
        except KeyboardInterrupt as interrupted:
            done = "every file was rewritten as told" if self._written else "nothing was written"
            outputs.complain(f"tfrewrite: interrupted; {done}")
            return 128 + getattr(interrupted, "number", signal.SIGINT)

    def _run(self) -> int:
        self._check()
        asked = self._options.verify
        targets = outputs.targets(asked.outputs, asked.format, FORMATS)
        (path,) = asked.paths
        listed = self._settings.listed(path) if path.is_dir() else ()
        since = asked.rules.since if asked.rules else ""
        found = find(path, rules_of(asked), listed, since)
        self._say(found)
        decision = self._decided(found)
        kept = _rewritten(found, decision)
        if not self._options.diff:
            self._write(found, decision)
        for format_, target in targets:
            self._report(found, decision, format_, target)
        if any(one.status is Status.FAILED for one in found.others):
            return WRONG_USE
        return 1 if not decision.all_shown or (self._options.diff and kept) else 0

    def _check(self) -> None:
        asked, least = self._options.verify, self._options.min_speedup
        if len(asked.paths) != 1:
            raise ConfigError(
                f"apply --verify takes one file or one directory, not {len(asked.paths)} paths; "
                "the scripts of a directory are verified together"
            )
        if least is not None and not math.isfinite(least):
            raise ConfigError(f"--min-speedup: {least} is no factor; write a number, as in 1.05")
        if least is not None and self._settings.quick:
            raise ConfigError("--min-speedup needs times, and --quick compares numbers only")

    def _say(self, found: Found) -> None:
        for one in found.others:
            if one.status is Status.FAILED:
                outputs.complain(f"{one.path}: error: {one.error}")
        if self._options.verify.quiet:
            return
        for note in found.notes:
            outputs.complain(note)
        if not found.rewrites.all and not found.notes:
            (path,) = self._options.verify.paths
            refused = sum(len(one.refusals) for one in found.others)
            why = f"; {plural(refused, 'refusal')} (see tfrewrite check)" if refused else ""
            outputs.complain(f"{path}: nothing to verify: no rewrite is to be made{why}")

    # What is run.

    def _decided(self, found: Found) -> Decision:
        if not found.rewrites.all:
            return Decision()
        live = Live(silent=self._options.verify.quiet or not sys.stderr.isatty())
        least = self._options.min_speedup
        wanted = Wanted(not self._settings.quick, must_gain=least is not None and least > 1)

        def runnables(script: Script) -> list[Runnable]:
            return list(self._runnables(found, script))

        try:
            with ended_by_signals():
                return decide(found, runnables, wanted, live.show, live.keep)
        finally:
            live.clear()

    def _runnables(self, found: Found, script: Script) -> Iterator[Runnable]:
        """A script as it is run on each device."""
        settings = self._settings.of(found.tree, script.name)
        files = found.rewrites.files
        outcomes = [(name, files[name].full.outcome) for name in files if name in script.imports]
        pair = subjects.pair_of(
            found.tree, script.name, outcomes, script.shown, self._settings.contract
        )

        def effort(contract: Contract) -> Effort:
            gain = (self._options.min_speedup or 1) - 1
            return replace(settings.effort(contract), min_effect=max(MIN_EFFECT, gain))

        for job in jobs_of(pair, self._settings):
            own = replace(job, effort=effort(job.pair.promise.contract))
            yield Runnable(found.tree, script.name, script.shown, own, settings.contract, effort)

    @cached_property
    def _settings(self) -> VerifySettings:
        return settings_of(self._options.verify)

    # What is left.

    def _write(self, found: Found, decision: Decision) -> None:
        """All files that change, or none; a signal has to wait for the end of it."""
        files = found.rewrites.files
        changes = [
            (files[name].path, _decoded(name, files[name].data), outcome.after)
            for name, outcome in _rewritten(found, decision).items()
        ]
        with _undisturbed():
            textfile.write_all(changes)
            self._written = bool(changes)

    def _report(self, found: Found, decision: Decision, format_: str, target: Path | None) -> None:
        """As `verify` does it; the diff takes the place of the text, which goes elsewhere."""
        if format_ == "json":
            from tfrewrite.reports.verification import json_report  # noqa: PLC0415

            told = self._told(found, decision)
            outputs.write(json_report.render(decision.verifications, **told).encode(), target)
        elif format_ == "text":
            self._report_text(found, decision, target)
        else:
            report = rendered(decision.verifications, format_, self._options.verify)
            outputs.write(report.encode("utf-8", "replace"), target)

    def _report_text(self, found: Found, decision: Decision, target: Path | None) -> None:
        text = ""
        if decision.verifications:
            text = rendered(decision.verifications, "text", self._options.verify)
            text += "" if self._options.verify.quiet else self._summary(found, decision)
        if self._options.diff:
            sys.stderr.write(text)
            sys.stderr.flush()
            diffs = [diff_report.render(one) for one in _rewritten(found, decision).values()]
            outputs.write(b"".join(diffs), target)
        else:
            outputs.write(text.encode("utf-8", "replace"), target)

    def _told(self, found: Found, decision: Decision) -> dict[str, Any]:
        """What the report for programs says beside the verifications."""
        written = Status.WOULD_REWRITE if self._options.diff else Status.REWRITTEN
        changed = _rewritten(found, decision)
        files = [
            {"path": file.path, "status": written.value if name in changed else "unchanged"}
            for name, file in found.rewrites.files.items()
        ]
        left = [{"path": one.path, "status": one.status.value} for one in found.others]
        kept = sum(fate.ground.keeps for fate in decision.fates.values())
        return {
            "files": [*files, *left],
            "rewrites": {"kept": kept, "dropped": len(decision.fates) - kept},
        }

    def _summary(self, found: Found, decision: Decision) -> str:
        kept = sum(fate.ground.keeps for fate in decision.fates.values())
        dropped = len(decision.fates) - kept
        refused = sum(len(one.refusals) for one in _outcomes(found, decision))
        made = "to make" if self._options.diff else "made"
        files = plural(len(_rewritten(found, decision)), "file")
        parts = [
            f"{plural(kept, 'rewrite')} {made} in {files}" if kept else "nothing was rewritten",
            f"{dropped:,} dropped" if dropped else "",
            f"{plural(refused, 'refusal')} (see tfrewrite check)" if refused else "",
        ]
        return f"{listed(parts)}\n"


def _rewritten(found: Found, decision: Decision) -> dict[str, Outcome]:
    """The files that change, by their names in the tree, as they are kept."""
    versions = found.rewrites.versions(decision.kept)
    return {name: version.outcome for name, version in versions.items()}


def _decoded(name: str, data: bytes) -> textfile.TextFile:
    return textfile.decode_json(data) if is_notebook(name) else textfile.decode(data)


def _outcomes(found: Found, decision: Decision) -> Iterator[Outcome]:
    """Of each file as it is left, or, where nothing is kept, as it would have been."""
    kept = _rewritten(found, decision)
    for name, file in found.rewrites.files.items():
        yield kept.get(name, file.full.outcome)
    yield from found.others


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that would end the program are not heard meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = {one: signal.signal(one, signal.SIG_IGN) for one in SIGNALS}
    try:
        yield
    finally:
        for one, handler in heard.items():
            signal.signal(one, handler or signal.SIG_DFL)
