"""Which sessions may keep Python from ending."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph


def is_safe(text: str) -> bool:
    """Whether that holds for the session of the program's one run of its update."""
    found = with_graph(text)
    runs = found.sessions.runs.values()
    (run,) = (one for one in runs if "train_op" in found.source.segment(one.call))
    return found.session_ends.is_safe(run)


_FIT = """
        class Fit:
            def __init__(self):
                self.sess = tf.Session()
            def go(self):
                self.sess.run(train_op)
        """
LEFT_OPEN = {
    "a function's": """
        def fit():
            sess = tf.Session()
            sess.run(train_op)
        fit()
        """,
    "the default one of a function": """
        def fit():
            sess = tf.InteractiveSession()
            train_op.run()
        fit()
        """,
    "one that is the default one for a while": """
        def fit():
            sess = tf.Session()
            with sess.as_default():
                train_op.run()
        """,
    "an object's": _FIT
    + """
        Fit().go()
        """,
    "that of one object of two": _FIT
    + """
        fit = Fit()
        def main():
            other = Fit()
            other.go()
        """,
    "that of a class that is extended": _FIT
    + """
        class Other(Fit):
            pass
        fit = Fit()
        def main():
            Other().go()
        """,
    "an argument": """
        def fit(sess):
            sess.run(train_op)
        def main():
            fit(tf.Session())
        main()
        """,
    "a parameter that is only handed on": """
        def fit(sess):
            sess.run(train_op)
            fit(sess)
        """,
    "one of another file": "def fit():\n    train_op.run()\n",
    "one that is made unseen": """
        def fit(make):
            sess = make()
            sess.run(train_op)
        """,
}
SAFE = {
    "a `with` in a function": """
        def fit():
            with tf.Session() as sess:
                sess.run(train_op)
        """,
    "a `with` without a name": """
        def fit():
            with tf.Session():
                train_op.run()
        """,
    "the second manager of a `with`": """
        def fit():
            with tf.Graph().as_default(), tf.Session() as sess:
                sess.run(train_op)
        """,
    "the module's": "sess = tf.Session()\nsess.run(train_op)\n",
    "the module's default one": "sess = tf.InteractiveSession()\ntrain_op.run()\n",
    "the module's, in a function": """
        sess = tf.Session()
        def fit():
            sess.run(train_op)
        """,
    "that of the module's object": _FIT
    + """
        fit = Fit()
        fit.go()
        """,
    "a parameter that a `with` gives": """
        def fit(sess):
            sess.run(train_op)
        def main():
            with tf.Session() as sess:
                fit(sess)
        main()
        """,
    "a parameter that the module gives": """
        def fit(sess):
            sess.run(train_op)
        sess = tf.Session()
        fit(sess)
        """,
}


@pytest.mark.parametrize("text", LEFT_OPEN.values(), ids=LEFT_OPEN)
def test_those_that_are_left_open(text: str) -> None:
    assert not is_safe(text)


@pytest.mark.parametrize("text", SAFE.values(), ids=SAFE)
def test_those_that_are_closed_or_kept(text: str) -> None:
    assert is_safe(text)


def test_all_of_a_file() -> None:
    closed = "with tf.Session() as sess:\n    sess.run(train_op)\n"
    assert with_graph(closed).session_ends.all_safe
    held = "def fit():\n    sess = tf.Session()\n"
    assert not with_graph(closed + held).session_ends.all_safe
    assert not with_graph("def fit():\n    return train_op\n").session_ends.all_safe
