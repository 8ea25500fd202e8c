"""Whether what a function is given gets longer, or has another size each time."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts

START = """\
import numpy as np
import tensorflow as tf
xs = np.zeros((64, 6), np.float32)
"""
PADDED_WITHIN = """\
@tf.function
def f(x):
    return 1, tf.pad(x, 1)
x = tf.ones([1])
while 1:
    see(x)
    y, x = f(x)
"""


def varies(text: str) -> str:
    """What is said of what `see` is given."""
    known = facts(START + textwrap.dedent(text))
    (call,) = [one for one in known.source.all(ast.Call) if _is_seen(one)]
    return known.call_shapes.varies(call.args[0])


def _is_seen(call: ast.Call) -> bool:
    return ast.unparse(call.func) == "see"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = tf.ones([1])\nwhile 1:\n    see(x)\n    x = tf.concat([x, x], 0)\n", "put together"),
        ("x = []\nwhile 1:\n    see(tf.cast(x, 'int32'))\n    x.append(1)\n", "gets longer"),
        ("x = tf.ones([9])\nwhile 1:\n    see(x)\n    x = x[1:]\n", "gets shorter"),
        ("x = tf.ones([9])\nwhile 1:\n    see(x)\n    x = x[:-1] * 2.0\n", "gets shorter"),
        (PADDED_WITHIN, "put together"),
        ("for i in range(9):\n    see(tf.zeros([i, 2]))\n", "another size"),
        ("for i in range(9):\n    see(tf.expand_dims(xs[:i], 0))\n", "another part"),
        ("for i in range(9):\n    see(tf.boolean_mask(xs, xs > i))\n", "depends on values"),
        (
            "def go(x):\n    see(x)\nfor i in range(9):\n    go(tf.zeros([i]))\n",
            "another size",
        ),
    ],
)
def test_another_shape(text: str, words: str) -> None:
    assert words in varies(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = tf.ones([4])\nwhile 1:\n    see(x)\n    x = tf.concat([x[1:], x[:1]], 0)\n",
        "x = tf.ones([4])\nwhile 1:\n    see(x)\n    x = tf.tanh(x)\n",
        "while 1:\n    x = []\n    x.append(1)\n    see(tf.cast(x, 'int32'))\n",
        "for i in range(9):\n    see(tf.reshape(xs[i], [1, 6]))\n",
        "for i in range(9):\n    see(tf.fill([2], i))\n",
        "for i in range(9):\n    see(tf.reshape(xs, [xs.shape[0], 6]))\n",
    ],
)
def test_the_same_shape(text: str) -> None:
    assert varies(text) == ""
