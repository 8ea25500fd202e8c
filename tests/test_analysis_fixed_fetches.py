"""Whether a run fetches the same tensors in each turn, traps first."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import run, with_graph
from tfrewrite.analysis.obstacle import Obstacle


def obstacle(text: str) -> Obstacle | None:
    found = with_graph(f"sess = tf.Session()\n{text}")
    here = run(found)
    assert here is not None
    operands = found.fixed_fetches.operands(here.fetches)
    loop = found.source.all(ast.While)[0]
    return found.fixed_fetches.obstacle(operands) or found.fixed_fetches.changed(operands, loop)


def reason(text: str) -> str:
    found = obstacle(text)
    return found.reason if found is not None else ""


@pytest.mark.parametrize(
    ("setup", "fetches", "after", "expected"),
    [
        ("", "[]", "pass", "fetch-unknown"),
        ("", "None", "pass", "fetch-unknown"),
        ("", "'loss:0'", "pass", "fetch-unknown"),
        ("", "unknown", "pass", "fetch-unknown"),
        ("a = f()", "[loss, a]", "pass", "fetch-unknown"),
        ("a = f() + g()", "a", "pass", "fetch-unknown"),
        ("a = []", "a", "pass", "fetch-unknown"),
        ("a = []\nfor b in c:\n    a.append(w)", "a", "pass", "fetch-unknown"),
        ("a = []\nif b:\n    a.append(w)", "a", "pass", "fetch-unknown"),
        ("a = {}\nif b:\n    a['w'] = w", "a", "pass", "fetch-unknown"),
        ("a = [w for b in c]", "a", "pass", "fetch-unknown"),
        ("a = [w for b in c]", "[a]", "pass", "fetch-unknown"),
        ("a = [w for b in c if b]", "[a, (), {}]", "pass", "fetch-unknown"),
        ("a = [*g]", "a", "pass", "fetch-unknown"),
        ("a = [loss] if b else []", "a", "pass", "fetch-unknown"),
        ("a = tf.global_variables()", "a", "pass", "fetch-unknown"),
        ("a = tf.get_session_handle(loss)", "a", "pass", "fetch-unknown"),
        ("a = [loss]", "a", "a.append(b)", "fetch-changes"),
        ("a = [loss]", "a", "a[0] = b", "fetch-changes"),
        ("a = {'l': loss}", "a", "a['w'] = w", "fetch-changes"),
        ("a = [loss]", "a", "a.pop()", "fetch-unknown"),
        ("a = [loss]\ng = a", "a", "pass", "fetch-unknown"),
        ("a = tf.split(w, 2)\ng = a", "a", "g.append(b)", "fetch-changes"),
        ("", "loss", "pass", ""),
        ("", "w", "pass", ""),
        ("a = [w for b in c]", "[loss, a]", "pass", ""),
        ("a = [loss] + [w for b in c]", "a", "pass", ""),
        ("a = [loss]\nfor b in c:\n    a.append(w)", "a", "pass", ""),
        ("a = {'l': loss}\nif b:\n    a['w'] = w", "a", "pass", ""),
        ("", "[loss, (train_op, {'w': w})]", "pass", ""),
        ("a = [loss]\na.append(w)", "a", "pass", ""),
        ("a = [loss]\nif b:\n    a.append(w)", "a", "pass", ""),
        ("a = loss if c else w", "a", "pass", ""),
        ("a = train_op\ng = a", "a", "pass", ""),
    ],
)
def test_what_is_fetched(setup: str, fetches: str, after: str, expected: str) -> None:
    assert reason(f"{setup}\nwhile c:\n    sess.run({fetches})  # here\n    {after}\n") == expected


def test_what_the_callers_give() -> None:
    text = "def f(a):\n    while c:\n        sess.run(a)  # here\n"
    assert reason(text) == "fetch-unknown"
    assert reason(text + "f(loss)\nf(w)\n") == ""
    assert reason(text + "f(loss)\nf([w])\n") == "fetch-unknown"
    assert reason(text + "f(loss)\nf(unknown)\n") == "fetch-unknown"
