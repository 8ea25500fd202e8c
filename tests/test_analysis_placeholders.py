"""Which placeholder a key of a feed is, and whether that can be given a default."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked, use
from tfrewrite.analysis.graphs.placeholders import Placeholder
from tfrewrite.analysis.obstacle import Obstacle

LOOP = "\nfor i in range(9):\n    x  # here\n"


def found(made: str, loop: str = LOOP) -> Placeholder | Obstacle:
    read = facts(f"import numpy as np\nimport tensorflow as tf\n{made}\n{loop}")
    key = use(read, "x")
    turn = read.flow.loop(key)
    assert turn is not None
    return read.placeholders.of(key, turn)


def reason(made: str, loop: str = LOOP) -> str:
    obstacle = found(made, loop)
    assert isinstance(obstacle, Obstacle)
    return obstacle.reason


@pytest.mark.parametrize(
    "made",
    [
        "x = tf.placeholder(tf.float32)",
        "x = tf.placeholder(tf.float32, [None, 3], 'x')",
        "x = tf.placeholder(shape=(4, 2 * 3), dtype=np.int64)",
        "x = tf.placeholder('float', [])",
        "x = 1\nx = tf.placeholder(tf.float32)",
        "x = tf.placeholder(tf.float32)\nx = tf.placeholder(tf.float32)",
        "n = 3\nx = tf.placeholder(tf.float32, [None, n])",
        "with tf.name_scope('inputs'):\n    x = tf.placeholder(tf.float32)",
    ],
)
def test_a_placeholder_that_can_have_a_default(made: str) -> None:
    assert isinstance(found(made), Placeholder)


@pytest.mark.parametrize(
    "made",
    [
        "x = make()",
        "x = tf.constant(1.0)",
        "x = 1\nif made:\n    x = tf.placeholder(tf.float32)",
        "def build():\n    global x\n    x = tf.placeholder(tf.float32)\nbuild()",
        "for _ in range(2):\n    x = tf.placeholder(tf.float32)",
    ],
)
def test_what_is_no_placeholder_of_its_own(made: str) -> None:
    assert reason(made) == "placeholder-elsewhere"


@pytest.mark.parametrize(
    "made",
    [
        "x = y = tf.placeholder(tf.float32)",
        "x = tf.placeholder(tf.string)",
        "x = tf.placeholder(dtype)",
        "x = tf.placeholder(tf.float32, shape())",
        "x = tf.placeholder(*given)",
        "x = tf.placeholder(tf.float32, **given)",
    ],
)
def test_a_placeholder_of_which_not_all_is_told(made: str) -> None:
    assert reason(made) in {"placeholder-unclear", "placeholder-elsewhere"}
    assert isinstance(found(made), Obstacle)


@pytest.mark.parametrize("scope", ["tf.device('/gpu:0')", "tf.control_dependencies([a])"])
def test_a_placeholder_under_a_scope_that_its_default_would_be_in(scope: str) -> None:
    assert reason(f"with {scope}:\n    x = tf.placeholder(tf.float32)") == "placeholder-scope"


@pytest.mark.parametrize(
    ("between", "name"),
    [("pass", None), ("n = 3", "n"), ("if a:\n    n = 3", "n"), ("m = 3", None)],
)
def test_a_shape_that_is_found_out_between_two(between: str, name: str | None) -> None:
    read = facts(
        "import tensorflow as tf\nn = 2\nx = tf.placeholder(tf.float32)  # first\n"
        f"{between}\ny = tf.placeholder(tf.float32, [n])  # later\n"
    )
    one, other = (_made(marked(read, mark)) for mark in ("first", "later"))
    set_between = read.placeholders.set_between(one, other)
    assert (set_between.id if set_between is not None else None) == name


def _made(statement: ast.stmt) -> Placeholder:
    assert isinstance(statement, ast.Assign)
    call = statement.value
    assert isinstance(call, ast.Call)
    target = statement.targets[0]
    assert isinstance(target, ast.Name)
    shape = call.args[1] if len(call.args) > 1 else None
    return Placeholder(call, statement, target, call.args[0], shape, None)


LATER = "x = tf.placeholder(tf.float32)\nn = 3\ny = tf.placeholder(tf.int64, [n])\n"
APART = (
    "x = tf.placeholder(tf.float32)\nwith tf.name_scope('y'):\n    y = tf.placeholder(tf.int64)\n"
)
BOTH = "x = tf.placeholder(tf.float32)\ny = tf.placeholder(tf.int64, [None])\n"


@pytest.mark.parametrize(
    ("made", "more", "why"),
    [
        (
            BOTH.replace("y = tf", "n = 3\ny = tf").replace("[None]", "[n]"),
            "",
            "placeholder-unclear",
        ),
        (
            BOTH.replace("y = tf", "with tf.name_scope('y'):\n    y = tf"),
            "",
            "placeholder-elsewhere",
        ),
        (BOTH, "print(x.op.type)\n", "graph-read"),
        (BOTH, "tf.keras.Input(tensor=x)\n", "graph-read"),
        (BOTH, "net = VGG16(input_tensor=x)\n", "graph-read"),
        (BOTH, "graph.get_tensor_by_name('Placeholder:0')\n", "graph-read"),
        (BOTH, "print(z.op.type)\n", None),
        (BOTH, "", None),
    ],
)
def test_placeholders_that_can_be_wired_together(made: str, more: str, why: str | None) -> None:
    loop = "for i in range(9):\n    f(x, y)  # here\n"
    read = facts(f"import tensorflow as tf\n{made}{loop}{more}")
    turn = read.flow.loop(use(read, "x"))
    assert turn is not None
    one, other = (read.placeholders.of(use(read, name), turn) for name in "xy")
    assert isinstance(one, Placeholder) and isinstance(other, Placeholder)
    obstacle = read.placeholders.together([one, other])
    assert (obstacle.reason if obstacle is not None else None) == why
    twice = read.placeholders.together([one, one])
    assert twice is not None
    assert twice.reason == "placeholder-unclear"
