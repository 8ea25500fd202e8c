"""Where a script runs its graph, traps first: what only looks like a session or like a run."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import run, with_graph
from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION, SessionKind, SessionRun

PLAIN, HOOKED, UNKNOWN = SessionKind.PLAIN, SessionKind.HOOKED, SessionKind.UNKNOWN


def found_run(text: str, mark: str = "here") -> SessionRun | None:
    return run(with_graph(text), mark)


def kind(text: str) -> SessionKind | None:
    """The kind of session that the run on the marked line has; None where there is no run."""
    found = found_run(text)
    return found.kind if found else None


def session(text: str) -> tuple[str, SessionKind]:
    found = found_run(text)
    assert found is not None
    return found.session, found.kind


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "runner.run(loss)",
        "app.run(main)",
        "tf.app.run(main)",
        "import subprocess\nsubprocess.run(['ls'])",
        "eval('loss')",
        "model.eval()",
        "np.zeros([3]).run()",
        "optimizer.run()",
        "run(loss)",
        "sess = tf.Session()\nsess.run()",
        "sess = tf.Session()\nsess.run(*args)",
        "sess = tf.Session()\nsess.run(loss, **options)",
        "sess = tf.Session()\nsess.run(loss, unknown=1)",
        "sess = tf.Session()\nsess.run(loss, None, None, None, None)",
        "sess = tf.Session()\nsess.run(loss, fetches=loss)",
        "sess = tf.Session()\nsess.partial_run(handle, loss)",
        "sess = tf.Session()\nsess.run",
        "loss.eval(*args)",
        "loss.eval(other=1)",
        "loss.eval({}, sess, 1)",
    ],
)
def test_what_is_no_run(text: str) -> None:
    assert found_run(f"{text}  # here\n") is None


def test_a_session_of_another_library_is_not_known() -> None:
    text = "import requests\nsess = requests.Session()\nsess.run(loss)  # here\n"
    assert kind(text) is UNKNOWN


def test_what_is_called_like_a_session_is_one_of_unknown_kind() -> None:
    assert kind("sess.run(loss)  # here\n") is UNKNOWN
    assert kind("self.session.run(loss)  # here\n") is UNKNOWN
    assert kind("def f(sess):\n    sess.run(loss)  # here\n") is UNKNOWN
    assert kind("my_Session_1 = make()\nmy_Session_1.run(loss)  # here\n") is UNKNOWN


def test_a_session_class_that_the_file_overwrites_is_not_known() -> None:
    text = "tf.Session = Fake\nsess = tf.Session()\nsess.run(loss)  # here\n"
    assert kind(text) is UNKNOWN


def test_one_of_two_kinds_is_not_known() -> None:
    text = """
sess = tf.Session()
if flag:
    sess = tf.train.MonitoredSession()
sess.run(loss)  # here
"""
    assert kind(text) is UNKNOWN


def test_a_session_wrapped_by_a_debugger_is_not_known() -> None:
    text = """
from tensorflow.python import debug
sess = tf.Session()
sess = debug.LocalCLIDebugWrapperSession(sess)
sess.run(loss)  # here
"""
    assert kind(text) is UNKNOWN


@pytest.mark.parametrize(
    "made", ["MonitoredSession", "MonitoredTrainingSession", "SingularMonitoredSession"]
)
def test_a_session_with_hooks_says_so(made: str) -> None:
    text = f"with tf.train.{made}() as sess:\n    sess.run(loss)  # here\n"
    assert kind(text) is HOOKED


@pytest.mark.parametrize(
    ("head", "calls"),
    [
        ("sess", ""),
        ("sess=None", "f(tf.Session())"),
        ("sess", "f(tf.Session())\nf(other)"),
        ("sess", "f(tf.Session())\nf(tf.train.MonitoredSession())"),
        ("sess", "f(*args)"),
        ("sess", "f()"),
        ("*sess", "f(tf.Session())"),
        ("*, sess", "f(tf.Session())"),
    ],
)
def test_a_parameter_whose_session_is_not_the_same_at_all_calls(head: str, calls: str) -> None:
    assert kind(f"def f({head}):\n    sess.run(loss)  # here\n{calls}\n") is UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "def f(sess):\n    sess.run(loss)  # here\nf(tf.Session())\nf(sess=tf.Session())\n",
        "def f(sess):\n    sess.run(loss)  # here\ndef g(s):\n    f(s)\ng(tf.Session())\n",
        "class A:\n    def f(self, sess):\n        sess.run(loss)  # here\nA().f(tf.Session())\n",
        "s = tf.Session()\ndef f(sess=s):\n    sess.run(loss)  # here\nf()\nf(tf.Session())\n",
    ],
    ids=["a function", "passed on", "a method", "by default"],
)
def test_a_parameter_whose_session_is_the_same_at_all_calls(text: str) -> None:
    assert kind(text) is PLAIN


@pytest.mark.parametrize(
    "text",
    [
        "class sess:\n    pass\nsess.run(loss)",
        "def session():\n    pass\nsession.run(loss)",
        "import session\nsession.run(loss)",
    ],
)
def test_what_is_called_like_a_session_and_is_none(text: str) -> None:
    assert with_graph(text).sessions.runs == {}


@pytest.mark.parametrize(
    "text",
    [
        "def f(sess):\n    sess.run(loss)  # here\nf(tf.Session())\nother(f)\n",
        "def f(sess, n):\n    sess.run(loss)  # here\n    f(sess, n - 1)\nf(tf.Session(), 3)\n",
    ],
    ids=["handed on", "calls itself"],
)
def test_a_parameter_of_a_function_whose_calls_are_not_all_seen(text: str) -> None:
    assert kind(text) is UNKNOWN


def test_a_rebound_parameter_is_not_what_the_caller_gave() -> None:
    text = """
def f(sess):
    sess = wrap(sess)
    sess.run(loss)  # here
f(tf.Session())
"""
    assert kind(text) is UNKNOWN


def test_another_name_than_that_of_the_session_means_the_default_one() -> None:
    text = """
with tf.Session() as sess:
    loss.eval()  # here
sess = other()
"""
    assert session(text) == (DEFAULT_SESSION, PLAIN)


def test_the_default_session_of_a_caller_is_not_named() -> None:
    text = """
with tf.Session() as sess:
    def f():
        return loss.eval()  # here
    g = lambda: loss.eval()  # lambda
"""
    assert session(text) == (DEFAULT_SESSION, PLAIN)
    found = found_run(text, "lambda")
    assert found is not None
    assert found.session == DEFAULT_SESSION


def test_the_innermost_session_is_the_default_one() -> None:
    text = """
with tf.Session() as outer:
    with tf.train.MonitoredSession() as inner, open("x"):
        loss.eval()  # here
"""
    assert session(text) == ("inner", HOOKED)


def test_of_two_interactive_sessions_none_is_named() -> None:
    text = "a = tf.InteractiveSession()\nb = tf.InteractiveSession()\nloss.eval()  # here\n"
    assert session(text) == (DEFAULT_SESSION, PLAIN)


def test_an_interactive_session_beside_another_is_not_named() -> None:
    text = "a = tf.InteractiveSession()\nb = tf.Session()\nloss.eval()  # here\n"
    assert session(text) == (DEFAULT_SESSION, PLAIN)


def test_options_of_a_run_are_told() -> None:
    start = "sess = tf.Session()\n"
    for extra in ("options=o", "run_metadata=m"):
        found = found_run(f"{start}sess.run(loss, None, {extra})  # here\n")
        assert found is not None and found.options, extra
    found = found_run(f"{start}sess.run(loss, feed, o)  # here\n")
    assert found is not None and found.options
    found = found_run(f"{start}sess.run(loss, feed)  # here\n")
    assert found is not None and not found.options


# ---- ways to get a session -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "sess = tf.Session()\nsess.run(loss)  # here",
        "sess = tf.compat.v1.Session(config=tf.ConfigProto())\nsess.run(loss)  # here",
        "sess = tf.InteractiveSession()\nsess.run(loss)  # here",
        "with tf.Session() as sess:\n    sess.run(loss)  # here",
        "with tf.Session() as s:\n    s.run(loss)  # here",
        "s = tf.Session()\nwith s:\n    s.run(loss)  # here",
        "s = tf.Session()\nwith s.as_default():\n    s.run(loss)  # here",
        "s = tf.Session()\nother = s\nother.run(loss)  # here",
        "tf.Session().run(loss)  # here",
        "with tf.Session() as sess:\n    def f():\n        sess.run(loss)  # here",
        "def f(sess):\n    sess.run(loss)  # here\nf(tf.Session())",
        "def f(a, s):\n    s.run(loss)  # here\nt = tf.Session()\nf(1, t)\nf(2, s=t)",
        "def make():\n    return tf.Session()\ns = make()\ns.run(loss)  # here",
        (
            "class A:\n    def __init__(self):\n        self.s = tf.Session()\n"
            "    def f(self):\n        self.s.run(loss)  # here"
        ),
    ],
)
def test_every_way_to_a_plain_session(text: str) -> None:
    assert kind(text + "\n") is PLAIN


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("with tf.Session() as sess:\n    loss.eval()  # here", "sess"),
        ("s = tf.Session()\nwith s:\n    loss.eval()  # here", "s"),
        ("s = tf.Session()\nwith s.as_default():\n    loss.eval()  # here", "s"),
        ("with tf.Session():\n    loss.eval()  # here", DEFAULT_SESSION),
        ("s = tf.InteractiveSession()\nloss.eval()  # here", "s"),
        ("tf.InteractiveSession()\nloss.eval()  # here", DEFAULT_SESSION),
        (
            "s = tf.InteractiveSession()\ndef f(s):\n    loss.eval()  # here",
            DEFAULT_SESSION,
        ),
        ("s = tf.Session()\nloss.eval(session=s)  # here", "s"),
        ("s = tf.Session()\nloss.eval({x: v}, s)  # here", "s"),
        ("with tf.Session() as sess:\n    loss.eval(session=None)  # here", "sess"),
        ("with tf.Session() as sess:\n    train_op.run()  # here", "sess"),
        ("with tf.Session() as sess:\n    w.eval()  # here", "sess"),
        ("with tf.Session() as sess:\n    for i in v:\n        w.eval()  # here", "sess"),
        ("loss.eval()  # here", DEFAULT_SESSION),
    ],
)
def test_the_session_of_a_run_through_a_tensor(text: str, name: str) -> None:
    found = found_run(text + "\n")
    assert found is not None
    assert (found.session, found.kind, found.direct) == (name, PLAIN, False)
    assert ast.unparse(found.fetches) in ("loss", "train_op", "w")


def test_a_tensor_run_in_an_unknown_session_is_of_unknown_kind() -> None:
    assert session("loss.eval(session=get())  # here\n") == ("get()", UNKNOWN)


@pytest.mark.parametrize(
    ("call", "feed"),
    [
        ("sess.run(loss)", None),
        ("sess.run(loss, None)", None),
        ("sess.run(loss, feed_dict=None)", None),
        ("sess.run(loss, {x: v})", "{x: v}"),
        ("sess.run(loss, feed_dict={x: v})", "{x: v}"),
        ("sess.run(feed_dict=feed, fetches=loss)", "feed"),
        ("loss.eval()", None),
        ("loss.eval({x: v})", "{x: v}"),
        ("loss.eval(feed_dict=feed)", "feed"),
    ],
)
def test_fetches_and_feed_of_a_run(call: str, feed: str | None) -> None:
    found = found_run(f"with tf.Session() as sess:\n    {call}  # here\n")
    assert found is not None
    assert ast.unparse(found.fetches) == "loss"
    assert (ast.unparse(found.feed) if found.feed else None) == feed
    assert found.direct is call.startswith("sess")


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ("A().f(tf.Session())", SessionKind.PLAIN),
        ("A().f(tf.Session())\nA().f(s=tf.Session())", SessionKind.PLAIN),
        ("def g(t):\n    A().f(t)\ng(tf.Session())", SessionKind.PLAIN),
        ("A().f(tf.train.MonitoredSession())", SessionKind.HOOKED),
        ("A().f(tf.Session())\nA().f(tf.train.MonitoredSession())", None),
        ("A().f(tf.Session())\nA().f(other)", None),
        ("A().f(tf.Session())\nwork(A().f)", None),
        ("def g(t):\n    A().f(t)", None),
        ("", None),
    ],
)
def test_a_session_that_is_given_to_a_method(callers: str, expected: SessionKind | None) -> None:
    found = with_graph(f"class A:\n    def f(self, s):\n        s.run(loss)  # here\n{callers}\n")
    here = run(found)
    assert (here.kind if here is not None else None) is expected
