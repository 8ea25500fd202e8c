"""Writes `.prefetch(...)` at the end of a pipeline, in the words and the layout of the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.scopes import How
from tfrewrite.edits import ReplaceExpression
from tfrewrite.writing.spelling import spelled_at

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_AUTOTUNE = "data.AUTOTUNE"
_OLD_AUTOTUNE = "data.experimental.AUTOTUNE"
# The first versions that have them.
_SINCE_OLD, _SINCE_NEW = (1, 13), (2, 4)
_ONE_BATCH = "1"


def prefetched(facts: Facts, place: ast.expr) -> ReplaceExpression:
    """The edit that makes a pipeline read ahead at its end."""
    text = facts.source.segment(place)
    if not isinstance(place, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        text = f"({text})"
    suffix = f".prefetch({_buffer_size(facts, place)})"
    return ReplaceExpression(facts.source.span(place), f"{text}{_break(facts, place)}{suffix}")


def _break(facts: Facts, place: ast.expr) -> str:
    """What stands before the dot: a new line, where the last method stands on one of its own."""
    if not isinstance(place, ast.Call) or not isinstance(place.func, ast.Attribute):
        return ""
    source = facts.source
    last = source.span(place.func)
    line = source.line(last.end_line)
    before = line[: last.end_column - len(place.func.attr)].rstrip()
    if not before.endswith(".") or before[:-1].strip():
        return ""
    end = source.span(place)
    if "#" in source.line(end.end_line)[end.end_column :]:
        return ""  # the comment is the last method's, and stays beside it
    above = source.line(last.end_line - 1).rstrip()
    continued = " \\" if above.endswith("\\") else ""
    return f"{continued}\n{before[:-1]}"


def _buffer_size(facts: Facts, place: ast.expr) -> str:
    """AUTOTUNE as the file or its version of TensorFlow spells it, or one batch."""
    target = facts.target_tf
    if target is not None and target < _SINCE_OLD:
        return _ONE_BATCH
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
    prefix = spelled_at(facts, place, symbol)
    return _ONE_BATCH if prefix is None else prefix


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
