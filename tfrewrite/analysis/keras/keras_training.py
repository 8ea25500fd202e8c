"""Whether a model or layer is told to train when it is called, or to rest.

What is told to rest draws nothing and changes nothing, and so does all that it calls and that is
told nothing of its own.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Number, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = "training"


def told(call: ast.Call, value: Callable[[ast.expr], Value], inputs: int = 1) -> bool | None:
    """Whether a call says that it is for training, as far as known; None where it says nothing.

    So many of its arguments are something else: cells are given their states, too.
    """
    by_itself = isinstance(call.func, ast.Attribute) and call.func.attr == "call"
    if by_itself or len(call.args) > inputs:
        return True
    given = [keyword.value for keyword in call.keywords if keyword.arg in (_NAME, None)]
    return _meant(value(given[0])) if given else None


def by_default(method: ast.FunctionDef, value: Callable[[ast.expr], Value]) -> bool | None:
    """What a method is told where its caller says nothing."""
    positional = method.args.args
    defaults = dict(
        zip([one.arg for one in reversed(positional)], reversed(method.args.defaults), strict=False)
    )
    keywords = zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    defaults |= {one.arg: default for one, default in keywords if default is not None}
    return _meant(value(defaults[_NAME])) if _NAME in defaults else None


def _meant(found: Value) -> bool | None:
    literal = found.literal if isinstance(found, Number) and not found.varies else None
    if literal is None:
        return True
    return None if literal.value is None else bool(literal.value)
