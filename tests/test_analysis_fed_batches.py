"""What belongs to the batch that a loop makes and feeds, and what does not."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.fed_batches import FedBatch
from tfrewrite.analysis.batches.feed_entries import Entry


def batches(body: str, before: str = "") -> list[FedBatch]:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = f"with tf.Session() as sess:\n    {before or 'pass'}\n    for i in range(9):\n{lines}"
    return list(with_graph(text).fed_batches.all())


def only(body: str, before: str = "") -> FedBatch:
    (found,) = batches(body, before)
    return found


def texts(entries: list[Entry]) -> list[str]:
    return [f"{ast.unparse(one.key)}: {ast.unparse(one.value)}" for one in entries]


def lines(statements: list[ast.stmt]) -> list[str]:
    return [ast.unparse(one) for one in statements]


def test_slices_of_arrays() -> None:
    found = only("sess.run(train_op, {x: X[i * 8:i * 8 + 8], y: Y[i * 8:i * 8 + 8]})")
    assert texts(found.entries) == ["x: X[i * 8:i * 8 + 8]", "y: Y[i * 8:i * 8 + 8]"]
    assert (found.kept, found.making, found.obstacle) == ([], [], None)


def test_statements_that_make_the_batch_go_with_it() -> None:
    found = only("start = i * 8\nbatch = X[start:start + 8]\nsess.run(train_op, {x: batch})")
    assert texts(found.entries) == ["x: batch"]
    assert lines(found.making) == ["start = i * 8", "batch = X[start:start + 8]"]
    assert found.copied == []


def test_what_the_loop_goes_on_needing_is_copied() -> None:
    found = only("start = i * 8\nsess.run(train_op, {x: X[start:start + 8]})\nprint(start)")
    assert lines(found.copied) == ["start = i * 8"]


def test_what_stays_the_same_stays_in_the_feed() -> None:
    found = only("sess.run(train_op, {x: X[i:i + 8], y: labels})", "labels = load()")
    assert texts(found.entries) == ["x: X[i:i + 8]"]
    assert texts(found.kept) == ["y: labels"]


def test_a_dict_with_a_name() -> None:
    found = only("feed = {x: X[i:i + 8]}\nsess.run(train_op, feed_dict=feed)")
    assert found.filed is not None
    assert ast.unparse(found.filed) == "feed = {x: X[i:i + 8]}"


def test_a_batch_that_another_run_is_fed_with_under_a_condition() -> None:
    found, _ = batches(
        "batch = X[i:i + 8]\nsess.run(train_op, {x: batch})\n"
        "if i % 2:\n    print(sess.run(logits, {x: batch}))"
    )
    assert texts(found.fetched) == ["x: batch"]


@pytest.mark.parametrize(
    "body",
    [
        "sess.run(train_op)",
        "sess.run(train_op, {x: X})",
        "sess.run(train_op, given)",
        "sess.run(train_op, {**given, x: X})",
    ],
)
def test_where_no_batch_is_made(body: str) -> None:
    assert batches(body, "given = {x: X}") == []


@pytest.mark.parametrize(
    "body",
    [
        "sess.run(train_op, make(i))",
        "sess.run(train_op, feed_dict=dict(zip(placeholders, (X[i], Y[i]))))",
        "sess.run(train_op, {**given, x: X[i]})",
        "feed = make(i)\nsess.run(train_op, feed)",
        "feed = {x: X[i]}\nif i:\n    feed = {}\nsess.run(train_op, feed)",
        "given.update(make(i))\nsess.run(train_op, given)",
    ],
)
def test_a_dict_that_is_not_written_out(body: str) -> None:
    obstacle = only(body, "given = {}").obstacle
    assert obstacle is not None
    assert obstacle.reason == "batch-code-not-seen"
    assert "is not written out" in obstacle.message


@pytest.mark.parametrize("before", ["given = {}", "given = {x: None}"])
def test_a_dict_that_is_filled_in_each_turn(before: str) -> None:
    found = only(
        "given[x] = X[i]\ngiven.update({y: Y[i], z: 1})\nsess.run(train_op, given)", before
    )
    assert texts(found.entries) == ["x: X[i]", "y: Y[i]"]
    assert texts(found.kept)[-1] == "z: 1"
    assert lines(found.filling) == ["given[x] = X[i]", "given.update({y: Y[i], z: 1})"]
    assert found.filed is None
    assert found.filled is not None
    assert ast.unparse(found.filled) == before


def test_what_is_put_into_a_dict_before_the_loop_stays_there() -> None:
    found = only("given[x] = X[i]\nsess.run(train_op, given)", "given = {y: draw()}")
    assert texts(found.entries) == ["x: X[i]"]
    assert texts(found.kept) == ["y: draw()"]


@pytest.mark.parametrize(
    "body",
    [
        "batch = X[i]\ngiven[x] = batch\nbatch = Y[i]\ngiven[y] = batch\nsess.run(train_op, given)",
        "batch = X[i]\nfeed = {x: batch}\nbatch = batch + 1\nsess.run(train_op, feed)",
        "given[x] = draw()\nbatch = draw()\ngiven[y] = batch\nsess.run(train_op, given)",
    ],
)
def test_more_that_is_made_after_some_of_it_is_fed(body: str) -> None:
    obstacle = only(body, "given = {}").obstacle
    assert obstacle is not None
    assert obstacle.reason == "batch-changes-state"


def test_a_dict_that_is_not_written_out_and_not_fed_in_each_turn() -> None:
    obstacle = only("if i:\n    sess.run(train_op, make(i))").obstacle
    assert obstacle is not None
    assert obstacle.reason == "not-each-turn"


@pytest.mark.parametrize(
    "body",
    [
        "if i:\n    sess.run(train_op, {x: X[i:i + 8]})",
        "try:\n    sess.run(train_op, {x: X[i:i + 8]})\nexcept ValueError:\n    pass",
        "batch = X[i:i + 8]\nsess.run(train_op, {x: batch})\nprint(batch)",
    ],
)
def test_a_batch_that_is_not_the_run_s_alone(body: str) -> None:
    assert all(found.obstacle is not None for found in batches(body)[:1])
