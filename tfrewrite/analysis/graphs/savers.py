"""Savers that a loop makes: whether one that is made before it would write the same files.

A saver deletes old checkpoints, but only such as it has written. One that is made for each
checkpoint deletes none, and lists but the last in the file `checkpoint`; so does one saver with
`max_to_keep=0` (measured on 1.15.5 and 2.21).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.built_values import Built

_SETTINGS = frozenset({"var_list"})
_METHODS = frozenset({"save", "restore"})


@dataclass(frozen=True, eq=False)
class Saver:
    """A call that makes a saver, with the methods that are called of it."""

    call: ast.Call
    built: Built
    variables: tuple[ast.expr, ...]
    """What it is told to save; nothing where it saves all that there is."""
    obstacle: Obstacle | None


class Savers:
    """Finds the savers that loops make."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._hoisting = facts.hoisting
        self._built_values = facts.built_values

    def in_loops(self) -> list[Saver]:
        """Every saver that is made in each turn of a loop and used there."""
        calls = [
            call
            for call in self._source.all(ast.Call)
            if self._names.tf(call.func) == "train.Saver" and self._hoisting.loops(call)
        ]
        savers = [self._saver(call) for call in sorted(calls, key=self._source.span)]
        return [saver for saver in savers if any(map(self._method, saver.built.uses))]

    def _saver(self, call: ast.Call) -> Saver:
        built = self._built_values.of(call)
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return Saver(call, built, tuple(given), self._settings(call) or self._uses(call, built))

    def _settings(self, call: ast.Call) -> Obstacle | None:
        if len(call.args) <= 1 and all(one.arg in _SETTINGS for one in call.keywords):
            return None
        return Obstacle("saver-settings", f"`{ast.unparse(call)}` has settings of its own")

    def _uses(self, call: ast.Call, built: Built) -> Obstacle | None:
        """What is done with a saver beside saving one checkpoint in the turn that it is made in."""
        saves = 0
        for use in built.uses:
            method = self._method(use)
            if method is None or not self._in_the_same_turn(use, call):
                line = getattr(use, "lineno", call.lineno)
                return Obstacle("used-otherwise", f"line {line} does more with it than to save")
            saves += method.attr == "save"
        if saves > 1:
            return Obstacle("used-otherwise", "it saves several checkpoints, which it lists")
        return None

    def _method(self, use: ast.expr) -> ast.Attribute | None:
        """The method that is called of a saver."""
        method = self._source.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr not in _METHODS:
            return None
        call = self._source.parent(method)
        return method if isinstance(call, ast.Call) and call.func is method else None

    def _in_the_same_turn(self, use: ast.expr, call: ast.Call) -> bool:
        """Whether a use follows in the block of the call, and only once."""
        if self._hoisting.loops(use) != self._hoisting.loops(call):
            return False
        if use is call:
            return True
        block, index = self._source.position(self._source.statement(call))
        return any(one in self._source.ancestors(use) for one in block[index + 1 :])
