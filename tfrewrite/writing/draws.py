"""Says which draws are other ones where a rewrite changes how many ops a script makes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts


def changed_draws(facts: Facts, before: ast.stmt, when: str = "in the loop or after it") -> str:
    """Those of ops that may be made from a place on; nothing where there are none."""
    if not facts.seeds.depend_on_ops_before:
        return ""
    rest = facts.afterwards.rest(before)
    draw = facts.building.first_draw(rest.nodes)
    if draw is None and not rest.unseen:
        return ""
    where = f"line {draw.lineno}" if draw is not None else "the rest of the program"
    return (
        f"draws of ops without a seed of their own, which {where} may make {when}:"
        " TensorFlow 1.15 derives their seeds from the number of ops made before"
    )
