"""What becomes of a function when it is traced: how fast it is, and what no longer works.

    PYTHON benchmarks/measure_tracing.py speed|small|traps

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


def ops(count: int) -> Callable[[], Any]:
    def call() -> Any:
        x = X
        for turn in range(count):
            x = tf.tanh(x) if turn % 2 else x * 0.5
        return x

    return call


def layers(count: int) -> Callable[[], Any]:
    made = [tf.keras.layers.Dense(16, activation="relu") for _ in range(count)]

    def call() -> Any:
        x = X
        for layer in made:
            x = layer(x)
        return x

    return call


def evaluation(count: int) -> Callable[[], Any]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(16) for _ in range(count)])
    error, mean = tf.keras.losses.MeanSquaredError(), tf.keras.metrics.Mean()

    def call() -> None:
        mean.update_state(error(X, model(X, training=False)))

    return call


def targets(count: int) -> Callable[[], Any]:
    pairs = [(tf.Variable(tf.ones([16, 16])), tf.Variable(tf.ones([16, 16]))) for _ in range(count)]

    def call() -> None:
        for old, new in pairs:
            old.assign(0.9 * old + 0.1 * new)

    return call


def small() -> None:
    """From where on a function without a tape is faster compiled, and after how many calls."""
    made = {f"{count} ops": ops(count) for count in (1, 4, 8, 10, 12, 16, 24)}
    made |= {f"{count} Dense": layers(count) for count in (1, 2)}
    made |= {f"{count} variables updated": targets(count) for count in (1, 2, 4)}
    made["model, loss, metric"] = evaluation(1)
    print(
        "| function | eager | compiled | times as fast | calls to make up |\n|---|---|---|---|---|"
    )
    for name, eager in made.items():
        eager()
        compiled = tf.function(eager)
        start = time.perf_counter()
        compiled()
        first = 1e3 * (time.perf_counter() - start)
        times = [(milliseconds(eager), milliseconds(compiled)) for _ in range(ROUNDS)]
        slow, fast = (float(np.median(one)) for one in zip(*times, strict=True))
        calls = f"{first / (slow - fast):.0f}" if slow > fast else "never"
        print(f"| {name} | {slow:.3f} ms | {fast:.3f} ms | {slow / fast:.1f} | {calls} |")


class Held:
    """An object with a compiled method."""

    def __init__(self) -> None:
        self.weight = tf.Variable(1.0)

    def eager(self, x: Any) -> Any:
        return self.weight * x

    compiled = tf.function(eager)


def unpacks(x: Any) -> Any:
    first, second = x
    return first + second


def another_model() -> Callable[..., Any]:
    models = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(2)]
    return lambda index: models[index](tf.ones([2, 3]))


def another_optimizer() -> Callable[..., Any]:
    optimizers = [tf.keras.optimizers.Adam() for _ in range(2)]
    weight = tf.Variable(1.0)

    def update(index: int) -> None:
        with tf.GradientTape() as tape:
            loss = weight * weight
        optimizers[index].apply_gradients([(tape.gradient(loss, weight), weight)])

    return update


def traps() -> None:
    """Functions that work eagerly, each made anew, called as it is and compiled."""
    pair = tf.constant([1.0, 2.0])
    tried: list[tuple[str, Callable[[], Callable[..., Any]], list[Any]]] = [
        ("a tensor is unpacked", lambda: unpacks, [pair]),
        ("`tf.constant` of a tensor", lambda: tf.constant, [pair]),
        ("`tf.convert_to_tensor`", lambda: lambda x: tf.convert_to_tensor([x, x]), [pair]),
        ("a type given as a name", lambda: lambda x: tf.sqrt(x, tf.float32), [pair]),
        ("a shape", lambda: lambda x: tf.boolean_mask(x, x > 1).shape[0] + 1, [pair]),
        ("a second model in a second trace", another_model, [0, 1]),
        ("a second optimizer in a second trace", another_optimizer, [0, 1]),
    ]
    print("| function | eager | compiled |\n|---|---|---|")
    for name, make, given in tried:
        print(f"| {name} | {outcome(make(), given)} | {outcome(tf.function(make()), given)} |")
    eager = outcome(lambda x: Held().eager(x), [pair])
    print(
        f"| nobody holds the object | {eager} | {outcome(lambda x: Held().compiled(x), [pair])} |"
    )
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
    {"speed": speed, "small": small, "traps": traps}[sys.argv[1]]()
