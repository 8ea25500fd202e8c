"""Takes one text to the point where no allowed rewrite is left in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import syntax
from tfrewrite.compose import Candidate, together
from tfrewrite.edits import Decorate, Edit, EditError, InsertBefore, apply_edits
from tfrewrite.exemptions import Exemption, exemptions_in
from tfrewrite.frame import Frame
from tfrewrite.line_map import LineMap
from tfrewrite.model import (
    CANNOT_EDIT,
    Finding,
    Kind,
    Notice,
    Outcome,
    Refusal,
    Refused,
    Report,
    Rewrite,
    Site,
    Span,
    Status,
)
from tfrewrite.policy import Chooser, Policy, asked
from tfrewrite.statements import statement_lines

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.rule import Rule

Key = tuple[str, Span, str]


_LINES = re.compile(r"\blines? \d+(?:(?:, | and )\d+\b)*")
_NUMBER = re.compile(r"\d+")
DYNAMIC = "dynamic-code"
"""The reason of a rule for which the file may do anything to its names."""


class RewritingError(Exception):
    """The file was given up, whole as it was; says why in one line."""


@dataclass(frozen=True)
class _Found:
    """A site that no comment exempts, and the rule that found it."""

    rule: type[Rule]
    site: Site


class Rewriting:
    """The rounds that one text goes through.

    Each round reads the text anew, so every rewrite is judged on the text that it changes. What
    is reported has the positions of the text as it was at first.
    """

    def __init__(
        self,
        text: str,
        path: str,
        policy: Policy,
        choose: Chooser | None,
        frame: Frame | None = None,
    ) -> None:
        self._before = self._text = text
        self._path = path
        self._policy = policy
        self._choose = choose
        self._frame = frame or Frame()
        self._lines = LineMap(text)
        self._made: list[Finding] = []
        self._declined: set[Key] = set()
        self._impossible: dict[Key, str] = {}
        self._accepted: set[Key] = set()
        self._used: set[int] = set()
        self._at_first: list[Finding] = []

    def outcome(self) -> Outcome:
        found = self._to_rest()
        if self._text != self._before:
            self._check_result()
        refusals = [refused for one in found if (refused := self._refused(one)) is not None]
        left = [
            self._finding(one.rule, one.site)
            for one in found
            if not isinstance(one.site, Refusal) and self._refused(one) is None
            if not one.rule.judges_the_original
        ]
        return Outcome(
            self._path,
            Status.UNCHANGED if self._text == self._before else Status.WOULD_REWRITE,
            tuple(
                sorted([*self._made, *self._at_first, *left], key=lambda one: (one.span, one.rule))
            ),
            tuple(sorted(refusals, key=lambda one: (one.span, one.rule))),
            tuple(self._notices()),
            before=self._before,
            after=self._text,
        )

    def _to_rest(self) -> list[_Found]:
        """Rewrites until nothing is left to do; what was found then is what remains."""
        seen = {self._text}
        rounds = 0
        most = 0  # rounds that can be needed; each makes at least one of the rewrites found
        while True:
            found = self._found()
            if not rounds:
                self._at_first = [
                    self._finding(one.rule, one.site)
                    for one in found
                    if one.rule.judges_the_original and not isinstance(one.site, Refusal)
                ]
            new = self._round(found)
            if new == self._text:
                return found
            most = most or 10 + 3 * len(found)
            rounds += 1
            if new in seen or rounds > most:
                rules = ", ".join(sorted({finding.rule for finding in self._made}))
                raise RewritingError(
                    f"the rewrites of {rules} do not come to rest; this is a bug in tfrewrite, "
                    "please report it with the file (--ignore one of them for now)"
                )
            seen.add(new)
            self._lines.advance(new)
            self._text = new

    def _found(self) -> list[_Found]:
        # The analysis is imported here because most files are done before they need it.
        from tfrewrite.analysis.facts import Facts  # noqa: PLC0415

        rules = asked(self._text.encode(errors="replace"), self._policy.rules)
        tree = syntax.parse(self._text)
        facts = Facts.build(
            self._text, tree, target_tf=self._policy.target_tf, allowed=self._policy.allowed
        )
        found = [
            _Found(rule, site)
            for rule in sorted(rules, key=lambda rule: rule.code)
            for site in _sites(rule, facts)
        ]
        exemptions = exemptions_in(self._text)
        return [one for one in found if not self._exempted(one, tree, exemptions)]

    def _exempted(self, found: _Found, tree: ast.Module, exemptions: list[Exemption]) -> bool:
        if not exemptions:
            return False
        first, last = statement_lines(tree, found.site.span)
        rule = found.rule
        covering = [one for one in exemptions if one.covers(rule.code, rule.name, first, last)]
        self._used |= {self._lines.origin(one.span.line) for one in covering}
        return bool(covering)

    def _round(self, found: list[_Found]) -> str:
        """The text with all rewrites made that can be made at once."""
        while True:
            chosen = together(self._candidates(found))
            try:
                answers = [self._agreed(one) for one in chosen]
                if not all(answers):
                    continue
                new = self._edited(chosen)
            except EditError as error:
                self._give_up(chosen, error)
                continue
            self._made.extend(self._made_finding(one) for one in chosen)
            return new

    def _candidates(self, found: list[_Found]) -> list[Candidate]:
        return [
            Candidate(one.rule, one.site)
            for one in found
            if isinstance(one.site, Rewrite)
            and one.site.contract in self._policy.allowed
            and self._key(one.rule, one.site) not in self._declined
            and self._key(one.rule, one.site) not in self._impossible
            and not self._frame.obstacle
        ]

    def _agreed(self, candidate: Candidate) -> bool:
        """Whether a rewrite is wanted, as far as anybody is to be asked."""
        key = self._key(candidate.rule, candidate.rewrite)
        if self._choose is None or key in self._accepted:
            return True
        after = self._edited([candidate])
        if self._choose(self._made_finding(candidate), self._text, after):
            self._accepted.add(key)
            return True
        self._declined.add(key)
        return False

    def _give_up(self, chosen: list[Candidate], error: EditError) -> None:
        """Notes the rewrites that an error concerns, so that the others can be made."""
        guilty = [one for one in chosen if error.edit in one.rewrite.edits]
        for candidate in guilty or [one for one in chosen if not self._can_be_made(one)] or chosen:
            self._impossible[self._key(candidate.rule, candidate.rewrite)] = str(error)

    def _edited(self, chosen: list[Candidate]) -> str:
        new = apply_edits(self._text, _edits(chosen))
        self._frame.require_fit(self._text, [one.rewrite.edits for one in chosen], new)
        return new

    def _can_be_made(self, candidate: Candidate) -> bool:
        try:
            self._edited([candidate])
        except EditError:
            return False
        return True

    def _key(self, rule: type[Rule], site: Site) -> Key:
        """What a site is known by from round to round, while other lines come and go."""
        span = self._lines.original(site.span)
        return (rule.code, span, site.contract if isinstance(site, Rewrite) else "")

    def _made_finding(self, candidate: Candidate) -> Finding:
        rewrite = candidate.rewrite
        lines = {rewrite.span.line}
        for edit in rewrite.edits:
            last = (
                edit.span.line if isinstance(edit, (InsertBefore, Decorate)) else edit.span.end_line
            )
            lines.update(range(edit.span.line, last + 1))
        touched = tuple(sorted({self._lines.origin(line) for line in lines}))
        return replace(self._finding(candidate.rule, rewrite), touched=touched)

    def _finding(self, rule: type[Rule], site: Rewrite | Report) -> Finding:
        span = self._lines.on_disk(site.span)
        if isinstance(site, Report):
            message = self._as_at_first(site.message)
            return Finding(rule.code, rule.name, span, message, Kind.REPORT)
        return Finding(
            rule.code,
            rule.name,
            span,
            self._as_at_first(site.message),
            Kind.REWRITE,
            site.contract,
            self._as_at_first(site.because),
            self._as_at_first(site.changes),
            applicable=site.contract in self._policy.allowed,
            edits=site.edits if self._text == self._before else (),
        )

    def _refused(self, found: _Found) -> Refused | None:
        rule, site = found.rule, found.site
        span = self._lines.on_disk(site.span)
        if isinstance(site, Refusal):
            if site.reason == DYNAMIC and self._frame.obstacle:
                # The rule saw what stands for a magic; the frame can name the magic itself.
                return Refused(rule.code, rule.name, span, CANNOT_EDIT, self._frame.obstacle)
            message = self._as_at_first(site.message)
            return Refused(rule.code, rule.name, span, site.reason, message)
        problem = self._impossible.get(self._key(rule, site))
        if isinstance(site, Rewrite) and not problem:
            problem = self._frame.obstacle
        if not problem:
            return None
        message = f"{self._as_at_first(site.message)}: {problem}"
        return Refused(rule.code, rule.name, span, CANNOT_EDIT, message)

    def _as_at_first(self, message: str) -> str:
        """A message whose lines are those of the file, and not of the text as it is by now."""
        message = _LINES.sub(
            lambda lines: _NUMBER.sub(lambda line: str(self._lines.origin(int(line[0]))), lines[0]),
            message,
        )
        return self._frame.said(message)

    def _notices(self) -> Iterator[Notice]:
        rules = self._policy.rules
        known = dict(self._policy.known) or {rule.code: rule.name for rule in rules}
        ran = {rule.code for rule in rules}
        for exemption in exemptions_in(self._before):
            if exemption.span.line not in self._used:
                notice = exemption.notice(known, ran)
                if notice is not None:
                    yield notice

    def _check_result(self) -> None:
        try:
            syntax.check_result(self._text)
        except syntax.NotPython as error:
            if _compiles(self._before):
                raise RewritingError(
                    f"the rewritten file would not compile ({error}), so nothing was written; this "
                    "is a bug in tfrewrite, please report it with the file"
                ) from error


def described(error: Exception) -> str:
    """An unexpected error in one line, with the place that it comes from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}".replace("\n", " ") + where


def _sites(rule: type[Rule], facts: Facts) -> list[Site]:
    try:
        return list(rule().sites(facts))
    except RecursionError:
        raise
    except Exception as error:
        raise RewritingError(
            f"{rule.code} failed: {described(error)}; this is a bug in tfrewrite, please report "
            f"it with the file (--ignore {rule.code} for now)"
        ) from error


def _edits(chosen: list[Candidate]) -> list[Edit]:
    return [edit for candidate in chosen for edit in candidate.rewrite.edits]


def _compiles(text: str) -> bool:
    try:
        syntax.check_result(text)
    except syntax.NotPython:
        return False
    return True
