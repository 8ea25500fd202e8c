"""How tests of the analysis point at places of a small program.

A comment at the end of a line is a mark: the statement there is found by the comment's text.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from typing import TypeVar

from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.graphs.nodes import Node
from tfrewrite.analysis.graphs.sessions import SessionRun
from tfrewrite.analysis.program.scopes import Binding

Kind = TypeVar("Kind", bound=ast.AST)

GRAPH = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.truncated_normal([8, 3]))
b = tf.Variable(tf.zeros([3]))
logits = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
optimizer = tf.train.GradientDescentOptimizer(0.1)
train_op = optimizer.minimize(loss)
"""


def facts(text: str) -> Facts:
    """The analysis of a program, whose indentation may be that of the test."""
    text = textwrap.dedent(text)
    return Facts.build(text, ast.parse(text))


def with_graph(text: str) -> Facts:
    """The analysis of a program that goes on after the usual small graph."""
    return facts(GRAPH + textwrap.dedent(text))


def marked(found: Facts, mark: str) -> ast.stmt:
    """The innermost statement that begins on the line ending in the comment `# mark`."""
    lines = found.source.text.splitlines()
    (number,) = (n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))
    statements = [n for n in ast.walk(found.source.tree) if isinstance(n, ast.stmt)]
    return [s for s in statements if s.lineno == number][-1]


def inside(node: ast.AST, kind: type[Kind]) -> list[Kind]:
    return [inner for inner in ast.walk(node) if isinstance(inner, kind)]


def use(found: Facts, name: str, mark: str = "here") -> ast.Name:
    """The place on a marked line that reads a name; the last, where there are several."""
    line = marked(found, mark).lineno
    uses = [
        n
        for n in inside(found.source.tree, ast.Name)
        if n.id == name and n.lineno == line and isinstance(n.ctx, ast.Load)
    ]
    return max(uses, key=lambda n: n.col_offset)


def expression(found: Facts, mark: str = "here") -> ast.expr:
    """What a marked statement evaluates."""
    value = getattr(marked(found, mark), "value", None)
    assert isinstance(value, ast.expr)
    return value


def function(found: Facts, name: str) -> ast.FunctionDef:
    (only,) = (n for n in inside(found.source.tree, ast.FunctionDef) if n.name == name)
    return only


def class_(found: Facts, name: str) -> ast.ClassDef:
    (only,) = (n for n in inside(found.source.tree, ast.ClassDef) if n.name == name)
    return only


def lines(bindings: Iterable[Binding]) -> list[int]:
    """The lines that bindings stand in."""
    return sorted(getattr(binding.node, "lineno", 0) for binding in bindings)


def traced(found: Facts, mark: str = "here") -> Node:
    """The value of a marked statement's expression."""
    return found.graph.trace(expression(found, mark))


def run(found: Facts, mark: str = "here") -> SessionRun | None:
    """The only run of the graph on a marked line."""
    line = marked(found, mark).lineno
    runs = [found_run for call, found_run in found.sessions.runs.items() if call.lineno == line]
    assert len(runs) < 2
    return runs[0] if runs else None
