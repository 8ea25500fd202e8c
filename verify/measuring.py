"""Times two versions of a script, one process after the other, until it is told which is faster.

Both were observed before: what a timed run is to do follows from what an observed one did.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tfrewrite.verify import growth, timing
from tfrewrite.verify.failures import require_success
from tfrewrite.verify.model import Speed, TimedRun, Version
from tfrewrite.verify.runs import Laboratory, Observation, Program

TIMED_S = 3.0
"""Timed steps take this long together in each process, where loops were cut short: what a step
costs in the tenth of a second of forty quick ones is as much as a third away from what it costs."""
MORE_S = 120.0
"""Times are taken for so much longer where they seem to differ, and it might be chance."""
LONG_S = 60.0
"""After an observed run of this length no trial is needed to tell that timed steps take as long."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Timed:
    """A version, and a run of it that was observed."""

    program: Program
    observed: Observation


@dataclass(frozen=True)
class Stopwatch:
    """How times are taken. `runs` None is: as many of each version as it takes to tell."""

    laboratory: Laboratory
    progress: Progress
    seed: int
    runs: int | None = None
    timed_s: float = TIMED_S
    min_effect: float = timing.MIN_EFFECT

    def compare(self, versions: Mapping[Version, Timed]) -> Speed:
        """`Inconclusive` where a timed run fails."""
        longer = self._longer(versions[Version.ORIGINAL])
        rounds = timing.rounds(self.runs)
        began = time.monotonic()
        runs = self._round(versions, rounds[0], longer)
        one_s = time.monotonic() - began
        for order in rounds[1 : 1 + int(MORE_S / one_s)]:
            if not self._judged(runs, len(rounds)).is_open:
                break
            runs += self._round(versions, order, longer, after=len(runs))
        return self._judged(runs, len(rounds))

    def _judged(self, runs: Sequence[TimedRun], looks: int) -> Speed:
        return timing.judge(runs, looks=looks, min_effect=self.min_effect)

    def _round(
        self,
        versions: Mapping[Version, Timed],
        order: Sequence[Version],
        longer: int,
        *,
        after: int = 0,
    ) -> list[TimedRun]:
        runs = []
        for number, version in enumerate(order, after + 1):
            self.progress(f"times: {version.value} ({number} of {after + len(order)})")
            one = versions[version]
            run = self.laboratory.time(one.program, one.observed, seed=self.seed, longer=longer)
            require_success(run, of_original=version is Version.ORIGINAL)
            runs.append(growth.timed_run(run, version, number))
        return runs

    def _longer(self, original: Timed) -> int:
        """How many times the turns of observed runs the timed ones have; a trial run tells.

        It is also the one that finds files not yet in memory.
        """
        observed = original.observed
        limits: Mapping[str, int] = observed.summary.get("limits", {})
        idle = observed.summary.get("idle", [])
        cut = [loop for loop in limits if int(loop) not in idle]
        if not cut or not self.timed_s or observed.result.elapsed_s > LONG_S:
            return 1
        self.progress("times: a trial")
        run = self.laboratory.time(
            original.program, observed, seed=self.seed, at_least_s=self.timed_s
        )
        require_success(run, of_original=True)
        turns = run.summary.get("turns_of", {})
        return max(math.ceil(int(turns.get(loop, 0)) / limits[loop]) for loop in cut)
