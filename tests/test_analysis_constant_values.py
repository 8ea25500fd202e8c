"""Which tensors can surely be made, by what the text says."""

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.program.constant_values import ConstantValues

HEAD = """
import numpy as np
import tensorflow as tf

N = 3
table = np.linspace(0.0, 1.0, 5)
whole = np.arange(5)
"""


def surely_made(expression: str) -> bool:
    found = facts(f"{HEAD}\n{expression}\n")
    statement = found.source.tree.body[-1]
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return ConstantValues(found).surely_made(statement.value)


@pytest.mark.parametrize(
    "expression",
    [
        "tf.constant(0.5)",
        "tf.constant('text')",
        "tf.constant(1e40, tf.float64)",
        "tf.constant([[1, 2], [3, -4]])",
        "tf.constant([1, 2], dtype=tf.float32)",
        "tf.constant(0.0, shape=[N, 2])",
        "tf.constant([True, False])",
        "tf.constant(table, dtype=tf.float32)",
        "tf.zeros([N * 2, 4], tf.int32)",
        "tf.ones(5)",
        "tf.ones(shape=(2, 3), dtype='float64')",
        "tf.fill([2, 2], 0.1)",
        "tf.eye(4)",
        "tf.range(5)",
        "tf.range(2, 5)",
        "tf.cast(2.7, tf.int32)",
        "tf.cast(tf.range(3), tf.float32)",
        "tf.cast(table, tf.float32)",
        "tf.one_hot([0, 2], 3)",
    ],
)
def test_what_cannot_fail(expression: str) -> None:
    assert surely_made(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "tf.constant(unknown)",
        "tf.constant(None)",
        "tf.constant([1, [2]])",
        "tf.constant([1, 'a'])",
        "tf.constant([True, 1])",
        "tf.constant([1, 2.5])",
        "tf.constant(2**40)",
        "tf.constant(3000000000)",
        "tf.constant(1e40)",
        "tf.constant(1e400)",
        "tf.constant(0.5, dtype=tf.int32)",
        "tf.constant(300, dtype=tf.uint8)",
        "tf.constant('1', dtype=tf.float32)",
        "tf.constant([1, 2], shape=[3])",
        "tf.constant(0.5, name='a b')",
        "tf.constant(0.5, dtype=other)",
        "tf.constant(whole, dtype=tf.float32)",
        "tf.zeros([-1])",
        "tf.zeros([2.0])",
        "tf.zeros([unknown])",
        "tf.zeros([1000000, 1000000])",
        "tf.ones([2], dtype=tf.string)",
        "tf.fill(3, 0.1)",
        "tf.range(5, 2)",
        "tf.range(0, 4, 0)",
        "tf.cast('text', tf.float32)",
        "tf.cast(tf.constant('text'), tf.float32)",
        "tf.one_hot([0.5], 3)",
        "tf.one_hot([0], -1)",
        "tf.zeros(*shape)",
        "tf.zeros([2], size=3)",
        "np.zeros(3)",
    ],
)
def test_what_may_fail(expression: str) -> None:
    assert not surely_made(expression)


@pytest.mark.parametrize("iterable", ["range(N)", "range(2, N)", "enumerate([1, 2])"])
def test_loops_that_surely_make_a_turn(iterable: str) -> None:
    assert has_elements(iterable)


@pytest.mark.parametrize(
    "iterable",
    ["[*others]", "range(0)", "range(5, 2)", "range(0, 5, 0)", "range(unknown)", "data"],
)
def test_loops_that_may_make_none(iterable: str) -> None:
    assert not has_elements(iterable)


def has_elements(iterable: str) -> bool:
    found = facts(f"{HEAD}\n{iterable}\n")
    statement = found.source.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    return ConstantValues(found).has_elements(statement.value)
