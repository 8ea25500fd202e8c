"""Comments that exempt a statement or a file: `# tfrewrite: ignore[TFR101]`."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.model import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

MARK = "tfrewrite:"
_COMMENT = re.compile(r"#\s*tfrewrite:(?P<rest>[^#]*)")
_DIRECTIVE = re.compile(
    r"\s*(?P<what>ignore-file|ignore)(?![\w-])\s*(\[(?P<rules>[^\]]*)\])?\s*(?P<more>.*)"
)


@dataclass(frozen=True)
class Exemption:
    """One comment. No rules named means all of them; `problem` says why it is malformed."""

    span: Span
    rules: frozenset[str]
    whole_file: bool = False
    problem: str = ""

    def covers(self, rule: str, name: str, first: int, last: int) -> bool:
        if self.problem or not (self.whole_file or first <= self.span.line <= last):
            return False
        return not self.rules or rule in self.rules or name in self.rules

    def notice(self, known: Mapping[str, str], ran: Collection[str]) -> Notice | None:
        """What to tell the owner, given that it exempted nothing.

        `known` are the names of all rules by code; `ran` are the codes of those that were asked
        for. Where an exemption is for a rule that was not, nothing can be said about it.
        """
        span = self.span
        if self.problem:
            return Notice(span, self.problem)
        codes = {code for code, name in known.items() if self.rules & {code, name}}
        unknown = sorted(self.rules - {part for code in codes for part in (code, known[code])})
        if unknown:
            return Notice(span, f"exempts {', '.join(unknown)}, and there is no such rule")
        if not (codes or set(known)) <= set(ran):
            return None
        what = ", ".join(sorted(self.rules)) if self.rules else "anything"
        return Notice(span, f"this exemption from {what} exempts nothing; remove it")


def exemptions_in(text: str) -> list[Exemption]:
    """Every exemption comment of a text that parses."""
    if MARK not in text:
        return []
    return [_exemption(token, match) for token, match in _comments(text)]


def _comments(text: str) -> Iterator[tuple[tokenize.TokenInfo, re.Match[str]]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                for match in _COMMENT.finditer(token.string):
                    yield token, match
    except (tokenize.TokenError, SyntaxError):
        # `ast` has read the file, so all that is lost are exemptions after this place.
        return


def _exemption(token: tokenize.TokenInfo, match: re.Match[str]) -> Exemption:
    (line, column), (end_line, end_column) = token.start, token.end
    span = Span(line, column, end_line, end_column)
    directive = _DIRECTIVE.fullmatch(match["rest"])
    if directive is None:
        said = match["rest"].strip() or "nothing"
        problem = f"`tfrewrite: {said}` is not understood; write `ignore`, `ignore[TFR101]`, "
        return Exemption(span, frozenset(), problem=problem + "`ignore-file` or `ignore-file[...]`")
    named = directive["rules"]
    rules = frozenset(part.strip() for part in (named or "").split(",") if part.strip())
    whole_file = directive["what"] == "ignore-file"
    if named is not None and not rules:
        return Exemption(span, rules, whole_file, problem="no rule is named between the brackets")
    return Exemption(span, rules, whole_file)
