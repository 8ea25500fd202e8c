"""What `predict` and `fit` of one batch give and cost, beside the calls that may take their place.

    PYTHON benchmarks/measure_keras.py predict|kinds|rows|fit|unbuilt|streams|times

Runs in an interpreter with TensorFlow 2, Keras 2 or 3. Each line says how many trials were the same
to the bit, or how far they were apart.
"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow import keras

layers = keras.layers
TRIALS = 20
STEPS = 12


def network(kind):
    """The shape of a row, and the layers of a small network."""
    return {
        "dense": ((4,), [layers.Dense(24, "relu"), layers.Dense(24, "relu"), layers.Dense(2)]),
        "batch norm, dropout": (
            (20,),
            [layers.Dense(32), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(2)],
        ),
        "convolution": (
            (12, 12, 1),
            [layers.Conv2D(8, 3, activation="relu"), layers.Flatten(), layers.Dense(2)],
        ),
        "lstm": ((7, 5), [layers.LSTM(16), layers.Dense(2)]),
        "generator": (
            (100,),
            [layers.Dense(256), layers.LeakyReLU(), layers.Dense(784, activation="tanh")],
        ),
    }[kind]


KINDS = ("dense", "batch norm, dropout", "convolution", "lstm", "generator")


def built(kind, optimizer="adam"):
    keras.utils.set_random_seed(2)
    shape, parts = network(kind)
    model = keras.Sequential([keras.Input(shape), *parts])
    model.compile(loss="mse", optimizer=optimizer)
    return model, shape


def same(left, right):
    pairs = zip(tf.nest.flatten(left), tf.nest.flatten(right), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def predict():
    for kind in KINDS:
        model, shape = built(kind)
        compiled = tf.function(lambda x, model=model: model(x, training=False))
        for rows in (1, 7, 32):
            counts = dict.fromkeys(("predict_on_batch", "call", "compiled call"), 0)
            for trial in range(TRIALS):
                x = np.random.RandomState(trial).randn(rows, *shape).astype(("f4", "f8")[trial % 2])
                wanted = model.predict(x, verbose=0)
                got = model.predict_on_batch(x)
                assert type(got) is np.ndarray
                assert got.flags.writeable
                assert not np.shares_memory(got, x)
                counts["predict_on_batch"] += same(wanted, got)
                counts["call"] += same(wanted, model(x.astype("f4"), training=False).numpy())
                counts["compiled call"] += same(wanted, compiled(tf.constant(x, "float32")).numpy())
            print(kind, rows, {name: f"{count} of {TRIALS}" for name, count in counts.items()})


def kinds():
    class Scaled(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = layers.Dense(4)

        def call(self, x):
            return self.out(tf.cast(x, tf.float32) / 255.0)

    for model in (built("dense")[0], Scaled()):
        for dtype in "float16 float32 float64 int32 int64 uint8 bool".split():
            x = (np.random.RandomState(0).rand(3, 4) * 250).astype(dtype)
            wanted, got = model.predict(x, verbose=0), model.predict_on_batch(x)
            print(type(model).__name__, dtype, wanted.dtype == got.dtype and same(wanted, got))


def rows():
    for kind in KINDS:
        model, shape = built(kind)
        for count in (33, 64, 100, 512):
            worst = 0.0
            for trial in range(5):
                x = np.random.RandomState(trial).randn(count, *shape).astype("float32")
                apart = np.abs(model.predict(x, verbose=0) - model.predict_on_batch(x))
                worst = max(worst, float(apart.max()))
            print(f"{kind}, {count} rows: at most {worst:.1e} apart")


def decaying():
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)
    return keras.optimizers.SGD(rate, momentum=0.9)


def averaging():
    return keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)


def trained(kind, count, how, optimizer):
    model, shape = built(kind, optimizer)
    stream, seen = np.random.RandomState(7), []
    for _ in range(STEPS):
        x = stream.randn(count, *shape)
        y = stream.randn(count, *model.compute_output_shape((count, *shape))[1:])
        if how == "train_on_batch":
            model.train_on_batch(x, y)
        else:
            model.fit(x, y, epochs=1, verbose=0, shuffle=how != "fit, not shuffled")
        seen.append((np.random.rand(), float(tf.random.normal(()))))
    return model.get_weights(), seen


def compared(kind, count, how, optimizer):
    wanted = trained(kind, count, how, optimizer())
    got = trained(kind, count, "train_on_batch", optimizer())
    apart = max(float(np.abs(a - b).max()) for a, b in zip(wanted[0], got[0], strict=True))
    return f"weights {apart:.1e} apart, the streams of others {same(wanted[1], got[1])}"


def fit():
    for kind in KINDS[:4]:
        for optimizer in (lambda: "adam", decaying):
            for count, how in ((1, "fit"), (16, "fit, not shuffled"), (16, "fit")):
                print(f"{kind}, {count} rows, {how}: {compared(kind, count, how, optimizer)}")
    print("use_ema, 1 row:", compared("dense", 1, "fit", averaging))


def unbuilt():
    for dtype in ("float32", "float64", "int64", "uint8"):
        x = (np.random.RandomState(1).rand(1, 6) * 40).astype(dtype)
        found = []
        for on_batch in (False, True):
            keras.utils.set_random_seed(4)
            model = keras.Sequential(
                [layers.Dense(8, "relu"), layers.Dropout(0.2), layers.Dense(2)]
            )
            model.compile("adam", "mse")
            for _ in range(3):
                if on_batch:
                    found.append(model.predict_on_batch(x))
                    model.train_on_batch(x, np.ones((1, 2)))
                else:
                    found.append(model.predict(x, verbose=0))
                    model.fit(x, np.ones((1, 2)), verbose=0)
            found.append(model.get_weights())
        half = len(found) // 2
        print("a model without a shape,", dtype, same(found[:half], found[half:]))


def streams():
    def stateful():
        return [layers.LSTM(5, stateful=True), layers.Dense(1)]

    def random():
        return [layers.Dense(9), layers.Lambda(lambda v: v + tf.random.normal(tf.shape(v)))]

    for parts in (stateful, random):
        found = []
        for on_batch in (False, True):
            keras.utils.set_random_seed(3)
            model = keras.Sequential([keras.Input(batch_shape=(2, 3, 4)), *parts()])
            stream = np.random.RandomState(1)
            for _ in range(4):
                x = stream.rand(2, 3, 4)
                found.append(model.predict_on_batch(x) if on_batch else model.predict(x, verbose=0))
        print(parts.__name__, same(found[:4], found[4:]))


def timed(function, calls):
    function()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return f"{1e3 * best:.2f} ms"


def times():
    for kind in KINDS:
        model, shape = built(kind)
        x = np.random.rand(1, *shape)
        y = np.random.rand(*model.predict_on_batch(x).shape)
        calls(kind, model, x, y)


def calls(kind, model, x, y):
    compiled = tf.function(lambda x: model(x, training=False))
    print(kind, "predict", timed(lambda: model.predict(x, verbose=0), 15))
    print(kind, "predict_on_batch", timed(lambda: model.predict_on_batch(x), 100))
    print(kind, "call", timed(lambda: model(x, training=False).numpy(), 50))
    print(kind, "compiled", timed(lambda: compiled(tf.constant(x, "float32")).numpy(), 100))
    print(kind, "fit", timed(lambda: model.fit(x, y, verbose=0), 15))
    print(kind, "train_on_batch", timed(lambda: model.train_on_batch(x, y), 60))


if __name__ == "__main__":
    print(tf.__version__)
    {
        "predict": predict, "kinds": kinds, "rows": rows, "fit": fit, "unbuilt": unbuilt,
        "streams": streams, "times": times,
    }[sys.argv[1]]()  # fmt: skip
