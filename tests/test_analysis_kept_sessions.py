"""Whether one session serves all turns; tests/test_session_in_loop.py has the cases in full."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.graphs import kept_sessions
from tfrewrite.analysis.program.hoisting import Place


def reason(body: str, opened: str = "tf.Session()", before: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    found = with_graph(
        f"saver = tf.train.Saver()\n{before}\nfor a in c:\n    with {opened} as sess:\n{lines}"
    )
    (only,) = found.opened_sessions.all()
    place = found.hoisting.place(only.call, kept_sessions.operands(found, only))
    if not isinstance(place, Place):
        return place.reason
    obstacle = kept_sessions.obstacle(found, only, place)
    return obstacle.reason if obstacle is not None else ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sess.run(train_op, {x: a})", "keeps-state"),
        ("sess.run(loss, {x: a})", "keeps-state"),
        ("sess.run(unknown)", "fetch-not-traced"),
        ("unknown()\nsess.run(y, {y: a})", "builds-ops"),
        ("saver.restore(sess, a)\nsess.run(loss, {x: a})", "rebound-in-loop"),
        ("saver.restore(sess, f())\nsess.run(loss, {x: a})", "operand-not-sure"),
        ("sess.run(loss)\nsaver.restore(sess, 'm')", "restored-late"),
        ("saver.restore(sess, 'm')\nsaver.save(sess, 'm')", "session-used"),
        ("saver.restore(sess, 'm')\nopen('m', 'w').write(sess.run(loss))", "checkpoint-may-change"),
        ("saver.restore(sess, 'm')\nsess.run(loss, {x: a})", ""),
        ("sess.run(tf_total, {x: a})", ""),
    ],
)
def test_what_is_done_in_it(body: str, expected: str) -> None:
    assert reason(body, before="tf_total = tf.reduce_sum(x)") == expected


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        ("tf.Session('grpc://a')", "session-arguments"),
        ("tf.Session(target=a)", "rebound-in-loop"),
        ("tf.Session(config=make())", "operand-not-sure"),
        ("tf.Session(config=tf.ConfigProto(device_count={'GPU': 0}))", ""),
        ("tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))", ""),
        ("tf.Session(config=config)", "operand-not-sure"),
        (
            "tf.Session(config=tf.ConfigProto(log_device_placement=True))",
            "session-arguments",
        ),
        ("tf.Session(config=tf.ConfigProto(log_device_placement=False))", ""),
        ("tf.Session(config=tf.ConfigProto(device_count=counts))", "operand-not-sure"),
    ],
)
def test_how_it_is_opened(opened: str, expected: str) -> None:
    found = reason("sess.run(total, {x: 1})", opened, before="total = tf.reduce_sum(x)")
    assert found == expected
