"""Which kind of `apply` is meant: rewriting at once, or keeping what verification shows to pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfrewrite.config import ConfigError
from tfrewrite.options import Options, VerifyFormat
from tfrewrite.outputs import complain
from tfrewrite.reports.formats import Format

WRONG_USE = 2


@dataclass(frozen=True)
class Way:
    """What the command line says beside which files and rules are meant.

    `runs` is how scripts are run, by the names of the options.
    """

    verify: bool
    diff: bool
    interactive: bool
    min_speedup: float | None
    format: Format
    outputs: Sequence[str]
    runs: Mapping[str, Any]


def applied(options: Options, way: Way) -> int:
    """The exit code."""
    try:
        _require_sense(options, way)
    except ConfigError as error:
        complain(f"tfrewrite: {error}")
        return WRONG_USE
    # Most calls need only one of the two, and each takes time to import.
    if way.verify:
        return _kept(options, way)
    from tfrewrite.session import Session  # noqa: PLC0415

    options = replace(options, format=way.format, outputs=way.outputs)
    return Session(options).apply(diff=way.diff, interactive=way.interactive)


def _require_sense(options: Options, way: Way) -> None:
    if way.verify:
        for given, name in (
            (way.interactive, "--interactive"),
            (options.shard, "--shard"),
            (options.stdin_filename, "--stdin-filename"),
            (options.statistics, "--statistics"),
        ):
            if given:
                raise ConfigError(f"{name} and --verify do not go together; leave one of them out")
        if way.format.value not in {one.value for one in VerifyFormat}:
            known = ", ".join(one.value for one in VerifyFormat)
            raise ConfigError(f"--format {way.format.value} is for findings: of --verify {known}")
        return
    needing = [name for name, value in way.runs.items() if value]
    if way.min_speedup is not None:
        needing.append("--min-speedup")
    if needing:
        raise ConfigError(f"{needing[0]} says how scripts are run: give --verify with it")


def _kept(options: Options, way: Way) -> int:
    from tfrewrite.keeping.session import KeepOptions, KeepSession  # noqa: PLC0415
    from tfrewrite.verifying import VerifyOptions  # noqa: PLC0415

    runs = way.runs
    verify = VerifyOptions(
        paths=[Path(path) for path in options.paths],
        python=runs["--python"],
        arguments=runs["--args"],
        steps=runs["--steps"],
        seeds=runs["--seeds"],
        runs=runs["--runs"],
        timeout_s=runs["--timeout"],
        memory_limit_mb=runs["--memory-limit"],
        device=runs["--device"],
        contract=runs["--contract"],
        synthetic=runs["--synthetic-data"],
        legacy_keras=runs["--legacy-keras"],
        quick=runs["--quick"],
        format=way.format.value,
        outputs=way.outputs,
        quiet=options.quiet,
        verbose=options.verbose,
        rules=options,
    )
    return KeepSession(KeepOptions(verify, way.diff, way.min_speedup)).run()
