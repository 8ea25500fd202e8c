"""What comes out of a trace as it went in, and so may be handed to one, or be given back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Bottom,
    Done,
    Group,
    Number,
    Tensor,
    Thing,
    Value,
    parts,
)

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def returnable(value: Value) -> str:
    """Why what a function gives would not be the same from a trace; empty where it would be."""
    for part in parts(value):
        match part:
            case Tensor(array=False):
                continue
            case Number(literal=ast.Constant(value=None)) if not part.tensors:
                continue
            case Bottom():
                continue
            case Number():
                return "it returns a Python value, which a trace turns into a tensor"
            case Thing(kind="variable"):
                return "it returns a variable, of which a trace gives the value"
            case Done(words=words):
                return f"it returns what {words} gives, which is another thing in a trace"
            case Tensor():
                return "it returns a numpy array, which a trace turns into a tensor"
            case _:
                return "it returns what is no tensor"
    if _lazy(value):
        return "it returns what gives its items only once"
    return ""


def mask_lost(facts: Facts, value: Value, words: str) -> str:
    """Why a value may not go into a trace, or out of it, where it may have a mask of Keras."""
    line = facts.keras_masks.made
    if not line or not any(isinstance(part, Tensor) and part.layered for part in parts(value)):
        return ""
    return f"{words} may have the mask of line {line} on it, which does not go into a trace or out"


def _lazy(value: Value) -> bool:
    if not isinstance(value, Group):
        return False
    return value.lazy or any(_lazy(one) for one in (value.each, *(value.items or ())))
