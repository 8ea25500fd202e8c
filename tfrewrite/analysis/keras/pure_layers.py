"""Layers of Keras that only compute: without variables, tables or draws."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.program.names import Names
    from tfrewrite.analysis.program.scopes import Scopes

_PURE = frozenset({"Rescaling", "Resizing", "CenterCrop", "Flatten", "Reshape", "Permute"})
_MODULES = ("keras.layers.", "keras.layers.experimental.preprocessing.")
_STACKS = frozenset({"keras.Sequential", "keras.models.Sequential"})


def is_pure_layer(names: Names, scopes: Scopes, name: ast.Name) -> bool:
    """Whether a name always stands for such a layer, or for a stack of them."""
    bindings = scopes.bindings(name)
    return bool(bindings) and all(
        binding.how is How.ASSIGN and _makes_one(names, binding.value) for binding in bindings
    )


def _makes_one(names: Names, value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    symbol = names.tf(value.func) or ""
    if symbol in _STACKS and len(value.args) == 1 and isinstance(value.args[0], ast.List):
        return all(_makes_one(names, layer) for layer in value.args[0].elts)
    module, _, short = symbol.rpartition(".")
    return f"{module}." in _MODULES and short in _PURE
