"""How records are held against each other: which series belong together, and how far apart."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfrewrite.model import Contract
from tfrewrite.verify import comparing as measuring
from tfrewrite.verify.judging import Promise, judge
from tfrewrite.verify.model import Numerics, Verdict
from tfrewrite.verify.runs import PROBE

pytestmark = pytest.mark.tensorflow

RECORD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from probe import compare, recording

with open(sys.argv[2]) as file:
    runs = json.load(file)
folders = {"again": [], "nudged": []}
for number, (role, values) in enumerate(runs):
    folder = sys.argv[2] + ".%d" % number
    os.mkdir(folder)
    recorder = recording.Recorder(folder)
    for kind, name, step, value in values:
        recorder.now = lambda kind, step=step: step
        kind, _, loop = kind.partition(":")  # of which loop its step is
        loop = int(loop or 1) if kind == "weights" else None
        number = np.float64 if name.startswith("double") else np.float32
        dtype = None if isinstance(value, str) else number
        recorder.value(kind, name, np.array(value, dtype), loop=loop)
    recorder.close()
    if role in folders:
        folders[role].append(folder)
    else:
        folders[role] = folder
with open(sys.argv[2] + ".asked", "w") as file:
    json.dump(folders, file)
compare.main(sys.argv[2] + ".asked", sys.argv[2] + ".answer")
"""

Value = tuple[str, str, int, Any]


class Comparing:
    """Compares made-up records in an interpreter that has numpy."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._calls = 0

    def __call__(
        self, original: list[Value], rewritten: list[Value], **others: list[Value]
    ) -> dict[str, Any]:
        runs = [("original", original), ("rewritten", rewritten), *others.items()]
        self._calls += 1
        asked = self._folder / f"runs-{self._calls}.json"
        asked.write_text(json.dumps(runs))
        command = [str(self._python), "-c", RECORD, str(PROBE.parent), str(asked)]
        subprocess.run(command, check=True, cwd=self._folder)
        found: dict[str, Any] = json.loads(Path(f"{asked}.answer").read_text())
        return found

    def series(self, *runs: list[Value], **others: list[Value]) -> dict[str, Any]:
        (found,) = [one for one in self(*runs, **others)["series"] if one["kind"] != "initial"]
        assert isinstance(found, dict)
        return found


@pytest.fixture
def comparing(tf1_python: Path, tmp_path: Path) -> Comparing:
    return Comparing(tf1_python, tmp_path)


def weights(*values: Any, start: int = 1, by: int = 1) -> list[Value]:
    return [("weights", "w", start + by * place, value) for place, value in enumerate(values)]


def fetched(name: str, *values: Any) -> list[Value]:
    return [("fetched", name, step, value) for step, value in enumerate(values, 1)]


def distances(series: dict[str, Any]) -> list[float]:
    return [point["distance"] for point in series["points"]]


def test_values_are_held_against_those_of_the_same_step(comparing: Comparing) -> None:
    found = comparing.series(
        weights([1.0, 2.0], [3.0, 4.0]),
        weights([1.0, 2.0], [3.0, 4.5]),
        again=weights([1.0, 2.0], [3.0, 4.125]),
        nudged=weights([1.0, 2.25], [3.0, 4.0]),
    )
    assert distances(found) == [0.0, 0.5]
    assert [point["identical"] for point in found["points"]] == [True, False]
    assert [point["noise"] for point in found["points"]] == [0.0, 0.125]
    assert [point["envelope"] for point in found["points"]] == [0.25, 0.0]
    assert [point["scale"] for point in found["points"]] == [2.0, 4.0]


SINGLE, DOUBLE = 2.0**-23, 2.0**-52


@pytest.mark.parametrize(
    ("ours", "theirs", "unit"),
    [
        ([0.6811613440513611, 0.5], [0.6811614036560059, 0.5], SINGLE),
        ([0.6811613440513611, 0.5], [0.68116137, 0.5], DOUBLE),
        ([0.1, 0.5], [0.1000000015, 0.5], DOUBLE),
        ([4.0, 10000000.0], [4.0, 10000001.0], DOUBLE),
        ([1e300, 0.5], [1e300, 0.75], DOUBLE),
    ],
)
def test_wide_numbers_that_come_of_narrow_ones_are_rounded_like_these(
    comparing: Comparing, ours: list[float], theirs: list[float], unit: float
) -> None:
    found = comparing.series(fetched("double", ours), fetched("double", theirs))
    assert [point["ulp"] for point in found["points"]] == [unit]


def test_steps_that_are_made_at_once_are_held_to_the_last_of_them(comparing: Comparing) -> None:
    found = comparing.series(weights(*range(1, 9)), weights(4.0, 8.5, start=4, by=4))
    assert [point["step"] for point in found["points"]] == [4, 8]
    assert distances(found) == [0.0, 0.5]
    assert (found["counts"], found["at_once"]) == ([2, 2], 4)


def test_steps_that_are_missing_are_counted(comparing: Comparing) -> None:
    found = comparing.series(weights(*range(1, 9)), weights(*range(1, 6)))
    assert (found["counts"], found["at_once"]) == ([8, 5], 1)
    found = comparing.series(weights(*range(1, 8)), weights(4.0, 8.0, start=4, by=4))
    assert (found["counts"], found["at_once"]) == ([7, 2], 4)


def test_how_far_weights_come_is_told_apart(comparing: Comparing) -> None:
    start: list[Value] = [("initial", "w", 0, [1.0, 1.0])]
    found = comparing.series(
        start + weights([2.0, 3.0]),
        start + weights([2.001, 3.002]),
        nudged=start + weights([2.0, 3.0000002]),
    )
    (point,) = found["points"]
    assert point["drift"] == pytest.approx(1e-3, rel=1e-3)
    assert point["drift_envelope"] < 1e-6


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [([1.0], [float("nan")]), ([1.0], [float("inf")]), ([1.0, 2.0], [1.0]), ([[1.0]], [1.0])],
)
def test_what_is_no_number_or_has_another_shape_is_at_no_distance(
    comparing: Comparing, ours: Any, theirs: Any
) -> None:
    assert distances(comparing.series(weights(ours), weights(theirs))) == [None]


def test_the_same_that_is_no_number_is_the_same(comparing: Comparing) -> None:
    odd = weights([float("nan"), float("inf"), 1.0])
    assert distances(comparing.series(odd, odd)) == [0.0]


def test_names_that_differ_by_a_number_are_one_series(comparing: Comparing) -> None:
    grown = [
        ("fetched", f"Mean_{step}:0" if step else "Mean:0", step + 1, 0.5) for step in range(3)
    ]
    found = comparing(list(grown), fetched("Mean:0", 0.5, 0.5, 0.5))
    (series,) = found["series"]
    assert distances(series) == [0.0] * 3
    assert found["only_original"] == found["only_rewritten"] == []


def test_a_number_that_an_op_of_the_loop_had_may_be_that_of_a_later_one(
    comparing: Comparing,
) -> None:
    """`run(G(z))` in a loop and after it: made once before the loop, it takes up one number."""
    before = [("fetched", f"mul_{number}:0", number, number / 2) for number in (1, 2, 3)]
    before += [("fetched", "mul_4:0", 3, 9.0)]
    after = [("fetched", "mul_1:0", step, step / 2) for step in (1, 2, 3)]
    after += [("fetched", "mul_2:0", 3, 9.0)]
    found = comparing.series(before, after)
    assert (found["name"], distances(found)) == ("mul:0", [0.0, 0.0, 0.0, 0.0])
    wrong = [*after[:1], ("fetched", "mul_1:0", 2, 1.5), *after[2:]]
    assert distances(comparing.series(before, wrong)) == [0.0, 0.5, 0.0, 0.0]


def test_a_value_read_at_other_steps_only_is_held_to_its_name(comparing: Comparing) -> None:
    before = fetched("add_1:0", 1.0, 2.0) + fetched("add_2:0", 5.0, 6.0, 7.0)
    after = [("fetched", "add_1:0", 2, 1.0), ("fetched", "add_1:0", 3, 2.5)]
    after += fetched("add_2:0", 5.0, 6.0, 7.0)
    found = {one["name"]: distances(one) for one in comparing(before, after)["series"]}
    assert found == {"add_2:0": [0.0, 0.0, 0.0], "add_1:0": [0.0, 0.5]}


def test_names_that_are_exchanged_within_a_step_are_told_apart(comparing: Comparing) -> None:
    before = fetched("mul_1:0", 1.0, 2.0) + fetched("mul_2:0", 5.0, 6.0)
    after = fetched("mul_2:0", 1.0, 2.0) + fetched("mul_1:0", 5.0, 6.0)
    for one in comparing(before, after)["series"]:
        assert distances(one) == [4.0, 4.0]


def test_the_noise_of_ops_that_a_loop_made_is_that_of_each_of_them(comparing: Comparing) -> None:
    grown = [("fetched", f"Mean_{step}:0", step, 0.5) for step in (1, 2, 3)]
    others = [(*one[:3], one[3] + 0.25 * (one[2] == 2)) for one in grown]
    # Another op, whose name has no number, is none of them.
    grown, others = ([*fetched("Mean:0", 7.0, 7.0), *one] for one in (grown, others))
    hoisted = [*fetched("Mean:0", 7.0, 7.0), *fetched("Mean_1:0", 0.5, 0.5, 0.5)]
    found = comparing(grown, hoisted, again=others, nudged=others)
    (_, series) = found["series"]
    assert distances(series) == [0.0, 0.0, 0.0]
    for kind in ("noise", "envelope"):
        assert [point[kind] for point in series["points"]] == [0.0, 0.25, 0.0]
    assert series["read"] == [3, 3]


def test_another_name_with_nearly_the_same_values_is_the_same(comparing: Comparing) -> None:
    found = comparing(fetched("Mean:0", 0.5, 0.25), fetched("div:0", 0.5, 0.2500001))
    (series,) = found["series"]
    assert series["name"] == "Mean:0"
    assert max(distances(series)) == pytest.approx(1e-7, rel=0.5)


def test_another_name_with_other_values_is_another(comparing: Comparing) -> None:
    found = comparing(fetched("Mean:0", 0.5, 0.25), fetched("div:0", 0.9, 0.1))
    assert found["series"] == []
    assert found["only_original"] == [["fetched", "Mean:0"]]
    assert found["only_rewritten"] == [["fetched", "div:0"]]


def test_what_is_read_less_often_is_held_where_it_is_read(comparing: Comparing) -> None:
    seldom: list[Value] = [("read", "loss", step, value) for step, value in ((2, 0.2), (4, 0.5))]
    often: list[Value] = [("read", "loss", step, 0.1 * step) for step in range(1, 5)]
    found = comparing.series(often, seldom)
    assert [point["step"] for point in found["points"]] == [2, 4]
    assert distances(found) == pytest.approx([0.0, 0.1], abs=1e-6)
    assert found["read"] == [4, 2]


def test_what_is_read_later_is_held_to_what_it_is(comparing: Comparing) -> None:
    """At the end of an epoch, say, and now and then a second time."""
    values = [0.9, 0.7, 0.6, 0.5, 0.45, 0.4]
    original: list[Value] = [("read", "loss", step, one) for step, one in enumerate(values, 1)]
    late: list[Value] = [("read", "loss", 3, 0.6)]
    late += [("read", "loss", 3, one) for one in values[:3]]
    late += [("read", "loss", 6, one) for one in (0.4, 0.5, 0.45001, 0.4)]
    noise = [(*one[:3], one[3] + 0.25 * (one[2] == 5)) for one in original]
    found = comparing.series(original, late, again=noise)
    assert distances(found) == pytest.approx([0, 0, 0, 0, 1e-5, 0], abs=1e-7)
    assert [point["identical"] for point in found["points"]] == [True] * 4 + [False, True]
    assert [point["noise"] > 0 for point in found["points"]] == [False] * 4 + [True, False]
    assert comparing(late, original)["series"] == []  # fewer, and of other steps: stale, perhaps


def test_of_a_step_the_values_that_are_read_once_only_are_found(comparing: Comparing) -> None:
    twice: list[Value] = [("read", "loss", 1, one) for one in (0.5, 0.5, 0.9)]
    once: list[Value] = [("read", "loss", 1, one) for one in (0.5, 0.9)]
    assert distances(comparing.series(twice, once)) == [0.0, 0.0]
    assert distances(comparing.series(once, twice)) == [0.0, 0.0]


def test_the_noise_is_that_of_the_same_value(comparing: Comparing) -> None:
    often: list[Value] = [("read", "loss", step, 0.1 * step) for step in range(1, 5)]
    again: list[Value] = [(*one[:3], one[3] + 0.5 * (one[2] == 1)) for one in often]
    seldom: list[Value] = [("read", "loss", step, 0.1 * step) for step in (2, 4)]
    found = comparing.series(often, seldom, again=again)
    assert [point["noise"] for point in found["points"]] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_other_values_that_are_read_instead_are_not_held_against_each_other(
    comparing: Comparing,
) -> None:
    original: list[Value] = [("read", "scalar", step, 0.1 * step) for step in range(1, 9)]
    means: list[Value] = [("read", "scalar", 9, one) for one in (0.27, 0.66)]
    found = comparing(original, means)
    assert found["series"] == []
    assert found["only_original"] == found["only_rewritten"] == [["read", "scalar"]]


def judged(found: dict[str, Any], contract: Contract, monkeypatch: pytest.MonkeyPatch) -> Numerics:
    monkeypatch.setattr(measuring, "_measured", lambda *_: found)
    run: Any = SimpleNamespace(printed="", folder=Path("none"), summary={"ended": "returned"})
    laboratory: Any = None
    return judge(measuring.compare(laboratory, run, run, again=[run]), Promise(contract))


@pytest.mark.parametrize(
    ("again", "nudged", "exact", "rounding"),
    [
        ("abc", "abc", Verdict.FAIL, Verdict.FAIL),
        ("abd", "abc", Verdict.PASS, Verdict.PASS),  # a race within the run, as of summaries
        ("abc", "abd", Verdict.FAIL, Verdict.PASS),  # it shows rounding
    ],
)
def test_a_text_tells_something_if_that_of_the_original_is_always_the_same(
    comparing: Comparing,
    monkeypatch: pytest.MonkeyPatch,
    again: str,
    nudged: str,
    exact: Verdict,
    rounding: Verdict,
) -> None:
    text = "Merge/MergeSummary:0"
    other = fetched("loss:0", 1.0, 2.0)
    for contract, expected in ((Contract.EXACT, exact), (Contract.ROUNDING, rounding)):
        more = (
            {"nudged": [*other, *fetched(text, nudged)]} if contract is not Contract.EXACT else {}
        )
        found = comparing(
            [*other, *fetched(text, "abc")],
            [*other, *fetched(text, "abe")],
            again=[*other, *fetched(text, again)],
            **more,
        )
        numerics = judged(found, contract, monkeypatch)
        assert numerics.verdict is expected
        assert any(text in note for note in numerics.notes) is (expected is Verdict.PASS)


def test_numbers_are_compared_although_they_differ_between_runs(
    comparing: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = fetched("loss:0", 1.0, 2.0), fetched("loss:0", 1.0, 9.0)
    found = comparing(one, two, again=fetched("loss:0", 1.0, 2.0000002))
    assert judged(found, Contract.EXACT, monkeypatch).verdict is Verdict.FAIL


def test_of_a_large_array_all_bytes_count(comparing: Comparing) -> None:
    large = [0.0] * 40_000
    other = [*large[:1], 1.0, *large[2:]]
    (point,) = comparing.series(weights(large), weights(other))["points"]
    assert not point["identical"]
    assert point["distance"] == 0.0  # the element is not among those that are kept


def test_variables_that_are_made_in_a_trace_have_other_numbers(comparing: Comparing) -> None:
    def made(*names: str, values: tuple[float, ...] = (1.0, 2.0)) -> list[Value]:
        return [("weights", name, 1, [value]) for name, value in zip(names, values, strict=True)]

    ours = made("dense/kernel:0", "dense_1/kernel:0")
    found = comparing(ours, made("dense_2/kernel:0", "dense_1_1/kernel:0"))
    assert found["only_original"] == found["only_rewritten"] == []
    assert [distances(one) for one in found["series"]] == [[0.0], [0.0]]
    found = comparing(ours, made("dense_2/kernel:0", "dense_3/kernel:0", values=(1.0, 2.5)))
    assert [distances(one) for one in found["series"]] == [[0.0], [0.5]]
    found = comparing(ours, made("dense_2/kernel:0", values=(1.0,)))
    assert len(found["only_original"]) == 2


def test_a_variable_of_another_size_is_another(comparing: Comparing) -> None:
    found = comparing([("weights", "w_1", 1, [1.0])], [("weights", "w_2", 1, [1.0, 1.0])])
    assert found["only_original"] == [["weights", "w_1"]]


def test_other_runs_count_as_far_as_their_steps_are_of_the_same_loops(
    comparing: Comparing,
) -> None:
    """A step of the loop around it, which the original does not make, moves all that follow."""
    astray = [*weights(1.0, 2.0), ("weights:2", "w", 3, 2.0), *weights(3.0, 4.0, start=4)]
    found = comparing.series(
        weights(1.0, 2.0, 3.0, 4.0), weights(1.0, 2.0, 3.5, 4.0), nudged=astray, again=astray
    )
    assert distances(found) == [0.0, 0.0, 0.5, 0.0]
    assert [point["envelope"] for point in found["points"]] == [0.0, 0.0, 0.0, 0.0]
    assert [point["noise"] for point in found["points"]] == [0.0, 0.0, 0.0, 0.0]


def test_of_a_large_array_no_column_is_left_out(comparing: Comparing) -> None:
    rows = [[0.5, 0.25]] * (1 << 14)
    other = [[0.5, 0.26]] * (1 << 14)
    for column in ([[a, b] for a, b in other], [[b, a] for a, b in other]):
        before = rows if column[0][0] == 0.5 else [[b, a] for a, b in rows]
        (point,) = comparing.series(
            [("fetched", "p:0", 1, before)], [("fetched", "p:0", 1, column)]
        )["points"]
        assert point["distance"] == pytest.approx(0.01, rel=1e-3)
