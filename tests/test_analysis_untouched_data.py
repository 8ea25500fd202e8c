"""Data that nothing changes once it is read; traps first."""

from __future__ import annotations

import pytest

from analysis_helpers import facts, function, use

HEAD = "import numpy as np\nimport tensorflow as tf\n"

GENERATOR = "def gen():\n    for i in range(3):\n        yield data[i]  # here\n"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f"data = np.zeros(9)\n{GENERATOR}data[0] = 1", False),
        (f"data = np.zeros(9)\n{GENERATOR}data += 1", False),
        (f"data = np.zeros(9)\n{GENERATOR}data = np.ones(9)", False),
        (f"data = np.zeros(9)\n{GENERATOR}data.shape = (3, 3)", False),
        (f"data = np.zeros(9)\n{GENERATOR}view = data[1:]", False),
        (f"data = np.zeros(9)\n{GENERATOR}lib.take(data)", False),
        (f"data = np.zeros([9, 2])\n{GENERATOR}for row in data:\n    row += 1", False),
        (f"data = np.asarray(other)\n{GENERATOR}", False),
        (f"data = np.array(rows)\n{GENERATOR}", False),
        (f"data = [np.zeros(2)]\n{GENERATOR}", False),
        (f"for e in range(2):\n    data = np.zeros(9)\n{GENERATOR}", False),
        (f"data = [1, 2, 3]\n{GENERATOR}data.append(4)", False),
        (f"data = [1, 2, 3]\n{GENERATOR}print(len(data), data[0])", True),
        (f"data = np.zeros(9)\n{GENERATOR}print(data.shape, data.mean(), data[0] + 1)", True),
        (f"data = np.zeros(9)\ndata = data / 2.\n{GENERATOR}", True),
    ],
)
def test_what_nothing_changes(text: str, *, stays: bool) -> None:
    found = facts(HEAD + text)
    reader = function(found, "gen")
    assert found.untouched_data.holds(use(found, "data"), reader) is stays


def test_an_op_may_be_given_what_it_copies() -> None:
    found = facts(f"{HEAD}data = np.zeros(9)\n{GENERATOR}tf.reduce_sum(data)\n")
    asked, name, reader = found.untouched_data, use(found, "data"), function(found, "gen")
    assert not asked.holds(name, reader)
    assert asked.holds(name, reader, asked.is_given_to_op)
