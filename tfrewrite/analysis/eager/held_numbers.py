"""The numbers of Python that an object holds and changes, where a step reads them.

A trace would keep what they were at first; a function can be given them instead, turn by turn.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tfrewrite.analysis.facts import Facts


class HeldNumbers:
    """Finds the attributes of an object that hold a number, and another one later."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes
        self._values = facts.eager_values
        self._uses = facts.number_uses

    def of(self, inside: Iterable[ast.AST]) -> tuple[tuple[ast.Attribute, str], ...]:
        """Every place of some code that reads one, with a name for what it holds."""
        found = [one for one in inside if isinstance(one, ast.Attribute) and self._varies(one)]
        names: dict[str, str] = {}
        for one in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
            key = ast.unparse(one)
            if key not in names:
                names[key] = self._named(one.attr, names.values())
        return tuple((one, names[ast.unparse(one)]) for one in found)

    def _named(self, word: str, taken: Collection[str]) -> str:
        """The attribute's own name, where nothing else in the file is called so."""
        free = word not in taken and not hasattr(builtins, word)
        if free and not any(one.id == word for one in self._source.all(ast.Name)):
            if not any(one.arg == word for one in self._source.all(ast.arg)):
                return word
        return self._names.fresh(word, taken)

    def _varies(self, attribute: ast.Attribute) -> bool:
        if not isinstance(attribute.ctx, ast.Load) or not isinstance(attribute.value, ast.Name):
            return False
        if self._classes.of_self(attribute.value) is None or self._is_in_text(attribute):
            return False
        if attribute.attr in self._classes.properties:
            return False
        if attribute.lineno != attribute.end_lineno:
            return False
        found = self._values.value(attribute)
        return isinstance(found, Number) and found.varies and self._uses.changes(attribute)

    def _is_in_text(self, node: ast.AST) -> bool:
        """Whether a place is in an f-string, where Python tells no places before 3.12."""
        return any(isinstance(outer, ast.JoinedStr) for outer in self._source.ancestors(node))
