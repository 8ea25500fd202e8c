"""Whether it could be told that turns of a loop have the same tensor."""

import ast

import pytest

from analysis_helpers import facts

HEAD = """
import tensorflow as tf

layer = tf.keras.layers.Dense(1)
metric = tf.keras.metrics.Mean()
kept = []


@tf.function
def compiled(x):
    return x + 1.0


def plain(x, y):
    return tf.reduce_sum(x) + y


def keeps(x):
    kept.append(x)


def gives_back(x):
    return x
"""


def told(turn: str) -> bool:
    found = facts(f"{HEAD}\n\nfor n in range(3):\n    {turn}\n")
    calls = [one for one in found.source.all(ast.Call) if found.names.tf(one.func) == "ones"]
    return any(found.tensor_uses.fate(call).elsewhere is not None for call in calls)


@pytest.mark.parametrize(
    "turn",
    [
        "print(tf.ones([2]) * n)",
        "x = tf.ones([2]); print(x.shape, x.numpy(), x[0], f'{x}')",
        "x = tf.ones([2]); y = x; print(float(tf.reduce_sum(y)))",
        "a, b = tf.ones([2]), tf.ones([3]); print(a + b[0])",
        "pair = [tf.ones([2]), tf.ones([2])]; print(tf.stack(pair), pair[0] + 1.0)",
        "compiled(tf.ones([2]))",
        "layer(tf.ones([1, 2]))",
        "metric.update_state(tf.ones([2]))",
        "print(plain(tf.ones([2]), y=tf.ones([])).numpy())",
        "v = tf.Variable(tf.ones([2]))",
        "for one in tf.ones([2]): print(one)",
        "x = tf.identity(tf.ones([2])); print(x + 1.0)",
        "x = tf.ones([2]) if n else None; print(tf.size(x))",
    ],
)
def test_computing_tells_nothing(turn: str) -> None:
    assert not told(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "kept.append(tf.ones([2]))",
        "kept[n] = tf.ones([2])",
        "layer.state = tf.ones([2])",
        "x = tf.ones([2]); print(x is kept)",
        "x = tf.ones([2]); print(x in kept)",
        "x = tf.ones([2]); x.mark = n",
        "x = tf.ones([2]); print(x.ref())",
        "x = tf.ones([2]); print(id(x))",
        "x = tf.identity(tf.ones([2])); kept.append(x)",
        "keeps(tf.ones([2]))",
        "kept.append(gives_back(tf.ones([2])))",
        "unknown(tf.ones([2]))",
        "print(tf.numpy_function(keeps, [tf.ones([2])], tf.float32))",
        "print(tf.map_fn(keeps, tf.ones([2])))",
        "pair = [tf.ones([2])]; kept.append(pair)",
        "pair = [tf.ones([2])]; pair[0] = n",
        "kept.append((tf.ones([2]), n))",
        "f = lambda: tf.ones([2])",
        "x = tf.ones([2]); kept.append(x if n else None)",
        "tf.raw_ops.InplaceAdd(x=tf.ones([2]), i=[0], v=[1.0])",
    ],
)
def test_keeping_and_comparing_does(turn: str) -> None:
    assert told(turn)


def test_a_function_may_return_what_it_makes() -> None:
    found = facts("""
        import tensorflow as tf

        def first():
            for n in range(3):
                return tf.ones([2])
    """)
    (call,) = (one for one in found.source.all(ast.Call) if found.names.tf(one.func) == "ones")
    assert found.tensor_uses.fate(call).elsewhere is None
