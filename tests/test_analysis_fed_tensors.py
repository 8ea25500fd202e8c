"""Which entries of a feed are tensors, and which data set they are taken from."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import with_graph
from tfrewrite.analysis.batches.fed_tensors import Elements, FedTensor
from tfrewrite.analysis.facts import Facts

DATA = "data = tf.data.Dataset.from_tensor_slices((A, B)).shuffle(9).batch(2)\n"
WHOLE = "e = data.make_one_shot_iterator().get_next()\n"
TAKEN = "images, labels = data.make_one_shot_iterator().get_next()\n"


def fed(text: str) -> tuple[Facts, list[FedTensor]]:
    found = with_graph(f"{text}")
    return found, [one for run in found.fed_tensors.all() for one in run]


def elements(text: str) -> Elements | None:
    found, tensors = fed(f"{text}\nsess = tf.Session()\n")
    return found.fed_tensors.elements(tensors)


@pytest.mark.parametrize(
    ("value", "is_tensor"),
    [
        ("w", False),  # a variable fails in another way
        ("tf.zeros([1, 8])", True),
        ("logits[0]", True),
        ("x * 2", True),
        ("np.zeros([1, 8])", False),
        ("sess.run(x)", False),
        ("x.shape[0]", False),
        ("tf.SparseTensor(a, b, c)", False),
        ("given", False),
        ("given - other", False),  # of arrays
        ("given[:3]", False),
        ("-given", False),
        ("given - w", False),
        ("logits[:3] - given", True),
        ("logits == given", False),  # a boolean in TensorFlow 1
        ("batch['x']", False),
        ("made(given)", False),
        ("made(x)", True),
    ],
)
def test_what_is_a_tensor(value: str, is_tensor: bool) -> None:  # noqa: FBT001
    own = "def made(a):\n    return a * 2\nbatch = dict(load())\n"
    _, found = fed(f"{own}sess = tf.Session()\nsess.run(loss, {{x: {value}, y: [1]}})\n")
    assert [ast.unparse(one.key) for one in found] == (["x"] if is_tensor else [])


def test_a_name_that_is_set_to_a_part_of_itself_ends() -> None:
    text = "sess = tf.Session()\nfor i in range(3):\n    rows = rows[:-1]\n"
    _, found = fed(f"{text}    sess.run(loss, {{x: -rows, y: [1]}})\n")
    assert found == []


def test_a_feed_that_has_a_name_is_looked_up() -> None:
    _, found = fed("sess = tf.Session()\nfeed = {x: tf.zeros([1, 8])}\nsess.run(loss, feed)\n")
    assert [ast.unparse(one.value) for one in found] == ["tf.zeros([1, 8])"]


@pytest.mark.parametrize(
    ("taken", "first", "second", "parts"),
    [
        (TAKEN, "images", "labels", ("element[0]", "element[1]")),
        (TAKEN, "labels", "images", ("element[1]", "element[0]")),
        (WHOLE, "e[0]", "e[1]", ("element[0]", "element[1]")),
    ],
)
def test_elements_of_a_data_set(
    taken: str, first: str, second: str, parts: tuple[str, ...]
) -> None:
    run = f"sess = tf.Session()\nsess.run(loss, {{x: {first}, y: {second}}})"
    found = elements(DATA + taken + run)
    assert found is not None
    assert (found.parts, ast.unparse(found.dataset)) == (parts, "data")
    assert len(found.statements) == 1


@pytest.mark.parametrize(
    "taken",
    [
        TAKEN + "print(labels)\n",  # used otherwise
        TAKEN + "images = images + 1\n",  # another value
        "images, labels, more = data.make_one_shot_iterator().get_next()\n",  # not all of it
        "images, labels = data.make_initializable_iterator().get_next()\n",  # may begin anew
        "it = data.make_one_shot_iterator()\nimages, labels = it.get_next()\nit.get_next()\n",
        "images, labels = tf.zeros([2, 8]), tf.zeros([2])\n",
    ],
)
def test_what_is_more_than_fed_or_no_element(taken: str) -> None:
    run = "sess = tf.Session()\nsess.run(loss, {x: images, y: labels})"
    assert elements(DATA + taken + run) is None


@pytest.mark.parametrize(
    ("data", "known"),
    [
        ("from_generator(g, (tf.float32, tf.int64))", True),
        ("from_generator(g, output_types=(tf.float32, tf.int64)).repeat(3)", True),
        ("from_tensors((A, B)).batch(3)", True),
        ("from_generator(g, types)", False),
        ("from_generator(g, tf.float32)", False),
        ("from_tensor_slices((*A, B))", False),
        ("from_tensor_slices({'a': A, 'b': B})", False),
        ("from_tensor_slices((A, B)).map(f)", False),
        ("from_tensor_slices((A,))", False),
        ("range(9)", False),
    ],
)
def test_parts_are_counted_where_they_are_written(data: str, known: bool) -> None:  # noqa: FBT001
    text = f"e = tf.data.Dataset.{data}.make_one_shot_iterator().get_next()\n"
    run = "sess = tf.Session()\nsess.run(loss, {x: e[0], y: e[1]})"
    assert (elements(text + run) is not None) == known
