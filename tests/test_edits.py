"""Edits change what they name, lose no comment, and touch nothing else."""

from __future__ import annotations

import ast
import re
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrewrite.edits import (
    Decorate,
    Edit,
    EditError,
    InsertBefore,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
    apply_edits,
)
from tfrewrite.model import Span


def span_of(text: str, part: str) -> Span:
    """Where the first statement or expression stands that reads like this."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.stmt, ast.expr))]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if ast.get_source_segment(text, node) == part:
            return _span(node)
    pytest.fail(f"{part!r} is not in the text")


def edited(text: str, *edits: Edit) -> str:
    return apply_edits(text, edits)


def replaced(text: str, part: str, new: str) -> str:
    return edited(text, ReplaceExpression(span_of(text, part), new))


def removed(text: str, part: str, to: str) -> str:
    return edited(text, RemoveStatement(span_of(text, part), span_of(text, to)))


@pytest.mark.parametrize(
    ("text", "part", "new", "expected"),
    [
        ("x = a + b\n", "a", "c", "x = c + b\n"),
        ("x = a * b\n", "a", "c + d", "x = (c + d) * b\n"),
        ("x = (a) * b\n", "a", "c + d", "x = (c + d) * b\n"),
        ("x = a\n", "a", "c + d", "x = c + d\n"),
        ("f(a, b)\n", "a", "c or d", "f(c or d, b)\n"),
        ("f(a, b)\n", "a", "c, d", "f((c, d), b)\n"),
        ("x = a, b\n", "a, b", "c", "x = c\n"),
        ("a, b, c = x\n", "a, b, c", "a, b", "a, b = x\n"),
        ("x = (a, b)\n", "(a, b)", "[c]", "x = [c]\n"),
        ("x = ((a, b))\n", "(a, b)", "c", "x = (c)\n"),
        ("x = f((i for i in y))\n", "(i for i in y)", "z", "x = f(z)\n"),
        ("x = a.b\n", "a", "await c", "x = (await c).b\n"),
        ("if a: x\n", "a", "not b", "if not b: x\n"),
        ("@a\ndef f(): pass\n", "a", "b(1)", "@b(1)\ndef f(): pass\n"),
        ("x = f(a,\n      b)\n", "b", "[1,\n 2]", "x = f(a,\n      [1,\n 2])\n"),
        ("x = f(a,\r\n      b)\r\n", "b", "[1,\n 2]", "x = f(a,\r\n      [1,\r\n 2])\r\n"),
        ("def f():\n\tif x:\n\t\treturn a;\n", "a", "b", "def f():\n\tif x:\n\t\treturn b;\n"),
        ("x = a", "a", "b", "x = b"),
        ("x = a   # A\n", "a", "bcd", "x = bcd  # A\n"),
        ("x = a        # A\n", "a", "bcd", "x = bcd      # A\n"),
        ("x = abcd   # A\n", "abcd", "b", "x = b      # A\n"),
        ("x = a  # A\n", "a", "bcd", "x = bcd  # A\n"),
        ("x = a\t\t\t# A\n", "a", "bcd", "x = bcd\t\t\t# A\n"),
        ("x = a     \n", "a", "bcd", "x = bcd     \n"),
        ("x = f(a,\n  b)      # B\n", "b", "cd", "x = f(a,\n  cd)      # B\n"),
        ("if x:\r\n  a      # A\r\n", "a", "bc", "if x:\r\n  bc     # A\r\n"),
        ("x = 1\n\x0c\n# page\ny = a\n", "a", "b", "x = 1\n\x0c\n# page\ny = b\n"),
    ],
)
def test_an_expression_is_replaced(text: str, part: str, new: str, expected: str) -> None:
    assert replaced(text, part, new) == expected


@pytest.mark.parametrize("end", ["   ", "\t", "\n    ", "\n  \n \t "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_spaces_at_the_end_of_the_file_stay(newline: str, end: str) -> None:
    text = f"def f():\n    return 1\n    \n{end}".replace("\n", newline)
    assert replaced(text, "1", "2") == text.replace("1", "2")


def test_columns_count_characters() -> None:
    assert edited("x = a['é'] + b\n", ReplaceExpression(Span(1, 13, 1, 14), "y")) == (
        "x = a['é'] + y\n"
    )


def test_comments_within_an_expression_go_above_its_statement() -> None:
    text = dedent("""\
        y = 1

        # above
        x = f(a,  # first
              # second
              b)  # beside
        """)
    part = "f(a,  # first\n      # second\n      b)"
    assert replaced(text, part, "g(a, b)") == dedent("""\
        y = 1

        # above
        # first
        # second
        x = g(a, b)  # beside
        """)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_further_lines_stand_where_the_text_has_them(indent: str, newline: str) -> None:
    new = f"[a,  # A\n{indent}     b]"
    text = f"if x:\n{indent}y = f(c)\n".replace("\n", newline)
    assert replaced(text, "c", new) == text.replace("c", new.replace("\n", newline))
    lines = f"d +\n{indent}      e"
    assert replaced(text, "c", lines) == text.replace("c", lines.replace("\n", newline))


def test_comments_that_the_new_code_repeats_are_not_doubled() -> None:
    text = "x = f(a,  # first\n      b)\n"
    new = "g(a,  # first\n      b)"
    assert replaced(text, text[4:-1], new) == f"x = {new}\n"


@pytest.mark.parametrize(
    ("text", "part", "to", "expected"),
    [
        ("a\nb\nc\n", "b", "a", "a\nc\n"),
        ("a\nb # B\nc\n", "b", "a", "# B\na\nc\n"),
        ("a\n# over b\nb\nc\n", "b", "c", "a\n# over b\nc\n"),
        ("a\n\nb\nc\n", "b", "a", "a\n\nc\n"),
        ("a\n\nb\n\nc\n", "b", "a", "a\n\nc\n"),
        ("a; b; c # C\n", "b", "a", "a; c # C\n"),
        ("a; b\n", "b", "a", "a\n"),
        ("a; b;\n", "b", "a", "a;\n"),
        ("a; b\n", "a", "b", "b\n"),
        ("for i in x: a; b\n", "b", "a", "for i in x: a\n"),
        ("if x:\n    a\nb\n", "a", "b", "if x:\n    pass\nb\n"),
        ("if x: a\nb\n", "a", "b", "if x: pass\nb\n"),
        ("a\nif x:\n    # in\n    b\n    c\n", "b", "a", "# in\na\nif x:\n    c\n"),
        ("a\r\nb # B\r\nc\r\n", "b", "a", "# B\r\na\r\nc\r\n"),
        ("a\nb", "b", "a", "a"),
        ("a\nf(1, # one\n  2)\n", "f(1, # one\n  2)", "a", "# one\na\n"),
        ("a\nif x:\n    b # B\n# end\n", "if x:\n    b", "a", "# B\na\n# end\n"),
        ("# head\na # A\nb\n", "a", "b", "# head\n# A\nb\n"),
        ("x\nif y:\n    # a\n    a\n\n    b\n", "a", "x", "# a\nx\nif y:\n    b\n"),
        ("if y:\n    a\n\n    # on b\n    b\n", "a", "b", "if y:\n    # on b\n    b\n"),
        ("if y:\n\n    a\n\n\n    b\n", "a", "b", "if y:\n\n    b\n"),
        ("a\nfor i in x:\n    b\n\n    c\n", "b", "a", "a\nfor i in x:\n    c\n"),
        ("a\nif x:\n    b\n\n    # C\n    c\n", "b", "a", "a\nif x:\n    # C\n    c\n"),
        ("a\nif x:\n\n    b\n\n    c\n", "b", "a", "a\nif x:\n\n    c\n"),
        ("a\nif x:\n    b; d\n\n    c\n", "b", "a", "a\nif x:\n    d\n\n    c\n"),
    ],
)
def test_a_statement_is_removed(text: str, part: str, to: str, expected: str) -> None:
    assert removed(text, part, to) == expected


def test_comments_follow_a_chain_of_removed_statements() -> None:
    text = "a\nb # B\nc # C\n"
    result = edited(
        text,
        RemoveStatement(span_of(text, "c"), span_of(text, "b")),
        RemoveStatement(span_of(text, "b"), span_of(text, "a")),
    )
    assert result == "# B\n# C\na\n"


def test_comments_that_new_code_has_are_not_written_twice() -> None:
    text = "x = f(\n    a,  # one\n)\n"
    new = ReplaceExpression(span_of(text, "f(\n    a,  # one\n)"), "g()", kept=True)
    assert edited(text, new) == "x = g()\n"
    text = "# above\na()  # one\nb()\n"
    call = InsertBefore(span_of(text, "a()"), "g()")
    gone = RemoveStatement(span_of(text, "a()"), span_of(text, "a()"), kept=True)
    assert edited(text, call, gone) == "# above\ng()\nb()\n"


@pytest.mark.parametrize(
    ("text", "part", "new", "expected"),
    [
        ("a\nb\n", "b", "n = 1", "a\nn = 1\nb\n"),
        ("a\n\n# over b\nb\n", "b", "n = 1", "a\n\nn = 1\n# over b\nb\n"),
        ("a\n\nb\n", "b", "\ndef f():\n    pass\n\n", "a\n\n\ndef f():\n    pass\n\nb\n"),
        ("if x:\n\tb\n", "b", "if y:\n    c", "if x:\n\tif y:\n\t\tc\n\tb\n"),
        ("if x:\n  b\n", "b", "if y:\n    c", "if x:\n  if y:\n    c\n  b\n"),
        ("a; b; c # C\n", "b", "n", "a\nn\nb; c # C\n"),
        ("# over\na; b # B\n", "a", "n", "# over\nn\na; b # B\n"),
        ("for i in x: a; b # B\n", "b", "n", "for i in x:\n    a\n    n\n    b # B\n"),
        ("if x: a # A\nelse: b\n", "a", "n", "if x:\n    n\n    a # A\nelse: b\n"),
        ("a\r\nb\r\n", "b", "n = [\n1]", "a\r\nn = [\r\n1]\r\nb\r\n"),
        ("a\nb", "b", "n", "a\nn\nb"),
    ],
)
def test_statements_are_inserted(text: str, part: str, new: str, expected: str) -> None:
    assert edited(text, InsertBefore(span_of(text, part), new)) == expected


def test_insertion_is_above_the_decorators() -> None:
    text = "x\n\n@d\ndef f():\n    pass\n"
    for span in (Span(4, 0, 5, 8), Span(3, 0, 5, 8)):
        result = edited(text, InsertBefore(span, "n"))
        assert result == "x\n\nn\n@d\ndef f():\n    pass\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# over\ndef f():\n    pass\n", "# over\n@d(1)\ndef f():\n    pass\n"),
        ("x\n\n\ndef f(): pass\n", "x\n\n\n@d(1)\ndef f(): pass\n"),
        ("class A:\n\tdef f(self):\n\t\tpass\n", "class A:\n\t@d(1)\n\tdef f(self):\n\t\tpass\n"),
        ("def f():\r\n    pass\r\n", "@d(1)\r\ndef f():\r\n    pass\r\n"),
        ("@e\ndef f():\n    pass\n", "@d(1)\n@e\ndef f():\n    pass\n"),
    ],
)
def test_functions_are_decorated(text: str, expected: str) -> None:
    (node,) = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef))
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    span = Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    assert edited(text, Decorate(span, "d(1)")) == expected


def test_only_functions_are_decorated() -> None:
    text = "a = 1\n"
    with pytest.raises(EditError, match="only a function"):
        edited(text, Decorate(span_of(text, "a = 1"), "d"))


def test_insertions_at_one_place_keep_their_order() -> None:
    text = "a\n"
    edits = [InsertBefore(span_of(text, "a"), new) for new in ("m", "n")]
    assert edited(text, *edits) == "m\nn\na\n"


@pytest.mark.parametrize(
    ("text", "part", "new", "expected"),
    [
        ("# over\na = 1 # A\nb\n", "a = 1", "c = 2", "# over\nc = 2 # A\nb\n"),
        ("a = 1; b\n", "a = 1", "c = 2", "c = 2; b\n"),
        ("a = 1; b # B\n", "a = 1", "c\nd", "c\nd\nb # B\n"),
        ("a = 1 # A\n", "a = 1", "if c:\n    d", "# A\nif c:\n    d\n"),
        ("if x: a = 1\n", "a = 1", "c = 2", "if x: c = 2\n"),
        ("if x: a = 1 # A\n", "a = 1", "c\nd", "if x:\n    c\n    d # A\n"),
        ("a = f(1, # one\n  2)\n", "a = f(1, # one\n  2)", "c", "# one\nc\n"),
        ("a = 1", "a = 1", "c\nd", "c\nd"),
        ("a = 1     # A\n", "a = 1", "c\nd = 2", "c\nd = 2     # A\n"),
        ("a = 10    # A\n", "a = 10", "c\nd", "c\nd         # A\n"),
    ],
)
def test_a_statement_is_replaced(text: str, part: str, new: str, expected: str) -> None:
    assert edited(text, ReplaceStatement(span_of(text, part), new)) == expected


@pytest.mark.parametrize(
    ("text", "edit", "said"),
    [
        ("x = a\n", ReplaceExpression(Span(1, 4, 1, 5), "b +"), "not one expression"),
        ("x = a\n", ReplaceExpression(Span(1, 3, 1, 5), "b"), "nothing that can be edited"),
        ("x = f'{a}'\n", ReplaceExpression(Span(1, 7, 1, 8), "b"), "f-string"),
        ("x\n", ReplaceStatement(Span(1, 0, 1, 1), "if"), "does not parse"),
        ("if x:\n  y\n", ReplaceStatement(Span(1, 0, 2, 3), "z"), "simple statement"),
        ("x\n\x0cy\n", ReplaceExpression(Span(1, 0, 1, 1), "z"), "every byte"),
        ("x\ry\r", ReplaceExpression(Span(1, 0, 1, 1), "z"), "every byte"),
        ("if a: b\nelif c: d\n", InsertBefore(Span(2, 0, 2, 9), "z"), "elif"),
        ("a # A\n", RemoveStatement(Span(1, 0, 1, 1), Span(1, 0, 1, 1)), "nowhere to go"),
        ("return(a, b)\n", ReplaceExpression(Span(1, 6, 1, 12), "c"), "does not fit"),
    ],
)
def test_what_cannot_be_done_cleanly_is_refused(text: str, edit: Edit, said: str) -> None:
    with pytest.raises(EditError, match=said):
        edited(text, edit)


def test_an_error_names_its_edit() -> None:
    good = ReplaceExpression(Span(1, 4, 1, 5), "b")
    bad = ReplaceExpression(Span(2, 4, 2, 5), "b +")
    with pytest.raises(EditError) as caught:
        edited("x = a\ny = a\n", good, bad)
    assert caught.value.edit == bad


def test_no_edits_need_no_parse() -> None:
    assert edited("not python (") == "not python ("


STATEMENTS = st.sampled_from(
    [
        "x = old",
        "f(old,  # why\n  y)",
        "a; old; b",
        "old ; b",
        "# only a comment",
        "",
        "pass  # é",
        "y",
    ]
)
BLOCKS = st.sampled_from(["", "if x:", "for i in x:", "def f():", "with y as z:"])


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Small programs in every style of indentation and line ending."""
    indent = draw(st.sampled_from(["  ", "    ", "\t"]))
    lines: list[str] = []
    for header in draw(st.lists(BLOCKS, max_size=5)):
        body = draw(st.lists(STATEMENTS, max_size=4))
        if header:
            lines += [header, indent + "pass"]
        prefix = indent if header else ""
        lines += ["\n".join(prefix + part for part in one.split("\n")) for one in body]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(programs())
def test_all_but_the_replaced_expressions_keeps_its_bytes(text: str) -> None:
    spans = [_span(node) for node in _names(text)]
    edits = [ReplaceExpression(span, "new") for span in spans]
    assert edited(text, *edits) == text.replace("old", "new")


@given(programs(), st.data())
def test_removal_keeps_all_comments_and_all_other_statements(
    text: str, data: st.DataObject
) -> None:
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    if len(statements) < 2:
        return
    victim, heir = data.draw(st.permutations(statements))[:2]
    if _span(victim).overlaps(_span(heir)):
        return
    result = edited(text, RemoveStatement(_span(victim), _span(heir)))
    comments = re.compile("#.*")
    assert sorted(map(str.strip, comments.findall(result))) == sorted(
        map(str.strip, comments.findall(text))
    )
    gone = sum(isinstance(node, ast.stmt) for node in ast.walk(victim))
    left = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(result)))
    assert left in {len(statements) - gone, len(statements) - gone + 1}  # or `pass` in its place
    assert ("\r\n" in result) <= ("\r\n" in text)


def _names(text: str) -> list[ast.Name]:
    nodes = ast.walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, ast.Name) and node.id == "old"]


def _span(node: ast.expr | ast.stmt) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def test_the_comments_of_a_statement_that_moves_stand_above_it_at_its_new_place() -> None:
    text = "b = c\n# The loop.\nfor a in b:\n    # The value.\n    x = f()  # made here\n    g(x)\n"
    place = span_of(text, text[text.index("for") :].rstrip())
    moved = RemoveStatement(span_of(text, "x = f()"), place, moved=True)
    assert edited(text, InsertBefore(place, "x = f()"), moved) == (
        "b = c\n# The value.\n# made here\nx = f()\n# The loop.\nfor a in b:\n    g(x)\n"
    )
