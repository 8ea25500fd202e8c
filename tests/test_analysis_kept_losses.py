"""Who looks for losses that layers leave behind."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts

HEAD = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])

def extra():
    return sum(model.losses)

def step(x):
    loss = tf.reduce_mean(model(x)) + READ
    return loss

"""


def outside(read: str, rest: str, head: str = HEAD) -> str:
    found = facts(head.replace("READ", read) + rest + "\n")
    functions = {one.name: one for one in found.source.all(ast.FunctionDef)}
    traced = {functions["step"], *([functions["extra"]] if "extra" in read else [])}
    obstacle = found.kept_losses.read_outside(functions["step"], traced)
    return "" if obstacle is None else obstacle.message


@pytest.mark.parametrize(
    ("read", "rest", "line"),
    [
        ("sum(model.losses)", "print(model.losses)", 5),
        ("extra()", "print(model.losses)", 11),
        ("extra()", "print(getattr(model, 'losses'))", 11),
        ("extra()", "print(extra())", 5),
        ("extra()", "kept = extra", 5),
        ("0.0", "model.compute_loss(x)", 5),
    ],
)
def test_read_outside(read: str, rest: str, line: int) -> None:
    assert outside(read, rest).startswith(f"line {line} reads ")


def test_a_method_of_keras_reads_them() -> None:
    head = HEAD.replace("model.losses", "[]")
    assert "model.compute_loss" in outside("0.0", "model.compute_loss(x)", head)


@pytest.mark.parametrize(
    ("body", "is_fine"),
    [
        ("    model(x)\n    return sum(model.losses)", True),
        ("    with tape:\n        y = loss(model(x))\n        y += sum(model.losses)", True),
        ("    net(x)\n    return sum(model.losses)", False),
        ("    y = sum(model.losses)\n    model(x)", False),
        ("    if x:\n        model(x)\n    return sum(model.losses)", False),
        ("    y = x and model(x)\n    return sum(model.losses)", False),
        ("    y = lambda: model(x)\n    return sum(model.losses)", False),
    ],
)
def test_read_after_a_call_of_its_own(body: str, *, is_fine: bool) -> None:
    head = HEAD.replace("return sum(model.losses)", "pass")
    found = outside("0.0", f"def other(x):\n{body}", head)
    assert (found == "") is is_fine


def test_read_in_the_trace_alone() -> None:
    assert outside("extra()", "step(x)") == ""
    assert (
        outside("sum(model.losses)", "step(x)", HEAD.replace("return sum(model.losses)", "pass"))
        == ""
    )


@pytest.mark.parametrize(
    ("layer", "added"),
    [
        ("Dense(3, activity_regularizer='l2')", True),
        ("ActivityRegularization(0.1)", True),
        ("Dense(3, kernel_regularizer='l2')", False),
    ],
)
def test_which_layers_add_them(layer: str, *, added: bool) -> None:
    found = facts(f"import tensorflow as tf\none = tf.keras.layers.{layer}\nprint(one.losses)\n")
    assert found.kept_losses.are_added is added
