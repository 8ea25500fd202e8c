"""Writes a run without its feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun


def without_feed(facts: Facts, run: SessionRun) -> str:
    """The call with all that is given to it but the feed."""
    given = [text_of(facts, one) for one in run.call.args if one is not run.feed]
    given += [
        f"{keyword.arg}={text_of(facts, keyword.value)}"
        for keyword in run.call.keywords
        if keyword.value is not run.feed
    ]
    return f"{text_of(facts, run.call.func)}({', '.join(given)})"
