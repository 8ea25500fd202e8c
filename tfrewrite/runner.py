"""Handles many files, in processes where that pays, and gives their outcomes in order."""

from __future__ import annotations

import gc
import os
import signal
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfrewrite import engine
from tfrewrite.fixes import with_fixes
from tfrewrite.model import Kind, Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from tfrewrite.cache import Cache, Entry
    from tfrewrite.discovery import Found
    from tfrewrite.plan import Plan
    from tfrewrite.policy import Chooser, Policy

FEW = 8
"""Files up to which starting processes takes longer than it saves."""

_CHUNKS_PER_JOB = 8
_LARGEST_CHUNK = 32
_DIED = (
    "the process that handled it died (out of memory, or a crash of the parser); nothing was "
    "written; exclude the file"
)


@dataclass(frozen=True)
class Task:
    """One file, with what is asked of it."""

    path: str
    policy: Policy
    named: bool
    choose: Chooser | None = None
    """Which of its rewrites are meant, where not all are; goes to another process with the rest."""


@dataclass(frozen=True)
class Keep:
    """What of a file's text goes into its outcome.

    `texts` is the text before and after, where the file changes; `fixes` has each finding tell
    what it alone would replace.
    """

    texts: bool = False
    fixes: bool = False


def _all(path: str) -> Chooser | None:
    del path
    return None


@dataclass(frozen=True)
class Means:
    """What a run may use. Many files take processes of this machine, or of an executor."""

    jobs: int = 0
    cache: Cache | None = None
    executor: Executor | None = None
    keep: Keep = Keep()
    progress: Callable[[int, int], None] | None = None
    chooser: Callable[[str], Chooser | None] = _all
    """Asked with the path of each file."""


def run(found: Sequence[Found], plan: Plan, means: Means) -> list[Outcome]:
    """The outcome of each file, in the order given."""
    outcomes = {one.path: left_out(one) for one in found if one.problem or one.skipped}
    tasks = [
        Task(one.path, plan.policy(one.path), one.named, means.chooser(one.path))
        for one in found
        if one.path not in outcomes
    ]
    entries: dict[str, Entry] = {}
    known: dict[str, Outcome] = {}
    if means.cache is not None:
        # What is remembered of a file is all that it has.
        whole = [(one.path, one.policy, one.named) for one in tasks if one.choose is None]
        entries, known = means.cache.recall(whole)
        outcomes |= {path: one for path, one in known.items() if _enough(one, plan, means)}
    rest = [task for task in tasks if task.path not in outcomes]
    for outcome in _handled(rest, means):
        outcomes[outcome.path] = outcome
        if means.progress is not None:
            means.progress(len(outcomes), len(found))
    if means.cache is not None:
        new = [outcomes[task.path] for task in rest if task.path not in known]
        means.cache.remember((entries[one.path], one) for one in new if one.path in entries)
    return [outcomes[one.path] for one in found]


def left_out(found: Found) -> Outcome:
    """The outcome of what discovery found nothing to handle at."""
    if found.problem:
        return Outcome(found.path, Status.FAILED, error=found.problem)
    return Outcome(found.path, Status.SKIPPED, error=found.skipped)


def _enough(outcome: Outcome, plan: Plan, means: Means) -> bool:
    """Whether a remembered outcome will do: it has neither texts nor was anything written."""
    if means.keep.fixes and any(one.kind is Kind.REWRITE for one in outcome.findings):
        return False
    return outcome.status is Status.UNCHANGED or not (means.keep.texts or plan.base.write)


def _handled(tasks: Sequence[Task], means: Means) -> Iterator[Outcome]:
    jobs = min(means.jobs or _processors(), len(tasks))
    if means.executor is not None:
        yield from _in_chunks(tasks, means.executor, jobs, keep=means.keep)
    elif jobs < 2 or len(tasks) <= FEW:
        for task in tasks:
            yield from _chunk([task], keep=means.keep)
    else:
        yield from _in_processes(tasks, jobs, keep=means.keep)


def _in_processes(tasks: Sequence[Task], jobs: int, *, keep: Keep) -> Iterator[Outcome]:
    done: set[str] = set()
    with _pool(jobs) as pool:
        try:
            for outcome in _in_chunks(tasks, pool, jobs, keep=keep):
                done.add(outcome.path)
                yield outcome
        except BrokenExecutor:
            pass
        except BaseException:
            # Each worker ends the file in its hands, and begins no other.
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    # A worker died, and took the others with it: what is left goes one by one.
    for task in tasks:
        if task.path not in done:
            yield _alone(task, keep=keep)


def _alone(task: Task, *, keep: Keep) -> Outcome:
    with _pool(1) as pool:
        try:
            return pool.submit(_chunk, [task], keep=keep).result()[0]
        except (BrokenExecutor, IndexError):
            return Outcome(task.path, Status.FAILED, error=_DIED)


def _in_chunks(
    tasks: Sequence[Task], executor: Executor, jobs: int, *, keep: Keep
) -> Iterator[Outcome]:
    size = max(1, min(_LARGEST_CHUNK, len(tasks) // (max(jobs, 1) * _CHUNKS_PER_JOB)))
    futures: list[Future[list[Outcome]]] = [
        executor.submit(_chunk, tasks[start : start + size], keep=keep)
        for start in range(0, len(tasks), size)
    ]
    for future in as_completed(futures):
        yield from future.result()


def _chunk(tasks: Sequence[Task], *, keep: Keep) -> list[Outcome]:
    """What a worker does: some files, one after the other. Nothing is kept between them."""
    outcomes: list[Outcome] = []
    for task in tasks:
        if _stopping:
            break
        outcome = engine.handle(task.path, task.policy, named=task.named, choose=task.choose)
        if keep.fixes:
            outcome = with_fixes(outcome)
        changes = outcome.status in {Status.REWRITTEN, Status.WOULD_REWRITE}
        if not (keep.texts and changes):
            outcome = replace(outcome, before="", after="", cells=())
        outcomes.append(outcome)
    return outcomes


_stopping: list[bool] = []


def _stop(signal_number: int, frame: FrameType | None) -> None:
    del signal_number, frame
    _stopping.append(True)


def _begin_worker() -> None:
    """Ctrl-C reaches every process of a terminal; a worker ends its file and begins no other."""
    signal.signal(signal.SIGINT, _stop)
    # A tree is a hundred thousand objects that live and die together: to look for dead ones among
    # them again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)


def _pool(jobs: int) -> Executor:
    # Most runs are over before they need processes, and these take 50 ms to import.
    import multiprocessing  # noqa: PLC0415
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    # No thread runs here yet, so a fork is safe where the system has one; it spares every worker
    # the imports.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
