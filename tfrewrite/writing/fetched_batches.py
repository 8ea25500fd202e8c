"""Writes batches that a run of its own fetches in each turn, to be fed as they were."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression
from tfrewrite.writing.batch_generator import BatchWriter
from tfrewrite.writing.default_placeholders import structure
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.batches.feed_entries import Entry
    from tfrewrite.analysis.facts import Facts


class FetchedBatchPipeline(BatchWriter):
    """The pipeline before the loop, and in each turn a batch of it by the names that it had."""

    def __init__(
        self, facts: Facts, batch: FedBatch, tensorflow: str, place: ast.stmt, taken: set[str],
        *, in_graph: bool,
    ) -> None:  # fmt: skip
        super().__init__(facts, batch, tensorflow, place, taken, in_graph=in_graph)
        self._next = self._fresh("next_batch")
        self._ahead = self._fresh("batches_ahead") if batch.source is not None else ""
        self._renamed: dict[Entry, str] = {}
        self._values: dict[str, Entry] = {}
        """By what the loop calls them, the values that a batch consists of."""
        for entry in batch.entries:
            self._values.setdefault(self._name(entry), entry)

    def edits(self) -> tuple[Edit, ...]:
        span = self._facts.source.span
        before = self._pipeline()
        loop = self._batch.loop
        if self._batch.source is not None:
            edits: list[Edit] = [InsertBefore(span(self._place), before + self._going_on())]
            edits += self._header()
        elif self._place is loop:
            edits = [InsertBefore(span(loop), before + self._start())]
        else:
            edits = [
                InsertBefore(span(self._place), before.rstrip("\n")),
                InsertBefore(span(loop), self._start()),
            ]
        return (*edits, *self._in_loop())

    def _name(self, entry: Entry) -> str:
        """What the loop calls a part of the batch: as it did, or by a name for an expression."""
        text = text_of(self._facts, entry.value)
        if isinstance(entry.value, ast.Name) and text in self._facts.fetched_batches.own(
            self._batch
        ):
            return text
        self._renamed[entry] = self._fresh(f"next_{_word(entry.key).strip('_').lower()}")
        return self._renamed[entry]

    # Before the loops

    def _pipeline(self) -> str:
        values = [text_of(self._facts, entry.value) for entry in self._values.values()]
        keys = [text_of(self._facts, entry.key) for entry in self._values.values()]
        dtypes = structure([f"{key}.dtype" for key in keys])
        made = (
            f"{self._iterator} = {self._tf}.data.Dataset.from_generator(\n"
            f"{self._unit}{self._batches}, {dtypes}\n"
            f").prefetch(1).make_initializable_iterator()\n"
            f"{self._next} = {self._iterator}.get_next()\n"
        )
        return self._generator(values) + self._made_in_graph(keys[0], made)

    def _start(self) -> str:
        return f"{self._running()}.run({self._iterator}.initializer)"

    def _running(self) -> str:
        return self._session() or f"{self._tf}.get_default_session()"

    def _going_on(self) -> str:
        """A generator in place of that of the loop: only its own run may find the end."""
        session = self._running()
        batch = "element" if "batch" in f"{session}.{self._tf}".split(".") else "batch"
        lines = (
            f"def {self._ahead}():",
            f"    {self._start()}",
            "    while True:",
            "        try:",
            f"            {batch} = {session}.run({self._next})",
            f"        except {self._tf}.errors.OutOfRangeError:",
            "            return",
            f"        yield {batch}",
        )
        return "\n".join(lines)

    # In the loop

    def _header(self) -> list[Edit]:
        span = self._facts.source.span
        loop, source = self._batch.loop, self._batch.source
        assert isinstance(loop, ast.For) and source is not None
        target = self._facts.fetched_batches.target(loop)
        names = ", ".join(self._values)
        edits: list[Edit] = [ReplaceExpression(span(source), f"{self._ahead}()")]
        bound = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]
        flat = isinstance(target, ast.Name) or all(
            isinstance(one, ast.Name) for one in getattr(target, "elts", [None])
        )
        single = isinstance(target, ast.Name) == (len(self._values) == 1)
        if bound != list(self._values) or not flat or not single:
            inner = target is not loop.target and len(self._values) > 1
            edits.append(ReplaceExpression(span(target), f"({names})" if inner else names))
        return edits

    def _in_loop(self) -> list[Edit]:
        span = self._facts.source.span
        batch = self._batch
        moved = [one for one in batch.making if one not in batch.copied]
        edits: list[Edit] = [
            RemoveStatement(span(one), span(self._place), moved=True) for one in moved
        ]
        edits += [ReplaceExpression(span(one.value), name) for one, name in self._renamed.items()]
        if batch.source is None:
            block = batch.loop.body
            last = moved[-1] if moved else batch.filed or batch.statement
            after = next(one for one in block[block.index(last) :] if one not in moved)
            taken = f"{', '.join(self._values)} = {self._running()}.run({self._next})"
            edits.append(InsertBefore(span(after), taken))
        return edits


def _word(key: ast.expr) -> str:
    """What the file calls a key, as far as that can be a part of a name."""
    match key:
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word
        case ast.Subscript(slice=ast.Constant(value=str(word))) if word.isidentifier():
            return word
    return "value"
