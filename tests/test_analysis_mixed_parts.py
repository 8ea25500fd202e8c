"""What was tried in half precision, and what was not."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.facts import Facts

HEAD = "import os\nimport tensorflow as tf\nL = tf.keras.layers\nO = tf.keras.optimizers\n"
STACK = "m = tf.keras.Sequential([L.Dense(3)])\n"


@pytest.mark.parametrize(
    "text",
    [
        "m.compile('adam', 'mse', metrics=['mae'], jit_compile=False)",
        "m.compile(optimizer=O.Adam(0.1, clipnorm=1.0), loss='mse')",
        "m.compile(O.SGD(O.schedules.ExponentialDecay(0.1, 3, 0.5)), 'mse')",
        "o = O.SGD(0.1)\nprint(o.learning_rate)\nm.compile(o, 'mse')",
        "o = 'sgd'\nm.compile(o, 'mse')",
        "m.compile(loss='mse')",
        "for a in b:\n    o = O.SGD(0.1)\n    m.compile(o, 'mse')",
        "print(m.optimizer.learning_rate, m.optimizer.iterations)",
        "m.optimizer.learning_rate = 0.1",
        "L.Conv2D(3, 3, padding='same', kernel_regularizer='l2')",
        "tf.keras.Input([3], dtype='int32')",
        "tf.keras.Input([3], dtype=tf.float32)",
        "L.AveragePooling2D()",
        "L.AveragePooling2D((2, 2))",
        "tf.keras.backend.set_floatx('float32')",
        "tf.keras.callbacks.ModelCheckpoint('a', save_weights_only=True)",
        "m.save_weights('a')",
        "class A:\n    def __init__(self):\n        self.optimizer = 3\na = A()\nf(a.optimizer)",
        "s = tf.keras.Sequential([L.Input([1]), L.Embedding(10, 3)])",
        "s = tf.keras.Sequential()\ns.add(L.Input([1]))\ns.add(L.Embedding(10, 3))",
        "i = tf.keras.Input([1])\ne = L.Embedding(10, 3)(i)",
    ],
)
def test_what_was_tried(text: str) -> None:
    assert facts(HEAD + STACK + text).mixed_parts.obstacle is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("m.compile('adam', 'mse', auto_scale_loss=False)", "other-settings"),
        ("m.compile('adam', 'mse', jit_compile=True)", "other-settings"),
        ("m.compile('adam', **how)", "other-settings"),
        ("m.compile(O.SGD(0.1, use_ema=True))", "optimizer-not-known"),
        ("m.compile(O.Ftrl(0.1))", "optimizer-not-known"),
        ("m.compile('ftrl')", "optimizer-not-known"),
        ("o = 'ftrl'\nm.compile(o)", "optimizer-not-known"),
        ("m.compile(O.Adam)", "optimizer-not-known"),
        ("m.compile(optimizer='Nadam')", "optimizer-not-known"),
        ("m.compile(O.get('adam'))", "optimizer-not-known"),
        ("m.compile(O.experimental.Adam())", "optimizer-not-known"),
        ("m.compile(O.SGD(**how))", "optimizer-not-known"),
        ("o = O.SGD()\nm.compile(o)\nm.compile(o)", "optimizer-not-known"),
        ("o = O.SGD()\nfor a in b:\n    m.compile(o)", "optimizer-not-known"),
        ("o = O.SGD()\ndef f():\n    m.compile(o)", "optimizer-not-known"),
        ("o = O.SGD()\np = o\nm.compile(o)", "optimizer-not-known"),
        ("m.compile(a.b)", "optimizer-not-known"),
        ("print(m.optimizer.get_config())", "optimizer-not-known"),
        ("m.optimizer = 3", "optimizer-not-known"),
        ("L.Dense(3, activity_regularizer='l2')", "layer-not-known"),
        ("L.LSTM(3, stateful=True)", "layer-not-known"),
        ("L.Dense(3, None, True, 'a', 'b', 'c')", "layer-not-known"),
        ("tf.keras.Input([3], 2)", "layer-not-known"),
        ("L.Conv3D(3, 3)", "layer-not-known"),
        ("L.Dense(3, dtype='float32')", "own-types"),
        ("L.Dense(3, **how)", "own-types"),
        ("tf.keras.Input([3], dtype='float16')", "own-types"),
        ("tf.keras.Input([3], dtype=tf.string)", "own-types"),
        ("L.GlobalAveragePooling1D()", "sums-too-large"),
        ("L.AveragePooling2D(n)", "sums-too-large"),
        ("L.AveragePooling2D((2, 100))", "sums-too-large"),
        ("s = tf.keras.Sequential([L.Flatten(), L.Embedding(10, 3)])", "layer-not-known"),
        ("s = tf.keras.Sequential([L.Embedding(10, 3, input_length=9)])", "layer-not-known"),
        ("s = tf.keras.Sequential()\ns.add(L.Embedding(10, 3))", "layer-not-known"),
        ("e = L.Embedding(10, 3)\nh = e(L.Flatten()(i))", "layer-not-known"),
        ("h = L.Embedding(10, 3)(L.Flatten()(i))", "layer-not-known"),
        ("tf.keras.backend.set_floatx('float64')", "precision-policy"),
        ("tf.keras.backend.set_floatx(kind)", "precision-policy"),
        ("t = tf.GradientTape()", "own-loop"),
        ("from tensorflow import GradientTape as T", "own-loop"),
        ("o.minimize(f, v)", "own-loop"),
        ("tf.debugging.enable_check_numerics()", "numbers-checked"),
        ("m.save('a')", "model-saved"),
        ("tf.saved_model.save(m, 'a')", "model-saved"),
        ("tf.keras.callbacks.ModelCheckpoint('a')", "model-saved"),
        ("c = tf.train.Checkpoint(m=m)", "model-saved"),
        ("tf.keras.applications.VGG16()", "several-models"),
    ],
)
def test_what_was_not(text: str, reason: str) -> None:
    found = facts(HEAD + STACK + text).mixed_parts.obstacle
    assert found is not None
    assert found.reason == reason


def test_averages_of_images_are_right_in_the_newest() -> None:
    text = HEAD + STACK + "L.GlobalAveragePooling2D()"
    older = Facts.build(text, ast.parse(text), target_tf=(2, 15))
    newest = Facts.build(text, ast.parse(text), target_tf=(2, 21))
    assert older.mixed_parts.obstacle is not None
    assert newest.mixed_parts.obstacle is None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("tf.keras.mixed_precision.set_global_policy('mixed_float16')", True),
        ("from tensorflow.keras.mixed_precision import Policy", True),
        ("os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'", True),
        ("if args.mixed_precision:\n    pass", True),
        ("# mixed_precision would be faster", False),
    ],
)
def test_whether_it_is_there_already(text: str, *, asked: bool) -> None:
    assert facts(HEAD + text).mixed_parts.asked_for is asked
