"""Runs the demo's script before and after the rewrite, and says what came of it.

The two versions take turns (ABBA), each run in a fresh process. The script prints its numbers to
standard output and the time of its steps to standard error, so every run is both a comparison of
numbers and a measurement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from tfrewrite.verify.process import RunRequest, RunResult, run_script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEP_TIME = re.compile(r"^Median step: ([0-9.]+) ms$", re.MULTILINE)
VERSIONS = re.compile(r"^TensorFlow .*$", re.MULTILINE)
TIME_LIMIT_S = 120.0
ENVIRONMENT = (("PYTHONHASHSEED", "0"), ("TF_CPP_MIN_LOG_LEVEL", "3"))


@dataclass(frozen=True)
class Run:
    """What one run printed, and how long the median step took by the script's own clock."""

    lines: tuple[str, ...]
    step_ms: float
    versions: str


@dataclass(frozen=True)
class Trial:
    """All measured runs of both versions, in the order in which they were made."""

    original: tuple[Run, ...]
    rewritten: tuple[Run, ...]

    @property
    def ratio(self) -> float:
        """How many times as long a step of the original takes."""
        return step_time(self.original) / step_time(self.rewritten)

    @property
    def is_unsteady(self) -> bool:
        """Whether runs of one version differ so much that the machine must be busy otherwise."""
        return any(
            max(run.step_ms for run in runs) > 1.5 * min(run.step_ms for run in runs)
            for runs in (self.original, self.rewritten)
        )


class TrialError(Exception):
    """A version could not be run to its end, or did not print what it should."""


def step_time(runs: tuple[Run, ...]) -> float:
    return median(run.step_ms for run in runs)


def read_run(name: str, result: RunResult) -> Run:
    """What there is to know of a run; an error that shows the end of its output if it failed."""
    found = STEP_TIME.search(result.stderr)
    if not result.succeeded or found is None:
        end = "\n".join(result.stderr.splitlines()[-15:])
        raise TrialError(f"{name} {result.describe()}\n{end}")
    versions = VERSIONS.search(result.stderr)
    return Run(
        lines=tuple(result.stdout.splitlines()),
        step_ms=float(found[1]),
        versions=versions[0] if versions else "",
    )


def run_both(
    python: Path, original: Path, rewritten: Path, rounds: int, progress: Callable[[str], None]
) -> Trial:
    """One round to warm up, which is not kept, then `rounds` times original, rewritten and back."""

    def once(name: str, script: Path) -> Run:
        progress(f"  {name}")
        request = RunRequest(
            python=python,
            tree=script.parent,
            script=script.name,
            environment=ENVIRONMENT,
            time_limit_s=TIME_LIMIT_S,
        )
        return read_run(f"the {name} version", run_script(request))

    before: list[Run] = []
    after: list[Run] = []
    once("original", original)
    once("rewritten", rewritten)
    for _ in range(rounds):
        before.append(once("original", original))
        after.append(once("rewritten", rewritten))
        after.append(once("rewritten", rewritten))
        before.append(once("original", original))
    return Trial(tuple(before), tuple(after))


def first_difference(trial: Trial) -> str:
    """Where a run printed something else than the first run of the original; empty if none did."""
    wanted = trial.original[0].lines
    named = [("the original, run again,", run) for run in trial.original[1:]]
    named += [("the rewritten version", run) for run in trial.rewritten]
    for name, run in named:
        if len(run.lines) != len(wanted):
            return f"{name} printed {len(run.lines)} lines, the original {len(wanted)}"
        for number, (left, right) in enumerate(zip(wanted, run.lines, strict=True), start=1):
            if left != right:
                return f"line {number} of the original: {left}\nline {number} of {name}: {right}"
    return ""
