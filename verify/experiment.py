"""Verifies one pair of versions: which runs are made, in which order, and when it is enough.

The numbers come first. Where both versions do the same bit for bit, two runs have shown it; else
the original is run again, to see whether it repeats itself, and with moved weights, to see how far
rounding takes it. Times are measured only of versions that compute the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tfrewrite.model import Contract
from tfrewrite.verify import failures, growth, judging, timing
from tfrewrite.verify.comparing import ComparingError, Comparison, compare
from tfrewrite.verify.model import (
    Environment,
    Growth,
    Numerics,
    Speed,
    SpeedVerdict,
    Subject,
    TimedRun,
    Verdict,
    Verification,
    Version,
)
from tfrewrite.verify.runs import Laboratory, Observation, Program

STEPS = 40
WHOLE_BUDGET_S = 5.0
"""A script that comes to its own end within this time after its first step is not cut short."""
NUDGED_RUNS = 3
TIMED_RUNS = 3
SEED = 1
SEEDS_FOR_DISTRIBUTIONS = 5


@dataclass(frozen=True)
class Effort:
    """How much is done. `steps` None is: all, if that is quick, else a few dozen; 0 is all."""

    steps: int | None = None
    seeds: int = 1
    runs: int = TIMED_RUNS
    nudged: int = NUDGED_RUNS
    timed: bool = True


@dataclass(frozen=True)
class Pair:
    """Two versions of a script, and what is promised of the second."""

    subject: Subject
    original: Program
    rewritten: Program
    promise: judging.Promise


Progress = Callable[[str], None]


class Inconclusive(Exception):  # noqa: N818  it is no error
    """The runs cannot tell; says why, what to do, and what the run printed."""

    def __init__(self, verdict: Verdict, reason: str, advice: str = "", output: str = "") -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
        self.advice = advice
        self.output = output


def verify(pair: Pair, laboratory: Laboratory, effort: Effort, progress: Progress) -> Verification:
    """Makes the runs and gives the verdict; never raises for what a script does."""
    experiment = Experiment(pair, laboratory, effort, progress)
    experiment.examine()
    experiment.measure()
    return experiment.verification()


class Experiment:
    """First `examine` the numbers, then `measure` the times; neither raises for what scripts do."""

    def __init__(
        self, pair: Pair, laboratory: Laboratory, effort: Effort, progress: Progress
    ) -> None:
        self._pair = pair
        self._laboratory = laboratory
        self._effort = effort
        self._progress = progress
        self._began = time.monotonic()
        self._environment: Environment | None = None
        self._growth: tuple[Growth, ...] = ()
        self._numerics: Numerics | None = None
        self._speed: Speed | None = None
        self._observed: dict[Version, Observation] = {}
        self._stopped: Inconclusive | None = None

    def examine(self) -> None:
        """Compares the numbers of both versions."""
        try:
            self._numerics = self._examined()
        except Inconclusive as stopped:
            self._stopped = stopped

    def measure(self) -> None:
        """Compares the times, where the numbers are right; nothing else should run meanwhile."""
        if self._numerics is None:
            return
        try:
            self._speed = self._timed()
        except Inconclusive as stopped:
            self._stopped = stopped

    def verification(self) -> Verification:
        stopped, numerics = self._stopped, self._numerics
        if stopped is not None:
            verdict, reason = stopped.verdict, stopped.reason
        else:
            assert numerics is not None
            verdict, reason = numerics.verdict, numerics.reason
        return Verification(
            subject=self._pair.subject,
            verdict=verdict,
            headline=headline(verdict, self._pair.subject, self._speed),
            reason=reason,
            advice=(stopped.advice if stopped else "") or _advice(verdict),
            numerics=numerics,
            speed=self._speed,
            growth=self._growth,
            environment=self._environment,
            output=stopped.output if stopped else "",
            elapsed_s=time.monotonic() - self._began,
        )

    # The numbers.

    def _examined(self) -> Numerics:
        original, steps = self._first_run()
        self._environment = growth.environment(original, self._laboratory.conditions)
        self._require_device(original)
        found: list[Numerics] = []
        rewritten = original
        for number in range(max(1, self._effort.seeds)):
            seed = SEED + number
            if number:
                original = self._observe(self._pair.original, "original", steps, seed)
            numerics, rewritten = self._compared(original, steps, seed)
            found.append(numerics)
            if numerics.verdict is not Verdict.PASS:
                break
        worst = max(found, key=lambda one: (one.verdict is not Verdict.PASS, one.worst_ratio))
        self._observed = {Version.ORIGINAL: original, Version.REWRITTEN: rewritten}
        self._growth = growth.of(self._observed, ())
        return replace(worst, steps=original.steps, whole=not original.was_cut, seeds=len(found))

    def _require_device(self, run: Observation) -> None:
        seen = run.summary.get("environment", {}).get("devices", [])
        if self._laboratory.conditions.device == "gpu" and "GPU" not in seen:
            there = ", ".join(map(str, seen)) or "nothing"
            raise Inconclusive(
                Verdict.INCONCLUSIVE,
                f"a GPU was asked for, and TensorFlow saw {there}",
                "use --device cpu, or an interpreter whose TensorFlow finds the GPU",
            )

    def _first_run(self) -> tuple[Observation, int]:
        """The original, and after how many steps all further runs are to be cut short."""
        if self._effort.steps is not None:
            steps = self._effort.steps
            return self._observe(self._pair.original, "original", steps, SEED), steps
        first = self._observe(self._pair.original, "original", 0, SEED, budget_s=WHOLE_BUDGET_S)
        if not first.was_cut:
            return first, 0
        return self._observe(self._pair.original, "original", STEPS, SEED), STEPS

    def _compared(
        self, original: Observation, steps: int, seed: int
    ) -> tuple[Numerics, Observation]:
        pair, laboratory = self._pair, self._laboratory
        shifts = pair.promise.contract is Contract.SHIFTED
        rewritten = self._observe(
            pair.rewritten, "rewritten", steps, seed, before=() if shifts else None
        )
        comparison = self._measured(original, rewritten)
        if comparison.is_identical:
            return judging.judge(comparison, pair.promise), rewritten
        again = [self._observe(pair.original, "original, again", steps, seed)]
        nudged: list[Observation] = []
        before: Observation | None = None
        if shifts:
            names = tuple(
                one.name for one in comparison.series if one.raw_kind == "fetched"
            ) + tuple(name for kind, name in comparison.only_original if kind == "fetched")
            before = self._observe(
                pair.original, "original, read before updates", steps, seed, before=names
            )
        elif not pair.promise.weights_are_exact:
            nudged = [
                self._observe(
                    pair.original, f"original, moved ({number + 1})", steps, seed, nudge=number
                )
                for number in range(self._effort.nudged)
            ]
        try:
            comparison = compare(
                laboratory, original, rewritten, again=again, nudged=nudged, before=before
            )
        except ComparingError as error:
            raise Inconclusive(Verdict.INCONCLUSIVE, str(error)) from error
        return judging.judge(comparison, pair.promise), rewritten

    def _measured(self, original: Observation, rewritten: Observation) -> Comparison:
        try:
            return compare(self._laboratory, original, rewritten)
        except ComparingError as error:
            raise Inconclusive(Verdict.INCONCLUSIVE, str(error)) from error

    def _observe(
        self,
        program: Program,
        what: str,
        steps: int,
        seed: int,
        *,
        budget_s: float = 0.0,
        nudge: int | None = None,
        before: tuple[str, ...] | None = None,
    ) -> Observation:
        self._progress(f"numbers: {what}")
        run = self._laboratory.observe(
            program, seed=seed, steps=steps, budget_s=budget_s, nudge=nudge, before=before
        )
        if not run.is_complete:
            self._failed(run, of_original=program is self._pair.original)
        return run

    def _failed(self, run: Observation, *, of_original: bool) -> None:
        why = failures.explain(run)
        if of_original:
            raise Inconclusive(
                Verdict.INCONCLUSIVE, f"the original {why.reason}", why.advice, why.output
            )
        verdict = Verdict.INCONCLUSIVE if why.is_ours else Verdict.FAIL
        reason = f"the rewritten version {why.reason}; the original does not"
        raise Inconclusive(verdict, reason, why.advice, why.output)

    # The times.

    def _timed(self) -> Speed:
        assert self._numerics is not None
        if self._numerics.verdict is not Verdict.PASS:
            reason = "times are not compared where the numbers are not shown to be right"
            return Speed(SpeedVerdict.NOT_MEASURED, reason)
        if not self._effort.timed:
            return Speed(SpeedVerdict.NOT_MEASURED, "only the numbers were asked for")
        runs: list[TimedRun] = []
        programs = {
            Version.ORIGINAL: self._pair.original,
            Version.REWRITTEN: self._pair.rewritten,
        }
        order = timing.schedule(self._effort.runs)
        for number, version in enumerate(order, 1):
            self._progress(f"times: {version.value} ({number} of {len(order)})")
            run = self._laboratory.time(programs[version], self._observed[version], seed=SEED)
            if not run.is_complete:
                self._failed(run, of_original=version is Version.ORIGINAL)
            runs.append(growth.timed_run(run, version, number))
        self._growth = growth.of(self._observed, runs)
        return timing.judge(runs)


def headline(verdict: Verdict, subject: Subject, speed: Speed | None) -> str:
    """The verdict in one line."""
    promise = subject.contract.value
    if verdict is Verdict.FAIL:
        return f"the rewritten version does not keep its promise ({promise})"
    if verdict is Verdict.INCONCLUSIVE:
        return f"nothing was shown about the promise ({promise})"
    return f"computes the same ({promise}){_pace(speed)}"


def _pace(speed: Speed | None) -> str:
    if speed is None or speed.verdict is SpeedVerdict.NOT_MEASURED:
        return ", not timed"
    ratio = speed.steady or speed.whole
    if speed.verdict is SpeedVerdict.NO_CHANGE or ratio is None:
        return ", no measurable change in speed"
    if speed.verdict is SpeedVerdict.SLOWER:
        return f", {1 / ratio.value:.2f} times slower"
    return f", {ratio.value:.2f} times faster"


def _advice(verdict: Verdict) -> str:
    if verdict is Verdict.FAIL:
        return "do not use the rewritten version; see where it diverged"
    return ""
