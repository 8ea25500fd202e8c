"""Answers what the search asks, by running the scripts that execute what is rewritten."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfrewrite.keeping.rewrites import Place, Rewrites
from tfrewrite.keeping.search import Numbers, Pace
from tfrewrite.model import Contract
from tfrewrite.reports.summary import plural
from tfrewrite.verify import cost, subjects
from tfrewrite.verify.batch import Job
from tfrewrite.verify.experiment import Baseline, Effort, Experiment, Pair, headline
from tfrewrite.verify.failures import Inconclusive
from tfrewrite.verify.model import Speed, SpeedVerdict, Verdict, Verification, Version
from tfrewrite.verify.runs import Laboratory, Observation, Program

Told = Callable[[str, str], None]
"""Told something about a script."""
Files = tuple[tuple[str, bytes], ...]
ROOM = "see whether the temporary folder has room and may be written to"


@dataclass(frozen=True)
class Runnable:
    """A script, how it is called, and how it is to be run on one device."""

    tree: Path
    name: str
    shown: Path
    job: Job
    """Of all rewrites; its pair tells the name, and what holds for all versions."""
    contract: Contract | None
    """What is promised, if the user said so; else what the rewrites claim."""
    effort: Callable[[Contract], Effort]
    """How much is done to show such a promise."""


class Bench:
    """One script, its laboratory, and what was found of its versions; each is run once."""

    def __init__(
        self,
        script: Runnable,
        rewrites: Rewrites,
        stack: contextlib.ExitStack,
        progress: Told,
        foretell: Told,
    ) -> None:
        self.name = script.job.pair.subject.script
        self.broken: Verification | None = None
        """Why nothing can be shown by this script, where that is so."""
        self.executed: frozenset[str] = frozenset()
        self.concerns: frozenset[str] = frozenset()
        """The files whose rewrites are judged by this script."""
        self.elapsed_s = 0.0
        self._script = script
        self._rewrites = rewrites
        self._foretell = foretell
        self._effort = script.job.effort
        self._what = ""
        self._laboratory = stack.enter_context(Laboratory.opened(script.job.conditions))
        self._progress = lambda what: progress(self.name, f"{self._what}{what}")
        self._baseline = Baseline(
            script.job.pair.original, self._laboratory, self._effort, self._progress
        )
        self._experiments: dict[Files, Experiment] = {}
        self._broken: dict[Files, Verification] = {}
        self._speeds: dict[tuple[Files, Files], Speed] = {}

    def start(self) -> None:
        """Runs the original, to see whether it can be run and what it executes."""
        self._laboratory.watch = self._first
        try:
            with self._timing():
                run = self._baseline.plain(self._effort.seed)
            self.executed = frozenset(run.summary.get("executed", ()))
        except Inconclusive as stopped:
            self.broken = self._inconclusive(stopped)
        except OSError as error:
            self.broken = self._inconclusive(_of_machine(error))
        finally:
            self._laboratory.watch = None

    def _inconclusive(self, why: Inconclusive) -> Verification:
        subject = self._script.job.pair.subject
        return Verification(
            subject,
            why.verdict,
            headline(why.verdict, subject, None),
            why.reason,
            why.advice,
            output=why.output,
            elapsed_s=self.elapsed_s,
        )

    def _first(self, program: Program, run: Observation) -> None:
        del program
        self._laboratory.watch = None
        if run.is_complete:
            promise = self._script.job.pair.promise
            count = len(self._rewrites.all)
            self._foretell(self.name, cost.to_choose(run, self._effort, promise, count))

    def files(self, chosen: frozenset[Place]) -> Files:
        """What differs from the original, of the files that this script is to judge."""
        there = self._rewrites.versions(chosen)
        return tuple((name, one.data) for name, one in there.items() if name in self.concerns)

    def numbers(self, chosen: frozenset[Place]) -> Verification:
        """Of a version with these rewrites; the original is held to itself where there are none."""
        files = self.files(chosen)
        if files not in self._experiments and files not in self._broken:
            self._what = f"with {plural(self._count(chosen), 'rewrite')}, "
            pair = self._pair(chosen)
            experiment = Experiment(
                pair,
                self._laboratory,
                self._script.effort(pair.promise.contract),
                self._progress,
                self._baseline,
            )
            try:
                with self._timing():
                    experiment.examine()
                self._experiments[files] = experiment
            except OSError as error:
                self._broken[files] = self._inconclusive(_of_machine(error))
        if files in self._broken:
            return self._broken[files]
        return self._experiments[files].verification()

    def _count(self, chosen: frozenset[Place]) -> int:
        return sum(place.file in self.concerns for place in self._rewrites.made(chosen))

    def _pair(self, chosen: frozenset[Place]) -> Pair:
        script, whole = self._script, self._script.job.pair
        outcomes = [
            (name, self._rewrites.version(name, chosen).outcome) for name, _ in self.files(chosen)
        ]
        contract = script.contract or (None if outcomes else whole.promise.contract)
        pair = subjects.pair_of(script.tree, script.name, outcomes, script.shown, contract)
        subject = replace(pair.subject, script=self.name)
        return replace(pair, subject=subject, original=whole.original)

    def pace(self, fewer: frozenset[Place], more: frozenset[Place]) -> Speed:
        """How fast it is with more of them; both versions were found to hold before."""
        less, full = self.files(fewer), self.files(more)
        if (less, full) not in self._speeds:
            beside = self._count(fewer) or "original"
            self._what = f"with {plural(self._count(more), 'rewrite')} against {beside}, "
            with self._timing():
                self._speeds[less, full] = self._measured(less, full)
        return self._speeds[less, full]

    def _measured(self, less: Files, full: Files) -> Speed:
        if less == full:
            return Speed(SpeedVerdict.NO_CHANGE, "The script does not run what differs.")
        experiment = self._experiments[full]
        try:
            if not less:
                experiment.measure()
                found = experiment.verification()
                return found.speed or Speed(SpeedVerdict.NOT_MEASURED, found.reason)
            versions = {
                Version.ORIGINAL: self._experiments[less].timed(),
                Version.REWRITTEN: experiment.timed(),
            }
            stopwatch = self._effort.stopwatch(self._laboratory, self._progress)
            return stopwatch.compare(versions)
        except Inconclusive as stopped:
            return Speed(SpeedVerdict.NOT_MEASURED, stopped.reason)
        except OSError as error:
            return Speed(SpeedVerdict.NOT_MEASURED, _of_machine(error).reason)

    def verification(self, chosen: frozenset[Place]) -> Verification:
        """All that was found out about the version with these rewrites."""
        return replace(self.numbers(chosen), elapsed_s=self.elapsed_s)

    @contextlib.contextmanager
    def _timing(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.elapsed_s += time.monotonic() - began


def _of_machine(error: OSError) -> Inconclusive:
    reason = f"this machine could not do what was needed: {error}"
    return Inconclusive(Verdict.INCONCLUSIVE, reason, ROOM)


class Benches:
    """The oracle of the search: what several scripts, which share rewritten files, say together."""

    def __init__(self, benches: Sequence[Bench], rewrites: Rewrites) -> None:
        self._benches = benches
        self._rewrites = rewrites

    def made(self, chosen: frozenset[Place]) -> frozenset[Place]:
        return self._rewrites.made(chosen)

    def numbers(self, chosen: frozenset[Place]) -> Numbers:
        """The worst of what they say."""
        found = {bench: bench.numbers(chosen) for bench in self._concerned(chosen)}
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
            for bench, one in found.items():
                if one.verdict is verdict:
                    return Numbers(verdict, self._said(bench, one.reason))
        return Numbers(Verdict.PASS, "")

    def pace(self, fewer: frozenset[Place], more: frozenset[Place]) -> Pace:
        """Slower where it is for one of them; faster where it is for one, and slower for none."""
        found = {bench: bench.pace(fewer, more) for bench in self._concerned(more)}
        bench = min(
            found, key=lambda one: (_GRAVEST.index(found[one].verdict), -_ratio(found[one]))
        )
        speed = found[bench]
        evidence = self._said(bench, speed.reason)
        return Pace(speed.verdict, evidence, speed.steady or speed.whole)

    def _concerned(self, chosen: frozenset[Place]) -> list[Bench]:
        """Those that execute a file in question; of nothing, all are asked."""
        return [bench for bench in self._benches if bench.files(chosen)] or list(self._benches)

    def _said(self, bench: Bench, evidence: str) -> str:
        return evidence if len(self._benches) == 1 else f"{bench.name}: {evidence}"


_GRAVEST = (
    SpeedVerdict.SLOWER,
    SpeedVerdict.NOT_MEASURED,
    SpeedVerdict.FASTER,
    SpeedVerdict.NO_CHANGE,
)


def _ratio(speed: Speed) -> float:
    ratio = speed.steady or speed.whole
    return ratio.value if ratio else 1.0
