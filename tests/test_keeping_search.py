"""The search for what to keep, with answers that are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrewrite.keeping.search import Choice, Ground, Numbers, Pace, choose
from tfrewrite.verify.model import Ratio, SpeedVerdict, Verdict

Set = frozenset[int]
NONE: Set = frozenset()
COUNTED = 1.03


def sets(*numbers: int) -> Set:
    return frozenset(numbers)


@dataclass
class World:
    """Answers as a script would whose rewrites do this. `breaking` are sets that break together."""

    breaking: tuple[Set, ...] = ()
    times: Callable[[Set], float] = lambda chosen: 1.0  # noqa: ARG005
    """What a step takes with these made."""
    needs: dict[int, int] = field(default_factory=dict)
    shows_nothing: bool = False
    odd: Set | None = None
    """These, by themselves, break."""
    paces: Callable[[], Pace] | None = None
    """What is said of all times, if not what follows from them."""
    asked: list[Set] = field(default_factory=list)
    timed: list[tuple[Set, Set]] = field(default_factory=list)

    def made(self, chosen: Set) -> Set:
        there = chosen
        while True:
            left = frozenset(one for one in there if self.needs.get(one, one) in there)
            if left == there:
                return there
            there = left

    def numbers(self, chosen: Set) -> Numbers:
        chosen = self.made(chosen)
        if chosen not in self.asked:
            self.asked.append(chosen)
        if self.shows_nothing:
            return Numbers(Verdict.INCONCLUSIVE, "it draws anew")
        if chosen == self.odd or any(one <= chosen for one in self.breaking):
            return Numbers(Verdict.FAIL, "step 1 differs")
        return Numbers(Verdict.PASS, "")

    def pace(self, fewer: Set, more: Set) -> Pace:
        assert fewer < more
        for one in (fewer, more):
            assert self.numbers(one).holds
            assert one == self.made(one)
        if (fewer, more) not in self.timed:
            self.timed.append((fewer, more))
        if self.paces is not None:
            return self.paces()
        ratio = self.times(fewer) / self.times(more)
        verdict = SpeedVerdict.NO_CHANGE
        if ratio > COUNTED:
            verdict = SpeedVerdict.FASTER
        elif ratio < 1 / COUNTED:
            verdict = SpeedVerdict.SLOWER
        return Pace(verdict, f"{ratio:.2f}", Ratio(ratio, ratio, ratio))


def product(factors: dict[int, float]) -> Callable[[Set], float]:
    """Each by itself makes a step take so many times as long."""

    def times(chosen: Set) -> float:
        took = 1.0
        for one in chosen:
            took *= factors.get(one, 1.0)
        return took

    return times


def grounds(choice: Choice[int]) -> dict[int, str]:
    return {item: fate.ground.value for item, fate in choice.fates.items()}


def test_one_good_one_harmful_one_that_breaks_its_promise() -> None:
    world = World((sets(2),), product({0: 0.5, 1: 1.5}))
    choice = choose([0, 1, 2], world)
    assert choice.kept == sets(0)
    assert grounds(choice) == {0: "faster", 1: "slower", 2: "contract-broken"}
    assert choice.fates[2].evidence == "step 1 differs"
    assert choice.fates[0].gain == Ratio(2.0, 2.0, 2.0)


def test_what_holds_is_asked_once() -> None:
    world = World()
    choice = choose(list(range(9)), world, timed=False)
    assert world.asked == [frozenset(range(9))]
    assert set(grounds(choice).values()) == {"not-timed"}


def test_one_that_hides_behind_a_larger_gain() -> None:
    world = World(times=product({3: 0.2, 5: 1.2}))
    choice = choose(list(range(8)), world)
    assert choice.kept == frozenset(range(8)) - {5}
    assert choice.fates[5].ground is Ground.SLOWER
    assert choice.fates[3].ground is Ground.FASTER


def test_a_gain_and_a_loss_that_cancel_out() -> None:
    choice = choose([0, 1], World(times=product({0: 0.5, 1: 2.0})))
    assert choice.kept == sets(0)


def test_two_that_break_only_together() -> None:
    choice = choose([0, 1, 2, 3], World((sets(0, 3),)), timed=False)
    assert choice.kept == sets(0, 1, 2)
    assert choice.fates[3].ground is Ground.CONTRACT


def test_two_that_are_slow_only_together() -> None:
    def times(chosen: Set) -> float:
        return 2.0 if sets(1, 2) <= chosen else 1.0

    world = World(times=times)
    choice = choose([0, 1, 2, 3], world)
    assert times(choice.kept) == 1.0
    assert len(choice.kept) == 3


def test_two_that_gain_only_together() -> None:
    choice = choose(
        [0, 1],
        World(times=lambda chosen: 0.5 if sets(0, 1) <= chosen else 1.0),
        must_gain=sets(0, 1),
    )
    assert choice.kept == sets(0, 1)


def test_of_two_that_gain_the_same_one_is_enough() -> None:
    world = World(times=lambda chosen: 0.5 if chosen else 1.0)
    choice = choose([0, 1], world, must_gain=sets(0, 1))
    assert len(choice.kept) == 1


def test_one_that_the_others_need() -> None:
    """Left out, the numbers do not hold: it stays, since all that is kept was seen to hold."""
    world = World(times=product({2: 0.5}), odd=sets(1, 2))
    choice = choose([0, 1, 2], world)
    assert choice.kept == sets(0, 1, 2)
    assert choice.fates[0].ground is Ground.NEEDED


def test_what_builds_on_one_that_is_dropped() -> None:
    choice = choose([0, 1], World((sets(0),), needs={1: 0}), timed=False)
    assert choice.kept == NONE
    assert grounds(choice) == {0: "contract-broken", 1: "needs-a-dropped-one"}


def test_what_builds_on_one_that_is_slower() -> None:
    choice = choose([0, 1], World(times=product({0: 1.5}), needs={1: 0}))
    assert choice.kept == NONE
    assert grounds(choice) == {0: "slower", 1: "needs-a-dropped-one"}


def test_what_is_slower_and_builds_on_a_good_one() -> None:
    choice = choose([0, 1], World(times=product({0: 0.5, 1: 3.0}), needs={1: 0}))
    assert grounds(choice) == {0: "faster", 1: "slower"}


def test_what_pays_only_with_another_that_builds_on_it() -> None:
    choice = choose([0, 1], World(times=product({0: 1.5, 1: 0.2}), needs={1: 0}))
    assert choice.kept == sets(0, 1)


@pytest.mark.parametrize("timed", [True, False])
def test_where_nothing_can_be_shown_nothing_is_kept(*, timed: bool) -> None:
    world = World(shows_nothing=True)
    choice = choose(list(range(20)), world, timed=timed)
    assert choice.kept == NONE
    assert set(grounds(choice).values()) == {"not-shown"}
    assert len(world.asked) == 2


def test_no_measurable_change_is_kept_unless_a_gain_is_asked_for() -> None:
    assert choose([0, 1, 2], World()).kept == sets(0, 1, 2)
    choice = choose([0, 1, 2], World(), must_gain=sets(0, 1, 2))
    assert choice.kept == NONE
    assert set(grounds(choice).values()) == {"gain-too-small"}


def test_a_gain_is_asked_of_some_only() -> None:
    choice = choose([0, 1, 2, 3], World(times=product({1: 0.5})), must_gain=sets(1, 2))
    assert choice.kept == sets(0, 1, 3)
    assert choice.fates[2].ground is Ground.NO_GAIN
    assert choose([0, 1], World(), must_gain=sets(1)).kept == sets(0)
    assert choose([0], World(), must_gain=sets(0)).kept == NONE


def test_one_that_must_gain_is_not_kept_for_the_gain_of_another() -> None:
    choice = choose([0, 1], World(times=product({0: 0.2, 1: 1.1})), must_gain=sets(1))
    assert grounds(choice) == {0: "faster", 1: "slower"}
    choice = choose([0, 1], World(times=product({0: 0.2})), must_gain=sets(1))
    assert grounds(choice) == {0: "faster", 1: "gain-too-small"}


def test_what_cannot_be_timed_is_not_shown_to_be_no_slower() -> None:
    pace = Pace(SpeedVerdict.NOT_MEASURED, "the rewritten version ran out of time")
    choice = choose([0, 1], World(paces=lambda: pace))
    assert choice.kept == NONE
    assert choice.fates[0].ground is Ground.NOT_SHOWN


# Of any script.

ITEMS = st.integers(0, 9).map(lambda count: list(range(count + 1)))
SETS = st.frozensets(st.integers(0, 9), min_size=1, max_size=3)


@given(ITEMS, st.lists(SETS, max_size=4), st.dictionaries(st.integers(0, 9), st.integers(0, 9)))
def test_what_is_kept_holds_and_nothing_more_would(
    items: list[int], breaking: list[Set], needs: dict[int, int]
) -> None:
    world = World(tuple(breaking), needs={one: on for one, on in needs.items() if on < one})
    choice = choose(items, world, timed=False)
    assert set(choice.fates) == set(items)
    assert choice.kept == {item for item, fate in choice.fates.items() if fate.ground.keeps}
    assert world.made(choice.kept) == choice.kept
    assert world.numbers(choice.kept).holds
    for item in set(items) - choice.kept:
        more = world.made(choice.kept | {item})
        assert more == choice.kept or not world.numbers(more).holds


@given(ITEMS, st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_single_culprits_are_all_found_and_nothing_else_is_dropped(
    items: list[int], wrong: set[int], slow: set[int]
) -> None:
    world = World(tuple(map(sets, wrong)), product(dict.fromkeys(slow, 1.5)))
    choice = choose(items, world)
    assert choice.kept == set(items) - wrong - slow
    for item in set(items) - choice.kept:
        ground = Ground.CONTRACT if item in wrong else Ground.SLOWER
        assert choice.fates[item].ground is ground


FACTORS = st.dictionaries(st.integers(0, 9), st.sampled_from([0.4, 0.7, 1.0, 1.3, 2.5]))


NEEDS = st.dictionaries(st.integers(0, 9), st.integers(0, 9), max_size=4)


@given(
    items=ITEMS, breaking=st.lists(SETS, max_size=3), factors=FACTORS, needs=NEEDS,
    together=st.lists(SETS, max_size=2), must_gain=st.frozensets(st.integers(0, 9)),
)  # fmt: skip
def test_what_is_kept_was_asked_for_and_pays(
    items: list[int],
    breaking: list[Set],
    factors: dict[int, float],
    needs: dict[int, int],
    together: list[Set],
    must_gain: Set,
) -> None:
    """Whatever the rewrites do to each other."""
    alone = product(factors)

    def times(chosen: Set) -> float:
        return alone(chosen) * 1.4 ** sum(one <= chosen for one in together)

    needs = {one: on for one, on in needs.items() if on < one}
    world = World(tuple(breaking), times, needs)
    choice = choose(items, world, must_gain=must_gain)
    assert set(choice.fates) == set(items)
    assert choice.kept == {item for item, fate in choice.fates.items() if fate.ground.keeps}
    if choice.kept:
        assert choice.kept in world.asked
        assert (NONE, choice.kept) in world.timed
        ratio = times(NONE) / times(choice.kept)
        assert ratio > (COUNTED if must_gain & choice.kept else 1 / COUNTED)


@given(ITEMS, st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)), st.integers(0, 9))
def test_what_comes_to_a_base_leaves_the_base_alone(
    items: list[int], wrong: set[int], slow: set[int], first: int
) -> None:
    base = frozenset(items[:first]) - wrong - slow
    world = World(tuple(map(sets, wrong)), product(dict.fromkeys(slow, 1.5)))
    more = [item for item in items if item not in base]
    choice = choose(more, world, base=base)
    assert choice.kept == set(items) - wrong - slow
    assert set(choice.fates) == set(more)


@given(ITEMS, st.randoms(use_true_random=False))
def test_answers_that_are_noise_end_in_a_choice(items: list[int], chance: Random) -> None:
    """Whatever is said of the time, and it is said anew each time, the search comes to an end."""
    verdicts = [SpeedVerdict.FASTER, SpeedVerdict.SLOWER, SpeedVerdict.NO_CHANGE]
    choice = choose(items, World(paces=lambda: Pace(chance.choice(verdicts), "")))
    assert choice.kept == {item for item, fate in choice.fates.items() if fate.ground.keeps}


@given(st.integers(1, 64), st.data())
def test_few_questions_for_few_culprits(count: int, data: st.DataObject) -> None:
    wrong = data.draw(st.integers(0, count - 1))
    world = World((sets(wrong),))
    assert choose(list(range(count)), world).kept == frozenset(range(count)) - {wrong}
    halvings = (count - 1).bit_length()
    # All, both halves of each group that fails, and the rest without each half for its times.
    assert len(world.asked) <= 1 + 2 * halvings + 3
    assert len(world.timed) <= 3


@given(st.lists(SETS, max_size=6))
def test_never_more_questions_than_the_parts_of_a_tree(breaking: list[Set]) -> None:
    world = World(tuple(breaking))
    choose(list(range(10)), world, timed=False)
    assert len(world.asked) <= 2 * 10
