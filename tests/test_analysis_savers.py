"""Savers that a loop makes."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph


def reasons(body: str, after: str = "") -> list[str]:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    found = with_graph(f"sess = tf.Session()\nfor i in y:\n{lines}{after}\n")
    savers = found.savers.in_loops()
    return [saver.obstacle.reason if saver.obstacle else "" for saver in savers]


@pytest.mark.parametrize(
    "body",
    [
        "s = tf.train.Saver()\ns.save(sess, 'a')",
        "s = tf.train.Saver([w])\nif i % 2:\n    s.save(sess, 'a')",
        "s = tf.train.Saver(var_list=[w])\ns.restore(sess, 'a')",
        "tf.train.Saver().save(sess, 'a')",
    ],
)
def test_one_checkpoint_a_turn(body: str) -> None:
    assert reasons(body) == [""]


@pytest.mark.parametrize(
    ("body", "after", "expected"),
    [
        ("s = tf.train.Saver(max_to_keep=1)\ns.save(sess, 'a')", "", ["saver-settings"]),
        ("s = tf.train.Saver([w], False)\ns.save(sess, 'a')", "", ["saver-settings"]),
        ("s = tf.train.Saver()\ns.save(sess, 'a')\ns.save(sess, 'b')", "", ["used-otherwise"]),
        ("s = tf.train.Saver()\ns.save(sess, 'a')\nf(s)", "", ["used-otherwise"]),
        ("s = tf.train.Saver()\ns.save(sess, 'a')", "s.save(sess, 'a')", ["used-otherwise"]),
        ("s = tf.train.Saver()\nfor j in y:\n    s.save(sess, 'a')", "", ["used-otherwise"]),
        ("s = tf.train.Saver()\nf(s)", "", []),
    ],
)
def test_more_than_that(body: str, after: str, expected: list[str]) -> None:
    assert reasons(body, after) == expected
