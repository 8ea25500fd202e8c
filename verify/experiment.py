"""Verifies one pair of versions: which runs are made, in which order, and when it is enough.

The numbers come first. Where both versions do the same bit for bit, two runs have shown it; else
the original is run again, to see whether it repeats itself, and with moved weights, to see how far
rounding takes it. Times are measured only of versions that compute the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tfrewrite.model import Contract
from tfrewrite.verify import distributions, growth, judging, timing
from tfrewrite.verify.comparing import (
    ComparingError,
    Comparison,
    compare,
    read_early,
    read_with_updates,
)
from tfrewrite.verify.failures import Inconclusive, require_success
from tfrewrite.verify.measuring import TIMED_S, Progress, Stopwatch, Timed
from tfrewrite.verify.model import (
    Environment,
    Growth,
    Numerics,
    Speed,
    SpeedVerdict,
    Subject,
    Verdict,
    Verification,
    Version,
)
from tfrewrite.verify.process import Ending
from tfrewrite.verify.runs import Laboratory, Nudge, Observation, Program

STEPS = 40
WHOLE_BUDGET_S = 5.0
"""A script that comes to its own end within this time after its first step is not cut short."""
NUDGED_RUNS = 2
TIMES_BEFORE_FAILURE = 3
"""How often an original is run again before a version fails, since not each run shows a race."""
HALF = 2.0**-10
"""A unit in the last place of a number of 16 bits, beside the number."""
SEED = 1
WITHOUT_ONEDNN = (("TF_ENABLE_ONEDNN_OPTS", "0"),)
NEARLY_RIGHT = 200.0
"""How many times what is allowed a version may be away for it to be a matter of kernels."""
SEEDS_FOR_DISTRIBUTIONS = 7


@dataclass(frozen=True)
class Effort:
    """How much is done. `steps` None is: all, if that is quick, else a few dozen; 0 is all.

    `runs` None is: as many timed processes of each version as it takes to tell.
    """

    steps: int | None = None
    seeds: int = 1
    runs: int | None = None
    nudged: int = NUDGED_RUNS
    timed: bool = True
    timed_s: float = TIMED_S
    seed: int = SEED
    min_effect: float = timing.MIN_EFFECT
    """The least difference of times that counts, as a part of them."""

    def stopwatch(self, laboratory: Laboratory, progress: Progress) -> Stopwatch:
        return Stopwatch(laboratory, progress, self.seed, self.runs, self.timed_s, self.min_effect)


@dataclass(frozen=True)
class Pair:
    """Two versions of a script, and what is promised of the second."""

    subject: Subject
    original: Program
    rewritten: Program
    promise: judging.Promise
    perhaps: frozenset[str] = frozenset()
    """Changed files that the script may load by a name that is made at run time, or not at all."""


Early = Mapping[str, Sequence[bool]] | None
AS_BEFORE = "{}: of before the update of the same step"
BY_OTHER_KERNELS = (
    "held to each other without oneDNN (TF_ENABLE_ONEDNN_OPTS=0): its kernels for functions add up "
    "in another order than those for eager code, here {:.2g} times as far away as is allowed"
)
SAME_DRAWS = (
    "random numbers might have been others and are the same, since the runs give each op without "
    "a seed one by its place"
)


class Baseline:
    """The runs of the original, each made once; several rewritten versions may be held to them."""

    def __init__(
        self, program: Program, laboratory: Laboratory, effort: Effort, progress: Progress
    ) -> None:
        self.program = program
        self.laboratory = laboratory
        self.effort = effort
        self.progress = progress
        self.settings: tuple[tuple[str, str], ...] = ()
        self._other: Baseline | None = None
        self._steps = effort.steps
        self._made: dict[tuple[int, str], Observation] = {}

    @property
    def steps(self) -> int:
        """After how many steps runs are cut short, 0 for none; the first run decides."""
        if self._steps is None:
            first = self._observed(0, self.effort.seed, "plain", budget_s=WHOLE_BUDGET_S)
            self._steps = STEPS if first.was_cut else 0
            if first.was_cut:
                del self._made[self.effort.seed, "plain"]
        return self._steps

    def by_other_kernels(self) -> Baseline:
        """The same with the kernels that TensorFlow has beside oneDNN's."""
        if self._other is None:
            effort = replace(self.effort, steps=self.steps)
            self._other = Baseline(self.program, self.laboratory, effort, self.progress)
            self._other.settings = WITHOUT_ONEDNN
        return self._other

    def plain(self, seed: int, early: Early = None) -> Observation:
        """With `early`: as if these values were read before updates, each at these times."""
        return self._observed(self.steps, seed, "plain", early=early)

    def again(self, seed: int, early: Early = None, times: int = 1) -> list[Observation]:
        """The same once more, or so many times: does the original repeat itself?"""
        return [
            self._observed(self.steps, seed, f"again {number + 1}", early=early)
            for number in range(times)
        ]

    def nudged(self, seed: int, early: Early = None, part: float = 0.0) -> list[Observation]:
        """With weights moved by a unit in the last place, or by a part of themselves."""
        return [
            self._observed(
                self.steps,
                seed,
                f"moved {number + 1}" + (f" by {part:.1g}" if part else ""),
                nudge=Nudge(number, part),
                early=early,
            )
            for number in range(self.effort.nudged)
        ]

    def _observed(
        self,
        steps: int,
        seed: int,
        what: str,
        *,
        budget_s: float = 0.0,
        nudge: Nudge | None = None,
        early: Early = None,
    ) -> Observation:
        if early:
            what += f", read early: {dict(early)}"
        if (seed, what) not in self._made:
            self.progress(f"numbers: original, {what[:40]}")
            run = self.laboratory.observe(
                self.program,
                seed=seed,
                steps=steps,
                budget_s=budget_s,
                nudge=nudge,
                early=early or None,
                settings=self.settings,
            )
            require_success(run, of_original=True)
            self._made[seed, what] = run
        return self._made[seed, what]


def verify(
    pair: Pair,
    laboratory: Laboratory,
    effort: Effort,
    progress: Progress,
    baseline: Baseline | None = None,
) -> Verification:
    """Makes the runs and gives the verdict; never raises for what a script does."""
    experiment = Experiment(pair, laboratory, effort, progress, baseline)
    experiment.examine()
    experiment.measure()
    return experiment.verification()


class Experiment:
    """First `examine` the numbers, then `measure` the times; neither raises for what scripts do."""

    def __init__(
        self,
        pair: Pair,
        laboratory: Laboratory,
        effort: Effort,
        progress: Progress,
        baseline: Baseline | None = None,
    ) -> None:
        self._pair = pair
        self._laboratory = laboratory
        self._effort = effort
        self._progress = progress
        self._baseline = baseline or Baseline(pair.original, laboratory, effort, progress)
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
        except ComparingError as error:
            self._stopped = Inconclusive(Verdict.INCONCLUSIVE, str(error))

    def measure(self) -> None:
        """Compares the times, where the numbers are right; nothing else should run meanwhile."""
        if self._numerics is None:
            return
        try:
            self._speed = self._timed()
        except Inconclusive as stopped:
            self._stopped = stopped

    def timed(self) -> Timed:
        """The rewritten version, to be held to others; once its numbers were compared."""
        return Timed(self._pair.rewritten, self._observed[Version.REWRITTEN])

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
            advice=stopped.advice if stopped else _advice(verdict, numerics),
            numerics=numerics,
            speed=self._speed,
            growth=self._growth,
            environment=self._environment,
            output=stopped.output if stopped else "",
            elapsed_s=time.monotonic() - self._began,
        )

    # The numbers.

    def _examined(self) -> Numerics:
        first = self._baseline.plain(self._effort.seed)
        self._environment = growth.environment(first, self._laboratory.conditions)
        _require_device(first, self._laboratory.conditions.device)
        seeds = range(self._effort.seed, self._effort.seed + max(1, self._effort.seeds))
        if self._pair.promise.contract is Contract.RESAMPLED:
            numerics = self._by_distribution(seeds)
        else:
            numerics = self._value_by_value(seeds)
        self._growth = growth.of(self._observed, ())
        numerics = replace(numerics, steps=first.steps, whole=not first.was_cut)
        ahead = any(run.summary.get("reads_ahead") for run in self._observed.values())
        cut_at = first.summary.get("cut_at")
        if cut_at is not None and ahead and numerics.verdict is Verdict.FAIL:
            return judging.but_for_what_comes_later(numerics, cut_at)
        return numerics

    def _value_by_value(self, seeds: Sequence[int]) -> Numerics:
        found: list[Numerics] = []
        for seed in seeds:
            found.append(self._compared(seed))
            if found[-1].verdict is not Verdict.PASS:
                break
        worst = max(found, key=lambda one: (one.verdict is not Verdict.PASS, one.worst_ratio))
        return replace(worst, seeds=len(found))

    def _compared(self, seed: int) -> Numerics:
        numerics = self._compared_by(self._baseline, seed)
        if numerics.verdict is not Verdict.FAIL:
            return numerics
        return self._by_other_kernels(numerics, seed) or self._by_more_runs(seed)

    def _by_other_kernels(self, numerics: Numerics, seed: int) -> Numerics | None:
        """Where it is not far from right by the kernels of oneDNN, others have the last word."""
        if (
            numerics.worst_ratio > NEARLY_RIGHT
            or not self._pair.promise.is_rounded
            or not has_other_kernels(self._baseline.plain(seed))
        ):
            return None
        other = self._compared_by(self._baseline.by_other_kernels(), seed)
        if other.verdict is not Verdict.PASS:
            return None
        note = BY_OTHER_KERNELS.format(numerics.worst_ratio)
        return replace(other, notes=(*other.notes, note))

    def _by_more_runs(self, seed: int) -> Numerics:
        """Where the original races with itself, not each of its runs shows that."""
        rewritten = self._observed[Version.REWRITTEN]
        held = self._held(self._baseline, rewritten, seed, TIMES_BEFORE_FAILURE)
        return judging.judge(held, self._pair.promise)

    def _compared_by(self, baseline: Baseline, seed: int) -> Numerics:
        """Two runs where these are alike to the bit; else as many more as it takes to judge."""
        original, rewritten = baseline.plain(seed), self._rewritten(baseline, seed)
        comparison = compare(self._laboratory, original, rewritten)
        if not comparison.is_identical:
            comparison = self._held(baseline, rewritten, seed)
        return judging.judge(comparison, self._pair.promise)

    def _held(
        self, baseline: Baseline, rewritten: Observation, seed: int, times: int = 1
    ) -> Comparison:
        """Held to the original, to so many more runs of it, and to those with moved weights."""
        early = self._early(rewritten)
        promise = self._pair.promise
        if promise.contract is Contract.SHIFTED and promise.weights_are_exact:
            again = baseline.again(seed, times=times)
            late = compare(self._laboratory, baseline.plain(seed), rewritten, again=again)
            before = compare(self._laboratory, baseline.plain(seed, early), rewritten)
            return read_early(late, before)
        comparison = compare(
            self._laboratory,
            baseline.plain(seed, early),
            rewritten,
            again=baseline.again(seed, early, times),
            nudged=self._nudged(baseline, seed, early),
        )
        return _noted(comparison, early)

    def _nudged(self, baseline: Baseline, seed: int, early: Early) -> list[Observation]:
        if self._pair.promise.weights_are_exact:
            return []
        lowered = self._pair.promise.contract is Contract.PRECISION
        return baseline.nudged(seed, early, part=HALF if lowered else 0.0)

    def _early(self, rewritten: Observation) -> Early:
        """What the original has to read before its updates, to be held against this."""
        return read_with_updates(rewritten) if self._pair.promise.shifts else None

    def _by_distribution(self, seeds: Sequence[int]) -> Numerics:
        """By the values themselves, if nothing is drawn anew; else by what they come to."""
        pairs = [self._of_seed(seeds[0])]
        early = self._early(pairs[0][1])
        contract = Contract.SHIFTED if early else Contract.EXACT
        comparison = _noted(compare(self._laboratory, *pairs[0]), early)
        numerics = judging.judge(comparison, judging.Promise(contract))
        if numerics.verdict is Verdict.PASS:
            notes = (*numerics.notes, SAME_DRAWS)
            return replace(numerics, contract=Contract.RESAMPLED, notes=notes)
        if len(seeds) == 1:
            raise Inconclusive(
                Verdict.INCONCLUSIVE,
                "what draws other random numbers can be compared by distribution only",
                f"give it several seeds, as in --seeds {SEEDS_FOR_DISTRIBUTIONS}",
            )
        pairs += [self._of_seed(seed) for seed in seeds[1:]]
        return distributions.judge(self._laboratory, pairs)

    def _of_seed(self, seed: int) -> tuple[Observation, Observation]:
        baseline = self._baseline
        original, rewritten = baseline.plain(seed), self._rewritten(baseline, seed)
        early = self._early(rewritten)
        return (baseline.plain(seed, early) if early else original), rewritten

    def _rewritten(self, baseline: Baseline, seed: int) -> Observation:
        """A run that was stopped is tried once more: the machine may have been busy meanwhile."""
        run = self._tried(baseline, seed, "numbers: rewritten")
        if run.result.ending is Ending.TIMED_OUT:
            run = self._tried(baseline, seed, "numbers: rewritten, once more")
        require_success(run, of_original=False)
        if baseline is self._baseline:
            self._observed = {Version.ORIGINAL: baseline.plain(seed), Version.REWRITTEN: run}
        return run

    def _tried(self, baseline: Baseline, seed: int, progress: str) -> Observation:
        self._progress(progress)
        run = self._laboratory.observe(
            self._pair.rewritten,
            seed=seed,
            steps=baseline.steps,
            early={} if self._pair.promise.shifts else None,
            settings=baseline.settings,
        )
        self._require_time(run, baseline.plain(seed))
        return run

    def _require_time(self, run: Observation, original: Observation) -> None:
        """Where the original hardly makes it in time, not making it shows nothing."""
        limit_s, needed_s = self._laboratory.conditions.time_limit_s, original.result.elapsed_s
        if run.result.ending is Ending.TIMED_OUT and needed_s > limit_s / 2:
            raise Inconclusive(
                Verdict.INCONCLUSIVE,
                f"the rewritten version was stopped after {limit_s:.0f} s, of which the original "
                f"takes {needed_s:.0f}",
                "give both more time with --timeout, or fewer steps with --steps",
            )

    # The times.

    def _timed(self) -> Speed:
        assert self._numerics is not None
        if self._numerics.verdict is not Verdict.PASS:
            reason = "times are not compared where the numbers are not shown to be right"
            return Speed(SpeedVerdict.NOT_MEASURED, reason)
        if not self._effort.timed:
            return Speed(SpeedVerdict.NOT_MEASURED, "only the numbers were asked for")
        programs = {
            Version.ORIGINAL: self._pair.original,
            Version.REWRITTEN: self._pair.rewritten,
        }
        speed = self._effort.stopwatch(self._laboratory, self._progress).compare(
            {version: Timed(one, self._observed[version]) for version, one in programs.items()}
        )
        self._growth = growth.of(self._observed, speed.runs)
        return speed


def has_other_kernels(run: Observation) -> bool:
    """Whether TensorFlow computes by oneDNN unless it is told not to, as it does from 2.9 on."""
    version = str(run.summary.get("environment", {}).get("tensorflow", "")).split(".")
    return len(version) > 1 and (int(version[0]), int(version[1])) >= (2, 9)


def _noted(comparison: Comparison, early: Early) -> Comparison:
    """With what the original was made to read early."""
    return replace(comparison, notes=(*comparison.notes, *map(AS_BEFORE.format, early or ())))


def _require_device(run: Observation, device: str) -> None:
    seen = run.summary.get("environment", {}).get("devices", [])
    if device == "gpu" and "GPU" not in seen:
        there = ", ".join(map(str, seen)) or "nothing"
        raise Inconclusive(
            Verdict.INCONCLUSIVE,
            f"a GPU was asked for, and TensorFlow saw {there}",
            "use --device cpu, or an interpreter whose TensorFlow finds the GPU",
        )


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


def _advice(verdict: Verdict, numerics: Numerics | None) -> str:
    if verdict is Verdict.FAIL:
        return "do not use the rewritten version; see where it diverged"
    if verdict is Verdict.PASS or numerics is None:
        return ""
    if not any(one.points for one in numerics.compared):
        return "let it print its results, or write them to a file"
    if judging.READ_AHEAD in numerics.reason:
        return "let it run to its end with --steps all, with fewer epochs if it takes too long"
    return "see what differs; what changes from run to run needs a seed that the script sets"
