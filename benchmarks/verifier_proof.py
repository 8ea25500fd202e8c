"""Tries the verifier on programs with right and wrong rewrites, and prints both rates.

    python benchmarks/verifier_proof.py [--seeds N] [--only NAME] [--json FILE]

The programs are those of tests/verifier_programs. Needs the interpreters that `make setup` makes.
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

from tfrewrite.model import Contract
from tfrewrite.verify.experiment import SEEDS_FOR_DISTRIBUTIONS, Baseline, Effort, Pair, verify
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Subject, Verdict, Verification
from tfrewrite.verify.runs import Conditions, Laboratory
from tfrewrite.verify.runs import Program as Version
from tfrewrite.verify.tf_generation import is_tf1_script

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from verifier_programs import Program, Variant, programs  # noqa: E402  found by the line above

INTERPRETERS = {
    "1.15": ROOT / ".envs" / "tf1" / "bin" / "python",
    "2.21": ROOT / ".envs" / "tf2" / "bin" / "python",
}
SCRIPT = "original.py"


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
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    done: list[Trial] = []
    for program in programs():
        if asked.only and program.name not in asked.only:
            continue
        version = program.tensorflow[0]
        for seed in range(1, asked.seeds + 1):
            for one in trials(program, version, INTERPRETERS[version], seed, program.variants):
                done.append(one)
                mark = "well " if one.is_well else "WRONG"
                print(
                    f"{mark} {one.program} {one.variant} seed {one.seed}: {one.verdict}, "
                    f"{one.ratio:.3g}, {one.seconds:.0f} s: {one.reason}",
                    file=sys.stderr,
                    flush=True,
                )
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in done], indent=1))
    print(table(done))
    return 0 if all(one.is_well for one in done) else 1


def table(done: list[Trial]) -> str:
    """Both rates by program, and how far the near ones were told apart."""
    head = (
        "| program | TensorFlow | right, passed | wrong, caught | largest ratio of a right one "
        "| smallest of a wrong one |"
    )
    names = dict.fromkeys(one.program for one in done)
    lines = [head, "|---|---|---|---|---|---|"]
    lines += [_row(name, [one for one in done if one.program == name]) for name in names]
    lines.append(_row("all", done))
    near = [one for one in done if one.is_near and not one.is_right]
    lines += [
        "",
        "| near one | program | ratio (smallest over the seeds) | verdict |",
        "|---|---|---|---|",
    ]
    for key in dict.fromkeys((one.variant, one.program) for one in near):
        own = [one for one in near if (one.variant, one.program) == key]
        verdicts = ", ".join(sorted({one.verdict for one in own}))
        smallest = min(one.ratio for one in own)
        lines.append(f"| {key[0]} | {key[1]} | {_shown(smallest)} | {verdicts} |")
    return "\n".join(lines)


def _row(name: str, done: list[Trial]) -> str:
    right, wrong = ([one for one in done if one.is_right is kind] for kind in (True, False))
    versions = ", ".join(sorted({one.tensorflow for one in done}))
    largest = max((one.ratio for one in right if one.contract != "exact"), default=0.0)
    smallest = min((one.ratio for one in wrong if one.verdict == "fail"), default=0.0)
    return (
        f"| {name} | {versions} | {_rate(right)} | {_rate(wrong)} | {_shown(largest)} "
        f"| {_shown(smallest)} |"
    )


def _rate(done: list[Trial]) -> str:
    return f"{sum(one.is_well for one in done)} of {len(done)}"


def _shown(ratio: float) -> str:
    return "any at all" if math.isinf(ratio) else f"{ratio:.2g}"


if __name__ == "__main__":
    sys.exit(main())
