"""What becomes of a function when it is traced: how fast it is, and what no longer works.

    PYTHON benchmarks/measure_tracing.py speed|traps

It runs in an interpreter with TensorFlow 2. The numbers stand in `docs/measurements.md`.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, CALLS = 5, 60
X = tf.constant(np.random.RandomState(0).normal(size=(32, 16)).astype(np.float32))
Y = tf.reduce_sum(X, axis=1, keepdims=True)


def one_op() -> Callable[[], Any]:
    w = tf.Variable(0.1)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    return step


def by_hand() -> Callable[[], Any]:
    w, b = tf.Variable(tf.zeros([16, 1])), tf.Variable(tf.zeros([1]))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(X, w) + b - Y))
        first, second = tape.gradient(loss, [w, b])
        w.assign_sub(0.01 * first)
        b.assign_sub(0.01 * second)
        return loss

    return step


def with_keras(units: tuple[int, ...], optimizer: str) -> Callable[[], Any]:
    layers = [tf.keras.layers.Dense(n, activation="relu") for n in units]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    rule = tf.keras.optimizers.get(optimizer)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(X, training=True) - Y))
        gradients = tape.gradient(loss, model.trainable_variables)
        rule.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step


def milliseconds(step: Callable[[], Any]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        step()
    return 1e3 * (time.perf_counter() - start) / CALLS


def speed() -> None:
    made: dict[str, Callable[[], Any]] = {
        "one op": one_op,
        "linear, by hand": by_hand,
        "linear, Keras, SGD": lambda: with_keras((), "sgd"),
        "two layers, Keras, Adam": lambda: with_keras((32, 32), "adam"),
    }
    print("| step | eager | compiled | times as fast | first call |\n|---|---|---|---|---|")
    for name, make in made.items():
        eager, compiled = make(), tf.function(make())
        eager()
        start = time.perf_counter()
        compiled()
        first = 1e3 * (time.perf_counter() - start)
        times = [(milliseconds(eager), milliseconds(compiled)) for _ in range(ROUNDS)]
        slow, fast = (float(np.median(one)) for one in zip(*times, strict=True))
        print(f"| {name} | {slow:.2f} ms | {fast:.2f} ms | {slow / fast:.1f} | {first:.0f} ms |")


class Private:
    """An object with a name of its own that a trace does not find."""

    def __init__(self) -> None:
        self.__weight = tf.Variable(1.0)

    def step(self, x: Any) -> Any:
        return self.__weight * x


def traps() -> None:
    """Functions that work eagerly, each called as it is and compiled."""
    pair = tf.constant([1.0, 2.0])
    models = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(2)]
    optimizers = [tf.keras.optimizers.Adam() for _ in range(2)]
    weight = tf.Variable(1.0)

    def unpacks(x: Any) -> Any:
        first, second = x
        return first + second

    def update(index: int) -> Any:
        with tf.GradientTape() as tape:
            loss = weight * weight
        optimizers[index].apply_gradients([(tape.gradient(loss, weight), weight)])

    tried: list[tuple[str, Callable[..., Any], list[Any]]] = [
        ("a tensor is unpacked", unpacks, [pair]),
        ("`tf.constant` of tensors", lambda x: tf.constant([x[0], x[1]]), [pair]),
        ("`tf.convert_to_tensor` of tensors", lambda x: tf.convert_to_tensor([x[0], x[1]]), [pair]),
        ("a type given as a name", lambda x: tf.sqrt(x, tf.float32), [pair]),
        ("a name with two underscores", Private().step, [pair]),
        ("the shape of a mask", lambda x: tf.boolean_mask(x, x > 1).shape[0] + 1, [pair]),
        ("a second model in a second trace", lambda i: models[i](tf.ones([2, 3])), [0, 1]),
        ("a second optimizer in a second trace", update, [0, 1]),
    ]
    print("| function | eager | compiled |\n|---|---|---|")
    for name, function, given in tried:
        print(f"| {name} | {outcome(function, given)} | {outcome(tf.function(function), given)} |")
    numbers = tf.function(tf.constant)
    kinds = [numbers(one).dtype.name for one in (1, 1.0, True)]
    print(f"| a constant of 1, 1.0, True | int32, float32, bool | {', '.join(kinds)} |")


def outcome(function: Callable[..., Any], given: list[Any]) -> str:
    try:
        for one in given:
            function(one)
    except (TypeError, ValueError, AttributeError, tf.errors.OpError) as error:
        return type(error).__name__
    return "works"


if __name__ == "__main__":
    {"speed": speed, "traps": traps}[sys.argv[1]]()
