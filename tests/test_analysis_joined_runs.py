"""What speaks against making one run of several; traps first."""

from __future__ import annotations

import textwrap

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.graphs.joined_runs import JoinedRuns
from tfrewrite.analysis.graphs.step_runs import StepRun


def step(body: str, before: str = "") -> tuple[JoinedRuns, list[StepRun]]:
    """The runs of a loop."""
    text = f"{before}sess = tf.Session()\nfor v in batches:\n{textwrap.indent(body, '    ')}\n"
    found = with_graph(text)
    ((block, parts),) = found.step_runs.by_session()
    return JoinedRuns(found, block), parts


LOSS = "a = sess.run(loss, {x: v})\n"
DRAWN = "drawn = tf.random_normal([3])\n"
TRAIN = "sess.run(train_op, {x: v})\n"


@pytest.mark.parametrize(
    ("body", "before", "reason"),
    [
        (f"{LOSS}b = sess.run(loss, {{x: v}})", "", "same-array"),
        (f"{LOSS}unseen()\nb = sess.run(accuracy, {{x: v}})", "", "call-between"),
        (f"{LOSS}v = 3\nb = sess.run(accuracy, {{x: v}})", "", "rebound-between"),
        (f"{LOSS}{TRAIN}b = sess.run(accuracy, {{x: v}})", "", "run-between"),
        (f"{LOSS}b = sess.run(unseen, {{x: v}})", "", "fetch-not-traced"),
        (f"{LOSS}b = sess.run(drawn, {{x: v}})", DRAWN, "random-beneath"),
        (f"{LOSS}b = sess.run(other, {{x: v}})", "other = w.assign_add(w)\n", "writes-state"),
        (f"b = sess.run(w, {{x: v}})\n{TRAIN}", "", "races-with-update"),
        (f"{LOSS}b = sess.run(accuracy, {{x: v}})", "", None),
        (f"{LOSS}print(a)\nb = sess.run(accuracy, {{x: v}})", "", None),
        (f"{LOSS}{TRAIN}", "", None),
    ],
)
def test_joining_a_run_to_the_first(body: str, before: str, reason: str | None) -> None:
    runs, parts = step(body, before)
    found = runs.obstacle(parts[:1], None, parts[-1])
    assert (found.reason if found is not None else None) == reason


def test_two_updates_stay_two_runs() -> None:
    runs, (first, second) = step(TRAIN + TRAIN)
    found = runs.obstacle([], first, second)
    assert found is not None
    assert found.reason == "two-updates"
    assert runs.obstacle([], None, first) is None


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("if a > 3:\n    stop()", "value-acts"),
        ("print(a)", None),
    ],
)
def test_reading_after_an_update_in_its_run(rest: str, reason: str | None) -> None:
    runs, (update, part) = step(TRAIN + LOSS + rest)
    found = runs.delayed(update, part)
    assert (found.reason if found is not None else None) == reason


@pytest.mark.parametrize(
    ("body", "before", "reason"),
    [
        ("a = sess.run(tf.argmax(x), {x: v})\n", "", "fetch-builds-graph"),
        ("a = sess.run(x + 1, {x: v})\n", "", "fetch-builds-graph"),
        ("a = sess.run(loss, {x: draw()})\n", "", "feed-not-repeatable"),
        ("a = sess.run(loss, {x: v}, options=o)\n", "", "run-options"),
        (LOSS, "exec(code)\n", "dynamic-code"),
        (LOSS, "", None),
    ],
)
def test_what_is_never_joined(body: str, before: str, reason: str | None) -> None:
    runs, parts = step(f"{body}b = sess.run(accuracy, {{x: v}})", before)
    found = runs.forbidden(parts)
    assert (found.reason if found is not None else None) == reason
