"""TFR108: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.assign_in_loop import AssignInLoop

HEAD = """
import numpy as np
import tensorflow as tf
"""
GRAPH = """
lr = tf.Variable(0.1, trainable=False)
count = tf.Variable(0, trainable=False)
w = tf.Variable(tf.zeros([3]))
loss = tf.reduce_sum(w * w)
train = tf.train.GradientDescentOptimizer(lr).minimize(loss)
sess = tf.Session()
"""


def script(loop: str, *, graph: str = GRAPH, before: str = "") -> str:
    """A script with a few variables and a loop."""
    return HEAD + "".join(f"{_flat(part)}\n" for part in (before, graph, loop) if part)


def _flat(part: str) -> str:
    lines = part.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines).rstrip()


def loop(*lines: str, head: str = "for i in range(9):") -> str:
    return script("\n".join([head, *(f"    {line}" for line in lines)]))


test_left_alone = bench(
    AssignInLoop,
    leaves_alone("outside of a loop", script("sess.run(lr.assign(sess.run(loss) * 0.5))")),
    leaves_alone("a constant value", loop("sess.run(lr.assign(0.5))")),
    leaves_alone(
        "a value that stays", script("a = 0.5\nfor i in range(9):\n    sess.run(lr.assign(a))")
    ),
    leaves_alone("made of a tensor", loop("sess.run(lr.assign(lr * 0.9))")),
    leaves_alone("a tensor by its function", loop("sess.run(lr.assign(tf.maximum(lr, 0.1)))")),
    leaves_alone(
        "made before the loop",
        script("half = lr.assign(lr / 2)\nfor i in range(9):\n    sess.run(half)"),
    ),
    leaves_alone("load makes no op", loop("lr.load(0.1 * i, sess)")),
    leaves_alone("not run", loop("ops = [lr.assign(0.1 * i)]")),
    leaves_alone("a column of a table", loop("sess.run(frame.assign(a=i))")),
    leaves_alone(
        "built in a loop and run once",
        script(
            """
            ops = []
            for i in range(9):
                ops.append(lr.assign(0.1 * i))
            sess.run(ops)
            """
        ),
    ),
    leaves_alone("a lambda", loop("later(lambda: sess.run(lr.assign(0.1 * i)))")),
    leaves_alone(
        "a method that no loop calls",
        script("def halve(rate):\n    sess.run(lr.assign(rate / 2))\nhalve(0.5)"),
    ),
)

test_refused = bench(
    AssignInLoop,
    refuses("an unknown value", loop("sess.run(lr.assign(load(i)))"), reason="value-unknown"),
    refuses(
        "a value that may be None",
        loop("sess.run(lr.assign(rates.get(i)))"),
        reason="value-unknown",
    ),
    refuses("a text", loop("sess.run(lr.assign(str(i)))"), reason="value-unknown"),
    refuses("a list", loop("sess.run(w.assign([i, i, i]))"), reason="value-unknown"),
    refuses("a complex number", loop("sess.run(lr.assign(i * 1j))"), reason="value-unknown"),
    refuses(
        "a value that is a tensor on one way",
        loop("rate = 0.1 * i", "if i > 4:", "    rate = choose(i)", "sess.run(lr.assign(rate))"),
        reason="value-unknown",
    ),
    refuses("a float for a counter", loop("sess.run(count.assign(0.5 * i))"), reason="other-type"),
    refuses(
        "a counter as float division", loop("sess.run(count.assign(i / 2))"), reason="other-type"
    ),
    refuses("a truth for a float", loop("sess.run(lr.assign(i > 4))"), reason="other-type"),
    refuses(
        "an integer that may be large, without numpy",
        loop("sess.run(count.assign(i * 1000))").replace("import numpy as np\n", ""),
        reason="other-type",
    ),
    refuses(
        "an array that somebody may hold, without numpy",
        loop("value = sess.run(w)", "sess.run(w.assign(value))").replace(
            "import numpy as np\n", ""
        ),
        reason="other-type",
    ),
    refuses(
        "a type that is not known",
        script(
            "for i in range(9):\n    sess.run(v.assign(0.1 * i))",
            graph="v = tf.Variable(start())\nsess = tf.Session()",
        ),
        reason="type-unknown",
    ),
    refuses(
        "bytes",
        script(
            "for i in range(9):\n    sess.run(v.assign(i))",
            graph="v = tf.Variable(0, dtype=tf.uint8)\nsess = tf.Session()",
        ),
        reason="type-unknown",
    ),
    refuses(
        "an unknown variable", loop("sess.run(model.lr.assign(0.1 * i))"), reason="variable-unknown"
    ),
    refuses(
        "a list of variables",
        loop("sess.run([v.assign(x) for v, x in zip(vs, load(i))])"),
        reason="many-variables",
    ),
    refuses(
        "any shape",
        loop("sess.run(tf.assign(w, np.zeros(i), validate_shape=False))"),
        reason="shape-changes",
    ),
    refuses(
        "a variable of any shape",
        script(
            "for i in range(9):\n    sess.run(v.assign(np.zeros(i)))",
            graph="v = tf.Variable(0.0, validate_shape=False)\nsess = tf.Session()",
        ),
        reason="shape-changes",
    ),
    refuses(
        "beside an update that reads it",
        loop("sess.run([train, lr.assign(0.1 * i)])"),
        reason="fetched-beside",
    ),
    refuses(
        "beside what reads it", loop("sess.run([lr, lr.assign(0.1 * i)])"), reason="fetched-beside"
    ),
    refuses(
        "twice in one run",
        loop("sess.run([lr.assign(0.1 * i), lr.assign(0.2 * i)])"),
        reason="fetched-beside",
    ),
    refuses(
        "beside the unknown", loop("sess.run([op, lr.assign(0.1 * i)])"), reason="fetched-beside"
    ),
    refuses(
        "a feed with a name",
        loop("sess.run(lr.assign(0.1 * i), feed_dict=feed)"),
        reason="own-feed",
    ),
    refuses(
        "a call after the value",
        loop("sess.run([lr.assign(0.1 * next(rates)), make(i)])"),
        reason="order",
    ),
    refuses(
        "a session that is looked up after the value",
        loop("lr.assign(0.1 * i).eval(session=current())"),
        reason="order",
    ),
    refuses(
        "adding, under a try",
        loop("try:", "    sess.run(lr.assign_add(0.1 * i))", "except Exception:", "    pass"),
        reason="in-try",
    ),
    refuses(
        "options of the run",
        loop("sess.run(lr.assign(0.1 * i), options=options)"),
        reason="run-options",
    ),
    refuses(
        "an option that varies",
        loop("sess.run(lr.assign(0.1 * i, name=name))"),
        reason="operand-not-sure",
    ),
    refuses(
        "a variable of the loop",
        loop("v = tf.Variable(0.0)", "sess.run(v.assign(0.1 * i))"),
        reason="rebound-in-loop",
    ),
    refuses(
        "one of two variables",
        script(
            """
            v = lr
            for i in range(9):
                sess.run(v.assign(0.1 * i))
                v = w
            """
        ),
        reason="variable-unknown",
    ),
    refuses(
        "a variable that may not be there",
        script(
            """
            if flag:
                v = tf.Variable(0.0)
            for i in range(9):
                sess.run(v.assign(0.1 * i))
            """
        ),
        reason="operand-not-sure",
    ),
    refuses(
        "under a scope in the loop",
        loop('with tf.device("/cpu:0"):', "    sess.run(lr.assign(0.1 * i))"),
        reason="scope-in-loop",
    ),
    refuses(
        "under control dependencies in the loop",
        loop("with tf.control_dependencies([train]):", "    sess.run(lr.assign(0.1 * i))"),
        reason="control-dependencies",
    ),
    refuses(
        "under control dependencies around the loop",
        script(
            """
            with tf.control_dependencies([train]):
                for i in range(9):
                    sess.run(lr.assign(0.1 * i))
            """
        ),
        reason="control-dependencies",
    ),
    refuses(
        "a generator",
        script(
            """
            def steps():
                for i in range(9):
                    sess.run(lr.assign(0.1 * i))
                    yield i
            """
        ),
        reason="generator",
    ),
    refuses(
        "a hooked session",
        script(
            """
            with tf.train.MonitoredSession() as hooked:
                for i in range(9):
                    hooked.run(lr.assign(0.1 * i))
            """
        ),
        reason="hooked-session",
    ),
    refuses(
        "ops are counted",
        loop("sess.run(lr.assign(0.1 * i))", "print(len(sess.graph.get_operations()))"),
        reason="graph-read",
    ),
    refuses(
        "the op is looked up",
        loop("sess.run(lr.assign(0.1 * i))", 'sess.graph.get_tensor_by_name("Assign_3:0")'),
        reason="graph-read",
    ),
    refuses(
        "a later op of the kind is shown",
        loop("sess.run(lr.assign(0.1 * i))", "print([tf.assign(lr, 1.0)])"),
        reason="graph-read",
    ),
    refuses(
        "the exception of a run is printed",
        loop(
            "try:",
            "    sess.run(w.assign(np.ones(i)))",
            "except ValueError as error:",
            "    print(error)",
        ),
        reason="graph-read",
    ),
    refuses(
        "a placeholder is looked up",
        loop("sess.run(lr.assign(0.1 * i))", 'sess.graph.get_tensor_by_name("Placeholder_1:0")'),
        reason="graph-read",
    ),
    refuses(
        "the graph is closed",
        script("sess.graph.finalize()\nfor i in range(9):\n    sess.run(lr.assign(0.1 * i))"),
        reason="graph-finalized",
    ),
    refuses(
        "eager mode",
        loop("sess.run(lr.assign(0.1 * i))").replace(
            "tensorflow as tf\n", "tensorflow as tf\ntf.enable_eager_execution()\n"
        ),
        reason="eager-mode",
        shapes=(),
    ),
    refuses(
        "names that change unseen",
        loop("exec(text)", "sess.run(lr.assign(0.1 * i))"),
        reason="dynamic-code",
    ),
    refuses(
        "another graph in the loop",
        loop("tf.reset_default_graph()", "sess.run(lr.assign(0.1 * i))"),
        reason="graph-changes",
    ),
    refuses(
        "a function that a loop calls",
        script(
            """
            def halve(rate):
                sess.run(lr.assign(rate / 2))

            for i in range(9):
                halve(0.1 * i)
            """
        ),
        reason="loop-elsewhere",
        shapes=("function", "main", "crlf", "tabs"),
    ),
)

METHOD = """
class Model:
    def __init__(self, size):
        {make}
        self.train = tf.train.GradientDescentOptimizer(self._lr).minimize(self.cost(size))

    def cost(self, size):
        return tf.reduce_sum(tf.square(tf.Variable(tf.zeros([size]))))

    def assign_lr(self, session, rate):
        {call}

    @property
    def lr(self):
        return self._lr

    def run(self):
        with tf.Session() as session:
            for i in range(9):
                self.assign_lr(session, {value})
                session.run(self.train)
"""


def method(
    *,
    make: str = "self._lr = tf.Variable(0.0, trainable=False)",
    call: str = "session.run(tf.assign(self.lr, rate))",
    value: str = "0.1 * i",
) -> str:
    return HEAD + METHOD.format(make=make, call=call, value=value)


AT_TOP = ("crlf", "tabs")

test_methods = bench(
    AssignInLoop,
    refuses(
        "a caller gives a tensor",
        method(value="self._lr * 0.5"),
        reason="value-unknown",
        shapes=AT_TOP,
    ),
    refuses(
        "another method makes the variable",
        method(
            make="pass", call="self._lr = tf.Variable(0.0); session.run(tf.assign(self.lr, rate))"
        ),
        reason="loop-elsewhere",
        shapes=AT_TOP,
    ),
    refuses(
        "made under control dependencies",
        method(
            make="with tf.control_dependencies([tf.no_op()]):\n"
            "            self._lr = tf.Variable(0.0, trainable=False)"
        ),
        reason="loop-elsewhere",
        shapes=AT_TOP,
    ),
    refuses(
        "two variables",
        method(make="self._lr = tf.Variable(0.0)\n        self._lr = tf.Variable(1.0)"),
        reason="variable-unknown",
        shapes=AT_TOP,
    ),
    refuses(
        "attributes that are listed",
        method() + "print(dir(model))\n",
        reason="loop-elsewhere",
        shapes=AT_TOP,
    ),
    refuses(
        "an object that takes no more attributes",
        method().replace("class Model:", 'class Model:\n    __slots__ = ("_lr", "train")\n'),
        reason="loop-elsewhere",
        shapes=AT_TOP,
    ),
    rewrites(
        "a method of the model",
        method(),
        method(
            make="self._lr = tf.Variable(0.0, trainable=False)\n"
            "        self._lr_value = tf.placeholder("
            'self._lr.dtype.base_dtype, self._lr.get_shape(), name="lr_value")\n'
            "        self._assign_lr = tf.assign(self._lr, self._lr_value)",
            call="session.run(self._assign_lr, feed_dict={self._lr_value: rate})",
        ),
        contract="exact",
        shapes=AT_TOP,
    ),
    rewrites(
        "a method that returns what is assigned",
        method(call="return session.run(self._lr.assign(rate))"),
        method(
            make="self._lr = tf.Variable(0.0, trainable=False)\n"
            "        self._lr_value = tf.placeholder("
            'self._lr.dtype.base_dtype, self._lr.get_shape(), name="lr_value")\n'
            "        self._assign_lr = self._lr.assign(self._lr_value)",
            call="return session.run(self._assign_lr, feed_dict={self._lr_value: rate})",
        ),
        contract="exact",
        shapes=AT_TOP,
    ),
)


def made(variable: str, op: str, value: str, call: str) -> list[str]:
    shaped = f'{variable}.dtype.base_dtype, {variable}.get_shape(), name="{value}"'
    return [f"{value} = tf.placeholder({shaped})", f"{op} = {call}"]


OF_LR = made("lr", "assign_lr", "lr_value", "lr.assign(lr_value)")
OF_COUNT = made("count", "assign_count", "count_value", "count.assign(count_value)")
OF_W = made("w", "assign_w", "w_value", "w.assign(w_value)")


def one(name: str, before: list[str], after: list[str], ops: list[str]) -> Case:
    """A loop with a line more before it."""
    head = "for i in range(9):"
    old = script("\n".join([head, *(f"    {line}" for line in before)]))
    new = script("\n".join([*ops, head, *(f"    {line}" for line in after)]))
    return rewrites(name, old, new, contract="exact")


test_rewritten = bench(
    AssignInLoop,
    *[
        one(name, [before], [after], ops)
        for name, before, after, ops in [
            (
                "a rate that decays",
                "sess.run(lr.assign(0.1 * 0.95 ** i))",
                "sess.run(assign_lr, feed_dict={lr_value: 0.1 * 0.95 ** i})",
                OF_LR,
            ),
            (
                "tf.assign",
                "sess.run(tf.assign(lr, 0.1 / (i + 1)))",
                "sess.run(assign_lr, feed_dict={lr_value: 0.1 / (i + 1)})",
                made("lr", "assign_lr", "lr_value", "tf.assign(lr, lr_value)"),
            ),
            (
                "tf.assign by keywords",
                "sess.run(tf.assign(ref=lr, value=0.1 * i, name='rate'))",
                "sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})",
                made("lr", "assign_lr", "lr_value", "tf.assign(lr, lr_value, name='rate')"),
            ),
            (
                "an integer for a float",
                "sess.run(lr.assign(i))",
                "sess.run(assign_lr, feed_dict={lr_value: float(i)})",
                OF_LR,
            ),
            (
                "a counter",
                "sess.run(count.assign(i + 1))",
                "sess.run(assign_count, feed_dict={count_value: i + 1})",
                OF_COUNT,
            ),
            (
                "an integer that may be large",
                "sess.run(count.assign(i * 1000))",
                "sess.run(assign_count, feed_dict={count_value: np.array(i * 1000)})",
                OF_COUNT,
            ),
            (
                "an array that is new",
                "sess.run(w.assign(sess.run(w) * 0.9))",
                "sess.run(assign_w, feed_dict={w_value: sess.run(w) * 0.9})",
                OF_W,
            ),
            (
                "an array of a list",
                "sess.run(w.assign(np.array([0.1 * i, 1, 2])))",
                "sess.run(assign_w, feed_dict={w_value: np.array([0.1 * i, 1, 2])})",
                OF_W,
            ),
            (
                "a list of one",
                "print(sess.run([lr.assign(0.1 * i)]))",
                "print(sess.run([assign_lr], feed_dict={lr_value: 0.1 * i}))",
                OF_LR,
            ),
            (
                "what the variable was",
                "sess.run(lr.assign(sess.run(lr) / 2))",
                "sess.run(assign_lr, feed_dict={lr_value: sess.run(lr) / 2})",
                OF_LR,
            ),
            (
                "adding",
                "sess.run(tf.assign_add(count, i))",
                "sess.run(add_to_count, feed_dict={count_increase: i})",
                made(
                    "count",
                    "add_to_count",
                    "count_increase",
                    "tf.assign_add(count, count_increase)",
                ),
            ),
            (
                "subtracting",
                "sess.run(lr.assign_sub(0.01 * i))",
                "sess.run(subtract_from_lr, feed_dict={lr_decrease: 0.01 * i})",
                made("lr", "subtract_from_lr", "lr_decrease", "lr.assign_sub(lr_decrease)"),
            ),
            (
                "eval with a session",
                "lr.assign(0.1 * i).eval(session=sess)",
                "sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})",
                OF_LR,
            ),
            (
                "eval in the default session",
                "lr.assign(0.1 * i).eval()",
                "tf.get_default_session().run(assign_lr, feed_dict={lr_value: 0.1 * i})",
                OF_LR,
            ),
            (
                "with a feed of its own",
                "sess.run([lr.assign(0.1 * i), loss], {w: np.ones(3)})",
                "sess.run([assign_lr, loss], feed_dict={lr_value: 0.1 * i, w: np.ones(3)})",
                OF_LR,
            ),
        ]
    ],
    one(
        "an array with a name is copied",
        ["value = sess.run(w)", "sess.run(w.assign(value))", "value += 1"],
        [
            "value = sess.run(w)",
            "sess.run(assign_w, feed_dict={w_value: np.array(value)})",
            "value += 1",
        ],
        OF_W,
    ),
    one(
        "an op with a name",
        ["op = lr.assign(0.1 * i)", "sess.run(op)"],
        ["sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})"],
        OF_LR,
    ),
    one(
        "the operation, which gives nothing",
        ["r = lr.assign(0.1 * i).op.run(session=sess)"],
        ["r = sess.run(assign_lr.op, feed_dict={lr_value: 0.1 * i})"],
        OF_LR,
    ),
    one(
        "the operation beside another one",
        ["sess.run([lr.assign(0.1 * i).op, count.assign(i)])"],
        ["sess.run([assign_lr.op, assign_count], feed_dict={lr_value: 0.1 * i, count_value: i})"],
        [*OF_LR, *OF_COUNT],
    ),
    one(
        "the operation with a name",
        ["op = lr.assign(0.1 * i).op", "sess.run(op)"],
        ["sess.run(assign_lr.op, feed_dict={lr_value: 0.1 * i})"],
        OF_LR,
    ),
    one(
        "the operation of what has a name",
        ["op = lr.assign(0.1 * i)", "sess.run([op.op])"],
        ["sess.run([assign_lr.op], feed_dict={lr_value: 0.1 * i})"],
        OF_LR,
    ),
    one(
        "two variables in one run",
        ["sess.run([lr.assign(0.1 * i), count.assign(i)])"],
        ["sess.run([assign_lr, assign_count], feed_dict={lr_value: 0.1 * i, count_value: i})"],
        [*OF_LR, *OF_COUNT],
    ),
    one(
        "a rate that a name carries on, under an if",
        ["rate = 0.1 * i", "if i % 2 == 0:", "    rate *= 0.5", "    sess.run(lr.assign(rate))"],
        [
            "rate = 0.1 * i",
            "if i % 2 == 0:",
            "    rate *= 0.5",
            "    sess.run(assign_lr, feed_dict={lr_value: rate})",
        ],
        OF_LR,
    ),
    rewrites(
        "settings of the command line, in a function",
        HEAD
        + """
def train(args):
    lr = tf.Variable(0.0, trainable=False)
    with tf.Session() as sess:
        # From epoch to epoch.
        for epoch in range(args.epochs):
            sess.run(tf.assign(lr,
                               args.rate * (args.decay ** epoch)))

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=0.97)
    train(parser.parse_args())
""",
        HEAD
        + """
def train(args):
    lr = tf.Variable(0.0, trainable=False)
    with tf.Session() as sess:
        lr_value = tf.placeholder(lr.dtype.base_dtype, lr.get_shape(), name="lr_value")
        assign_lr = tf.assign(lr, lr_value)
        # From epoch to epoch.
        for epoch in range(args.epochs):
            sess.run(assign_lr, feed_dict={lr_value: args.rate * (args.decay ** epoch)})

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=0.97)
    train(parser.parse_args())
""",
        contract="exact",
        shapes=AT_TOP,
    ),
    rewrites(
        "an attribute, in the graph of the variable",
        HEAD
        + """
class Net:
    def __init__(self):
        self.lr = tf.Variable(0.1, trainable=False)

    def train(self, sess):
        for i in range(9):
            sess.run(self.lr.assign(0.1 * i))
""",
        HEAD
        + """
class Net:
    def __init__(self):
        self.lr = tf.Variable(0.1, trainable=False)

    def train(self, sess):
        with self.lr.graph.as_default():
            lr_value = tf.placeholder(self.lr.dtype.base_dtype, self.lr.get_shape(), name="lr_value")
            assign_lr = self.lr.assign(lr_value)
        for i in range(9):
            sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})
""",  # noqa: E501
        contract="exact",
        shapes=AT_TOP,
    ),
    rewrites(
        "a default graph that is thrown away once the variable is there",
        script(
            "for i in range(9):\n    sess.run(lr.assign(0.1 * i))",
            graph=GRAPH + "tf.reset_default_graph()\n",
        ),
        script(
            """
            with lr.graph.as_default():
                lr_value = tf.placeholder(lr.dtype.base_dtype, lr.get_shape(), name="lr_value")
                assign_lr = lr.assign(lr_value)
            for i in range(9):
                sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})
            """,
            graph=GRAPH + "tf.reset_default_graph()\n",
        ),
        contract="exact",
    ),
    rewrites(
        "a default graph that is thrown away before",
        script(
            "for i in range(9):\n    sess.run(lr.assign(0.1 * i))",
            before="tf.reset_default_graph()",
        ),
        script(
            """
            lr_value = tf.placeholder(lr.dtype.base_dtype, lr.get_shape(), name="lr_value")
            assign_lr = lr.assign(lr_value)
            for i in range(9):
                sess.run(assign_lr, feed_dict={lr_value: 0.1 * i})
            """,
            before="tf.reset_default_graph()",
        ),
        contract="exact",
    ),
    offers(
        "random ops later, with a seed of the graph",
        script(
            "for i in range(9):\n    sess.run(lr.assign(0.1 * i))\nv = tf.random_normal([3])",
            before="tf.set_random_seed(1)",
        ),
        contract="resampled",
        changes="1.15",
    ),
)
