"""Whether runs of one session can be one run: what a run would have to cross, share and give up."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.fetches import Fetch, checks_beneath, fetch_of, share_a_result
from tfrewrite.analysis.graphs.nodes import flags
from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION, SessionKind, SessionRun
from tfrewrite.analysis.graphs.sharing import fails_together
from tfrewrite.analysis.graphs.updates import Update, read_before
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.flow import evaluated

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.step_runs import StepRun
    from tfrewrite.analysis.program.source import Block


class JoinedRuns:
    """Asks of the runs of one block what speaks against joining them."""

    def __init__(self, facts: Facts, block: Block) -> None:
        self._facts = facts
        self._block = block
        self._fetched: dict[SessionRun, Fetch] = {}

    def fetch(self, run: SessionRun) -> Fetch:
        """What a run fetches, with all that lies beneath it."""
        if run not in self._fetched:
            traced = self._facts.graph.trace(run.fetches)
            fetched = self._facts.collected_summaries.followed(traced)
            title = self._facts.source.in_one_line(run.fetches)
            self._fetched[run] = fetch_of(fetched, title)
        return self._fetched[run]

    def obstacle(
        self, group: list[StepRun], update: StepRun | None, part: StepRun
    ) -> Obstacle | None:
        """Why a run cannot be joined to those before it, which follow on an update or not."""
        fetch = self.fetch(part.run)
        if fetch.trouble:
            return Obstacle(fetch.trouble, fetch.message)
        if not group:
            if update is not None and fetch.update is not None:
                return Obstacle("two-updates", "each update has to see what the other one wrote")
            return None
        obstacle = (
            self._same_array(group, fetch)
            or self._fails(group, fetch)
            or self._in_the_way(group, part)
        )
        if obstacle is None and fetch.update is not None:
            return _taken(fetch) or self._race(group, fetch.update)
        return obstacle

    def delayed(self, update: StepRun, part: StepRun) -> Obstacle | None:
        """Why what a run reads after an update cannot be read in the update's own run."""
        minimised = self.fetch(update.run).update
        assert minimised is not None
        return (
            self._same_array([update], self.fetch(part.run))
            or self._fails([update], self.fetch(part.run))
            or self._in_the_way([update], part)
            or self._race([part], minimised)
            or self._acts(part)
        )

    def forbidden(self, parts: list[StepRun]) -> Obstacle | None:
        """What speaks against merging any of the runs, whatever they fetch."""
        for run in (part.run for part in parts):
            obstacle = run.obstacle(who="a run", hooks_see="every run")
            if obstacle is not None:
                return obstacle
            if any(self._may_build(node) for node in ast.walk(run.fetches)):
                text = self._facts.source.in_one_line(run.fetches)
                message = (
                    f"`{text}`, fetched in line {run.call.lineno}, is made anew in each step:"
                    " build it before the loop"
                )
                return Obstacle("fetch-builds-graph", message)
            if run.feed is not None and not self._facts.moves.repeatable(run.feed):
                message = "evaluating the feed may give other values each time, or have an effect"
                return Obstacle("feed-not-repeatable", message)
            if run.feed is not None and self._facts.feeds.runs_code(run.feed):
                message = (
                    "a class of this file says how its objects become arrays, at each run anew"
                )
                return Obstacle("feed-not-repeatable", message)
        if parts[0].run.session == DEFAULT_SESSION and self._facts.names.alias is None:
            return Obstacle("session-unknown", "the default session cannot be named here")
        if self._facts.dynamics.rewires_graph:
            return Obstacle("graph-surgery", "the file changes the graph or gradients afterwards")
        if self._facts.dynamics.obstacle:
            return Obstacle("dynamic-code", self._facts.dynamics.obstacle)
        updates = any(self.fetch(part.run).update is not None for part in parts[1:])
        message = self._facts.catching.caught(self._block, parts[0].statement, updates=updates)
        return Obstacle("inside-try", message) if message else None

    def _may_build(self, node: ast.AST) -> bool:
        """Whether a part of what is fetched is an op that is made for this run."""
        if isinstance(node, ast.Call):
            return True
        return isinstance(node, ast.expr) and self._facts.op_making.makes(node)

    def _same_array(self, group: list[StepRun], fetch: Fetch) -> Obstacle | None:
        """One run gives one array for a tensor that is fetched twice; two runs give two."""
        if any(share_a_result(self.fetch(part.run), fetch) for part in group):
            message = "the same tensor is fetched by an earlier run, and would give the same array"
            return Obstacle("same-array", message)
        return None

    def _fails(self, group: list[StepRun], fetch: Fetch) -> Obstacle | None:
        for part in group:
            if fails_together(self.fetch(part.run), fetch):
                text = self._facts.source.segment(part.run.fetches)
                message = (
                    f"TensorFlow 2 fuses a convolution with its activation and drops what is"
                    f" between, so a run that fetches it beside the run of line"
                    f" {part.run.call.lineno} (`{text}`) fails"
                )
                return Obstacle("fails-together", message)
        return None

    def _race(self, group: list[StepRun], update: Update) -> Obstacle | None:
        feed = group[0].run.feed
        if feed is not None and not self._facts.feeds.only_placeholders(feed):
            message = "it cannot be told that only placeholders are fed, which cuts no edge"
            return Obstacle("feed-not-traced", message)
        for part in group:
            for root in self.fetch(part.run).roots:
                if not read_before(root, update):
                    text = self._facts.source.segment(part.run.fetches)
                    message = f"nothing makes the update wait until `{text}` has been read"
                    return Obstacle("races-with-update", message)
        return None

    def _in_the_way(self, group: list[StepRun], part: StepRun) -> Obstacle | None:
        """What a run would have to cross on its way up to the first of a group."""
        head = group[0]
        first = self._block.index(head.statement)
        last = self._block.index(part.statement)
        moving = {other.run.call for other in (*group, part)}
        if self.fetch(part.run).update is None:
            moving |= self._harmless_runs(first, last)
        before = self._block[first:last]
        if checks_beneath(self.fetch(part.run)):
            for node in (node for statement in before for node in evaluated(statement)):
                if isinstance(node, ast.Call) and node not in moving:
                    text = self._facts.source.segment(part.run.fetches)
                    message = f"line {node.lineno} has happened when the checks of `{text}` fail"
                    return Obstacle("call-between", message)
        crossed: list[ast.AST] = [*before, part.value]
        if isinstance(part.statement, ast.AugAssign):
            crossed += ast.iter_child_nodes(part.statement.target)
        return self._facts.moves.obstacle(crossed, part.run.needs, frozenset(moving))

    def _harmless_runs(self, first: int, last: int) -> set[ast.Call]:
        """Runs with another feed that only read: a read may be moved past them."""
        found = set()
        for statement in self._block[first : last + 1]:
            for node in ast.walk(statement):
                run = self._facts.sessions.runs.get(node) if isinstance(node, ast.Call) else None
                if run is not None and run.kind is SessionKind.PLAIN:
                    if self.fetch(run).reads_only:
                        found.add(run.call)
        return found

    def _acts(self, part: StepRun) -> Obstacle | None:
        targets = part.targets
        if targets is None:
            if isinstance(part.statement, ast.Expr):
                acting = self._facts.reports.acting_expression(part.run.call)
            else:
                acting = part.statement
        else:
            uses = (self._facts.reports.acting_use(t) for t in targets if isinstance(t, ast.Name))
            acting = next((use for use in uses if use is not None), None)
        if acting is None:
            return None
        line = getattr(acting, "lineno", part.statement.lineno)
        text = self._facts.source.segment(part.run.fetches)
        message = f"`{text}` is more than reported: line {line} acts on it"
        return Obstacle("value-acts", message)


def _taken(fetch: Fetch) -> Obstacle | None:
    """An element that an update takes: where there is none it fails, and the rest had been read."""
    if "iterates" not in flags(*fetch.roots):
        return None
    message = "the update fails where there is no next element, and what was read before is kept"
    return Obstacle("iterator-beneath", message)
