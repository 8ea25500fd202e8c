"""TFR113: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

import textwrap

from rulebench import bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.finalize_graph import FinalizeGraph

TOP = ("main", "crlf", "tabs")

HEAD = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3]))
loss = tf.reduce_mean(x * w)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""


def script(rest: str) -> str:
    return HEAD + textwrap.dedent(rest).lstrip("\n")


test_left_alone = bench(
    FinalizeGraph,
    leaves_alone("no loop", script("print(sess.run(train_op))\n")),
    leaves_alone("no session", "import tensorflow as tf\nfor x in dataset:\n    model.run(x)\n"),
    leaves_alone(
        "closed already",
        script(
            """
            tf.get_default_graph().finalize()
            for step in range(10):
                sess.run(train_op)
            """
        ),
    ),
    leaves_alone(
        "a session that closes it",
        script(
            """
            with tf.train.MonitoredTrainingSession() as mon:
                while not mon.should_stop():
                    mon.run(train_op)
            """
        ),
    ),
)

test_refused_for_what_runs_unnamed = bench(
    FinalizeGraph,
    *(
        refuses(name, script(textwrap.dedent(code)), reason="builds-ops", shapes=TOP)
        for name, code in {
            "a generator made before the loop": """
                def batches():
                    for k in range(9):
                        yield sess.run(tf.fill([3], float(k)))
                given = batches()
                for batch in given:
                    sess.run(train_op)
                """,
            "a generator expression made before the loop": """
                given = (sess.run(tf.fill([3], 1.0)) for k in range(9))
                for batch in given:
                    sess.run(train_op)
                """,
            "a map made before the loop": """
                def batch(k):
                    return sess.run(tf.fill([3], 1.0))
                given = map(batch, range(9))
                for batch in given:
                    sess.run(train_op)
                """,
            "an object that is looped over": """
                class Batches:
                    def __iter__(self):
                        return iter([sess.run(tf.fill([3], 1.0))])
                given = Batches()
                for batch in given:
                    sess.run(train_op)
                """,
            "an object that is printed": """
                class Report:
                    def __str__(self):
                        return str(sess.run(tf.square(loss)))
                report = Report()
                for step in range(9):
                    sess.run(train_op)
                    print(report)
                """,
            "an object that is left": """
                class Report:
                    def __enter__(self):
                        return self
                    def __exit__(self, *error):
                        print(sess.run(tf.square(loss)))
                report = Report()
                with report:
                    for step in range(9):
                        sess.run(train_op)
                """,
            "a manager of contextlib that is left": """
                import contextlib
                @contextlib.contextmanager
                def reported():
                    yield
                    print(sess.run(tf.square(loss)))
                with reported():
                    for step in range(9):
                        sess.run(train_op)
                """,
            "a method that is such a manager": """
                from contextlib import contextmanager
                class Trainer:
                    @contextmanager
                    def reported(self):
                        try:
                            yield self
                        finally:
                            print(sess.run(tf.square(loss)))
                with Trainer().reported():
                    for step in range(9):
                        sess.run(train_op)
                """,
            "a stack of exits": """
                import contextlib
                with contextlib.ExitStack() as stack:
                    stack.callback(lambda: sess.run(tf.square(loss)))
                    for step in range(9):
                        sess.run(train_op)
                """,
            "what a run of the graph calls": """
                def report(value):
                    with sess.graph.as_default():
                        print(tf.square(loss).name)
                    return value
                reported = tf.py_func(report, [loss], tf.float32)
                for step in range(9):
                    sess.run([train_op, reported])
                """,
            "the exit of the program": """
                import atexit
                def report():
                    print(sess.run(tf.square(loss)))
                atexit.register(report)
                for step in range(9):
                    sess.run(train_op)
                """,
            "a tensor taken apart": """
                for step in range(9):
                    sess.run(train_op)
                    a, b, c = w
                """,
            "the rows of a tensor": """
                for step in range(9):
                    sess.run(train_op)
                print(*w)
                """,
            "a tensor looked for in a list": """
                for step in range(9):
                    sess.run(train_op)
                    print(loss in [w, loss])
                """,
            "a Saver that is built later": """
                saver = tf.train.Saver(defer_build=True)
                for step in range(9):
                    sess.run(train_op)
                saver.build()
                """,
            "tensors that stay in the session": """
                handle = sess.run(tf.get_session_handle(loss))
                for step in range(9):
                    sess.run(train_op)
                print(handle.eval())
                """,
        }.items()
    ),
)

test_refused = bench(
    FinalizeGraph,
    refuses(
        "an op in the loop",
        script(
            """
            for step in range(10):
                print(sess.run(tf.reduce_sum(w)))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "an operator on a tensor",
        script(
            """
            for step in range(10):
                print(sess.run(loss * 2))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "a tensor that grows",
        script(
            """
            total = loss
            for step in range(10):
                total += 1
                print(sess.run(train_op))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "an element of a tensor",
        script(
            """
            for step in range(10):
                print(sess.run(w[0]))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "a builtin that adds tensors",
        script(
            """
            for step in range(10):
                print(sess.run(sum([loss, loss])))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "numpy, given a tensor",
        script(
            """
            for step in range(10):
                print(sess.run(np.add(loss, 1)))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "TensorFlow's function handed to another",
        script(
            """
            for step in range(10):
                print(sess.run(list(map(tf.square, [1.0]))))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "what a model of Keras computes when it is asked",
        script(
            """
            class Model(tf.keras.Model):
                pass

            model = Model()
            for step in range(10):
                sess.run(model.losses)
            """
        ),
        reason="builds-ops",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a Saver made afterwards",
        script(
            """
            for step in range(10):
                sess.run(train_op)
            tf.train.Saver().save(sess, 'model')
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "a function that is called afterwards",
        script(
            """
            def test():
                return sess.run(tf.reduce_sum(w))

            for step in range(10):
                sess.run(train_op)
            test()
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "a function of another file",
        script(
            """
            from views import show
            for step in range(10):
                show(sess.run(loss))
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "a module loaded in the loop",
        script(
            """
            for step in range(10):
                sess.run(train_op)
                import evaluation
            """
        ),
        reason="builds-ops",
        shapes=TOP,
    ),
    refuses(
        "built anew for each trial",
        script(
            """
            def train(rate):
                step_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
                for step in range(10):
                    sess.run(step_op)

            train(0.1)
            train(0.01)
            """
        ),
        reason="builds-ops",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a function that anybody may call",
        script(
            """
            def train():
                for step in range(10):
                    sess.run(train_op)
            """
        ),
        reason="callers-not-seen",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "a session that is none for sure",
        "import tensorflow as tf\n"
        "from training import sess, train_op\n"
        "for step in range(10):\n    sess.run(train_op)\n",
        reason="session-unknown",
    ),
    refuses(
        "a session made in the loop",
        script(
            """
            for trial in range(10):
                with tf.Session() as trial_sess:
                    trial_sess.run(train_op)
            """
        ),
        reason="session-unknown",
    ),
    refuses(
        "names changed unseen",
        script(
            """
            for step in range(10):
                sess.run(train_op)
                exec('tf.zeros([3])')
            """
        ),
        reason="dynamic-code",
    ),
)

LOOP = """
for step in range(100):
    batch = np.random.rand(8, 3)
    _, loss_value = sess.run([train_op, loss], feed_dict={x: batch})
    if step % 10 == 0:
        print('step %d: %f' % (step, loss_value / 8))
        saver.save(sess, 'model', global_step=step)
"""
AFTER = """
print(sess.run(w).tolist())
for step in range(3):
    print(sess.run(loss, feed_dict={x: np.zeros([1, 3])}))
sess.close()
"""

test_rewritten = bench(
    FinalizeGraph,
    rewrites(
        "runs, numbers, prints and checkpoints",
        script(LOOP + AFTER),
        script("sess.graph.finalize()\n" + LOOP.lstrip("\n") + AFTER),
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "the second loop, where ops are made between the two",
        script(
            """
            for step in range(100):
                sess.run(train_op)
            total = tf.reduce_sum(w)
            # The results.
            for step in range(100):
                print(sess.run(total))
            """
        ),
        script(
            """
            for step in range(100):
                sess.run(train_op)
            total = tf.reduce_sum(w)
            sess.graph.finalize()
            # The results.
            for step in range(100):
                print(sess.run(total))
            """
        ),
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "a function that is called once",
        """
        import tensorflow as tf

        def main(_):
            w = tf.Variable(tf.zeros([3]))
            train_op = tf.assign_add(w, [1., 1., 1.])
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for epoch in range(3):
                    for step in range(10):
                        sess.run(train_op)
                print(sess.run(w))

        if __name__ == '__main__':
            tf.app.run()
        """,
        """
        import tensorflow as tf

        def main(_):
            w = tf.Variable(tf.zeros([3]))
            train_op = tf.assign_add(w, [1., 1., 1.])
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                sess.graph.finalize()
                for epoch in range(3):
                    for step in range(10):
                        sess.run(train_op)
                print(sess.run(w))

        if __name__ == '__main__':
            tf.app.run()
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "the default session",
        """
        import tensorflow as tf
        w = tf.Variable(tf.zeros([3]))
        with tf.Session():
            w.initializer.run()
            for step in range(10):
                print(w.eval())
        """,
        """
        import tensorflow as tf
        w = tf.Variable(tf.zeros([3]))
        with tf.Session():
            w.initializer.run()
            tf.get_default_graph().finalize()
            for step in range(10):
                print(w.eval())
        """,
        contract="exact",
        shapes=TOP,
    ),
)
