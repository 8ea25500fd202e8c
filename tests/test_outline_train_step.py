"""TFR202: steps written out in loops that become functions, and those that must not."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.outline_train_step import OutlineTrainStep

START = """\
import numpy as np
import tensorflow as tf

xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.normal(size=(64, 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_object = tf.keras.losses.MeanSquaredError()


"""
LOOP = """\
for x, y in data:
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(float(loss))
"""


def script(*parts: str) -> str:
    return START + "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


def no(name: str, reason: str, *parts: str) -> Case:
    return refuses(name, script(*parts), reason=reason, shapes=())


def with_lines(old: str, new: str) -> str:
    assert old in LOOP
    return LOOP.replace(old, new)


PRINT = "    print(float(loss))\n"

test_outline_train_step = bench(
    OutlineTrainStep,
    leaves_alone("no loop", script(textwrap.dedent(LOOP.split("\n", 1)[1]))),
    leaves_alone(
        "under a condition",
        script("""
        for i, (x, y) in enumerate(data):
            if i % 2 == 0:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
        """),
    ),
    leaves_alone(
        "compiled already",
        script("@tf.function\ndef run():\n" + textwrap.indent(LOOP, "    ") + "\nrun()\n"),
    ),
    no(
        "the step number",
        "argument-varies",
        """
        for i, (x, y) in enumerate(data):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x)) / (i + 1)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        """,
    ),
    no(
        "a sum that is carried on",
        "argument-not-known",
        "total = 0.0\n",
        with_lines("    gradients", "    total = total + loss\n    gradients"),
        "print(total)\n",
    ),
    no("the tape is used later", "returns-python", LOOP, "print(tape)\n"),
    no(
        "leaves in between",
        "not-followed",
        with_lines("    gradients", "    if xs is None:\n        break\n    gradients"),
    ),
    no(
        "a result under a condition",
        "not-followed",
        with_lines("    gradients", "    if True:\n        n = loss * 2\n    gradients"),
        "print(n)\n",
    ),
    no(
        "called again and again",
        "traced-again",
        "def run():\n" + textwrap.indent(LOOP, "    ") + "\nrun()\nrun()\n",
    ),
    no(
        "a text over several lines",
        "not-followed",
        with_lines("    gradients", '    """\n    text\n    """\n    gradients'),
    ),
    no(
        "a model for each fold",
        "two-objects",
        """
        for fold in range(3):
            net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        """,
    ),
    rewrites(
        "the plain form",
        script(LOOP),
        script("""
        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for x, y in data:
            loss = train_step(x, y)
            print(float(loss))
        """)
        .replace("def train_step(x, y)", "def train_step(y, x)")
        .replace("= train_step(x, y)", "= train_step(y, x)"),
        contract="rounding",
        shapes=("crlf",),
    ),
    rewrites(
        "a print between the two halves",
        script(with_lines("    optimizer", "    print(float(loss))\n    optimizer")),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            return loss, gradients


        for x, y in data:
            loss, gradients = train_step(y, x)
            print(float(loss))
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
        """),
        contract="rounding",
        shapes=(),
    ),
)
