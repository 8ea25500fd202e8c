"""What happens when a tf.function is traced, and only then."""

from analysis_helpers import facts
from tfrewrite.analysis.traces.trace_effects import Sort


def effects(text: str) -> list[tuple[int, Sort, bool]]:
    found = facts(text)
    return [
        (effect.node.lineno, effect.sort, effect.leaks)
        for one in found.compiled_functions.all
        for effect in found.trace_effects.of(one)
    ]


def test_branches_that_are_not_traced_are_left_out() -> None:
    assert not effects("""
        import tensorflow as tf

        @tf.function
        def step(x):
            if not tf.executing_eagerly():
                y = x
            else:
                print(x)
            if tf.inside_function():
                pass
            else:
                print(x)
            with tf.init_scope():
                print(x)
            return y
    """)


def test_what_happens_at_the_trace_only_and_whether_a_tensor_gets_out() -> None:
    found = effects("""
        import time
        import numpy as np
        import tensorflow as tf

        kept = []

        @tf.function
        def step(x, given):
            loss = tf.reduce_mean(x)
            kept.append(loss)
            kept.append(1)
            given.append(loss)
            np.exp(loss)
            time.time()
            loss.numpy()
            return np.random.rand()
    """)
    assert found == [
        (11, Sort.CHANGE, True),
        (12, Sort.CHANGE, False),
        (13, Sort.ARGUMENT, False),
        (14, Sort.NUMPY, False),
        (15, Sort.CLOCK, False),
        (16, Sort.HOST_READ, False),
        (17, Sort.DRAW, False),
    ]
