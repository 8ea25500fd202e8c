"""What a run may be moved past, traps first: everything that stands in its way."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import function, inside, run, use, with_graph

START = """
import logging
import random
import time
from data import source
logger = logging.getLogger(__name__)
history = []
losses = {}
count = 0
steps = 0
array = np.zeros([3])
def harmless(v):
    text = "loss %f" % v
    print(text)
    return text
def local(v):
    found = []
    found.append(v)
    return found
def pure(v):
    return v * 2
def changing(v):
    history.append(v)
def storing(v):
    losses["a"] = v
def setting(v):
    global count
    count = v
def raising(v):
    raise ValueError(v)
def checking(v):
    assert v
def generating(v):
    yield v
def running(v):
    return sess.run(loss)
def looping(v):
    for i in source: pass
def endless(v):
    return endless(v)
def growing(v):
    v += 1
@wrap
def wrapped(v):
    return 1
sess = tf.Session()
"""


def obstacle(
    between: str,
    feed: str = "{x: images}",
    start: str = "",
    fetches: str = "loss",
) -> tuple[str, str] | None:
    """Why the second run cannot cross what stands between: reason and message."""
    body = [
        f"first = sess.run(accuracy, {feed})  # first",
        *textwrap.dedent(between).strip("\n").splitlines(),
        f"second = sess.run({fetches}, {feed})  # second",
    ]
    text = START + textwrap.dedent(start) + "\nfor images, labels in source:\n"
    found = with_graph(text + textwrap.indent("\n".join(body) + "\n", "    "))
    runs = [run(found, "first"), run(found, "second")]
    assert runs[0] is not None and runs[1] is not None
    head, last = (found.source.statement(one.call) for one in runs if one)
    block, begin = found.source.position(head)
    _, end = found.source.position(last)
    needs = [runs[1].fetches, *([runs[1].feed] if runs[1].feed else [])]
    moving = frozenset(one.call for one in runs if one)
    told = found.moves.obstacle(block[begin:end], needs, moving)
    return None if told is None else (told.reason, told.message)


def reason(between: str, feed: str = "{x: images}", start: str = "", fetches: str = "loss") -> str:
    told = obstacle(between, feed, start, fetches)
    return told[0] if told else ""


# ---- traps: what is in the way -------------------------------------------------------------------


@pytest.mark.parametrize(
    "between",
    [
        "unknown()",
        "source.next_batch(3)",
        "first.unknown()",
        "print(unknown())",
        "print(source.value())",
        "(lambda: unknown())()",
        "changing(first)",
        "storing(first)",
        "setting(first)",
        "raising(first)",
        "checking(first)",
        "generating(first)",
        "running(first)",
        "looping(first)",
        "endless(first)",
        "growing(array)",
        "wrapped(first)",
        "tf.assign(w, w)",
        "import other",
        "from other import thing",
        "class A: pass",
        "def f(): pass",
        "with open('x'): pass",
        "try:\n    pass\nexcept ValueError: pass",
        "match first:\n    case 1: pass",
        "for i in source: pass",
        "n = [i for i in source]",
        "n = list(source)",
        "n = sum(source)",
        "n = sorted(history, key=act)",
        "np.add(history, 1, out=array)",
        "np.add(history, 1, array)",
        "np.load('x')",
        "n = open('x')",
        "n = next(source)",
        "n = list(map(act, history))",
        "source.append(1)",
        "source.info('text')",
        "saver.save(sess, 'model')",
    ],
)
def test_code_that_is_not_known_is_in_the_way(between: str) -> None:
    assert reason(between) == "call-between"


@pytest.mark.parametrize(
    "between", ["sess.run(w)", "n = loss.eval()", "print(sess.run(b, {x: images}))"]
)
def test_another_run_is_in_the_way(between: str) -> None:
    assert reason(between, start="tf.InteractiveSession()") == "run-between"


@pytest.mark.parametrize(
    "between",
    [
        "if first < 1: break",
        "if first < 1: continue",
        "if first < 1: raise ValueError",
        "assert first",
        "for i in range(3):\n    if i: break",
        "while count:\n    break",
    ],
)
def test_a_way_out_is_in_the_way(between: str) -> None:
    assert reason(between) == "jump-between"


@pytest.mark.parametrize(
    "between",
    [
        "images = 1",
        "images, n = 1, 2",
        "for images in range(3): pass",
        "n = (images := 1)",
        "del images",
        "images += 1",
        "images: int = 1",
        "if count:\n    images = 1",
        "x = 1",
        "loss = 1",
    ],
)
def test_a_name_that_gets_another_value_is_in_the_way(between: str) -> None:
    assert reason(between) == "rebound-between"


@pytest.mark.parametrize(
    ("between", "feed"),
    [
        ("images[0] = 1", "{x: images}"),
        ("images[0][1] = 1", "{x: images}"),
        ("del images[0]", "{x: images}"),
        ("images[0] += 1", "{x: images}"),
        ("labels[0] = 1", "{x: images}"),  # the loop may give the same array twice
        ("self.images = 1", "{x: self.images}"),
        ("other.images = 1", "{x: self.images}"),
        ("self.images[0] = 1", "{x: self.images}"),
        ("self.other[0] = 1", "{x: images}"),
        ("self.images += 1", "{x: self.images}"),
        ("del self.images", "{x: self.images}"),
        ("feed[x] = 1", "feed"),
        ("array[0] = 1", "{x: array}"),
        ("array.fill(0)", "{x: array}"),
        ("array.sort()", "{x: array + 1}"),
        ("history.append(1)", "{x: history}"),
        ("np.copyto(array, 1)", "{x: array}"),
        ("np.random.shuffle(array)", "{x: array}"),
        ("labels += 1", "{x: images}"),
        ("get()[0] = 1", "{x: images}"),
    ],
)
def test_what_may_change_what_is_fed_is_in_the_way(between: str, feed: str) -> None:
    assert reason(between, feed) == "feed-changes"


def test_a_change_is_seen_through_another_name_for_the_same_object() -> None:
    assert reason("array[0] = 1", "{x: other}", start="other = array") == "feed-changes"
    assert reason("other[0] = 1", "{x: array}", start="other = array") == "feed-changes"
    assert reason("array[0] = 1", "{x: feeds[0]}", start="feeds = [array]") == "feed-changes"


def test_a_change_of_what_is_made_from_the_fed_object_may_be_one_of_the_object() -> None:
    start = "made = np.array(array)"
    assert reason("made[0] = 1", "{x: array}", start=start) == "feed-changes"
    assert reason("made[0] = 1", "{x: images}", start=start) == ""
    start = "made = np.array(array, copy=False)"  # which may be another name for the images
    assert reason("made[0] = 1", "{x: images}", start=start) == "feed-changes"


def test_an_attribute_store_is_in_the_way_where_attributes_are_set_unseen() -> None:
    assert reason("self.other = 1", "{x: self.images}") == ""
    start = "class A:\n    def __setattr__(self, name, value): act()\n"
    assert reason("self.other = 1", "{x: self.images}", start=start) == "call-between"


def test_operators_of_the_files_own_are_in_the_way() -> None:
    start = "class A:\n    def __add__(self, other): act()\n"
    assert reason("n = first + 1", start=start) == "call-between"
    assert reason("n = first", start=start) == ""


def test_a_property_is_in_the_way() -> None:
    start = "class A:\n    @property\n    def size(self): act()\n"
    assert reason("n = a.size", start=start) == "call-between"
    assert reason("n = a.other", start=start) == ""


def test_shadowed_printing_is_in_the_way() -> None:
    assert reason("print(first)", start="def print(v): act(v)") == "call-between"


def test_a_message_names_the_line_and_what_is_there() -> None:
    told = obstacle("unknown()")
    assert told is not None
    assert "`unknown(...)`" in told[1]
    told = obstacle("images = 1")
    assert told is not None
    assert told[1].startswith("`images` gets another value in line ")


# ---- what is harmless ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "between",
    [
        "pass",
        "n = first",
        "n, m = first, 1",
        "n = first * 2 + count",
        "count = count + 1",
        "steps += 1",
        "print(first, 'loss %f' % first, f'{first}')",
        "print('loss {}'.format(first))",
        "logging.info('loss %f', first)",
        "logger.info('loss %f', first)",
        "n = np.mean(history)",
        "n = len(history)",
        "n = sum(history)",
        "n = time.time()",
        "n = random.random()",
        "history.append(first)",
        "losses['a'] = first",
        "losses['a'], n = first, 1",
        "array[0] = first",
        "np.random.shuffle(history)",
        "self.best = first",
        "n = first.mean()",
        "n = harmless(first)",
        "n = local(first)",
        "n = pure(first)",
        "if count % 9 == 0:\n    print(first)",
        "for i in range(3):\n    print(i)",
        "for i in history:\n    print(i)",
        "n = [i * 2 for i in range(3)]",
        "n = sum(i for i in range(3))",
        "n = lambda: unknown()",
        "del n",
        "n = a.b.c",
        "n = source",
        "tf.logging.info('text')",
    ],
)
def test_what_a_run_may_be_moved_past(between: str) -> None:
    assert obstacle(between) is None


def test_a_summary_writer_only_writes_to_its_file() -> None:
    start = "writer = tf.summary.FileWriter('logs')"
    assert reason("writer.add_summary(first, count)", start=start) == ""
    assert reason("writer.add_summary(first, count)") == "call-between"


def test_a_list_that_a_class_makes_itself_is_nobody_elses() -> None:
    text = """
class Model:
    def __init__(self, given):
        self.own = []
        self.given = given
    def train(self, sess, images):
        {0}.append(1)  # here
        return images
"""
    for attribute, expected in (("own", None), ("given", "call-between")):
        found = with_graph(START + text.format(f"self.{attribute}"))
        statement = found.source.statement(use(found, "self"))
        needs = [inside(function(found, "train"), ast.Name)[-1]]
        told = found.moves.obstacle([statement], needs, frozenset())
        assert (told.reason if told else None) == expected


# ---- evaluating twice ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        ("{x: images}", True),
        ("{x: images[0:3], y: images.T}", True),
        ("{x: mnist.train.images}", True),
        ("{x: settings.images}", True),
        ("{x: held.images}", True),
        ("{x: source.images}", False),
        ("{x: given.images}", False),
        ("{x: self.images}", False),
        ("{x: np.reshape(images, [3])}", True),
        ("{x: pure(images)}", False),
        ("{x: len(images) * 2}", True),
        ("{x: np.random.rand(3)}", False),
        ("{x: time.time()}", False),
        ("{x: source.next_batch(3)}", False),
        ("{x: unknown()}", False),
        ("{x: history.pop()}", False),
        ("{x: harmless(1)}", False),
        ("{x: sess.run(w)}", False),
        ("{x: (n := 1)}", False),
        ("{x: a.size}", False),
        ("{x: np.add(1, 2, array)}", False),
    ],
)
def test_what_may_be_evaluated_once_more(
    feed: str,
    expected: bool,  # noqa: FBT001
) -> None:
    start = """
import settings
from tensorflow.examples.tutorials.mnist import input_data
mnist = input_data.read_data_sets("data")
given = source.load()
class A:
    @property
    def size(self): act()
class B:
    def __init__(self):
        self.images = 1
held = B()
"""
    found = with_graph(f"{START}{start}sess.run(loss, {feed})  # here\n")
    (fed,) = (one.feed for one in found.sessions.runs.values() if one.feed is not None)
    assert found.moves.repeatable(fed) is expected


def test_waiting_for_another_is_not_repeatable() -> None:
    found = with_graph("async def f():\n    await v\ndef g():\n    yield v\n")
    for kind in (ast.Await, ast.Yield):
        (node,) = inside(found.source.tree, kind)
        assert not found.moves.repeatable(node)


def test_the_names_that_code_sees_include_those_in_the_functions_it_calls() -> None:
    text = """
def outer():
    inner()
    outer()
def inner():
    return hidden
outer(given)  # here
"""
    found = with_graph(text)
    statement = found.source.statement(use(found, "given"))
    assert found.moves.names_seen(statement) == {"outer", "inner", "given", "hidden"}
    assert found.moves.mentions(statement) == {"outer", "given"}
