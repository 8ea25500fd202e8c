"""Batches that a run of its own may fetch in each turn, to be fed and counted as they were.

Such a run takes one batch and does nothing else. So it can tell that there is no next one, whatever
the graph does besides, and what is fed stays a feed, in as many runs as there are.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.statement_names import bound_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts


class FetchedBatches:
    """Finds generators that loops go over, and looks what else is done with a batch."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._sessions = facts.sessions
        self._keys = facts.fed_keys
        self._making = facts.batch_making
        self._uses = facts.batch_uses
        self._values = facts.turn_values
        self._feeds = {run.feed: run for run in self._sessions.runs.values() if run.feed}

    def generator(self, loop: ast.AST) -> ast.Call | None:
        """The call of a generator of the file that a loop goes over, counting or not."""
        looped = loop.iter if isinstance(loop, ast.For) else None
        if self._counts(looped) and isinstance(looped, ast.Call):
            looped = looped.args[0]
        return looped if isinstance(looped, ast.Call) and self._yields(looped) else None

    def target(self, loop: ast.For) -> ast.expr:
        """What a loop over a generator binds to what it gives, beside the count."""
        if self._counts(loop.iter):
            assert isinstance(loop.target, ast.Tuple)
            return loop.target.elts[1]
        return loop.target

    def is_fetched(self, batch: FedBatch) -> bool:
        """Whether a run fetches the batch as it is: it is made elsewhere, or ahead already."""
        given = [one.value for one in (*batch.entries, *batch.kept)]
        values = {one.id for one in given if isinstance(one, ast.Name)}
        makers: list[ast.AST] = [
            one
            for one in batch.loop.body
            if isinstance(one, ast.Assign) and bound_in([one]) & values
        ]
        looped = self.generator(batch.loop)
        function = self._own.function(looped) if looped is not None else None
        makers += [function] if function is not None else []
        names = [node for one in makers for node in ast.walk(one) if isinstance(node, ast.Name)]
        return any(
            self._is_element(binding.value)
            for name in names
            for binding in self._scopes.bindings(name)
        )

    def of(self, batch: FedBatch) -> FedBatch | Obstacle:
        """The batch as one that is fetched and then fed, or what is done with it besides."""
        seen = self._pieced(batch) or self._seen(batch) or self._making.made_late(batch)
        if seen is not None:
            return seen
        dtypes: dict[str, str] = {}
        for entry in batch.entries:
            dtype = self._dtype(entry.key, batch)
            if isinstance(dtype, Obstacle):
                return dtype
            if dtypes.setdefault(ast.unparse(entry.value), dtype) != dtype:
                text = ast.unparse(entry.value)
                message = f"`{text}` is fed to placeholders of two types"
                return Obstacle("batch-used", message)
        source = self.generator(batch.loop)
        found = replace(batch, source=source, own_run=True, copied=[], fetched=[], obstacle=None)
        return self._used(found, dtypes) or found

    def is_whole(self, batch: FedBatch) -> bool:
        """Whether the dict of a batch is written out, in one place of the turn."""
        return batch.helper is None and not batch.filling

    def _pieced(self, batch: FedBatch) -> Obstacle | None:
        """A dict that is not written out in one place of the turn."""
        if self.is_whole(batch):
            return None
        if batch.obstacle is not None:
            return batch.obstacle
        text = ast.unparse(batch.run.feed) if batch.run.feed is not None else "the dict"
        message = f"what `{text}` feeds comes of a generator, and is not written out in one place"
        return Obstacle("source-consumed", message)

    def _is_element(self, value: ast.expr | None) -> bool:
        """Whether a value is the next element of an iterator, or a callable that takes it."""
        func = value.func if isinstance(value, ast.Call) else None
        if not isinstance(value, ast.Call) or not isinstance(func, ast.Attribute):
            return False
        if func.attr != "make_callable":
            return func.attr == "get_next"
        names = [one for one in value.args if isinstance(one, ast.Name)]
        bindings = (binding for name in names for binding in self._scopes.bindings(name))
        return any(self._is_element(binding.value) for binding in bindings)

    def own(self, batch: FedBatch) -> frozenset[str]:
        """The names that the loop binds to parts of a batch, and that fetched ones may have."""
        moved = [one for one in batch.making if one not in batch.copied]
        names = set(bound_in(moved))
        if batch.source is not None:
            assert isinstance(batch.loop, ast.For)
            names |= bound_in([self.target(batch.loop)])
        return frozenset(names)

    # The loop

    def _counts(self, looped: ast.expr | None) -> bool:
        """Whether a loop goes over `enumerate(...)`, and binds the count to a name."""
        loop = self._source.parent(looped) if looped is not None else None
        target = loop.target if isinstance(loop, ast.For) else None
        return (
            isinstance(looped, ast.Call)
            and self._names.dotted(looped.func) == "builtins.enumerate"
            and bool(looped.args)
            and isinstance(target, ast.Tuple)
            and len(target.elts) == 2
            and isinstance(target.elts[0], ast.Name)
            and all(isinstance(one, ast.Constant) for one in looped.args[1:])
            and all(isinstance(one.value, ast.Constant) for one in looped.keywords)
        )

    def _yields(self, call: ast.Call) -> bool:
        function = self._own.function(call)
        return isinstance(function, ast.FunctionDef) and any(
            isinstance(node, (ast.Yield, ast.YieldFrom)) and self._source.function(node) is function
            for node in ast.walk(function)
        )

    # What else is done with a batch

    def _seen(self, batch: FedBatch) -> Obstacle | None:
        """Who else sees the names of a batch, or has them no more."""
        scope = self._scopes.of(batch.loop)
        for name in sorted(batch.local):
            if name in scope.elsewhere or scope.owner(name) is not scope:
                message = f"`{name}` is a name that other functions see as well"
                return Obstacle("batch-used", message)
        for node in self._source.all(ast.Name):
            if isinstance(node.ctx, ast.Del) and node.id in batch.local:
                return Obstacle("batch-used", f"line {node.lineno} deletes `{node.id}`")
        return None

    def _used(self, batch: FedBatch, dtypes: dict[str, str]) -> Obstacle | None:
        """A use that is no feed; what is computed of the number of the turn stays in the loop."""
        while True:
            moved = [one for one in batch.making if one not in batch.copied]
            use = self._first_use(batch, moved, dtypes)
            use = use or self._uses.augmented(batch, moved, self.own(batch))
            if use is None:
                return self._dict(batch, moved)
            makers = [one for one in moved if use.id in bound_in([one])]
            if not makers or not all(map(self._values.is_arithmetic, makers)):
                message = f"line {use.lineno} uses `{use.id}` as well, which has to be made for it"
                return Obstacle("batch-used", message)
            batch.copied += makers

    def _dict(self, batch: FedBatch, moved: list[ast.stmt]) -> Obstacle | None:
        feed = batch.feed
        assert isinstance(feed, ast.Dict), "one that a function makes is refused before"
        if batch.filed is None or self._only_fed(feed, batch, moved):
            return None
        text = ast.unparse(batch.filed.targets[0])
        message = f"the dict `{text}` of line {batch.filed.lineno} is used for more than its runs"
        return Obstacle("batch-used", message)

    def _first_use(
        self, batch: FedBatch, moved: list[ast.stmt], dtypes: dict[str, str]
    ) -> ast.Name | None:
        """A use of what the pipeline makes, beside the code that moves and feeds as they were."""
        inside = {
            node for one in (*moved, *(e.value for e in batch.entries)) for node in ast.walk(one)
        }
        roots: list[ast.AST] = [*moved]
        if batch.source is not None:
            assert isinstance(batch.loop, ast.For)
            roots.append(self.target(batch.loop))
        nodes = [node for one in roots for node in ast.walk(one) if isinstance(node, ast.Name)]
        stores = [node for node in nodes if isinstance(node.ctx, ast.Store)]
        for use in (use for stored in stores for use in self._scopes.uses(stored)):
            if use not in inside and self._uses.binds(batch, moved, self._flow.reaching(use)):
                if not self._leaves(use, batch, moved, dtypes):
                    return use
        return None

    def _leaves(
        self, use: ast.Name, batch: FedBatch, moved: list[ast.stmt], dtypes: dict[str, str]
    ) -> bool:
        """Whether a use cannot tell the batch from what a placeholder makes of it."""
        if use.id not in dtypes or not self._in_turn(use, batch, moved):
            return False
        parent = self._source.parent(use)
        if isinstance(parent, ast.Call) and self._names.dotted(parent.func) == "builtins.len":
            return True
        if not isinstance(parent, ast.Dict) or use not in parent.values:
            return False
        key = parent.keys[parent.values.index(use)]
        if key is None or not self._only_fed(parent, batch, moved):
            return False
        return self._dtype(key, batch) == dtypes[use.id]

    def _in_turn(self, use: ast.expr, batch: FedBatch, moved: list[ast.stmt]) -> bool:
        """Whether something is evaluated in the turn, once the batch is all made.

        After the loop, what it is a part of may have changed, and what was fetched is a copy.
        """
        statement = self._uses.in_turn(use, batch)
        if statement is None:
            return False
        block = batch.loop.body
        return all(block.index(one) < block.index(statement) for one in moved)

    def _only_fed(self, written: ast.Dict, batch: FedBatch, moved: list[ast.stmt]) -> bool:
        """Whether nothing but runs of the turn, in plain sessions, is given a dict."""
        uses: list[ast.expr] = [written]
        made = self._source.parent(written)
        if isinstance(made, ast.Assign) and len(made.targets) == 1:
            target = made.targets[0]
            uses = [*self._reading(target, made)] if isinstance(target, ast.Name) else []
        return bool(uses) and all(
            use in self._feeds
            and self._feeds[use].kind is not SessionKind.UNKNOWN
            and self._in_turn(use, batch, moved)
            for use in uses
        )

    def _reading(self, target: ast.Name, made: ast.Assign) -> Iterator[ast.Name]:
        for use in self._scopes.uses(target):
            if any(binding.node is made for binding in self._flow.reaching(use)):
                yield use

    def _dtype(self, key: ast.expr, batch: FedBatch) -> str | Obstacle:
        """The type of the placeholder that a key is."""
        found = self._keys.of(key, batch.loop)
        return found if isinstance(found, Obstacle) else found.dtype
