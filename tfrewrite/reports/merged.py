"""Results of several runs put together: of shards, or of days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.reports.summary import headline, listed, plural

if TYPE_CHECKING:
    from tfrewrite.reports.summary import Run
    from tfrewrite.verify.model import Ratio


@dataclass(frozen=True)
class Verified:
    """What one report says of one script; `source` is the report."""

    source: str
    script: str
    verdict: str
    headline: str
    contract: str
    speed: str = ""
    ratio: Ratio | None = None


@dataclass(frozen=True)
class Merged:
    """Findings, and for each script its verifications, the latest last."""

    run: Run | None = None
    verified: tuple[tuple[Verified, ...], ...] = ()
    read: bool = False
    """Whether the run comes out of reports: its files have the names that these gave them."""

    def headline(self) -> str:
        latest = [one[-1].verdict for one in self.verified]
        counts = [(latest.count(verdict), verdict) for verdict in ("pass", "fail", "inconclusive")]
        scripts = listed([f"{count:,} {verdict}" for count, verdict in counts if count])
        parts = [
            headline(self.run) if self.run else "",
            f"{scripts} in {plural(len(latest), 'script')}" if latest else "",
        ]
        return "; ".join(part for part in parts if part) or "nothing"
