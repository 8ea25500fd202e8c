"""One file in, one outcome out, whatever the file is."""

from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrewrite.edits import ReplaceExpression
from tfrewrite.engine import LARGEST, handle, handle_bytes, rewrite_text
from tfrewrite.model import (
    Contract,
    Finding,
    Kind,
    Outcome,
    Refusal,
    Report,
    Rewrite,
    Site,
    Span,
    Status,
)
from tfrewrite.policy import Policy
from tfrewrite.registry import all_rules
from tfrewrite.rule import Rule
from toys import TOYS, Crash, Grow, HoistMake, MergePairs, RenameOld, ReportBug

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

POLICY = Policy(TOYS)


def handled(data: bytes, *, policy: Policy = POLICY, named: bool = True) -> Outcome:
    return handle_bytes(data, "x.py", policy, named=named)


def test_several_rules_in_one_file() -> None:
    text = "import x\na = one(old(1))\nb = one(2)  # B\nfor i in a:\n    bug(make())\n"
    outcome = rewrite_text(text, TOYS, path="train.py")
    assert outcome.after == (
        "import x\n# B\na, b = many(new(1), 2)\nmade_0 = make()\nfor i in a:\n    bug(made_0)\n"
    )
    assert outcome.status is Status.WOULD_REWRITE
    assert outcome.path == "train.py"
    assert [(one.rule, one.span.line, one.kind) for one in outcome.findings] == [
        ("TFR902", 2, Kind.REWRITE),
        ("TFR901", 2, Kind.REWRITE),
        ("TFR904", 5, Kind.REPORT),
        ("TFR903", 5, Kind.REWRITE),
    ]
    assert not any(one.applied for one in outcome.findings)
    assert outcome.findings[0].touched == (2, 3)


def test_later_rounds_report_the_lines_of_the_file_on_disk() -> None:
    text = "a = one(1)\nb = one(2)\nfor i in a:\n    f(make())\n    f(make())\n\nold(1)\n"
    outcome = rewrite_text(text, TOYS)
    assert [(one.rule, one.span.line) for one in outcome.findings] == [
        ("TFR902", 1),
        ("TFR903", 4),
        ("TFR903", 5),
        ("TFR901", 7),
    ]


class TellLines(Rule):
    """Reports and refuses what it finds, with other lines in its words."""

    code = "TFR990"
    name = "tell-lines"
    contracts: ClassVar[tuple[Contract, ...]] = ()
    triggers = ((b"told",),)
    reasons: ClassVar[dict[str, str]] = {"told": "It is told."}

    def sites(self, facts: Facts) -> Iterator[Site]:
        lines = [n.lineno for n in ast.walk(facts.source.tree) if isinstance(n, ast.Pass)]
        span = Span(1, 0, 1, 3)
        for text in (
            f"`pass` in line {lines[0]} and line {lines[1]}",
            f"lines {lines[0]}, {lines[1]} and 1 have 7 of `deadline 9`",
        ):
            yield Report(span, text)
            yield Refusal(span, "told", text)


def test_lines_in_messages_are_those_of_the_file_on_disk() -> None:
    text = "told = one(1)\nb = one(2)\nfor i in a:\n    f(make())\npass\n\npass\n"
    outcome = rewrite_text(text, (*TOYS, TellLines))
    expected = ["`pass` in line 5 and line 7", "lines 5, 7 and 1 have 7 of `deadline 9`"]
    reports = [one.message for one in outcome.findings if one.rule == "TFR990"]
    assert reports == [one.message for one in outcome.refusals] == expected
    assert "told, b = many(1, 2)\nmade_0 = make()\n" in outcome.after


def test_what_is_not_allowed_is_offered() -> None:
    outcome = rewrite_text("old(shift)\n", TOYS)
    (finding,) = outcome.findings
    assert outcome.status is Status.UNCHANGED
    assert not finding.applicable
    assert finding.changes == "`shift` is read one step late"
    allowed = rewrite_text("old(shift)\n", TOYS, allowed=[Contract.SHIFTED])
    assert allowed.after == "new(shift)\n"


def test_a_rule_without_its_trigger_is_not_asked() -> None:
    assert handled(b"x = 1\n", policy=Policy((Crash,))).status is Status.UNCHANGED


def test_a_crashing_rule_fails_its_file_and_is_named() -> None:
    outcome = handled(b"old(1)\ncrash()\n", policy=Policy((RenameOld, Crash)))
    assert outcome.status is Status.FAILED
    assert outcome.error.startswith("TFR905 failed: KeyError: 'crash()' (toys.py:")
    assert "\n" not in outcome.error


def test_rules_that_do_not_come_to_rest() -> None:
    outcome = handled(b"grow(1)\n", policy=Policy((Grow,)))
    assert outcome.status is Status.FAILED
    assert "TFR906 do not come to rest" in outcome.error


class Impossible(Rule):
    """Its edit names no node."""

    code = "TFR907"
    name = "impossible"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"x",),)
    text = "new +"

    def sites(self, facts: Facts) -> Iterator[Site]:
        for node in ast.walk(facts.source.tree):
            if isinstance(node, ast.Name) and node.id == "x":
                span = facts.source.span(node)
                edits = (ReplaceExpression(span, self.text),)
                yield Rewrite(span, "x away", "none", Contract.EXACT, edits)


class Broken(Impossible):
    """Its edit makes a file that Python does not read."""

    code = "TFR908"
    name = "broken"
    text = "(yield)"


def test_an_edit_that_cannot_be_made_is_a_refusal() -> None:
    outcome = handled(b"x\nold(1)\n", policy=Policy((Impossible, RenameOld)))
    assert outcome.after == "x\nnew(1)\n"
    (refusal,) = outcome.refusals
    assert refusal.reason == "cannot-edit"
    assert refusal.message == "x away: the new code is not one expression"


def test_a_file_that_libcst_does_not_keep_is_not_touched() -> None:
    outcome = handled(b"\x0cold(1)\n")
    assert outcome.status is Status.UNCHANGED
    assert [one.reason for one in outcome.refusals] == ["cannot-edit"]


def test_a_result_that_is_not_python_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("y = x\n")
    outcome = handle(str(path), Policy((Broken,), write=True))
    assert outcome.status is Status.FAILED
    assert "would not compile (line 1" in outcome.error
    assert path.read_text() == "y = x\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'print "hello"\n', "line 1: Python 2 syntax (Missing parentheses in call to 'print'"),
        (b"try:\n    x\nexcept E, e:\n    old(1)\n", "line 3: Python 2 syntax"),
        (b"x = 1\nexec code in d\n", "line 2: Python 2 syntax"),
        (b"raise E, 'x'\n", "line 1: Python 2 syntax"),
        (b"x = 0777\n", "line 1: Python 2 syntax"),
        (b"x = `y`\n", "line 1: Python 2 syntax"),
        (b"if a <> b: pass\n", "line 1: Python 2 syntax"),
        (b"if x:\n\ty\n        z\n", "line 3: tabs and spaces are mixed"),
        (b"x = (\nold(1)\n", "line 1: syntax error: '(' was never closed"),
        (b"def f(:\n", "line 1: syntax error"),
        (b"x = '\xff'\n", "line 1: byte 0xff is not utf-8"),
        (b"\x7fELF\0\0", "null bytes"),
        (b"x = " + b"(" * 250 + b")" * 250, "too many nested parentheses"),
        (b"x = " + b"-" * 20_000 + b"1\n", "nested too deeply"),
    ],
)
@pytest.mark.parametrize("triggered", [True, False])
def test_bad_input_is_one_clear_line(data: bytes, said: str, triggered: bool) -> None:  # noqa: FBT001
    more = b"# old" if triggered else b"# new"
    outcome = handled(data.replace(b"old", b"new") + (more if b"\0" not in data else b""))
    assert outcome.status is Status.FAILED
    assert said in outcome.error
    assert "\n" not in outcome.error


@pytest.mark.parametrize("depth", [900, 20_000])
def test_deep_nesting_is_rewritten_or_named(depth: int) -> None:
    """How deep is too deep for Python depends on its version; LibCST would end the process."""
    outcome = handled(b"y = old(" + b"+".join([b"1"] * depth) + b")\n")
    reasons = [outcome.error, *(refusal.message for refusal in outcome.refusals)]
    rewritten = outcome.status is Status.WOULD_REWRITE
    assert rewritten or any("nested too deeply" in reason for reason in reasons)


def test_a_path_that_cannot_be_read(tmp_path: Path) -> None:
    assert "no such file" in handle(str(tmp_path / "none.py"), POLICY).error
    assert "is a directory" in handle(str(tmp_path), POLICY).error


def test_generated_and_huge_files_are_skipped() -> None:
    generated = b"# @" + b"generated by x\nold(1)\n"
    assert handled(generated, named=False).status is Status.SKIPPED
    assert handled(generated).status is Status.WOULD_REWRITE
    assert handled(b"#" * (LARGEST + 1)).status is Status.SKIPPED


def test_writing_changes_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes("\ufeff# é\r\nold(1)  # \r\n\r\n".encode())
    outcome = handle(str(path), Policy(TOYS, write=True))
    assert outcome.status is Status.REWRITTEN
    assert all(one.applied for one in outcome.findings)
    assert path.read_bytes() == "\ufeff# é\r\nnew(1)  # \r\n\r\n".encode()
    assert handle(str(path), Policy(TOYS, write=True)).status is Status.UNCHANGED


def test_a_read_only_file_fails_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("old(1)\n")
    path.chmod(0o444)
    outcome = handle(str(path), Policy(TOYS, write=True))
    assert outcome.status is Status.FAILED
    assert "read-only" in outcome.error
    assert not any(one.applied for one in outcome.findings)
    assert path.read_text() == "old(1)\n"


def test_a_file_that_changes_while_it_is_handled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.py"
    path.write_text("old(1)\n")

    class Slow(RenameOld):
        """Somebody saves the file while it looks at it."""

        def sites(self, facts: Facts) -> Iterator[Site]:
            path.write_text("theirs\n")
            return super().sites(facts)

    outcome = handle(str(path), Policy((Slow,), write=True))
    assert "changed while it was being handled" in outcome.error
    assert path.read_text() == "theirs\n"
    assert list(tmp_path.iterdir()) == [path]


def test_each_rewrite_can_be_declined() -> None:
    asked: list[tuple[int, str]] = []

    def choose(finding: Finding, before: str, after: str) -> bool:
        asked.append((finding.span.line, after))
        return finding.span.line != 2

    outcome = handle_bytes(b"old(1)\nold(2)\nold(3)\n", "x.py", POLICY, choose=choose)
    assert outcome.after == "new(1)\nold(2)\nnew(3)\n"
    assert asked == [
        (1, "new(1)\nold(2)\nold(3)\n"),
        (2, "old(1)\nnew(2)\nold(3)\n"),
        (3, "old(1)\nold(2)\nnew(3)\n"),
    ]


def test_declining_one_leaves_what_it_stood_in_the_way_of() -> None:
    def choose(finding: Finding, before: str, after: str) -> bool:
        return finding.rule != "TFR902"

    text = b"a = one(old(1))\nb = one(2)\n"
    outcome = handle_bytes(text, "x.py", POLICY, choose=choose)
    assert outcome.after == "a = one(new(1))\nb = one(2)\n"


PIECES = st.lists(
    st.sampled_from(
        [
            "old(1)",
            "x = old(old(2),  # why\n    3)",
            "a = one(1)\nb = one(2)  # B",
            "for i in x:\n    # use\n    f(make())\n    make()",
            "bug()",
            "old(*y)",
            "# comment",
            "",
            "y = 1; old(4); z = 5",
            "if x: old(5)",
            "x = 1  # tfrewrite: ignore",
        ]
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(PIECES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_results_parse_and_are_at_rest(pieces: list[str], newline: str, ended: bool) -> None:  # noqa: FBT001
    text = "\n".join(pieces) + ("\n" if ended else "")
    outcome = rewrite_text(text.replace("\n", newline), TOYS)
    assert outcome.status is not Status.FAILED, outcome.error
    ast.parse(outcome.after)
    again = rewrite_text(outcome.after, TOYS)
    assert again.status is Status.UNCHANGED
    assert outcome.after.count("#") == text.count("#")
    for order in ((RenameOld, HoistMake, MergePairs), (MergePairs, HoistMake, RenameOld)):
        assert rewrite_text(text.replace("\n", newline), order).after == outcome.after
    assert ReportBug in TOYS


@given(st.binary(max_size=60))
def test_no_bytes_are_a_crash(data: bytes) -> None:
    assert "this is a bug" not in handled(b"old" + data).error


class RenameLen(Rule):
    """Renames a function that every library calls."""

    code = "TFR909"
    name = "rename-len"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"len",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for node in ast.walk(facts.source.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                span = facts.source.span(node.func)
                edits = (ReplaceExpression(span, "len_of_all"),)
                if node.func.id == "len" and not _in_f_string(facts, node):
                    yield Rewrite(span, "longer", "longer is clearer", Contract.EXACT, edits)


def _in_f_string(facts: Facts, node: ast.AST) -> bool:
    return any(isinstance(outer, ast.JoinedStr) for outer in facts.source.ancestors(node))


def _standard_library() -> list[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(
        path
        for path in (*library.glob("*.py"), *library.glob("[a-z]*/*.py"))
        if path.stat().st_size < 40_000 and path.parent.name != "site-packages"
    )
    return random.Random(20).sample(files, 25)  # noqa: S311


@pytest.mark.parametrize("path", _standard_library(), ids=lambda path: path.name)
def test_the_standard_library_keeps_every_other_byte(path: Path) -> None:
    outcome = handle(str(path), Policy((RenameLen, *all_rules())))
    if outcome.status is Status.FAILED:
        assert "this is a bug" not in outcome.error
    else:
        assert not outcome.refusals
        assert outcome.after.replace("len_of_all", "len") == outcome.before
