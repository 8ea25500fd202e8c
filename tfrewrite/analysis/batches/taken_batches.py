"""Whether each run takes exactly one batch, and computes with it what it did with a feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.company import Company
from tfrewrite.analysis.graphs.fetches import leaves
from tfrewrite.analysis.graphs.nodes import beneath
from tfrewrite.analysis.graphs.surely_run import surely_beneath
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.batch_effects import BatchEffects
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node


class TakenBatches:
    """Looks at what runs fetch, where elements of an iterator are to be behind it."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._feeds = facts.feeds

    def reached(self, batch: FedBatch, effects: BatchEffects) -> Obstacle | None:
        """Whether each run takes exactly one batch: a placeholder must lie beneath its fetches.

        Where nothing tells how many batches have been made, it may be that no run takes one.
        """
        fetched = self._tracer.trace(batch.run.fetches)
        for entry in batch.kept:
            if not self._tracer.trace(entry.key).symbol.startswith("placeholder"):
                text = self._source.segment(entry.key)
                message = (
                    f"`{text}` is fed and not known to be a placeholder: it may cut off the batch"
                )
                return Obstacle("fetch-not-seen", message)
        keys = [self._tracer.trace(entry.key) for entry in batch.entries]
        for entry in batch.kept:
            if self._tracer.trace(entry.key) in keys:
                text = self._source.segment(entry.key)
                message = f"`{text}` is fed with something else as well, which would be left"
                return Obstacle("placeholder-unclear", message)
        if any(surely_beneath(fetched, key, counted=effects.goes_on) for key in keys):
            return self._unfed(batch, keys)
        text = self._source.segment(batch.run.fetches)
        message = f"it cannot be told that each run of `{text}` needs the batch, and so takes one"
        return Obstacle("fetch-not-seen", message)

    def _unfed(self, batch: FedBatch, keys: list[Node]) -> Obstacle | None:
        """Whether another run relies on the error that a placeholder without a feed gives."""
        for run in self._sessions.runs.values():
            fed = self._feeds.fed(run.feed) if run.feed is not None else frozenset()
            if run is batch.run or fed is None:
                continue
            if not all(node.symbol.startswith("placeholder") for node in fed):
                continue  # it may be fed under another name
            if (set(keys) - fed) & set(beneath(self._tracer.trace(run.fetches))):
                message = (
                    f"the run of line {run.call.lineno} does not feed what it needs, and fails"
                )
                return Obstacle("run-without-feed", message)
        return None

    def race(self, batch: FedBatch) -> Obstacle | None:
        """Whether chance decides what is read before it is written.

        What is fed is there when the run begins; an element is there later, when all that needs
        none of it has been done. Measured: a critic's loss fetched with the op that clips its
        weights was that of before the clip with a feed and that of after it with a pipeline.
        """
        roots = leaves(self._tracer.trace(batch.run.fetches))
        fed = frozenset(self._tracer.trace(one.key) for one in (*batch.entries, *batch.kept))
        uncut = all(one.symbol.startswith("placeholder") for one in fed)
        company = Company(roots, fed, only_placeholders=uncut)
        effects = [node.effect.flags for node in beneath(*roots) if node.effect is not None]
        writing = [one for one in effects if "writes" in one and "iterates" not in one]
        only_reads = company.traced and not writing and not any("calls" in one for one in effects)
        if only_reads or (company.race() is None and len(writing) < 2):
            return None
        text = self._source.segment(batch.run.fetches)
        message = (
            f"nothing fixes the order in which a run of `{text}` writes and reads, and where the"
            " batch comes later it may be another"
        )
        return Obstacle("races-with-update", message)
