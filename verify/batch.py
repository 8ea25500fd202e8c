"""Verifies several pairs: their numbers beside each other, their times one after another."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from tfrewrite.verify import cost
from tfrewrite.verify.experiment import Effort, Experiment, Pair, headline
from tfrewrite.verify.model import Verdict, Verification
from tfrewrite.verify.runs import Conditions, Laboratory, Observation, Program


@dataclass(frozen=True)
class Job:
    """A pair, and how it is to be verified."""

    pair: Pair
    conditions: Conditions
    effort: Effort


NOT_EXECUTED = "changed, and not executed by this script, so that nothing is shown of it: {}"
Progress = Callable[[str, str], None]
"""Told of something about a script."""


def verify_all(
    jobs: Sequence[Job],
    progress: Progress,
    *,
    beside: int = 1,
    executor: Executor | None = None,
    foretell: Progress | None = None,
) -> list[Verification]:
    """`beside` is how many scripts run at once while numbers are compared.

    The runs are processes of their own, so threads are enough to wait for them; another executor
    of the same process may be given. `progress` is told of every phase, and `foretell` once for
    each script what is still to come.
    """
    with contextlib.ExitStack() as stack:
        tasks = [_Task(job, stack, progress, foretell) for job in jobs]
        if executor is None and min(beside, len(tasks)) > 1:
            executor = stack.enter_context(ThreadPoolExecutor(beside))
        if executor is None:
            # In the main thread a script ends at once when the user interrupts.
            for task in tasks:
                task.examine()
        else:
            _wait_for(executor, tasks)
        for task in tasks:
            task.measure()
        return [task.verification() for task in tasks]


def _wait_for(executor: Executor, tasks: Sequence[_Task]) -> None:
    waited = [executor.submit(task.examine) for task in tasks]
    try:
        for one in waited:
            one.result()
    except BaseException:
        for one in waited:
            one.cancel()
        for task in tasks:
            task.give_up()
        raise


class _Task:
    """One job, the time that it takes by itself, and what its runs executed."""

    def __init__(
        self,
        job: Job,
        stack: contextlib.ExitStack,
        progress: Progress,
        foretell: Progress | None,
    ) -> None:
        self._job = job
        self._progress = progress
        self._foretell = foretell
        laboratory = stack.enter_context(Laboratory.opened(job.conditions))
        laboratory.watch = self._observed
        script = job.pair.subject.script
        self.give_up = laboratory.given_up.set
        self._experiment = Experiment(
            job.pair, laboratory, job.effort, lambda what: progress(script, what)
        )
        self._elapsed_s = 0.0
        self._broken: OSError | None = None
        self._is_first = True
        self._executed: set[str] | None = None

    def examine(self) -> None:
        with self._timed():
            self._experiment.examine()

    def measure(self) -> None:
        if self._broken is None:
            with self._timed():
                self._experiment.measure()

    def verification(self) -> Verification:
        if self._broken is not None:
            return self._inconclusive(self._broken)
        found = replace(self._experiment.verification(), elapsed_s=self._elapsed_s)
        return self._held_to_what_ran(found)

    def _inconclusive(self, error: OSError) -> Verification:
        subject, verdict = self._job.pair.subject, Verdict.INCONCLUSIVE
        return Verification(
            subject,
            verdict,
            headline(verdict, subject, None),
            f"this machine could not do what was needed: {error}",
            "see whether the temporary folder has room and may be written to",
            elapsed_s=self._elapsed_s,
        )

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        """A full disk ends this one, and not the others."""
        began = time.monotonic()
        try:
            yield
        except OSError as error:
            self._broken = error
        finally:
            self._elapsed_s += time.monotonic() - began

    def _observed(self, program: Program, run: Observation) -> None:
        pair = self._job.pair
        if self._is_first and run.is_complete and self._foretell:
            what = cost.foretold(run, self._job.effort, pair.promise)
            self._foretell(pair.subject.script, what)
        self._is_first = False
        if program is pair.rewritten and "executed" in run.summary:
            self._executed = (self._executed or set()) | set(run.summary["executed"])

    def _held_to_what_ran(self, found: Verification) -> Verification:
        """A pass says nothing about a changed file that was never executed."""
        if found.verdict is not Verdict.PASS or self._executed is None:
            return found
        changed = [name for name, _ in self._job.pair.rewritten.replacements]
        idle = [name for name in changed if name not in self._executed]
        if not idle:
            return found
        needed = [name for name in idle if name not in self._job.pair.perhaps]
        if not needed:
            return _without(found, idle)
        reason = f"{needed[0]} was changed, and the script did not execute it"
        verdict = Verdict.INCONCLUSIVE
        numerics = found.numerics and replace(found.numerics, verdict=verdict, reason=reason)
        return replace(
            found,
            verdict=verdict,
            headline=headline(verdict, found.subject, None),
            reason=reason,
            numerics=numerics,
            speed=None,
            advice="verify a script, with the --args, that imports it from its own folder and not "
            "from where it is installed",
        )


def _without(found: Verification, idle: Sequence[str]) -> Verification:
    """The same of all but these files, none of which the script loads."""
    changes = found.subject.changes
    its = tuple(one for one in changes if not one.message.startswith(tuple(f"{n}: " for n in idle)))
    note = NOT_EXECUTED.format(", ".join(idle))
    return replace(
        found,
        subject=replace(found.subject, changes=its),
        numerics=found.numerics and replace(found.numerics, notes=(*found.numerics.notes, note)),
    )
