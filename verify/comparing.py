"""Measures how far runs are apart: what the probe recorded, and what was printed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tfrewrite.verify import printed
from tfrewrite.verify.model import Kind
from tfrewrite.verify.runs import Laboratory, Observation

KINDS = {
    "fetched": Kind.FETCHED,
    "read": Kind.READ,
    "weights": Kind.WEIGHTS,
    "initial": Kind.WEIGHTS,
    "final": Kind.FINAL,
    "file": Kind.FILE,
    "other file": Kind.FILE,
}

ENDINGS = {"returned": "by itself", "exit": "by sys.exit", "os._exit": "by os._exit"}
"""How a complete run may end, in words."""
UNSTEADY = "{}: not compared, it is no number and differs between runs of the original"
KEPT_LONGER = "{}: kept longer by the rewritten version; the original had forgotten it by its end"
LASTING = ("weights", "final")
NOT_COMPARED = "{}: lines that differ between runs of the original are not compared"


class ComparingError(Exception):
    """The records could not be read."""


@dataclass(frozen=True)
class Measured:
    """One observable at one moment. Distances are in its unit, infinite where nothing fits."""

    step: int
    identical: bool
    distance: float
    noise: float
    """Between two runs of the original."""
    envelope: float
    """Between the original and itself with its weights moved by one unit in the last place."""
    scale: float
    """The largest number of the observable."""
    unit: float
    """What rounding alone makes of it: a unit in the last place, of the type or as printed."""
    drift: float = 0.0
    drift_envelope: float = 0.0
    ours: str = ""
    theirs: str = ""
    size: int = 1
    their_scale: float | None = None
    """Of a single number of the rewritten version; None where it is that of the original."""


@dataclass(frozen=True)
class Series:
    """One observable over the run of both versions."""

    name: str
    kind: Kind
    raw_kind: str
    points: tuple[Measured, ...]
    counts: tuple[int, int]
    read: tuple[int, int] = (0, 0)
    """How often each version has it, where only some of these have a counterpart."""
    at_once: int = 1
    """Of weights: how many steps the rewritten version makes before they can be seen again."""


@dataclass(frozen=True)
class Comparison:
    """All observables, and those that only one version has."""

    series: tuple[Series, ...]
    only_original: tuple[tuple[str, str], ...] = ()
    only_rewritten: tuple[tuple[str, str], ...] = ()
    other_text: str = ""
    """The first line that says something else, in words."""
    notes: tuple[str, ...] = field(default=())
    unsteady: tuple[str, ...] = ()
    """What was left out, as it is no number and differs between runs of the original."""

    @property
    def is_identical(self) -> bool:
        return not (self.only_original or self.only_rewritten or self.other_text) and all(
            one.counts[0] == one.counts[1] and all(point.identical for point in one.points)
            for one in self.series
        )


def compare(
    laboratory: Laboratory,
    original: Observation,
    rewritten: Observation,
    *,
    again: Sequence[Observation] = (),
    nudged: Sequence[Observation] = (),
) -> Comparison:
    """`again` are more runs of the original, `nudged` those with moved weights."""
    answer = _measured(laboratory, original, rewritten, again, nudged)
    unsteady = [one["name"] for one in answer["series"] if _is_unsteady(one)]
    series = [_series(one) for one in answer["series"] if not _is_unsteady(one)]
    texts = _texts(original, rewritten, again, nudged)
    text_series = [one for each in texts for one in each.series]
    other_text = next((one.other for one in texts if one.other), "")
    other_text = other_text or _other_ending(original, rewritten)
    forgotten = frozenset(original.summary.get("forgotten", ()))
    only_rewritten = [(kind, name) for kind, name in answer["only_rewritten"]]
    kept = [one for one in only_rewritten if one[0] in LASTING and one[1] in forgotten]
    return Comparison(
        (*series, *text_series),
        tuple((kind, name) for kind, name in answer["only_original"]),
        tuple(one for one in only_rewritten if one not in kept),
        other_text,
        tuple(note for one in texts for note in one.notes)
        + _passing(answer["passing"])
        + tuple(map(KEPT_LONGER.format, dict.fromkeys(name for _, name in kept)))
        + tuple(map(UNSTEADY.format, unsteady)),
        tuple(unsteady),
    )


def _is_unsteady(found: Mapping[str, Any]) -> bool:
    """A text, such as a summary of weights that the same run updates, that tells nothing.

    How far two texts are apart is not known: that they differ shows something only if those of the
    original do not, with its weights moved or not.
    """
    points = found["points"]
    return (
        found["is_text"]
        and not all(one["identical"] for one in points)
        and any(one["noise"] is None or one["envelope"] is None for one in points)
    )


def _passing(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"seen in one version only, and not trained: {', '.join(names)}",)


def read_with_updates(run: Observation) -> dict[str, list[bool]]:
    """Of each tensor that is ever fetched together with an update: which of the times it is."""
    found: dict[str, list[bool]] = {}
    with (run.folder / "values.jsonl").open() as lines:
        for entry in map(json.loads, lines):
            if entry["kind"] == "fetched":
                found.setdefault(entry["name"], []).append(entry.get("of_update", False))
    return {name: times for name, times in found.items() if any(times)}


def read_early(late: Comparison, early: Comparison) -> Comparison:
    """The weights as the original has them, and all else as it has it if it reads some early."""
    kinds = {Kind.WEIGHTS, Kind.FINAL}
    moved = [
        one.name
        for one in late.series
        if one.kind in {Kind.FETCHED, Kind.PRINTED} and not all(p.identical for p in one.points)
    ]
    return replace(
        early,
        series=(
            *(one for one in late.series if one.kind in kinds),
            *(
                _with_noise_of(one, late)
                for one in early.series
                if one.kind not in kinds and one.name not in late.unsteady
            ),
        ),
        notes=(
            *early.notes,
            *map(UNSTEADY.format, late.unsteady),
            *(f"{name}: of before the update of the same step" for name in moved),
        ),
    )


def _with_noise_of(series: Series, late: Comparison) -> Series:
    """Two runs of the original that read late tell how far it repeats itself."""
    own = next(
        (one for one in late.series if (one.name, one.kind) == (series.name, series.kind)), None
    )
    if own is None or len(own.points) != len(series.points):
        return series
    points = (
        replace(point, noise=its.noise)
        for point, its in zip(series.points, own.points, strict=True)
    )
    return replace(series, points=tuple(points))


def _other_ending(original: Observation, rewritten: Observation) -> str:
    ours, theirs = (ENDINGS[str(run.summary.get("ended"))] for run in (original, rewritten))
    return "" if ours == theirs else f"the rewritten version ends {theirs}, the original {ours}"


def _measured(
    laboratory: Laboratory,
    original: Observation,
    rewritten: Observation,
    again: Sequence[Observation],
    nudged: Sequence[Observation],
) -> Mapping[str, Any]:
    found = answered(
        laboratory,
        {
            "original": str(original.folder),
            "rewritten": str(rewritten.folder),
            "again": [str(one.folder) for one in again],
            "nudged": [str(one.folder) for one in nudged],
        },
    )
    assert isinstance(found, dict)
    return found


def answered(laboratory: Laboratory, asked: Mapping[str, Any]) -> Any:
    """What `compare.py` makes of records, in the interpreter of the script."""
    question, answer = laboratory.file("compare.json"), laboratory.file("compared.json")
    question.write_text(json.dumps(asked))
    result = laboratory.compute("compare.py", str(question), str(answer))
    if not result.succeeded:
        raise ComparingError(f"the records {result.describe()}: {result.stderr[-2000:]}")
    return json.loads(answer.read_text())


def _series(found: Mapping[str, Any]) -> Series:
    return Series(
        found["name"],
        KINDS[found["kind"]],
        found["kind"],
        tuple(_point(one) for one in found["points"]),
        (found["counts"][0], found["counts"][1]),
        (found["read"][0], found["read"][1]),
        found["at_once"],
    )


def _point(found: Mapping[str, Any]) -> Measured:
    distance = _number(found.get("distance"))
    scale = found.get("scale", 0.0)
    return Measured(
        step=found["step"],
        identical=found.get("identical", distance == 0.0),
        distance=distance,
        noise=_number(found.get("noise", 0.0)),
        envelope=_number(found.get("envelope", 0.0)),
        scale=scale,
        unit=scale * found.get("ulp", 0.0),
        drift=_number(found.get("drift", 0.0)),
        drift_envelope=_number(found.get("drift_envelope", 0.0)),
        ours=found.get("shown", ""),
        theirs=found.get("other", found.get("shown", "")),
        size=found.get("size", 1),
        their_scale=found.get("other_scale"),
    )


def _number(value: float | None) -> float:
    return math.inf if value is None else value


# What was printed, and texts that were written to files.


@dataclass(frozen=True)
class Texts:
    """The numbers of one text in all runs."""

    series: tuple[Series, ...] = ()
    other: str = ""
    notes: tuple[str, ...] = ()


def _texts(
    original: Observation,
    rewritten: Observation,
    again: Sequence[Observation],
    nudged: Sequence[Observation],
) -> list[Texts]:
    found = [
        _text(
            "standard output",
            Kind.PRINTED,
            original.printed,
            rewritten.printed,
            [one.printed for one in again],
            [one.printed for one in nudged],
        )
    ]
    ours, theirs = texts_of(original), texts_of(rewritten)
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            which = "the original" if name in ours else "the rewritten version"
            found.append(Texts(other=f"only {which} writes the file {name}"))
            continue
        found.append(
            _text(
                name,
                Kind.FILE,
                ours[name],
                theirs[name],
                [texts_of(one).get(name, "") for one in again],
                [texts_of(one).get(name, "") for one in nudged],
            )
        )
    return found


def texts_of(observation: Observation) -> dict[str, str]:
    """The texts that a run wrote to files, by name."""
    folder = observation.folder / "files"
    if not folder.is_dir():
        return {}
    return {path.name: path.read_text(errors="replace") for path in sorted(folder.iterdir())}


def _text(
    where: str, kind: Kind, ours: str, theirs: str, again: list[str], nudged: list[str]
) -> Texts:
    mine, other = list(printed.lines(ours)), list(printed.lines(theirs))
    same = [list(printed.lines(text)) for text in again]
    moved = [list(printed.lines(text)) for text in nudged]
    notes: list[str] = []
    odd = _odd_places(mine, same) if len({len(run) for run in (mine, other, *same)}) == 1 else set()
    if odd:
        notes.append(NOT_COMPARED.format(where))
        mine, other = _without(mine, odd), _without(other, odd)
        same, moved = [_without(run, odd) for run in same], [_without(run, odd) for run in moved]
    unstable = {
        line.says for run in same if not printed.same_shape(mine, run) for line in _odd(mine, run)
    }
    if unstable:
        notes.append(NOT_COMPARED.format(where))
        mine = [line for line in mine if line.says not in unstable]
        other = [line for line in other if line.says not in unstable]
        same = [[line for line in run if line.says not in unstable] for run in same]
        moved = [[line for line in run if line.says not in unstable] for run in moved]
    if not printed.same_shape(mine, other):
        return Texts(other=_first_other(where, mine, other), notes=tuple(notes))
    same = [run for run in same if printed.same_shape(mine, run)]
    moved = [run for run in moved if printed.same_shape(mine, run)]
    series: dict[str, list[Measured]] = {}
    for place, (line, its) in enumerate(zip(mine, other, strict=True)):
        for index, (number, theirs_number) in enumerate(
            zip(line.numbers, its.numbers, strict=True)
        ):
            series.setdefault(f"{where}: {line.says} [{index + 1}]", []).append(
                _printed_point(
                    number,
                    theirs_number,
                    [run[place].numbers[index] for run in same],
                    [run[place].numbers[index] for run in moved],
                )
            )
    return Texts(
        tuple(
            Series(name, kind, "printed", _with_units(points), (len(points), len(points)))
            for name, points in series.items()
        ),
        notes=tuple(notes),
    )


def _with_units(points: list[Measured]) -> tuple[Measured, ...]:
    """With what one in the last place is worth where numbers are printed as long as they need.

    There 3.24 stands beside 3.239280038, and has as many digits; they only happen to be zero.
    """
    words = [word for one in points for word in (one.ours, one.theirs)]
    if len({printed.decimals(word) for word in words} - {None}) < 2:
        return tuple(points)
    digits = max(map(printed.digits, words))
    largest = max(one.scale for one in points)
    return tuple(
        replace(one, unit=printed.last_place(one.scale or largest, digits)) for one in points
    )


def _odd_places(mine: list[printed.Line], same: list[list[printed.Line]]) -> set[int]:
    """Where the runs of the original say different things: a name that is made up, a path."""
    return {
        place
        for run in same
        for place, (one, its) in enumerate(zip(mine, run, strict=True))
        if one.says != its.says
    }


def _without(run: list[printed.Line], places: set[int]) -> list[printed.Line]:
    return [line for place, line in enumerate(run) if place not in places]


def _odd(mine: list[printed.Line], run: list[printed.Line]) -> list[printed.Line]:
    ours, theirs = {line.says for line in mine}, {line.says for line in run}
    return [line for line in (*mine, *run) if line.says not in ours & theirs]


def _first_other(where: str, mine: list[printed.Line], other: list[printed.Line]) -> str:
    for one, its in zip(mine, other, strict=False):
        if one.says != its.says:
            return f"{where}, line {one.number}: {its.text!r} instead of {one.text!r}"
    if len(mine) > len(other):
        return f"{where}: ends before line {mine[len(other)].number}: {mine[len(other)].text!r}"
    return f"{where}: goes on with {other[len(mine)].text!r} where the original ends"


def _printed_point(
    number: printed.Printed,
    other: printed.Printed,
    again: list[printed.Printed],
    nudged: list[printed.Printed],
) -> Measured:
    def apart(one: printed.Printed) -> float:
        if one.text == number.text:
            return 0.0
        gap = abs(one.value - number.value)
        return gap if math.isfinite(gap) else math.inf

    return Measured(
        step=number.line,
        identical=number.text == other.text,
        distance=apart(other),
        noise=max(map(apart, again), default=0.0),
        envelope=max(map(apart, nudged), default=0.0),
        scale=abs(number.value) if math.isfinite(number.value) else 0.0,
        unit=max(number.unit, other.unit),
        ours=number.text,
        theirs=other.text,
        their_scale=abs(other.value) if math.isfinite(other.value) else None,
    )
