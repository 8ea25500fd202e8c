"""The bench that every rule is tested on: cases in, one test per case and shape out.

A rule's test file states its cases beside each other, the traps first, and ends in one line:

    from rulebench import bench, leaves_alone, offers, refuses, reports, rewrites
    from tfrewrite.codemods.tfr101_merge_session_runs import MergeSessionRuns

    test_merge_session_runs = bench(
        MergeSessionRuns,
        leaves_alone("different feeds", '''
            import tensorflow as tf
            ...
        '''),
        refuses("two updates", '''...''', reason="two-updates"),
        rewrites("loss, then accuracy", '''...before...''', '''...after...''', contract="exact"),
        offers("metrics after the update", '''...''', contract="shifted", changes="one step late"),
        reports("accumulators reset at every step", '''...''', message="are reset"),
    )

- `leaves_alone(name, source)`: the rule says nothing at all.
- `refuses(name, source, reason=...)`: every refusal is for that reason (or a tuple of reasons, each
  of which occurs), and there is at least one; nothing is rewritten.
- `rewrites(name, before, after, contract=...)`: the result is `after` to the byte; every rewrite
  that is made carries this contract (or each of a tuple of contracts occurs). Refusals beside it
  are stated with `refused=("reason", ...)`.
- `offers(name, source, contract=..., changes=...)`: the rewrite is listed as available, not made,
  and says in words that hold `changes` what would change.
- `reports(name, source, message=...)`: a finding that is no rewrite, with these words in it.

Every case takes `allow=("shifted",)` (added to the default contracts), `target_tf=(1, 15)` and
`shapes=(...)`. Sources are dedented, and a first blank line is dropped.

Each case is tried as it stands and in these shapes: `function`, `method` and, where something is
rewritten, `main` (under `if __name__ == "__main__":`), each with the imports left at the top,
`crlf` and `tabs`. Leave out with `shapes=()` what is meant to differ: whether a name is
used after the loop is not the same question at module level and in a function. A shape in which
the source would not compile is left out by itself.

Whatever a case says, it is also checked that the result parses, that a second run changes nothing,
that a file in which nothing is rewritten keeps every byte, and, as it stands, in a function and in
a method, that this rule and all others, forwards and backwards, one after the other and all at
once, come to rest at the same text.

With TFREWRITE_BENCH=plain each case is tried as it stands and by itself only. That is for another
version of Python than the one on which all of it was tried: what may differ there is how a text
is parsed.
"""

from __future__ import annotations

import ast
import os
import textwrap
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.program.source import Source
from tfrewrite.engine import rewrite_text
from tfrewrite.model import DEFAULT_CONTRACTS, Contract, Kind, Outcome, Status
from tfrewrite.registry import all_rules
from tfrewrite.rule import Rule
from tfrewrite.surgery import operate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfrewrite.edits import Edit

_WRITTEN = ("main", "crlf", "tabs")
SHAPES = ("function", "method", *_WRITTEN)
_PLAIN = os.environ.get("TFREWRITE_BENCH") == "plain"

RuleClass = type[Rule]


@dataclass(frozen=True)
class Case:
    """One source, and what a rule makes of it."""

    name: str
    before: str
    after: str
    contracts: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    offered: str = ""
    changes: str = ""
    message: str = ""
    allow: tuple[str, ...] = ()
    target_tf: tuple[int, ...] | None = None
    shapes: tuple[str, ...] = SHAPES
    composed: bool = True


def leaves_alone(
    name: str,
    source: str,
    *,
    allow: Sequence[str] = (),
    target_tf: tuple[int, ...] | None = None,
    shapes: Sequence[str] = SHAPES,
) -> Case:
    text = _text(source)
    return Case(name, text, text, allow=tuple(allow), target_tf=target_tf, shapes=tuple(shapes))


def refuses(
    name: str,
    source: str,
    *,
    reason: str | tuple[str, ...],
    allow: Sequence[str] = (),
    target_tf: tuple[int, ...] | None = None,
    shapes: Sequence[str] = SHAPES,
) -> Case:
    case = leaves_alone(name, source, allow=allow, target_tf=target_tf, shapes=shapes)
    return replace(case, reasons=_set(reason))


def rewrites(
    name: str,
    before: str,
    after: str,
    *,
    contract: str | tuple[str, ...],
    refused: tuple[str, ...] = (),
    allow: Sequence[str] = (),
    target_tf: tuple[int, ...] | None = None,
    shapes: Sequence[str] = SHAPES,
) -> Case:
    case = leaves_alone(name, before, allow=allow, target_tf=target_tf, shapes=shapes)
    return replace(case, after=_text(after), contracts=_set(contract), reasons=_set(refused))


def offers(
    name: str,
    source: str,
    *,
    contract: str,
    changes: str = "",
    allow: Sequence[str] = (),
    target_tf: tuple[int, ...] | None = None,
    shapes: Sequence[str] = SHAPES,
) -> Case:
    case = leaves_alone(name, source, allow=allow, target_tf=target_tf, shapes=shapes)
    return replace(case, offered=contract, changes=changes)


def reports(
    name: str,
    source: str,
    *,
    message: str,
    allow: Sequence[str] = (),
    target_tf: tuple[int, ...] | None = None,
    shapes: Sequence[str] = SHAPES,
) -> Case:
    case = leaves_alone(name, source, allow=allow, target_tf=target_tf, shapes=shapes)
    return replace(case, message=message)


def bench(rule: RuleClass, *cases: Case) -> Callable[[Case], None]:
    """A test function with one test for each case in each of its shapes."""
    params = [
        pytest.param(shaped, id=f"{case.name} [{shape}]" if shape else case.name)
        for case in cases
        for shape in ("", *(() if _PLAIN else case.shapes))
        if (shaped := _shaped(case, shape)) is not None
    ]

    @pytest.mark.parametrize("case", params)
    def test(case: Case) -> None:
        check(rule, case)

    test.__doc__ = f"{rule.code} {rule.name}"
    return test


def check(rule: RuleClass, case: Case) -> None:
    """Fails where the rule does not do what the case says."""
    allowed = DEFAULT_CONTRACTS | {Contract(name) for name in case.allow}
    outcome = _run(case.before, [rule], case, allowed)
    assert outcome.status is not Status.FAILED, outcome.error
    assert outcome.after == case.after
    ast.parse(outcome.after)
    _check_statements(rule, case, outcome)
    again = _run(outcome.after, [rule], case, allowed)
    assert again.after == outcome.after, "a second run must change nothing"
    assert again.status is Status.UNCHANGED
    if case.composed and not _PLAIN:
        _check_composition(rule, case, allowed)


def _check_statements(rule: RuleClass, case: Case, outcome: Outcome) -> None:
    made = [one for one in outcome.findings if one.kind is Kind.REWRITE and one.applicable]
    offered = [one for one in outcome.findings if one.kind is Kind.REWRITE and not one.applicable]
    told = [one for one in outcome.findings if one.kind is Kind.REPORT]
    assert {one.contract.value for one in made if one.contract} == case.contracts
    assert {one.reason for one in outcome.refusals} == case.reasons
    assert all(one.reason in rule.reasons for one in outcome.refusals), "each reason is explained"
    assert all(one.contract in rule.contracts for one in (*made, *offered))
    assert all(one.message and one.because for one in (*made, *offered))
    if case.offered:
        assert {one.contract.value for one in offered if one.contract} == {case.offered}
        assert all(one.changes and case.changes in one.changes for one in offered)
    elif not case.contracts:
        assert not offered
    assert bool(told) == bool(case.message)
    assert all(case.message in one.message for one in told)


def _check_composition(rule: RuleClass, case: Case, allowed: frozenset[Contract]) -> None:
    rules = sorted({rule, *_default_rules()}, key=lambda one: one.code)
    at_once = _run(case.before, rules, case, allowed)
    assert at_once.status is not Status.FAILED, at_once.error
    if at_once.after == case.before:
        return  # a rule finds by itself what it finds beside others
    for order in (rules, rules[::-1]):
        assert _in_turn(order, case, allowed) == at_once.after, "the order of rules must not matter"


def _in_turn(rules: Iterable[RuleClass], case: Case, allowed: frozenset[Contract]) -> str:
    """Each rule alone to its own rest, again and again until none has anything to do."""
    text = case.before
    order = list(rules)
    for _ in range(10):
        before = text
        for rule in order:
            text = _run(text, [rule], case, allowed).after
        if text == before:
            return text
    pytest.fail("the rules undo each other")


def _run(
    text: str, rules: Sequence[RuleClass], case: Case, allowed: frozenset[Contract]
) -> Outcome:
    return _remembered(text, tuple(rules), allowed, case.target_tf)


@lru_cache(maxsize=64)
def _remembered(
    text: str,
    rules: tuple[RuleClass, ...],
    allowed: frozenset[Contract],
    target_tf: tuple[int, ...] | None,
) -> Outcome:
    """The same text is asked about in several orders, and by several rounds.

    What is known of a text, and what it becomes by the same edits, is kept from rule to rule as
    the tool itself keeps it within a round.
    """
    with patch.object(Facts, "build", _facts), patch("tfrewrite.surgery.operate", _operate):
        return rewrite_text(text, rules, allowed=allowed, target_tf=target_tf)


def _facts(
    text: str,
    _tree: ast.Module,
    *,
    target_tf: tuple[int, ...] | None,
    allowed: frozenset[Contract],
) -> Facts:
    return _facts_of(text, target_tf, allowed)


@lru_cache(maxsize=64)
def _facts_of(text: str, target_tf: tuple[int, ...] | None, allowed: frozenset[Contract]) -> Facts:
    return Facts(Source(text, ast.parse(text)), target_tf, allowed)


def _operate(text: str, edits: Sequence[Edit]) -> str:
    return _operated(text, tuple(edits))


@lru_cache(maxsize=64)
def _operated(text: str, edits: tuple[Edit, ...]) -> str:
    return operate(text, edits)


def _default_rules() -> list[RuleClass]:
    return [rule for rule in all_rules() if not rule.on_request]


def _shaped(case: Case, shape: str) -> Case | None:
    before, after = _shape(case.before, shape), _shape(case.after, shape)
    if shape in {"function", "method", "main"} and not (_compiles(before) and _compiles(after)):
        return None
    if shape in _WRITTEN and case.before == case.after:
        return None
    composed = shape not in _WRITTEN
    return replace(case, before=before, after=after, composed=composed)


def _shape(text: str, shape: str) -> str:
    if shape == "crlf":
        return text.replace("\n", "\r\n")
    if shape == "tabs":
        return "".join(_with_tabs(line) for line in text.splitlines(keepends=True))
    if shape == "function":
        return _under(text, "def main():\n", "    ")
    if shape == "method":
        return _under(text, "class Trainer:\n    def train(self):\n", "        ")
    if shape == "main":
        return _under(text, 'if __name__ == "__main__":\n', "    ")
    return text


def _under(text: str, header: str, indent: str) -> str:
    """The text below a header, with its first imports left where they are."""
    lines = text.splitlines(keepends=True)
    top = 0
    for statement in ast.parse(text).body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            break
        top = statement.end_lineno or top
    return "".join(lines[:top]) + header + textwrap.indent("".join(lines[top:]), indent)


def _with_tabs(line: str) -> str:
    code = line.lstrip(" ")
    depth, rest = divmod(len(line) - len(code), 4)
    return "\t" * depth + " " * rest + code


def _compiles(text: str) -> bool:
    try:
        compile(text, "<case>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _text(source: str) -> str:
    return textwrap.dedent(source).removeprefix("\n")


def _set(given: str | tuple[str, ...]) -> frozenset[str]:
    return frozenset((given,) if isinstance(given, str) else given)
