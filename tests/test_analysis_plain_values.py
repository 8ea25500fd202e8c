"""Which values are ordinary, traps first: objects that may run code when they are looked at."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, use, with_graph
from tfrewrite.analysis.program.plain_values import PlainValues

SESSION = "sess = tf.Session()\nfrom data import source\n"


def plain(text: str) -> bool:
    """Whether the value of the marked statement is plain."""
    found = with_graph(SESSION + text)
    values = PlainValues(found)
    return values.expr(expression(found))


def fresh(text: str, name: str = "v") -> bool:
    """Whether every binding of the name read on the marked line makes a new object."""
    found = with_graph(SESSION + text)
    values = PlainValues(found)
    return all(values.fresh(binding) for binding in found.scopes.bindings(use(found, name)))


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "unknown  # here",
        "source  # here",
        "source.value  # here",
        "source.next_batch(3)  # here",
        "source()  # here",
        "source[0]  # here",
        "source + 1  # here",
        "1 + source  # here",
        "-source  # here",
        "1 if flag else source  # here",
        "'a'.join  # here",
        "source.format(1)  # here",
        "lambda: 1  # here",
        "loss  # here",
        "[source][0]  # here",
        "def f(v):\n    v  # here",
        "v = 1\nv = source\nv  # here",
        "v = 1\nv += source\nv  # here",
        "v = 1\ndel v\nv  # here",
        "for v in source:\n    v  # here",
        "for v in [1, 2]:\n    v  # here",
        "with source as v:\n    v  # here",
        "a, v = source\nv  # here",
        "def f():\n    return 1\nf()  # here",
        "import other\nother.f()  # here",
        "open('x')  # here",
        "next(source)  # here",
    ],
)
def test_what_may_run_code_when_looked_at(text: str) -> None:
    assert not plain(text + "\n")


def test_an_attribute_is_plain_only_if_all_that_is_stored_is() -> None:
    text = """
class A:
    def __init__(self, given):
        self.count = 0
        self.given = given
        self.mixed = 1
    def f(self):
        self.mixed = source
        {0}  # here
"""
    assert plain(text.format("self.count"))
    assert not plain(text.format("self.given"))
    assert not plain(text.format("self.mixed"))
    assert not plain(text.format("self.other"))


@pytest.mark.parametrize(
    "text",
    [
        "v = source",
        "v = [1]\nv = source",
        "v = other = source",
        "v = source[0]",
        "v = source.value",
        "v = source()",
        "v = np.asarray(source)",
        "v = np.reshape(source, [1])",
        "a, v = 1, source",
        "a, v = list(source)",
        "a, v = [1] + source",
        "a, v = np.array(source)",
        "for v in [[1]]: pass",
        "with source as v: pass",
        "a, v = [], source",
        "a = v = []",
        "a = v, b = [], []",
        "a, v = v, a",
        "a, v = [*source, []]",
        "a, v = sess.run(loss), sess.run(w)",
        "(a, v), b = [], []",
        "import v",
        "def v(): pass",
        "v = 1 if flag else source",
        "(v := source)",
    ],
)
def test_what_may_be_somebody_elses_object(text: str) -> None:
    assert not fresh(f"{text}\nv  # here\n")


# ---- the rest ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1  # here",
        "'a' * 3  # here",
        "f'{source}'  # here",
        "[1, 2]  # here",
        "{1: 2}  # here",
        "{1, 2}  # here",
        "[i for i in v]  # here",
        "1 < 2  # here",
        "-(1 + 2)  # here",
        "1 if flag else 2  # here",
        "'a'.join(['b'])  # here",
        "'{}'.format(source)  # here",
        "[1, 2][0]  # here",
        "len(source)  # here",
        "np.zeros([3])  # here",
        "np.zeros([3])[0]  # here",
        "np.zeros([3]).mean()  # here",
        "sess.run(loss)  # here",
        "sess.run([loss])[0]  # here",
        "v = 1\nv += 2\nv  # here",
        "v = sess.run(loss)\nv * 2  # here",
        "a, v = sess.run([loss, w])\nv  # here",
        "for v in range(3):\n    v  # here",
        "v = 1\nfor i in range(3):\n    v = v + 1\nv  # here",
    ],
)
def test_ordinary_values(text: str) -> None:
    assert plain(text + "\n")


@pytest.mark.parametrize(
    "text",
    [
        "v = []",
        "v = {}",
        "v = [i for i in source]",
        "v = 1",
        "v = 'a'",
        "v = -1",
        "v = 1 + 2",
        "v = list(source)",
        "v = np.zeros([3])",
        "v = sess.run(loss)",
        "a, v = sess.run([loss, w])",
        "a, v = 0, 1",
        "v, a = [], source",
        "a = v = 1",
        "a, v = source, 1",
        "a, v = [1, 2]",
        "v, a = [[], []]",
        "v = 0\nv += 1",
        "import time\nv = time.time()",
    ],
)
def test_what_is_made_on_the_spot(text: str) -> None:
    assert fresh(f"{text}\nv  # here\n")
