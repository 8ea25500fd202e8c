"""A notebook is rewritten cell by cell, and nothing else of it changes."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_maker import STYLES, Style, cell, notebook, sources, written
from tfrewrite.edits import InsertBefore, RemoveStatement, ReplaceExpression
from tfrewrite.engine import LARGEST, handle, handle_bytes
from tfrewrite.model import Contract, Outcome, Rewrite, Site, Status
from tfrewrite.policy import Policy
from tfrewrite.rule import Rule
from toys import TOYS, HoistMake, MergePairs, RenameOld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.policy import Chooser


class MoveUp(Rule):
    """Moves `moved()` above `target()`, and copies what `copied` is given to the top."""

    code = "TFR990"
    name = "move-up"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"target",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        body = facts.source.tree.body
        target = next(one for one in body if "target()" in ast.unparse(one))
        for one in body:
            if ast.unparse(one) == "moved()":
                span, above = facts.source.span(one), facts.source.span(target)
                edits = (InsertBefore(above, "moved_up()\n"), RemoveStatement(span, above))
                yield Rewrite(span, f"line {one.lineno}", "it can be", Contract.EXACT, edits)


class Both(Rule):
    """Renames `here` and `there` in one rewrite."""

    code = "TFR991"
    name = "both"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"here",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        names = [one for one in ast.walk(facts.source.tree) if isinstance(one, ast.Name)]
        found = [one for one in names if one.id in {"here", "there"}]
        if found:
            edits = tuple(
                ReplaceExpression(facts.source.span(one), one.id.upper()) for one in found
            )
            span = facts.source.span(found[0])
            yield Rewrite(span, "both", "lines 2 and 4", Contract.EXACT, edits)


class Show(Rule):
    """Makes `x = quiet()` a plain call."""

    code = "TFR992"
    name = "show"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"quiet",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        from tfrewrite.edits import ReplaceStatement  # noqa: PLC0415

        for one in facts.source.tree.body:
            if isinstance(one, ast.Assign) and "quiet()" in ast.unparse(one):
                span = facts.source.span(one)
                edits = (ReplaceStatement(span, "loud()"),)
                yield Rewrite(span, "show", "it is", Contract.EXACT, edits)


def handled(
    data: bytes, *rules: type[Rule], choose: Chooser | None = None, path: str = "n.ipynb"
) -> Outcome:
    return handle_bytes(data, path, Policy(rules or TOYS), choose=choose)


def rewritten(*cells: str, rules: tuple[type[Rule], ...] = TOYS) -> list[str]:
    outcome = handled(written(notebook(*cells)), *rules)
    assert outcome.status in {Status.WOULD_REWRITE, Status.UNCHANGED}, outcome.error
    after = outcome.after or written(notebook(*cells)).decode()
    return sources(after.encode())


# What stays.


OUTPUT = {
    "output_type": "display_data",
    "data": {"image/png": "iVBORw0KGgo=" * 50, "text/plain": ["<Figure>\n", "old(1) é\n"]},
    "metadata": {"needs_background": "light", "z": 1, "a": 1e-7},
}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_only_the_lines_that_are_rewritten_differ(style: Style) -> None:
    made = notebook(
        cell("# Title with old(1), é and \u2028", "markdown"),
        cell("x = 1  # é < 2\ny = old(x)\ns = 'a\\tb\\\\' if x < 2 else \"q\"", outputs=[OUTPUT]),
        cell("old(1)", "raw"),
        cell("print('\U0001f600', old(3))", metadata={"cellView": "form", "id": "ü"}),
        colab={"name": "old(7).ipynb", "toc_visible": True},
    )
    data = written(made, style)
    outcome = handled(data)
    assert outcome.status is Status.WOULD_REWRITE
    after = outcome.after.encode(outcome.encoding)
    for new, old in (("y = new(x)", "y = old(x)"), ("', new(3))", "', old(3))")):
        assert after.count(new.encode()) == 1
        after = after.replace(new.encode(), old.encode())
    assert after == data


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_lines_come_and_go_in_every_style(style: Style) -> None:
    made = notebook("for i in x:\n    f(make())", "x = one(1)\ny = one(2)\nz = 'é'", "x < 1")
    outcome = handled(written(made, style))
    for one, source in zip(
        made["cells"],
        ("made_0 = make()\nfor i in x:\n    f(made_0)", "x, y = many(1, 2)\nz = 'é'", "x < 1"),
        strict=True,
    ):
        one["source"] = source
    assert outcome.after.encode(outcome.encoding) == written(made, style)


def test_a_single_line_becomes_several_in_the_style_of_the_notebook() -> None:
    before = notebook("for i in x: f(make())")
    after = notebook("made_0 = make()\nfor i in x: f(made_0)")
    for name in ("jupyter", "colab", "strings", "windows", "spaced"):
        outcome = handled(written(before, STYLES[name]))
        assert outcome.after.encode(outcome.encoding) == written(after, STYLES[name]), name


def test_a_list_that_divides_lines_oddly_keeps_what_it_says() -> None:
    data = written(notebook(cell(["x = o", "ld(1)\ny = 2\n", "", "z = old(3)"])))
    after = handled(data).after
    assert json.loads(after)["cells"][0]["source"] == ["x = new(1)\n", "y = 2\n", "z = new(3)"]


def test_line_ends_within_sources_stay() -> None:
    data = written(notebook("x = old(1)\r\nfor i in x:\r\n    f(make())\r\n"))
    assert sources(handled(data).after.encode()) == [
        "x = new(1)\r\nmade_0 = make()\r\nfor i in x:\r\n    f(made_0)\r\n"
    ]
    assert handled(written(notebook("x = old(1)\r\ny = 2\n"))).status is Status.UNCHANGED


def test_nbformat_reads_the_same_notebook_back(tmp_path: Path) -> None:
    for number, style in enumerate(STYLES.values()):
        path = tmp_path / f"{number}.ipynb"
        made = notebook(cell("old(1)", "markdown"), "y = old(1)", cell("x = 2", outputs=[OUTPUT]))
        path.write_bytes(written(made, style).removeprefix(b"\xef\xbb\xbf"))
        before = nbformat.read(path, as_version=4)
        outcome = handle(str(path), Policy(TOYS, write=True))
        assert outcome.status is Status.REWRITTEN
        after = nbformat.read(path, as_version=4)
        nbformat.validate(after)
        assert after.cells[1].source == "y = new(1)"
        after.cells[1].source = "y = old(1)"
        assert after == before
        assert handle(str(path), Policy(TOYS, write=True)).status is Status.UNCHANGED


WORDS = st.sampled_from([
    "x = 1", "y = old(x)", "é = 'ü\\n\"<&>'", "", "# old(1)", "for i in x:\n    f(make())",
    "a = one(1)\nb = one(2)", "!ls {x} old(1)", "%matplotlib inline", "s = '''\n%time old(1)\n'''",
    "f(\n  old(1),\n)", "old(2)", "old(2);", "%time old(3)", "z = !ls", "if x:\n    %cd /tmp",
    "f'{x}\t{y}'", "x?", "\f", "pass  # \U0001f600",
])  # fmt: skip
SOURCES = st.lists(WORDS, max_size=5).map("\n".join)
CELLS = st.lists(
    st.builds(cell, SOURCES, st.sampled_from(["code", "code", "code", "markdown", "raw"])),
    max_size=6,
)
ANY_STYLE = st.builds(
    Style,
    indent=st.sampled_from([None, 0, 1, 2, "\t"]),
    separators=st.sampled_from([None, (",", ":"), (", ", ": "), (" , ", " : ")]),
    ascii_only=st.booleans(),
    as_string=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n"]),
    trailing=st.sampled_from(["", "\n", "\n\n"]),
    mark=st.booleans(),
    for_html=st.booleans(),
    sorted=st.booleans(),
)


@given(CELLS, ANY_STYLE)
def test_nothing_to_do_leaves_every_byte(cells: list[dict[str, object]], style: Style) -> None:
    data = written(notebook(*cells), style)
    outcome = handled(data, MoveUp)
    assert outcome.status is Status.UNCHANGED, outcome.error
    # What the cells are read as says the same again.
    from tfrewrite.notebooks.notebook import Notebook  # noqa: PLC0415

    read = Notebook.read(data.decode("utf-8-sig"))
    assert read.rewritten(read.text) == data.decode("utf-8-sig")
    ast.parse(read.text)


@given(CELLS, ANY_STYLE)
def test_what_is_outside_of_changed_sources_stays(
    cells: list[dict[str, object]], style: Style
) -> None:
    made = notebook(*cells)
    data = written(made, style)
    outcome = handled(data)
    assert outcome.status in {Status.WOULD_REWRITE, Status.UNCHANGED}, outcome.error
    if outcome.status is Status.UNCHANGED:
        return
    after = outcome.after.encode(outcome.encoding)
    changed = {one.number for one in outcome.cells}
    old, new = sources(data), sources(after)
    assert changed == {n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b}
    assert {one.number: (one.before, one.after) for one in outcome.cells} == {
        n: (old[n - 1], new[n - 1]) for n in changed
    }
    assert _outside(data, changed) == _outside(after, changed)
    before_json, after_json = (json.loads(one.decode("utf-8-sig")) for one in (data, after))
    for number in changed:
        for one in (before_json, after_json):
            one["cells"][number - 1]["source"] = None
    assert before_json == after_json
    assert handled(after).status is Status.UNCHANGED


def _outside(data: bytes, changed: set[int]) -> str:
    """The bytes of a notebook without the sources of some cells; `"source"` is only ever a key."""
    text = data.decode()
    number = -1
    found = []
    done = 0
    for match in re.finditer(
        r'"source"\s*:\s*("(?:\\.|[^"\\])*"|\[(?:\s*"(?:\\.|[^"\\])*"\s*,?)*\s*\])', text
    ):
        number += 1
        if number + 1 in changed:
            found.append(text[done : match.start(1)])
            done = match.end(1)
    return "".join([*found, text[done:]])


# Cells.


def test_cells_are_analysed_together_and_edited_apart() -> None:
    cells = ["a = one(1)", "b = one(2)\nc = one(3)", "for i in b:\n    g(make())"]
    assert rewritten(*cells) == [
        "a = one(1)",
        "b, c = many(2, 3)",
        "made_0 = make()\nfor i in b:\n    g(made_0)",
    ]


def test_code_does_not_move_to_another_cell() -> None:
    assert rewritten("target()\nx = 1\nmoved()\ny = 1", rules=(MoveUp,)) == [
        "moved_up()\ntarget()\nx = 1\ny = 1"
    ]
    outcome = handled(written(notebook("target()", "x = 1\nmoved()\ny = 1")), MoveUp)
    assert outcome.status is Status.UNCHANGED
    (refused,) = outcome.refusals
    assert refused.reason == "cannot-edit"
    assert refused.message == "line 2 of cell 2: it would move code from one cell to another"


def test_one_rewrite_may_change_several_cells_each_by_itself() -> None:
    assert rewritten("x = here", "y = 1", "z = there", rules=(Both,)) == [
        "x = HERE",
        "y = 1",
        "z = THERE",
    ]


def test_new_code_stays_in_the_cell_of_what_it_stands_beside() -> None:
    cells = ["x = 1\n# the end of a cell\n", "# the loop\nfor i in x:\n    f(make())\n\n"]
    assert rewritten(*cells) == [
        "x = 1\n# the end of a cell\n",
        "made_0 = make()\n# the loop\nfor i in x:\n    f(made_0)\n\n",
    ]


class Above(Rule):
    """Puts a function above `target()`, as a file has it: below two blank lines."""

    code = "TFR992"
    name = "above"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"target",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for one in facts.source.tree.body:
            if ast.unparse(one) == "target()":
                span = facts.source.span(one)
                edits = (InsertBefore(span, "\n\ndef f(): pass\n\n\n"),
                         ReplaceExpression(span, "f()"))  # fmt: skip
                yield Rewrite(span, "above", "it can be", Contract.EXACT, edits)


def test_no_blank_lines_come_to_the_top_of_a_cell() -> None:
    old, new = "target()\ny = 1", "def f(): pass\n\n\nf()\ny = 1"
    assert rewritten("x = 1", old, rules=(Above,)) == ["x = 1", new]
    assert rewritten(f"\n{old}", rules=(Above,)) == [f"\n\n\n{new}"]
    assert rewritten(f"%%time\n{old}", rules=(Above,)) == [f"%%time\n\n\n{new}"]
    data = written(notebook(old.replace("\n", "\r\n")))
    assert sources(handled(data, Above).after.encode()) == [new.replace("\n", "\r\n")]


def test_lines_in_messages_are_those_of_cells() -> None:
    outcome = handled(written(notebook("x = here", "y = 1", "z = there")), Both)
    assert outcome.findings[0].because == "line 1 of cell 1 and line 1 of cell 2"


def test_the_value_that_a_cell_shows_is_read_and_stays_shown() -> None:
    assert rewritten("x = 1\nold(x)  # shown", "old(2);", "(old(3))", "a, old(4)") == [
        "x = 1\nnew(x)  # shown",
        "new(2);",
        "(new(3))",
        "a, new(4)",
    ]
    # A value that was not shown must not be shown by a rewrite, and the other way round.
    outcome = handled(written(notebook("x = quiet()")), Show)
    assert "would show a value that it does not show now" in outcome.refusals[0].message
    assert rewritten("x = quiet()\ny = 1", rules=(Show,)) == ["loud()\ny = 1"]
    outcome = handled(written(notebook("target()\nx = 1\nmoved()")), MoveUp)
    assert outcome.status is Status.UNCHANGED  # `moved()` was what the cell shows


def test_exemptions_hold_in_cells() -> None:
    cells = ["x = old(1)  # tfrewrite: ignore", "y = old(2)", "# tfrewrite: ignore[TFR902]"]
    outcome = handled(written(notebook(*cells)))
    assert sources(outcome.after.encode()) == [cells[0], "y = new(2)", cells[2]]
    (notice,) = outcome.notices
    assert notice.cell is not None and (notice.cell.number, notice.cell.line) == (3, 1)
    assert notice.message == "this exemption from TFR902 exempts nothing; remove it"


def test_places_are_those_of_the_cell_and_of_the_file() -> None:
    made = notebook(cell("# one", "markdown"), "x = 1\n\nz = 'é\"\\\\', old(1)", "old(*x)")
    for name, style in STYLES.items():
        data = written(made, style)
        outcome = handled(data)
        (finding,), (refused,) = outcome.findings, outcome.refusals
        assert finding.cell is not None and refused.cell is not None
        assert (finding.cell.number, finding.cell.line, finding.cell.column) == (2, 3, 12)
        assert (refused.cell.number, refused.cell.line, refused.cell.column) == (3, 1, 0)
        text = data.decode("utf-8-sig")
        lines = re.split(r"\r\n|\n", text)
        for span, code in ((finding.span, "old(1)"), (refused.span, "old(*x)")):
            assert span.line == span.end_line
            assert lines[span.line - 1][span.column : span.end_column] == code, name
        assert finding.touched == (finding.span.line,)


def test_a_rewrite_is_asked_about_in_its_cell() -> None:
    asked = []

    def choose(finding: object, before: str, after: str) -> bool:
        asked.append((before, after))
        return "2" in after

    outcome = handled(written(notebook("x = old(1)", "%time y = 3\nz = old(2)")), choose=choose)
    assert asked[0] == ("x = old(1)\n", "x = new(1)\n")
    assert asked[1] == ("%time y = 3\nz = old(2)\n", "%time y = 3\nz = new(2)\n")
    assert sources(outcome.after.encode()) == ["x = old(1)", "%time y = 3\nz = new(2)"]


# What is no notebook for us.


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: not valid JSON: Expecting value"),
        (b'{"cells": [', "not valid JSON"),
        (b'{"cells": [{"source": ["a\n"]}]}', "not valid JSON: Invalid control character"),
        (b'{"cells": []} x', "not valid JSON: Extra data"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "it is JSON and no notebook"),
        (b'{"nbformat": 4}', "it is JSON and no notebook"),
        (b'{"cells": [], "nbformat": 5}', "nbformat 5 is not known; convert it with"),
        (b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', "cell 1 has no source"),
        (b'{"cells": [{"cell_type": "code", "source": 3}], "nbformat": 4}', "cell 1 has no source"),
        (
            b'{"worksheets": [{"cells": []}], "nbformat": 3}',
            "nbformat 3; convert it with `jupyter nbconvert --to notebook --inplace`",
        ),
        (b'{"a": "\xff"}', "line 1: is not UTF-8"),
        (written(notebook("x = 1", "y = 2\nprint 'a'")), "cell 2, line 2: Python 2 syntax"),
        (written(notebook(cell("#", "markdown"), "def f(:")), "cell 2, line 1: syntax error"),
        (written(notebook("'''", "'''")), "cell 1, line 1: syntax error"),
        (written(notebook("if x:", "    y = 1")), "cell 1, line 1: syntax error"),
        (
            written(notebook("print 'a'", kernelspec={"name": "python2"})),
            "cell 1, line 1: Python 2 syntax",
        ),
    ],
)
def test_damaged_and_foreign_files_fail_with_a_message(data: bytes, message: str) -> None:
    outcome = handled(data)
    assert outcome.status is Status.FAILED
    assert message in outcome.error


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"kernelspec": {"language": "R", "name": "ir"}}, "its kernel runs r, not Python"),
        ({"language_info": {"name": "julia"}}, "its kernel runs julia, not Python"),
        ({"kernelspec": {"name": "python2", "language": "python"}}, "its kernel is Python 2"),
        ({"language_info": {"name": "python", "version": "2.7.1"}}, "its kernel is Python 2"),
    ],
)
def test_notebooks_of_other_languages_are_left_alone(
    metadata: dict[str, object], reason: str
) -> None:
    outcome = handled(written(notebook("x = old(1)", **metadata)))
    assert outcome.status is Status.SKIPPED
    assert reason in outcome.error


def test_large_outputs_do_not_matter_and_much_code_does() -> None:
    big = {"output_type": "stream", "name": "stdout", "text": ["x" * 2 * LARGEST]}
    assert handled(written(notebook(cell("x = old(1)", outputs=[big])))).after
    outcome = handled(written(notebook(*["x = old(1)\n" * 10_000] * 10)))
    assert outcome.status is Status.SKIPPED


def test_a_notebook_without_metadata_or_cells_is_one_of_python() -> None:
    assert handled(b'{"cells": [], "nbformat": 4}').status is Status.UNCHANGED
    data = b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x = old(1)"]}, 3]}'
    assert handled(data).after == data.decode().replace("old", "new")


def test_a_source_given_twice_counts_as_it_is_read() -> None:
    data = (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "old(1)", "source": "old(2)"}]}'
    )
    assert handled(data).after == data.decode().replace("old(2)", "new(2)")


def test_rules_that_have_nothing_to_look_for_see_nothing() -> None:
    assert handled(written(notebook("x = 1")), RenameOld, MergePairs, HoistMake) == Outcome(
        "n.ipynb", Status.UNCHANGED
    )
