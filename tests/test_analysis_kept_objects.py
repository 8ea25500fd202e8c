"""Whether objects change between the calls of a step."""

from __future__ import annotations

import pytest

from eager_samples import LOOP, start
from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.traces.kept_objects import changed_later
from tfrewrite.analysis.traces.trace import Trace


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("model.trainable = False\n", "", False),
        ("for layer in model.layers:\n    layer.trainable = False\n", "", False),
        ("", "model.trainable = False\n", True),
        ("", "model.learning_rate = 0.1\n", False),
        ("", "tf.keras.backend.clear_session()\n", True),
        ("tf.keras.backend.set_floatx('float64')\n", "", False),
    ],
)
def test_objects_may_change_before_the_first_call_only(
    before: str, after: str, *, changed: bool
) -> None:
    text = LOOP.replace("\nrun()\n", f"\n{before}run()\n{after}")
    found = start(text)
    (step,) = found.step_functions.all()
    assert step.calls is not None
    trace = Trace(things=[Thing("model", "keras.Sequential")])
    assert (changed_later(found, trace, step.calls) is not None) is changed
    assert changed_later(found, Trace(), step.calls) is None
