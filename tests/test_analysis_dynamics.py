"""Code that makes the rest of the analysis worthless."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph


@pytest.mark.parametrize(
    "text",
    [
        "globals()['loss'] = other",
        "setattr(model, 'loss', other)",
        "exec(code)",
        "n = eval('loss')",
        "model.__dict__.update(loss=other)",
        "manager.__enter__()",
        "stack.enter_context(manager)",
        "sess.run = counted",
        "tf.nn.relu = noisy",
        "tf.Session.run = counted",
        "optimizer._learning_rate = other",
        "optimizer.minimize = mine",
        "class A: pass\nA.net = noisy",
        "manager = tf.control_dependencies([loss])",
        "make = tf.control_dependencies",
    ],
)
def test_what_changes_things_unseen(text: str) -> None:
    assert with_graph(text + "\n").dynamics.obstacle


@pytest.mark.parametrize(
    "text",
    [
        "with tf.control_dependencies([loss]):\n    a = tf.identity(loss)",
        "class A:\n    def set(self):\n        self.loss = loss",
        "model.learning_rate = 1",
        "values = vars_of(model)",
    ],
)
def test_ordinary_code_does_not(text: str) -> None:
    assert with_graph(text + "\n").dynamics.obstacle == ""
