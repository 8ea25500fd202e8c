"""What changes with XLA, with several batches at once, and in half precision; and what it gains.

    PYTHON benchmarks/measure_settings.py ops|layers|draws|steps|together|mixed|times|mixed_times

`docs/measurements.md` says what came out. Runs in TensorFlow 2.10 and later, on Keras 2 and 3.
`ops`, `layers`, `draws` and `steps` hold a compiled function against the same one with XLA,
`together` holds `fit` against `fit` with several steps per execution, and `mixed` against one in
half precision. `times` takes the two of a kind in turn, ten times, `mixed_times` three times.
"""

import random
import statistics
import sys
import time

import numpy as np
import tensorflow as tf

K, L = tf.keras, tf.keras.layers
VERSION = tuple(int(part) for part in tf.__version__.split(".")[:2])
XLA = {"jit_compile" if VERSION >= (2, 5) else "experimental_compile": True}
RNG = np.random.RandomState(0)
ROWS = RNG.rand(64, 12).astype(np.float32)
IMAGES = RNG.rand(64, 16, 16, 3).astype(np.float32)
SERIES = RNG.rand(8, 5, 6).astype(np.float32)
WORDS = RNG.randint(0, 50, (64, 9))
LABELS = RNG.randint(0, 4, 64)

OPS = {
    "clip_by_norm": lambda x: tf.clip_by_norm(x, 1.0),
    "clip_by_global_norm": lambda x: tf.clip_by_global_norm([x], 1.0)[0],
    "gather": lambda x: tf.gather(x, [1, 2, 2]),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "where": lambda x: tf.where(x > 0.5, x, 0.0),
    "where with one argument": lambda x: tf.where(x > 0.5),
    "boolean_mask": lambda x: tf.boolean_mask(x, x[:, 0] > 0.5),
    "unique": lambda x: tf.unique(tf.argmax(x, 1))[0],
    "reduce_logsumexp": lambda x: tf.reduce_logsumexp(x, 1),
    "math.cumsum": tf.math.cumsum,
    "math.reduce_std": tf.math.reduce_std,
    "math.segment_sum": lambda x: tf.math.segment_sum(x, tf.range(64) // 2),
    "nn.softmax": tf.nn.softmax,
    "nn.gelu": tf.nn.gelu,
    "nn.moments": lambda x: tf.nn.moments(x, [0])[1],
    "nn.embedding_lookup": lambda x: tf.nn.embedding_lookup(x, [1, 2, 2]),
    "image.resize": lambda x: tf.image.resize(tf.reshape(x, [4, 8, 8, 3]), [4, 4]),
}
DRAWS = {
    "random.normal": lambda x: tf.random.normal([64, 12]) + x,
    "random.normal, seed": lambda x: tf.random.normal([64, 12], seed=4) + x,
    "random.uniform": lambda x: tf.random.uniform([64, 12]) + x,
    "random.shuffle": tf.random.shuffle,
    "random.stateless_normal": lambda x: tf.random.stateless_normal([64, 12], [1, 2]) + x,
    "random.gamma": lambda x: tf.random.gamma([12], 2.0) * x,
    "nn.dropout": lambda x: tf.nn.dropout(x, 0.5),
    "nn.dropout, seed": lambda x: tf.nn.dropout(x, 0.5, seed=4),
}
LAYERS = {
    "Dense": (lambda: L.Dense(4, "relu"), ROWS),
    "Conv1D": (lambda: L.Conv1D(4, 3), SERIES),
    "Conv2D": (lambda: L.Conv2D(4, 3, strides=2, padding="same"), IMAGES),
    "Conv2DTranspose": (lambda: L.Conv2DTranspose(4, 3, strides=2), IMAGES),
    "DepthwiseConv2D": (lambda: L.DepthwiseConv2D(3), IMAGES),
    "SeparableConv2D": (lambda: L.SeparableConv2D(4, 3), IMAGES),
    "MaxPooling2D": (L.MaxPooling2D, IMAGES),
    "AveragePooling2D": (lambda: L.AveragePooling2D(2), IMAGES),
    "GlobalMaxPooling2D": (L.GlobalMaxPooling2D, IMAGES),
    "UpSampling2D": (L.UpSampling2D, IMAGES),
    "UpSampling2D, bilinear": (lambda: L.UpSampling2D(interpolation="bilinear"), IMAGES),
    "BatchNormalization": (L.BatchNormalization, IMAGES),
    "LayerNormalization": (L.LayerNormalization, ROWS),
    "Embedding": (lambda: L.Embedding(50, 3, mask_zero=True), WORDS),
    "LSTM": (lambda: L.LSTM(4, return_sequences=True), SERIES),
    "GRU": (lambda: L.GRU(4), SERIES),
    "Bidirectional": (lambda: L.Bidirectional(L.GRU(4)), SERIES),
    "TimeDistributed": (lambda: L.TimeDistributed(L.Dense(4)), SERIES),
}
DRAWING_LAYERS = {
    "Dropout": (lambda: L.Dropout(0.5), ROWS),
    "Dropout, seed": (lambda: L.Dropout(0.5, seed=3), ROWS),
    "GaussianNoise": (lambda: L.GaussianNoise(0.5), ROWS),
    "LSTM with dropout": (lambda: L.LSTM(4, dropout=0.5), SERIES),
}


def started():
    K.backend.clear_session()
    random.seed(7)
    np.random.seed(7)
    tf.random.set_seed(7)


def apart(ours, theirs):
    """How far two structures are apart, each part against its largest number."""
    worst = 0.0
    for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        if one.shape != other.shape:
            return "other shapes"
        if one.size:
            largest = np.abs(one).max() or 1.0
            worst = max(worst, float(np.abs(one - other).max() / largest))
    return f"{worst:.1e}" if worst else "the same"


def said(error):
    """What went wrong, without the way to it: a trace tells that first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1 if lines[0].startswith("in user code") else 0][:80]


def held_against(name, make):
    """A function compiled with and without XLA; `make` gives what to compile and its arguments."""
    results = []
    for options in ({}, XLA):
        started()
        function, arguments = make()
        compiled = tf.function(function, **options)
        try:
            results.append([compiled(*arguments), compiled(*arguments)])
        except (tf.errors.OpError, ValueError, TypeError, NotImplementedError) as error:
            print(f"{name}: {'with' if options else 'without'} XLA: {said(error)!r}")
            return
    print(f"{name}: {apart(*results)}")


def with_gradient(function):
    def compute(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(tf.cos(tf.cast(y, tf.float32) * 3.0)) + 0.0 * tf.reduce_sum(x)
        return y, tf.convert_to_tensor(tape.gradient(loss, x))

    return compute


def ops():
    for name, function in OPS.items():
        held_against(name, lambda function=function: (with_gradient(function), [tf.constant(ROWS)]))


def layers():
    tried(LAYERS)


def tried(table):
    for name, (make, data) in table.items():

        def compiled(make=make, data=data):
            layer, x = make(), tf.constant(data)
            layer(x)

            def compute(x):
                with tf.GradientTape() as tape:
                    y = layer(x, training=True)
                    loss = tf.reduce_sum(tf.cos(y * 3.0))
                gradients = tape.gradient(loss, layer.trainable_variables)
                return y, [tf.convert_to_tensor(one) for one in gradients]

            return compute, [x]

        held_against(name, compiled)


def draws():
    for name, function in DRAWS.items():
        held_against(name, lambda function=function: (function, [tf.constant(ROWS)]))
    for kind in ("normal", "uniform"):

        def drawn(kind=kind):
            generator = tf.random.Generator.from_seed(5)
            return lambda x: getattr(generator, kind)([64, 12]) + x, [tf.constant(ROWS)]

        held_against(f"Generator.{kind}", drawn)
    tried(DRAWING_LAYERS)


NETS = {
    "dense, Adam": (lambda: [L.Dense(32, "relu"), L.Dense(32, "relu")], ROWS, "adam"),
    "dense, SGD": (lambda: [L.Dense(32, "relu"), L.Dense(32, "relu")], ROWS, "sgd"),
    "convolution": (
        lambda: [L.Conv2D(8, 3, activation="relu"), L.MaxPooling2D(), L.Flatten()],
        IMAGES,
        "adam",
    ),
    "batch norm": (
        lambda: [L.Conv2D(8, 3), L.BatchNormalization(), L.ReLU(), L.Flatten()],
        IMAGES,
        "adam",
    ),
    "LSTM": (lambda: [L.Embedding(50, 8), L.LSTM(16)], WORDS, "adam"),
    "dropout": (lambda: [L.Dense(32, "relu"), L.Dropout(0.5)], ROWS, "adam"),
}


def network(body, data, last=None):
    shape = data.shape[1:]
    inputs = K.Input(shape, dtype="int32" if data is WORDS else "float32")
    last = last or {}
    return K.Sequential([inputs, *body(), L.Dense(4, activation="softmax", **last)])


def step_of(name, options):
    body, data, optimizer = NETS[name]
    started()
    model = network(body, data)
    optimizer = K.optimizers.get(optimizer)
    loss_object = K.losses.SparseCategoricalCrossentropy()

    @tf.function(**options)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
        return loss

    return step, tf.constant(data), tf.constant(LABELS)


def steps():
    for name in NETS:
        losses = []
        for options in ({}, XLA):
            step, x, y = step_of(name, options)
            losses.append([float(step(x[i : i + 8], y[i : i + 8])) for i in range(0, 64, 8)])
        print(f"{name}: losses of 8 steps: {apart(*losses)}")


def fitted(name, *, at_once=1, data=None, epochs=3, policy="float32", last=None, **options):
    body, x, optimizer = NETS[name]
    started()
    K.mixed_precision.set_global_policy(policy)
    model = network(body, x, last)
    settings = {} if at_once == 1 else {"steps_per_execution": at_once}
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"], **settings)
    K.mixed_precision.set_global_policy("float32")
    given = {"x": x, "y": LABELS, "batch_size": 6} if data is None else {"x": data(x)}
    history = model.fit(**given, epochs=epochs, verbose=0, **options).history
    outputs = model.predict(x, verbose=0), model.evaluate(x, LABELS, verbose=0)
    return model, (history, model.get_weights(), int(model.optimizer.iterations), outputs)


def sliced(x):
    return tf.data.Dataset.from_tensor_slices((x, LABELS)).shuffle(64, seed=1).batch(6)


def compared(one, name, at_once, options):
    try:
        return f"{at_once}: {apart(one, fitted(name, at_once=at_once, **options)[1])}"
    except (ValueError, tf.errors.OpError) as error:
        return f"{at_once}: {str(error)[:50]!r}"


def together():
    kinds = {
        "a pipeline": {"data": sliced},
        "with a filter": {"data": lambda x: sliced(x).filter(lambda _, b: tf.shape(b)[0] > 0)},
        "repeated, 9 steps": {"data": lambda x: sliced(x).repeat(), "steps_per_epoch": 9},
        "with a validation": {"validation_data": (ROWS[:33], LABELS[:33])},
        "with class weights": {"class_weight": {0: 1.0, 1: 3.0, 2: 1.0, 3: 1.0}},
        "stopped early": {
            "validation_split": 0.3,
            "epochs": 20,
            "callbacks": [K.callbacks.EarlyStopping(patience=1)],
        },
    }
    runs = [(name, {}) for name in NETS]
    runs += [("dense, Adam", kind | {"_": name}) for name, kind in kinds.items()]
    for name, kind in runs:
        options = {key: value for key, value in kind.items() if key != "_"}
        _, one = fitted(name, **options)
        found = [compared(one, name, at_once, options) for at_once in (2, 3, 4, 50)]
        print(f"{name} {kind.get('_', '')}: {'; '.join(found)}")


def mixed():
    for name in NETS:
        _, one = fitted(name)
        model, other = fitted(name, policy="mixed_float16", last={"dtype": "float32"})
        losses = apart(one[0]["loss"], other[0]["loss"])
        outputs = apart(one[3][0], other[3][0])
        kind = type(model.optimizer).__name__
        print(f"{name}: losses {losses}, outputs {outputs}, {other[3][0].dtype}, {kind}")


def in_turn(name, first, second, unit, turns=10):
    """Two programs in turn; what each takes, and the first by the second."""
    taken = [[], []]
    for one in (first, second):
        one()
    for _ in range(turns):
        for times, run in zip(taken, (first, second), strict=True):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) / unit * 1e6)
    before, after = map(statistics.median, taken)
    ratio = statistics.median(a / b for a, b in zip(*taken, strict=True))
    print(f"{name}: {before:,.0f} and {after:,.0f} us, {ratio:.2f} times", flush=True)


def times():
    for name in NETS:
        runs = []
        for options in ({}, XLA):
            step, x, y = step_of(name, options)
            x, y = x[:32], y[:32]
            start = time.perf_counter()
            step(x, y)
            print(f"  first step {time.perf_counter() - start:.2f} s")
            runs.append(lambda step=step, x=x, y=y: [step(x, y) for _ in range(100)])
        in_turn(f"a step with XLA, {name}", *runs, 100)
    for name, (_, x, _) in NETS.items():
        x = np.concatenate([x] * 50)
        y = np.concatenate([LABELS] * 50)
        for kind, second in {
            "8 batches at once": {"at_once": 8},
            "32 batches at once": {"at_once": 32},
        }.items():
            models = [fitted(name, epochs=1)[0], fitted(name, epochs=1, **second)[0]]
            runs = [
                lambda model=model, x=x, y=y: model.fit(x, y, batch_size=32, verbose=0)
                for model in models
            ]
            in_turn(f"fit, {kind}, {name}", *runs, 100)


def mixed_times():
    for name, (_, x, _) in NETS.items():
        x = np.concatenate([x] * 5)
        y = np.concatenate([LABELS] * 5)
        half = {"policy": "mixed_float16", "last": {"dtype": "float32"}}
        models = [fitted(name, epochs=1)[0], fitted(name, epochs=1, **half)[0]]
        runs = [
            lambda model=model, x=x, y=y: model.fit(x, y, batch_size=32, verbose=0)
            for model in models
        ]
        in_turn(f"fit, half precision, {name}", *runs, 10, turns=3)


if __name__ == "__main__":
    print(tf.__version__)
    modes = (ops, layers, draws, steps, together, mixed, times, mixed_times)
    {mode.__name__: mode for mode in modes}[sys.argv[1]]()
