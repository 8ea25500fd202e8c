"""TFR401: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.predict_in_loop import PredictInLoop

TOP = ("crlf", "tabs")
"""The helper stands at the top of the module, which is no place in a function."""

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

"""
MODEL = (
    HEAD
    + """\
model = keras.Sequential([keras.layers.Dense(2)])
states = np.random.rand(500, 4)
"""
)
HELPER = '''\
def predict_one_batch(model, x, batch_size=None, **options):
    """The same as `model.predict`, without the pipeline that it builds in each call."""
    one_batch = type(x) is np.ndarray and x.ndim > 1 and 0 < len(x) <= (batch_size or 32)
    if one_batch and x.dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
        return model.predict_on_batch(x)
    return model.predict(x, batch_size=batch_size, **options)


'''


def script(rest: str, head: str = MODEL) -> str:
    return head + textwrap.dedent(rest).lstrip("\n")


def in_loop(call: str, head: str = MODEL) -> str:
    return f"{head}for state in states:\n    print({call})\n"


ONE_ROW = "np.expand_dims(state, 0)"
ALWAYS = """\
class Always(keras.layers.Dropout):
    def call(self, inputs):
        return super().call(inputs, training=True)
"""
STEP = """\
class Net(keras.Model):
    def train_step(self, data):
        return self.compute_loss(data, self(data, training=True))
def step(x):
    return model(x, training=True)
"""

test_left_alone = bench(
    PredictInLoop,
    leaves_alone("no loop", script("print(model.predict(states[:1]))")),
    leaves_alone("few turns", script("for i in range(3):\n    print(model.predict(states[:1]))")),
    leaves_alone(
        "at each tenth turn",
        script(
            """
            for i in range(1000):
                if i % 10 == 0:
                    print(model.predict(states[i : i + 1], verbose=0))
            """
        ),
    ),
    leaves_alone(
        "a predict of scikit-learn",
        script(
            """
            from sklearn.linear_model import LinearRegression
            model = LinearRegression()
            for state in states:
                print(model.predict(np.expand_dims(state, 0)))
            """,
            HEAD + "states = np.random.rand(500, 4)\n",
        ),
    ),
    leaves_alone(
        "a class of the file that is no model",
        script(
            """
            class Table:
                def predict(self, state):
                    return state[0]

            table = Table()
            for state in states:
                print(table.predict(np.expand_dims(state, 0)))
            """
        ),
    ),
    leaves_alone("a function called predict", script("for s in states:\n    predict(s)\n")),
    leaves_alone(
        "the owner chooses already",
        script(
            """
            def ask(x):
                if len(x) < 9:
                    return model.predict_on_batch(x)
                return model.predict(x)
            for state in states:
                print(ask(np.expand_dims(state, 0)))
            """
        ),
    ),
)

test_refused = bench(
    PredictInLoop,
    refuses(
        "a model from elsewhere",
        in_loop(
            f"model.predict({ONE_ROW})", HEAD + "from nets import model\nstates = np.ones((5, 4))\n"
        ),
        reason="model-unknown",
    ),
    refuses(
        "now a model, now something else",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}if states.any():\n    model = make()\n"),
        reason="model-unknown",
    ),
    refuses(
        "a model with a predict of its own",
        script(
            """
            class Net(keras.Model):
                def predict(self, x):
                    return super().predict(x) * 2

            net = Net()
            for state in states:
                print(net.predict(np.expand_dims(state, 0)))
            """
        ),
        reason="own-method",
    ),
    refuses(
        "a model with a predict of its own, where there is one to inherit",
        script(
            """
            class Net(keras.Model):
                if hasattr(keras.Model, "predict"):
                    def predict(self, x):
                        return super().predict(x) * 2

            net = Net()
            for state in states:
                print(net.predict(np.expand_dims(state, 0)))
            """
        ),
        reason="dynamic-code",
    ),
    refuses(
        "a model with a predict_step of its own, from a file",
        script(
            """
            class Net(keras.Model):
                def predict_step(self, data):
                    return data

            net = keras.models.load_model("net.keras")
            for state in states:
                print(net.predict(np.expand_dims(state, 0)))
            """
        ),
        reason="own-method",
    ),
    refuses(
        "a predict that is replaced",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}model.predict = fake\n"),
        reason="dynamic-code",
    ),
    refuses(
        "names from elsewhere",
        in_loop(f"model.predict({ONE_ROW})", f"from helpers import *\n{MODEL}"),
        reason="dynamic-code",
        shapes=(),
    ),
    refuses(
        "a progress bar", in_loop(f"model.predict({ONE_ROW}, verbose=1)"), reason="other-arguments"
    ),
    refuses(
        "a number of steps", in_loop("model.predict(state, steps=2)"), reason="other-arguments"
    ),
    refuses("callbacks", in_loop("model.predict(state, callbacks=c)"), reason="other-arguments"),
    refuses("hidden arguments", in_loop("model.predict(*state)"), reason="other-arguments"),
    refuses("nothing", in_loop("model.predict(batch_size=3)"), reason="other-arguments"),
    refuses("x twice", in_loop("model.predict(state, x=state)"), reason="other-arguments"),
    refuses("many rows", in_loop("model.predict(np.zeros((257, 4)))"), reason="several-batches"),
    refuses(
        "more than one batch, and a layer of one's own",
        in_loop(
            "model.predict(np.zeros((33, 4)))",
            f"{MODEL}model.add(keras.layers.Lambda(lambda x: x - x.mean()))\n",
        ),
        reason="several-batches",
    ),
    refuses(
        "more than one batch, and a mean in a model",
        in_loop(
            "net.predict(np.zeros((33, 4)))",
            f"{MODEL}net = keras.Model(i, i - tf.reduce_mean(i))\n",
        ),
        reason="several-batches",
    ),
    refuses(
        "more than one batch, and dropout that stays on",
        in_loop(
            "model.predict(np.zeros((33, 4)))",
            f"{MODEL}h = keras.layers.Dropout(0.5)(h, training=True)\n",
        ),
        reason="several-batches",
        target_tf=(2, 16),
    ),
    refuses(
        "a whole set",
        in_loop("model.predict(x_test)", f"{MODEL}x_test = load()\n"),
        reason="several-batches",
    ),
    refuses(
        "batches of a dataset",
        script(
            """
            for batch in test_dataset.take(9):
                x, y = batch
                print(model.predict(x))
            """
        ),
        reason="several-batches",
    ),
    refuses("a sum of lists", in_loop("model.predict([state] + more)"), reason="rows-unknown"),
    refuses("two inputs of any length", in_loop("model.predict([a, b])"), reason="rows-unknown"),
    refuses(
        "inputs of different length",
        in_loop("model.predict([np.zeros((1, 4)), np.zeros((2, 4))])"),
        reason="rows-unknown",
    ),
    refuses(
        "a dropout that is always on",
        in_loop(f"model.predict({ONE_ROW})", MODEL + ALWAYS),
        reason="random-in-model",
    ),
    refuses(
        "a layer that is told to train",
        in_loop(
            f"model.predict({ONE_ROW})",
            MODEL + "h = keras.layers.Dropout(0.5)(keras.Input((4,)), training=True)\n",
        ),
        reason="random-in-model",
    ),
    refuses(
        "a tensor of any length",
        in_loop("model.predict(tf.cast(state, tf.float32))"),
        reason="rows-unknown",
    ),
    refuses(
        "a tensor of Keras",
        f"from keras import ops\n{in_loop('model.predict(ops.expand_dims(state, axis=0))')}",
        reason="rows-unknown",
    ),
    refuses("a dict of inputs", in_loop('model.predict({"a": a})'), reason="rows-unknown"),
    refuses(
        "without numpy",
        "from tensorflow import keras\nmodel = keras.Sequential()\n"
        "for state in states():\n    print(model.predict(state))\n",
        reason="rows-unknown",
    ),
    refuses(
        "the type of the error is known",
        script(
            """
            for state in states:
                try:
                    print(model.predict(np.expand_dims(state, 0)))
                except ValueError:
                    continue
            """
        ),
        reason="message-read",
    ),
    refuses(
        "the message is read",
        script(
            """
            for state in states:
                try:
                    print(model.predict(np.expand_dims(state, 0)))
                except ValueError as error:
                    print(error)
            """
        ),
        reason="message-read",
    ),
    refuses(
        "several steps at once",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}model.compile(steps_per_execution=4)\n"),
        reason="steps-per-execution",
    ),
    refuses(
        "op by op",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}model.compile(run_eagerly=True)\n"),
        reason="runs-eagerly",
    ),
    refuses(
        "all functions op by op",
        in_loop(
            f"model.predict({ONE_ROW})", f"{MODEL}tf.config.run_functions_eagerly(debugging)\n"
        ),
        reason="runs-eagerly",
    ),
    refuses(
        "a strategy",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}s = tf.distribute.MirroredStrategy()\n"),
        reason="distributed",
    ),
    refuses(
        "mixed precision",
        in_loop(
            f"model.predict({ONE_ROW})",
            f'{MODEL}keras.mixed_precision.set_global_policy("mixed_float16")\n',
        ),
        reason="precision-policy",
    ),
    refuses(
        "a random op in a layer",
        in_loop(
            f"model.predict({ONE_ROW})",
            f"{MODEL}noise = keras.layers.Lambda(lambda x: x + tf.random.normal([4]))\n",
        ),
        reason="random-in-model",
    ),
    refuses(
        "a random op in a function that is given to a layer",
        script(
            """
            def sample(x):
                return x + tf.random.normal([4])

            noise = keras.layers.Lambda(sample)
            for state in states:
                print(model.predict(np.expand_dims(state, 0)))
            """
        ),
        reason="random-in-model",
    ),
    refuses(
        "a layer's activation is changed, which the first trace has kept",
        script(
            """
            print(model.predict(states, verbose=0)[0])
            for state in states:
                model.layers[0].activation = tf.nn.relu
                print(model.predict(state[None], verbose=0))
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "whatever is set on a layer",
        script(
            """
            dense = keras.layers.Dense(2)
            net = keras.Sequential([dense])
            print(net.predict(states, verbose=0)[0])
            for state in states:
                dense.supports_masking = False
                print(net.predict(state[None], verbose=0))
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "a number of a model of the file is changed",
        script(
            """
            class Net(keras.Model):
                def __init__(self):
                    super().__init__()
                    self.dense = keras.layers.Dense(2)
                    self.scale = 1.0
                def call(self, x):
                    return self.dense(x) * self.scale
            net = Net()
            print(net.predict(states, verbose=0)[0])
            for state in states:
                net.scale += 1.0
                print(net.predict(state[None], verbose=0))
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "a number that a lambda of the model reads is changed",
        script(
            """
            scale = 1.0
            net = keras.Sequential([keras.layers.Lambda(lambda x: x * scale)])
            for state in states:
                scale *= 0.5
                print(net.predict(state[None], verbose=0))
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "a function of the model counts in a list",
        script(
            """
            calls = []
            def scaled(x):
                calls.append(1)
                return x * float(len(calls))
            net = keras.Sequential([keras.layers.Lambda(scaled)])
            for state in states:
                print(net.predict(state[None], verbose=0))
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "how many rows a batch has decides in a trace",
        in_loop(
            f"net.predict({ONE_ROW})",
            f"{MODEL}net = keras.Sequential(\n    [keras.layers.Lambda(lambda x: x * (x.shape[0] or"
            " 9.0))]\n)\n",
        ),
        reason="traced-effects",
    ),
    refuses(
        "a graph of TensorFlow 1",
        in_loop(f"model.predict({ONE_ROW})", f"{MODEL}tf.compat.v1.disable_eager_execution()\n"),
        reason="graph-mode",
    ),
    refuses(
        "an old target",
        in_loop(f"model.predict({ONE_ROW})"),
        reason="graph-mode",
        target_tf=(1, 15),
    ),
)


def exact(name: str, before: str, after: str, head: str = MODEL) -> Case:
    return rewrites(name, in_loop(before, head), in_loop(after, head), contract="exact")


test_direct = bench(
    PredictInLoop,
    exact("one row", f"model.predict({ONE_ROW})", f"model.predict_on_batch({ONE_ROW})"),
    exact(
        "in silence",
        "model.predict(state[None], verbose=0)",
        "model.predict_on_batch(state[None])",
    ),
    exact(
        "with a batch size",
        "model.predict(state.reshape(1, -1), batch_size=1)[0]",
        "model.predict_on_batch(state.reshape(1, -1))[0]",
    ),
    exact(
        "a batch size by position",
        "model.predict(np.array([state]), 1)",
        "model.predict_on_batch(np.array([state]))",
    ),
    exact(
        "two inputs",
        "model.predict([state[np.newaxis], np.zeros((1, 2))])",
        "model.predict_on_batch([state[np.newaxis], np.zeros((1, 2))])",
    ),
    exact(
        "a model from a file",
        "net.predict(tf.expand_dims(state, 0))",
        "net.predict_on_batch(tf.expand_dims(state, 0))",
        MODEL + 'net = keras.models.load_model("net.keras")\n',
    ),
    exact(
        "a step that trains",
        f"model.predict({ONE_ROW})",
        f"model.predict_on_batch({ONE_ROW})",
        MODEL + STEP,
    ),
    rewrites(
        "a dropout that is always on, in Keras 3",
        in_loop(f"model.predict({ONE_ROW})", MODEL + ALWAYS),
        in_loop(f"model.predict_on_batch({ONE_ROW})", MODEL + ALWAYS),
        contract="exact",
        target_tf=(2, 16),
    ),
    exact(
        "x by name",
        "model.predict(x=state[np.newaxis], batch_size=8, verbose=0)",
        "model.predict_on_batch(state[np.newaxis])",
    ),
    exact(
        "a tensor of one row",
        "model.predict(tf.constant(np.expand_dims(state, 0)))",
        "model.predict_on_batch(tf.constant(np.expand_dims(state, 0)))",
    ),
    rewrites(
        "more than one batch",
        in_loop("model.predict(np.zeros((33, 4)))"),
        in_loop("model.predict_on_batch(np.zeros((33, 4)))"),
        contract="rounding",
    ),
    rewrites(
        "more than its own batches",
        in_loop("model.predict(np.zeros((8, 4)), batch_size=7)"),
        in_loop("model.predict_on_batch(np.zeros((8, 4)))"),
        contract="rounding",
    ),
    rewrites(
        "a name in a while loop",
        script(
            """
            state = np.reshape(states[0], [1, 4])
            while True:
                # what to do
                action = np.argmax(model.predict(state)[0])
                state = np.reshape(step(action), [1, 4])
            """
        ),
        script(
            """
            state = np.reshape(states[0], [1, 4])
            while True:
                # what to do
                action = np.argmax(model.predict_on_batch(state)[0])
                state = np.reshape(step(action), [1, 4])
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a batch whose size is given by the caller",
        script(
            """
            def train(batch_size=32):
                for step in range(100):
                    noise = np.random.normal(0, 1, (batch_size, 4))
                    print(model.predict(noise))
            train(batch_size=16)
            """
        ),
        script(
            """
            def train(batch_size=32):
                for step in range(100):
                    noise = np.random.normal(0, 1, (batch_size, 4))
                    print(model.predict_on_batch(noise))
            train(batch_size=16)
            """
        ),
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "standalone keras",
        "import numpy as np\nfrom keras.models import Sequential\n\nmodel = Sequential()\n"
        "for x in range(9):\n    model.predict(np.zeros((1, x)))\n",
        "import numpy as np\nfrom keras.models import Sequential\n\nmodel = Sequential()\n"
        "for x in range(9):\n    model.predict_on_batch(np.zeros((1, x)))\n",
        contract="exact",
    ),
)

AGENT = """\
class Agent:
    def __init__(self):
        self.model = self._build()
        self.memory = []

    def _build(self):
        model = keras.Sequential()
        model.add(keras.layers.Dense(2))
        model.compile(loss="mse", optimizer="adam")
        return model

    def replay(self):
        for state, reward, done in self.memory:
            target = {first}
            if not done:
                reward += np.amax({second}[0])
            target[0][0] = reward
"""
CALLED = "\n\nagent = Agent()\nfor step in range(100):\n    agent.replay()\n"

test_with_a_helper = bench(
    PredictInLoop,
    rewrites(
        "an agent",
        HEAD
        + "\n"
        + AGENT.format(
            first="self.model.predict(state)", second="self.model.predict(state, verbose=0)"
        )
        + CALLED,
        HEAD
        + "\n"
        + HELPER
        + AGENT.format(
            first="predict_one_batch(self.model, state)",
            second="predict_one_batch(self.model, state, verbose=0)",
        )
        + CALLED,
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "at module level, the name taken",
        script("predict_one_batch = 1\nfor state in states:\n    print(model.predict(state))\n"),
        script(
            "predict_one_batch = 1\n\n\n"
            + HELPER.replace("predict_one_batch", "predict_one_batch_2")
            + "for state in states:\n    print(predict_one_batch_2(model, state))\n"
        ),
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "numpy by its own name, a comment above, a size that is not written out",
        "import numpy\nfrom tensorflow import keras\n\nmodel = keras.Model(i, o)\n\n# Play.\n"
        "for state in numpy.ones((9, 4)):\n    model.predict(state, batch_size=n)\n",
        "import numpy\nfrom tensorflow import keras\n\nmodel = keras.Model(i, o)\n\n\n"
        + HELPER.replace("np.", "numpy.")
        + "# Play.\n"
        "for state in numpy.ones((9, 4)):\n    predict_one_batch(model, state, batch_size=n)\n",
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "a function with a decorator",
        script(
            """
            @timed
            def play():
                for state in states:
                    print(model.predict(state))
            """
        ),
        MODEL
        + "\n\n"
        + HELPER
        + "@timed\ndef play():\n    for state in states:\n"
        + "        print(predict_one_batch(model, state))\n",
        contract="exact",
        shapes=TOP,
    ),
)
