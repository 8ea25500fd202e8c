"""Functions of the file that make the dict a run is fed with."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


@dataclass(frozen=True)
class MadeFeed:
    """A call that gives a dict, and what that holds, seen from the call."""

    call: ast.Call
    made: tuple[ast.expr, ...]
    """The keys whose values the function makes."""
    numbers: tuple[tuple[ast.expr, ast.Constant], ...]
    """The keys that have the same number in each call."""


class FeedHelpers:
    """Looks into them."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls

    def made(self, call: ast.expr) -> MadeFeed | None:
        """The dict that a call gives, if all its keys can be named where the call stands."""
        function = self._own.function(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(function, ast.FunctionDef):
            return None
        written = self._given_back(function)
        if written is None:
            return None
        made: list[ast.expr] = []
        numbers: list[tuple[ast.expr, ast.Constant]] = []
        for key, value in zip(written.keys, written.values, strict=True):
            named = self._outside(key, call, function) if key is not None else None
            if named is None:
                return None
            number = self._outside(value, call, function)
            if isinstance(number, ast.Constant):
                numbers.append((named, number))
            else:
                made.append(named)
        return MadeFeed(call, tuple(made), tuple(numbers)) if made else None

    def _given_back(self, function: ast.FunctionDef) -> ast.Dict | None:
        """The dict that a function writes out and gives back, at its end and nowhere else."""
        last = function.body[-1]
        value = last.value if isinstance(last, ast.Return) else None
        if value is None or self._own.returned(function) != [value]:
            return None
        if isinstance(value, ast.Name):
            bindings = self._scopes.bindings(value)
            node = bindings[0].node if len(bindings) == 1 else None
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                return None
            if node not in function.body or self._scopes.uses(value) != [value]:
                return None
            # What is done between may change what has been put into it.
            if function.body.index(node) != len(function.body) - 2:
                return None
            value = node.value
        return value if isinstance(value, ast.Dict) else None

    def _outside(
        self, part: ast.expr, call: ast.Call, function: ast.FunctionDef
    ) -> ast.expr | None:
        """What stands for a part of the dict where the function is called."""
        if isinstance(part, ast.Constant):
            return part
        root = part.value if isinstance(part, ast.Attribute) else part
        if not isinstance(root, ast.Name):
            return None
        if self._classes.of_self(root) is not None:
            return None
        owner = self._scopes.of(root).owner(root.id)
        if owner is None:
            return None
        if owner.node is not function:
            seen = self._scopes.of(call).owner(root.id) is owner
            return part if seen else None
        bindings = self._scopes.bindings(root)
        if part is not root or len(bindings) != 1 or not isinstance(bindings[0].node, ast.arg):
            return None
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if self._own.parameter(call, argument) is bindings[0]:
                return argument
        return bindings[0].value
