"""Says which random numbers change where code is traced that ran eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.trace import Trace

_KERAS_3 = (2, 16)


def drawn_anew(facts: Facts, trace: Trace) -> str:
    """The words for the draws that change; empty where none does."""
    if trace.draws:
        line = trace.draws[0].lineno
        return f"the random numbers of line {line}: a trace draws from a stream of its own"
    target = facts.target_tf
    if trace.layers_draw and (target is None or target < _KERAS_3):
        return (
            "the masks of dropout and the like: before Keras 3 (TensorFlow 2.16) they come from"
            " another stream in a trace"
        )
    return ""
