"""TFR202: steps in functions that loops call and that cannot be compiled as a whole."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.outline_train_step import OutlineTrainStep

START = """\
import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
xs = np.random.normal(size=(64, 8, 4)).astype(np.float32)
ys = np.random.normal(size=(64, 8, 3)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, ys)).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.SGD(0.05)
losses = []


"""
STEP = """\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return float(loss)


"""
LOOP = """\
for x, y in data:
    losses.append(step(x, y))
"""
TAPE = "    with tf.GradientTape() as tape:\n"
GRADIENT = "    grads = tape"
END = "    return float(loss)\n"
AGENT = """\
class Agent:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
        self.optimizer = tf.keras.optimizers.SGD(0.05)
        self.steps = 0
        self.rate = 1.0
        self.total = 0.0
        self.history = []

    def learn(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x) - y))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return float(loss)

    def run(self):
        for x, y in data:
            losses.append(self.learn(x, y))


agent = Agent()
agent.run()
"""
ACT = """\
def act(state):
    return int(tf.argmax(model(tf.expand_dims(state, 0))[0]))


"""
PLAY = """\
state = np.ones((4,), np.float32)
while True:
    action = act(state)
"""


def changed(text: str, *pairs: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


def of(*parts: str) -> str:
    return START + "".join(parts)


def trap(name: str, *parts: str) -> Case:
    return leaves_alone(name, of(*parts), shapes=())


def step(*pairs: str) -> str:
    return changed(STEP, *pairs)


def drawn(line: str, use: str = "model(z)") -> str:
    """The step with a line in its tape that draws."""
    return step(TAPE, f"{TAPE}        {line}\n", "model(x)", use)


def outlines(name: str, before: str, function: str, after: str, *others: str) -> Case:
    """A step of a function that becomes a function above it."""
    whole = f"@tf.function\n{textwrap.dedent(function)}\n\n{after}"
    return rewrites(
        name, of(before, *others), of(whole, *others), contract="rounding", shapes=("crlf", "tabs")
    )


FUNCTION = """\
def compiled_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
"""
WITH_NOISE = changed(FUNCTION, "compiled_step(x", "compiled_step(z", "model(x)", "model(z)")
NOISE = "    z = np.random.normal(size=(8, 4)).astype(np.float32)\n"
AGAIN = changed(STEP, "def step(x, y):\n", "", "model(x)", "model(z)", f"{END}\n\n", "")
# Linear in what the model gives, so that no gradient waits for that.
LINEAR = """\
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) * y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


"""
APPLY = "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"
RETURN = "    return loss\n"
READ = """\
def compiled_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) * y)
    grads = tape.gradient(loss, model.trainable_variables)
    return loss, grads
"""
UPDATED = f"@tf.function\ndef compiled_update(grads):\n{APPLY}\n\n"
APART = "def step(x, y):\n    loss, grads = compiled_step(x, y)\n    compiled_update(grads)\n"
EAGER = changed(APART, "    compiled_update(grads)\n", APPLY)
CLIP = "    grads, norm = tf.clip_by_global_norm(grads, 1.0)\n"
NORM = "    print(float(tf.linalg.global_norm(grads)))\n"
NET = """\
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)


net = Net()


"""
DECAYED = """\
def decayed(grads):
    return [g + tf.reduce_sum(model.trainable_variables[0]) for g in grads]


"""


def apart(
    name: str, before: str, read: str, update: str, after: str, *, top: str = "", loop: str = LOOP
) -> Case:
    """A step whose update becomes a function of its own, or stays as it is."""
    return rewrites(
        name,
        of(top, before, loop),
        of(top, "@tf.function\n", read, "\n\n", update, after, RETURN, "\n\n", loop),
        contract="rounding",
        shapes=("crlf", "tabs"),
    )


CALLED = "def step(x, y):\n    loss = compiled_step(x, y)\n"

test_outline_function = bench(
    OutlineTrainStep,
    trap("a function that TFR201 compiles", step(END, "    return loss\n"), LOOP),
    trap("a function that nothing calls", STEP),
    trap("a function that no loop calls", STEP, "step(xs[0], ys[0])\n"),
    trap("a function that is handed on", STEP, "step_of = [step]\n", LOOP),
    trap("a decorated function", "import functools\n\n\n@functools.lru_cache\n", STEP, LOOP),
    trap(
        "somebody catches exceptions of it",
        STEP,
        "try:\n",
        textwrap.indent(LOOP, "    "),
        "except ValueError:\n    print('no more')\n",
    ),
    refuses(
        "a tape around its call",
        of(
            STEP,
            changed(LOOP, "    losses", "    with tf.GradientTape() as outer:\n        losses"),
        ),
        reason="python-effect",  # of the tape in the loop; nothing is said of that in the function
        shapes=(),
    ),
    trap(
        "left in the middle",
        step(
            GRADIENT,
            "    if float(loss) < 0:\n        return 0\n  grads = tape".replace("  g", "    g"),
        ),
        LOOP,
    ),
    trap(
        "made in a function that is called again",
        "def run(scale):\n",
        textwrap.indent(step("- y", "- y * scale"), "    "),
        textwrap.indent(LOOP, "    "),
        "run(1.0)\nrun(2.0)\n",
    ),
    trap("made in each turn", "for _ in range(2):\n", textwrap.indent(STEP + LOOP, "    ")),
    trap("asks Keras' own loop as well", step(TAPE, f"    model.predict(x)\n{TAPE}"), LOOP),
    # What is drawn
    trap(
        "draws what is of another type",
        drawn("z = np.random.normal(size=(8, 4))", "model(x + z)"),
        LOOP,
    ),
    trap(
        "draws as the loss says",
        drawn("loss = 1.0\n        z = np.random.normal(loss, size=(8, 4))"),
        LOOP,
    ),
    trap(
        "seeds the stream",
        drawn("np.random.seed(1)\n        z = np.random.normal(size=(8, 4))"),
        LOOP,
    ),
    trap(
        "what is drawn gets another value",
        drawn("z = np.random.rand(8, 4)\n        z = z + 1"),
        LOOP,
    ),
    trap(
        "is drawn under a condition",
        drawn("z = x\n        if len(losses):\n            z = np.random.rand(8, 4)"),
        LOOP,
    ),
    trap(
        "is drawn into an array",
        "z = np.zeros((8, 4))\n\n\n",
        drawn("z[:] = np.random.rand(8, 4)"),
        LOOP,
    ),
    trap(
        "is drawn by what it calls",
        "def draw():\n    return np.random.rand(8, 4)\n\n\n",
        drawn("z = draw()"),
        LOOP,
    ),
    # What changes
    trap(
        "a global number that is counted",
        "count = 0\n\n\n",
        step(
            "    with", "    global count\n    count += 1\n    with", "model(x)", "model(x) * count"
        ),
        LOOP,
    ),
    trap(
        "a number that decides",
        step(
            "def step(x, y)",
            "def step(x, y, n)",
            GRADIENT,
            "    if n > 3:\n        loss = loss * 2\n    grads = tape",
        ),
        "for n, (x, y) in enumerate(data):\n    step(x, y, n)\n",
    ),
    trap(
        "a number of the object that decides",
        changed(
            AGENT,
            "        grads",
            "        if self.steps > 3:\n            loss = loss * 2\n        grads",
            "        return float",
            "        self.steps += 1\n        return float",
        ),
    ),
    trap(
        "a number of the object that is read in a method of it",
        changed(
            AGENT,
            "        grads",
            "            loss += tf.reduce_sum(tf.ones((3,)) * self.now())\n        grads",
            "        return float",
            "        self.rate *= 0.5\n        return float",
            "    def run",
            "    def now(self):\n        return self.rate\n\n    def run",
        ),
    ),
    trap(
        "a number of the object that changes halfway",
        changed(
            AGENT,
            "        grads",
            "            loss += tf.reduce_sum(tf.ones((3,)) * self.rate)\n"
            "            self.rate *= 0.5\n"
            "            loss += tf.reduce_sum(tf.ones((3,)) * self.rate)\n        grads",
        ),
    ),
    trap(
        "what may be no float",
        changed(
            AGENT,
            "        grads",
            "            loss += tf.reduce_sum(tf.ones((3,)) * self.rate)\n        grads",
            "        return float",
            "        self.rate = max(0, self.rate - 0.1)\n        return float",
        ),
    ),
    trap(
        "a property that counts",
        changed(
            AGENT,
            "        grads",
            "            loss += self.now\n        grads",
            "    def run",
            "    @property\n    def now(self):\n        self.steps += 1\n        return 1.0\n\n"
            "    def run",
        ),
    ),
    trap(
        "a list whose length is used",
        changed(
            AGENT,
            "- y",
            "- y * len(self.history)",
            "        grads",
            "        self.history.append(float(loss))\n        grads",
        ),
    ),
    trap(
        "a model that is replaced",
        changed(
            AGENT,
            "        return float",
            "        self.model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
            "        return float",
        ),
    ),
    # What asks models
    trap("an answer for some turns", ACT, changed(PLAY, "while True", "for _ in range(20)")),
    trap(
        "an answer that somebody catches",
        ACT,
        changed(
            PLAY,
            "    action = act(state)",
            "    try:\n        action = act(state)\n    except ValueError:\n        break",
        ),
    ),
    trap(
        "an answer for states of another size",
        ACT,
        changed(PLAY, "act(state)", "act(np.append(state, action))"),
    ),
    trap(
        "one small layer",
        "layer = tf.keras.layers.Dense(3)\n\n\n",
        changed(ACT, "model", "layer"),
        PLAY,
    ),
    # What is rewritten
    outlines("a loss that is read at the end", STEP, FUNCTION, f"{CALLED}{END}\n\n", LOOP),
    outlines(
        "prints and lists in the middle",
        step(GRADIENT, "    print(float(loss))\n    losses.append(loss.numpy())\n    grads = tape"),
        FUNCTION,
        f"{CALLED}    print(float(loss))\n    losses.append(loss.numpy())\n{END}\n\n",
        LOOP,
    ),
    outlines(
        "left before its step",
        step(TAPE, f"    if tf.reduce_sum(x) > 3:\n        return 0.0\n{TAPE}"),
        FUNCTION,
        changed(CALLED, "    loss", "    if tf.reduce_sum(x) > 3:\n        return 0.0\n    loss")
        + END
        + "\n\n",
        LOOP,
    ),
    outlines(
        "noise that is drawn before",
        step(
            TAPE,
            f"    z = np.random.normal(size=(8, 4)).astype(np.float32)\n{TAPE}",
            "model(x)",
            "model(z)",
        ),
        WITH_NOISE,
        f"def step(x, y):\n{NOISE}    loss = compiled_step(z, y)\n{END}\n\n",
        LOOP,
    ),
    outlines(
        "noise that is drawn in the tape",
        drawn(
            "# the noise\n        a = np.random.normal(size=(8, 4))\n"
            "        z = a.astype(np.float32)  # for Keras"
        ),
        WITH_NOISE,
        "def step(x, y):\n    # the noise\n    a = np.random.normal(size=(8, 4))\n"
        "    z = a.astype(np.float32)  # for Keras\n    loss = compiled_step(z, y)\n"
        f"{END}\n\n",
        LOOP,
    ),
    rewrites(
        "a generator of numpy",
        of("stream = np.random.default_rng(1)\n\n\n", drawn("z = stream.random((8, 4))"), LOOP),
        of(
            "stream = np.random.default_rng(1)\n\n\n@tf.function\n",
            WITH_NOISE,
            "\n\ndef step(x, y):\n    z = stream.random((8, 4))\n    loss = compiled_step(z, y)\n",
            f"{END}\n\n",
            LOOP,
        ),
        contract="rounding",
        shapes=(),
    ),
    outlines(
        "a number that a loop counts",
        step(
            "def step(x, y)",
            "def step(x, y, n)",
            GRADIENT,
            "    loss += 0.1 * tf.cast(n, tf.float32)\n    grads = tape",
        ),
        changed(
            FUNCTION,
            "step(x, y)",
            "step(x, y, n)",
            GRADIENT,
            "    loss += 0.1 * tf.cast(n, tf.float32)\n    grads = tape",
        ),
        f"def step(x, y, n):\n    loss = compiled_step(x, y, tf.constant(n))\n{END}\n\n",
        "for n, (x, y) in enumerate(data):\n    losses.append(step(x, y, n))\n",
    ),
    rewrites(
        "a method, with what its object holds",
        of(
            changed(
                AGENT,
                "        grads",
                "            loss += tf.reduce_sum(tf.ones((3,)) * self.rate)\n"
                "        self.steps += 1\n"
                "        self.total += loss.numpy()\n"
                "        self.history.append(float(loss))\n"
                "        grads",
                "        return float",
                "        self.rate = max(0.1, self.rate * 0.9)\n        return float",
            )
        ),
        of(
            changed(
                AGENT,
                "    def learn(self, x, y):\n",
                "    @tf.function\n    def compiled_step(self, x, y, rate):\n",
                "        grads",
                "            loss += tf.reduce_sum(tf.ones((3,)) * rate)\n        grads",
                "        return float",
                "        return loss\n"
                "\n"
                "    def learn(self, x, y):\n"
                "        loss = self.compiled_step(x, y, tf.constant(self.rate, tf.float32))\n"
                "        self.steps += 1\n"
                "        self.total += loss.numpy()\n"
                "        self.history.append(float(loss))\n"
                "        self.rate = max(0.1, self.rate * 0.9)\n"
                "        return float",
            )
        ),
        contract="rounding",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "two steps in a function, with noise between them",
        of(changed(STEP, END, f"{NOISE}{AGAIN}{END}"), LOOP),
        of(
            "@tf.function\n",
            changed(FUNCTION, "step(x, y)", "step(x, y, z)", "    return", f"{AGAIN}    return"),
            f"\n\ndef step(x, y):\n{NOISE}    loss = compiled_step(x, y, z)\n{END}\n\n",
            LOOP,
        ),
        contract="rounding",
        shapes=(),
    ),
    # Updates that race with what the step reads
    apart("an update that no gradient makes wait", LINEAR, READ, UPDATED, APART),
    apart(
        "an update of a model that is called twice",
        changed(LINEAR, "model(x)", "(model(x) - model(2 * x))"),
        changed(READ, "model(x)", "(model(x) - model(2 * x))"),
        UPDATED,
        APART,
    ),
    apart(
        "gradients that are clipped before, and a metric behind",
        changed(LINEAR, APPLY, f"{CLIP}{APPLY}    mean.update_state(loss)\n"),
        changed(READ, "    return", f"{CLIP}    return"),
        changed(
            UPDATED, "(grads):", "(grads, loss):", APPLY, f"{APPLY}    mean.update_state(loss)\n"
        ),
        changed(APART, "update(grads)", "update(grads, loss)"),
        top="mean = tf.keras.metrics.Mean()\n\n\n",
    ),
    apart(
        "Python between the step and the update",
        changed(LINEAR, APPLY, f"{NORM}{APPLY}"),
        READ,
        UPDATED,
        changed(APART, "    compiled", f"{NORM}    compiled"),
    ),
    apart(
        "an update under a condition",
        changed(LINEAR, APPLY, f"    if float(loss) > 0:\n    {APPLY}"),
        READ,
        UPDATED,
        changed(APART, "    compiled", "    if float(loss) > 0:\n        compiled"),
    ),
    apart(
        "a model that makes its variables in the step",
        changed(LINEAR, "model", "net"),
        changed(READ, "model", "net"),
        changed(UPDATED, "model", "net"),
        APART,
        top=NET,
    ),
    apart(
        "gradients that are changed one by one",
        changed(LINEAR, APPLY, f"    grads[0] = 2 * grads[0]\n{APPLY}"),
        READ,
        "",
        changed(EAGER, APPLY, f"    grads[0] = 2 * grads[0]\n{APPLY}"),
    ),
    apart(
        "an optimizer that is replaced",
        LINEAR,
        READ,
        "",
        EAGER,
        loop=f"{LOOP}    optimizer = tf.keras.optimizers.SGD(0.1)\n",
    ),
    apart(
        "another optimizer in other turns",
        changed(LINEAR, "(x, y)", "(x, y, optimizer)"),
        READ,
        "",
        changed(EAGER, "def step(x, y)", "def step(x, y, optimizer)"),
        loop="other = tf.keras.optimizers.Adam(0.1)\n"
        "for i, (x, y) in enumerate(data):\n    step(x, y, other if i % 2 else optimizer)\n",
    ),
    apart(
        "variables of a model that was not called before",
        changed(LINEAR, "(grads, model", "(grads, net"),
        READ,
        "",
        changed(EAGER, "(grads, model", "(grads, net"),
        top=NET,
    ),
    apart(
        "weights that the update changes, in a function",
        changed(LINEAR, "zip(grads", "zip(decayed(grads)"),
        READ,
        "",
        changed(EAGER, "zip(grads", "zip(decayed(grads)"),
        top=DECAYED,
    ),
    rewrites(
        "a function in the function that runs once",
        of(
            "def main():\n",
            textwrap.indent(STEP.rstrip("\n") + "\n\n" + LOOP, "    "),
            "\n\nmain()\n",
        ),
        of(
            "def main():\n",
            textwrap.indent(
                f"@tf.function\n{FUNCTION}\n{CALLED}{END}\n{LOOP}",
                "    ",
            ),
            "\n\nmain()\n",
        ),
        contract="rounding",
        shapes=(),
    ),
    outlines(
        "an answer of a model, read at once",
        ACT,
        "def compiled_forward(state):\n    return tf.argmax(model(tf.expand_dims(state, 0))[0])\n",
        "def act(state):\n    return int(compiled_forward(state))\n\n\n",
        PLAY,
    ),
    outlines(
        "an answer or a guess",
        "def act(state):\n    if np.random.rand() < 0.1:\n        return np.random.randint(3)\n"
        "    return np.argmax(model(state[None]).numpy()[0])\n\n\n",
        "def compiled_forward(state):\n    return model(state[None])\n",
        "def act(state):\n    if np.random.rand() < 0.1:\n        return np.random.randint(3)\n"
        "    return np.argmax(compiled_forward(state).numpy()[0])\n\n\n",
        PLAY,
    ),
    offers(
        "a step that draws from TensorFlow",
        of(step("model(x)", "model(tf.nn.dropout(x, 0.5))"), LOOP),
        contract="resampled",
        shapes=(),
    ),
)
