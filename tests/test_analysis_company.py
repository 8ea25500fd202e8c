"""What a run computes in any case, and what may go from it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import traced, with_graph
from tfrewrite.analysis.graphs.company import Company, acts, changes_nothing, reads_only
from tfrewrite.analysis.graphs.fetches import leaves


def obstacle(text: str, *, uncut: bool = True, fed: bool = True) -> str:
    """The reason for which the second value cannot go while the first stays."""
    found = with_graph(text)
    stays, goes = traced(found).values
    inputs = frozenset(found.graph.trace(node.value) for node in found.source.all(ast.Assign))
    company = Company(leaves(stays), inputs if fed else None, uncut)
    reason = company.obstacle(goes, "it")
    return reason.reason if reason else ""


GO = {
    "a metric beside the loss": "(loss, accuracy)  # here\n",
    "a loss beside its update": "(train_op, loss)  # here\n",
    "a draw of which the other is made": (
        "noise = tf.random_normal([3])\nmore = noise * 2.0\n(more, noise)  # here\n"
    ),
    "a draw on the way of the gradient": (
        "noisy = tf.matmul(tf.nn.dropout(x, 0.5), w)\n"
        "cost = tf.reduce_mean(tf.square(noisy))\n"
        "op = tf.train.AdamOptimizer(0.1).minimize(cost)\n"
        "(op, cost)  # here\n"
    ),
    "a draw before variables that are chosen": (
        "cost = tf.reduce_mean(tf.square(tf.matmul(tf.nn.dropout(x, 0.5), w) + b))\n"
        "op = tf.train.AdamOptimizer(0.1).minimize(cost, var_list=[b])\n"
        "(op, cost)  # here\n"
    ),
    "a draw before an update in a group": (
        "noisy = tf.matmul(tf.nn.dropout(x, 0.5), w)\n"
        "cost = tf.reduce_mean(tf.square(noisy))\n"
        "op = tf.group(tf.train.AdamOptimizer(0.1).minimize(cost))\n"
        "(op, noisy)  # here\n"
    ),
}
STAY = {
    "a draw of its own": (
        "noise = tf.random_normal([3])\n(loss, noise)  # here\n",
        "random-beneath",
    ),
    "a draw that the gradient does not need": (
        (
            "cost = loss + tf.random_normal([])\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(cost)\n"
            "(op, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw before variables that are not trained": (
        (
            "cost = loss + tf.reduce_mean(tf.square(tf.random_normal([]) * "
            "tf.Variable(1.0, trainable=False)))\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(cost)\n"
            "(op, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw before variables that are not chosen": (
        (
            "cost = tf.reduce_mean(tf.square(tf.matmul(tf.nn.dropout(x, 0.5), w)) + tf.square(b))\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(cost, var_list=[b])\n"
            "(op, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw before variables of which it is not known whether they are chosen": (
        (
            "cost = tf.reduce_mean(tf.square(tf.matmul(tf.nn.dropout(x, 0.5), w) + b))\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(cost, var_list=[b] + unknown)\n"
            "(op, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw in what is differentiated": (
        (
            "cost = tf.reduce_mean(tf.matmul(x, w)) + tf.random_normal([])\n"
            "slope = tf.gradients(cost, [w])[0]\n"
            "(slope, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw that a grouped update does not need": (
        (
            "cost = loss + tf.random_normal([])\n"
            "op = tf.group(tf.train.AdamOptimizer(0.1).minimize(cost))\n"
            "(op, cost)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw before a slope that is minimised": (
        (
            "noisy = tf.matmul(tf.nn.dropout(x, 0.5), w) + tf.random_normal([])\n"
            "cost = tf.reduce_mean(tf.square(tf.gradients(noisy, x)))\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(cost)\n"
            "(op, noisy)  # here\n"
        ),
        "random-beneath",
    ),
    "a draw of which only the shape is used": (
        "noise = tf.random_normal([3])\n(tf.zeros_like(noise), noise)  # here\n",
        "random-beneath",
    ),
    "draws of which only the shapes are used": (
        "noise = tf.random_normal([3])\n(tf.shape_n([noise, x]), noise)  # here\n",
        "random-beneath",
    ),
    "one result of what is not known": (
        "import models\none, two = models.both()\n(one, two)  # here\n",
        "fetch-not-traced",
    ),
    "a check": ("(loss, tf.check_numerics(loss, 'l'))  # here\n", "may-fail"),
    "a lookup": ("(loss, tf.gather(w, y))  # here\n", "may-fail"),
    "an embedding": ("(loss, tf.nn.embedding_lookup(w, y))  # here\n", "may-fail"),
    "a matrix that is factored": ("(loss, tf.linalg.logdet(w))  # here\n", "may-fail"),
    "a queue": (
        "queue = tf.FIFOQueue(3, tf.float32)\n(loss, queue.dequeue())  # here\n",
        "iterator-beneath",
    ),
}


@pytest.mark.parametrize("text", GO.values(), ids=GO)
def test_what_may_go(text: str) -> None:
    assert obstacle(text) == ""


@pytest.mark.parametrize(("text", "reason"), STAY.values(), ids=STAY)
def test_what_stays(text: str, reason: str) -> None:
    assert obstacle(text) == reason


def test_nothing_surely_runs_where_a_feed_may_cut_it_off() -> None:
    assert obstacle(GO["a draw of which the other is made"], uncut=False) == "random-beneath"


def test_a_placeholder_has_to_be_fed() -> None:
    text = "z = tf.placeholder(tf.float32, [])\n(loss, z * 2.0)  # here\n"
    assert obstacle(text, fed=False) == "may-fail"


@pytest.mark.parametrize(
    ("stays", "races"),
    [
        ("[loss, accuracy]", False),
        ("[train_op]", False),
        ("[train_op, loss]", False),
        ("[train_op, w]", True),
        ("[train_op, tf.assign(b, b * 2.0), loss]", True),
        ("[unknown, loss]", True),
        ("[unknown]", False),
    ],
)
def test_what_is_read_at_no_certain_moment(stays: str, *, races: bool) -> None:
    roots = leaves(traced(with_graph(f"{stays}  # here\n")))
    assert (Company(roots, None, only_placeholders=True).race() is not None) is races


@pytest.mark.parametrize(
    ("value", "acting", "reading", "nothing"),
    [
        ("loss", False, True, True),
        ("w", False, True, True),
        ("train_op", True, False, False),
        ("tf.assign(b, b * 2.0)", True, False, False),
        ("tf.print(loss)", True, False, False),
        ("tf.random_normal([3])", False, True, False),
        ("unknown", False, False, False),
    ],
)
def test_what_a_value_does(value: str, *, acting: bool, reading: bool, nothing: bool) -> None:
    root = traced(with_graph(f"{value}  # here\n"))
    assert (acts(root), reads_only(root), changes_nothing(root)) == (acting, reading, nothing)
