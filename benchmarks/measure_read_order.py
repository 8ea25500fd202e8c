"""Which reads of a variable nothing keeps before its update, once a compiled step is optimized.

    PYTHON benchmarks/measure_read_order.py

For models, losses and optimizers it compiles a step, runs it, and looks into the graph that
TensorFlow's optimizer left: a read of a variable that is neither above its update nor below it may
come before or after. Runs under TensorFlow 2; the numbers stand in `docs/measurements.md`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Loss = Callable[[Any, Any], Any]

layers = tf.keras.layers
RNG = np.random.RandomState(0)
X = tf.constant(RNG.normal(size=(16, 6)).astype(np.float32))
Y = tf.constant(RNG.normal(size=(16, 1)).astype(np.float32))
INPUT = tf.keras.Input((6,))
crossentropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

BENDING: dict[str, Loss] = {
    "squared": lambda p, y: tf.reduce_mean((p - y) ** 2),
    "absolute": lambda p, y: tf.reduce_mean(tf.abs(p - y)),
    "crossentropy": lambda p, y: crossentropy(tf.cast(y > 0, tf.float32), p),
    "hinge": lambda p, y: tf.reduce_mean(tf.nn.relu(1 - y * p)),
    "softplus": lambda p, y: tf.reduce_mean(tf.nn.softplus(-p * y)),
}
LINEAR: dict[str, Loss] = {
    "mean": lambda p, _: tf.reduce_mean(p),
    "mean of a product": lambda p, y: tf.reduce_mean(p * y),
}


def stacked(*parts: Any) -> Any:
    return tf.keras.Sequential([INPUT, *parts, layers.Dense(1)])


MODELS: dict[str, Callable[[], Any]] = {
    "dense": lambda: stacked(layers.Dense(8, "relu"), layers.Dense(5, "tanh")),
    "linear": lambda: stacked(layers.Dense(3)),
    "convolution": lambda: stacked(
        layers.Reshape((6, 1)),
        layers.Conv1D(4, 3),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Dropout(0.2),
        layers.Flatten(),
    ),
    "layer norm": lambda: stacked(layers.Dense(8), layers.LayerNormalization()),
    "LSTM": lambda: stacked(layers.Reshape((6, 1)), layers.LSTM(5)),
}


def once(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    return loss(model(x, training=True), y)


def with_decay(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    decay = tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
    return once(model, loss, x, y) + 0.01 * decay


def twice(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    return once(model, loss, x, y) + once(model, loss, 2.0 * x, -y)


def twice_and_linear(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    return once(model, loss, x, y) + tf.reduce_mean(model(2.0 * x, training=True))


def unordered(graph: Any) -> Iterator[str]:
    """The reads of a graph that are neither before nor after the update of their variable."""
    inputs = {
        node.name: [one.lstrip("^").split(":")[0] for one in node.input] for node in graph.node
    }
    reads: dict[str, list[str]] = defaultdict(list)
    for node in graph.node:
        if node.op == "ReadVariableOp":
            reads[inputs[node.name][0]].append(node.name)
    for node in graph.node:
        if node.op.startswith(("Assign", "ResourceApply")):
            for read in reads[inputs[node.name][0]]:
                above = read in beneath(inputs, node.name)
                if not above and node.name not in beneath(inputs, read):
                    yield read


def beneath(inputs: dict[str, list[str]], name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = set(inputs.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def loses_order(model: Any, make_loss: Loss, optimizer: str) -> bool:
    rule = getattr(tf.keras.optimizers, optimizer)(0.01) if optimizer else None

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = make_loss(x, y)
        variables = model.trainable_variables
        gradients = tape.gradient(loss, variables)
        if rule is not None:
            rule.apply_gradients(zip(gradients, variables, strict=True))
        else:
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(0.01 * gradient)
        return loss

    context.context().enable_graph_collection()
    tf.function(step)(X, Y)
    graphs = context.context().export_run_metadata().function_graphs
    context.context().disable_graph_collection()
    return any(any(unordered(one.post_optimization_graph)) for one in graphs)


def main() -> None:
    print("| loss | model is called | optimizer | steps tried | that lost an order |")
    print("|---|---|---|---|---|")
    for kind, losses in (("bending", BENDING), ("linear", LINEAR)):
        for shape in (once, with_decay, twice, twice_and_linear):
            for optimizer in ("SGD", "Adam", ""):
                lost = [
                    loses_order(model := make(), partial(shape, model, loss), optimizer)
                    for make in MODELS.values()
                    for loss in losses.values()
                ]
                how = shape.__name__.replace("_", " ")
                row = (kind, how, optimizer or "by hand", len(lost), sum(lost))
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
