"""What methods of tapes, optimizers, metrics, variables and lists do in a traced function."""

from __future__ import annotations

import pytest

from eager_samples import replayed
from tfrewrite.analysis.eager.abstract_values import Tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import Trace

THINGS = """
optimizer = tf.keras.optimizers.SGD()
mean = tf.keras.metrics.Mean()
generator = tf.random.Generator.from_seed(3)
"""


def after(lines: str) -> Trace | Obstacle:
    """What a step comes to that has a tape over a loss, and then does this."""
    return replayed(
        f"""{THINGS}
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    {lines}
    return x
""",
        x=Tensor(),
    )


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("tape.jacobian(loss, weights)", "unknown-call"),
        ("tape.gradient(loss, model)", "not-followed"),
        ("optimizer.minimize(loss, [weights])", "unknown-call"),
        ("if loss is None:\n        optimizer.apply_gradients([])", "not-followed"),
        ("mean.merge_state(loss)", "unknown-call"),
        ("weights.numpy()", "reads-on-host"),
        ("weights.scatter_update(x)", "unknown-call"),
        ("x.numpy()", "reads-on-host"),
        ("x.unseen()", "unknown-call"),
        ("generator.skip(3)", "unknown-call"),
        ("kept = model.losses\n    kept.append(x)", "python-effect"),
        ("unseen.append(x)", "python-effect"),
    ],
)
def test_which_methods_stop_a_trace(lines: str, reason: str) -> None:
    found = after(lines)
    assert isinstance(found, Obstacle), found
    assert found.reason == reason


def test_what_methods_do_is_noted() -> None:
    apply = "optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])"
    found = after(apply)
    assert isinstance(found, Trace), found
    assert found.updates and found.by_optimizer
    found = after("weights.assign_sub(tape.gradient(loss, weights))")
    assert isinstance(found, Trace), found
    assert found.updates and not found.by_optimizer
    found = after("mean.update_state(loss)\n    generator.normal([3])")
    assert isinstance(found, Trace), found
    assert found.generators and not found.updates
