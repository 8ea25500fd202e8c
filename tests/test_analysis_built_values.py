"""What becomes of a value that the graph is built of."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.graphs.built_values import Built


def built(text: str) -> Built:
    """What is done with the value that the marked statement binds, or with values made of it."""
    found = with_graph(text)
    statement = found.source.statement(expression(found))
    assert isinstance(statement, ast.Assign)
    return found.built_values.of(statement.value, found.op_making.larger)


HEAD = "sess = tf.Session()\nh = tf.exp(w)  # here\n"


@pytest.mark.parametrize(
    "use",
    [
        "print(h)", "kept.append(h)", "g = h", "h.name", "f(h)", "sess.run(w, {x: h})",
        "sess.run([h for _ in x])", "def g():\n    sess.run(h)", "kept.append(h + 1)",
        "g = tf.log(h)\nprint(g)", "sess.make_callable(h)",
        "both = [w, h]\nsess.run(both)\nboth.append(w)", "a = b = [h]\nsess.run(a)",
        "g = h.op\nsess.run(g)",
    ],
)  # fmt: skip
def test_more_than_fetched(use: str) -> None:
    assert built(HEAD + use + "\n").elsewhere is not None


@pytest.mark.parametrize(
    ("use", "runs"),
    [
        ("sess.run(h)", 1),
        ("sess.run([w, {'a': h}])\nh.eval(session=sess)", 2),
        ("sess.run(w, {h: 1})", 1),
        ("sess.run(tf.add_n([h, w]))", 1),
        ("g = tf.log(h)\nsess.run(g)\nsess.run(h)", 2),
        ("h = 3\nprint(h)", 0),
        ("both = [w, h]\nsess.run(both)\nsess.run(both, {x: 1})", 2),
        ("named = {'h': (h, w)}\nsess.run(named)", 1),
        ("h.op.run(session=sess)\nsess.run([h.op])", 2),
    ],
)
def test_fetched_fed_and_built_on(use: str, runs: int) -> None:
    found = built(HEAD + use + "\n")
    assert found.elsewhere is None
    assert len(found.runs) == runs
    assert [name.id for name in found.names] == ["h"]


@pytest.mark.parametrize(
    ("use", "runs"),
    [
        ("ops['h'] = h\nsess.run(ops['h'])", 1),
        ("ops['h'] = h\nsess.run([w, ops])\nsess.run(ops['g'])", 2),
        ("holder.h = [h, w]\nsess.run(holder.h)", 1),
        ("ops.append(h)\nsess.run(ops)", 1),
        ("sess.run([h for _ in x])", 1),
        ("ops = [h for _ in x]\nsess.run(ops)\nsess.run([w, ops])", 2),
        ("ops = [h for _ in x]\nprint(ops)", 0),
        ("ops['h'] = h\nsess.run(w)", 0),
        ("holder.h = h\nsess.run(other.h)", 0),
        ("holder.h = h\ndef later():\n    sess.run(holder.h)", 0),
        ("holder.put(h)\nsess.run(holder)", 0),
    ],
)
def test_fetched_from_where_it_is_stored(use: str, runs: int) -> None:
    found = built(HEAD + use + "\n")
    assert found.elsewhere is not None
    assert (len(found.runs), len(found.stored)) == (0, runs)
