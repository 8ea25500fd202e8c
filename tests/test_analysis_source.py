"""Places in the text, traps first: characters that are several bytes, and other line endings."""

from __future__ import annotations

import ast
import sys
from textwrap import dedent

import pytest

from analysis_helpers import facts, function, inside, marked
from tfrewrite.analysis.program.source import Source, blocks_of
from tfrewrite.model import Span


def source(text: str) -> Source:
    return Source(text, ast.parse(text))


def name(found: Source, identifier: str) -> ast.Name:
    return next(node for node in found.all(ast.Name) if node.id == identifier)


# ---- spans and segments ----------------------------------------------------------------------


def test_columns_are_characters_where_the_parser_counts_bytes() -> None:
    found = source('größe = "täglich" + länge\n')
    assert name(found, "länge").col_offset == 23  # bytes
    assert found.span(name(found, "länge")) == Span(1, 20, 1, 25)


def test_a_character_outside_the_basic_plane_is_one_column() -> None:
    found = source('title = "🙂" + rest\n')
    assert found.span(name(found, "rest")) == Span(1, 14, 1, 18)


def test_only_the_line_of_a_node_says_how_wide_its_characters_are() -> None:
    found = source('first = "é"; second = 1\nthird = fourth\n')
    assert found.span(name(found, "second")) == Span(1, 13, 1, 19)
    assert found.span(name(found, "fourth")) == Span(2, 8, 2, 14)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_segment_is_the_text_as_written_with_every_line_ending(newline: str) -> None:
    call = newline.join(["run(", "    'é',  # first", "    loss)"])
    found = source(newline.join(["# é", "value = " + call, ""]))
    (node,) = found.all(ast.Call)
    assert found.segment(node) == call
    assert found.span(node) == Span(2, 8, 4, 9)


def test_a_message_shows_the_text_in_one_line() -> None:
    found = source("f( 1 )\ng(1,  # one\n  2)\n")
    shown = {found.in_one_line(call) for call in found.all(ast.Call)}
    assert shown == {"f( 1 )", "g(1, 2)"}


def test_offsets_point_into_the_text() -> None:
    text = "a = 'é'\r\nb = c\r\n"
    found = source(text)
    start, end = found.offsets(name(found, "c"))
    assert text[start:end] == "c"
    assert start == text.index("c")


def test_a_form_feed_is_no_line_break() -> None:
    found = source("first = 1\n\x0c\nsecond = third\n")
    assert found.segment(name(found, "third")) == "third"
    assert found.span(name(found, "third")) == Span(3, 9, 3, 14)
    assert found.line(3) == "second = third"


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0b", "\x1c"])
def test_no_other_separator_within_a_string_is_a_line_break(separator: str) -> None:
    found = source(f"text = 'a{separator}b'\nafter = last\n")
    assert found.segment(name(found, "last")) == "last"


def test_a_segment_may_reach_over_lines_of_different_width() -> None:
    text = "call('ä',\n     'öö', x)"
    found = source(f"y = {text}\n")
    assert found.segment(found.all(ast.Call)[0]) == text


# ---- what stands around a node ---------------------------------------------------------------


def test_shared_operators_and_contexts_have_no_place() -> None:
    found = source("a = b + c\n")
    (addition,) = found.all(ast.BinOp)
    assert found.children(addition) == [addition.left, addition.right]
    assert found.all(ast.Load) == []


def test_the_module_has_no_parent() -> None:
    found = source("a = 1\n")
    assert found.parent(found.tree) is None
    assert list(found.ancestors(found.tree)) == []


def test_ancestors_come_from_the_inside_out() -> None:
    found = source("def f():\n    while True:\n        a = [b]\n")
    kinds = [type(node) for node in found.ancestors(name(found, "b"))]
    assert kinds == [ast.List, ast.Assign, ast.While, ast.FunctionDef, ast.Module]


def test_the_statement_of_a_statement_is_itself() -> None:
    found = source("if a:\n    b = c\n")
    assert found.statement(found.tree.body[0]) is found.tree.body[0]
    assert isinstance(found.statement(name(found, "a")), ast.If)
    assert isinstance(found.statement(name(found, "c")), ast.Assign)


def test_the_function_of_a_function_is_the_one_around_it() -> None:
    found = facts("def f():\n    def g():\n        return 1\n    return lambda: a\n").source
    outer, inner = found.all(ast.FunctionDef)
    if outer.name == "g":
        outer, inner = inner, outer
    assert found.function(outer) is None
    assert found.function(inner) is outer
    assert isinstance(found.function(name(found, "a")), ast.Lambda)


BLOCKS = """
def f():
    try:
        a = 1  # try
    except ValueError:
        b = 2  # handler
    else:
        c = 3  # else
    finally:
        d = 4  # finally
    for i in z:
        e = 5  # loop
    else:
        g = 6  # loop else
    match z:
        case 1:
            h = 7  # case
"""


@pytest.mark.parametrize("mark", ["try", "handler", "else", "finally", "loop", "loop else", "case"])
def test_every_sort_of_block_gives_a_statement_its_position(mark: str) -> None:
    found = facts(BLOCKS)
    statement = marked(found, mark)
    assert found.source.position(statement) == ([statement], 0)


def test_all_blocks_come_in_the_order_of_the_text() -> None:
    found = facts(BLOCKS)
    firsts = [block[0].lineno for owner, block in found.source.blocks()]
    lines = {first: found.source.line(first) for first in firsts}
    inner = [first for first, line in lines.items() if "#" in line]
    assert len(inner) == 7
    assert firsts[:2] == [2, 3]
    owners = [type(owner) for owner, _ in found.source.blocks()]
    assert owners.count(ast.Try) == 3
    assert owners.count(ast.ExceptHandler) == 1


def test_a_lambda_owns_no_block() -> None:
    assert list(blocks_of(source("f = lambda: 1\n").all(ast.Lambda)[0])) == []


def test_the_index_counts_within_the_own_block_only() -> None:
    found = facts("a = 1\nif a:\n    b = 2\n    c = 3  # here\n")
    block, index = found.source.position(marked(found, "here"))
    assert index == 1
    assert len(block) == 2


def test_all_finds_each_node_of_a_kind_once() -> None:
    found = facts(
        "f(g(1), *h(2), k=lambda: i(3))\nclass A(j(4)):\n    @k(5)\n    def m(self): pass\n"
    )
    assert len(found.source.all(ast.Call)) == 6
    assert set(found.source.all(ast.Call)) == set(inside(found.source.tree, ast.Call))
    assert found.source.parent(function(found, "m")) is found.source.all(ast.ClassDef)[0]


EVERY_STATEMENT = """
    import a.b as c
    from . import d as e, f
    @decorate(1)
    async def g(x, /, y: int = 2, *z, k=None, **w) -> str:
        global h
        async for i in x: pass
        async with a as b, c: await y
        return [u async for u in v if u]
    class K(B, metaclass=M):
        n: int = 3
        def method(self):
            nonlocal_ = lambda q=1: (yield q)
            def inner():
                nonlocal nonlocal_
    try:
        del a[1:2, ...], b.c
    except* E as err:
        raise X from err
    {**first, 'k': f'{v!r:>{w}}', **{x: y for x, y in z}}
    match s:
        case {'a': 1, **rest} | [_, *others] if rest: pass
        case P(1, k=None) as whole: pass
        case -1 | True: assert (t := 1), 'm'
    x += not a if 1 < b <= c else d @ e
"""


def nodes_of(tree: ast.AST) -> set[int]:
    """All nodes that have a place of their own."""
    shared = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    return {id(node) for node in ast.walk(tree) if not isinstance(node, shared)}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* came with Python 3.11")
def test_every_node_is_found_in_its_place() -> None:
    found = source(dedent(EVERY_STATEMENT))
    everything = [node for node in ast.walk(found.tree) if id(node) in nodes_of(found.tree)]
    assert {id(node) for node in everything} == {
        id(node) for kind in {type(node) for node in everything} for node in found.all(kind)
    }
    for node in everything:
        inner = [one for one in ast.iter_child_nodes(node) if id(one) in nodes_of(found.tree)]
        assert found.children(node) == inner
        assert all(found.parent(one) is node for one in inner)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="`type` came with Python 3.12")
def test_what_names_a_type_is_a_node() -> None:
    found = source("type Pair[T: int, *U, **P] = tuple[T, T]\n")
    assert [one.id for one in found.all(ast.Name)].count("Pair") == 1


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("tf.constant(1)\n", False),
        ("for x in y:\n    tf.constants(1)\n", False),
        ("for x in y:\n    tf.constant(1)\n", True),
        ("while x:\n    if y:\n        constant(1)\n", True),
        ("[f(tf.constant(1)) for x in y]\n", True),
        ("for x in y: print(constant)\n", False),
        ("for x in y: (lambda: 1)()\n", False),
    ],
)
def test_calls_that_loops_may_make(text: str, *, seen: bool) -> None:
    assert source(text).calls_in_loop({"constant"}) == seen
