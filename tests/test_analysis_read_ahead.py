"""What the analysis says about the code that a pipeline runs."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, facts
from tfrewrite.analysis.pipelines.iterators import Iterators

HEAD = "import argparse\nimport functools\nimport numpy as np\nimport tensorflow as tf\n"


def refused(text: str) -> str | None:
    """The reason why the only consumer of a script must not be read ahead."""
    found = facts(HEAD + text)
    (consumer,) = found.pipelines.consumers
    obstacle = found.read_ahead.obstacle(consumer, consumer.expr)
    return obstacle.reason if obstacle is not None else None


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("it = iter(ds)  # here\ncheckpoint.it = it", False),
        ("it = iter(ds)  # here\nkeep(it)", False),
        ("it = iter(ds)  # here\nboth = (it, 1)", False),
        ("def make():\n    return iter(ds)  # here", False),
        ("class M(tf.Module):\n    def __init__(self):\n        self.it = iter(ds)  # here", False),
        ("it = iter(ds)  # here\nprint(next(it), it.get_next())\nfor x in it:\n    pass", True),
        ("def make():\n    return iter(ds)  # here\nprint(next(make()))", True),
        (
            (
                "class M:\n    def __init__(self):\n        self.it = iter(ds)  # here\n"
                "    def step(self):\n        return next(self.it)"
            ),
            True,
        ),
        ("def step(it):\n    return next(it)\nit = iter(ds)  # here\nstep(it)", True),
    ],
)
def test_who_gets_an_iterator(text: str, *, only: bool) -> None:
    found = facts(f"{HEAD}ds = tf.data.Dataset.range(3)\n{text}")
    iterators = Iterators(found)
    made = expression(found)
    assert isinstance(made, ast.Call)
    assert iterators.only_taken_from(made) is only


ZEROS = "data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).batch(2)\n"
MAPPED = "ds = tf.data.Dataset.range(9).map(f).batch(2)\nfor x in ds:\n    pass"
GENERATED = "ds = tf.data.Dataset.from_generator(gen, tf.int32).batch(2)\nfor x in ds:\n    pass"
SHUFFLED = "ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).batch(2)\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # settled.py
        (f"import lib\ndef f(x):\n    return x + lib.n\n{MAPPED}", "function-not-seen"),
        (f"def f(x):\n    global n\n    return x\n{MAPPED}", "function-not-seen"),
        (f"n = 3\ndef f(x, m=n):\n    return x + m\n{MAPPED}", None),
        (f"@tf.function\ndef g(x):\n    return x\ndef f(x):\n    return g(x)\n{MAPPED}", None),
        # element_code.py
        (
            f"def f(x):\n    return tf.py_function(g, [x], tf.int64)\n{MAPPED}",
            "python-in-pipeline",
        ),
        (f"def f(x):\n    tf.print(x)\n    return x\n{MAPPED}", "host-effect"),
        (f"def f(x):\n    return tf.get_collection('c')[0]\n{MAPPED}", "reads-variable"),
        (f"def f(x):\n    print('once')\n    return x\n{MAPPED}", None),
        # generators.py
        (f"def gen():\n    yield np.random.rand()\n{GENERATED}", "generator-random"),
        (f"def gen():\n    print(1)\n    yield 1\n{GENERATED}", "generator-io"),
        (
            f"def gen():\n    for i in [some]:\n        i += 1\n        yield i\n{GENERATED}",
            "generator-shares-state",
        ),
        (
            f"def gen():\n    n = 0\n    while n < 9:\n        n += 1\n    yield n\n{GENERATED}",
            None,
        ),
        # changed_sources.py
        (f"{ZEROS}for x in ds:\n    data.sort()", "source-changes"),
        (f"{ZEROS}for x in ds:\n    lib.change(data)", "source-changes"),
        (f"{ZEROS}n, m = 0, 0.\nfor x in ds:\n    n += 1\n    m += model(x)", None),
        (f"{ZEROS}for data in ds:\n    model(data)", None),
        (f"def change():\n    data[0] = 1\n{ZEROS}change()\nfor x in ds:\n    pass", None),
        # read_ahead.py
        (f"{SHUFFLED}for x in ds:\n    break\nlib.show(ds)", "left-early"),
        (f"{SHUFFLED}for x in ds:\n    print(x)\nprint(ds.element_spec)", None),
        (f"{SHUFFLED}print(vars())\nfor x in ds:\n    print(x)", "function-not-seen"),
        (f"{SHUFFLED}print(vars(lib))\nfor x in ds:\n    print(x)", None),
    ],
)
def test_what_would_be_seen(text: str, reason: str | None) -> None:
    assert refused(text) == reason


GRAPH = "ds = tf.data.TextLineDataset('f').batch(2)\nit = ds.make_one_shot_iterator()\n"
DRAW = "w = tf.random.uniform([])\n"


@pytest.mark.parametrize(
    ("text", "shifted"),
    [
        (f"tf.set_random_seed(1)\n{GRAPH}{DRAW}", True),
        (f"lib.set_global_seed(1)\n{GRAPH}{DRAW}", True),
        (f"tf.get_default_graph().seed = 1\n{GRAPH}{DRAW}", True),
        (f"tf.estimator.RunConfig(tf_random_seed=1)\n{GRAPH}{DRAW}", True),
        (f"np.random.seed(1)\n{GRAPH}{DRAW}", False),
        (f"tf.set_random_seed(1)\n{GRAPH}w = tf.random.uniform([], seed=1)\n", False),
        (
            (
                "tf.random.set_seed(1)\ndef make():\n    return tf.data.TextLineDataset('f')\n"
                f"@tf.function\ndef train():\n    for x in make():\n        {DRAW}"
            ),
            True,
        ),
        (f"tf.random.set_seed(1)\nfor x in tf.data.TextLineDataset('f'):\n    {DRAW}", False),
        (
            (
                "tf.random.set_seed(1)\ndef main():\n    for x in tf.data.TextLineDataset('f'):\n"
                f"        {DRAW}\nclass Net:\n    def call(self, x): pass\nmain()\n"
            ),
            False,
        ),
        (
            (
                "tf.random.set_seed(1)\ndef train():\n    for x in tf.data.TextLineDataset('f'):\n"
                f"        {DRAW}\ntrain_step = lambda: train()\ntf.function(train_step)\n"
            ),
            True,
        ),
    ],
)
def test_where_seeds_come_from(text: str, *, shifted: bool) -> None:
    found = facts(HEAD + text)
    (consumer,) = found.pipelines.consumers
    (place,) = found.pipelines.places(consumer)
    assert found.seeds.shifted_by_new_ops(place, consumer) is shifted
