"""Whether a graph may get a pipeline, and where that is made; traps first."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.fed_batches import FedBatch
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.obstacle import Obstacle

OPENED = "sess = tf.Session()\n"
RUN = "sess.run(train_op, {x: X[i:i + 9]})"


def fed(text: str) -> tuple[Facts, FedBatch]:
    found = with_graph(text)
    (batch,) = found.fed_batches.all()
    return found, batch


def loop(before: str = OPENED, run: str = RUN) -> str:
    return f"{before}for i in range(9):\n    {run}\n"


def reason(found: ast.stmt | Obstacle | None) -> str:
    return found.reason if isinstance(found, Obstacle) else ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"exec(code)\n{loop()}", "dynamic-code"),
        (f"{loop()}tf.saved_model.simple_save(sess, 'out', {{}}, {{}})\n", "graph-exported"),
        (f"saver = tf.train.import_meta_graph('a.meta')\n{loop()}", "graph-imported"),
        (f"server = tf.train.Server(cluster)\n{loop()}", "distributed"),
        (loop("sess = tf.Session('local')\n"), "distributed"),
        (loop("sess = tf.Session(target=where)\n"), "distributed"),
        (loop("sess = tf.train.MonitoredSession()\n"), "hooked-session"),
        (loop(f"config.operation_timeout_in_ms = 3\n{OPENED}"), "session-unknown"),
        (loop(run=RUN.replace("})", "}, options=o)")), "run-options"),
        (loop(run="loss.eval({x: X[i:i + 9]}, session=sess)"), "session-unknown"),
        (f"{OPENED}class Steps:\n{textwrap.indent(loop(''), '    ')}", "session-unknown"),
        (loop(), ""),
        (loop("sess = tf.InteractiveSession()\n", "loss.eval({x: X[i:i + 9]})"), ""),
    ],
)
def test_which_graphs_may_get_a_pipeline(text: str, why: str) -> None:
    found, batch = fed(text)
    assert reason(found.pipeline_places.forbidden(batch)) == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (loop("sess = tf.Session()\nprint(sess.graph.get_operations())\n"), ""),
        (f"{loop()}print(sess.graph.get_operations())\n", "graph-read"),
        (loop(f"{OPENED}sess.graph.finalize()\n"), "graph-finalized"),
        (f"{OPENED}with tf.device('/gpu:0'):\n{textwrap.indent(loop(''), '    ')}",
         "placeholder-scope"),
        (f"{OPENED}def fit():\n{textwrap.indent(loop(''), '    ')}\nfor k in some:\n    fit()\n",
         "called-in-loop"),
        (loop(), ""),
    ],
)  # fmt: skip
def test_where_a_pipeline_may_be_made(text: str, why: str) -> None:
    found, batch = fed(text)
    assert reason(found.pipeline_places.place(batch)) == why


def test_the_place_is_before_the_outermost_loop() -> None:
    text = f"{OPENED}for k in range(3):\n{textwrap.indent(loop(''), '    ')}"
    found, batch = fed(text)
    assert found.pipeline_places.place(batch) is found.source.parent(batch.loop)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{OPENED}def fit(tf):\n{textwrap.indent(loop(''), '    ')}\n", "placeholder-unclear"),
        (loop(), ""),
    ],
)
def test_tensorflow_has_its_name_at_the_loop(text: str, why: str) -> None:
    found, batch = fed(text)
    made = [one for one in found.source.all(ast.Call) if "placeholder" in ast.unparse(one.func)]
    assert reason(found.pipeline_places.tensorflow(batch, made)) == why
    assert reason(found.pipeline_places.tensorflow(batch, [])) == "placeholder-unclear"
