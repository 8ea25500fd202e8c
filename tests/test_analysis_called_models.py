"""Which models a trace has called, and which of them again."""

from __future__ import annotations

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace

PARTS = """
class Block(tf.keras.Model):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = tf.keras.layers.Dense(4)

    def call(self, x):
        return self.inner(x)


shared = tf.keras.layers.Dense(4)


def get():
    return shared


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        one = tf.keras.layers.Dense(4)
        MADE

    def call(self, x):
        CALLED
        return x


net = Net()


def step(x):
    return net(x)
"""

DENSE = "tf.keras.layers.Dense(4)"

IN_TURN = "for part in self.parts:\n            x = part(x)"

LISTED = f"self.parts = [{DENSE} for _ in range(3)]"

PAIR = "x = self.a(self.b(x))"


@pytest.mark.parametrize(
    ("made", "called", "again"),
    [
        (f"self.a = {DENSE}", "x = self.a(self.a(x))", True),
        (f"self.a = self.b = {DENSE}", PAIR, True),
        (f"self.a = {DENSE}\n        self.b = self.a", PAIR, True),
        (f"self.a = {DENSE}\n        self.b = one if self else self.a", PAIR, True),
        ("self.a = get()\n        self.b = get()", PAIR, True),
        ("self.a = Block()\n        self.b = self.a", PAIR, True),
        ("self.a = Block()\n        self.b = tf.keras.Sequential([self.a])", PAIR, True),
        (LISTED, f"{IN_TURN}\n        {IN_TURN}", True),
        (LISTED, f"{IN_TURN}\n        x = self.parts[0](x)", True),
        ("self.parts = [one for _ in range(3)]", IN_TURN, True),
        ("self.parts = [one, one]", IN_TURN, True),
        ("self.a = one", "x = tf.add_n([self.a(part) for part in (x, x)])", True),
        ("self.a = one", "for part in (x, x):\n            x = self.a(part)", True),
        ("self.a = one", "x = tf.add_n([2 * part for part in (self.a(x), x)])", False),
        (LISTED, IN_TURN, False),
        (LISTED, "x = tf.add_n([part(x) for part in self.parts])", False),
        (f"self.parts = [one, {DENSE}]", IN_TURN, False),
        ("self.parts = [Block() for _ in range(3)]", IN_TURN, False),
        ("self.a = Block()\n        self.b = Block()", PAIR, False),
        ("self.a = Block()\n        self.b = Block()", "x = self.a.inner(self.b.inner(x))", False),
        ("self.a = Block()", "x = self.a.inner(self.a(x))", True),
    ],
)
def test_what_is_called_again(made: str, called: str, *, again: bool) -> None:
    found = replayed(PARTS.replace("MADE", made).replace("CALLED", called), x=Tensor())
    assert isinstance(found, Trace), found
    assert bool(found.again) == again


MADE = """
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.part = PART

    def call(self, x):
        return self.part(x)


net = Net()


def step(x):
    BEFORE
    return [v * 2 for v in net.trainable_variables]
"""


@pytest.mark.parametrize(
    ("part", "before", "reason"),
    [
        (DENSE, "pass", "not-followed"),
        (DENSE, "net.part(x)", ""),
        (DENSE, "net(x)", ""),
        ("tf.keras.layers.Dropout(0.5)", "pass", ""),
        ("tf.keras.losses.MeanSquaredError()", "pass", ""),
        ("tf.Variable(1.0)", "pass", ""),
    ],
)
def test_when_a_model_has_its_variables(part: str, before: str, reason: str) -> None:
    found = replayed(MADE.replace("PART", part).replace("BEFORE", before), x=Tensor())
    assert (found.reason if isinstance(found, Obstacle) else "") == reason
