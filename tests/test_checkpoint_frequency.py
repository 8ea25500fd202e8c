"""TFR404: what is left alone first, then what is reported, then what is rewritten."""

from __future__ import annotations

from rulebench import bench, leaves_alone, reports, rewrites
from tfrewrite.codemods.checkpoint_frequency import CheckpointFrequency

HEAD = "import tensorflow as tf\n"


def saving(arguments: str, *more: str) -> str:
    made = f'saving = tf.keras.callbacks.ModelCheckpoint("a.h5", {arguments})'
    return HEAD + "\n".join((made, *more)) + "\n"


test_left_alone = bench(
    CheckpointFrequency,
    leaves_alone("no period", saving('save_freq="epoch"')),
    leaves_alone(
        "the period of something else",
        HEAD + "agent = tf.keras.callbacks.EarlyStopping(period=1)  # ModelCheckpoint\n",
    ),
    leaves_alone(
        "another library's",
        """
        from pytorch_lightning.callbacks import ModelCheckpoint
        saving = ModelCheckpoint("keras", period=1)
        """,
    ),
    leaves_alone(
        "a class of this file",
        """
        import tensorflow as tf
        from tensorflow import keras

        class ModelCheckpoint(keras.callbacks.Callback):
            def __init__(self, period):
                self.period = period

        saving = ModelCheckpoint(period=1)
        """,
    ),
    leaves_alone(
        "by its place, which is save_freq's now", saving('"loss", 0, False, False, "auto", 1')
    ),
    leaves_alone("before there was a save_freq", saving("period=1"), target_tf=(1, 13)),
    leaves_alone("arguments in a dict", saving("**{'period': 1}")),
)

test_reported = bench(
    CheckpointFrequency,
    reports("several epochs", saving("period=5"), message="5 times the steps per epoch"),
    reports(
        "several epochs of known steps",
        saving("period=5", "model.fit(x, steps_per_epoch=100, callbacks=[saving])"),
        message="5 * 100",
    ),
    reports(
        "two fits",
        saving("period=5", "m.fit(x, steps_per_epoch=9)", "n.fit(x, steps_per_epoch=3)"),
        message="times the steps per epoch",
    ),
    reports("never", saving("period=0"), message="counts batches"),
    reports("a name", saving("period=every"), message="if `every` is 1"),
    reports("a truth", saving("period=True"), message="if `True` is 1"),
    reports("beside the other", saving('save_freq="epoch", period=1'), message="leave one"),
    reports("beside what is not seen", saving("period=1, **more"), message="leave one"),
    reports(
        "beside the other, by its place",
        saving('"loss", 0, False, False, "auto", 64, period=1'),
        message="leave one",
    ),
    reports(
        "standalone Keras",
        """
        from keras.callbacks import ModelCheckpoint
        saving = ModelCheckpoint("a.h5", period=1)
        """,
        message="since Keras 2.4",
    ),
    reports(
        "standalone Keras by its module",
        """
        import keras
        saving = keras.callbacks.ModelCheckpoint("a.h5", period=1)
        """,
        message="since Keras 2.4",
    ),
)

test_rewritten = bench(
    CheckpointFrequency,
    rewrites("one epoch", saving("period=1"), saving('save_freq="epoch"'), contract="exact"),
    rewrites(
        "in the quotes of the file, over several lines",
        """
        from tensorflow.keras.callbacks import ModelCheckpoint
        callbacks = [
            ModelCheckpoint('period=1.h5',
                            monitor='loss',
                            period = 1,  # period
                            verbose=1)
        ]
        """,
        """
        from tensorflow.keras.callbacks import ModelCheckpoint
        callbacks = [
            ModelCheckpoint('period=1.h5',
                            monitor='loss',
                            save_freq='epoch',  # period
                            verbose=1)
        ]
        """,
        contract="exact",
    ),
    rewrites(
        "a comment in the middle",
        saving("period=  # the period\n    1"),
        saving('save_freq="epoch"').replace("saving =", "# the period\nsaving ="),
        contract="exact",
        shapes=(),
    ),
    rewrites(
        "for a version that has no period any more",
        saving("period=1, verbose=1"),
        saving('save_freq="epoch", verbose=1'),
        contract="exact",
        target_tf=(2, 21),
    ),
)
