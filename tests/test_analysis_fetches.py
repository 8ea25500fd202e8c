"""What a run fetches, traps first: everything that is more than reading."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.graphs.fetches import (
    Fetch,
    checks_beneath,
    fetch_of,
    share_a_result,
)


def fetch_in(found: Facts, mark: str = "here") -> Fetch:
    expr = expression(found, mark)
    return fetch_of(found.graph.trace(expr), found.source.segment(expr))


def fetch(text: str) -> Fetch:
    """What a run of the marked statement's expression would fetch."""
    return fetch_in(with_graph(text))


# ---- traps: troubles ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("v = tf.random_normal([3])", "random-beneath"),
        ("v = tf.nn.dropout(loss, 0.5)", "random-beneath"),
        ("v = tf.layers.dropout(x)", "random-beneath"),
        ("v = loss + tf.random_uniform([])", "random-beneath"),
        ("v = [loss, tf.random_uniform([])]", "random-beneath"),
        ("v = {'a': tf.random_uniform([])}", "random-beneath"),
        (
            "d = tf.data.Dataset.range(3)\nv = d.make_one_shot_iterator().get_next()",
            "iterator-beneath",
        ),
        ("q = tf.FIFOQueue(3, [tf.float32])\nv = q.dequeue()", "iterator-beneath"),
        ("v = tf.assign(b, b)", "writes-state"),
        ("v = w.assign(w)", "writes-state"),
        ("v = tf.metrics.accuracy(y, y)", "writes-state"),
        ("_, v = tf.metrics.accuracy(y, y)", "writes-state"),
        ("v = optimizer.apply_gradients(unknown_to_all())", "fetch-not-traced"),
        ("v = tf.py_func(f, [x], tf.float32)", "fetch-not-traced"),
        ("v = tf.Print(loss, [loss])", "host-effect-beneath"),
        ("v = tf.map_fn(f, x)", "fetch-not-traced"),
        ("v = tf.cond(p, f, g)", "fetch-not-traced"),
        ("v = tf.global_variables_initializer()", "writes-state"),
        ("v = tf.summary.merge_all()", "fetch-not-traced"),
        ("v = unknown", "fetch-not-traced"),
        ("v = 'loss:0'", "fetch-not-traced"),
        ("v = 3", "fetch-not-traced"),
        ("v = []", "fetch-not-traced"),
        ("v = optimizer", "fetch-not-traced"),
        ("v = [loss, 'loss:0']", "fetch-not-traced"),
        ("v = [loss, unknown]", "fetch-not-traced"),
        ("class M: pass\nv = M()", "fetch-not-traced"),
        ("v = [train_op, train_op]", "two-updates"),
        ("v = [train_op, optimizer.minimize(loss)]", "two-updates"),
        ("v = [train_op, tf.assign(b, b)]", "writes-state"),
        ("v = [train_op, unknown]", "fetch-not-traced"),
        ("v = tf.group(train_op, tf.assign(b, b))", "writes-state"),
        ("v = optimizer.minimize(loss, global_step=unknown)", "update-not-traced"),
        ("v = optimizer.minimize(loss + unknown)", "update-not-traced"),
        ("v = optimizer.minimize(tf.Print(loss, [loss]))", "update-not-traced"),
        (
            "with tf.control_dependencies([tf.assign(b, b)]):\n    v = optimizer.minimize(loss)",
            "update-not-traced",
        ),
        (
            "v = optimizer.apply_gradients(zip(tf.gradients(loss, [b]), tf.get_collection('ops')))",
            "fetch-not-traced",
        ),
        (
            (
                "with tf.control_dependencies(tf.get_collection('ops')):\n"
                "    v = optimizer.minimize(loss)"
            ),
            "update-not-traced",
        ),
        (
            "with tf.control_dependencies([tf.assign(b, b)]):\n    v = tf.identity(loss)",
            "writes-state",
        ),
        ("v = loss if flag else tf.random_normal([])", "random-beneath"),
        ("v = loss\nif flag:\n    v = unknown\nv = v", "fetch-not-traced"),
    ],
)
def test_what_is_more_than_reading(text: str, trouble: str) -> None:
    found = fetch(f"{text}  # here\n")
    assert found.trouble == trouble
    assert found.message
    assert not found.reads_only


def test_a_message_names_the_fetch_and_what_it_depends_on() -> None:
    assert fetch("v = unknown  # here\n").message == (
        "`unknown` depends on `unknown` is not bound in this file"
    )
    assert fetch("v = tf.assign(b, b)  # here\n").message.startswith("`tf.assign(b, b)` writes")


# ---- what only reads, and what updates -----------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "loss",
        "w",
        "[loss, accuracy]",
        "(loss, [accuracy, w])",
        "{'a': loss, 'b': [accuracy]}",
        "loss + 1",
        "tf.summary.scalar('loss', loss)",
        "tf.reduce_mean(tf.layers.dense(x, 3))",
    ],
)
def test_what_only_reads(value: str) -> None:
    found = fetch(f"v = {value}  # here\n")
    assert (found.trouble, found.update) == ("", None)
    assert found.reads_only


def test_every_leaf_of_a_structure_is_a_root() -> None:
    assert len(fetch("v = {'a': loss, 'b': [accuracy, (w, x)]}  # here\n").roots) == 4


@pytest.mark.parametrize(
    "value",
    [
        "train_op",
        "[train_op, loss]",
        "[loss, train_op]",
        "optimizer.minimize(loss)",
        (
            "optimizer.apply_gradients("
            "zip(tf.gradients(loss, tf.trainable_variables()), tf.trainable_variables()))"
        ),
    ],
)
def test_an_update_is_told(value: str) -> None:
    found = fetch(f"v = {value}  # here\n")
    assert found.trouble == ""
    assert found.update is not None
    assert found.update.loss.symbol == "reduce_mean"
    assert not found.reads_only


def test_what_is_drawn_beside_an_update_is_drawn_once_anyway() -> None:
    text = "noisy = tf.nn.dropout(loss, 0.5)\nv = [optimizer.minimize(noisy), noisy]  # here\n"
    found = fetch(text)
    assert found.trouble == ""
    assert found.update is not None


# ---- arrays --------------------------------------------------------------------------------------


def shares(first: str, second: str, before: str = "") -> bool:
    found = with_graph(f"{before}\nv = {first}  # first\nv = {second}  # second\n")
    return share_a_result(fetch_in(found, "first"), fetch_in(found, "second"))


@pytest.mark.parametrize(
    "again",
    [
        "loss",
        "[accuracy, loss]",
        "tf.cast(loss, tf.float32)",
        "tf.real(loss)",
        "tf.add_n([loss])",
        "tf.image.central_crop(loss, 1.0)",
        "tf.keras.activations.linear(loss)",
        "loss if flag else accuracy",
    ],
)
def test_one_tensor_under_two_names_is_one_array(again: str) -> None:
    assert shares("loss", again)
    assert shares(again, "loss")


@pytest.mark.parametrize(
    "other",
    [
        "accuracy",
        "loss + 1",
        "tf.identity(loss)",
        "tf.reshape(loss, [1])",
        "tf.expand_dims(loss, 0)",
        "tf.layers.dense(tf.reshape(loss, [1, 1]), 3)",
    ],
)
def test_an_operation_makes_an_array_of_its_own(other: str) -> None:
    assert not shares("loss", other)


def test_parts_of_one_tensor_are_two_arrays() -> None:
    assert not shares("logits[:, 0:1]", "logits[:, 1:2]")


@pytest.mark.parametrize(
    ("value", "checks"),
    [
        ("tf.check_numerics(loss, 'bad')", True),
        ("tf.verify_tensor_all_finite(loss, 'bad') + 1", True),
        ("loss", False),  # its gradient's own checks are not the script's
        ("tf.losses.mean_squared_error(y, y)", False),
        ("tf.summary.histogram('h', w)", True),
        ("tf.summary.scalar('l', loss)", False),
    ],
)
def test_checks_that_the_script_makes(value: str, *, checks: bool) -> None:
    assert checks_beneath(fetch(f"v = {value}  # here\n")) is checks


def test_a_check_that_comes_by_control_dependency() -> None:
    text = "with tf.control_dependencies([tf.assert_positive(loss)]):\n    a = tf.identity(loss)\n"
    assert checks_beneath(fetch(f"{text}v = a  # here\n"))
