"""Which scope a name belongs to, and every binding of it, traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts, function, inside, lines, use
from tfrewrite.analysis.program.scopes import Binding, How


def seen(text: str, name: str, mark: str = "here") -> list[Binding]:
    """All bindings of the variable that a name on the marked line stands for."""
    found = facts(text)
    return found.scopes.bindings(use(found, name, mark))


# ---- traps -----------------------------------------------------------------------------------


def test_a_class_body_is_not_seen_from_its_methods() -> None:
    text = """
    rate = 1
    class Model:
        rate = 2
        def train(self):
            return rate  # here
    """
    assert lines(seen(text, "rate")) == [2]


def test_a_class_body_sees_itself() -> None:
    text = """
    rate = 1
    class Model:
        rate = 2
        double = rate * 2  # here
    """
    assert lines(seen(text, "rate")) == [4]


def test_a_comprehension_keeps_its_variable_to_itself() -> None:
    text = """
    loss = 1
    others = [loss for loss in losses]
    loss  # here
    """
    assert lines(seen(text, "loss")) == [2]


def test_the_first_iterable_of_a_comprehension_is_evaluated_outside() -> None:
    text = """
    x = [1]
    y = [x for x in x]  # here
    """
    assert lines(seen(text, "x")) == [2]


def test_a_later_iterable_of_a_comprehension_is_evaluated_inside() -> None:
    text = """
    row = [1]
    y = [
        value
        for row in rows
        for value in row  # here
    ]
    """
    found = facts(text)
    names = [n for n in inside(found.source.tree, ast.Name) if n.id == "row" and n.lineno == 6]
    assert [b.how for b in found.scopes.bindings(names[0])] == [How.LOOP]
    assert lines(found.scopes.bindings(names[0])) == [5]


def test_a_walrus_in_a_comprehension_binds_outside_it() -> None:
    text = """
    def f(batches):
        best = 0
        all_of_them = [best := batch for batch in batches]
        return best  # here
    best = None
    """
    assert lines(seen(text, "best")) == [3, 4]


def test_a_walrus_in_two_comprehensions_still_binds_in_the_function() -> None:
    text = """
    def f(rows):
        [[last := cell for cell in row] for row in rows]
        return last  # here
    """
    assert [b.how for b in seen(text, "last")] == [How.ASSIGN]


def test_a_walrus_in_a_comprehension_honours_global() -> None:
    text = """
    step = 0
    def f(rows):
        global step
        [step := row for row in rows]
    step  # here
    """
    assert lines(seen(text, "step")) == [2, 5]


def test_global_moves_every_binding_to_the_module() -> None:
    text = """
    step = 0
    def train():
        global step
        step += 1
        for step in range(3):
            pass
    step  # here
    """
    assert [b.how for b in seen(text, "step")] == [How.ASSIGN, How.AUGMENT, How.LOOP]


def test_global_makes_a_name_the_modules_own_even_if_the_module_never_binds_it() -> None:
    text = """
    def prepare():
        global sess
        sess = 1
    def train():
        return sess  # here
    """
    assert lines(seen(text, "sess")) == [4]


def test_global_passes_over_a_local_of_the_function_around() -> None:
    text = """
    step = 0
    def outer():
        step = 1
        def inner():
            global step
            return step  # here
    """
    assert lines(seen(text, "step")) == [2]


def test_a_function_inside_one_with_a_global_sees_the_global() -> None:
    text = """
    step = 0
    def outer():
        global step
        def inner():
            return step  # here
    """
    assert lines(seen(text, "step")) == [2]


def test_nonlocal_binds_in_the_nearest_function_that_has_the_name() -> None:
    text = """
    count = 0
    def outer():
        count = 1
        def middle():
            def inner():
                nonlocal count
                count = 2
        return count  # here
    """
    assert lines(seen(text, "count")) == [4, 8]


def test_nonlocal_passes_over_a_class() -> None:
    text = """
    def outer():
        count = 1
        class Counter:
            count = 5
            def up(self):
                nonlocal count
                count = 2
        return count  # here
    """
    assert lines(seen(text, "count")) == [3, 8]


def test_nonlocal_finds_a_parameter() -> None:
    text = """
    def outer(count):
        def inner():
            nonlocal count
            count = 2
        return count  # here
    """
    assert [b.how for b in seen(text, "count")] == [How.PARAMETER, How.ASSIGN]


def test_a_local_that_is_bound_later_is_local_from_the_start() -> None:
    text = """
    loss = 1
    def f():
        print(loss)  # here
        loss = 2
    """
    assert lines(seen(text, "loss")) == [5]


def test_a_default_is_evaluated_outside_the_function() -> None:
    text = """
    rate = 1
    def f(
        value=rate,  # default
        rate=2,
    ):
        pass
    """
    found = facts(text)
    name = function(found, "f").args.defaults[0]
    assert isinstance(name, ast.Name)
    assert lines(found.scopes.bindings(name)) == [2]


def test_a_keyword_only_default_is_evaluated_outside_too() -> None:
    found = facts("rate = 1\ndef f(*, value=rate, rate=2): pass\ng = lambda *, v=rate, rate=2: 0\n")
    for owner in (function(found, "f"), found.source.all(ast.Lambda)[0]):
        default = owner.args.kw_defaults[0]
        assert isinstance(default, ast.Name)
        assert lines(found.scopes.bindings(default)) == [1]


def test_a_decorator_is_evaluated_outside_what_it_decorates() -> None:
    text = """
    wrap = 1
    @wrap
    def f(wrap): pass
    @wrap
    class A:
        wrap = 3
    """
    found = facts(text)
    uses = [n for n in inside(found.source.tree, ast.Name) if n.id == "wrap" and n.lineno in (3, 5)]
    assert [lines(found.scopes.bindings(n)) for n in uses] == [[2], [2]]


def test_a_base_class_is_evaluated_outside_the_class() -> None:
    found = facts("Base = 1\nclass A(Base, metaclass=Base):\n    Base = 2\n")
    uses = [n for n in found.source.all(ast.Name) if n.id == "Base" and isinstance(n.ctx, ast.Load)]
    assert [lines(found.scopes.bindings(n)) for n in uses] == [[1], [1]]


def test_what_an_except_clause_binds_is_no_ordinary_value() -> None:
    text = """
    error = None
    try:
        pass
    except ValueError as error:
        print(error)  # here
    """
    assert [(b.how, b.value is None) for b in seen(text, "error")][1:] == [(How.OTHER, True)]


def test_an_except_clause_without_a_name_binds_nothing() -> None:
    found = facts("try:\n    pass\nexcept ValueError:\n    pass\n")
    assert found.scopes.module.bindings == {}


def test_deletion_counts_as_a_binding_without_a_value() -> None:
    assert [b.how for b in seen("a = 1\ndel a, b.c, d[0]\na  # here\n", "a")] == [
        How.ASSIGN,
        How.OTHER,
    ]


def test_deleting_an_attribute_or_an_entry_deletes_no_name() -> None:
    found = facts("del b.c, d[0]\n")
    assert found.scopes.module.bindings == {}


@pytest.mark.parametrize(
    "pattern", ["x", "[1, x]", "[1, *x]", "{'a': 1, **x}", "Point(a=x)", "1 | 2 as x"]
)
def test_every_kind_of_match_pattern_binds(pattern: str) -> None:
    text = f"match value:\n    case {pattern}:\n        x  # here\n"
    assert [b.how for b in seen(text, "x")] == [How.OTHER]


def test_a_wildcard_pattern_binds_nothing() -> None:
    assert facts("match v:\n    case _:\n        pass\n").scopes.module.bindings == {}


def test_a_star_import_is_told_and_binds_no_name() -> None:
    found = facts("from helpers import *\ndef f():\n    import os\n")
    assert [node.module for node in found.scopes.module.star_imports] == ["helpers"]
    assert found.scopes.inside(function(found, "f")).star_imports == []
    assert set(found.scopes.module.bindings) == {"f"}


def test_variadic_parameters_are_no_ordinary_parameters() -> None:
    text = "def f(*losses, **options):\n    return losses, options  # here\n"
    assert [b.how for b in seen(text, "losses")] == [How.OTHER]
    assert [b.how for b in seen(text, "options")] == [How.OTHER]


def test_an_annotation_alone_gives_no_value() -> None:
    bindings = seen("loss: float\nother: float = 1\nprint(loss, other)  # here\n", "loss")
    assert [(b.how, b.value) for b in bindings] == [(How.OTHER, None)]


def test_a_builtin_has_no_binding() -> None:
    assert seen("print(1)  # here\n", "print") == []


def test_uses_of_a_shadowing_parameter_are_not_uses_of_the_global() -> None:
    text = """
    loss = 1
    def f(loss):
        return loss
    def g():
        return loss
    loss  # here
    """
    found = facts(text)
    uses = found.scopes.uses(use(found, "loss"))
    assert sorted(n.lineno for n in uses) == [6, 7]


# ---- what each kind of binding tells -----------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "how", "value", "index"),
    [
        ("a = v", How.ASSIGN, "v", None),
        ("a: int = v", How.ASSIGN, "v", None),
        ("b = a = v", How.ASSIGN, "v", None),
        ("(a := v)", How.ASSIGN, "v", None),
        ("b, a = v", How.UNPACK, "v", 1),
        ("[a, b] = v", How.UNPACK, "v", 0),
        ("a += v", How.AUGMENT, "v", None),
        ("for a in v: pass", How.LOOP, "v", None),
        ("for b, a in v: pass", How.LOOP, "v", 1),
        ("with v as a: pass", How.WITH, "v", None),
        ("with u as b, v as a: pass", How.WITH, "v", None),
        ("with v as (b, a): pass", How.WITH, "v", 1),
    ],
)
def test_a_binding_says_where_its_value_comes_from(
    statement: str, how: How, value: str, index: int | None
) -> None:
    found = facts(statement)
    (binding,) = found.scopes.module.bindings["a"]
    assert binding.value is not None
    assert (binding.how, ast.unparse(binding.value), binding.index) == (how, value, index)


@pytest.mark.parametrize("target", ["b, *a", "*a, b", "(c, a), b", "b, (c, a), *d"])
def test_the_position_in_a_value_is_not_guessed(target: str) -> None:
    found = facts(f"{target} = v\n")
    (binding,) = found.scopes.module.bindings["a"]
    assert binding.how is How.UNPACK
    # In `(c, a), b` the place in the inner pair is not one in the value.
    assert binding.index is None


def test_a_starred_target_hides_the_position_of_all_beside_it() -> None:
    found = facts("first, *rest, last = v\n")
    assert [found.scopes.module.bindings[n][0].index for n in ("first", "rest", "last")] == [
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("statement", "name", "path"),
    [
        ("import a", "a", "a"),
        ("import a.b.c", "a", "a"),
        ("import a.b.c as d", "d", "a.b.c"),
        ("from a import b", "b", "a.b"),
        ("from a.b import c as d", "d", "a.b.c"),
        ("from . import b", "b", ".b"),
        ("from ..a import b", "b", "..a.b"),
    ],
)
def test_an_import_says_what_it_imports(statement: str, name: str, path: str) -> None:
    (binding,) = facts(statement).scopes.module.bindings[name]
    assert (binding.how, binding.path) == (How.IMPORT, path)


def test_parameters_have_their_position_and_default() -> None:
    found = facts("def f(a, /, b=1, *, c=2, d): pass\n")
    bindings = found.scopes.inside(function(found, "f")).bindings
    told = {
        name: (b[0].index, b[0].value and ast.unparse(b[0].value)) for name, b in bindings.items()
    }
    assert told == {"a": (0, None), "b": (1, "1"), "c": (None, "2"), "d": (None, None)}


def test_a_loop_and_its_else_bind_in_the_same_scope() -> None:
    text = """
    for i in v:
        a = 1
    else:
        a = 2
    a  # here
    """
    assert lines(seen(text, "a")) == [3, 5]


def test_a_lambda_sees_its_parameter_and_what_is_around() -> None:
    text = "scale = 1\nf = lambda value: value * scale  # here\n"
    assert [b.how for b in seen(text, "value")] == [How.PARAMETER]
    assert [b.how for b in seen(text, "scale")] == [How.ASSIGN]


def test_the_function_of_a_name_is_known_only_if_nothing_else_binds_it() -> None:
    text = """
    def once(): pass
    def twice(): pass
    twice = wrap(twice)
    once, twice  # here
    """
    found = facts(text)
    assert found.scopes.function(use(found, "once")) is function(found, "once")
    assert found.scopes.function(use(found, "twice")) is None


def test_a_recursive_function_sees_itself() -> None:
    found = facts("def f(n):\n    return f(n - 1)  # here\n")
    assert found.scopes.function(use(found, "f")) is function(found, "f")


def test_where_a_node_is_evaluated() -> None:
    found = facts("def f():\n    return a  # here\n")
    assert found.scopes.of(expression(found)).node is function(found, "f")
    assert found.scopes.of(function(found, "f")) is found.scopes.module
    assert len(list(found.scopes.all())) == 2
