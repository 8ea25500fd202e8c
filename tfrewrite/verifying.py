"""One run of `verify`: from options to verifications, reports and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfrewrite.config import ConfigError, parse_contract
from tfrewrite.config import find as find_settings
from tfrewrite.options import Options
from tfrewrite.plan import Plan
from tfrewrite.reports.safe import printable
from tfrewrite.verify import config, subjects
from tfrewrite.verify.batch import Job, verify_all
from tfrewrite.verify.experiment import Pair
from tfrewrite.verify.model import Verdict, Verification
from tfrewrite.verify.settings import VerifySettings, split_arguments
from tfrewrite.verify.tf_generation import is_tf1_script

WRONG_USE = 2
INTERRUPTED = 130
FORMATS = ("text", "json", "markdown", "html")


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


class VerifySession:
    """What the user asked for, and how it went."""

    def __init__(self, options: VerifyOptions) -> None:
        self._options = options

    def run(self) -> int:
        """The exit code; one line instead of a traceback for what the user can mend."""
        try:
            return self._run()
        except (ConfigError, subjects.SubjectError) as error:
            _complain(f"tfrewrite: {error}")
            return WRONG_USE
        except KeyboardInterrupt:
            _complain("tfrewrite: interrupted; nothing was written")
            return INTERRUPTED

    def verifications(self) -> list[Verification]:
        """What came of all subjects that there are."""
        settings = self._settings()
        found = self._pairs(settings)
        for one in found:
            if isinstance(one, subjects.Nothing):
                _complain(f"{one.script}: nothing to verify: the rules leave it as it is")
        jobs = [job for one in found if isinstance(one, Pair) for job in self._jobs(one, settings)]
        progress = _Progress(silent=self._options.quiet or not sys.stderr.isatty())
        try:
            return verify_all(jobs, progress, beside=self._options.jobs)
        finally:
            progress.clear()

    def _run(self) -> int:
        targets = _targets(self._options.outputs, self._options.format)
        found = self.verifications()
        if not found:
            return 0
        for format_, target in targets:
            _write(rendered(found, format_, self._options), target)
        return 0 if all(one.verdict is Verdict.PASS for one in found) else 1

    # What there is to verify.

    def _pairs(self, settings: VerifySettings) -> Sequence[Pair | subjects.Nothing]:
        paths = self._options.paths
        for path in paths:
            if not path.exists():
                raise ConfigError(f"{path}: no such file or directory")
        scripts = [one.path for one in settings.scripts]
        contract = settings.contract
        if len(paths) == 1:
            policies = self._policies()
            if paths[0].is_dir():
                return subjects.rewritten_tree(paths[0], scripts, policies, contract)
            return [subjects.rewritten_file(paths[0], policies, contract)]
        original, rewritten = paths
        if original.is_dir() != rewritten.is_dir():
            raise ConfigError(f"{original} and {rewritten}: give two files or two directories")
        if original.is_dir():
            return subjects.given_trees(original, rewritten, scripts, contract)
        return [subjects.given(original, rewritten, contract)]

    def _policies(self) -> subjects.Policies:
        assert self._options.rules is not None
        return Plan(self._options.rules.settings()).policy

    def _jobs(self, pair: Pair, settings: VerifySettings) -> list[Job]:
        own = settings.of(pair.subject.script)
        if own.contract and own.contract is not pair.promise.contract:
            promise = replace(pair.promise, contract=own.contract)
            pair = replace(
                pair, promise=promise, subject=replace(pair.subject, contract=own.contract)
            )
        source = dict(pair.original.replacements).get(pair.subject.script)
        text = (source or (pair.original.tree / pair.subject.script).read_bytes()).decode(
            "utf-8", "replace"
        )
        is_tf1 = is_tf1_script(text)
        devices = ("cpu", "gpu") if own.device == "both" else (own.device,)
        return [
            Job(
                pair,
                own.conditions(is_tf1=is_tf1, device=device),
                own.effort(pair.promise.contract),
            )
            for device in devices
        ]

    def _settings(self) -> VerifySettings:
        options = self._options
        rules = options.rules
        file = rules.config if rules and rules.config else find_settings(str(options.paths[0]))
        settings = config.load(file, Path(sys.executable))
        try:
            steps = config.parse_steps(options.steps) if options.steps else settings.steps
            contract = parse_contract(options.contract) if options.contract else settings.contract
        except ValueError as error:
            raise ConfigError(str(error)) from error
        python = options.python or settings.python
        if not python.exists():
            raise ConfigError(f"--python: {python}: there is no such interpreter")
        return replace(
            settings,
            python=python,
            arguments=split_arguments(options.arguments) or settings.arguments,
            steps=steps,
            seeds=options.seeds or settings.seeds,
            runs=options.runs or settings.runs,
            timeout_s=options.timeout_s or settings.timeout_s,
            memory_limit_mb=options.memory_limit_mb or settings.memory_limit_mb,
            device=options.device or settings.device,
            contract=contract,
            synthetic=options.synthetic or settings.synthetic,
            legacy_keras=options.legacy_keras or settings.legacy_keras,
            quick=options.quick or settings.quick,
        )


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


def _targets(outputs: Sequence[str], format_: str) -> list[tuple[str, Path | None]]:
    """Where which report goes: `html=FILE` names both, `FILE` takes `--format`."""
    found: list[tuple[str, Path | None]] = []
    for output in (part for one in outputs for part in one.split(",")):
        name, equals, target = output.partition("=")
        if not equals:
            found.append((format_, Path(output)))
        elif name in FORMATS and target:
            found.append((name, Path(target)))
        else:
            raise ConfigError(
                f"--output: {output!r}: write FILE, or one of {', '.join(FORMATS)} with a file, "
                "as in html=report.html"
            )
    if all(target is not None and name != format_ for name, target in found):
        found.append((format_, None))
    return found


def _write(report: str, target: Path | None) -> None:
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(report.encode("utf-8", "replace"))
        sys.stdout.flush()
        return
    try:
        target.write_text(report, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"--output: {target}: {error.strerror or error}") from error


def _complain(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


class _Progress:
    """A line at a terminal that says what is being done; nothing in a pipe."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent

    def __call__(self, script: str, what: str) -> None:
        if not self._silent:
            sys.stderr.write(f"\r\x1b[K{printable(script)[:60]}: {what}")
            sys.stderr.flush()

    def clear(self) -> None:
        if not self._silent:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
