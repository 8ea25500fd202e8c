"""Holds what was measured to what was promised.

`exact` is bit for bit. For `rounding` the original itself says how far rounding can take it: it was
run again with its weights moved by one unit in the last place, and the rewritten version has to
stay within a small multiple of what came of that, at every step and in every observable. Early
steps tell most: later on a right and a wrong version may both be far away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tfrewrite.model import Contract
from tfrewrite.verify.comparing import Comparison, Measured, Series
from tfrewrite.verify.model import Compared, Divergence, Kind, Numerics, Point, Verdict

FACTOR = 16.0
"""How many times the envelope a right rewrite may be away."""
FLOOR = 16.0
"""As is so many units in the last place, since an entry of the envelope can be zero by chance."""
SINGLE = 2.0**-23
"""A unit in the last place of a 32-bit number, beside the number."""
PRECISION = 2e-2
"""The part of a value that a lower precision, taken on purpose, may make of it."""
DRIFT_FLOOR = 2e-5
"""The part by which two right versions may differ in how far weights have come."""
NOISE_FACTOR = 2.0
UNREPEATED = 50.0
"""How many times as far as its own runs from each other a version must be from an original that
does not repeat itself, to be more than chance: as a rule only one pair of runs tells of that."""
LARGEST_NOISE = 1e-4
"""The part of a value that may differ between runs of the original where it is seen first."""
NEARLY = 0.5
"""Of a number that is drawn anew this is not to be expected."""
FEWEST_VALUES = 3
LARGEST_DENOMINATOR = 2_000
OF_OPS = (".pb", ".pbtxt")
"""Files that hold the names of ops, which a right rewrite may well number otherwise."""
READ_AHEAD = "after the loops were cut short, when a generator had been read ahead of the steps"


@dataclass(frozen=True)
class Promise:
    """What is held against the evidence."""

    contract: Contract
    others: frozenset[Contract] = frozenset()
    """What the single rewrites promise, of which the whole promises the least."""

    @property
    def weights_are_exact(self) -> bool:
        rounded = Contract.ROUNDING in self.others
        return self.contract in {Contract.EXACT, Contract.SHIFTED} and not rounded

    @property
    def is_rounded(self) -> bool:
        """Whether weights are held to what rounding makes of those of the original."""
        return self.contract is not Contract.RESAMPLED and not self.weights_are_exact

    @property
    def shifts(self) -> bool:
        """Whether values may be those of before an update."""
        return Contract.SHIFTED in {self.contract, *self.others}


def judge(comparison: Comparison, promise: Promise) -> Numerics:
    """The verdict on the numbers, with its reason in one sentence."""
    rounded = not _weights_identical(comparison)
    compared = tuple(_judged(one, promise, rounded=rounded) for one in comparison.series)
    verdict, reason, broken = _overall(comparison, compared, promise)
    notes = [*comparison.notes, *_read_by_one(comparison)]
    return Numerics(
        verdict=verdict,
        contract=promise.contract,
        reason=reason,
        worst_ratio=max((one.worst_ratio for one in compared), default=0.0),
        divergence=broken,
        compared=compared,
        notes=tuple(notes),
    )


def but_for_what_comes_later(numerics: Numerics, cut_at: int) -> Numerics:
    """Of runs that were cut short while a generator was read ahead: all from the first cut on.

    What is drawn there, by a second loop that trains, say, follows on what was read ahead, which is
    more than the steps needed. Where all goes to its end nothing is read in vain.
    """
    failed = [one for one in numerics.compared if one.verdict is Verdict.FAIL]
    seen = [one for one in failed if one.kind in {Kind.FETCHED, Kind.READ}]
    first = {Kind.FETCHED: cut_at, Kind.READ: cut_at, Kind.WEIGHTS: cut_at + 1}
    if not seen or any(
        _ratio(point.distance, point.allowed) > 1.0 and point.step < first[one.kind]
        for one in failed
        if one.kind in first
        for point in one.points
    ):
        return numerics
    return replace(
        numerics,
        verdict=Verdict.INCONCLUSIVE,
        reason=f"the steps are as promised, but {seen[0].name} differs {READ_AHEAD}",
        divergence=None,
    )


def _weights_identical(comparison: Comparison) -> bool:
    kinds = {Kind.WEIGHTS, Kind.FINAL}
    return all(
        point.identical for one in comparison.series if one.kind in kinds for point in one.points
    )


# One observable.


def _judged(series: Series, promise: Promise, *, rounded: bool) -> Compared:
    of_bytes = series.raw_kind == "other file"
    if of_bytes and not _shows_by_its_bytes(series, promise, rounded=rounded):
        return Compared(series.name, series.kind, (), Verdict.PASS, 0.0, "not compared: no numbers")
    weights = series.kind in {Kind.WEIGHTS, Kind.FINAL}
    if of_bytes or promise.contract is Contract.EXACT or (promise.weights_are_exact and weights):
        return _held_to_the_bit(series)
    return _held_to_the_envelope(series, promise.contract, rounded=rounded)


def _shows_by_its_bytes(series: Series, promise: Promise, *, rounded: bool) -> bool:
    """Whether a file without numbers would be another only where something else is wrong.

    A picture or an archive may be another by a single rounding: if weights moved by one unit make
    it another, it tells nothing where weights are not the same.
    """
    if promise.contract is Contract.EXACT:
        return True
    if promise.contract is not Contract.ROUNDING or promise.shifts:
        return False
    if series.name.endswith(OF_OPS):
        return False
    steady = all(point.noise == 0.0 for point in series.points)
    return steady and not (rounded and any(point.envelope for point in series.points))


def _held_to_the_bit(series: Series) -> Compared:
    noise = max((point.noise for point in series.points), default=0.0)
    points = tuple(
        Point(one.step, one.distance, UNREPEATED * noise, one.identical) for one in series.points
    )
    found = Compared(series.name, series.kind, points, Verdict.PASS, 0.0)
    if found.identical:
        return found
    worst = max(
        _ratio(point.distance, point.allowed) if math.isfinite(point.allowed) else 0.0
        for point in points
        if not point.identical
    )
    if worst <= 1.0:
        note = "differs between runs of the original, too: nothing can be shown bit for bit"
        return replace(found, verdict=Verdict.INCONCLUSIVE, worst_ratio=worst, note=note)
    return replace(found, verdict=Verdict.FAIL, worst_ratio=math.inf)


def _held_to_the_envelope(series: Series, contract: Contract, *, rounded: bool) -> Compared:
    lowered = PRECISION if contract is Contract.PRECISION else 0.0
    quantum = _quantum(series) if rounded else 0.0
    envelope = _largest_so_far(max(point.envelope, point.noise) for point in series.points)
    floors = _largest_so_far(_floor(series, point) for point in series.points)
    chance = UNREPEATED * max(point.noise for point in series.points) if _is_noise(series) else 0.0
    points = tuple(
        Point(
            one.step,
            one.distance,
            max(FACTOR * limit, floor, quantum, chance, lowered * one.scale),
            one.identical,
        )
        for one, limit, floor in zip(series.points, envelope, floors, strict=True)
    )
    ratios = [_ratio(point.distance, point.allowed) for point in points]
    drifts = [] if chance else _drift_ratios(series, max(DRIFT_FLOOR, lowered))
    worst = max([*ratios, *drifts], default=0.0)
    verdict = Verdict.PASS if worst <= 1.0 else Verdict.FAIL
    note = ""
    if verdict is Verdict.FAIL and max(ratios, default=0.0) <= 1.0:
        far = max(point.drift for point in series.points)
        note = f"the weights go {far:.2%} further or less far than those of the original"
    return Compared(series.name, series.kind, points, verdict, worst, note)


def _floor(series: Series, point: Measured) -> float:
    """What rounding makes of a value in any case; as printed, one in its last place at least."""
    if series.raw_kind == "printed":
        return max(1.01 * point.unit, FLOOR * SINGLE * point.scale)
    if series.raw_kind == "file":  # numbers of 64 bits that come of such of 32
        return FLOOR * max(point.unit, SINGLE * point.scale)
    return FLOOR * point.unit


def _drift_ratios(series: Series, floor: float = DRIFT_FLOOR) -> list[float]:
    limits = _largest_so_far(point.drift_envelope for point in series.points)
    return [
        _ratio(point.drift, max(FACTOR * limit, floor))
        for point, limit in zip(series.points, limits, strict=True)
    ]


def _quantum(series: Series) -> float:
    """What one example more or less makes of a share, such as an accuracy; 0 if it is none.

    Once weights differ in their last place a single example may fall on the other side of a limit.
    The values of both versions have to be such shares, or they are of other examples.
    """
    theirs = {point.their_scale for point in series.points if point.their_scale is not None}
    values = {point.scale for point in series.points}
    if series.kind in {Kind.WEIGHTS, Kind.FINAL} or len(values) < FEWEST_VALUES:
        return 0.0
    values |= theirs
    if any(point.size > 1 for point in series.points) or max(values) > 1.0:
        return 0.0
    slack = max([1e-6, *(point.unit for point in series.points)])
    for denominator in range(2, LARGEST_DENOMINATOR):
        if 2 * denominator * slack > 0.1:
            return 0.0
        if all(abs(one * denominator - round(one * denominator)) <= denominator * slack
               for one in values):  # fmt: skip
            return 1.01 / denominator
    return 0.0


def _ratio(distance: float, allowed: float) -> float:
    if distance == 0.0:
        return 0.0
    if allowed == 0.0 or math.isinf(distance):
        return math.inf
    return distance / allowed


def _largest_so_far(values: Iterable[float]) -> Iterator[float]:
    largest = 0.0
    for value in values:
        largest = max(largest, value)
        yield largest


# All of them.


def _overall(
    comparison: Comparison, compared: Sequence[Compared], promise: Promise
) -> tuple[Verdict, str, Divergence | None]:
    apart = _cut_apart(comparison)
    if apart:
        return Verdict.INCONCLUSIVE, apart, None
    if promise.contract is not Contract.PRECISION:
        moved = _moved_at_the_start(comparison)
        if moved is not None:
            return *moved, None
    broken = _first_divergence(comparison, compared)
    if broken is not None:
        return Verdict.FAIL, _in_words(broken), broken
    for failed in (_missing(comparison), comparison.other_text):
        if failed:
            return Verdict.FAIL, failed, None
    instead = _read_instead(comparison)
    if instead:
        return Verdict.INCONCLUSIVE, instead, None
    unsure = [one for one in compared if one.verdict is Verdict.INCONCLUSIVE]
    if unsure:
        return Verdict.INCONCLUSIVE, f"{unsure[0].name} {unsure[0].note}", None
    noisy = _does_not_repeat_itself(comparison)
    if noisy:
        return Verdict.INCONCLUSIVE, noisy, None
    if not any(one.points for one in compared):
        return Verdict.INCONCLUSIVE, "nothing was seen that could be compared", None
    return Verdict.PASS, _what_passed(comparison, compared, promise), None


def _cut_apart(comparison: Comparison) -> str:
    for one in comparison.series:
        if one.at_once > 1 and one.counts[0] != one.counts[1]:
            return (
                f"the rewritten version makes {one.at_once} steps at once, and other steps of it "
                f"were seen: with --steps, ask for a multiple of {one.at_once} (an epoch that is "
                "none cannot be judged)"
            )
    return ""


def _moved_at_the_start(comparison: Comparison) -> tuple[Verdict, str] | None:
    """Other weights come of other random numbers; a number that is nearly the same was written."""
    for one in comparison.series:
        for point in one.points:
            if one.raw_kind != "initial" or point.distance <= max(
                FLOOR * point.unit, NOISE_FACTOR * point.noise
            ):
                continue
            if point.size == 1 and point.distance < NEARLY * point.scale:
                values = f"{point.theirs} instead of {point.ours}"
                return Verdict.FAIL, f"{one.name} begins with {values} in the rewritten version"
            return Verdict.INCONCLUSIVE, (
                f"the random stream changed: {one.name} begins with other values in the "
                "rewritten version"
            )
    return None


def _does_not_repeat_itself(comparison: Comparison) -> str:
    """What differs from run to run from the start cannot show that a rewrite is right.

    A printed number may, as the time does, and a file without numbers, which is told of by itself,
    unless there is nothing else.
    """
    for one in comparison.series:
        if one.raw_kind not in {"printed", "other file"} and _is_noise(one):
            return (
                f"the original does not repeat itself: {one.name} differs by "
                f"{one.points[0].noise:.2g} between two of its runs, from the start"
            )
    results = [one for one in comparison.series if _is_result(one)]
    if results and all(map(_is_noise, results)):
        return f"the original does not repeat itself: {results[0].name} differs from run to run"
    return ""


def _is_noise(series: Series) -> bool:
    first = series.points[0] if series.points else None
    return first is not None and not first.identical and first.noise > LARGEST_NOISE * first.scale


def _is_result(series: Series) -> bool:
    """What was computed: neither weights before the first step, nor a count that is printed."""
    if series.raw_kind == "printed":
        return any(point.unit > 0.0 for point in series.points)
    return series.raw_kind != "initial"


def _first_divergence(comparison: Comparison, compared: Sequence[Compared]) -> Divergence | None:
    """The first by step; what is printed has no step, and is named only if nothing else is."""
    found: list[tuple[int, int, Divergence]] = []
    for series, judged in zip(comparison.series, compared, strict=True):
        if judged.verdict is not Verdict.FAIL:
            continue
        steps = series.kind in {Kind.WEIGHTS, Kind.FETCHED, Kind.READ}
        place = _first_place(series, judged)
        point = series.points[place] if series.points else None
        divergence = Divergence(
            observable=judged.name,
            kind=judged.kind,
            step=point.step if point and steps else 0,
            original=point.ours if point else "",
            rewritten=point.theirs if point else "",
            ratio=judged.worst_ratio,
        )
        found.append((0 if steps else 1, divergence.step, divergence))
    return min(found, key=lambda one: one[:2])[2] if found else None


def _first_place(series: Series, judged: Compared) -> int:
    over = [
        place
        for place, point in enumerate(judged.points)
        if _ratio(point.distance, point.allowed) > 1.0 and place < len(series.points)
    ]
    if over:
        return over[0]
    drifts = _drift_ratios(series)
    return next((place for place, ratio in enumerate(drifts) if ratio > 1.0), 0)


def _in_words(broken: Divergence) -> str:
    where = f"at step {broken.step}, " if broken.step else ""
    values = f": {broken.original} became {broken.rewritten}" if broken.original else ""
    what = {
        Kind.FETCHED: "the value fetched from",
        Kind.READ: "a value read as",
        Kind.WEIGHTS: "the weights",
        Kind.FINAL: "the weights at the end,",
        Kind.PRINTED: "what is printed in",
        Kind.FILE: "what is written to",
    }[broken.kind]
    return f"{where}{what} {broken.observable} differs beyond what is promised{values}"


def _missing(comparison: Comparison) -> str:
    for kind, name in comparison.only_original:
        if kind in {"weights", "final", "initial", "file", "other file"}:
            return f"only the original has {_noun(kind)} {name}"
    for one in comparison.series:
        ours, theirs = one.counts
        if ours != theirs and one.kind is Kind.WEIGHTS:
            return (
                f"the rewritten version makes {theirs} steps with {one.name}, the original {ours}"
            )
    for kind, name in comparison.only_rewritten:
        if kind in {"weights", "final", "file", "other file"}:
            return f"only the rewritten version has {_noun(kind)} {name}"
    return ""


def _noun(kind: str) -> str:
    return "the file" if "file" in kind else "the variable"


def _read_instead(comparison: Comparison) -> str:
    """A value that only one version reads, where the other reads one that it does not."""
    for kind in ("fetched", "read"):
        ours = [name for one, name in comparison.only_original if one == kind]
        theirs = [name for one, name in comparison.only_rewritten if one == kind]
        if ours and theirs:
            return (
                f"{ours[0]} is {kind} by the original only, and {theirs[0]} by the rewritten "
                "version only: they cannot be held against each other"
            )
    return ""


def _read_by_one(comparison: Comparison) -> Iterator[str]:
    for kind, name in comparison.only_original:
        if kind in {"fetched", "read"}:
            yield f"{name} is {kind} by the original only"
    for kind, name in comparison.only_rewritten:
        if kind in {"fetched", "read"}:
            yield f"{name} is {kind} by the rewritten version only"
    for one in comparison.series:
        ours, theirs = one.read
        if ours != theirs and one.kind in {Kind.FETCHED, Kind.READ}:
            yield (
                f"{one.name} is {one.kind.value} {ours} times by the original and {theirs} times "
                "by the rewritten version; compared where both do"
            )


def _what_passed(comparison: Comparison, compared: Sequence[Compared], promise: Promise) -> str:
    points = sum(len(one.points) for one in compared)
    count = f"{points:,} values of {len(compared):,} observables"
    shifted = promise.contract is Contract.SHIFTED and promise.weights_are_exact
    if shifted and comparison.notes:
        return (
            "the weights are the same bit for bit, and so is all else once the original is given "
            "the announced values of before its updates"
        )
    identical = sum(point.identical for one in compared for point in one.points)
    if identical == points:
        return f"all {count} are the same bit for bit"
    worst = max(one.worst_ratio for one in compared)
    return (
        f"of {count} {identical:,} are the same bit for bit; the others are within "
        f"{worst:.0%} of what rounding may make of them"
    )
