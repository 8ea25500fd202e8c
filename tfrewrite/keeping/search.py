"""Which of some rewrites are kept, found with few questions. Nothing is run here.

Two things are asked. Whether the numbers hold with some of them made: all at first, then halves,
then single ones, each beside what is known to hold. And, of those that hold, what becomes of the
time when some are left out of all: halves, then single ones wherever something shows. A rewrite
that hides behind the gain of another is found that way, and the same answers tell what each gains.

What is returned as kept was itself asked for, as a whole: no conclusion is drawn from parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Generic, Protocol, TypeVar

from tfrewrite.verify.model import Ratio, SpeedVerdict, Verdict

T = TypeVar("T")


@dataclass(frozen=True)
class Numbers:
    """Whether a version computes what it promises, with the reason in a sentence."""

    verdict: Verdict
    evidence: str

    @property
    def holds(self) -> bool:
        return self.verdict is Verdict.PASS


@dataclass(frozen=True)
class Pace:
    """How fast a version is beside another; a ratio above 1 is faster."""

    verdict: SpeedVerdict
    evidence: str
    ratio: Ratio | None = None


class Oracle(Protocol[T]):
    """What is asked. An answer may be asked for several times."""

    def made(self, chosen: frozenset[T]) -> frozenset[T]:
        """Those that can be made: some have their place only where others were made."""

    def numbers(self, chosen: frozenset[T]) -> Numbers:
        """Whether the numbers hold with these made."""

    def pace(self, fewer: frozenset[T], more: frozenset[T]) -> Pace:
        """How fast it is with more of them made. The numbers of both were seen to hold."""


class Ground(str, Enum):
    """Why a rewrite was kept or dropped."""

    FASTER = "faster"
    NO_CHANGE = "no-measurable-change"
    NOT_TIMED = "not-timed"
    NEEDED = "needed"
    """The numbers do not hold without it where others are made."""
    CONTRACT = "contract-broken"
    SLOWER = "slower"
    NO_GAIN = "gain-too-small"
    NOT_SHOWN = "not-shown"
    NOT_EXECUTED = "not-executed"
    """No run executed the file, so that nothing was asked."""
    DEPENDS = "needs-a-dropped-one"

    @property
    def keeps(self) -> bool:
        return self in {Ground.FASTER, Ground.NO_CHANGE, Ground.NOT_TIMED, Ground.NEEDED}


@dataclass(frozen=True)
class Fate(Generic[T]):
    """What became of one rewrite. `of` are those that the evidence is about together."""

    ground: Ground
    evidence: str
    of: frozenset[T]
    gain: Ratio | None = None


@dataclass(frozen=True)
class Choice(Generic[T]):
    """Those that are kept, and of each one why it is or is not."""

    kept: frozenset[T]
    fates: dict[T, Fate[T]] = field(default_factory=dict)


def choose(
    items: Sequence[T],
    oracle: Oracle[T],
    *,
    base: frozenset[T] = frozenset(),
    timed: bool = True,
    must_gain: frozenset[T] = frozenset(),
) -> Choice[T]:
    """Keeps what holds and is not slower, of those that `must_gain` what is shown to be faster.

    The base was chosen before, and only what comes to it is in question.
    """
    search = _Search(items, oracle, base, must_gain=must_gain)
    search.by_numbers()
    if timed:
        search.by_time()
    return search.choice(timed=timed)


class _Search(Generic[T]):
    """What is kept so far, always a set whose numbers were seen to hold, or nothing."""

    def __init__(
        self, items: Sequence[T], oracle: Oracle[T], base: frozenset[T], *, must_gain: frozenset[T]
    ) -> None:
        self._items = list(items)
        self._oracle = oracle
        self._must_gain = must_gain
        self._base = base
        self._kept = base
        self._fates: dict[T, Fate[T]] = {}
        self._whole: tuple[frozenset[T], Pace] | None = None

    def choice(self, *, timed: bool) -> Choice[T]:
        for item in self._kept:
            if not timed:
                self._fates[item] = Fate(Ground.NOT_TIMED, "", self._kept)
        self._drop_what_is_not_there()
        return Choice(self._kept, {item: self._fates[item] for item in self._items})

    # Numbers.

    def by_numbers(self) -> None:
        everything = frozenset(self._items)
        found = self._oracle.numbers(self._base | everything)
        if found.verdict is Verdict.INCONCLUSIVE and not self._base:
            # Does the script show anything at all? If not, no part of the rewrites will.
            control = self._oracle.numbers(frozenset())
            if not control.holds:
                self._drop(everything, Ground.NOT_SHOWN, control.evidence)
                return
        self._kept = self._oracle.made(self._holding(self._base, self._items))

    def _holding(self, base: frozenset[T], more: Sequence[T]) -> frozenset[T]:
        """The base, which holds, with as many more as hold beside it."""
        if not more:
            return base
        found = self._oracle.numbers(base | set(more))
        if found.holds:
            return base | set(more)
        if len(more) == 1:
            failed = found.verdict is Verdict.FAIL
            self._drop(more, Ground.CONTRACT if failed else Ground.NOT_SHOWN, found.evidence)
            return base
        first, second = _halves(more)
        return self._holding(self._holding(base, first), second)

    # Times.

    def by_time(self) -> None:
        if len(self._kept) > 1:
            self._weigh_halves(self._in_order(self._kept))
        if not self._kept:
            return
        whole = self._beside_none()
        if whole.verdict is SpeedVerdict.NOT_MEASURED:
            self._drop(self._kept, Ground.NOT_SHOWN, whole.evidence)
        elif not self._pays(self._kept, whole):
            self._kept = self._paying(self._base, self._in_order(self._kept))
        if len(self._kept) == 1 and not self._base:
            (one,) = self._kept
            self._fates[one] = self._fate(self._kept, self._beside_none())

    def _weigh(self, group: Sequence[T]) -> None:
        """What some of those that are kept gain; drops those that lose."""
        group = [item for item in group if item in self._kept]
        if not group:
            return
        chosen = frozenset(group)
        rest = self._oracle.made(self._kept - chosen)
        numbers = self._oracle.numbers(rest) if rest else None
        if numbers is not None and not numbers.holds:
            self._weigh_what_is_needed(group, numbers)
            return
        # Without these, it may be that none of the others can be made.
        pace = self._oracle.pace(rest, self._kept) if rest else self._beside_none()
        if self._loses(chosen, pace):
            self._weigh_losers(group, pace)
            return
        for item in group:
            self._fates[item] = self._fate(chosen, pace)
        if len(group) > 1 and pace.verdict is SpeedVerdict.FASTER:
            self._weigh_halves(group)

    def _weigh_halves(self, group: Sequence[T]) -> bool:
        """Whether any was dropped. What builds on others comes after them, and is weighed first."""
        before = self._kept
        for half in reversed(_halves(group)):
            self._weigh(half)
        return self._kept != before

    def _weigh_losers(self, group: Sequence[T], pace: Pace) -> None:
        slower = pace.verdict is SpeedVerdict.SLOWER
        if not slower and not self._must_gain.issuperset(group):
            self._weigh_halves(group)  # those of which no gain is asked stay
            return
        if slower and len(group) > 1 and self._weigh_halves(group):
            return
        left = self._kept & frozenset(group)
        self._kept = self._oracle.made(self._kept - left)
        self._drop(left, self._ground_of_loss(pace), pace.evidence, pace.ratio)

    def _weigh_what_is_needed(self, group: Sequence[T], numbers: Numbers) -> None:
        if len(group) > 1:
            self._weigh_halves(group)
        else:
            self._fates[group[0]] = Fate(Ground.NEEDED, numbers.evidence, frozenset(group))

    def _loses(self, group: frozenset[T], pace: Pace) -> bool:
        if self._must_gain & group:
            return pace.verdict is not SpeedVerdict.FASTER
        return pace.verdict is SpeedVerdict.SLOWER

    def _paying(self, base: frozenset[T], more: Sequence[T]) -> frozenset[T]:
        """As `_holding`, of times: what no single one explained."""
        if not more:
            return base
        both = self._oracle.made(base | set(more))
        if both == base:
            return base
        numbers = self._oracle.numbers(both)
        pace = self._oracle.pace(frozenset(), both) if numbers.holds else None
        if pace is not None and self._pays(both, pace):
            # The gain is that of all which are kept by now, of which nobody has a share.
            together = replace(self._fate(both, pace), gain=None)
            self._fates |= dict.fromkeys(more, together)
            return both
        if len(more) == 1:
            if pace is None:
                self._drop(more, Ground.NOT_SHOWN, numbers.evidence)
            else:
                self._drop(more, self._ground_of_loss(pace), pace.evidence, pace.ratio)
            return base
        first, second = _halves(more)
        return self._paying(self._paying(base, first), second)

    def _pays(self, group: frozenset[T], pace: Pace) -> bool:
        if self._must_gain & group:
            return pace.verdict is SpeedVerdict.FASTER
        return pace.verdict in {SpeedVerdict.FASTER, SpeedVerdict.NO_CHANGE}

    def _ground_of_loss(self, pace: Pace) -> Ground:
        if pace.verdict is SpeedVerdict.NOT_MEASURED:
            return Ground.NOT_SHOWN
        return Ground.SLOWER if pace.verdict is SpeedVerdict.SLOWER else Ground.NO_GAIN

    def _fate(self, of: frozenset[T], pace: Pace) -> Fate[T]:
        grounds = {SpeedVerdict.FASTER: Ground.FASTER, SpeedVerdict.NO_CHANGE: Ground.NO_CHANGE}
        ground = grounds.get(pace.verdict, Ground.NOT_TIMED)
        return Fate(ground, pace.evidence, of, pace.ratio)

    def _beside_none(self) -> Pace:
        """The pace of what is kept beside the original."""
        if self._whole is None or self._whole[0] != self._kept:
            self._whole = (self._kept, self._oracle.pace(frozenset(), self._kept))
        return self._whole[1]

    # What both need.

    def _in_order(self, some: Iterable[T]) -> list[T]:
        wanted = frozenset(some)
        return [item for item in self._items if item in wanted]

    def _drop(
        self, some: Iterable[T], ground: Ground, evidence: str, gain: Ratio | None = None
    ) -> None:
        together = frozenset(some)
        self._kept -= together
        for item in together:
            self._fates[item] = Fate(ground, evidence, together, gain)

    def _drop_what_is_not_there(self) -> None:
        for item in self._items:
            fate = self._fates.get(item)
            if item not in self._kept and (fate is None or fate.ground.keeps):
                self._fates[item] = Fate(Ground.DEPENDS, "", frozenset([item]))


def _halves(items: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]
