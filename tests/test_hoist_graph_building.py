"""TFR103: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.hoist_graph_building import HoistGraphBuilding

HEAD = """
import numpy as np
import tensorflow as tf
"""
GRAPH = """
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.zeros([3, 2]))
logits = tf.matmul(x, w)
loss = tf.reduce_mean(logits)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
"""


def script(loop: str, *, graph: str = GRAPH, before: str = "") -> str:
    """A script with a graph and a loop."""
    return HEAD + "".join(f"{_flat(part)}\n" for part in (graph, before, loop) if part)


def _flat(part: str) -> str:
    lines = part.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines).rstrip()


def loop(*body: str, before: str = "", after: str = "") -> str:
    """A loop over a body, with something before and after it."""
    lines = "\n".join(f"    {line}" for part in body for line in part.split("\n"))
    return script(f"{_flat(before)}\nfor step in range(10):\n{lines}\n{_flat(after)}\n")


def own(body: str, call: str = "net(x)", before: str = "") -> str:
    """A loop that runs what a function makes."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return script(
        f"{_flat(before)}\ndef net(z, k=2):\n{lines}\n\n"
        f"for step in range(10):\n    print(sess.run({call}))\n"
    )


ITERATOR = """
dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).batch(2)
iterator = dataset.make_one_shot_iterator()
"""
OWN = ("crlf", "tabs")
"""Shapes of a case that has functions of its own."""

test_left_alone = bench(
    HoistGraphBuilding,
    leaves_alone(
        "made before the loop",
        script(
            """
            best = tf.argmax(logits, 1)
            for step in range(10):
                print(sess.run(best, feed_dict={x: step}))
            """
        ),
    ),
    leaves_alone(
        "a model that is built in a loop",
        script(
            """
            losses = []
            for gpu in range(4):
                losses.append(tf.reduce_mean(logits))
            total = tf.add_n(losses)
            for step in range(10):
                sess.run(total)
            """
        ),
    ),
    leaves_alone(
        "layers that are built in a loop",
        script(
            """
            h = logits
            for layer in range(4):
                h = tf.nn.relu(h) + 1
            for step in range(10):
                sess.run(h)
            """
        ),
    ),
    leaves_alone(
        "tensors of a list",
        loop("sess.run(parts[step])", "sess.run(parts[0])", before="parts = tf.unstack(w)"),
    ),
    leaves_alone(
        "what is no session",
        "import session\n" + loop("session.run(tf.exp(w))").replace("sess.", "session."),
    ),
    leaves_alone(
        "eager code",
        """
        import tensorflow as tf
        for step in range(10):
            print(tf.argmax(tf.zeros([3, 2]), 1))
        """,
    ),
    leaves_alone(
        "another module's tf",
        script("for i in range(3):\n    print(sess.run(tf.argmax(logits, 1)))").replace(
            "import tensorflow as tf", "import tflearn as tf"
        ),
    ),
    leaves_alone(
        "arithmetic with arrays that are fed",
        script(
            """
            for step in range(10):
                batch = np.ones([2, 3])
                sess.run(train, feed_dict={x: batch * 2 + offset})
            """,
            before="from settings import offset",
        ),
    ),
    leaves_alone(
        "fetches that are put together in each turn",
        script(
            """
            for step in range(10):
                fetches = [train] + others
                print(sess.run(fetches, feed_dict={x: step}))
            """,
            before="from settings import others",
        ),
    ),
    leaves_alone(
        "a variable gets another value in each turn",
        script(
            """
            for step in range(10):
                sess.run(tf.assign(w, step * np.ones([3, 2])))
                sess.run(w.assign(np.zeros([3, 2]) + step))
                w.assign_add(np.ones([3, 2]) * step).eval(session=sess)
            """
        ),
    ),
    leaves_alone(
        "one of several gradients",
        script(
            """
            gradients = tf.gradients(loss, [w, x])
            for step in range(10):
                print(sess.run([gradients[0], gradients[1:]], feed_dict={x: step}))
            """
        ),
    ),
    leaves_alone(
        "parts of an example that is read",
        script(
            """
            example = tf.parse_single_example(text, features=features)
            for step in range(10):
                print(sess.run([example['i'], example['j']]))
            """,
            before="from settings import text, features",
        ),
    ),
    leaves_alone(
        "an element that is only fetched, which TFR104 looks after",
        script(
            """
            for step in range(10):
                print(sess.run(tf.data.make_one_shot_iterator(dataset).get_next()))
                print(sess.run(iterator.get_next()))
            """,
            before=ITERATOR,
        ),
    ),
    leaves_alone("in a lambda", script("f = lambda: [sess.run(tf.exp(logits)) for _ in range(3)]")),
    leaves_alone(
        "in the body of a class",
        script("class A:\n    for step in range(3):\n        print(sess.run(tf.exp(logits)))"),
        shapes=OWN,
    ),
    leaves_alone(
        "made and never run",
        script("for step in range(3):\n    best = tf.argmax(logits, 1)\n    sess.run(train)"),
    ),
    leaves_alone(
        "run after the loop",
        script("for step in range(3):\n    sess.run(train)\n    h = tf.exp(w)\nprint(sess.run(h))"),
    ),
    leaves_alone(
        "a function that runs the graph itself",
        script(
            """
            def measure():
                return sess.run(logits)

            for step in range(3):
                print(measure())
            """
        ),
        shapes=OWN,
    ),
    leaves_alone(
        "decorated",
        own("return tf.exp(z)").replace("def net", "@cached\ndef net"),
        shapes=OWN,
    ),
    leaves_alone(
        "another one in a subclass",
        script(
            """
            class Model:
                def net(self, z):
                    return tf.exp(z)

                def train(self):
                    for step in range(10):
                        print(sess.run(self.net(x)))

            class Noisy(Model):
                def net(self, z):
                    print('noisy')
                    return tf.exp(z)
            """
        ),
        shapes=OWN,
    ),
)


def _refused(reason: str, **bodies: str) -> list[Case]:
    return [
        refuses(name.replace("_", " "), loop(body), reason=reason) for name, body in bodies.items()
    ]


test_refused_for_what_it_makes = bench(
    HoistGraphBuilding,
    *_refused(
        "random-op",
        dropout="print(sess.run(tf.nn.dropout(logits, 0.5)))",
        one_with_a_seed="print(sess.run(logits + tf.random_normal([2], seed=1)))",
        shuffled="order = tf.random_shuffle(w)\nprint(sess.run(order))",
    ),
    *_refused(
        "creates-variables",
        an_optimizer_with_slots="sess.run(tf.train.AdamOptimizer(0.1).minimize(loss))",
        a_variable="print(sess.run(tf.get_variable('v', [2]) + 1))",
        a_metric="m = tf.metrics.accuracy(y, y)\nsess.run(m)",
    ),
    *_refused(
        "registers",
        an_optimizer="sess.run(tf.train.GradientDescentOptimizer(0.1).minimize(loss))",
        a_summary="print(sess.run(tf.summary.scalar('loss', loss)))",
    ),
    *_refused(
        "effect-unknown",
        a_layer="print(sess.run(tf.layers.flatten(logits)))",
        a_branch="print(sess.run(tf.cond(loss > 0, lambda: x, lambda: x)))",
        a_function="print(sess.run(tf.py_func(np.sin, [x], tf.float32)))",
    ),
    refuses(
        "initializers of variables that the loop makes",
        loop(
            "v = make_more()",
            "sess.run(tf.global_variables_initializer())",
            before="from settings import make_more",
        ),
        reason="collection-changes",
    ),
    refuses(
        "summaries that the loop makes",
        loop("tf.summary.scalar('loss', loss)", "print(sess.run(tf.summary.merge_all()))"),
        reason="collection-changes",
    ),
    refuses(
        "a new iterator in each turn",
        script(
            """
            for step in range(10):
                print(sess.run(dataset.make_one_shot_iterator().get_next() * 2))
            """,
            before=ITERATOR,
        ),
        reason="effect-unknown",
    ),
    refuses(
        "two elements of one iterator",
        script(
            """
            for step in range(10):
                a = iterator.get_next()
                b = iterator.get_next()
                print(sess.run(tf.subtract(a, b)))
            """,
            before=ITERATOR,
        ),
        reason="two-in-one-run",
    ),
    refuses(
        "two elements of one iterator in one expression",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next() - iterator.get_next()))
            """,
            before=ITERATOR,
        ),
        reason="two-in-one-run",
    ),
    refuses(
        "two elements that a function takes",
        script(
            """
            def taken():
                return iterator.get_next() * 2

            for step in range(10):
                print(sess.run([taken(), taken()]))
            """,
            before=ITERATOR,
        ),
        reason="two-in-one-run",
        shapes=OWN,
    ),
    refuses(
        "a row that varies",
        loop("print(sess.run(w[step]))", "print(sess.run((w * 2.0)[step:]))"),
        reason="rebound-in-loop",
    ),
    refuses(
        "a tensor that each turn makes of that of the turn before",
        loop("h = h * 2.0", "print(sess.run(h))", before="h = tf.exp(w)"),
        reason="rebound-in-loop",
    ),
)

test_refused_for_its_operands = bench(
    HoistGraphBuilding,
    *_refused(
        "rebound-in-loop",
        the_counter="print(sess.run(tf.multiply(w, float(step))))",
        an_assign_of_a_tensor="sess.run(w.assign(logits * step))",
        a_result="value = sess.run(w)\nprint(sess.run(tf.nn.softmax(value)))",
        a_name_that_is_deleted="print(sess.run(tf.exp(w)))\nif step > 8:\n    del w",
        a_name_that_is_rebound="print(sess.run(tf.exp(w)))\nw = tf.identity(w)",
        a_name_of_a_comprehension="print([sess.run(tf.gather(w, i)) for i in range(3)])",
        the_last_turns_op="logits = tf.exp(logits)\nprint(sess.run(logits))",
    ),
    refuses(
        "a list that grows",
        loop(
            "parts.append(w)",
            "print(sess.run(tf.add_n(parts)))",
            before="parts = [w]",
        ),
        reason="operand-unknown",
    ),
    refuses(
        "a dict that changes",
        loop(
            "print(sess.run(tf.exp(parts['w'])))",
            "parts['w'] = x",
            before="parts = {'w': w}",
        ),
        reason="operand-unknown",
    ),
    refuses(
        "an array that is written to",
        loop(
            "table[0] = step",
            "print(sess.run(tf.add(w, table)))",
            before="table = np.zeros([2])",
        ),
        reason="operand-unknown",
    ),
    refuses(
        "numbers that are drawn",
        loop("print(sess.run(tf.add(w, np.random.rand(2))))"),
        reason=("effect-unknown",),
    ),
    refuses(
        "a clock",
        loop("print(sess.run(tf.add(w, time.time())))", before="import time"),
        reason="effect-unknown",
    ),
    refuses(
        "a file",
        loop("print(sess.run(tf.add(w, load(step))))", before="from settings import load"),
        reason="effect-unknown",
    ),
    refuses(
        "another module's value",
        loop("print(sess.run(tf.add(w, settings.offset)))", before="import settings"),
        reason=("operand-not-sure",),
    ),
    refuses(
        "a value that a function sets",
        script(
            """
            scale = 1.0

            def grow():
                global scale
                scale *= 2

            for step in range(10):
                print(sess.run(w * scale))
                grow()
            """
        ),
        reason="operand-not-sure",
        shapes=OWN,
    ),
    refuses(
        "an attribute that a method sets",
        script(
            """
            class Model:
                def __init__(self):
                    self.scale = 1.0

                def step(self):
                    self.scale += 1

                def train(self):
                    for step in range(10):
                        print(sess.run(w * self.scale))
                        self.step()
            """
        ),
        reason="operand-not-sure",
        shapes=OWN,
    ),
    refuses(
        "a list of tensors that is had by its name as a text",
        script(
            """
            class Model:
                def __init__(self):
                    self.parts = [w, w * w]

                def train(self):
                    for step in range(10):
                        print(sess.run(tf.add_n(self.parts)))
                        getattr(self, "parts").append(w)
            """
        ),
        reason="operand-unknown",
        shapes=OWN,
    ),
    refuses(
        "a parameter whose callers are not seen",
        script(
            """
            def train(sess, offset):
                for step in range(10):
                    print(sess.run(w + offset))
            """
        ),
        reason="operand-unknown",
        shapes=OWN,
    ),
    refuses(
        "not bound on every way",
        loop(
            "print(sess.run(tf.exp(h)))",
            before="from settings import deep\nif deep:\n    h = tf.nn.relu(w)",
        ),
        reason="operand-not-sure",
    ),
    refuses(
        "a shape that is made known in the loop",
        loop("print(sess.run(tf.size(x)))", "x.set_shape([3, 3])"),
        reason="shape-changes",
    ),
)


test_refused_for_what_is_done_with_it = bench(
    HoistGraphBuilding,
    *_refused(
        "used-otherwise",
        kept="kept = []\nh = tf.exp(w)\nkept.append(h)\nprint(sess.run(h))",
        its_name_is_read="h = tf.exp(w)\nprint(h.name, sess.run(h))",
        it_is_printed="h = tf.exp(w)\nprint(h, sess.run(h))",
        under_another_name="h = tf.exp(w)\ng = h\nprint(sess.run(h), sess.run(g))",
        a_callable="h = tf.exp(w)\nf = sess.make_callable(h)\nprint(f(), sess.run(h))",
        several_in_one_run="h = tf.assign_add(w, w)\nsess.run(h)\nsess.run([h for _ in range(3)])",
        fed_to_another="h = tf.exp(w)\nsess.run(h)\nsess.run(train, {x: h})",
    ),
    refuses(
        "this turn's and the last one's",
        loop(
            "h = tf.assign_add(w, w)",
            "print(sess.run([h, last]))",
            "last = h",
            before="last = w",
        ),
        reason="used-otherwise",
    ),
    refuses(
        "read by a function",
        script(
            """
            def show():
                print(h)

            for step in range(10):
                h = tf.exp(w)
                print(sess.run(h))
                show()
            """
        ),
        reason="used-otherwise",
        shapes=OWN,
    ),
    refuses(
        "stored in a dict",
        loop("ops['h'] = tf.exp(w)", "sess.run(ops['h'])", before="ops = {}"),
        reason="used-otherwise",
    ),
    refuses(
        "stored in a dict that is fetched",
        loop("ops['h'] = [tf.exp(w), w]", "sess.run(ops)", before="ops = {}"),
        reason="used-otherwise",
    ),
    refuses(
        "stored in an attribute",
        loop("holder.h = tf.exp(w)", "sess.run([holder.h, w])", before="holder = Holder()"),
        reason="used-otherwise",
    ),
    refuses(
        "several ops of one expression",
        loop("sess.run([tf.assign_add(w, w) for _ in range(3)])"),
        reason="used-otherwise",
    ),
    refuses(
        "several ops of one expression, with a name",
        loop("ops = [tf.assign_add(w, w) for _ in range(3)]", "sess.run(ops)"),
        reason="used-otherwise",
    ),
    refuses(
        "put into a list that grows",
        loop("ops.append(tf.exp(w))", "sess.run(ops)", before="ops = []"),
        reason="used-otherwise",
    ),
    refuses(
        "what is built on it is kept",
        loop("h = tf.exp(w)", "kept.append(h + 1)", "sess.run(h)", before="kept = []"),
        reason="used-otherwise",
    ),
)

test_refused_for_where_it_stands = bench(
    HoistGraphBuilding,
    *_refused(
        "scope-in-loop",
        a_name_scope="with tf.name_scope('metrics'):\n    h = tf.exp(w)\nprint(sess.run(h))",
        a_device="with tf.device('/cpu:0'):\n    print(sess.run(tf.exp(w)))",
        control="with tf.control_dependencies([w]):\n    h = tf.exp(w)\nprint(sess.run(h))",
        a_graph="with tf.Graph().as_default():\n    print(sess.run(tf.exp(w)))",
        a_manager_that_is_not_known="with timed('a'):\n    print(sess.run(tf.exp(w)))",
        named_under_such_a_manager="with timed('a'):\n    h = tf.exp(w)\nprint(sess.run(h))",
        an_operator_under_one="with timed('a'):\n    print(sess.run(w * 2.0))",
    ),
    refuses(
        "a manager around the loop that is not known",
        script(
            """
            with timed('a'):
                for step in range(10):
                    print(sess.run(tf.exp(w)))
            """
        ),
        reason="manager-unknown",
    ),
    refuses(
        "a manager around the call of a function that is not known",
        script(
            """
            def evaluate():
                for step in range(10):
                    print(sess.run(tf.exp(w)))

            with timed('a'):
                evaluate()
            """
        ),
        reason="manager-unknown",
        shapes=OWN,
    ),
    *_refused(
        "may-be-caught",
        a_try="try:\n    print(sess.run(tf.matmul(w, w)))\nexcept ValueError:\n    pass",
        a_division="try:\n    print(sess.run(w * (1 / 0)))\nexcept ZeroDivisionError:\n    pass",
        a_bare_except="try:\n    print(sess.run(tf.matmul(w, w)))\nexcept:\n    break",
    ),
    refuses(
        "by a setting",
        loop(
            "if labels is not None:",
            "    print(sess.run(tf.equal(labels, y)))",
            before="labels = None",
        ),
        reason="conditional",
    ),
    refuses(
        "unless a setting leaves the turn",
        loop(
            "if not evaluate:",
            "    continue",
            "print(sess.run(tf.exp(w)))",
            before="from settings import evaluate",
        ),
        reason="conditional",
    ),
    refuses(
        "by a setting, in one expression",
        loop("print(sess.run(tf.exp(w)) if show else 0)", before="from settings import show"),
        reason="conditional",
    ),
    refuses(
        "after an exception",
        loop("try:\n    f()\nexcept OSError:\n    print(sess.run(tf.exp(w)))", before="f = print"),
        reason="conditional",
    ),
    refuses(
        "a generator",
        script(
            """
            def values():
                for step in range(10):
                    yield sess.run(tf.exp(w))
            """
        ),
        reason="generator",
        shapes=OWN,
    ),
    refuses(
        "a session that closes its graph",
        script(
            """
            with tf.train.MonitoredSession() as sess:
                while not sess.should_stop():
                    print(sess.run(tf.exp(w)))
            """
        ),
        reason="hooked-session",
    ),
    *[
        refuses(name, loop("print(sess.run(tf.exp(w)))", after=after), reason=reason)
        for name, after, reason in (
            ("a scope", "with tf.name_scope('exp') as name:\n    print(name)", "graph-read"),
            ("ops are counted", "g = sess.graph\nprint(g.version)", "graph-read"),
            ("ops are listed", "print(tf.get_default_graph().get_operations())", "graph-read"),
            ("looked up", "sess.graph.get_tensor_by_name('Exp_3:0')", "graph-read"),
            ("written", "tf.summary.FileWriter('logs', sess.graph)", "graph-read"),
            ("eager", "print(tf.executing_eagerly())", "eager-mode"),
            ("exec", "exec('w = x')", "dynamic-code"),
            ("threads", "import threading", "dynamic-code"),
            ("a replaced function", "tf.log = tf.sqrt", "dynamic-code"),
        )
    ],
    *[
        refuses(name, loop(f"print(sess.run({expr}))", after=after), reason="graph-read")
        for name, expr, after in (
            ("a tag", "tf.exp(w, name='loss')", "s = tf.summary.scalar('loss', w)"),
            ("a tag in capitals", "tf.exp(w, name='Loss')", "s = tf.summary.scalar('loss', w)"),
            (
                "an op's own name",
                "tf.reduce_mean(w)",
                "s = tf.summary.scalar(tensor=w, name='Mean')",
            ),
            ("an operator's name", "w * w", "s = tf.summary.histogram('mul', w)"),
            ("a tag that is not told", "tf.exp(w)", "s = tf.summary.scalar(w.op.name, w)"),
            ("a variable's name", "tf.exp(w, name='n')", "n = tf.Variable(0, name='n')"),
            ("by its place", "tf.exp(w, name='n')", "n = tf.Variable(0, True, None, True, 'n')"),
            ("a scope's name", "tf.exp(w, name='n')", "with tf.variable_scope('n'):\n    pass"),
        )
    ],
    *[
        refuses(
            name, loop("print(sess.run(tf.exp(w, name='n')))", after=after), reason="graph-read"
        )
        for name, after in (
            ("a list of later ops", "hs = [tf.exp(w)]\nprint(hs)"),
            ("the names of later ops", "print([h.name for h in (tf.exp(w), w)])"),
            ("later ops in a text", "hs = (tf.exp(w), w)\nprint(', '.join(map(str, hs)))"),
            ("a later op in a log", "import logging\nlogging.info('%s', tf.exp(w))"),
            ("the name as an attribute", "h = tf.exp(w)\nprint(getattr(h, 'name'))"),
            ("a format with a name", "h = tf.exp(w)\nprint(form.format(h))"),
            ("who uses a tensor", "print(len(w.consumers()))"),
            ("a profile", "tf.profiler.profile(tf.get_default_graph())"),
            ("a summary's scope", "with tf.name_scope('n'):\n    s = tf.summary.scalar('a', w)"),
            ("a metric's scope", "m, update = tf.metrics.mean(w, name='n')"),
            ("a layer's name", "h = tf.keras.layers.Dense(2, name='n')(x)"),
        )
    ],
    refuses(
        "the exception of a run is printed",
        loop(
            "try:",
            "    print(sess.run(tf.exp(w)))",
            "except tf.errors.InvalidArgumentError as error:",
            "    print(error.message)",
        ),
        reason="graph-read",
    ),
    refuses(
        "the caller catches what making an op raises",
        script(
            """
            def evaluate():
                for step in range(10):
                    print(sess.run(tf.matmul(x, w)))

            try:
                evaluate()
            except ValueError:
                pass
            """
        ),
        reason="may-be-caught",
        shapes=OWN,
    ),
    refuses(
        "a session makes another graph the default one",
        loop(
            "inner = tf.InteractiveSession(graph=other)",
            "print(inner.run(tf.fill([2], 3.0)))",
            before="other = tf.Graph()",
        ),
        reason="graph-changes",
    ),
    refuses(
        "a library that the loop imports",
        loop("import math", "print(sess.run(w * math.sqrt(2.0)))"),
        reason="rebound-in-loop",
    ),
    refuses(
        "what may be a run of its own",
        script(
            """
            def show(given):
                with sess.as_default():
                    for step in range(10):
                        sess.run(train)
                        print(sess.run(tf.add(w, given.eval())))

            show(tf.exp(w))
            """
        ),
        reason="effect-unknown",
        shapes=OWN,
    ),
    refuses(
        "flags that are parsed anew",
        loop(
            "FLAGS(['', '--scale=%d' % step])",
            "print(sess.run(w * FLAGS.scale))",
            before="FLAGS = tf.app.flags.FLAGS",
        ),
        reason="rebound-in-loop",
    ),
    refuses(
        "a monitored session closes the graph",
        """
        import tensorflow as tf

        x = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", [])
        with tf.train.MonitoredTrainingSession() as session:
            for step in range(10):
                print(session.run(w, {x: step}))
                if step % 10 == 0:
                    tf.train.Saver().save(session, "kept")
        """,
        reason="graph-finalized",
    ),
    refuses(
        "the graph is closed",
        loop("print(sess.run(tf.exp(w)))", before="sess.graph.finalize()"),
        reason="graph-finalized",
    ),
    refuses(
        "another graph in each turn",
        loop("tf.keras.backend.clear_session()", "print(sess.run(tf.exp(w)))"),
        reason="graph-changes",
    ),
)


test_refused_for_its_function = bench(
    HoistGraphBuilding,
    *[
        refuses(name, own(body, before=before), reason=reason, shapes=OWN)
        for name, body, reason, before in (
            ("prints", "print('net')\nreturn tf.exp(z)", "own-function", ""),
            ("sets a global", "global last\nlast = tf.exp(z)\nreturn last", "own-function", ""),
            ("counts", "calls.append(1)\nreturn tf.exp(z)", "own-function", "calls = []"),
            ("draws", "return tf.nn.dropout(z, 0.5)", "random-op", ""),
            ("makes variables", "return tf.layers.dense(z, k)", "effect-unknown", ""),
            (
                "uses variables again",
                "with tf.variable_scope('net', reuse=True):\n    return tf.exp(z)",
                "own-function",
                "",
            ),
            ("a list that grows", "return tf.add_n(ws)", "operand-unknown", "ws = [w]\nws += [w]"),
            ("calls itself", "return net(z) if k else tf.exp(z)", "own-function", ""),
            (
                "a default that grows",
                "return grow(z)",
                "own-function",
                "def grow(z, acc=[]):\n    acc += [z]\n    return tf.add_n(acc)",
            ),
            (
                "an array that is added to",
                "return scaled(z)",
                "own-function",
                "def scaled(z, a=np.ones(3)):\n    h = a\n    h += 1\n    return z * h",
            ),
        )
    ],
    refuses(
        "made in the loop",
        loop("def net(z):\n    return tf.exp(z)", "print(sess.run(net(x)))"),
        reason="rebound-in-loop",
        shapes=OWN,
    ),
    refuses(
        "what it is called with varies",
        own("return tf.exp(z)", call="net(step * w)"),
        reason="rebound-in-loop",
        shapes=OWN,
    ),
)

test_rewritten = bench(
    HoistGraphBuilding,
    rewrites(
        "in the place of what is fetched",
        loop("print(sess.run(tf.argmax(logits, 1), feed_dict={x: step}))"),
        script(
            """
            argmax_op = tf.argmax(logits, 1)
            for step in range(10):
                print(sess.run(argmax_op, feed_dict={x: step}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "in a list of fetches",
        loop("value, best, _ = sess.run([loss, tf.argmax(logits, 1), train])"),
        script(
            """
            argmax_op = tf.argmax(logits, 1)
            for step in range(10):
                value, best, _ = sess.run([loss, argmax_op, train])
            """
        ),
        contract="exact",
    ),
    rewrites(
        "statements that build on each other, with their comments",
        loop(
            "sess.run(train)",
            "# how good it is",
            "correct = tf.equal(tf.argmax(logits, 1), y)",
            "accuracy = tf.reduce_mean(tf.cast(correct, 'float'))  # all of them",
            "print(accuracy.eval({x: 1, y: 2}, session=sess))",
        ),
        script(
            """
            # how good it is
            correct = tf.equal(tf.argmax(logits, 1), y)
            # all of them
            accuracy = tf.reduce_mean(tf.cast(correct, 'float'))
            for step in range(10):
                sess.run(train)
                print(accuracy.eval({x: 1, y: 2}, session=sess))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "every so many turns",
        loop(
            "if step % 10 == 0:",
            "    correct = tf.equal(tf.argmax(logits, 1), y)",
            "    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))",
            "    print(sess.run(accuracy, feed_dict={x: 1, y: 2}))",
        ),
        script(
            """
            correct = tf.equal(tf.argmax(logits, 1), y)
            accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
            for step in range(10):
                if step % 10 == 0:
                    print(sess.run(accuracy, feed_dict={x: 1, y: 2}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "before the outermost loop",
        script("""
for epoch in range(3):
    for step in range(10):
        sess.run(train)
        print(sess.run(logits * 2))
    error = tf.reduce_mean(tf.square(logits))
    print(sess.run(error))
"""),
        script(
            """
            multiply_op = logits * 2
            error = tf.reduce_mean(tf.square(logits))
            for epoch in range(3):
                for step in range(10):
                    sess.run(train)
                    print(sess.run(multiply_op))
                print(sess.run(error))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a function that only makes ops",
        own(
            "h = tf.nn.relu(tf.matmul(z, w))\nif k > 1:\n    h = h * k\n"
            "with tf.name_scope('out'):\n    return tf.sigmoid(h)"
        ),
        script(
            """
            def net(z, k=2):
                h = tf.nn.relu(tf.matmul(z, w))
                if k > 1:
                    h = h * k
                with tf.name_scope('out'):
                    return tf.sigmoid(h)

            net_op = net(x)
            for step in range(10):
                print(sess.run(net_op))
            """
        ),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "a statement over several lines",
        loop(
            "accuracy = tf.reduce_mean(\n    tf.cast(tf.equal(tf.argmax(logits, 1), y),\n"
            "            tf.float32))",
            "print(sess.run(accuracy))",
        ),
        script(
            """
            accuracy = tf.reduce_mean(
                tf.cast(tf.equal(tf.argmax(logits, 1), y),
                        tf.float32))
            for step in range(10):
                print(sess.run(accuracy))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a fetch over several lines",
        loop("print(sess.run(tf.reduce_mean(\n    tf.cast(logits, tf.float32))))"),
        script(
            """
            reduce_mean_op = tf.reduce_mean(tf.cast(logits, tf.float32))
            for step in range(10):
                print(sess.run(reduce_mean_op))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "initializers of variables that are all there",
        loop(
            "sess.run(tf.global_variables_initializer())",
            "sess.run(tf.local_variables_initializer())",
            "sess.run(train)",
        ),
        script(
            """
            init_op = tf.global_variables_initializer()
            local_init_op = tf.local_variables_initializer()
            for step in range(10):
                sess.run(init_op)
                sess.run(local_init_op)
                sess.run(train)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "summaries that are all there",
        loop(
            "s = sess.run(tf.summary.merge_all())",
            "writer.add_summary(s, step)",
            before="tf.summary.scalar('loss', loss)\nwriter = tf.summary.FileWriter('logs')",
        ),
        script(
            """
            tf.summary.scalar('loss', loss)
            writer = tf.summary.FileWriter('logs')
            summary_op = tf.summary.merge_all()
            for step in range(10):
                s = sess.run(summary_op)
                writer.add_summary(s, step)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "variables that get the same in each turn",
        loop("sess.run(tf.assign(w, w * 0.5))", "sess.run(w.assign(tf.zeros([3, 2])))"),
        script(
            """
            assign_op = tf.assign(w, w * 0.5)
            assign_op_2 = w.assign(tf.zeros([3, 2]))
            for step in range(10):
                sess.run(assign_op)
                sess.run(assign_op_2)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "an element with what is built on it",
        script(
            """
for step in range(10):
    batch = iterator.get_next()
    mean = tf.reduce_mean(batch)
    print(sess.run([batch, mean]))
""",
            before=ITERATOR,
        ),
        script(
            """
            dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).batch(2)
            iterator = dataset.make_one_shot_iterator()
            batch = iterator.get_next()
            mean = tf.reduce_mean(batch)
            for step in range(10):
                print(sess.run([batch, mean]))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "an element in what is built on it",
        script(
            """
for step in range(10):
    print(sess.run(tf.reduce_mean(iterator.get_next())))
""",
            before=ITERATOR,
        ),
        script(
            """
            dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).batch(2)
            iterator = dataset.make_one_shot_iterator()
            reduce_mean_op = tf.reduce_mean(iterator.get_next())
            for step in range(10):
                print(sess.run(reduce_mean_op))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a name for two values in turn",
        loop("h = tf.exp(w)", "print(sess.run(h))", "h = tf.log(w)", "print(sess.run(h))"),
        script(
            """
            exp_op = tf.exp(w)
            log_op = tf.log(w)
            for step in range(10):
                h = exp_op
                print(sess.run(h))
                h = log_op
                print(sess.run(h))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "in a comprehension",
        script("values = [sess.run(tf.exp(w)) for _ in range(10)]"),
        script(
            """
            exp_op = tf.exp(w)
            values = [sess.run(exp_op) for _ in range(10)]
            """
        ),
        contract="exact",
    ),
    rewrites(
        "in the test of a loop",
        script("while sess.run(tf.reduce_sum(w)) < 3:\n    sess.run(train)"),
        script(
            """
            reduce_sum_op = tf.reduce_sum(w)
            while sess.run(reduce_sum_op) < 3:
                sess.run(train)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a placeholder that the loop makes and feeds",
        loop(
            "p = tf.placeholder(tf.float32, [])",
            "scaled = logits * p",
            "print(sess.run(scaled, feed_dict={p: step}))",
        ),
        script(
            """
            p = tf.placeholder(tf.float32, [])
            scaled = logits * p
            for step in range(10):
                print(sess.run(scaled, feed_dict={p: step}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "what runs may raise, is caught",
        script("""
while True:
    try:
        print(sess.run(tf.argmax(logits, 1)))
    except tf.errors.OutOfRangeError:
        break
"""),
        script(
            """
            argmax_op = tf.argmax(logits, 1)
            while True:
                try:
                    print(sess.run(argmax_op))
                except tf.errors.OutOfRangeError:
                    break
            """
        ),
        contract="exact",
    ),
    rewrites(
        "operators",
        loop(
            "print(sess.run(logits[:, 0], {x: 1}))",
            "print(sess.run(-loss, {x: 2}))",
            "print(sess.run(w[-1]))",
        ),
        script(
            """
            strided_slice_op = logits[:, 0]
            negative_op = -loss
            strided_slice_op_2 = w[-1]
            for step in range(10):
                print(sess.run(strided_slice_op, {x: 1}))
                print(sess.run(negative_op, {x: 2}))
                print(sess.run(strided_slice_op_2))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "fetched under a key",
        loop("print(sess.run({'best': tf.argmax(logits, 1), 'loss': loss}))"),
        script(
            """
            argmax_op = tf.argmax(logits, 1)
            for step in range(10):
                print(sess.run({'best': argmax_op, 'loss': loss}))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "names that are taken",
        loop(
            "print(sess.run(tf.argmax(logits, 1)))",
            "print(sess.run(tf.argmax(logits, 0)))",
            before="argmax_op = 1",
        ),
        script(
            """
            argmax_op = 1
            argmax_op_2 = tf.argmax(logits, 1)
            argmax_op_3 = tf.argmax(logits, 0)
            for step in range(10):
                print(sess.run(argmax_op_2))
                print(sess.run(argmax_op_3))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a loop on one line",
        script("for step in range(10): print(sess.run(tf.argmax(logits, 1)))"),
        script(
            """
            argmax_op = tf.argmax(logits, 1)
            for step in range(10): print(sess.run(argmax_op))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "gradients",
        loop("g = sess.run(tf.gradients(loss, [w])[0])"),
        script(
            """
            gradients_op = tf.gradients(loss, [w])
            for step in range(10):
                g = sess.run(gradients_op[0])
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a dict of variables",
        loop(
            "print(sess.run(tf.nn.l2_loss(weights['h'])))",
            before="weights = {'h': w, 'o': tf.Variable(tf.zeros([2]))}",
        ),
        script(
            """
            weights = {'h': w, 'o': tf.Variable(tf.zeros([2]))}
            l2_loss_op = tf.nn.l2_loss(weights['h'])
            for step in range(10):
                print(sess.run(l2_loss_op))
            """
        ),
        contract="exact",
    ),
)

OBJECT = """
class Model:
    def __init__(self):
        self.sess = tf.Session()
        self.classes = 10
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.w = tf.Variable(tf.zeros([3, 2]))
        self.logits = self.net(self.x)

    def net(self, z):
        return tf.matmul(z, self.w)

    def train(self, data):
"""
SEEDED = "tf.set_random_seed(1)"
DRAWING = "print(sess.run(tf.random_normal([2])))"

test_rewritten_in_objects_and_with_seeds = bench(
    HoistGraphBuilding,
    rewrites(
        "the tensors, numbers and methods of an object",
        HEAD
        + OBJECT
        + """\
        for batch in data:
            best = self.sess.run(tf.one_hot(tf.argmax(self.logits, 1), self.classes))
            print(best, self.sess.run(self.net(self.x), {self.x: batch}))
""",
        HEAD
        + OBJECT
        + """\
        one_hot_op = tf.one_hot(tf.argmax(self.logits, 1), self.classes)
        net_op = self.net(self.x)
        for batch in data:
            best = self.sess.run(one_hot_op)
            print(best, self.sess.run(net_op, {self.x: batch}))
""",
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "while queues are filled",
        loop(
            "if step % 2000 == 0:",
            "    sess.run(tf.assign(w, w / 3))",
            before="threads = tf.train.start_queue_runners(sess=sess)",
        ),
        script(
            """
            threads = tf.train.start_queue_runners(sess=sess)
            assign_op = tf.assign(w, w / 3)
            for step in range(10):
                if step % 2000 == 0:
                    sess.run(assign_op)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a default that is a dict of variables",
        own("return tf.matmul(z, ws['w'])", before="ws = {'w': w}").replace("k=2", "ws=ws"),
        script(
            """
            ws = {'w': w}
            def net(z, ws=ws):
                return tf.matmul(z, ws['w'])

            net_op = net(x)
            for step in range(10):
                print(sess.run(net_op))
            """
        ),
        contract="exact",
        shapes=OWN,
    ),
    rewrites(
        "a tensor that is looked up before",
        loop(
            "print(sess.run(tf.exp(h)))", before="h = tf.identity(w)\ng = sess.graph.as_graph_def()"
        ),
        script(
            """
            h = tf.identity(w)
            g = sess.graph.as_graph_def()
            exp_op = tf.exp(h)
            for step in range(10):
                print(sess.run(exp_op))
            """
        ),
        contract="exact",
    ),
    offers(
        "a draw after the loop",
        loop("print(sess.run(tf.exp(w)))", before=SEEDED, after=DRAWING),
        contract="resampled",
        changes="TensorFlow 1.15 derives their seeds",
    ),
    rewrites(
        "a draw after the loop, where seeds are not derived from ops",
        loop("print(sess.run(tf.exp(w)))", before=SEEDED, after=DRAWING),
        script(
            f"""
            {SEEDED}
            exp_op = tf.exp(w)
            for step in range(10):
                print(sess.run(exp_op))
            {DRAWING}
            """
        ),
        contract="exact",
        target_tf=(2, 21),
    ),
    rewrites(
        "a draw before the loop",
        loop("print(sess.run(tf.exp(w)))", before=f"{SEEDED}\n{DRAWING}"),
        script(
            f"""
            {SEEDED}
            {DRAWING}
            exp_op = tf.exp(w)
            for step in range(10):
                print(sess.run(exp_op))
            """
        ),
        contract="exact",
        shapes=("main", "crlf", "tabs"),
    ),
)


def called(body: str, *, calls: str = "ask(i)", before: str = "", graph: str = "") -> str:
    """A function that runs something, and a loop that calls it."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    within = "\n".join(f"    {line}" for line in [*graph.split("\n"), calls] if line)
    return script(f"def ask(i):\n{lines}\n\n{_flat(before)}\nfor i in range(10):\n{within}\n")


EXP = "return sess.run(tf.exp(w) * 2.0, {x: i})"

test_made_in_functions_that_loops_call = bench(
    HoistGraphBuilding,
    leaves_alone("called once", script(f"def ask(i):\n    {EXP}\nask(1)\n"), shapes=OWN),
    leaves_alone(
        "a session of its own",
        called("with tf.Session() as sess:\n    " + EXP),
        shapes=OWN,
    ),
    leaves_alone("a graph of its own", called(f"tf.reset_default_graph()\n{EXP}"), shapes=OWN),
    leaves_alone(
        "a graph for each turn", called(EXP, graph="tf.reset_default_graph()"), shapes=OWN
    ),
    leaves_alone("callers that are not all seen", called(EXP, calls="g(ask)"), shapes=OWN),
    leaves_alone("made before, run there", called("return sess.run(loss, {x: i})"), shapes=OWN),
    leaves_alone(
        "what is assigned, which is of another rule",
        called("sess.run(tf.assign(w, i))"),
        shapes=OWN,
    ),
    refuses("where it is fetched", called(EXP), reason="loop-elsewhere", shapes=OWN),
    refuses(
        "by a name",
        called("op = tf.global_variables_initializer()\nsess.run(op)"),
        reason="loop-elsewhere",
        shapes=OWN,
    ),
    refuses(
        "in a function that gets the session",
        called(EXP, calls="ask(sess, i)").replace("ask(i):", "ask(sess, i):"),
        reason="loop-elsewhere",
        shapes=OWN,
    ),
)

test_savers = bench(
    HoistGraphBuilding,
    leaves_alone("made before", loop("saver.save(sess, 'a')", before="saver = tf.train.Saver()")),
    leaves_alone("not used", loop("saver = tf.train.Saver()", "sess.run(train)")),
    refuses(
        "two checkpoints of a saver",
        loop("saver = tf.train.Saver()", "saver.save(sess, 'a')", "saver.save(sess, 'b')"),
        reason="used-otherwise",
    ),
    refuses(
        "used after the loop",
        loop("saver = tf.train.Saver()", "saver.save(sess, 'a')", after="saver.save(sess, 'b')"),
        reason="used-otherwise",
    ),
    refuses(
        "several checkpoints in an inner loop",
        loop("saver = tf.train.Saver()", "for i in range(9):", "    saver.save(sess, 'a', i)"),
        reason="used-otherwise",
    ),
    refuses(
        "asked for what it has written",
        loop("saver = tf.train.Saver()", "saver.save(sess, 'a')", "print(saver.last_checkpoints)"),
        reason="used-otherwise",
    ),
    refuses(
        "told how many to keep",
        loop("saver = tf.train.Saver(max_to_keep=3)", "saver.save(sess, 'a')"),
        reason="saver-settings",
    ),
    refuses(
        "variables made in the loop",
        loop("v = tf.Variable(1.0)", "tf.train.Saver().save(sess, 'a')"),
        reason="collection-changes",
    ),
    refuses(
        "a list that grows",
        loop("tf.train.Saver(vs).save(sess, 'a')", "vs.append(w)", before="vs = [w]"),
        reason="operand-unknown",
    ),
    refuses(
        "by a setting",
        loop(
            "if keep:",
            "    tf.train.Saver().save(sess, 'a')",
            before="from settings import keep",
        ),
        reason="conditional",
    ),
    rewrites(
        "a saver for each checkpoint",
        loop(
            "sess.run(train)",
            "if step % 10 == 0:",
            "    saver = tf.train.Saver()",
            "    saver.save(sess, 'model', global_step=step)",
        ),
        script(
            """
            saver = tf.train.Saver(max_to_keep=0)
            for step in range(10):
                sess.run(train)
                if step % 10 == 0:
                    saver.save(sess, 'model', global_step=step)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a saver without a name",
        loop("tf.train.Saver(\n    var_list=[w]).save(sess, 'model')"),
        script(
            """
            saver = tf.train.Saver(var_list=[w], max_to_keep=0)
            for step in range(10):
                saver.save(sess, 'model')
            """
        ),
        contract="exact",
    ),
)
