"""The arguments of a call, by the parameters that they are for."""

from __future__ import annotations

import ast


def arguments(call: ast.Call, parameters: tuple[str, ...]) -> dict[str, ast.expr] | None:
    """None where the call passes them in a way that hides them, or passes others."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if len(call.args) > len(parameters):
        return None
    given = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in parameters or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    return given
