"""TFR209, what is left alone first."""

from rulebench import bench, leaves_alone, reports
from tfrewrite.codemods.side_effects_when_tracing import SideEffectsWhenTracing

HEAD = """
            import logging
            import random
            import time

            import numpy as np
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""

test_side_effects_when_tracing = bench(
    SideEffectsWhenTracing,
    # Left alone
    leaves_alone(
        "Python outside of the function",
        HEAD
        + """
            losses = []

            @tf.function
            def step(x):
                return tf.reduce_mean(model(x))

            for x in tf.data.Dataset.range(3):
                loss = step(x)
                losses.append(loss.numpy())
                print(time.time(), np.random.rand(), loss.numpy())
        """,
    ),
    leaves_alone(
        "a function that is not compiled",
        HEAD
        + """
            def step(x):
                print(x.numpy())
                return model(x)

            @tf.custom_gradient
            def other(x):
                print(x)
                return x, None
        """,
    ),
    leaves_alone(
        "the file runs everything eagerly",
        HEAD
        + """
            tf.config.run_functions_eagerly(True)

            @tf.function
            def step(x):
                print(x.numpy())
                return model(x)
        """,
    ),
    leaves_alone(
        "a print that says when it is traced",
        HEAD
        + """
            @tf.function
            def step(x):
                print("Tracing with", x)
                return model(x)
        """,
    ),
    leaves_alone(
        "a log of what is no tensor",
        HEAD
        + """
            @tf.function
            def step(x, rate=0.1):
                logging.info("building with %s", rate)
                return model(x)
        """,
    ),
    leaves_alone(
        "a print of shapes, and one that tells of building",
        HEAD
        + """
            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                print("shape", loss.shape, x.dtype)
                print("Building the step")
                return loss
        """,
    ),
    leaves_alone(
        "a function that is decorated to run as Python",
        HEAD
        + """
            @tf.function
            def step(x):
                @tf.py_function(Tout=tf.float32)
                def shown(y):
                    return y.numpy()

                return shown(x)
        """,
    ),
    leaves_alone(
        "tf.print, and ops that change state",
        HEAD
        + """
            total = tf.Variable(0.0)
            mean = tf.keras.metrics.Mean()

            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                tf.print("loss", loss)
                total.assign_add(loss)
                mean.update_state(loss)
                return loss
        """,
    ),
    leaves_alone(
        "lists and dicts that the function makes itself",
        HEAD
        + """
            @tf.function
            def step(x):
                results = []
                by_name = {}
                for layer in model.layers:
                    x = layer(x)
                    results.append(x)
                    by_name[layer.name] = x
                return results, by_name
        """,
    ),
    leaves_alone(
        "what is made once",
        """
            import tensorflow as tf


            class Counter(tf.Module):
                def __init__(self):
                    self.count = None
                    self.built = False

                @tf.function
                def __call__(self, x):
                    if self.count is None:
                        self.count = tf.Variable(0.0)
                    if not self.built:
                        self.scale = tf.Variable(1.0)
                        self.built = True
                    return self.count.assign_add(x * self.scale)
        """,
        shapes=(),
    ),
    leaves_alone(
        "what a helper makes once",
        """
            import tensorflow as tf


            class Scale(tf.Module):
                def __init__(self):
                    self.scale = None

                @tf.function
                def __call__(self, x):
                    if self.scale is None:
                        self.make()
                    try:
                        shift = self.shift
                    except AttributeError:
                        self.shift = tf.Variable(1.0)
                    return x * self.scale + self.shift

                def make(self):
                    self.scale = tf.Variable(1.0)
        """,
        shapes=(),
    ),
    leaves_alone(
        "a schedule makes no variables",
        HEAD
        + """
            @tf.function
            def step(x):
                rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
                return model(x) * rate(3)
        """,
    ),
    leaves_alone(
        "in eager mode only, and out of the graph",
        HEAD
        + """
            seen = []

            @tf.function
            def step(x):
                if tf.executing_eagerly():
                    print(x.numpy())
                with tf.init_scope():
                    seen.append(1)
                return model(x)
        """,
    ),
    leaves_alone(
        "functions that run as Python",
        HEAD
        + """
            def shown(x):
                print(x.numpy())
                return x

            @tf.function
            def step(x):
                def drawn(value):
                    return value + np.random.rand()

                x = tf.py_function(shown, [x], tf.float32)
                x = tf.numpy_function(drawn, [x], tf.float32)
                return tf.py_function(lambda value: value.numpy(), [x], tf.float32)
        """,
    ),
    leaves_alone(
        "texts that a tensor can be part of, and numbers that can be formatted",
        HEAD
        + """
            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                name = f"{loss}" + "%s" % loss + "{}".format(loss) + "%d" % 3 + f"{1.0:.2f}"
                return loss
        """,
    ),
    leaves_alone(
        "numbers that do not depend on tensors",
        HEAD
        + """
            width = tf.constant(3)

            @tf.function
            def step(x, units):
                scale = np.sqrt(units)
                return model(x) / scale * np.float32(2) + width.numpy()
        """,
    ),
    leaves_alone(
        "an optimizer's rate, which is a variable",
        HEAD
        + """
            optimizer = tf.keras.optimizers.SGD(0.1)

            @tf.function
            def step(x):
                optimizer.learning_rate = tf.reduce_mean(x)
                return model(x)
        """,
    ),
    leaves_alone(
        "a method called numpy of a class of the file",
        """
            import tensorflow as tf


            class Table:
                def numpy(self):
                    return 3


            table = Table()


            @tf.function
            def step(x):
                return x * table.numpy()
        """,
        shapes=(),
    ),
    # Reports
    reports(
        "a print",
        HEAD
        + """
            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                print("loss", loss)
                return loss
        """,
        message="and a tensor without its value: `tf.print` prints in each call",
    ),
    reports(
        "a print, where the file compiles at times",
        HEAD
        + """
            @tf.function
            def step(x):
                print("step")
                return x

            tf.config.run_functions_eagerly(True)
            step(1)
            tf.config.run_functions_eagerly(False)
            step(1)
        """,
        message="prints only when `step` is traced: `tf.print`",
    ),
    reports(
        "a log",
        HEAD
        + """
            @tf.function
            def step(x):
                logging.info("loss %s", tf.reduce_mean(x))
                return x
        """,
        message="logs only when `step` is traced",
    ),
    reports(
        "a read of a tensor",
        HEAD
        + """
            @tf.function
            def step(x):
                return x.numpy().sum()
        """,
        message="`x.numpy()` raises when `step` is traced",
    ),
    reports(
        "a read of a variable",
        HEAD
        + """
            total = tf.Variable(0.0)

            @tf.function
            def step(x):
                total.assign_add(x)
                return total.numpy()
        """,
        message="`total.numpy()` raises",
    ),
    reports(
        "a read in a helper, a method and a nested function",
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.step = tf.function(self._step)

                def _step(self, x):
                    return self._loss(self.model(x))

                def _loss(self, x):
                    return tf.reduce_mean(x).numpy()
        """,
        message="raises when `_step` is traced",
        shapes=(),
    ),
    reports(
        "numpy on a tensor",
        HEAD
        + """
            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                return np.sqrt(loss)
        """,
        message="numpy cannot take a tensor of a graph",
    ),
    reports(
        "a tensor that is formatted",
        HEAD
        + """
            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                name = f"{loss:.3f}"
                name = "%.3f" % loss
                name = "{:.3f}".format(loss)
                return loss
        """,
        message="is formatted as a number, which raises",
    ),
    reports(
        "a list outside that gets tensors",
        HEAD
        + """
            losses = []

            @tf.function
            def step(x):
                loss = tf.reduce_mean(model(x))
                losses.append(loss)
                return loss
        """,
        message="what it stores is a tensor of the graph",
    ),
    reports(
        "a counter of the module",
        HEAD
        + """
            steps = 0

            @tf.function
            def step(x):
                global steps
                steps += 1
                return model(x)
        """,
        message="`steps += 1` happens only when `step` is traced",
        shapes=(),
    ),
    reports(
        "a variable of the function around",
        HEAD
        + """
            def train():
                steps = 0

                @tf.function
                def step(x):
                    nonlocal steps
                    steps = steps + 1
                    return model(x)
        """,
        message="happens only when `step` is traced",
        shapes=(),
    ),
    reports(
        "an attribute that gets a tensor",
        """
            import tensorflow as tf


            class Normalizer:
                def __init__(self, mean_only):
                    self._mean_only = mean_only
                    self._var = tf.Variable(1.0)

                @tf.function
                def observe(self, x):
                    if not self._mean_only:
                        self._var = tf.clip_by_value(x, 0.0, 1.0)
        """,
        message="assign it to a `tf.Variable`",
        shapes=(),
    ),
    reports(
        "a counter of the object",
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self):
                    self.steps = 0
                    self.seen = {}

                @tf.function
                def step(self, x):
                    self.steps += 1
                    self.seen["last"] = self.steps
                    return x
        """,
        message="happens only when `step` is traced",
        shapes=(),
    ),
    reports(
        "an argument that is changed",
        HEAD
        + """
            @tf.function
            def step(x, results):
                results.append(x)
                return x
        """,
        message="may not change its arguments",
    ),
    reports(
        "a clock",
        HEAD
        + """
            @tf.function
            def step(x):
                start = time.time()
                return model(x), start
        """,
        message="every later call sees that moment",
    ),
    reports(
        "draws of numpy and Python",
        HEAD
        + """
            @tf.function
            def step(x):
                return model(x) + np.random.rand() * random.random()
        """,
        message="every later call uses that draw",
    ),
    reports(
        "a draw of a generator",
        HEAD
        + """
            rng = np.random.RandomState(3)

            @tf.function
            def step(x):
                return model(x) + rng.normal()
        """,
        message="`rng.normal()` is drawn only when",
    ),
    reports(
        "a variable made in each trace",
        HEAD
        + """
            @tf.function
            def step(x):
                total = tf.Variable(0.0)
                return x + total
        """,
        message="in its first trace only",
    ),
    reports(
        "a lambda",
        HEAD
        + """
            step = tf.function(lambda x: x + np.random.rand())
        """,
        message="is drawn only when",
    ),
)
