"""The scripts that are bent at random: how they are made, and what is seen of two versions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from bends import Bender
from bent_scripts import Run, Runner, compared, difference, is_close

from tfrewrite.engine import rewrite_text
from tfrewrite.model import Outcome
from tfrewrite.registry import all_rules

GRAPH = """\
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
data = np.arange(12.0).reshape(4, 3)
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.ones([3]))
loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) - 1.0))
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        feed = {x: data}
        value = sess.run(loss, feed_dict=feed)
        sess.run(train, feed_dict=feed)
        print(step, value)
"""
EAGER = """\
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
data = tf.data.Dataset.from_tensor_slices(rng.rand(64, 3).astype("float32")).batch(8)
w = tf.Variable(tf.ones([3]))
optimizer = tf.keras.optimizers.SGD(0.1)


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(x * w, 1) - 1.0))
    gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w]))
    return loss


for epoch in range(2):
    for x in data:
        loss = step(x)
    print(epoch, float(loss))
"""
KINDS = {
    "np": ["module"],
    "data": ["ndarray"],
    "w": ["Variable", "BaseResourceVariable"],
    "loss": ["Tensor"],
    "step": ["int"],
}


@pytest.mark.parametrize("text", [GRAPH, EAGER], ids=["graph", "eager"])
def test_bends_make_other_scripts_and_the_same_ones_from_the_same_number(text: str) -> None:
    made: set[str] = set()
    kinds: set[str] = set()
    for seed in range(400):
        bender = Bender(text, KINDS, text is GRAPH, seed)
        found = bender.bent(1 + seed % 5)
        assert found == Bender(text, KINDS, text is GRAPH, seed).bent(1 + seed % 5)
        if found is not None:
            ast.parse(found)
            made.add(found)
            kinds |= {one.split()[0] for one in bender.made}
    assert len(made) > 350
    assert {"wrapped", "copied", "swapped", "dropped", "over", "in", "if"} <= kinds


@pytest.mark.parametrize(
    ("one", "other", "limit", "close"),
    [
        ("loss 1.5", "loss 1.5", 0.0, True),
        ("loss 1.5", "loss 1.5000001", 0.0, False),
        ("loss 1.5", "loss 1.5000001", 1e-6, True),
        ("loss 1.5", "cost 1.5", 1e-6, False),
        ("<a at 0x7f3a>", "<a at 0x10>", 0.0, True),
        ("1 2", "1 2 3", 1.0, False),
        ("nan", "1.0", 1.0, False),
    ],
)
def test_texts_are_close(one: str, other: str, limit: float, close: bool) -> None:  # noqa: FBT001
    assert is_close(one, other, limit) == close


def run(ended: str | None = None, printed: str = "", value: float = 1.0) -> Run:
    return Run(ended, printed, [("w:0", (value, 1.0))], {}, 0.1)


def outcome(text: str) -> Outcome:
    found = rewrite_text(text, [one for one in all_rules() if not one.on_request])
    assert found.after != text
    return found


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (run(), run(), ""),
        (run(), run(value=1.0001), ""),
        (run(), run(value=1.1), "variables"),
        (run(value=0.0), run(value=1e-4), ""),
        (run(value=0.0), run(value=1e-2), "variables"),
        (run(printed="1"), run(printed="2"), "printed"),
        (run(), run("ValueError"), "ended by ValueError, not by None"),
        (run("ValueError"), run(), "ended by None, not by ValueError"),
        (run("ValueError", "a"), run("TypeError", "a"), ""),
        (run("ValueError", "a"), run("TypeError", "b"), "printed"),
    ],
)
def test_what_differs(before: Run, after: Run, what: str) -> None:
    assert difference(outcome(EAGER), before, after) == what


@pytest.fixture(scope="module")
def graph_runner(tf1_python: Path) -> Iterator[Runner]:
    runner = Runner(tf1_python)
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def eager_runner(tf2_python: Path) -> Iterator[Runner]:
    runner = Runner(tf2_python)
    yield runner
    runner.close()


def seen(runner: Runner, folder: Path, text: str, wrong: tuple[str, str] | None = None) -> str:
    found = outcome(text)
    if wrong is not None:
        assert wrong[0] in found.after
        found = Outcome(
            found.path, found.status, found.findings, before=text, after=found.after.replace(*wrong)
        )
    told = compared(found, runner, folder)
    assert told is not None
    return told


@pytest.mark.tensorflow
def test_wrong_rewrites_of_graphs_are_seen(graph_runner: Runner, tmp_path: Path) -> None:
    assert seen(graph_runner, tmp_path, GRAPH) == ""
    assert seen(graph_runner, tmp_path, GRAPH, ("range(6)", "range(5)")) == "printed"
    assert seen(graph_runner, tmp_path, GRAPH, ("(0.001)", "(0.01)")) == "printed"
    ended = "ended by NameError, not by None"
    assert seen(graph_runner, tmp_path, GRAPH, ("print(step", "print(stop")) == ended


@pytest.mark.tensorflow
def test_wrong_rewrites_of_eager_code_are_seen(eager_runner: Runner, tmp_path: Path) -> None:
    assert seen(eager_runner, tmp_path, EAGER) == ""
    unseen = ("    print", "    w.assign_add([0.1, 0.0, 0.0]) if epoch else None\n    print")
    assert seen(eager_runner, tmp_path, EAGER, unseen) == "variables"


@pytest.mark.tensorflow
def test_a_script_that_does_not_end_is_killed(graph_runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "killed.py"
    path.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGALRM)\n")
    assert graph_runner.run(path).ended == "killed"
    path.write_text("print(1)\nraise SystemExit(3)\n")
    assert graph_runner.run(path).ended == "SystemExit 3"
