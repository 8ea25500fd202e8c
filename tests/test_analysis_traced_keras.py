"""The code of the file that Keras runs in a trace."""

from __future__ import annotations

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace

BLOCK = """
class Block(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight()

    def call(self, x):
        return x * self.scale


net = tf.keras.Sequential([Block()])


def step(x):
    return net(x)
"""


def test_the_code_of_layers_is_gone_through() -> None:
    found = replayed(BLOCK, x=Tensor())
    assert isinstance(found, Trace), found
    assert {getattr(one, "name", "") for one in found.bodies} == {"call", "step"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("def build", "def __call__(self, x):\n        return x\n\n    def build", "not-followed"),
        ("self.add_weight()", "tf.Variable(1.0)", "makes-variables"),
        ("return x * self.scale", "return x.numpy()", "reads-on-host"),
        ("def call", "def called", "model-not-seen"),
        ("x * self.scale", "x if x > 0 else self.scale", "tensor-decides"),
    ],
)
def test_what_stops_a_trace_in_a_layer(old: str, new: str, reason: str) -> None:
    found = replayed(BLOCK.replace(old, new), x=Tensor())
    assert isinstance(found, Obstacle), found
    assert found.reason == reason
