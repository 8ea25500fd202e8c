"""What the analysis says about the tf.data pipelines of a script."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.pipelines.stages import End, Lost, Stage, stages

HEAD = "import tensorflow as tf\nimport tensorflow_datasets as tfds\n"


def facts_of(source: str) -> Facts:
    text = HEAD + textwrap.dedent(source)
    return Facts.build(text, ast.parse(text))


def names_beneath(source: str) -> list[str]:
    """The stages beneath the only consumer of a script, from the last one to the sources."""
    facts = facts_of(source)
    (consumer,) = facts.pipelines.consumers
    return [
        part.name if isinstance(part, Stage) else "lost"
        for part in stages(facts.pipelines.value(consumer.expr))
    ]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("for x in [1, 2]:\n    pass", None),
        ("ds = tf.data.Dataset.range(3).batch(2)\nfor x in ds:\n    pass", ["batch", "range"]),
        (
            "ds = tf.data.Dataset.range(3)\nds = ds.map(abs)\nit = iter(ds)",
            ["map", "range"],
        ),
        (
            "def make(n):\n    return tf.data.Dataset.range(n)\nfor x in make(3).batch(2): pass",
            ["batch", "range"],
        ),
        (
            (
                "def make():\n    return 1, tf.data.Dataset.range(3)\n_, ds = make()\n"
                "for x in ds.skip(1):\n    pass"
            ),
            ["skip", "range"],
        ),
        (
            "def train(ds):\n    for x in ds:\n        pass\ntrain(tf.data.Dataset.range(3))",
            ["range"],
        ),
        (
            (
                "a = tf.data.TextLineDataset('a')\n"
                "for x in tf.data.Dataset.zip({'a': a}).batch(2): pass"
            ),
            ["batch", "zip", "TextLineDataset"],
        ),
        (
            (
                "ds = tf.data.Dataset.range(3)\n"
                "ds = ds.apply(tf.data.experimental.map_and_batch(abs, 2))\n"
                "it = ds.make_one_shot_iterator()"
            ),
            ["map_and_batch", "range"],
        ),
        (
            "import lib\nds = lib.data().map(abs, num_parallel_calls=2)\nfor x in ds:\n    pass",
            ["map", "lost"],
        ),
        ("import lib\nds = lib.data().map(abs)\nfor x in ds:\n    pass", None),
        (
            (
                "train, info = tfds.load('m', split='train', with_info=True)\n"
                "for x in train.batch(2):\n    pass"
            ),
            ["batch", "tensorflow_datasets.load"],
        ),
        (
            (
                "class A:\n    def __init__(self):\n        self.ds = tf.data.Dataset.range(3)\n"
                "    def run(self):\n        for x in self.ds:\n            pass"
            ),
            ["range"],
        ),
        ("ds = tf.data.Dataset.range(3)\nprint(next(iter(ds)))", None),
        ("ds = tf.data.Dataset.range(30)\nfor x in ds.take(2):\n    pass", None),
    ],
)
def test_what_a_consumer_takes_from(source: str, names: list[str] | None) -> None:
    if names is None:
        assert facts_of(source).pipelines.consumers == []
    else:
        assert names_beneath(source) == names


def test_all_ways_are_followed() -> None:
    source = """
        ds = tf.data.Dataset.range(3)
        for i in range(2):
            if i:
                ds = ds.map(abs)
            else:
                ds = ds.shuffle(2)
        for x in ds:
            pass
    """
    assert set(names_beneath(source)) == {"range", "map", "shuffle"}


def test_what_is_a_dataset_on_some_ways_only_is_lost() -> None:
    facts = facts_of(
        "ds = None\nif facts:\n    ds = tf.data.Dataset.range(3)\nfor x in ds:\n    pass"
    )
    (consumer,) = facts.pipelines.consumers
    assert any(isinstance(p, Lost) for p in stages(facts.pipelines.value(consumer.expr)))


@pytest.mark.parametrize(
    ("pipeline", "end"),
    [
        ("batch(2)", End.OPEN),
        ("prefetch(1)", End.AHEAD),
        ("prefetch(1).repeat().take(20).with_options(o)", End.AHEAD),
        ("prefetch(1).map(abs)", End.OPEN),
        ("apply(tf.data.experimental.prefetch_to_device('/gpu:0'))", End.AHEAD),
        ("repeat()", End.OPEN),
    ],
)
def test_how_a_pipeline_ends(pipeline: str, end: End) -> None:
    facts = facts_of(f"for x in tf.data.Dataset.range(30).{pipeline}:\n    pass")
    (consumer,) = facts.pipelines.consumers
    assert facts.pipelines.end(facts.pipelines.value(consumer.expr)) is end


def test_ways_that_end_differently() -> None:
    source = """
        ds = tf.data.Dataset.range(3).batch(2)
        if facts:
            ds = ds.prefetch(1)
        for x in ds:
            pass
    """
    facts = facts_of(source)
    (consumer,) = facts.pipelines.consumers
    assert facts.pipelines.end(facts.pipelines.value(consumer.expr)) is End.MIXED
    assert facts.pipelines.places(consumer) == []


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("ds = tf.data.Dataset.range(3).batch(2)\nfor x in ds: pass", "batch(2)"),
        ("ds = tf.data.Dataset.range(3).batch(2)\nprint(ds)\nfor x in ds: pass", "ds"),
        ("ds = tf.data.Dataset.range(3).batch(2)\nlen(ds)\nfor x in ds: pass", "batch(2)"),
        (
            "ds = tf.data.Dataset.range(3).batch(2)\nif x:\n    ds = ds.skip(1)\nfor x in ds: pass",
            "ds",
        ),
        (
            "def f():\n    return tf.data.Dataset.range(3).batch(2)\nfor x in f(): pass",
            "batch(2)",
        ),
        (
            "def f(): return tf.data.Dataset.range(3).skip(2)\nf().map(abs)\nfor x in f(): pass",
            "f()",
        ),
        (
            "def f(ds):\n    for x in ds: pass\nf(tf.data.Dataset.range(3).batch(2))",
            "batch(2)",
        ),
    ],
)
def test_where_a_prefetch_belongs(source: str, place: str) -> None:
    facts = facts_of(source)
    (consumer,) = facts.pipelines.consumers
    (found,) = facts.pipelines.places(consumer)
    assert facts.source.segment(found).endswith(place)
