"""TFR403: what is left alone and refused first, then batches that are taken at once."""

from __future__ import annotations

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.steps_per_execution import StepsPerExecution

START = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
(x, y), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
"""
MODEL = "model = tf.keras.Sequential([layers.Dense(8, 'relu', input_shape=[9]), layers.Dense(1)])\n"
COMPILE = "model.compile('adam', 'mse')\n"
FIT = "model.fit(x, y, epochs=5)\n"
DATA = "data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).batch(32)\n"


def script(*parts: str, compiling: str = COMPILE, fit: str = FIT, model: str = MODEL) -> str:
    return START + "".join(part + "\n" for part in parts) + model + compiling + fit


def refused(name: str, *parts: str, reason: str, fit: str = FIT, model: str = MODEL) -> Case:
    return refuses(name, script(*parts, fit=fit, model=model), reason=reason)


def at_once(number: int) -> str:
    return COMPILE.replace(")", f", steps_per_execution={number})")


def taken(name: str, *parts: str, fit: str = FIT, number: int = 8, model: str = MODEL) -> Case:
    before = script(*parts, fit=fit, model=model)
    return rewrites(name, before, before.replace(COMPILE, at_once(number)), contract="exact")


def with_callback(callback: str) -> str:
    return f"model.fit(x, y, epochs=5, callbacks=[{callback}])\n"


def own(body: str, base: str = "tf.keras.callbacks.Callback") -> str:
    return f"class Mine({base}):\n{body}\n"


EPOCH = "    def on_epoch_end(self, epoch, logs=None):\n        print(epoch, logs)"
BATCH = "    def on_train_batch_end(self, batch, logs=None):\n        print(batch)"

test_left_alone = bench(
    StepsPerExecution,
    leaves_alone("asked for", script(compiling=at_once(2))),
    leaves_alone("one at a time, on purpose", script(compiling=at_once(1))),
    leaves_alone(
        "by its old name", script(compiling=at_once(2).replace("steps", "experimental_steps"))
    ),
    leaves_alone("a version that has no such thing", script(), target_tf=(2, 3)),
    leaves_alone("no fit", script(fit="model.predict(x)\n")),
    leaves_alone("something else", "import re\nre.compile('a')\ntree.fit(x, y)\n"),
)

K = "tf.keras.callbacks."
FEW = "x = np.array([[1.0], [2.0]])\ny = np.array([[0.0], [1.0]])"
test_few_steps = bench(
    StepsPerExecution,
    leaves_alone("one step an epoch", script(FEW)),
    leaves_alone("two steps an epoch", script(FEW, fit="model.fit(x, y, batch_size=1)\n")),
)

test_refused_callbacks = bench(
    StepsPerExecution,
    refused("sees batches", own(BATCH), fit=with_callback("Mine()"), reason="sees-batches"),
    refused(
        "by their old name",
        own(BATCH.replace("train_batch", "batch")),
        fit=with_callback("Mine()"),
        reason="sees-batches",
    ),
    refused(
        "sets them as an attribute",
        own(EPOCH + "\n        self.on_train_batch_end = print"),
        fit=with_callback("Mine()"),
        reason="sees-batches",
    ),
    refused("not seen", fit=with_callback("mine"), reason="sees-batches"),
    refuses(
        "XLA compiles the steps",
        script().replace(COMPILE, COMPILE.replace(")", ", jit_compile=True)")),
        reason="compiled-by-xla",
    ),
    refused("made elsewhere", fit=with_callback("make()"), reason="sees-batches"),
    refused("not listed", fit="model.fit(x, y, callbacks=get())\n", reason="sees-batches"),
    refused(
        "a list that grows",
        f"listed = [{K}EarlyStopping()]\nlisted.append(mine)",
        fit="model.fit(x, y, callbacks=listed)\n",
        reason="sees-batches",
    ),
    refused("stops at NaN", fit=with_callback(f"{K}TerminateOnNaN()"), reason="sees-batches"),
    refused(
        "saves by batches",
        fit=with_callback(f"{K}ModelCheckpoint('a', save_freq=100)"),
        reason="sees-batches",
    ),
    refused("events", fit=with_callback(f"{K}TensorBoard('a')"), reason="sees-batches"),
    refused(
        "a lambda at batches",
        fit=with_callback(f"{K}LambdaCallback(on_batch_end=lambda b, logs: print(b))"),
        reason="sees-batches",
    ),
    refused(
        "settings in a dict",
        fit=with_callback(f"{K}ModelCheckpoint('a', **how)"),
        reason="sees-batches",
    ),
    refused(
        "in an evaluation",
        fit=FIT + "model.evaluate(x, y, callbacks=[mine])\n",
        reason="sees-batches",
    ),
    refused(
        "in another fit",
        fit=FIT + with_callback("mine"),
        reason="sees-batches",
    ),
    refused(
        "that is a known one's child",
        own(EPOCH, f"{K}EarlyStopping"),
        fit=with_callback("Mine()"),
        reason="custom-code",
    ),
)

FILTER = DATA.replace(".batch", ".filter(lambda a, b: b > 0).batch")
test_refused_steps = bench(
    StepsPerExecution,
    refused("a generator", fit="model.fit(make(), steps_per_epoch=8)\n", reason="steps-unknown"),
    refused("of old", fit="model.fit_generator(make(), 8)\n", reason="steps-unknown"),
    refused("a filter", FILTER, fit="model.fit(data)\n", reason="steps-unknown"),
    refused(
        "a pipeline from a generator",
        "data = tf.data.Dataset.from_generator(make, (tf.float32, tf.float32)).batch(8)",
        fit="model.fit(data)\n",
        reason="steps-unknown",
    ),
    refused(
        "records",
        "data = tf.data.TFRecordDataset('a').map(read).batch(8)",
        fit="model.fit(data)\n",
        reason="steps-unknown",
    ),
    refused("from elsewhere", fit="model.fit(load())\n", reason="steps-unknown"),
    refused("an endless one", DATA.replace(".batch", ".repeat().batch"), fit="model.fit(data)\n",
            reason="steps-unknown"),
    refused("by a star", fit="model.fit(*data)\n", reason="steps-unknown"),
    refused("by two stars", fit="model.fit(x, y, **how)\n", reason="steps-unknown"),
    refused(
        "a number that is not seen",
        DATA.replace(".batch", ".repeat().batch"),
        fit="model.fit(data, steps_per_epoch=count)\n",
        reason="steps-unknown",
    ),
    refused(
        "an odd number",
        DATA.replace(".batch", ".repeat().batch"),
        fit="model.fit(data, steps_per_epoch=37)\n",
        reason="steps-uneven",
    ),
    refused(
        "numbers without a common divisor",
        DATA.replace(".batch", ".repeat().batch"),
        fit="model.fit(data, steps_per_epoch=40, validation_data=data, validation_steps=9)\n",
        reason="steps-uneven",
    ),
    refused("a part of arrays", fit="model.fit(x, y, steps_per_epoch=8)\n",
            reason="steps-unknown"),
    refused(
        "steps of an evaluation",
        DATA,
        fit=FIT + "model.evaluate(data.repeat(), steps=37)\n",
        reason="steps-uneven",
    ),
    refused("batch by batch", fit=FIT + "model.train_on_batch(x, y)\n", reason="batch-by-batch"),
    refused("eagerly", "tf.config.run_functions_eagerly(True)", reason="runs-eagerly"),
    refused("spread", "s = tf.distribute.MirroredStrategy()", reason="distributed"),
    refused("of unknown make", model="model = make()\n", reason="model-not-seen"),
    refused(
        "a step of its own",
        "class M(tf.keras.Model):\n    def train_step(self, data):\n        return {}",
        model="model = M()\n",
        reason="custom-code",
    ),
    refuses(
        "a loss of its own",
        script(compiling="model.compile('adam', mine)\n"),
        reason="custom-code",
    ),
)  # fmt: skip

LISTED = f"listed = [{K}EarlyStopping(patience=3), {K}ModelCheckpoint('a', save_best_only=True)]"
test_rewritten = bench(
    StepsPerExecution,
    taken("arrays of unknown length"),
    taken("a pipeline that is counted", DATA, fit="model.fit(data, epochs=3)\n"),
    taken(
        "arrays of known length",
        "x = np.zeros((640, 9))\ny = np.zeros((640, 1))",
        number=20,
        fit="model.fit(x, y)\n",
    ),
    taken(
        "whose steps have no divisor",
        "x = np.zeros((641 * 8, 9))\ny = np.zeros((641 * 8, 1))",
        fit="model.fit(x, y, batch_size=8)\n",
    ),
    taken(
        "steps that are asked for",
        DATA.replace(".batch", ".repeat().batch"),
        fit="model.fit(data, steps_per_epoch=50)\n",
        number=25,
    ),
    taken(
        "under a name",
        DATA.replace(".batch", ".repeat().batch") + "STEPS = 60",
        fit="model.fit(data, steps_per_epoch=STEPS)\n",
        number=30,
    ),
    taken("tried on arrays", fit="model.fit(x, y, validation_data=(x_test, y_test))\n"),
    taken("tried on a part", fit="model.fit(x, y, validation_split=0.2)\n"),
    taken("tried and used afterwards",
          fit=FIT + "model.evaluate(x_test, y_test)\nmodel.predict(x_test)\n"),
    taken("callbacks by epoch", LISTED, fit="model.fit(x, y, callbacks=listed)\n"),
    taken("one of its own", own(EPOCH), fit=with_callback("Mine()")),
    taken("a lambda at epochs",
          fit=with_callback(f"{K}LambdaCallback(on_epoch_end=lambda e, logs: print(e))")),
)  # fmt: skip
