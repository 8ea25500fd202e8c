"""Which sort of number a value is, traps first: what is not surely one."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.program.number_sorts import Number

BEFORE = """
import argparse
import math
flags = tf.app.flags
flags.DEFINE_float("rate", 0.1, "")
flags.DEFINE_integer("size", 3, "")
flags.DEFINE_float("none", None, "")
FLAGS = flags.FLAGS
parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.1)
parser.add_argument("--whole", type=float, default=1)
parser.add_argument("--size", type=int, default=1)
parser.add_argument("--none", type=float)
parser.add_argument("--needed", type=float, required=True)
parser.add_argument("--many", type=float, nargs="*", default=1.0)
args = parser.parse_args()
sess = tf.Session()
one = tf.Variable(0.5)
whole = tf.Variable(0)
"""


def sort(text: str) -> Number | None:
    found = with_graph(f"{BEFORE}\n{text}  # here\n")
    return found.numbers.of(expression(found))


@pytest.mark.parametrize(
    "text",
    [
        "unknown", "f(1)", "[1.0]", "None", "'1'", "str(1)", "w", "w * 0.5", "one / 2", "1j",
        "1.0 if unknown else None", "args.none", "args.many", "args.other", "FLAGS.none",
        "sess.run(train_op)", "sess.run([loss, train_op])[1]", "sess.run(unknown)",
        "np.asarray(unknown)", "np.exp(w)", "float", "True + 1", "max(unknown, 1.0)",
        "np.exp(1.0, dtype='S8')", "np.multiply(1.0, 2.0, buffer)", "np.array([1.0, unknown])",
        "np.array([2 ** 70])", "np.array([True])", "np.array([])", "sum([w])", "1.0 * unknown",
    ],
)  # fmt: skip
def test_what_is_not_surely_a_number(text: str) -> None:
    assert sort(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", Number.SMALL),
        ("-1", Number.SMALL),
        ("2**40", Number.REAL),
        ("3000000000", Number.INT),
        ("1.5", Number.FLOAT),
        ("1 / 2", Number.FLOAT),
        ("1 // 2", Number.SMALL),
        ("7 * 3", Number.INT),
        ("0.9 ** 3", Number.FLOAT),
        ("args.rate ** 0.5", Number.REAL),
        ("args.rate ** 3", Number.FLOAT),
        ("args.rate * (args.rate ** 3)", Number.FLOAT),
        ("args.whole", Number.REAL),
        ("args.size", Number.INT),
        ("args.needed", Number.FLOAT),
        ("FLAGS.rate", Number.FLOAT),
        ("FLAGS.size", Number.INT),
        ("max(1, 0.5)", Number.REAL),
        ("1 > 2", Number.BOOL),
        ("not unknown", Number.BOOL),
        ("float(unknown)", Number.FLOAT),
        ("int(unknown)", Number.INT),
        ("math.exp(1)", Number.FLOAT),
        ("np.exp(1.0)", Number.FRESH),
        ("np.random.rand(3)", Number.FRESH),
        ("np.array([0.5, 2])", Number.FRESH),
        ("np.reshape(np.zeros(3), 3)", Number.ARRAY),
        ("sess.run(loss)", Number.ARRAY),
        ("sess.run(loss) * 0.5", Number.FRESH),
        ("sess.run([loss, train_op])[0]", Number.ARRAY),
        ("sess.run(one)", Number.FLOAT),
        ("one.eval() * 0.3", Number.FLOAT),
    ],
)
def test_sorts(text: str, expected: Number) -> None:
    assert sort(text) is expected


def test_a_name_holds_the_memory_of_an_array() -> None:
    assert sort("a = np.zeros(3)\na") is Number.ARRAY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i in range(9):\n    i", Number.SMALL),
        ("for i in range(unknown):\n    i + 1", Number.SMALL),
        ("for i in range(unknown, 9):\n    i", Number.INT),
        ("for i in range(sess.run(whole), 9):\n    i", Number.SMALL),
        ("for i in range(2147483640, 2147483660):\n    i", Number.INT),
        ("for i, x in enumerate(unknown):\n    i", Number.SMALL),
        ("for i, x in enumerate(unknown):\n    x", None),
        ("for r in [0.1, 0.2]:\n    r", Number.FLOAT),
        ("for x in unknown:\n    x", None),
        ("k = 1\nwhile unknown:\n    k = k + 1\n    k", Number.INT),
        ("k = 1\nwhile unknown:\n    k += 1\n    k", Number.INT),
        ("k = 1.0\nwhile unknown:\n    k *= 0.5\n    k", Number.FLOAT),
        ("k = 1.0\nwhile unknown:\n    k *= unknown\n    k", None),
        ("def f(x):\n    if x > 1:\n        return 0.1\n    return 0.2\nf(1)", Number.FLOAT),
        ("def f(x):\n    if x > 1:\n        return 0.1\nf(1)", None),
        ("def f(x):\n    return x * 0.5\nf(1)", Number.FLOAT),
        ("def f(x):\n    return x * 0.5\nf(w)\nf(1)", None),
    ],
)
def test_names_loops_and_functions(text: str, expected: Number | None) -> None:
    assert sort(text) is expected


def test_a_setting_that_the_program_sets_is_not_known() -> None:
    assert sort("args.rate = None\nargs.rate") is None
