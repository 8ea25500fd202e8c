"""Times the scripts of the corpus as they were, as the tool writes them, and as an expert would.

    python benchmarks/corpus_gain.py [NAME ...] [--rounds N] [--tensorflow 1.15] [--minutes N]

Processes of the three versions take turns, with marks at the loops that note the time. What they
take is kept in docs/results/samples, one file for each script and TensorFlow; what is there and
still true of the scripts and of the probe is not measured again, so that a run can be ended at any
time and gone on with later. Then docs/results.md and its charts are written from what is kept.
Needs the interpreters that `make setup` makes.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from statistics import median

import results_page
import results_samples as samples
from results_samples import (
    EXPERT,
    INTERPRETERS,
    ORIGINAL,
    VERSIONS,
    Curve,
    Process,
    Sample,
    Subject,
)

from tfrewrite.verify import growth
from tfrewrite.verify.model import TimedRun, Version
from tfrewrite.verify.runs import Conditions, Laboratory, Observation, Program
from tfrewrite.verify.steady import step_times, warm_up_of
from tfrewrite.verify.tf_generation import is_tf1_script
from tfrewrite.verify.timing import LEAST_STEPS

ROUNDS = 3
POINTS = 60
"""So many points of a curve are kept."""


class RunFailedError(Exception):
    """A version of a script did not come to its end."""


@dataclass(frozen=True)
class Timed:
    """A process, and how many turns of its loop it made; several may be made in one step."""

    version: str
    run: TimedRun
    turns: int
    mean_s: float | None
    """Of a turn, after the first step."""


def main() -> int:
    arguments = parse()
    probe = samples.probe_digest()
    found = samples.subjects()
    current = samples.adopt(found, probe)
    rows = [] if arguments.render else wanted(arguments, found, current)
    failed = measure(rows, found, arguments, probe)
    refresh(found, probe)
    return 1 if failed else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="folders of corpus/; all that are rewritten")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="processes of each version")
    parser.add_argument(
        "--tensorflow", nargs="+", default=list(INTERPRETERS), choices=list(INTERPRETERS)
    )
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begins no other script after this time"
    )
    parser.add_argument("--render", action="store_true", help="only writes the page anew")
    parser.add_argument("--again", action="store_true", help="also what is there and still true")
    return parser.parse_args()


def wanted(
    arguments: argparse.Namespace, found: Sequence[Subject], current: Sequence[Sample]
) -> list[tuple[str, str]]:
    unknown = set(arguments.names) - {one.name for one in found}
    if unknown:
        sys.exit(f"not among the scripts that are timed: {', '.join(sorted(unknown))}")
    return [
        (name, tensorflow)
        for name, tensorflow in samples.due(
            found, [] if arguments.again else current, arguments.rounds
        )
        if tensorflow in arguments.tensorflow and name in (arguments.names or [name])
    ]


def measure(
    rows: Sequence[tuple[str, str]],
    found: Sequence[Subject],
    arguments: argparse.Namespace,
    probe: str,
) -> int:
    """Keeps each sample as soon as it is there, with the page; gives how many failed."""
    named = {one.row: one for one in found}
    until = time.monotonic() + 60 * arguments.minutes
    failed = 0
    for number, (name, tensorflow) in enumerate(rows):
        if time.monotonic() > until:
            print(f"{len(rows) - number} of {len(rows)} are left for another time")
            break
        began = time.monotonic()
        place = f"{number + 1}/{len(rows)}"
        try:
            sample = measured(named[name, tensorflow], arguments.rounds, probe)
        except RunFailedError as error:
            print(f"{place} {name} on {tensorflow}: {error}", file=sys.stderr, flush=True)
            failed += 1
            continue
        samples.write(sample)
        refresh(found, probe)
        took_s = time.monotonic() - began
        print(f"{place} {results_page.in_a_line(sample)} ({took_s:.0f} s)", flush=True)
    return failed


def refresh(found: Sequence[Subject], probe: str) -> None:
    """Writes the page from what there is now, and what is not there."""
    rows = tuple(samples.due(found, samples.adopt(found, probe), rounds=1))
    samples.write_json(samples.DUE, asdict(replace(samples.others(found), rows=rows)))
    results_page.write()


def measured(subject: Subject, rounds: int, probe: str) -> Sample:
    """Observes each version once, which tells of graphs and memory, and times it `rounds` times."""
    programs = {version: program(subject, version) for version in timed_versions(subject)}
    is_tf1 = is_tf1_script(subject.texts[ORIGINAL])
    python = INTERPRETERS[subject.tensorflow]
    conditions = Conditions(python, is_tf1=is_tf1, synthetic=subject.synthetic)
    with Laboratory.opened(conditions) as laboratory:
        seen = {
            version: observed(laboratory, one, subject.timed_loop, version)
            for version, one in programs.items()
        }
        processes = timed(laboratory, programs, seen, rounds)
    way, steps_s = step_costs(processes)
    environment = growth.environment(seen[ORIGINAL], conditions)
    return Sample(
        script=subject.name,
        title=subject.title,
        tensorflow=subject.tensorflow,
        rules=subject.rules,
        family=subject.family,
        digest=subject.digest,
        probe=probe,
        taken=datetime.now(timezone.utc).date().isoformat(),
        machine=samples.Machine(
            environment.processor,
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else environment.cores,
            environment.platform,
            environment.python,
            environment.tensorflow,
        ),
        way=way,
        expert=how_the_expert(subject),
        processes=tuple(
            process_of(one, step_s) for one, step_s in zip(processes, steps_s, strict=True)
        ),
        curves={
            version: curve(run, [one.run for one in processes if one.version == version])
            for version, run in seen.items()
        },
    )


def timed_versions(subject: Subject) -> tuple[str, ...]:
    """An expert who writes what the tool does needs no processes of his own."""
    asked = VERSIONS if how_the_expert(subject) == "timed" else VERSIONS[:2]
    return tuple(version for version in asked if version in subject.texts)


def how_the_expert(subject: Subject) -> str:
    if EXPERT not in subject.texts:
        return "none"
    return "same" if subject.texts[EXPERT] == subject.texts[samples.REWRITTEN] else "timed"


def program(subject: Subject, version: str) -> Program:
    text = subject.texts[version].encode()
    return Program.of(subject.folder, subject.script, ((subject.script, text),))


def observed(laboratory: Laboratory, one: Program, loop: int | None, version: str) -> Observation:
    """Tells which loops train, if none is named; timed runs go to their own end."""
    run = laboratory.observe(one, seed=1, steps=0)
    require_success(run, version)
    if loop is None:
        return run
    turns: dict[str, int] = run.summary["turns_of"]
    if len(turns) < loop:
        raise RunFailedError(f"{version} has {len(turns)} loops, and number {loop} is to be timed")
    number = sorted(turns, key=int)[loop - 1]
    return replace(run, summary={**run.summary, "steps_of": {number: turns[number]}})


def require_success(run: Observation, version: str) -> None:
    if not run.is_complete:
        raise RunFailedError(f"{version} {run.result.describe()}\n{run.result.stderr[-3000:]}")


def timed(
    laboratory: Laboratory,
    programs: Mapping[str, Program],
    seen: Mapping[str, Observation],
    rounds: int,
) -> list[Timed]:
    """A, B, C, then C, B, A, and so on: each two versions are neighbours in the same way."""
    found: list[Timed] = []
    order = list(programs)
    for number in range(rounds):
        for version in order if number % 2 else reversed(order):
            run = laboratory.time(programs[version], seen[version], seed=1)
            require_success(run, version)
            found.append(timed_of(run, version, len(found)))
    return found


def timed_of(run: Observation, version: str, order: int) -> Timed:
    """Times of one process. Which of the versions it is, only `Timed` tells."""
    one = growth.timed_run(run, Version.ORIGINAL, order)
    ends: Mapping[str, Sequence[float]] = run.summary["ends"]
    loop = max(ends, key=lambda loop: len(ends[loop]), default="")
    turns = int(run.summary["turns_of"].get(loop, 0))
    steps = len(one.steps_s)
    mean_s = None
    if steps >= LEAST_STEPS:
        mean_s = (ends[loop][-1] - ends[loop][0]) / (turns * (1 - 1 / steps))
    return Timed(version, one, turns, mean_s)


def step_costs(processes: Sequence[Timed]) -> tuple[str, list[float | None]]:
    """What a step costs in each process, and how that was found.

    Where the versions make as many steps, the steady ones tell. Where they do not, as when several
    batches become one step, the mean of a turn does; where there are too few, nothing.
    """
    versions = [one.version for one in processes]
    counts = {len(one.run.steps_s) for one in processes}
    warm = (
        max(
            warm_up_of([one.run.steps_s for one in processes if one.version == version])
            for version in set(versions)
        )
        if min(counts)
        else 0
    )
    if len(counts) == 1 and min(counts) - warm >= LEAST_STEPS:
        return "steady", list(step_times(versions, [one.run.steps_s[warm:] for one in processes]))
    means = [one.mean_s for one in processes]
    return ("whole", [None] * len(means)) if None in means else ("mean", means)


def process_of(one: Timed, step_s: float | None) -> Process:
    run = one.run
    return Process(
        version=one.version,
        turns=one.turns,
        start_up_s=run.start_up_s,
        first_step_s=run.first_step_s,
        step_s=step_s,
        whole_s=run.whole_s,
        peak_mb=run.peak_memory_mb,
        load=run.load,
    )


def curve(run: Observation, processes: Sequence[TimedRun]) -> Curve:
    """Nodes and memory as the observed run had them, step times in the median of the processes."""
    found = growth.of({Version.ORIGINAL: run}, ())[0]
    steps = [median(values) for values in zip(*(one.steps_s for one in processes), strict=False)]
    return Curve(
        nodes=thinned(found.graph_nodes),
        memory_mb=thinned(found.memory_mb),
        step_s=binned(steps),
        retraces=found.retraces,
    )


def thinned(values: Sequence[float]) -> tuple[tuple[int, float], ...]:
    """Steps from 1, evenly apart, the first and the last among them."""
    last = len(values) - 1
    count = min(POINTS, len(values))
    places = sorted({round(place * last / max(count - 1, 1)) for place in range(count)})
    return tuple((place + 1, values[place]) for place in places)


def binned(values: Sequence[float]) -> tuple[tuple[int, float], ...]:
    """The first step by itself, then medians of neighbours."""
    later = values[1:]
    width = max(1, math.ceil(len(later) / POINTS))
    parts = ((start + 2, later[start : start + width]) for start in range(0, len(later), width))
    middles = tuple((first + len(part) // 2, median(part)) for first, part in parts)
    return ((1, values[0]), *middles) if values else ()


if __name__ == "__main__":
    sys.exit(main())
