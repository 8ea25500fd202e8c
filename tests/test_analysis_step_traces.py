"""Whether steps may be traced once and replayed, and what stands around them."""

from __future__ import annotations

import pytest

from eager_samples import LOOP, start
from tfrewrite.analysis.eager.step_functions import Step
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace

CAUGHT = """\
        try:
            step(x)
        except ValueError:
            pass
"""
RECORDED = """\
        with tf.GradientTape() as outer:
            step(x)
"""


def only_step(text: str) -> tuple[Facts, Step]:
    found = start(text)
    (step,) = found.step_functions.all()
    return found, step


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("        step(x)", "        step(x)\n\nkeep(step)\n", "callers-not-seen"),
        ("    for x, y in data:\n        step(x)", "    pass", "callers-not-seen"),
        ("run()\n", "run()\ntf.config.run_functions_eagerly(True)\n", "not-eager"),
        ("run()\n", "run()\ntf.config.optimizer.set_jit(True)\n", "graph-options"),
        ("run()\n", "run()\nexec(x)\n", "dynamic-code"),
        ("        step(x)\n", CAUGHT, "exception-seen"),
        ("        step(x)\n", RECORDED, "not-followed"),
    ],
)
def test_what_stands_around_a_step(old: str, new: str, reason: str) -> None:
    found, step = only_step(LOOP)
    assert found.step_traces.around(step) is None
    assert isinstance(found.step_traces.replayed(step), Trace)
    assert old in LOOP
    found, step = only_step(LOOP.replace(old, new))
    obstacle = found.step_traces.around(step)
    assert obstacle is not None
    assert obstacle.reason == reason
    assert found.step_traces.replayed(step) == obstacle
    assert found.step_traces.followed(step) == obstacle


def test_a_step_may_be_followed_and_yet_not_be_replayed() -> None:
    found, step = only_step(LOOP.replace("    return tape.", "    tape.").replace(
        "model.trainable_variables)", "model.trainable_variables)\n    return 3"
    ))  # fmt: skip
    assert isinstance(found.step_traces.followed(step), Trace)
    refused = found.step_traces.replayed(step)
    assert isinstance(refused, Obstacle)
    assert refused.reason == "returns-python"
