"""What changes when batches come from a pipeline and not from a feed: the bits, and the time.

    PYTHON benchmarks/measure_feeds.py graphs [GRAPHS FIRST_SEED]|steps|speed [known]

`docs/measurements.md` says what came out. Runs in TensorFlow 1.15 and in 2.x.
"""

import itertools
import random
import sys
import time
import zlib
from collections import Counter

import measure_merge as merge
import numpy as np
import tensorflow.compat.v1 as tf
from measure_merge import VERSION, Sources, State, grow, same_bits, session


class Piped:
    """Stands in for `tf.placeholder`: each call gives a tensor with a default from one iterator."""

    def __init__(self, shapes, dtype=tf.float32):
        shapes = [tf.TensorShape(shape) for shape in shapes]
        dtypes = tuple(dtype for _ in shapes)
        known = "known" in sys.argv
        told = shapes if known else [tf.TensorShape(None) for _ in shapes]
        self.iterator = tf.data.Iterator.from_structure(dtypes, tuple(told))
        self.left = list(self.iterator.get_next())
        self.shapes = shapes
        self.dtypes = dtypes

    def __call__(self, _, shape=None, name=None):
        if "known" in sys.argv:
            return tf.placeholder_with_default(self.left.pop(0), shape, name=name)
        made = tf.placeholder_with_default(self.left.pop(0), None, name=name)
        made.set_shape(shape)
        return made

    def start(self, values):
        """An op that makes the pipeline give some tuples of arrays."""
        data = tf.data.Dataset.from_generator(lambda: iter(values), self.dtypes, tuple(self.shapes))
        return self.iterator.make_initializer(data.prefetch(1))


def built(piped, make):
    """What `make` builds, with placeholders that are fed or have a default."""
    if piped is None:
        return make()
    real, tf.placeholder = tf.placeholder, piped
    try:
        return make()
    finally:
        tf.placeholder = real


def one_graph(trial, dynamic, with_pipeline):
    """The ends of a random graph, its gradients by the variables, and the kinds of its ops."""
    pick, rng = random.Random(trial), np.random.RandomState(trial)  # noqa: S311
    rows, columns = pick.choice([(8, 16), (5, 7), (64, 96)])
    with tf.Graph().as_default():
        shape = [None if dynamic else rows, columns]
        piped = Piped([shape] * 3) if with_pipeline else None

        def make():
            sources = Sources.__new__(Sources)
            sources.x, sources.p, sources.labels = (
                tf.placeholder(tf.float32, shape) for _ in range(3)
            )
            weights = rng.uniform(-0.5, 0.5, [columns, columns]).astype(np.float32)
            sources.w = tf.Variable(weights)
            sources.b = tf.Variable(rng.uniform(0.1, 0.5, [columns]).astype(np.float32))
            tensors = grow(sources, pick)
            end = pick.choice(tensors[3:])
            if pick.random() < 0.5:
                end = tf.reduce_mean(tf.square(end))
            gradients = [
                one for one in tf.gradients(end, [sources.w, sources.b]) if one is not None
            ]
            return sources, [end, *gradients]

        sources, ends = built(piped, make)
        values = (
            rng.uniform(0.5, 1.5, [rows, columns]).astype(np.float32),
            rng.uniform(0.5, 1.5, [rows, columns]).astype(np.float32),
            np.eye(columns, dtype=np.float32)[rng.randint(0, columns, rows)],
        )
        start = piped.start([values] * (len(ends) + 1)) if piped else tf.no_op()
        names = (sources.x, sources.p, sources.labels)
        sums = any(
            op.type in ("AddN", "AccumulateNV2") and len(op.inputs) > 2
            for op in tf.get_default_graph().get_operations()
        )
        with session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(start)
            feed = {} if piped else dict(zip(names, values))  # noqa: B905
            found = [sess.run(end, feed) for end in ends]
            found += sess.run(ends, feed)
        return found, sums


def compared(trial, dynamic):
    """Whether a graph gives the same fed and piped, and whether it holds a sum of a list."""
    fed, sums = one_graph(trial, dynamic, with_pipeline=False)
    piped, _ = one_graph(trial, dynamic, with_pipeline=True)
    return all(map(same_bits, fed, piped)), sums


def graphs(trials=600, start=0):
    table, examples = Counter(), []
    for trial, dynamic in itertools.product(range(start, start + trials), (False, True)):
        try:
            equal, sums = compared(trial, dynamic)
        except ValueError:
            continue  # a shape that has to be known
        found = "same"
        if not equal:
            again = [compared(trial, dynamic)[0] for _ in range(3)]
            found = "sometimes" if any(again) else "different"
            examples.append((trial, dynamic, found))
        table[sums, found] += 1
    print(f"\n### Random graphs and gradients, fed and piped (TensorFlow {VERSION})\n")
    print("| | same | different, four times | different once, and then not |\n|---|---|---|---|")
    for sums, name in ((True, "with an `AddN` of three or more"), (False, "without")):
        counts = [str(table[sums, found]) for found in ("same", "different", "sometimes")]
        print(f"| {name} | {' | '.join(counts)} |")
    print("not the same:", examples[:30])


def steps(count=10):
    losses = dict(merge.LOSSES, **merge.FORMULAS)
    kinds = ("linear", "cnn", "mlp relu", "mlp tanh", "mlp elu", "mlp sigmoid")
    total = Counter()
    for kind, name, resource, static in itertools.product(
        kinds, sorted(losses), (False, True), (False, True)
    ):
        results = []
        for with_pipeline in (False, True):
            with tf.Graph().as_default():
                tf.set_random_seed(1)
                batch = 32 if static else None
                piped = Piped([[batch, 64], [batch, 10]]) if with_pipeline else None

                def make(batch=batch, kind=kind, resource=resource, name=name):
                    x = tf.placeholder(tf.float32, [batch, 64])
                    y = tf.placeholder(tf.float32, [batch, 10])
                    loss = losses[name](y, merge.model(kind, x, resource))
                    return x, y, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)

                x, y, loss, train = built(piped, make)
                state, rng = State(), np.random.RandomState(0)
                values = [
                    (rng.normal(size=[32, 64]), np.eye(10)[rng.randint(0, 10, 32)])
                    for _ in range(count)
                ]
                start = piped.start(values) if piped else tf.no_op()
                with session() as sess:
                    sess.run(tf.global_variables_initializer())
                    if results:
                        state.set(sess, results[0][0])
                    first = state.get(sess)
                    sess.run(start)
                    found = []
                    for value in values:
                        feed = {} if piped else dict(zip((x, y), value))  # noqa: B905
                        found.append(sess.run([loss, train], feed)[0])
                        found += state.get(sess)
                results.append((first, found))
        equal = all(map(same_bits, results[0][1], results[1][1]))
        total[equal] += 1
        if not equal:
            print("different:", kind, name, resource, static)
    print(f"\n### Training steps, fed and piped (TensorFlow {VERSION})\n")
    print(f"{total[True]} configurations the same, {total[False]} different")
    sys.stdout.flush()


# ---- time --------------------------------------------------------------------------------------

ROWS, BATCH = 6000, 100
STEPS = 180  # of an epoch, which goes through the rows three times


def batches_of(kind, rng):
    width = 784 * (8 if kind == "large slices" else 1)
    images = rng.rand(ROWS, width).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.randint(10, size=ROWS)]
    pixels = (images[:, :784] * 16).astype(np.uint8).reshape([-1, BATCH, 784])
    packed = [zlib.compress(one.tobytes()) for one in pixels] if kind == "unpacked" else []

    def batch(i):
        first = i * BATCH % ROWS
        part = slice(first, first + BATCH)
        if kind == "drawn rows":
            part = rng.randint(ROWS, size=BATCH)
        if kind == "prepared row by row":
            rows = [np.roll(one.reshape(28, 28), i % 5, 1).ravel() for one in images[part]]
            return np.array(rows), labels[part]
        if kind == "unpacked":  # without the lock of the interpreter
            found = np.frombuffer(zlib.decompress(packed[first // BATCH]), np.uint8)
            return found.reshape([BATCH, 784]).astype(np.float32) / 16.0, labels[part]
        if kind == "waits for 4 ms":
            time.sleep(0.004)
        return images[part], labels[part]

    return (images, labels), batch


def sliced_by_ops(arrays):
    """Batches that ops take from the whole arrays, and what their pipeline is started with."""
    whole = [tf.placeholder(tf.float32, [None, array.shape[1]]) for array in arrays]
    starts = tf.data.Dataset.from_tensor_slices(np.arange(STEPS) * BATCH % ROWS)
    data = starts.map(lambda start: tuple(one[start : start + BATCH] for one in whole))
    return data, dict(zip(whole, arrays))  # noqa: B905


def weights_of(shape):
    """The same in each way, and small: with numbers that die away a step takes other times."""
    return tf.Variable(tf.random_normal(shape, stddev=shape[0] ** -0.5, seed=1))


def epochs(kind, hidden, way):
    """One epoch for each element that is asked for, in one of the ways of `speed`."""
    with tf.Graph().as_default():
        arrays, batch = batches_of(kind, np.random.RandomState(0))
        width = arrays[0].shape[1]
        shapes = [[None, width], [None, 10]]
        piped = Piped(shapes) if way in ("piped", "sliced by ops") else None

        def make():
            x, y = (tf.placeholder(tf.float32, shape) for shape in shapes)
            h, columns = x, width
            for size in [hidden, hidden] if hidden else []:
                h = tf.nn.relu(tf.matmul(h, weights_of([columns, size])))
                columns = size
            logits = tf.matmul(h, weights_of([columns, 10]))
            loss = tf.reduce_mean(
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits)
            )
            return x, y, [tf.train.GradientDescentOptimizer(1e-3).minimize(loss), loss]

        x, y, fetches = built(piped, make)

        def made():
            for i in range(STEPS):
                yield batch(i)

        given = {}
        if piped is not None:
            data = tf.data.Dataset.from_generator(made, piped.dtypes, tuple(piped.shapes))
            if way == "sliced by ops":
                data, given = sliced_by_ops(arrays)
            start = piped.iterator.make_initializer(data.prefetch(1))
        elif way == "fetched":
            data = tf.data.Dataset.from_generator(made, (tf.float32, tf.float32))
            iterator = data.prefetch(1).make_initializable_iterator()
            start, element = iterator.initializer, iterator.get_next()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            while True:
                if way == "fed":
                    for images, labels in made():
                        sess.run(fetches, {x: images, y: labels})
                    yield
                    continue
                sess.run(start, given)
                while True:
                    try:
                        taken = sess.run(element if way == "fetched" else fetches)
                    except tf.errors.OutOfRangeError:
                        break
                    if way == "fetched":
                        sess.run(fetches, dict(zip((x, y), taken)))  # noqa: B905
                yield


def speed(rounds=4):
    """Whole epochs in turns, so that what starts a pipeline counts.

    Batches are fed; given by a pipeline at the placeholder; taken from a pipeline by a run of its
    own and fed; or made by a pipeline that has no Python in it, where they are slices.
    """
    ways = ("fed", "piped", "fetched", "sliced by ops")
    head = [f"{way}, ms" + (" | times as fast" if way != "fed" else "") for way in ways]
    print(f"\n### Time of a step (TensorFlow {VERSION})\n")
    print(f"| batch | model | {' | '.join(head)} |\n{'|---' * 9}|")
    kinds = "slices|large slices|drawn rows|prepared row by row|unpacked|waits for 4 ms".split("|")
    for kind, hidden in itertools.product(kinds, (0, 256, 1024)):
        tried = ways if kind.endswith("slices") else ways[:3]
        running = [epochs(kind, hidden, way) for way in tried]
        times = [[] for _ in tried]
        for turn in range(rounds + 1):
            for one, taken in zip(running, times):  # noqa: B905
                began = time.perf_counter()
                next(one)
                if turn > 0:
                    taken.append((time.perf_counter() - began) / STEPS * 1e3)
        cells = [f"{np.median(times[0]):.2f}"]
        for taken in times[1:]:
            ratio = np.median([a / b for a, b in zip(times[0], taken)])  # noqa: B905
            cells += [f"{np.median(taken):.2f}", f"{ratio:.2f}"]
        cells += ["-"] * (7 - len(cells))
        model = f"{hidden} wide" if hidden else "linear"
        print(f"| {kind} | {model} | {' | '.join(cells)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    command = {"graphs": graphs, "steps": steps, "speed": speed}[sys.argv[1]]
    command(*(int(argument) for argument in sys.argv[2:] if argument != "known"))
