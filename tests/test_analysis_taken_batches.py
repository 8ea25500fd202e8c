"""Whether runs surely take the batch, and read nothing by chance."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.fed_batches import FedBatch
from tfrewrite.analysis.facts import Facts


def looked_at(
    fetches: str, feed: str = "x: X[i:i + 9], y: y0", more: str = ""
) -> tuple[Facts, FedBatch]:
    text = (
        f"{more}\nwith tf.Session() as sess:\n    for i in range(9):\n"
        f"        sess.run({fetches}, {{{feed}}})\n"
    )
    facts = with_graph(text)
    return facts, next(facts.fed_batches.all())


def reached(fetches: str, feed: str = "x: X[i:i + 9], y: y0", more: str = "") -> str:
    facts, batch = looked_at(fetches, feed, more)
    obstacle = facts.taken_batches.reached(batch, facts.batches_ahead.effects(batch))
    return "" if obstacle is None else obstacle.reason


@pytest.mark.parametrize("fetches", ["loss", "[train_op, loss]", "train_op", "(logits, b)"])
def test_runs_that_need_the_batch(fetches: str) -> None:
    assert reached(fetches) == ""


@pytest.mark.parametrize("fetches", ["w", "tf.shape(x)", "loss if some else w", "given"])
def test_runs_that_may_not(fetches: str) -> None:
    assert reached(fetches) == "fetch-not-seen"


def test_a_tensor_on_the_way_that_is_fed() -> None:
    assert reached("loss", "x: X[i:i + 9], logits: y0") == "fetch-not-seen"


def test_one_placeholder_that_is_fed_twice() -> None:
    assert reached("loss", "x: x0, x: X[i:i + 9]") == "placeholder-unclear"


def test_another_run_that_fails_without_a_feed() -> None:
    assert reached("loss", more="tf.Session().run(logits)") == "run-without-feed"


@pytest.mark.parametrize(
    ("fetches", "races"),
    [
        ("loss", False),
        ("train_op", False),
        ("[train_op, loss]", False),
        ("[train_op, w + 0]", True),
        ("[train_op, w.assign(w * 2)]", True),
    ],
)
def test_races(fetches: str, *, races: bool) -> None:
    facts, batch = looked_at(fetches)
    assert (facts.taken_batches.race(batch) is not None) == races
