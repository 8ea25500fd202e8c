"""Which binding a use of a name may see, traps first: ways round that skip or repeat a binding."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import expression, facts, function, lines, marked, use
from tfrewrite.analysis.program.flow import evaluated


def reaching(text: str, name: str = "a", mark: str = "here") -> list[int]:
    """The lines of the bindings that the use of a name on the marked line may see."""
    found = facts(text)
    bindings = found.flow.reaching(use(found, name, mark))
    assert len(bindings) == len(set(bindings))
    return lines(bindings)


# ---- traps -----------------------------------------------------------------------------------


def test_a_loop_carries_a_value_round_to_its_beginning() -> None:
    text = """
    a = 1
    for i in v:
        print(a)  # here
        a = 2
    """
    assert reaching(text) == [2, 5]


def test_a_turn_begins_with_what_the_loop_gives() -> None:
    text = """
    a = 1
    for a in v:
        print(a)  # here
        a = 2
    """
    assert reaching(text) == [3]
    assert reaching(text.replace("print(a)  # here", "pass") + "print(a)  # here\n") == [2, 3, 5]


def test_an_outer_loop_carries_a_value_round_too() -> None:
    text = """
    a = 1
    while v:
        for i in v:
            print(a)  # here
        a = 2
    """
    assert reaching(text) == [2, 6]


def test_what_is_bound_first_in_the_loop_hides_the_rest() -> None:
    text = """
    a = 1
    for i in v:
        a = 2
        print(a)  # here
        a = 3
    """
    assert reaching(text) == [4]


def test_a_loop_may_run_no_time_at_all() -> None:
    text = """
    a = 1
    for a in v:
        a = 2
    print(a)  # here
    """
    assert reaching(text) == [2, 3, 4]


def test_a_branch_may_not_be_taken() -> None:
    text = """
    a = 1
    if v:
        a = 2
    print(a)  # here
    """
    assert reaching(text) == [2, 4]


def test_a_branch_does_not_see_the_other() -> None:
    text = """
    a = 1
    if v:
        a = 2
    else:
        print(a)  # here
    """
    assert reaching(text) == [2]


def test_a_try_may_stop_anywhere() -> None:
    text = """
    a = 1
    try:
        a = 2
        v()
        a = 3
    except ValueError:
        print(a)  # handler
    finally:
        print(a)  # finally
    print(a)  # here
    """
    assert reaching(text, mark="handler") == [2, 4, 6]
    assert reaching(text, mark="finally") == [2, 4, 6]
    assert reaching(text) == [2, 4, 6]


def test_a_handler_binds_its_own_name() -> None:
    text = """
    a = 1
    try:
        v()
    except ValueError as a:
        print(a)  # here
    """
    assert 5 in reaching(text)


def test_what_a_handler_binds_may_be_seen_afterwards() -> None:
    text = """
    a = 1
    try:
        v()
    except ValueError:
        a = 2
    print(a)  # here
    """
    assert reaching(text) == [2, 6]


def test_an_else_of_a_try_comes_after_its_body() -> None:
    text = """
    a = 1
    try:
        a = 2
    except ValueError:
        pass
    else:
        print(a)  # here
    """
    assert 4 in reaching(text)


def test_an_else_of_a_loop_sees_the_body_and_what_was_before() -> None:
    for loop in ("while v:", "for i in v:"):
        text = f"""
        a = 1
        {loop}
            a = 2
        else:
            print(a)  # here
        """
        assert reaching(text) == [2, 4], loop


def test_what_an_else_of_a_loop_binds_may_be_skipped() -> None:
    text = """
    a = 1
    while v:
        break
    else:
        a = 2
    print(a)  # here
    """
    assert reaching(text) == [2, 6]


def test_a_nested_function_may_run_at_any_time() -> None:
    text = """
    a = 1
    def f():
        return a  # here
    a = 2
    """
    assert reaching(text) == [2, 5]


def test_a_lambda_and_a_comprehension_see_everything() -> None:
    for form in ("lambda: a", "[a for i in v]", "{i: a for i in v}", "(a for i in v)"):
        text = f"""
        a = 1
        f = {form}  # here
        a = 2
        """
        assert reaching(text) == [2, 4], form


def test_another_function_may_rebind_a_global_at_any_time() -> None:
    text = """
    a = 1
    def f():
        global a
        a = 2
    a = 3
    print(a)  # here
    """
    assert reaching(text) == [2, 5, 6]


def test_another_function_may_rebind_a_nonlocal_at_any_time() -> None:
    text = """
    def outer():
        a = 1
        def f():
            nonlocal a
            a = 2
        a = 3
        print(a)  # here
    """
    assert reaching(text) == [3, 6, 7]


def test_a_deletion_hides_what_was_before() -> None:
    text = """
    a = 1
    del a
    print(a)  # here
    """
    assert reaching(text) == [3]


def test_a_deletion_under_an_if_does_not() -> None:
    text = """
    a = 1
    if v:
        del a
    print(a)  # here
    """
    assert reaching(text) == [2, 4]


def test_a_walrus_may_come_before_the_use_in_its_statement() -> None:
    text = """
    a = 1
    print((a := 2), a)  # here
    """
    assert reaching(text) == [2, 3]


def test_a_walrus_may_not_be_evaluated() -> None:
    text = """
    a = 1
    v and (a := 2)
    print(a)  # here
    """
    assert reaching(text) == [2, 3]


def test_a_case_may_see_every_binding() -> None:
    text = """
    a = 1
    match v:
        case 1:
            print(a)  # here
        case 2:
            a = 2
    """
    assert reaching(text) == [2, 7]


def test_a_case_may_not_be_taken() -> None:
    text = """
    a = 1
    match v:
        case 1:
            a = 2
    print(a)  # here
    """
    assert reaching(text) == [2, 5]


def test_in_its_own_assignment_a_name_still_has_the_old_value() -> None:
    text = """
    a = 1
    a = a + 1  # here
    """
    assert reaching(text) == [2]


def test_a_name_of_another_scope_is_another_name() -> None:
    text = """
    a = 1
    def f():
        a = 2
    class A:
        a = 3
    a = 4
    print(a)  # here
    """
    assert reaching(text) == [7]


def test_a_parameter_reaches_where_it_is_not_surely_rebound() -> None:
    text = """
    def f(a):
        if v:
            a = 2
        print(a)  # here
        a = 3
        print(a)  # later
    """
    assert reaching(text) == [2, 4]
    assert reaching(text, mark="later") == [6]


def test_nothing_reaches_a_name_that_is_not_bound() -> None:
    assert reaching("print(a)  # here\n") == []


# ---- what is sure ------------------------------------------------------------------------------


def test_the_last_of_several_bindings_reaches() -> None:
    text = """
    a = 1
    a = 2
    print(a)  # here
    a = 3
    """
    assert reaching(text) == [3]


@pytest.mark.parametrize(
    "binding",
    ["a = 2", "a, b = v", "a: int = 2", "a += 1", "import a", "from b import a"],
)
def test_every_simple_binding_hides_what_was_before(binding: str) -> None:
    assert reaching(f"a = 1\n{binding}\nprint(a)  # here\n") == [2]


@pytest.mark.parametrize("definition", ["def a(): pass", "class a: pass"])
def test_a_definition_hides_what_was_before(definition: str) -> None:
    assert reaching(f"a = 1\n{definition}\nprint(a)  # here\n") == [2]


def test_a_with_statement_that_catches_nothing_runs_its_body_to_the_end() -> None:
    text = """
    import tensorflow as tf
    a = 1
    with tf.name_scope("b"):
        a = 2
    print(a)  # here
    """
    assert reaching(text) == [5]


def test_the_name_of_a_with_statement_is_bound_in_and_after_it() -> None:
    text = """
    a = 1
    with v as a:
        print(a)  # inside
    print(a)  # here
    """
    assert reaching(text, mark="inside") == [3]
    assert reaching(text) == [3]


def test_the_variable_of_a_loop_is_the_loops_in_its_body() -> None:
    text = """
    a = 1
    for a in v:
        print(a)  # here
    """
    assert reaching(text) == [3]


def test_the_iterable_of_a_loop_is_evaluated_before_it() -> None:
    text = """
    a = 1
    for b in f(a):  # here
        a = 2
    """
    assert reaching(text) == [2]


# ---- loops, jumps, and what is evaluated -------------------------------------------------------


def test_a_function_defined_in_a_loop_is_not_in_the_loop() -> None:
    text = """
    for i in v:
        def f():
            print(1)  # inside
        print(2)  # here
    """
    found = facts(text)
    assert found.flow.loop(marked(found, "inside")) is None
    assert found.flow.loop(marked(found, "here")) is found.source.all(ast.For)[0]


def test_the_header_and_the_else_of_a_loop_are_not_its_body() -> None:
    text = """
    while f(1):
        print(1)  # inside
    else:
        print(2)  # here
    """
    found = facts(text)
    (loop,) = found.source.all(ast.While)
    assert found.flow.loop(loop.test) is None
    assert found.flow.loop(marked(found, "here")) is None
    assert found.flow.loop(marked(found, "inside")) is loop


def test_the_else_of_an_inner_loop_is_in_the_outer_one() -> None:
    text = """
    for i in v:
        for j in i:
            pass
        else:
            print(j)  # here
    """
    found = facts(text)
    loop = found.flow.loop(marked(found, "here"))
    assert isinstance(loop, ast.For)
    assert ast.unparse(loop.target) == "i"


@pytest.mark.parametrize(
    ("statement", "jumps"),
    [
        ("break", True),
        ("if v:\n    continue", True),
        ("raise ValueError", True),
        ("assert v", True),
        ("return", True),
        ("b = yield", True),
        ("b = yield from v", True),
        ("b = await v", True),
        ("def g():\n    return 1", False),
        ("b = lambda: (yield)", False),
        ("b = v()", False),
    ],
)
def test_what_may_leave_a_statement(
    statement: str,
    jumps: bool,  # noqa: FBT001
) -> None:
    body = textwrap.indent(statement, "        ")
    head = "async def" if "await" in statement else "def"
    found = facts(f"{head} f():\n    while v:\n{body}\n")
    (loop,) = found.source.all(ast.While)
    assert found.flow.jumps(loop.body[0]) is jumps


def test_of_a_function_only_decorators_and_defaults_are_evaluated() -> None:
    found = facts("@a\ndef f(p=b, *, q=c):\n    d\ng = lambda r=e: h\n")
    names = {
        node.id
        for statement in found.source.tree.body
        for node in evaluated(statement)
        if isinstance(node, ast.Name)
    }
    assert names == {"a", "b", "c", "e", "g"}


def test_enclosing_stops_at_the_function() -> None:
    found = facts("with v:\n    def f():\n        if v:\n            return 1  # here\n")
    around = list(found.flow.enclosing(expression(found)))
    assert [type(node) for node in around] == [ast.Return, ast.If]
    assert list(found.flow.enclosing(function(found, "f"))) == found.source.all(ast.With)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\na = 2\nfor i in v:\n    print(a)\na = 3\n", [2]),
        ("a = 1\nif v:\n    a = 2\nfor i in v:\n    pass\n", [1, 3]),
        ("for i in v:\n    pass\na = 1\n", []),
        ("def f():\n    global a\n    a = 1\na = 2\nfor i in v:\n    pass\n", None),
        ("class A:\n    a = 1\n    for i in v:\n        pass\n", None),
    ],
)
def test_what_a_statement_finds_when_it_begins(text: str, expected: list[int] | None) -> None:
    found = facts(text)
    (loop,) = found.source.all(ast.For)
    bindings = found.flow.before("a", loop)
    assert (None if bindings is None else lines(bindings)) == expected
