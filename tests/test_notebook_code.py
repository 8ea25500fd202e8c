"""What is IPython's in a cell becomes Python that hides nothing of it, and comes back as it was."""

from __future__ import annotations

import ast

import pytest

from notebook_maker import notebook, sources, written
from tfrewrite import syntax
from tfrewrite.engine import handle_bytes
from tfrewrite.model import Outcome, Status
from tfrewrite.notebooks.code import Code, DoesNotFit, Reader
from tfrewrite.policy import Policy
from toys import TOYS

IN_A_BLOCK = "if x:\n    get_ipython().system('tag1.')\nget_ipython().system('tag2.')"


def read(source: str) -> Code:
    code = Reader("tag").code(source)
    ast.parse(code.python)
    assert code.python.count("\n") == source.count("\n")
    return code


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("%matplotlib inline", "print('tag1.')"),
        ("% matplotlib inline", "print('tag1.')"),
        ("x = 1\n!pip install {x} $y", "x = 1\nget_ipython().system('tag1.', x, y)"),
        ("!echo 'a' \\\n  b\nx = 1", "get_ipython().system('tag1.'\n)\nx = 1"),
        ("if x:\n    !ls\n%pwd", IN_A_BLOCK),
        ("files = !ls", "files = get_ipython().system('tag1.')"),
        ("a, b = !ls", "a, b = get_ipython().system('tag1.')"),
        ("%who", "get_ipython().run_line_magic('tag1.')"),
        ("%time x = f(y)", "print('tag1.'); x = f(y)"),
        ("%time f(y)", "print('tag1.'); print(f(y))"),
        ("%time f(y);", "print('tag1.'); f(y);"),
        ("%timeit -n 10 -r3 f(y)", "for _turn in get_ipython().timeit('tag1.'): print(f(y))"),
        ("!for i in $x; do echo $in; done", "get_ipython().system('tag1.', x)"),
        ("for?", "print('tag1.')"),
        ("f?", "print('tag1.', f)"),
        ("??f.g", "print('tag1.', f)"),
        ("%%time\nx = f()\n%pwd", "print('tag1.')\nx = f()\nget_ipython().system('tag2.')"),
        ("x = 1\n%%time\ny = 2", "x = 1\nget_ipython().system('tag1.')\ny = 2"),
        (
            "%timeit for i in x: f(i)\nx = 1",
            "get_ipython().timeit('tag1.', i, x, f)\nx = 1",
        ),
        ("ls a b\nx = 1", "get_ipython().system('tag1.')\nx = 1"),
        ("pip = 3\nls = 4", "pip = 3\nls = 4"),
        ("cat * 3; x = 1", "cat * 3; x = 1"),
        ("# note\n%%time\nx = 1", "# note\nprint('tag1.')\nx = 1"),
        ("\n%%time\nf()", "\nprint('tag1.')\nprint(f())"),
        ("%%capture --no-stderr\nx = 1", "print('tag1.')\nx = 1"),
        ("%load_ext tensorboard", "print('tag1.')"),
        ("from __future__ import division\nx = 1", "'tag1.'\nx = 1"),
        # No magic.
        ("s = '''\n%time f()\n!ls\n'''", "s = '''\n%time f()\n!ls\n'''"),
        ("s = f(a\n%b)\nx = 1", "s = f(a\n%b)\nx = 1"),
        ("s = a \\\n%b", "s = a \\\n%b"),
        ("s = \"#'\"  # '''\nt = 1 % 2", "s = \"#'\"  # '''\nt = 1 % 2"),
        ("x = a != b", "x = a != b"),
        ("# !ls\nx = 1  # what?", "# !ls\nx = 1  # what?"),
        ("s = r'\\\\'\nx = s", "s = r'\\\\'\nx = s"),
        # What a cell shows.
        ("f(x)", "print(f(x))"),
        ("f(x);", "f(x);"),
        ("f(x) ; # no", "f(x) ; # no"),
        ("é, *x", "print(é, *x)"),
        ("(é + \n 1)", "(print(é + \n 1))"),
        ("x = 1; x", "x = 1; print(x)"),
        ("for i in x:\n    i", "for i in x:\n    i"),
        ("(x := 3)", "(print(x := 3))"),
        ("# nothing", "# nothing"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_cell_as_python(source: str, python: str) -> None:
    code = read(source)
    assert code.python == python
    assert not code.changes_names
    assert code.back(code.python) == source
    assert code.back(code.python.replace("x = 1", "x = 2")) == source.replace("x = 1", "x = 2")


@pytest.mark.parametrize(
    "source",
    [
        "%%bash\nfor i in a; do\n'",
        "%%writefile a.py\nx = (",
        "%%html\n<b>it's</b>",
        "%%bash --bg\nls",
        "%%python2\nprint 'a'",
        "%%HTML\n<b>",
        "# note\n%%bash\nls",
        "%%timeit -n 3\nf(x)\ny = 2",
        "  x = 1\n  y = f(x)",
    ],
)
def test_a_cell_of_another_language_is_left_as_it_is(source: str) -> None:
    code = read(source)
    assert code.frozen
    assert not code.changes_names
    assert code.back(code.python) == source
    with pytest.raises(DoesNotFit):
        code.back(code.python + "x = 1")


@pytest.mark.parametrize(
    ("source", "magic"),
    [
        ("%run a.py", "`%run`"),
        ("%pylab inline", "`%pylab`"),
        ("%load_ext mine", "`%load_ext`"),
        ("%store -r x", "`%store`"),
        ("x = %sql select 1", "`%`"),
        ("self.x = !ls", "`!`"),
        ("%time for i in x: f(i)", "`%time`"),
        ("%time !ls", "`%time`"),
        ("%%capture out\nf()", "`%%capture`"),
        ("%%timeit\n!f()", "`%%timeit`"),
        ("%%script --out x bash\nls", "`%%script`"),
        ("%%mine\nf()", "`%%mine`"),
        ("/f 1", "`/`"),
        ("await f()", "the `await` outside of functions"),
        ("x = [i async for i in y]", "the `async` outside of functions"),
        ("x = 1\ry = 2", "a carriage return within a line"),
    ],
)
def test_what_may_change_any_name_is_named(source: str, magic: str) -> None:
    code = Reader("tag").code(source)
    assert code.changes_names == magic
    assert code.back(code.python) == source


def test_await_in_a_function_is_python() -> None:
    assert not read("async def f():\n    await g()\n    return [i async for i in y]").frozen


def test_an_indented_cell_is_seen_without_its_indentation() -> None:
    code = read("  if x:\n    f(y)\n  f(x)")
    assert code.python == "if x:\n  f(y)\nprint(f(x))"
    assert (code.column(2, 2), code.column(3, 6)) == (4, 2)
    assert read("  \n\n\tx = 1\n\ty = 2").python == "  \n\nx = 1\ny = 2"
    assert not read("  \nx = 1").frozen
    assert read("   ").python == "   "


def test_a_shown_value_has_its_own_columns() -> None:
    code = read("x = 1; f(y)")
    assert [code.column(1, column) for column in (0, 7, 13, 15)] == [0, 7, 7, 9]


def test_a_magic_that_is_moved_or_doubled_does_not_fit() -> None:
    code = read("x = 1\n!ls\ny = 2")
    for wrong in ("x = 1\ny = 2", code.python + "\n" + code.python):
        with pytest.raises(DoesNotFit):
            code.back(wrong)


def handled(*cells: str) -> Outcome:
    return handle_bytes(written(notebook(*cells)), "n.ipynb", Policy(TOYS))


def test_nothing_is_rewritten_where_names_may_have_changed() -> None:
    outcome = handled("x = old(1)", "%run other.py")
    assert outcome.status is Status.UNCHANGED
    (refused,) = outcome.refusals
    assert (refused.reason, refused.message) == (
        "cannot-edit",
        "old -> new: `%run` in cell 2 may change what any name means",
    )


def test_code_that_a_magic_runs_is_looked_at_and_not_edited() -> None:
    outcome = handled("%time x = old(1)\ny = old(2)", "%time bug()")
    assert sources(outcome.after.encode()) == ["%time x = old(1)\ny = new(2)", "%time bug()"]
    assert [one.reason for one in outcome.refusals] == ["cannot-edit"]
    assert [one.rule for one in outcome.findings] == ["TFR901", "TFR904"]


def test_no_word_of_a_notebook_is_taken_for_one_of_ours() -> None:
    cells = ["x = 'tfrewrite 1.'\n!ls", "'tfrewrite cell 1'\nold(1)", "s = '''tfrewrite - '''"]
    outcome = handled(*cells)
    assert sources(outcome.after.encode()) == [
        cells[0],
        "'tfrewrite cell 1'\nnew(1)",
        cells[2],
    ]


def test_a_future_import_stays_in_its_cell() -> None:
    cells = ["x = old(1)", "from __future__ import print_function\ny = old(2)"]
    after = sources(handled(*cells).after.encode())
    assert after == [one.replace("old", "new") for one in cells]


def test_a_syntax_error_names_the_line_of_the_cell() -> None:
    with pytest.raises(syntax.NotPython, match="line 3: syntax error"):
        Reader("tag").code("x = 1\n!ls\ny = = 2")


def test_messages_quote_what_the_owner_wrote() -> None:
    found = read("!ls {x} \\\n  -l\n%cd a")
    assert list(found.in_messages()) == [
        ("get_ipython().system('tag1.', x)", "!ls {x} \\"),
        ("get_ipython().system('tag2.')", "%cd a"),
    ]
    assert list(read("%%bash\nls").in_messages()) == [("get_ipython().system('tag1.')", "%%bash")]
