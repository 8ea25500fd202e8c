"""What the statements of a traced function do, and which of them stop the trace."""

from __future__ import annotations

import ast

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Number, Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace
from tfrewrite.analysis.traces.trace_borders import returnable
from tfrewrite.analysis.traces.traced_statements import ends


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("while x > 1:\n        x = x - 1\n    return x", "tensor-decides"),
        ("for part in x:\n        x = x + part\n    return x", "tensor-decides"),
        ("for v in (1, 2):\n        if v > 1:\n            break\n    return x", "not-followed"),
        ("with open('log') as log:\n        return x", "not-followed"),
        ("raise ValueError", "not-followed"),
        ("try:\n        return x\n    finally:\n        pass", "not-followed"),
        ("import time\n    return x", "not-followed"),
        ("global weights\n    return x", "python-effect"),
        ("x += 1\n    weights[0] += 1\n    return x", "python-effect"),
    ],
)
def test_which_statements_stop_a_trace(lines: str, reason: str) -> None:
    found = replayed(f"def step(x):\n    {lines}\n", x=Tensor())
    assert isinstance(found, Obstacle)
    assert found.reason == reason


def test_both_sides_of_a_condition_are_gone_through() -> None:
    text = """
def step(x, flag):
    if flag:
        y = x * 2
    else:
        y = 3
    return y
"""
    found = replayed(text, x=Tensor(), flag=Number())
    assert isinstance(found, Trace)
    assert returnable(found.returned)
    found = replayed(text, x=Tensor(), flag=Number(ast.Constant(value=True)))
    assert isinstance(found, Trace)
    assert not returnable(found.returned)


def test_what_a_loop_may_not_do_holds_after_it() -> None:
    text = "def step(x):\n    y = 3\n    for w in model.losses:\n        y = x\n    return y\n"
    found = replayed(text, x=Tensor())
    assert isinstance(found, Trace)
    assert found.returned == Number(tensor=Tensor())


@pytest.mark.parametrize(
    ("text", "returns"),
    [
        ("return 1", True),
        ("raise ValueError", True),
        ("if x:\n    return 1\nelse:\n    return 2", True),
        ("if x:\n    return 1", False),
        ("with tape:\n    return 1", True),
        ("x = 1", False),
    ],
)
def test_which_blocks_end_in_a_return(text: str, *, returns: bool) -> None:
    assert ends(ast.parse(text).body) is returns
