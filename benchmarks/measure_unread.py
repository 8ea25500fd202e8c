"""What changes when a value is no longer fetched: failures, draws, and the bits of the rest.

    PYTHON benchmarks/measure_unread.py failing|alone|draws|beside

`docs/measurements.md` says what came out. Runs in TensorFlow 1.15 and in 2.x.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

FLOATS = np.array(
    [[np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4e38], [-3.4e38, 1e-45, -1.0, 1.0, 2.0, -7.0]], "f"
)
WHOLE = np.array([[0, -1, 2**31 - 1, -(2**31), 7, 1], [3, -3, 0, 5, -(2**31), 2**31 - 1]], "i")
ONE = (
    "abs negative sign square identity stop_gradient ceil cos erf exp expm1 floor is_finite is_inf"
    " is_nan log log1p round rsqrt sigmoid sin sqrt tanh transpose squeeze global_norm"
    " nn.elu nn.leaky_relu nn.log_softmax nn.l2_loss nn.selu nn.softmax nn.softplus nn.softsign"
    " nn.relu nn.relu6 reduce_sum reduce_mean reduce_max reduce_min reduce_prod argmax argmin"
).split()
TWO = (
    "add subtract multiply maximum minimum squared_difference equal not_equal greater less"
    " greater_equal less_equal truediv divide nn.sigmoid_cross_entropy_with_logits"
    " nn.softmax_cross_entropy_with_logits_v2"
).split()
FAILING = ["floordiv", "div", "pow"]  # with whole numbers; they show that failures are seen


def called(name, *values):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    if name == "global_norm":
        return function(list(values))
    if "cross_entropy" in name:
        return function(labels=values[1], logits=values[0])
    return function(*values)


def outcome(name, *values):
    """The failure of one operation on some values; None where it cannot be built for them."""
    with tf.Graph().as_default(), tf.Session() as sess:
        feeds = [tf.placeholder(value.dtype, [None] * value.ndim) for value in values]
        try:
            made = called(name, *feeds)
        except (TypeError, ValueError):
            return None
        try:
            sess.run(made, dict(zip(feeds, values)))  # noqa: B905
        except tf.errors.OpError as error:
            return type(error).__name__
        return ""


def failing():
    kinds = [FLOATS, FLOATS.astype("f8"), FLOATS.astype(np.float16), WHOLE, WHOLE.astype("i8")]
    cases = [(name, value) for name in ONE for value in kinds]
    cases += [(name, value[:0]) for name in ONE if name.startswith("reduce") for value in kinds]
    for name in TWO + FAILING:
        for value in kinds:
            cases += [(name, value, value[:, ::-1].copy()), (name, value, np.zeros_like(value))]
    results = [(case[0], outcome(*case)) for case in cases]
    print(sum(result is not None for _, result in results), "cases")
    print("failed:", sorted({result for result in results if result[1]}))


def alone():
    one = np.ones(4, "f")
    for act in (tf.tanh, tf.sigmoid, tf.nn.relu, tf.nn.elu, tf.nn.leaky_relu):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [2, 8, 8, 3])
            kernel = tf.Variable(np.random.randn(3, 3, 3, 4).astype("f"))
            conv = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
            norm = tf.nn.fused_batch_norm(
                conv, one, one, mean=one, variance=one, is_training=False
            )[0]
            top = act(norm)
            sess.run(tf.global_variables_initializer())
            company = {"alone": top, "norm": [top, norm], "conv": [top, conv]}
            company["mean"] = [top, tf.reduce_mean(norm)]
            for name, fetches in company.items():
                try:
                    sess.run(fetches, {x: np.random.randn(2, 8, 8, 3)})
                    result = "works"
                except tf.errors.OpError as error:
                    result = type(error).__name__
                print(act.__name__, name, result)


def draws():
    def after(make, fetch, steps=2):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(1)
            noise, values = make()
            sess.run(tf.global_variables_initializer())
            for _ in range(steps):
                sess.run([values[name] for name in fetch])
            return sess.run(noise)

    def noisy():
        weight, noise = tf.Variable(2.0), tf.random_normal([])
        loss = weight * weight + noise
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return noise, {"step": step, "loss": loss, "noise": noise, "zeros": tf.zeros_like(noise)}

    def other():
        noise, beside = tf.random_normal([]), tf.random_normal([])
        return noise, {"noise": noise, "beside": beside}

    for make, some, more in (
        (other, ["noise"], ["noise", "beside"]),
        (noisy, ["loss"], ["loss", "noise"]),
        (noisy, ["step"], ["step", "loss"]),
        (noisy, ["zeros"], ["zeros", "noise"]),
    ):
        print(some, "draws as", more, after(make, some) == after(make, more))


def model(kind, act, resource):
    def variable(*shape):
        number = len(tf.global_variables())
        start = tf.random_normal_initializer(stddev=0.3, seed=number)
        return tf.get_variable(f"v{number}", shape, initializer=start, use_resource=resource)

    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
    if kind == "cnn":
        image = tf.reshape(x, [-1, 8, 8, 1])
        conv = tf.nn.conv2d(image, variable(3, 3, 1, 8), strides=[1, 1, 1, 1], padding="SAME")
        hidden = act(conv + variable(8))
        flat, width = tf.reshape(hidden, [-1, 512]), 512
    else:
        flat = hidden = act(tf.matmul(x, variable(64, 32)) + variable(32))
        width = 32
    logits = tf.matmul(flat, variable(width, 5)) + variable(5)
    prob = tf.nn.softmax(logits)
    xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    written = tf.reduce_sum(tf.one_hot(y, 5) * tf.log(prob + 1e-8), 1)
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    extra = {"accuracy": right, "logits": logits, "softmax": prob, "hidden": hidden}
    extra["summary"] = tf.summary.scalar("accuracy", right)
    return x, y, [tf.reduce_mean(xent), -tf.reduce_mean(written)], extra


def beside(steps=5):
    optimizers = [tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer]
    counts = {"configurations": 0, "weights": 0, "loss beside update": 0, "loss alone": 0}
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    shapes = [(k, a, r) for k in ("mlp", "cnn") for a in (tf.nn.relu, tf.tanh) for r in (0, 1)]
    for kind, act, resource in shapes:
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            x, y, losses, extra = model(kind, act, bool(resource))
            pairs = [(loss, make(0.05).minimize(loss)) for loss in losses for make in optimizers]
            sess.run(tf.global_variables_initializer())
            start = sess.run(tf.global_variables())

            def result(fetches, x=x, y=y, sess=sess, start=start):
                for one, value in zip(tf.global_variables(), start):  # noqa: B905
                    one.load(value, sess)
                rng = np.random.RandomState(1)
                got = []
                for _ in range(steps):
                    feed = {x: rng.randn(33, 64), y: rng.randint(0, 5, 33)}
                    got.append(sess.run(fetches, feed)[:2][-1])
                return got, b"".join(v.tobytes() for v in sess.run(tf.global_variables()))

            for loss, step in pairs:
                bare, both, only = result([step]), result([step, loss]), result([loss])
                for value in extra.values():
                    counts["configurations"] += 1
                    counts["weights"] += result([step, value])[1] != bare[1]
                    counts["loss beside update"] += result([step, loss, value])[0] != both[0]
                    counts["loss alone"] += result([loss, loss, value])[0] != only[0]
    print(counts)


if __name__ == "__main__":
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    print(tf.__version__)
    {"failing": failing, "alone": alone, "draws": draws, "beside": beside}[sys.argv[1]]()
