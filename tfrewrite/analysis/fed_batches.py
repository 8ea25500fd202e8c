"""The loops that make a batch and feed it to a run, once in each turn."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfrewrite.analysis.feed_entries import Entry, entries_of, fills
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.feed_helpers import MadeFeed
    from tfrewrite.analysis.scopes import Binding
    from tfrewrite.analysis.sessions import SessionRun

_ARITHMETIC = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
               ast.expr_context)  # fmt: skip
_COUNTING = frozenset(
    [*(f"builtins.{name}" for name in "len int min max abs".split()), "numpy.array"]
)
# What may stand between a run and its statement, so that it is run whenever the statement is.
_ALWAYS = (ast.Tuple, ast.List, ast.Subscript, ast.BinOp, ast.Starred, ast.Call, ast.keyword)

# What stands in these may be evaluated when the loop is over.
_LATER = (
    ast.Lambda, ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip


@dataclass(eq=False)
class FedBatch:
    """A run that is fed, and the code of its loop that makes what it is fed with."""

    run: SessionRun
    loop: ast.For | ast.AsyncFor | ast.While
    statement: ast.stmt
    feed: ast.Dict | ast.Call
    """The dict as it is written, or the call of a function that gives it."""
    filed: ast.Assign | None
    """The statement that gives the dict a name, where it has one and the loop makes it."""
    filled: ast.Assign | None = None
    """The statement that gives it a name before the loop, which then fills it in each turn."""
    filling: list[ast.stmt] = field(default_factory=list)
    """The statements of the loop that put more into it."""
    helper: MadeFeed | None = None
    """What the function gives, where one makes the dict."""
    entries: list[Entry] = field(default_factory=list)
    """What depends on the turn and on nothing else that the loop does."""
    kept: list[Entry] = field(default_factory=list)
    making: list[ast.stmt] = field(default_factory=list)
    """The statements that make the batch, in their order."""
    copied: list[ast.stmt] = field(default_factory=list)
    """Those of them that the loop goes on needing: arithmetic with the numbers of the turn."""
    fetched: list[Entry] = field(default_factory=list)
    """Those that another run of the turn is fed with as well, under an `if` after this one."""
    local: frozenset[str] = frozenset()
    source: ast.Call | None = None
    """The generator of the file that the loop goes over, where it goes over one."""
    own_run: bool = False
    """Whether a run of its own takes the batch, which is then fed as it was."""
    obstacle: Obstacle | None = None


class FedBatches:
    """Finds them, and tells apart what belongs to the batch."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._sessions = facts.sessions
        self._helpers = facts.feed_helpers
        self._headers = facts.loop_headers

    def all(self) -> Iterator[FedBatch]:
        """Every run in a loop that is fed with something new in each turn, from top to bottom."""
        for call in sorted(self._sessions.runs, key=self._source.span):
            run = self._sessions.runs[call]
            loop = self._flow.loop(call)
            if loop is None or run.feed is None:
                continue
            found = self._found(run, loop, run.feed)
            if found is not None:
                yield found

    def _found(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        batch = self._written(run, loop, feed)
        if batch is None:
            return self._unwritten(run, loop, feed)
        varying: list[Entry] = []
        earlier = batch.filled is not None
        for entry in entries_of(batch.feed, batch.filling, batch.helper, earlier=earlier):
            varies = not entry.stays and self._varies(entry.value, loop)
            (varying if varies else batch.kept).append(entry)
        if not varying:
            return self._refilled(batch)
        batch.obstacle = (
            self._shape(batch)
            or self._divide(batch, varying)
            or self._half_made(batch)
            or self._made_on(batch)
        )
        return batch if batch.entries or batch.obstacle is not None else None

    def _written(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        """A batch in a dict that is written out in the loop, in one place or piece by piece."""
        statement = self._source.statement(run.call)
        if isinstance(feed, ast.Dict):
            return None if None in feed.keys else FedBatch(run, loop, statement, feed, None)
        if isinstance(feed, ast.Call):
            return self._from_helper(run, loop, feed)
        bindings = self._flow.reaching(feed) if isinstance(feed, ast.Name) else []
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return None
        if not isinstance(feed, ast.Name) or not isinstance(node.targets[0], ast.Name):
            return None
        before = loop.body[: loop.body.index(statement)] if statement in loop.body else []
        inside = loop in self._source.ancestors(node)
        if inside:
            before = before[before.index(node) + 1 :] if node in before else []
        filling = [one for one in before if fills(one, feed.id)]
        if inside and isinstance(node.value, ast.Call):
            return self._from_helper(run, loop, node.value, node, filling)
        if not isinstance(node.value, ast.Dict) or None in node.value.keys:
            return None
        if inside:
            return FedBatch(run, loop, statement, node.value, node, filling=filling)
        if not filling:
            return None
        return FedBatch(run, loop, statement, node.value, None, node, filling)

    def _from_helper(
        self,
        run: SessionRun,
        loop: ast.For | ast.AsyncFor | ast.While,
        call: ast.Call,
        filed: ast.Assign | None = None,
        filling: Sequence[ast.stmt] = (),
    ) -> FedBatch | None:
        """A batch in a dict that a function of the file makes and gives back."""
        made = self._helpers.made(call)
        if made is None:
            return None
        statement = self._source.statement(run.call)
        return FedBatch(run, loop, statement, call, filed, filling=[*filling], helper=made)

    def _half_made(self, batch: FedBatch) -> Obstacle | None:
        """Whether the loop goes on needing a dict that a function makes, beside the pipeline."""
        call = batch.helper.call if batch.helper is not None else None
        for entry in batch.kept:
            if entry.value is call:
                key, text = ast.unparse(entry.key), ast.unparse(call.func)
                message = f"what `{text}` makes for `{key}` depends on more than the turn"
                return Obstacle("depends-on-loop", message)
        return None

    def _unwritten(
        self, run: SessionRun, loop: ast.For | ast.AsyncFor | ast.While, feed: ast.expr
    ) -> FedBatch | None:
        """A batch in a dict that each turn makes or fills, but not by writing it out."""
        if not self._filled(feed, loop):
            return None
        nothing = ast.Dict(keys=[], values=[])
        batch = FedBatch(run, loop, self._source.statement(run.call), nothing, None)
        text = ast.unparse(feed)
        message = (
            f"what `{text}` feeds is not written out in the loop, as `{{x: batch}}` is, nor at the"
            " end of a function of this file"
        )
        batch.obstacle = self._shape(batch) or Obstacle("batch-code-not-seen", message)
        return batch

    def _filled(self, feed: ast.expr, loop: ast.AST) -> bool:
        """Whether a dict that is fed is made or filled in the loop."""
        if isinstance(feed, ast.Call):
            return True
        if isinstance(feed, ast.Dict):
            return any(self._varies(value, loop) for value in feed.values)
        if not isinstance(feed, ast.Name):
            return False
        if any(self._within(binding, loop) for binding in self._flow.reaching(feed)):
            return True
        updated = any(
            isinstance(node, ast.Attribute)
            and node.attr == "update"
            and ast.unparse(node.value) == feed.id
            for node in ast.walk(loop)
        )
        return updated or self._stored(feed, loop) is not None

    def _refilled(self, batch: FedBatch) -> FedBatch | None:
        """A batch in an array that each turn writes another one to."""
        for entry in batch.kept:
            stored = self._stored(entry.value, batch.loop)
            if stored is not None:
                text = ast.unparse(entry.value)
                message = f"line {stored.lineno} writes the batch to `{text}`, which stays the same"
                changing = Obstacle("batch-changes-state", message)
                batch.obstacle = self._shape(batch) or changing
                return batch
        return None

    def _stored(self, value: ast.expr, loop: ast.AST) -> ast.Subscript | None:
        """Where a loop writes to a part of what a name stands for."""
        if not isinstance(value, (ast.Name, ast.Attribute)):
            return None
        text = ast.unparse(value)
        for node in ast.walk(loop):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if ast.unparse(node.value) == text:
                    return node
        return None

    # What varies

    def _varies(self, value: ast.expr, loop: ast.AST) -> bool:
        """Whether a value is made anew in each turn, and is more than the number of the turn."""
        if isinstance(value, ast.Constant):
            return False
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and not self._pure(node):
                return True
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if any(self._within(binding, loop) for binding in self._flow.reaching(node)):
                    return not self._counts(value)
        return False

    def _counts(self, value: ast.expr) -> bool:
        """Whether a value is a counter of a loop: nothing to be made ahead."""
        if not isinstance(value, ast.Name):
            return False
        return all(
            binding.how is How.LOOP and self._headers.is_range(binding.value)
            for binding in self._flow.reaching(value)
        )

    def _pure(self, call: ast.Call) -> bool:
        path = self._names.dotted(call.func)
        if path is not None:
            return effect_of_path(path) is CallEffect.PURE
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return effect_of_method(method) is CallEffect.PURE

    def _within(self, binding: Binding, loop: ast.AST) -> bool:
        return binding.node is loop or loop in self._source.ancestors(binding.node)

    # The shape of the loop

    def _shape(self, batch: FedBatch) -> Obstacle | None:
        """Whether the loop takes one batch in each turn, and its turns are known beforehand."""
        loop, statement = batch.loop, batch.statement
        if isinstance(loop, ast.AsyncFor) or loop.orelse:
            return Obstacle("loop-not-counted", f"the loop of line {loop.lineno} has an `else`")
        if isinstance(loop, ast.While):
            message = (
                f"the loop of line {loop.lineno} is a `while`, whose turns are not known before it"
                " begins: count them with `for`"
            )
            return Obstacle("loop-not-counted", message)
        stored = [node for node in ast.walk(loop.target) if isinstance(node, ast.expr)]
        for one in stored:
            if isinstance(one, (ast.Attribute, ast.Subscript)):
                text = ast.unparse(one)
                message = f"the loop of line {loop.lineno} sets `{text}`, which others may hold"
                return Obstacle("batch-changes-state", message)
        own = _names_of(loop.target)
        if own & _read(loop.iter):
            message = f"the loop of line {loop.lineno} goes over what its own names stood for"
            return Obstacle("source-consumed", message)
        function = self._source.function(loop)
        if any(
            isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await))
            and self._source.function(node) is function
            for node in (ast.walk(function) if function is not None else ())
        ):
            message = "others run between the turns of a loop in a generator"
            return Obstacle("not-each-turn", message)
        if statement not in loop.body:
            message = f"the run of line {statement.lineno} is not made in each turn of the loop"
            return Obstacle("not-each-turn", message)
        if isinstance(statement, (ast.Assign, ast.Expr, ast.AugAssign, ast.AnnAssign)):
            around = self._between(batch.run.call, statement)
        else:
            around = statement
        if around is not None:
            message = f"the run of line {statement.lineno} is not a statement, or is made under one"
            return Obstacle("not-each-turn", message)
        if batch.filed is not None and batch.filed not in loop.body:
            message = f"line {batch.filed.lineno} makes the dict under another statement"
            return Obstacle("not-each-turn", message)
        for earlier in loop.body[: loop.body.index(statement)]:
            for node in ast.walk(earlier):
                if isinstance(node, ast.Continue) and self._flow.loop(node) is loop:
                    message = f"line {node.lineno} may leave the turn before the run"
                    return Obstacle("not-each-turn", message)
        return None

    def _between(self, call: ast.Call, statement: ast.stmt) -> ast.AST | None:
        for outer in self._source.ancestors(call):
            if outer is statement:
                return None
            if not isinstance(outer, _ALWAYS):
                return outer
        return None

    # What belongs to the batch

    def _divide(self, batch: FedBatch, varying: list[Entry]) -> Obstacle | None:
        loop = batch.loop
        assert isinstance(loop, ast.For)
        block = loop.body
        filing = [batch.filed, *batch.filling]
        before = [one for one in block[: block.index(batch.statement)] if one not in filing]
        refused: Obstacle | None = None
        chosen: set[ast.stmt] = set()
        for entry in varying:
            making = self._slice(entry.value, before)
            if self._is_number_of_turn(entry.value, making, loop):
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
        batch.local = _bound(batch.making) | _names_of(loop.target)
        return self._used_elsewhere(batch)

    def _slice(self, value: ast.expr, before: list[ast.stmt]) -> set[ast.stmt]:
        """The statements of a turn that have to do with a value."""
        needed = _read(value)
        made: set[str] = set()
        found: set[ast.stmt] = set()
        while True:
            more = [
                one
                for one in before
                if one not in found and (_bound([one]) & needed or _changes(one, made))
            ]
            if not more:
                return found
            for one in more:
                found.add(one)
                made |= _bound([one])
                needed |= _read(one)

    def _is_number_of_turn(self, value: ast.expr, making: set[ast.stmt], loop: ast.AST) -> bool:
        """Whether a value is computed from the number of the turn alone: a rate that decays."""
        if not self._is_sum(value) or not all(map(self.is_arithmetic, making)):
            return False
        for name in (node for root in (value, *making) for node in ast.walk(root)):
            if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
                continue
            bindings = self._flow.reaching(name)
            if any(binding.how is How.LOOP for binding in bindings) and not self._counts(name):
                return False
            for binding in bindings:
                if self._within(binding, loop) and binding.node is not loop:
                    if binding.node not in making:
                        return False
        return True

    def _depends(self, value: ast.expr, making: set[ast.stmt], batch: FedBatch) -> Obstacle | None:
        """What of the loop, beside its turns, a batch depends on."""
        own = _bound(making) | _names_of(getattr(batch.loop, "target", None))
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
                if name.id not in own and self._within(binding, batch.loop):
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
                if name.id in _names_of(outer.target):
                    return True
            if outer is loop:
                return False
            if isinstance(outer, ast.stmt):
                block, index = self._source.position(outer)
                if any(_surely_binds(one, name.id) for one in block[:index]):
                    return True
            child = outer
        return False

    def _used_elsewhere(self, batch: FedBatch) -> Obstacle | None:
        """Whether something of the batch is used for more than to feed the run."""
        for name in _bound(batch.making):
            scope = self._scopes.of(batch.loop)
            if name in scope.elsewhere or scope.owner(name) is not scope:
                message = f"`{name}` is a name that other functions see as well"
                return Obstacle("batch-used", message)
        for node in self._source.all(ast.Name):
            if isinstance(node.ctx, ast.Del) and node.id in _bound(batch.making):
                return Obstacle("batch-used", f"line {node.lineno} deletes `{node.id}`")
        while True:
            moved = [one for one in batch.making if one not in batch.copied]
            use = self._first_use(batch, moved) or self.augmented(batch, moved, _bound(moved))
            if use is None:
                return self._dict_used(batch)
            makers = [one for one in moved if use.id in _bound([one])]
            entry = self._fed_again(batch, use)
            if entry is not None:
                if entry not in batch.fetched:
                    batch.fetched.append(entry)
                continue
            if not makers or not all(map(self.is_arithmetic, makers)):
                message = f"line {use.lineno} uses `{use.id}` as well, which has to be made for it"
                return Obstacle("batch-used", message)
            batch.copied += makers

    def augmented(
        self, batch: FedBatch, moved: list[ast.stmt], names: frozenset[str]
    ) -> ast.Name | None:
        """A name of the batch that other code goes on with: `rows += 1`."""
        scope = self._scopes.of(batch.loop)
        inside = {node for one in moved for node in ast.walk(one)}
        for node in self._source.all(ast.AugAssign):
            target = node.target
            if node in inside or not isinstance(target, ast.Name) or target.id not in names:
                continue
            if self._scopes.of(node).owner(target.id) is scope:
                bindings = self._flow.before(target.id, node)
                if bindings is None or self.binds(batch, moved, bindings):
                    return target
        return None

    def binds(self, batch: FedBatch, moved: list[ast.stmt], bindings: list[Binding]) -> bool:
        """Whether one of some bindings is made by what leaves the loop."""
        return any(
            (batch.source is not None and binding.node is batch.loop)
            or any(
                binding.node is one or one in self._source.ancestors(binding.node) for one in moved
            )
            for binding in bindings
        )

    def _first_use(self, batch: FedBatch, moved: list[ast.stmt]) -> ast.Name | None:
        """A use, outside of the batch's own code, of what is made by statements that move."""
        inside = {
            node for one in (*moved, *(e.value for e in batch.entries)) for node in ast.walk(one)
        }
        stores = [
            name
            for one in moved
            for name in ast.walk(one)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        ]
        for stored in stores:
            for use in self._scopes.uses(stored):
                if use in inside or self._fed_again(batch, use) in (batch.fetched or ()):
                    continue
                if self.binds(batch, moved, self._flow.reaching(use)):
                    return use
        return None

    def _fed_again(self, batch: FedBatch, use: ast.Name) -> Entry | None:
        """The entry that a later run of the turn feeds as it is, where it does so under an `if`."""
        feed = self._source.parent(use)
        statement = batch.statement
        if (
            not isinstance(feed, ast.Dict)
            or use not in feed.values
            or not self._is_fed(feed, batch)
        ):
            return None
        key = feed.keys[feed.values.index(use)]
        for entry in batch.entries:
            if not isinstance(entry.value, ast.Name) or entry.value.id != use.id:
                continue
            if key is None or ast.dump(key) != ast.dump(entry.key):
                return None
            later = batch.loop.body[batch.loop.body.index(statement) + 1 :]
            under = any(
                isinstance(one, ast.If) and one in self._source.ancestors(use) for one in later
            )
            return entry if under and self._can_fetch(batch) else None
        return None

    def _is_fed(self, written: ast.Dict, batch: FedBatch) -> bool:
        """Whether a dict goes into a run as it stands, when the turn comes there."""
        fed = any(run.feed is written for run in self._sessions.runs.values())
        return fed and self.in_turn(written, batch) is not None

    def in_turn(self, node: ast.expr, batch: FedBatch) -> ast.stmt | None:
        """The statement of a turn in which something is evaluated; none where it may be later."""
        child: ast.AST = node
        for outer in self._source.ancestors(node):
            if outer is batch.loop:
                return child if isinstance(child, ast.stmt) and child in batch.loop.body else None
            if isinstance(outer, _LATER):
                return None
            child = outer
        return None

    def _can_fetch(self, batch: FedBatch) -> bool:
        """Whether the run can fetch more: its results are named one by one, or not at all."""
        run, statement = batch.run, batch.statement
        if not run.direct or run.options or batch.filling:
            return False
        if isinstance(statement, ast.Expr):
            return statement.value is run.call
        if not isinstance(statement, ast.Assign) or statement.value is not run.call:
            return False
        target = statement.targets[0]
        if len(statement.targets) > 1:
            return False
        if isinstance(target, ast.Tuple):
            if not isinstance(run.fetches, (ast.List, ast.Tuple)):
                return False
            plain = all(isinstance(part, ast.Name) for part in target.elts)
            return plain and len(target.elts) == len(run.fetches.elts)
        return isinstance(target, ast.Name)

    def _made_on(self, batch: FedBatch) -> Obstacle | None:
        """Whether more of the batch is made after some of it has been put into the dict.

        The pipeline takes all of it at the end of the turn.
        """
        for entry in batch.entries:
            filed = self._source.statement(entry.within)
            later = [one for one in batch.making if one.lineno > filed.lineno]
            names = set(_read(entry.value))
            plain = isinstance(entry.value, ast.Name)
            calls = any(isinstance(node, ast.Call) for node in ast.walk(entry.value))
            for one in later:
                changed = _bound([one]) & names or (not plain and _changes(one, names))
                if changed or (calls and not plain):
                    text = ast.unparse(entry.value)
                    message = f"line {one.lineno} makes more of the batch after `{text}` is fed"
                    return Obstacle("batch-changes-state", message)
        return None

    def _dict_used(self, batch: FedBatch) -> Obstacle | None:
        """Whether the dict itself is used for more than the one run."""
        made = batch.filed or batch.filled
        if made is None:
            return None
        target = made.targets[0]
        assert isinstance(target, ast.Name)
        for use in self._scopes.uses(target):
            around = self._source.ancestors(use)
            if use is batch.run.feed or any(one in batch.filling for one in around):
                continue
            if any(binding.node is made for binding in self._flow.reaching(use)):
                message = f"line {use.lineno} uses the dict `{use.id}` as well"
                return Obstacle("batch-used", message)
        return None

    def is_arithmetic(self, statement: ast.stmt) -> bool:
        """Whether a statement computes a name of numbers, and may as well be executed twice."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        if not isinstance(statement.targets[0], ast.Name):
            return False
        return self._is_sum(statement.value)

    def _is_sum(self, value: ast.expr) -> bool:
        """Whether a value is computed from names of numbers and sizes, with nothing behind."""
        stack: list[ast.AST] = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if self._names.dotted(node.func) not in _COUNTING or node.keywords:
                    return False
                stack += node.args
            elif isinstance(node, ast.Attribute) and node.attr in ("shape", "size"):
                pass
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                if not isinstance(node.value, ast.Attribute):
                    return False
                stack.append(node.value)
            elif isinstance(node, _ARITHMETIC):
                stack += ast.iter_child_nodes(node)
            else:
                return False
        return True


def _surely_binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement that comes to its end has given a name a value."""
    match statement:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            return name in _bound([statement])
        case ast.If(body=body, orelse=orelse):
            return all(any(_surely_binds(one, name) for one in part) for part in (body, orelse))
        case ast.With(body=body):
            return any(_surely_binds(one, name) for one in body)
    return False


def _read(node: ast.AST) -> set[str]:
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }


def _bound(statements: list[ast.stmt] | set[ast.stmt]) -> frozenset[str]:
    """The names that statements bind, beside those that comprehensions keep to themselves."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    own = {
        part
        for node in nodes
        if isinstance(node, ast.comprehension)
        for part in ast.walk(node.target)
    }
    return frozenset(
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in own
    )


def _names_of(target: ast.AST | None) -> frozenset[str]:
    walked = ast.walk(target) if target is not None else ()
    return frozenset(node.id for node in walked if isinstance(node, ast.Name))


def _changes(statement: ast.stmt, made: set[str]) -> bool:
    """Whether a statement may change what is bound to a name: a loop, `x[0] = 1`, `x.sort()`."""
    if not made & _read(statement):
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
    given = set().union(*(_read(argument) for argument in call.args)) if call.args else set()
    if isinstance(call.func, ast.Attribute):
        mutates = effect_of_method(call.func.attr) is CallEffect.MUTATES
        return mutates and bool(made & (_read(call.func.value) | given))
    return False
