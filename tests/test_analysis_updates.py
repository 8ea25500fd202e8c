"""Which loss an update minimises and what is read before it writes, traps first.

The cases of `read_before` were measured on TensorFlow 1.15 and are told in docs/measurements.md:
"races" means that values from before and after the update were both seen.
"""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.graphs.nodes import plain
from tfrewrite.analysis.graphs.updates import Update, read_before, update_of


def update_in(found: Facts, mark: str = "here") -> Update | None:
    return update_of(found.graph.trace(expression(found, mark)))


def update(text: str) -> Update | None:
    """The update that the marked statement's expression is."""
    return update_in(with_graph(text))


def before(fetch: str, text: str = "", minimised: str = "optimizer.minimize(loss)") -> bool:
    """Whether a fetch is surely read before an update writes."""
    found = with_graph(f"{text}\nv = {fetch}  # fetch\nv = {minimised}  # update\n")
    step = update_in(found, "update")
    assert step is not None
    return read_before(found.graph.trace(expression(found, "fetch")), step)


# ---- traps: what is no update, or one whose loss is not told -------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "v = loss",
        "v = tf.assign(b, b)",
        "v = optimizer",
        "v = optimizer.compute_gradients(loss)",
        "v = tf.group(train_op)",
        "v = tf.gradients(loss, w)",
        "v = optimizer.minimize(loss, **options)",
        "v = optimizer.minimize(loss, grad_loss=x)",
        "v = optimizer.minimize(loss, gate_gradients=0)",
        "v = optimizer.minimize(loss, colocate_gradients_with_ops=True)",
        "v = unknown.minimize(loss)",
        "v = tf.contrib.layers.optimize_loss(loss, None, 0.1, 'SGD')",
        "v = tf.train.SyncReplicasOptimizer(optimizer, 3).minimize(loss)",
        "v = optimizer.apply_gradients(pairs)",
        "v = optimizer.apply_gradients([(g, w)])",
        "v = optimizer.apply_gradients(zip(tf.gradients(loss, [w]), [b]))",
        "v = optimizer.apply_gradients(zip(tf.gradients(loss, [w]), tf.trainable_variables()))",
        (
            "g = tf.gradients(loss, tf.trainable_variables('a'))\n"
            "v = optimizer.apply_gradients(zip(g, tf.trainable_variables('b')))"
        ),
        "t = [w, b]\nv = optimizer.apply_gradients(zip(tf.gradients(loss, t, grad_ys=x), t))",
        "t = [w, b]\nv = optimizer.apply_gradients(zip(t, tf.gradients(loss, t)))",
        "p = optimizer.compute_gradients(loss, gate_gradients=0)\nv = optimizer.apply_gradients(p)",
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(v, g) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(g * 2, v) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(tf.clip_by_norm(v, 1), v) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(g, w) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(g, v, 1) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(g, v) for g, v in p for h, u in p])"
        ),
    ],
)
def test_what_is_no_update_whose_loss_can_be_told(text: str) -> None:
    assert update(f"{text}  # here\n") is None


# ---- every way to write the update ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "v = train_op",
        "v = optimizer.minimize(loss)",
        "v = optimizer.minimize(loss=loss)",
        "v = optimizer.minimize(loss, var_list=[w])",
        "v = optimizer.minimize(loss, global_step=tf.Variable(0), name='step')",
        "v = tf.train.AdamOptimizer(0.1).minimize(loss)",
        "cost = loss\nv = tf.train.MomentumOptimizer(0.1, 0.9).minimize(cost)",
        "p = optimizer.compute_gradients(loss)\nv = optimizer.apply_gradients(p)",
        "p = optimizer.compute_gradients(loss, [w])\nv = optimizer.apply_gradients(p, name='a')",
        "v = optimizer.apply_gradients(optimizer.compute_gradients(loss), tf.Variable(0))",
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(g, v) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients([(tf.clip_by_value(g, -1, 1), v) for g, v in p])"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "v = optimizer.apply_gradients(((tf.clip_by_norm(g, 1), v) for g, v in p))"
        ),
        (
            "p = optimizer.compute_gradients(loss)\n"
            "p = [(tf.clip_by_norm(g, 1), v) for g, v in p if g is not None]\n"
            "v = optimizer.apply_gradients(p)"
        ),
        (
            "t = tf.trainable_variables()\n"
            "v = optimizer.apply_gradients(zip(tf.gradients(loss, t), t))"
        ),
        (
            "g = tf.gradients(loss, tf.trainable_variables())\n"
            "v = optimizer.apply_gradients(zip(g, tf.trainable_variables()))"
        ),
        (
            "t = tf.trainable_variables()\n"
            "g, norm = tf.clip_by_global_norm(tf.gradients(loss, t), 5)\n"
            "v = optimizer.apply_gradients(zip(g, t))"
        ),
    ],
)
def test_every_way_to_write_an_update(text: str) -> None:
    found = with_graph(f"{text}  # here\n")
    step = update_in(found)
    assert step is not None
    (written,) = found.scopes.module.bindings["loss"]
    assert written.value is not None
    assert step.loss is plain(found.graph.trace(written.value))


# ---- traps: reads that race with the update ------------------------------------------------------


@pytest.mark.parametrize(
    "fetch",
    [
        "w",
        "b",
        "tf.identity(w)",
        "tf.reduce_sum(w)",
        "tf.Variable(1.0)",
        "tf.matmul(x, w) + b",  # a second tower over the same weights
        "loss + tf.nn.l2_loss(w)",
        "loss + tf.Variable(1.0)",
        "[loss, w]",
        "w if flag else loss",
    ],
)
def test_a_read_that_the_gradient_does_not_wait_for_races(fetch: str) -> None:
    assert not before(fetch)


def test_a_loss_linear_in_its_last_layer_races() -> None:
    # The critic of a WGAN: the gradient of the bias does not depend on what is computed.
    text = "critic = tf.reduce_mean(tf.matmul(x, w) + b)"
    assert not before("critic", text, "optimizer.minimize(critic)")


def test_weight_decay_races_outside_the_gate() -> None:
    text = "total = loss + 0.01 * tf.nn.l2_loss(w)"
    assert not before("tf.nn.l2_loss(w)", text, "optimizer.minimize(total)")


def test_a_variable_with_no_gradient_through_the_gate_races() -> None:
    text = "scale = tf.Variable(1.0)\ntotal = loss + scale"
    assert not before("total", text, "optimizer.minimize(total)")


def test_a_read_behind_a_stopped_gradient_races() -> None:
    text = (
        "hidden = tf.stop_gradient(tf.matmul(x, w))\n"
        "total = tf.reduce_mean(tf.square(tf.matmul(hidden, tf.Variable(tf.zeros([3, 3])))))"
    )
    assert not before("total", text, "optimizer.minimize(total)")


def test_a_gate_that_a_constant_zero_folds_away_is_none() -> None:
    for factor in ("0.0", "0", "rate", "tf.zeros([])", "np.zeros([])", "FLAGS.weight"):
        text = f"rate = 0.0\ntotal = loss * {factor}"
        assert not before("loss", text, "optimizer.minimize(total)"), factor


def test_a_loss_made_in_a_loop_is_another_one_each_time() -> None:
    text = """
for i in range(3):
    total = tf.reduce_mean(tf.square(tf.matmul(x, w)))
"""
    assert not before("total", text, "optimizer.minimize(total)")


def test_weights_made_in_a_loop_are_others_each_time() -> None:
    text = """
for i in range(3):
    u = tf.Variable(tf.zeros([8, 3]))
out = tf.matmul(x, u)
total = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))
"""
    assert not before("out", text, "optimizer.minimize(total)")


def test_accuracy_over_another_reading_of_the_weights_races() -> None:
    text = "again = tf.argmax(tf.matmul(x, w) + b, 1)"
    assert not before("again", text)


# ---- what is surely read first -------------------------------------------------------------------


@pytest.mark.parametrize(
    "fetch",
    [
        "loss",
        "logits",
        "accuracy",
        "[loss, accuracy]",
        "loss * 2 + 1",
        "tf.argmax(logits, 1)",
        "x",
        "tf.reduce_mean(x)",
        "tf.nn.softmax(logits)",
        "loss if flag else accuracy",
    ],
)
def test_what_the_gradient_waits_for_is_read_first(fetch: str) -> None:
    assert before(fetch)


@pytest.mark.parametrize(
    "total",
    [
        "tf.reduce_mean(tf.square(logits - tf.cast(x, tf.float32)[:, :3]))",
        "loss * 0.5",
        "2 * loss",
        "loss + 1",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=logits))",
        "tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)",
    ],
)
def test_losses_with_a_gate(total: str) -> None:
    text = f"t = tf.placeholder(tf.float32, [None, 3])\ntotal = {total}"
    assert before("logits", text, "optimizer.minimize(total)")
    assert before("total", text, "optimizer.minimize(total)")


def test_a_loss_beside_weight_decay_is_still_read_first() -> None:
    text = "total = loss + 0.01 * tf.nn.l2_loss(w)"
    assert before("loss", text, "optimizer.minimize(total)")


def test_a_clipped_update_waits_as_well() -> None:
    text = """
pairs = optimizer.compute_gradients(loss)
clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
"""
    assert before("accuracy", text, "optimizer.apply_gradients(clipped)")


def test_layers_that_make_their_own_weights_wait_as_well() -> None:
    text = """
out = tf.layers.dense(x, 3)
total = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))
"""
    assert before("tf.argmax(out, 1)", text, "optimizer.minimize(total)")
    assert not before("tf.layers.dense(x, 3)", text, "optimizer.minimize(total)")
