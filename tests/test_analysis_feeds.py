"""What is fed, traps first: a feed that cuts an edge of the graph."""

from __future__ import annotations

import pytest

from analysis_helpers import run, with_graph


def only_placeholders(text: str) -> bool:
    found = with_graph("sess = tf.Session()\n" + text)
    found_run = run(found)
    assert found_run is not None and found_run.feed is not None
    return found.feeds.only_placeholders(found_run.feed)


@pytest.mark.parametrize(
    "feed",
    [
        "{logits: v}",
        "{x: v, logits: v}",
        "{w: v}",
        "{'x:0': v}",
        "{unknown: v}",
        "{**other}",
        "{x: v, **other}",
        "make_feed()",
        "unknown",
        "self.feed",
        "dict([(x, v)])",
        "{k: v for k, v in zip([x], [1])}",
        "{(x if flag else w): v}",
    ],
)
def test_a_key_that_may_be_no_placeholder(feed: str) -> None:
    assert not only_placeholders(f"sess.run(loss, {feed})  # here\n")


@pytest.mark.parametrize(
    "text",
    [
        "feed = {x: v}\nfeed = make()",
        "feed = {x: v}\nfeed[logits] = v",
        "feed = {x: v}\nfeed['x:0'] = v",
        "feed = {x: v}\nfeed.update({logits: v})",
        "feed = {x: v}\nfeed.update(other)",
        "feed = {x: v}\nfeed.setdefault(w, v)",
        "feed = {x: v}\nother = feed",
        "feed = {x: v}\nfill(feed)",
        "def fill(f):\n    f[w] = v\nfeed = {x: v}\nfill(feed)",
        "feed = {x: v}\nif flag:\n    feed = {w: v}",
        "for feed in feeds: pass",
        "with make() as feed: pass",
        "feed = dict()",
        "feed = {x: v}\nfeed |= {w: v}",
    ],
)
def test_a_dict_that_may_come_to_hold_another_key(text: str) -> None:
    assert not only_placeholders(f"{text}\nsess.run(loss, feed)  # here\n")


def test_a_parameter_is_not_known() -> None:
    assert not only_placeholders("def f(feed):\n    sess.run(loss, feed)  # here\n")


@pytest.mark.parametrize(
    "text",
    [
        "sess.run(loss, {x: v, y: v})  # here",
        "sess.run(loss, {})  # here",
        "feed = {x: v}\nsess.run(loss, feed)  # here",
        "feed = {x: v}\nsess.run(loss, feed_dict=feed)  # here",
        "feed = {x: v}\nfeed[y] = v\nsess.run(loss, feed)  # here",
        "feed = {}\nfor i in v:\n    feed[x] = i\n    sess.run(loss, feed)  # here",
        "feed = {x: v}\nif flag:\n    feed = {y: v}\nsess.run(loss, feed)  # here",
        "feed = {x: v}\nprint(feed, len(feed), feed[x])\nsess.run(loss, feed)  # here",
        "feed = {x: v}\ndel feed[x]\nsess.run(loss, feed)  # here",
        "def show(f):\n    print(f)\nfeed = {x: v}\nshow(feed)\nsess.run(loss, feed)  # here",
        "p = tf.placeholder_with_default(1.0, [])\nsess.run(loss, {p: v})  # here",
        "first, second = x, y\nsess.run(loss, {first: v, second: v})  # here",
    ],
)
def test_a_feed_of_placeholders_cuts_nothing(text: str) -> None:
    assert only_placeholders(text + "\n")
