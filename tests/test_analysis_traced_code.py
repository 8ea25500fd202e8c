"""What runs when a tf.function is traced, and what happens only then."""

from analysis_helpers import expression, facts, function
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.traced_code import Sort


def effects(text: str) -> list[tuple[int, Sort, bool]]:
    found = facts(text)
    return [
        (effect.node.lineno, effect.sort, effect.leaks)
        for one in found.compiled_functions.all
        for effect in found.traced_code.effects(one)
    ]


def entered(found: Facts, name: str) -> list[str]:
    bodies = found.traced_code.bodies(function(found, name))
    return [getattr(body, "name", "") for body in bodies]


def test_a_trace_goes_into_functions_methods_and_layers_of_the_file() -> None:
    found = facts("""
        import tensorflow as tf

        class Block(tf.keras.layers.Layer):
            def call(self, x):
                return inner(x)

        class Trainer:
            def __init__(self):
                self.block = Block()

            @tf.function
            def step(self, x):
                return self.loss(self.block(x))

            def loss(self, x):
                return x

            def other(self):
                return inner(1)

        def inner(x):
            return x

        def shown(x):
            return tf.py_function(eager, [x], tf.float32)

        def eager(x):
            return x
    """)
    assert sorted(entered(found, "step")) == ["call", "inner", "loss", "step"]
    assert entered(found, "shown") == ["shown"]


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


def test_which_values_are_surely_tensors() -> None:
    found = facts("""
        import tensorflow as tf

        def step(x):
            a = tf.reduce_mean(x)
            b = -(a * 2)[0]
            b  # here
            x  # given
    """)
    bodies = [function(found, "step")]
    traced = found.traced_code
    assert traced.is_tensor(expression(found), list(bodies))
    assert not traced.is_tensor(expression(found, "given"), list(bodies))
