"""The main job on a shipped legacy script in one go: check, diff, apply, and run both versions."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tfrewrite.demo.trial import Run, Trial, TrialError, first_difference, run_both, step_time
from tfrewrite.engine import handle
from tfrewrite.policy import Policy
from tfrewrite.registry import selected

if TYPE_CHECKING:
    from tfrewrite.model import Finding, Outcome

SCRIPT = "legacy_mnist.py"
ROUNDS = 2
NO_TENSORFLOW = """\
Both versions were not run: there is no Python with TensorFlow here. Name one and run this again:
  TFREWRITE_TF1_PYTHON=/path/to/python tfrewrite demo
or install TensorFlow beside tfrewrite: pip install "tfrewrite[tensorflow]"."""


def run(directory: Path | None = None, python: Path | None = None) -> int:
    """Shows everything and returns the exit code; the two versions stay in `directory` if given."""
    if directory is not None:
        return demonstrate(directory, python)
    with tempfile.TemporaryDirectory(prefix="tfrewrite-demo-") as name:
        return demonstrate(Path(name), python)


def demonstrate(directory: Path, python: Path | None) -> int:
    original, rewritten = directory / "original" / SCRIPT, directory / "rewritten" / SCRIPT
    source = (files(__package__) / SCRIPT).read_bytes()
    for path in (original, rewritten):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)
    typer.echo(f"The script: a training script in the manner of 2016, copied to {original}\n")
    outcome = rewrite(rewritten)
    if outcome.error or not any(finding.applied for finding in outcome.findings):
        typer.echo(f"Nothing was rewritten. {outcome.error}", err=True)
        return 2
    show_rewrite(outcome)
    interpreter = find_interpreter(python)
    if interpreter is None:
        typer.echo(NO_TENSORFLOW)
        return 0
    return compare(interpreter, original, rewritten)


def rewrite(path: Path) -> Outcome:
    """Applies all rules that the default contracts allow to the file at `path`."""
    return handle(str(path), Policy(selected((), ()), write=True))


def show_rewrite(outcome: Outcome) -> None:
    typer.echo("tfrewrite check:")
    for finding in outcome.findings:
        typer.echo(describe(finding))
    for refusal in outcome.refusals:
        line = f"  {SCRIPT}:{refusal.span.line} {refusal.rule} left alone: {refusal.message}"
        typer.echo(line)
    typer.echo("\ntfrewrite apply --diff:")
    lines = difflib.unified_diff(
        outcome.before.splitlines(),
        outcome.after.splitlines(),
        f"original/{SCRIPT}",
        f"rewritten/{SCRIPT}",
        lineterm="",
    )
    for line in lines:
        typer.echo(f"  {line}".rstrip())
    typer.echo("")


def describe(finding: Finding) -> str:
    promise = f"[{finding.contract.value}] " if finding.contract else ""
    lines = [f"  {SCRIPT}:{finding.span.line} {finding.rule} {promise}{finding.message}"]
    if finding.because:
        lines.append(f"    {finding.because}")
    if finding.contract and not finding.applied:
        lines.append(f"    not done; with --allow {finding.contract.value}: {finding.changes}")
    return "\n".join(lines)


def find_interpreter(python: Path | None) -> Path | None:
    """The interpreter that was asked for, else one that `make setup` made, else this one."""
    if python is not None:
        return python
    for variable in ("TFREWRITE_TF1_PYTHON", "TFREWRITE_TF2_PYTHON"):
        named = os.environ.get(variable)
        if named and Path(named).exists():
            return Path(named)
    return Path(sys.executable) if importlib.util.find_spec("tensorflow") else None


def compare(python: Path, original: Path, rewritten: Path) -> int:
    """Runs both versions, and shows whether they agree and how long a step takes in each."""
    typer.echo(f"Running both versions in turns with {python}:")
    try:
        trial = run_both(python, original, rewritten, ROUNDS, typer.echo)
    except TrialError as error:
        typer.echo(f"\nA version did not run to its end: {error}", err=True)
        return 1
    first = trial.original[0]
    typer.echo(f"\n{first.versions}. The original printed, at its end:")
    for line in first.lines[-4:]:
        typer.echo(f"  {line}")
    difference = first_difference(trial)
    if difference:
        typer.echo(f"\nThe two versions do not agree:\n{difference}", err=True)
        return 1
    show_agreement(trial)
    return 0


def show_agreement(trial: Trial) -> None:
    runs = len(trial.original) + len(trial.rewritten)
    lines = len(trial.original[0].lines)
    typer.echo(f"All {lines} lines of numbers are the same in each of the {runs} runs.")
    typer.echo("\nMedian time of a training step, by process:")
    for name, taken in (("original", trial.original), ("rewritten", trial.rewritten)):
        typer.echo(f"  {name:<10} {step_time(taken):6.3f} ms   ({each_time(taken)})")
    typer.echo(f"The original takes {trial.ratio:.2f} times as long as the rewritten version.")
    if trial.is_unsteady:
        typer.echo("The times vary much from run to run: the machine is busy with something else.")


def each_time(runs: tuple[Run, ...]) -> str:
    return ", ".join(f"{run.step_ms:.3f}" for run in runs)
