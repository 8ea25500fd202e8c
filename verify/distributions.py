"""Compares versions that draw other random numbers: what they come to, over several seeds.

Every run gives one number for each observable: the mean of its last quarter. The numbers of both
versions are two samples, and a rewrite is wrong where they lie further apart than chance explains.
A small difference is not seen by this; the report says so. What all runs of the original have in
common, whatever they draw, is no matter of chance: what they say beside the numbers, how many steps
they make, which files they write.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, stdev

from tfrewrite.model import Contract
from tfrewrite.verify import printed
from tfrewrite.verify.comparing import answered, texts_of
from tfrewrite.verify.model import Compared, Divergence, Kind, Numerics, Point, Verdict
from tfrewrite.verify.runs import Laboratory, Observation

LARGEST_T = 5.0
"""By chance two samples of seven are further apart in one of some thousand comparisons."""
SMALLEST_PART = 1e-3
"""Of the values themselves: a spread below this is not told from none."""
NOTE = (
    "the versions draw other random numbers, so they were compared by what they come to, over {} "
    "seeds; a difference well within the spread of the original is not seen by that"
)

FIXED = (
    "the script gives its seeds itself, so that it draws the same under each of {} seeds: what "
    "other draws come to cannot be seen"
)

KINDS = {
    "fetched": Kind.FETCHED,
    "read": Kind.READ,
    "weights": Kind.WEIGHTS,
    "file": Kind.FILE,
}

Runs = list[Mapping[str, Sequence[float]]]


def judge(laboratory: Laboratory, pairs: Sequence[tuple[Observation, Observation]]) -> Numerics:
    """The verdict on pairs of runs, one for each seed."""
    originals = _numbers(laboratory, [one for one, _ in pairs])
    rewritten = _numbers(laboratory, [one for _, one in pairs])
    if _repeats_itself(originals) and _repeats_itself(rewritten):
        return _told(Verdict.INCONCLUSIVE, FIXED.format(len(pairs)), len(pairs))
    other = next(_other_shapes(pairs), "")
    if other:
        return _told(Verdict.FAIL, other, len(pairs))
    names = [name for name in originals[0] if all(name in run for run in (*originals, *rewritten))]
    compared = [_compared(name, originals, rewritten) for name in names]
    failed = [one for one in compared if one.verdict is Verdict.FAIL]
    worst = max(compared, key=lambda one: one.worst_ratio, default=None)
    if worst is None:
        verdict, reason = Verdict.INCONCLUSIVE, "nothing was seen that could be compared"
    elif failed:
        verdict = Verdict.FAIL
        reason = f"{worst.name} comes to something else than in the original, whatever is drawn"
    else:
        verdict = Verdict.PASS
        reason = f"{len(compared):,} observables come to the same over {len(pairs)} seeds"
    return Numerics(
        verdict=verdict,
        contract=Contract.RESAMPLED,
        reason=reason,
        worst_ratio=worst.worst_ratio if worst else 0.0,
        divergence=_divergence(worst, originals, rewritten) if worst and failed else None,
        compared=tuple(compared),
        seeds=len(pairs),
        notes=(NOTE.format(len(pairs)),),
    )


def _told(verdict: Verdict, reason: str, seeds: int) -> Numerics:
    return Numerics(
        verdict=verdict,
        contract=Contract.RESAMPLED,
        reason=reason,
        worst_ratio=0.0 if verdict is Verdict.INCONCLUSIVE else math.inf,
        divergence=None,
        compared=(),
        seeds=seeds,
        notes=(NOTE.format(seeds),),
    )


def _repeats_itself(runs: Runs) -> bool:
    """Whether nothing that it came to is another under another seed."""
    return all(run == runs[0] for run in runs[1:])


def _other_shapes(pairs: Sequence[tuple[Observation, Observation]]) -> Iterator[str]:
    """What the original has under every seed, and the rewritten version has not under one."""
    for shape_of, in_words in SHAPES:
        shapes = [shape_of(original) for original, _ in pairs]
        if any(shape != shapes[0] for shape in shapes[1:]):
            continue
        for _, rewritten in pairs:
            theirs = shape_of(rewritten)
            if theirs != shapes[0]:
                yield in_words(shapes[0], theirs)


Shape = Sequence[str]


def _said(run: Observation) -> Shape:
    return [line.says for line in printed.lines(run.printed)]


def _files(run: Observation) -> Shape:
    return sorted({*texts_of(run), *_names(run, "file", "other file")})


def _names(run: Observation, *kinds: str) -> Iterator[str]:
    with (run.folder / "values.jsonl").open() as lines:
        for entry in map(json.loads, lines):
            if entry["kind"] in kinds:
                yield entry["name"]


def _steps(run: Observation) -> Shape:
    return [] if run.was_cut else [str(run.steps)]


def _other_words(ours: Shape, theirs: Shape) -> str:
    place = next(
        (place for place, (one, its) in enumerate(zip(ours, theirs, strict=False)) if one != its),
        min(len(ours), len(theirs)),
    )
    one, its = (repr(shape[place]) if place < len(shape) else "nothing" for shape in (ours, theirs))
    return f"standard output: {its} instead of {one}, whatever is drawn"


def _other_files(ours: Shape, theirs: Shape) -> str:
    missing = {*ours} - {*theirs}
    if missing:
        return f"only the original writes the file {min(missing)}, whatever is drawn"
    return f"only the rewritten version writes the file {min({*theirs} - {*ours})}"


def _other_steps(ours: Shape, theirs: Shape) -> str:
    one, its = (shape[0] if shape else "other" for shape in (ours, theirs))
    return f"the rewritten version makes {its} steps, the original {one}, whatever is drawn"


SHAPES: tuple[tuple[Callable[[Observation], Shape], Callable[[Shape, Shape], str]], ...] = (
    (_steps, _other_steps),
    (_said, _other_words),
    (_files, _other_files),
)


def _compared(name: str, originals: Runs, rewritten: Runs) -> Compared:
    ours, theirs = ([come_to(run[name]) for run in runs] for runs in (originals, rewritten))
    distance = abs(fmean(ours) - fmean(theirs))
    allowed = LARGEST_T * error_of_difference(ours, theirs)
    ratio = distance / allowed if allowed else (math.inf if distance else 0.0)
    if not math.isfinite(distance):
        alike = [math.isfinite(one) for one in ours] == [math.isfinite(one) for one in theirs]
        ratio = 0.0 if alike else math.inf
    kind = KINDS.get(name.split(" ", 1)[0], Kind.PRINTED)
    verdict = Verdict.PASS if ratio <= 1.0 else Verdict.FAIL
    point = Point(0, distance, allowed, distance == 0.0)
    return Compared(name, kind, (point,), verdict, ratio)


def come_to(values: Sequence[float]) -> float:
    """The mean of the last quarter."""
    return fmean(values[-max(1, len(values) // 4) :])


def error_of_difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The standard error of the difference of two means."""
    least = SMALLEST_PART * max(abs(fmean(ours)), abs(fmean(theirs)))
    spread = [max(stdev(one), least) / math.sqrt(len(one)) for one in (ours, theirs)]
    return math.hypot(*spread)


def _numbers(laboratory: Laboratory, runs: Sequence[Observation]) -> Runs:
    asked = {"scalars": [str(one.folder) for one in runs]}
    found: list[dict[str, list[float]]] = answered(laboratory, asked)
    return [{**values, **_printed(run)} for values, run in zip(found, runs, strict=True)]


def _printed(run: Observation) -> dict[str, list[float]]:
    """The numbers on standard output, and in the texts that were written."""
    texts = [("printed", run.printed)]
    texts += [(f"file {name}:", text) for name, text in texts_of(run).items()]
    found: dict[str, list[float]] = {}
    for where, text in texts:
        for line in printed.lines(text):
            for place, number in enumerate(line.numbers, 1):
                if "." in number.text or "e" in number.text.lower():
                    found.setdefault(f"{where} {line.says} [{place}]", []).append(number.value)
    return found


def _divergence(worst: Compared, originals: Runs, rewritten: Runs) -> Divergence:
    ours, theirs = ([come_to(run[worst.name]) for run in runs] for runs in (originals, rewritten))
    return Divergence(
        observable=worst.name,
        kind=worst.kind,
        step=0,
        original=f"{fmean(ours):.6g}",
        rewritten=f"{fmean(theirs):.6g}",
        ratio=worst.worst_ratio,
    )
