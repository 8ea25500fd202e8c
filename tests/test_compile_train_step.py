"""TFR201: functions that are compiled, and those that must not be."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.compile_train_step import CompileTrainStep

START = """\
import random
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.normal(size=(64, 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_object = tf.keras.losses.MeanSquaredError()
"""
STEP = """\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
"""
LOOP = """\
for epoch in range(3):
    for x, y in data:
        loss = step(x, y)
    print(epoch, float(loss))
"""
# A layer of it adds a loss in each call.
REGULAR = """\
regular = tf.keras.Sequential(
    [tf.keras.layers.Dense(3, activity_regularizer="l2", input_shape=(6,))]
)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(regular(x) + y)) + tf.add_n(regular.losses)
    gradients = tape.gradient(loss, regular.trainable_variables)
    optimizer.apply_gradients(zip(gradients, regular.trainable_variables))
    return loss
"""
# A step of a class, on a variable of its own.
CLASS = """\
class Trainer:
    def __init__(self, rate):
        self.weights = tf.Variable(tf.ones([6]))
        self.rate = rate

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x * self.weights))
        self.weights.assign_sub(self.rate * tape.gradient(loss, self.weights))
        return loss

trainer = Trainer(0.1)
"""
OTHER_LOOP = """\
for x, y in data:
    loss = trainer.step(x, y)
"""
NET = """\
class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.hidden = tf.keras.layers.Dense(4)
        self.blocks = []
        for _ in range(2):
            self.blocks.append(tf.keras.layers.Dense(4))
        self.scale = 2.0

    def call(self, x, training=False):
        x = self.hidden(x)
        for block in self.blocks:
            x = block(x)
        return x * self.scale

net = Net()
"""


RECURRENT = """\
gru = tf.keras.layers.GRU(4, return_state=True)
dense = tf.keras.layers.Dense(1)
"""
WITH_STATE = """\
def step(x, y):
    with tf.GradientTape() as tape:
        output, state = gru(x[:, :, tf.newaxis])
        loss = loss_object(y, dense(state))
    variables = gru.trainable_variables + dense.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss
"""
CELLS = """\
cell = tf.keras.layers.LSTMCell(6)
dense = tf.keras.layers.Dense(1)
"""
FROM_CELLS = """\
def step(x, y):
    with tf.GradientTape() as tape:
        output, state = cell(x, {})
        loss = loss_object(y, dense(output + state[0]))
    variables = cell.trainable_variables + dense.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss
"""
TWO_OUTPUTS = """\
inputs = tf.keras.Input((6,))
hidden = tf.keras.layers.Dense(4)(inputs)
heads = tf.keras.Model(
    inputs, [tf.keras.layers.Dense(1)(hidden), tf.keras.layers.Dense(2)(hidden)]
)
"""
TWO_HEADS = """\
def step(x, y):
    with tf.GradientTape() as tape:
        a, b = heads(x)
        loss = loss_object(y, a) + tf.nn.l2_loss(b)
    gradients = tape.gradient(loss, heads.trainable_variables)
    optimizer.apply_gradients(zip(gradients, heads.trainable_variables))
    return loss
"""
PARTS = """\
class Parts(tf.keras.Model):
    def __init__(self):
        super(Parts, self).__init__()
        self.noise = tf.random.Generator.from_seed(3)
        self.body = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
        self.shift = tf.Variable(tf.zeros([1]))

    def encode(self, x):
        return self.body(x + self.noise.normal([16, 6])) + self.shift

parts = Parts()
"""
CLASSES = """\
heads = tf.keras.Sequential([tf.keras.layers.Dense(3, activation='softmax')])
classes = tf.keras.losses.SparseCategoricalCrossentropy()
""" + STEP.replace("loss_object(y, model(x, training=True))", "classes(y, heads(x))").replace(
    "model", "heads"
)
HEADS_GIVE, CROSSED = CLASSES.replace("'softmax'", "None").split("def step")
CROSSED = "def step" + CROSSED
WITH_CLASSES = CLASSES.replace("return loss", "return q").replace(
    "loss = classes(y, heads(x))", "q = heads(x)\n        loss = classes(y, q)"
)
MASKED = """\
embedding = tf.keras.layers.Embedding(9, 6, mask_zero=True)
"""
OPTIONS = (
    CLASS.replace("trainer = Trainer(0.1)\n", "")
    .replace("def __init__(self, rate):", "def __init__(self, options):")
    .replace("= rate", "= options.rate")
    + """\
import argparse

def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=0.1)
    return parser.parse_args()

options = parsed()
"""
)


def script(*parts: str) -> str:
    return START + "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


def with_loss(expression: str, *, sig: str = "x, y") -> str:
    plain = "loss_object(y, model(x, training=True))"
    return STEP.replace(plain, expression).replace("(x, y):", f"({sig}):")


def with_more(*lines: str) -> str:
    """The step with more lines before its end."""
    more = "".join(f"    {line}\n" for line in lines)
    return STEP.replace("    return loss\n", more + "    return loss\n")


def giving(expression: str) -> str:
    return STEP.replace("return loss", f"return {expression}")


def no(name: str, reason: str, *parts: str, shapes: tuple[str, ...] = ("function",)) -> Case:
    return refuses(name, script(*parts), reason=reason, shapes=shapes)


def yes(
    name: str,
    *parts: str,
    target_tf: tuple[int, ...] | None = None,
    shapes: tuple[str, ...] = ("function",),
) -> Case:
    before = script(*parts)
    lines = []
    for line in before.splitlines(keepends=True):
        if line.lstrip().startswith("def step("):
            lines.append(line[: len(line) - len(line.lstrip())] + "@tf.function\n")
        lines.append(line)
    return rewrites(
        name, before, "".join(lines), contract="rounding", target_tf=target_tf, shapes=shapes
    )


FROM_OUTSIDE = (
    no(
        "a counter",
        "captured-not-fixed",
        "n = 0\n",
        with_loss("loss_object(y, model(x)) * n"),
        """
        for x, y in data:
            n += 1
            loss = step(x, y)
        """,
    ),
    no(
        "a value for each epoch",
        "captured-not-fixed",
        with_loss("loss_object(y, model(x)) * w"),
        """
        for epoch in range(3):
            w = 1.0 + epoch
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    no(
        "bound by a function that is called again",
        "captured-not-fixed",
        """
        def setup(k):
            global scale
            scale = 2.0 * k
        setup(1)
        """,
        with_loss("loss_object(y, model(x)) * scale"),
        LOOP,
        shapes=(),
    ),
    no(
        "a list that is changed",
        "captured-not-fixed",
        "rates = [0.1]\n",
        with_loss("loss_object(y, model(x)) * rates[0]"),
        """
        for x, y in data:
            rates[0] *= 0.5
            loss = step(x, y)
        """,
    ),
    no(
        "a list that is changed by another name",
        "captured-not-fixed",
        """
        rates = [0.1]
        others = rates
        """,
        with_loss("loss_object(y, model(x)) * rates[0]"),
        """
        for x, y in data:
            others[0] *= 0.5
            loss = step(x, y)
        """,
    ),
    no(
        "a list in a tuple",
        "captured-not-fixed",
        """
        inner = [0.1]
        pair = (inner, 2)
        """,
        with_loss("loss_object(y, model(x)) * pair[0][0]"),
        """
        for x, y in data:
            inner[0] *= 0.5
            loss = step(x, y)
        """,
    ),
    no(
        "a list in a dict",
        "captured-not-fixed",
        'rates = {"x": [0.1]}\n',
        with_loss('loss_object(y, model(x)) * rates["x"][0]'),
        """
        for x, y in data:
            rates["x"][0] *= 0.5
            loss = step(x, y)
        """,
    ),
    no(
        "a value of another module",
        "captured-not-fixed",
        "import config\n",
        with_loss("loss_object(y, model(x)) * config.scale"),
        LOOP,
    ),
    no(
        "a rate of another module",
        "captured-not-fixed",
        "import config\noptimizer_2 = tf.keras.optimizers.SGD(config.rate)\n",
        STEP.replace("optimizer.", "optimizer_2."),
        LOOP,
    ),
    no(
        "an array that is changed",
        "captured-not-fixed",
        "mask = np.ones((6,), np.float32)\n",
        with_loss("loss_object(y, model(x * mask))"),
        """
        for x, y in data:
            mask[0] += 1
            loss = step(x, y)
        """,
    ),
    no(
        "an array that a library gets hold of",
        "captured-not-fixed",
        "mask = np.ones((6,), np.float32)\nnp.random.shuffle(mask)\n",
        with_loss("loss_object(y, model(x * mask))"),
        LOOP,
    ),
    no(
        "an array with another name",
        "captured-not-fixed",
        "mask = np.ones((6,), np.float32)\nother = mask\n",
        with_loss("loss_object(y, model(x * mask))"),
        """
        for x, y in data:
            other[0] += 1
            loss = step(x, y)
        """,
    ),
    no(
        "an array that is written to by an operator",
        "captured-not-fixed",
        "mask = np.ones((6,), np.float32)\n",
        with_loss("loss_object(y, model(x * mask))"),
        """
        for x, y in data:
            mask += 1
            loss = step(x, y)
        """,
    ),
    no(
        "an array whose size is not said",
        "captured-not-fixed",
        "mask = np.linspace(0.0, 1.0, len(open('f').read()))\n",
        with_loss("loss_object(y, model(x * tf.constant(mask)))"),
        LOOP,
    ),
    no(
        "an array that is large for a graph",
        "captured-not-fixed",
        "table = np.zeros((10000, 600), np.float32)\n",
        with_loss("loss_object(y, model(tf.gather(table, tf.cast(y, tf.int32))))"),
        LOOP,
    ),
    no(
        "an attribute of something",
        "captured-not-fixed",
        """
        class Options:
            pass
        options = Options()
        options.k = 1.0
        """,
        with_loss("loss_object(y, model(x)) * options.k"),
        """
        for x, y in data:
            loss = step(x, y)
            options.k += 1
        """,
    ),
    no(
        "an attribute of the object",
        "captured-not-fixed",
        CLASS.replace(
            "    def step",
            """\
    def decay(self):
        self.rate *= 0.5

    def step""",
        ),
        """
        for x, y in data:
            loss = trainer.step(x, y)
            trainer.decay()
        """,
    ),
    no(
        "an object that is made anew",
        "captured-not-fixed",
        CLASS,
        """
        for x, y in data:
            loss = trainer.step(x, y)
            trainer.__init__(0.5)
        """,
    ),
    no(
        "a model that becomes another",
        "captured-not-fixed",
        STEP,
        LOOP,
        """
        model = tf.keras.models.clone_model(model)
        """,
        LOOP,
    ),
    no(
        "a rate that is called for",
        "python-effect",
        """
        rate = [0.1]
        optimizer_2 = tf.keras.optimizers.SGD(learning_rate=lambda: rate.pop())
        """,
        STEP.replace("optimizer.", "optimizer_2."),
        LOOP,
    ),
    no(
        "a function that is defined again",
        "captured-not-fixed",
        """
        def helper(v):
            return v * 2
        """,
        with_loss("helper(loss_object(y, model(x)))"),
        LOOP,
        """
        def helper(v):
            return v * 3
        """,
        LOOP,
    ),
    no(
        "something changes attributes unseen",
        "dynamic-code",
        STEP,
        LOOP,
        'setattr(model, "trainable", False)\n',
        LOOP,
    ),
)
OBJECTS = (
    no(
        "the seed is set in each turn",
        "seeded-each-turn",
        with_loss("tf.reduce_mean(tf.square(y - model(x)))"),
        LOOP.replace("        loss", "        tf.random.set_seed(epoch)\n        loss"),
    ),
    no(
        "the seed is set by a function that each turn calls",
        "seeded-each-turn",
        with_loss("tf.reduce_mean(tf.square(y - model(x)))"),
        "def seeded():\n    tf.keras.utils.set_random_seed(3)\n\n\n",
        LOOP.replace("        loss", "        seeded()\n        loss"),
    ),
    no(
        "a loss that is linear in what the model gives",
        "races-with-update",
        with_loss("tf.reduce_mean(y * model(x))"),
        LOOP,
    ),
    no(
        "two outputs of a model, by two calls",
        "called-again",
        TWO_OUTPUTS,
        with_loss("loss_object(y, heads(x)[0]) + tf.reduce_mean(heads(x)[1])").replace(
            "model.", "heads."
        ),
        LOOP,
    ),
    no(
        "two outputs of one call, one of them straight",
        "races-with-update",
        TWO_OUTPUTS,
        TWO_HEADS.replace("tf.nn.l2_loss(b)", "tf.reduce_mean(b)"),
        LOOP,
    ),
    no(
        "a cell that may be given a tensor as its state",
        "fails-when-traced",
        CELLS.replace("LSTM", "GRU"),
        FROM_CELLS.format("x"),
        LOOP,
    ),
    no(
        "a layer that may give its state or not",
        "fails-when-traced",
        RECURRENT.replace("return_state=True", "return_state=len(xs) > 3"),
        WITH_STATE,
        LOOP,
    ),
    no(
        "a layer that makes a variable in `build`, and is never called whole",
        "not-followed",
        PARTS.replace(
            "        self.shift = tf.Variable(tf.zeros([1]))\n",
            "    def build(self, shape):\n        self.shift = tf.Variable(tf.zeros([1]))\n",
        ),
        with_loss("loss_object(y, parts.encode(x))").replace("model.", "parts."),
        LOOP,
    ),
    no(
        "a mask on an argument",
        "mask-lost",
        MASKED,
        STEP,
        LOOP.replace("step(x, y)", "step(embedding(x), y)"),
    ),
    no(
        "a mask on an argument, by a function",
        "mask-lost",
        MASKED,
        "def seen(x):\n    return tf.cast(embedding(x), tf.float32)\n",
        STEP,
        LOOP.replace("step(x, y)", "step((seen(x), y), y)"),
    ),
    no(
        "a mask on what is captured",
        "mask-lost",
        MASKED,
        "seen = embedding(xs)\n",
        with_loss("loss_object(y, model(seen))"),
        LOOP,
    ),
    no(
        "a mask on what is returned",
        "mask-lost",
        MASKED,
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                seen = embedding(x)
                loss = loss_object(y, model(seen))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return seen
        """,
        LOOP.replace("loss = step", "seen = step").replace("float(loss)", "1"),
    ),
    no(
        "a softmax of TensorFlow's beneath a crossentropy",
        "logits-found",
        CLASSES.replace("'softmax'", "tf.nn.softmax"),
        LOOP,
    ),
    no(
        "the same, by a function",
        "logits-found",
        CLASSES.replace("'softmax'", "lambda v: tf.nn.softmax(v)"),
        LOOP,
    ),
    no(
        "a sigmoid of TensorFlow's in the step, beneath a crossentropy",
        "logits-found",
        with_loss(
            "tf.keras.losses.BinaryCrossentropy()(y, tf.cast(tf.sigmoid(model(x)), tf.float32))"
        ),
        LOOP,
    ),
    no(
        "the same as a function",
        "logits-found",
        with_loss(
            "tf.reduce_mean(tf.keras.losses.binary_crossentropy(y, tf.nn.sigmoid(model(x))))"
        ),
        LOOP,
    ),
    no(
        "a softmax of TensorFlow's, or a number",
        "logits-found",
        HEADS_GIVE + "SHARP = len(xs) > 3\n",
        CROSSED.replace("heads(x)", "tf.nn.softmax(heads(x)) if SHARP else 0.0"),
        LOOP,
    ),
    no(
        "a softmax of TensorFlow's in a list of two names",
        "logits-found",
        HEADS_GIVE,
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                found = []
                seen = found
                found.append(tf.nn.softmax(heads(x)))
                loss = classes(y, seen[0])
            gradients = tape.gradient(loss, heads.trainable_variables)
            optimizer.apply_gradients(zip(gradients, heads.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "a softmax of TensorFlow's in a dict that a helper fills",
        "logits-found",
        HEADS_GIVE,
        """
        def fill(into, x):
            into["p"] = tf.nn.softmax(heads(x))
        def step(x, y):
            found = {}
            with tf.GradientTape() as tape:
                fill(found, x)
                loss = classes(y, found["p"])
            gradients = tape.gradient(loss, heads.trainable_variables)
            optimizer.apply_gradients(zip(gradients, heads.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "a softmax of TensorFlow's in a list within another",
        "logits-found",
        HEADS_GIVE,
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                inner = []
                outer = [inner]
                inner.append(tf.nn.softmax(heads(x)))
                loss = classes(y, outer[0][0])
            gradients = tape.gradient(loss, heads.trainable_variables)
            optimizer.apply_gradients(zip(gradients, heads.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "a list, or something else",
        "not-followed",
        HEADS_GIVE,
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                found = []
                found.append(tf.nn.softmax(heads(x)))
                found = found or None
                loss = classes(y, found[0])
            gradients = tape.gradient(loss, heads.trainable_variables)
            optimizer.apply_gradients(zip(gradients, heads.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "a linear loss in a list that a helper fills",
        "races-with-update",
        """
        def keep(into, value):
            into.append(value)
        def step(x, y):
            with tf.GradientTape() as tape:
                losses = []
                keep(losses, tf.reduce_mean(model(x)))
                loss = tf.add_n(losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "what a generator reads only when it is gone through",
        "not-followed",
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                w = 1.0
                each = (w * part for part in tf.unstack(model(x)))
                w = tf.nn.softmax(model(x))
                loss = loss_object(y, sum(each))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "a crossentropy as a metric of what is returned",
        "logits-found",
        "model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation='softmax')])\n",
        "measured = tf.keras.metrics.SparseCategoricalCrossentropy()\n",
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                p = model(x)
                loss = loss_object(y, p)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return p
        """,
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "measured(ys, p)"),
    ),
    no(
        "a crossentropy of what is returned, outside",
        "logits-found",
        WITH_CLASSES,
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "float(classes(y, p))"),
    ),
    no(
        "the same, by a function of the file",
        "logits-found",
        WITH_CLASSES,
        """
        def shown(p):
            return tf.keras.losses.sparse_categorical_crossentropy(ys[:16], p)
        """,
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "shown(p)"),
    ),
    no(
        "the same, by a function that the step calls, too",
        "logits-found",
        WITH_CLASSES.replace("classes(y, q)", "loss_of(y, q)"),
        """
        def loss_of(y, p):
            return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, p))
        """,
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "float(loss_of(y, p))"),
    ),
    no(
        "a crossentropy by its name, of what is returned",
        "logits-found",
        WITH_CLASSES,
        "named = tf.keras.losses.get('sparse_categorical_crossentropy')\n",
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "named(y, p)"),
    ),
    no(
        "a crossentropy of a model that `compile` was given, of what is returned",
        "logits-found",
        WITH_CLASSES,
        LOOP.replace("loss = step", "p = step").replace(
            "float(loss)", "heads.compute_loss(None, y, p)"
        ),
    ),
    no(
        "a crossentropy of what a layer gave outside",
        "logits-found",
        CLASSES.replace("classes(y, heads(x))", "classes(y, heads(x)) + classes(y, p)").replace(
            "(x, y)", "(x, y, p)", 1
        ),
        LOOP.replace("step(x, y)", "step(x, y, heads(x))"),
    ),
    no(
        "an option that another object gives, too",
        "captured-not-fixed",
        OPTIONS,
        "class Other:\n    rate = tf.Variable(0.1)\n",
        "trainer, other = Trainer(options), Trainer(Other)\n",
        OTHER_LOOP,
    ),
    no(
        "a linear part beside the loss",
        "races-with-update",
        STEP.replace(
            "loss = loss_object(y, model(x, training=True))",
            "p = model(x)\n        loss = loss_object(y, p) + 0.1 * tf.reduce_sum(p)",
        ),
        LOOP,
    ),
    no(
        "a linear loss beside weight decay",
        "races-with-update",
        """
        def decay():
            return tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables])
        """,
        with_loss("-tf.reduce_mean(model(x)) + 0.1 * decay()"),
        LOOP,
    ),
    no(
        "a gradient penalty",
        "races-with-update",
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    given = model(x)
                slope = inner.gradient(given, x)
                loss = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    no(
        "an optimizer that counts its calls in Python, as Keras 2 does",
        "captured-not-fixed",
        "nadam = tf.keras.optimizers.Nadam(0.05)\n",
        STEP.replace("optimizer", "nadam"),
        LOOP,
    ),
    no(
        "a model that is called a second time for a metric only",
        "called-again",
        "mean = tf.keras.metrics.Mean()\n",
        with_more("mean.update_state(model(2.0 * x))"),
        LOOP,
    ),
    no(
        "a target that is made by the same model, and not followed",
        "called-again",
        with_loss("loss_object(y + tf.stop_gradient(model(2.0 * x)), model(x))"),
        LOOP,
    ),
    no(
        "a model that a function calls once more",
        "called-again",
        """
        def penalty(x):
            return tf.reduce_mean(model(2.0 * x))
        """,
        with_loss("loss_object(y, model(x)) + penalty(x)"),
        LOOP,
    ),
    no(
        "layers of a list, which may be one",
        "called-again",
        NET,
        STEP.replace("model", "net").replace("    return", "    net(x)\n    return"),
        LOOP,
    ),
    no(
        "layers are frozen in between",
        "object-changes",
        STEP,
        """
        for epoch in range(3):
            model.layers[0].trainable = epoch % 2 == 0
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    no(
        "a momentum is changed",
        "object-changes",
        STEP,
        """
        for epoch in range(3):
            optimizer.momentum = 0.1 * epoch
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    no(
        "a rate becomes a schedule",
        "object-changes",
        STEP,
        LOOP,
        """
        optimizer.learning_rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
        """,
        LOOP,
    ),
    no(
        "a layer is added",
        "object-changes",
        STEP,
        LOOP,
        "model.add(tf.keras.layers.Dense(1))\n",
        LOOP,
    ),
    no(
        "a layer adapts between steps",
        "object-changes",
        "scaled = tf.keras.layers.Normalization()\nscaled.adapt(xs)\n",
        with_loss("loss_object(y, model(scaled(x)))"),
        LOOP,
        "scaled.adapt(2 * xs)\n",
        LOOP,
    ),
    no(
        "a layer that has no name here is given more weights",
        "object-changes",
        STEP,
        LOOP,
        "model.layers[0].enable_lora(2)\n",
        LOOP,
    ),
    no(
        "two models",
        "two-objects",
        """
        other = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        """,
        STEP.replace("(x, y)", "(model, x, y)"),
        """
        for x, y in data:
            loss = step(model, x, y)
            loss = step(other, x, y)
        """,
    ),
    no(
        "a model for each fold",
        "two-objects",
        STEP.replace("(x, y)", "(model, x, y)"),
        """
        for fold in range(3):
            net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            for x, y in data:
                loss = step(net, x, y)
        """,
    ),
    no(
        "a model for each call of the caller",
        "two-objects",
        STEP.replace("(x, y)", "(m, x, y)"),
        """
        def train():
            net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            for x, y in data:
                loss = step(net, x, y)
        train()
        train()
        """,
    ),
    no(
        "a model counts its calls",
        "python-effect",
        NET.replace("        x = self.h", "        self.scale += 1\n        x = self.h"),
        STEP.replace("model", "net"),
        LOOP,
    ),
    no(
        "a layer prints",
        "python-effect",
        """
        class Twice(tf.keras.layers.Layer):
            def call(self, x):
                print("called")
                return x * 2
        net = tf.keras.Sequential([Twice(), tf.keras.layers.Dense(1)])
        """,
        STEP.replace("model", "net"),
        LOOP,
    ),
    no(
        "a lambda of a model draws with numpy",
        "python-effect",
        """
        net = tf.keras.Sequential([tf.keras.layers.Lambda(lambda t: t * np.random.rand())])
        """,
        STEP.replace("model", "net"),
        LOOP,
    ),
    no(
        "a part of a functional model looks outside",
        "captured-not-fixed",
        """
        k = [1.0]
        inputs = tf.keras.Input((6,))
        h = tf.keras.layers.Lambda(lambda t: t * k[0])(inputs)
        net = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(h))
        """,
        STEP.replace("model", "net"),
        """
        for x, y in data:
            k[0] += 1
            loss = step(x, y)
        """,
    ),
    no(
        "a model from elsewhere",
        "captured-not-fixed",
        """
        from nets import build
        net = build()
        """,
        STEP.replace("model", "net"),
        LOOP,
    ),
    no(
        "a model under a condition",
        "not-followed",
        """
        def step(x, y, which):
            with tf.GradientTape() as tape:
                if which:
                    loss = tf.reduce_mean(model(x))
                else:
                    loss = tf.reduce_mean(tf.square(model(x)))
            return tape.gradient(loss, model.trainable_variables)
        for x, y in data:
            step(x, y, True)
            step(x, y, False)
        """,
    ),
    no(
        "the variables of a model that has none yet",
        "not-followed",
        """
        def step(x, y):
            variables = model.trainable_variables
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x))
            return tape.gradient(loss, variables)
        for x, y in data:
            step(x, y)
        """,
    ),
    no(
        "an object that is equal to others",
        "not-followed",
        CLASS.replace(
            "    def step", "    def __eq__(self, other):\n        return True\n\n    def step"
        ),
        OTHER_LOOP,
    ),
    no(
        "an object that nobody holds",
        "callers-not-seen",
        CLASS,
        """
        for x, y in data:
            loss = Trainer(0.1).step(x, y)
        """,
    ),
    no(
        "a subclass does something else",
        "callers-not-seen",
        CLASS,
        """
        class Other(Trainer):
            pass
        """,
        OTHER_LOOP,
    ),
    no(
        "saved with its object",
        "saved-with-object",
        CLASS.replace("Trainer:", "Trainer(tf.Module):"),
        OTHER_LOOP,
        'tf.saved_model.save(trainer, "exported")\n',
    ),
)
BODIES = (
    no("prints", "python-effect", with_more('print("step")'), LOOP),
    no(
        "keeps a history",
        "python-effect",
        "history = []\n",
        with_more("history.append(loss)"),
        LOOP,
    ),
    no(
        "counts",
        "python-effect",
        "n = 0\n",
        STEP.replace("    with", "    global n\n    n += 1\n    with"),
        LOOP,
        shapes=(),
    ),
    no("looks at the clock", "python-effect", with_more("now = time.time()"), LOOP),
    no(
        "draws with Python",
        "python-effect",
        with_loss("loss_object(y, model(x)) * random.random()"),
        LOOP,
    ),
    no("prints by TensorFlow", "python-effect", with_more("tf.print(loss)"), LOOP),
    no(
        "a helper keeps a history",
        "python-effect",
        """
        seen = []
        def helper(v):
            seen.append(1)
            return v
        """,
        with_loss("helper(loss_object(y, model(x)))"),
        LOOP,
    ),
    no("asks for the value", "reads-on-host", with_more("value = loss.numpy()"), LOOP),
    no("a float of a tensor", "reads-on-host", with_more("value = float(loss)"), LOOP),
    no("a text of a tensor", "reads-on-host", with_more('value = "%s" % loss'), LOOP),
    no("numpy on a tensor", "reads-on-host", with_more("value = np.mean(loss)"), LOOP),
    no(
        "a condition on a tensor",
        "tensor-decides",
        with_more("if loss > 1.0:", "    loss = loss * 2"),
        LOOP,
    ),
    no("an assert on a tensor", "tensor-decides", with_more("assert loss > -1"), LOOP),
    no(
        "a loop over a tensor",
        "tensor-decides",
        with_more("for row in x:", "    loss = loss + row[0]"),
        LOOP,
    ),
    no("a while", "tensor-decides", with_more("while loss > 1.0:", "    loss = loss / 2"), LOOP),
    no("makes a variable", "makes-variables", with_more("v = tf.Variable(loss)"), LOOP),
    no(
        "a type given as a name",
        "fails-when-traced",
        with_more("v = tf.sqrt(loss, tf.float32)"),
        LOOP,
    ),
    no(
        "a constant of a tensor",
        "fails-when-traced",
        with_more("v = tf.constant([loss, loss])"),
        LOOP,
    ),
    no(
        "a shape that depends on data",
        "fails-when-traced",
        with_more("part = tf.boolean_mask(x, x[:, 0] > 0)", "loss = loss / part.shape[0]"),
        LOOP,
    ),
    no(
        "a batch is unpacked",
        "fails-when-traced",
        STEP.replace("(x, y)", "(batch)").replace("    with", "    x, y = batch\n    with"),
        """
        for batch in data:
            loss = step(batch)
        """,
    ),
    no(
        "a private name",
        "not-followed",
        CLASS.replace("self.weights", "self.__weights"),
        OTHER_LOOP,
    ),
    no(
        "catches",
        "not-followed",
        with_more("try:", "    loss = loss + 1", "except ValueError:", "    pass"),
        LOOP,
    ),
    no(
        "asks how it is run",
        "unknown-call",
        with_more("if tf.executing_eagerly():", "    loss = loss * 2"),
        LOOP,
    ),
    no(
        "asks what a tensor is",
        "unknown-call",
        with_more('if hasattr(loss, "numpy"):', "    loss = loss * 2"),
        LOOP,
    ),
    no(
        "another module's `sum`",
        "captured-not-fixed",
        "from numpy import *\n",
        with_loss("loss_object(y, model(x)) + sum([v[0] for v in model.trainable_variables])"),
        LOOP,
    ),
    no("a long loop", "unrolls", with_more("for i in range(1000):", "    loss = loss + 0.1"), LOOP),
    no("returns a number", "returns-python", giving("3"), LOOP),
    no(
        "returns the variables",
        "returns-python",
        giving("model.trainable_variables"),
        """
        for x, y in data:
            variables = step(x, y)
        variables[0].assign(variables[0] * 0)
        """,
    ),
    no(
        "it is asked whether it gives what it was given",
        "returns-python",
        giving("x"),
        """
        for x, y in data:
            out = step(x, y)
            print(out is x)
        """,
    ),
    no(
        "returns a variable that a cast hands on",
        "returns-python",
        "scale = tf.Variable(1.0)\n",
        with_more("scale.assign_add(0.5)").replace(
            "return loss", "return tf.cast(scale, 'float32')"
        ),
        """
        seen = []
        for x, y in data:
            seen.append(step(x, y))
        print([float(one) for one in seen])
        """,
    ),
    no(
        "returns what is gone through once",
        "returns-python",
        giving("zip(gradients, model.trainable_variables)"),
        LOOP,
    ),
)
CALLERS = (
    no(
        "a step number",
        "argument-varies",
        with_loss("loss_object(y, model(x)) / (i + 1)", sig="x, y, i"),
        """
        for i, (x, y) in enumerate(data):
            loss = step(x, y, i)
        """,
    ),
    no(
        "1 and 1.0",
        "argument-varies",
        with_loss("loss_object(y, model(x)) * k", sig="x, y, k"),
        """
        for x, y in data:
            loss = step(x, y, 1)
            loss = step(x, y, 1.0)
        """,
    ),
    no(
        "an array in a product",
        "numpy-argument",
        with_loss("loss_object(y, model(x * 2.0))"),
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], ys[i:i + 16])
        """,
    ),
    # Keras 2 fits the shapes [n] and [n, 1] to each other for tensors only. On 2.15 the loss of
    # such a script was 0.0821 after 60 steps, and 0.0983 compiled.
    no(
        "an array as the target of a loss",
        "numpy-argument",
        STEP,
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], ys[i:i + 16])
        """,
    ),
    # Keras 2 gives it to `call` as it is: on 2.15 the float64 of it fails in a trace.
    no(
        "an array as the target of a loss of the file",
        "numpy-argument",
        """
        class Loss(tf.keras.losses.Loss):
            def call(self, y_true, y_pred):
                return tf.reduce_mean(tf.square(y_pred - y_true), axis=-1)
        loss_object = Loss()
        """,
        STEP,
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], ys[i:i + 16].astype(np.float64))
        """,
    ),
    # What gives batches, and what is another thing in a trace.
    no(
        "a generator that counts",
        "argument-varies",
        """
        def batches():
            for i in range(0, 64, 16):
                yield i, tf.constant(xs[i:i + 16])
        """,
        with_loss("tf.reduce_mean(tf.square(model(x))) * k", sig="k, x"),
        """
        for k, x in batches():
            loss = step(k, x)
        """,
    ),
    no(
        "a generator of lists",
        "argument-not-known",
        """
        def batches():
            for i in range(0, 64, 16):
                yield [float(x[0]) for x in xs[i:i + 16]]
        """,
        with_loss("tf.reduce_mean(tf.square(model(tf.cast([x], tf.float32))))", sig="x"),
        """
        for x in batches():
            loss = step(x)
        """,
    ),
    no(
        "a generator of longer and longer arrays",
        "shape-varies",
        """
        def batches():
            for i in range(1, 64):
                yield xs[:i]
        """,
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        for x in batches():
            loss = step(x)
        """,
    ),
    no(
        "a generator of longer and longer tensors",
        "shape-varies",
        """
        def batches():
            for i in range(1, 64):
                yield tf.constant(xs[:i])
        made = batches()
        """,
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        for number, x in enumerate(made):
            loss = step(x)
        """,
    ),
    no(
        "data that an object unpacks with a star",
        "argument-not-known",
        """
        class Loader:
            def __init__(self):
                *self.rest, self.xs = (3, "name", tf.constant(xs))
        loader = Loader()
        """,
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        for i in range(100):
            loss = step(loader.xs)
        """,
    ),
    no(
        "a generator that is told something",
        "argument-not-known",
        """
        def batches():
            size = 16
            while True:
                size = yield xs[:size]
        """,
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        made = batches()
        for i in range(100):
            loss = step(next(made))
        """,
    ),
    no(
        "a generator that the step takes from",
        "captured-not-fixed",
        """
        def batches():
            for i in range(0, 64, 16):
                yield tf.constant(xs[i:i + 16])
        made = batches()
        """,
        """
        def step():
            with tf.GradientTape() as tape:
                loss = 0.0
                for x in made:
                    loss += tf.reduce_mean(tf.square(model(x)))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        for i in range(100):
            step()
        """,
    ),
    no(
        "files of several shapes",
        "shape-varies",
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        for i in range(100):
            loss = step(np.load("%d.npy" % i))
        """,
    ),
    no(
        "a file of any objects",
        "argument-not-known",
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        kept = np.load("kept.npy", allow_pickle=True)
        for i in range(100):
            loss = step(kept[i])
        """,
    ),
    no(
        "another number of rows is chosen each time",
        "shape-varies",
        with_loss("tf.reduce_mean(tf.square(model(x)))", sig="x"),
        """
        for i in range(1, 64):
            loss = step(xs[np.random.choice(64, size=i)])
        """,
    ),
    no(
        "the length of what has none in a trace",
        "reads-on-host",
        with_loss("loss_object(y, model(x)) / len(tf.boolean_mask(x, x[:, 0] > 0))"),
        LOOP,
    ),
    # AutoGraph does not see to what Keras 3 calls.
    no(
        "a length in a model",
        "reads-on-host",
        NET.replace("x * self.scale", "x / len(x)"),
        STEP.replace("model", "net"),
        LOOP,
    ),
    no(
        "a length in a layer",
        "reads-on-host",
        """
        model = tf.keras.Sequential([
            tf.keras.layers.Lambda(lambda x: x / len(x)), tf.keras.layers.Dense(1),
        ])
        """,
        STEP,
        LOOP,
    ),
    # It does not find the text of one of several lambdas in a line.
    no(
        "a length in a lambda",
        "reads-on-host",
        "half, whole = (lambda x: x[:len(x) // 2]), (lambda x: x)\n",
        with_loss("loss_object(half(y), model(half(x)))"),
        LOOP,
    ),
    no(
        "a length where AutoGraph is switched off",
        "reads-on-host",
        """
        @tf.function(autograph=False)
        def mean(x):
            return tf.reduce_sum(x) / len(x)
        """,
        with_loss("mean(tf.square(model(x) - y))"),
        LOOP,
    ),
    no(
        "a manager that may catch exceptions",
        "exception-seen",
        STEP,
        """
        with progress(total=100) as bar:
            for x, y in data:
                loss = step(x, y)
                bar.update(1)
        """,
    ),
    no(
        "an array made a tensor of a type",
        "numpy-argument",
        with_loss("loss_object(y, model(tf.convert_to_tensor(x, tf.float32)))"),
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16].astype(np.float64), ys[i:i + 16])
        """,
    ),
    no(
        "a method of objects with slots",
        "fails-when-traced",
        """
        class Trainer:
            __slots__ = ()

            def step(self, x, y):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                grads = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(grads, model.trainable_variables))

        trainer = Trainer()
        for x, y in data:
            trainer.step(x, y)
        """,
    ),
    no(
        "batches of any length",
        "argument-not-known",
        STEP,
        """
        texts = tf.data.Dataset.from_generator(make, tf.float32).padded_batch(4)
        for x in texts:
            loss = step(x, x)
        """,
    ),
    no(
        "what is collected in a list",
        "argument-not-known",
        STEP,
        """
        for episode in range(9):
            states = []
            states.append(xs[episode])
            loss = step(tf.convert_to_tensor(states), tf.convert_to_tensor(states))
        """,
    ),
    no(
        "a loss that a layer added is looked for outside",
        "python-effect",
        REGULAR,
        "for x, y in data:\n    step(x, y)\n    print(sum(regular.losses))\n",
    ),
    no(
        "a layer in which a tensor decides, in Keras 2",
        "captured-not-fixed",
        "normal = tf.keras.layers.SpectralNormalization(tf.keras.layers.Dense(3))\n",
        REGULAR.replace("regular(x)", "normal(x, training=True)"),
        LOOP,
    ),
    no(
        "a loss that a layer has added before",
        "captured-not-fixed",
        REGULAR.replace("regular(x) + ", "").replace("step(x, y):", "step(x, y):  # stale"),
        "for x, y in data:\n    regular(x)\n    step(x, y)\n",
    ),
    no(
        "what is called at the end sees which ops were done though the step failed",
        "exception-seen",
        "import atexit\natexit.register(lambda: print(int(optimizer.iterations)))\n",
        STEP,
        LOOP,
    ),
    no(
        "a window that it is given goes on after an error of its first trace",
        "exception-seen",
        STEP,
        """
        import window

        def train():
            for x, y in data:
                loss = step(x, y)

        frame = window.Frame()
        frame.bind(train)
        frame.mainloop()
        """,
    ),
    no(
        "after Ctrl-C in its first trace it cannot make its variables in the next epoch",
        "exception-seen",
        STEP,
        """
        for epoch in range(9):
            try:
                for x, y in data:
                    loss = step(x, y)
            except KeyboardInterrupt:
                print("next epoch")
        """,
    ),
    no(
        "somebody catches",
        "exception-seen",
        STEP,
        """
        for x, y in data:
            try:
                loss = step(x, y)
            except Exception:
                continue
        """,
    ),
    no("called by nobody", "callers-not-seen", STEP),
    no("handed on", "callers-not-seen", STEP, "train(step)\n"),
    refuses(
        "defined in the loop",
        START
        + "for epoch in range(3):\n"
        + textwrap.indent(STEP + "for x, y in data:\n    step(x, y)\n", "    "),
        reason="made-in-loop",
    ),
    no(
        "traces are switched off",
        "not-eager",
        "tf.config.run_functions_eagerly(True)\n",
        STEP,
        LOOP,
    ),
    no(
        "compiled code would compute in bfloat16",
        "graph-options",
        "tf.config.optimizer.set_experimental_options({'auto_mixed_precision_cpu': True})\n",
        STEP,
        LOOP,
    ),
    no(
        "XLA by a variable of the environment",
        "graph-options",
        "import os\nos.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2'\n",
        STEP,
        LOOP,
    ),
    no("several devices", "not-eager", "strategy = tf.distribute.MirroredStrategy()\n", STEP, LOOP),
    refuses(
        "TensorFlow is imported below",
        STEP + START + LOOP,
        reason="tensorflow-not-named",
        shapes=(),
    ),
    leaves_alone("compiled by hand", script(STEP, "fast = tf.function(step)\n", LOOP)),
    leaves_alone("compiled already", script("@tf.function\n", STEP, LOOP)),
    leaves_alone(
        "a compiled caller",
        script(
            STEP,
            """
        @tf.function
        def epoch(batches):
            for x, y in batches:
                step(x, y)
        for _ in range(3):
            epoch(data)
        """,
        ),
    ),
    leaves_alone("called once", script(STEP, "loss = step(xs, ys)\n")),
    leaves_alone(
        "for fit",
        script("""
        class Net(tf.keras.Model):
            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(self(x))
                self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
                return {"loss": loss}
        net = Net()
        for _ in range(3):
            net.fit(data)
        """),
    ),
    leaves_alone(
        "the tape in a loop of its own",
        script("""
        def train(batches):
            for x, y in batches:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x))
                g = tape.gradient(loss, model.trainable_variables)
        for _ in range(3):
            train(data)
        """),
    ),
)
DRAWING = (
    offers(
        "dropout by TensorFlow",
        script(with_loss("loss_object(y, model(tf.nn.dropout(x, 0.5)))"), LOOP),
        contract="resampled",
        changes="stream",
    ),
    offers(
        "noise",
        script(with_loss("loss_object(y, model(x + tf.random.normal(tf.shape(x))))"), LOOP),
        contract="resampled",
        changes="stream",
    ),
    offers(
        "a layer that draws, in any version",
        script(
            """
        net = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
        """,
            STEP.replace("model", "net"),
            LOOP,
        ),
        contract="resampled",
        changes="Keras 3",
    ),
    yes(
        "a layer that draws, in Keras 3",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
        """,
        STEP.replace("model", "net"),
        LOOP,
        target_tf=(2, 21),
    ),
    yes(
        "the seed is set in each epoch",
        with_loss("tf.reduce_mean(tf.square(y - model(x)))"),
        LOOP.replace("    for", "    tf.random.set_seed(epoch)\n    for"),
    ),
    yes(
        "a generator",
        "noise = tf.random.Generator.from_seed(3)\n",
        with_loss("loss_object(y, model(x + noise.normal([16, 6])))"),
        LOOP,
    ),
)
COMPILED = (
    yes("an output and a state", RECURRENT, WITH_STATE, LOOP),
    yes("a cell with a list of states", CELLS, FROM_CELLS.format("[x, x]"), LOOP),
    yes(
        "a small array that stays",
        """
        mask = np.linspace(0.0, 1.0, 6)
        """,
        with_loss("loss_object(y, model(x * tf.constant(mask, tf.float32)))"),
        LOOP,
    ),
    yes("two outputs of a model", TWO_OUTPUTS, TWO_HEADS, LOOP),
    yes(
        "a model of its own that is never called whole",
        PARTS,
        with_loss("loss_object(y, parts.encode(x))").replace("model.", "parts."),
        LOOP,
    ),
    yes(
        "a mask that stays in the step",
        MASKED,
        with_loss("loss_object(y, model(embedding(x)))"),
        LOOP,
    ),
    yes(
        "a layer that has adapted before",
        "scaled = tf.keras.layers.Normalization()\nscaled.adapt(xs)\n",
        with_loss("loss_object(y, model(scaled(x)))"),
        LOOP,
    ),
    yes("a softmax of Keras beneath a crossentropy", CLASSES, LOOP),
    yes(
        "a crossentropy of a function that the step calls, beside what it returns",
        WITH_CLASSES.replace("classes(y, q)", "loss_of(y, q)"),
        """
        def loss_of(y, p):
            return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, p))
        """,
        LOOP.replace("loss = step", "q = step").replace("float(loss)", "q[0]"),
    ),
    yes(
        "the same function, given what the model gives outside",
        WITH_CLASSES.replace("classes(y, q)", "loss_of(y, q)"),
        """
        def loss_of(y, p):
            return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, p))
        """,
        LOOP.replace("loss = step", "q = step").replace("float(loss)", "q[0]"),
        "print(float(loss_of(ys, heads(xs))))\n",
    ),
    yes(
        "a crossentropy of logits that are returned",
        WITH_CLASSES.replace(", activation='softmax'", ""),
        LOOP.replace("loss = step", "p = step").replace("float(loss)", "float(classes(y, p))"),
    ),
    yes(
        "a crossentropy of the same model, asked outside",
        WITH_CLASSES,
        LOOP.replace("loss = step", "q = step").replace("float(loss)", "q[0]"),
        "p = heads(x, training=False)\nprint(float(classes(y, p)))\n",
    ),
    yes(
        "a sigmoid of TensorFlow's inside of a model",
        NET.replace("return x * self.scale", "return x * tf.sigmoid(x)"),
        with_loss("tf.keras.losses.BinaryCrossentropy(from_logits=True)(y, model(net(x)))"),
        LOOP,
    ),
    yes("a new axis", with_loss("loss_object(y, model(x[tf.newaxis, :, :][0]))"), LOOP),
    yes(
        "a layer as a function",
        with_loss("loss_object(y, model(tf.keras.layers.add([x, x])))"),
        LOOP,
    ),
    yes(
        "arrays of a fixed shape",
        STEP,
        """
        for i in range(100):
            loss = step(np.reshape(xs[i % 64], [1, 6]), np.array([[float(ys[i % 64])]]))
        """,
        target_tf=(2, 16),
    ),
    yes("an option", OPTIONS, "trainer = Trainer(options)\n", OTHER_LOOP),
    yes(
        "a model that is called twice, and a loss that bends with both",
        """
        def discriminator_loss(real, fake):
            real_loss = cross_entropy(tf.ones_like(real), real)
            fake_loss = cross_entropy(tf.zeros_like(fake), fake)
            return real_loss + fake_loss
        """,
        "cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)\n",
        with_loss("discriminator_loss(model(x, training=True), model(-x, training=True))"),
        LOOP,
    ),
    yes("the square of a difference", with_loss("tf.reduce_mean((model(x) - y) ** 2)"), LOOP),
    yes(
        "a sum of losses, by a loop",
        """
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = 0.0
                for scale in (1.0, 2.0):
                    loss += tf.reduce_mean(tf.abs(model(scale * x) - y))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        """,
        LOOP,
    ),
    yes("layers of a list, which may be one", NET, STEP.replace("model", "net"), LOOP),
    yes("the plain form", STEP, LOOP, shapes=("function", "method", "main", "crlf", "tabs")),
    yes("a method", CLASS, OTHER_LOOP, shapes=("function", "main", "crlf", "tabs")),
    yes(
        "two objects of a class",
        CLASS,
        "other = Trainer(0.2)\n",
        """
        for x, y in data:
            loss = trainer.step(x, y)
            loss = other.step(x, y)
        """,
    ),
    yes(
        "a model of the file",
        NET.replace("        for block in self.blocks:\n            x = block(x)\n", ""),
        STEP.replace("model", "net"),
        LOOP,
    ),
    yes("a comment above stays above", "# One step.\n", STEP, LOOP),
    yes(
        "a learning rate that falls",
        STEP,
        """
        for epoch in range(3):
            optimizer.learning_rate = 0.05 * 0.5 ** epoch
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    yes("frozen before", STEP, "model.layers[0].trainable = False\n", LOOP),
    yes(
        "clipped gradients",
        STEP.replace(
            "    optimizer",
            "    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)\n    optimizer",
        ),
        LOOP,
    ),
    yes("metrics", "mean = tf.keras.metrics.Mean()\n", with_more("mean.update_state(loss)"), LOOP),
    yes(
        "helpers",
        """
        def error(a, b):
            return tf.reduce_mean(tf.square(a - b))
        """,
        with_loss("error(y, model(x))"),
        LOOP,
    ),
    yes(
        "a flag",
        with_loss("loss_object(y, model(x, training=training))", sig="x, y, training"),
        """
        for x, y in data:
            loss = step(x, y, True)
        """,
    ),
    yes(
        "model and optimizer as arguments",
        STEP.replace("(x, y)", "(model, optimizer, x, y)"),
        """
        for x, y in data:
            loss = step(model, optimizer, x, y)
        """,
    ),
    yes(
        "arrays for a model, and for a loss of Keras 3",
        STEP,
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], ys[i:i + 16])
        """,
        target_tf=(2, 16),
    ),
    yes(
        "arrays for a loss of Keras 3 that the file defines",
        """
        class Loss(tf.keras.losses.Loss):
            def call(self, y_true, y_pred):
                return tf.reduce_mean(tf.square(y_pred - y_true), axis=-1)
        loss_object = Loss()
        """,
        STEP,
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], ys[i:i + 16].astype(np.float64))
        """,
        target_tf=(2, 16),
    ),
    yes(
        "batches of a generator of the file",
        """
        def batches(size):
            while True:
                order = np.random.permutation(64)
                for i in range(0, 64, size):
                    yield tf.constant(xs[order[i:i + size]]), tf.constant(ys[order[i:i + size]])
        """,
        STEP,
        """
        made = batches(16)
        for i in range(100):
            x, y = next(made)
            loss = step(x, y)
        for number, (x, y) in enumerate(batches(16)):
            loss = step(x, y)
        """,
    ),
    yes(
        "the next element of an iterator",
        STEP,
        """
        elements = iter(data.repeat())
        for i in range(100):
            x, y = elements.get_next()
            loss = step(x, y)
        """,
    ),
    yes(
        "as many rows of files, chosen each time",
        """
        xs = np.load("xs.npy")
        kept = np.load("kept.npz")
        ys = kept["ys"]
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        """,
        STEP,
        """
        for i in range(100):
            rows = np.random.choice(64, size=16)
            loss = step(xs[rows], ys[rows])
        """,
    ),
    yes(
        "data that an object unpacks",
        """
        class Loader:
            def __init__(self):
                (self.xs, self.ys), _ = tf.keras.datasets.mnist.load_data()
                self.xs = np.expand_dims(self.xs.astype(np.float32) / 255.0, -1)
            def get_batch(self, size):
                index = np.random.randint(0, self.xs.shape[0], size)
                return self.xs[index, :], self.ys[index]
        loader = Loader()
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        """,
        STEP,
        """
        for i in range(100):
            x, y = loader.get_batch(16)
            loss = step(x, y)
        """,
    ),
    yes(
        "the length of a batch",
        """
        def halved(x):
            return x[:len(x) // 2]
        """,
        with_loss("tf.reduce_sum(tf.square(model(halved(x)) - halved(y))) / len(x)"),
        LOOP,
    ),
    yes(
        "beside a progress bar",
        "from tqdm import tqdm\n",
        STEP,
        """
        with tqdm(total=100) as bar:
            for x, y in data:
                loss = step(x, y)
                bar.update(1)
        """,
    ),
    yes(
        "a function of a loss by the name that Keras 2 has for it",
        with_loss("tf.reduce_mean(tf.keras.losses.mean_squared_error(y, model(x)))"),
        LOOP,
    ),
    yes(
        "arrays for a loss over classes",
        """
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        labels = np.zeros([64], np.int64)
        """,
        STEP,
        """
        for i in range(0, 64, 16):
            loss = step(xs[i:i + 16], labels[i:i + 16])
        """,
    ),
    yes(
        "called through another function",
        STEP,
        """
        def run(batches):
            for x, y in batches:
                step(x, y)
        run(data)
        """,
    ),
    yes("a loop of plain turns", with_more("for i in range(3):", "    loss = loss + 0.1"), LOOP),
    yes(
        "several tapes",
        """
        judge = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer_2 = tf.keras.optimizers.Adam(1e-3)
        def step(x, y):
            with tf.GradientTape() as first, tf.GradientTape() as second:
                made = model(x)
                bad = judge(made)
                loss = loss_object(tf.ones_like(bad), bad)
                loss_2 = loss_object(tf.zeros_like(bad), bad)
            g = first.gradient(loss, model.trainable_variables)
            g_2 = second.gradient(loss_2, judge.trainable_variables)
            optimizer.apply_gradients(zip(g, model.trainable_variables))
            optimizer_2.apply_gradients(zip(g_2, judge.trainable_variables))
            return {"made": loss, "judged": loss_2}
        for x, y in data:
            losses = step(x, y)
        """,
    ),
)
# Functions without a tape. `step` stands for an evaluation.
EVALUATION = """\
def step(x, y):
    guess = model(x, training=False)
    return loss_object(y, guess)
"""
TWO_JUDGES = """\
dense = tf.keras.layers.Dense(6)
def step(x, y):
    return loss_object(model(x), model(-x))
"""
DRAWER = """\
net = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
"""
STIRRED = """\
inputs = tf.keras.Input((6,))
net = tf.keras.Model(inputs, tf.keras.layers.Dropout(0.5)(inputs, training=True))
"""
PLAIN = """\
def step(x, y):
    for turn in range(9):
        x = tf.tanh(x * 0.5) + tf.square(y)
    return x
"""
TARGETS = """\
def build():
    return tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
online = build()
target = build()
def step(rate):
    for new, old in zip(online.trainable_variables, target.trainable_variables):
        old.assign(rate * new + (1.0 - rate) * old)
"""


def asked(expression: str, *, sig: str = "x, y", before: str = "") -> str:
    """An evaluation that gives something else."""
    lines = f"    {before}\n" if before else ""
    return (
        f"def step({sig}):\n{lines}    guess = model(x, training=False)\n    return {expression}\n"
    )


FORWARD_TRAPS = (
    no("an answer for Python", "reads-on-host", asked("np.argmax(guess)"), LOOP),
    no("an answer read by a method", "reads-on-host", asked("guess.numpy()"), LOOP),
    no("an answer as a number", "reads-on-host", asked("float(loss_object(y, guess))"), LOOP),
    no("prints what it finds", "python-effect", asked("print(guess)"), LOOP),
    no(
        "counts its calls",
        "python-effect",
        "calls = [0]\n",
        asked("guess", before="calls[0] += 1"),
        LOOP,
    ),
    no("draws with numpy", "python-effect", asked("guess + np.random.normal()"), LOOP),
    no("asks Keras' own loop", "unknown-call", asked("guess - model.predict(x)"), LOOP),
    no(
        "decided by what the model gives",
        "tensor-decides",
        "def step(x, y):\n    if model(x)[0, 0] > 0:\n        return y\n    return -y\n",
        LOOP,
    ),
    no("gives a number", "returns-python", asked("guess, x.shape[0]"), LOOP),
    no(
        "a counter goes in",
        "argument-varies",
        asked("guess * k", sig="x, y, k"),
        """
        k = 0
        for x, y in data:
            k += 1
            loss = step(x, y, k)
        """,
    ),
    no(
        "an array goes in, and is computed with",
        "numpy-argument",
        asked("guess - y * 0.5"),
        """
        for i in range(0, 64, 4):
            for j in range(i, 64, 4):
                loss = step(xs[j:j + 4], ys[j:j + 4])
        """,
    ),
    no(
        "a text that gets longer",
        "argument-not-known",
        "def step(tokens):\n    return model(tokens)\n",
        """
        tokens = tf.zeros([1, 6])
        while True:
            tokens = tf.concat([tokens, step(tokens)], axis=1)
        """,
    ),
    no(
        "a text that gets longer, beneath something",
        "shape-varies",
        "def step(tokens):\n    return model(tokens)\n",
        """
        tokens = np.zeros([6], np.float32)
        while True:
            made = step(tf.expand_dims(tokens, 0))
            tokens = np.append(tokens, [1.0])
        """,
    ),
    no(
        "a list that gets longer, beneath something",
        "shape-varies",
        "def step(tokens):\n    return model(tokens)\n",
        """
        tokens = [1.0]
        for word in range(100):
            made = step(tf.expand_dims(tokens, 0))
            tokens.append(2.0)
        """,
    ),
    no(
        "a window that opens",
        "argument-not-known",
        "def step(seen):\n    return model(seen)\n",
        """
        whole = tf.zeros([1, 64])
        for i in range(1, 64):
            made = step(whole[:, :i])
        """,
    ),
    no(
        "a window of an array that opens, beneath something",
        "shape-varies",
        "def step(seen):\n    return model(seen)\n",
        """
        for i in range(1, 64):
            made = step(tf.expand_dims(xs[:i], 0))
        """,
    ),
    no(
        "as many as the loop has counted",
        "shape-varies",
        "def step(seen):\n    return model(seen)\n",
        """
        for i in range(1, 64):
            made = step(tf.ones([i, 6]))
        """,
    ),
    no(
        "another model in each turn",
        "two-objects",
        asked("guess", sig="model, x"),
        """
        for model_2 in [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(99)]:
            for x, y in data:
                loss = step(model_2, x)
        """,
    ),
    no(
        "a model that is made anew",
        "captured-not-fixed",
        "net = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n",
        "def step(x, y):\n    return net(x)\n",
        """
        for turn in range(9):
            net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    no(
        "a scale that is set between the epochs",
        "captured-not-fixed",
        asked("guess * scale"),
        """
        for epoch in range(3):
            scale = 2.0 ** epoch
            for x, y in data:
                loss = step(x, y)
        """,
    ),
    no(
        "frozen in the meantime",
        "object-changes",
        EVALUATION,
        """
        for epoch in range(3):
            for x, y in data:
                loss = step(x, y)
            model.layers[0].trainable = False
        """,
    ),
    no(
        "twice as in training",
        "called-again",
        """
        net = tf.keras.Sequential([tf.keras.layers.BatchNormalization()])
        def step(x, y):
            return net(x, training=True) + net(-x, training=True)
        """,
        LOOP,
    ),
    no(
        "twice with a state of its own",
        "called-again",
        """
        net = tf.keras.Sequential([tf.keras.layers.GRU(2, stateful=True)])
        def step(x, y):
            return net(x) + net(-x)
        """,
        LOOP,
    ),
    no(
        "losses that layers leave behind",
        "python-effect",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(1, activity_regularizer="l2")])
        def step(x, y):
            return net(x)
        """,
        """
        for x, y in data:
            loss = tf.reduce_sum(step(x, y)) + sum(net.losses)
        """,
    ),
    no(
        "a mask that it gives back",
        "mask-lost",
        MASKED,
        "def step(x, y):\n    return embedding(x), model(x)\n",
        LOOP,
    ),
    no(
        "somebody catches what it raises",
        "exception-seen",
        EVALUATION,
        """
        for x, y in data:
            try:
                loss = step(x, y)
            except ValueError:
                continue
        """,
    ),
)
FORWARD_SILENT = tuple(
    leaves_alone(name, script(*parts), shapes=("function",))
    for name, *parts in (
        ("a few ops", "def step(x, y):\n    return tf.tanh(x) * 2.0 + tf.square(y)\n", LOOP),
        ("one layer", "one = tf.keras.layers.Dense(2)\ndef step(x, y):\n    return one(x)\n", LOOP),
        ("a helper of Python", "def step(x, y):\n    return x.shape[0] + 1\n", LOOP),
        ("many ops that cannot be traced", PLAIN.replace("return x", "return x.numpy()"), LOOP),
        ("asked by nobody", EVALUATION),
        ("asked in few turns", EVALUATION, "for turn in range(10):\n    step(xs, ys)\n"),
        ("handed on without a tape", EVALUATION, "for x in run(step, data):\n    pass\n"),
        (
            "once in an epoch",
            "for epoch in range(999):\n    for x, y in data:\n        pass\n    step(xs, ys)\n",
            EVALUATION,
        ),
        (
            "once in an epoch, by another function",
            EVALUATION,
            """
            def epoch():
                for x, y in data:
                    print(x)
            for number in range(999):
                epoch()
                step(xs, ys)
            """,
        ),
        (
            "beside fit",
            'model.compile("sgd", "mse")\n',
            EVALUATION,
            "for epoch in range(999):\n    model.fit(data)\n    step(xs, ys)\n",
        ),
        (
            "now and then",
            EVALUATION,
            "for i, (x, y) in enumerate(data):\n    if i % 100 == 0:\n        step(x, y)\n",
        ),
        (
            "a loop over data of its own",
            """
            def evaluate(batches):
                for x, y in batches:
                    print(model(x))
            while True:
                evaluate(data)
            """,
        ),
        (
            "recorded by a tape",
            EVALUATION,
            """
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = step(x, y)
                tape.gradient(loss, model.trainable_variables)[0].numpy()
                break
            """,
        ),
        (
            "part of a compiled function",
            EVALUATION,
            """
            @tf.function
            def both(x, y):
                return step(x, y) + step(y, y)
            for x, y in data:
                both(x, y)
                step(x, y)
            """,
        ),
        (
            "builds a model",
            """
            def block(x):
                for units in (4, 4):
                    x = tf.keras.layers.Dense(units)(x)
                return tf.keras.layers.Dropout(0.5)(tf.keras.layers.Dense(4)(x))
            x = tf.keras.Input((6,))
            for depth in range(99):
                x = block(x)
            """,
        ),
        (
            "called by Keras",
            """
            class Net(tf.keras.Model):
                def __init__(self):
                    super().__init__()
                    self.body = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                def call(self, x):
                    return self.body(x)
            net = Net()
            for x, y in data:
                net.call(x)
            """,
        ),
    )
)
FORWARD_OFFERED = (
    offers(
        "an evaluation with noise",
        script(asked("guess + tf.random.normal(tf.shape(guess))"), LOOP),
        contract="resampled",
        changes="stream",
        shapes=("function",),
    ),
    offers(
        "dropout that is told to train",
        script(DRAWER, "def step(x, y):\n    return net(x, training=True)\n", LOOP),
        contract="resampled",
        changes="Keras 3",
        shapes=("function",),
    ),
    offers(
        "dropout that was told to train when it was put together",
        script(STIRRED, "def step(x, y):\n    return net(x, training=False)\n", LOOP),
        contract="resampled",
        changes="Keras 3",
        shapes=("function",),
    ),
)
FORWARD_COMPILED = (
    yes("an evaluation", EVALUATION, LOOP, shapes=("function", "method", "main", "crlf", "tabs")),
    yes(
        "an evaluation by metrics",
        "mean = tf.keras.metrics.Mean()\nerror = tf.keras.metrics.MeanAbsoluteError()\n",
        """
        def step(x, y):
            guess = model(x, training=False)
            mean.update_state(loss_object(y, guess))
            error.update_state(y, guess)
        """,
        """
        for epoch in range(3):
            mean.reset_state()
            for x, y in data:
                step(x, y)
            print(mean.result().numpy(), error.result().numpy())
        """,
    ),
    yes(
        "dropout that is told to rest",
        DRAWER,
        "def step(x, y):\n    return net(x, training=False)\n",
        LOOP,
    ),
    yes(
        "dropout within a model that is told to rest",
        """
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.body = tf.keras.layers.Dense(4)
                self.drop = tf.keras.layers.Dropout(0.5)
            def call(self, x, training=None):
                return self.drop(self.body(x), training=training)
        net = Net()
        """,
        "def step(x, y):\n    return net(x, training=False)\n",
        LOOP,
    ),
    yes("a model that is asked twice, and that nothing changes", TWO_JUDGES, LOOP),
    yes("many ops", PLAIN, LOOP),
    yes("the variables of a target", TARGETS, "for x, y in data:\n    step(0.01)\n"),
    yes(
        "called by another function that reads what it gives",
        EVALUATION,
        """
        def score(x, y):
            return float(step(x, y))
        for x, y in data:
            score(x, y)
        """,
    ),
    yes(
        "the outer one of two",
        """
        def guessed(x):
            return model(x, training=False)
        """,
        "def step(x, y):\n    return loss_object(y, guessed(x))\n",
        LOOP,
    ),
    yes(
        "a window that slides",
        "def step(seen):\n    return model(seen)\n",
        """
        seen = tf.zeros([1, 6])
        for x, y in data:
            made = step(tf.reshape(seen, [1, 6]))
            seen = tf.reverse(seen, [1])
        """,
    ),
    yes(
        "a method that asks a model",
        """
        class Judge:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

            def step(self, x, y):
                return tf.abs(self.model(x) - y)
        judge = Judge()
        for x, y in data:
            worst = judge.step(x, y)
        """,
    ),
)

test_compile_train_step = bench(
    CompileTrainStep,
    *FROM_OUTSIDE,
    *OBJECTS,
    *BODIES,
    *CALLERS,
    *DRAWING,
    *COMPILED,
    *FORWARD_TRAPS,
    *FORWARD_SILENT,
    *FORWARD_OFFERED,
    *FORWARD_COMPILED,
)
