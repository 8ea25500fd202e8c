"""Which symbols of TensorFlow make objects of Keras, and what is known of these."""

from __future__ import annotations

import pytest

from tfrewrite.analysis.keras import keras_things


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        ("Variable", "variable"),
        ("keras.Sequential", "model"),
        ("keras.layers.Dense", "layer"),
        ("keras.layers.Bidirectional", "layer"),
        ("keras.layers.Layer", None),
        ("keras.optimizers.Adam", "optimizer"),
        ("optimizers.SGD", "optimizer"),
        ("keras.optimizers.LossScaleOptimizer", None),
        ("keras.optimizers.Nadam", None),
        ("keras.optimizers.ScheduleFreeAdamW", None),
        ("keras.optimizers.schedules.ExponentialDecay", "schedule"),
        ("losses.MeanSquaredError", "loss"),
        ("keras.losses.mse", None),
        ("keras.metrics.Mean", "metric"),
        ("random.Generator.from_seed", "generator"),
        ("matmul", None),
    ],
)
def test_kinds_of_things(symbol: str, kind: str | None) -> None:
    assert keras_things.kind_of(symbol) == kind


def test_which_layers_draw_and_make_variables() -> None:
    assert keras_things.draws("keras.layers.Dropout", [])
    assert keras_things.draws("keras.layers.LSTM", ["recurrent_dropout"])
    assert not keras_things.draws("keras.layers.LSTM", ["units"])
    assert keras_things.makes_variables("keras.layers.Dense")
    assert not keras_things.makes_variables("keras.layers.Dropout")
