"""Which rewrites are kept, and why: the scripts that share files are asked together."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tfrewrite.keeping.finding import Found, Script
from tfrewrite.keeping.rewrites import Place, Rewrites
from tfrewrite.keeping.search import Choice, Fate, Ground, choose
from tfrewrite.keeping.trials import Bench, Benches, Runnable, Told
from tfrewrite.model import Contract
from tfrewrite.registry import all_rules
from tfrewrite.reports.summary import plural
from tfrewrite.verify.experiment import headline
from tfrewrite.verify.model import Change, Subject, Trial, Verdict, Verification

MOST_ROUNDS = 3
"""How often rewrites are looked for that had no place beside the dropped ones."""
SETTLED = frozenset({Ground.CONTRACT, Ground.SLOWER, Ground.NO_GAIN})
"""Grounds that leave room for others: something else may be done in the same place."""
UNSHOWN = frozenset({Ground.CONTRACT, Ground.NOT_SHOWN, Ground.NOT_EXECUTED})

RunnablesOf = Callable[[Script], Sequence[Runnable]]


@dataclass(frozen=True)
class Wanted:
    """What is asked of a rewrite that is kept."""

    timed: bool = True
    must_gain: bool = False
    """Of each; of rules that may make a script slower it is asked in any case."""


@dataclass(frozen=True)
class Decision:
    """Those that are kept, what became of each, and the evidence script by script."""

    kept: frozenset[Place] = frozenset()
    fates: dict[Place, Fate[Place]] = field(default_factory=dict)
    verifications: tuple[Verification, ...] = ()

    @property
    def all_shown(self) -> bool:
        """Whether there is evidence for each, and no promise was broken."""
        return not any(fate.ground in UNSHOWN for fate in self.fates.values()) and not any(
            one.verdict is Verdict.INCONCLUSIVE for one in self.verifications
        )


def decide(
    found: Found, runnables: RunnablesOf, wanted: Wanted, progress: Told, foretell: Told
) -> Decision:
    """Runs what is needed to tell. Nothing is written outside of temporary folders."""
    with contextlib.ExitStack() as stack:
        benches = {
            Bench(runnable, found.rewrites, stack, progress, foretell): script
            for script in found.scripts
            for runnable in runnables(script)
        }
        for bench in benches:
            bench.start()
        return _Deciding(found.rewrites, benches, wanted).decision()


class _Deciding:
    """Scripts that can be run, put together by the files that they share."""

    def __init__(self, rewrites: Rewrites, benches: dict[Bench, Script], wanted: Wanted) -> None:
        self._rewrites = rewrites
        self._benches = benches
        self._wanted = wanted
        self._fates: dict[Place, Fate[Place]] = {}
        self._kept: frozenset[Place] = frozenset()

    def decision(self) -> Decision:
        working = [bench for bench in self._benches if bench.broken is None]
        for bench in working:
            bench.concerns = frozenset(self._rewrites.files) & bench.executed
        executed = frozenset(name for bench in working for name in bench.concerns)
        for name in self._rewrites.files:
            if name not in executed:
                self._leave(name)
        for benches in _sharing([bench for bench in working if bench.concerns]):
            self._choose(benches)
        return Decision(self._kept, self._fates, tuple(self._verifications()))

    def _leave(self, name: str) -> None:
        """What nobody could show is not written."""
        broken = [
            bench
            for bench, script in self._benches.items()
            if bench.broken is not None and name in script.imports
        ]
        ground = Ground.NOT_SHOWN if broken else Ground.NOT_EXECUTED
        evidence = NOBODY
        if broken and broken[0].broken is not None:
            evidence = f"{broken[0].name}: {broken[0].broken.reason}"
        places = frozenset(self._places({name}))
        self._fates |= {place: Fate(ground, evidence, places) for place in places}

    def _choose(self, benches: Sequence[Bench]) -> None:
        names = {name for bench in benches for name in bench.concerns}
        oracle = Benches(benches, self._rewrites)
        choice = self._chosen(self._places(names), oracle, frozenset())
        kept, fates = choice.kept, choice.fates
        for _ in range(MOST_ROUNDS):
            dropped = [place for place in fates if place not in kept]
            new = self._rewrites.new_without(dropped, kept)
            if not new or not any(fates[place].ground in SETTLED for place in dropped):
                break
            more = self._chosen(new, oracle, kept)
            fates = {**fates, **more.fates}
            if not kept <= more.kept:
                fates |= {place: Fate(Ground.NOT_SHOWN, BESIDE, frozenset(new)) for place in new}
                break
            kept = more.kept
        self._kept |= kept
        self._fates |= fates

    def _chosen(
        self, places: Sequence[Place], oracle: Benches, base: frozenset[Place]
    ) -> Choice[Place]:
        wanted = self._wanted
        losing = {rule.code for rule in all_rules() if rule.may_lose}
        must = frozenset(
            place for place in (*base, *places) if wanted.must_gain or place.rule in losing
        )
        return choose(places, oracle, base=base, timed=wanted.timed, must_gain=must)

    def _places(self, names: Iterable[str]) -> list[Place]:
        wanted = set(names)
        return [place for place in self._rewrites.all if place.file in wanted]

    # What is told of it.

    def _verifications(self) -> Iterator[Verification]:
        for bench, script in self._benches.items():
            if bench.broken is not None:
                changes = self._changes(script.imports, script.name)
                subject = _with(bench.broken.subject, changes)
                kept = any(change.trial and change.trial.kept for change in changes)
                told = "" if kept else "nothing is kept: "
                yield replace(
                    bench.broken, subject=subject, headline=f"{told}{bench.broken.headline}"
                )
            elif bench.concerns:
                yield self._verified(bench, script)
        for name in self._rewrites.files:
            if not any(name in one.concerns for one in self._benches) and not any(
                one.broken is not None and name in script.imports
                for one, script in self._benches.items()
            ):
                yield self._unverified(name)

    def _verified(self, bench: Bench, script: Script) -> Verification:
        """Of what is kept; where that is nothing, of what was tried."""
        mine = frozenset(place for place in self._kept if place.file in bench.concerns)
        tried = [place for place in self._fates if place.file in bench.concerns]
        found = bench.verification(mine or frozenset(self._places(bench.concerns)))
        subject = _with(found.subject, self._changes(bench.concerns, script.name))
        kept = f"{len(mine)} of {plural(len(tried), 'rewrite')} kept" if mine else "nothing is kept"
        return replace(found, subject=subject, headline=f"{kept}: {found.headline}")

    def _unverified(self, name: str) -> Verification:
        path = self._rewrites.files[name].path
        subject = Subject(path, path, f"{path} (rewritten)", Contract.EXACT)
        subject = _with(subject, self._changes([name], name))
        verdict = Verdict.INCONCLUSIVE
        weakest = max((one.contract for one in subject.changes), key=list(Contract).index)
        subject = replace(subject, contract=weakest)
        advice = "name the script that executes it, in [tool.tfrewrite.verify], with its arguments"
        told = f"nothing is kept: {headline(verdict, subject, None)}"
        return Verification(subject, verdict, told, NOBODY, advice)

    def _changes(self, names: Iterable[str], script: str) -> list[Change]:
        """All that was tried in some files, each with what became of it."""
        wanted = set(names)
        shares = _shares(self._fates)
        return [
            Change(
                finding.rule,
                finding.name,
                place.line,
                _where(place, script) + finding.message,
                finding.contract,
                finding.changes,
                _trial(place, self._fates[place], shares.get(place)),
            )
            for place in sorted(self._fates, key=lambda one: (one.file, one.cell, *one))
            if place.file in wanted
            for finding in self._rewrites.findings(place)
            if finding.contract is not None
        ]


def _where(place: Place, script: str) -> str:
    """What a line alone does not tell: a file other than the script, a cell."""
    file = "" if place.file == script else f"{place.file}: "
    return f"{file}cell {place.cell}: " if place.cell else file


BESIDE = "it takes the place of one that was kept before"
NOBODY = "no script that was run executes this file, so that nothing was shown of it"


def _sharing(benches: Sequence[Bench]) -> list[list[Bench]]:
    """Those that execute the same rewritten files, directly or over others, together."""
    groups: list[list[Bench]] = []
    for bench in benches:
        near = [group for group in groups if any(one.concerns & bench.concerns for one in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(one for group in near for one in group), bench])
    return groups


def _shares(fates: dict[Place, Fate[Place]]) -> dict[Place, float]:
    """Parts of the gain, in logarithms: two that make it twice as fast each have a half."""
    gains = {
        fate.of: math.log(fate.gain.value)
        for fate in fates.values()
        if fate.ground is Ground.FASTER and fate.gain is not None and fate.gain.value > 1
    }
    total = math.fsum(gains.values())
    return {
        place: gains[fate.of] / total
        for place, fate in fates.items()
        if fate.ground is Ground.FASTER and fate.of in gains
    }


def _trial(place: Place, fate: Fate[Place], share: float | None) -> Trial:
    return Trial(
        fate.ground.keeps,
        fate.ground.value,
        fate.evidence,
        fate.gain,
        share,
        len(fate.of - {place}),
    )


def _with(subject: Subject, changes: Sequence[Change]) -> Subject:
    return replace(subject, changes=tuple(changes))
