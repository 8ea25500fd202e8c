"""Tries the verifier on programs with right and wrong rewrites, and prints both rates.

    python benchmarks/verifier_proof.py [--only NAME] [--render]

The programs are those of tests/verifier_programs. What came of one under a seed is kept in
docs/results/proof, and is not tried again while the program and its rewrites are the same, so that
a proof can be ended at any time and gone on with later. Then docs/proof.md is written from what is
kept. Needs the interpreters that `make setup` makes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from results_samples import INTERPRETERS, ROOT, digest_of

from tfrewrite.model import Contract
from tfrewrite.verify.experiment import SEEDS_FOR_DISTRIBUTIONS, Baseline, Effort, Pair, verify
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Subject, Verdict, Verification
from tfrewrite.verify.runs import Conditions, Laboratory
from tfrewrite.verify.runs import Program as Version
from tfrewrite.verify.tf_generation import is_tf1_script

sys.path.insert(0, str(ROOT / "tests"))

from verifier_programs import Program, Variant, programs

SCRIPT = "original.py"
SEEDS = 3
KEPT = ROOT / "docs" / "results" / "proof"
PAGE = ROOT / "docs" / "proof.md"

HEAD = """\
# The proof of the verifier

Programs in the manner of old training code, each with rewrites that are right and rewrites that
are wrong, many of them by little: a learning rate off by 0.1%, an epsilon ten times as large, one
example too few in a mean. The verifier holds each to its promise under three seeds. `make proof`
does this and writes this page; [How verification works](verification.md) tells how it is judged.

A distance is given as a multiple of what is allowed, so that above 1 a rewrite is failed. *Any*:
the difference is one that no distance allows, as where the same bits are promised, or of a text.
"""
NEAR_HEAD = """\
## Those that are wrong by little
"""


@dataclass(frozen=True)
class Trial:
    """One variant under one seed. `ratio` is the distance as a multiple of what is allowed."""

    program: str
    tensorflow: str
    variant: str
    is_right: bool
    is_near: bool
    contract: str
    seed: int
    verdict: str
    reason: str
    ratio: float
    step: int
    seconds: float

    @property
    def is_well(self) -> bool:
        return (self.verdict == Verdict.PASS.value) == self.is_right


def trials(
    program: Program, version: str, python: Path, seed: int, variants: tuple[Variant, ...]
) -> Iterator[Trial]:
    """Holds each variant to the same runs of the original."""
    with tempfile.TemporaryDirectory(prefix="tfrewrite-") as name:
        tree = Path(name)
        source = (program.folder / SCRIPT).read_bytes()
        (tree / SCRIPT).write_bytes(source)
        conditions = Conditions(python, is_tf1=is_tf1_script(source.decode()))
        with Laboratory.opened(conditions) as laboratory:
            original = Version.of(tree, SCRIPT)
            effort = Effort(timed=False, seed=seed)
            baseline = Baseline(original, laboratory, effort, lambda _: None)
            for variant in variants:
                began = time.monotonic()
                found = verified(program, variant, laboratory, baseline)
                yield trial(program, version, variant, seed, found, time.monotonic() - began)


def verified(
    program: Program, variant: Variant, laboratory: Laboratory, baseline: Baseline
) -> Verification:
    several = variant.contract is Contract.RESAMPLED
    effort = Effort(
        timed=False,
        seed=baseline.effort.seed,
        seeds=SEEDS_FOR_DISTRIBUTIONS if several else 1,
    )
    pair = Pair(
        Subject(program.name, SCRIPT, variant.name, variant.contract),
        baseline.program,
        Version.of(baseline.program.tree, SCRIPT, ((SCRIPT, variant.source(program).encode()),)),
        Promise(variant.contract),
    )
    return verify(pair, laboratory, effort, lambda _: None, baseline)


def trial(
    program: Program, version: str, variant: Variant, seed: int, found: Verification, took: float
) -> Trial:
    numerics = found.numerics
    broken = numerics.divergence if numerics else None
    return Trial(
        program.name,
        version,
        variant.name,
        variant.is_right,
        variant.near,
        variant.contract.value,
        seed,
        found.verdict.value,
        found.reason,
        numerics.worst_ratio if numerics else math.inf,
        broken.step if broken else 0,
        took,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--render", action="store_true", help="write the page and try nothing")
    asked = parser.parse_args()
    for program in programs():
        if asked.render or (asked.only and program.name not in asked.only):
            continue
        for seed in range(1, SEEDS + 1):
            if kept(program, seed) is None:
                keep(program, seed, tried(program, seed))
    done = [one for program in programs() for one in all_kept(program)]
    PAGE.write_text(render(done))
    print("\n".join(table(done)))
    return 0 if all(one.is_well for one in done) else 1


def tried(program: Program, seed: int) -> list[Trial]:
    version = program.tensorflow[0]
    done = []
    for one in trials(program, version, INTERPRETERS[version], seed, program.variants):
        done.append(one)
        mark = "well " if one.is_well else "WRONG"
        print(
            f"{mark} {one.program} {one.variant} seed {one.seed}: {one.verdict}, "
            f"{one.ratio:.3g}, {one.seconds:.0f} s: {one.reason}",
            file=sys.stderr,
            flush=True,
        )
    return done


# What is kept.


def digest(program: Program) -> str:
    """Of all that a trial's outcome depends on, but for the verifier itself."""
    parts = [program.original] + [
        f"{one.name} {one.contract.value} {one.is_right} {one.near}\n{one.source(program)}"
        for one in program.variants
    ]
    return digest_of(parts)


def file_of(program: Program, seed: int) -> Path:
    return KEPT / f"{program.name}-{seed}.json"


def keep(program: Program, seed: int, done: list[Trial]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    rows = [{**asdict(one), "ratio": None if math.isinf(one.ratio) else one.ratio} for one in done]
    content = {"digest": digest(program), "trials": rows}
    file_of(program, seed).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


def kept(program: Program, seed: int) -> list[Trial] | None:
    path = file_of(program, seed)
    if not path.exists():
        return None
    content = json.loads(path.read_text())
    if content["digest"] != digest(program):
        return None
    return [_trial(**one) for one in content["trials"]]


def _trial(ratio: float | None, **rest: Any) -> Trial:
    return Trial(ratio=math.inf if ratio is None else ratio, **rest)


def all_kept(program: Program) -> list[Trial]:
    return [one for seed in range(1, SEEDS + 1) for one in kept(program, seed) or []]


# The page.


def render(done: list[Trial]) -> str:
    near = [one for one in done if one.is_near]
    return "\n".join([HEAD, *table(done), "", NEAR_HEAD, *near_table(near), ""])


def table(done: list[Trial]) -> list[str]:
    """Both rates by program, and how far right ones and near ones were told apart."""
    names = dict.fromkeys(one.program for one in done)
    head = (
        "| program | TensorFlow | right, passed | wrong, caught | largest of a right one "
        "| smallest of a near one |"
    )
    return [
        head,
        "|---|---|---|---|---|---|",
        *(_row(name, [one for one in done if one.program == name]) for name in names),
        _row("all", done),
    ]


def _row(name: str, done: list[Trial]) -> str:
    right, wrong = ([one for one in done if one.is_right is kind] for kind in (True, False))
    versions = ", ".join(sorted({one.tensorflow for one in done}))
    largest = max((one.ratio for one in right), default=0.0)
    smallest = min((one.ratio for one in wrong if one.is_near), default=0.0)
    return (
        f"| {name} | {versions} | {_rate(right)} | {_rate(wrong)} | {_shown(largest)} "
        f"| {_shown(smallest)} |"
    )


def near_table(near: list[Trial]) -> list[str]:
    lines = [
        "| program | rewrite | promise | verdict | smallest distance |",
        "|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((one.program, one.variant, one.contract) for one in near):
        own = [one for one in near if (one.program, one.variant, one.contract) == key]
        verdicts = ", ".join(sorted({one.verdict for one in own}))
        smallest = _shown(min(one.ratio for one in own))
        lines.append(f"| {' | '.join(key)} | {verdicts} | {smallest} |")
    return lines


def _rate(done: list[Trial]) -> str:
    return f"{sum(one.is_well for one in done)} of {len(done)}"


def _shown(ratio: float) -> str:
    if math.isinf(ratio):
        return "any"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


if __name__ == "__main__":
    sys.exit(main())
