"""Which functions make the steps of a training loop."""

from __future__ import annotations

from eager_samples import LOOP, start


def test_steps_are_found_by_the_loops_around_their_callers() -> None:
    found = start(LOOP)
    (step,) = found.step_functions.all()
    assert step.function.name == "step"
    assert step.calls is not None
    assert len(step.calls) == 1


def test_a_function_that_no_loop_calls_is_no_step() -> None:
    text = LOOP.replace("    for x, y in data:\n        step(x)", "    step(xs)")
    assert not start(text).step_functions.all()


def test_steps_that_are_compiled() -> None:
    text = """\
def take(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def once(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def compute(x):
    return x

for x, y in data:
    step(x)
    take(x)
    compute(x)
once(xs)
"""
    steps = start(text).step_functions
    assert [one.function.name for one in steps.all()] == ["take"]
    (one,) = steps.compiled()
    assert one.function.name == "step"
