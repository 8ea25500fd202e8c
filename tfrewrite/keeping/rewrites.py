"""Which rewrites there are in some files, and what the files are with only some of them made.

A rewrite is known by its rule, its file, and the line of that file (or of a notebook's cell), as it
is on disk, that it is about; what one rule does in one place is kept or dropped together. What a
file is without some of its rewrites is not cut out of the rewritten text: the file goes through the
engine again, which makes only those that are wanted, so that each is judged sound on the text that
it changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tfrewrite import engine
from tfrewrite.model import Finding, Outcome, Status
from tfrewrite.policy import Policy
from tfrewrite.since import Changes


class Place(NamedTuple):
    """What a rewrite is known by. `file` is its path in the tree that scripts run in."""

    file: str
    line: int
    rule: str
    cell: int = 0
    """Of a notebook, in which it has that line; 0 in a script."""


@dataclass(frozen=True)
class Version:
    """A file with some rewrites made."""

    outcome: Outcome
    made: tuple[Place, ...]
    """In the order in which the engine came to them: one comes after what it builds on."""

    @property
    def data(self) -> bytes:
        return self.outcome.after.encode(self.outcome.encoding)


class RewrittenFile:
    """One file, read once; its versions are made when they are asked for.

    With `changes` only the rewrites on changed lines are there at all.
    """

    def __init__(
        self,
        name: str,
        path: str,
        data: bytes,
        policy: Policy,
        *,
        named: bool,
        changes: Changes | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.data = data
        self._policy = replace(policy, write=False)
        self._named = named
        self._changes = changes
        self._meant = None if changes is None else changes.chooser(path)
        self._versions: dict[frozenset[Place], Version] = {}
        self._said: dict[Place, list[Finding]] = {}
        self.full = self._version(None)

    def with_only(self, wanted: Iterable[Place]) -> Version:
        """Makes none but these, as far as each has its place then."""
        chosen = frozenset(wanted)
        if chosen not in self._versions:
            self._versions[chosen] = self._version(chosen)
        return self._versions[chosen]

    def without(self, dropped: Iterable[Place]) -> Version:
        """Makes all but these; among them may be such as had no place beside the dropped ones."""
        return self._version(None, frozenset(dropped))

    def findings(self, place: Place) -> list[Finding]:
        """What the rule said when it first made what it makes in that place."""
        return self._said.get(place, [])

    def _version(
        self, wanted: frozenset[Place] | None, dropped: frozenset[Place] = frozenset()
    ) -> Version:
        met: dict[Place, None] = {}

        def is_wanted(finding: Finding, before: str, after: str) -> bool:
            if self._meant is not None and not self._meant(finding, before, after):
                return False
            place = self._place(finding)
            answer = place not in dropped if wanted is None else place in wanted
            if answer:
                met[place] = None
            return answer

        outcome = engine.handle_bytes(
            self.data, self.path, self._policy, named=self._named, choose=is_wanted
        )
        if self._changes is not None:
            outcome = self._changes.only(outcome)
        if outcome.status is not Status.WOULD_REWRITE:
            return Version(outcome, ())
        made: dict[Place, list[Finding]] = {}
        for one in outcome.findings:
            if one.touched:
                made.setdefault(self._place(one), []).append(one)
        self._said = {**made, **self._said}
        return Version(outcome, tuple(place for place in met if place in made))

    def _place(self, finding: Finding) -> Place:
        if finding.cell is None:
            return Place(self.name, finding.span.line, finding.rule)
        return Place(self.name, finding.cell.line, finding.rule, finding.cell.number)


class Rewrites:
    """All rewrites of some files."""

    def __init__(self, files: Sequence[RewrittenFile]) -> None:
        self.files = {file.name: file for file in files}
        self.all = [place for file in files for place in file.full.made]

    def made(self, wanted: frozenset[Place]) -> frozenset[Place]:
        """Those of the wanted ones that have their place where no others are made."""
        versions = self.versions(wanted).values()
        return frozenset(place for version in versions for place in version.made)

    def versions(self, wanted: frozenset[Place]) -> dict[str, Version]:
        """The files that are others with these made, by their paths in the tree."""
        concerned = {place.file for place in wanted}
        found = {name: self.version(name, wanted) for name in self.files if name in concerned}
        return {name: version for name, version in found.items() if version.made}

    def version(self, name: str, wanted: frozenset[Place]) -> Version:
        return self.files[name].with_only(place for place in wanted if place.file == name)

    def new_without(self, dropped: Iterable[Place], kept: frozenset[Place]) -> list[Place]:
        """Those that the rules find once some are not made, and that were not known."""
        gone = list(dropped)
        return [
            place
            for name in dict.fromkeys(place.file for place in gone)
            for place in self.files[name].without(gone).made
            if place not in kept and place not in gone
        ]

    def findings(self, place: Place) -> list[Finding]:
        return self.files[place.file].findings(place)
