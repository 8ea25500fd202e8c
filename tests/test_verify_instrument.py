"""Marks stand at every loop, and change nothing but that."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tfrewrite.verify.instrument import Instrumented, instrument
from tfrewrite.verify.runs import PROBE


def marked(text: str) -> str:
    (file,) = instrument({"x.py": text.encode()}).files
    return file[1].decode()


def names(found: Instrumented) -> list[tuple[int, int, int]]:
    return [(mark.loop, mark.line, mark.parent) for mark in found.marks]


def test_a_for_and_a_while() -> None:
    steps, go = "__import__('_tfrewrite_marks').steps((", "__import__('_tfrewrite_marks').go(("
    assert marked("for x in y:\n    pass\n") == f"for x in {steps}y), 1):\n    pass\n"
    assert marked("while x:\n    pass\n") == f"while {go}x), 1):\n    pass\n"


@pytest.mark.parametrize(
    "text",
    [
        "for x in(1, 2):\n    pass\n",
        "for x in 1, 2:\n    pass\n",
        "for x in *a, *b:\n    pass\n",
        "while(x):\n    pass\n",
        "while not x: pass\n",
        "while x := f(): pass\n",
        "for x in (\n    y  # why\n):\n    pass\n",
        "for x in (y for y in z): pass\n",
        "for x in y: pass\nelse: pass\n",
        "for ö in ['ä', 'ß']:  # ü\n    print('é'); f(ö)\n",
        "def f():\n    for x in y:\n        while x:\n            for z in x: g(z)\n",
        "for x in lambda: 0, 1:\n    pass\n",
        "for x in y:\r\n\tpass\r\n",
    ],
)
def test_the_result_is_python_on_the_same_lines(text: str) -> None:
    new = marked(text)
    assert new != text
    assert [node.lineno for node in ast.walk(ast.parse(new)) if isinstance(node, ast.For)] == [
        node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For)
    ]
    assert new.count("\n") == text.count("\n")


def test_loops_know_the_loop_around_them() -> None:
    text = (
        "for a in b:\n"
        "    while c:\n"
        "        def f():\n"
        "            for d in e: pass\n"
        "    for g in h: pass\n"
    )
    assert names(instrument({"x.py": text.encode()})) == [
        (1, 1, 0),
        (2, 2, 1),
        (3, 4, 0),
        (4, 5, 1),
    ]


def test_numbers_go_on_from_file_to_file() -> None:
    found = instrument({"b.py": b"for x in y: pass\n", "a.py": b"while x: pass\n"})
    assert [(mark.path, mark.loop) for mark in found.marks] == [("a.py", 1), ("b.py", 2)]


def test_generators_comprehensions_and_what_is_no_python_are_left_alone() -> None:
    text = "def f():\n    for x in y:\n        yield x\nz = [x for x in y]\n"
    assert instrument({"x.py": text.encode(), "old.py": b"print 'x'\nfor x in y: pass\n"}) == (
        Instrumented((), ())
    )


def test_without_a_probe_the_marks_do_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROBE / "path"))
    monkeypatch.delitem(sys.modules, "_tfrewrite_marks", raising=False)
    text = (
        "out = []\nn = 3\nfor x in 1, 2: out.append(x)\nwhile n:\n    n -= 1\n    out.append(n)\n"
    )
    scope: dict[str, object] = {}
    exec(compile(marked(text), "x.py", "exec"), scope)  # noqa: S102
    assert scope["out"] == [1, 2, 2, 1, 0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("for g, v in zip(a, b):\n    v.assign_sub(rate * g)\n", 0),
        ("for v in b:\n    v.assign(0.9 * v)\n", 0),
        (
            "for i, v in enumerate(c):\n    m[i].assign(v)\n    d = m[i]\n    v.assign_sub(d)\n",
            0,
        ),
        ("for x in data:\n    w.assign_sub(f(x))\n", 1),
        ("for x in data:\n    x.w.assign_sub(f(x))\n", 1),
        ("for v in b:\n    step(v)\n    v.assign(0)\n", 1),
        ("for v in b:\n    v.assign(0)\nelse:\n    f()\n", 1),
        ("for v in b:\n    if v:\n        v.assign(0)\n", 1),
        ("while v:\n    v.assign(0)\n", 1),
        ("for x in data:\n    for v in b:\n        v.assign_add(g(x))\n", 1),
    ],
)
def test_an_update_of_several_variables_is_no_loop_of_steps(text: str, count: int) -> None:
    assert len(instrument({"x.py": text.encode()}).marks) == count
