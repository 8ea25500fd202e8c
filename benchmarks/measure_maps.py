"""What changes when a map runs its function for several elements at a time, and what it gains.

    PYTHON benchmarks/measure_maps.py bits|errors|draws|seeds|first|eagerly

`docs/measurements.md` says what came out. Runs in TensorFlow 1.15 and in 2.x. `first` is the time
of `next(iter(ds))` against one iterator, `eagerly` a Keras model with and without `run_eagerly`.
"""

import sys
import time

import numpy as np
import tensorflow as tf

V1 = tf.__version__.startswith("1")
AUTOTUNE = tf.data.experimental.AUTOTUNE
LAYERS = tf.keras.layers


def worked_over(x):
    for _ in range(6):
        x = tf.image.resize(x, [64, 64])
    return tf.image.per_image_standardization(x)


def reduced(x):
    norm = tf.linalg.norm(x)
    return tf.reduce_sum(tf.sin(x) * tf.exp(x)), tf.reduce_mean(x, axis=[0, 1]), norm


def multiplied(x):
    return tf.matmul(tf.reshape(x, [24, 72]), tf.reshape(x, [72, 24]))


def convolved(x):
    return tf.nn.conv2d(x[None], tf.ones([3, 3, 3, 8]), strides=1, padding="SAME")


FUNCTIONS = (lambda x: x / 255.0, multiplied, reduced, convolved, worked_over)


def elements(dataset):
    found = []
    for element in dataset:
        parts = element if isinstance(element, tuple) else (element,)
        found += [part.numpy() for part in parts]
    return found


def bits():
    images = np.random.RandomState(0).rand(512, 24, 24, 3).astype(np.float32)
    for number, function in enumerate(FUNCTIONS):
        times, results = {None: [], AUTOTUNE: []}, []
        for _ in range(4):
            for calls in (None, AUTOTUNE):
                dataset = tf.data.Dataset.from_tensor_slices(images)
                dataset = dataset.map(function, num_parallel_calls=calls).batch(32)
                start = time.perf_counter()
                results.append(elements(dataset))
                times[calls].append(time.perf_counter() - start)
        same = all(
            np.array_equal(a, b)
            for one in results
            for a, b in zip(results[0], one)  # noqa: B905
        )
        print(number, "same" if same else "DIFFERENT", min(times[None]) / min(times[AUTOTUNE]))


def failing(x):
    with tf.control_dependencies([tf.debugging.assert_none_equal(x % 7, tf.constant(5, tf.int64))]):
        return tf.identity(x) * 2


def one_of(iterator):
    try:
        return np.asarray(next(iterator)).tolist()
    except StopIteration:
        return "end"
    except tf.errors.OpError as error:
        return type(error).__name__


def taken(dataset):
    """The elements and errors of an iterator, also after an error."""
    iterator = iter(dataset)
    return [one_of(iterator) for _ in range(60)]


def errors():
    for batch in (0, 4):
        for ignored in (False, True):
            found = []
            for calls in (None, AUTOTUNE, 2):
                dataset = tf.data.Dataset.range(30).map(failing, num_parallel_calls=calls)
                dataset = dataset.batch(batch) if batch else dataset
                if ignored:
                    dataset = dataset.apply(tf.data.experimental.ignore_errors())
                found.append(taken(dataset))
            print("batch", batch, "ignored", ignored, found[0] == found[1] == found[2])


def draws():
    set_seed = tf.compat.v1.set_random_seed if V1 else tf.random.set_seed
    for seed in (None, 3):
        found = []
        for calls in (None, None, AUTOTUNE):
            set_seed(1)
            dataset = tf.data.Dataset.range(2000).map(
                lambda _, seed=seed: tf.random.uniform([], seed=seed), num_parallel_calls=calls
            )
            found.append([float(x) for x in dataset])
        print("op seed", seed, "twice", found[0] == found[1], "parallel", found[0] == found[2])


def seeds():
    found = []
    for calls in (None, AUTOTUNE):
        with tf.Graph().as_default() as graph:
            tf.compat.v1.set_random_seed(1)
            dataset = tf.compat.v1.data.Dataset.range(5)
            dataset = dataset.map(lambda x: x * 2, num_parallel_calls=calls)
            tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
            draw = tf.random.normal([3])
            with tf.compat.v1.Session() as sess:
                found.append((len(graph.get_operations()), sess.run(draw).tolist()))
    print(found, found[0][1] == found[1][1])


def first():
    rows = np.zeros((20000, 10), np.float32)
    for buffer in (0, 1000, 20000):
        dataset = tf.data.Dataset.from_tensor_slices(rows)
        dataset = dataset.shuffle(buffer) if buffer else dataset
        dataset = dataset.batch(32, drop_remainder=True)
        next(iter(dataset))
        start = time.perf_counter()
        for _ in range(20):
            next(iter(dataset))
        anew = (time.perf_counter() - start) / 20
        iterator = iter(dataset.repeat())
        next(iterator)
        start = time.perf_counter()
        for _ in range(200):
            next(iterator)
        once = (time.perf_counter() - start) / 200
        print(
            "shuffle", buffer, f"{anew * 1e3:.2f} ms, {once * 1e3:.3f} ms, {anew / once:.0f} times"
        )


MODELS = {
    "dense": lambda: [LAYERS.Dense(32, activation="relu"), LAYERS.Dense(1)],
    "batch norm": lambda: [LAYERS.Dense(32), LAYERS.BatchNormalization(), LAYERS.Dense(1)],
    "lstm": lambda: [LAYERS.Reshape((5, 2)), LAYERS.LSTM(8), LAYERS.Dense(1)],
    "dropout": lambda: [LAYERS.Dense(32), LAYERS.Dropout(0.3), LAYERS.Dense(1)],
    "seeded dropout": lambda: [LAYERS.Dense(32), LAYERS.Dropout(0.3, seed=4), LAYERS.Dense(1)],
    "noise": lambda: [LAYERS.GaussianNoise(0.3), LAYERS.Dense(1)],
}


def trained(layers, eagerly):
    tf.keras.backend.clear_session()
    np.random.seed(3)
    (tf.compat.v1.set_random_seed if V1 else tf.keras.utils.set_random_seed)(3)
    x = np.random.RandomState(0).randn(256, 10).astype(np.float32)
    model = tf.keras.Sequential(layers())
    model.compile("adam", "mse", run_eagerly=eagerly)
    start = time.perf_counter()
    model.fit(x, x.sum(1, keepdims=True), epochs=3, batch_size=32, verbose=0)
    took = time.perf_counter() - start
    return took, np.concatenate([value.ravel() for value in model.get_weights()])


def eagerly():
    for name, layers in MODELS.items():
        (_, one), (_, again), (_, graph) = (trained(layers, how) for how in (True, True, False))
        apart = np.abs(one - graph).max()
        print(name, "twice", np.array_equal(one, again), f"eager and graph {apart:.2g} apart")


if __name__ == "__main__":
    what = sys.argv[1]
    if V1 and what != "seeds":
        tf.compat.v1.enable_eager_execution()
    print(tf.__version__)
    {
        "bits": bits,
        "errors": errors,
        "draws": draws,
        "seeds": seeds,
        "first": first,
        "eagerly": eagerly,
    }[what]()
