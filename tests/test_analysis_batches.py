"""What batches are made of, what is data, and which fetches need a placeholder; traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, with_graph
from tfrewrite.analysis.graphs.surely_run import surely_beneath

ARRAYS = """
import glob, os, random
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, train_test_split
X = np.zeros([9, 4])
"""


@pytest.mark.parametrize(
    "value",
    [
        "zip([1], [2])\nhere = jobs",
        "iter([1])\nhere = jobs",
        "(k for k in [1])\nhere = jobs",
        "open('a')\nhere = jobs",
        "unknown()\nhere = jobs",
        "map(int, '12')\nhere = jobs",
        "np.ndindex(3, 4)\nhere = jobs",
        "X.flat\nhere = jobs",
        "glob.iglob('*')\nhere = jobs",
        "os.walk('a')\nhere = jobs",
        "pd.read_csv('a').iterrows()\nhere = jobs",
        "pd.read_csv('a', iterator=True)\nhere = jobs",
        "KFold(5).split(X)\nhere = jobs",
        "[zip([1], [2])]\nfor one in jobs:\n    pass\nhere = one",
        "[zip([1], [2])]\nfor one in list(jobs):\n    pass\nhere = one",
    ],
)
def test_what_may_be_used_up(value: str) -> None:
    found = facts(f"{ARRAYS}jobs = {value}\n")
    name = found.source.tree.body[-1]
    assert isinstance(name, ast.Assign)
    assert not found.data_values.reiterable(name.value)


@pytest.mark.parametrize(
    "value",
    [
        "[1, 2]", "range(3)", "np.arange(3)", "X + 1", "X[2:]", "X", "'a b'.split()",
        "'a,b'.split(',')", "pd.read_csv('a')", "glob.glob('*')", "train_test_split(X)",
        "X.astype(int).tolist()",
        "train_test_split(X.sum().unknown())\njobs, other = jobs",
        "list(zip(X, X))", "sorted(os.listdir('a'))",
        "[(X, X)]\nfor one, other in zip(jobs, jobs):\n    pass\njobs = one",
    ],
)  # fmt: skip
def test_what_gives_the_same_again(value: str) -> None:
    found = facts(f"{ARRAYS}jobs = {value}\nhere = jobs\n")
    name = found.source.tree.body[-1]
    assert isinstance(name, ast.Assign)
    assert found.data_values.reiterable(name.value)


@pytest.mark.parametrize(
    ("fetch", "needs"),
    [
        ("tf.shape(x)", False),
        ("w", False),
        ("loss if w is None else w", False),
        ("loss if w is None else x", True),
        ("[w, x]", True),
        ("tf.reduce_mean(x)", True),
        ("unknown", False),
        ("train_op", True),
        ("tf.group(train_op)", True),
        ("optimizer.minimize(loss, var_list=[w])", True),
        ("optimizer.minimize(loss + tf.square(b), var_list=[b])", True),
        ("optimizer.minimize(tf.reduce_sum(x) + tf.square(b))", False),
        ("optimizer.minimize(loss, var_list=unknown)", False),
        ("tf.gradients(tf.reduce_sum(x) + tf.square(b), [b])", False),
        ("optimizer.minimize(tf.nn.l2_loss(w) + tf.reduce_sum(x))", False),
        ("[optimizer.minimize(tf.nn.l2_loss(w)), x]", True),
        ("tf.gradients(loss, w)", False),
    ],
)
def test_which_fetches_need_a_placeholder(fetch: str, *, needs: bool) -> None:
    found = with_graph(f"here = {fetch}\nthere = x\n")
    first, second = found.source.tree.body[-2:]
    assert isinstance(first, ast.Assign) and isinstance(second, ast.Assign)
    fetched, wanted = found.graph.trace(first.value), found.graph.trace(second.value)
    assert surely_beneath(fetched, wanted) is needs


def test_an_update_whose_batches_are_not_counted() -> None:
    found = with_graph(
        """
        here = optimizer.minimize(tf.nn.l2_loss(w) + tf.reduce_sum(x))
        there = x
        """
    )
    first, second = found.source.tree.body[-2:]
    assert isinstance(first, ast.Assign) and isinstance(second, ast.Assign)
    fetched, wanted = found.graph.trace(first.value), found.graph.trace(second.value)
    assert surely_beneath(fetched, wanted, counted=False)
    assert not surely_beneath(fetched, wanted)
