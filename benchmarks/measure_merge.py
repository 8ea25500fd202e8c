"""Measures when one `Session.run` in place of two changes bits. Runs in any TensorFlow interpreter.

    PYTHON benchmarks/measure_merge.py pairs     every op under every two consumers
    PYTHON benchmarks/measure_merge.py fuzz      random graphs, two fetches apart and together
    PYTHON benchmarks/measure_merge.py fed       sums of three, sharing a fed tensor alone
    PYTHON benchmarks/measure_merge.py fused     matmul/conv + bias + activation, with and without
    PYTHON benchmarks/measure_merge.py inner     runs that fail when a value from inside is fetched too
    PYTHON benchmarks/measure_merge.py updates   loss and update, merged against one after the other
    PYTHON benchmarks/measure_merge.py formulas  the same for losses written out and other layers
    PYTHON benchmarks/measure_merge.py races     reads that the update does not wait for

Plain Python 3.6+, numpy and TensorFlow. Each prints Markdown that goes into docs/measurements.md.
"""
# Python 3.6 syntax, and one function a table.
# ruff: noqa: PERF203, B023, B905, C401, E501, PLR0915, S311, UP004, UP031, E731, ARG005

import itertools
import os
import random
import sys
from collections import Counter

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

VERSION = tf.__version__
tf = tf.compat.v1
tf.logging.set_verbosity(tf.logging.ERROR)
if VERSION.startswith("2"):
    tf.disable_v2_behavior()

ROWS, COLUMNS = 8, 16


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def session(threads=2):
    return tf.Session(
        config=tf.ConfigProto(
            inter_op_parallelism_threads=threads, intra_op_parallelism_threads=threads
        )
    )


class Sources(object):
    """The leaves that the random graphs stand on."""

    def __init__(self, rng, rows=ROWS, columns=COLUMNS):
        self.x = tf.placeholder(tf.float32, [rows, columns])
        self.p = tf.placeholder(tf.float32, [rows, columns])
        self.labels = tf.placeholder(tf.float32, [rows, columns])
        self.w = tf.Variable(rng.uniform(-0.5, 0.5, [columns, columns]).astype(np.float32))
        self.b = tf.Variable(rng.uniform(0.1, 0.5, [columns]).astype(np.float32))
        self.feed = {
            self.x: rng.uniform(0.5, 1.5, [rows, columns]),
            self.p: rng.uniform(0.5, 1.5, [rows, columns]),
            self.labels: np.eye(columns)[rng.randint(0, columns, rows)],
        }


# name -> (build(sources, y), is it elementwise arithmetic?)
OPS = {
    "add_const": lambda s, y: y + 0.3,
    "sub_const": lambda s, y: y - 0.7,
    "rsub_const": lambda s, y: 1.7 - y,
    "mul_const": lambda s, y: y * 0.01,
    "div_const": lambda s, y: y / 20.0,
    "rdiv_const": lambda s, y: 3.0 / y,
    "add_tensor": lambda s, y: y + s.p,
    "sub_tensor": lambda s, y: y - s.p,
    "mul_tensor": lambda s, y: y * s.p,
    "div_tensor": lambda s, y: y / s.p,
    "rdiv_tensor": lambda s, y: s.p / y,
    "add_n": lambda s, y: tf.add_n([y, s.p, s.x]),
    "mul_self": lambda s, y: y * y,
    "add_self": lambda s, y: y + y,
    "add_vector": lambda s, y: y + s.b,
    "mul_vector": lambda s, y: y * s.b,
    "neg": lambda s, y: -y,
    "square": lambda s, y: tf.square(y),
    "sqrt": lambda s, y: tf.sqrt(y),
    "rsqrt": lambda s, y: tf.rsqrt(y),
    "reciprocal": lambda s, y: tf.reciprocal(y),
    "pow2": lambda s, y: tf.pow(y, 2.0),
    "pow3": lambda s, y: tf.pow(y, 3.0),
    "pow_half": lambda s, y: tf.pow(y, 0.5),
    "pow_minus": lambda s, y: tf.pow(y, -0.5),
    "squared_difference": lambda s, y: tf.squared_difference(y, s.p),
    "exp": lambda s, y: tf.exp(-tf.abs(y)),
    "log": lambda s, y: tf.log(y),
    "abs": lambda s, y: tf.abs(y),
    "maximum": lambda s, y: tf.maximum(y, 0.8),
    "relu": lambda s, y: tf.nn.relu(y),
    "leaky_relu": lambda s, y: tf.nn.leaky_relu(y),
    "elu": lambda s, y: tf.nn.elu(y),
    "tanh": lambda s, y: tf.tanh(y),
    "sigmoid": lambda s, y: tf.sigmoid(y),
    "softmax": lambda s, y: tf.nn.softmax(y),
    "bias_add": lambda s, y: tf.nn.bias_add(y, s.b),
    "matmul": lambda s, y: tf.matmul(y, s.w),
    "sum_rows": lambda s, y: tf.reduce_sum(y, 1, keepdims=True) + tf.zeros_like(y),
    "mean": lambda s, y: tf.reduce_mean(y),
    "sum": lambda s, y: tf.reduce_sum(y),
    "max": lambda s, y: tf.reduce_max(y),
    "argmax": lambda s, y: tf.argmax(y, 1),
    "xent": lambda s, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=s.labels, logits=y),
    "sigmoid_xent": lambda s, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=s.labels, logits=y),
    "l2_loss": lambda s, y: tf.nn.l2_loss(y),
    "reshape": lambda s, y: tf.reshape(tf.reshape(y, [-1]), y.shape),
    "transpose": lambda s, y: tf.transpose(tf.transpose(y)),
    "stop_gradient": lambda s, y: tf.stop_gradient(y),
    "cast": lambda s, y: tf.cast(tf.cast(y, tf.float64), tf.float32),
}


def pairs():
    """For each producer: each consumer alone, each two together; what differs, by op type."""
    rng = np.random.RandomState(1)
    differing, ran, unstable = [], 0, 0
    names = sorted(OPS)
    for shared in names:
        graph = tf.Graph()
        with graph.as_default():
            s = Sources(rng)
            y = OPS[shared](s, s.x)
            if y.shape.ndims != 2 or y.dtype != tf.float32:
                continue
            fetches = {"(itself)": y}
            for name in names:
                fetches[name] = OPS[name](s, y)
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                alone = {n: sess.run(t, s.feed) for n, t in fetches.items()}
                again = {n: sess.run(t, s.feed) for n, t in fetches.items()}
                unstable += sum(not same_bits(alone[n], again[n]) for n in alone)
                for a, b in itertools.combinations(sorted(fetches), 2):
                    both = sess.run([fetches[a], fetches[b]], s.feed)
                    ran += 1
                    for name, value in zip((a, b), both):
                        if not same_bits(value, alone[name]):
                            differing.append((shared, name, b if name == a else a))
    print("\n### Pairs: one shared op, two consumers (TensorFlow %s)\n" % VERSION)
    print(
        "%d pairs, %d values differ, %d values unstable by themselves\n"
        % (ran, len(differing), unstable)
    )
    by = Counter((shared, name) for shared, name, _ in differing)
    print(
        "| shared op | consumer whose value changes | with how many of %d partners |" % (len(names))
    )
    print("|---|---|---|")
    for (shared, name), count in sorted(by.items()):
        partners = sorted(set(p for q, n, p in differing if (q, n) == (shared, name)))
        print(
            "| %s | %s | %d%s |"
            % (shared, name, count, ": " + ", ".join(partners) if count <= 3 else "")
        )


# Ops that give the same bits whoever else looks at their input. Not among them: elementwise
# arithmetic (constants are pushed through it), AddN (sums into the first buffer that nobody else
# holds), BiasAdd, batch norm and the activations that are fused with what stands before them, Log
# (log of softmax becomes one op), division (by a square root becomes a product), LeakyRelu (on 2.21
# a fetched bias behind a convolution is fused away under it, and the run fails).
INDIFFERENT = frozenset(
    """MatMul BatchMatMul BatchMatMulV2 Conv2D Softmax LogSoftmax SoftmaxCrossEntropyWithLogits
    SparseSoftmaxCrossEntropyWithLogits ArgMax ArgMin Sum Mean Max Min L2Loss Relu Equal
    Greater Less InTopK InTopKV2 Maximum Minimum Cast MaxPool AvgPool Shape ZerosLike
    GreaterEqual""".split()
)
# Elementwise ops of one argument; several in a row become one op, which may round differently.
UNARY = frozenset(
    """Relu Relu6 LeakyRelu Elu Selu Tanh Sigmoid Abs Exp Log Neg Square Sqrt Rsqrt Reciprocal Inv
    Softplus Sin Cos Floor""".split()
)
# The first guess: nothing but arithmetic upon arithmetic can change.
ARITHMETIC = frozenset(
    """Add AddV2 AddN Sub Mul Div RealDiv Neg Square SquaredDifference Pow Sqrt Rsqrt Reciprocal Inv
    BiasAdd""".split()
)
LEAVES = frozenset(["Const", "Placeholder", "VariableV2", "VarHandleOp", "ReadVariableOp", "NoOp"])
THROUGH = frozenset(["Identity", "StopGradient", "Reshape", "Transpose", "Squeeze", "ExpandDims"])


class Step(object):
    """An op as the graph optimiser sees it: two alike on the same inputs are one."""

    def __init__(self, op, inputs):
        self.type, self.inputs = op.type, inputs


class Steps(object):
    """The ops of a graph, with duplicates of the same computation folded into one."""

    def __init__(self):
        self.keys, self.steps = {}, {}

    def key(self, op):
        if op.name not in self.keys:
            inputs = [(self.key(i.op), i.value_index) for i in op.inputs]
            same = "" if inputs and op.type not in LEAVES else op.name
            attributes = sorted((k, v.SerializeToString()) for k, v in op.node_def.attr.items())
            folded = (op.type, same, tuple(inputs), tuple(attributes))
            if op.type == "Const":
                folded = ("Const", "", (), tuple(attributes))
            self.keys[op.name] = self.steps.setdefault(folded, len(self.steps))
        return self.keys[op.name]

    def beneath(self, tensor):
        """{key: step} of everything that the tensor is computed from, itself included."""
        found, stack = {}, [tensor.op]
        while stack:
            op = stack.pop()
            if self.key(op) not in found:
                found[self.key(op)] = Step(op, [self.key(i.op) for i in op.inputs])
                stack.extend(i.op for i in op.inputs)
        return found


def consumers(key, within):
    """The keys of what consumes this value, renamings looked through."""
    found, front, seen = set(), [key], set()
    while front:
        current = front.pop()
        if current in seen:
            continue
        seen.add(current)
        for other, step in within.items():
            if current in step.inputs:
                if step.type in THROUGH:
                    front.append(other)
                else:
                    found.add(other)
    return found


def origin(key, within):
    while within[key].type in THROUGH and within[key].inputs:
        key = within[key].inputs[0]
    return within[key]


def crossing(a, b):
    """How the two fetches share what is computed, as (the rule proposed, the first guess)."""
    steps = Steps()
    over_a, over_b = steps.beneath(a), steps.beneath(b)
    both = dict(over_a)
    both.update(over_b)
    fetched = {steps.key(a.op), steps.key(b.op)}
    shared = [k for k in over_a if k in over_b and over_a[k].type != "Const"]
    for key in shared:
        users = consumers(key, over_a) | consumers(key, over_b)
        if any(both[u].type == "AddN" and len(both[u].inputs) > 2 for u in users):
            return "a shared tensor (fed ones too) goes into an AddN of 3 or more", "(AddN of 3)"
    computed = [k for k in shared if origin(k, over_a).type not in LEAVES]
    if not computed:
        return "only leaves", "only leaves"
    rule = guess = True
    for key in computed:
        in_a, in_b = consumers(key, over_a), consumers(key, over_b)
        if in_a == in_b and key not in fetched:
            continue  # not where they part
        types = set(both[u].type for u in in_a | in_b)
        if not types <= INDIFFERENT or (origin(key, over_a).type in UNARY and types & UNARY):
            rule = False
        if origin(key, over_a).type in ARITHMETIC and types & ARITHMETIC:
            guess = False
    return (
        "parts at indifferent ops only" if rule else "parts at other ops",
        "no arithmetic upon arithmetic" if guess else "arithmetic upon arithmetic",
    )


CHAIN = [
    n
    for n in sorted(OPS)
    if n
    not in (
        "mean",
        "sum",
        "max",
        "argmax",
        "xent",
        "l2_loss",
        "log",
        "sqrt",
        "rsqrt",
        "pow_half",
        "pow_minus",
    )
]
ENDS = ["mean", "sum", "max", "argmax", "xent", "l2_loss", "softmax", "relu"]


def grow(s, pick):
    tensors = [s.x, s.p, tf.matmul(s.x, s.w)]
    for _ in range(pick.randint(4, 14)):
        if pick.random() < 0.25:
            a, b = pick.choice(tensors), pick.choice(tensors)
            kind = pick.choice(["add", "sub", "mul", "maximum", "add_n", "dense", "dense"])
            made = {
                "add": lambda: a + b,
                "sub": lambda: a - b,
                "mul": lambda: a * b,
                "maximum": lambda: tf.maximum(a, b),
                "add_n": lambda: tf.add_n([a, b, s.x]),
                "dense": lambda: pick.choice([tf.nn.relu, tf.tanh, tf.nn.elu, tf.identity])(
                    tf.nn.bias_add(tf.matmul(a, s.w), s.b)
                ),
            }[kind]()
        else:
            made = OPS[pick.choice(CHAIN)](s, pick.choice(tensors[-4:]))
        if made.shape.ndims == 2:
            tensors.append(made)
    return tensors


def fuzz(trials=2500, start=0):
    rule, guess, finite, examples = Counter(), Counter(), 0, []
    for trial in range(start, start + trials):
        pick, rng = random.Random(trial), np.random.RandomState(trial)
        rows, columns = pick.choice([(8, 16), (5, 7), (64, 96)])
        with tf.Graph().as_default():
            s = Sources(rng, rows, columns)
            tensors = grow(s, pick)
            ends = []
            for _ in range(2):
                t = pick.choice(tensors[3:])
                if pick.random() < 0.7:
                    t = OPS[pick.choice(ENDS)](s, t)
                ends.append(t)
            a, b = ends
            kinds = crossing(a, b)
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                alone = [sess.run(a, s.feed), sess.run(b, s.feed)]
                both = sess.run([a, b], s.feed)
            equal = same_bits(alone[0], both[0]) and same_bits(alone[1], both[1])
            finite += all(np.isfinite(v).all() for v in alone)
            rule[kinds[0], equal] += 1
            guess[kinds[1], equal] += 1
            if not equal and kinds[0] in ("only leaves", "parts at indifferent ops only"):
                examples.append((trial, "rule", a.op.type, b.op.type))
            if not equal and kinds[1] == "no arithmetic upon arithmetic":
                examples.append((trial, "guess", a.op.type, b.op.type))
    print("\n### Random graphs, two fetches apart and together (TensorFlow %s)\n" % VERSION)
    print("%d graphs, %d with finite values throughout\n" % (trials, finite))
    print("| what the fetches share | same bits | different bits |")
    print("|---|---|---|")
    for table in (rule, guess):
        for kind in sorted(
            set(k for k, _ in table) - ({"(AddN of 3)", "only leaves"} if table is guess else set())
        ):
            print("| %s | %d | %d |" % (kind, table[kind, True], table[kind, False]))
    for example in sorted(examples, key=lambda e: (e[1] != "rule", e[0]))[:12]:
        print("counter-example: trial %d against the %s, fetches %s and %s" % example)


SUMS = {
    "add_n([p + x, p, x])": lambda s: tf.add_n([s.p + s.x, s.p, s.x]),
    "1.7 - add_n([p + x, p, x])": lambda s: 1.7 - tf.add_n([s.p + s.x, s.p, s.x]),
    "1.7 - add_n([p + x, p])": lambda s: 1.7 - tf.add_n([s.p + s.x, s.p]),
    "1.7 - add_n([p + x, p, tanh(x)])": lambda s: 1.7 - tf.add_n([s.p + s.x, s.p, tf.tanh(s.x)]),
    "1.7 - accumulate_n([p + x, p, x])": lambda s: 1.7 - tf.accumulate_n([s.p + s.x, s.p, s.x]),
    "relu(add_n([p + x, p, x]))": lambda s: tf.nn.relu(tf.add_n([s.p + s.x, s.p, s.x])),
    "mean(add_n([p + x, p, x]))": lambda s: tf.reduce_mean(tf.add_n([s.p + s.x, s.p, s.x])),
    "1.7 - add_n([p, x, p * x])": lambda s: 1.7 - tf.add_n([s.p, s.x, s.p * s.x]),
    "1.7 - (p + x + p + x)": lambda s: 1.7 - (s.p + s.x + s.p + s.x),
    "1.7 - (p + (x + tanh(x)))": lambda s: 1.7 - (s.p + (s.x + tf.tanh(s.x))),
    "1.7 - (x * 2.1 + (tanh(x) + exp(x)))": lambda s: (
        1.7 - (s.x * 2.1 + (tf.tanh(s.x) + tf.exp(s.x)))
    ),
    "1.7 - (x * tanh(x) + x * exp(x))": lambda s: 1.7 - (s.x * tf.tanh(s.x) + s.x * tf.exp(s.x)),
    "1.7 - (x * b) * b": lambda s: 1.7 - (s.x * s.b) * s.b,
    "1.7 - (x + b) + b": lambda s: 1.7 - ((s.x + s.b) + s.b),
    "1.7 - (x / 20) * 0.01": lambda s: 1.7 - (s.x / 20.0) * 0.01,
    "1.7 - sum(stack([x, p, x * p]))": lambda s: (
        1.7 - tf.reduce_sum(tf.stack([s.x, s.p, s.x * s.p]), 0)
    ),
    "1.7 - concat([x + p, p, x])": lambda s: 1.7 - tf.concat([s.x + s.p, s.p, s.x], 1),
    "mean(square(x - p)) + (l2(b) + l2(w))": lambda s: (
        tf.reduce_mean(tf.square(s.x - s.p)) + (tf.nn.l2_loss(s.b) + tf.nn.l2_loss(s.w))
    ),
    "mean(square(x - p)) + add_n(l2)": lambda s: (
        tf.reduce_mean(tf.square(s.x - s.p)) + tf.add_n([tf.nn.l2_loss(v) for v in (s.b, s.w, s.b)])
    ),
    "sigmoid xent": lambda s: tf.nn.sigmoid_cross_entropy_with_logits(labels=s.p, logits=s.x),
    "huber loss": lambda s: tf.losses.huber_loss(s.p, s.x, delta=0.3),
    "batch norm written out": lambda s: tf.nn.batch_normalization(s.x, s.b, s.b, s.b, s.b, 1e-3),
}
BESIDE = {
    "matmul(x, w)": lambda s: tf.matmul(s.x, s.w),
    "transpose(x)": lambda s: tf.transpose(s.x),
    "where(x > p, x, p)": lambda s: tf.where(s.x > s.p, s.x, s.p),
    "xent(p, x)": lambda s: tf.nn.softmax_cross_entropy_with_logits_v2(labels=s.p, logits=s.x),
    "argmax(x)": lambda s: tf.argmax(s.x, 1),
    "mean(x)": lambda s: tf.reduce_mean(s.x),
    "x * 3.3": lambda s: s.x * 3.3,
}


def fed(draws=30):
    """Sums and products beside something else that uses one of the fed tensors in them."""
    print("\n### Sums and products that share fed tensors alone (TensorFlow %s)\n" % VERSION)
    print("how many of %d draws give other bits than when fetched alone\n" % draws)
    print("| fetched | %s | two plain runs |" % " | ".join(BESIDE))
    print("|---|%s---|" % ("---|" * len(BESIDE)))
    for name, build in SUMS.items():
        rng = np.random.RandomState(1)
        changed, noise = Counter(), 0
        with tf.Graph().as_default():
            s = Sources(rng)
            value = build(s)
            others = {beside: make(s) for beside, make in BESIDE.items()}
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(draws):
                    feed = {t: rng.uniform(0.5, 1.5, [ROWS, COLUMNS]) for t in (s.x, s.p)}
                    alone = sess.run(value, feed)
                    noise += not same_bits(sess.run(value, feed), alone)
                    for beside, other in others.items():
                        together = sess.run([value, other], feed)[0]
                        changed[beside] += not same_bits(together, alone)
        print("| %s | %s | %d |" % (name, " | ".join(str(changed[b]) for b in BESIDE), noise))
        sys.stdout.flush()


FUSED = {
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "leaky_relu": tf.nn.leaky_relu,
    "elu": tf.nn.elu,
    "selu": tf.nn.selu,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "none": tf.identity,
}


def layer(kind, rng, rows, columns):
    """(feed, before the bias, before the activation) of one layer with a dynamic batch."""
    if kind.startswith("matmul"):
        x = tf.placeholder(tf.float32, [None, columns])
        w = tf.Variable(rng.uniform(-1, 1, [columns, columns]).astype(np.float32))
        feed, width, raw = {x: rng.uniform(-1, 1, [rows, columns])}, columns, tf.matmul(x, w)
    else:
        side, width = {6: 8, 128: 16, 512: 28}[columns], 32
        x = tf.placeholder(tf.float32, [None, side, side, 8])
        w = tf.Variable(rng.uniform(-1, 1, [3, 3, 8, width]).astype(np.float32))
        feed = {x: rng.uniform(-1, 1, [4, side, side, 8])}
        raw = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
    b = tf.Variable(rng.uniform(-1, 1, [width]).astype(np.float32))
    if kind.endswith("batch_norm"):
        m = tf.Variable(rng.uniform(0, 1, [width]).astype(np.float32))
        v = tf.Variable(rng.uniform(0.5, 1, [width]).astype(np.float32))
        biased = tf.nn.fused_batch_norm(raw, b, m, mean=m, variance=v, is_training=False)[0]
    else:
        biased = raw + b if kind.endswith("+add") else tf.nn.bias_add(raw, b)
    return feed, raw, biased


def why(error):
    lines = [line for line in error.message.splitlines() if "not " in line]
    return (lines or [error.message])[0][:100]


def fused(seeds=5):
    """Layers that the runtime fuses when nobody else looks at what stands between."""
    print("\n### Layers and their inner values (TensorFlow %s)\n" % VERSION)
    print(
        "how many of %d draws give other bits, for the sizes 4x6, 64x128, 256x512; only rows with any\n"
        % seeds
    )
    print("| layer | value | fetched with | 4x6 | 64x128 | 256x512 |")
    print("|---|---|---|---|---|---|")
    sizes, tried, failed = ((4, 6), (64, 128), (256, 512)), 0, Counter()
    for kind, activation in itertools.product(
        ("matmul+bias_add", "matmul+add", "conv+bias_add", "conv+batch_norm"), list(FUSED)
    ):
        counts = Counter()
        for size, seed in itertools.product(sizes, range(seeds)):
            rng = np.random.RandomState(seed)
            with tf.Graph().as_default():
                feed, raw, biased = layer(kind, rng, *size)
                out = FUSED[activation](biased)
                loss = tf.reduce_mean(out)
                top = tf.argmax(tf.reshape(out, [tf.shape(out)[0], -1]), 1)
                values = {
                    "out": out,
                    "loss": loss,
                    "argmax": top,
                    "before activation": biased,
                    "before bias": raw,
                }
                with session() as sess:
                    sess.run(tf.global_variables_initializer())
                    alone = {}
                    for name, tensor in values.items():
                        try:
                            alone[name] = sess.run(tensor, feed)
                        except tf.errors.OpError as error:
                            failed[kind, activation, name, "nothing", why(error)] += 1
                    for a, b in itertools.combinations(list(values), 2):
                        tried += 1
                        try:
                            both = dict(zip((a, b), sess.run([values[a], values[b]], feed)))
                        except tf.errors.OpError as error:
                            failed[kind, activation, a, b, why(error)] += 1
                            continue
                        for name, other in ((a, b), (b, a)):
                            if name in alone:
                                differs = not same_bits(both[name], alone[name])
                                counts[name, other, size] += differs
        for name, other in sorted(set((n, o) for (n, o, _), c in counts.items() if c)):
            print(
                "| %s+%s | %s | %s | %s |"
                % (
                    kind,
                    activation,
                    name,
                    other,
                    " | ".join(str(counts[name, other, z]) for z in sizes),
                )
            )
        sys.stdout.flush()
    print("\n%d pairs were run together" % tried)
    for (kind, activation, a, b, message), count in sorted(failed.items()):
        print("failed %d times: %s+%s, %s with %s: %s" % (count, kind, activation, a, b, message))


def weights(*shape):
    return tf.Variable(np.random.RandomState(0).uniform(0.1, 0.5, shape).astype(np.float32))


def images(*shape):
    return tf.placeholder(tf.float32, [2, *shape])


def convolved(rank):
    shape, size = [8] * rank + [3], [3] * rank + [3, 4]
    convolve = tf.nn.conv2d if rank == 2 else tf.nn.conv3d
    strides = [1] * (rank + 2)
    return convolve(images(*shape), weights(*size), strides=strides, padding="SAME")


CONTRACTIONS = {
    "conv2d": lambda: convolved(2),
    "conv3d": lambda: convolved(3),
    "conv1d": lambda: tf.nn.conv1d(images(8, 3), weights(3, 3, 4), 1, "SAME"),
    "separable": lambda: tf.nn.separable_conv2d(
        images(8, 8, 3), weights(3, 3, 3, 1), weights(1, 1, 3, 4), [1, 1, 1, 1], "SAME"
    ),
    "depthwise": lambda: tf.nn.depthwise_conv2d(
        images(8, 8, 4), weights(3, 3, 4, 1), [1, 1, 1, 1], "SAME"
    ),
    "transposed": lambda: tf.nn.conv2d_transpose(
        images(8, 8, 3), weights(3, 3, 4, 3), [2, 16, 16, 4], [1, 2, 2, 1]
    ),
    "matmul": lambda: tf.matmul(images(4), weights(4, 4)),
    "no contraction": lambda: tf.abs(images(8, 8, 4)),
}
BETWEEN = {
    "bias_add": lambda h: tf.nn.bias_add(h, weights(4)),
    "add": lambda h: h + weights(4),
    "batch norm": lambda h: tf.nn.fused_batch_norm(
        h, weights(4), weights(4), mean=weights(4), variance=weights(4), is_training=False
    )[0],
    "batch norm, training": lambda h: tf.nn.fused_batch_norm(h, weights(4), weights(4))[0],
    "batch norm written out": lambda h: tf.nn.batch_normalization(
        h, weights(4), weights(4), weights(4), weights(4), 1e-3
    ),
    "bias_add, a fed sum": lambda h: (
        tf.nn.bias_add(h, weights(4)) + tf.placeholder("float", h.shape)
    ),
}
ACTIVATIONS = dict(FUSED)
ACTIVATIONS.update(
    {
        "max(0.2*h, h)": lambda h: tf.maximum(0.2 * h, h),
        "h*sigmoid(h)": lambda h: h * tf.sigmoid(h),
        "swish": tf.nn.swish,
        "h*tanh(softplus(h))": lambda h: h * tf.tanh(tf.nn.softplus(h)),
        "gelu by tanh": lambda h: (
            0.5 * h * (1.0 + tf.tanh(0.79788456 * (h + 0.044715 * tf.pow(h, 3.0))))
        ),
        "gelu by erf": lambda h: 0.5 * h * (1.0 + tf.erf(h * 0.70710678)),
        "h*relu6(h+3)/6": lambda h: h * tf.nn.relu6(h + 3.0) * 0.16666667,
        "softplus": tf.nn.softplus,
        "leaky_relu(relu(h))": lambda h: tf.nn.leaky_relu(tf.nn.relu(h)),
        "tanh(leaky_relu(h))": lambda h: tf.tanh(tf.nn.leaky_relu(h)),
    }
)


def inner():
    """A value from inside a layer fetched with the layer's: what works apart and fails together."""
    print("\n### Runs of two that fail where both work alone (TensorFlow %s)\n" % VERSION)
    print("| contraction | between | activation | fetched with the activation, or its mean |")
    print("|---|---|---|---|")
    tried, alone_fails = 0, []
    for kind, biased, activation in itertools.product(CONTRACTIONS, BETWEEN, ACTIVATIONS):
        if biased.startswith("batch norm") and kind in ("matmul", "conv1d", "conv3d"):
            continue
        with tf.Graph().as_default():
            raw = CONTRACTIONS[kind]()
            before = BETWEEN[biased](raw)
            out = ACTIVATIONS[activation](before)
            values = {
                "the contraction": raw,
                "what is before the activation": before,
                "the mean of that": tf.reduce_mean(before),
                "the identity of that": tf.identity(before),
            }
            operations = tf.get_default_graph().get_operations()
            feed = {
                op.outputs[0]: np.random.RandomState(0).uniform(
                    -1, 1, op.outputs[0].shape.as_list()
                )
                for op in operations
                if op.type == "Placeholder"
            }
            with session() as sess:

                def works(fetches):
                    try:
                        sess.run(fetches, feed)
                    except tf.errors.OpError:
                        return False
                    return True

                sess.run(tf.global_variables_initializer())
                if not works(out):
                    alone_fails.append("%s, %s, %s" % (kind, biased, activation))
                    continue
                failing = []
                for name, value in values.items():
                    if works(value):
                        tried += 1
                        if not works([value, out]) or not works([value, tf.reduce_mean(out)]):
                            failing.append(name)
        if failing:
            print("| %s | %s | %s | %s |" % (kind, biased, activation, ", ".join(failing)))
            sys.stdout.flush()
    print("\n%d combinations were tried" % tried)
    for one in alone_fails:
        print("fails by itself: " + one)


# ---- loss and update ---------------------------------------------------------------------------


def model(kind, x, resource):
    def variable(name, shape, scale=0.2):
        return tf.get_variable(
            name,
            shape,
            initializer=tf.random_uniform_initializer(-scale, scale, seed=5),
            use_resource=resource,
        )

    if kind == "cnn":
        h = tf.reshape(x, [-1, 8, 8, 1])
        h = tf.nn.relu(
            tf.nn.bias_add(
                tf.nn.conv2d(h, variable("k", [3, 3, 1, 8]), strides=[1, 1, 1, 1], padding="SAME"),
                variable("kb", [8]),
            )
        )
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        h = tf.reshape(h, [-1, 128])
        return tf.matmul(h, variable("w", [128, 10])) + variable("b", [10])
    if kind.startswith("mlp"):
        activation = FUSED[kind.partition(" ")[2] or "relu"]
        h = activation(tf.matmul(x, variable("w1", [64, 32])) + variable("b1", [32]))
        return tf.matmul(h, variable("w2", [32, 10])) + variable("b2", [10])
    return tf.matmul(x, variable("w", [64, 10])) + variable("b", [10])


LOSSES = {
    "softmax xent": lambda y, o: tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=o)
    ),
    "sigmoid xent": lambda y, o: tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=o)
    ),
    "squared error": lambda y, o: tf.reduce_mean(tf.square(o - y)),
}
FORMULAS = {
    "-sum(y*log(softmax))": lambda y, o: -tf.reduce_sum(y * tf.log(tf.nn.softmax(o))),
    "-mean(sum(y*log(clip(softmax))))": lambda y, o: (
        -tf.reduce_mean(
            tf.reduce_sum(y * tf.log(tf.clip_by_value(tf.nn.softmax(o), 1e-10, 1.0)), 1)
        )
    ),
    "-sum(y*log(softmax+1e-8))": lambda y, o: -tf.reduce_sum(y * tf.log(tf.nn.softmax(o) + 1e-8)),
    "mean(pow(o-y, 2))": lambda y, o: tf.reduce_mean(tf.pow(o - y, 2)),
    "sum(square)/(2*32)": lambda y, o: tf.reduce_sum(tf.square(o - y)) / (2 * 32),
    "xent + 0.01*l2 of all": lambda y, o: (
        tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=o))
        + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    ),
    "square of o/20*0.01": lambda y, o: tf.reduce_mean(tf.square(o / 20.0 * 0.01 - y)),
    "sqrt(mean(square))": lambda y, o: tf.sqrt(tf.reduce_mean(tf.square(o - y))),
    "log loss of a sigmoid": lambda y, o: (
        -tf.reduce_mean(
            y * tf.log(tf.sigmoid(o) + 1e-8) + (1 - y) * tf.log(1 - tf.sigmoid(o) + 1e-8)
        )
    ),
    "softmax xent": LOSSES["softmax xent"],
}
OPTIMIZERS = {
    "SGD": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: tf.train.AdamOptimizer(0.01),
}


class State(object):
    """Reads and sets every variable, so that both ways start each step alike."""

    def __init__(self):
        self.variables = tf.global_variables()
        self.inputs = [tf.placeholder(v.dtype.base_dtype, v.shape) for v in self.variables]
        self.load = tf.group(*[v.assign(p) for v, p in zip(self.variables, self.inputs)])

    def get(self, sess):
        return [np.array(v) for v in sess.run(self.variables)]

    def set(self, sess, values):
        sess.run(self.load, dict(zip(self.inputs, values)))


def formulas(steps=20):
    updates(
        steps,
        ("linear", "cnn", *("mlp " + a for a in FUSED)),
        FORMULAS,
        ("SGD",),
        "Losses written out, and other layers",
    )


def updates(
    steps=60,
    kinds=("linear", "mlp", "cnn"),
    losses=LOSSES,
    optimizers=("Adam", "Momentum", "SGD"),
    title="Loss and the update that minimises it",
):
    print("\n### %s: one run against two (TensorFlow %s)\n" % (title, VERSION))
    print("%d steps each; every step starts both ways from the same weights and slots\n" % steps)
    print(
        "| model | loss | optimiser | variables | batch | loss differs | weights differ | two runs twice differ |"
    )
    print("|---|---|---|---|---|---|---|---|")
    total = Counter()
    for kind, loss_name, opt_name, resource, static in itertools.product(
        kinds, sorted(losses), optimizers, (False, True), (False, True)
    ):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            batch = 32 if static else None
            x, y = tf.placeholder(tf.float32, [batch, 64]), tf.placeholder(tf.float32, [batch, 10])
            loss = losses[loss_name](y, model(kind, x, resource))
            train = OPTIMIZERS[opt_name]().minimize(loss)
            state, rng = State(), np.random.RandomState(0)
            lost = moved = noise = 0
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(steps):
                    feed = {x: rng.normal(size=[32, 64]), y: np.eye(10)[rng.randint(0, 10, 32)]}
                    start = state.get(sess)
                    apart = sess.run(loss, feed)
                    sess.run(train, feed)
                    after = state.get(sess)
                    state.set(sess, start)
                    apart_again = sess.run(loss, feed)
                    sess.run(train, feed)
                    again = state.get(sess)
                    state.set(sess, start)
                    together, _ = sess.run([loss, train], feed)
                    merged = state.get(sess)
                    lost += not same_bits(apart, together)
                    moved += not all(same_bits(a, b) for a, b in zip(after, merged))
                    noise += not same_bits(apart, apart_again) or not all(
                        same_bits(a, b) for a, b in zip(after, again)
                    )
                    state.set(sess, after)
            total["configurations"] += 1
            total["loss"] += lost > 0
            total["weights"] += moved > 0
            total["noise"] += noise > 0
            if lost or moved or noise:
                print(
                    "| %s | %s | %s | %s | %s | %d of %d | %d of %d | %d |"
                    % (
                        kind,
                        loss_name,
                        opt_name,
                        "resource" if resource else "ref",
                        "static" if static else "dynamic",
                        lost,
                        steps,
                        moved,
                        steps,
                        noise,
                    )
                )
    print(
        "\n%(configurations)d configurations; the loss differs in %(loss)d, the weights in %(weights)d, "
        "two plain runs in %(noise)d (rows only for those)"
        % {key: total[key] for key in ("configurations", "loss", "weights", "noise")}
    )


def races(trials=80):
    """Values fetched together with an update: read before it, after it, or in between?"""
    print("\n### Reads that race with the update (TensorFlow %s)\n" % VERSION)
    print(
        "%d trials each; the fetched value is compared with its value before and after the update\n"
        % trials
    )
    print("| fetched with the update | variables | before | after | neither |")
    print("|---|---|---|---|---|")
    n = 256
    for name, resource in itertools.product(
        (
            "loss on the path (relu, xent)",
            "the variable itself",
            "sum of squares of the variable",
            "l2 term, not minimised",
            "loss + l2 term, only loss minimised",
            "loss + l2 term, both minimised",
            "l2_loss(w), minimised",
            "reduce_sum(square(w)), minimised",
            "WGAN critic loss, static batch",
            "WGAN critic loss, dynamic batch",
            "linear loss, bias only, static batch",
            "second tower, other loss",
            "slow function of the variable",
            "loss + stop_gradient(second tower)",
            "loss + stop_gradient(w's norm)",
            "accuracy beside the loss",
            "relu layer below a linear loss",
        ),
        (False, True),
    ):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            static = "dynamic" not in name
            x = tf.placeholder(tf.float32, [64 if static else None, n])
            z = tf.placeholder(tf.float32, [640 if static else None, n])
            y = tf.placeholder(tf.float32, [64 if static else None, n])

            def variable(label, shape):
                return tf.get_variable(
                    label,
                    shape,
                    initializer=tf.random_uniform_initializer(-0.2, 0.2, seed=5),
                    use_resource=resource,
                )

            w1, b1 = variable("w1", [n, n]), variable("b1", [n])
            w2, b2 = variable("w2", [n, n]), variable("b2", [n])

            def tower(t):
                return tf.matmul(tf.nn.relu(tf.matmul(t, w1) + b1), w2) + b2

            loss = tf.reduce_mean(
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tower(x))
            )
            minimised = fetched = loss
            if name == "the variable itself":
                fetched = tf.identity(w1)
            elif name == "sum of squares of the variable":
                fetched = tf.reduce_sum(tf.square(w1))
            elif name == "l2 term, not minimised":
                fetched = tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2)
            elif name == "loss + l2 term, only loss minimised":
                fetched = loss + 0.01 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
            elif name == "loss + l2 term, both minimised":
                minimised = fetched = loss + 0.01 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))
            elif name == "l2_loss(w), minimised":
                minimised = fetched = tf.nn.l2_loss(w1)
            elif name == "reduce_sum(square(w)), minimised":
                minimised = fetched = tf.reduce_sum(tf.square(w1))
            elif name.startswith("WGAN"):
                minimised = fetched = tf.reduce_mean(tower(z)) - tf.reduce_mean(tower(x))
            elif name.startswith("linear loss"):
                minimised = fetched = tf.reduce_mean(tf.matmul(x, w1) + b1)
            elif name.startswith("second tower"):
                fetched = tf.reduce_mean(tf.square(tower(z)))
            elif name.startswith("slow"):
                power = w1
                for _ in range(6):
                    power = tf.tanh(tf.matmul(power, w1))
                fetched = tf.reduce_sum(power)
            elif "stop_gradient(second" in name:
                minimised = fetched = loss + tf.stop_gradient(tf.reduce_mean(tf.square(tower(z))))
            elif "stop_gradient(w" in name:
                minimised = fetched = loss + tf.stop_gradient(tf.norm(w1))
            elif name.startswith("accuracy"):
                out = tower(x)
                minimised = tf.reduce_mean(
                    tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=out)
                )
                fetched = tf.reduce_mean(
                    tf.cast(tf.equal(tf.argmax(out, 1), tf.argmax(y, 1)), tf.float32)
                )
            elif name.startswith("relu layer"):
                minimised = fetched = tf.reduce_mean(tower(x))
            train = tf.train.GradientDescentOptimizer(0.5).minimize(minimised)
            state, rng, seen = State(), np.random.RandomState(0), Counter()
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                start = state.get(sess)
                for _ in range(trials):
                    state.set(sess, start)
                    feed = {
                        x: rng.normal(size=[64, n]),
                        z: rng.normal(size=[640, n]),
                        y: np.eye(n)[rng.randint(0, n, 64)],
                    }
                    before = sess.run(fetched, feed)
                    sess.run(train, feed)
                    after = sess.run(fetched, feed)
                    state.set(sess, start)
                    value, _ = sess.run([fetched, train], feed)
                    close = lambda a, b: np.allclose(a, b, rtol=2e-6, atol=0)
                    if close(before, after):
                        seen["same"] += 1
                    elif close(value, before):
                        seen["before"] += 1
                    elif close(value, after):
                        seen["after"] += 1
                    else:
                        seen["neither"] += 1
            note = " (%d undecided)" % seen["same"] if seen["same"] else ""
            print(
                "| %s%s | %s | %d | %d | %d |"
                % (
                    name,
                    note,
                    "resource" if resource else "ref",
                    seen["before"],
                    seen["after"],
                    seen["neither"],
                )
            )
            sys.stdout.flush()


if __name__ == "__main__":
    {
        "pairs": pairs,
        "fuzz": fuzz,
        "fed": fed,
        "fused": fused,
        "inner": inner,
        "updates": updates,
        "formulas": formulas,
        "races": races,
    }[sys.argv[1]](*[int(a) for a in sys.argv[2:]])
