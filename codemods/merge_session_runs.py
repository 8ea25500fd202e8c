"""TFR101 merge-session-runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.fetches import (
    Fetch,
    checks_beneath,
    fetch_of,
    share_a_result,
)
from tfrewrite.analysis.flow import evaluated
from tfrewrite.analysis.helper_runs import RunInStep, surely_evaluates
from tfrewrite.analysis.nodes import flags
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.sessions import DEFAULT_SESSION, SessionKind, SessionRun
from tfrewrite.analysis.sharing import fails_together, may_round
from tfrewrite.analysis.source import Block
from tfrewrite.analysis.updates import Update, read_before
from tfrewrite.model import Contract, Refusal, Rewrite, Site, Span
from tfrewrite.rule import Rule
from tfrewrite.writing.merged_runs import MergedRun, Part

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


class MergeSessionRuns(Rule):
    """Makes one `session.run` of the several that a training step makes with the same feed.

    ## Why it is slow
    Every `run` copies the fed arrays, walks through the graph and computes what its fetches share
    with those of the other runs once more. A step that fetches the loss, the accuracy and a
    summary apart computes the forward pass three times.

    ## Before
    ```python
    for images, labels in batches:
        sess.run(train_op, feed_dict={x: images, y: labels})
        loss_value = sess.run(loss, feed_dict={x: images, y: labels})
        accuracy_value = sess.run(accuracy, feed_dict={x: images, y: labels})
    ```

    ## After
    ```python
    for images, labels in batches:
        sess.run(train_op, feed_dict={x: images, y: labels})
        loss_value, accuracy_value = sess.run([loss, accuracy], feed_dict={x: images, y: labels})
    ```

    Runs that feed different placeholders become one as well, which is fed with all of it: `fake`
    with `{z: noise}` and `real` with `{x: images}` become `[fake, real]` with both. A placeholder
    of `tf.placeholder` has no value of its own. So what ran without a feed for it does not depend
    on it. That does not hold for `tf.placeholder_with_default` and for other tensors that are fed,
    and one placeholder with two different values is never fed in one run.

    Runs under an `if` belong to a step where the condition comes out alike in all turns, as
    `if dataset == "mnist"` does. Under `if step % 100 == 0` they stay as they are.

    ## Contract
    - `exact`: runs that only read, where no value that they share is used in another way by each,
      and none that is fed to both goes into a sum of a list (`add_n`).
    - `rounding`: runs that only read and do share so, since the graph optimizer may fold, fuse or
      regroup it otherwise and the last bit may differ; and values read before the update that
      follows them, where the graph's edges make the update wait for everything that is read.
      So are all summaries that `merge_all` collects, where all that may make one is in this file.
    - `shifted`: metrics read after the update come into the update's own run, which reads them
      before it. The weights stay as they are; the reported series comes one step late. Only
      where the value is just reported, and only with `--allow shifted`.

    ## Refuses
    Runs are merged where they stand together. Where a step calls functions that run the graph once
    each, with the same feed, that is said and left to the owner (`run-in-function`). Other reasons
    are told of the run that they concern.

    ## When it does not help
    Where the merged runs share little of the graph, or where feeding is nothing and the step is
    long.
    """

    code = "TFR101"
    name = "merge-session-runs"
    contracts = (Contract.EXACT, Contract.ROUNDING, Contract.SHIFTED)
    triggers = ((b"tensorflow",), (b".run(", b".eval("))
    reasons = {
        "session-unknown": "It is not known which kind of session runs the graph.",
        "hooked-session": "The session has hooks, which see every run.",
        "run-options": "A run asks for options or metadata of its own.",
        "fetch-not-traced": "It is not known what lies beneath a fetch.",
        "update-not-traced": "It is not known what else an update runs or writes.",
        "random-beneath": "A fetch draws random numbers, at each run anew.",
        "iterator-beneath": "A fetch takes the next element of an iterator or queue.",
        "writes-state": "A fetch writes variables or other state.",
        "host-effect-beneath": "A fetch runs Python code or prints.",
        "two-updates": "Two updates in one run would see each other's variables half written.",
        "races-with-update": "Nothing makes the update wait until the value has been read.",
        "value-acts": "The value decides something, so it must not come from before the update.",
        "feed-not-repeatable": "Evaluating the feed again gives something else, or does something.",
        "feed-not-traced": "The feed may replace a value on the way from the loss to the update.",
        "feeds-differ": "What only one of the runs feeds may have a value without the feed, too.",
        "feed-changes": "The fed or fetched objects may change between the runs.",
        "rebound-between": "A name that a run uses gets another value between the runs.",
        "run-in-function": "One of two runs with the same feed stands alone in a function.",
        "run-between": "Another run stands between.",
        "call-between": "A call between the runs may do anything.",
        "jump-between": "The step may be left between the runs.",
        "inside-try": "An exception between the runs is caught, and the difference could be seen.",
        "fetch-builds-graph": "A fetch is a new operation each time.",
        "same-array": "One run would give one array where two runs give two.",
        "fails-together": "TensorFlow 2 fuses one value away to make the other, and fails.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
        "graph-surgery": "The file rewires the graph or its gradients after it was built.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        for owner, block in _blocks_with_runs(facts):
            if _is_step(facts, owner, block):
                for runs in _same_session(facts, block):
                    yield from _Step(facts, block, runs).sites()
        for first, second in facts.helper_runs.beside():
            if _is_repeated_step(facts, second.statement):
                message = _in_helpers(first, second)
                yield Refusal(facts.source.span(second.call), "run-in-function", message)


def _blocks_with_runs(facts: Facts) -> Iterator[tuple[ast.AST, Block]]:
    """The blocks with two or more calls that look like runs, each with the node that owns it."""
    first: dict[int, ast.stmt] = {}
    several: dict[int, ast.stmt] = {}
    for call in facts.source.all(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
            statement = facts.source.statement(call)
            block, _ = facts.source.position(statement)
            if id(block) in first:
                several[id(block)] = statement
            first.setdefault(id(block), statement)
    for statement in sorted(several.values(), key=facts.source.span):
        owner = facts.source.parent(statement)
        assert owner is not None
        yield owner, facts.source.position(statement)[0]


def _is_step(facts: Facts, owner: ast.AST, block: Block) -> bool:
    """Whether a block runs once per step: a loop's body, or that of a function it calls.

    What stands under an `if` stays as it is where it runs now and then only, and not where the
    condition is the same in all turns: `if config.dataset == "mnist"`.
    """
    while isinstance(owner, (ast.With, ast.Try)) or (
        isinstance(owner, ast.If) and _is_choice(facts, owner)
    ):
        block, _ = facts.source.position(owner)
        parent = facts.source.parent(owner)
        assert parent is not None
        owner = parent
    if isinstance(facts.scopes.of(block[0]).node, ast.ClassDef):
        return False  # every name there is an attribute
    if isinstance(owner, (ast.For, ast.While)):
        return block is owner.body
    return isinstance(owner, ast.FunctionDef)


def _is_choice(facts: Facts, branching: ast.If) -> bool:
    """Whether an `if` takes the same of its branches in all turns."""
    turn = facts.periods.turn(branching)
    return turn is not None and facts.periods.is_steady(branching.test, turn)


def _is_repeated_step(facts: Facts, statement: ast.stmt) -> bool:
    """Whether a statement is of a step that the file makes again and again."""
    block, _ = facts.source.position(statement)
    owner = facts.source.parent(statement)
    if owner is None or not _is_step(facts, owner, block):
        return False
    function = facts.source.function(statement)
    calls = facts.own_calls.calls(function) if isinstance(function, ast.FunctionDef) else None
    return any(map(facts.hoisting.loops, (statement, *(calls or ()))))


def _in_helpers(first: RunInStep, second: RunInStep) -> str:
    """The words for two runs with one feed that nobody sees side by side."""
    helper = second.helper or first.helper
    assert helper is not None
    message = (
        f"line {first.call.lineno} runs the graph with the same feed, but the two do not stand"
        f" together: `{helper.name}` of line {helper.lineno} makes one; "
    )
    if first.fetch.reads_only and second.fetch.reads_only:
        return f"{message}fetch both by one run"
    return f"{message}one run can fetch both where what it reads may be from before the update"


def _same_session(facts: Facts, block: Block) -> list[list[Part]]:
    """The runs of a block, apart by session; only where there are several."""
    in_function_only = facts.flow.loop(block[0]) is None
    groups: dict[str, list[Part]] = {}
    for statement in block:
        for part in _parts(facts, statement):
            if part.run.feed is not None or not in_function_only:
                groups.setdefault(part.run.session, []).append(part)
    return [group for group in groups.values() if len(group) > 1]


def _same_feed(parts: list[Part]) -> list[list[Part]]:
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(_feed(part), []).append(part)
    return list(groups.values())


def _feed(part: Part) -> str:
    """A run's feed; equal for two runs in one block only if they are fed alike."""
    return ast.dump(part.run.feed) if part.run.feed is not None else ""


def _parts(facts: Facts, statement: ast.stmt) -> Iterator[Part]:
    """The runs that a statement evaluates once and in any case, in their order."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)):
        return
    # What a target evaluates comes after the value.
    value = statement.value
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)] if value else []
    for call in sorted(calls, key=facts.source.span):
        run = facts.sessions.runs.get(call)
        if run is not None and surely_evaluates(facts.source, statement, call):
            yield Part(statement, run)


@dataclass(frozen=True, eq=False)
class _Group:
    """Runs with one feed that can be made one, and the update with that feed before them."""

    parts: list[Part]
    after: Part | None


class _Step:
    """The runs of one block that share a session, in the order that they are made."""

    def __init__(self, facts: Facts, block: Block, parts: list[Part]) -> None:
        self._facts = facts
        self._block = block
        self._parts = parts
        self._fetched: dict[SessionRun, Fetch] = {}

    def _fetch(self, run: SessionRun) -> Fetch:
        if run not in self._fetched:
            traced = self._facts.graph.trace(run.fetches)
            fetched = self._facts.collected_summaries.followed(traced)
            title = self._facts.source.in_one_line(run.fetches)
            self._fetched[run] = fetch_of(fetched, title)
        return self._fetched[run]

    def sites(self) -> Iterator[Site]:
        groups: list[_Group] = []
        for parts in _same_feed(self._parts):
            if len(parts) == 1:
                groups.append(_Group(parts, None))
                continue
            obstacle = self._forbidden(parts)
            if obstacle is not None:
                yield self._refusal(parts[1], obstacle)
                continue
            found, refusals = self._grouped(parts)
            groups += found
            yield from refusals
        yield from self._merged(groups)

    def _grouped(self, parts: list[Part]) -> tuple[list[_Group], list[Refusal]]:
        """The runs with one feed, together as far as they can be."""
        groups: list[_Group] = []
        refusals: list[Refusal] = []
        group: list[Part] = []
        update: Part | None = None
        for part in parts:
            obstacle = self._cannot_join(group, update, part)
            if obstacle is not None:
                refusals.append(self._refusal(part, obstacle))
                groups.append(_Group(group, update))
                group = []
            if self._fetch(part.run).trouble:
                update = None
                continue
            group.append(part)
            if self._fetch(part.run).update is not None:
                groups.append(_Group(group, None))
                group, update = [], part
        groups.append(_Group(group, update))
        return [one for one in groups if one.parts], refusals

    def _may_build(self, node: ast.AST) -> bool:
        """Whether a part of what is fetched is an op that is made for this run."""
        if isinstance(node, ast.Call):
            return True
        return isinstance(node, ast.expr) and self._facts.op_making.makes(node)

    def _forbidden(self, parts: list[Part]) -> Obstacle | None:
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
        message = self._facts.catching.caught(self._block, parts[0].statement)
        return Obstacle("inside-try", message) if message else None

    def _cannot_join(self, group: list[Part], update: Part | None, part: Part) -> Obstacle | None:
        """Why a run cannot be merged into those before it."""
        fetch = self._fetch(part.run)
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

    def _same_array(self, group: list[Part], fetch: Fetch) -> Obstacle | None:
        """One run gives one array for a tensor that is fetched twice; two runs give two."""
        if any(share_a_result(self._fetch(part.run), fetch) for part in group):
            message = "the same tensor is fetched by an earlier run, and would give the same array"
            return Obstacle("same-array", message)
        return None

    def _fails(self, group: list[Part], fetch: Fetch) -> Obstacle | None:
        for part in group:
            if fails_together(self._fetch(part.run), fetch):
                text = self._facts.source.segment(part.run.fetches)
                message = (
                    f"TensorFlow 2 fuses a convolution with its activation and drops what is"
                    f" between, so a run that fetches it beside the run of line"
                    f" {part.run.call.lineno} (`{text}`) fails"
                )
                return Obstacle("fails-together", message)
        return None

    def _race(self, group: list[Part], update: Update) -> Obstacle | None:
        feed = group[0].run.feed
        if feed is not None and not self._facts.feeds.only_placeholders(feed):
            message = "it cannot be told that only placeholders are fed, which cuts no edge"
            return Obstacle("feed-not-traced", message)
        for part in group:
            for root in self._fetch(part.run).roots:
                if not read_before(root, update):
                    text = self._facts.source.segment(part.run.fetches)
                    message = f"nothing makes the update wait until `{text}` has been read"
                    return Obstacle("races-with-update", message)
        return None

    def _in_the_way(self, group: list[Part], part: Part) -> Obstacle | None:
        """What a run would have to cross on its way up to the first of a group."""
        head = group[0]
        first = self._block.index(head.statement)
        last = self._block.index(part.statement)
        moving = {other.run.call for other in (*group, part)}
        if self._fetch(part.run).update is None:
            moving |= self._harmless_runs(first, last)
        before = self._block[first:last]
        if checks_beneath(self._fetch(part.run)):
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
                    if self._fetch(run).reads_only:
                        found.add(run.call)
        return found

    def _merged(self, groups: list[_Group]) -> Iterator[Site]:
        """What is done with all that can be one run, which follows on an update or not."""
        offers: list[Site] = []
        rest: list[_Group] = []
        for group in groups:
            shifted = self._shifted(group.after, group.parts) if group.after is not None else None
            if isinstance(shifted, Rewrite) and Contract.SHIFTED in self._facts.allowed:
                yield shifted
                continue
            rest.append(group)
            offers += [shifted] if shifted is not None else []
        united, refusals = self._united(rest)
        yield from (self._rewrite(parts) for parts in united if len(parts) > 1)
        yield from refusals
        yield from offers

    def _united(self, groups: list[_Group]) -> tuple[list[list[Part]], list[Refusal]]:
        """The groups that can be one run with all that each of them is fed."""
        unions: list[list[Part]] = []
        refusals: list[Refusal] = []
        for group in sorted(groups, key=lambda one: self._place(one.parts[0])):
            refused: list[Refusal] = []
            for union in unions:
                parts = sorted([*union, *group.parts], key=self._place)
                if not self._may_be_one_feed(union, group) or self._goes_on_after_update(parts):
                    continue
                refusal = self._cannot_unite(parts, group)
                if refusal is None:
                    union[:] = parts
                    refused = []
                    break
                refused.append(refusal)
            else:
                unions.append(list(group.parts))
            refusals += refused[:1]
        return unions, refusals

    def _place(self, part: Part) -> Span:
        return self._facts.source.span(part.run.call)

    def _may_be_one_feed(self, union: list[Part], group: _Group) -> bool:
        """Whether runs with different feeds are known, and feed nothing with two values."""
        parts = [*union, *group.parts]
        if _feed(group.parts[0]) in map(_feed, union):
            return False
        if self._facts.feeds.united([part.run.feed for part in parts]) is None:
            return False
        return not any(self._fetch(part.run).trouble for part in parts)

    def _goes_on_after_update(self, parts: list[Part]) -> bool:
        return any(self._fetch(part.run).update is not None for part in parts[:-1])

    def _cannot_unite(self, parts: list[Part], group: _Group) -> Refusal | None:
        """Why runs that are fed differently must not be fed with all of it at once."""
        obstacle = self._forbidden(parts) or self._facts.feeds.mixing(
            [part.run.feed for part in parts]
        )
        if obstacle is None:
            # A run that lacks a feed fails. With the feeds of the others it would not.
            message = self._facts.catching.seen(parts[0].statement)
            obstacle = Obstacle("inside-try", message) if message else None
        if obstacle is not None:
            return self._refusal(group.parts[0], obstacle)
        for place, part in enumerate(parts):
            obstacle = self._cannot_join(parts[:place], None, part)
            if obstacle is not None:
                return self._refusal(part, obstacle)
        return None

    def _rewrite(self, group: list[Part]) -> Rewrite:
        fetches = [self._fetch(part.run) for part in group]
        contract = Contract.ROUNDING if may_round(fetches) else Contract.EXACT
        if fetches[-1].update is None:
            because = "all of them only read, and nothing between them changes what they read"
        else:
            because = (
                "the update waits for the gradient of the loss, which is computed from everything"
                " that the values before it read"
            )
        if contract is Contract.ROUNDING:
            because += "; they share arithmetic that TensorFlow may round in another way"
        feeds = "with the same feed"
        if len(_same_feed(group)) > 1:
            feeds = "with all that they are fed"
            because += (
                "; what only some of them feed are placeholders, which the others cannot depend on"
                " since they do not fail without"
            )
        return Rewrite(
            self._span(group),
            f"merge {len(group)} runs {feeds} into one: {self._titles(group)}",
            because,
            contract,
            MergedRun(self._facts, group).edits(),
        )

    def _shifted(self, update: Part, group: list[Part]) -> Site:
        """The metrics after an update read in the update's own run, one step earlier."""
        minimised = self._fetch(update.run).update
        assert minimised is not None
        for part in group:
            obstacle = (
                self._same_array([update], self._fetch(part.run))
                or self._fails([update], self._fetch(part.run))
                or self._in_the_way([update], part)
                or self._race([part], minimised)
            )
            if obstacle is None:
                obstacle = self._acts(part)
            if obstacle is not None:
                return self._refusal(part, obstacle)
        titles = self._titles(group)
        return Rewrite(
            self._span([update, *group]),
            f"read {titles} in the run of the update",
            "the update waits until they are read, and their values are only reported",
            Contract.SHIFTED,
            MergedRun(self._facts, [update, *group]).edits(),
            changes=f"{titles}: read before the update of the same step rather than after it",
        )

    def _acts(self, part: Part) -> Obstacle | None:
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

    def _refusal(self, part: Part, obstacle: Obstacle) -> Refusal:
        return Refusal(self._facts.source.span(part.run.call), obstacle.reason, obstacle.message)

    def _titles(self, parts: list[Part]) -> str:
        return ", ".join(f"`{self._facts.source.segment(part.run.fetches)}`" for part in parts)

    def _span(self, parts: list[Part]) -> Span:
        first = self._facts.source.span(parts[0].statement)
        last = self._facts.source.span(parts[-1].statement)
        return Span(first.line, first.column, last.end_line, last.end_column)


def _taken(fetch: Fetch) -> Obstacle | None:
    """An element that an update takes: where there is none it fails, and the rest had been read."""
    if "iterates" not in flags(*fetch.roots):
        return None
    message = "the update fails where there is no next element, and what was read before is kept"
    return Obstacle("iterator-beneath", message)
