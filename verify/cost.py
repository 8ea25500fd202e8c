"""What a verification takes, told once the first run shows how long one is."""

from __future__ import annotations

import math

from tfrewrite.model import Contract
from tfrewrite.verify import timing
from tfrewrite.verify.experiment import STEPS, TIMES_BEFORE_FAILURE, Effort, has_other_kernels
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.measuring import MORE_S
from tfrewrite.verify.runs import Observation

BOTH_AND_AGAIN = 3
"""Runs of both versions, and one more of the original."""


def most_runs(effort: Effort, promise: Promise) -> int:
    """How many runs are made at most; fewer where both versions are the same to the bit.

    Where times seem to differ, and it might be chance, more are timed, for `MORE_S` at most.
    """
    times = _timed(effort) + _trial(effort)
    seeds = max(1, effort.seeds)
    tried = 1 if effort.steps is None else 0
    before = 1 if promise.shifts else 0
    if promise.contract is Contract.RESAMPLED:
        return tried + seeds * (2 + before) + times
    nudged = 0 if promise.weights_are_exact else effort.nudged
    times = max(times, TIMES_BEFORE_FAILURE - 1)  # what fails is not timed
    return tried + seeds * (BOTH_AND_AGAIN + nudged + before) + times


def foretold(run: Observation, effort: Effort, promise: Promise) -> str:
    """What is still to come after the first run, in words."""
    runs = most_runs(effort, promise) - 1
    one = run.result.elapsed_s
    longer = 0.0
    if not run.was_cut:
        runs -= _trial(effort)
        if effort.steps is None:
            runs -= 1  # it came to its own end, and is the run that counts
    else:
        if effort.steps is None and 0 < run.steps < STEPS:
            one *= STEPS / run.steps
        longer = effort.timed_s * (_timed(effort) + _trial(effort))
    told = f"at most {runs} more runs of about {_seconds(one)}: {_seconds(runs * one + longer)}"
    if has_other_kernels(run) and promise.is_rounded:
        told += f", and {_seconds(_by_other_kernels(effort) * one)} where only kernels may differ"
    if effort.timed and effort.runs is None:
        told += f", and {_seconds(MORE_S)} where times are hard to tell apart"
    return told


def to_choose(run: Observation, effort: Effort, promise: Promise, count: int) -> str:
    """The same where so many rewrites may have to be told apart."""
    told = foretold(run, effort, promise)
    if count == 1:
        return told
    one = run.result.elapsed_s
    # Of each group that fails both halves are asked, and once whether the script repeats itself.
    runs = 2 * count - 1
    told += f"; to tell {count} rewrites apart by their numbers at most {runs} more runs: "
    told += _seconds(runs * one)
    if effort.timed:
        longer = effort.timed_s if run.was_cut else 0.0
        comparison = (_timed(effort) + (1 if longer else 0)) * (one + longer)
        pairs = 2 * count - 1
        told += f", by their times at most {pairs} comparisons of about {_seconds(comparison)}: "
        told += _seconds(pairs * comparison)
    return told


def _by_other_kernels(effort: Effort) -> int:
    return max(1, effort.seeds) * (BOTH_AND_AGAIN + effort.nudged)


def _timed(effort: Effort) -> int:
    return len(timing.rounds(effort.runs)[0]) if effort.timed else 0


def _trial(effort: Effort) -> int:
    """Tells how many steps it takes to time one."""
    return 1 if effort.timed and effort.timed_s else 0


def _seconds(value: float) -> str:
    if value < 10:
        return f"{max(value, 0.1):.1f} s"
    if value < 100:
        return f"{math.ceil(value)} s"
    return f"{math.ceil(value / 60)} min"
