"""The main job on a shipped legacy script in one go: check, diff, apply to a copy, verify."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tfrewrite.engine import handle
from tfrewrite.policy import Policy
from tfrewrite.registry import selected

if TYPE_CHECKING:
    from tfrewrite.model import Finding, Outcome
    from tfrewrite.verify.model import Verification

SCRIPT = "legacy_mnist.py"
REPORT = "report.html"
STEPS = 200
NO_TENSORFLOW = """\
Nothing was run: there is no Python with TensorFlow here. Name one and run this again:
  tfrewrite demo --python /path/to/python
or install TensorFlow beside tfrewrite: pip install "tfrewrite[tensorflow]"."""


def run(directory: Path | None = None, python: Path | None = None) -> int:
    """Shows everything and returns the exit code; both versions and the report stay."""
    folder = directory or Path(tempfile.mkdtemp(prefix="tfrewrite-demo-"))
    original, rewritten = folder / "original" / SCRIPT, folder / "rewritten" / SCRIPT
    source = (files(__package__) / SCRIPT).read_bytes()
    for path in (original, rewritten):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)
    typer.echo(f"The script: a training script in the manner of 2016, copied to {original}\n")
    outcome = handle(str(rewritten), Policy(selected((), ()), write=True))
    if outcome.error or not any(finding.applied for finding in outcome.findings):
        typer.echo(f"Nothing was rewritten. {outcome.error}", err=True)
        return 2
    show_rewrite(outcome)
    interpreter = find_interpreter(python)
    if interpreter is None:
        typer.echo(NO_TENSORFLOW)
        return 0
    return prove(original, interpreter, folder / REPORT)


def show_rewrite(outcome: Outcome) -> None:
    from tfrewrite.reports import diff  # noqa: PLC0415

    typer.echo("tfrewrite check:")
    for finding in outcome.findings:
        typer.echo(describe(finding))
    for refusal in outcome.refusals:
        typer.echo(f"  {SCRIPT}:{refusal.span.line} {refusal.rule} left alone: {refusal.message}")
    typer.echo("\ntfrewrite apply --diff:")
    for line in diff.render(outcome).decode().splitlines():
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


def prove(original: Path, python: Path, report: Path) -> int:
    """Verifies the script as `tfrewrite verify` does, and writes the report."""
    from tfrewrite.reports.verification import html, text  # noqa: PLC0415

    typer.echo(f"tfrewrite verify --python {python}:")
    found = [verification(original, python)]
    typer.echo(text.render(found), nl=False)
    report.write_text(html.render(found), encoding="utf-8")
    typer.echo(f"\nThe report, for a browser: {report}")
    return 0 if found[0].verdict.value == "pass" else 1


def verification(original: Path, python: Path) -> Verification:
    from tfrewrite.options import Options  # noqa: PLC0415
    from tfrewrite.verify.timing import RUNS  # noqa: PLC0415
    from tfrewrite.verifying import VerifyOptions, VerifySession  # noqa: PLC0415

    rules = Options([str(original)])
    # No more than these, however unsteady the machine: a demo is over within two minutes.
    options = VerifyOptions([original], python=python, steps=str(STEPS), runs=RUNS, rules=rules)
    (one,) = VerifySession(options).verifications()
    return one
