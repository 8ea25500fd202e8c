"""What XLA compiles."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace
from tfrewrite.analysis.traces.xla import Xla

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"
MODEL = "model = tf.keras.Sequential([L.Dense(3, input_shape=[2])])\n"


def reason(found: Obstacle | None) -> str | None:
    return None if found is None else found.reason


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("matmul", None),
        ("keras.losses.mean_squared_error", None),
        ("losses.BinaryCrossentropy", None),
        ("keras.losses.CTC", "not-for-xla"),
        ("unique", "not-for-xla"),
        ("strings.join", "not-for-xla"),
    ],
)
def test_ops(symbol: str, expected: str | None) -> None:
    trace = Trace(symbols=[(symbol, 3)])
    assert reason(Xla(facts(HEAD)).obstacle(trace)) == expected


@pytest.mark.parametrize(
    ("kind", "symbol", "expected"),
    [
        ("layer", "keras.layers.Dense", None),
        ("layer", "keras.layers.RandomZoom", "not-for-xla"),
        ("layer", "", "not-for-xla"),
        ("optimizer", "keras.optimizers.Adam", None),
        ("optimizer", "keras.optimizers.Lion", "not-for-xla"),
        ("model", "keras.Sequential", None),
        ("model", "keras.applications.VGG16", "not-for-xla"),
        ("model", "Net", None),
        ("metric", "keras.metrics.Mean", None),
        ("tape", "GradientTape", None),
        ("symbolic", "keras.Model", "not-for-xla"),
    ],
)
def test_objects(kind: str, symbol: str, expected: str | None) -> None:
    trace = Trace(things=[Thing(kind, symbol)])
    assert reason(Xla(facts(HEAD)).obstacle(trace)) == expected


def test_a_shape_that_depends_on_values() -> None:
    found = Xla(facts(HEAD)).obstacle(Trace(shapeless="the part that line 3 takes"))
    assert reason(found) == "needs-static-shape"


def test_what_stands_anywhere_in_the_file() -> None:
    assert reason(Xla(facts(HEAD + MODEL)).whole_file) is None
    assert reason(Xla(facts(HEAD + "L.RandomZoom(0.1)")).whole_file) == "not-for-xla"
    checked = HEAD + "tf.debugging.enable_check_numerics()"
    assert reason(Xla(facts(checked)).whole_file) == "not-for-xla"
    assert reason(Xla(facts(HEAD + "d = d.padded_batch(3)")).shapes_vary) == "shape-varies"
    assert reason(Xla(facts(HEAD + "d = d.batch(3)")).shapes_vary) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o = L.Dense(3, 'relu')(i)", None),
        ("o = L.Dense(3, activation=tf.nn.softmax)(i)", None),
        ("o = L.Dense(3, activation=mine)(i)", None),
        ("o = L.Dense(3, 'sparse_plus')(i)", "not-for-xla"),
        ("o = L.Activation(tf.nn.crelu)(i)", "not-for-xla"),
        ("o = tf.concat([i, i], 1)", None),
        ("o = tf.keras.Sequential([tf.keras.Input([4]), L.Dense(3)])(i)", None),
        ("o = tf.math.segment_sum(i, ids)", "not-for-xla"),
        ("o = tf.nn.dropout(i, 0.5)", "not-for-xla"),
        ("o = tf.keras.ops.unique(i * 2.0)", "not-for-xla"),
        ("o = tf.keras.applications.VGG16()(i)", "not-for-xla"),
        ("o = tf.keras.applications.vgg16.preprocess_input(x)", None),
        ("with tf.device('/cpu:0'):\n    o = 1", "not-for-xla"),
    ],
)
def test_parts_of_models(text: str, expected: str | None) -> None:
    found = facts(f"{HEAD}i = tf.keras.Input([4])\n{text}\nmodel = tf.keras.Model(i, o)")
    assert reason(Xla(found).whole_file) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'adam', 'mse', ['accuracy']", None),
        ("'adam', 'mse', metrics=['mae', tf.keras.metrics.Precision()]", None),
        ("tf.keras.optimizers.Adam(0.1), tf.keras.losses.MeanSquaredError()", None),
        ("tf.keras.optimizers.SGD(rate), tf.losses.mean_squared_error", None),
        ("tf.keras.optimizers.SGD(less), 'mse'", None),
        ("'ftrl', 'mse'", "not-for-xla"),
        ("'adam', {'a': 'ctc'}", "not-for-xla"),
        ("'adam', tf.keras.losses.CTC()", "not-for-xla"),
        ("other, 'mse'", "not-for-xla"),
    ],
)
def test_what_compile_is_given(arguments: str, expected: str | None) -> None:
    more = "rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.9)\n"
    more += "less = 0.1\nless = less * 0.5\n"
    more += "other = tf.keras.optimizers.Ftrl(0.1)\n"
    found = facts(f"{HEAD}{MODEL}{more}model.compile({arguments})\nmodel.fit(x, y)")
    (one,) = found.trained_models.all
    assert reason(found.xla.of_fit(one)) == expected


def test_draws() -> None:
    xla = Xla(facts(HEAD))
    assert not xla.draws(Trace(symbols=[("matmul", 1)]))
    assert xla.draws(Trace(symbols=[("nn.dropout", 1)]))
    assert xla.draws(Trace(symbols=[("random.stateless_normal", 1)]))
    assert xla.draws(Trace(draws=[ast.Call(ast.Name("f"), [], [])]))
    assert xla.draws(Trace(layers_draw=True))
    assert xla.draws(Trace(generators=True))
    assert not Xla(facts(HEAD + MODEL)).fit_draws
    assert Xla(facts(HEAD + "L.Dropout(0.5)")).fit_draws
    assert Xla(facts(HEAD + "L.LSTM(3, recurrent_dropout=0.5)")).fit_draws
