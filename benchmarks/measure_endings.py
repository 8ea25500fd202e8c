"""Whether Python ends where an exception ends a script while a pipeline's generator is at work.

    PYTHON benchmarks/measure_endings.py held [TIMES]

Each script is a process of its own, which has five seconds to end once it has failed.
`docs/measurements.md` says what came out. Runs in TensorFlow 1.15 and in 2.x.
"""

import os
import subprocess
import sys

import tensorflow as tf

TIMES = 10
PATIENCE = 5

HEAD = """\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
many = np.random.RandomState(0).rand(300000)
def batches():
    for i in range(40):
        np.sort(many)
        yield np.full([2, 5], i, np.float32)
def model(x):
    w = tf.Variable(tf.ones([5, 1]))
    return tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.matmul(x, w)))
def steps(sess, train):
    sess.run(tf.global_variables_initializer())
    for i in range(9):
        sess.run(train)
    print("failing", flush=True)
    raise ValueError
data = tf.data.Dataset.from_generator(batches, tf.float32, [2, 5])AHEAD
train = model(tf.data.make_one_shot_iterator(data).get_next())
"""

HOLDERS = {
    "a `with` of a function": """\
def main():
    with tf.Session() as sess:
        steps(sess, train)
main()
""",
    "a variable of a function": """\
def main():
    sess = tf.Session()
    steps(sess, train)
main()
""",
    "an object of a function": """\
class Model:
    def __init__(self):
        self.sess = tf.Session()
def main():
    steps(Model().sess, train)
main()
""",
    "a variable of the module": "sess = tf.Session()\nsteps(sess, train)\n",
    "an interactive session of the module": "sess = tf.InteractiveSession()\nsteps(sess, train)\n",
    "an object of the module": """\
class Model:
    def __init__(self):
        self.sess = tf.Session()
model = Model()
steps(model.sess, train)
""",
}


def hangs(text):
    """Whether a script that has failed does not end."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    script = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert script.stdout.readline() == b"failing\n"
    try:
        script.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        script.kill()
        script.wait()
        return True
    return False


def held(times):
    """How many of some processes do not end, by who holds the session."""
    print(f"\n### Processes of {times} that did not end (TensorFlow {tf.__version__})\n")
    print("| the session is held by | as written | with `prefetch(1)` |\n|---|---|---|")
    for holder, text in HOLDERS.items():
        counts = []
        for ahead in ("", ".prefetch(1)"):
            script = HEAD.replace("AHEAD", ahead) + text
            counts.append(sum(hangs(script) for _ in range(times)))
        print(f"| {holder} | {' | '.join(map(str, counts))} |")
        sys.stdout.flush()


if __name__ == "__main__":
    times = int(sys.argv[2]) if len(sys.argv) > 2 else TIMES
    {"held": held}[sys.argv[1]](times)
