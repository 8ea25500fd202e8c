"""Whether Keras can count the batches of an epoch, and how many may be taken at once."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = """\
import numpy as np
import tensorflow as tf
L = tf.keras.layers
model = tf.keras.Sequential([L.Dense(3, input_shape=[2])])
model.compile('adam', 'mse')
data = tf.data.Dataset.from_tensor_slices(np.zeros((64, 2))).batch(4)
pair = (np.zeros((64, 2)), np.zeros((64, 2)))
"""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("model.fit(x, y)", 8),
        ("model.fit(x=x, y=y)", 8),
        ("model.fit(np.zeros((960, 2)), y)", 30),
        ("model.fit(np.zeros((961, 2)), y)", 31),
        ("model.fit(np.zeros((37 * 32, 2)), y)", 8),
        ("model.fit(np.zeros((960, 2)), y)\nmodel.fit(np.zeros((320, 2)), y)", 10),
        ("model.fit(np.zeros((64, 2)), y)", 8),
        ("model.fit(np.zeros((960, 2)), y, batch_size=size)", 8),
        ("model.fit(data)", 8),
        ("model.fit(data.repeat(), steps_per_epoch=100)", 25),
        (
            "model.fit(data.repeat(), steps_per_epoch=100)\nmodel.evaluate(data.repeat(), steps=6)",
            2,
        ),
        ("model.fit(data.repeat(2))", 8),
        ("model.fit(data.repeat(-1), steps_per_epoch=16)", 16),
        ("model.fit(x, y, validation_data=data.repeat(), validation_steps=16)", 16),
        ("model.fit(x, y, validation_data=pair)", 8),
        ("model.fit(x, y, validation_data=data)", 8),
        ("model.fit(x, y, validation_data=None)", 8),
        ("model.fit(data.concatenate(data))\nmodel.predict(np.zeros((3, 2)))", 8),
    ],
)
def test_counted(text: str, number: int) -> None:
    found = facts(HEAD + text).fit_steps
    assert found.obstacle is None
    assert found.at_once == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model.fit(make())", "steps-unknown"),
        ("model.fit()", "steps-unknown"),
        ("model.fit(make(), None)", "steps-unknown"),
        ("model.fit(make(), y=None)", "steps-unknown"),
        ("model.fit(x, y)\nmodel.predict(make(), 32)", "steps-unknown"),
        ("model.fit(data.filter(f))", "steps-unknown"),
        ("model.fit(data.repeat())", "steps-unknown"),
        ("model.fit(data.unbatch())", "steps-unknown"),
        ("model.fit(data.flat_map(f))", "steps-unknown"),
        ("model.fit(data.interleave(f))", "steps-unknown"),
        ("model.fit(data, steps_per_epoch=len(data))", "steps-unknown"),
        ("model.fit(data.repeat(), steps_per_epoch=41)", "steps-uneven"),
        ("model.fit(data, steps_per_epoch=16)", "steps-unknown"),
        ("model.fit(data.repeat(3), steps_per_epoch=16)", "steps-unknown"),
        ("model.fit(data.repeat(epochs), steps_per_epoch=16)", "steps-unknown"),
        ("model.fit(data.repeat().take(9), steps_per_epoch=16)", "steps-unknown"),
        ("model.fit(data.repeat(epochs))", "steps-unknown"),
        ("model.fit(x, y)\nmodel.evaluate(data, steps=16)", "steps-unknown"),
        ("model.fit(x, y, validation_data=data, validation_steps=16)", "steps-unknown"),
        ("model.fit(data.repeat(), steps_per_epoch=True)", "steps-unknown"),
        ("model.fit(x, y, steps_per_epoch=4)", "steps-unknown"),
        ("model.fit(x, y, validation_data=make())", "steps-unknown"),
        ("model.fit(x, y, validation_data=data.repeat())", "steps-unknown"),
        ("model.fit(*pair)", "steps-unknown"),
        ("model.fit_generator(data)", "steps-unknown"),
        ("model.fit(x, y)\nmodel.train_on_batch(x, y)", "batch-by-batch"),
    ],
)
def test_uncounted(text: str, reason: str) -> None:
    obstacle = facts(HEAD + text).fit_steps.obstacle
    assert obstacle is not None
    assert obstacle.reason == reason
