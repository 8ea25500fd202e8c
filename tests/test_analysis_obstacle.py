"""What stands in the way: a reason that a rule explains, with words for this one place."""

from __future__ import annotations

import ast
import dataclasses

import pytest

from analysis_helpers import expression, marked, with_graph
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns


def test_it_does_not_change() -> None:
    obstacle = Obstacle("call-between", "line 3 calls something")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(obstacle, "reason", "other")  # noqa: B010


@pytest.mark.parametrize(
    "between", ["act(images)", "images[0] = 1", "images = 1", "raise Error", "sess.run(train_op)"]
)
def test_its_reason_is_one_that_the_rule_explains_and_its_words_say_more(between: str) -> None:
    found = with_graph(f"images = make()\n{between}  # crossed\nv = f(images)  # needed\n")
    needs = [node for node in ast.walk(expression(found, "needed")) if isinstance(node, ast.Name)]
    obstacle = found.moves.obstacle([marked(found, "crossed")], needs, frozenset())
    assert obstacle is not None
    assert obstacle.reason in MergeSessionRuns.reasons
    assert obstacle.message not in ("", MergeSessionRuns.reasons[obstacle.reason])
