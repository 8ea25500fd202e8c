"""AUTOTUNE, spelled as a file or its version of TensorFlow does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How
from tfrewrite.writing.spelling import spelled_at

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_AUTOTUNE = "data.AUTOTUNE"
_OLD_AUTOTUNE = "data.experimental.AUTOTUNE"
# The first versions that have them.
_SINCE_OLD, _SINCE_NEW = (1, 13), (2, 4)


def autotune(facts: Facts, place: ast.expr) -> str | None:
    """AUTOTUNE as the file or its version of TensorFlow spells it; None where it has none."""
    target = facts.target_tf
    if target is not None and target < _SINCE_OLD:
        return None
    allowed = [_OLD_AUTOTUNE] if target is not None and target < _SINCE_NEW else [
        _AUTOTUNE, _OLD_AUTOTUNE,
    ]  # fmt: skip
    named = _own_constant(facts, place, allowed)
    if named is not None:
        return named
    spelled = [
        node
        for node in facts.source.all(ast.Attribute)
        if isinstance(node.ctx, ast.Load) and facts.names.tf(node) in allowed
    ]
    spelled.sort(key=facts.source.span)
    symbol = facts.names.tf(spelled[0]) if spelled else None
    if symbol is None:
        symbol = _AUTOTUNE if target is not None and target >= _SINCE_NEW else _OLD_AUTOTUNE
    return spelled_at(facts, place, symbol)


def _own_constant(facts: Facts, place: ast.expr, allowed: list[str]) -> str | None:
    """The file's own `AUTOTUNE = tf.data.AUTOTUNE`, where that is sure to be set."""
    for name, bindings in facts.scopes.module.bindings.items():
        if len(bindings) != 1 or facts.scopes.of(place).owner(name) is not facts.scopes.module:
            continue
        binding = bindings[0]
        statement = facts.source.statement(binding.node)
        at_top = statement in facts.source.tree.body
        value = binding.value
        if binding.how is not How.ASSIGN or value is None or not at_top:
            continue
        earlier = statement.lineno < place.lineno or facts.source.function(place) is not None
        if earlier and facts.names.tf(value) in allowed:
            return name
    return None
