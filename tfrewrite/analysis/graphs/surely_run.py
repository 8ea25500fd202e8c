"""Whether running a fetch surely runs something beneath it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.graphs.updates import derives, run_with, update_of

if TYPE_CHECKING:
    from tfrewrite.analysis.graphs.nodes import Node

# What these ask of a tensor may be known without its value.
_KNOWN_BEFORE = frozenset(
    "shape size rank zeros_like ones_like shape_n broadcast_dynamic_shape stop_gradient".split()
)


def surely_beneath(root: Node, wanted: Node, *, counted: bool = True) -> bool:
    """Whether a run that fetches `root` needs the value of `wanted`, on whatever way.

    Where it is not counted how often that value is computed, an update is taken to need its loss.
    """
    return _needs(root, wanted, {}, counted=counted)


def _needs(node: Node, wanted: Node, known: dict[Node, bool], *, counted: bool) -> bool:
    if node is wanted:
        return True
    if node in known:
        return known[node]
    known[node] = False  # a value that is made of itself
    values = [*node.values, *node.controls]
    if counted and derives(node):
        # The gradient of a sum does not ask for what is added.
        update = update_of(node)
        found = update is not None and wanted in run_with(update)
    elif node.kind is Kind.CHOICE:
        others = [one for one in node.values if one is not node]
        found = bool(others) and all(_needs(one, wanted, known, counted=counted) for one in others)
    elif node.kind in (Kind.OP, Kind.STRUCTURE, Kind.ELEMENT):
        found = node.symbol not in _KNOWN_BEFORE and any(
            _needs(one, wanted, known, counted=counted) for one in values
        )
    else:
        found = False
    known[node] = found
    return found
