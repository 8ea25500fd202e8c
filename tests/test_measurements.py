"""The commands that docs/measurements.md names are there to be run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {path.name: path for path in (ROOT / "benchmarks").glob("measure_*.py")}
DOCUMENT = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")

_COMMAND = re.compile(r"\b(?P<program>measure_\w+\.py)(?: (?P<modes>[a-z_]+(?:\|[a-z_]+)*))?")


def named(text: str) -> list[tuple[str, str]]:
    """Each program and subcommand that a text names; "" where it names a program alone."""
    return [
        (found["program"], mode)
        for found in _COMMAND.finditer(text)
        for mode in (found["modes"] or "").split("|")
    ]


def known(program: str) -> set[str]:
    """The subcommands of a program, read from its last block and not run: "" where it has none."""
    tree = ast.parse(PROGRAMS[program].read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    nodes = [node for one in tree.body if isinstance(one, ast.If) for node in ast.walk(one)]
    if not any(isinstance(node, ast.Attribute) and node.attr == "argv" for node in nodes):
        return {""}
    return {node.id for node in nodes if isinstance(node, ast.Name)} & functions


def test_commands_are_found_in_a_text() -> None:
    text = "`PYTHON benchmarks/measure_merge.py fuzz|fed 3`, and `benchmarks/measure_x.py` alone"
    assert named(text) == [
        ("measure_merge.py", "fuzz"),
        ("measure_merge.py", "fed"),
        ("measure_x.py", ""),
    ]


def test_subcommands_are_read_from_programs() -> None:
    assert known("measure_read_order.py") == {""}
    assert known("measure_traces.py") == {"arguments", "draws", "numbers", "failures", "loops"}
    assert {"ops", "together", "mixed_times"} <= known("measure_settings.py")


@pytest.mark.parametrize(("program", "mode"), sorted(set(named(DOCUMENT))))
def test_a_command_of_the_document_is_there(program: str, mode: str) -> None:
    assert program in PROGRAMS
    assert mode in known(program)


def test_every_program_is_in_the_document() -> None:
    assert set(PROGRAMS) == {program for program, _ in named(DOCUMENT)}
