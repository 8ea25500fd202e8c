"""Writes the pipeline that takes the place of batches made in a loop."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from tfrewrite.edits import (
    Edit,
    InsertBefore,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
)

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.fed_batches import Entry, FedBatch
    from tfrewrite.analysis.placeholders import Placeholder


class BatchPipeline:
    """The iterator at the placeholders, the pipeline before the loop, and the loop without feed."""

    def __init__(
        self, facts: Facts, batch: FedBatch, placeholders: list[Placeholder], place: ast.stmt,
        taken: set[str], *, in_graph: bool,
    ) -> None:  # fmt: skip
        self._facts = facts
        self._batch = batch
        self._placeholders = placeholders
        self._place = place
        self._taken = taken
        self._in_graph = in_graph
        func = placeholders[0].call.func
        assert isinstance(func, ast.Attribute)
        self._tf = facts.source.segment(func.value)
        owner = placeholders[0].target
        self._prefix = (
            f"{facts.source.segment(owner.value)}." if isinstance(owner, ast.Attribute) else ""
        )
        self._unit = _indentation(facts, batch.loop)
        self._iterator = self._fresh("batch_iterator")
        self._batches = self._fresh("batches")
        self._start = self._fresh("start_batches")

    def edits(self) -> tuple[Edit, ...]:
        return (
            *self._at_placeholders(),
            *self._before_loops(),
            *self._in_loop(),
        )

    def _fresh(self, base: str) -> str:
        name = self._facts.names.fresh(base, self._taken)
        self._taken.add(name)
        return name

    # Where the placeholders are made

    def _at_placeholders(self) -> list[Edit]:
        """The iterator, and placeholders that take its elements where nothing is fed.

        The graph optimiser takes the shape of what is fed for unknown, whatever the placeholder
        says. It must not know more of an element, or it would round in other ways; so the shapes
        are set afterwards, where only Python sees them.
        """
        names = [self._fresh(f"next_{_word(one)}") for one in self._placeholders]
        dtypes = [self._text(one.dtype) for one in self._placeholders]
        first = min(self._placeholders, key=lambda one: self._facts.source.span(one.statement))
        iterator = f"{self._prefix}{self._iterator}"
        lines = (
            f"{iterator} = {self._tf}.data.Iterator.from_structure({_structure(dtypes)})\n"
            f"{', '.join(names)} = {iterator}.get_next()"
        )
        edits: list[Edit] = [InsertBefore(self._facts.source.span(first.statement), lines)]
        for one, name in zip(self._placeholders, names, strict=True):
            given = [name, "None"]
            if one.name is not None:
                given.append(f"name={self._text(one.name)}")
            target = self._text(one.target)
            text = f"{target} = {self._tf}.placeholder_with_default({', '.join(given)})"
            if one.shape is not None and ast.unparse(one.shape) != "None":
                text += f"\n{target}.set_shape({self._text(one.shape)})"
            edits.append(ReplaceStatement(self._facts.source.span(one.statement), text))
        return edits

    # Before the loops

    def _pipeline(self) -> str:
        body = [self._statement(one) for one in self._batch.making]
        values = [self._text(entry.value) for entry in self._batch.entries]
        loop = self._batch.loop
        assert isinstance(loop, ast.For)
        header = f"for {self._text(loop.target)} in {self._text(loop.iter)}:"
        inner = "\n".join([*body, f"yield {', '.join(values)}"])
        keys = [self._text(entry.key) for entry in self._batch.entries]
        dtypes = _structure([f"{key}.dtype" for key in keys])
        shapes = _structure([f"{key}.shape" for key in keys])
        generator = f"def {self._batches}():\n    {header}\n{textwrap.indent(inner, '        ')}\n"
        made = (
            f"{self._start} = {self._prefix}{self._iterator}.make_initializer(\n"
            f"{self._unit}{self._tf}.data.Dataset.from_generator(\n"
            f"{self._unit * 2}{self._batches}, {dtypes}, {shapes}\n"
            f"{self._unit}).prefetch(1)\n"
            ")"
        )
        if self._in_graph:
            made = f"with {keys[0]}.graph.as_default():\n{textwrap.indent(made, '    ')}"
        return generator + made

    def _before_loops(self) -> list[Edit]:
        session = self._session()
        run = f"{session}.run({self._start})" if session else f"{self._start}.run()"
        loop = self._facts.source.span(self._batch.loop)
        if self._place is self._batch.loop:
            return [InsertBefore(loop, f"{self._pipeline()}\n{run}")]
        place = self._facts.source.span(self._place)
        return [InsertBefore(place, self._pipeline()), InsertBefore(loop, run)]

    def _session(self) -> str:
        func = self._batch.run.call.func
        if self._batch.run.direct and isinstance(func, ast.Attribute):
            return self._text(func.value)
        return ""

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
        if batch.kept:
            text = f"{{{', '.join(self._entry(entry) for entry in batch.kept)}}}"
            edits.append(ReplaceExpression(self._facts.source.span(batch.feed), text))
            return edits
        if batch.filed is not None:
            edits.append(RemoveStatement(self._facts.source.span(batch.filed), place, moved=True))
        edits.append(ReplaceExpression(self._facts.source.span(batch.run.call), self._call()))
        return edits

    def _fetching(self) -> list[Edit]:
        """The run gives what it took as well, for runs that are fed with the same batch."""
        batch = self._batch
        edits: list[Edit] = []
        feed = ""
        if batch.kept:
            feed = f", feed_dict={{{', '.join(self._entry(entry) for entry in batch.kept)}}}"
        if batch.filed is not None:
            place = self._facts.source.span(self._place)
            edits.append(RemoveStatement(self._facts.source.span(batch.filed), place, moved=True))
        fetches = batch.run.fetches
        keys = [self._text(entry.key) for entry in batch.fetched]
        names = [self._text(entry.value) for entry in batch.fetched]
        func = self._text(batch.run.call.func)
        targets = ""
        if isinstance(batch.statement, ast.Assign):
            targets = self._text(batch.statement.targets[0])
            if isinstance(batch.statement.targets[0], ast.Tuple):
                targets = targets.strip("()").rstrip(", ")
                assert isinstance(fetches, (ast.List, ast.Tuple))
                keys = [*(self._text(one) for one in fetches.elts), *keys]
            else:
                keys = [self._text(fetches), *keys]
            left = ", ".join([targets, *names])
            text = f"{left} = {func}([{', '.join(keys)}]{feed})"
        else:
            left = ", ".join(names) + ("," if len(names) == 1 else "")
            text = f"{left} = {func}([{', '.join([self._text(fetches), *keys])}]{feed})[1:]"
        return [*edits, ReplaceStatement(self._facts.source.span(batch.statement), text)]

    def _entry(self, entry: Entry) -> str:
        return f"{self._text(entry.key)}: {self._text(entry.value)}"

    def _call(self) -> str:
        """The call without its feed."""
        run = self._batch.run
        given = [self._text(one) for one in run.call.args if one is not run.feed]
        given += [
            f"{keyword.arg}={self._text(keyword.value)}"
            for keyword in run.call.keywords
            if keyword.value is not run.feed
        ]
        return f"{self._text(run.call.func)}({', '.join(given)})"

    def _statement(self, statement: ast.stmt) -> str:
        span = self._facts.source.span(statement)
        return (
            self._facts.source.segment(statement)
            if span.line == span.end_line
            else (ast.unparse(statement))
        )

    def _text(self, node: ast.expr) -> str:
        span = self._facts.source.span(node)
        if span.line == span.end_line:
            return self._facts.source.segment(node)
        return ast.unparse(node)


def _indentation(facts: Facts, loop: ast.stmt) -> str:
    """By how much the body of a loop is indented."""
    assert isinstance(loop, ast.For)
    outer = facts.source.line(loop.lineno)[: facts.source.span(loop).column]
    inner = facts.source.line(loop.body[0].lineno)[: facts.source.span(loop.body[0]).column]
    return inner.removeprefix(outer) if inner.isspace() else "    "


def _structure(parts: list[str]) -> str:
    """A tuple, or the one thing itself."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _word(placeholder: Placeholder) -> str:
    target = placeholder.target
    return (target.id if isinstance(target, ast.Name) else target.attr).strip("_").lower()
