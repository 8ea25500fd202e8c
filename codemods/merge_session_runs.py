"""TFR101 merge-session-runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.helper_runs import RunInStep
from tfrewrite.analysis.graphs.joined_runs import JoinedRuns
from tfrewrite.analysis.graphs.sharing import may_round
from tfrewrite.analysis.graphs.step_runs import StepRun
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.source import Block
from tfrewrite.model import Contract, Refusal, Rewrite, Site, Span
from tfrewrite.rule import Rule
from tfrewrite.writing.merged_runs import MergedRun

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

    A run that fails, fails where the first of the merged runs stands: what the step does between
    them, such as printing a loss, is not done any more in the step that ends the script, nor once
    somebody has pressed Ctrl-C meanwhile.

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
        for block, parts in facts.step_runs.by_session():
            yield from _Step(facts, block, parts).sites()
        for first, second in facts.helper_runs.beside():
            if facts.step_runs.is_repeated(second.statement):
                message = _in_helpers(first, second)
                yield Refusal(facts.source.span(second.call), "run-in-function", message)


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


def _same_feed(parts: list[StepRun]) -> list[list[StepRun]]:
    groups: dict[str, list[StepRun]] = {}
    for part in parts:
        groups.setdefault(_feed(part), []).append(part)
    return list(groups.values())


def _feed(part: StepRun) -> str:
    """A run's feed; equal for two runs in one block only if they are fed alike."""
    return ast.dump(part.run.feed) if part.run.feed is not None else ""


@dataclass(frozen=True, eq=False)
class _Group:
    """Runs with one feed that can be made one, and the update with that feed before them."""

    parts: list[StepRun]
    after: StepRun | None


class _Step:
    """The runs of one block that share a session, in the order that they are made."""

    def __init__(self, facts: Facts, block: Block, parts: list[StepRun]) -> None:
        self._facts = facts
        self._parts = parts
        self._runs = JoinedRuns(facts, block)

    def sites(self) -> Iterator[Site]:
        groups: list[_Group] = []
        for parts in _same_feed(self._parts):
            if len(parts) == 1:
                groups.append(_Group(parts, None))
                continue
            obstacle = self._runs.forbidden(parts)
            if obstacle is not None:
                yield self._refusal(parts[1], obstacle)
                continue
            found, refusals = self._grouped(parts)
            groups += found
            yield from refusals
        yield from self._merged(groups)

    def _grouped(self, parts: list[StepRun]) -> tuple[list[_Group], list[Refusal]]:
        """The runs with one feed, together as far as they can be."""
        groups: list[_Group] = []
        refusals: list[Refusal] = []
        group: list[StepRun] = []
        update: StepRun | None = None
        for part in parts:
            obstacle = self._runs.obstacle(group, update, part)
            if obstacle is not None:
                refusals.append(self._refusal(part, obstacle))
                groups.append(_Group(group, update))
                group = []
            if self._runs.fetch(part.run).trouble:
                update = None
                continue
            group.append(part)
            if self._runs.fetch(part.run).update is not None:
                groups.append(_Group(group, None))
                group, update = [], part
        groups.append(_Group(group, update))
        return [one for one in groups if one.parts], refusals

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

    def _united(self, groups: list[_Group]) -> tuple[list[list[StepRun]], list[Refusal]]:
        """The groups that can be one run with all that each of them is fed."""
        unions: list[list[StepRun]] = []
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

    def _place(self, part: StepRun) -> Span:
        return self._facts.source.span(part.run.call)

    def _may_be_one_feed(self, union: list[StepRun], group: _Group) -> bool:
        """Whether runs with different feeds are known, and feed nothing with two values."""
        parts = [*union, *group.parts]
        if _feed(group.parts[0]) in map(_feed, union):
            return False
        if self._facts.feeds.united([part.run.feed for part in parts]) is None:
            return False
        return not any(self._runs.fetch(part.run).trouble for part in parts)

    def _goes_on_after_update(self, parts: list[StepRun]) -> bool:
        return any(self._runs.fetch(part.run).update is not None for part in parts[:-1])

    def _cannot_unite(self, parts: list[StepRun], group: _Group) -> Refusal | None:
        """Why runs that are fed differently must not be fed with all of it at once."""
        obstacle = self._runs.forbidden(parts) or self._facts.feeds.mixing(
            [part.run.feed for part in parts]
        )
        if obstacle is None:
            # A run that lacks a feed fails. With the feeds of the others it would not.
            message = self._facts.catching.seen(parts[0].statement)
            obstacle = Obstacle("inside-try", message) if message else None
        if obstacle is not None:
            return self._refusal(group.parts[0], obstacle)
        for place, part in enumerate(parts):
            obstacle = self._runs.obstacle(parts[:place], None, part)
            if obstacle is not None:
                return self._refusal(part, obstacle)
        return None

    def _rewrite(self, group: list[StepRun]) -> Rewrite:
        fetches = [self._runs.fetch(part.run) for part in group]
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

    def _shifted(self, update: StepRun, group: list[StepRun]) -> Site:
        """The metrics after an update read in the update's own run, one step earlier."""
        for part in group:
            obstacle = self._runs.delayed(update, part)
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

    def _refusal(self, part: StepRun, obstacle: Obstacle) -> Refusal:
        return Refusal(self._facts.source.span(part.run.call), obstacle.reason, obstacle.message)

    def _titles(self, parts: list[StepRun]) -> str:
        return ", ".join(f"`{self._facts.source.segment(part.run.fetches)}`" for part in parts)

    def _span(self, parts: list[StepRun]) -> Span:
        first = self._facts.source.span(parts[0].statement)
        last = self._facts.source.span(parts[-1].statement)
        return Span(first.line, first.column, last.end_line, last.end_column)
