"""Verifies several pairs: their numbers beside each other, their times one after another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

from tfrewrite.verify.experiment import Effort, Experiment, Pair
from tfrewrite.verify.model import Verification
from tfrewrite.verify.runs import Conditions, Laboratory


@dataclass(frozen=True)
class Job:
    """A pair, and how it is to be verified."""

    pair: Pair
    conditions: Conditions
    effort: Effort


Progress = Callable[[str, str], None]
"""Told of every phase: the script, and what is being done."""


def verify_all(
    jobs: Sequence[Job], progress: Progress, *, beside: int = 1, executor: Executor | None = None
) -> list[Verification]:
    """`beside` is how many scripts run at once while numbers are compared.

    The runs are processes of their own, so threads are enough to wait for them; another executor
    of the same process may be given.
    """
    with contextlib.ExitStack() as stack:
        experiments = []
        for job in jobs:
            laboratory = stack.enter_context(Laboratory.opened(job.conditions))
            script = job.pair.subject.script
            experiments.append(
                Experiment(job.pair, laboratory, job.effort, _told(progress, script))
            )
        if executor is None:
            executor = stack.enter_context(ThreadPoolExecutor(max(1, beside)))
        for waited in [executor.submit(one.examine) for one in experiments]:
            waited.result()
        for experiment in experiments:
            experiment.measure()
        return [experiment.verification() for experiment in experiments]


def _told(progress: Progress, script: str) -> Callable[[str], None]:
    return lambda what: progress(script, what)
