"""What TFR205 and TFR206 go by: the cost of constants and of host reads in eager loops.

    PYTHON benchmarks/measure_eager_loops.py constants|reads|sums

`constants`: the time to make a tensor op by op, and of a product with a number and with a tensor.
`reads`: compiled steps whose loss is read in each step, at the end, or never.
`sums`: what a sum of losses is, by how they are read and added.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

ROUNDS = 9
STEPS = 200


def microseconds(body: Callable[[], object], turns: int) -> float:
    """The time of one turn, the median over rounds."""
    for _ in range(turns // 10 + 1):
        body()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(turns):
            body()
        times.append((time.perf_counter() - start) / turns * 1e6)
    return statistics.median(times)


def constants() -> None:
    array = np.random.RandomState(0).rand(1000, 784)
    single = array.astype(np.float32)
    x, two = tf.ones([64, 64]), tf.constant(2.0)
    bodies: dict[str, tuple[Callable[[], object], int]] = {
        "tf.constant(2.0)": (lambda: tf.constant(2.0), 2000),
        "tf.constant([1., 2., 3.])": (lambda: tf.constant([1.0, 2.0, 3.0]), 2000),
        "tf.zeros([64, 32])": (lambda: tf.zeros([64, 32]), 2000),
        "tf.ones([64, 1])": (lambda: tf.ones([64, 1]), 2000),
        "tf.range(64)": (lambda: tf.range(64), 2000),
        "tf.cast(3, tf.float32)": (lambda: tf.cast(3, tf.float32), 2000),
        "tf.one_hot([1, 2, 3], 10)": (lambda: tf.one_hot([1, 2, 3], 10), 2000),
        "tf.constant(float32, 1000 x 784)": (lambda: tf.constant(single), 100),
        "tf.cast(float64, 1000 x 784)": (lambda: tf.cast(array, tf.float32), 100),
        "x * 2.0": (lambda: x * 2.0, 2000),
        "x * two": (lambda: x * two, 2000),
        "two.numpy()": (two.numpy, 2000),
        "float(two)": (lambda: float(two), 2000),
    }
    for name, (body, turns) in bodies.items():
        print(f"{name:34} {microseconds(body, turns):8.2f} us")


WAYS: dict[str, Callable[[Callable[[], tf.Tensor]], object]] = {
    "each step": lambda step: [float(step()) for _ in range(STEPS)],
    "at the end": lambda step: [float(one) for one in [step() for _ in range(STEPS)]],
    "never": lambda step: [step() for _ in range(STEPS)],
}


def compiled_step(units: int, layers: int, batch: int) -> Callable[[], tf.Tensor]:
    dense = [tf.keras.layers.Dense(units, activation="relu") for _ in range(layers)]
    model = tf.keras.Sequential([*dense, tf.keras.layers.Dense(1)])
    model.build((None, 32))
    optimizer = tf.keras.optimizers.SGD(0.01)
    inputs, targets = tf.random.normal((batch, 32)), tf.random.normal((batch, 1))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - model(x)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return lambda: step(inputs, targets)


def reads() -> None:
    for units, layers, batch in ((8, 1, 8), (64, 2, 64), (512, 3, 256)):
        step = compiled_step(units, layers, batch)
        step()
        times: dict[str, list[float]] = {name: [] for name in WAYS}
        for turn in range(ROUNDS):
            for name in WAYS if turn % 2 else reversed(WAYS):
                start = time.perf_counter()
                WAYS[name](step)
                times[name].append((time.perf_counter() - start) / STEPS * 1e6)
        told = {name: f"{statistics.median(found):.1f}" for name, found in times.items()}
        print(f"units {units}, layers {layers}, batch {batch}: us a step, read {told}")


def sums() -> None:
    losses = [tf.constant(value) for value in np.random.RandomState(1).rand(1000).astype("f")]
    by_float, by_numpy, by_tensor = 0.0, 0.0, 0.0
    for loss in losses:
        by_float += float(loss)
        by_numpy += loss.numpy()
        by_tensor += loss
    at_end = 0.0
    for value in [float(loss) for loss in losses]:
        at_end += value
    stacked = tf.reduce_sum(tf.stack(losses))
    print("float()", type(by_float).__name__, repr(by_float))
    print("numpy()", type(by_numpy).__name__, repr(float(by_numpy)))
    print("tensors", type(by_tensor).__name__, repr(float(by_tensor)))
    print("floats, kept and added at the end", type(at_end).__name__, repr(at_end))
    print("reduce_sum", repr(float(stacked)))
    means = {
        "np.mean of numpy()": np.mean([loss.numpy() for loss in losses]),
        "np.mean of float()": np.mean([float(loss) for loss in losses]),
        "np.mean of tensors": np.mean(losses),
        "tf.reduce_mean": tf.reduce_mean(losses),
    }
    for name, mean in means.items():
        print(name, type(mean).__name__, repr(float(mean)))


if __name__ == "__main__":
    print("TensorFlow", tf.__version__, "numpy", np.__version__)
    {"constants": constants, "reads": reads, "sums": sums}[sys.argv[1]]()
