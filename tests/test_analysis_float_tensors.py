"""Which values are surely float32 tensors."""

import pytest

from analysis_helpers import expression, facts

PROGRAM = """
import tensorflow as tf

weight = tf.Variable(1.0)
double = tf.Variable(1.0, dtype=tf.float64)
either = tf.zeros([2])
either = tf.zeros([2], tf.float64)
total = tf.zeros([2])
total += 1.0
given = load()

{expression}  # here
"""


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("weight", True),
        ("double", False),
        ("either", False),
        ("total", True),
        ("given", False),
        ("2.0", False),
        ("weight * given", True),
        ("given * given", False),
        ("weight // 2", False),
        ("-weight", True),
        ("tf.ones([2])", True),
        ("tf.ones([2], tf.int32)", False),
        ("tf.ones([2], dtype=tf.float32)", True),
        ("tf.zeros_like(weight, tf.float64)", False),
        ("tf.cast(given, tf.float32)", True),
        ("tf.cast(given, 'float32')", True),
        ("tf.cast(given, tf.float16)", False),
        ("tf.constant(0.5)", True),
        ("tf.constant([1, 2])", False),
        ("tf.constant(0.5, tf.float64)", False),
        ("tf.random.normal([2])", True),
        ("tf.random.normal([2], 0.0, 1.0, tf.float64)", False),
        ("tf.random.uniform([2], maxval=3, dtype=tf.int32)", False),
        ("tf.reduce_mean(tf.square(weight))", True),
        ("tf.reduce_mean(given)", False),
        ("tf.multiply(given, weight)", True),
        ("tf.argmax(weight)", False),
    ],
)
def test_a_type_is_sure_where_it_is_said(text: str, *, sure: bool) -> None:
    found = facts(PROGRAM.replace("{expression}", text))
    assert found.float_tensors.sure(expression(found)) is sure
