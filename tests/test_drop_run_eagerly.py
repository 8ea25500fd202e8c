"""TFR207: models that may be compiled, and those that must run eagerly."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, reports, rewrites
from tfrewrite.codemods.drop_run_eagerly import DropRunEagerly

START = """\
import numpy as np
import tensorflow as tf

xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.normal(size=(64, 1)).astype(np.float32)
"""
MODEL = """\
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
"""
COMPILE = 'model.compile(optimizer="adam", loss="mse", run_eagerly=True)\n'
FIT = "model.fit(xs, ys, epochs=2)\n"
NET = """\
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(8)

    def call(self, x):
        return self.hidden(x)

model = Net()
"""


def script(*parts: str) -> str:
    return START + "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


def with_call(*lines: str) -> str:
    more = "".join(f"        {line}\n" for line in lines)
    return NET.replace("        return self.hidden(x)\n", more)


def no(name: str, reason: str, *parts: str) -> Case:
    return refuses(name, script(*parts), reason=reason, shapes=("function",))


def yes(name: str, before: str, after: str, *, shapes: tuple[str, ...] = ("function",)) -> Case:
    return rewrites(
        name,
        script(MODEL, before, FIT),
        script(MODEL, after, FIT),
        contract="rounding",
        shapes=shapes,
    )


test_drop_run_eagerly = bench(
    DropRunEagerly,
    leaves_alone("not asked for", script(MODEL, 'model.compile("adam", "mse")\n', FIT)),
    leaves_alone(
        "decided elsewhere",
        script(MODEL, 'model.compile("adam", "mse", run_eagerly=debug)\n', FIT),
    ),
    no("a model from elsewhere", "model-not-seen", "from nets import model\n", COMPILE, FIT),
    no(
        "a step of its own",
        "own-step",
        NET.replace(
            "    def call", "    def train_step(self, data):\n        pass\n\n    def call"
        ),
        COMPILE,
        FIT,
    ),
    no("prints", "python-effect", with_call("print('x')", "return self.hidden(x)"), COMPILE, FIT),
    no("counts", "python-effect", with_call("self.n += 1", "return self.hidden(x)"), COMPILE, FIT),
    no(
        "asks for a value",
        "reads-on-host",
        with_call("return self.hidden(x) * float(tf.reduce_sum(x))"),
        COMPILE,
        FIT,
    ),
    no(
        "a tensor decides",
        "tensor-decides",
        with_call("if tf.reduce_sum(x) > 0:", "    x = x * 2", "return self.hidden(x)"),
        COMPILE,
        FIT,
    ),
    no(
        "the size of the batch",
        "fails-when-traced",
        with_call("return tf.reshape(self.hidden(x), [x.shape[0], 8])"),
        COMPILE,
        FIT,
    ),
    no(
        "a loss of numpy",
        "reads-on-host",
        MODEL,
        """
        def error(a, b):
            return np.mean(a - b)
        model.compile("adam", loss=error, run_eagerly=True)
        """,
        FIT,
    ),
    no(
        "a metric looks outside",
        "captured-not-fixed",
        MODEL,
        """
        weight = 1.0
        weight = 2.0
        def error(a, b):
            return tf.reduce_mean(a - b) * weight
        model.compile("adam", "mse", metrics=["mae", error], run_eagerly=True)
        """,
        FIT,
    ),
    no(
        "layers are frozen in between",
        "object-changes",
        MODEL,
        COMPILE,
        FIT,
        "model.layers[0].trainable = False\n",
        FIT,
    ),
    no("trained elsewhere", "runs-not-seen", MODEL, COMPILE, "train(model)\n"),
    no(
        "somebody catches",
        "exception-seen",
        MODEL,
        COMPILE,
        "try:\n    model.fit(xs, ys)\nexcept ValueError:\n    pass\n",
    ),
    no(
        "several devices",
        "not-eager",
        "strategy = tf.distribute.MirroredStrategy()\n",
        MODEL,
        COMPILE,
        FIT,
    ),
    reports(
        "all functions",
        script("tf.config.run_functions_eagerly(True)\n", MODEL, FIT),
        message="all functions that are compiled run eagerly",
    ),
    offers(
        "noise in a layer",
        script(with_call("return self.hidden(x + tf.random.normal([6]))"), COMPILE, FIT),
        contract="resampled",
        changes="stream",
    ),
    yes(
        "the last argument",
        COMPILE,
        'model.compile(optimizer="adam", loss="mse")\n',
        shapes=("function", "method", "main", "crlf", "tabs"),
    ),
    yes(
        "the first argument",
        'model.compile(run_eagerly=True, optimizer="adam", loss="mse")\n',
        'model.compile(optimizer="adam", loss="mse")\n',
    ),
    yes("the only argument", "model.compile(run_eagerly=True)\n", "model.compile()\n"),
    yes(
        "on a line of its own",
        'model.compile(\n    "adam",\n    "mse",\n    run_eagerly=True,\n)\n',
        'model.compile(\n    "adam",\n    "mse",\n)\n',
    ),
    yes(
        "beside a comment",
        'model.compile(\n    "adam",\n    "mse",\n    run_eagerly=True,  # for now\n)\n',
        'model.compile(\n    "adam",\n    "mse",\n    run_eagerly=False,  # for now\n)\n',
    ),
    rewrites(
        "a model of the file",
        script(NET, COMPILE, FIT),
        script(NET, COMPILE.replace(", run_eagerly=True", ""), FIT),
        contract="rounding",
    ),
    rewrites(
        "objects of Keras and functions of the file",
        script(
            MODEL,
            """
            def error(a, b):
                return tf.reduce_mean(tf.square(a - b), axis=-1)
            model.compile(tf.keras.optimizers.Adam(0.1), loss=error, run_eagerly=True,
                          metrics=["mae", tf.keras.metrics.MeanSquaredError()])
            """,
            FIT,
        ),
        script(
            MODEL,
            """
            def error(a, b):
                return tf.reduce_mean(tf.square(a - b), axis=-1)
            model.compile(tf.keras.optimizers.Adam(0.1), loss=error,
                          metrics=["mae", tf.keras.metrics.MeanSquaredError()])
            """,
            FIT,
        ),
        contract="rounding",
        shapes=(),
    ),
)
