"""The programs on which the verifier is tested are what they say they are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import verifier_programs
from tfrewrite.model import Contract
from verifier_programs import KINDS, VERSIONS, Edit, Program, Variant, programs

PROGRAMS = programs()
VARIANTS = [(program, variant) for program in PROGRAMS for variant in program.variants]

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
each_variant = pytest.mark.parametrize(
    ("program", "variant"), VARIANTS, ids=lambda value: value.name
)


def names_in(text: str) -> list[str]:
    """What a script says, without its comments and layout."""
    return ast.dump(ast.parse(text)).splitlines()


def test_every_folder_is_a_program() -> None:
    folders = {path.name for path in verifier_programs.FOLDER.iterdir() if path.is_dir()}
    assert folders == {program.name for program in PROGRAMS}
    assert len(PROGRAMS) >= 12


@each_program
def test_a_program_has_right_and_wrong_rewrites(program: Program) -> None:
    ast.parse(program.original)
    assert program.title
    assert program.tensorflow and set(program.tensorflow) <= VERSIONS
    assert 30 <= program.steps <= 60
    assert len(program.right) >= 2
    assert len(program.wrong) >= 5
    names = [variant.name for variant in program.variants]
    assert len(names) == len(set(names))


@each_program
def test_some_wrong_rewrites_are_near_and_some_are_not(program: Program) -> None:
    assert {variant.near for variant in program.wrong} == {True, False}


@each_program
def test_no_file_is_left_over(program: Program) -> None:
    used = {"original.py", "variants.toml"} | {variant.file for variant in program.variants}
    assert {path.name for path in program.folder.iterdir()} == used - {""}


@each_variant
def test_a_variant_is_another_program(program: Program, variant: Variant) -> None:
    assert bool(variant.edits) != bool(variant.file)
    assert names_in(variant.source(program)) != names_in(program.original)


@each_variant
def test_only_what_is_wrong_has_a_kind(program: Program, variant: Variant) -> None:
    assert variant.is_right == (variant in program.right)
    assert variant.is_right or variant.kind in KINDS
    assert not (variant.is_right and variant.near)


def test_every_kind_of_mistake_occurs() -> None:
    assert {variant.kind for _, variant in VARIANTS} - {""} == KINDS


def test_every_version_and_contract_occurs() -> None:
    assert {version for program in PROGRAMS for version in program.tensorflow} == VERSIONS
    promised = {variant.contract for _, variant in VARIANTS if variant.is_right}
    assert promised == set(Contract)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(verifier_programs, "FOLDER", tmp_path)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "original.py").write_text("a = 1\nb = 1\n")
    (tmp_path / "small" / "other.py").write_text("c = 3\n")
    return Program("small", "Two numbers", ("1.15",), 30, (), ())


def test_edits_are_made_one_after_the_other(small: Program) -> None:
    edits = (Edit("a = 1", "a = 2"), Edit("b = 1", "b = 3"))
    assert Variant("v", Contract.EXACT, edits=edits).source(small) == "a = 2\nb = 3\n"


@pytest.mark.parametrize(("old", "times"), [("= 1", 2), ("z", 0)])
def test_an_edit_that_has_no_single_place_is_refused(small: Program, old: str, times: int) -> None:
    variant = Variant("v", Contract.EXACT, edits=(Edit(old, "= 2"),))
    with pytest.raises(ValueError, match=rf"small/variants\.toml, v: found {times} times"):
        variant.source(small)


def test_a_variant_can_be_a_file(small: Program) -> None:
    assert Variant("v", Contract.EXACT, file="other.py").source(small) == "c = 3\n"
