"""Checks trees of code with all rules, and prints what was found: `sweep.py TREE...`.

Each tree is checked twice: as it is done by default, and with every rule, also those on request,
and every contract. Prints Markdown, the tables of `docs/sweeps.md`: what was found in each tree,
the sites by rule and contract, and the refusals by rule and reason. `--select TFR2,TFR3` leaves
out the rules whose codes begin otherwise; `--json DIRECTORY` keeps what the checks wrote.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfrewrite.model import DEFAULT_CONTRACTS, Contract
from tfrewrite.registry import all_rules

Report = dict[str, Any]
Reports = list[Report]


@dataclass(frozen=True)
class Sweep:
    """What the two checks of one tree found."""

    name: str
    default: Report
    everything: Report


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--select", default="TFR", help="how the codes of the rules begin")
    parser.add_argument("--json", type=Path, metavar="DIRECTORY", help="keep the reports there")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one a processor")
    given = parser.parse_args(arguments)
    sweeps = []
    begin = tuple(given.select.split(","))
    for tree in given.trees:
        name = tree.resolve().name.replace("+", "/")
        default = check(tree, given.jobs, "--select", given.select)
        sweeps.append(Sweep(name, default, check(tree, given.jobs, *everything(begin))))
        if given.json is not None:
            keep(sweeps[-1], given.json)
        print(name, file=sys.stderr)
    print(markdown(sweeps))
    return 0


def everything(begin: tuple[str, ...] = ("TFR",)) -> list[str]:
    """The options that ask for all rules whose codes begin so, and for all contracts."""
    codes = ",".join(rule.code for rule in all_rules() if rule.code.startswith(begin))
    contracts = ",".join(one.value for one in Contract if one not in DEFAULT_CONTRACTS)
    return ["--select", codes, "--allow", contracts]


def check(tree: Path, jobs: int, *options: str) -> Report:
    command = [sys.executable, "-m", "tfrewrite", "check", ".", "--no-cache", "--format", "json"]
    command += ["--exclude", "*.ipynb"]
    done = subprocess.run(
        [*command, "--jobs", str(jobs), *options],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"{tree}: {done.stderr.strip()}")
    report: Report = json.loads(done.stdout)
    return report


def keep(sweep: Sweep, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for kind, report in (("default", sweep.default), ("everything", sweep.everything)):
        path = directory / f"{sweep.name.replace('/', '+')}.{kind}.json"
        path.write_text(json.dumps(report, indent=1))


# What is printed


def markdown(sweeps: list[Sweep]) -> str:
    return "\n\n".join([by_tree(sweeps), by_rule(sweeps), by_reason(sweeps)])


def by_tree(sweeps: list[Sweep]) -> str:
    rows: list[list[Any]] = []
    for sweep in sweeps:
        files = sweep.everything["files"]
        failed: Reports = [one for one in files if one["status"] == "failed"]
        python2 = len([one for one in failed if "Python 2" in str(one["error"])])
        rows.append(
            [
                sweep.name,
                len(files),
                python2,
                len(failed) - python2,
                _sites(sweep.default["findings"], applicable=True),
                _sites(sweep.everything["findings"]),
                len(sweep.everything["refusals"]),
            ]
        )
    total = [sum(row[at] for row in rows) for at in (1, 2, 3, 6)]
    rows.append(["all", *total[:3], "", "", total[3]])
    head = ["tree", "files", "Python 2", "not read", "made by default", "all rules", "refused"]
    return table(head, rows)


def by_rule(sweeps: list[Sweep]) -> str:
    found = Counter(
        (one["rule"], one["name"], one["contract"] or "report")
        for sweep in sweeps
        for one in sweep.everything["findings"]
    )
    default = Counter(
        (one["rule"], one["name"], one["contract"] or "report")
        for sweep in sweeps
        for one in sweep.default["findings"]
        if one["applicable"]
    )
    rows = [[f"{code} {name}", kind, default[code, name, kind], found[code, name, kind]]
            for code, name, kind in sorted(found | default)]  # fmt: skip
    return table(["rule", "contract", "made by default", "all rules"], rows)


def by_reason(sweeps: list[Sweep]) -> str:
    found = Counter(
        (one["rule"], one["reason"]) for sweep in sweeps for one in sweep.everything["refusals"]
    )
    rules: dict[str, list[tuple[str, int]]] = {}
    for (code, reason), count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        rules.setdefault(code, []).append((reason, count))
    rows = [
        [code, sum(count for _, count in reasons), ", ".join(f"{one} {n}" for one, n in reasons)]
        for code, reasons in sorted(rules.items())
    ]
    return table(["rule", "refused", "reasons"], rows)


def _sites(findings: list[dict[str, Any]], *, applicable: bool = False) -> str:
    """`101 exact 2, 105 exact 1`."""
    counts = Counter(
        (one["rule"].removeprefix("TFR"), one["contract"] or "report")
        for one in findings
        if one["applicable"] or not applicable
    )
    return ", ".join(f"{code} {kind} {count}" for (code, kind), count in sorted(counts.items()))


def table(head: list[str], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
