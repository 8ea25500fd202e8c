"""Whether functions of a file are run as TensorFlow 2 runs them."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.eager_mode import otherwise_run
from tfrewrite.analysis.facts import Facts

HEAD = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sess = tf.Session()", "TensorFlow 1"),
        ("sess = tf.compat.v1.Session()", "TensorFlow 1"),
        ("x = tf.contrib.layers.flatten(x)", "TensorFlow 1"),
        ("tf.compat.v1.disable_eager_execution()", "TensorFlow 1"),
        ("tf.config.run_functions_eagerly(True)", "switches traces off"),
        ("strategy = tf.distribute.MirroredStrategy()", "places variables"),
        ("x = tf.ones(3)", ""),
        ("x = tf.function(f)", ""),
    ],
)
def test_what_runs_functions_otherwise(text: str, words: str) -> None:
    found = otherwise_run(facts(HEAD + text))
    assert words in found
    assert bool(found) == bool(words)


def test_a_target_may_be_of_tensorflow_1() -> None:
    tree = ast.parse(HEAD)
    assert otherwise_run(Facts.build(HEAD, tree, target_tf=(1, 15)))
    assert not otherwise_run(Facts.build(HEAD, tree, target_tf=(2, 15)))
