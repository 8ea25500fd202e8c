"""Reports say what the outcomes say, and nothing that a terminal would obey."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrewrite.engine import handle, rewrite_text
from tfrewrite.model import Outcome, Status
from tfrewrite.policy import Policy
from tfrewrite.reports import diff, json_report, text
from tfrewrite.reports.formats import View
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run, exit_code
from toys import TOYS

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "a = one(old(1))\nb = one(2)\nold(*x)\nold(shift)\nbug()\ny = 1  # tfrewrite: ignore\n"


@pytest.fixture
def run() -> Run:
    failed = Outcome("bad.py", Status.FAILED, error="line 1: Python 2 syntax")
    return Run((rewrite_text(SOURCE, TOYS, path="m/x.py"), failed), 1.5)


def test_text(run: Run) -> None:
    assert text.render(run) == (
        "m/x.py:1:1: TFR902 [rounding] two into one\n"
        "    because nothing between\n"
        "m/x.py:1:9: TFR901 [exact] old -> new\n"
        "    because they are the same\n"
        "m/x.py:3: TFR901 refused (starred): an argument is starred; write them out\n"
        "m/x.py:4:1: TFR901 [shifted] old -> new\n"
        "    because same\n"
        "    available with --allow shifted: `shift` is read one step late\n"
        "m/x.py:5:1: TFR904 [report] this is a bug\n"
        "m/x.py:6:8: warning: this exemption from anything exempts nothing; remove it\n"
        "2 rewrites to make, 1 available with --allow, 1 report, 1 refusal, 1 exemption without "
        "use, 1 file failed in 2 files (1.50 s)\n"
    )
    assert list(text.problems(run)) == ["bad.py: error: line 1: Python 2 syntax"]


def test_text_of_other_lengths(run: Run) -> None:
    assert text.render(run, View(quiet=True)) == ""
    assert "m/x.py: would-rewrite\n" in text.render(run, View(verbose=True))
    assert "bad.py: failed: line 1" in text.render(run, View(verbose=True))
    rows = text.render(run, View(quiet=True, statistics=True)).splitlines()
    assert rows[0].split() == ["rule", "findings", "available", "refused"]
    assert rows[1].split() == ["TFR901", "rename-old", "1", "1", "1"]
    assert text.render(Run(())) == "nothing to do in 0 files (0.00 s)\n"


def test_json(run: Run) -> None:
    document = json.loads(json_report.render(run))
    assert document["schema_version"] == 1
    assert document["findings"][0] == {
        "rule": "TFR902",
        "name": "merge-pairs",
        "path": "m/x.py",
        "line": 1,
        "column": 1,
        "end_line": 1,
        "message": "two into one",
        "because": "nothing between",
        "changes": "",
        "contract": "rounding",
        "applicable": True,
        "applied": False,
        "kind": "rewrite",
    }
    kinds = [(one["kind"], one["contract"], one["applicable"]) for one in document["findings"]]
    assert ("report", None, False) in kinds
    assert ("rewrite", "shifted", False) in kinds
    assert document["refusals"] == [
        {
            "rule": "TFR901",
            "name": "rename-old",
            "path": "m/x.py",
            "line": 3,
            "column": 1,
            "end_line": 3,
            "reason": "starred",
            "message": "an argument is starred; write them out",
        }
    ]
    assert document["unused_exemptions"][0]["line"] == 6
    assert document["files"] == [
        {"path": "m/x.py", "status": "would-rewrite", "error": ""},
        {"path": "bad.py", "status": "failed", "error": "line 1: Python 2 syntax"},
    ]
    summary = document["summary"]
    assert summary["elapsed_s"] == 1.5
    assert (summary["files"], summary["failed"], summary["would_rewrite"]) == (2, 1, 1)
    assert (summary["findings"], summary["applicable"], summary["refusals"]) == (4, 2, 1)


def test_exit_codes(run: Run) -> None:
    good, bad = run.outcomes
    assert exit_code(run, pending_matters=False) == 2
    assert exit_code(Run((good,)), pending_matters=True) == 1
    assert exit_code(Run((good,)), pending_matters=False) == 0
    assert exit_code(Run((bad, good)), pending_matters=True) == 2
    offered = rewrite_text("old(shift)\n", TOYS)
    assert exit_code(Run((offered,)), pending_matters=True) == 0
    reported = rewrite_text("bug()\n", TOYS)
    assert exit_code(Run((reported,)), pending_matters=True) == 1


@pytest.mark.parametrize(
    ("said", "safe"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\nb\rc\x08", "a?b?c?"),
        ("[i] [bold]x[/bold]", "[i] [bold]x[/bold]"),
        ("\u202ereversed", "?reversed"),
        ("\x9b31m", "?31m"),
        ("é\ttab", "é\ttab"),
        ("\udcff", "?"),
    ],
)
def test_printable(said: str, safe: str) -> None:
    assert printable(said) == safe


@given(st.text())
def test_nothing_printable_is_obeyed(said: str) -> None:
    assert not any(ord(char) < 32 and char != "\t" for char in printable(said))
    assert "\x1b" not in printable(said)


def test_words_of_a_script_are_data(run: Run) -> None:
    good, _ = run.outcomes
    finding = replace(good.findings[0], message="`\x1b[2Jx[i]`\nfake.py:1:1: TFR101")
    report = text.render(Run((replace(good, findings=(finding,), path="\x1b[1m.py"),)))
    assert report.startswith(".py:1:1: TFR902 [rounding] `x[i]`?fake.py:1:1: TFR101\n")


DIFF = """\
# TFR901 rename-old [exact]: old -> new
#   safe because they are the same
--- a/m/x.py
+++ b/m/x.py
@@ -1,4 +1,4 @@
-old(1)
+new(1)
 # 2
 # 3
 # 4
# TFR902 merge-pairs [rounding]: two into one
#   safe because nothing between
--- a/m/x.py
+++ b/m/x.py
@@ -9,5 +9,4 @@
 # 9
 # 10
 # 11
-a = one(1)
-b = one(2)
\\ No newline at end of file
+a, b = many(1, 2)
\\ No newline at end of file
"""


def test_each_hunk_says_who_made_it() -> None:
    middle = "".join(f"# {number}\n" for number in range(2, 12))
    outcome = rewrite_text(f"old(1)\n{middle}a = one(1)\nb = one(2)", TOYS, path="m/x.py")
    assert diff.render(outcome).decode() == DIFF


def test_a_file_without_changes_has_no_diff() -> None:
    assert diff.render(rewrite_text("x\n", TOYS)) == b""


PIECES = st.lists(
    st.sampled_from(
        ["old(1)", "a = one(1)\nb = one(2)", "# é\n#\n#\n#", "x = 1", "for i in x:\n\tf(make())"]
    ),
    min_size=1,
    max_size=12,
)


def _patched(tool: list[str], folder: Path, patch: bytes) -> None:
    done = subprocess.run(tool, cwd=folder, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr + patch).decode(errors="replace")


@pytest.mark.parametrize("tool", [["git", "apply"], ["patch", "-p1"]], ids=["git", "patch"])
@pytest.mark.parametrize("style", ["plain", "crlf", "bom", "latin"])
@settings(max_examples=12)
@given(pieces=PIECES, ended=st.booleans(), name=st.sampled_from(["x.py", "m/a b.py", "é.py"]))
def test_the_diff_can_be_applied(
    tmp_path_factory: pytest.TempPathFactory,
    tool: list[str],
    style: str,
    pieces: list[str],
    ended: bool,  # noqa: FBT001
    name: str,
) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"no {tool[0]} here")
    if tool[0] == "patch" and style == "crlf":
        tool = [*tool, "--binary"]
    source = "\n".join(pieces) + ("\n" if ended else "")
    if style == "crlf":
        source = source.replace("\n", "\r\n")
    if style == "latin":
        source = "# coding: latin-1\n" + source
    data = source.encode({"latin": "latin-1", "bom": "utf-8-sig"}.get(style, "utf-8"))
    folder = tmp_path_factory.mktemp("patched")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    outcome = handle(str(path), Policy(TOYS))
    patch = diff.render(replace(outcome, path=name))
    if not patch:
        assert outcome.after == outcome.before
        return
    _patched(tool, folder, patch)
    patched = path.read_bytes()
    path.write_bytes(data)
    handle(str(path), Policy(TOYS, write=True))
    assert patched == path.read_bytes()
