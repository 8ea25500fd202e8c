"""Times `tfrewrite check` beside other tools on one tree: `check_speed.py TREE [--rounds N]`.

All tools take turns within a round, so that a busy moment of the machine meets all of them. Each
measurement is a fresh process; the figures are medians over the rounds. Peak memory is that of the
largest single process, the tool's own or one of its workers.

The samples are kept in `docs/results/tools.json`; `docs/results.md` is written from them, a table
and each requirement with whether it holds.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
DEV = ROOT / ".venv" / "bin"
BENCH = ROOT / ".envs" / "bench" / "bin"

COLD = "tfrewrite check, cold"
WARM = "tfrewrite check, warm"
RUFF = "Ruff, all rules, no cache"
TORCHFIX = "TorchFix"
UPGRADE = "tf_upgrade_v2"
BARE = "bare interpreter"
HELP = "tfrewrite --help"
RULES = "tfrewrite rules"

SECTION = """\
## Speed of `check`

`make bench-tools TREE=path` times this on a tree of Python files. The tools take turns within a
round; each figure is the median over the rounds, with the range. Peak memory is that of the largest
single process, workers included. tf_upgrade_v2 runs file by file in one process
(`benchmarks/upgrade_tree.py`), because the command itself ends at the first file that its parser
trips over.
"""


@dataclass(frozen=True)
class Task:
    """A command to time. `accepted` are the exit codes that mean it did its work."""

    name: str
    command: tuple[str, ...]
    accepted: frozenset[int] = frozenset({0, 1})


@dataclass
class Samples:
    """What the runs of one task took."""

    seconds: list[float] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)


def complain_of_failure(task: Task, code: int, output: Path) -> None:
    """Ends the benchmark if a tool failed; one that crashes can end with 1, like one with findings.

    The output is read line by line: a process that is started inherits the peak memory of this one.
    """
    last: deque[str] = deque(maxlen=30)
    crashed = False
    with output.open(errors="replace") as lines:
        for line in lines:
            last.append(line[:500])
            crashed = crashed or line.startswith("Traceback (most recent")
    if crashed or code not in task.accepted:
        sys.exit(f"{task.name} ended with exit code {code}:\n{''.join(last)}")


def run_task(task: Task, folder: Path) -> tuple[float, float]:
    """Seconds, and megabytes of the largest process that the command consisted of."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "HOME": str(folder / "home")}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    with (folder / "output").open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            task.command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        complain_of_failure(task, process.returncode, folder / "output")
    return seconds, usage.ru_maxrss / 1024


def upgrade_python() -> Path | None:
    """An interpreter that has tf_upgrade_v2: that of TensorFlow 1.15, else that of TensorFlow 2."""
    for name in ("tf1", "tf2"):
        python = ROOT / ".envs" / name / "bin" / "python"
        if python.exists():
            return python
    return None


def tree_tasks(tree: Path, room: Path) -> list[Task]:
    check = (str(DEV / "tfrewrite"), "check", str(tree), "--quiet")
    # A file that a tool cannot parse is work done all the same; the tree has some in Python 2.
    tasks = [
        Task(COLD, (*check, "--no-cache"), frozenset({0, 1, 2})),
        Task(WARM, check, frozenset({0, 1, 2})),
        Task(
            RUFF,
            (
                str(BENCH / "ruff"),
                "check",
                "--isolated",
                "--select",
                "ALL",
                "--no-cache",
                "--exit-zero",
                "--quiet",
                str(tree),
            ),
        ),
        Task(TORCHFIX, (str(BENCH / "torchfix"), "--select", "ALL", str(tree))),
    ]
    python = upgrade_python()
    if python is not None:
        driver = str(Path(__file__).with_name("upgrade_tree.py"))
        tasks.append(Task(UPGRADE, (str(python), driver, str(tree), str(room / "upgraded"))))
    return tasks


def start_tasks() -> list[Task]:
    tool = str(DEV / "tfrewrite")
    return [
        Task(BARE, (str(DEV / "python"), "-c", "pass")),
        Task(HELP, (tool, "--help")),
        Task(RULES, (tool, "rules")),
    ]


def measure(tasks: list[Task], rounds: int, room: Path) -> dict[str, Samples]:
    samples = {task.name: Samples() for task in tasks}
    for turn in range(rounds):
        first = turn % len(tasks)
        for task in tasks[first:] + tasks[:first]:
            shutil.rmtree(room / "upgraded", ignore_errors=True)
            seconds, peak_mb = run_task(task, room)
            samples[task.name].seconds.append(seconds)
            samples[task.name].peak_mb.append(peak_mb)
            print(f"{turn + 1}/{rounds} {task.name}: {seconds:.2f} s", file=sys.stderr)
    return samples


def version_of(*command: str | Path) -> str:
    run = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    lines = run.stdout.split("\n")
    return lines[0].strip() or "unknown"


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(tree: Path) -> str:
    files = [path for path in tree.rglob("*.py") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    return f"{len(files)} Python files, {megabytes:.1f} MB"


def spread(values: list[float], scale: float, digits: int) -> str:
    low, middle, high = min(values) * scale, median(values) * scale, max(values) * scale
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def tables(samples: Mapping[str, Samples]) -> Iterator[str]:
    whole = median(samples[UPGRADE].seconds) if UPGRADE in samples else None
    yield "| tool | seconds (range) | against tf_upgrade_v2 | peak memory of a process |"
    yield "|---|---|---|---|"
    for name in (COLD, WARM, RUFF, TORCHFIX, UPGRADE):
        if name in samples:
            taken = samples[name]
            share = f"{median(taken.seconds) / whole:.3f}" if whole else "-"
            peak = f"{max(taken.peak_mb):.0f} MB"
            yield f"| {name} | {spread(taken.seconds, 1, 2)} | {share} | {peak} |"
    yield "\n| start-up | milliseconds (range) | over the bare interpreter |\n|---|---|---|"
    bare = median(samples[BARE].seconds)
    for name in (BARE, HELP, RULES):
        taken = samples[name]
        over = 1000 * (median(taken.seconds) - bare)
        yield f"| {name} | {spread(taken.seconds, 1000, 0)} | {over:.0f} |"
    yield "\n| requirement | measured | holds |\n|---|---|---|"
    for requirement, measured, holds in requirements(samples):
        yield f"| {requirement} | {measured} | {'yes' if holds else '**no**'} |"


def section(kept: Mapping[str, Any]) -> str:
    """What `docs/results.md` says of it, from what was kept."""
    samples = {name: Samples(**taken) for name, taken in kept["samples"].items()}
    first, last = kept["load"]
    load = f"its load was {first:.1f} at first and {last:.1f} in the end"
    facts = [
        f"- Tree: {kept['tree']}. Rounds: {kept['rounds']}, interleaved, {kept['taken']}.",
        f"- Machine: {kept['machine']}; {load}.",
        f"- {', '.join(kept['versions'])}",
    ]
    return "\n".join((SECTION, *facts, "", *tables(samples), ""))


def requirements(samples: Mapping[str, Samples]) -> list[tuple[str, str, bool]]:
    """What is asked of the tool, what was measured, and whether it holds."""

    def seconds(name: str) -> float:
        return median(samples[name].seconds)

    rows = []
    if UPGRADE in samples:
        cold, warm = seconds(COLD) / seconds(UPGRADE), seconds(WARM) / seconds(UPGRADE)
        rows.append(("cold check: at most 1/3 of tf_upgrade_v2", f"{cold:.3f}", cold <= 1 / 3))
        rows.append(("warm check: below 1/10 of tf_upgrade_v2", f"{warm:.3f}", warm < 0.1))
    for name in (HELP, RULES):
        over = seconds(name) - seconds(BARE)
        rows.append((f"{name}: within 0.15 s of the interpreter", f"{over:.3f} s", over <= 0.15))
    peak = max(samples[COLD].peak_mb + samples[WARM].peak_mb)
    rows.append(("memory per worker: below 300 MB", f"{peak:.0f} MB", peak < 300))
    return rows


def inside_room(action: Callable[[Path], dict[str, Samples]]) -> dict[str, Samples]:
    with tempfile.TemporaryDirectory(prefix="tfrewrite-bench-") as name:
        room = Path(name)
        (room / "home").mkdir()
        return action(room)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, help="a directory with at least 1,000 Python files")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    tree = options.tree.resolve()
    if not tree.is_dir():
        parser.error(f"no such directory: {tree}")

    def everything(room: Path) -> dict[str, Samples]:
        on_tree = tree_tasks(tree, room)
        for task in on_tree[:-1]:  # fills file caches, byte code and the cache of the warm check
            run_task(task, room)
        samples = measure(on_tree, options.rounds, room)
        return samples | measure(start_tasks(), 4 * options.rounds, room)

    load = os.getloadavg()[1]
    samples = inside_room(everything)
    kept = {
        "tree": f"{tree.name}, {describe(tree)}",
        "rounds": options.rounds,
        "taken": datetime.now(timezone.utc).date().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores, {platform.platform()}",
        "load": [load, os.getloadavg()[1]],
        "versions": [
            version_of(DEV / "tfrewrite", "--version"),
            f"Python {platform.python_version()}",
            version_of(BENCH / "ruff", "--version"),
            f"TorchFix {version_of(BENCH / 'torchfix', '--version')}",
        ],
        "samples": {name: asdict(taken) for name, taken in samples.items()},
    }
    print(section(kept))
    keep(kept)
    return 0 if all(holds for _, _, holds in requirements(samples)) else 1


def keep(kept: dict[str, Any]) -> None:
    """Beside the samples of the corpus, with which they make one page."""
    # The page knows this module, for its section.
    import results_page  # noqa: PLC0415
    import results_samples  # noqa: PLC0415

    results_samples.write_json(results_samples.TOOLS, kept)
    results_page.write()


if __name__ == "__main__":
    sys.exit(main())
