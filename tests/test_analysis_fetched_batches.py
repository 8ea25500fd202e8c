"""Which batches a run of its own may fetch: what else is done with them."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.fed_batches import FedBatch
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.obstacle import Obstacle

_GENERATOR = """
def pairs():
    for i in range(9):
        yield X[i:i + 9], Y[i:i + 9]
"""


def looked_at(loop: str) -> tuple[Facts, FedBatch]:
    """The first run in a loop, with what is known of the file."""
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    facts = with_graph(f"{_GENERATOR}with tf.Session() as sess:\n{body}")
    return facts, next(facts.fed_batches.all())


def found(loop: str) -> FedBatch | Obstacle:
    facts, batch = looked_at(loop)
    return facts.fetched_batches.of(batch)


@pytest.mark.parametrize(
    ("header", "generator", "target"),
    [
        ("bx, by in pairs()", "pairs()", "(bx, by)"),
        ("i, (bx, by) in enumerate(pairs(), 1)", "pairs()", "(bx, by)"),
        ("i, bx in enumerate(zip(X, Y))", None, None),
        ("bx, by in made", None, None),
        ("both in enumerate(pairs())", None, None),
        ("i, bx in enumerate(pairs(), start)", None, None),
        ("bx, by in pairs", None, None),
    ],
)
def test_the_generator_that_a_loop_goes_over(
    header: str, generator: str | None, target: str | None
) -> None:
    facts, batch = looked_at(f"for {header}:\n    sess.run(train_op, {{x: load()}})")
    made = facts.fetched_batches.generator(batch.loop)
    assert (None if made is None else ast.unparse(made)) == generator
    if target is not None:
        assert isinstance(batch.loop, ast.For)
        assert ast.unparse(facts.fetched_batches.target(batch.loop)) == target


def test_feeds_of_the_turn_and_lengths_cannot_tell() -> None:
    one = found(
        "for i, (bx, by) in enumerate(pairs()):\n"
        "    print(i, len(bx), sess.run(loss, {x: bx, y: by}))\n"
        "    sess.run(train_op, {x: bx, y: by})"
    )
    assert isinstance(one, FedBatch)
    assert (one.own_run, one.obstacle, one.copied) == (True, None, [])
    assert one.source is not None and ast.unparse(one.source) == "pairs()"


def test_names_that_only_the_batch_has() -> None:
    facts, batch = looked_at(
        "for i in range(9):\n"
        "    start = i * 9\n"
        "    bx = X[start:start + 9]\n"
        "    sess.run(train_op, {x: bx})\n"
        "    print(start, sess.run(loss, {x: bx}))"
    )
    one = facts.fetched_batches.of(batch)
    assert isinstance(one, FedBatch)
    assert [ast.unparse(statement) for statement in one.copied] == ["start = i * 9"]
    assert facts.fetched_batches.own(one) == {"bx"}


@pytest.mark.parametrize(
    "rest",
    [
        "print(bx)",
        "bx += 1",
        "bx[0] = 1",
        "del bx",
        "late.append(lambda: sess.run(loss, {x: bx}))",
        "late.append(sess.run(loss, {x: bx}) for _ in X)",
        "feed = {x: bx}\n    print(feed)",
        "sess.run(loss, {unknown: bx})",
        "print(sess.run(loss, {x: bx * 2}))",
    ],
)
def test_what_could_tell(rest: str) -> None:
    one = found(f"for bx, by in pairs():\n    sess.run(train_op, {{x: bx, y: by}})\n    {rest}")
    assert isinstance(one, Obstacle)
    assert one.reason == "batch-used"


@pytest.mark.parametrize(
    "loop",
    [
        "for bx, by in pairs():\n    sess.run(train_op, {x: bx})\nprint(sess.run(loss, {x: bx}))",
        "for bx, by in pairs():\n    feed = {x: bx}\n    sess.run(train_op, feed)\nprint(feed)",
    ],
)
def test_after_the_loop_the_array_may_be_another(loop: str) -> None:
    assert isinstance(found(loop), Obstacle)


def test_a_batch_that_is_fed_before_it_is_all_made() -> None:
    facts, _ = looked_at(
        "for bx, by in pairs():\n"
        "    print(sess.run(loss, {x: bx, y: by}))\n"
        "    bx = bx * 2\n"
        "    sess.run(train_op, {x: bx, y: by})"
    )
    for batch in facts.fed_batches.all():
        assert isinstance(facts.fetched_batches.of(batch), Obstacle)


def test_a_batch_that_a_run_fetches_is_there_already() -> None:
    facts, batch = looked_at(
        "element = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()\n"
        "for i in range(9):\n"
        "    bx = sess.run(element)\n"
        "    sess.run(train_op, {x: bx})"
    )
    assert facts.fetched_batches.is_fetched(batch)
    called, taken = looked_at(
        "element = tf.data.Dataset.range(9).make_one_shot_iterator().get_next()\n"
        "take = sess.make_callable(element)\n"
        "for i in range(9):\n"
        "    bx = take()\n"
        "    sess.run(train_op, {x: bx})"
    )
    assert called.fetched_batches.is_fetched(taken)
    other, made = looked_at("for bx, by in pairs():\n    sess.run(train_op, {x: bx})")
    assert not other.fetched_batches.is_fetched(made)


def test_dicts_that_are_written_out_in_one_place() -> None:
    facts, batch = looked_at("for i in range(9):\n    sess.run(train_op, {x: X[i:i + 9]})")
    assert facts.fetched_batches.is_whole(batch)
    facts, batch = looked_at(
        "for i in range(9):\n    feed = {}\n    feed[x] = X[i:i + 9]\n    sess.run(train_op, feed)"
    )
    assert not facts.fetched_batches.is_whole(batch)
