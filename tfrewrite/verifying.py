"""One run of `verify`: from options to verifications, reports and an exit code."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TypeVar

from tfrewrite import outputs
from tfrewrite.config import ConfigError, parse_contract
from tfrewrite.config import find as find_settings
from tfrewrite.discovery import Filter
from tfrewrite.live import Live
from tfrewrite.options import Options
from tfrewrite.plan import Plan
from tfrewrite.verify import subjects
from tfrewrite.verify.batch import Job, verify_all
from tfrewrite.verify.config import load as load_settings
from tfrewrite.verify.config import parse_steps
from tfrewrite.verify.experiment import Pair
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Verdict, Verification
from tfrewrite.verify.settings import VerifySettings, split_arguments
from tfrewrite.verify.tf_generation import is_tf1_script
from tfrewrite.verify.trees import Modules

T = TypeVar("T")

WRONG_USE = 2
SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
FORMATS = ("text", "json", "markdown", "html")
MOST_PATHS = 2
MOST_NOTES = 5


@dataclass(frozen=True)
class VerifyOptions:
    """What the command line says of a verification; empty and None are: as set, or by default."""

    paths: Sequence[Path]
    python: Path | None = None
    arguments: str = ""
    steps: str = ""
    seeds: int | None = None
    runs: int | None = None
    timeout_s: float | None = None
    memory_limit_mb: float | None = None
    device: str = ""
    contract: str = ""
    synthetic: bool = False
    legacy_keras: bool = False
    quick: bool = False
    format: str = "text"
    outputs: Sequence[str] = ()
    jobs: int = 1
    quiet: bool = False
    verbose: bool = False
    rules: Options | None = None
    """What `check` and `apply` would be told of rules."""


class Interrupted(KeyboardInterrupt):
    """A signal came that ends the program."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """The first signal ends the runs; others are not heard until everything is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        for one in heard:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(number)

    heard = {one: signal.getsignal(one) for one in SIGNALS}
    heard = {one: handler for one, handler in heard.items() if handler is not signal.SIG_IGN}
    try:
        for one in heard:
            signal.signal(one, end)
        yield
    finally:
        for one, handler in heard.items():
            signal.signal(one, handler or signal.SIG_DFL)


class VerifySession:
    """What the user asked for, and how it went."""

    def __init__(self, options: VerifyOptions) -> None:
        self._options = options

    def run(self) -> int:
        """The exit code; one line instead of a traceback for what the user can mend."""
        try:
            return self._run()
        except (ConfigError, subjects.SubjectError) as error:
            outputs.complain(f"tfrewrite: {error}")
            return WRONG_USE
        except KeyboardInterrupt as interrupted:
            outputs.complain("tfrewrite: interrupted; nothing was written")
            return 128 + getattr(interrupted, "number", signal.SIGINT)

    def verifications(self) -> list[Verification]:
        """What came of all subjects that there are."""
        found = self._found()
        self._say_what_is_left_out(found)
        settings = self._settings
        jobs = [job for pair in found.pairs for job in jobs_of(pair, settings)]
        live = Live(silent=self._options.quiet or not sys.stderr.isatty())
        try:
            with ended_by_signals():
                return verify_all(jobs, live.show, beside=self._options.jobs, foretell=live.keep)
        finally:
            live.clear()

    def _run(self) -> int:
        targets = outputs.targets(self._options.outputs, self._options.format, FORMATS)
        found = self.verifications()
        for format_, target in targets:
            if found or format_ != "text" or target is not None:
                report = rendered(found, format_, self._options)
                outputs.write(report.encode("utf-8", "replace"), target)
        return 0 if all(one.verdict is Verdict.PASS for one in found) else 1

    # What there is to verify.

    def _found(self) -> subjects.Found:
        paths = self._options.paths
        if len(paths) > MOST_PATHS:
            raise ConfigError(f"verify takes one path or two, the versions; not {len(paths)}")
        for path in paths:
            subjects.require_runnable(path)
        contract = self._settings.contract
        if self._options.rules is not None:
            rules_of(self._options)  # told of wrong ones, also where none are asked
        if len(paths) == 1:
            (path,) = paths
            if path.is_dir():
                listed = self._settings.listed(path)
                return subjects.rewritten_tree(path, listed, rules_of(self._options), contract)
            return subjects.rewritten_file(path, rules_of(self._options), contract)
        original, rewritten = paths
        if original.is_dir() != rewritten.is_dir():
            raise ConfigError(f"{original} and {rewritten}: give two files or two directories")
        if original.is_dir():
            listed = self._settings.listed(original)
            return subjects.given_trees(original, rewritten, listed, contract)
        return subjects.given(original, rewritten, contract)

    def _say_what_is_left_out(self, found: subjects.Found) -> None:
        if self._options.quiet:
            return
        for note in found.notes[: None if self._options.verbose else MOST_NOTES]:
            outputs.complain(note)
        if len(found.notes) > MOST_NOTES and not self._options.verbose:
            outputs.complain(f"and {len(found.notes) - MOST_NOTES} more such notes; see --verbose")
        if self._options.verbose or len(found.unchanged) == 1:
            for script in found.unchanged:
                outputs.complain(f"{script}: nothing to verify: both versions of it are the same")
        elif found.unchanged:
            count = len(found.unchanged) + len(found.pairs)
            outputs.complain(
                f"nothing to verify in {len(found.unchanged)} of {count} scripts: both versions "
                "of them are the same"
            )

    @cached_property
    def _settings(self) -> VerifySettings:
        return settings_of(self._options)


def settings_of(options: VerifyOptions) -> VerifySettings:
    """The settings file with what the command line says over it."""
    rules = options.rules
    file = rules.config if rules and rules.config else find_settings(str(options.paths[0]))
    settings = load_settings(file, Path(sys.executable))
    return settings.told(
        python=options.python,
        arguments=_parsed("--args", options.arguments, split_arguments),
        steps=_parsed("--steps", options.steps, parse_steps),
        seeds=options.seeds,
        runs=options.runs,
        timeout_s=_finite("--timeout", options.timeout_s),
        memory_limit_mb=_finite("--memory-limit", options.memory_limit_mb),
        device=options.device or None,
        contract=_parsed("--contract", options.contract, parse_contract),
        synthetic=options.synthetic,
        legacy_keras=options.legacy_keras,
        quick=options.quick,
    )


def rules_of(options: VerifyOptions) -> subjects.Rules:
    """What `check` and `apply` would do with these options."""
    assert options.rules is not None
    settings = options.rules.settings()
    wanted = Filter(settings.root, settings.exclude, settings.include)
    return subjects.Rules(Plan(settings).policy, wanted)


def jobs_of(pair: Pair, settings: VerifySettings) -> list[Job]:
    """The pair as its own settings want it, on each device."""
    tree, script = pair.original.tree, pair.original.script
    own = settings.of(tree, script)
    if own.contract and own.contract is not pair.promise.contract:
        promise = Promise(own.contract)
        pair = replace(pair, promise=promise, subject=replace(pair.subject, contract=own.contract))
    modules = Modules.on_disk(tree)
    is_tf1 = any(is_tf1_script(modules.text(name)) for name in modules.reached(script))
    places = modules.places(script)
    effort = own.effort(pair.promise.contract)
    devices = ("cpu", "gpu") if own.device == "both" else (own.device,)
    return [
        Job(
            _on(device, pair) if len(devices) > 1 else pair,
            own.conditions(is_tf1=is_tf1, device=device, places=places),
            effort,
        )
        for device in devices
    ]


def _on(device: str, pair: Pair) -> Pair:
    """The pair under a name that tells the device, where it is verified on several."""
    return replace(pair, subject=replace(pair.subject, script=f"{pair.subject.script} on {device}"))


def _parsed(option: str, text: str, parse: Callable[[str], T]) -> T | None:
    if not text:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error


def _finite(option: str, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise ConfigError(f"{option}: {value} is no limit; write a number")
    return value


def rendered(found: Sequence[Verification], format_: str, options: VerifyOptions) -> str:
    """A report. What it takes to make one is imported for that one only."""
    if format_ == "html":
        from tfrewrite.reports.verification import html  # noqa: PLC0415

        return html.render(found)
    from tfrewrite.reports.verification import json_report, markdown, text  # noqa: PLC0415

    if format_ == "json":
        return json_report.render(found)
    if format_ == "markdown":
        return markdown.render(found)
    return text.render(found, quiet=options.quiet, verbose=options.verbose)
