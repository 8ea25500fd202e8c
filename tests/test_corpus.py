"""Each script of the corpus is rewritten as expected, and both versions compute the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from corpus_cases import CASES, Case, rewrite
from tfrewrite.model import Contract
from tfrewrite.verify.experiment import Effort, Pair, verify
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Subject, Verdict, Verification
from tfrewrite.verify.runs import Conditions, Laboratory, Program
from tfrewrite.verify.tf_generation import is_tf1_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from tfrewrite.verify.process import RunResult

FIXTURES = {"1.15": "tf1_python", "2.15": "keras2_python", "2.21": "tf2_python"}
MANY = 10


def runs() -> Iterator[ParameterSet]:
    """Each script with each TensorFlow that it names, some by `make test-more` only.

    These are all with Keras 2, and scripts of version 1 with version 2, as soon as there was
    another one for each of their rules.
    """
    seen: set[str] = set()
    for case in CASES:
        for version in case.tensorflow:
            is_more = version == "2.15"
            if version == "2.21" and "1.15" in case.tensorflow:
                is_more = seen.issuperset(case.rules)
                seen.update(case.rules)
            yield pytest.param(case, version, marks=[pytest.mark.more] if is_more else [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_tool_writes_what_is_expected(case: Case) -> None:
    outcome = rewrite(case)
    assert outcome.after == (case.folder / "expected.py").read_text()
    applied = [finding for finding in outcome.findings if finding.applicable]
    assert {finding.rule for finding in applied} == set(case.rules)
    assert {finding.contract.value for finding in applied if finding.contract} == set(
        case.contracts
    )
    assert {refusal.reason for refusal in outcome.refusals} == set(case.refusals)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_told_the_tensorflow_it_does_nothing_else(case: Case) -> None:
    """What is timed is written so, and what is verified is written untold."""
    untold = rewrite(case).after
    for version in case.tensorflow:
        told = rewrite(case, target_tf=tuple(int(part) for part in version.split(".")))
        made = {finding.rule for finding in told.findings if finding.applicable}
        assert made <= set(case.rules) <= made | {"TFR301"}
        if made == set(case.rules):
            assert spelled_alike(told.after) == spelled_alike(untold)


def spelled_alike(text: str | None) -> str:
    return (text or "").replace("experimental.AUTOTUNE", "AUTOTUNE")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_left_alone_is_left_alone(case: Case) -> None:
    unchanged = rewrite(case).after == (case.folder / "original.py").read_text()
    assert unchanged == case.is_left_alone


def test_there_are_as_many_scripts_of_each_kind_as_were_asked_for() -> None:
    graphs = [case for case in CASES if "1.15" in case.tensorflow]
    eager = [case for case in CASES if "2.21" in case.tensorflow and case not in graphs]
    refused = [case for case in CASES if case.refusals and case.is_left_alone]
    assert len(graphs) >= 22
    assert len(eager) >= 18
    for lessons in (refused, [case for case in refused if case in graphs]):
        assert len(lessons) >= MANY


def test_each_script_says_what_it_shows() -> None:
    assert [case.name for case in CASES if len(case.shows.split()) < 8] == []


def conditions_of(case: Case, python: Path) -> Conditions:
    is_tf1 = is_tf1_script((case.folder / "original.py").read_text())
    return Conditions(python, is_tf1=is_tf1, synthetic=case.synthetic)


def ran(case: Case, script: str, python: Path) -> RunResult:
    """A script by itself, with the interface that it was written for."""
    with Laboratory.opened(conditions_of(case, python)) as laboratory:
        return laboratory.observe(Program.of(case.folder, script), seed=1, steps=0).result


def verified(case: Case, python: Path) -> Verification:
    """What the verifier says of the pair, its numbers only, to the script's own end.

    By default a slow machine would cut the loops short, and count other steps.
    """
    promise = max((Contract(one) for one in case.contracts), key=list(Contract).index)
    expected = (case.folder / "expected.py").read_bytes()
    pair = Pair(
        Subject("original.py", "original.py", "expected.py", promise),
        Program.of(case.folder, "original.py"),
        Program.of(case.folder, "original.py", (("original.py", expected),)),
        Promise(promise),
    )
    with Laboratory.opened(conditions_of(case, python)) as laboratory:
        return verify(pair, laboratory, Effort(steps=0, timed=False), lambda _: None)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("case", "version"), list(runs()), ids=lambda value: getattr(value, "name", value)
)
def test_both_versions_compute_the_same(
    case: Case, version: str, request: pytest.FixtureRequest
) -> None:
    python = request.getfixturevalue(FIXTURES[version])
    if case.is_left_alone:  # there is one version; that it runs at all is what is asked
        result = ran(case, "original.py", python)
        if case.fails:
            assert not result.succeeded and case.fails in result.stderr, result.stderr[-3000:]
            return
        assert result.succeeded, f"{result.describe()}\n{result.stderr[-3000:]}"
        return
    if case.fails:  # there are no numbers to hold it to; that it runs now is what is asked
        result = ran(case, "original.py", python)
        assert not result.succeeded and case.fails in result.stderr, result.stderr[-3000:]
        result = ran(case, "expected.py", python)
        assert result.succeeded, f"{result.describe()}\n{result.stderr[-3000:]}"
        return
    found = verified(case, python)
    assert (found.verdict, found.reason) == (Verdict.PASS, found.reason), found.output
    assert found.numerics is not None
    assert found.numerics.steps == case.steps
