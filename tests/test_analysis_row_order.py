"""Whether models could tell in which order the rows of a batch come."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense, Dropout
"""


def obstacle(text: str) -> str:
    found = facts(HEAD + text).row_order.obstacle
    return found.message if found is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        "Dropout(0.5)",
        "layers.GaussianNoise(0.1)",
        "make = keras.layers.Lambda",
        "layers.LSTM(3, recurrent_dropout=0.2)",
        "layers.GRU(3, stateful=True)",
        "layers.Dense(3, activation=mine)",
        "layers.Dense(3, activation=lambda x: x)",
        "class Mine(layers.Layer):\n    pass",
        "class Loss(keras.losses.Loss):\n    pass",
        "keras.models.load_model('a.keras')",
        "keras.applications.VGG16()",
        "tf.reverse(x, [0])",
        "model.add_loss(x)",
        "model.compile('adam', mine)",
        "model.compile(loss=['mse', mine])",
        "model.compile(loss=make())",
    ],
)
def test_what_may_tell(text: str) -> None:
    assert obstacle(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dropout(0.5)", False),
        ("layers.LSTM(3, dropout=0.2)", False),
        ("model.compile(loss=mine)", False),
        ("keras.Model(i, Dense(3)(i))", False),
        ("tf.random.set_seed(1)\nkeras.Model(i, o)", False),
        ("m = keras.Sequential()\nx = tf.reduce_mean(m(x))", False),
        ("layers.Lambda(f)", True),
        ("keras.Model(i, i - tf.reduce_mean(i))", True),
        ("keras.Model(i, keras.backend.mean(i))", True),
        ("Dropout(0.5)(x, training=True)", True),
        ("Dropout(0.5)(x, True)", True),
        ("layers.LSTM(3, stateful=True)", True),
        ("keras.backend.set_learning_phase(1)", True),
    ],
)
def test_at_inference(text: str, *, expected: bool) -> None:
    assert (facts(HEAD + text).row_order.at_inference is not None) is expected


@pytest.mark.parametrize(
    "text",
    [
        "keras.Sequential([Dense(3), layers.Dense(2, activation='relu')])",
        "layers.Conv2D(3, 3, activation=tf.nn.relu)",
        "layers.BatchNormalization()",
        "model.compile('adam', 'mse')",
        "model.compile(loss=keras.losses.Huber(), optimizer=keras.optimizers.Adam())",
        "model.compile(loss={'a': 'mse', 'b': keras.losses.mse})",
        "class Agent:\n    pass",
        "class Stop(keras.callbacks.Callback):\n    pass",
    ],
)
def test_what_cannot(text: str) -> None:
    assert obstacle(text) == ""
