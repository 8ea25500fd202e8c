"""Which statements of a turn make the batch, and on what it depends."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_method
from tfrewrite.analysis.program.statement_names import bound_in, names_in, read_in, surely_binds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.batches.feed_entries import Entry
    from tfrewrite.analysis.facts import Facts


class BatchMaking:
    """Divides what is fed and the code of a turn into what is of the batch and what is not."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._sessions = facts.sessions
        self._values = facts.turn_values

    def divide(self, batch: FedBatch, varying: list[Entry]) -> Obstacle | None:
        """Why nothing that varies is of the batch; what is of it is noted there otherwise."""
        loop = batch.loop
        assert isinstance(loop, ast.For)
        block = loop.body
        filing = [batch.filed, *batch.filling]
        before = [one for one in block[: block.index(batch.statement)] if one not in filing]
        refused: Obstacle | None = None
        chosen: set[ast.stmt] = set()
        for entry in varying:
            making = self._slice(entry.value, before)
            if self._values.is_number_of_turn(entry.value, making, loop):
                batch.kept.append(entry)  # a number for each turn, and no batch
                continue
            obstacle = self._depends(entry.value, making, batch)
            if obstacle is None:
                batch.entries.append(entry)
                chosen |= making
            else:
                batch.kept.append(entry)
                refused = refused or obstacle
        if not batch.entries:
            return refused
        batch.making = [one for one in before if one in chosen]
        batch.local = bound_in(batch.making) | names_in(loop.target)
        return None

    def _slice(self, value: ast.expr, before: list[ast.stmt]) -> set[ast.stmt]:
        """The statements of a turn that have to do with a value."""
        needed = read_in(value)
        made: set[str] = set()
        found: set[ast.stmt] = set()
        while True:
            more = [
                one
                for one in before
                if one not in found and (bound_in([one]) & needed or _changes(one, made))
            ]
            if not more:
                return found
            for one in more:
                found.add(one)
                made |= bound_in([one])
                needed |= read_in(one)

    def _depends(self, value: ast.expr, making: set[ast.stmt], batch: FedBatch) -> Obstacle | None:
        """What of the loop, beside its turns, a batch depends on."""
        own = bound_in(making) | names_in(getattr(batch.loop, "target", None))
        roots: list[ast.AST] = [value, *making]
        for name in (node for root in roots for node in ast.walk(root)):
            if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
                continue
            if self._scopes.of(name).owner(name.id) is not self._scopes.of(batch.loop).owner(
                name.id
            ):
                continue  # a name of a comprehension
            for binding in self._flow.reaching(name):
                outside = binding.node is not batch.loop and not any(
                    binding.node is one or one in self._source.ancestors(binding.node)
                    for one in making
                )
                line = getattr(binding.node, "lineno", name.lineno)
                if name.id in own and outside:
                    message = f"`{name.id}` comes from line {line}, outside of the turn"
                    return Obstacle("depends-on-loop", message)
                if name.id not in own and self._values.within(binding, batch.loop):
                    message = f"`{name.id}` gets its value in line {line}, from turn to turn"
                    return Obstacle("depends-on-loop", message)
            if name.id in own and not self._bound_in_turn(name, batch.loop):
                message = f"`{name.id}` may have its value from an earlier turn"
                return Obstacle("depends-on-loop", message)
        for run in self._sessions.runs:
            if any(run in ast.walk(root) for root in roots):
                message = f"the run of line {run.lineno} takes part in making the batch"
                return Obstacle("depends-on-loop", message)
        return None

    def _bound_in_turn(self, name: ast.Name, loop: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Whether a name surely gets a value in the same turn, before it is read."""
        child: ast.AST = name
        for outer in self._source.ancestors(name):
            if isinstance(outer, ast.For) and child in outer.body:
                if name.id in names_in(outer.target):
                    return True
            if outer is loop:
                return False
            if isinstance(outer, ast.stmt):
                block, index = self._source.position(outer)
                if any(surely_binds(one, name.id) for one in block[:index]):
                    return True
            child = outer
        return False

    def made_on(self, batch: FedBatch) -> Obstacle | None:
        """Whether more of the batch is made after some of it has been put into the dict.

        The pipeline takes all of it at the end of the turn.
        """
        for entry, one in self._later(batch):
            names = set(read_in(entry.value))
            plain = isinstance(entry.value, ast.Name)
            calls = any(isinstance(node, ast.Call) for node in ast.walk(entry.value))
            changed = bound_in([one]) & names or (not plain and _changes(one, names))
            if changed or (calls and not plain):
                return _made_after(entry, one)
        return None

    def made_late(self, batch: FedBatch) -> Obstacle | None:
        """Whether anything of the batch is made once its dict is there.

        A run of its own gives the batch where all of it is made, and the dict has to come later.
        """
        return next((_made_after(entry, one) for entry, one in self._later(batch)), None)

    def _later(self, batch: FedBatch) -> Iterator[tuple[Entry, ast.stmt]]:
        """What is put into the dict, with each statement that makes the batch after that."""
        for entry in batch.entries:
            filed = self._source.statement(entry.within)
            for one in batch.making:
                if one.lineno > filed.lineno:
                    yield entry, one


def _made_after(entry: Entry, one: ast.stmt) -> Obstacle:
    text = ast.unparse(entry.value)
    message = f"line {one.lineno} makes more of the batch after `{text}` is fed"
    return Obstacle("batch-changes-state", message)


def _changes(statement: ast.stmt, made: set[str]) -> bool:
    """Whether a statement may change what is bound to a name: a loop, `x[0] = 1`, `x.sort()`."""
    if not made & read_in(statement):
        return False
    if isinstance(statement, (ast.For, ast.AugAssign)):
        return True
    if isinstance(statement, ast.Assign):
        return any(
            isinstance(target, (ast.Subscript, ast.Attribute)) for target in statement.targets
        )
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    given = set().union(*(read_in(argument) for argument in call.args)) if call.args else set()
    if isinstance(call.func, ast.Attribute):
        mutates = effect_of_method(call.func.attr) is CallEffect.MUTATES
        return mutates and bool(made & (read_in(call.func.value) | given))
    return False
