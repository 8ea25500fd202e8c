"""What a run is fed with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind, Node
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


@dataclass(frozen=True, eq=False)
class UnitedFeed:
    """One feed in place of several: the first of them, and the entries that it lacks."""

    first: ast.expr | None
    more: tuple[tuple[ast.expr, ast.expr], ...] = ()


class Feeds:
    """Questions about the dicts that say what to feed."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._tracer = facts.graph
        self._containers = facts.containers
        self._classes = facts.classes

    def only_placeholders(self, feed: ast.expr) -> bool:
        """Whether all keys of a feed are placeholders, so that it cuts no edge of the graph."""
        keys = self._keys(feed)
        return keys is not None and all(map(self._is_placeholder, keys))

    def runs_code(self, feed: ast.expr) -> bool:
        """Whether the file has a say in what becomes of the fed objects, at each run anew."""
        if self._classes.become_arrays or self._tracer.trace(feed).kind is Kind.INSTANCE:
            return True
        bindings = self._scopes.bindings(feed) if isinstance(feed, ast.Name) else []
        written = [feed, *(binding.value for binding in bindings)]
        values = [value for one in written if isinstance(one, ast.Dict) for value in one.values]
        items = "__getitem__" in self._classes.magic  # by which an array is made of a sequence
        return items and any(self._tracer.trace(one).kind is Kind.INSTANCE for one in values)

    def fed(self, feed: ast.expr) -> frozenset[Node] | None:
        """What a feed surely gives a value to; None where that cannot be told."""
        if isinstance(feed, ast.Dict):
            return frozenset(self._tracer.trace(key) for key in feed.keys if key is not None)
        if isinstance(feed, ast.Name):
            bindings = self._scopes.bindings(feed)
            if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
                value = bindings[0].value
                removing = any(not self._adds_placeholder(use) for use in self._scopes.uses(feed))
                if isinstance(value, ast.Dict) and not removing:
                    return self.fed(value)
        return None

    def united(self, feeds: Sequence[ast.expr | None]) -> UnitedFeed | None:
        """All that several runs are fed with; None where that is not one value for each key.

        The values are compared by their text: the caller makes sure that it means the same.
        """
        apart: dict[str, ast.expr] = {}
        for feed in feeds:
            if feed is not None:
                apart.setdefault(ast.dump(feed), feed)
        if len(apart) < 2:
            return UnitedFeed(next(iter(apart.values()), None))
        first, *_ = apart.values()
        entries: dict[str, tuple[ast.expr, ast.expr]] = {}
        for feed in apart.values():
            own = _entries(feed)
            if own is None:
                return None
            for key, (written, value) in own.items():
                _, other = entries.setdefault(key, (written, value))
                if ast.dump(other) != ast.dump(value):
                    return None
        held = _entries(first) or {}
        return UnitedFeed(first, tuple(entry for key, entry in entries.items() if key not in held))

    def mixing(self, feeds: Sequence[ast.expr | None]) -> Obstacle | None:
        """Why feeding each of several runs with what the others are fed may change a value.

        A placeholder of `tf.placeholder` has no value of its own. What does not fail without a feed
        for it does not depend on it, and is the same with one.
        """
        made: dict[ast.AST, str] = {}
        for feed in (feed for feed in feeds if feed is not None):
            keys = self._keys(feed)
            if keys is None:
                message = f"it cannot be told what all is fed by `{self._source.in_one_line(feed)}`"
                return Obstacle("feeds-differ", message)
            for key in keys:
                text = self._source.in_one_line(key)
                node = self._tracer.trace(key)
                if node.kind is not Kind.OP or node.symbol != "placeholder":
                    message = f"`{text}` is not known to be made by `tf.placeholder`"
                    return Obstacle("feeds-differ", message)
                other = made.setdefault(node.expr, ast.dump(key))
                if other != ast.dump(key):
                    message = f"`{text}` may be a placeholder that is also fed by another name"
                    return Obstacle("feeds-differ", message)
        return None

    def _keys(self, feed: ast.expr) -> list[ast.expr] | None:
        """All that a feed may have as keys; None where that cannot be told."""
        if isinstance(feed, ast.Dict):
            keys = [key for key in feed.keys if key is not None]
            return keys if len(keys) == len(feed.keys) else None
        bindings = self._scopes.bindings(feed) if isinstance(feed, ast.Name) else []
        if not isinstance(feed, ast.Name) or not bindings:
            return None
        found: list[ast.expr] = []
        for binding in bindings:
            made = binding.value if binding.how is How.ASSIGN else None
            keys_made = self._keys(made) if isinstance(made, ast.Dict) else None
            if keys_made is None:
                return None
            found += keys_made
        for use in self._scopes.uses(feed):
            key = self._set(use)
            if key is not None:
                found.append(key)
            elif self._containers.added_through(use) != ([], True):
                return None
        return found

    def _is_placeholder(self, expr: ast.expr) -> bool:
        return self._tracer.trace(expr).symbol.startswith("placeholder")

    def _adds_placeholder(self, use: ast.Name) -> bool:
        """Whether a use of a feed dict takes nothing from it: it reads, or sets a placeholder."""
        key = self._set(use)
        if key is not None:
            removed = isinstance(self._source.statement(use), ast.Delete)
            return not removed and self._is_placeholder(key)
        return self._containers.added_through(use) == ([], True)

    def _set(self, use: ast.Name) -> ast.expr | None:
        """The key that a use of a feed dict sets, or removes."""
        parent = self._source.parent(use)
        if not isinstance(parent, ast.Subscript) or isinstance(parent.ctx, ast.Load):
            return None
        return parent.slice if parent.value is use else None


def _entries(feed: ast.expr) -> dict[str, tuple[ast.expr, ast.expr]] | None:
    """What a written out feed holds, by the text of its keys; None where there is more to it."""
    if not isinstance(feed, ast.Dict):
        return None
    pairs = zip(feed.keys, feed.values, strict=True)
    found = {ast.dump(key): (key, value) for key, value in pairs if key is not None}
    return found if len(found) == len(feed.keys) else None
