"""Two versions' times compared, one time a process, with what chance makes of so few.

A steady drift of the machine over the series is taken out. What is left differs by chance, and
times are drawn anew from it, again and again, for the interval of the ratio and of a version
against itself. Drawing anew from four values is overconfident, so the intervals are widened by what
a normal sample of this size needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from statistics import fmean

from tfrewrite.verify.model import Ratio, SpeedVerdict, Version

DRAWS = 1000
NORMAL = 1.96
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""The 97.5% points of Student's distribution, for 1, 2, 3 … degrees of freedom."""
OF_LOOKS = (NORMAL, 2.381, 2.488)
"""What stands for `NORMAL` where one may look once, twice, three times and stop when it shows.

Pocock's numbers for being misled in 3% of cases: with those for 5%, times that do not differ
normally misled in up to 6.5% of simulated ones.
"""
TINY_S = 1e-9


@dataclass(frozen=True)
class Comparison:
    """Times of one kind, compared. All but `original_s` and `rewritten_s` are logarithms of times.

    `control` is the original against itself; `noise` the largest such difference of either version;
    `drift` how much slower the last process was than the first one by a steady drift, or 0.
    """

    effect: float
    low: float
    high: float
    control: tuple[float, float, float]
    noise: float
    spread: float
    drift: float
    original_s: float
    rewritten_s: float

    @property
    def ratio(self) -> Ratio:
        times_s = self.original_s, self.rewritten_s
        return Ratio(math.exp(self.effect), math.exp(self.low), math.exp(self.high), times_s)

    @property
    def control_ratio(self) -> Ratio:
        value, low, high = map(math.exp, self.control)
        return Ratio(value, low, high)

    def verdict(self, min_effect: float) -> SpeedVerdict:
        holds_one = self.low <= 0 <= self.high
        least = max(math.log1p(min_effect), self.noise)
        if holds_one or abs(self.effect) <= least:
            return SpeedVerdict.NO_CHANGE
        return SpeedVerdict.FASTER if self.effect > 0 else SpeedVerdict.SLOWER

    def is_open(self, min_effect: float) -> bool:
        """Whether there seems to be a difference, which more processes may show to be one."""
        seems = abs(self.effect) > math.log1p(min_effect)
        return seems and self.verdict(min_effect) is SpeedVerdict.NO_CHANGE


def compare(
    versions: Sequence[Version], times_s: Sequence[float], *, looks: int = 1, seed: int = 0
) -> Comparison:
    """Compares times given in the order in which they were taken; at least two of each version.

    Who looks several times, and takes more times as long as nothing shows, is misled more often;
    the interval of the ratio is as much wider as that takes.
    """
    logs = [math.log(max(time_s, TINY_S)) for time_s in times_s]
    is_original = [version is Version.ORIGINAL for version in versions]
    trend, certainty = drift(is_original, logs)
    middle = (len(logs) - 1) / 2
    level = [log - trend * (place - middle) for place, log in enumerate(logs)]
    original = pick(level, is_original, wanted=True)
    rewritten = pick(level, is_original, wanted=False)
    effect = fmean(original) - fmean(rewritten)
    widening = student_widening(len(logs), 3 if len(logs) >= 6 else 2) * certainty
    widening *= OF_LOOKS[looks - 1] / NORMAL

    one, again = drawn_means(original, seed), drawn_means(original, seed + 1)
    other, other_again = drawn_means(rewritten, seed + 2), drawn_means(rewritten, seed + 3)
    low, high = (effect + widening * (bound - effect) for bound in differences_95(one, other))
    own = student_widening(len(original), 1)
    own_low, own_high = (own * bound for bound in differences_95(one, again))
    others = student_widening(len(rewritten), 1)
    other_low, other_high = (others * bound for bound in differences_95(other, other_again))
    halves = fmean(original[::2]) - fmean(original[1::2])
    whole_drift = trend * (len(logs) - 1)
    return Comparison(
        effect=effect,
        low=min(low, effect),
        high=max(high, effect),
        control=(halves, min(own_low, halves), max(own_high, halves)),
        noise=max(-own_low, own_high, -other_low, other_high),
        spread=max(deviation(original), deviation(rewritten)),
        drift=whole_drift if is_sure(level, is_original, whole_drift) else 0.0,
        original_s=math.exp(fmean(original)),
        rewritten_s=math.exp(fmean(rewritten)),
    )


def pick(values: Sequence[float], is_original: Sequence[bool], *, wanted: bool) -> list[float]:
    return [value for value, first in zip(values, is_original, strict=True) if first is wanted]


def drift(is_original: Sequence[bool], logs: Sequence[float]) -> tuple[float, float]:
    """The slope over the series that both versions share, by least squares.

    With it comes by how much more uncertain the effect is for having been told apart from a drift:
    1 where the versions took turns evenly. With two processes a side nothing is taken out.
    """
    if len(logs) < 6:
        return 0.0, 1.0
    places = centred([float(place) for place in range(len(logs))], is_original)
    values = centred(logs, is_original)
    variation = sum(place * place for place in places)
    slope = sum(place * value for place, value in zip(places, values, strict=True)) / variation
    numbers = [float(place) for place in range(len(logs))]
    apart = fmean(pick(numbers, is_original, wanted=True)) - fmean(
        pick(numbers, is_original, wanted=False)
    )
    evenly = 1 / sum(is_original) + 1 / (len(logs) - sum(is_original))
    return slope, math.sqrt(1 + apart**2 / variation / evenly)


def centred(values: Sequence[float], is_original: Sequence[bool]) -> list[float]:
    """The values less the mean of their version."""
    means = {first: fmean(pick(values, is_original, wanted=first)) for first in (True, False)}
    return [value - means[first] for value, first in zip(values, is_original, strict=True)]


def is_sure(level: Sequence[float], is_original: Sequence[bool], whole_drift: float) -> bool:
    """Whether a drift is beyond chance, given what is left when it is taken out."""
    freedom = len(level) - 3
    if len(level) < 6:
        return False
    rest = centred(level, is_original)
    places = centred([float(place) for place in range(len(level))], is_original)
    variance = sum(value * value for value in rest) / freedom
    error = math.sqrt(variance / sum(place * place for place in places)) * (len(level) - 1)
    return abs(whole_drift) > student(freedom) * error


def student(freedom: int) -> float:
    return STUDENT[min(freedom, len(STUDENT)) - 1]


def student_widening(values: int, means: int) -> float:
    """How much wider than by drawing alone an interval from so few values has to be.

    Drawn values vary by the root of the sum of squares over their number; a sample that had
    `means` of its own taken out (a drift is like another one) varies by less than what it is from.
    """
    freedom = values - means
    return student(freedom) / NORMAL * math.sqrt(values / freedom)


@lru_cache(maxsize=16)
def draws(count: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Which of `count` values are drawn, each time as many as there are."""
    random = Random(seed)  # noqa: S311
    return tuple(tuple(random.choices(range(count), k=count)) for _ in range(DRAWS))


def drawn_means(values: Sequence[float], seed: int) -> list[float]:
    count = len(values)
    return [sum([values[place] for place in places]) / count for places in draws(count, seed)]


def differences_95(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Where the middle 95% of the differences lie."""
    ordered = sorted(first - second for first, second in zip(one, other, strict=True))
    aside = round(0.025 * (len(ordered) - 1))
    return ordered[aside], ordered[-1 - aside]


def deviation(values: Sequence[float]) -> float:
    middle = fmean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))
