"""What runs when a tf.function is traced."""

from analysis_helpers import expression, facts, function
from tfrewrite.analysis.facts import Facts


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
