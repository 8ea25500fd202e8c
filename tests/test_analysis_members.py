"""What the attributes of a file's own objects hold in eager code."""

from __future__ import annotations

from analysis_helpers import class_
from eager_samples import start
from tfrewrite.analysis.eager.abstract_values import Code, Group, Number, Thing, Unknown

TRAINER = """
class Trainer:
    gamma = 0.9

    def __init__(self, rate):
        self.rate = rate
        self.layers = []
        self.layers.append(tf.keras.layers.Dense(1))
        self.count = 0

    def step(self):
        self.count += 1

trainer = Trainer(0.1)
"""


def test_members_are_what_init_stores() -> None:
    found = start(TRAINER)
    members, cls = found.eager_values.members, class_(found, "Trainer")
    rate = members.member(cls, "rate")
    assert isinstance(rate, Number)
    assert not rate.varies
    assert isinstance(members.member(cls, "gamma"), Number)
    layers = members.member(cls, "layers")
    assert isinstance(layers, Group)
    assert isinstance(layers.each, Thing)
    assert isinstance(members.member(cls, "count"), Unknown)
    assert isinstance(members.member(cls, "step"), Code)
    assert members.base(cls) is None
    assert not members.subclassed(cls)


def test_a_list_of_the_class_that_is_changed_is_unknown() -> None:
    text = "class Trainer:\n    rates = [1.0]\n\ntrainer = Trainer()\n"
    found = start(text)
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rates"), Group)
    found = start(text + "trainer.rates[0] = 2.0\n")
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rates"), Unknown)


def test_a_member_that_somebody_else_sets_is_unknown() -> None:
    found = start(TRAINER + "trainer.rate = 0.2\n")
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rate"), Unknown)
