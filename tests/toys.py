"""Small rules for tests of what is around the rules."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, TypeGuard

from tfrewrite.edits import InsertBefore, RemoveStatement, ReplaceExpression, ReplaceStatement
from tfrewrite.model import Contract, Refusal, Report, Rewrite, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts


class RenameOld(Rule):
    """Calls `new` where `old` is called; a starred argument is refused, `shift` is `shifted`."""

    code = "TFR901"
    name = "rename-old"
    contracts = (Contract.EXACT, Contract.SHIFTED)
    reasons: ClassVar[dict[str, str]] = {"starred": "the number of arguments is not known"}
    triggers = ((b"old",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in _calls(facts, "old"):
            span = facts.source.span(call)
            if any(isinstance(argument, ast.Starred) for argument in call.args):
                yield Refusal(span, "starred", "an argument is starred; write them out")
                continue
            arguments = ", ".join(facts.source.segment(argument) for argument in call.args)
            edits = (ReplaceExpression(span, f"new({arguments})"),)
            if "shift" in arguments:
                changes = "`shift` is read one step late"
                yield Rewrite(span, "old -> new", "same", Contract.SHIFTED, edits, changes)
            else:
                yield Rewrite(span, "old -> new", "they are the same", Contract.EXACT, edits)


class MergePairs(Rule):
    """Makes `a = one(...)` and `b = one(...)`, one below the other, a single `many` call."""

    code = "TFR902"
    name = "merge-pairs"
    contracts = (Contract.ROUNDING,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"one(",), (b"one",))

    def sites(self, facts: Facts) -> Iterator[Site]:
        for _, block in facts.source.blocks():
            for first, second in pairwise(block):
                if _is_one(first) and _is_one(second):
                    yield self._merge(facts, first, second)
                    break

    def _merge(self, facts: Facts, first: ast.Assign, second: ast.Assign) -> Rewrite:
        segment, span = facts.source.segment, facts.source.span
        targets = f"{segment(first.targets[0])}, {segment(second.targets[0])}"
        text = f"{targets} = many({segment(first.value)[4:-1]}, {segment(second.value)[4:-1]})"
        edits = (
            ReplaceStatement(span(first), text),
            RemoveStatement(span(second), span(first)),
        )
        return Rewrite(span(first), "two into one", "nothing between", Contract.ROUNDING, edits)


class HoistMake(Rule):
    """Takes `make()` out of the loop it stands in."""

    code = "TFR903"
    name = "hoist-make"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"make()",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in _calls(facts, "make"):
            loops = [one for one in facts.source.ancestors(call) if isinstance(one, ast.For)]
            if loops:
                number = facts.source.text.count("made_")
                span = facts.source.span(call)
                edits = (
                    InsertBefore(facts.source.span(loops[-1]), f"made_{number} = make()\n"),
                    ReplaceExpression(span, f"made_{number}"),
                )
                yield Rewrite(span, "out of the loop", "no arguments", Contract.EXACT, edits)


class ReportBug(Rule):
    """Reports every call of `bug`."""

    code = "TFR904"
    name = "report-bug"
    contracts = ()
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"bug",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in _calls(facts, "bug"):
            yield Report(facts.source.span(call), "this is a bug")


class Crash(Rule):
    """Fails at every call of `crash`."""

    code = "TFR905"
    name = "crash"
    contracts = ()
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"crash",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in _calls(facts, "crash"):
            raise KeyError(facts.source.segment(call))
        yield from ()


class Grow(Rule):
    """Never comes to rest."""

    code = "TFR906"
    name = "grow"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"grow",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in _calls(facts, "grow"):
            span = facts.source.span(call)
            edits = (ReplaceExpression(span, "grow(1 + " + facts.source.segment(call)[5:]),)
            yield Rewrite(span, "more", "more is more", Contract.EXACT, edits)


TOYS = (RenameOld, MergePairs, HoistMake, ReportBug)


def _calls(facts: Facts, name: str) -> Iterator[ast.Call]:
    calls = [node for node in ast.walk(facts.source.tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if isinstance(call.func, ast.Name) and call.func.id == name:
            yield call


def _is_one(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
        and statement.value.func.id == "one"
    )
