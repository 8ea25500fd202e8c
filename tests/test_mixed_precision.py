"""TFR601: what is left alone and refused first, then a model in half precision."""

from __future__ import annotations

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.mixed_precision import MixedPrecision

START = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow.keras import layers\n"
STACK = """\
model = tf.keras.Sequential([
    layers.Dense(8, 'relu', input_shape=[9]),
    layers.Dense(3, activation='softmax'),
])
"""
GROWN = """\
model = tf.keras.Sequential()
model.add(layers.Dense(8, input_dim=9))
for width in (8, 8):
    model.add(layers.Dense(width))
model.add(layers.Activation('softmax'))
"""
FUNCTIONAL = """\
inputs = tf.keras.Input([9])
hidden = layers.Dense(8)(inputs)
outputs = layers.Dense(3)(hidden)
model = tf.keras.Model(inputs, outputs)
"""
POLICY = "tf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
TRAIN = "model.compile('adam', 'sparse_categorical_crossentropy')\nmodel.fit(x, y)\n"


# In a function that nobody calls nothing is rewritten.
SHAPES = ("main", "crlf", "tabs")


def script(*parts: str, model: str = STACK, train: str = TRAIN, start: str = START) -> str:
    return start + "".join(part + "\n" for part in parts) + model + train


def refused(
    name: str, *parts: str, reason: str, model: str = STACK, train: str = TRAIN, start: str = START
) -> Case:
    text = script(*parts, model=model, train=train, start=start)
    return refuses(name, text, reason=reason, allow=("precision",), shapes=SHAPES)


def mixed(
    name: str,
    model: str,
    after: str,
    *,
    train: str = TRAIN,
    start: str = START,
    target_tf: tuple[int, ...] | None = None,
) -> Case:
    return rewrites(
        name,
        script(model=model, train=train, start=start),
        script(model=after, train=train, start=start),
        contract="precision",
        allow=("precision",),
        shapes=SHAPES,
        target_tf=target_tf,
    )


def single(text: str, layer: str) -> str:
    assert text.count(layer) == 1
    return text.replace(layer, layer[:-1] + ", dtype='float32')")


test_left_alone = bench(
    MixedPrecision,
    leaves_alone("a policy is there", START + POLICY + STACK + TRAIN),
    leaves_alone("a policy of the article's kind", script(
        "policy = tf.keras.mixed_precision.Policy('mixed_float16')")),
    leaves_alone("a policy by the environment", script(
        "import os", "os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'")),
    leaves_alone("an option for it", script(
        "parser.add_argument('--mixed_precision')")),
    leaves_alone("a version that has no such thing", script(), target_tf=(2, 3)),
    leaves_alone("no fit", script(train="model.compile('adam')\nmodel.predict(x)\n")),
    leaves_alone("no Keras", "import re\nre.compile('a')\ntree.fit(x)\n"),
)  # fmt: skip

OUTPUT = "layers.Dense(3, activation='softmax')"
HIDDEN = "layers.Dense(8, 'relu', input_shape=[9])"
OWN_STEP = """\
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) - y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
"""

test_refused_layers = bench(
    MixedPrecision,
    refused("a layer that was not tried", reason="layer-not-known",
            model=STACK.replace("Dense(8, 'relu'", "Conv3D(8, 3")),
    refused("preprocessing", reason="layer-not-known",
            model=STACK.replace("Dense(8, 'relu'", "Normalization(8")),
    refused("a sum of squares of activations", reason="layer-not-known",
            model=STACK.replace("'relu',", "'relu', activity_regularizer='l2',")),
    refused("a state of its own", reason="layer-not-known",
            model=STACK.replace("Dense(8, 'relu',", "LSTM(8, stateful=True,")),
    refused("arguments by their places", reason="layer-not-known",
            model=STACK.replace("'relu',", "'relu', True, 'he', 'he', None, None, 'l2',")),
    refused("sparse inputs", reason="layer-not-known",
            model=FUNCTIONAL.replace("Input([9])", "Input([9], sparse=True)")),
    refused("numbers of words in half precision", reason="layer-not-known",
            model=STACK.replace(HIDDEN, "layers.Flatten(), layers.Embedding(5000, 8)")),
    refused("and without inputs", reason="layer-not-known",
            model=STACK.replace(HIDDEN, "layers.Embedding(5000, 8), layers.Flatten()")),
    refused("and behind another input", reason="layer-not-known",
            model=FUNCTIONAL.replace("Dense(8)(inputs)", "Embedding(5000, 8)("
                                     "layers.Reshape([3, 3])(inputs))")),
    refused("averages over images", reason="sums-too-large",
            model=STACK.replace(HIDDEN, "layers.GlobalAveragePooling2D()")),
    refused("averages of many numbers", reason="sums-too-large",
            model=STACK.replace(HIDDEN, "layers.AveragePooling2D(100), layers.Flatten()")),
    refused("averages of a size that is not seen", reason="sums-too-large",
            model=STACK.replace(HIDDEN, "layers.AveragePooling2D(pool_size=n), layers.Flatten()")),
    refused("a layer of its own", "class Mine(layers.Layer):\n    pass", reason="custom-code"),
    refused("a cast of its own", reason="custom-code",
            model=STACK.replace("layers.Dense(3,", "layers.Lambda(cast),\n    layers.Dense(3,")),
    refused("a layer with a type", reason="own-types",
            model=STACK.replace("'relu',", "'relu', dtype='float64',")),
    refused("the last one with a type", reason="own-types",
            model=single(STACK, OUTPUT)),
    refused("inputs of another type", reason="own-types",
            model=FUNCTIONAL.replace("Input([9])", "Input([9], dtype='float64')")),
    refused("inputs of a type that is not seen", reason="own-types",
            model=FUNCTIONAL.replace("Input([9])", "Input([9], dtype=kind)")),
    refused("arguments of a layer in a dict", reason="custom-code",
            model=STACK.replace("'relu',", "**how,")),
    refused("a model in double precision", "tf.keras.backend.set_floatx('float64')",
            reason="precision-policy"),
    refused("in half precision", "tf.keras.backend.set_floatx('float16')",
            reason="precision-policy"),
    refused("a policy that is read", "print(tf.keras.config.dtype_policy())",
            "tf.keras.config.set_dtype_policy('mixed_bfloat16')", reason="precision-policy"),
)  # fmt: skip

test_refused_uses = bench(
    MixedPrecision,
    refused("an op between layers", reason="used-elsewhere",
            model=FUNCTIONAL.replace("(hidden)", "(tf.concat([hidden, inputs], 1))")),
    refused("a sum of tensors", reason="used-elsewhere",
            model=FUNCTIONAL.replace("(hidden)", "(hidden + hidden)")),
    refused("a part of a tensor", reason="used-elsewhere",
            model=FUNCTIONAL.replace("(hidden)", "(hidden[:, :4])")),
    refused("an output that is computed", reason="used-elsewhere",
            model=FUNCTIONAL.replace("(hidden)\nmodel", "(hidden) * 2.0\nmodel")),
    refused("a layer that is called on data", reason="used-elsewhere",
            model=FUNCTIONAL.replace("layers.Dense(8)(inputs)", "first(inputs)")
            .replace("hidden =", "first = layers.Dense(8)\nhidden ="),
            train=TRAIN + "print(first(x).numpy())\n"),
    refused("a layer of a pipeline", "flat = layers.Flatten()",
            "data = data.map(lambda x, y: (flat(x), y))", reason="used-elsewhere"),
    refused("a layer in an attribute", "class Net:\n    pass\nnet = Net()", reason="used-elsewhere",
            model=FUNCTIONAL.replace("hidden", "net.hidden")),
    refused("what a layer computes", reason="used-elsewhere",
            train=TRAIN + "print(model.layers[0](x))\n"),
    refused("layer by layer", reason="used-elsewhere",
            train=TRAIN + "for layer in model.layers:\n    x = layer(x)\n"),
    refused("a layer by its name", reason="used-elsewhere",
            train=TRAIN + "h = model.get_layer('dense')(x)\n"),
    refused("a function of Keras", reason="used-elsewhere",
            train=TRAIN + "f = tf.keras.backend.function([a], [b])\n"),
    refused("an attribute by its name", reason="used-elsewhere",
            train=TRAIN + "h = getattr(model, name)\n"),
    refused("the type of the model", reason="used-elsewhere",
            train=TRAIN + "x = tf.cast(x, model.dtype)\n"),
    refused("a converter", reason="used-elsewhere",
            train=TRAIN + "tf.lite.TFLiteConverter.from_keras_model(model).convert()\n"),
    refused("a copy", reason="used-elsewhere",
            train=TRAIN + "other = tf.keras.models.clone_model(model)\n"),
)  # fmt: skip

test_refused_training = bench(
    MixedPrecision,
    refused("a loop of its own beside", OWN_STEP, reason="own-loop"),
    refused("that minimizes", "def step():\n    optimizer.minimize(loss, [v])", reason="own-loop"),
    refused("optimizer that was not tried", reason="optimizer-not-known",
            train=TRAIN.replace("'adam'", "tf.keras.optimizers.Ftrl()")),
    refused("averages of weights", reason="optimizer-not-known",
            train=TRAIN.replace("'adam'", "tf.keras.optimizers.SGD(use_ema=True)")),
    refused("a scale that is there", reason="optimizer-not-known",
            train=TRAIN.replace("'adam'", "tf.keras.optimizers.SGD(loss_scale_factor=8.0)")),
    refused("compiled with twice", "opt = tf.keras.optimizers.SGD()", reason="optimizer-not-known",
            train=2 * TRAIN.replace("'adam'", "opt")),
    refused("compiled with in each turn", "opt = tf.keras.optimizers.SGD()",
            reason="optimizer-not-known", train="for turn in range(3):\n    " + TRAIN.replace(
                "'adam'", "opt").replace("\nmodel", "\n    model")),
    refused("weights of the optimizer", reason="optimizer-not-known",
            train=TRAIN + "np.save('a', model.optimizer.get_weights())\n"),
    refused("the optimizer itself", reason="optimizer-not-known",
            train=TRAIN + "other = model.optimizer\n"),
    refused("no scaling", reason="other-settings",
            train=TRAIN.replace("entropy')", "entropy', auto_scale_loss=False)")),
    refused("XLA", reason="other-settings",
            train=TRAIN.replace("entropy')", "entropy', jit_compile=True)")),
    refused("weights loaded", reason="weights-loaded", train="model.load_weights('a')\n" + TRAIN),
    refused("the whole model saved", reason="model-saved", train=TRAIN + "model.save('a.h5')\n"),
    refused("in another way", reason="model-saved",
            train=TRAIN + "tf.keras.models.save_model(model, 'a')\n"),
    refused("by a callback", reason="model-saved",
            train=TRAIN.replace("y)", "y, callbacks=[tf.keras.callbacks.ModelCheckpoint('a')])")),
    refused("with its optimizer", reason="model-saved",
            train="saver = tf.train.Checkpoint(model=model)\n" + TRAIN),
    refused("finite numbers", "tf.debugging.enable_check_numerics()", reason="numbers-checked"),
    refused("a loss of its own", reason="custom-code",
            train=TRAIN.replace("'sparse_cat", "mine, 'sparse_cat")),
    refused("under a strategy", "s = tf.distribute.MirroredStrategy()", reason="distributed"),
)  # fmt: skip

EARLY = """\
def make(deep):
    m = tf.keras.Sequential()
    m.add(layers.Dense(8))
    if not deep:
        return m
    m.add(layers.Dense(3))
    return m
model = make(False)
"""
test_refused_models = bench(
    MixedPrecision,
    refused("two models", "other = tf.keras.Sequential([layers.Dense(1)])",
            reason="several-models"),
    refused("one upon another", reason="several-models",
            model=FUNCTIONAL + "second = tf.keras.Model(inputs, hidden)\n"),
    refused("a model of an application", reason="several-models",
            model="model = tf.keras.applications.VGG16()\n"),
    refused("made elsewhere", model="model = make()\n", reason="model-not-seen"),
    refused("loaded", model="model = tf.keras.models.load_model('a')\n", reason="custom-code"),
    refused(
        "made in two functions",
        model="def body(x):\n    return layers.Dense(8)(x)\n"
        "def make():\n    m = tf.keras.Sequential()\n    m.add(layers.Dense(1))\n    return m\n"
        "model = make()\n",
        reason="used-elsewhere",
    ),
    refused("a policy that is cleared among the layers", reason="model-not-seen",
            model=GROWN.replace("for width", "tf.keras.backend.clear_session()\nfor width")),
    refused("and in a function", "def clear():\n    tf.keras.backend.clear_session()",
            reason="model-not-seen", model=GROWN.replace("for width", "clear()\nfor width")),
    refused("a single layer", reason="nothing-to-lower",
            model=STACK.replace(HIDDEN, "layers.Flatten(input_shape=[9])")),
    refused("an output of another kind", reason="output-not-seen",
            model=STACK.replace(OUTPUT, "layers.Flatten()")),
    refused("an output that two ways lead to", reason="output-not-seen",
            model=FUNCTIONAL.replace("outputs = layers.Dense(3)(hidden)",
                                     "if wide:\n    outputs = layers.Dense(3)(hidden)\n"
                                     "else:\n    outputs = layers.Dense(4)(hidden)")),
    refused(
        "a layer that is shared",
        reason="output-not-seen",
        model=FUNCTIONAL.replace(
            "outputs = layers.Dense(3)(hidden)",
            "last = layers.Dense(8)\noutputs = last(last(hidden))",
        ),
    ),
    refused("the last one is added at times", reason="output-not-seen",
            model=GROWN.replace("model.add(layers.Activation('softmax'))",
                                "if soft:\n    model.add(layers.Softmax())")),
    refused("left before the last one", model=EARLY, reason="output-not-seen"),
    refused("used before the last one", reason="output-not-seen",
            model=GROWN.replace("model.add(layers.Activation", "print(model(x))\nmodel.add("
                                "layers.Activation")),
    refused("trained before the last one", reason="output-not-seen",
            model=GROWN.replace("model.add(layers.Activation", TRAIN + "model.add("
                                "layers.Activation")),
    refused("without a name for TensorFlow", reason="tensorflow-not-named",
            start="from tensorflow.keras import layers\n"
            "from tensorflow.keras.models import Sequential\n",
            model=STACK.replace("tf.keras.Sequential", "Sequential")),
    refuses("in a function that nobody calls", START + "def main():\n" + "".join(
        f"    {line}\n" for line in (STACK + TRAIN).splitlines()), reason="callers-not-seen",
        allow=("precision",)),
)  # fmt: skip

test_offered = bench(
    MixedPrecision,
    offers("not by default", script(), contract="precision", changes="three digits", shapes=()),
    offers("whatever the version", script(), contract="precision", changes="65,504",
           target_tf=(2, 21), shapes=()),
    offers("with dropout", script(model=STACK.replace("    layers.Dense(3",
           "    layers.Dropout(0.5),\n    layers.Dense(3")), contract="precision",
           changes="dropout", shapes=()),
)  # fmt: skip

IN_FUNCTION = "def make():\n" + "".join(
    f"    {line}\n" for line in STACK.replace("model = ", "m = ").splitlines()
)
TURNS = "for rate in (0.1, 0.01):\n    tf.keras.backend.clear_session()\n"
IN_TURNS = "".join(f"    {line}\n" for line in STACK.splitlines())
NAMED = FUNCTIONAL.replace("outputs = layers.Dense(3)(hidden)",
                           "last = layers.Dense(3)\noutputs = last(hidden)")  # fmt: skip
WIDE = FUNCTIONAL.replace(
    "layers.Dense(3)(hidden)", "layers.Dense(3)(layers.concatenate([hidden, inputs]))"
)
WORDS = STACK.replace(
    HIDDEN,
    "layers.Input([9]),\n    layers.Embedding(5000, 8),\n    layers.Flatten(),\n"
    "    layers.Dense(8)",
)
SMALL = STACK.replace(
    HIDDEN, "layers.AveragePooling2D(2),\n    layers.Flatten(),\n    layers.Dense(8)"
)
IMAGES = STACK.replace(HIDDEN, "layers.Conv2D(8, 3),\n    layers.GlobalAveragePooling2D()")
LATER = """print(len(model.layers), model.layers[0].get_weights()[0].shape)
for layer in model.layers[:-1]:
    layer.trainable = False
np.save("a.npy", model.get_weights()[0])
model.save_weights("a.weights.h5")
print(model.optimizer.learning_rate, model.predict(x).dtype, model(x))
"""
test_rewritten = bench(
    MixedPrecision,
    mixed("a list of layers", STACK, POLICY + single(STACK, OUTPUT)),
    mixed("layer by layer", GROWN, POLICY + single(GROWN, "layers.Activation('softmax')")),
    mixed("a functional model", FUNCTIONAL, POLICY + single(FUNCTIONAL, "layers.Dense(3)")),
    mixed("a layer with a name", NAMED, POLICY + single(NAMED, "layers.Dense(3)")),
    mixed("tensors joined by layers", WIDE, POLICY + single(WIDE, "layers.Dense(3)")),
    mixed("averages", SMALL, POLICY + single(SMALL, OUTPUT)),
    mixed("of images", IMAGES, POLICY + single(IMAGES, OUTPUT), target_tf=(2, 21)),
    mixed(
        "weights loaded",
        STACK,
        POLICY + single(STACK, OUTPUT),
        target_tf=(2, 21),
        train="model.load_weights('a.weights.h5')\n" + TRAIN,
    ),
    mixed("words", WORDS, POLICY + single(WORDS, OUTPUT)),
    mixed(
        "two outputs",
        FUNCTIONAL.replace(", outputs)", ", [outputs, layers.Softmax()(hidden)])"),
        POLICY
        + single(FUNCTIONAL, "layers.Dense(3)").replace(
            ", outputs)", ", [outputs, layers.Softmax(dtype='float32')(hidden)])"
        ),
    ),
    mixed(
        "in a function",
        IN_FUNCTION + "    return m\nmodel = make()\n",
        single(IN_FUNCTION, OUTPUT).replace("    m =", f"    {POLICY}    m =")
        + "    return m\nmodel = make()\n",
    ),
    mixed(
        "in each turn, where the session is cleared",
        TURNS + IN_TURNS,
        TURNS + "    " + POLICY + single(IN_TURNS, OUTPUT),
    ),
    mixed(
        "by another name",
        STACK.replace("tf.keras", "keras"),
        POLICY.replace("tf.keras", "keras") + single(STACK, OUTPUT).replace("tf.keras", "keras"),
        start="from tensorflow import keras\nfrom tensorflow.keras import layers\n",
    ),
    mixed("and looked at afterwards", STACK, POLICY + single(STACK, OUTPUT), train=TRAIN + LATER),
    mixed(
        "an optimizer with a name",
        STACK,
        POLICY + single(STACK, OUTPUT),
        train="opt = tf.keras.optimizers.SGD(0.1)\nprint(opt.learning_rate)\n"
        + TRAIN.replace("'adam'", "opt"),
    ),
    mixed(
        "an optimizer with its settings",
        STACK,
        POLICY + single(STACK, OUTPUT),
        train=TRAIN.replace("'adam'", "tf.keras.optimizers.Adam(0.01, beta_1=0.5, clipnorm=1.0)"),
    ),
)
