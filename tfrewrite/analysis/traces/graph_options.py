"""Options that only compiled code heeds: what is run op by op does not get to see them.

Measured on 2.21 and 2.15: with the rewriter for mixed precision switched on, a compiled step
computes in bfloat16 what it had computed in float32 in eager mode.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_SETTING = frozenset({"config.optimizer.set_experimental_options", "config.optimizer.set_jit"})
# Parts of environment variables and of what they are set to.
_IN_ENVIRONMENT = ("TF_ENABLE_AUTO_MIXED_PRECISION", "tf_xla_auto_jit")


def graph_option(facts: Facts) -> str:
    """The words for such an option that the file sets; empty where it sets none."""
    for call in facts.source.all(ast.Call):
        if facts.names.tf(call.func) in _SETTING and not _switches_off(call):
            return f"`{ast.unparse(call.func)}` in line {call.lineno} holds for compiled code only"
    for text in facts.source.all(ast.Constant):
        if isinstance(text.value, str) and any(one in text.value for one in _IN_ENVIRONMENT):
            return f"`{text.value}` in line {text.lineno} holds for compiled code only"
    return ""


def _switches_off(call: ast.Call) -> bool:
    """Whether all that a call is given says no: `set_jit(False)`."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and all(
        isinstance(one, ast.Constant) and not one.value
        for value in given
        for one in (value.values if isinstance(value, ast.Dict) else [value])
    )
