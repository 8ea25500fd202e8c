"""Each script of the corpus is rewritten as expected, and both versions compute the same."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tfrewrite.engine import rewrite_text
from tfrewrite.registry import all_rules
from tfrewrite.verify.process import RunRequest, run_script

if TYPE_CHECKING:
    from tfrewrite.model import Outcome

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
FIXTURES = {"1.15": "tf1_python", "2.21": "tf2_python"}
NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b")


@dataclass(frozen=True)
class Case:
    """A folder of the corpus, as its case.toml describes it."""

    name: str
    title: str
    tensorflow: tuple[str, ...]
    rules: tuple[str, ...]
    contracts: tuple[str, ...]
    refusals: tuple[str, ...]
    steps: int

    @property
    def folder(self) -> Path:
        return CORPUS / self.name

    @property
    def is_left_alone(self) -> bool:
        return not self.rules


def load(folder: Path) -> Case:
    settings: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text())
    lists = ("tensorflow", "rules", "contracts", "refusals")
    settings |= {key: tuple(settings[key]) for key in lists}
    return Case(name=folder.name, **settings)


CASES = [load(path.parent) for path in sorted(CORPUS.glob("*/case.toml"))]
RUNS = [(case, version) for case in CASES for version in case.tensorflow]


def rewrite(case: Case) -> Outcome:
    text = (case.folder / "original.py").read_text()
    return rewrite_text(text, all_rules(), path="original.py")


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
def test_what_is_left_alone_is_left_alone(case: Case) -> None:
    unchanged = rewrite(case).after == (case.folder / "original.py").read_text()
    assert unchanged == case.is_left_alone


def printed(case: Case, script: str, python: Path) -> list[str]:
    request = RunRequest(
        python=python,
        tree=case.folder,
        script=script,
        environment=(("PYTHONHASHSEED", "0"), ("TF_CPP_MIN_LOG_LEVEL", "3")),
        time_limit_s=120.0,
    )
    result = run_script(request)
    assert result.succeeded, f"{script} {result.describe()}\n{result.stderr[-3000:]}"
    return result.stdout.splitlines()


def differ_by_rounding(left: str, right: str) -> bool:
    """Whether two lines say the same but for the last digits of their numbers."""
    if NUMBER.sub("", left) != NUMBER.sub("", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=1e-5) for one, other in pairs)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("case", "version"), RUNS, ids=lambda value: getattr(value, "name", value))
def test_both_versions_compute_the_same(
    case: Case, version: str, request: pytest.FixtureRequest
) -> None:
    python = request.getfixturevalue(FIXTURES[version])
    original = printed(case, "original.py", python)
    assert len(original) > 1
    if case.is_left_alone:
        return  # expected.py is the same file; that the script runs at all is what is asked
    again = printed(case, "expected.py", python)
    if "rounding" not in case.contracts:
        assert again == original
        return
    # The last line is the digest of the weights, which no reordering of reads may change.
    assert again[-1] == original[-1]
    pairs = zip(original, again, strict=True)
    assert [pair for pair in pairs if not differ_by_rounding(*pair)] == []


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("3 loss 0.12345678", "3 loss 0.12345679", True),
        ("3 loss 1e-07", "3 loss 1.000001e-07", True),
        ("3 loss 0.1234", "3 loss 0.1235", False),
        ("3 loss 0.5", "4 loss 0.5", False),
        ("3 loss 0.5", "3 cost 0.5", False),
        ("3 loss 0.5", "3 loss 0.5 0.5", False),
        ("3 loss 0.5", "3 loss -0.5", False),
    ],
)
def test_what_counts_as_rounding(left: str, right: str, *, same: bool) -> None:
    assert differ_by_rounding(left, right) is same
