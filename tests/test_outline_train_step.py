"""TFR202: steps written out in loops that become functions, and those that must not."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.outline_train_step import OutlineTrainStep

START = """\
import numpy as np
import tensorflow as tf

xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.normal(size=(64, 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_object = tf.keras.losses.MeanSquaredError()


"""
LOOP = """\
for x, y in data:
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(float(loss))
"""


def script(*parts: str) -> str:
    return START + "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


def no(name: str, reason: str, *parts: str) -> Case:
    return refuses(name, script(*parts), reason=reason, shapes=())


def with_lines(old: str, new: str) -> str:
    assert old in LOOP
    return LOOP.replace(old, new)


PRINT = "    print(float(loss))\n"

GATHERING = """\
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, net(x))
    return loss, tape.gradient(loss, net.trainable_variables)


sums = [tf.zeros_like(v) for v in net.trainable_variables]
for i, (x, y) in enumerate(data):
    loss, gradients = train_step(x, y)
    sums = [s + g for s, g in zip(sums, gradients)]
    if i % 4 == 3:
        means = [s / 4 for s in sums]
        optimizer.apply_gradients(zip(means, net.trainable_variables))
        sums = [tf.zeros_like(v) for v in net.trainable_variables]
    print(float(loss))
"""
NET = """\
net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])


"""


def gathering(old: str, new: str, *others: str) -> str:
    text = NET + GATHERING
    for one, other in zip((old, *others[::2]), (new, *others[1::2]), strict=True):
        assert one in text, one
        text = text.replace(one, other)
    return text


UPDATE = "        optimizer.apply_gradients(zip(means, net.trainable_variables))\n"
ZEROS = "        sums = [tf.zeros_like(v) for v in net.trainable_variables]\n"
FIRST = "sums = [tf.zeros_like(v) for v in net.trainable_variables]\nfor"
BESIDE = "        mean.update_state(net(x))\n"
MEAN = "mean = tf.keras.metrics.Mean()\n"
SUM = "sums = [s + g for s, g in zip(sums, gradients)]"

test_outline_train_step = bench(
    OutlineTrainStep,
    leaves_alone("no loop", script(textwrap.dedent(LOOP.split("\n", 1)[1]))),
    leaves_alone(
        "in a `with` of the loop",
        script("""
        for x, y in data:
            with tf.device("cpu"):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
        """),
    ),
    no(
        "an array of another type made a tensor in the step",
        "numpy-argument",
        "wide = xs.astype(np.float64)\nfor i in range(640):\n"
        "    row, y = wide[i : i + 16], ys[i : i + 16]\n"
        + with_lines(
            "        loss", "        x = tf.convert_to_tensor(row, tf.float32)\n        loss"
        ).split("\n", 1)[1],
    ),
    no(
        "objects with slots",
        "fails-when-traced",
        "class Trainer:\n    __slots__ = ()\n\n    def run(self):\n"
        + textwrap.indent(LOOP, "        ")
        + "\n\ntrainer = Trainer()\nfor _ in range(2):\n    trainer.run()\n",
    ),
    no("few turns", "few-turns", LOOP.replace("x, y in data", "x, y in [(xs, ys), (xs, ys)]")),
    refuses(
        "a function that stands above the import",
        "def run(tf):\n    pass\n\n\ndef train():\n"
        + textwrap.indent(LOOP, "    ")
        + "\n\n"
        + START
        + "train()\ntrain()\n",
        reason="tensorflow-not-named",
        shapes=(),
    ),
    no(
        "a function in a function that is called again",
        "traced-again",
        "def outer():\n    def run():\n"
        + textwrap.indent(LOOP, "        ")
        + "    run()\n    run()\nouter()\n",
    ),
    no(
        "a function for two models",
        "two-objects",
        "other = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\n\ndef run(net):\n"
        + textwrap.indent(LOOP.replace("model", "net"), "    ")
        + "\n\nrun(model)\nrun(other)\n",
    ),
    no(
        "a function for models of others",
        "argument-not-known",
        "def run(net):\n" + textwrap.indent(LOOP.replace("model", "net"), "    "),
    ),
    no(
        "a print of what the update changes",
        "python-effect",
        with_lines(
            "model(x))\n", "model(x))\n        print(model.trainable_variables[0].numpy())\n"
        ),
    ),
    no(
        "a print of what a name is before it gets another value",
        "python-effect",
        with_lines(
            "model(x))\n", "model(x))\n        print(float(loss))\n        loss = loss * 2\n"
        ),
    ),
    no(
        "a list that the step reads again",
        "python-effect",
        "seen = []\n",
        with_lines(
            "model(x))\n",
            "model(x))\n        seen.append(loss)\n        loss = loss + len(seen) * loss\n",
        ),
    ),
    no(
        "a count that the step computes with",
        "argument-varies",
        "n = 0\n",
        with_lines("model(x))\n", "model(x))\n        n += 1\n        loss = loss / n\n"),
    ),
    no(
        "a print that goes to a file",
        "python-effect",
        "import sys\n",
        with_lines("model(x))\n", "model(x))\n        print(float(loss), file=sys.stderr)\n"),
    ),
    no(
        "a list of somebody else's",
        "reads-on-host",
        "from books import seen\n",
        with_lines("model(x))\n", "model(x))\n        seen.append(float(loss))\n"),
    ),
    no(
        "a metric shown before its last update",
        "python-effect",
        "mean = tf.keras.metrics.Mean()\n",
        with_lines(
            "model(x))\n",
            "model(x))\n        mean.update_state(loss)\n        print(float(mean.result()))\n",
        ),
    ),
    no(
        "a metric shown by another name",
        "python-effect",
        "means = [tf.keras.metrics.Mean()]\n",
        with_lines("model(x))\n", "model(x))\n        print(means)\n"),
    ),
    no(
        "stops at a bad loss",
        "not-followed",
        with_lines(
            "model(x))\n",
            "model(x))\n    if float(loss) > 3:\n        print(loss)\n        break\n",
        ),
    ),
    no(
        "the clock in between",
        "python-effect",
        "import time\n",
        with_lines("model(x))\n", "model(x))\n        print(time.time())\n"),
    ),
    no(
        "a number that decides",
        "argument-varies",
        "for i, (x, y) in enumerate(data):\n"
        + with_lines("model(x))", "model(x)) * (2.0 if i > 2 else 1.0)").split("\n", 1)[1],
    ),
    no(
        "a number of Python's precision",
        "argument-varies",
        "for i, (x, y) in enumerate(data):\n"
        + with_lines("model(x))", "model(x)) * (1 - 0.9**i)").split("\n", 1)[1],
    ),
    no(
        "a number for a text",
        "argument-varies",
        "for i, (x, y) in enumerate(data):\n"
        + with_lines("model(x))", 'model(x), name=f"loss_{i}")').split("\n", 1)[1],
    ),
    leaves_alone(
        "compiled already",
        script("@tf.function\ndef run():\n" + textwrap.indent(LOOP, "    ") + "\nrun()\n"),
    ),
    no(
        "the step number",
        "argument-varies",
        """
        for i, (x, y) in enumerate(data):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x)) / (i + 1)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        """,
    ),
    no(
        "a sum that is carried on",
        "argument-varies",
        "total = 0.0\n",
        with_lines("    gradients", "    total = total + loss\n    gradients"),
        "print(total)\n",
    ),
    no("the tape is used later", "returns-python", LOOP, "print(tape)\n"),
    no(
        "leaves in between",
        "not-followed",
        with_lines("    gradients", "    if xs is None:\n        break\n    gradients"),
    ),
    no(
        "a result under a condition",
        "not-followed",
        with_lines("    gradients", "    if True:\n        n = loss * 2\n    gradients"),
        "print(n)\n",
    ),
    no(
        "a model for each fold",
        "two-objects",
        """
        for fold in range(3):
            net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        """,
    ),
    no(
        "carried to the next turn",
        "argument-varies",
        "old = 0.0\n",
        with_lines(
            "        loss = loss_object(y, model(x))\n",
            "        loss = loss_object(y, model(x)) + old\n    old = 0.5 * loss\n",
        ),
    ),
    no(
        "of the turn before, by the shape",
        "not-followed",
        with_lines(
            "    gradients",
            "    if x.shape[0] == 16:\n        base = tf.stop_gradient(loss)\n"
            "    loss = loss + base\n    gradients",
        ),
    ),
    no(
        "bound for the module",
        "python-effect",
        "def run():\n    global loss\n" + textwrap.indent(LOOP, "    ") + "run()\nprint(loss)\n",
    ),
    no(
        "bound for a function around",
        "python-effect",
        "def outer():\n    loss = None\n    def run():\n        nonlocal loss\n"
        + textwrap.indent(LOOP, "        ")
        + "    run()\n    print(loss)\nouter()\n",
    ),
    no(
        "a function made in the step",
        "not-followed",
        with_lines("    gradients", "    def again():\n        return 2 * loss\n    gradients"),
        "print(again)\n",
    ),
    no(
        "deletes what it is given",
        "not-followed",
        with_lines("    gradients", "    del y\n    gradients"),
    ),
    no(
        "deletes what it never had",
        "not-followed",
        with_lines("y, model(x)", "1.0, model(x)").replace(
            "    gradients", "    del y\n    gradients", 1
        ),
    ),
    no(
        "a second name for what goes in",
        "not-followed",
        with_lines("    gradients", "    same = x\n    gradients"),
        "print(same is x)\n",
    ),
    no(
        "a list in a result",
        "not-followed",
        "for x, y in data:\n    with tf.GradientTape() as tape:\n"
        "        losses = [loss_object(y, model(x))]\n        both = [losses, losses]\n"
        "    gradients = tape.gradient(losses[0], model.trainable_variables)\n"
        "    both[0].append(1)\n    print(both)\n",
    ),
    no("which object it is", "returns-python", LOOP, "print(loss is gradients)\n"),
    no("handed out", "python-effect", "__all__ = ['loss']\n", LOOP),
    no("looked up", "dynamic-code", LOOP, "print(sorted(globals()))\n"),
    no(
        "a rate of each epoch",
        "argument-varies",
        "for epoch in range(3):\n    rate = 1.0 / (epoch + 1)\n"
        + textwrap.indent(with_lines("model(x))", "model(x)) * rate"), "    "),
    ),
    no(
        "a rate in a comprehension",
        "argument-varies",
        "for epoch in range(3):\n    rate = 1.0 / (epoch + 1)\n"
        + textwrap.indent(
            with_lines(
                "    optimizer", "    gradients = [rate * g for g in gradients]\n    optimizer"
            )
            .replace("    gradients = tape", "    print(1)\n    gradients = tape")
            .replace("model(x))\n", "model(x)) * rate\n"),
            "    ",
        ),
    ),
    no(
        "a flag that another function sets",
        "captured-not-fixed",
        "warm = True\ndef cool():\n    global warm\n    warm = False\n",
        with_lines("model(x))\n", "model(x)) * (1.0 if warm else 0.1)\n") + "    cool()\n",
    ),
    no(
        "a model of each turn, from a list",
        "two-objects",
        "nets = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(2)]\n"
        "for net in nets:\n" + textwrap.indent(LOOP.replace("model", "net"), "    "),
    ),
    no(
        "a model by number",
        "argument-varies",
        "nets = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(2)]\n"
        "for k in range(2):\n" + textwrap.indent(LOOP.replace("model", "nets[k]"), "    "),
    ),
    no(
        "frozen in between",
        "object-changes",
        "for epoch in range(3):\n    model.layers[0].trainable = epoch < 1\n"
        + textwrap.indent(LOOP, "    "),
    ),
    no(
        "a model that another takes the place of in the loop",
        "two-objects",
        "for epoch in range(2):\n"
        + textwrap.indent(LOOP, "    ")
        + "    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n",
    ),
    no(
        "a model that a function puts in its place",
        "captured-not-fixed",
        "def other():\n    global model\n"
        "    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\n\n",
        LOOP,
        "    other()\n",
    ),
    no(
        "one of two models",
        "captured-not-fixed",
        "if len(xs) > 3:\n    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n",
        LOOP,
    ),
    no(
        "a model that trains called twice",
        "called-again",
        with_lines("model(x))", "model(x, training=True)) + model(2 * x, training=True)"),
    ),
    no(
        "a model called before and after it is changed",
        "called-again",
        with_lines(
            "        loss",
            "        first = model(2 * x)\n"
            "        model.trainable_variables[0].assign(tf.zeros((6, 8)))\n        loss",
        ).replace("model(x))", "model(x)) + first"),
    ),
    no(
        "noise of numpy",
        "python-effect",
        with_lines("model(x))", "model(x)) * np.random.normal()"),
    ),
    no(
        "exceptions are seen",
        "exception-seen",
        "try:\n" + textwrap.indent(LOOP, "    ") + "except ValueError:\n    print(loss)\n",
    ),
    no(
        "an attribute is set",
        "python-effect",
        "class Trainer:\n    def run(self):\n"
        + textwrap.indent(
            with_lines("    gradients", "    self.loss = loss\n    gradients"), "        "
        )
        + "\nfirst = Trainer()\nfirst.run()\n",
    ),
    leaves_alone(
        "an update that no loop makes again",
        script(
            NET,
            "grads = [tf.zeros_like(v) for v in net.trainable_variables]\n"
            "optimizer.apply_gradients(zip(grads, net.trainable_variables))\n"
            "print(tf.GradientTape)\n",
        ),
    ),
    leaves_alone(
        "what another object applies",
        script("table = {}\nprint(tf.GradientTape)\nfor one in range(99):\n    table.apply(one)\n"),
    ),
    leaves_alone(
        "an update in a `with` of the loop",
        script(gathering(UPDATE, "        with tf.device('cpu'):\n    " + UPDATE)),
    ),
    no(
        "sums of numbers",
        "argument-not-known",
        gathering(FIRST, "sums = [0.0] * len(net.trainable_variables)\nfor"),
    ),
    no(
        "sums that begin with nothing",
        "argument-not-known",
        gathering(
            FIRST,
            "sums = None\nfor",
            SUM,
            "sums = gradients if sums is None else [s + g for s, g in zip(sums, gradients)]",
            ZEROS,
            "        sums = None\n",
        ),
    ),
    no(
        "sums of arrays",
        "argument-not-known",
        gathering(
            FIRST,
            "sums = [np.zeros(v.shape) for v in net.trainable_variables]\nfor",
            SUM,
            "sums = [s + g.numpy() for s, g in zip(sums, gradients)]",
        ),
    ),
    no(
        "sums in a list that grows",
        "shape-varies",
        gathering(SUM, "sums.append(gradients)"),
    ),
    no(
        "sums that are changed in place",
        "argument-not-known",
        gathering(SUM, "for k in range(2):\n        sums[k] += gradients[k]"),
    ),
    no(
        "sums that have another name",
        "argument-not-known",
        gathering(
            FIRST,
            "kept = sums = [tf.zeros_like(v) for v in net.trainable_variables]\nfor",
            SUM,
            "held = sums\n    held.append(1.0)",
        ),
    ),
    no(
        "some gradients only",
        "shape-varies",
        gathering("[s / 4 for s in sums]", "[s / 4 for s in sums if tf.norm(s) > 0]"),
    ),
    no(
        "as many gradients as the turn says",
        "shape-varies",
        gathering(UPDATE, "        means = means[:i]\n" + UPDATE),
    ),
    no(
        "weights that the update changes",
        "races-with-update",
        gathering(
            "zip(means, net", "zip([m + tf.norm(net.trainable_variables[0]) for m in means], net"
        ),
    ),
    no(
        "an optimizer for each fold",
        "two-objects",
        gathering(
            "for i, (x, y) in enumerate(data):\n",
            "for i, (x, y) in enumerate(data):\n"
            "    optimizer = tf.keras.optimizers.SGD(0.1 / (i + 1))\n",
        ),
    ),
    no(
        "an optimizer that scales the loss",
        "captured-not-fixed",
        gathering(
            "sums = [tf.zeros_like(v) for v in net.trainable_variables]\nfor",
            "optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)\n" + FIRST,
        ),
    ),
    no(
        "a rate that another function takes the place of",
        "object-changes",
        gathering(ZEROS, ZEROS + "        optimizer.learning_rate = make(i)\n").replace(
            "net = ", "from rates import make\n\nnet = "
        ),
    ),
    no(
        "exceptions of an update are seen",
        "exception-seen",
        NET,
        GATHERING[: GATHERING.index("for i")],
        "try:\n"
        + textwrap.indent(GATHERING[GATHERING.index("for i") :], "    ")
        + "except ValueError:\n    print(sums)\n",
    ),
    no(
        "few updates in many turns",
        "few-turns",
        gathering("for i, (x, y) in enumerate(data):", "for i in range(160):\n    x, y = xs, ys"),
    ),
    rewrites(
        "the plain form",
        script(LOOP),
        script("""
        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for x, y in data:
            loss = train_step(x, y)
            print(float(loss))
        """)
        .replace("def train_step(x, y)", "def train_step(y, x)")
        .replace("= train_step(x, y)", "= train_step(y, x)"),
        contract="rounding",
        shapes=("crlf",),
    ),
    rewrites(
        "under a condition",
        script("""
        for i, (x, y) in enumerate(data):
            if i % 2 == 0:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                print(float(loss))
        """),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for i, (x, y) in enumerate(data):
            if i % 2 == 0:
                loss = train_step(y, x)
                print(float(loss))
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a function that is called again and again",
        script("""
        def run():
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                print(float(loss))


        run()
        run()
        """),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        def run():
            for x, y in data:
                loss = train_step(y, x)
                print(float(loss))


        run()
        run()
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "a function for others to call",
        script("""
        def run(net):
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables))
                print(float(loss))


        for _ in range(2):
            run(model)
        """),
        script("""
        @tf.function
        def train_step(y, net, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, net(x))
            gradients = tape.gradient(loss, net.trainable_variables)
            optimizer.apply_gradients(zip(gradients, net.trainable_variables))
            return loss


        def run(net):
            for x, y in data:
                loss = train_step(y, net, x)
                print(float(loss))


        for _ in range(2):
            run(model)
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a method of two objects",
        script(
            '''
            class Trainer:
                """Trains."""

                def __init__(self):
                    self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.opt = tf.keras.optimizers.Adam(0.01)

                def run(self):
                    for x, y in data:
                        with tf.GradientTape() as tape:
                            loss = loss_object(y, self.model(x))
                        gradients = tape.gradient(loss, self.model.trainable_variables)
                        self.opt.apply_gradients(zip(gradients, self.model.trainable_variables))
                        print(float(loss))


            first = Trainer()
            first.run()
            second = Trainer()
            second.run()
            '''
        ),
        script(
            '''
            class Trainer:
                """Trains."""

                def __init__(self):
                    self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                    self.opt = tf.keras.optimizers.Adam(0.01)

                @tf.function
                def compiled_step(self, y, x):
                    with tf.GradientTape() as tape:
                        loss = loss_object(y, self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.opt.apply_gradients(zip(gradients, self.model.trainable_variables))
                    return loss

                def run(self):
                    for x, y in data:
                        loss = self.compiled_step(y, x)
                        print(float(loss))


            first = Trainer()
            first.run()
            second = Trainer()
            second.run()
            '''
        ),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "added up inside",
        script(
            "total = tf.zeros([])\n",
            with_lines("    gradients", "    total = total + loss\n    gradients"),
            "print(total)\n",
        ),
        script("""
        total = tf.zeros([])


        @tf.function
        def train_step(y, x, total):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            total = total + loss
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss, total


        for x, y in data:
            loss, total = train_step(y, x, total)
            print(float(loss))
        print(total)
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "what is made of the batch before the tape",
        script("""
        for x, y in data:
            row = x.numpy()
            wide = tf.concat([x, x], 1)
            # as one column
            x = tf.reshape(x, (-1, 6))
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(row, wide.shape)
        """),
        script("""
        @tf.function
        def train_step(x, y):
            wide = tf.concat([x, x], 1)
            # as one column
            x = tf.reshape(x, (-1, 6))
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return wide


        for x, y in data:
            row = x.numpy()
            wide = train_step(x, y)
            print(row, wide.shape)
        """),
        contract="rounding",
        shapes=("crlf",),
    ),
    rewrites(
        "batches of a generator of the file",
        script("""
        def batches():
            while True:
                for i in range(0, 64, 16):
                    yield tf.constant(xs[i:i + 16]), tf.constant(ys[i:i + 16])
        made = batches()
        for i in range(640):
            x, y = next(made)
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        """),
        script("""
        def batches():
            while True:
                for i in range(0, 64, 16):
                    yield tf.constant(xs[i:i + 16]), tf.constant(ys[i:i + 16])
        made = batches()


        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


        for i in range(640):
            x, y = next(made)
            train_step(y, x)
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "what is made of an array stays before the tape",
        script("""
        for i in range(640):
            y = ys[:16]
            x = tf.convert_to_tensor(xs[:16], tf.float32)
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        """),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


        for i in range(640):
            y = ys[:16]
            x = tf.convert_to_tensor(xs[:16], tf.float32)
            train_step(y, x)
        """),
        contract="rounding",
        target_tf=(2, 16),
        shapes=(),
    ),
    rewrites(
        "imported again later",
        script(LOOP, "import tensorflow as tf\n"),
        script(
            """
            @tf.function
            def train_step(y, x):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss


            for x, y in data:
                loss = train_step(y, x)
                print(float(loss))
            """,
            "import tensorflow as tf\n",
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "a print between the two halves",
        script("""
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            # as it was
            print(float(loss))
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
        """),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for x, y in data:
            loss = train_step(y, x)
            # as it was
            print(float(loss))
            print(float(loss))
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "books that are kept under the tape",
        script("""
        n = 0
        seen = []
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
                low = loss.numpy()
                n += 1
                if n % 2:
                    seen.append(low)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
        """),
        script("""
        n = 0
        seen = []


        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for x, y in data:
            loss = train_step(y, x)
            low = loss.numpy()
            n += 1
            if n % 2:
                seen.append(low)
            print(float(loss))
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a summary in between",
        script("""
        writer = tf.summary.create_file_writer("logs")
        for i, (x, y) in enumerate(data):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            with writer.as_default():
                tf.summary.scalar("loss", loss, step=i)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
        """),
        script("""
        writer = tf.summary.create_file_writer("logs")


        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for i, (x, y) in enumerate(data):
            loss = train_step(y, x)
            with writer.as_default():
                tf.summary.scalar("loss", loss, step=i)
            print(float(loss))
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "a text over several lines",
        script(
            '''
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                """
              text
                """
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                print(float(loss))
            '''
        ),
        script(
            '''
            @tf.function
            def train_step(y, x):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                """
              text
                """
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss


            for x, y in data:
                loss = train_step(y, x)
                print(float(loss))
            '''
        ),
        contract="rounding",
        shapes=("crlf",),
    ),
    rewrites(
        "the number of the step",
        script("""
        for i, (x, y) in enumerate(data):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x)) / tf.cast(i, tf.float32)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
        """),
        script("""
        @tf.function
        def train_step(y, x, i):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x)) / tf.cast(i, tf.float32)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for i, (x, y) in enumerate(data):
            loss = train_step(y, x, tf.constant(i))
            print(float(loss))
        """),
        contract="rounding",
        shapes=("tabs",),
    ),
    rewrites(
        "a metric that is called",
        script("""
        mean = tf.keras.metrics.Mean()
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            mean(loss)
            print(float(loss))
        """),
        script("""
        mean = tf.keras.metrics.Mean()


        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            mean(loss)
            return loss


        for x, y in data:
            loss = train_step(y, x)
            print(float(loss))
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "other models before and after the loop",
        script(
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\n\n",
            LOOP,
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n",
        ),
        script(
            """
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


            @tf.function
            def train_step(y, x):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss


            for x, y in data:
                loss = train_step(y, x)
                print(float(loss))
            """,
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n",
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "an optimizer of each epoch stays in the loop",
        script("""
        for epoch in range(3):
            opt = tf.keras.optimizers.Adam(0.1 / (epoch + 1))
            for x, y in data:
                with tf.GradientTape() as tape:
                    loss = loss_object(y, model(x))
                gradients = tape.gradient(loss, model.trainable_variables)
                opt.apply_gradients(zip(gradients, model.trainable_variables))
            print(loss)
        """),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            return loss, gradients


        for epoch in range(3):
            opt = tf.keras.optimizers.Adam(0.1 / (epoch + 1))
            for x, y in data:
                loss, gradients = train_step(y, x)
                opt.apply_gradients(zip(gradients, model.trainable_variables))
            print(loss)
        """),
        contract="rounding",
        refused=("two-objects",),
        shapes=(),
    ),
    rewrites(
        "two loops, two functions",
        script(LOOP, LOOP.replace("x, y in", "a, b in").replace("y, model(x)", "b, model(a)")),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for x, y in data:
            loss = train_step(y, x)
            print(float(loss))


        @tf.function
        def train_step_2(b, a):
            with tf.GradientTape() as tape:
                loss = loss_object(b, model(a))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        for a, b in data:
            loss = train_step_2(b, a)
            print(float(loss))
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "rebound on the way, left early, several results, comments at the margin",
        script("""
        for x, y in data:
            if x.shape[0] < 16:
                continue
            # one step
            with tf.GradientTape() as tape:
                x = x * 2.0
        # twice as large
                outputs = model(
            x, training=True)
                loss = loss_object(y, outputs)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            del tape
            if float(loss) < 0.1:
                break
        print(x, loss)
        """),
        script("""
        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                x = x * 2.0
            # twice as large
                outputs = model(
            x, training=True)
                loss = loss_object(y, outputs)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            del tape
            return x, loss


        for x, y in data:
            if x.shape[0] < 16:
                continue
            # one step
            x, loss = train_step(x, y)
            if float(loss) < 0.1:
                break
        print(x, loss)
        """),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "an update in every fourth turn",
        script(NET, GATHERING),
        script(
            NET,
            """
            @tf.function
            def train_step(x, y):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                return loss, tape.gradient(loss, net.trainable_variables)


            sums = [tf.zeros_like(v) for v in net.trainable_variables]


            @tf.function
            def update_step(sums):
                means = [s / 4 for s in sums]
                optimizer.apply_gradients(zip(means, net.trainable_variables))
                sums = [tf.zeros_like(v) for v in net.trainable_variables]
                return sums


            for i, (x, y) in enumerate(data):
                loss, gradients = train_step(x, y)
                sums = [s + g for s, g in zip(sums, gradients)]
                if i % 4 == 3:
                    sums = update_step(sums)
                print(float(loss))
            """,
        ),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a model called twice: the update comes when all has been read",
        script(with_lines("model(x))", "model(x)) + model(2 * x)")),
        script("""
        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_object(y, model(x)) + model(2 * x)
            gradients = tape.gradient(loss, model.trainable_variables)
            return loss, gradients


        @tf.function
        def update_step(gradients):
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))


        for x, y in data:
            loss, gradients = train_step(y, x)
            update_step(gradients)
            print(float(loss))
        """),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "what the update may change is read beside it, and stays in the loop",
        script(gathering(UPDATE, UPDATE + BESIDE, FIRST, MEAN + FIRST)),
        script(
            NET,
            GATHERING[: GATHERING.index(FIRST)],
            MEAN + FIRST.removesuffix("for") + "\n\n",
            """
            @tf.function
            def update_step(sums):
                means = [s / 4 for s in sums]
                optimizer.apply_gradients(zip(means, net.trainable_variables))


            for i, (x, y) in enumerate(data):
                loss, gradients = train_step(x, y)
                sums = [s + g for s, g in zip(sums, gradients)]
                if i % 4 == 3:
                    update_step(sums)
                    mean.update_state(net(x))
                    sums = [tf.zeros_like(v) for v in net.trainable_variables]
                print(float(loss))
            """,
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "gathered and clipped by the one step and applied by the other",
        script(
            NET,
            """
            sums = [tf.zeros_like(v) for v in net.trainable_variables]
            for i, (x, y) in enumerate(data):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                # of the batches so far
                sums = [s + g for s, g in zip(sums, gradients)]
                if i % 4 == 3:
                    clipped, norm = tf.clip_by_global_norm(sums, 1.0)
                    optimizer.apply_gradients(zip(clipped, net.trainable_variables))
                    sums = [tf.zeros_like(v) for v in net.trainable_variables]
                    print(float(norm))
            """,
        ),
        script(
            NET,
            """
            sums = [tf.zeros_like(v) for v in net.trainable_variables]


            @tf.function
            def train_step(y, x, sums):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                # of the batches so far
                sums = [s + g for s, g in zip(sums, gradients)]
                return sums


            @tf.function
            def update_step(sums):
                clipped, norm = tf.clip_by_global_norm(sums, 1.0)
                optimizer.apply_gradients(zip(clipped, net.trainable_variables))
                sums = [tf.zeros_like(v) for v in net.trainable_variables]
                return norm, sums


            for i, (x, y) in enumerate(data):
                sums = train_step(y, x, sums)
                if i % 4 == 3:
                    norm, sums = update_step(sums)
                    print(float(norm))
            """,
        ),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "an update behind the loop over the parts of a batch",
        script(
            NET,
            """
            for x, y in data:
                sums = [tf.zeros_like(v) for v in net.trainable_variables]
                for part in (0, 8):
                    a = x[part : part + 8]
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(tf.square(net(x) - y))
                    gradients = tape.gradient(loss, net.trainable_variables)
                    sums = [s + g for s, g in zip(sums, gradients)]
                    print(float(loss), a.shape)
                optimizer.apply_gradients(zip(sums, net.trainable_variables))
            """,
        ),
        script(
            NET,
            """
            @tf.function
            def train_step(x, y, sums):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(net(x) - y))
                gradients = tape.gradient(loss, net.trainable_variables)
                sums = [s + g for s, g in zip(sums, gradients)]
                return loss, sums


            @tf.function
            def update_step(sums):
                optimizer.apply_gradients(zip(sums, net.trainable_variables))


            for x, y in data:
                sums = [tf.zeros_like(v) for v in net.trainable_variables]
                for part in (0, 8):
                    a = x[part : part + 8]
                    loss, sums = train_step(x, y, sums)
                    print(float(loss), a.shape)
                update_step(sums)
            """,
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "a share that is another one in each turn stays in the loop",
        script(gathering("[s / 4 for", "[s / (i % 7 + 1) for")),
        script(
            NET,
            GATHERING[: GATHERING.index("for i")] + "\n\n",
            """
            @tf.function
            def update_step(means):
                optimizer.apply_gradients(zip(means, net.trainable_variables))
                sums = [tf.zeros_like(v) for v in net.trainable_variables]
                return sums


            for i, (x, y) in enumerate(data):
                loss, gradients = train_step(x, y)
                sums = [s + g for s, g in zip(sums, gradients)]
                if i % 4 == 3:
                    means = [s / (i % 7 + 1) for s in sums]
                    sums = update_step(means)
                print(float(loss))
            """,
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "sums in variables, which are zeroed in the loop",
        script(
            NET,
            """
            sums = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]
            for i, (x, y) in enumerate(data):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                for s, g in zip(sums, gradients):
                    s.assign_add(g)
                print(float(loss))
                if i % 4 == 3:
                    optimizer.apply_gradients(zip([s / 4 for s in sums], net.trainable_variables))
                    for s in sums:
                        s.assign(tf.zeros_like(s))
            """,
        ),
        script(
            NET,
            """
            sums = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]


            @tf.function
            def train_step(y, x):
                with tf.GradientTape() as tape:
                    loss = loss_object(y, net(x))
                gradients = tape.gradient(loss, net.trainable_variables)
                for s, g in zip(sums, gradients):
                    s.assign_add(g)
                return loss


            @tf.function
            def update_step():
                optimizer.apply_gradients(zip([s / 4 for s in sums], net.trainable_variables))


            for i, (x, y) in enumerate(data):
                loss = train_step(y, x)
                print(float(loss))
                if i % 4 == 3:
                    update_step()
                    for s in sums:
                        s.assign(tf.zeros_like(s))
            """,
        ),
        contract="rounding",
        shapes=(),
    ),
    rewrites(
        "a method of two objects that gathers",
        script(
            """
            class Trainer:
                def __init__(self):
                    self.net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
                    self.opt = tf.keras.optimizers.Adam(0.01)

                def run(self):
                    sums = [tf.zeros_like(v) for v in self.net.trainable_variables]
                    for i, (x, y) in enumerate(data):
                        with tf.GradientTape() as tape:
                            loss = loss_object(y, self.net(x))
                        gradients = tape.gradient(loss, self.net.trainable_variables)
                        sums = [s + g for s, g in zip(sums, gradients)]
                        if i % 4 == 3:
                            self.opt.apply_gradients(zip(sums, self.net.trainable_variables))
                            sums = [tf.zeros_like(v) for v in self.net.trainable_variables]


            first = Trainer()
            first.run()
            second = Trainer()
            second.run()
            """
        ),
        script(
            """
            class Trainer:
                def __init__(self):
                    self.net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
                    self.opt = tf.keras.optimizers.Adam(0.01)

                @tf.function
                def compiled_step(self, y, x, sums):
                    with tf.GradientTape() as tape:
                        loss = loss_object(y, self.net(x))
                    gradients = tape.gradient(loss, self.net.trainable_variables)
                    sums = [s + g for s, g in zip(sums, gradients)]
                    return sums

                @tf.function
                def compiled_update(self, sums):
                    self.opt.apply_gradients(zip(sums, self.net.trainable_variables))
                    sums = [tf.zeros_like(v) for v in self.net.trainable_variables]
                    return sums

                def run(self):
                    sums = [tf.zeros_like(v) for v in self.net.trainable_variables]
                    for i, (x, y) in enumerate(data):
                        sums = self.compiled_step(y, x, sums)
                        if i % 4 == 3:
                            sums = self.compiled_update(sums)


            first = Trainer()
            first.run()
            second = Trainer()
            second.run()
            """
        ),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a method that is called once",
        script("""
        class Trainer:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                self.optimizer = tf.keras.optimizers.Adam(0.01)

            def run(self):
                for x, y in data:
                    with tf.GradientTape() as tape:
                        loss = loss_object(y, self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))


        trainer = Trainer()
        trainer.run()
        """),
        script("""
        class Trainer:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                self.optimizer = tf.keras.optimizers.Adam(0.01)

            def run(self):
                @tf.function
                def train_step(y, x):
                    with tf.GradientTape() as tape:
                        loss = loss_object(y, self.model(x))
                    gradients = tape.gradient(loss, self.model.trainable_variables)
                    self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

                for x, y in data:
                    train_step(y, x)


        trainer = Trainer()
        trainer.run()
        """),
        contract="rounding",
        shapes=(),
    ),
    offers(
        "a step that draws",
        script(with_lines("model(x)", "model(tf.nn.dropout(x, 0.5))")),
        contract="resampled",
        shapes=(),
    ),
    offers(
        "a layer that draws, before Keras 3",
        script(
            "drop = tf.keras.layers.Dropout(0.5)\n",
            with_lines("model(x)", "model(drop(x, training=True))"),
        ),
        contract="resampled",
        target_tf=(2, 10),
        shapes=(),
    ),
)
