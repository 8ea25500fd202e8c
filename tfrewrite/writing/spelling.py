"""Says a symbol of TensorFlow in the words of the file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def spelled_at(facts: Facts, place: ast.AST, symbol: str) -> str | None:
    """A symbol spelled by a name of TensorFlow, or of a part of it, that the place can see."""
    scope = facts.scopes.of(place)
    alias = facts.names.alias
    if alias is not None and scope.owner(alias) is facts.scopes.module:
        return f"{alias}.{symbol}"
    best: str | None = None
    for node in sorted(facts.source.all(ast.Name), key=facts.source.span):
        if not isinstance(node.ctx, ast.Load):
            continue
        owner = scope.owner(node.id)
        if owner is None or owner is not facts.scopes.of(node).owner(node.id):
            continue
        if facts.names.is_tf_module(node):
            return f"{node.id}.{symbol}"
        part = facts.names.tf(node)
        if part is not None and symbol.startswith(f"{part}."):
            best = best or f"{node.id}.{symbol.removeprefix(f'{part}.')}"
    return best


def named_before(facts: Facts, place: ast.stmt, name: str) -> bool:
    """Whether TensorFlow has its name by the time that a function is defined at a place.

    A decorator is evaluated there, and what is in the function only when it is called.
    """
    first = name.partition(".")[0]
    owner = facts.scopes.of(place).owner(first)
    if owner is None:
        return False
    home = facts.source.function(place)
    if home is not None and home is not owner.node:
        return True  # it is defined when that function is called
    bindings = owner.bindings[first]
    above = [one for one in bindings if getattr(one.node, "lineno", 0) < place.lineno]
    # It may be imported again later, as notebooks do.
    return len(above) == len(bindings) or (
        all(one.how is How.IMPORT for one in bindings)
        and any(facts.source.parent(one.node) is owner.node for one in above)
    )
