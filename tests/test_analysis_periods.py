"""What is executed in each turn, and what in every so many."""

import ast

import pytest

from analysis_helpers import facts, marked


def condition(test: str, *, head: str = "for i, x in enumerate(xs):", more: str = "pass") -> bool:
    found = facts(
        f"import tensorflow as tf\nN = 4\nONE = 1\ncount = 0\nfor epoch in range(3):\n    {head}\n"
        f"        work()  # beside\n        {more}\n        if {test}:\n"
        "            update()  # here\n            count = 0\n"
    )
    beside = marked(found, "beside")
    turn = found.periods.turn(beside)
    assert turn is not None
    return found.periods.period(marked(found, "here"), beside, turn) is not None


@pytest.mark.parametrize(
    "test",
    ["i % N == 0", "(i + 1) % 4 == 0 and ok", "tf.equal(i % N, 0)", "tf.math.mod(i, N) == 0"],
)
def test_remainders_of_what_changes(test: str) -> None:
    assert condition(test)


@pytest.mark.parametrize(
    "test", ["ok(x)", "i % ONE == 0", "epoch % 2 == 0", "'%d' % i == '3'", "i == 3", "count == N"]
)
def test_other_conditions(test: str) -> None:
    assert not condition(test)


def test_counters() -> None:
    assert condition("count == N", more="count += 1")
    assert condition("step % N == 0", head="while more():", more="step += 1")
    assert condition("self.step % N == 0", more="self.step.assign_add(1)")
    assert not condition("self.step % N == 0")


def test_the_next_turn_may_come_first() -> None:
    found = facts("""
        for i in range(9):
            work()  # beside
            if i % 3:
                continue
            update()  # here
    """)
    here, beside = marked(found, "here"), marked(found, "beside")
    turn = found.periods.turn(beside)
    assert turn is not None
    assert found.periods.period(here, beside, turn) is not None
    assert found.periods.is_conditional(here, beside, turn)
    assert found.periods.precedes(beside, here)


def test_parameters_that_count_for_a_caller() -> None:
    text = """
        def step(x, number):
            work()  # beside
            if number % 4 == 0:
                update()  # here

        for i, x in enumerate(xs):
            step(x, GIVEN)
    """
    for given, wanted in (("i", True), ("7", False)):
        found = facts(text.replace("GIVEN", given))
        beside = marked(found, "beside")
        turn = found.periods.turn(beside)
        assert isinstance(turn, ast.FunctionDef)
        assert (found.periods.period(marked(found, "here"), beside, turn) is not None) == wanted


@pytest.mark.parametrize(
    ("loops", "times"),
    [
        ("for i in xs:", "several"),
        ("for i in range(7):", "perhaps one"),
        ("for i in range(8):", "several"),
        ("for i in range(n):", "perhaps one"),
    ],
)
def test_conditions_that_are_surely_met_twice(loops: str, times: str) -> None:
    found = facts(f"made()  # made\n{loops}\n    if i % 4 == 0:  # here\n        pass\n")
    test = marked(found, "here")
    turn = found.periods.turn(test)
    assert isinstance(test, ast.If)
    assert turn is not None
    again = found.periods.comes_again(test.test, turn, marked(found, "made"))
    assert again == (times == "several")


def test_branches_of_one_condition() -> None:
    found = facts("if a:\n    one()  # one\nelse:\n    two()  # two\n")
    one, two = marked(found, "one"), marked(found, "two")
    assert found.periods.are_alternatives(one, two)
    assert not found.periods.are_alternatives(one, one)


@pytest.mark.parametrize(
    ("tests", "turns"),
    [
        (["i % 4 == 3"], 4),
        (["not i % 4"], 4),
        (["(i + 1) % N == 0"], 5),
        (["i % 4 == 3", "i % 2 == 1"], 8),
        (["i % n == 0"], 1),
        (["i > 4"], 1),
        (["i % 4"], 1),
    ],
)
def test_conditions_say_how_often_they_are_met(tests: list[str], turns: int) -> None:
    text = "N = 5\nfor i in range(9):\n"
    for depth, test in enumerate(tests, 1):
        text += "    " * depth + f"if {test}:\n"
    found = facts(text + "    " * (len(tests) + 1) + "here()\n")
    (here,) = found.source.all(ast.Expr)
    assert found.periods.turns_between(here) == turns
