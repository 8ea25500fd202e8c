"""What depends on when a `tf.function` is traced: arguments, draws, bits, failures, loops.

    PYTHON benchmarks/measure_traces.py arguments|draws|numbers|failures|loops

`docs/measurements.md` says what came out. Runs in TensorFlow 2.x.
"""

import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

COUNTS = [*range(1, 40), *(0.1 * count + 0.03 for count in range(1, 40))]
RNG = np.random.RandomState(0)
X = tf.constant(RNG.normal(size=64).astype("f"))
Y = tf.abs(X) + 0.1
FORMULAS = {
    "x*p, x+p, p-x, x*p*p": lambda p: (X * p, X + p, p - X, X * p * p),
    "x/p": lambda p: X / p,
    "p/x": lambda p: p / X,
    "x**p": lambda p: Y**p,
    "x*(p*0.1)": lambda p: X * (p * 0.1),
    "x*0.9**p": lambda p: X * 0.9**p,
    "x*(1-0.999**p)": lambda p: X * (1 - 0.999**p),
    "x*cast(p), x*0.9**cast(p)": lambda p: (
        X * tf.cast(p, tf.float32),
        X * tf.pow(0.9, tf.cast(p, tf.float32)),
    ),
    "x/(cast(p)+1)": lambda p: X / (tf.cast(p, tf.float32) + 1.0),
}


def arguments():
    """How often a function is traced for three values of a sort."""
    for name, values in {
        "int": [1, 2, 3],
        "float": [1.0, 2.0, 3.0],
        "1, 1.0, True": [1, 1.0, True],
        "np.int64": [np.int64(one) for one in (1, 2, 3)],
        "np.float64": [np.float64(one) for one in (1, 2, 3)],
        "tensor": [tf.constant(one) for one in (1, 2, 3)],
    }.items():
        function = tf.function(lambda value: tf.cast(value, tf.float32) * 2)
        for value in values:
            function(value)
        print(name, function.experimental_get_tracing_count())


def draws():
    """What is drawn in three calls that trace anew, and in three that do not."""
    generator = tf.random.Generator.from_seed(1)
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    for name, draw in {
        "random.normal": lambda: tf.random.normal([2]),
        "random.normal with a seed": lambda: tf.random.normal([2], seed=3),
        "nn.dropout": lambda: tf.nn.dropout(tf.ones([8]), 0.5),
        "Generator": lambda: generator.normal([2]),
        "layers.Dropout": lambda: layer(tf.ones([8]), training=True),
    }.items():
        for how, made in {"traced": int, "once": tf.constant}.items():
            tf.random.set_seed(1)
            function = tf.function(lambda _, draw=draw: draw())
            drawn = [function(made(turn)).numpy().tobytes() for turn in range(3)]
            print(name, how, "different draws:", len(set(drawn)))


def numbers():
    """How far a Python number and a float32 tensor in its place are apart."""
    for name, formula in FORMULAS.items():
        same, worst = 0, 0.0
        for count in COUNTS:
            dtype = None if "cast" in name else tf.float32
            constant = tf.function(lambda f=formula, p=count: f(p))()
            fed = tf.function(formula)(tf.constant(count, dtype))
            one, other = np.array(constant), np.array(fed)
            same += np.array_equal(one, other)
            worst = max(worst, float(np.max(np.abs(one - other) / np.abs(one))))
        print(f"{name}: the same for {same} of {len(COUNTS)}, at worst {worst:.1e} apart")


def failures():
    """What the Python of a trace may not do."""
    variable, outer = tf.Variable(1.0), []

    def formatted(x):
        return tf.constant(f"{x:.2f}")

    def metric(x):
        mean = tf.keras.metrics.Mean()
        mean.update_state(x)
        return mean.result()

    for name, body in {
        "x.numpy()": lambda x: x.numpy(),
        "variable.numpy()": lambda x: x * variable.numpy(),
        "np.mean(x)": np.mean,
        "float(x)": lambda x: float(x) + 0.0,
        "f'{x:.2f}'": formatted,
        "a new variable": lambda x: x + tf.Variable(1.0),
        "a new metric": metric,
        "a tensor in a list outside": lambda x: outer.append(x) or x,
    }.items():
        print(name, outcome(lambda body=body: tf.function(body)(tf.constant(2.0))))
    print("that tensor, used outside,", outcome(lambda: outer[0] + 1.0))


def outcome(call):
    """How a call ends."""
    try:
        call()
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        return f"raises {type(error).__name__}"
    return "works"


def loops():
    """The first call and the later ones, with a loop of Python and one of TensorFlow."""
    turn = tf.constant(RNG.normal(size=(32, 32)).astype("f") / 8)

    def of(numbers_of, count):
        @tf.function
        def run(x):
            for _ in numbers_of(count):
                x = tf.tanh(tf.matmul(x, turn))
            return x

        return run

    for count in (10, 100, 1000):
        for name, numbers_of in {"range": range, "tf.range": tf.range}.items():
            function, x = of(numbers_of, count), tf.ones([8, 32])
            start = time.perf_counter()
            function(x)
            first = time.perf_counter() - start
            for _ in range(20):
                function(x)
            later = (time.perf_counter() - start - first) / 20
            print(f"{name}({count}): first {first:.2f} s, later {1e3 * later:.2f} ms")


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    {one.__name__: one for one in (arguments, draws, numbers, failures, loops)}[sys.argv[1]]()
