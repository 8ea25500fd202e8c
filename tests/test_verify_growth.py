"""What a version accumulates over its steps, as runs show it and as a report says it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from corpus_cases import CORPUS
from tfrewrite.reports.verification import words
from tfrewrite.verify import growth
from tfrewrite.verify.model import Growth, TimedRun, Version
from tfrewrite.verify.process import Ending, RunResult
from tfrewrite.verify.runs import Conditions, Laboratory, Observation, Program

SECOND_MODEL = """
other = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(2)])
for turn in range(3):
    learn(x, kind, other, None)
    learn(x, kind, classifier, None)
"""
STEP = "rule.apply_gradients(zip(slopes, net.trainable_weights))"


def timed(order: int, step_s: float, longer_s: float, peak_mb: float) -> TimedRun:
    """A process whose steps take so much longer from one to the next."""
    steps = tuple(step_s + longer_s * step for step in range(200))
    return TimedRun(Version.ORIGINAL, order, 1.0, steps[0], steps, sum(steps), peak_mb, 0.5)


def of(summary: dict[str, object], runs: list[TimedRun]) -> Growth:
    observed = Observation(Path(), RunResult(Ending.EXITED, 1.0), summary)
    (one,) = growth.of({Version.ORIGINAL: observed}, runs)
    return one


def test_slope_and_peak_are_those_of_the_process_in_the_middle() -> None:
    runs = [
        timed(0, 0.01, 0.0, 300.0),
        timed(1, 0.01, 1e-5, 310.0),
        timed(2, 0.01, 5e-5, 900.0),
    ]
    found = of({"peak_memory_mb": 5.0}, runs)
    # 10 µs more with each step of about 11 ms.
    assert found.step_time_slope == pytest.approx(0.01 / 0.011, rel=0.05)
    assert found.peak_memory_mb == 310.0


def test_of_what_was_not_timed_the_observed_run_tells_the_peak() -> None:
    found = of({"peak_memory_mb": 5.0, "memory_mb": [1.0, 4.0], "graph_nodes": [7, 9]}, [])
    assert math.isnan(found.step_time_slope)
    assert found.peak_memory_mb == 5.0
    assert (found.memory_mb, found.graph_nodes, found.retraces) == ((1.0, 4.0), (7, 9), 0)


@pytest.mark.parametrize(
    ("each_step", "said"),
    [
        ((), "unknown"),
        ((230.0,), "unknown"),
        ((230.0, 231.0, 270.2), "+40 MB in 2 steps"),
        ((230.0, 229.8), "+0 MB in 1 step"),
        ((2300.0, 900.0), "-1.40 GB in 1 step"),
        ((1.0, math.inf), "unknown"),
    ],
)
def test_how_memory_went(each_step: tuple[float, ...], said: str) -> None:
    assert words.memory_course(each_step) == said


def seen(script: str, python: Path, *, is_tf1: bool = False, name: str = "") -> Growth:
    """What a script of the corpus accumulates in an observed run."""
    return ran((CORPUS / name / script).read_text(), python, is_tf1=is_tf1, name=name)


def ran(text: str, python: Path, *, is_tf1: bool = False, name: str = "") -> Growth:
    program = Program.of(CORPUS / name, "original.py", (("original.py", text.encode()),))
    with Laboratory.opened(Conditions(python, is_tf1=is_tf1)) as laboratory:
        observed = laboratory.observe(program, seed=1, steps=0)
        assert observed.is_complete, observed.result.stderr[-3000:]
        (found,) = growth.of({Version.ORIGINAL: observed}, [])
        assert len(found.memory_mb) == len(found.graph_nodes) == observed.steps
    return found


@pytest.mark.tensorflow
def test_nodes_and_memory_of_a_graph_that_grows(tf1_python: Path) -> None:
    name = "assign_rate_in_loop"
    before = seen("original.py", tf1_python, is_tf1=True, name=name)
    after = seen("expected.py", tf1_python, is_tf1=True, name=name)
    assert before.graph_nodes[-1] > before.graph_nodes[0] + 2 * (len(before.graph_nodes) - 1)
    assert len(set(after.graph_nodes)) == 1
    for one in (before, after):
        assert 50 < min(one.memory_mb) <= max(one.memory_mb) <= one.peak_memory_mb + 1


@pytest.mark.tensorflow
def test_traces_of_a_function_that_gets_numbers(tf2_python: Path) -> None:
    before = seen("original.py", tf2_python, name="counter_as_number")
    after = seen("expected.py", tf2_python, name="counter_as_number")
    assert before.retraces > 20
    assert after.retraces <= 1


@pytest.mark.tensorflow
def test_traces_of_a_step_that_gets_its_model(tf2_python: Path) -> None:
    name = "article_003_1_step_with_arguments"
    text = (CORPUS / name / "original.py").read_text()
    assert ran(text, tf2_python, name=name).retraces == 0
    # Of a second model a trace of its own is made, and that is counted.
    assert text.count(STEP) == 1
    without_update = text.replace(STEP, "if rule is not None:\n        " + STEP)
    assert ran(without_update + SECOND_MODEL, tf2_python, name=name).retraces >= 1
