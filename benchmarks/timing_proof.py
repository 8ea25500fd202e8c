"""Proves the timing with real processes: how often it is wrong, and how often it finds nothing.

`timing_proof.py` times a busy loop in plain Python against itself, over 20 trials, and against one
with steps 10% longer, over 10. With `--python PATH` the steps are a small TensorFlow model's
instead, under that interpreter. Every trial is what a verification times: processes in isolation,
taking turns. Prints Markdown as it goes: a line for each trial, then the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tfrewrite.verify.model import Speed, SpeedVerdict, TimedRun, Version
from tfrewrite.verify.process import RunRequest, run_script
from tfrewrite.verify.timing import RUNS, judge, rounds

SCRIPT = "script.py"
PLAIN = """
def make_step():
    def step():
        total = 0
        for number in range({size}):
            total += number * number % 7
        return total
    return step
"""
TENSORFLOW = """
def make_step():
    import numpy as np
    import tensorflow as tf
    tf1 = tf.compat.v1
    tf1.disable_eager_execution()
    inputs = tf1.placeholder(tf.float32, [64, 256])
    hidden = inputs
    for _ in range(3):
        weights = tf1.Variable(tf1.random_normal([256, 256], stddev=0.05))
        hidden = tf.tanh(tf.matmul(hidden, weights))
    loss = tf.reduce_mean(tf.square(hidden - inputs))
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = tf1.Session()
    session.run(tf1.global_variables_initializer())
    batch = np.random.RandomState(0).rand(64, 256).astype("float32")
    return lambda: session.run([train, loss], {{inputs: batch}})
"""
LOOP = """
import os
import time

step = make_step()
times = []
extra = 0.0
for _ in range({steps}):
    began = time.perf_counter()
    step()
    # Of processor time, so that what interrupts the step does not make it longer still.
    worked = time.thread_time()
    while time.thread_time() - worked < extra:
        pass
    times.append(time.perf_counter() - began)
    extra = sorted(times)[len(times) // 2] * (1 - 1 / {longer})
with open(os.path.join(os.environ["TFREWRITE_RECORD"], "times"), "w") as file:
    file.write(" ".join(map(repr, times)))
"""


def main() -> None:
    arguments = parse()
    body = PLAIN if arguments.python is None else TENSORFLOW
    source = (body + LOOP).replace("{size}", str(arguments.size)).replace("{{", "{")
    source = source.replace("}}", "}").replace("{steps}", str(arguments.steps))
    python = arguments.python or Path(sys.executable)
    of_each = arguments.runs or f"{RUNS} or more"
    print(f"{python}, {of_each} processes of each version, {arguments.steps} steps each")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} at the start\n")
    rows = []
    for title, longer, trials in (
        ("against itself", 1.0, arguments.same),
        ("10% slower", 1.1, arguments.slower),
    ):
        versions = {
            Version.ORIGINAL: source.replace("{longer}", "1.0"),
            Version.REWRITTEN: source.replace("{longer}", repr(longer)),
        }
        speeds = [trial(python, versions, arguments.runs) for _ in shown(title, trials)]
        rows.append((title, speeds))
    print("\n| | trials | faster | no change | slower | ratio, median | processes differ by |")
    print("|---|---|---|---|---|---|---|")
    for title, speeds in rows:
        if speeds:
            print(table_row(title, speeds))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", type=Path, help="an interpreter that has TensorFlow")
    parser.add_argument("--same", type=int, default=20, help="trials of a script against itself")
    parser.add_argument("--slower", type=int, default=10, help="trials against a slower script")
    parser.add_argument(
        "--runs", type=int, help="processes of each version; else as many as it takes"
    )
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--size", type=int, default=40_000, help="of a step in plain Python")
    return parser.parse_args()


def shown(title: str, trials: int) -> range:
    print(f"{title}:", flush=True)
    return range(trials)


def trial(python: Path, versions: dict[Version, str], runs: int | None) -> Speed:
    timed: list[TimedRun] = []
    for look in rounds(runs):
        for version in look:
            timed.append(timed_run(python, versions[version], version, len(timed)))
        speed = judge(timed, looks=len(rounds(runs)))
        if not speed.is_open:
            break
    assert speed.steady is not None
    assert speed.control is not None
    print(
        f"  {speed.verdict.value:22} {speed.steady.value:.3f}"
        f" ({speed.steady.low:.3f} to {speed.steady.high:.3f})"
        f" control {speed.control.low:.3f} to {speed.control.high:.3f}"
        f" {len(timed)} processes"
        f" load {os.getloadavg()[0]:.2f} {' '.join(speed.notes)}",
        flush=True,
    )
    return speed


def timed_run(python: Path, source: str, version: Version, order: int) -> TimedRun:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        tree, record = Path(name, "tree"), Path(name, "record")
        tree.mkdir()
        (tree / SCRIPT).write_text(source)
        began = time.monotonic()
        result = run_script(RunRequest(python, tree, SCRIPT, record=record))
        whole_s = time.monotonic() - began
        if not result.succeeded:
            sys.exit(f"the script {result.describe()}\n{result.stderr}")
        steps_s = tuple(map(float, (record / "times").read_text().split()))
    return TimedRun(
        version=version,
        order=order,
        start_up_s=result.elapsed_s - sum(steps_s),
        first_step_s=steps_s[0],
        steps_s=steps_s,
        whole_s=whole_s,
        peak_memory_mb=result.peak_memory_mb or 0.0,
        load=load,
    )


def table_row(title: str, speeds: list[Speed]) -> str:
    verdicts = [speed.verdict for speed in speeds]
    counts = [
        verdicts.count(verdict)
        for verdict in (SpeedVerdict.FASTER, SpeedVerdict.NO_CHANGE, SpeedVerdict.SLOWER)
    ]
    ratio = median(speed.steady.value for speed in speeds if speed.steady)
    spread = median(spread_of(speed) for speed in speeds)
    cells = [title, len(speeds), *counts, f"{ratio:.3f}", f"{spread:.1%}"]
    return f"| {' | '.join(map(str, cells))} |"


def spread_of(speed: Speed) -> float:
    """By which part the originals' median steps lie apart, from the fastest to the slowest."""
    steps = [median(run.steps_s) for run in speed.runs if run.version is Version.ORIGINAL]
    return max(steps) / min(steps) - 1


if __name__ == "__main__":
    main()
