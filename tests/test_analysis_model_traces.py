"""What another trace of a Keras model would find changed."""

from __future__ import annotations

import textwrap

import pytest

from analysis_helpers import facts

NET = """
from tensorflow import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)
        self.scale = 1.0
    def call(self, x):
        return self.dense(x) * self.scale
net = Net()
"""
BEFORE = "net.predict(x)\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BEFORE, None),
        (BEFORE + "other.rate = 3\n", "object-changes"),
        (BEFORE + "net.scale = 2.0\n", "object-changes"),
        ("net.scale = 2.0\n" + BEFORE, None),
        (BEFORE + "net.name_of_the_run = 2.0\n", None),
        (BEFORE + "net.trainable = False\n", None),
        ("keras.layers.Lambda(lambda x: x / x.shape[0])\n", "traced-effects"),
        ("keras.layers.Lambda(lambda x: x / x.shape[1])\n", None),
        ("import tensorflow as tf\nkeras.layers.Lambda(lambda x: x / tf.shape(x)[0])\n", None),
        ("k = 1\nkeras.layers.Lambda(lambda x: x * k)\n", None),
        ("k = 1\nkeras.layers.Lambda(lambda x: x * k)\nk = 2\n", "object-changes"),
        ("class Agent:\n    def act(self):\n        self.rate = 2\n" + BEFORE, None),
    ],
)
def test_predict(text: str, reason: str | None) -> None:
    found = facts(textwrap.dedent(NET) + text).model_traces.obstacle(training=False)
    assert (found.reason if found else None) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("net.trainable = False\nnet.compile(loss='mse')\nnet.fit(x, y)\n", None),
        ("net.fit(x, y)\nnet.trainable = False\n", "object-changes"),
        ("net.compile(loss=lambda y, p: y.shape[0] * p)\n", "traced-effects"),
    ],
)
def test_fit(text: str, reason: str | None) -> None:
    found = facts(textwrap.dedent(NET) + text).model_traces.obstacle(training=True)
    assert (found.reason if found else None) == reason
