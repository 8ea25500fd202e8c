"""Tries the rules on scripts of the corpus that are bent at random, each run before and after.

    python benchmarks/bent_scripts.py --tensorflow 1.15 [--minutes 10] [--first 1] [--keep FOLDER]

Each script of `corpus/` that the version runs is bent in one to five places (`bends.py`). Where the
rules rewrite what comes of it, both versions are run with the same seeds, and what they print, how
they end and what their variables hold is compared: to seven digits where the sites promise `exact`,
else to three; where rounding has grown beyond these, `verify` has the last word. TFR102 is asked
for in every third script. The same numbers give the same scripts. Ends with 1 where versions
differ; these are kept, if a folder is named.

What the pages of the rules say may differ is not counted: the exception of a batch that is made
ahead (TFR102), a run without its feed beside one with it (TFR101), the sessions that are no longer
made (TFR106), an op that cannot be made (TFR103), and how far a step comes that ends in an
exception (TFR201, TFR202).
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

from bends import Bender, Kinds
from results_samples import INTERPRETERS, ROOT

from tfrewrite.engine import rewrite_text
from tfrewrite.model import Contract, Outcome
from tfrewrite.registry import all_rules
from tfrewrite.verify.experiment import Effort, Pair, verify
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Subject, Verdict
from tfrewrite.verify.runs import Conditions, Laboratory, Program
from tfrewrite.verify.tf_generation import is_tf1_script

sys.path.insert(0, str(ROOT / "tests"))

from corpus_cases import CASES

LONGEST_S = 2.0
LIMIT_S = 30
EXACT = 1e-7
"""The part of a number by which it may differ where it is promised to be the same."""
ROUNDED = 2e-3
NEAR_ZERO = 5e-2
"""Below this it is the absolute difference that counts, where numbers may be rounded."""
GROWING = ("printed", "variables")
RAISING_OTHERWISE = frozenset({"TFR102", "TFR103", "TFR201", "TFR202"})
NO_SCRIPTS = ("NameError", "UnboundLocalError", "killed")
"""Ends that tell of a bend, not of a script."""
_NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")


Value = tuple[str, str | tuple[float, float]]
"""A variable's name, and the sum of its values and of their sizes, or what else is known of it."""


@dataclass(frozen=True)
class Run:
    """What came of a script."""

    ended: str | None
    printed: str
    values: list[Value]
    names: Kinds
    seconds: float


class Runner:
    """A process with TensorFlow, a fork of which runs a script."""

    def __init__(self, python: Path) -> None:
        self.python = python
        program = Path(__file__).with_name("forked_runs.py")
        self._process = subprocess.Popen(
            [python, program, str(LIMIT_S)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._answer()

    def run(self, path: Path) -> Run:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        return Run(**json.loads(self._answer()))

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("forked_runs.py ended; does the interpreter have TensorFlow?")
        return line


@dataclass(frozen=True)
class Script:
    """One to be bent, and what its names are."""

    name: str
    text: str
    kinds: Kinds
    in_graph: bool


@dataclass(frozen=True)
class Bent:
    """A bent script that the rules rewrite, and how the two versions differ, if they do."""

    number: int
    name: str
    bends: tuple[str, ...]
    before: str
    after: str
    rules: tuple[str, ...]
    difference: str


def scripts(tensorflow: str, runner: Runner) -> list[Script]:
    """Those of the corpus that run quickly, and by themselves."""
    found = []
    for case in CASES:
        if tensorflow not in case.tensorflow or case.fails or case.synthetic:
            continue
        path = case.folder / "original.py"
        run = runner.run(path)
        text = path.read_text()
        if run.seconds < LONGEST_S and (run.ended or "SystemExit").startswith("SystemExit"):
            in_graph = "1.15" in case.tensorflow
            found.append(Script(case.name, text, run.names, in_graph))
    return found


def tried(
    every: list[Script], runner: Runner, folder: Path, numbers: Iterable[int], counts: Counter[str]
) -> Iterator[Bent]:
    """The bent scripts of these numbers that are rewritten, and whose runs tell something."""
    for number in numbers:
        chance = random.Random(number)  # noqa: S311
        script = chance.choice(every)
        bender = Bender(script.text, script.kinds, script.in_graph, number)
        text = bender.bent(chance.randint(1, 5))
        if text is None:
            continue
        counts["bent"] += 1
        outcome = rewritten(text, with_feeds=script.in_graph and number % 3 == 0)
        found = compared(outcome, runner, folder) if outcome.after != text else None
        if found is not None:
            rules = tuple(sorted({one.rule for one in outcome.findings if one.applicable}))
            made = tuple(bender.made)
            yield Bent(number, script.name, made, text, outcome.after, rules, found)


def rewritten(text: str, *, with_feeds: bool) -> Outcome:
    rules = [
        one for one in all_rules() if not one.on_request or (with_feeds and one.code == "TFR102")
    ]
    outcome = rewrite_text(text, rules)
    if outcome.error:
        raise SystemExit(f"{outcome.error}:\n{text}")
    return outcome


def compared(outcome: Outcome, runner: Runner, folder: Path) -> str | None:
    """How the versions differ, "" if not at all; None where the original tells nothing."""
    paths = folder / "before.py", folder / "after.py"
    paths[0].write_text(outcome.before)
    before = runner.run(paths[0])
    if before.ended in NO_SCRIPTS:
        return None
    paths[1].write_text(outcome.after)
    after = runner.run(paths[1])
    found = difference(outcome, before, after)
    if found and difference(outcome, before, runner.run(paths[0])):
        return None  # it does not repeat itself
    if found in GROWING and is_rounded(outcome) and is_held(outcome, runner.python):
        return ""
    return found


def is_rounded(outcome: Outcome) -> bool:
    return any(one.contract is Contract.ROUNDING for one in outcome.findings if one.applicable)


def is_held(outcome: Outcome, python: Path) -> bool:
    """Whether rounding alone takes the original as far from itself."""
    name, source = "bent.py", outcome.before.encode()
    conditions = Conditions(python, is_tf1=is_tf1_script(outcome.before))
    with TemporaryDirectory() as folder, Laboratory.opened(conditions) as laboratory:
        tree = Path(folder)
        (tree / name).write_bytes(source)
        pair = Pair(
            Subject(name, name, "bent", Contract.ROUNDING),
            Program.of(tree, name),
            Program.of(tree, name, ((name, outcome.after.encode()),)),
            Promise(Contract.ROUNDING),
        )
        found = verify(pair, laboratory, Effort(timed=False), lambda _: None)
    return found.verdict is Verdict.PASS


def difference(outcome: Outcome, before: Run, after: Run) -> str:
    """In which respect two runs differ beyond what the sites say."""
    made = [one for one in outcome.findings if one.applicable]
    rules = {one.rule for one in made}
    limit = EXACT if all(one.contract in (None, Contract.EXACT) for one in made) else ROUNDED
    if before.ended and after.ended and rules & RAISING_OTHERWISE:
        start, whole = sorted((before.printed, after.printed), key=len)
        return "" if is_close(start, whole[: len(start)], limit) else "printed"
    if before.ended and "TFR101" in rules and after.printed.startswith(before.printed):
        return ""
    if before.ended != after.ended:
        return f"ended by {after.ended}, not by {before.ended}"
    if not is_close(before.printed, after.printed, limit):
        return "printed"
    if "TFR106" in rules or are_close(before.values, after.values, limit):
        return ""
    return "variables"


def are_close(some: Sequence[Value], others: Sequence[Value], limit: float) -> bool:
    """Whether variables have the same names, and values that are as near as that."""
    if [name for name, _ in some] != [name for name, _ in others]:
        return False
    for (_, one), (_, other) in zip(some, others, strict=True):
        if isinstance(one, str) or isinstance(other, str):
            if one != other:
                return False
        elif one != other and not all(map(math.isnan, (*one, *other))):
            size = max(one[1], other[1], NEAR_ZERO if limit == ROUNDED else 0.0)
            if not all(abs(a - b) <= limit * size for a, b in zip(one, other, strict=True)):
                return False
    return True


def is_close(one: str, other: str, limit: float) -> bool:
    """Whether texts are the same but for numbers that are as near as that."""
    one, other = (" ".join(_ADDRESS.sub("0x", text).split()) for text in (one, other))
    if one == other:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    smallest = NEAR_ZERO if limit == ROUNDED else 0.0
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        abs(float(a) - float(b)) <= limit * max(abs(float(a)), abs(float(b)), smallest)
        for a, b in pairs
    )


def keep(bent: Bent, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# {bent.name}: {bent.difference}; {', '.join(bent.rules)}\n"
    head += "".join(f"# {line}\n" for one in bent.bends for line in one.splitlines())
    (folder / f"{bent.number}_before.py").write_text(head + bent.before)
    (folder / f"{bent.number}_after.py").write_text(bent.after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", choices=sorted(INTERPRETERS), required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=1, help="the number of the first script")
    parser.add_argument("--keep", type=Path, help="where scripts that differ are written")
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    with closing(Runner(INTERPRETERS[asked.tensorflow])) as runner, TemporaryDirectory() as folder:
        every = scripts(asked.tensorflow, runner)
        end = time.monotonic() + 60 * asked.minutes
        numbers = takewhile(lambda _: time.monotonic() < end, count(asked.first))
        for bent in tried(every, runner, Path(folder), numbers, counts):
            counts["rewritten and run"] += 1
            by_rule.update(bent.rules)
            if bent.difference:
                counts["differ"] += 1
                print(f"{bent.number} ({bent.name}): {bent.difference}; {', '.join(bent.rules)}")
                if asked.keep:
                    keep(bent, asked.keep)
    print(
        f"TensorFlow {asked.tensorflow}, {len(every)} scripts of the corpus:"
        f" {counts['bent']} bent, {counts['rewritten and run']} rewritten and run,"
        f" {counts['differ']} differ"
    )
    print(", ".join(f"{rule} {count}" for rule, count in sorted(by_rule.items())))
    return int(counts["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())
