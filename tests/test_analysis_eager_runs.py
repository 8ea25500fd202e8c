"""What of a model that runs eagerly is Keras' own."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"
MODEL = "model = tf.keras.Sequential([L.Dense(3, input_shape=[2])])\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{MODEL}model.compile('sgd', 'mse')", None),
        (f"{MODEL}opt = tf.keras.optimizers.SGD(0.1)\nmodel.compile(opt, 'mse')", None),
        (f"{MODEL}model.compile('sgd', {{'a': tf.keras.losses.mse}})", None),
        (f"{MODEL}model.compile(tf.optimizers.SGD(0.1), tf.losses.MeanSquaredError())", None),
        (f"{MODEL}model.compile('sgd', tf.losses.mean_squared_error(a, b))", "custom-code"),
        (f"{MODEL}model.compile('sgd', [mine])", "custom-code"),
        (f"{MODEL}model.compile(**how)", "custom-code"),
        (
            (
                "i = tf.keras.Input([2])\nh = L.Dense(2)(i)\n"
                "model = tf.keras.Model(i, L.Dense(1)(L.add([h, i])))\nmodel.compile('sgd', 'mse')"
            ),
            None,
        ),
        ("model = tf.keras.Sequential([L.Dense(3)])\nmodel.compile()", "built-by-step"),
        ("model = tf.keras.Sequential()\nmodel.add(L.Dense(3))\nmodel.compile()", "built-by-step"),
        (
            (
                "def make():\n    m = tf.keras.Sequential()\n"
                "    m.add(L.Dense(3, input_dim=2))\n    return m\n"
                "model = make()\nmodel.compile('sgd', 'mse')"
            ),
            None,
        ),
        (
            (
                "def make(one):\n    m = tf.keras.Sequential()\n    m.add(one)\n    return m\n"
                "model = make(3)\nmodel.compile('sgd', 'mse')"
            ),
            "model-not-seen",
        ),
        ("model = tf.keras.Sequential([mine])\nmodel.compile('sgd', 'mse')", "model-not-seen"),
        ("trainer.model.compile('sgd', 'mse')", "model-not-seen"),
        (f"{MODEL}model.trainable = False\nmodel.compile('sgd', 'mse')", None),
        (
            f"{MODEL}def thaw():\n    model.trainable = True\nmodel.compile('sgd', 'mse')\nthaw()",
            "changes-while-training",
        ),
        (
            f"{MODEL}for i in range(2):\n    model.compile('sgd', 'mse')\n    model.trainable = 0",
            "changes-while-training",
        ),
    ],
)
def test_what_is_not_kerass(text: str, reason: str | None) -> None:
    asked = facts(HEAD + text).eager_runs
    (compiling,) = asked.compiles
    obstacle = asked.obstacle(compiling)
    assert (obstacle.reason if obstacle else None) == reason


@pytest.mark.parametrize(
    ("text", "draws"),
    [
        ("L.Dense(3)", False),
        ("L.GaussianNoise(3)", True),
        ("L.LSTM(3, dropout=0.1)", True),
        ("tf.keras.applications.VGG16()", True),
    ],
)
def test_layers_that_draw(text: str, *, draws: bool) -> None:
    assert facts(HEAD + text).eager_runs.draws is draws
