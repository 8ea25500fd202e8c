"""What becomes of lists and dicts, traps first: uses after which nobody knows what is in them."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, use

START = """
import tensorflow as tf
import numpy as np
fetches = [loss]
"""


def added(text: str, name: str = "fetches") -> tuple[list[str], bool]:
    """What the marked use of a container adds to it, and whether that is all it may do."""
    found = facts(START + text)
    more, known = found.containers.added_through(use(found, name))
    return [ast.unparse(expr) for expr in more], known


def changes(text: str, name: str = "fetches") -> bool:
    found = facts(START + text)
    return found.containers.changes(use(found, name))


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "v = fetches[0]  # here\nv.append(noise)",
        "alias = fetches  # here",
        "alias = [fetches, other]  # here",
        "alias = {'a': fetches}  # here",
        "self.fetches = fetches  # here",
        "unknown(fetches)  # here",
        "obj.unknown(fetches)  # here",
        "unknown(items=fetches)  # here",
        "unknown(*fetches)  # here",
        "fetches.sort()  # here",
        "fetches.pop()  # here",
        "fetches.remove(loss)  # here",
        "fetches.unknown()  # here",
        "add = fetches.append  # here",
        "add(fetches.append)  # here",
        "del fetches[0]  # here",
        "fetches[0] += noise  # here",
        "for fetches[0] in v: pass  # here",
        "fetches[0].append(noise)  # here",
        "fetches[0][1] = noise  # here",
        "fetches.attribute = 1  # here",
        "with fetches: pass  # here",
        "f = lambda: fetches  # here",
        "x = fetches if v else other  # here",
        "np.random.shuffle(fetches)  # here",
        "random.shuffle(fetches)  # here",
        "map(change, fetches)  # here",
    ],
)
def test_a_use_that_may_change_a_container_in_any_way_is_not_known(text: str) -> None:
    assert added(text + "\n") == ([], False)


@pytest.mark.parametrize(
    "body",
    [
        "items.append(noise)",
        "items[0] = noise",
        "del items[0]",
        "global kept; kept = items",
        "self.items = items",
        "unknown(items)",
        "other = items",
        "items.clear()",
        "(lambda: items.append(noise))()",
        "change_more(items)",
    ],
)
def test_an_own_function_that_changes_its_parameter(body: str) -> None:
    text = (
        f"def f(items):\n    {body}\ndef change_more(more):\n    more.pop()\nf(fetches)  # here\n"
    )
    assert added(text) == ([], False)


@pytest.mark.parametrize(
    "call", ["f(items=fetches)", "f(*[fetches])", "f(1, fetches)", "f(0, *fetches)"]
)
def test_a_parameter_that_cannot_be_told(call: str) -> None:
    assert added(f"def f(items):\n    return len(items)\n{call}  # here\n") == ([], False)


def test_a_function_that_changes_its_parameter_does_so_at_every_call() -> None:
    found = facts(START + "def f(items):\n    items.pop()\nf(fetches)  # one\nf(fetches)  # two\n")
    for mark in ("one", "two", "one"):
        assert found.containers.added_through(use(found, "fetches", mark)) == ([], False)


def test_a_function_that_is_bound_twice_is_not_known() -> None:
    text = "def f(items): pass\nf = other\nf(fetches)  # here\n"
    assert added(text) == ([], False)


def test_a_method_is_followed_only_on_self() -> None:
    text = """
class Model:
    def show(self, items):
        print(items)
    def run(self, other):
        self.show(fetches)  # own
        other.show(fetches)  # here
"""
    assert added(text) == ([], False)
    found = facts(START + text)
    assert found.containers.added_through(use(found, "fetches", "own")) == ([], True)


# ---- what is known -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fetches.append(noise)", ["noise"]),
        ("fetches.extend([noise, loss])", ["[noise, loss]"]),
        ("fetches.insert(0, noise)", ["0", "noise"]),
        ("fetches.update({x: noise})", ["{x: noise}"]),
        ("fetches.update(x=noise)", ["noise"]),
        ("fetches.add(noise)", ["noise"]),
        ("fetches['a'] = noise", ["noise"]),
        ("fetches[0], other = noise, 1", ["(noise, 1)"]),
    ],
)
def test_what_is_put_into_a_container(text: str, expected: list[str]) -> None:
    assert added(f"{text}  # here\n") == (expected, True)


def test_an_append_in_a_loop_or_a_function_is_found_at_its_place() -> None:
    text = "def build():\n    for i in v:\n        fetches.append(noise)  # here\n"
    assert added(text) == (["noise"], True)


@pytest.mark.parametrize(
    "text",
    [
        "for f in fetches: pass",
        "names = [f for f in fetches]",
        "more = fetches + [noise]",
        "v = loss in fetches",
        "v = fetches[0]",
        "v = fetches[0].name",
        "n = len(fetches)",
        "print(fetches)",
        "total = tf.add_n(fetches)",
        "a = np.array(fetches)",
        "sess.run(fetches)",
        "sess.run([fetches, loss])",
        "sess.run(fetches=fetches)",
        "optimizer.apply_gradients(fetches)",
        "optimizer.minimize(loss, fetches)",
        "v = fetches.index(loss)",
        "c = fetches.copy()",
        "v = d.get(fetches)",
    ],
)
def test_a_use_that_leaves_a_container_as_it_is(text: str) -> None:
    expected = text != "v = d.get(fetches)"  # whatever `d` is, it may keep the list
    assert added(f"{text}  # here\n") == ([], expected)


@pytest.mark.parametrize(
    "body",
    ["return len(items)", "return sess.run(items)", "for i in items: print(i)", "pass", "f(items)"],
)
def test_an_own_function_that_only_reads_its_parameter(body: str) -> None:
    assert added(f"def f(items):\n    {body}\nf(fetches)  # here\n") == ([], True)


def test_a_function_that_passes_its_parameter_on_to_one_that_reads_it() -> None:
    text = "def g(more):\n    print(more)\ndef f(items):\n    g(items)\nf(fetches)  # here\n"
    assert added(text) == ([], True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value[0] = 1  # here", True),
        ("del value[0]  # here", True),
        ("value.append(1)  # here", True),
        ("value.sort()  # here", True),
        ("v = value[0]  # here", False),
        ("v[value] = 1  # here", False),
        ("value.mean()  # here", False),
        ("value.append  # here", False),
        ("f(value)  # here", False),
    ],
)
def test_only_a_container_can_be_changed_like_that(
    text: str,
    expected: bool,  # noqa: FBT001
) -> None:
    assert changes(text + "\n", "value") is expected


def test_a_default_is_what_its_function_makes_of_it() -> None:
    reading = "def f(a, given=fetches):  # here\n    return given[0]\n"
    assert added(reading) == ([], True)
    for body in ("given.append(1)", "given[0] = 1", "given = given + [1]", "keep(given)"):
        assert added(f"def f(a, given=fetches):  # here\n    {body}\n") == ([], False)
    assert added("f = lambda given=fetches: given  # here\n") == ([], False)
