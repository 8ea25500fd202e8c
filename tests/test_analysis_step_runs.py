"""Which runs of the graph a step makes; traps first."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import marked, with_graph
from tfrewrite.analysis.graphs.step_runs import StepRun

RUNS = "a = sess.run(loss, {x: v})\nb = sess.run(accuracy, {x: v})\n"


def by_session(head: str, body: str = RUNS, depth: int = 2) -> list[list[str]]:
    """What the statements are that make runs, apart by block and session."""
    text = f"sess = tf.Session()\n{head}\n{textwrap.indent(body, '    ' * depth)}"
    found = with_graph(text)
    return [
        [ast.unparse(part.statement) for part in parts] for _, parts in found.step_runs.by_session()
    ]


BOTH = RUNS.splitlines()


@pytest.mark.parametrize(
    ("head", "depth"),
    [
        ("if batches:", 1),
        ("class Step:", 1),
        ("for v in batches:\n    if v > 3:", 2),
        ("for v in batches:\n    while v: pass\n    else:", 2),
        ("for v in batches:\n    def one():\n        class Step:", 3),
    ],
)
def test_blocks_that_are_no_steps(head: str, depth: int) -> None:
    assert by_session(head, depth=depth) == []


@pytest.mark.parametrize(
    ("head", "depth"),
    [
        ("for v in batches:", 1),
        ("while True:", 1),
        ("def step(v):", 1),
        ("for v in batches:\n    with tf.device('/cpu:0'):", 2),
        ("kind = 'a'\nfor v in batches:\n    if kind == 'a':", 2),
    ],
)
def test_blocks_that_are_steps(head: str, depth: int) -> None:
    assert by_session(head, depth=depth) == [BOTH]


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("a = sess.run(loss, {x: v}) if v else 0\n", []),
        ("a = v and sess.run(loss, {x: v})\n", []),
        ("a = [sess.run(loss, {x: v}) for _ in v]\n", []),
        ("some[sess.run(loss, {x: v})] = 3\n", []),
        ("some = lambda: sess.run(loss, {x: v})\n", []),
        ("print(sess.run(loss, {x: v}))\n", ["print(sess.run(loss, {x: v}))"]),
        ("a += sess.run(loss, {x: v})\n", ["a += sess.run(loss, {x: v})"]),
    ],
)
def test_what_is_evaluated_in_any_case(body: str, runs: list[str]) -> None:
    found = by_session("for v in batches:", body + RUNS, depth=1)
    assert found == [[*runs, *BOTH]]


def test_runs_are_apart_by_session() -> None:
    body = RUNS + RUNS.replace("sess.", "other.") + "c = third.run(loss, {x: v})\n"
    found = by_session("other = tf.Session()\nthird = tf.Session()\nfor v in batches:", body, 1)
    assert found == [BOTH, RUNS.replace("sess.", "other.").splitlines()]


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("def step(v):\n    sess.run(loss, {x: v})  # here\n", False),
        ("def step(v):\n    sess.run(loss, {x: v})  # here\nstep(1)\n", False),
        ("def step(v):\n    sess.run(loss, {x: v})  # here\nfor v in some:\n    step(v)\n", True),
        ("for v in some:\n    sess.run(loss, {x: v})  # here\n", True),
        ("for v in some:\n    if v:\n        sess.run(loss, {x: v})  # here\n", False),
    ],
)
def test_steps_that_are_made_again(text: str, *, repeated: bool) -> None:
    found = with_graph(f"sess = tf.Session()\n{text}")
    assert found.step_runs.is_repeated(marked(found, "here")) is repeated


@pytest.mark.parametrize(
    ("statement", "targets"),
    [
        ("a = sess.run(loss)", ["a"]),
        ("a, b = sess.run([loss, accuracy])", ["a", "b"]),
        ("sess.run(loss)", []),
        ("a = sess.run(loss)[0]", None),
        ("a = b = sess.run(loss)", None),
        ("a.b = sess.run(loss)", None),
        ("a, *b = sess.run([loss])", None),
    ],
)
def test_where_results_go(statement: str, targets: list[str] | None) -> None:
    found = with_graph(f"sess = tf.Session()\n{statement}  # here\n")
    (run,) = found.sessions.runs.values()
    part = StepRun(marked(found, "here"), run)
    assert (None if part.targets is None else [ast.unparse(one) for one in part.targets]) == targets
