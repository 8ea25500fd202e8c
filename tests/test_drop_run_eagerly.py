"""TFR207: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.drop_run_eagerly import DropRunEagerly

HEAD = "import tensorflow as tf\nfrom tensorflow.keras import layers\n"
MODEL = "model = tf.keras.Sequential([layers.Dense(8, 'relu', input_shape=[9]), layers.Dense(1)])"
COMPILE = "model.compile('adam', 'mse', run_eagerly=True)"
FIT = "model.fit(x, y)"


def script(*parts: str, model: str = MODEL, compiling: str = COMPILE, fit: str = FIT) -> str:
    return HEAD + "\n".join((*parts, model, compiling, fit)) + "\n"


def plain(text: str) -> str:
    return text.replace(", run_eagerly=True", "")


SWITCH = "tf.config.run_functions_eagerly(True)"
QUIET = plain(COMPILE)

test_left_alone = bench(
    DropRunEagerly,
    leaves_alone("not asked for", script(compiling=QUIET)),
    leaves_alone("turned off", script(compiling=COMPILE.replace("True", "False"))),
    leaves_alone("by a flag", script(compiling=COMPILE.replace("True", "DEBUG"))),
    leaves_alone("the switch turned off", script(SWITCH.replace("True", "False"), compiling=QUIET)),
    leaves_alone("of something else", script(compiling="re.compile('a')\nrun(run_eagerly=True)")),
)

test_refused = bench(
    DropRunEagerly,
    refuses(
        "a train_step of its own",
        script(
            "class M(tf.keras.Model):\n    def train_step(self, data):\n"
            "        return {'loss': float(data[0].numpy().mean())}",
            model="model = M()",
        ),
        reason="custom-code",
    ),
    refuses(
        "a softmax of TensorFlow's beneath a crossentropy",
        script(
            model="model = tf.keras.Sequential([tf.keras.Input((6,)),"
            " layers.Dense(3, activation=tf.nn.softmax)])",
            compiling="model.compile('adam', 'categorical_crossentropy', run_eagerly=True)",
        ),
        reason="logits-found",
    ),
    refuses(
        "a failed step is caught: a graph raises another error, and does not train any more",
        script(
            fit="for x, y in parts:\n    try:\n        model.fit(x, y)\n"
            "    except tf.errors.InvalidArgumentError:\n        continue"
        ),
        reason="exception-seen",
    ),
    refuses(
        "an option that only graphs heed",
        script("tf.config.optimizer.set_jit(True)"),
        reason="graph-options",
    ),
    refuses(
        "a layer of its own",
        script(
            "class L(layers.Layer):\n    def call(self, x):\n        return x",
            model="model = tf.keras.Sequential([L(), layers.Dense(1)])",
        ),
        reason="custom-code",
    ),
    refuses(
        "a loss of its own",
        script(
            "def loss(a, b):\n    return (a - b).numpy().mean()",
            compiling="model.compile('adam', loss, run_eagerly=True)",
        ),
        reason="custom-code",
    ),
    refuses(
        "a metric of its own, in a list",
        script(compiling="model.compile('adam', 'mse', metrics=[near], run_eagerly=True)"),
        reason="custom-code",
    ),
    refuses(
        "a loss of its own in a wrapper",
        script(
            "def loss(a, b):\n    return a - b",
            compiling="model.compile('adam', tf.keras.losses.MeanMetricWrapper(loss),"
            " run_eagerly=True)",
        ),
        reason="custom-code",
    ),
    refuses(
        "an activation of its own",
        script(model=MODEL.replace("'relu'", "activation=mine")),
        reason="custom-code",
    ),
    refuses(
        "an activation of its own, by its place",
        script(model="model = tf.keras.Sequential([layers.Dense(8, mine)])"),
        reason="custom-code",
    ),
    refuses(
        "a Lambda",
        script(model="model = tf.keras.Sequential([layers.Lambda(lambda x: x + 1)])"),
        reason="custom-code",
    ),
    refuses(
        "a model that is loaded",
        script(model="model = tf.keras.models.load_model('m')"),
        reason="custom-code",
    ),
    refuses(
        "a model of elsewhere",
        script(model="import lib\nmodel = lib.make()"),
        reason=("code-not-seen"),
    ),
    refuses(
        "a parameter",
        script(
            model="def go(model):\n    pass",
            compiling=("def train(model):\n    model.compile('adam', 'mse', run_eagerly=True)"),
            fit="",
        ),
        reason="model-not-seen",
    ),
    refuses(
        "layers of elsewhere",
        script("import tensorflow_addons as tfa"),
        reason="code-not-seen",
    ),
    refuses(
        "layers of another file",
        script("from . import blocks"),
        reason="code-not-seen",
        shapes=(),
    ),
    refuses(
        "frozen between two fits",
        script(fit="model.fit(x, y)\nmodel.layers[0].trainable = False\nmodel.fit(x, y)"),
        reason="changes-while-training",
    ),
    refuses(
        "a callback that sets an attribute",
        script(
            "class C(tf.keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
            "        self.model.layers[0].rate = 0.1"
        ),
        reason="changes-while-training",
    ),
    refuses(
        "a step that is put in",
        script(f"{MODEL}\nmodel.train_step = lambda data: {{'loss': 0.}}", model=""),
        reason="changes-while-training",
    ),
    refuses(
        "a model that grows later",
        script(fit="model.fit(x, y)\nmodel.add(layers.Dense(1))\nmodel.fit(x, y)"),
        reason="changes-while-training",
    ),
    refuses(
        "the optimizer's rate is set by its attribute",
        script(
            fit="for i in range(3):\n    model.optimizer.lr = 0.1 / (i + 1)\n    model.fit(x, y)"
        ),
        reason="changes-while-training",
    ),
    refuses(
        "built by its first step",
        script(model=MODEL.replace(", input_shape=[9]", "")),
        reason="built-by-step",
    ),
    refuses(
        "several steps at once",
        script(compiling="model.compile('adam', 'mse', steps_per_execution=9, run_eagerly=True)"),
        reason="held-back",
    ),
    refuses("names that change", script("globals()['x'] = 1"), reason="function-not-seen"),
    refuses(
        "the switch, and a function that is traced",
        script(SWITCH, "@tf.function\ndef f(x):\n    return x.numpy()", compiling=QUIET),
        reason="functions-not-shown",
    ),
    refuses("the switch alone", HEAD + SWITCH + "\nprint(1)\n", reason="functions-not-shown"),
    refuses(
        "the switch for a while",
        script(SWITCH, compiling=QUIET, fit=f"{FIT}\ntf.config.run_functions_eagerly(False)"),
        reason="switched",
    ),
    refuses(
        "the switch under a condition",
        script(f"if debug:\n    {SWITCH}\n    print(1)", compiling=QUIET),
        reason="switched",
    ),
)

LONG = """
import tensorflow as tf
from tensorflow.keras import layers

def build(units):
    inputs = tf.keras.Input(shape=(8,))
    x = layers.Dense(units, activation=tf.nn.relu)(inputs)
    return tf.keras.Model(inputs, layers.Dense(1)(x))

model = build(4)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    {}loss=tf.keras.losses.MeanSquaredError(),
    metrics=['mae', tf.keras.metrics.RootMeanSquaredError()],
)
model.fit(x, y)
"""

LAST = """
import tensorflow as tf

base = tf.keras.applications.ResNet50(weights=None)
base.trainable = False
base.compile(
    "sgd",
    "mse",  # squares{}
)
base.fit(x, y)
"""

test_rewritten = bench(
    DropRunEagerly,
    rewrites("the plain form", script(), plain(script()), contract="rounding"),
    rewrites(
        "in the middle, of a functional model",
        LONG.format("run_eagerly=True,\n    "),
        LONG.format(""),
        contract="rounding",
    ),
    rewrites(
        "last, behind a comment",
        LAST.format("\n    run_eagerly=True,"),
        LAST.format(""),
        contract="resampled",
        allow=("resampled",),
    ),
    rewrites(
        "alone",
        script(compiling="model.compile(run_eagerly=True)"),
        script(compiling="model.compile()"),
        contract="rounding",
    ),
    rewrites(
        "the switch",
        script("# to look inside", SWITCH, compiling=QUIET),
        script("# to look inside", compiling=QUIET),
        contract="rounding",
    ),
    offers(
        "a dropout",
        script(model=MODEL.replace("layers.Dense(1)", "layers.Dropout(0.5), layers.Dense(1)")),
        contract="resampled",
        changes="dropout",
    ),
    rewrites(
        "a dropout of Keras 3",
        script(model=MODEL.replace("layers.Dense(1)", "layers.Dropout(0.5), layers.Dense(1)")),
        plain(
            script(model=MODEL.replace("layers.Dense(1)", "layers.Dropout(0.5), layers.Dense(1)"))
        ),
        contract="rounding",
        target_tf=(2, 21),
    ),
    offers(
        "a dropout within a layer",
        script(
            model="model = tf.keras.Sequential([\n"
            "    layers.LSTM(3, recurrent_dropout=0.2, input_shape=[2, 2])])"
        ),
        contract="resampled",
    ),
)
