"""Which stretches of a loop are found that ask a model without a tape, and how far they go."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts

START = """\
import tensorflow as tf
tf.random.set_seed(3)
data = tf.data.Dataset.range(640).batch(16)
model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
layers = [tf.keras.layers.Dense(3) for _ in range(4)]
one, two = tf.keras.layers.Dense(3), tf.keras.layers.Dense(3)
mean = tf.keras.metrics.Mean()
seen, total = [], 0.0
"""


def found(body: str, head: str = "for x in data:") -> list[tuple[list[str], str]]:
    """The statements of each stretch, and what of the statement behind it belongs to it."""
    known = facts(f"{START}{head}\n" + textwrap.indent(textwrap.dedent(body), "    "))
    return [
        (
            [ast.unparse(statement) for statement in step.statements],
            "" if step.value is None else ast.unparse(step.value),
        )
        for step in known.forward_stretches.all
    ]


@pytest.mark.parametrize(
    "body",
    [
        "one(x)\n",
        "y = tf.square(x)\nmean.update_state(y)\n",
        "try:\n    y = model(x)\nfinally:\n    pass\n",
        "with tf.GradientTape() as tape:\n    y = model(x)\n",
        "model.y = model(x)\n",
        "y: object = model(x)\n",
        "*y, z = model(x)\n",
        "y = z = model(x)\n",
        "print(model(x))\n",
        "seen.extend(model(x))\n",
        "seen.append(model(x), 1)\n",
        "seen[0] += model(x)\n",
        "total += tf.square(x)\n",
        "seen.append(float(model(x)), 1)\n",
        "seen[0] = float(model(x))\n",
        "total += float(model(x)) + 1\n",
        "total += float(model(x).numpy())\n",
        "class A:\n    y = model(x)\n",
    ],
)
def test_nothing_is_found(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize(
    ("body", "statements", "value"),
    [
        ("y = model(x)\n", ["y = model(x)"], ""),
        ("y, z = model(x), tf.ones(1)\n", ["y, z = (model(x), tf.ones(1))"], ""),
        ("y = one(x)\nz = two(y)\n", ["y = one(x)", "z = two(y)"], ""),
        ("mean.update_state(model(x))\n", ["mean.update_state(model(x))"], ""),
        ("print(x)\ny = model(x)\nprint(y)\n", ["y = model(x)"], ""),
        ("y = tf.square(x)\nz = model(y)\n", ["y = tf.square(x)", "z = model(y)"], ""),
        ("if total > 1:\n    y = model(x)\n", ["y = model(x)"], ""),
        ("seen.append(float(model(x)))\n", [], "model(x)"),
        ("total += int(model(x))\n", [], "model(x)"),
        ("total = bool(model(x))\n", [], "model(x)"),
        ("seen.append(model(x).numpy())\n", [], "model(x)"),
        ("seen.append(model(x))\n", [], "model(x)"),
        ("total += tf.norm(model(x))\n", [], "tf.norm(model(x))"),
        ("y = model(x)\ntotal += tf.norm(y)\n", ["y = model(x)"], ""),
        ("y = model(x)\ntotal += float(tf.norm(y))\n", ["y = model(x)"], "tf.norm(y)"),
        ("y = model(x)\ntotal += float(y)\n", ["y = model(x)"], ""),
        ("y = model(x)\nmean.reset_state()\n", ["y = model(x)"], ""),
    ],
)
def test_how_far_it_goes(body: str, statements: list[str], value: str) -> None:
    # How a tuple is written out differs between the versions of Python.
    assert found(body) == [([ast.unparse(ast.parse(one)) for one in statements], value)]


def test_a_loop_over_layers_is_a_part_of_it() -> None:
    loop = "y = tf.square(x)\nfor layer in layers:\n    y = layer(y)\n"
    assert found(loop) == [(["y = tf.square(x)", "for layer in layers:\n    y = layer(y)"], "")]
    assert found("y = [layer(x) for layer in layers]\n") == [
        (["y = [layer(x) for layer in layers]"], "")
    ]


@pytest.mark.parametrize("over", ["data", "data.take(3)"])
def test_a_loop_over_a_dataset_has_stretches_of_its_own(over: str) -> None:
    body = f"y = tf.square(x)\nfor z in {over}:\n    y = model(z)\n"
    assert found(body) == [(["y = model(z)"], "")]


@pytest.mark.parametrize("head", ["for x in data.take(9):", "for x in [1, 2]:", "if total:"])
def test_a_place_that_is_reached_seldom(head: str) -> None:
    assert found("y = model(tf.ones([4, 6]))\n", head) == []


def test_two_stretches_of_one_body() -> None:
    body = "y = model(x)\nprint(y)\nz = model(tf.square(x))\n"
    assert found(body) == [(["y = model(x)"], ""), (["z = model(tf.square(x))"], "")]


def test_shorter_ones_keep_the_calls_of_models() -> None:
    body = "a = tf.square(x)\nb = model(a)\nc = tf.square(b)\ntotal += float(tf.norm(c))\n"
    known = facts(f"{START}for x in data:\n" + textwrap.indent(body, "    "))
    (step,) = known.forward_stretches.all
    lengths = [
        (len(one.statements), one.value is not None)
        for one in known.forward_stretches.from_long_to_short(step)
    ]
    assert lengths == [(3, True), (3, False), (2, False), (2, True), (2, False), (1, False)]


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("mean(model(x))", "model(x)"),
        ("mean.update_state(x, model(x))", "model(x)"),
        ("mean.update_state(tf.square(x), model(x))", None),
        ("mean(x)", None),
    ],
)
def test_what_a_metric_is_given_may_be_all_there_is(statement: str, value: str | None) -> None:
    body = f"y = model(x)\n{statement}\n"
    known = facts(f"{START}for x in data:\n" + textwrap.indent(body, "    "))
    (step,) = known.forward_stretches.all
    values = {
        ast.unparse(one.value)
        for one in known.forward_stretches.from_long_to_short(step)
        if one.value is not None
    }
    assert values == ({value} if value else set())


SHARED = """\
def loss(x):
    return outer(x)
def outer(x):
    return model(x)
def step(x):
    with tf.GradientTape() as tape:
        loss(x)
"""


@pytest.mark.parametrize(
    ("functions", "value"),
    [
        (SHARED, "loss(x)"),
        (SHARED.replace("        loss(x)", "        pass"), ""),
        ("@tf.function\n" + SHARED, ""),
        (SHARED.replace("model(x)", "tf.square(x)"), ""),
    ],
)
def test_a_function_that_a_tape_looks_on_asks_what_it_calls(functions: str, value: str) -> None:
    known = facts(f"{START}{functions}for x in data:\n    seen.append(loss(x))\n")
    stretches = known.forward_stretches.all
    assert [ast.unparse(one.value) for one in stretches if one.value] == [value] * bool(value)
