"""Which values of eager code are tensors of one number."""

import ast

import pytest

from analysis_helpers import facts

HEAD = """
import numpy as np
import tensorflow as tf

variable = tf.Variable(1.0)
x = tf.ones([2, 3])
loss_of = tf.keras.losses.MeanSquaredError()
each_of = tf.keras.losses.MeanSquaredError(reduction="none")
mean = tf.keras.metrics.Mean()
confusion = tf.keras.metrics.MeanIoU(num_classes=2)


@tf.function
def compiled(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(x)
        loss += tf.reduce_sum(x) * 0.1
        return loss


def pair(x):
    return tf.reduce_mean(x), x


def sometimes(x):
    if len(x):
        return tf.reduce_mean(x)


def numbers(x):
    return 1.0


def decorated_by(other):
    return other


@decorated_by
def decorated(x):
    return tf.reduce_mean(x)


class Counter:
    def loss(self, x):
        return tf.reduce_mean(x)


class Base:
    def loss(self, x):
        return tf.reduce_mean(x)

    def run(self):
        return self.loss(x)


class Other(Base):
    def loss(self, x):
        return variable
"""


def is_scalar(lines: str) -> bool:
    """Whether the last line, an expression, is one."""
    found = facts(f"{HEAD}\n{lines}\n")
    last = found.source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return found.scalar_tensors.surely(last.value)


@pytest.mark.parametrize(
    "lines",
    [
        "tf.reduce_mean(x)",
        "tf.math.reduce_std(x)",
        "-tf.reduce_sum(x, name='sum') * 2.0 + 1",
        "tf.sqrt(tf.reduce_sum(x))",
        "tf.cast(tf.reduce_sum(x), tf.float64)",
        "loss_of(x, x)",
        "mean.result()",
        "compiled(x)",
        "a, b = pair(x)\na",
        "a = tf.reduce_sum(x)\nif unknown:\n    a = compiled(x)\na",
        "counter = Counter()\ncounter.loss(x)",
    ],
)
def test_one_number(lines: str) -> None:
    assert is_scalar(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "variable",
        "variable * 2.0",
        "x",
        "unknown",
        "1.0",
        "tf.reduce_mean(x, 0)",
        "tf.reduce_mean(x, axis=0)",
        "tf.reduce_mean(x, keepdims=True)",
        "tf.reduce_mean(x) * x",
        "tf.reduce_mean(x) * np.ones(3)",
        "tf.reduce_mean(x) > 1.0",
        "tf.sqrt(x)",
        "tf.cast(tf.reduce_sum(x), tf.string)",
        "np.mean(x)",
        "each_of(x, x)",
        "tf.keras.losses.mse(x, x)",
        "confusion.result()",
        "a, b = pair(x)\nb",
        "sometimes(x)",
        "numbers(x)",
        "decorated(x)",
        "base = Base()\nbase.run()",
        "a = tf.reduce_sum(x)\nif unknown:\n    a = variable\na",
        "a = 0.0\nfor n in range(3):\n    a += tf.reduce_sum(x)\na",
        "a = tf.reduce_sum(x)\na = a if unknown else 0\na",
        "for a in x:\n    pass\na",
    ],
)
def test_anything_else(lines: str) -> None:
    assert not is_scalar(lines)
