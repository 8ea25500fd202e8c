"""Whether a value is only shown, traps first: everything by which it acts on the program."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts, inside, marked

START = """
import logging
import sys
import numpy as np
import matplotlib.pyplot as plt
import tensorflow as tf
history = []
for step in range(9):
    value = make()  # made
"""


def acting(text: str, start: str = START) -> str | None:
    """The statement by which `value`, bound on the line marked `made`, acts."""
    indented = "\n".join(f"    {line}" for line in text.splitlines())
    found = facts(f"{start}{indented}\n")
    names = [n for n in inside(marked(found, "made"), ast.Name) if n.id == "value"]
    place = found.reports.acting_use(names[0])
    return None if place is None else found.source.segment(found.source.statement(place))


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "if value < 1: break",
        "while value: pass",
        "assert value",
        "for i in range(value): pass",
        "other = a[value]",
        "a[value] = 1",
        "best = min(best, value) if value else best",
        "flag = value < 1\nif flag: break",
        "same = np.mean(value == other)\nif same: break",
        "flag = not value and other",
        "unknown(value)",
        "sess.run(train_op, {rate: value})",
        "saver.save(sess, 'model', value)",
        "writer.add_summary(value, step)",
        "f.write(str(value))",
        "np.save('loss', value)",
        "self.value = value",
        "a[0] = value",
        "obj.history.append(value)",
        "value.sort()",
        "n = value.shape",
        "v = (new := value)",
        "names = [v for v in value]",
        "with value: pass",
        "raise Error(value)",
        "del value[0]",
        "value[0] = 1",
        "f = lambda: value",
        "print((lambda: value)())",
        "print('x', file=open(value))",
        "list(map(act, value))",
        "yield_it(*value)",
        "value += 1\nif value > 2: break",
        "if flag:\n    value = 0\nif value > 2: break",
        "for _ in range(2):\n    if value > 2: break\n    value = 0",
        "try:\n    value = other()\nexcept Error:\n    pass\nif value > 2: break",
    ],
)
def test_a_value_that_does_more_than_being_shown(text: str) -> None:
    assert acting(text) is not None


def test_the_place_that_acts_is_told() -> None:
    assert acting("print(value)\nif value < 1: break") == "if value < 1: break"


def test_the_place_is_one_that_the_value_reaches() -> None:
    later = "\nfor value in others:\n    if value > 2: break"
    assert acting(f"print(value)\nwhile True:\n    if value < 1: break{later}") == (
        "if value < 1: break"
    )


def test_a_returned_value_acts() -> None:
    text = START.replace("for step in range(9):", "def train():")
    assert acting("return value", text) == "return value"
    assert acting("yield value", text) == "yield value"
    assert acting("return {'loss': value}", text) == "return {'loss': value}"


def test_a_value_acts_through_another_name() -> None:
    text = "other = value\nprint(other)\nthird = other * 2\nif third > 1: break"
    assert acting(text) == "if third > 1: break"


def test_a_value_acts_through_a_sum() -> None:
    assert acting("total += value\nif total > 9: break") == "if total > 9: break"


def test_a_value_acts_through_a_list_that_collects_it() -> None:
    assert acting("history.append(value)\nif history[-1] > 1: break") == "if history[-1] > 1: break"


def test_a_value_acts_in_a_function_that_reads_it() -> None:
    assert acting("def stop():\n    return value > 1") == "return value > 1"


def test_a_value_that_prints_are_overwritten_for_acts() -> None:
    assert acting("print(value)", f"def print(v): act(v)\n{START}") == "print(value)"


def test_a_value_whose_old_self_is_read_at_the_beginning_of_the_next_round() -> None:
    start = START.replace("    value = make()", "    if value > 1: break\n    value = make()")
    assert acting("pass", start) == "if value > 1: break"


def test_a_name_of_another_scope_is_another_value() -> None:
    assert acting("def f(value):\n    return value > 1") is None


# ---- what only shows -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "pass",
        "value",
        "print(value)",
        "print('loss', value, end='')",
        "print('loss %f' % value)",
        "print('loss {}'.format(value))",
        "print(f'loss {value:.3f} {value * 2}')",
        "print(', '.join([str(value)]))",
        "print(float(np.mean(value)))",
        "print([value, {'a': value}, (value,)])",
        "print(value[0], value.mean(), -value)",
        "print(*value)",
        "logging.info('loss %f', value)",
        "tf.logging.info(value)",
        "sys.stdout.write(str(value))",
        "plt.plot(value)",
        "text = 'loss %f' % value\nprint(text)",
        "a, b = value, 1\nprint(a)",
        "total = 0\ntotal += value\nprint(total / 3)",
        "history.append(value)",
        "history.append(value)\nprint(np.mean(history))",
        "history.extend([value])\nplt.plot(history)",
        "if step % 9 == 0:\n    print(value)",
        "text: str = str(value)\nprint(text)",
        "value = value * 2\nprint(value)",
        "print(value)\nvalue = other()\nif value > 2: break",
        "print(value)\nfor value in others:\n    if value > 2: break",
        "print(value)\ntext = 'loss %f' % value\ntext = other()\nact(text)",
    ],
)
def test_a_value_that_is_only_shown(text: str) -> None:
    assert acting(text) is None


def test_an_expression_is_followed_from_where_it_stands() -> None:
    found = facts("print(make())  # shown\nact(make())  # acting\nmake()  # nothing\n")
    for mark, acts in (("shown", False), ("acting", True)):
        call = expression(found, mark)
        assert isinstance(call, ast.Call)
        place = found.reports.acting_expression(call.args[0])
        assert (place is call.args[0]) is acts
    assert found.reports.acting_expression(expression(found, "nothing")) is None
