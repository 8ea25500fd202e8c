"""What the attributes of the script's own objects hold."""

from __future__ import annotations

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.graphs.nodes import Kind, Node, flags

MODEL = """
class Model:
    def __init__(self, value):
        self.value = value
        self.out = self.net(value)
        self.build()

    def net(self, value):
        return tf.reduce_max(value)

    def build(self):
        self.low = tf.reduce_min(self.value)
"""


def traced(text: str) -> Node:
    found = with_graph(text)
    return found.graph.trace(expression(found))


def test_what_a_subclass_replaces_is_not_known() -> None:
    noisy = "\nclass Noisy(Model):\n    def net(self, value):\n        return value\n"
    inside = MODEL + "\n    def show(self):\n        v = self.out  # here\n"
    assert traced(inside + "\nm = Model(logits)\n").symbol == "reduce_max"
    assert traced(inside + noisy + "\nm = Model(logits)\n").kind is Kind.UNKNOWN


def test_a_method_that_is_defined_twice_is_not_known() -> None:
    twice = MODEL + "\n    def net(self, value):\n        return value\n"
    assert traced(twice + "\nm = Model(logits)\nv = m.out  # here\n").kind is Kind.UNKNOWN


def test_an_attribute_is_what_the_call_that_made_the_object_gave() -> None:
    text = MODEL + "\na = Model(logits)\nb = Model(loss)\nv = b.value  # here\n"
    assert traced(text).symbol == "reduce_mean"


def test_a_method_called_once_belongs_to_the_object() -> None:
    node = traced(MODEL + "\nm = Model(logits)\nv = m.low  # here\n")
    assert node.symbol == "reduce_min"
    assert not node.many


_LATER = MODEL.replace("        self.build()\n", "") + "\nm = Model(logits)\n"


def test_a_method_called_by_the_only_name_of_an_object_belongs_to_it() -> None:
    node = traced(_LATER + "m.build()\nv = m.low  # here\n")
    assert node.symbol == "reduce_min"
    assert not node.many


def test_a_method_that_may_be_called_several_times() -> None:
    for calls in (
        "m.build()\nm.build()",
        "for _ in range(2):\n    m.build()",
        "n = Model(loss)\nn.build()",
        "n = m\nn.build()",
        "build = m.build\nm.build()",
        "def again():\n    m.build()\nagain()\nagain()",
    ):
        assert traced(f"{_LATER}{calls}\nv = m.low  # here\n").many, calls


def test_control_dependencies_around_what_makes_an_object_hold_in_its_methods() -> None:
    text = MODEL + (
        "\nseen = tf.Variable(0)\n"
        "with tf.control_dependencies([tf.assign_add(seen, 1)]):\n"
        "    m = Model(logits)\n"
        "v = m.low  # here\n"
    )
    assert "writes" in flags(traced(text))
