"""Which maps could run for several elements at a time, and who takes from them."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = "import tensorflow as tf\nds = tf.data.Dataset.range(3)\n"


@pytest.mark.parametrize(
    ("text", "maps"),
    [
        ("ds.map(lambda x: x + 1, 2)", 0),
        ("ds.map(*given)", 0),
        ("ds.map(lambda x: (x, {'y': x}))", 0),
        ("ds.interleave(lambda i: ds.map(lambda x: x + i))", 0),
        ("def one(i):\n    return ds.map(lambda x: x + i)\nds.flat_map(map_func=one)", 0),
        ("ds.map(lambda x: x + 1).map(map_func=tf.abs)", 2),
        ("def one(i):\n    return ds.map(lambda x: x + i)\none(3)", 1),
    ],
)
def test_maps_that_pay(text: str, maps: int) -> None:
    assert len(facts(HEAD + text).parallel_maps.all) == maps


@pytest.mark.parametrize(
    ("text", "consumers"),
    [
        ("ds.map(tf.abs)\nfor x in ds:\n    pass", 0),
        ("ds = ds.map(tf.abs)\nfor x in ds.batch(3):\n    pass\nit = iter(ds)", 2),
    ],
)
def test_who_takes_from_a_map(text: str, consumers: int) -> None:
    found = facts(HEAD + text)
    (stage,) = found.parallel_maps.all
    assert len(found.parallel_maps.consumers(stage)) == consumers


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ds.map(tf.abs)", None),
        ("ds.map(lambda x: x + tf.random.uniform([]))", "random-draws"),
        ("ds.map(lambda x: x + tf.random.stateless_uniform([], seed=[1, 2]))", None),
        ("o = make()\nds.map(tf.abs).with_options(o)", "order-may-change"),
        ("o = tf.data.Options()\nds.map(tf.abs).with_options(o)", None),
        ("o = tf.data.Options()\nlib.tune(o)\nds.map(tf.abs).with_options(o)", "order-may-change"),
        ("o = tf.data.Options()\no.__setattr__(k, 0)\nds.map(tf.abs)", "order-may-change"),
        ("d = ds.map(tf.abs)\nprint(d.__class__)", "dataset-shown"),
        ("def own():\n    return tf.data.Options()\nds.map(tf.abs).with_options(own())", None),
        ("d = ds.map(tf.abs)\nprint('%s' % d)", "dataset-shown"),
        ("d = ds.map(tf.abs)\nd", "dataset-shown"),
        ("d = ds.map(tf.abs)\nprint([d, 1])", "dataset-shown"),
        ("all = {'a': ds.map(tf.abs)}\nprint(all)", "dataset-shown"),
        ("all = {'a': ds.map(tf.abs)}\nprint(len(all))", None),
        ("for d in [ds.map(tf.abs)]:\n    print(d)", "dataset-shown"),
        ("' '.join(map(repr, [ds.map(tf.abs)]))", "dataset-shown"),
        ("raise ValueError(ds.map(tf.abs))", "dataset-shown"),
        ("assert done, ds.map(tf.abs)", "dataset-shown"),
        ("other.ds = ds.map(tf.abs)", "dataset-shown"),
        ("print(d := ds.map(tf.abs))", "dataset-shown"),
        ("lib.train(ds.map(tf.abs))", None),
        ("d = ds.map(tf.abs)\nprint(d.element_spec)", None),
    ],
)
def test_what_could_be_seen(text: str, reason: str | None) -> None:
    found = facts(HEAD + text)
    (stage,) = found.parallel_maps.all
    obstacle = found.parallel_maps.obstacle(stage)
    assert (obstacle.reason if obstacle else None) == reason
