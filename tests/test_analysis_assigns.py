"""What is assigned to variables, and of which type they are."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, facts, function, with_graph
from tfrewrite.analysis.graphs.assigns import Assign, Home
from tfrewrite.analysis.obstacle import Obstacle


def assigns(text: str) -> list[Assign]:
    return with_graph(f"sess = tf.Session()\n{text}\n").assigns.all()


@pytest.mark.parametrize(
    "text",
    [
        "b.assign(x)",
        "ops = [b.assign(x)]",
        "op = b.assign(x)\nprint(op)\nsess.run(op)",
        "op = b.assign(x)\nsess.run(op)\nprint(op)",
        "op = b.assign(x)\nif y:\n    sess.run(op)",
        "sess.run(tf.add(b.assign(x), 1))",
        "sess.run(b.assign(*x))",
        "sess.run(b.assign(x, other=1))",
        "op = b.assign(x).op\nprint(op.name)\nsess.run(op)",
    ],
)
def test_what_no_run_fetches_where_it_is_made(text: str) -> None:
    assert assigns(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sess.run(b.assign(x))", "assign"),
        ("sess.run([loss, tf.assign_add(b, x)])", "assign_add"),
        ("b.assign_sub(delta=x).eval(session=sess)", "assign_sub"),
        ("op = b.assign(x)\nsess.run(op)", "assign"),
        ("b.assign(x).op.run(session=sess)", "assign"),
        ("op = b.assign_add(x).op\nsess.run([op])", "assign_add"),
        ("op = b.assign_sub(x)\nop.op.run(session=sess)", "assign_sub"),
        ("sess.run(tf.assign(value=x, ref=b))", "assign"),
    ],
)
def test_what_a_run_fetches(text: str, kind: str) -> None:
    (found,) = assigns(text)
    assert (found.kind, found.keeps_shape, found.many) == (kind, True, False)


def test_whether_the_operation_is_fetched() -> None:
    (value,) = assigns("sess.run(b.assign(x))")
    (operation,) = assigns("sess.run(b.assign(x).op)")
    (named,) = assigns("op = b.assign(x).op\nsess.run(op)")
    assert [one.gives_nothing for one in (value, operation, named)] == [False, True, True]


def test_a_list_and_a_value_of_any_shape() -> None:
    (many,) = assigns("sess.run([v.assign(x) for v in vs])")
    assert many.many
    (loose,) = assigns("sess.run(tf.assign(b, x, validate_shape=False))")
    assert not loose.keeps_shape


@pytest.mark.parametrize(
    ("maker", "expected"),
    [
        ("tf.Variable(0.1)", "float"),
        ("tf.Variable(0)", "int32"),
        ("tf.Variable(True)", "bool"),
        ("tf.Variable(0, dtype=tf.int64)", "int64"),
        ("tf.Variable(0, dtype='float64')", "float"),
        ("tf.Variable(0, dtype=kind)", None),
        ("tf.Variable(0, dtype=tf.uint8)", None),
        ("tf.Variable(start)", None),
        ("tf.Variable([0.1, 0.2])", "float"),
        ("tf.Variable([0.1, 2])", None),
        ("tf.Variable(tf.zeros([3]))", "float"),
        ("tf.Variable(tf.zeros([3], tf.int32))", "int32"),
        ("tf.Variable(tf.constant(1.0))", "float"),
        ("tf.Variable(np.zeros(3))", None),
        ("tf.get_variable('a', [3])", "float"),
        ("tf.get_variable('a', [], tf.int32)", "int32"),
        ("tf.get_variable('a', initializer=0.1)", "float"),
        ("tf.get_variable('a', initializer=3)", None),
        ("tf.get_variable('a', [], initializer=tf.zeros_initializer())", "float"),
        ("tf.get_variable('a', [], initializer=start)", None),
    ],
)
def test_types(maker: str, expected: str | None) -> None:
    found = with_graph(f"{maker}  # here\n")
    assert found.numbers.types.of([found.graph.trace(expression(found))]) == expected


CLASS = """
import tensorflow as tf
class A:
    def __init__(self, flag):
        {init}

    @property
    def lr(self):
        return self._lr

    def rate(self, sess, x):
        sess.run(self.lr.assign(x))
"""


@pytest.mark.parametrize(
    ("init", "is_found"),
    [
        ("self._lr = tf.Variable(0.1)", True),
        ("self._lr = tf.Variable(0.1) if flag else None", False),
        ("if flag:\n            self._lr = tf.Variable(0.1)", False),
        ("self._lr = lr = tf.Variable(0.1)", False),
        ("self._lr = other()", False),
    ],
)
def test_the_constructor_that_makes_the_variable(init: str, *, is_found: bool) -> None:
    found = facts(CLASS.format(init=init))
    home = found.assigns.home(found.assigns.all())
    assert isinstance(home, Home if is_found else Obstacle)
    if isinstance(home, Home):
        assert home.before is function(found, "__init__").body[0]
