"""Which places of a file are reached at most once."""

from __future__ import annotations

from analysis_helpers import marked
from eager_samples import start


def test_places_that_are_reached_once() -> None:
    found = start("""
def once():
    pass  # once

def twice():
    pass  # twice

once()
twice()
twice()
for i in range(3):
    pass  # loop
""")
    assert found.reached_once.holds(marked(found, "once"))
    assert not found.reached_once.holds(marked(found, "twice"))
    assert not found.reached_once.holds(marked(found, "loop"))
