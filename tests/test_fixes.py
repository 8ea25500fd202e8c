"""What each rewrite alone would replace."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_maker import STYLES, notebook, sources, written
from report_samples import SOURCE
from tfrewrite.analysis.facts import Facts
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns
from tfrewrite.edits import ReplaceExpression, apply_edits
from tfrewrite.engine import handle_bytes, rewrite_text
from tfrewrite.fixes import replacements, with_fixes
from tfrewrite.model import Contract, Outcome, Replacement, Rewrite, Site, Span
from tfrewrite.policy import Policy
from tfrewrite.rule import Rule
from toys import TOYS


def applied(text: str, fix: tuple[Replacement, ...]) -> str:
    """The text as a reader of SARIF makes it: columns in lines that end with a newline."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for one in sorted(fix, key=lambda one: one.span, reverse=True):
        span = one.span
        begin = starts[span.line - 1] + span.column
        end = starts[span.end_line - 1] + span.end_column
        text = text[:begin] + one.text + text[end:]
    return text


LINES = st.lists(st.sampled_from(["a", "b", "", "\tc", "é\r"]), max_size=8).map("\n".join)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_replacements_make_one_text_of_the_other(
    before: str,
    after: str,
    ended: bool,  # noqa: FBT001
    too: bool,  # noqa: FBT001
) -> None:
    before += "\n" * ended
    after += "\n" * too
    assert applied(before, tuple(replacements(before, after))) == after


def test_each_finding_has_its_own() -> None:
    outcome = with_fixes(rewrite_text(SOURCE, TOYS))
    assert [(one.rule, bool(one.fix)) for one in outcome.findings] == [
        ("TFR902", False),  # was found in what the first had made
        ("TFR901", True),
        ("TFR901", False),  # so was this: it is judged after the file came to rest
        ("TFR904", False),
    ]
    assert applied(SOURCE, outcome.findings[1].fix) == SOURCE.replace("old(1)", "new(1)")


def test_what_is_only_available_has_one_too() -> None:
    outcome = with_fixes(rewrite_text("x = 1\nold(shift)", TOYS))
    assert outcome.findings[0].fix == (Replacement(Span(2, 0, 2, 10), "new(shift)"),)


def test_what_was_made_has_none() -> None:
    outcome = rewrite_text("old(1)\n", TOYS)
    made = replace(outcome, findings=tuple(replace(f, applied=True) for f in outcome.findings))
    assert with_fixes(made) == made


@pytest.mark.parametrize("style", STYLES)
def test_of_a_notebook(style: str) -> None:
    """What is replaced is JSON, in any style of it; an edit leaves all around it alone."""
    cells = ('# "é" \U0001f600\nx = old(1)', "for i in x:\n\ty = 2\n\tf(make())\nbug()")
    data = written(notebook(*cells), STYLES[style])
    outcome = with_fixes(handle_bytes(data, "n.ipynb", Policy(TOYS)))
    fixes = {one.rule: one.fix for one in outcome.findings}
    assert not fixes["TFR904"]
    made = applied(outcome.before, fixes["TFR901"])
    assert made == outcome.before.replace("old(1)", "new(1)")
    assert len(fixes["TFR901"][0].text) == 3
    both = applied(made, fixes["TFR903"])
    assert both == outcome.after
    assert json.loads(both)["cells"]


class InBoth(Rule):
    """Renames `first` and `second` in one rewrite, wherever they are."""

    code = "TFR911"
    name = "in-both"
    contracts = (Contract.EXACT,)
    triggers = ((b"first",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        names = [one for one in facts.source.all(ast.Name) if one.id in {"first", "second"}]
        spans = [facts.source.span(one) for one in names]
        if spans:
            edits = tuple(ReplaceExpression(span, "other") for span in spans)
            yield Rewrite(spans[0], "both", "they are one", Contract.EXACT, edits)


def test_of_two_cells() -> None:
    data = written(notebook("x = first", "y = 1", "y = 2\nx = second\n"))
    outcome = with_fixes(handle_bytes(data, "n.ipynb", Policy((InBoth,))))
    (finding,) = outcome.findings
    assert [one.text for one in finding.fix] == ["other", "other"]
    text = applied(outcome.before, finding.fix)
    assert text == outcome.after
    assert sources(text.encode()) == ["x = other", "y = 1", "y = 2\nx = other\n"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_of_a_real_rule(newline: str) -> None:
    source = newline.join(
        [
            "import tensorflow as tf",
            "x = tf.placeholder(tf.float32)",
            "a = x + 1",
            "b = x * 2",
            "with tf.Session() as sess:",
            "    for i in range(3):",
            "        p = sess.run(a, feed_dict={x: i})",
            "        q = sess.run(b, feed_dict={x: i})",
            "        print(p, q)",
            "",
        ]
    )
    outcome: Outcome = with_fixes(rewrite_text(source, (MergeSessionRuns,)))
    (finding,) = [one for one in outcome.findings if one.fix]
    assert applied(source, finding.fix) == apply_edits(source, finding.edits) == outcome.after
