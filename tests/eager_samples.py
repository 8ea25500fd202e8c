"""How tests ask for values and traces of a small program in eager mode."""

from __future__ import annotations

from analysis_helpers import expression, facts, function
from tfrewrite.analysis.eager.abstract_values import Code, Value
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace

START = """\
import numpy as np
import tensorflow as tf

xs = np.zeros((64, 6), np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, xs)).batch(16)
weights = tf.Variable(tf.ones([6]))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""


def start(text: str) -> Facts:
    return facts(START + text)


def value(text: str) -> Value:
    """What the expression on the line marked `here` gives."""
    found = start(text)
    return found.eager_values.value(expression(found))


def replayed(text: str, **arguments: Value) -> Trace | Obstacle:
    found = start(text)
    return found.tracing.replayed(Code(function(found, "step")), arguments)


LOOP = """
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return tape.gradient(loss, model.trainable_variables)

def run():
    for x, y in data:
        step(x)

run()
"""
