"""The page of the verifier's proof says what was found, of the programs as they are."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import verifier_proof as proof
from verifier_proof import Trial

from verifier_programs import Program, programs

PROGRAMS = programs()
FAILED = Trial(
    program="mlp",
    tensorflow="2.21",
    variant="rate-off",
    is_right=False,
    is_near=True,
    contract="rounding",
    seed=1,
    verdict="fail",
    reason="",
    ratio=1234.5,
    step=1,
    seconds=1.0,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_each_program_was_tried_as_it_is_under_three_seeds(program: Program) -> None:
    for seed in range(1, proof.SEEDS + 1):
        found = proof.kept(program, seed)
        assert found is not None, "make proof tries it"
        assert [one.variant for one in found] == [one.name for one in program.variants]
        assert {(one.program, one.seed) for one in found} == {(program.name, seed)}
        assert [(one.variant, one.reason) for one in found if not one.is_well] == []


def test_nothing_else_is_kept() -> None:
    expected = {proof.file_of(one, seed) for one in PROGRAMS for seed in range(1, proof.SEEDS + 1)}
    assert set(proof.KEPT.iterdir()) == expected


def test_the_page_is_what_was_found() -> None:
    done = [one for program in PROGRAMS for one in proof.all_kept(program)]
    assert proof.PAGE.read_text() == proof.render(done), "make proof brings it up to date"


def test_what_is_kept_is_read_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "KEPT", tmp_path / "proof")
    assert proof.kept(PROGRAMS[0], 1) is None
    done = [FAILED, replace(FAILED, ratio=math.inf)]
    proof.keep(PROGRAMS[0], 1, done)
    assert proof.kept(PROGRAMS[0], 1) == done


def test_what_was_found_of_another_program_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "KEPT", tmp_path)
    proof.keep(PROGRAMS[0], 1, [FAILED])
    assert proof.kept(replace(PROGRAMS[0], wrong=PROGRAMS[0].wrong[1:]), 1) is None


def test_the_table_counts_what_went_well() -> None:
    missed = replace(FAILED, seed=2, verdict="pass", ratio=0.5)
    right = replace(FAILED, is_right=True, is_near=False, verdict="pass", ratio=0.25)
    *_, row = proof.table([FAILED, missed, right])
    assert row == "| all | 2.21 | 1 of 1 | 1 of 2 | 0.25 | 0.5 |"


def test_near_ones_have_their_smallest_distance() -> None:
    seeds = [FAILED, replace(FAILED, seed=2, ratio=math.inf)]
    *_, row = proof.near_table(seeds)
    assert row == "| mlp | rate-off | rounding | fail | 1,234 |"
    *_, row = proof.near_table(seeds[1:])
    assert row == "| mlp | rate-off | rounding | fail | any |"
