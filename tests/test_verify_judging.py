"""What passes under which contract, from numbers that are given."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tfrewrite.model import Contract
from tfrewrite.verify.comparing import Comparison, Measured, Series
from tfrewrite.verify.judging import Promise, but_for_what_comes_later, judge
from tfrewrite.verify.model import Kind, Numerics, Verdict

ULP = 1e-7
LATER = Verdict.INCONCLUSIVE


def point(
    step: int = 1,
    distance: float = 0.0,
    *,
    noise: float = 0.0,
    envelope: float = 0.0,
    scale: float = 1.0,
    unit: float = ULP,
    drift: float = 0.0,
    drift_envelope: float = 0.0,
    size: int = 1,
) -> Measured:
    return Measured(
        step, distance == 0.0, distance, noise, envelope, scale, unit, drift, drift_envelope,
        "1.0", "2.0", size,
    )  # fmt: skip


def weights(*points: Measured, name: str = "w", raw: str = "weights") -> Series:
    return Series(name, Kind.WEIGHTS, raw, points, (len(points), len(points)))


def fetched(*points: Measured) -> Series:
    return Series("loss:0", Kind.FETCHED, "fetched", points, (len(points), len(points)))


def printed(*points: Measured) -> Series:
    return Series("standard output: #", Kind.PRINTED, "printed", points, (len(points),) * 2)


def verdict(contract: Contract, *series: Series, **more: object) -> Numerics:
    return judge(Comparison(series, **more), Promise(contract))  # type: ignore[arg-type]


def test_identical_passes_under_every_contract() -> None:
    for contract in Contract:
        found = verdict(contract, weights(point(1), point(2)), printed(point()))
        assert found.verdict is Verdict.PASS
        assert "bit for bit" in found.reason
        assert found.worst_ratio == 0.0


def test_a_value_that_one_version_reads_alone_is_no_difference_of_the_others() -> None:
    only = {"only_rewritten": (("fetched", "x:0"),)}
    found = verdict(Contract.EXACT, weights(point(1), point(2)), **only)
    assert found.verdict is Verdict.PASS
    assert found.reason == "all 2 values of 1 observables are the same bit for bit"
    assert found.notes == ("x:0 is fetched by the rewritten version only",)


def test_exact_takes_no_difference_at_all() -> None:
    found = verdict(Contract.EXACT, weights(point(1), point(2, 1e-12)))
    assert found.verdict is Verdict.FAIL
    assert found.divergence is not None
    assert (found.divergence.observable, found.divergence.step) == ("w", 2)
    assert math.isinf(found.divergence.ratio)


def test_exact_cannot_be_shown_of_what_does_not_repeat_itself() -> None:
    noisy = weights(point(1, 1e-7, noise=2e-7))
    assert verdict(Contract.EXACT, noisy).verdict is Verdict.INCONCLUSIVE
    beyond = weights(point(1, 1e-3, noise=2e-7))
    assert verdict(Contract.EXACT, beyond).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("distance", "envelope", "passes"),
    [
        (1.5e-6, 0.0, True),  # within the floor
        (1e-4, 0.0, False),
        (1e-4, 2e-5, True),  # within the envelope
        (1e-4, 1e-6, False),
        (math.inf, 1.0, False),
    ],
)
def test_rounding_is_held_to_the_envelope(
    distance: float, envelope: float, *, passes: bool
) -> None:
    found = verdict(Contract.ROUNDING, weights(point(1, distance, envelope=envelope)))
    assert (found.verdict is Verdict.PASS) is passes
    assert (found.worst_ratio <= 1.0) is passes


def test_an_envelope_that_is_zero_by_chance_is_that_of_earlier_steps() -> None:
    passed = weights(point(1, 0, envelope=1e-4), point(2, 5e-5, envelope=0.0))
    assert verdict(Contract.ROUNDING, passed).verdict is Verdict.PASS
    failed = weights(point(1, 5e-5, envelope=0.0), point(2, 0, envelope=1e-4))
    found = verdict(Contract.ROUNDING, failed)
    assert found.verdict is Verdict.FAIL
    assert found.divergence is not None and found.divergence.step == 1


def test_weights_that_come_a_thousandth_further_are_another_learning_rate() -> None:
    found = verdict(Contract.ROUNDING, weights(point(1, 1e-6, envelope=1e-5, drift=1e-3)))
    assert found.verdict is Verdict.FAIL
    assert "0.10%" in found.compared[0].note
    chaotic = weights(point(1, 1e-6, envelope=1e-5, drift=1e-3, drift_envelope=1e-3))
    assert verdict(Contract.ROUNDING, chaotic).verdict is Verdict.PASS


def test_one_example_more_or_less_is_rounding_once_weights_differ() -> None:
    shares = [point(n, scale=n / 200) for n in range(1, 9)]
    flipped = [*shares, point(9, 0.005, scale=0.2)]
    moved = weights(point(1, ULP))
    assert verdict(Contract.ROUNDING, moved, fetched(*flipped)).verdict is Verdict.PASS
    assert verdict(Contract.ROUNDING, fetched(*flipped)).verdict is Verdict.FAIL
    two = [*shares, point(9, 0.010, scale=0.2)]
    assert verdict(Contract.ROUNDING, moved, fetched(*two)).verdict is Verdict.FAIL


def test_a_share_of_other_examples_is_no_rounding() -> None:
    """The last example of 200 is left out: each share is another by less than one example."""
    right = [120, 131, 144, 150, 152]
    shares = [
        replace(point(n, abs(k / 200 - k / 199), scale=k / 200), their_scale=k / 199)
        for n, k in enumerate(right, 1)
    ]
    moved = weights(point(1, ULP))
    assert verdict(Contract.ROUNDING, moved, fetched(*shares)).verdict is Verdict.FAIL


def other_file(*points: Measured, name: str = "picture.png") -> Series:
    return Series(name, Kind.FILE, "other file", points, (1, 1))


@pytest.mark.parametrize(
    ("envelope", "noise", "rounded", "name", "passes"),
    [
        (0.0, 0.0, False, "picture.png", False),
        (0.0, 0.0, True, "picture.png", False),
        (math.inf, 0.0, True, "picture.png", True),
        (math.inf, 0.0, False, "picture.png", False),
        (0.0, math.inf, False, "picture.png", True),
        (0.0, 0.0, False, "model/saved_model.pb", True),
    ],
)
def test_a_file_without_numbers_tells_where_rounding_leaves_it_as_it_is(
    envelope: float, noise: float, *, rounded: bool, name: str, passes: bool
) -> None:
    trained = weights(point(1, ULP if rounded else 0.0))
    file = other_file(point(0, math.inf, envelope=envelope, noise=noise), name=name)
    found = verdict(Contract.ROUNDING, trained, file)
    assert (found.verdict is Verdict.PASS) is passes
    assert verdict(Contract.PRECISION, trained, file).verdict is Verdict.PASS


def test_bytes_that_the_original_does_not_repeat_show_nothing_bit_for_bit() -> None:
    file = other_file(point(0, math.inf, noise=math.inf))
    assert verdict(Contract.EXACT, weights(point(1)), file).verdict is Verdict.INCONCLUSIVE


def test_a_printed_number_may_differ_in_its_last_place() -> None:
    near, far = point(1, 0.001, unit=0.001), point(1, 0.002, unit=0.001)
    assert verdict(Contract.ROUNDING, printed(near)).verdict is Verdict.PASS
    assert verdict(Contract.ROUNDING, printed(far)).verdict is Verdict.FAIL
    assert verdict(Contract.EXACT, printed(near)).verdict is Verdict.FAIL


def test_a_whole_number_that_is_printed_may_not_differ() -> None:
    assert verdict(Contract.ROUNDING, printed(point(1, 1.0, scale=59, unit=0.0))).verdict is (
        Verdict.FAIL
    )


def test_weights_are_bit_for_bit_unless_a_rewrite_among_others_rounds() -> None:
    alone = Promise(Contract.SHIFTED, frozenset({Contract.EXACT, Contract.SHIFTED}))
    rounds = Promise(Contract.SHIFTED, frozenset({Contract.ROUNDING, Contract.SHIFTED}))
    near = Comparison((weights(point(1, 1e-9)),))
    assert judge(near, alone).verdict is Verdict.FAIL
    assert judge(near, rounds).verdict is Verdict.PASS
    assert alone.shifts
    assert rounds.shifts
    assert not Promise(Contract.ROUNDING, frozenset({Contract.EXACT})).shifts


def test_shifted_is_bit_for_bit_in_the_weights_alone() -> None:
    near = fetched(point(1, 1.5e-6))
    assert verdict(Contract.SHIFTED, weights(point(1)), near).verdict is Verdict.PASS
    assert verdict(Contract.SHIFTED, weights(point(1, 1e-9)), near).verdict is Verdict.FAIL
    for wrong in (fetched(point(1, 0.5)), printed(point(1, 0.5, unit=0.01))):
        assert verdict(Contract.SHIFTED, weights(point(1)), wrong).verdict is Verdict.FAIL


def test_other_initial_weights_are_another_random_stream() -> None:
    for moved in (point(0, 0.1, size=8), point(0, 0.9)):
        begin = weights(moved, raw="initial")
        found = verdict(Contract.ROUNDING, begin, weights(point(1, 1)))
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "random stream" in found.reason


def test_another_number_at_the_start_is_another_setting() -> None:
    rate = weights(point(0, 1e-4, scale=0.1), raw="initial", name="learning_rate")
    found = verdict(Contract.ROUNDING, rate, weights(point(1)))
    assert found.verdict is Verdict.FAIL
    assert found.reason == "learning_rate begins with 2.0 instead of 1.0 in the rewritten version"


def test_steps_that_are_made_at_once_may_be_cut_elsewhere() -> None:
    kept = Series("w", Kind.WEIGHTS, "weights", (point(8), point(16)), (2, 2), at_once=8)
    assert verdict(Contract.ROUNDING, kept).verdict is Verdict.PASS
    apart = Series("w", Kind.WEIGHTS, "weights", (point(8, 0.1),), (9, 2), at_once=8)
    found = verdict(Contract.ROUNDING, apart)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "a multiple of 8" in found.reason


def test_chance_in_every_run_is_not_held_to_one_pair_of_them() -> None:
    chance = printed(point(1, 0.9, noise=0.01), point(2, 0.2, noise=0.4))
    for contract in (Contract.ROUNDING, Contract.SHIFTED):
        found = verdict(contract, chance)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "does not repeat itself" in found.reason


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"other_text": "standard output, line 1: 'a' instead of 'b'"}, Verdict.FAIL),
        ({"only_original": (("final", "w"),)}, Verdict.FAIL),
        ({"only_rewritten": (("file", "x.npy"),)}, Verdict.FAIL),
        ({"only_original": (("fetched", "loss:0"),)}, Verdict.PASS),
        (
            {
                "only_original": (("fetched", "loss:0"),),
                "only_rewritten": (("fetched", "other:0"),),
            },
            Verdict.INCONCLUSIVE,
        ),
        ({"only_rewritten": (("fetched", "next:0"),)}, Verdict.PASS),
    ],
)
def test_what_only_one_version_has(more: dict[str, object], expected: Verdict) -> None:
    assert verdict(Contract.ROUNDING, weights(point(1)), **more).verdict is expected


def test_a_lower_precision_may_cost_a_hundredth() -> None:
    near, far = weights(point(1, 0.01, drift=0.01)), weights(point(1, 0.05))
    assert verdict(Contract.PRECISION, near).verdict is Verdict.PASS
    assert verdict(Contract.ROUNDING, near).verdict is Verdict.FAIL
    assert verdict(Contract.PRECISION, far).verdict is Verdict.FAIL


def test_what_is_read_less_often_is_told() -> None:
    less = Series("loss:0", Kind.FETCHED, "fetched", (point(3),), (1, 1), (20, 1))
    found = verdict(Contract.EXACT, weights(point(1)), less)
    assert found.verdict is Verdict.PASS
    assert "20 times by the original and 1 times" in found.notes[0]


def test_another_number_of_steps_is_a_failure() -> None:
    found = verdict(Contract.ROUNDING, Series("w", Kind.WEIGHTS, "weights", (point(1),), (20, 19)))
    assert found.verdict is Verdict.FAIL
    assert "19 steps" in found.reason


def test_an_original_that_does_not_repeat_itself_shows_nothing() -> None:
    noisy = weights(point(1, 0.01, noise=0.02), point(2, 0.01, noise=0.02))
    found = verdict(Contract.ROUNDING, noisy)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "does not repeat itself" in found.reason
    late = weights(point(1, 1e-7, noise=1e-7), point(2, 0.01, noise=0.02))
    assert verdict(Contract.ROUNDING, late).verdict is Verdict.PASS


def test_nothing_to_see_is_no_pass() -> None:
    assert verdict(Contract.ROUNDING).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ([fetched(point(39), point(40, 0.5))], LATER),  # drawn after the loop
        ([fetched(point(39), point(41, 0.5)), printed(point(7, 0.5))], LATER),
        ([fetched(point(39, 0.1), point(40, 0.5))], Verdict.FAIL),  # a step differs
        ([fetched(point(40, 0.5)), weights(point(40, 0.5))], Verdict.FAIL),
        ([fetched(point(40), point(41, 0.5)), weights(point(40), point(41, 0.5))], LATER),
        ([fetched(point(40)), printed(point(7, 0.5))], Verdict.FAIL),  # not drawn, but said
    ],
)
def test_what_is_drawn_after_a_cut_follows_on_what_was_read_ahead(
    series: list[Series], expected: Verdict
) -> None:
    found = verdict(Contract.EXACT, *series)
    assert found.verdict is Verdict.FAIL
    assert but_for_what_comes_later(found, 40).verdict is expected
