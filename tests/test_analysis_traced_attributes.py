"""What reading attributes gives in a traced function."""

from __future__ import annotations

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Number, Tensor, parts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace


@pytest.mark.parametrize("text", ["x.shape", "x.dtype", "x.shape[0]", "weights.shape"])
def test_attributes_that_are_numbers(text: str) -> None:
    found = replayed(f"def step(x):\n    return {text}\n", x=Tensor())
    assert isinstance(found, Trace), found
    assert all(isinstance(part, Number) for part in parts(found.returned))


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("x[x > 0].shape", "fails-when-traced", "is not known in a trace"),
        ("x.T", "captured-not-fixed", "the attribute `T`"),
        ("model.trainable_variables", "not-followed", "may have none yet"),
        ("model.unseen", "captured-not-fixed", "the attribute `unseen`"),
    ],
)
def test_which_attributes_stop_a_trace(text: str, reason: str, words: str) -> None:
    found = replayed(f"def step(x):\n    return {text}\n", x=Tensor())
    assert isinstance(found, Obstacle), found
    assert found.reason == reason
    assert words in found.message
