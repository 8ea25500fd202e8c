"""Which callbacks see single batches."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = """\
import tensorflow as tf
C = tf.keras.callbacks
class ByEpoch(C.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch)
class ByBatch(C.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        print(batch)
class Deeper(ByBatch):
    pass
stop = C.EarlyStopping()
listed = [stop, ByEpoch()]
grown = [stop]
grown.extend(others)
model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
model.compile('adam', 'mse')
"""


def seen(callbacks: str) -> bool:
    obstacle = facts(f"{HEAD}model.fit(x, y, callbacks={callbacks})").fit_callbacks.obstacle
    return obstacle is not None and obstacle.reason == "sees-batches"


@pytest.mark.parametrize(
    "callbacks",
    [
        "None",
        "[]",
        "listed",
        "(stop,)",
        "[ByEpoch()]",
        "[C.ModelCheckpoint('a', save_freq='epoch')]",
        "[C.LambdaCallback(on_epoch_end=f)]",
        "[C.CSVLogger('a')]",
        "[C.EarlyStopping('loss', 0, 3)]",
        "[C.LambdaCallback(f, f)]",
    ],
)
def test_by_epoch(callbacks: str) -> None:
    assert not seen(callbacks)


@pytest.mark.parametrize(
    "callbacks",
    [
        "unknown",
        "grown",
        "listed + [stop]",
        "[ByBatch()]",
        "[Deeper()]",
        "[C.TerminateOnNaN()]",
        "[C.ModelCheckpoint('a', save_freq=FREQ)]",
        "[C.ModelCheckpoint('a', **how)]",
        "[C.ModelCheckpoint('a', 'loss', 0, True, False, 'auto', 100)]",
        "[C.LambdaCallback(on_train_batch_end=f)]",
        "[C.LambdaCallback(f, f, f)]",
        "[C.RemoteMonitor()]",
    ],
)
def test_by_batch(callbacks: str) -> None:
    assert seen(callbacks)


def test_those_of_an_evaluation_count() -> None:
    text = HEAD + "model.fit(x, y)\nmodel.evaluate(x, y, callbacks=[ByBatch()])"
    assert facts(text).fit_callbacks.obstacle is not None
