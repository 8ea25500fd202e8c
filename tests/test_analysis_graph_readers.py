"""What notices that ops are made once and not in each turn."""

from __future__ import annotations

import pytest

from analysis_helpers import marked, with_graph


def reason(text: str) -> str:
    found = with_graph(text)
    obstacle = found.graph_readers.obstacle("IteratorGetNext", marked(found, "here"))
    return obstacle.reason if obstacle else ""


LOOP = "for i in y:  # here\n    {}\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.get_default_graph().get_operations()", "graph-read"),
        ("sess.graph.as_graph_def()", "graph-read"),
        ("print(sess.graph.version)", "graph-read"),
        ("graph.get_tensor_by_name('IteratorGetNext_3:0')", "graph-read"),
        ("graph.get_tensor_by_name(name)", "graph-read"),
        ("graph.get_operation_by_name('a')", "graph-read"),
        ("tf.reset_default_graph()", "graph-changes"),
        ("graph.finalize()", "graph-finalized"),
        ("tf.executing_eagerly()", "eager-mode"),
        ("tf.ConfigProto(log_device_placement=True)", "graph-read"),
        ("config.log_device_placement = verbose", "graph-read"),
        ("tf.ConfigProto(log_device_placement=False)", ""),
        ("print(len(loss.consumers()))", "graph-read"),
        ("tf.profiler.profile(graph)", "graph-read"),
        ("tf.InteractiveSession(graph=graph)", "graph-changes"),
    ],
)
def test_what_would_notice(code: str, expected: str) -> None:
    assert reason(LOOP.format(code)) == expected


@pytest.mark.parametrize(
    "code",
    ["graph.get_tensor_by_name('loss:0')", "print(tf.VERSION, tf.version.VERSION, np.version)"],
)
def test_what_would_not(code: str) -> None:
    assert reason(LOOP.format(code)) == ""


def test_what_comes_before_or_after_the_loop() -> None:
    assert reason("tf.reset_default_graph()\n" + LOOP.format("pass")) == ""
    assert reason("graph.finalize()\n" + LOOP.format("pass")) == "graph-finalized"
    assert reason(LOOP.format("pass") + "graph.finalize()\n") == ""
    assert reason("def f():\n    tf.reset_default_graph()\n" + LOOP.format("f()")) != ""
    again = "while z:\n    for i in y:  # here\n        pass\n    graph.finalize()\n"
    assert reason(again) == "graph-finalized"


def test_what_is_read_before_the_loop() -> None:
    for code in ("sess.graph.as_graph_def()", "graph.get_tensor_by_name(name)"):
        assert reason(f"{code}\n" + LOOP.format("pass")) == ""
        assert reason(f"def f():\n    {code}\n" + LOOP.format("f()")) == "graph-read"
        assert reason(f"while z:\n    {code}\n    " + LOOP.format("    pass")) == "graph-read"


def test_a_graph_that_is_written() -> None:
    for code in ("FileWriter('a', sess.graph)", "FileWriter('a', graph=g)"):
        writer = f"tf.summary.{code}\n"
        assert reason(LOOP.format("pass") + writer) == "graph-read"
        assert reason(writer + LOOP.format("pass")) == ""
    assert reason(LOOP.format("writer.add_graph(g)")) == "graph-read"
    assert reason(LOOP.format("pass") + "tf.summary.FileWriter('a', None)\n") == ""


def test_ops_of_any_type() -> None:
    found = with_graph(LOOP.format("graph.get_tensor_by_name('loss:0')"))
    obstacle = found.graph_readers.obstacle(None, marked(found, "here"))
    assert obstacle is not None and obstacle.reason == "graph-read"
    assert reason(LOOP.format("tf.keras.backend.clear_session()")) == "graph-changes"


def test_a_function_that_places_ops() -> None:
    text = "def place(op):\n    return op.name\nwith tf.device({}):\n    "
    loop = "for i in y:  # here\n        pass\n"
    assert reason(text.format("place") + loop) == "graph-read"
    assert reason(text.format("lambda op: op.name") + loop) == "graph-read"
    assert reason(text.format("'/cpu:0'") + loop) == ""
    assert reason(text.format("device") + loop) == ""


@pytest.mark.parametrize(
    "code",
    [
        "sess.run('IteratorGetNext_1:0')",
        "sess.run(['IteratorGetNext_1:0', loss])",
        "sess.run(fetches='IteratorGetNext_1')",
        "sess.run(loss, {'IteratorGetNext:0': 1})",
        "loss.eval(feed_dict={'IteratorGetNext:0': 1})",
    ],
)
def test_names_in_runs(code: str) -> None:
    assert reason(LOOP.format(code)) == "graph-read"
    assert reason(LOOP.format(code.replace("IteratorGetNext", "loss"))) == ""


def test_a_closed_graph_apart_from_another_default_graph() -> None:
    found = with_graph("graph.finalize()\ntf.reset_default_graph()\nfor i in y:  # here\n    f()\n")
    obstacle = found.graph_readers.closed(marked(found, "here"))
    assert obstacle is not None
    assert obstacle.reason == "graph-finalized"
    found = with_graph("for i in y:  # here\n    tf.reset_default_graph()\n")
    assert found.graph_readers.closed(marked(found, "here")) is None
