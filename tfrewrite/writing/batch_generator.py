"""What each pipeline of batches is written with: a generator, a graph to make it in, new names."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from tfrewrite.writing.hoisted import indentation_of, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts


class BatchWriter:
    """Writes what stands before the loop; what becomes of the loop is said by those made of it."""

    def __init__(
        self, facts: Facts, batch: FedBatch, tensorflow: str, place: ast.stmt, taken: set[str],
        *, in_graph: bool,
    ) -> None:  # fmt: skip
        self._facts = facts
        self._batch = batch
        self._place = place
        self._taken = taken
        self._in_graph = in_graph
        self._tf = tensorflow
        self._unit = indentation_of(facts, batch.loop)
        self._batches = self._fresh("batches")
        self._iterator = self._fresh("batch_iterator")

    def _fresh(self, base: str) -> str:
        name = self._facts.names.fresh(base, self._taken)
        self._taken.add(name)
        return name

    def _session(self) -> str:
        """What the session of the batch's run is called; nothing where it is the default one."""
        func = self._batch.run.call.func
        if self._batch.run.direct and isinstance(func, ast.Attribute):
            return text_of(self._facts, func.value)
        return ""

    def _generator(self, values: list[str], last: Sequence[str] = ()) -> str:
        """The function that goes through the loop for the batches; `last` ends their making."""
        loop = self._batch.loop
        assert isinstance(loop, ast.For)
        looped = self._facts.loop_headers.text(loop.iter)
        header = f"for {text_of(self._facts, loop.target)} in {looped}:"
        made = map(self._statement, self._batch.making)
        inner = "\n".join([*made, *last, f"yield {', '.join(values)}"])
        return f"def {self._batches}():\n    {header}\n{textwrap.indent(inner, '        ')}\n"

    def _statement(self, statement: ast.stmt) -> str:
        span = self._facts.source.span(statement)
        one_line = span.line == span.end_line
        return self._facts.source.segment(statement) if one_line else ast.unparse(statement)

    def _made_in_graph(self, key: str, made: str) -> str:
        """Code that makes ops, where another graph than a placeholder's may be the default one."""
        if not self._in_graph:
            return made
        return f"with {key}.graph.as_default():\n{textwrap.indent(made, '    ')}"
