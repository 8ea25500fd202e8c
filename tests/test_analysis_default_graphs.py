"""Whether ops added at one place come into the graph of what is made at another."""

from __future__ import annotations

import pytest

from analysis_helpers import facts, marked

IMPORT = "import tensorflow as tf\n"


def same(text: str) -> bool:
    found = facts(IMPORT + text)
    return found.default_graphs.same(marked(found, "made"), marked(found, "here"))


@pytest.mark.parametrize(
    "text",
    [
        "a = 1  # made\ntf.reset_default_graph()\nb = 1  # here\n",
        "for i in n:\n    tf.reset_default_graph()\n    a = 1  # made\nb = 1  # here\n",
        "def f():\n    tf.reset_default_graph()\na = 1  # made\nf()\nb = 1  # here\n",
        "with tf.Graph().as_default():\n    a = 1  # made\nb = 1  # here\n",
        (
            "with tf.Graph().as_default():\n    a = 1  # made\n"
            "with tf.Graph().as_default():\n    b = 1  # here\n"
        ),
        (
            "g = tf.Graph()\nwith g.as_default():\n    a = 1  # made\ng = tf.Graph()\n"
            "with g.as_default():\n    b = 1  # here\n"
        ),
        "g = tf.Graph()\na = 1  # made\nb = 1  # here\n",
        (
            "class A:\n    def f(self):\n        a = 1  # made\n"
            "    def g(self):\n        b = 1  # here\n"
        ),
        "def f():\n    a = 1  # made\nb = 1  # here\n",
        "class A:\n    def __init__(self):\n        a = 1  # made\nb = 1  # here\n",
        "def f():\n    tf.reset_default_graph()\n    a = 1  # made\nf()\nb = 1  # here\n",
    ],
)
def test_where_it_may_be_another(text: str) -> None:
    assert not same(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1  # made\nb = 1  # here\n",
        "tf.reset_default_graph()\na = 1  # made\nb = 1  # here\n",
        "with tf.Graph().as_default(), tf.Session() as s:\n    a = 1  # made\n    b = 1  # here\n",
        (
            "g = tf.Graph()\nwith g.as_default():\n    a = 1  # made\n"
            "with tf.Session(graph=g):\n    b = 1  # here\n"
        ),
        "a = 1  # made\ndef f():\n    b = 1  # here\nf()\n",
        "def f():\n    a = 1  # made\nf()\nb = 1  # here\n",
        "class A:\n    def __init__(self):\n        a = 1  # made\nA()\nb = 1  # here\n",
    ],
)
def test_where_it_is_the_same(text: str) -> None:
    assert same(text)
