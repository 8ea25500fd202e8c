"""TFR402: what is left alone first, then what is reported."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, reports
from tfrewrite.codemods.compile_in_loop import CompileInLoop

HEAD = """\
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(2)])
"""


def script(rest: str) -> str:
    return HEAD + textwrap.dedent(rest).lstrip("\n")


TAPE = """
for x, y in batches:
    {before}
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean({value})
    {optimizer}.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


def tape(before: str = "pass", value: str = "model(x) - y", optimizer: str = "optimizer") -> str:
    return script(TAPE.format(before=before, value=value, optimizer=optimizer))


test_left_alone = bench(
    CompileInLoop,
    leaves_alone("once", script("model.compile('adam', 'mse')\nmodel.fit(x, y)\n")),
    leaves_alone(
        "few turns", script("for i in range(2):\n    model.compile('adam')\n    model.fit(x, y)\n")
    ),
    leaves_alone(
        "a model for each turn",
        script(
            """
            for fold in folds:
                model = keras.Sequential([keras.layers.Dense(2)])
                model.compile("adam", "mse")
                model.fit(fold)
            """
        ),
    ),
    leaves_alone(
        "a function that builds",
        script(
            """
            def build():
                net = keras.Sequential()
                net.compile("adam", "mse")
                return net
            for fold in folds:
                build().fit(fold)
            """
        ),
    ),
    leaves_alone(
        "layers that are frozen",
        script(
            """
            for epoch in range(100):
                model.trainable = epoch > 9
                model.compile("adam", "mse")
                model.fit(x, y)
            """
        ),
    ),
    leaves_alone(
        "a model that grows",
        script(
            """
            for size in sizes:
                model.add(keras.layers.Dense(size))
                model.compile("adam", "mse")
                model.fit(x, y)
            """
        ),
    ),
    leaves_alone(
        "a model that is handed on",
        script(
            """
            for size in sizes:
                grow(model)
                model.compile("adam", "mse")
                model.fit(x, y)
            """
        ),
    ),
    leaves_alone(
        "a loop that only evaluates",
        script("for x in xs:\n    model.compile('adam')\n    model.evaluate(x)\n"),
    ),
    leaves_alone(
        "patterns of text",
        script("import re\nfor word in words:\n    re.compile(word)\n    model.fit(word)\n"),
    ),
    leaves_alone("the optimizer before the loop", tape()),
    leaves_alone("an optimizer that is collected", tape("every.append(keras.optimizers.SGD())")),
    leaves_alone(
        "layers that build a model",
        script(
            """
            h = x = keras.Input((3,))
            for units in sizes:
                h = keras.layers.Dense(units)(h)
            """
        ),
    ),
    leaves_alone("a layer without weights", tape(value="keras.layers.Flatten()(x)")),
)

test_reported = bench(
    CompileInLoop,
    reports(
        "a compile in each turn",
        script(
            """
            for epoch in range(100):
                model.compile("adam", "mse")
                model.fit(x, y)
            """
        ),
        message="compiles `model` again",
    ),
    reports(
        "a method that compiles",
        script(
            """
            class Agent:
                def __init__(self):
                    self.net = keras.Sequential()

                def learn(self, x, y):
                    self.net.compile("adam", "mse")

            agent = Agent()
            for x, y in batches:
                agent.learn(x, y)
                agent.net.fit(x, y)
            """
        ),
        message="compiles `self.net` again",
    ),
    reports(
        "an optimizer in each turn",
        tape("optimizer = tf.keras.optimizers.Adam(0.1)"),
        message="makes an optimizer",
    ),
    reports(
        "an optimizer in place",
        tape(optimizer="keras.optimizers.Adam()"),
        message="makes an optimizer",
    ),
    reports(
        "a layer under a tape",
        tape(value="keras.layers.Dense(3)(x) - y"),
        message="makes a new `Dense`",
    ),
)
