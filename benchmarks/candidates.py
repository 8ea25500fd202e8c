"""Counts functions that work with tensors, and how they run then and now: `candidates.py TREE...`.

A candidate is a function that gives one of its parameters to an op of TensorFlow, or to a model,
layer, loss or metric that the file shows. Each is of one kind:

- `traced before`: a `tf.function`, or called by one.
- `by Keras`: a method such as `call` or `train_step` of a class that is made from another one.
  Keras calls it, eagerly or in a trace.
- `compiled`: it is in a trace after TFR201 and TFR202, and was not before.
- `in part`: TFR202 makes a compiled function of a stretch of it.
- `refused`: TFR201 or TFR202 says why it, or a stretch of it, is left as it is.
- `no step`: all others. No loop of its file calls it turn by turn, or it is too small.

Prints Markdown, the tables of `docs/sweeps-eager.md`: the kinds by tree, which share of the eager
candidates is compiled or is so in part, and which of the steps among them (all but `no step`), and
why the others are refused. Only files for TensorFlow 2 are counted.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sweep import Report, table

from tfrewrite.analysis.eager.abstract_values import Own, Thing
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.program.flow import evaluated

_RULES = ("--select", "TFR201,TFR202")
_KINDS = ("traced before", "by Keras", "compiled", "in part", "refused", "no step")
_EAGER = _KINDS[2:]
_OF_KERAS = frozenset({"model", "layer", "loss", "metric"})
_HOOKS = frozenset(
    "call build compute_loss compute_mask compute_metrics compute_output_shape get_config"
    " predict_step test_step train_step update_state result".split()
)


@dataclass(frozen=True)
class Candidate:
    """A function that works with tensors."""

    key: tuple[str, int]
    lines: range
    traced: bool
    by_keras: bool


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one a processor")
    given = parser.parse_args(arguments)
    counts: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    for tree in given.trees:
        name = tree.resolve().name.replace("+", "/")
        kinds = kinds_in(tree, given.jobs, reasons)
        counts[name] = Counter(kinds)
        print(name, file=sys.stderr)
    print(by_tree(counts))
    print()
    print(table(["reason", "functions"], [[*one] for one in reasons.most_common()]))
    return 0


def kinds_in(tree: Path, jobs: int, reasons: Counter[str]) -> Iterator[str]:
    """The kind of each candidate in a tree; notes why some are refused."""
    with tempfile.TemporaryDirectory() as folder:
        after = Path(folder) / tree.resolve().name
        shutil.copytree(tree, after, ignore=shutil.ignore_patterns("*.ipynb"))
        report = applied(after, jobs)
        for file in sorted(report["files"], key=lambda one: str(one["path"])):
            path = file["path"]
            old = candidates(facts_of(tree / path))
            new = candidates(facts_of(after / path)) if file["status"] == "rewritten" else old
            traced = {one.key for one in new if one.traced}
            for one in old:
                yield _kind(one, traced, path, report, reasons)


def applied(tree: Path, jobs: int) -> Report:
    """Rewrites a tree, and gives the report of it."""
    command = [sys.executable, "-m", "tfrewrite", "apply", ".", "--no-cache", "--format", "json"]
    command += [*_RULES, "--jobs", str(jobs)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{tree}: {done.stderr.strip()}")
    report: Report = json.loads(done.stdout)
    return report


def _kind(
    one: Candidate, traced: set[tuple[str, int]], path: str, report: Report, reasons: Counter[str]
) -> str:
    if one.traced:
        return "traced before"
    if one.by_keras:
        return "by Keras"
    if one.key in traced:
        return "compiled"
    here = [site for site in report["findings"] if site["path"] == path and site["applied"]]
    if any(site["line"] in one.lines for site in here):
        return "in part"
    for site in report["refusals"]:
        if site["path"] == path and site["line"] in one.lines:
            reasons[site["reason"]] += 1
            return "refused"
    return "no step"


def facts_of(path: Path) -> Facts | None:
    """What is known of a file; None of one that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        return Facts.build(text, ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def candidates(facts: Facts | None) -> list[Candidate]:
    """The functions of a file that work with tensors, none where it is not for TensorFlow 2."""
    if facts is None or "tensorflow" not in facts.source.text:
        return []
    if facts.otherwise_run:
        return []
    found = []
    seen: Counter[str] = Counter()
    for function in sorted(facts.source.all(ast.FunctionDef), key=lambda one: one.lineno):
        seen[function.name] += 1
        if any(map(set(parameters(function)).intersection, given_to_ops(facts, function))):
            lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
            cls = facts.source.parent(function)
            of_class = isinstance(cls, ast.ClassDef) and bool(cls.bases)
            traced = facts.step_functions.is_traced(function.body[0])
            by_keras = of_class and function.name in _HOOKS
            key = (function.name, seen[function.name])
            found.append(Candidate(key, lines, traced, by_keras))
    return found


def parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in named if one.arg not in ("self", "cls")]


def given_to_ops(facts: Facts, function: ast.FunctionDef) -> Iterator[set[str]]:
    """The names that each call of an op, or of an object of Keras, is given as they are."""
    for statement in function.body:
        for node in evaluated(statement):
            if isinstance(node, ast.Call) and _works_with_tensors(facts, node.func):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                inner = [
                    part
                    for one in given
                    for part in (one.elts if isinstance(one, (ast.List, ast.Tuple)) else [one])
                ]
                yield {part.id for part in inner if isinstance(part, ast.Name)}


def _works_with_tensors(facts: Facts, func: ast.expr) -> bool:
    symbol = facts.names.tf(func)
    if symbol is not None:
        effect = effect_of(symbol, "2")
        return effect is not None and effect.returns_tensor and not symbol[:1].isupper()
    if facts.names.dotted(func) is not None:
        return False
    value = facts.eager_values.value(func)
    if isinstance(value, Own):
        return facts.eager_values.members.base(value.cls) is not None
    return isinstance(value, Thing) and value.kind in _OF_KERAS


# What is printed


def by_tree(counts: dict[str, Counter[str]]) -> str:
    rows = [_row(name, count) for name, count in counts.items()]
    rows.append(_row("all", sum(counts.values(), Counter())))
    return table(["tree", "candidates", *_KINDS, "of the eager ones", "of the steps"], rows)


def _row(name: str, count: Counter[str]) -> list[str | int]:
    made = count["compiled"] + count["in part"]
    eager = sum(count[kind] for kind in _EAGER)
    shares = [f"{made / all_:.1%}" if all_ else "" for all_ in (eager, eager - count["no step"])]
    return [name, sum(count.values()), *(count[kind] for kind in _KINDS), *shares]


if __name__ == "__main__":
    sys.exit(main())
