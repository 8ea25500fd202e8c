"""What else a loop, and the rest of its function, does with a batch that is fed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.statement_names import bound_in

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.batches.feed_entries import Entry
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

# What stands in these may be evaluated when the loop is over.
_LATER = (
    ast.Lambda, ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


class BatchUses:
    """Finds them; a use by a run that could fetch the batch is none."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._sessions = facts.sessions
        self._values = facts.turn_values

    def elsewhere(self, batch: FedBatch) -> Obstacle | None:
        """Whether something of the batch is used for more than to feed the run."""
        for name in bound_in(batch.making):
            scope = self._scopes.of(batch.loop)
            if name in scope.elsewhere or scope.owner(name) is not scope:
                message = f"`{name}` is a name that other functions see as well"
                return Obstacle("batch-used", message)
        for node in self._source.all(ast.Name):
            if isinstance(node.ctx, ast.Del) and node.id in bound_in(batch.making):
                return Obstacle("batch-used", f"line {node.lineno} deletes `{node.id}`")
        while True:
            moved = [one for one in batch.making if one not in batch.copied]
            use = self._first_use(batch, moved) or self.augmented(batch, moved, bound_in(moved))
            if use is None:
                return self._dict_used(batch)
            makers = [one for one in moved if use.id in bound_in([one])]
            entry = self._fed_again(batch, use)
            if entry is not None:
                if entry not in batch.fetched:
                    batch.fetched.append(entry)
                continue
            if not makers or not all(map(self._values.is_arithmetic, makers)):
                message = f"line {use.lineno} uses `{use.id}` as well, which has to be made for it"
                return Obstacle("batch-used", message)
            batch.copied += makers

    def augmented(
        self, batch: FedBatch, moved: list[ast.stmt], names: frozenset[str]
    ) -> ast.Name | None:
        """A name of the batch that other code goes on with: `rows += 1`."""
        scope = self._scopes.of(batch.loop)
        inside = {node for one in moved for node in ast.walk(one)}
        for node in self._source.all(ast.AugAssign):
            target = node.target
            if node in inside or not isinstance(target, ast.Name) or target.id not in names:
                continue
            if self._scopes.of(node).owner(target.id) is scope:
                bindings = self._flow.before(target.id, node)
                if bindings is None or self.binds(batch, moved, bindings):
                    return target
        return None

    def binds(self, batch: FedBatch, moved: list[ast.stmt], bindings: list[Binding]) -> bool:
        """Whether one of some bindings is made by what leaves the loop."""
        return any(
            (batch.source is not None and binding.node is batch.loop)
            or any(
                binding.node is one or one in self._source.ancestors(binding.node) for one in moved
            )
            for binding in bindings
        )

    def _first_use(self, batch: FedBatch, moved: list[ast.stmt]) -> ast.Name | None:
        """A use, outside of the batch's own code, of what is made by statements that move."""
        inside = {
            node for one in (*moved, *(e.value for e in batch.entries)) for node in ast.walk(one)
        }
        stores = [
            name
            for one in moved
            for name in ast.walk(one)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        ]
        for stored in stores:
            for use in self._scopes.uses(stored):
                if use in inside or self._fed_again(batch, use) in (batch.fetched or ()):
                    continue
                if self.binds(batch, moved, self._flow.reaching(use)):
                    return use
        return None

    def _fed_again(self, batch: FedBatch, use: ast.Name) -> Entry | None:
        """The entry that a later run of the turn feeds as it is, where it does so under an `if`."""
        feed = self._source.parent(use)
        statement = batch.statement
        if (
            not isinstance(feed, ast.Dict)
            or use not in feed.values
            or not self._is_fed(feed, batch)
        ):
            return None
        key = feed.keys[feed.values.index(use)]
        for entry in batch.entries:
            if not isinstance(entry.value, ast.Name) or entry.value.id != use.id:
                continue
            if key is None or ast.dump(key) != ast.dump(entry.key):
                return None
            later = batch.loop.body[batch.loop.body.index(statement) + 1 :]
            under = any(
                isinstance(one, ast.If) and one in self._source.ancestors(use) for one in later
            )
            return entry if under and self._can_fetch(batch) else None
        return None

    def _is_fed(self, written: ast.Dict, batch: FedBatch) -> bool:
        """Whether a dict goes into a run as it stands, when the turn comes there."""
        fed = any(run.feed is written for run in self._sessions.runs.values())
        return fed and self.in_turn(written, batch) is not None

    def in_turn(self, node: ast.expr, batch: FedBatch) -> ast.stmt | None:
        """The statement of a turn in which something is evaluated; none where it may be later."""
        child: ast.AST = node
        for outer in self._source.ancestors(node):
            if outer is batch.loop:
                return child if isinstance(child, ast.stmt) and child in batch.loop.body else None
            if isinstance(outer, _LATER):
                return None
            child = outer
        return None

    def _can_fetch(self, batch: FedBatch) -> bool:
        """Whether the run can fetch more: its results are named one by one, or not at all."""
        run, statement = batch.run, batch.statement
        if not run.direct or run.options or batch.filling:
            return False
        if isinstance(statement, ast.Expr):
            return statement.value is run.call
        if not isinstance(statement, ast.Assign) or statement.value is not run.call:
            return False
        target = statement.targets[0]
        if len(statement.targets) > 1:
            return False
        if isinstance(target, ast.Tuple):
            if not isinstance(run.fetches, (ast.List, ast.Tuple)):
                return False
            plain = all(isinstance(part, ast.Name) for part in target.elts)
            return plain and len(target.elts) == len(run.fetches.elts)
        return isinstance(target, ast.Name)

    def _dict_used(self, batch: FedBatch) -> Obstacle | None:
        """Whether the dict itself is used for more than the one run."""
        made = batch.filed or batch.filled
        if made is None:
            return None
        target = made.targets[0]
        assert isinstance(target, ast.Name)
        for use in self._scopes.uses(target):
            around = self._source.ancestors(use)
            if use is batch.run.feed or any(one in batch.filling for one in around):
                continue
            if any(binding.node is made for binding in self._flow.reaching(use)):
                message = f"line {use.lineno} uses the dict `{use.id}` as well"
                return Obstacle("batch-used", message)
        return None
