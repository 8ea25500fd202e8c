"""Writes one `session.run` in place of several, with each result where it was."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.feeds import UnitedFeed
from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION
from tfrewrite.analysis.graphs.step_runs import StepRun
from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression, ReplaceStatement

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_WIDTH = 88


class MergedRun:
    """The edits that make one run, at the place of the first, of several parts of a block."""

    def __init__(self, facts: Facts, parts: list[StepRun]) -> None:
        self._facts = facts
        self._source = facts.source
        self._parts = parts
        self._head = parts[0]
        self._taken: set[str] = set()
        self._fetches: list[str] = []
        self._results: list[str] = []

    def edits(self) -> tuple[Edit, ...]:
        """All edits, the new run first."""
        head = self._source.span(self._head.statement)
        rest: list[Edit] = []
        for part in self._parts:
            stays = self._add(part)
            if stays is not None:
                rest.append(ReplaceExpression(self._source.span(part.run.call), stays))
            elif part is not self._head:
                rest.append(RemoveStatement(self._source.span(part.statement), head))
        statement = self._statement()
        if self._head.targets is None:
            return (InsertBefore(head, statement), *rest)
        return (ReplaceStatement(head, statement), *rest)

    def _add(self, part: StepRun) -> str | None:
        """Adds a part's fetches; gives the name that stands for the run, if its statement stays."""
        targets = part.targets
        fetches = part.run.fetches
        text = self._source.segment(fetches)
        if targets is None or not self._may_move(part, targets):
            name = self._fresh(fetches)
            self._entry(text, name)
            return name
        elements = self._elements(fetches)
        if not targets:
            self._entry(text, self._ignored(fetches))
        elif isinstance(getattr(part.statement, "targets", [None])[0], ast.Name):
            self._entry(text, self._source.segment(targets[0]))
        elif elements is not None and len(elements) == len(targets):
            for element, target in zip(elements, targets, strict=True):
                self._entry(self._source.segment(element), self._source.segment(target))
        else:
            names = ", ".join(self._source.segment(target) for target in targets)
            self._entry(text, f"({names},)" if len(targets) == 1 else f"({names})")
        return None

    def _entry(self, fetch: str, result: str) -> None:
        self._fetches.append(fetch)
        self._results.append(result)

    def _elements(self, fetches: ast.expr) -> list[ast.expr] | None:
        """The single fetches of a list that can be taken apart without losing anything."""
        if not isinstance(fetches, (ast.List, ast.Tuple)) or "#" in self._source.segment(fetches):
            return None
        if any(isinstance(element, ast.Starred) for element in fetches.elts):
            return None
        return fetches.elts

    def _may_move(self, part: StepRun, targets: list[ast.expr]) -> bool:
        """Whether nothing from the first run to this one sees the names of its results."""
        if part is self._head:
            return True
        block, last = self._source.position(part.statement)
        _, first = self._source.position(self._head.statement)
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        crossed: list[ast.AST] = [*block[first:last], part.value]
        crossed += [need for other in self._parts for need in other.run.needs]
        return not any(names & self._facts.moves.names_seen(node) for node in crossed)

    def _ignored(self, fetches: ast.expr) -> str:
        """The name for a result that nobody reads."""
        return self._fresh(fetches) if "_" in self._facts.names.read else "_"

    def _fresh(self, fetches: ast.expr) -> str:
        base = "results"
        if isinstance(fetches, ast.Name):
            base = f"{fetches.id}_value"
        elif isinstance(fetches, ast.Attribute):
            base = f"{fetches.attr}_value"
        name = self._facts.names.fresh(base, self._taken)
        self._taken.add(name)
        return name

    def _statement(self) -> str:
        results = ", ".join(self._results)
        fetches = f"[{', '.join(self._fetches)}]"
        before, after = self._call_around_fetches()
        line = f"{results} = {before}{fetches}{after}"
        span = self._source.span(self._head.statement)
        if "\n" in line or "\r" in line:
            return self._without_margin(line)
        if span.column + len(line) <= _WIDTH or not before.endswith(".run("):
            return line
        indent = "\t" if "\t" in self._margin else "    "
        rest = f"{indent}{fetches}{after}"
        too_long = len(self._margin) + len(rest) > _WIDTH
        if self._united.more and too_long and after.startswith(", "):
            rest = f"{indent}{fetches},\n{indent}{after.removeprefix(', ')}"
        return f"{results} = {before}\n{rest}"

    @property
    def _margin(self) -> str:
        line = self._source.line(self._head.statement.lineno)
        return line[: len(line) - len(line.lstrip())]

    def _without_margin(self, text: str) -> str:
        """Takes the block's indentation off the lines that follow; it is put back when written."""
        if any(_spans_lines(node) for part in self._parts for node in ast.walk(part.statement)):
            return text
        first, *rest = text.splitlines(keepends=True)
        return first + "".join(line.removeprefix(self._margin) for line in rest)

    def _call_around_fetches(self) -> tuple[str, str]:
        """The text of the new call before and after its fetches."""
        run, feed = self._head.run, self._feed()
        if run.direct and (run.feed is not None or not feed):
            call, fetches = self._source.offsets(run.call), self._source.offsets(run.fetches)
            before, after = (call[0], fetches[0]), (fetches[1], call[1])
            return self._with_feed(*before, feed), self._with_feed(*after, feed)
        session = run.session
        if session == DEFAULT_SESSION:
            session = f"{self._facts.names.alias}.get_default_session()"
        return f"{session}.run(", f", feed_dict={feed})" if feed else ")"

    def _with_feed(self, start: int, end: int, feed: str) -> str:
        """The text between two places of the first call, where its feed is another one now."""
        text, old = self._source.text, self._head.run.feed
        if old is not None:
            first, last = self._source.offsets(old)
            if start <= first < end:
                return text[start:first] + feed + text[last:end]
        return text[start:end]

    @cached_property
    def _united(self) -> UnitedFeed:
        united = self._facts.feeds.united([part.run.feed for part in self._parts])
        assert united is not None  # who merges runs has asked before
        return united

    def _feed(self) -> str:
        """The text of what all parts are fed with; empty where that is nothing."""
        if self._united.first is None:
            return ""
        text = self._source.segment(self._united.first)
        more = [": ".join(map(self._source.segment, entry)) for entry in self._united.more]
        if not more:
            return text
        if "#" in text:  # which may be a comment in front of the closing brace
            return "{" + ", ".join(more) + "," + (text[1:] if text[1].isspace() else f" {text[1:]}")
        held = text[1:-1].rstrip().removesuffix(",").rstrip()
        return "{" + ", ".join([held, *more] if held else more) + "}"


def _spans_lines(node: ast.AST) -> bool:
    """Whether a node is a string over several lines, in which indentation is text."""
    return isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno != node.end_lineno
