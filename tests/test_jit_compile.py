"""TFR210: what is left alone and refused first, then what XLA is let compile."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.jit_compile import JitCompile

START = """\
import numpy as np
import tensorflow as tf

xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.normal(size=(64, 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_object = tf.keras.losses.MeanSquaredError()
mean = tf.keras.metrics.Mean()
"""
STEP = """\
@tf.function
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
WITH = "@tf.function(jit_compile=True)"
RELAXED = "@tf.function(reduce_retracing=True)"
BY_NAME = "from tensorflow import function\n" + START
FIT = """\
from tensorflow.keras import layers
import tensorflow as tf
model = tf.keras.Sequential([layers.Dense(8, 'relu', input_shape=[9]), layers.Dense(1)])
model.compile('adam', 'mse')
model.fit(x, y)
"""


def script(step: str = STEP, loop: str = LOOP, start: str = START) -> str:
    return start + textwrap.dedent(step).lstrip("\n") + textwrap.dedent(loop).lstrip("\n")


def within(line: str, before: str = "gradients") -> str:
    """The step with one more line in it, under its tape."""
    return STEP.replace(f"    {before}", f"    {line}\n    {before}", 1)


MORE = within("mean.update_state(loss)").replace(
    "    optimizer", "    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n    optimizer"
)


def lossy(loss: str) -> str:
    return STEP.replace("loss_object(y, model(x, training=True))", loss)


def refused(name: str, step: str, reason: str, *, loop: str = LOOP, start: str = START) -> Case:
    return refuses(name, script(step, loop, start), reason=reason, shapes=())


def fit(old: str, new: str) -> str:
    assert old in FIT
    return FIT.replace(old, new)


test_left_alone = bench(
    JitCompile,
    leaves_alone("compiled by XLA already", script(STEP.replace("@tf.function", WITH))),
    leaves_alone(
        "by its old name",
        script(STEP.replace("@tf.function", "@tf.function(experimental_compile=True)")),
    ),
    leaves_alone(
        "its owner said no", script(STEP.replace("@tf.function", "@tf.function(jit_compile=False)"))
    ),
    leaves_alone("not compiled at all, which is for TFR201", script(STEP.partition("\n")[2])),
    leaves_alone(
        "no step of training",
        START + "@tf.function\ndef f(x):\n    return model(x)\n\nfor x, y in data:\n    f(x)\n",
    ),
    leaves_alone("called once", script(loop="loss = step(xs[:16], ys[:16])\n")),
    leaves_alone("a version that has no such setting", script(), target_tf=(1, 15)),
    leaves_alone("fit in a version that has no such setting", FIT, target_tf=(2, 7)),
    leaves_alone("fit that has it", fit("'mse')", "'mse', jit_compile=True)")),
    leaves_alone("fit that has it off", fit("'mse')", "'mse', jit_compile=False)")),
    leaves_alone("no fit", fit("model.fit(x, y)", "model.predict(x)")),
    leaves_alone("something else that is compiled", "import re\nre.compile('a')\ntree.fit(x)\n"),
)

test_refused_ops = bench(
    JitCompile,
    refused("tf.print", within("tf.print(loss)"), "python-effect"),
    refused(
        "py_function",
        within("loss = loss + tf.py_function(lambda: 1.0, [], tf.float32)"),
        "python-effect",
    ),
    refused(
        "numpy_function",
        within("loss = loss + tf.numpy_function(lambda: 1.0, [], tf.float32)"),
        "python-effect",
    ),
    refused("a summary", within("tf.summary.scalar('loss', loss, step=0)"), "python-effect"),
    refused("texts", within("name = tf.strings.as_string(loss)"), "unknown-call"),
    refused("an assertion", within("tf.debugging.assert_less(loss, 9.0)"), "unknown-call"),
    refused("check_numerics", within("tf.debugging.check_numerics(loss, 'a')"), "unknown-call"),
    refused("a dataset", within("d = tf.data.Dataset.range(3)"), "unknown-call"),
    refused("an op that was not tried", within("s = tf.linalg.inv(x)"), "not-for-xla"),
    refused("a draw XLA has not", within("g = tf.random.gamma([3], 2.0)"), "not-for-xla"),
    refused("a draw in an order", within("g = tf.random.shuffle(x)"), "not-for-xla"),
    refused("where with one argument", within("i = tf.where(x > 0.0)"), "needs-static-shape"),
    refused("a boolean mask", within("i = tf.boolean_mask(x, y[:, 0] > 0.0)"), "not-for-xla"),
    refused("a mask as an index", within("i = x[y[:, 0] > 0.0]"), "needs-static-shape"),
    refused("unique", within("i = tf.unique(y[:, 0])"), "not-for-xla"),
    refused(
        "a slice up to a tensor",
        within("i = x[: tf.argmax(y[:, 0])]"),
        "needs-static-shape",
    ),
    refused(
        "a shape made of values",
        within("i = tf.zeros([tf.argmax(y[:, 0])])"),
        "needs-static-shape",
    ),
    refused(
        "a loss of Keras that was not tried",
        STEP,
        "not-for-xla",
        start=START.replace("MeanSquaredError", "CategoricalFocalCrossentropy"),
    ),
    refused(
        "a metric that was not tried",
        within("mean.update_state(y, y)"),
        "not-for-xla",
        start=START.replace("metrics.Mean()", "metrics.SensitivityAtSpecificity(0.5)"),
    ),
    refused(
        "an optimizer that was not tried",
        STEP,
        "not-for-xla",
        start=START.replace("SGD", "Lion"),
    ),
    refused(
        "a layer that was not tried",
        STEP,
        "not-for-xla",
        start=START.replace("Dense(1)", "RandomRotation(0.1)"),
    ),
    refused(
        "a layer in a model of the file",
        STEP,
        "not-for-xla",
        start=START.replace("Dense(8", "ConvLSTM2D(8"),
    ),
)

test_refused_around = bench(
    JitCompile,
    refused("what is not seen", within("loss = helper(loss)"), "captured-not-fixed"),
    refused("the host reads", within("print(loss.numpy())"), "python-effect"),
    refused("a tensor decides", within("if loss > 3.0: loss = loss * 2.0"), "tensor-decides"),
    refused(
        "a number that varies",
        STEP.replace("(x, y)", "(x, y, n)", 1),
        "argument-varies",
        loop=LOOP.replace("in data", "in data.take(3)").replace("(x, y)\n", "(x, y, epoch)\n"),
    ),
    refused(
        "batches of many shapes",
        STEP,
        "shape-varies",
        start=START.replace(".batch(16)", ".padded_batch(16)"),
    ),
    refused(
        "a model that is called twice",
        lossy("loss_object(y, model(x)) + tf.reduce_mean(model(-x))"),
        "called-again",
    ),
    refused(
        "under a strategy",
        STEP,
        "not-eager",
        start=START.replace("data =", "strategy = tf.distribute.MirroredStrategy()\ndata ="),
    ),
    refused(
        "its errors are caught",
        STEP,
        "exception-seen",
        loop="""
            for x, y in data:
                try:
                    loss = step(x, y)
                except tf.errors.InvalidArgumentError:
                    break
        """,
    ),
    refused(
        "part of another compiled function",
        STEP,
        "called-in-trace",
        loop="""
            @tf.function
            def steps(x, y):
                return step(x, y)

            for x, y in data:
                steps(x, y)
        """,
    ),
    refuses(
        "made in a loop",
        START + "for _ in range(9):\n" + textwrap.indent(STEP + LOOP, "    "),
        reason="made-in-loop",
        shapes=(),
    ),
    refused("called elsewhere", STEP, "callers-not-seen", loop=LOOP + "keep(step)\n"),
    refused("nobody calls it", STEP, "callers-not-seen", loop="\n"),
    refused(
        "another setting",
        STEP.replace("@tf.function", "@tf.function(experimental_implements='a')"),
        "other-settings",
    ),
    refused(
        "settings in a dict",
        STEP.replace("@tf.function", "@tf.function(**settings)"),
        "other-settings",
        start=START + "settings = {}\n",
    ),
    refused(
        "another decorator",
        "@mine\n" + STEP,
        "other-settings",
    ),
    refused(
        "numbers are checked",
        STEP,
        "not-for-xla",
        start=START + "tf.debugging.enable_check_numerics()\n",
    ),
)

test_refused_fit = bench(
    JitCompile,
    refuses("a model of unknown make", "import tensorflow as tf\n" + FIT.split("\n", 3)[3],
            reason="model-not-seen"),
    refuses("a loss of its own", fit("'mse'", "mine"), reason="custom-code"),
    refuses("an optimizer that was not tried", fit("'adam'", "'lion'"), reason="not-for-xla"),
    refuses(
        "the same as an object",
        fit("'adam'", "tf.keras.optimizers.Lion(0.1)"),
        reason="not-for-xla",
    ),
    refuses(
        "the same under a name",
        fit("model.compile('adam'", "lion = tf.keras.optimizers.Lion(0.1)\nmodel.compile(lion"),
        reason="not-for-xla",
    ),
    refuses("a metric that was not tried", fit("'mse')", "'mse', ['auc'])"), reason="not-for-xla"),
    refuses("eagerly", fit("'mse')", "'mse', run_eagerly=True)"), reason="runs-eagerly"),
    refuses("several steps", fit("'mse')", "'mse', steps_per_execution=4)"),
            reason="steps-per-execution"),
    refuses("settings in a dict", fit("'mse')", "'mse', **how)"), reason="steps-per-execution"),
    refuses("a layer that was not tried", fit("layers.Dense(1)", "layers.RandomZoom(0.1)"),
            reason="not-for-xla"),
    refuses(
        "a policy",
        fit("model =", "tf.keras.mixed_precision.set_global_policy('mixed_float16')\nmodel ="),
        reason="precision-policy",
    ),
    refuses(
        "a strategy",
        fit("model =", "s = tf.distribute.MirroredStrategy()\nmodel ="),
        reason="distributed",
    ),
    refuses(
        "a step of its own",
        "import tensorflow as tf\nclass M(tf.keras.Model):\n    def train_step(self, data):\n"
        "        return {}\nmodel = M()\nmodel.compile('adam', 'mse')\nmodel.fit(x, y)\n",
        reason="custom-code",
    ),
)  # fmt: skip

test_rewritten = bench(
    JitCompile,
    rewrites(
        "the plain form", script(), script(STEP.replace("@tf.function", WITH)), contract="rounding",
    ),
    rewrites(
        "before 2.5",
        script(),
        script(STEP.replace("@tf.function", "@tf.function(experimental_compile=True)")),
        contract="rounding",
        target_tf=(2, 4),
    ),
    rewrites(
        "called without settings",
        script(STEP.replace("@tf.function", "@tf.function()")),
        script(STEP.replace("@tf.function", WITH)),
        contract="rounding",
    ),
    rewrites(
        "beside another setting",
        script(STEP.replace("@tf.function", RELAXED)),
        script(STEP.replace("@tf.function", RELAXED.replace(")", ", jit_compile=True)"))),
        contract="rounding",
    ),
    rewrites(
        "a metric and a norm",
        script(MORE),
        script(MORE.replace("@tf.function", WITH)),
        contract="rounding",
    ),
    rewrites(
        "imported by name",
        script(STEP.replace("tf.function", "function"), start=BY_NAME),
        script(
            STEP.replace("@tf.function", "@function(jit_compile=True)"),
            start=BY_NAME,
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites("fit", FIT, fit("'mse')", "'mse', jit_compile=True)"), contract="rounding"),
    rewrites(
        "fit with a model that is built step by step",
        fit("tf.keras.Sequential([layers.Dense(8, 'relu', input_shape=[9]), layers.Dense(1)])",
            "tf.keras.Sequential()\nmodel.add(layers.Dense(1))"),
        fit("tf.keras.Sequential([layers.Dense(8, 'relu', input_shape=[9]), layers.Dense(1)])",
            "tf.keras.Sequential()\nmodel.add(layers.Dense(1))").replace(
                "'mse')", "'mse', jit_compile=True)"),
        contract="rounding",
    ),
    rewrites(
        "fit, on lines of their own",
        fit("model.compile('adam', 'mse')",
            "model.compile(\n    'adam',\n    loss='mse',  # a comment\n)"),
        fit("model.compile('adam', 'mse')",
            "model.compile(\n    'adam',\n    loss='mse',  # a comment\n    jit_compile=True,\n)"),
        contract="rounding",
    ),
)  # fmt: skip

DROPOUT = START.replace("Dense(1)]", "Dropout(0.5), tf.keras.layers.Dense(1)]")

test_offered = bench(
    JitCompile,
    offers(
        "a dropout of TensorFlow",
        script(within("loss = loss + tf.reduce_sum(tf.nn.dropout(x, 0.5))")),
        contract="precision",
        changes="dropout masks",
    ),
    offers(
        "with a seed",
        script(within("loss = loss + tf.reduce_sum(tf.random.normal([3], seed=4))")),
        contract="precision",
    ),
    offers(
        "stateless, with a seed",
        script(within("loss += tf.reduce_sum(tf.random.stateless_normal([3], [1, 2]))")),
        contract="precision",
    ),
    offers(
        "a generator",
        script(
            within("loss += tf.reduce_sum(generator.normal([3]))"),
            start=START + "generator = tf.random.Generator.from_seed(3)\n",
        ),
        contract="precision",
    ),
    offers("a layer", script(start=DROPOUT), contract="precision"),
    offers("a layer of Keras 3", script(start=DROPOUT), contract="precision", target_tf=(2, 21)),
    offers(
        "fit with a layer",
        fit("layers.Dense(1)", "layers.Dropout(0.5)"),
        contract="precision",
        target_tf=(2, 21),
    ),
    rewrites(
        "allowed",
        script(start=DROPOUT),
        script(STEP.replace("@tf.function", WITH), start=DROPOUT),
        contract="precision",
        allow=("precision",),
    ),
)
