"""What is taken from iterators, and what is done with it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.graphs.next_elements import Element, NextElements, Origin

HEAD = """
import tensorflow as tf
from elsewhere import load, thing
sess = tf.Session()
dataset = tf.data.Dataset.range(3)
class Own:
    def get_next(self):
        return 1
"""


def elements(text: str) -> tuple[NextElements, list[Element]]:
    found = facts(HEAD + text)
    return found.next_elements, found.next_elements.all()


@pytest.mark.parametrize(
    ("iterator", "origin"),
    [
        ("iter(dataset)", Origin.OTHER),
        ("Own()", Origin.OTHER),
        ("thing", Origin.UNKNOWN),
        ("load()", Origin.UNKNOWN),
        ("tf.data.Dataset.range(3)", Origin.OTHER),
        ("dataset.make_one_shot_iterator()", Origin.GRAPH),
        ("load().make_initializable_iterator()", Origin.GRAPH),
        ("tf.data.make_one_shot_iterator(load())", Origin.GRAPH),
        ("tf.compat.v1.data.make_initializable_iterator(dataset)", Origin.GRAPH),
        ("tf.data.Iterator.from_structure(a, b)", Origin.GRAPH),
        ("tf.contrib.data.Iterator.from_string_handle(a, b)", Origin.GRAPH),
    ],
)
def test_where_an_iterator_comes_from(iterator: str, origin: Origin) -> None:
    found, (element,) = elements(f"it = {iterator}\nx = it.get_next()\n")
    assert found.origin(element.iterator) is origin


def test_a_method_of_the_files_own_makes_no_iterator_of_tensorflow() -> None:
    text = "class Data:\n    def make_one_shot_iterator(self):\n        return thing\n"
    found, (element,) = elements(text + "x = load().make_one_shot_iterator().get_next()\n")
    assert found.origin(element.iterator) is Origin.OTHER


@pytest.mark.parametrize(
    "use",
    [
        "sess.run(x)", "sess.run([w, x])", "sess.run({'a': (x, w)})", "sess.run(fetches=[x])",
        "x.eval()", "sess.run(x['image'])", "sess.run(x[0], feed_dict={w: 1})",
    ],
)  # fmt: skip
def test_fetched_as_it_is(use: str) -> None:
    _, (element,) = elements(f"it = dataset.make_one_shot_iterator()\nx = it.get_next()\n{use}\n")
    assert element.built.elsewhere is None
    assert len(element.built.runs) == 1


@pytest.mark.parametrize(
    "use",
    [
        "sess.run(x + 1)", "f(x)", "sess.run(w, feed_dict={x: 1})", "sess.run(w, feed_dict={w: x})",
        "y = x", "sess.run([x for _ in w])", "x.shape", "sess.run(x[w])", "sess.make_callable(x)",
        "def g():\n    sess.run(x)",
    ],
)  # fmt: skip
def test_used_in_another_way(use: str) -> None:
    _, (element,) = elements(f"it = dataset.make_one_shot_iterator()\nx = it.get_next()\n{use}\n")
    assert element.built.elsewhere is not None


def test_only_the_uses_that_see_it() -> None:
    text = "it = dataset.make_one_shot_iterator()\nx = it.get_next()\nx = sess.run(x)\nf(x)\n"
    _, (element,) = elements(text)
    assert element.built.elsewhere is None
    assert [ast.unparse(run.call) for run in element.built.runs] == ["sess.run(x)"]


def test_a_call_with_more_than_a_name_is_another_method() -> None:
    _, found = elements("it.get_next(3, 4)\nit.get_next(key=1)\nit.get_next(*a)\n")
    assert found == []


@pytest.mark.parametrize(
    ("fetched", "two"),
    [
        ("a", False),
        ("[a, a, one.get_next() * 0 + a]", True),
        ("[a, other.get_next()]", False),
        ("one.get_next() - one.get_next()", True),
        ("{'a': a, 'b': [taken()]}", True),
        ("[taken(), taken()]", True),
        ("taken()", False),
    ],
)
def test_two_elements_of_one_iterator_in_one_run(fetched: str, *, two: bool) -> None:
    found = facts(f"""{HEAD}
one = dataset.make_one_shot_iterator()
other = dataset.make_one_shot_iterator()
a = one.get_next()
def taken():
    return one.get_next() + 1
sess.run({fetched})
""")
    (run,) = found.sessions.runs.values()
    assert found.next_elements.takes_two(run) is two
