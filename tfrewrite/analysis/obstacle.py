"""What stands in the way of a rewrite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Obstacle:
    """Why a run cannot cross a place: a reason id, and the words for the owner."""

    reason: str
    message: str
