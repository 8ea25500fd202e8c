"""What is fed, traps first: a feed that cuts an edge of the graph."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import run, with_graph
from tfrewrite.analysis.facts import Facts


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


def fed(first: str, second: str, before: str = "") -> tuple[Facts, list[ast.expr | None]]:
    """What two runs feed, in their order."""
    text = f"sess = tf.Session()\n{before}\nsess.run(loss, {first})\nsess.run(w, {second})\n"
    found = with_graph(text)
    runs = sorted(found.sessions.runs.values(), key=lambda one: one.call.lineno)
    return found, [one.feed for one in runs]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{x: v}", "{x: u}"),
        ("{x: v, y: u}", "{x: v, y: v}"),
        ("{x: v}", "{x: v * 1}"),
        ("{x: v, x: u}", "{y: u}"),
        ("{x: v}", "{x: v, **more}"),
        ("{x: v}", "dict([(y, u)])"),
        ("{x: v}", "{k: u for k in [y]}"),
        ("{x: v}", "feed"),
        ("feed", "other"),
    ],
)
def test_feeds_that_are_not_one(first: str, second: str) -> None:
    found, feeds = fed(first, second)
    assert found.feeds.united(feeds) is None
    assert found.feeds.united(feeds[::-1]) is None


@pytest.mark.parametrize(
    ("first", "second", "base", "more"),
    [
        ("{x: v}", "{y: u}", "{x: v}", "{y: u}"),
        ("{y: u}", "{x: v}", "{y: u}", "{x: v}"),
        ("{x: v}", "{y: u, x: v}", "{x: v}", "{y: u}"),
        ("{x: v, y: u}", "{x: v}", "{x: v, y: u}", "{}"),
        ("{x: v, y: u}", "{x: v, w: 1}", "{x: v, y: u}", "{w: 1}"),
        ("{}", "{x: v}", "{}", "{x: v}"),
        ("None", "{x: v}", "{x: v}", "{}"),
        ("None", "make_feed()", "make_feed()", "{}"),
        ("feed", "feed", "feed", "{}"),
        ("None", "None", "None", "{}"),
    ],
)
def test_all_that_two_runs_feed(first: str, second: str, base: str, more: str) -> None:
    found, feeds = fed(first, second)
    united = found.feeds.united(feeds)
    assert united is not None
    assert (ast.unparse(united.first) if united.first is not None else "None") == base
    keys, values = [key for key, _ in united.more], [value for _, value in united.more]
    assert ast.unparse(ast.Dict(list[ast.expr | None](keys), values)) == more


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("{x: v}", "{logits: u}", "`logits` is not known to be made by `tf.placeholder`"),
        ("{w: v}", "{x: u}", "`w` is not known"),
        ("{x: v}", "{'y:0': u}", "'y:0'"),
        ("{x: v}", "{p: u}", "`p` is not known"),
        ("{x: v, p: u}", "{p: u}", "`p` is not known"),
        ("{x: v}", "{s: u}", "`s` is not known"),
        ("{x: v}", "{(y, x): u}", "`(y, x)` is not known"),
        ("{x: v}", "{x if flag else y: u}", "`x if flag else y` is not known"),
        ("{x: v}", "{same: v}", "`same` may be a placeholder that is also fed by another name"),
        ("{y: u}", "{x: v, same: v}", "`same` may be"),
        ("{first: u}", "{second: v}", "`second` may be"),
        ("None", "{**more}", "it cannot be told what all is fed by `{**more}`"),
        ("None", "make_feed()", "it cannot be told what all is fed by `make_feed()`"),
        ("None", "filled", "by `filled`"),
        ("None", "added", "`logits` is not known"),
    ],
)
def test_what_may_change_a_value_of_the_other_run(first: str, second: str, words: str) -> None:
    before = """
p = tf.placeholder_with_default(1.0, [])
s = tf.sparse_placeholder(tf.float32)
same = x
first, second = [tf.placeholder(tf.float32) for _ in range(2)]
filled = {x: v}
fill(filled)
added = {x: v}
added[logits] = u
"""
    found, feeds = fed(first, second, before)
    obstacle = found.feeds.mixing(feeds)
    assert obstacle is not None
    assert obstacle.reason == "feeds-differ"
    assert words in obstacle.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{x: v}", "{y: u}"),
        ("{x: v, y: u}", "{x: v}"),
        ("None", "{x: v}"),
        ("None", "feed"),
        ("{x: v}", "{q: u, r: u}"),
    ],
)
def test_placeholders_without_a_value_of_their_own(first: str, second: str) -> None:
    before = """
from tensorflow import placeholder
q = placeholder(tf.float32)
r = tf.compat.v1.placeholder(tf.float32)
feed = {x: v}
feed[y] = u
"""
    found, feeds = fed(first, second, before)
    assert found.feeds.mixing(feeds) is None


@pytest.mark.parametrize(
    ("method", "feed", "runs"),
    [
        ("__array__", "{x: v}", True),
        ("__float__", "feed", True),
        ("__getitem__", "{x: Own()}", True),
        ("__getitem__", "{x: v, y: own}", True),
        ("__getitem__", "kept", True),
        ("__getitem__", "{x: v}", False),
        ("__getitem__", "{own.x: v}", False),
        ("items", "{x: own}", False),
        ("items", "own", True),
        ("items", "Own()", True),
    ],
)
def test_whether_the_file_says_how_objects_become_arrays(
    method: str, feed: str, *, runs: bool
) -> None:
    found = with_graph(f"""
        class Own:
            def {method}(self, *args):
                return next(batches)
        own = Own()
        kept = {{x: own}}
        sess = tf.Session()
        sess.run(loss, {feed})  # here
    """)
    found_run = run(found)
    assert found_run is not None and found_run.feed is not None
    assert found.feeds.runs_code(found_run.feed) is runs


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("feed = {x: v}", True),
        ("feed = {x: v}\nfeed[y] = v", True),
        ("feed = {x: v, y: v}\ndel feed[y]", False),
        ("feed = {x: v, y: v}\nfeed.pop(y)", False),
        ("feed = {x: v, y: v}\nfeed.clear()", False),
    ],
)
def test_what_is_fed_is_not_told_where_something_is_taken_away(text: str, *, told: bool) -> None:
    found = with_graph(f"sess = tf.Session()\n{text}\nsess.run(loss, feed)  # here\n")
    found_run = run(found)
    assert found_run is not None and found_run.feed is not None
    assert (found.feeds.fed(found_run.feed) is not None) is told
