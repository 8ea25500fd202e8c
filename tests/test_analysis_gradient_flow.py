"""Which reads a gradient waits for: those beneath something that bends."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, function
from tfrewrite.analysis.eager.abstract_values import Code, Tensor
from tfrewrite.analysis.traces.gradient_flow import NO_FLOW, Flow, Read
from tfrewrite.analysis.traces.trace import Trace

START = """
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    loss_object = tf.keras.losses.MeanSquaredError()
    w = tf.Variable(1.0)

    def mean_of(q):
        return tf.reduce_mean(q)

    def step(x, y):
        with tf.GradientTape() as tape:
            p = model(x)
            loss = {loss}
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
"""


def traced(loss: str) -> Trace:
    found = facts(START.format(loss=loss))
    given = {"x": Tensor(), "y": Tensor()}
    trace = found.tracing.replayed(Code(function(found, "step")), given)
    assert isinstance(trace, Trace), trace
    return trace


@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_mean(p)",
        "-tf.reduce_sum(p * y) / 2.0",
        "tf.reduce_mean(tf.square(p - y)) + tf.reduce_mean(p)",
        "tf.reduce_mean(tf.squeeze(tf.concat([p, y], 0)))",
        "tf.reduce_mean(tf.cast(p, tf.float32))",
        "p[0, 0]",
        "tf.reduce_mean(p ** 1)",
        "tf.reduce_mean(tf.matmul(p, y))",
        "tf.add_n([tf.reduce_mean(p), tf.reduce_mean(y)])",
        "sum([tf.reduce_mean(p), tf.nn.l2_loss(y)])",
        "loss_object(y, p) + tf.reduce_mean(w * y)",
        "mean_of(p)",
    ],
)
def test_a_linear_way_to_the_loss(loss: str) -> None:
    assert traced(loss).loose


@pytest.mark.parametrize(
    "loss",
    [
        "loss_object(y, p)",
        "tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, p)",
        "tf.reduce_mean(tf.square(p - y))",
        "tf.reduce_mean((p - y) ** 2) + 0.1 * tf.nn.l2_loss(w)",
        "tf.reduce_mean((p - y) * (p - y))",
        "tf.reduce_mean(abs(p - y))",
        "-tf.reduce_mean(y * tf.math.log(p))",
        "tf.reduce_mean(y / p)",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=p))",
        "tf.reduce_mean(tf.keras.losses.binary_crossentropy(y, p))",
        "tf.reduce_max(p[0])",
        "tf.nn.l2_loss(p) + tf.reduce_mean(tf.stop_gradient(p))",
        "tf.nn.l2_loss(p) + tf.reduce_mean(tf.cast(p > 0.0, tf.float32))",
    ],
)
def test_a_loss_that_bends(loss: str) -> None:
    trace = traced(loss)
    assert not trace.loose
    assert trace.by_optimizer
    assert any("model" in read.words for read in trace.settled)


def test_a_second_call_is_settled_by_a_bend_of_its_own() -> None:
    assert traced("loss_object(y, p) + tf.reduce_mean(model(2.0 * x))").again
    assert not traced("loss_object(y, p) + loss_object(-y, model(2.0 * x))").again


def test_flows_join() -> None:
    one, other = (Read(ast.Pass(), number, "`m`") for number in range(2))
    straight = Flow(straight=frozenset({one}))
    bent = Flow(straight=frozenset({other})).through_bend()
    assert straight | NO_FLOW == straight
    assert straight | bent == Flow(frozenset({one}), frozenset({other}))
    assert (straight | bent).through_bend() == Flow(bent=frozenset({one, other}))
    assert Flow(derived=True).through_bend().derived
