"""Where a model is made, and which layers give its outputs."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.keras.mixed_types import Mixed
from tfrewrite.analysis.obstacle import Obstacle

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"


def found(text: str) -> Mixed | Obstacle:
    return facts(HEAD + text).mixed_types.found


@pytest.mark.parametrize(
    ("text", "line", "outputs"),
    [
        ("m = tf.keras.Sequential([L.Dense(3), L.Dense(2)])", 3, ["L.Dense(2)"]),
        (
            "m = tf.keras.Sequential()\nm.add(L.Dense(3))\nm.add(L.Softmax())",
            3,
            ["L.Softmax()"],
        ),
        ("m = tf.keras.Sequential(name='m')\nm.add(L.Dense(3))", 3, ["L.Dense(3)"]),
        (
            "i = tf.keras.Input([3])\no = L.Dense(2)(i)\nm = tf.keras.Model(i, o)",
            3,
            ["L.Dense(2)"],
        ),
        (
            "i = L.Input([3])\nlast = L.Dense(2)\nm = tf.keras.Model(inputs=i, outputs=[last(i)])",
            3,
            ["L.Dense(2)"],
        ),
        (
            "def make():\n    n = 3\n    return tf.keras.Sequential([L.Dense(n)])\nmake()",
            5,
            ["L.Dense(n)"],
        ),
        (
            (
                "class A:\n    def make(self):\n        return tf.keras.Sequential([L.Dense(3)])\n"
                "def main():\n    a = A()\n    a.make()\nmain()"
            ),
            5,
            ["L.Dense(3)"],
        ),
        (
            "if a:\n    n = 3\n    m = tf.keras.Sequential([L.Dense(n)])",
            5,
            ["L.Dense(n)"],
        ),
        (
            "for a in b:\n    n = 3\n    m = tf.keras.Sequential([L.Dense(n)])",
            5,
            ["L.Dense(n)"],
        ),
    ],
)
def test_what_is_seen(text: str, line: int, outputs: list[str]) -> None:
    one = found(text)
    assert isinstance(one, Mixed)
    assert one.before.lineno == line
    assert [ast.unparse(layer) for layer in one.outputs] == outputs
    assert one.gains == (text.count("Dense") > len(outputs) or "Softmax" in text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 3", "several-models"),
        ("m = tf.keras.Sequential([L.Dense(3)])\nn = tf.keras.Sequential([])", "several-models"),
        ("m = tf.keras.Sequential(tf.keras.applications.VGG16())", "several-models"),
        ("m = tf.keras.Sequential([L.Dense(3)])\nt = tf.GradientTape()", "own-loop"),
        ("m = tf.keras.Sequential([L.Conv3D(3, 3), L.Dense(3)])", "layer-not-known"),
        ("m = tf.keras.Sequential([L.Dense(3, dtype='float16')])", "own-types"),
        ("m = tf.keras.Sequential([L.Flatten()])", "output-not-seen"),
        ("m = tf.keras.Sequential([L.Dense(3)] + more)", "used-elsewhere"),
        ("def make():\n    return tf.keras.Sequential([L.Dense(3)])", "callers-not-seen"),
        (
            (
                "def one():\n    return two()\ndef two():\n    one()\n"
                "    return tf.keras.Sequential([L.Dense(3)])"
            ),
            "callers-not-seen",
        ),
        (
            (
                "m = tf.keras.Sequential()\nm.add(L.Dense(3))\ntf.keras.backend.clear_session()\n"
                "m.add(L.Dense(3))"
            ),
            "model-not-seen",
        ),
        (
            "m = tf.keras.Sequential()\nm.add(L.Dense(3))\nm.fit(x, y)\nm.add(L.Dense(3))",
            "output-not-seen",
        ),
        ("m = tf.keras.Sequential([L.Dense(3)])\nm.pop()", "output-not-seen"),
        ("make = lambda: tf.keras.Sequential([L.Dense(3)])", "model-not-seen"),
        ("class A:\n    m = tf.keras.Sequential([L.Dense(3)])", "model-not-seen"),
    ],
)
def test_what_is_not(text: str, reason: str) -> None:
    one = found(text)
    assert isinstance(one, Obstacle)
    assert one.reason == reason
