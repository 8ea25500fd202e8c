"""The runs of the graph that a step makes, statement by statement."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import SessionRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.source import Block, Source

# What one of these has in it is evaluated whenever it is, and once.
_ALWAYS_EVALUATED = (
    ast.Call, ast.keyword, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.Subscript,
    ast.Attribute,
)  # fmt: skip
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


@dataclass(frozen=True, eq=False)
class StepRun:
    """A run together with the statement that evaluates it."""

    statement: ast.stmt
    run: SessionRun

    @property
    def value(self) -> ast.expr:
        """What the statement evaluates before it stores or returns anything."""
        value = getattr(self.statement, "value", None)
        assert isinstance(value, ast.expr)  # the kinds of statement that make a part all have one
        return value

    @property
    def targets(self) -> list[ast.expr] | None:
        """The names that the results go to; None where the statement does more than that."""
        if self.value is not self.run.call:
            return None
        if isinstance(self.statement, ast.Expr):
            return []
        if isinstance(self.statement, ast.Assign) and len(self.statement.targets) == 1:
            target = self.statement.targets[0]
            if isinstance(target, ast.Name):
                return [target]
            if isinstance(target, (ast.Tuple, ast.List)):
                if all(isinstance(element, ast.Name) for element in target.elts):
                    return list(target.elts)
        return None


class StepRuns:
    """Finds the blocks that make runs in each step."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._sessions = facts.sessions

    def by_session(self) -> Iterator[tuple[Block, list[StepRun]]]:
        """The runs of each block, apart by session; only where there are several."""
        for owner, block in self._blocks():
            if self._is_step(owner, block):
                yield from ((block, parts) for parts in self._same_session(block))

    def is_repeated(self, statement: ast.stmt) -> bool:
        """Whether a statement is of a step that the file makes again and again."""
        block, _ = self._source.position(statement)
        owner = self._source.parent(statement)
        if owner is None or not self._is_step(owner, block):
            return False
        function = self._source.function(statement)
        calls = None
        if isinstance(function, ast.FunctionDef):
            calls = self._facts.own_calls.calls(function)
        return any(map(self._facts.hoisting.loops, (statement, *(calls or ()))))

    def _blocks(self) -> Iterator[tuple[ast.AST, Block]]:
        """The blocks with two or more calls that look like runs, each with what it is a part of."""
        first: dict[int, ast.stmt] = {}
        several: dict[int, ast.stmt] = {}
        for call in self._source.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
                statement = self._source.statement(call)
                block, _ = self._source.position(statement)
                if id(block) in first:
                    several[id(block)] = statement
                first.setdefault(id(block), statement)
        for statement in sorted(several.values(), key=self._source.span):
            owner = self._source.parent(statement)
            assert owner is not None
            yield owner, self._source.position(statement)[0]

    def _is_step(self, owner: ast.AST, block: Block) -> bool:
        """Whether a block runs once per step: a loop's body, or that of a function it calls.

        What stands under an `if` stays as it is where it runs now and then only, and not where the
        condition is the same in all turns: `if config.dataset == "mnist"`.
        """
        while isinstance(owner, (ast.With, ast.Try)) or (
            isinstance(owner, ast.If) and self._is_choice(owner)
        ):
            block, _ = self._source.position(owner)
            parent = self._source.parent(owner)
            assert parent is not None
            owner = parent
        if isinstance(self._facts.scopes.of(block[0]).node, ast.ClassDef):
            return False  # every name there is an attribute
        if isinstance(owner, (ast.For, ast.While)):
            return block is owner.body
        return isinstance(owner, ast.FunctionDef)

    def _is_choice(self, branching: ast.If) -> bool:
        """Whether an `if` takes the same of its branches in all turns."""
        turn = self._facts.periods.turn(branching)
        return turn is not None and self._facts.periods.is_steady(branching.test, turn)

    def _same_session(self, block: Block) -> list[list[StepRun]]:
        """Those of one block."""
        in_function_only = self._facts.flow.loop(block[0]) is None
        groups: dict[str, list[StepRun]] = {}
        for statement in block:
            for part in self._parts(statement):
                if part.run.feed is not None or not in_function_only:
                    groups.setdefault(part.run.session, []).append(part)
        return [group for group in groups.values() if len(group) > 1]

    def _parts(self, statement: ast.stmt) -> Iterator[StepRun]:
        """The runs that a statement evaluates once and in any case, in their order."""
        if not isinstance(statement, _STATEMENTS):
            return
        # What a target evaluates comes after the value.
        value = statement.value
        calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)] if value else []
        for call in sorted(calls, key=self._source.span):
            run = self._sessions.runs.get(call)
            if run is not None and surely_evaluates(self._source, statement, call):
                yield StepRun(statement, run)


def surely_evaluates(source: Source, statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a statement evaluates a call in any case, and once."""
    if not isinstance(statement, _STATEMENTS):
        return False
    node: ast.AST = call
    for outer in source.ancestors(call):
        if outer is statement:
            return node is statement.value  # a target comes after it
        if not isinstance(outer, _ALWAYS_EVALUATED):
            return False
        node = outer
    return False
