"""Asks at each rewrite whether to make it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tfrewrite.model import Outcome, Status
from tfrewrite.reports import diff
from tfrewrite.reports.places import place
from tfrewrite.reports.safe import printable

if TYPE_CHECKING:
    from tfrewrite.model import Finding
    from tfrewrite.policy import Chooser

_HELP = "y: make it, n: leave it, a: make this one and all others, q: leave this one and the rest"


class Questions:
    """Shows a rewrite, and takes y, n, a or q; once it is a or q, nothing more is asked."""

    def __init__(self) -> None:
        self._path = ""
        self._meant: Chooser | None = None
        self._always: bool | None = None

    def about(self, path: str, meant: Chooser | None) -> None:
        """The file that the next ones are in, and which of them may be made at all."""
        self._path, self._meant = path, meant

    def __call__(self, finding: Finding, before: str, after: str) -> bool:
        if self._meant is not None and not self._meant(finding, before, after):
            return False
        if self._always is not None:
            return self._always
        self._show(finding, before, after)
        while True:
            where = place(self._path, finding, column=False)
            sys.stderr.write(f"Make this rewrite at {where}? [y/n/a/q/?] ")
            sys.stderr.flush()
            # The end of input is no consent.
            answer = (sys.stdin.readline() or "q").strip().lower()
            if answer in {"a", "q"}:
                self._always = answer == "a"
            if answer in {"y", "n", "a", "q"}:
                return answer in {"y", "a"}
            sys.stderr.write(_HELP + "\n")

    def _show(self, finding: Finding, before: str, after: str) -> None:
        preview = Outcome(self._path, Status.WOULD_REWRITE, (finding,), before=before, after=after)
        for line in diff.render(preview).decode().splitlines():
            sys.stderr.write(printable(line) + "\n")
