"""The loops that make a batch and feed it to a run, once in each turn."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfrewrite.analysis.batches.feed_entries import Entry, entries_of, fills
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.batches.feed_helpers import MadeFeed
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun


@dataclass(eq=False)
class FedBatch:
    """A run that is fed, and the code of its loop that makes what it is fed with."""

    run: SessionRun
    loop: ast.For | ast.AsyncFor | ast.While
    statement: ast.stmt
    feed: ast.Dict | ast.Call
    """The dict as it is written, or the call of a function that gives it."""
    filed: ast.Assign | None
    """The statement that gives the dict a name, where it has one and the loop makes it."""
    filled: ast.Assign | None = None
    """The statement that gives it a name before the loop, which then fills it in each turn."""
    filling: list[ast.stmt] = field(default_factory=list)
    """The statements of the loop that put more into it."""
    helper: MadeFeed | None = None
    """What the function gives, where one makes the dict."""
    entries: list[Entry] = field(default_factory=list)
    """What depends on the turn and on nothing else that the loop does."""
    kept: list[Entry] = field(default_factory=list)
    making: list[ast.stmt] = field(default_factory=list)
    """The statements that make the batch, in their order."""
    copied: list[ast.stmt] = field(default_factory=list)
    """Those of them that the loop goes on needing: arithmetic with the numbers of the turn."""
    fetched: list[Entry] = field(default_factory=list)
    """Those that another run of the turn is fed with as well, under an `if` after this one."""
    local: frozenset[str] = frozenset()
    source: ast.Call | None = None
    """The generator of the file that the loop goes over, where it goes over one."""
    own_run: bool = False
    """Whether a run of its own takes the batch, which is then fed as it was."""
    obstacle: Obstacle | None = None


class FedBatches:
    """Finds them, and tells apart what belongs to the batch."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow
        self._sessions = facts.sessions
        self._helpers = facts.feed_helpers
        self._making = facts.batch_making
        self._uses = facts.batch_uses
        self._shape = facts.fed_loops.obstacle
        self._varies = facts.turn_values.varies
        self._within = facts.turn_values.within

    def all(self) -> Iterator[FedBatch]:
        """Every run in a loop that is fed with something new in each turn, from top to bottom."""
        for call in sorted(self._sessions.runs, key=self._source.span):
            run = self._sessions.runs[call]
            loop = self._flow.loop(call)
            if loop is None or run.feed is None:
                continue
            found = self._found(run, loop, run.feed)
            if found is not None:
                yield found

    def _found(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        batch = self._written(run, loop, feed)
        if batch is None:
            return self._unwritten(run, loop, feed)
        varying: list[Entry] = []
        earlier = batch.filled is not None
        for entry in entries_of(batch.feed, batch.filling, batch.helper, earlier=earlier):
            varies = not entry.stays and self._varies(entry.value, loop)
            (varying if varies else batch.kept).append(entry)
        if not varying:
            return self._refilled(batch)
        batch.obstacle = self._shape(batch) or self._making.divide(batch, varying)
        if batch.obstacle is None and batch.entries:
            batch.obstacle = (
                self._uses.elsewhere(batch) or self._half_made(batch) or self._making.made_on(batch)
            )
        return batch if batch.entries or batch.obstacle is not None else None

    def _written(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        """A batch in a dict that is written out in the loop, in one place or piece by piece."""
        statement = self._source.statement(run.call)
        if isinstance(feed, ast.Dict):
            return None if None in feed.keys else FedBatch(run, loop, statement, feed, None)
        if isinstance(feed, ast.Call):
            return self._from_helper(run, loop, feed)
        bindings = self._flow.reaching(feed) if isinstance(feed, ast.Name) else []
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return None
        if not isinstance(feed, ast.Name) or not isinstance(node.targets[0], ast.Name):
            return None
        before = loop.body[: loop.body.index(statement)] if statement in loop.body else []
        inside = loop in self._source.ancestors(node)
        if inside:
            before = before[before.index(node) + 1 :] if node in before else []
        filling = [one for one in before if fills(one, feed.id)]
        if inside and isinstance(node.value, ast.Call):
            return self._from_helper(run, loop, node.value, node, filling)
        if not isinstance(node.value, ast.Dict) or None in node.value.keys:
            return None
        if inside:
            return FedBatch(run, loop, statement, node.value, node, filling=filling)
        if not filling:
            return None
        return FedBatch(run, loop, statement, node.value, None, node, filling)

    def _from_helper(
        self,
        run: SessionRun,
        loop: ast.For | ast.AsyncFor | ast.While,
        call: ast.Call,
        filed: ast.Assign | None = None,
        filling: Sequence[ast.stmt] = (),
    ) -> FedBatch | None:
        """A batch in a dict that a function of the file makes and gives back."""
        made = self._helpers.made(call)
        if made is None:
            return None
        statement = self._source.statement(run.call)
        return FedBatch(run, loop, statement, call, filed, filling=[*filling], helper=made)

    def _half_made(self, batch: FedBatch) -> Obstacle | None:
        """Whether the loop goes on needing a dict that a function makes, beside the pipeline."""
        call = batch.helper.call if batch.helper is not None else None
        for entry in batch.kept:
            if entry.value is call:
                key, text = ast.unparse(entry.key), ast.unparse(call.func)
                message = f"what `{text}` makes for `{key}` depends on more than the turn"
                return Obstacle("depends-on-loop", message)
        return None

    def _unwritten(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        """A batch in a dict that each turn makes or fills, but not by writing it out."""
        if not self._filled(feed, loop):
            return None
        nothing = ast.Dict(keys=[], values=[])
        batch = FedBatch(run, loop, self._source.statement(run.call), nothing, None)
        text = ast.unparse(feed)
        message = (
            f"what `{text}` feeds is not written out in the loop, as `{{x: batch}}` is, nor at the"
            " end of a function of this file"
        )
        batch.obstacle = self._shape(batch) or Obstacle("batch-code-not-seen", message)
        return batch

    def _filled(self, feed: ast.expr, loop: ast.AST) -> bool:
        """Whether a dict that is fed is made or filled in the loop."""
        if isinstance(feed, ast.Call):
            return True
        if isinstance(feed, ast.Dict):
            return any(self._varies(value, loop) for value in feed.values)
        if not isinstance(feed, ast.Name):
            return False
        if any(self._within(binding, loop) for binding in self._flow.reaching(feed)):
            return True
        updated = any(
            isinstance(node, ast.Attribute)
            and node.attr == "update"
            and ast.unparse(node.value) == feed.id
            for node in ast.walk(loop)
        )
        return updated or self._stored(feed, loop) is not None

    def _refilled(self, batch: FedBatch) -> FedBatch | None:
        """A batch in an array that each turn writes another one to."""
        for entry in batch.kept:
            stored = self._stored(entry.value, batch.loop)
            if stored is not None:
                text = ast.unparse(entry.value)
                message = f"line {stored.lineno} writes the batch to `{text}`, which stays the same"
                changing = Obstacle("batch-changes-state", message)
                batch.obstacle = self._shape(batch) or changing
                return batch
        return None

    def _stored(self, value: ast.expr, loop: ast.AST) -> ast.Subscript | None:
        """Where a loop writes to a part of what a name stands for."""
        if not isinstance(value, (ast.Name, ast.Attribute)):
            return None
        text = ast.unparse(value)
        for node in ast.walk(loop):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if ast.unparse(node.value) == text:
                    return node
        return None
