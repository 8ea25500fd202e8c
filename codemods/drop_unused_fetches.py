"""TFR107 drop-unused-fetches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.company import Company, acts, changes_nothing, reads_only
from tfrewrite.analysis.graphs.fetches import Fetch, leaves
from tfrewrite.analysis.graphs.nodes import Kind, Node
from tfrewrite.analysis.graphs.sessions import SessionRun
from tfrewrite.analysis.graphs.sharing import fails_alone, may_round
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.fewer_fetches import Unpacked

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.edits import Edit


class DropUnusedFetches(Rule):
    """Takes values out of a `session.run` that nobody reads and that have no effect.

    ## Why it is slow
    TensorFlow computes what is fetched, and copies it into an array, whether it is read or not. An
    accuracy that is fetched in each step and printed in none costs its operations and the copy;
    where it needs a part of the graph that the update does not need, it costs that part too.

    ## Before
    ```python
    for images, labels in batches:
        _, l, predicted = sess.run([train_op, loss, predictions], {x: images, y: labels})
        print(l)
    ```

    ## After
    ```python
    for images, labels in batches:
        _, l = sess.run([train_op, loss], {x: images, y: labels})
        print(l)
    ```

    ## Contract
    - `exact`: all that stays only reads, and no value that it shares with what goes is used in
      another way by each.
    - `rounding`: an update stays, or they share so: the graph optimizer folds, fuses or regroups
      what is left in another way, and the last bit may differ.

    Three things are taken for granted. The sizes of what is fed fit the value that goes, and all
    variables that it reads are initialised: if not, the script stopped there and now goes on. No
    other module reads a name at the top level of the script that starts with `_`, or stands under
    `if __name__ == "__main__":`, be it by `import __main__`.

    ## When it does not help
    Where what stays needs nearly all that goes, as a loss beside its update: the copy of a number
    is all that is saved.
    """

    code = "TFR107"
    name = "drop-unused-fetches"
    contracts = (Contract.EXACT, Contract.ROUNDING)
    triggers = ((b"tensorflow",), (b".run(", b".eval("))
    reasons = {
        "whole-run": "All that a run fetches is unread, but it checks its feed and takes its time.",
        "session-unknown": "It is not known which kind of session runs the graph.",
        "hooked-session": "The session has hooks, which see what is fetched.",
        "run-options": "The run's metadata or timeline shows what is fetched.",
        "fetches-elsewhere": "The fetches are not written as a list in the call.",
        "importable-name": "Another module may import the name.",
        "fetch-not-traced": "It is not known what lies beneath the fetch.",
        "fetch-builds-graph": "The fetch makes a new operation, or runs code, where it stands.",
        "random-beneath": "The fetch draws random numbers: later draws would be others.",
        "iterator-beneath": "The fetch takes the next element of an iterator or queue.",
        "writes-state": "The fetch writes variables or other state.",
        "host-effect-beneath": "The fetch runs Python code or prints.",
        "may-fail": "The fetch may fail for some values, and so is a check of them.",
        "fails-alone": "TensorFlow 2 may fail on what stays, once nothing else is fetched.",
        "races-with-update": "What stays is read at a moment that nothing fixes.",
        "inside-try": "An exception of the run is caught, and fewer things can raise one.",
        "dynamic-code": "The file reads or changes names, attributes or classes unseen.",
        "graph-surgery": "The file rewires the graph or its gradients after it was built.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in sorted(facts.sessions.runs, key=facts.source.span):
            run = facts.sessions.runs[call]
            statement = facts.source.statement(call)
            if getattr(statement, "value", None) is call and _is_step(facts, statement, run):
                yield from _Step(facts, statement, run).sites()


def _is_step(facts: Facts, statement: ast.stmt, run: SessionRun) -> bool:
    """Whether a run is made again and again: in a loop, or with a feed in a function."""
    if isinstance(facts.scopes.of(statement).node, ast.ClassDef):
        return False  # every name there is an attribute
    if facts.flow.loop(statement) is not None:
        return True
    return facts.source.function(statement) is not None and run.feed is not None


@dataclass(frozen=True, eq=False)
class _Value:
    """One of the values that a run fetches, and the name it gets, if it gets one."""

    fetch: ast.expr
    target: ast.expr | None
    roots: tuple[Node, ...]
    unread: bool

    @property
    def named(self) -> bool:
        """Whether somebody gave the value a name to read it by."""
        return isinstance(self.target, ast.Name) and not self.target.id.startswith("_")


class _Step:
    """One run, as a statement by itself."""

    def __init__(self, facts: Facts, statement: ast.stmt, run: SessionRun) -> None:
        self._facts = facts
        self._statement = statement
        self._run = run

    def sites(self) -> Iterator[Site]:
        statement = self._statement
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target: ast.expr | None = statement.targets[0]
        elif isinstance(statement, ast.Expr):
            target = None
        else:
            return
        unpacked = self._unpacked(target)
        if unpacked is not None:
            yield from self._of_a_list(unpacked, self._values(unpacked, target))
        elif isinstance(target, (ast.Tuple, ast.List)):
            names = [element for element in target.elts if isinstance(element, ast.Name)]
            unread = [name.id for name in names if self._facts.unread.unread(name)]
            if any(not name.startswith("_") for name in unread):
                message = f"`{unread[-1]}` is unread, but what is fetched is not listed in the call"
                yield self._refusal(Obstacle("fetches-elsewhere", message))
        elif self._is_unread(target):
            value = self._value(self._run.fetches, target, unread=True)
            if all(map(changes_nothing, value.roots)):
                yield self._whole_run()

    # What is fetched

    def _unpacked(self, target: ast.expr | None) -> Unpacked | None:
        """The list of fetches, where each result is known to be one of them."""
        fetches = self._run.fetches
        if not self._run.direct or not isinstance(fetches, (ast.List, ast.Tuple)):
            return None
        if not fetches.elts or any(isinstance(part, ast.Starred) for part in fetches.elts):
            return None
        if not isinstance(target, (ast.Tuple, ast.List)):
            return Unpacked(fetches, None)
        starred = any(isinstance(part, ast.Starred) for part in target.elts)
        if starred or len(target.elts) != len(fetches.elts):
            return None
        return Unpacked(fetches, target)

    def _values(self, unpacked: Unpacked, target: ast.expr | None) -> list[_Value]:
        fetches = unpacked.fetches.elts
        if unpacked.targets is None:
            unread = self._is_unread(target)
            return [self._value(fetch, target, unread=unread) for fetch in fetches]
        return [
            self._value(fetch, each, unread=self._is_unread(each))
            for fetch, each in zip(fetches, unpacked.targets.elts, strict=True)
        ]

    def _value(self, fetch: ast.expr, target: ast.expr | None, *, unread: bool) -> _Value:
        return _Value(fetch, target, leaves(self._facts.graph.trace(fetch)), unread)

    def _is_unread(self, target: ast.expr | None) -> bool:
        if target is None:
            return True
        return isinstance(target, ast.Name) and self._facts.unread.unread(target)

    # What may go

    def _of_a_list(self, unpacked: Unpacked, values: list[_Value]) -> Iterator[Site]:
        if all(value.unread and all(map(changes_nothing, value.roots)) for value in values):
            yield self._whole_run()
            return
        stay = [value for value in values if not value.unread or any(map(acts, value.roots))]
        dropped: list[_Value] = []
        for value in values:
            if value in stay:
                continue
            obstacle = self._obstacle(value, self._company(stay))
            if obstacle is None:
                dropped.append(value)
                continue
            stay.append(value)
            if value.named or obstacle.reason not in _EXPECTED_OF_NAMELESS:
                yield self._refusal(obstacle)
        if not dropped:
            return
        company = self._company(stay)
        gone = Fetch(tuple(root for value in dropped for root in value.roots))
        obstacle = self._forbidden() or company.race() or self._fails_alone(company, gone)
        if obstacle is not None:
            yield self._refusal(obstacle)
            return
        positions = {index for index, value in enumerate(values) if value in dropped}
        yield self._rewrite(unpacked.without(self._facts.source, positions), dropped, company, gone)

    def _company(self, stay: list[_Value]) -> Company:
        roots = tuple(root for value in stay for root in value.roots)
        return Company(roots, self._fed, only_placeholders=self._uncut)

    @cached_property
    def _uncut(self) -> bool:
        feed = self._run.feed
        return feed is None or self._facts.feeds.only_placeholders(feed)

    @cached_property
    def _fed(self) -> frozenset[Node] | None:
        return self._facts.feeds.fed(self._run.feed) if self._run.feed is not None else None

    def _obstacle(self, value: _Value, company: Company) -> Obstacle | None:
        """Why a value cannot be left out, whatever the session is."""
        title = self._facts.source.segment(value.fetch)
        for root in value.roots:
            if root.kind in (Kind.CONSTANT, Kind.OBJECT, Kind.STRUCTURE):
                message = f"it cannot be told which tensor `{title}` is"
                return Obstacle("fetch-not-traced", message)
            obstacle = company.obstacle(root, title)
            if obstacle is not None:
                return obstacle
        if not self._only_names(value.fetch):
            message = f"`{title}` makes an operation, or runs code, where it stands"
            return Obstacle("fetch-builds-graph", message)
        return self._read_elsewhere(value.target) if isinstance(value.target, ast.Name) else None

    def _read_elsewhere(self, target: ast.Name) -> Obstacle | None:
        """Why somebody may read a name of the module other than by saying it in this file."""
        if self._facts.unread.importable(target):
            message = (
                f"another module may import `{target.id}`: put the loop into a function, or call"
                f" it `_{target.id}`"
            )
            return Obstacle("importable-name", message)
        otherwise = self._facts.unread.named_otherwise(target)
        if otherwise is not None:
            line = getattr(otherwise, "lineno", target.lineno)
            return Obstacle("dynamic-code", f"line {line} may read `{target.id}` of the module")
        return None

    def _only_names(self, fetch: ast.expr) -> bool:
        """Whether evaluating a fetch does nothing but look up what is there."""
        if isinstance(fetch, (ast.List, ast.Tuple)):
            return all(map(self._only_names, fetch.elts))
        if isinstance(fetch, ast.Subscript):
            container = self._facts.graph.trace(fetch.value).kind is Kind.STRUCTURE
            if not (container and isinstance(fetch.slice, ast.Constant)):
                return False
            return self._only_names(fetch.value)
        names = isinstance(fetch, (ast.Name, ast.Attribute))
        return names and self._facts.moves.repeatable(fetch)

    def _forbidden(self) -> Obstacle | None:
        """What speaks against leaving anything out."""
        facts = self._facts
        obstacle = self._run.obstacle(who="the run", hooks_see="what is fetched")
        if obstacle is not None:
            return obstacle
        if facts.dynamics.rewires_graph:
            return Obstacle("graph-surgery", "the file changes the graph or gradients afterwards")
        if facts.dynamics.obstacle:
            return Obstacle("dynamic-code", facts.dynamics.obstacle)
        if facts.unread.looked_at:
            return Obstacle("dynamic-code", f"{facts.unread.looked_at} may read any name")
        message = facts.catching.seen(self._statement)
        return Obstacle("inside-try", message) if message else None

    def _fails_alone(self, company: Company, gone: Fetch) -> Obstacle | None:
        if not fails_alone(company.fetch, gone):
            return None
        message = (
            "TensorFlow 2 may fuse a convolution with its batch norm and activation where nothing"
            " else uses what is between, and has no kernel for some of those"
        )
        return Obstacle("fails-alone", message)

    # What is said of it

    def _rewrite(
        self, edits: tuple[Edit, ...], dropped: list[_Value], company: Company, gone: Fetch
    ) -> Rewrite:
        because = "nobody reads it, it changes nothing, and it fails for no values"
        if len(dropped) > 1:
            because = "nobody reads them, they change nothing, and they fail for no values"
        acting = not all(map(reads_only, company.roots))
        contract = Contract.EXACT
        if acting or may_round([company.fetch, gone]):
            contract = Contract.ROUNDING
            because += "; TensorFlow may round what shares arithmetic with it in another way"
        titles = ", ".join(f"`{self._facts.source.segment(value.fetch)}`" for value in dropped)
        return Rewrite(
            self._facts.source.span(self._statement),
            f"do not fetch {titles}, which nobody reads",
            because,
            contract,
            edits,
        )

    def _whole_run(self) -> Refusal:
        message = (
            "nothing of this run is read, but it checks what is fed and takes its time: take it"
            " away yourself if neither is what it is for"
        )
        return self._refusal(Obstacle("whole-run", message))

    def _refusal(self, obstacle: Obstacle) -> Refusal:
        span = self._facts.source.span(self._run.call)
        return Refusal(span, obstacle.reason, obstacle.message)


# What is fetched without a name to read it by is mostly fetched for what it does.
_EXPECTED_OF_NAMELESS = ("fetch-not-traced", "iterator-beneath")
