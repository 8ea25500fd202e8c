"""Which pipelines of Python's generators some code may run."""

from __future__ import annotations

import pytest

from analysis_helpers import marked, with_graph

_PIPELINE = """
def rows():
    yield 1
data = tf.data.Dataset.from_generator(rows, tf.float32)
sess = tf.Session()
"""
_ITERATOR = "iterator = data.make_one_shot_iterator()\nelement = iterator.get_next()\n"
_MADE = "tf.data.Dataset.from_generator(rows, tf.float32)"
_OF_STRUCTURE = "it = tf.data.Iterator.from_structure(tf.float32)\nelement = it.get_next()\n"
_OBJECT = "class A:\n    pass\na = A()\na.it = data.make_initializable_iterator()\n"


def behind(text: str) -> list[str | None]:
    """The generators that a marked statement may run."""
    found = with_graph(_PIPELINE + text)
    return [
        None if function is None else function.name
        for _, function in found.running_pipelines.behind([marked(found, "here")])
    ]


@pytest.mark.parametrize(
    "text",
    [
        "print(data)  # here",
        _ITERATOR + "sess.run(element)  # here",
        _ITERATOR + "double = element * 2\nsess.run(double)  # here",
        _ITERATOR + "def double(x):\n    return x * 2\nd = double(element)\nsess.run(d)  # here",
        _ITERATOR + "def run(x):\n    sess.run(x)  # here\nrun(element)",
        "def made():\n    return data.make_one_shot_iterator()\nprint(made())  # here",
        _ITERATOR + "ops = []\nops.append(element)\nsess.run(ops)  # here",
        _ITERATOR + "for one in [element]:\n    sess.run(one)  # here",
        f"{_OBJECT}sess.run(a.it.initializer)  # here",
        f"{_OF_STRUCTURE}start = it.make_initializer(data)\nsess.run(start)  # here",
        f"{_OF_STRUCTURE}start = it.make_initializer({_MADE})\nsess.run(element)  # here",
    ],
)
def test_what_may_run_it(text: str) -> None:
    assert set(behind(text)) == {"rows"}


@pytest.mark.parametrize(
    "text",
    [
        "sess.run(train_op, {x: 1})  # here",
        _ITERATOR + "value = sess.run(element)\nprint(value)  # here",
        _ITERATOR + "print(len([1, 2]))  # here",
        _ITERATOR + "element = tf.zeros(3)\nsess.run(element)  # here",
        _ITERATOR + "total = tf.reduce_sum(element)\nprint(tf.zeros(3))  # here",
    ],
)
def test_what_does_not(text: str) -> None:
    assert behind(text) == []


def test_a_generator_that_the_file_does_not_have() -> None:
    text = "other = tf.data.Dataset.from_generator(lambda: iter([1]), tf.float32)\n"
    assert behind(text + "print(other)  # here") == [None]
