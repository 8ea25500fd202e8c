"""Where sessions are opened, and how much is done in them."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.graphs.opened_sessions import OpenedSession


def opened(text: str) -> OpenedSession:
    (only,) = with_graph(text).opened_sessions.all()
    return only


def test_a_with_statement() -> None:
    found = opened("with tf.Session() as sess:\n    sess.run(loss)\nprint(sess)\n")
    assert found.name == "sess"
    assert found.managed is found.statement
    assert len(found.uses) == 2


def test_an_assignment() -> None:
    found = opened("a = 1\nsess = tf.Session()\nsess.run(loss)\nsess.close()\n")
    assert found.managed is None
    assert [ast.unparse(one) for one in found.block] == ["sess.run(loss)", "sess.close()"]


def test_two_managers() -> None:
    assert opened("with tf.Graph().as_default(), tf.Session() as sess:\n    f()\n").managed is None


def test_a_name_of_two_sessions() -> None:
    first, second = with_graph(
        "with tf.Session() as sess:\n    sess.run(w)\nwith tf.Session() as sess:\n    sess.run(b)\n"
    ).opened_sessions.all()
    assert len(first.uses) == len(second.uses) == 1
    assert first.uses != second.uses


def test_what_is_no_session_of_its_own() -> None:
    found = with_graph("f(tf.Session())\nself.sess = tf.Session()\nwith g() as sess:\n    pass\n")
    assert found.opened_sessions.all() == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sess.run(loss)", False),
        ("print(sess.run(loss))", False),
        ("for i in a:\n        print(i)", False),
        ("saver.restore(sess, 'a')", False),
        ("show(sess)", False),
        ("for i in a:\n        sess.run(train_op)", True),
        ("a = [sess.run(loss) for _ in b]", True),
        ("steps(sess)", True),
        ("elsewhere(sess)", True),
        ("elsewhere([sess])", True),
        ("elsewhere(session=sess)", True),
        ("model.fit(x)", True),
        ("train_model()", True),
    ],
)
def test_whether_it_may_work_long(body: str, *, expected: bool) -> None:
    functions = (
        "def steps(s):\n    while a:\n        s.run(train_op)\n        loss.eval()\n"
        "def show(s):\n    print(s.run(loss))\n"
    )
    found = with_graph(f"{functions}with tf.Session() as sess:\n    {body}\n")
    (only,) = found.opened_sessions.all()
    assert found.opened_sessions.may_work_long(only) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss.eval()", False),
        ("for i in a:\n        print(i)", False),
        ("for i in a:\n        loss.eval()", True),
        ("train_model(a)", True),
        ("time.sleep(9)", True),
        ("optimizer = tf.train.Optimizer()", False),
    ],
)
def test_whether_a_loop_does_other_work(body: str, *, expected: bool) -> None:
    found = with_graph(f"while c:\n    {body}\n")
    loop = found.source.all(ast.While)[0]
    assert found.opened_sessions.works_otherwise(loop) is expected
