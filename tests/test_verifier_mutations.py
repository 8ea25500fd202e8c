"""The verifier catches wrong rewrites and passes right ones, on programs that really run.

Here some variants of each program, the near ones before others; `make proof` tries all of them
under several seeds, and `make test-more` those that take long.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfrewrite.model import Contract
from verifier_programs import Program, Variant, programs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from verifier_proof import trials

FIXTURES = {"1.15": "tf1_python", "2.21": "tf2_python"}
CHEAP = (Contract.ROUNDING, Contract.EXACT, Contract.SHIFTED, Contract.PRECISION)
"""Contracts that are judged under one seed."""
BY_DISTRIBUTION = "tf1_dropout"
"""The one program of which a wrong rewrite is tried that is judged under several seeds."""
WRONG = 2
LONG = frozenset("tf2_fit tf2_gru tf2_clipping tf2_convolutions tf2_cnn_chaotic".split())
"""Each takes more than a minute, and others of their kind are tried: they are for `test-more`."""


def some(program: Program) -> tuple[Variant, ...]:
    right = [one for one in program.right if one.contract in CHEAP]
    right.sort(key=lambda one: CHEAP.index(one.contract))
    several = program.name == BY_DISTRIBUTION
    wrong = [one for one in program.wrong if several or one.contract in CHEAP]
    wrong.sort(key=lambda one: not one.near)
    return (*right[:1], *wrong[: WRONG - 1], wrong[-1])


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.more] if one.name in LONG else [])
        for one in programs()
    ],
)
def test_right_ones_pass_and_wrong_ones_are_caught(
    program: Program, request: pytest.FixtureRequest
) -> None:
    version = program.tensorflow[0]
    python = request.getfixturevalue(FIXTURES[version])
    variants = some(program)
    done = list(trials(program, version, python, 1, variants))
    assert [one.variant for one in done] == [variant.name for variant in variants]
    assert [one for one in done if not one.is_well] == []
