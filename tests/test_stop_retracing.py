"""TFR203, the traps first."""

from rulebench import Case, bench, leaves_alone, offers, refuses, reports, rewrites
from tfrewrite.codemods.stop_retracing import StopRetracing

HEAD = """
            import time

            import numpy as np
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            weight = tf.Variable(1.0)
            data = tf.data.Dataset.range(10)
"""


def needing(name: str, body: str) -> Case:
    """A compiled function that gets a counter in each call, and needs the number."""
    return refuses(
        name,
        HEAD
        + f"""
            @tf.function
            def step(x, number):
                {body}

            for number, x in enumerate(data):
                step(x, number)
        """,
        reason="needs-python-value",
    )


test_stop_retracing = bench(
    StopRetracing,
    # Traps
    leaves_alone(
        "tensors, numpy's numbers, constants and flags",
        HEAD
        + """
            @tf.function
            def step(x, number, training=False):
                return tf.cast(number, tf.float32) * weight

            for number, x in enumerate(data):
                step(x, tf.constant(number))
                step(x, np.float32(number))
                step(x, np.mean([number, 1]))
                step(x, 3)
                step(x, x, training=number > 2)
        """,
    ),
    leaves_alone(
        "what is unpacked beside a counter",
        HEAD
        + """
            @tf.function
            def step(x, y):
                return tf.cast(x, tf.float32) * weight

            for number, (x, y) in enumerate(data):
                step(x, y)
        """,
    ),
    leaves_alone(
        "a signature makes tensors of numbers",
        HEAD
        + """
            @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
            def step(number):
                return tf.cast(number, tf.float32) * weight

            for number in range(100):
                step(number)
        """,
    ),
    leaves_alone(
        "few turns, and no loop",
        HEAD
        + """
            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight

            step(len("text"))
            for number in range(3):
                step(number)
        """,
    ),
    leaves_alone(
        "a function that is not compiled",
        HEAD
        + """
            def step(number):
                return tf.cast(number, tf.float32) * weight

            for number in range(100):
                step(number)
        """,
    ),
    leaves_alone(
        "in a graph of TensorFlow 1",
        """
            import tensorflow as tf

            tf.compat.v1.disable_eager_execution()
            weight = tf.Variable(1.0)

            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight

            total = 0.0
            for number in range(100):
                total += step(number)
        """,
    ),
    leaves_alone(
        "nothing is compiled",
        HEAD
        + """
            tf.config.run_functions_eagerly(True)

            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight

            for number in range(100):
                step(number)
        """,
    ),
    needing("a test", "return x if number > 3 else -x"),
    needing("a test by an `if`", "return (x, number)[0] if number else x"),
    needing("a range", "return [x for _ in range(number)]"),
    needing("a shape", "return tf.zeros([number, 2])"),
    needing("a count for tf.range", "return tf.range(number)"),
    needing("an index", "return x[number]"),
    needing("a slice", "return x[:number]"),
    needing("a key", "return {1: x}[number]"),
    needing("a text", "return tf.identity(x, name='step%d' % number)"),
    needing("an f-string", "return tf.identity(x, name=f'step{number}')"),
    needing("it is returned", "return x, number"),
    needing("it is kept under another name", "other = number\n                return x * other"),
    needing("a remainder in Python", "return tf.cast(number % 2, tf.float32)"),
    needing("double precision", "return weight * (1 - 0.999**number)"),
    needing("an operand of a type that is not known", "return x * number"),
    needing("64-bit floats", "return tf.cast(x, tf.float64) * number"),
    needing("tf.constant does not take a tensor", "return tf.constant(number)"),
    needing("an assign of another type", "return weight.assign(number)"),
    needing(
        "an integer here and a float32 there", "return tf.cast(number, tf.int32), weight * number"
    ),
    needing("handed to a layer", "return model(x, number)"),
    needing("handed on as keywords", "return tf.reduce_sum(x, axis=number)"),
    needing("a function within keeps it", "return [x[number] for _ in (1, 2)]"),
    needing("it is increased", "number += 1\n                return tf.cast(number, tf.float32)"),
    refuses(
        "a float that is printed is shown in other digits",
        HEAD
        + """
            @tf.function
            def step(x, rate):
                tf.print(rate)
                return x

            rate = 1.0
            for x in data:
                rate = rate * 0.9
                step(x, rate)
        """,
        reason="needs-python-value",
    ),
    refuses(
        "a helper needs a number",
        HEAD
        + """
            def scaled(x, by):
                return x[by]

            @tf.function
            def step(x, number):
                return scaled(x, number)

            for number, x in enumerate(data):
                step(x, number)
        """,
        reason="needs-python-value",
    ),
    refuses(
        "one of two numbers is needed",
        HEAD
        + """
            @tf.function
            def step(x, number, row):
                return x[row] * tf.cast(number, tf.float32)

            for number, x in enumerate(data):
                step(x, number, number)
        """,
        reason="needs-python-value",
    ),
    refuses(
        "traces are counted",
        HEAD
        + """
            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight

            for number in range(100):
                step(number)
            print(step.experimental_get_tracing_count())
        """,
        reason="traces-counted",
    ),
    refuses(
        "it prints at each trace",
        HEAD
        + """
            @tf.function
            def step(number):
                print("called")
                return tf.cast(number, tf.float32) * weight

            for number in range(100):
                step(number)
        """,
        reason="python-effect",
    ),
    refuses(
        "another Python value is read anew at each trace",
        HEAD
        + """
            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight * rate

            rate = 1.0
            for number in range(100):
                rate = rate * 0.9
                step(number)
        """,
        reason="python-value",
    ),
    refuses(
        "a value that changes between two loops",
        HEAD
        + """
            rate = 1.0

            @tf.function
            def step(number):
                return tf.cast(number, tf.float32) * weight * rate

            for number in range(100):
                step(number)
            rate = 0.1
            for number in range(100, 200):
                step(number)
        """,
        reason="python-value",
    ),
    refuses(
        "an attribute that changes between two calls",
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self):
                    self.weight = tf.Variable(1.0)
                    self.rate = 1.0

                @tf.function
                def step(self, number):
                    return tf.cast(number, tf.float32) * self.weight * self.rate

                def fit(self):
                    for number in range(100):
                        self.rate = self.rate * 0.9
                        self.step(number)


            Trainer().fit()
        """,
        reason="python-value",
        shapes=(),
    ),
    refuses(
        "who calls the function around the loop is not seen",
        """
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


            @tf.function
            def step(x, number):
                return model(x) * tf.cast(number, tf.float32)


            def fit(data):
                for number, x in enumerate(data):
                    step(x, number)
        """,
        reason="callers-not-seen",
        shapes=(),
    ),
    refuses(
        "a method of another file",
        HEAD
        + """
            from mylib import forward

            @tf.function
            def step(number):
                return forward(tf.cast(number, tf.float32))

            for number in range(100):
                step(number)
        """,
        reason="call-not-seen",
        shapes=(),
    ),
    refuses(
        "code of another file",
        HEAD
        + """
            from mylib import forward

            step = tf.function(forward)
            for number in range(100):
                step(number)
        """,
        reason="code-not-seen",
        shapes=(),
    ),
    leaves_alone(
        "slices of one length, and a function for any length",
        HEAD
        + """
            @tf.function
            def step(x):
                return x * weight

            @tf.function(reduce_retracing=True)
            def relaxed(x):
                return x * weight

            rows = tf.ones([1000, 2])
            for start in range(100):
                step(rows[start : start + 32])
                step(rows[start])
                step(rows[:10, start])
                relaxed(rows[:start])
        """,
    ),
    reports(
        "slices that grow",
        HEAD
        + """
            @tf.function
            def step(x):
                return x * weight

            rows = tf.ones([1000, 2])
            for end in range(100):
                step(rows[:, : end + 1])
        """,
        message="tf.function(reduce_retracing=True)",
    ),
    reports(
        "slices that grow, before 2.9",
        HEAD
        + """
            @tf.function
            def step(x):
                return x * weight

            rows = tf.ones([1000, 2])
            for end in range(100):
                step(rows[:end])
        """,
        message="tf.function(experimental_relax_shapes=True)",
        target_tf=(2, 8),
    ),
    # What it does
    rewrites(
        "a counter that is cast",
        HEAD
        + """
            @tf.function
            def step(x, number):
                rate = 0.1 / (1.0 + tf.cast(number, tf.float32))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x)) * weight
                weight.assign_sub(rate * tape.gradient(loss, weight))
                return loss

            for number, x in enumerate(data):
                loss = step(x, number)
                print(number, float(loss))
        """,
        HEAD
        + """
            @tf.function
            def step(x, number):
                rate = 0.1 / (1.0 + tf.cast(number, tf.float32))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x)) * weight
                weight.assign_sub(rate * tape.gradient(loss, weight))
                return loss

            for number, x in enumerate(data):
                loss = step(x, tf.constant(number))
                print(number, float(loss))
        """,
        contract="rounding",
    ),
    rewrites(
        "a weight that meets float32 tensors, by keyword",
        HEAD
        + """
            @tf.function
            def step(x, beta):
                return tf.reduce_mean(tf.cast(x, tf.float32)) + beta * weight

            beta = 0.0
            for x in data:
                beta = min(1.0, beta + 0.01)
                step(x, beta=beta)
        """,
        HEAD
        + """
            @tf.function
            def step(x, beta):
                return tf.reduce_mean(tf.cast(x, tf.float32)) + beta * weight

            beta = 0.0
            for x in data:
                beta = min(1.0, beta + 0.01)
                step(x, beta=tf.constant(beta, tf.float32))
        """,
        contract="rounding",
    ),
    rewrites(
        "a weight that is made of the counter",
        HEAD
        + """
            @tf.function
            def step(x, beta, epoch):
                tf.print(epoch)
                return tf.reduce_mean(tf.cast(x, tf.float32)) + beta * weight

            for epoch in range(10):
                beta = 0.1 * epoch
                for x in data:
                    step(x, beta, epoch)
        """,
        HEAD
        + """
            @tf.function
            def step(x, beta, epoch):
                tf.print(epoch)
                return tf.reduce_mean(tf.cast(x, tf.float32)) + beta * weight

            for epoch in range(10):
                beta = 0.1 * epoch
                for x in data:
                    step(x, tf.constant(beta, tf.float32), tf.constant(epoch))
        """,
        contract="rounding",
    ),
    rewrites(
        "an integer that meets float32 tensors in a helper",
        HEAD
        + """
            def scaled(x, by):
                return weight * by

            @tf.function
            def step(x, number):
                return scaled(x, number)

            for number in range(1, 100):
                step(weight, number + 1)
        """,
        HEAD
        + """
            def scaled(x, by):
                return weight * by

            @tf.function
            def step(x, number):
                return scaled(x, number)

            for number in range(1, 100):
                step(weight, tf.constant(number + 1, tf.float32))
        """,
        contract="rounding",
    ),
    rewrites(
        "the step of a summary is a 64-bit integer",
        HEAD
        + """
            writer = tf.summary.create_file_writer("logs")

            @tf.function
            def step(x, number):
                loss = tf.reduce_mean(model(x))
                with writer.as_default():
                    tf.summary.scalar("loss", loss, step=number)
                return loss

            number = 0
            for x in data:
                number += 1
                step(x, number)
        """,
        HEAD
        + """
            writer = tf.summary.create_file_writer("logs")

            @tf.function
            def step(x, number):
                loss = tf.reduce_mean(model(x))
                with writer.as_default():
                    tf.summary.scalar("loss", loss, step=number)
                return loss

            number = 0
            for x in data:
                number += 1
                step(x, tf.constant(number, tf.int64))
        """,
        contract="exact",
    ),
    rewrites(
        "a method, and a counter of the object",
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self):
                    self.weight = tf.Variable(1.0)
                    self.steps = 0

                @tf.function
                def step(self, x, number):
                    tf.print(number)
                    return x * self.weight

                def fit(self):
                    for x in tf.ones([10]):
                        self.step(x, self.steps)
                        self.steps = self.steps + 1


            def main():
                trainer = Trainer()
                trainer.fit()


            main()
        """,
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self):
                    self.weight = tf.Variable(1.0)
                    self.steps = 0

                @tf.function
                def step(self, x, number):
                    tf.print(number)
                    return x * self.weight

                def fit(self):
                    for x in tf.ones([10]):
                        self.step(x, tf.constant(self.steps))
                        self.steps = self.steps + 1


            def main():
                trainer = Trainer()
                trainer.fit()


            main()
        """,
        contract="exact",
        shapes=(),
    ),
    offers(
        "dropout began anew at each trace",
        HEAD
        + """
            @tf.function
            def step(x, number):
                return tf.nn.dropout(model(x), 0.5) * tf.cast(number, tf.float32)

            for number, x in enumerate(data):
                step(x, number)
        """,
        contract="resampled",
        changes="a dropout the same mask",
    ),
)
