"""Times scripts of the corpus as they were, as the tool writes them, and as an expert would.

    python benchmarks/expert_gain.py [NAME ...] [--rounds N] [--tensorflow 1.15]

Of each script that has an `expert.py` beside it, processes of the three versions take turns, with
marks at the loops that note the time. Prints Markdown: the median step of each version, how many
times as fast the rewritten and the expert's are, and the share of the expert's gain that the tool
gets. Needs the interpreters that `make setup` makes.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from tfrewrite.verify.growth import timed_run
from tfrewrite.verify.model import Version
from tfrewrite.verify.runs import Conditions, Laboratory, Observation, Program
from tfrewrite.verify.tf_generation import is_tf1_script

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpus_cases import CASES, Case  # noqa: E402  found by the line above

INTERPRETERS = {
    "1.15": ROOT / ".envs" / "tf1" / "bin" / "python",
    "2.21": ROOT / ".envs" / "tf2" / "bin" / "python",
}
SCRIPT = "original.py"
LEAST = 0.03
"""An expert who saves less of a step saves nothing that can be told from chance."""
VERSIONS = (SCRIPT, "expected.py", "expert.py")
HEADER = "| script | TensorFlow | original | rewritten | expert | gain | expert's gain | share |"


@dataclass(frozen=True)
class Row:
    """Median step times, in seconds."""

    case: Case
    tensorflow: str
    original_s: float
    rewritten_s: float
    expert_s: float

    @property
    def share(self) -> str:
        """Of the time that the expert saves, the part that the tool saves; if that is anything."""
        saved_s = self.original_s - self.expert_s
        if saved_s < LEAST * self.original_s:
            return "-"
        return f"{(self.original_s - self.rewritten_s) / saved_s:.0%}"

    def __str__(self) -> str:
        times = [f"{1e3 * time_s:.2f} ms" for time_s in (self.original_s, self.rewritten_s)]
        return " | ".join(
            (
                f"| {self.case.name}",
                self.tensorflow,
                *times,
                f"{1e3 * self.expert_s:.2f} ms",
                f"{self.original_s / self.rewritten_s:.2f}",
                f"{self.original_s / self.expert_s:.2f}",
                f"{self.share} |",
            )
        )


def main() -> None:
    arguments = parse()
    print(f"{os.cpu_count()} cores, {arguments.rounds} processes of each version\n")
    print(f"{HEADER}\n|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if not (case.folder / "expert.py").exists() or case.name not in (
            arguments.names or [case.name]
        ):
            continue
        for tensorflow in case.tensorflow:
            if tensorflow in arguments.tensorflow:
                print(timed(case, tensorflow, arguments.rounds), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="folders of corpus/; all that have an expert")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each version")
    parser.add_argument("--tensorflow", nargs="+", default=list(INTERPRETERS))
    return parser.parse_args()


def timed(case: Case, tensorflow: str, rounds: int) -> Row:
    steps_s: dict[str, list[float]] = {name: [] for name in VERSIONS}
    programs = {name: program(case, name) for name in VERSIONS}
    is_tf1 = is_tf1_script((case.folder / SCRIPT).read_text())
    conditions = Conditions(INTERPRETERS[tensorflow], is_tf1=is_tf1, synthetic=case.synthetic)
    with Laboratory.opened(conditions) as laboratory:
        seen = {name: observed(laboratory, programs[name], case.timed_loop) for name in VERSIONS}
        for number in range(rounds):
            for name in VERSIONS if number % 2 else reversed(VERSIONS):
                run = laboratory.time(programs[name], seen[name], seed=1)
                require_success(run, name)
                steps_s[name].append(median(timed_run(run, Version.ORIGINAL, number).steps_s))
    return Row(case, tensorflow, *(median(steps_s[name]) for name in VERSIONS))


def program(case: Case, name: str) -> Program:
    text = (case.folder / name).read_text()
    if case.longer is not None:
        piece, more = case.longer
        assert text.count(piece) == 1, f"{case.name}/{name} must have {piece!r} once"
        text = text.replace(piece, more)
    return Program.of(case.folder, SCRIPT, ((SCRIPT, text.encode()),))


def observed(laboratory: Laboratory, version: Program, loop: int | None) -> Observation:
    """Tells which loops train, if none is named; timed runs go to their own end."""
    run = laboratory.observe(version, seed=1, steps=0)
    require_success(run, version.script)
    if loop is None:
        return run
    turns: dict[str, int] = run.summary["turns_of"]
    number = sorted(turns, key=int)[loop - 1]
    return replace(run, summary={**run.summary, "steps_of": {number: turns[number]}})


def require_success(run: Observation, name: str) -> None:
    if not run.is_complete:
        sys.exit(f"{name} {run.result.describe()}\n{run.result.stderr}")


if __name__ == "__main__":
    main()
