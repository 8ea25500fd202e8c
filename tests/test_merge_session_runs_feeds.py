"""TFR101: runs that feed different placeholders, traps first: what has a value without a feed."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

GRAPH = """\
import contextlib
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8])
z = tf.placeholder(tf.float32, [None, 4])
rate = tf.placeholder(tf.float32, [])
usual = tf.placeholder_with_default(tf.zeros([2, 4]), [None, 4])
w = tf.Variable(tf.truncated_normal([8, 3]))
v = tf.Variable(tf.truncated_normal([4, 8]))
made = tf.tanh(tf.matmul(z, v))
real = tf.reduce_mean(tf.square(tf.matmul(x, w)))
fake = tf.reduce_mean(tf.square(tf.matmul(made, w)))
other = tf.reduce_mean(tf.abs(made))
train_op = tf.train.GradientDescentOptimizer(rate).minimize(real, var_list=[w])
"""


def step(body: str, graph: str = "", before: str = "") -> str:
    """A training script: the graph, more of it, and a loop over batches with the given body."""
    loop = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n"
    loop += textwrap.indent(textwrap.dedent(before), "    ")
    loop += "    for images, noise in batches:\n"
    loop += textwrap.indent(textwrap.dedent(body).removeprefix("\n"), "        ")
    return GRAPH + textwrap.dedent(graph) + loop


TWO = """
    f = sess.run(fake, {z: noise})
    r = sess.run(real, {x: images})
"""


def fed(name: str, first: str, second: str, graph: str = "", before: str = "") -> Case:
    """Two reads with these feeds, of which one may matter to the run that does not have it."""
    runs = f"f = sess.run(fake, {first})\nr = sess.run(real, {second})\n"
    return refuses(name, step(runs, graph, before), reason="feeds-differ")


def apart(name: str, first: str, second: str, graph: str = "", before: str = "") -> Case:
    """Two reads with feeds that nobody would take for one."""
    runs = f"f = sess.run(fake, {first})\nr = sess.run(real, {second})\n"
    return leaves_alone(name, step(runs, graph, before))


def between(
    name: str, code: str, reason: str | tuple[str, ...], graph: str = "", before: str = ""
) -> Case:
    """Something between two reads with different feeds."""
    first, second = textwrap.dedent(TWO).strip().splitlines()
    body = f"{first}\n{textwrap.dedent(code).strip()}\n{second}\n"
    return refuses(name, step(body, graph, before), reason=reason)


def one(name: str, body: str, merged: str, contract: str = "exact", **around: str) -> Case:
    """Runs that become one."""
    return rewrites(name, step(body, **around), step(merged, **around), contract=contract)


TRAPS = [
    # what has a value of its own
    fed("a placeholder with a default", "{z: noise, usual: noise}", "{x: images}"),
    fed("the same the other way round", "{z: noise}", "{x: images, usual: noise}"),
    fed("one with a default that both are fed", "{usual: noise}", "{x: images, usual: noise}"),
    fed("a tensor that is computed", "{made: images}", "{x: images}"),
    fed("a variable", "{z: noise}", "{x: images, w: start}"),
    fed("a constant", "{z: noise, scale: 2.0}", "{x: images}", "scale = tf.constant(1.0)\n"),
    fed(
        "a sparse placeholder",
        "{z: noise, ids: some}",
        "{x: images}",
        "ids = tf.sparse_placeholder(tf.int64)\n",
    ),
    fed("a name of a tensor", "{'made:0': images}", "{x: images}"),
    fed("a name of a placeholder", "{'Placeholder_1:0': noise}", "{x: images}"),
    fed("two that are fed together", "{(z, rate): pair}", "{x: images}"),
    fed(
        "a placeholder of another module", "{z: noise, p: 1}", "{x: images}", "from net import p\n"
    ),
    fed(
        "a placeholder on one way through an if",
        "{z: noise, p: 1.0}",
        "{x: images}",
        """
        p = tf.placeholder(tf.float32, [])
        if short:
            p = tf.placeholder_with_default(1.0, [])
        """,
    ),
    fed(
        "one of several placeholders",
        "{z: noise, many[i]: 1.0}",
        "{x: images}",
        "many = [tf.placeholder(tf.float32, []), tf.constant(1.0)]\n",
    ),
    fed(
        "an attribute that is bound twice",
        "{z: noise, net.p: 1.0}",
        "{x: images}",
        """
        class Net:
            def __init__(self):
                self.p = tf.placeholder(tf.float32, [])
            def fix(self):
                self.p = tf.constant(1.0)
        net = Net()
        """,
    ),
    refuses(
        "a name that a function may bind anew",
        step(
            "f = sess.run(fake, {z: noise, p: 1.0})\nr = sess.run(real, {x: images})\n",
            graph="""
            p = tf.placeholder(tf.float32, [])
            def fix():
                global p
                p = tf.constant(1.0)
            """,
        ),
        reason="feeds-differ",
        shapes=("crlf", "tabs"),
    ),
    # what may be the same placeholder
    fed(
        "another name for a placeholder",
        "{z: noise, rate: 1.0}",
        "{x: images, p: 2.0}",
        "p = rate\n",
    ),
    fed("another name, and the same value", "{z: noise}", "{x: images, p: noise}", "p = z\n"),
    fed(
        "two placeholders of one function",
        "{z: noise, p: 1.0}",
        "{x: images, q: 1.0}",
        """
        def number():
            return tf.placeholder(tf.float32, [])
        p = number()
        q = number()
        """,
    ),
    fed(
        "the placeholder of two objects",
        "{z: noise, one.p: 1.0}",
        "{x: images, two.p: 1.0}",
        """
        class Net:
            def __init__(self):
                self.p = tf.placeholder(tf.float32, [])
        one = Net()
        two = Net()
        """,
    ),
    fed(
        "another name within one feed",
        "{z: noise}",
        "{x: images, z: noise, p: more}",
        "p = z\n",
    ),
    # other values
    apart("the same placeholder with other values", "{z: noise}", "{x: images, z: more}"),
    apart("the same, and one of them computed", "{z: noise, x: images}", "{x: images * 2}"),
    apart("a placeholder twice in one feed", "{z: noise, z: more}", "{x: images, z: more}"),
    apart("a feed that a function gives", "{z: noise}", "fill(images)"),
    apart("a feed of pairs", "{z: noise}", "dict([(x, images)])"),
    apart("a feed with another in it", "{z: noise, **more}", "{x: images}"),
    apart(
        "a dict in a name, which was made earlier",
        "fd",
        "{x: images, z: noise}",
        before="fd = {z: 1}\n",
    ),
    leaves_alone(
        "a feed that callers give",
        GRAPH
        + textwrap.dedent("""
        def measure(sess, feed):
            f = sess.run(fake, feed)
            r = sess.run(real, {x: images})
            return f, r
        """),
    ),
    leaves_alone(
        "random numbers beneath",
        step(TWO, graph="fake = fake + tf.random_normal([])\n"),
    ),
    leaves_alone(
        "an update of something beneath",
        step(TWO, graph="fake = tf.assign_add(tf.Variable(0.0), fake)\n"),
    ),
    leaves_alone(
        "two updates",
        step(
            """
            sess.run(train_op, {x: images, rate: 0.1})
            sess.run(second, {z: noise, rate: 0.1})
            """,
            graph="second = tf.train.AdamOptimizer(0.1).minimize(fake, var_list=[v])\n",
        ),
    ),
    leaves_alone(
        "a metric after an update that is fed more",
        step("""
            sess.run(train_op, {x: images, rate: 0.1})
            r = sess.run(real, {x: images})
        """),
        allow=("shifted",),
    ),
    leaves_alone(
        "outside any loop, one of them without a feed",
        GRAPH + "sess = tf.Session()\nfirst = sess.run(w)\nsecond = sess.run(real, {x: images})\n",
    ),
    leaves_alone(
        "in a function that no loop is in, one of them without a feed",
        GRAPH
        + textwrap.dedent("""
        sess = tf.Session()

        def first():
            return sess.run(w), sess.run(real, {x: images})
        """),
    ),
    refuses(
        "runs with one feed are asked about once",
        step(
            """
            f = sess.run(fake, {z: noise})
            n = sess.run(noisy, {z: noise})
            o = sess.run(other, {z: noise})
            """,
            graph="noisy = fake + tf.random_normal([])\n",
        ),
        reason="random-beneath",
    ),
    # values that are drawn
    refuses(
        "noise that is drawn in the feed",
        step("""
            f = sess.run(fake, {z: np.random.uniform(size=[2, 4])})
            r = sess.run(real, {x: images})
        """),
        reason="feed-not-repeatable",
    ),
    refuses(
        "the same draw in both feeds",
        step("""
            r = sess.run(real, {x: images, z: np.random.uniform(size=[2, 4])})
            f = sess.run(fake, {z: np.random.uniform(size=[2, 4])})
        """),
        reason="feed-not-repeatable",
    ),
    refuses(
        "the next batch",
        step("""
            f = sess.run(fake, {z: noise})
            r = sess.run(real, {x: next(images)})
        """),
        reason="feed-not-repeatable",
    ),
    # what is between
    between("the images drawn between", "images = np.random.rand(2, 8)", "rebound-between"),
    between("the images changed where they are", "images += 1", "rebound-between"),
    between("the images shuffled", "np.random.shuffle(images)", "feed-changes"),
    between("a call that is not known", "show(f)", "call-between"),
    between(
        "an update",
        "sess.run(train_op, {x: more, rate: 0.1})",
        ("run-between", "races-with-update"),
    ),
    between("a way out of the loop", "if f > 1:\n    break", "jump-between"),
    refuses(
        "a feed that is made of the first result",
        step("""
            noise = sess.run(other, {z: noise})
            r = sess.run(real, {x: images, rate: noise})
        """),
        reason="rebound-between",
    ),
    refuses(
        "a line that is printed before a check fails",
        step(
            """
            f = sess.run(fake, {z: noise})
            print(f)
            r = sess.run(real, {x: images})
            """,
            graph="real = tf.check_numerics(real, 'bad')\n",
        ),
        reason="call-between",
    ),
    # who sees the failure of a run that lacks a feed
    refuses(
        "a failure that is caught",
        step("""
            try:
                f = sess.run(fake, {z: noise})
                r = sess.run(real, {x: images})
            except tf.errors.InvalidArgumentError:
                print("lost")
        """),
        reason="inside-try",
    ),
    refuses(
        "a failure that a caller catches",
        GRAPH
        + textwrap.dedent("""
        sess = tf.Session()

        def losses(images, noise):
            f = sess.run(fake, {z: noise})
            r = sess.run(real, {x: images})
            return f, r

        try:
            print(losses(images, noise))
        except Exception:
            print("lost")
        """),
        reason="inside-try",
    ),
    refuses(
        "a failure that a with statement swallows",
        step("""
            with contextlib.suppress(Exception):
                f = sess.run(fake, {z: noise})
                r = sess.run(real, {x: images})
        """),
        reason="inside-try",
    ),
    # all else that is asked of runs
    refuses(
        "a session with hooks",
        step(TWO).replace("tf.Session()", "tf.train.MonitoredTrainingSession()"),
        reason="hooked-session",
    ),
    refuses(
        "a session whose kind is not known",
        step(TWO).replace("tf.Session()", "make_session()"),
        reason="session-unknown",
    ),
    refuses(
        "options of its own",
        step("""
            f = sess.run(fake, {z: noise}, options=trace)
            r = sess.run(real, {x: images})
        """),
        reason="run-options",
    ),
    refuses(
        "an operation made for the fetch",
        step("""
            f = sess.run(tf.abs(fake), {z: noise})
            r = sess.run(real, {x: images})
        """),
        reason="fetch-builds-graph",
    ),
    refuses(
        "a graph that is rewired afterwards",
        step(TWO, graph="import tensorflow.contrib.graph_editor as ge\nge.swap_ts(real, fake)\n"),
        reason="graph-surgery",
    ),
    refuses(
        "the same tensor twice, which would be one array",
        step("""
            a = sess.run(made, {z: noise})
            b = sess.run([made, real], {x: images, z: noise})
            a *= 2
        """),
        reason="same-array",
    ),
    refuses(
        "a value that is fused away under the activation of the other run",
        step(
            """
            before = sess.run(h, {x: images})
            after = sess.run([out, fake], {x: images, z: noise})
            """,
            graph="""
            h = tf.layers.conv2d(tf.reshape(x, [-1, 2, 2, 2]), 4, 2)
            out = tf.nn.leaky_relu(h)
            """,
        ),
        reason="fails-together",
    ),
    refuses(
        "a read that the update does not wait for",
        step("""
            f = sess.run(fake, {z: noise})
            sess.run(train_op, {x: images, rate: 0.1})
        """),
        reason="races-with-update",
    ),
    refuses(
        "names set through globals()",
        step(TWO, graph="globals()[name] = tf.random_normal([])\n"),
        reason="dynamic-code",
    ),
    leaves_alone(
        "a placeholder of the script's own",
        step(TWO, graph="tf.placeholder = noisy\n"),
    ),
]


GAN = """\
import numpy as np
import tensorflow as tf


class GAN(object):
    def __init__(self, sess):
        self.sess = sess
        self.inputs = tf.placeholder(tf.float32, [None, 8])
        self.z = tf.placeholder(tf.float32, [None, 4])
        self.logits = self.discriminator(self.inputs)
        self.logits_ = self.discriminator(self.generator(self.z), reuse=True)
        self.d_loss_real = self.loss(self.logits, tf.ones_like(self.logits))
        self.d_loss_fake = self.loss(self.logits_, tf.zeros_like(self.logits_))
        self.g_loss = self.loss(self.logits_, tf.ones_like(self.logits_))

    def loss(self, logits, labels):
        return tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))

    def discriminator(self, image, reuse=False):
        with tf.variable_scope("discriminator") as scope:
            if reuse:
                scope.reuse_variables()
            return tf.matmul(image, tf.get_variable("w", [8, 1]))

    def generator(self, z):
        with tf.variable_scope("generator"):
            return tf.tanh(tf.matmul(z, tf.get_variable("w", [4, 8])))

    def train(self, data):
        for images in data:
            z = np.random.uniform(-1, 1, [2, 4])
{body}
            print(errD_fake + errD_real, errG)


with tf.Session() as sess:
    GAN(sess).train(load())
"""


def gan(body: str) -> str:
    return GAN.replace("{body}", textwrap.indent(textwrap.dedent(body).strip(), " " * 12))


REWRITES = [
    one(
        "two placeholders, a run for each",
        TWO,
        "f, r = sess.run([fake, real], {z: noise, x: images})\n",
    ),
    one(
        "one run feeds more, and it is the second",
        """
        f = sess.run(fake, feed_dict={z: noise})
        r = sess.run([real, other], feed_dict={z: noise, x: images})
        """,
        "f, r = sess.run([fake, [real, other]], feed_dict={z: noise, x: images})\n",
        contract="rounding",
    ),
    one(
        "one run feeds more, and it is the first",
        """
        r = sess.run(real, {x: images, z: noise, rate: 0.1})
        f = sess.run(fake, {z: noise})
        """,
        "r, f = sess.run([real, fake], {x: images, z: noise, rate: 0.1})\n",
    ),
    one(
        "three runs, of which two feed the same",
        """
        f = sess.run(fake, {z: noise})
        r = sess.run(real, {x: images})
        o = sess.run(other, {z: noise})
        """,
        "f, r, o = sess.run([fake, real, other], {z: noise, x: images})\n",
        contract="rounding",
    ),
    rewrites(
        "the losses of a GAN by eval",
        gan("""
        errD_fake = self.d_loss_fake.eval({self.z: z})
        errD_real = self.d_loss_real.eval({self.inputs: images})
        errG = self.g_loss.eval({self.z: z})
        """),
        gan("""
        errD_fake, errD_real, errG = tf.get_default_session().run(
            [self.d_loss_fake, self.d_loss_real, self.g_loss],
            feed_dict={self.z: z, self.inputs: images})
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    one(
        "the update feeds the rate as well",
        """
        r = sess.run(real, {x: images})
        sess.run(train_op, {x: images, rate: 0.1})
        """,
        "r, _ = sess.run([real, train_op], {x: images, rate: 0.1})\n",
        contract="rounding",
    ),
    one(
        "a run without a feed, then one with one",
        """
        print(sess.run(w))
        r = sess.run(real, feed_dict={x: images})
        """,
        """
        w_value, r = sess.run([w, real], feed_dict={x: images})
        print(w_value)
        """,
    ),
    one(
        "a feed in a name, and a run that needs none",
        """
        r = sess.run(real, fd)
        a = sess.run(v, None)
        """,
        "r, a = sess.run([real, v], fd)\n",
        before="fd = {x: test_images}\nfd[rate] = 0.1\n",
    ),
    one(
        "eval without a feed",
        """
        a = v.eval()
        r = real.eval({x: images})
        """,
        "a, r = sess.run([v, real], feed_dict={x: images})\n",
    ),
    one(
        "lines, comments, commas and brackets of a feed",
        """
        r = sess.run(feed_dict={  # real ones
            (x): (images),  # scaled
        }, fetches=real)
        print(r)
        f = sess.run(fake, {z: (noise
            * 2),})
        """,
        """
        r, f = sess.run(feed_dict={z: noise
            * 2,  # real ones
            (x): (images),  # scaled
        }, fetches=[real, fake])
        print(r)
        """,
    ),
    one(
        "a read that feeds other values stays by itself",
        """
        t = sess.run(real, {x: test_images, z: more})
        f = sess.run(fake, {z: noise})
        r = sess.run(real, {x: images})
        """,
        """
        t = sess.run(real, {x: test_images, z: more})
        f, r = sess.run([fake, real], {z: noise, x: images})
        """,
    ),
    one(
        "an attribute, a name by import, and the second TensorFlow's spelling",
        """
        f = sess.run(fake, {z: noise})
        s = sess.run(sums, {x: images, p: 1.0, net.q: 2.0})
        """,
        "f, s = sess.run([fake, sums], {z: noise, x: images, p: 1.0, net.q: 2.0})\n",
        graph="""
        from tensorflow import placeholder
        class Net:
            def __init__(self):
                self.q = tf.compat.v1.placeholder(tf.float32, [])
        net = Net()
        p = placeholder(tf.float32, [])
        sums = tf.reduce_sum(x) + p * net.q
        """,
    ),
    rewrites(
        "where the one run cannot be, those with the same feed are still one",
        step("""
            f = sess.run(fake, {z: noise})
            images = images + 1
            o = sess.run(other, {z: noise})
            r = sess.run(real, {x: images})
        """),
        step("""
            f, o = sess.run([fake, other], {z: noise})
            images = images + 1
            r = sess.run(real, {x: images})
        """),
        contract="rounding",
        refused=("rebound-between",),
    ),
]

test_merge_session_runs_feeds = bench(MergeSessionRuns, *TRAPS, *REWRITES)
