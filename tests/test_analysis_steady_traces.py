"""Whether one trace is as good as many. What stands in the way is tried with TFR204 and TFR203."""

import ast

from analysis_helpers import facts
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.obstacle import Obstacle

STEP = """
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    @tf.function
    def step(x):
        return {value}

    for turn in range(3):
        step(tf.ones([1, 1]))
        {beside}
"""


def obstacle(value: str, beside: str = "pass", *, once: bool = False) -> Obstacle | None:
    found = facts(STEP.replace("{value}", value).replace("{beside}", beside))
    (one,) = found.compiled_functions.all
    (loop,) = found.source.all(ast.For)
    meanwhile = found.afterwards.within(loop)
    return found.steady_traces.obstacle(one, loop, meanwhile, once=once)


def reason(value: str, beside: str = "pass") -> str:
    found = obstacle(value, beside)
    return found.reason if found is not None else ""


def test_code_that_reads_what_stays_is_steady() -> None:
    assert not reason("model(x) * 2.0")
    assert not reason("tf.reduce_mean([model(x) for layer in (1, 2)])")


def test_values_that_change_in_the_loop() -> None:
    assert reason("model(x) * turn") == "python-value"
    assert reason("model(x) * unknown") == "python-value"


def test_what_the_loop_does_to_an_object_that_is_read() -> None:
    assert not reason("model(x)", "print(model.summary())")
    assert not reason("model(x)", "model.save_weights('w')")
    assert reason("model(x)", "model.compile('sgd')") == "state-changes"
    assert reason("model(x)", "model.layers[0].trainable = False") == "state-changes"
    assert reason("model(x)", "change(model)") == "state-changes"
    assert reason("model(x)", "tf.config.set_visible_devices([])") == "state-changes"


def test_a_value_with_several_bindings_is_not_set_once_for_all() -> None:
    again = "model(x)", "pass\n\n    model = tf.keras.Sequential()"
    assert obstacle(*again) is None
    found = obstacle(*again, once=True)
    assert found is not None and found.reason == "python-value"


def draws(text: str) -> tuple[bool, bool]:
    found: Facts = facts(text)
    (one,) = found.compiled_functions.all
    drawn = found.steady_traces.draws(one)
    return drawn.ops, drawn.layers


def test_where_draws_come_from() -> None:
    head = "import tensorflow as tf\n"
    op = "step = tf.function(lambda x: x + tf.random.normal([2]))\n"
    stateless = "step = tf.function(lambda x: x + tf.random.stateless_normal([2], [1, 2]))\n"
    layer = "drop = tf.keras.layers.Dropout(0.5)\nstep = tf.function(lambda x: drop(x))\n"
    assert draws(head + op) == (True, False)
    assert draws(head + stateless) == (False, False)
    assert draws(head + layer) == (False, True)
