"""What the code of a trace reads, calls and does, node by node."""

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.traces.trace_reads import TraceReads

PROGRAM = """
import os
import numpy as np
import tensorflow as tf
import settings

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
weight = tf.Variable(1.0)
rate = 0.1
cfg = {"rate": 0.1}

class Log:
    def __init__(self):
        self.lines = []
    def result(self, x):
        self.lines.append(x)
        return x

class Net:
    rate = 0.1
    def __init__(self):
        self.log = Log()
        self.dense = tf.keras.layers.Dense(1)
    def fit(self):
        for turn in range(3):
            @tf.function
            def step(x, given):
                {body}
            step(1, 2)
"""


def reasons(body: str) -> list[str]:
    found = facts(PROGRAM.replace("{body}", body))
    (one,) = found.compiled_functions.all
    assert isinstance(one.code, ast.FunctionDef)
    (loop,) = found.source.all(ast.For)
    look = TraceReads(found, found.steady_traces.bodies(one), loop, once=False)
    nodes = [node for statement in one.code.body for node in ast.walk(statement)]
    obstacles = [look.node(node) for node in nodes]
    return sorted({obstacle.reason for obstacle in obstacles if obstacle is not None})


@pytest.mark.parametrize(
    "body",
    [
        "return model(x) * rate * weight",
        "return self.dense(x)",
        "return tf.cast(x, tf.float32) * np.pi",
        "weight.assign_add(x)",
        "return x * cfg['rate']",  # which nothing changes
        "parts = []; parts.append(x); return tf.stack(parts)",
        "with tf.GradientTape() as tape: return tape.gradient(x, weight)",
        "return [x * one for one in range(3)]",
    ],
)
def test_what_is_the_same_at_each_trace(body: str) -> None:
    assert reasons(body) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return x * turn", "python-value"),
        ("return x * Net.rate", "python-value"),
        ("return x * settings.rate", "python-value"),
        ("return x * float(os.environ['RATE'])", "python-value"),
        ("return x * self.log.lines[0]", "python-value"),
        ("return self.log.result(x)", "call-not-seen"),
        ("return settings.scaled(x)", "call-not-seen"),
        ("return given(x)", "call-not-seen"),
        ("return given.result(x)", "call-not-seen"),
        ("with settings.scope(): return x", "call-not-seen"),
        ("tf.summary.scalar('x', x)", "call-not-seen"),
        ("cfg['rate'] = x; return cfg['rate']", "python-value"),
        ("cfg['last'] = x", "python-effect"),
        ("self.last = x", "python-effect"),
        ("print(x)", "python-effect"),
        ("import other", "python-effect"),
        ("return tf.Variable(x)", "makes-variables"),
        ("return tf.keras.layers.Dense(1)(x)", "makes-variables"),
    ],
)
def test_what_may_differ(body: str, reason: str) -> None:
    assert reason in reasons(body)
