"""Whether what functions capture is ordinary data; traps first."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, facts

HEAD = "import argparse\nimport numpy as np\nimport tensorflow as tf\n"

OPTIONS = "parser = argparse.ArgumentParser()\nparser.add_argument('-n', type=int, default=3)\n"


@pytest.mark.parametrize(
    ("text", "is_data"),
    [
        ("v = tf.Variable(1.)\nv  # here", False),
        ("v = [tf.Variable(1.)]\nv  # here", False),
        ("some = []\nsome.append(tf.Variable(1.))\nsome  # here", False),
        ("some = {}\nsome['a'] = tf.Variable(1.)\nsome  # here", False),
        ("some = {}\nother = some\nother['a'] = tf.Variable(1.)\nsome  # here", False),
        ("some = list(model.variables)\nsome  # here", False),
        ("def f(a):\n    a  # here\nf(tf.Variable(1.))", False),
        ("def f(a):\n    a  # here", False),
        ("some = np.zeros(3)\nsome = tf.Variable(some)\nsome  # here", False),
        ("some = tf.constant(np.zeros(3))\nsome  # here", False),
        ("import lib\nlib.size  # here", False),
        (f"{OPTIONS}options = parser.parse_args(namespace=lib)\noptions.n  # here", False),
        (f"{OPTIONS}options = parser.parse_args()\noptions.n = lib\noptions.n  # here", False),
        (
            (
                f"{OPTIONS}parser.add_argument('-v', default=tf.Variable(1.))\n"
                "options = parser.parse_args()\noptions.v  # here"
            ),
            False,
        ),
        (f"{OPTIONS}options = parser.parse_args()\noptions.n  # here", True),
        ("some = [1, 'a', (2, 3)]\nsome[0]  # here", True),
        ("some = np.zeros(3)\nsome += 1\nsome  # here", True),
        ("mean = tf.constant([0.4, 0.5])\nmean  # here", True),
        ("parts = {'a': tf.io.FixedLenFeature([], tf.string)}\nparts  # here", True),
        ("def f(a):\n    a  # here\nf(3)\nf(np.ones(2))", True),
        ("size = 3\nhalf = size // 2\nhalf  # here", True),
        ("for i in range(3):\n    i  # here", True),
    ],
)
def test_what_is_data(text: str, *, is_data: bool) -> None:
    found = facts(HEAD + text)
    assert found.captured.data(expression(found)) is is_data
