"""What passes between the rooms: frozen values, from a rule's finding to a file's outcome.

Data flows one way: discovery -> source -> facts -> sites -> edits -> outcome -> report.
Everything here is plain data; nothing here reads a file or knows TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.edits import Edit


class Contract(str, Enum):
    """What a rewrite promises about the numbers that the script computes, strongest first."""

    EXACT = "exact"
    ROUNDING = "rounding"
    SHIFTED = "shifted"
    RESAMPLED = "resampled"
    PRECISION = "precision"


DEFAULT_CONTRACTS = frozenset({Contract.EXACT, Contract.ROUNDING})

CANNOT_EDIT = "cannot-edit"
"""The reason of a refusal that no rule gives: the rewrite is right, and cannot be written here."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source: lines from 1, columns from 0, in characters, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def overlaps(self, other: Span) -> bool:
        return (self.line, self.column) < (other.end_line, other.end_column) and (
            other.line,
            other.column,
        ) < (self.end_line, self.end_column)


@dataclass(frozen=True)
class CellPlace:
    """A place in a notebook: a cell, all cells counted from 1; lines from 1, columns from 0."""

    number: int
    line: int
    column: int


@dataclass(frozen=True)
class Rewrite:
    """A site that a rule can rewrite, with the promise that holds for this very site.

    `message` says what would be done, `because` why that is safe here; both are for the owner of
    the code. `changes` says in words which value changes where the contract is weaker than
    `rounding`.
    """

    span: Span
    message: str
    because: str
    contract: Contract
    edits: tuple[Edit, ...]
    changes: str = ""


@dataclass(frozen=True)
class Report:
    """A site that is worth telling the owner about and that the rule never rewrites."""

    span: Span
    message: str


@dataclass(frozen=True)
class Refusal:
    """The outline of the pattern is there, and a condition fails.

    `reason` is a stable kebab-case id that the rule's docstring explains; `message` names what
    stands in the way here and what the owner could do about it.
    """

    span: Span
    reason: str
    message: str


Site = Rewrite | Report | Refusal


@dataclass(frozen=True)
class Replacement:
    """New text for a stretch of the file on disk."""

    span: Span
    text: str


class Kind(str, Enum):
    """Whether a finding comes with edits."""

    REWRITE = "rewrite"
    REPORT = "report"


@dataclass(frozen=True)
class Finding:
    """A rewrite or a report as the outside sees it: positions are those of the file on disk."""

    rule: str
    name: str
    span: Span
    message: str
    kind: Kind
    contract: Contract | None = None
    because: str = ""
    changes: str = ""
    applicable: bool = False
    applied: bool = False
    touched: tuple[int, ...] = ()
    """The lines of the file on disk that its edits name."""
    cell: CellPlace | None = None
    """Where in a notebook it is, beside its place in the file."""
    edits: tuple[Edit, ...] = field(default=(), repr=False, compare=False)
    """Those that make it alone of the file on disk; empty where it rests on others before it."""
    fix: tuple[Replacement, ...] = field(default=(), compare=False)
    """The same as text, where a report asks for it; see `tfrewrite.fixes`."""


@dataclass(frozen=True)
class Refused:
    """A refusal as the outside sees it."""

    rule: str
    name: str
    span: Span
    reason: str
    message: str
    cell: CellPlace | None = None


@dataclass(frozen=True)
class Notice:
    """Something about a file that no rule found: an exemption that exempts nothing."""

    span: Span
    message: str
    cell: CellPlace | None = None


class Status(str, Enum):
    """What became of a file."""

    UNCHANGED = "unchanged"
    REWRITTEN = "rewritten"
    WOULD_REWRITE = "would-rewrite"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class CellChange:
    """What becomes of the source of one cell; `findings` have their places in that cell."""

    number: int
    before: str = field(repr=False)
    after: str = field(repr=False)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """All there is to say about one file. `error` is one line: what is wrong and what to do."""

    path: str
    status: Status
    findings: tuple[Finding, ...] = ()
    refusals: tuple[Refused, ...] = ()
    notices: tuple[Notice, ...] = ()
    error: str = ""
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)
    encoding: str = "utf-8"
    """That of the file; `utf-8-sig` where it begins with a byte order mark."""
    cells: tuple[CellChange, ...] = field(default=(), repr=False)
    """The cells of a notebook that change; `before` and `after` are its JSON."""
