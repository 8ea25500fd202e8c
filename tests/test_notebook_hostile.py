"""Notebooks that no tool would write, and that turn up: rewritten in their cell, or refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from notebook_maker import STYLES, cell, notebook, written
from tfrewrite.engine import handle_bytes
from tfrewrite.model import Outcome, Status
from tfrewrite.notebooks.script import NoScript, script_of
from tfrewrite.policy import Policy
from toys import TOYS

CALL = "x = old(1)"


def plain(*cells: str | dict[str, Any], **more: Any) -> bytes:
    return written(notebook(*cells, **more))


def handled(data: bytes) -> Outcome:
    return handle_bytes(data, "n.ipynb", Policy(TOYS))


def compiles(data: bytes) -> bool:
    compile(script_of(data).text.encode(), "n.ipynb", "exec")
    return True


REWRITTEN = {
    "counts out of order": plain(cell("y = 1", execution_count=9), cell(CALL, execution_count=1)),
    "raw cells": plain(cell("for x in (", "raw"), cell("old(", "markdown"), CALL),
    "a shell": plain("%%bash\nfor i in 1 2; do old(1); done", CALL),
    "a file": plain("%%writefile m.py\nold(1) (", "import m", CALL),
    "a file that goes on": plain("%%writefile -a m.py\nold(1)", CALL),
    "a timed cell": plain(f"%%time\n{CALL}"),
    "questions": plain("f?", "?f", "f??", CALL),
    "a mark": written(notebook(CALL), STYLES["windows"]),
    "line ends in sources": plain(f"y = 1\r\n{CALL}\r\n"),
    "empty cells": plain("", cell([]), "   ", "\n\n", "# words", CALL, ""),
    "sources as strings": written(notebook("y = 1", CALL), STYLES["strings"]),
    "sources in odd pieces": plain(cell(["x = o", "ld(1)\ny =", " 2"])),
    "escapes": written(notebook(f"{CALL}; y = 'ö\U0001f600\u2028'"), STYLES["compact strings"]),
    "ids given twice": plain(cell("y = 1", id="a"), cell(CALL, id="a")),
    "large outputs": plain(cell(CALL, outputs=[{"text": ["y" * 99 + "\n"] * 20_000}])),
    "not a number": plain(cell(CALL, metadata={"x": float("nan")})),
    "keys given twice": plain(CALL).replace(b'"nbformat"', b'"nbformat": 3, "nbformat"', 1),
    "a cell of Python 2": plain("%%python2\nprint 'old(1)'", CALL),
    "a cell of a page": plain("%%HTML\n<b>old(1)</b>", "%%javascript\nold(1)", CALL),
    "a cell that no shell runs": plain("%%script false\nold(", CALL),
    "magics in a text": plain(f's = """\n%run x\n!rm\n"""\n{CALL}'),
    "a form of Colab": plain(f'#@title A {{ "b": 1 }}\nn = 5 #@param {{type:"integer"}}\n{CALL}'),
    "imports from the future": plain("y = 1", f"from __future__ import division\n{CALL}"),
    "an end in the middle": plain(CALL, "exit()", "y = 1"),
    "a return of the carriage elsewhere": plain(f"{CALL}\n", "y = 1"),
}


@pytest.mark.parametrize("data", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_is_rewritten_where_it_is_python_and_nowhere_else(data: bytes) -> None:
    outcome = handled(data)
    assert outcome.status is Status.WOULD_REWRITE
    assert len(outcome.findings) == 1
    after = outcome.after.encode(outcome.encoding)
    assert after.count(b"new(") == 1
    mark = "utf-8-sig"
    before, later = json.loads(data.decode(mark)), json.loads(after.decode(mark))
    (changed,) = {one.cell.number for one in outcome.findings if one.cell}
    old, new = before["cells"][changed - 1], later["cells"][changed - 1]
    assert "".join(old.pop("source")).replace("old(", "new(") == "".join(new.pop("source"))
    assert json.dumps(before) == json.dumps(later)
    assert handled(after).status is Status.UNCHANGED
    assert compiles(data) and compiles(after)


ALONE = {
    "await": (plain(CALL, "await f()"), "the `await` outside of functions in cell 2"),
    "a carriage return": (plain(CALL, "a = 1\rb = 2"), "a carriage return within a line in cell 2"),
    "another file": (plain(CALL, "%run x.ipynb"), "`%run` in cell 2"),
    "a failure that is meant": (
        plain(CALL, cell("1 / 0", metadata={"tags": ["raises-exception"]})),
        "cell 2 is there to fail",
    ),
    "the last value": (plain(CALL, "_ + 1"), "`_` in cell 2"),
}


@pytest.mark.parametrize(("data", "said"), ALONE.values(), ids=ALONE.keys())
def test_is_left_alone_with_a_reason(data: bytes, said: str) -> None:
    outcome = handled(data)
    assert outcome.status is Status.UNCHANGED
    (refused,) = outcome.refusals
    assert refused.reason == "cannot-edit"
    assert said in refused.message


JULIA = {"language_info": {"name": "julia"}, "kernelspec": {"name": "julia-1.9"}}
FAILING = {
    "a syntax error": (plain(CALL, "for i in (:\n  x"), "cell 2, line 1: syntax error"),
    "an old format": (
        json.dumps({"nbformat": 3, "worksheets": [{"cells": []}]}).encode(),
        "nbformat 3; convert it",
    ),
    "nothing": (b"", "not valid JSON"),
    "another encoding": (plain(CALL).decode().encode("utf-16"), "is not UTF-8"),
    "half a character": (
        plain(f"{CALL}\ny = '@'").replace(b"@", b"\\ud83d"),
        "cell 1, cannot be read as Python",
    ),
    "another language": (plain("x = [1 2; 3 4]", **JULIA), "its kernel runs julia"),
}


@pytest.mark.parametrize(("data", "said"), FAILING.values(), ids=FAILING.keys())
def test_is_not_read_and_not_run(data: bytes, said: str) -> None:
    outcome = handled(data)
    assert outcome.status in {Status.FAILED, Status.SKIPPED}
    assert outcome.error is not None
    assert said in outcome.error
    with pytest.raises(NoScript, match=re.escape(said)):
        script_of(data)
