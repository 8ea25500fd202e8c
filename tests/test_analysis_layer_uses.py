"""What is done with the layers of a model beside training it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.keras.layer_uses import LAYERS, LayerUses

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"
TWO = "i = tf.keras.Input([3])\nh = L.Dense(3)(i)\no = L.Dense(2)(h)\n"
MODEL = "m = tf.keras.Model(i, o)\n"


def seen(text: str) -> tuple[LayerUses, list[ast.Call]]:
    found = facts(HEAD + text)
    symbols = [(one, found.names.tf(one.func) or "") for one in found.source.all(ast.Call)]
    kinds = keras_things.INPUTS
    return found.layer_uses, [one for one, s in symbols if s.startswith(LAYERS) or s in kinds]


@pytest.mark.parametrize(
    "text",
    [
        TWO + MODEL,
        "m = tf.keras.Sequential([L.Input([3]), L.Dense(3), L.Bidirectional(L.LSTM(3))])",
        "m = tf.keras.Sequential(layers=[L.Dense(3)])",
        "m = tf.keras.Sequential()\nfor n in (1, 2):\n    m.add(L.Dense(n))",
        TWO.replace("h", "x") + MODEL,
        "x = tf.keras.Input([3])\nm = tf.keras.Model(x, L.Dense(3)(L.add([x, L.Dense(3)(x)])))",
        "d = L.Dense(3)\n" + TWO.replace("L.Dense(3)(i)", "d(i)") + MODEL,
        "d = L.Dropout(0.1)\n" + TWO.replace("L.Dense(3)(i)", "d(i, training=True)") + MODEL,
        TWO + "print(h.shape)\n" + MODEL,
        "i = tf.keras.Input([3])\nx = i\nx = L.Dense(3)(x)\nm = tf.keras.Model(i, x)",
        TWO + "m = tf.keras.Model(inputs=[i], outputs=(h, o))",
        "x = tf.keras.Input([3])\nfor n in (1, 2):\n    x = L.Dense(n)(x)\nx = L.Dense(1)(x)",
    ],
)
def test_layers_of_a_model_and_nothing_else(text: str) -> None:
    uses, making = seen(text)
    assert uses.stray(making) is None


@pytest.mark.parametrize(
    "text",
    [
        TWO + "print(h)\n" + MODEL,
        TWO + "h = h + 1\n" + MODEL,
        TWO.replace("L.Dense(2)(h)", "L.Dense(2)(h[:, 1:])") + MODEL,
        TWO.replace("L.Dense(2)(h)", "tf.nn.relu(h)") + MODEL,
        TWO.replace("L.Dense(2)(h)", "L.Dense(2)(h, mask=i)") + MODEL,
        TWO.replace("(h)", "(h, h)") + MODEL,
        "h = np.zeros(3)\n" + TWO + MODEL,
        "def f(x):\n    return L.Dense(3)(x)",
        "d = L.Dense(3)\nd = other\n" + TWO.replace("L.Dense(3)(i)", "d(i)") + MODEL,
        "these = [L.Dense(n) for n in (1, 2)]",
        "these = {'a': L.Dense(3)}",
        "a = b = L.Dense(3)",
        "a.b = L.Dense(3)",
        "a, b = L.Dense(3), L.Dense(3)",
        "x = tf.keras.Input([3])\nx = x\nx = y\nm = tf.keras.Model(x, L.Dense(3)(x))",
        "x = tf.keras.Input([3])\nx = x\nm = tf.keras.Model(x, L.Dense(3)(x))",
        "s = set()\ns.add(L.Dense(3))",
        "L.Dense(3)",
        "h, c = L.LSTM(3)(tf.keras.Input([3, 3]))",
        "use(L.Dense(3))",
        "d: object = L.Dense(3)",
        "m = tf.keras.Sequential([L.Dense(3)] + more)",
        "m = tf.keras.Sequential([*these, [L.Dense(3)]])",
        "(d := L.Dense(3))(x)",
    ],
)
def test_other_uses(text: str) -> None:
    uses, making = seen(text)
    assert uses.stray(making) is not None


STACK = "m = tf.keras.Sequential([L.Dense(3)])\n"


@pytest.mark.parametrize(
    "text",
    [
        "print(m.layers[0].name, len(m.layers))",
        "for layer in m.layers[:-2]:\n    layer.trainable = False",
        "print([layer.count_params() for layer in m.layers])",
        "m.layers[-1].set_weights(w)",
        "print(m.get_weights(), m.name, m.count_params())",
        "x = x.astype(y.dtype)",
        "class A:\n    def __init__(self):\n        self.layers = 3\na = A()\nprint(a.layers)",
    ],
)
def test_settings_of_layers(text: str) -> None:
    assert seen(STACK + text)[0].look_inside() is None


@pytest.mark.parametrize(
    "text",
    [
        "m.layers[0](x)",
        "m.layers[0].activation = mine",
        "for layer in m.layers:\n    x = layer(x)",
        "first, last = m.layers",
        "f(m.layers[:2])",
        "print(m.layers[0].output)",
        "m.get_layer('a')",
        "print(m.output)",
        "print(m.dtype)",
        "print(m.get_config())",
        "print(getattr(m, 'layers'))",
        "tf.lite.TFLiteConverter.from_keras_model(m)",
        "tf.keras.backend.function([a], [b])",
        "from tensorflow.keras.models import clone_model\nn = clone_model(m)",
        "m.call(x)",
    ],
)
def test_looks_inside(text: str) -> None:
    assert seen(STACK + text)[0].look_inside() is not None


@pytest.mark.parametrize(
    "text",
    [
        "print(m)",
        "f(m.predict(x))",
        "f(m(x))",
        "tf.keras.utils.plot_model(m, 'a.png')",
        "def use(one):\n    one.fit(x)\nuse(m)",
    ],
)
def test_a_model_that_is_shown(text: str) -> None:
    assert seen(STACK + text)[0].handed_on() is None


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\npickle.dump(m, f)",
        "import copy\nn = copy.deepcopy(m)",
        "f(m)",
        "f([m])",
        "f(model=m)",
        "a.append(m)",
        "a.f({'m': m})",
        (
            "class A:\n    def __init__(self):\n        self.m = tf.keras.Sequential()\n"
            "    def f(self):\n        f(self.m)"
        ),
    ],
)
def test_a_model_that_is_handed_on(text: str) -> None:
    assert seen(STACK + text)[0].handed_on() is not None
