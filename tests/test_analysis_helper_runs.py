"""Runs that functions make for a step, in the words of that step."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph

HELPERS = """
sess = tf.Session()

def loss_of(session, xs, ys):
    batch = {x: xs, y: ys}
    return session.run(loss, batch)

def accuracy_of(session, ys, xs):
    return session.run(accuracy, feed_dict={x: xs, y: ys})

def update(session, feed):
    session.run(train_op, feed)

"""


def beside(*lines: str) -> list[tuple[str, str]]:
    """The pairs that are found in a loop over batches."""
    body = "".join(f"    {line}\n" for line in lines)
    found = with_graph(f"{HELPERS}for xs, ys in batches:\n{body}")
    return [
        (ast.unparse(first.call), ast.unparse(second.call))
        for first, second in found.helper_runs.beside()
    ]


def test_arguments_are_told_by_the_names_of_their_parameters() -> None:
    assert beside("a = loss_of(sess, xs, ys)", "b = accuracy_of(sess, xs=xs, ys=ys)") == [
        ("loss_of(sess, xs, ys)", "accuracy_of(sess, xs=xs, ys=ys)")
    ]
    assert beside("a = loss_of(sess, xs, ys)", "b = accuracy_of(sess, xs, ys)") == []


def test_what_reads_comes_before_updates() -> None:
    assert beside(
        "update(sess, {x: xs, y: ys})",
        "a = loss_of(sess, xs, ys)",
        "b = sess.run(accuracy, {x: xs, y: ys})",
    ) == [("loss_of(sess, xs, ys)", "sess.run(accuracy, {x: xs, y: ys})")]
    assert beside("update(sess, {x: xs, y: ys})", "a = loss_of(sess, xs, ys)") == [
        ("update(sess, {x: xs, y: ys})", "loss_of(sess, xs, ys)")
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("a = sess.run(loss, {x: xs, y: ys})", "b = sess.run(accuracy, {x: xs, y: ys})"),
        ("a = loss_of(sess, *pair)", "b = loss_of(sess, *pair)"),
        ("a = loss_of(sess, xs, ys)", "xs = xs + 1", "b = accuracy_of(sess, ys, xs)"),
        ("a = loss_of(sess, xs, ys)", "if a:", "    b = accuracy_of(sess, ys, xs)"),
        ("a = [loss_of(sess, xs, ys) for _ in ys]", "b = accuracy_of(sess, ys, xs)"),
        ("a = loss_of(sess, load(), ys)", "b = accuracy_of(sess, ys, load())"),
        ("update(sess, {x: xs, y: ys})", "update(sess, {x: xs, y: ys})"),
    ],
)
def test_no_pair(lines: tuple[str, ...]) -> None:
    assert beside(*lines) == []
