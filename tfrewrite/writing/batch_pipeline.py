"""Writes the pipeline that takes the place of batches made in a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import (
    Edit,
    InsertBefore,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
)
from tfrewrite.writing.batch_generator import BatchWriter
from tfrewrite.writing.default_placeholders import (
    WIDTH,
    structure,
    tensorflow_of,
    with_defaults,
)
from tfrewrite.writing.feedless import without_feed
from tfrewrite.writing.handed_on import handed_on
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.batches.feed_entries import Entry
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.placeholders import Placeholder

_WIDTH = 99


class BatchPipeline(BatchWriter):
    """The iterator at the placeholders, the pipeline before the loop, and the loop without feed."""

    def __init__(
        self, facts: Facts, batch: FedBatch, placeholders: list[Placeholder], place: ast.stmt,
        taken: set[str], *, in_graph: bool,
    ) -> None:  # fmt: skip
        tensorflow = tensorflow_of(facts, placeholders[0].call)
        super().__init__(facts, batch, tensorflow, place, taken, in_graph=in_graph)
        self._placeholders = placeholders
        self._way = placeholders[0].way
        self._start = self._fresh("start_batches")

    def edits(self) -> tuple[Edit, ...]:
        return (
            *with_defaults(
                self._facts, self._placeholders, self._way.start + self._iterator, self._taken
            ),
            *handed_on(self._facts, self._way, self._iterator),
            *self._before_loops(),
            *self._in_loop(),
        )

    # Before the loops

    def _pipeline(self) -> str:
        values = [text_of(self._facts, entry.value) for entry in self._batch.entries]
        keys = [text_of(self._facts, entry.key) for entry in self._batch.entries]
        made_by_helper: list[str] = []
        helper = self._batch.helper
        made_there = [helper is not None and e.value is helper.call for e in self._batch.entries]
        if any(made_there):
            feed = self._feed()
            made_by_helper = [f"{feed} = {values[made_there.index(True)]}"]
            parts = zip(made_there, keys, values, strict=True)
            values = [f"{feed}[{key}]" if there else value for there, key, value in parts]
        given = [
            self._batches,
            structure([f"{key}.dtype" for key in keys]),
            structure([f"{key}.shape" for key in keys]),
        ]
        line = f"{self._unit * 2}{', '.join(given)}"
        room = WIDTH - self._facts.source.span(self._place).column
        if len(line.expandtabs(4)) > room:
            line = ",\n".join(f"{self._unit * 2}{one}" for one in given)
        iterator = self._way.end + self._iterator
        made = (
            f"{self._start} = {iterator}.make_initializer(\n"
            f"{self._unit}{self._tf}.data.Dataset.from_generator(\n"
            f"{line}\n"
            f"{self._unit}).prefetch(1)\n"
            ")"
        )
        return self._generator(values, made_by_helper) + self._made_in_graph(keys[0], made)

    def _feed(self) -> str:
        """What a dict is called that a function makes."""
        filed = self._batch.filed
        target = filed.targets[0] if filed is not None else None
        return target.id if isinstance(target, ast.Name) else self._fresh("feed")

    def _before_loops(self) -> list[Edit]:
        session = self._session()
        run = f"{session}.run({self._start})" if session else f"{self._start}.run()"
        loop = self._facts.source.span(self._batch.loop)
        if self._place is self._batch.loop:
            return [InsertBefore(loop, f"{self._pipeline()}\n{run}")]
        place = self._facts.source.span(self._place)
        return [InsertBefore(place, self._pipeline()), InsertBefore(loop, run)]

    # In the loop

    def _in_loop(self) -> list[Edit]:
        batch = self._batch
        place = self._facts.source.span(self._place)
        edits: list[Edit] = [
            RemoveStatement(self._facts.source.span(one), place, moved=True)
            for one in batch.making
            if one not in batch.copied
        ]
        if batch.fetched:
            return [*edits, *self._fetching()]
        if batch.filling:
            edits += self._filling()
            if batch.kept:
                return edits
            return [*edits, *self._unfiled(), self._without_feed()]
        if batch.kept:
            return [*edits, self._dict_of(batch.feed, batch.kept)]
        return [*edits, *self._unfiled(), self._without_feed()]

    def _without_feed(self) -> Edit:
        run = self._batch.run
        return ReplaceExpression(self._facts.source.span(run.call), without_feed(self._facts, run))

    def _filling(self) -> list[Edit]:
        """A dict that is filled piece by piece, without what the pipeline gives."""
        batch, source = self._batch, self._facts.source
        run = source.span(batch.statement)
        edits: list[Edit] = []
        for part in batch.filling:
            moved = [one for one in batch.entries if source.statement(one.within) is part]
            left = [one for one in batch.kept if source.statement(one.within) is part]
            if moved and not left:
                edits.append(RemoveStatement(source.span(part), run))
            elif moved and isinstance(moved[0].within, ast.Dict):
                edits.append(self._dict_of(moved[0].within, left))
        if batch.kept and any(one.within is batch.feed for one in batch.entries):
            left = [one for one in batch.kept if one.within is batch.feed]
            edits.append(self._dict_of(batch.feed, left))
        return edits

    def _dict_of(self, written: ast.expr, entries: list[Entry]) -> Edit:
        text = f"{{{', '.join(map(self._entry, entries))}}}"
        return ReplaceExpression(self._facts.source.span(written), text)

    def _fetching(self) -> list[Edit]:
        """The run gives what it took as well, for runs that are fed with the same batch."""
        batch = self._batch
        edits: list[Edit] = []
        feed = ""
        if batch.kept:
            feed = f", feed_dict={{{', '.join(self._entry(entry) for entry in batch.kept)}}}"
        edits += self._unfiled()
        fetches = batch.run.fetches
        keys = [text_of(self._facts, entry.key) for entry in batch.fetched]
        names = [text_of(self._facts, entry.value) for entry in batch.fetched]
        func = text_of(self._facts, batch.run.call.func)
        targets = ""
        if isinstance(batch.statement, ast.Assign):
            targets = text_of(self._facts, batch.statement.targets[0])
            if isinstance(batch.statement.targets[0], ast.Tuple):
                targets = targets.strip("()").rstrip(", ")
                assert isinstance(fetches, (ast.List, ast.Tuple))
                keys = [*(text_of(self._facts, one) for one in fetches.elts), *keys]
            else:
                keys = [text_of(self._facts, fetches), *keys]
            left = ", ".join([targets, *names])
            text = f"{left} = {func}([{', '.join(keys)}]{feed})"
        else:
            left = ", ".join(names) + ("," if len(names) == 1 else "")
            text = (
                f"{left} = {func}([{', '.join([text_of(self._facts, fetches), *keys])}]{feed})[1:]"
            )
        return [*edits, ReplaceStatement(self._facts.source.span(batch.statement), text)]

    def _unfiled(self) -> list[Edit]:
        """Takes out the dict that was made for the run alone; what is said there is of the run."""
        made = self._batch.filed or self._batch.filled
        if made is None:
            return []
        run = self._facts.source.span(self._batch.statement)
        return [RemoveStatement(self._facts.source.span(made), run)]

    def _entry(self, entry: Entry) -> str:
        return f"{text_of(self._facts, entry.key)}: {text_of(self._facts, entry.value)}"
