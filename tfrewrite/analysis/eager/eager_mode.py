"""Whether functions of a file are run as TensorFlow 2 runs them: op by op, and with its traces."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_EAGER_ONLY = (
    "config.run_functions_eagerly", "config.experimental_run_functions_eagerly",
)  # fmt: skip
_V1 = frozenset(
    "disable_eager_execution disable_v2_behavior Session InteractiveSession placeholder"
    " enable_eager_execution enable_v2_behavior".split()
)


def otherwise_run(facts: Facts) -> str:
    """Why they are not, in words; empty where they are."""
    target = facts.target_tf
    if facts.names.version == "1" or (target is not None and target < (2,)):
        return "the file is written for TensorFlow 1"
    for node in facts.source.all(ast.Call):
        symbol = facts.names.tf(node.func) or ""
        if symbol in _V1 or symbol.startswith("contrib."):
            return f"`{ast.unparse(node.func)}` in line {node.lineno} is of TensorFlow 1"
        if symbol in _EAGER_ONLY:
            return f"`{ast.unparse(node.func)}` in line {node.lineno} switches traces off"
        if symbol.startswith("distribute."):
            return f"`{ast.unparse(node.func)}` in line {node.lineno} places variables"
    return ""
