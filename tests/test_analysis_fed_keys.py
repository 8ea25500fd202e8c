"""Which tensor a key of a feed is, before the loop as in it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.batches.fed_keys import FedKey
from tfrewrite.analysis.obstacle import Obstacle

MADE = "tf.placeholder(tf.float32, [None, 3])"
MODEL = f"class Model:\n    def __init__(self):\n        self.x = {MADE}\n"
NET = f"def build():\n    x = {MADE}\n    return {{'x': x, 'n': 3}}\nnet = build()\n"
LOOP = "for k in range(2):\n    for i in range(9):\n        sess.run(w, {{{}: i}})\n"


def found(text: str, key: str = "x", loop: str = LOOP) -> FedKey | Obstacle:
    read = facts(f"import tensorflow as tf\n{text}\n{loop.format(key)}")
    (fed,) = (one for one in read.source.all(ast.Dict) if isinstance(one.values[0], ast.Name)
              and one.values[0].id == "i")  # fmt: skip
    turn = read.flow.loop(fed)
    assert turn is not None and fed.keys[0] is not None
    return read.fed_keys.of(fed.keys[0], turn)


def in_function(before: str, calls: str, key: str = "x", *, of: str = "x") -> FedKey | Obstacle:
    """The key in a loop of a function that has the parameter `of`."""
    loop = LOOP.format(key).replace("\n", "\n    ").rstrip()
    text = f"{before}\ndef fit({of}):\n    {loop}\n{calls}"
    return found(text, loop="")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"x = {MADE}", "x"),
        ("x = tf.placeholder(tf.float32, [n, len(rows)])", "x"),
        (f"with tf.device('/gpu:0'):\n    x = {MADE}", "x"),
        (f"{MODEL}a = Model()\nb = Model()", "b.x"),
        (NET, "net['x']"),
        (f"x = {MADE}\ngiven = [x, x]", "given[1]"),
        (f"x = {MADE}\nx = x + 1", "x"),
        ("import numpy as np\nx = tf.placeholder(np.int32)", "x"),
    ],
)
def test_a_tensor_of_numbers(text: str, key: str) -> None:
    one = found(text, key)
    assert isinstance(one, FedKey), one.message
    assert ast.unparse(one.call.func) == "tf.placeholder"


def test_its_type_as_the_file_says_it() -> None:
    one, other = found(f"x = {MADE}"), found(f"x = {MADE} / 3")
    assert isinstance(one, FedKey) and one.dtype == "tensorflow.float32"
    assert isinstance(other, FedKey) and other.dtype == "x.dtype"


@pytest.mark.parametrize(
    ("before", "calls", "of", "key"),
    [
        (f"p = {MADE}", "fit(p)", "x", "x"),
        (f"p = {MADE}\nq = {MADE}", "fit(p)\nfit(x=q)", "x", "x"),
        (f"p = {MADE}", "fit()", "x=p", "x"),
        (f"{MODEL}m = Model()\nn = Model()", "fit(m)\nfit(n)", "x", "x.x"),
    ],
)
def test_what_callers_give(before: str, calls: str, of: str, key: str) -> None:
    assert isinstance(in_function(before, calls, key, of=of), FedKey)


@pytest.mark.parametrize(
    ("before", "calls"),
    [
        (f"p = {MADE}\nq = tf.placeholder(tf.int32)", "fit(p)\nfit(q)"),
        (f"p = {MADE}", "fit(p)\nfit(other)"),
        (f"p = {MADE}", "fit(p)\nagain = fit"),
        (f"p = {MADE}", "fit(*[p])"),
        ("p = tf.sparse_placeholder(tf.float32)", "fit(p)"),
        (f"p = {MADE}", ""),
    ],
)
def test_what_callers_may_give_otherwise(before: str, calls: str) -> None:
    assert isinstance(in_function(before, calls), Obstacle)


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ("x = tf.Variable(1.0)", "x", "elsewhere"),
        ("x = tf.sparse_placeholder(tf.float32)", "x", "elsewhere"),
        ("x = tf.constant(1.0)", "x", "elsewhere"),
        ("x = load()", "x", "elsewhere"),
        (f"x = {MADE}", "'x:0'", "elsewhere"),
        (f"if some:\n    x = {MADE}\nelse:\n    x = tf.constant(1)", "x", "elsewhere"),
        ("x = tf.placeholder(tf.string)", "x", "unclear"),
        ("x = tf.placeholder(kind)", "x", "unclear"),
        ("from tensorflow import placeholder\nx = placeholder(tf.float32)", "x", "unclear"),
        (f"{NET}net['x'] = net['n']", "net['x']", "elsewhere"),
        (f"{NET}other = net", "net['x']", "elsewhere"),
        (f"x = {MADE}\ngiven = [x, x]\ngiven.reverse()", "given[0]", "elsewhere"),
        (f"{MODEL}m = Model()\nm.x = other", "m.x", "elsewhere"),
    ],
)
def test_what_is_none(text: str, key: str, reason: str) -> None:
    one = found(text, key)
    assert isinstance(one, Obstacle)
    assert one.reason == f"placeholder-{reason}"


@pytest.mark.parametrize("line", [f"x = {MADE}", "x = x", "model, x = x, model"])
def test_a_key_that_is_set_in_a_loop_around(line: str) -> None:
    loop = LOOP.replace("    for", f"    {line}\n    for", 1)
    assert isinstance(found(f"x = model = {MADE}", loop=loop), Obstacle)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("return {x: 1}", True),
        ("feed = {}\n    feed[x] = 1\n    return feed", True),
        ("return {1: x}", False),
        ("print(x)\n    return {x: 1}", False),
        ("feed = {}\n    feed[1] = x\n    return feed", False),
    ],
)
def test_what_a_function_does_with_a_placeholder(body: str, *, key: bool) -> None:
    read = facts(f"import tensorflow as tf\nx = {MADE}\ndef f(x):\n    {body}\nf(x)\n")
    (call,) = (one for one in read.source.all(ast.Call) if ast.unparse(one) == "f(x)")
    assert read.fed_keys.is_placeholder(call.args[0])
    assert read.fed_keys.becomes_key(call, call.args[0]) is key
