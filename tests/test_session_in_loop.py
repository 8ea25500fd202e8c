"""TFR106: what is left alone and refused first, then what is reported and rewritten."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, refuses, reports, rewrites
from tfrewrite.codemods.session_in_loop import SessionInLoop

TOP = ("main", "crlf", "tabs")

HEAD = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3]))
total = tf.reduce_sum(x)
logits = x * w
noise = x + tf.random_normal([3], seed=1)
dropped = tf.nn.dropout(x, 0.5)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(logits))
element = tf.data.Dataset.range(5).prefetch(1).make_one_shot_iterator().get_next()
init_op = tf.global_variables_initializer()
saver = tf.train.Saver()
images = np.ones([50, 1, 3])
"""


def script(rest: str) -> str:
    return HEAD + textwrap.dedent(rest).lstrip("\n")


def in_session(
    *lines: str, opened: str = "tf.Session()", loop: str = "for image in images:"
) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}{loop}\n    with {opened} as sess:\n{body}"


RESTORED = ('saver.restore(sess, "model.ckpt")', "print(sess.run(logits, {x: image}))")

test_left_alone = bench(
    SessionInLoop,
    leaves_alone(
        "no loop", script("with tf.Session() as sess:\n    sess.run(total, {x: images[0]})\n")
    ),
    leaves_alone(
        "the loop within",
        script(
            "with tf.Session() as sess:\n    for i in images:\n        sess.run(total, {x: i})\n"
        ),
    ),
    leaves_alone("nothing is run", in_session("print(image)")),
    leaves_alone(
        "training in each turn",
        in_session(
            "sess.run(init_op)", "for i in range(100):", "    sess.run(train_op, {x: image})"
        ),
    ),
    leaves_alone(
        "training in a function of the file",
        HEAD
        + textwrap.dedent(
            """\
            def train(sess):
                for i in range(100):
                    sess.run(train_op, {x: images[i]})
            for fold in range(10):
                with tf.Session() as sess:
                    sess.run(init_op)
                    train(sess)
            """
        ),
    ),
    leaves_alone("the session is given away", in_session("sess.run(init_op)", "work(sess, image)")),
    leaves_alone(
        "the session is given away in a list", in_session("sess.run(init_op)", "work([sess])")
    ),
    leaves_alone("a model is fitted", in_session("sess.run(init_op)", "model.fit(image)")),
    leaves_alone(
        "some turns", in_session("sess.run(total, {x: image})", loop="for image in (a, b):")
    ),
    leaves_alone("three turns", in_session("sess.run(total)", loop="for image in range(3):")),
    leaves_alone(
        "now and then",
        script(
            """
            for step in range(100):
                if step % 10 == 0:
                    with tf.Session() as sess:
                        print(sess.run(total, {x: images[0]}))
            """
        ),
    ),
    leaves_alone(
        "an ensemble",
        script(
            """
            for path in paths:
                with tf.Session() as sess:
                    saver.restore(sess, path)
                    print(sess.run(logits, {x: images[0]}))
            """
        ),
    ),
    leaves_alone(
        "an ensemble, by number",
        script(
            """
            for i in range(10):
                with tf.Session() as sess:
                    saver.restore(sess, "model-%d" % i)
                    print(sess.run(logits, {x: images[0]}))
            """
        ),
    ),
    leaves_alone(
        "an ensemble by a function",
        HEAD
        + textwrap.dedent(
            """\
            def predict(path):
                with tf.Session() as sess:
                    saver.restore(sess, path)
                    return sess.run(logits, {x: images[0]})
            for path in paths:
                predict(path)
            """
        ),
    ),
    leaves_alone(
        "waiting for the next checkpoint",
        script(
            """
            import time
            while True:
                with tf.Session() as sess:
                    saver.restore(sess, tf.train.latest_checkpoint("models"))
                    print(sess.run(logits, {x: images[0]}))
                time.sleep(60)
            """
        ),
    ),
    leaves_alone(
        "beside a loop that trains",
        HEAD
        + textwrap.dedent(
            """\
            def validate():
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    return sess.run(logits, {x: images[0]})
            with tf.Session() as main_sess:
                for epoch in range(10):
                    for image in images:
                        main_sess.run(train_op, {x: image})
                    validate()
            """
        ),
    ),
    leaves_alone(
        "a function that is called once",
        HEAD
        + "def total_of(image):\n    with tf.Session() as sess:\n"
        + "        return sess.run(total, {x: image})\nprint(total_of(images[0]))\n",
    ),
    leaves_alone(
        "a function that gives its session back",
        HEAD
        + "def start():\n    sess = tf.Session()\n    sess.run(init_op)\n    return sess\n"
        + "sessions = [start() for image in images]\n",
    ),
    leaves_alone(
        "a session for each object",
        HEAD
        + "class Agent:\n    def __init__(self):\n        sess = tf.Session()\n"
        + "        sess.run(init_op)\nagents = [Agent() for image in images]\n",
    ),
    leaves_alone(
        "a monitored session", in_session("sess.run(total)", opened="tf.train.MonitoredSession()")
    ),
    leaves_alone(
        "another model in each turn",
        "import tensorflow as tf\n"
        "for path in paths:\n    tf.keras.models.load_model(path).predict(x)\n",
    ),
    leaves_alone(
        "a model loaded once",
        'import tensorflow as tf\nmodel = tf.keras.models.load_model("a.h5")\nmodel.predict(x)\n',
    ),
    leaves_alone(
        "a loader of another library", "import keras, other\nfor i in n:\n    other.load_model(a)\n"
    ),
)

test_state_refused = bench(
    SessionInLoop,
    refuses("an update", in_session("sess.run(train_op, {x: image})"), reason="keeps-state"),
    refuses(
        "initialised anew",
        in_session("sess.run(init_op)", "print(sess.run(logits, {x: image}))"),
        reason="keeps-state",
    ),
    refuses(
        "initialised by the op itself",
        in_session("init_op.run()", "print(sess.run(logits, {x: image}))"),
        reason="keeps-state",
    ),
    refuses(
        "variables of nowhere",
        in_session("print(sess.run(logits, {x: image}))"),
        reason="keeps-state",
    ),
    refuses(
        "a random op with a seed",
        in_session("print(sess.run(noise, {x: image}))"),
        reason="keeps-state",
    ),
    refuses("dropout", in_session("print(sess.run(dropped, {x: image}))"), reason="keeps-state"),
    refuses(
        "an iterator, which begins anew",
        in_session("print(sess.run(element))"),
        reason="keeps-state",
    ),
    refuses(
        "a restore and an update",
        in_session('saver.restore(sess, "a")', "sess.run(train_op, {x: image})"),
        reason="keeps-state",
    ),
    refuses(
        "a fetch by its name", in_session("print(sess.run('logits:0'))"), reason="fetch-not-traced"
    ),
    refuses(
        "a fetch of another file",
        in_session("print(sess.run(model.logits, {x: image}))"),
        reason=("fetch-not-traced",),
    ),
    refuses(
        "options", in_session("sess.run(total, {x: image}, options=options)"), reason="run-options"
    ),
    refuses(
        "a run of another session",
        script(
            """
            other = tf.Session()
            for image in images:
                with tf.Session() as sess:
                    print(sess.run(total, {x: image}))
                    print(other.run(total, {x: image}))
            """
        ),
        reason="run-elsewhere",
    ),
    refuses(
        "a run in a function that it calls",
        HEAD
        + textwrap.dedent(
            """\
            def mean(image):
                return tf.get_default_session().run(total, {x: image})
            def other(image):
                return logits.eval({x: image})
            for image in images:
                with tf.Session() as sess:
                    print(sess.run(total, {x: image}))
                    print(other(image))
            """
        ),
        reason="run-elsewhere",
    ),
)

test_surroundings_refused = bench(
    SessionInLoop,
    refuses(
        "ops made in each turn",
        in_session("print(sess.run(tf.add(total, 1)))"),
        reason="builds-ops",
    ),
    refuses(
        "an operator, in a graph of its own",
        script(
            """
            graph = tf.get_default_graph()
            for image in images:
                with tf.Session(graph=graph) as sess:
                    print(sess.run(total * 2, {x: image}))
            """
        ),
        reason="builds-ops",
    ),
    refuses(
        "a call that is not known",
        in_session("print(sess.run(total, {x: image}))", "unknown(image)"),
        reason="builds-ops",
    ),
    refuses(
        "a generator",
        HEAD
        + "def totals():\n    for image in images:\n        with tf.Session() as sess:\n"
        + "            yield sess.run(total, {x: image})\n",
        reason="generator",
    ),
    refuses(
        "kept for later",
        in_session("print(sess.run(total, {x: image}))", "kept = sess"),
        reason="session-used",
    ),
    refuses(
        "asked for its graph",
        in_session("print(sess.run(total, {x: image}))", "print(sess.graph)"),
        reason="session-used",
    ),
    refuses(
        "closed by hand",
        in_session("print(sess.run(total, {x: image}))", "sess.close()"),
        reason="session-used",
    ),
    refuses(
        "used after it is closed",
        HEAD
        + textwrap.dedent(
            """\
            for image in images:
                with tf.Session() as sess:
                    print(sess.run(total, {x: image}))
                print(sess.graph)
            """
        ),
        reason="session-used",
    ),
    refuses(
        "a server",
        in_session("sess.run(total, {x: image})", opened="tf.Session(server.target)"),
        reason="session-arguments",
    ),
    refuses(
        "another graph by an interactive session",
        script(
            """
            other = first.graph
            for image in images:
                tf.InteractiveSession(graph=other)
                with tf.Session() as sess:
                    print(sess.run(total, {x: image}))
            """
        ),
        reason="graph-changes",
    ),
    refuses(
        "a configuration that prints for each session",
        in_session(
            "sess.run(total, {x: image})",
            opened="tf.Session(config=tf.ConfigProto(log_device_placement=True))",
        ),
        reason="session-arguments",
    ),
    refuses(
        "a configuration that a function changes",
        script(
            """
            config = tf.ConfigProto()
            def grow(settings):
                settings.gpu_options.allow_growth = True
            for image in images:
                grow(config)
                with tf.Session(config=config) as sess:
                    print(sess.run(total, {x: image}))
            """
        ),
        reason="session-arguments",
    ),
    refuses(
        "a configuration that changes",
        script(
            """
            config = tf.ConfigProto()
            for image in images:
                config.inter_op_parallelism_threads += 1
                with tf.Session(config=config) as sess:
                    print(sess.run(total, {x: image}))
            """
        ),
        reason="session-arguments",
    ),
    refuses(
        "a configuration made in each turn",
        script(
            """
            for image in images:
                config = tf.ConfigProto()
                with tf.Session(config=config) as sess:
                    print(sess.run(total, {x: image}))
            """
        ),
        reason="rebound-in-loop",
    ),
    refuses(
        "under a device",
        script(
            """
            for image in images:
                with tf.device("/cpu:0"):
                    with tf.Session() as sess:
                        print(sess.run(total, {x: image}))
            """
        ),
        reason="scope-in-loop",
    ),
    refuses(
        "restored late",
        in_session("print(sess.run(total, {x: image}))", *RESTORED),
        reason="restored-late",
    ),
    refuses(
        "restored under a condition",
        in_session(
            "if image.any():", '    saver.restore(sess, "a")', "print(sess.run(logits, {x: image}))"
        ),
        reason="session-used",
    ),
    refuses(
        "restored by something else",
        script(
            """
            for image in images:
                with tf.Session() as sess:
                    loader.restore(sess, "a")
                    print(sess.run(logits, {x: image}))
            """
        ),
        reason=("operand-not-sure",),
    ),
    refuses(
        "the newest checkpoint",
        in_session('saver.restore(sess, tf.train.latest_checkpoint("a"))', RESTORED[1]),
        reason="operand-not-sure",
    ),
    refuses(
        "the checkpoint is written meanwhile",
        script(
            """
            with tf.Session() as trainer:
                trainer.run(init_op)
                for image in images:
                    trainer.run(train_op, {x: image})
                    saver.save(trainer, "model.ckpt")
                    with tf.Session() as sess:
                        saver.restore(sess, "model.ckpt")
                        print(sess.run(logits, {x: image}))
            """
        ),
        reason="checkpoint-may-change",
    ),
    refuses(
        "the checkpoint is copied",
        "import shutil\n"
        + script(
            """
            for image in images:
                shutil.copyfile("a", "model.ckpt")
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    print(sess.run(logits, {x: image}))
            """
        ),
        reason="checkpoint-may-change",
    ),
    *[
        refuses(
            name,
            "import os\nimport subprocess\n"
            + script(
                f"""
                for image in images:
                    {call}
                    with tf.Session() as sess:
                        saver.restore(sess, "model.ckpt")
                        print(sess.run(logits, {{x: image}}))
                """
            ),
            reason="checkpoint-may-change",
        )
        for name, call in (
            ("another program runs", "subprocess.run(['make'])"),
            ("another directory", "os.chdir(image)"),
            ("a link to another checkpoint", "os.symlink('a', 'model.ckpt')"),
            ("somebody is waited for", "input('next?')"),
            ("a file is written", "open('model.ckpt', 'w')"),
            ("an array is written", "image.tofile('model.ckpt')"),
            ("it is waited for", "if not os.path.exists('model.ckpt.index'): continue"),
            ("it is asked for", "if not tf.train.checkpoint_exists('model.ckpt'): continue"),
        )
    ],
    refuses(
        "something unknown in the loop, and a checkpoint",
        script(
            """
            for image in images:
                unknown(image)
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    print(sess.run(logits, {x: image}))
            """
        ),
        reason="checkpoint-may-change",
    ),
    refuses(
        "a checkpoint that may be missing",
        script(
            """
            for image in images:
                try:
                    with tf.Session() as sess:
                        saver.restore(sess, "model.ckpt")
                        print(sess.run(logits, {x: image}))
                except tf.errors.NotFoundError:
                    print("none")
            """
        ),
        reason="error-caught",
    ),
    refuses(
        "names set unseen",
        in_session("print(sess.run(total, {x: image}))", "exec(image)"),
        reason="dynamic-code",
    ),
    refuses(
        "threads",
        "import threading\n" + in_session("print(sess.run(total, {x: image}))"),
        reason="dynamic-code",
        shapes=TOP,
    ),
)

test_reported = bench(
    SessionInLoop,
    reports(
        "a function that restores",
        HEAD
        + textwrap.dedent(
            """\
            def predict(image):
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    return sess.run(logits, {x: image})
            for image in images:
                predict(image)
            """
        ),
        message="calls `predict`, which opens a session each time",
    ),
    reports(
        "a function that looks its tensors up",
        HEAD
        + textwrap.dedent(
            """\
            def predict(image, name):
                with tf.Session() as sess:
                    output = sess.graph.get_tensor_by_name("final:0")
                    found = sess.run(output, {"input:0": image})
                    for number in found[0].argsort()[::-1]:
                        print(number, name)
            for image in images:
                predict(image, "a")
            """
        ),
        message="calls `predict`",
    ),
    reports(
        "a method",
        HEAD
        + textwrap.dedent(
            """\
            class Model:
                def score(self, image):
                    sess = tf.Session(graph=self.graph)
                    result = sess.run(self.out, {self.x: image})
                    sess.close()
                    return result
                def scores(self, images):
                    return [self.score(image) for image in images]
            """
        ),
        message="calls `score`",
    ),
    reports(
        "a graph in each turn",
        script(
            """
            for image in images:
                with tf.Graph().as_default():
                    y = tf.placeholder(tf.float32)
                    with tf.Session() as sess:
                        print(sess.run(y, {y: image}))
            """
        ),
        message="makes a graph and a session",
    ),
    reports(
        "a graph thrown away in each turn",
        script(
            """
            for image in images:
                tf.reset_default_graph()
                y = tf.placeholder(tf.float32)
                with tf.Session() as sess:
                    print(sess.run(y, {y: image}))
            """
        ),
        message="makes a graph and a session",
    ),
    reports(
        "without a with",
        script(
            """
            for image in images:
                sess = tf.Session()
                print(sess.run(total, {x: image}))
                sess.close()
            """
        ),
        message="opens a session",
    ),
    reports(
        "a model loaded in each turn",
        "import tensorflow as tf\n"
        'for a in n:\n    model = tf.keras.models.load_model("a.h5")\n    model.predict(a)\n',
        message="loads the same model",
    ),
    reports(
        "a model loaded by a function",
        "from keras.models import load_model\n"
        + textwrap.dedent(
            """\
            def classify(image):
                model = load_model("a.h5")
                return model.predict(image)
            labels = [classify(image) for image in images]
            """
        ),
        message="calls `classify`, which loads the same model",
    ),
)


def kept(
    *lines: str,
    loop: str = "for image in images:",
    opened: str = "tf.Session()",
    before: str = "",
    after: str = "",
) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return (
        f"{HEAD}kept_session = {opened}\n{before}{loop}\n"
        f"    with kept_session.as_default() as sess:\n{body}{after}"
    )


test_rewritten = bench(
    SessionInLoop,
    rewrites(
        "what is fed",
        in_session("print(sess.run(total, feed_dict={x: image}))"),
        kept("print(sess.run(total, feed_dict={x: image}))"),
        contract="exact",
    ),
    rewrites(
        "closed after it",
        in_session("print(sess.run(total, {x: image}))") + 'print("done")\n',
        kept("print(sess.run(total, {x: image}))", after='kept_session.close()\nprint("done")\n'),
        contract="exact",
    ),
    rewrites(
        "restored",
        in_session(*RESTORED),
        kept(RESTORED[1], before='saver.restore(kept_session, "model.ckpt")\n'),
        contract="exact",
    ),
    rewrites(
        "restored from a path with a name, with comments",
        script(
            """
            path = tf.train.latest_checkpoint("models")
            # All images.
            for image in images:
                with tf.Session() as sess:
                    # The weights.
                    saver.restore(sess, path)
                    print(sess.run(logits, {x: image}))  # shows
            """
        ),
        script(
            """
            path = tf.train.latest_checkpoint("models")
            # The weights.
            kept_session = tf.Session()
            saver.restore(kept_session, path)
            # All images.
            for image in images:
                with kept_session.as_default() as sess:
                    print(sess.run(logits, {x: image}))  # shows
            """
        ),
        contract="exact",
    ),
    rewrites(
        "restored from a flag",
        script(
            """
            FLAGS = tf.app.flags.FLAGS
            for image in images:
                with tf.Session() as sess:
                    saver.restore(sess, FLAGS.checkpoint)
                    print(sess.run(logits, {x: image}))
            """
        ),
        script(
            """
            FLAGS = tf.app.flags.FLAGS
            kept_session = tf.Session()
            saver.restore(kept_session, FLAGS.checkpoint)
            for image in images:
                with kept_session.as_default() as sess:
                    print(sess.run(logits, {x: image}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "two runs, one of them the tensor's own",
        in_session(
            "a = sess.run(total, {x: image})", "b = total.eval({x: image + 1})", "print(a, b)"
        ),
        kept("a = sess.run(total, {x: image})", "b = total.eval({x: image + 1})", "print(a, b)"),
        contract="exact",
    ),
    rewrites(
        "with a configuration",
        in_session(
            "print(sess.run(total, {x: image}))",
            opened="tf.Session(config=tf.ConfigProto(allow_soft_placement=True))",
        ),
        kept(
            "print(sess.run(total, {x: image}))",
            opened="tf.Session(config=tf.ConfigProto(allow_soft_placement=True))",
        ),
        contract="exact",
    ),
    rewrites(
        "with a configuration of its own name",
        HEAD
        + "config = tf.ConfigProto()\n"
        + in_session("print(sess.run(total, {x: image}))", opened="tf.Session(config=config)")[
            len(HEAD) :
        ],
        HEAD
        + "config = tf.ConfigProto()\n"
        + kept("print(sess.run(total, {x: image}))", opened="tf.Session(config=config)")[
            len(HEAD) :
        ],
        contract="exact",
    ),
    rewrites(
        "through two loops",
        script(
            """
            for epoch in range(10):
                for image in images:
                    with tf.Session() as sess:
                        print(sess.run(total, {x: image}))
                print(epoch)
            """
        ),
        script(
            """
            kept_session = tf.Session()
            for epoch in range(10):
                for image in images:
                    with kept_session.as_default() as sess:
                        print(sess.run(total, {x: image}))
                print(epoch)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "left early",
        in_session("value = sess.run(total, {x: image})", "if value > 3:", "    break"),
        kept("value = sess.run(total, {x: image})", "if value > 3:", "    break"),
        contract="exact",
    ),
    rewrites(
        "in a function that returns from it",
        HEAD
        + textwrap.dedent(
            """\
            def first(found):
                for image in found:
                    with tf.Session() as sess:
                        if sess.run(total, {x: image}) > 3:
                            return image
                return None
            """
        ),
        HEAD
        + textwrap.dedent(
            """\
            def first(found):
                kept_session = tf.Session()
                for image in found:
                    with kept_session.as_default() as sess:
                        if sess.run(total, {x: image}) > 3:
                            return image
                kept_session.close()
                return None
            """
        ),
        contract="exact",
    ),
    rewrites(
        "results in a list",
        script(
            """
            results = []
            for i in range(len(images)):
                with tf.Session() as sess:
                    results.append(sess.run(total, feed_dict={x: images[i]}))
            print(results)
            """
        ),
        script(
            """
            results = []
            kept_session = tf.Session()
            for i in range(len(images)):
                with kept_session.as_default() as sess:
                    results.append(sess.run(total, feed_dict={x: images[i]}))
            kept_session.close()
            print(results)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "after another session of that name",
        script(
            """
            with tf.Session() as sess:
                sess.run(init_op)
                print(sess.graph)
                saver.save(sess, "model.ckpt")
            for image in images:
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    print(sess.run(logits, {x: image}))
            """
        ),
        script(
            """
            with tf.Session() as sess:
                sess.run(init_op)
                print(sess.graph)
                saver.save(sess, "model.ckpt")
            kept_session = tf.Session()
            saver.restore(kept_session, "model.ckpt")
            for image in images:
                with kept_session.as_default() as sess:
                    print(sess.run(logits, {x: image}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "counted, in a graph that has a name",
        script(
            """
            graph = tf.get_default_graph()
            for image in images:
                with tf.Session(graph=graph) as sess:
                    value = sess.run(total, {x: image})
                print(value)
            """
        ),
        script(
            """
            graph = tf.get_default_graph()
            kept_session = tf.Session(graph=graph)
            for image in images:
                with kept_session.as_default() as sess:
                    value = sess.run(total, {x: image})
                print(value)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a sum over all turns, of what is restored",
        script(
            """
            right = 0
            for image in images:
                with tf.Session() as sess:
                    saver.restore(sess, "model.ckpt")
                    right += np.sum(sess.run(logits, {x: image}) > 0)
            print(right)
            """
        ),
        script(
            """
            right = 0
            kept_session = tf.Session()
            saver.restore(kept_session, "model.ckpt")
            for image in images:
                with kept_session.as_default() as sess:
                    right += np.sum(sess.run(logits, {x: image}) > 0)
            kept_session.close()
            print(right)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "without a name",
        script(
            "for image in images:\n    with tf.Session():\n        print(total.eval({x: image}))\n"
        ),
        script(
            "kept_session = tf.Session()\nfor image in images:\n"
            "    with kept_session.as_default():\n        print(total.eval({x: image}))\n"
        ),
        contract="exact",
    ),
    rewrites(
        "an error of the run is caught",
        script(
            """
            for image in images:
                try:
                    with tf.Session() as sess:
                        print(sess.run(total, {x: image}))
                except ValueError:
                    print("wrong shape")
            """
        ),
        script(
            """
            kept_session = tf.Session()
            for image in images:
                try:
                    with kept_session.as_default() as sess:
                        print(sess.run(total, {x: image}))
                except ValueError:
                    print("wrong shape")
            """
        ),
        contract="exact",
    ),
)
