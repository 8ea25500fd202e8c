"""TFR301: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.insert_prefetch import InsertPrefetch

TRAIN = """
        for x in ds:
            step(x)
"""


def eager(pipeline: str, *, before: str = "", train: str = TRAIN) -> str:
    """A script with a pipeline and a loop over it."""
    head = "import numpy as np\nimport random\nimport tensorflow as tf\n"
    return head + "".join(f"{_flat(part)}\n" for part in (before, pipeline, train))


def _flat(part: str) -> str:
    lines = part.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines)


test_left_alone = bench(
    InsertPrefetch,
    leaves_alone(
        "a prefetch ends it",
        eager("ds = tf.data.TFRecordDataset('f').map(tf.io.decode_png).batch(8).prefetch(1)"),
    ),
    leaves_alone(
        "only cheap stages after the prefetch",
        eager(
            "ds = tf.data.TFRecordDataset('f').batch(8).prefetch(2).cache().repeat(2).take(100)\n"
            "ds = ds.with_options(tf.data.Options())"
        ),
    ),
    leaves_alone(
        "prefetched to a device",
        eager(
            "ds = tf.data.TFRecordDataset('f').batch(8)\n"
            "ds = ds.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))"
        ),
    ),
    leaves_alone(
        "make_csv_dataset prefetches itself",
        eager("ds = tf.data.experimental.make_csv_dataset('f.csv', 32)"),
    ),
    leaves_alone(
        "a bare tfds.load prefetches itself",
        """
        import tensorflow as tf
        import tensorflow_datasets as tfds
        ds = tfds.load('mnist', split='train')
        for x in ds:
            print(x)
        """,
    ),
    leaves_alone(
        "a distributed dataset prefetches itself",
        eager(
            "strategy = tf.distribute.MirroredStrategy()\n"
            "ds = tf.data.TFRecordDataset('f').batch(8)\n"
            "ds = strategy.experimental_distribute_dataset(ds)"
        ),
    ),
    leaves_alone("a list", eager("ds = [1, 2, 3]")),
    leaves_alone("an array", eager("ds = np.zeros([3]).repeat(3)")),
    leaves_alone(
        "a Keras Sequence",
        """
        import tensorflow as tf

        class Batches(tf.keras.utils.Sequence):
            def __getitem__(self, i):
                return self.data[i]

        ds = Batches()
        model = tf.keras.Sequential()
        model.fit(ds, epochs=3)
        """,
    ),
    leaves_alone(
        "methods of the same names",
        """
        import tensorflow as tf
        from multiprocessing import Pool
        ds = Pool(4).map(str, [1, 2])
        for x in ds:
            print(x)
        """,
    ),
    leaves_alone(
        "nobody consumes it", eager("ds = tf.data.Dataset.range(8).batch(2)", train="pass")
    ),
    leaves_alone("no work to do ahead", eager("ds = tf.data.Dataset.range(8).take(3)")),
    leaves_alone(
        "a peek",
        eager(
            "ds = tf.data.Dataset.range(8).batch(2)",
            train="for x in ds.take(1):\n    print(x)\nprint(next(iter(ds)))",
        ),
    ),
    leaves_alone(
        "another module's tf",
        """
        import tflearn as tf
        ds = tf.data.Dataset.range(8).batch(2)
        for x in ds:
            print(x)
        """,
    ),
    leaves_alone(
        "fit of a class of this file",
        """
        import tensorflow as tf

        class Trainer:
            def fit(self, ds):
                return ds

        trainer = Trainer()
        trainer.fit(tf.data.Dataset.range(8).batch(2))
        """,
    ),
)

test_refused = bench(
    InsertPrefetch,
    refuses(
        "a generator reads a name that the loop rebinds",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(2)",
            before="scale = 1.0\ndef gen():\n    for i in range(9):\n        yield i * scale",
            train="for x in ds:\n    scale = step(x)",
        ),
        reason="generator-shares-state",
    ),
    *[
        refuses(
            f"a name or an attribute that is had otherwise: {name}",
            eager(
                "ds = tf.data.Dataset.from_generator(model.gen, tf.float32).batch(2)",
                before="class Model:\n    def __init__(self):\n        self.__scale = 1.0\n\n"
                "    def gen(self):\n        for i in range(9):\n"
                f"            yield i * self.__scale\nmodel = Model()\n{before}",
                train=f"for x in ds:\n    {change}",
            ),
            reason="function-not-seen",
            shapes=(),
        )
        for name, before, change in (
            ("the long spelling", "", "model._Model__scale = step(x)"),
            ("the main module", "import __main__ as script", "script.model = step(x)"),
            ("the modules", "from sys import modules", "modules[__name__].model = step(x)"),
            ("a text", "import importlib as i", "i.import_module('__main__').model = step(x)"),
            ("a frame", "import sys", "sys._getframe().f_globals['model'] = step(x)"),
        )
    ],
    refuses(
        "a generator reads a buffer that the loop fills",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.float32)",
            before="seen = []\ndef gen():\n    for i in range(9):\n        yield len(seen)",
            train="for x in ds:\n    seen.append(x)",
        ).replace("gen, tf.float32)", "gen, tf.float32).batch(1)"),
        reason="generator-shares-state",
    ),
    refuses(
        "a lambda over mutable state",
        eager(
            "ds = tf.data.Dataset.from_generator(lambda: (x + bias[0] for x in range(3)), tf.int32)"
            ".batch(2)",
            before="bias = [0]",
            train="for x in ds:\n    bias[0] += 1",
        ),
        reason="generator-shares-state",
    ),
    refuses(
        "a generator draws from numpy's stream",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(2)",
            before="def gen():\n    for i in range(9):\n        yield np.random.rand()",
        ),
        reason="generator-random",
    ),
    refuses(
        "a generator shuffles with random",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.int32).batch(2)",
            before="def gen():\n    order = list(range(9))\n    random.shuffle(order)\n"
            "    for i in order:\n        yield i",
        ),
        reason="generator-random",
    ),
    refuses(
        "a generator prints",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.int32).batch(2)",
            before="def gen():\n    for i in range(9):\n        print(i)\n        yield i",
        ),
        reason="generator-io",
    ),
    refuses(
        "a generator reads a file",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.string).batch(2)",
            before="def gen():\n    with open('f') as lines:\n        for i in lines:\n"
            "            yield i",
        ),
        reason="generator-io",
    ),
    refuses(
        "a generator of another file",
        eager(
            "ds = tf.data.Dataset.from_generator(readers.gen, tf.string).batch(2)",
            before="import readers",
        ),
        reason="generator-not-seen",
        shapes=(),
    ),
    refuses(
        "a generator takes from another one",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.int32).batch(2)",
            before="numbers = iter([1, 2, 3])\ndef gen():\n    for i in numbers:\n        yield i",
            train="for x in ds:\n    print(next(numbers))",
        ),
        reason="generator-not-seen",
    ),
    refuses(
        "a generator changes an array in place",
        eager(
            "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(2)",
            before="data = np.zeros([4])\ndef gen():\n    for i in range(4):\n"
            "        data[i] += 1\n        yield data[i]",
        ),
        reason="generator-shares-state",
    ),
    refuses(
        "a generator on attributes that training writes",
        """
        import tensorflow as tf

        class Agent:
            def __init__(self):
                self.epsilon = 1.0

            def play(self):
                for i in range(9):
                    yield self.epsilon * i

            def train(self):
                ds = tf.data.Dataset.from_generator(self.play, tf.float32).batch(2)
                for x in ds:
                    self.epsilon *= 0.9
        """,
        reason="generator-shares-state",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "py_function",
        eager(
            "ds = tf.data.Dataset.range(9)\n"
            "ds = ds.map(lambda x: tf.py_function(f, [x], tf.int64)).batch(2)",
            before="def f(x):\n    return x",
        ),
        reason="python-in-pipeline",
    ),
    refuses(
        "py_func below a function of the file",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: f(x)).batch(2)",
            before="def f(x):\n    return tf.compat.v1.py_func(abs, [x], tf.int64)",
        ),
        reason="python-in-pipeline",
    ),
    refuses(
        "tf.print in map",
        eager(
            "ds = tf.data.Dataset.range(9).map(f).batch(2)",
            before="def f(x):\n    tf.print(x)\n    return x",
        ),
        reason="host-effect",
    ),
    refuses(
        "map reads a variable that the loop writes",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: x * scale).batch(2)",
            before="scale = tf.Variable(1, dtype=tf.int64)",
            train="for x in ds:\n    scale.assign_add(1)",
        ),
        reason="reads-variable",
    ),
    refuses(
        "map applies the model",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: model(x)).batch(2)",
            before="model = tf.keras.Sequential()",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "map counts in a variable",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: counter.assign_add(x)).batch(2)",
            before="counter = tf.Variable(0, dtype=tf.int64)",
        ),
        reason=("reads-variable",),
        shapes=(),
    ),
    refuses(
        "a map function of another file",
        eager(
            "ds = tf.data.TFRecordDataset('f').map(parse).batch(2)", before="from lib import parse"
        ),
        reason="function-not-seen",
        shapes=(),
    ),
    refuses(
        "a table that may change",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: table.lookup(x)).batch(2)",
            before="table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "apply with a function of another file",
        eager("ds = tf.data.Dataset.range(9).batch(2).apply(lib.f)", before="import lib"),
        reason="function-not-seen",
        shapes=(),
    ),
    refuses(
        "a source of another file",
        eager(
            "ds = lib.dataset().map(tf.io.decode_png, num_parallel_calls=2).batch(2)",
            before="import lib",
        ),
        reason="source-not-seen",
        shapes=(),
    ),
    refuses(
        "an order that the next epoch goes on from",
        eager(
            "ds = tf.data.Dataset.range(9).shuffle(9).repeat().batch(2)",
            train="for epoch in range(3):\n    for i, x in enumerate(ds):\n        if i == 2:\n"
            "            break",
        ),
        reason="left-early",
    ),
    refuses(
        "an exception that ends one epoch and not the next",
        eager(
            "ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).batch(2)",
            train="for epoch in range(3):\n    try:\n        for x in ds:\n            step(x)\n"
            "    except ValueError:\n        pass",
        ),
        reason="left-early",
    ),
    refuses(
        "shuffled files, left early",
        eager(
            "ds = tf.data.Dataset.list_files('f*')\n"
            "ds = ds.interleave(lambda f: tf.data.TextLineDataset(f).shuffle(9)).batch(2)",
            train="for epoch in range(3):\n    for x in ds:\n        if x:\n            break",
        ),
        reason="left-early",
    ),
    refuses(
        "two iterators over a repeated shuffle",
        eager(
            "ds = tf.data.Dataset.range(9).shuffle(9).repeat().batch(2)",
            train="first = iter(ds)\nsecond = iter(ds)\nprint(next(first), next(second))",
        ),
        reason="left-early",
    ),
    refuses(
        "random elements that are cached at the end",
        eager(
            "ds = tf.data.Dataset.range(9).map(lambda x: tf.random.uniform([])).cache().batch(2)",
            train="for epoch in range(3):\n    for x, y in zip(ds, range(4)):\n        step(x)",
        ),
        reason="left-early",
    ),
    refuses(
        "the loop writes the file that it reads",
        eager(
            "ds = tf.data.TextLineDataset(path).batch(2)",
            before="path = 'log.txt'",
            train="for x in ds:\n    with open(path, 'a') as log:\n        log.write('more')",
        ),
        reason="source-changes",
    ),
    refuses(
        "the loop writes files that a map reads",
        eager(
            "ds = tf.data.Dataset.from_tensor_slices(files).map(tf.io.read_file).batch(1)",
            before="files = ['a', 'b']",
            train="for x in ds:\n    tf.io.write_file(files[1], 'new')",
        ),
        reason="source-changes",
    ),
    refuses(
        "the loop changes the array",
        eager(
            "ds = tf.data.Dataset.from_tensor_slices(data).batch(2)",
            before="data = np.zeros([9])",
            train="for x in ds:\n    data[3] = 5",
        ),
        reason="source-changes",
    ),
    *[
        refuses(
            f"the loop changes the array {name}",
            eager(
                "ds = tf.data.Dataset.from_tensor_slices(data).batch(2)",
                before=f"data = np.zeros([9])\n{before}",
                train=f"for x in ds:\n    {change}",
            ),
            reason="source-changes",
            shapes=(),
        )
        for name, before, change in (
            ("by all its elements", "", "data.flat = 5"),
            ("by an attribute of another name", "other = data", "other.real = 5"),
            ("by the method of the brackets", "", "data.__setitem__(3, 5)"),
            ("by a method that is had by its name", "", "getattr(data, 'fill')(5)"),
            (
                "by a generator",
                "def g(a):\n    while True:\n        a[3] = 5\n        yield\nsteps = g(data)",
                "next(steps)",
            ),
        )
    ],
    refuses(
        "a decorator that may do anything",
        eager(
            "ds = tf.data.Dataset.range(3).map(f).batch(2)",
            before="@np.vectorize\ndef f(x):\n    return x",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "a variable in a dict",
        eager(
            "ds = tf.data.Dataset.range(3).map(lambda x: x * v['s']).batch(2)",
            before="v = {'s': tf.Variable(1.0)}",
        ),
        reason="reads-variable",
    ),
    refuses(
        "a variable that a caller gives",
        eager(
            "def make(scale):\n"
            "    return tf.data.Dataset.range(3).map(lambda x: x * scale).batch(2)",
            before="v = tf.Variable(1.0)",
            train="for x in make(v):\n    v.assign(3.0)",
        ),
        reason="reads-variable",
    ),
    refuses(
        "an optimizer's counter",
        eager(
            "ds = tf.data.Dataset.range(3).map(lambda x: x * adam.iterations).batch(2)",
            before="adam = tf.keras.optimizers.Adam()",
        ),
        reason="reads-variable",
    ),
    refuses(
        "the next element of another iterator",
        eager(
            "ds = tf.data.Dataset.range(3).map(lambda x: next(it)).batch(2)",
            before="it = iter(tf.data.Dataset.range(9))",
        ),
        reason="writes-state",
    ),
    refuses(
        "a summary for each element",
        eager(
            "ds = tf.data.Dataset.range(3).map(f).batch(2)",
            before="def f(x):\n    tf.summary.scalar('x', x, step=0)\n    return x",
        ),
        reason="host-effect",
    ),
    refuses(
        "the iterator is saved",
        eager(
            "ds = tf.data.Dataset.range(9).batch(2)",
            train="it = iter(ds)\nckpt = tf.train.Checkpoint(it=it)\nprint(next(it))",
        ),
        reason="iterator-in-checkpoint",
    ),
    refuses(
        "made on a GPU",
        eager("with tf.device('/gpu:0'):\n    ds = tf.data.Dataset.range(9).batch(2)"),
        reason="device-placement",
    ),
    refuses(
        "copied to a device",
        eager(
            "ds = tf.data.Dataset.range(9).batch(2)"
            ".apply(tf.data.experimental.copy_to_device('/gpu:0'))"
        ),
        reason="device-placement",
    ),
    refuses(
        "debug mode",
        eager(
            "ds = tf.data.Dataset.range(9).batch(2)",
            before="tf.data.experimental.enable_debug_mode()",
        ),
        reason="debug-mode",
    ),
    refuses(
        "a prefetch on some ways",
        eager(
            "ds = tf.data.Dataset.range(9).batch(2)\nif fast:\n    ds = ds.prefetch(1)",
            before="fast = True",
        ),
        reason="prefetch-on-some-ways",
    ),
)

FROM_GEN = "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(2)"
ONES = "tf.data.Dataset.from_tensor_slices(np.ones(9))"


def hides(name: str, before: str, *, train: str = TRAIN, reason: str) -> Case:
    """A generator `gen` that must not run ahead."""
    return refuses(name, eager(FROM_GEN, before=before, train=train), reason=reason, shapes=())


def maps(name: str, func: str, *, before: str, reason: str, train: str = TRAIN) -> Case:
    """A function that must not be mapped ahead."""
    source = eager(f"ds = {ONES}.map({func}).batch(2)", before=before, train=train)
    return refuses(name, source, reason=reason, shapes=())


# What hostile reviews got past the rule, one case for each class.
test_functions_that_reach_out = bench(
    InsertPrefetch,
    maps(
        "a variable in a partial",
        "functools.partial(f, v)",
        before="import functools\nv = tf.Variable(1.)\ndef f(w, x):\n    return x * w",
        reason="function-not-seen",
    ),
    maps(
        "a function in a dict of arguments",
        "**{'map_func': f}",
        before="v = tf.Variable(1.)\ndef f(x):\n    return x * v",
        reason="function-not-seen",
    ),
    maps(
        "a variable made by keras' backend",
        "lambda x: x * v",
        before="v = tf.keras.backend.variable(1.)",
        reason="function-not-seen",
    ),
    maps(
        "a layer whose weights are set",
        "lambda x: layer(x)",
        before="layer = tf.keras.layers.Dense(1)",
        train="for x in ds:\n    layer.set_weights([x])",
        reason="function-not-seen",
    ),
    maps(
        "a list that gets a variable later",
        "lambda x: x * some[0]",
        before="some = []\nsome.append(tf.Variable(1.))",
        reason="reads-variable",
    ),
    maps(
        "a local name of a random generator",
        "f",
        before="g = tf.random.Generator.from_seed(1)\ndef f(x):\n    r = g\n"
        "    return x + r.normal([])",
        reason="function-not-seen",
    ),
    maps(
        "the global random generator",
        "f",
        before="def f(x):\n    g = tf.random.get_global_generator()\n    return x + g.normal([])",
        reason="function-not-seen",
    ),
    maps(
        "a variable that is imported inside",
        "f",
        before="def f(x):\n    from state import scale\n    return x * scale",
        reason="function-not-seen",
    ),
    maps(
        "a variable from a collection",
        "lambda x: x * tf.get_collection('c')[0]",
        before="tf.add_to_collection('c', tf.Variable(1.))",
        reason="reads-variable",
    ),
    refuses(
        "a captured dataset",
        eager(
            f"ds = {ONES}.flat_map(lambda x: inner).batch(2)",
            before="inner = tf.data.Dataset.range(3).shuffle(3)",
        ),
        reason="function-not-seen",
        shapes=(),
    ),
    maps(
        "a name from a star import",
        "lambda x: x * scale",
        before="from state import *",
        reason="function-not-seen",
    ),
    refuses(
        "a method that a subclass replaces",
        """
        import tensorflow as tf

        class Reader:
            def parse(self, x):
                return x

            def train(self):
                for x in tf.data.TextLineDataset('f').map(self.parse).batch(2):
                    print(x)

        class Counting(Reader):
            def parse(self, x):
                return self.count.assign_add(1)
        """,
        reason="function-not-seen",
        shapes=(),
    ),
    refuses(
        "a method that reads a variable of its object",
        """
        import tensorflow as tf

        class Reader:
            def __init__(self):
                self.scale = tf.Variable(1.)

            def parse(self, x):
                return x * self.scale

            def train(self):
                for x in tf.data.TextLineDataset('f').map(self.parse).batch(2):
                    print(x)
        """,
        reason="reads-variable",
        shapes=(),
    ),
)

test_generators_that_reach_out = bench(
    InsertPrefetch,
    refuses(
        "a partial of an array that changes",
        eager(
            "ds = tf.data.Dataset.from_generator(functools.partial(gen, data), tf.float32)"
            ".batch(2)",
            before="import functools\ndata = np.zeros(9)\ndef gen(rows):\n    yield from rows",
            train="for x in ds:\n    data[:] += 1",
        ),
        reason="generator-shares-state",
        shapes=(),
    ),
    hides(
        "a default that is one list for all calls",
        "def gen(seen=[0]):\n    for i in range(9):\n        seen[0] += 1\n        yield seen[0]",
        reason="generator-shares-state",
    ),
    hides(
        "an attribute of a module",
        "import config\ndef gen():\n    for i in range(9):\n        yield config.step",
        train="for x in ds:\n    config.step = 1",
        reason="generator-shares-state",
    ),
    hides(
        "an attribute that is imported inside",
        "def gen():\n    from config import step\n    for i in range(9):\n        yield step",
        reason="generator-shares-state",
    ),
    hides(
        "an attribute of a function",
        "def gen():\n    for i in range(9):\n        yield gen.step",
        train="for x in ds:\n    gen.step = 1",
        reason="generator-shares-state",
    ),
    hides(
        "a view of an array",
        "data = np.zeros(9)\nview = data[:]\n"
        "def gen():\n    for i in range(9):\n        yield data[i]",
        train="for x in ds:\n    view[:] = 1",
        reason="generator-shares-state",
    ),
    hides(
        "rows that a loop changes in place",
        "data = np.zeros([9, 2])\ndef gen():\n    for i in range(9):\n        yield data[i]",
        train="for x in ds:\n    for row in data:\n        row += 1",
        reason="generator-shares-state",
    ),
    hides(
        "a row that the generator changes by another name",
        "data = np.zeros([9, 2])\ndef gen():\n    for i in range(9):\n"
        "        row = np.asarray(data[i])\n        row += 1\n        yield row",
        reason="generator-shares-state",
    ),
    hides(
        "a row that the generator changes through a list",
        "data = np.zeros([9, 2])\ndef gen():\n    for row in data:\n"
        "        mine = [row]\n        mine[0] += 1\n        yield row",
        reason="generator-shares-state",
    ),
    hides(
        "an array that is given as output",
        "data = np.zeros(9)\ndef gen():\n    for i in range(9):\n"
        "        yield np.add(data, 1, data)[0]",
        reason="generator-shares-state",
    ),
    hides(
        "an array of another name",
        "data = np.zeros(9)\nother = data\n"
        "def gen():\n    for i in range(9):\n        yield data[i]",
        train="for x in ds:\n    other[0] = 1",
        reason="generator-shares-state",
    ),
    hides(
        "a name that is bound again",
        "data = np.zeros(9)\ndef gen():\n    for i in range(9):\n        yield data[i]",
        train="for x in ds:\n    pass\ndata = np.ones(9)",
        reason="generator-shares-state",
    ),
    hides(
        "builtins of a star import",
        "from state import *\ndef gen():\n    for i in range(9):\n        yield i",
        reason="generator-shares-state",
    ),
    hides(
        "the module's own namespace",
        "SIZE = 1\ndef gen():\n    for i in range(9):\n        yield SIZE",
        train="for x in ds:\n    locals()['SIZE'] = 2",
        reason="function-not-seen",
    ),
    hides(
        "the namespace of a function",
        "SIZE = 1\ndef gen():\n    for i in range(9):\n        yield SIZE",
        train="for x in ds:\n    gen.__globals__['SIZE'] = 2",
        reason="function-not-seen",
    ),
    refuses(
        "weights that are a dataset",
        eager(
            "a = tf.data.Dataset.range(9)\n"
            "w = tf.data.Dataset.from_generator(gen, tf.float32)\n"
            "ds = tf.data.experimental.sample_from_datasets([a, a], weights=w).batch(2)",
            before="some = [1.]\ndef gen():\n    while True:\n        yield [some[0], 1.]",
            train="for x in ds:\n    some[0] += 1",
        ),
        reason="generator-shares-state",
        shapes=(),
    ),
)


def leaves(name: str, train: str, *, ds: str = "", before: str = "") -> Case:
    """A shuffled dataset whose next order depends on how far was read."""
    ds = ds or "ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).batch(2)"
    source = eager(ds, before=before, train=train)
    return refuses(name, source, reason="left-early", shapes=())


LEFT = "for i, x in enumerate(ds):\n    if i == 3:\n        break\n"

test_left_early = bench(
    InsertPrefetch,
    leaves("then looked into", f"{LEFT}for x in ds.take(3):\n    print(x)"),
    leaves("then asked for the first", f"{LEFT}print(next(iter(ds)))"),
    leaves("then made a list", f"{LEFT}print(list(ds))"),
    leaves("then reduced", f"{LEFT}print(ds.reduce(0, max))"),
    leaves("then given to another file", f"{LEFT}lib.show(ds)", before="import lib"),
    leaves("two loops, one in the other", "for x in ds:\n    for y in ds:\n        print(x, y)"),
    leaves(
        "a caller catches what ends it",
        "def epoch():\n    for x in ds:\n        step(x)\nfor e in range(3):\n    try:\n"
        "        epoch()\n    except ValueError:\n        pass",
    ),
    leaves(
        "through a generator",
        "def batches():\n    for x in ds:\n        yield x\nfor e in range(3):\n"
        "    for x in batches():\n        break",
    ),
    leaves(
        "by a callback",
        "for e in range(3):\n    model.fit(ds, callbacks=[Stop()])",
        before="from lib import Stop\nmodel = tf.keras.Sequential()",
    ),
    leaves(
        "steps by position",
        "for e in range(3):\n    model.fit_generator(ds, 4)",
        before="model = tf.keras.Sequential()",
    ),
    leaves(
        "before the second of two",
        f"for e in range(3):\n    {LEFT.replace(chr(10), chr(10) + '    ')}",
        ds="a = tf.data.Dataset.range(9)\n"
        "ds = a.concatenate(tf.data.Dataset.range(9).shuffle(9)).batch(2)",
    ),
    leaves(
        "numbers that are drawn anew",
        f"for e in range(3):\n    {LEFT.replace(chr(10), chr(10) + '    ')}",
        ds="ds = tf.data.Dataset.random(1, rerandomize_each_iteration=True).take(5).repeat()"
        ".batch(2)",
    ),
)


def changes(name: str, train: str, *, before: str = "", ds: str = "") -> Case:
    """A loop in which an array or a file that is read may be changed."""
    pipeline = ds or "data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).batch(2)"
    source = eager(f"{pipeline}\n{before}", train=train)
    return refuses(name, source, reason="source-changes", shapes=())


FILES = "ds = tf.data.Dataset.list_files('f*', shuffle=False).map(tf.io.read_file).batch(1)"
CHANGE = "def change(*args):\n    data[:] = 1"

test_changed_sources = bench(
    InsertPrefetch,
    changes("by a lambda", "for x in ds:\n    go()", before="go = lambda: data.fill(1)"),
    changes(
        "by a sum that may have become the array",
        "for x in ds:\n    total += 1\n    total = data",
        before="total = 0",
    ),
    changes(
        "by a sum that begins with the array",
        "total = data\nfor x in ds:\n    total += 1",
        before="total = 0",
    ),
    changes(
        "by an attribute that may be the array",
        "for x in ds:\n    go.count()",
        before="class Go:\n    def __init__(self):\n        self.step = 0\n"
        "    def other(self):\n        self.step = data\n"
        "    def count(self):\n        self.step += 1\ngo = Go()",
    ),
    changes(
        "by an attribute of somebody else's",
        "for x in ds:\n    go.step += 1",
        before="class Go:\n    def __init__(self):\n        self.step = 0\ngo = Go()",
    ),
    changes(
        "by a product that begins with what a layer of own code gives",
        "for x in ds:\n    y = same(x)\n    y *= 2",
        before="same = tf.keras.layers.Lambda(lambda v: data)",
    ),
    changes(
        "by a sum after a sum that may be the array",
        "for x in ds:\n    y = data\n    y += 1\n    y *= 2",
    ),
    changes(
        "by a sum that begins with what somebody gives",
        "for x in ds:\n    total = give(x)\n    total += 1",
    ),
    changes(
        "by a sum that begins with what a backend gives",
        "for x in ds:\n    total = tf.keras.backend.get_value(data)\n    total += 1",
    ),
    changes(
        "by a sum that begins with what a function of the file returns to TensorFlow",
        "for x in ds:\n    total = tf.nest.map_structure(lambda v: data, x)\n    total += 1",
    ),
    changes(
        "by a sum that begins with what is no loss any more",
        "for x in ds:\n    total = mse(x, x)\n    total += 1",
        before="mse = tf.keras.losses.MeanSquaredError()\nmse = lambda a, b: data",
    ),
    changes(
        "by a sum that begins with a row of a loss of arrays",
        "for x in ds:\n    total = rows % 3\n    total += 1",
        before="rows = data",
    ),
    changes("by another name", "for x in ds:\n    go()", before=f"{CHANGE}\ngo = change"),
    changes(
        "by a partial",
        "for x in ds:\n    go()",
        before=f"import functools\n{CHANGE}\ngo = functools.partial(change, 1)",
    ),
    changes(
        "by an object that is called",
        "for x in ds:\n    go()",
        before="class Go:\n    def __call__(self):\n        data[:] = 1\ngo = Go()",
    ),
    changes(
        "by a manager",
        "for x in ds:\n    with Go():\n        pass",
        before="class Go:\n    def __enter__(self):\n        data[:] = 1\n"
        "    def __exit__(self, *args):\n        pass",
    ),
    changes("by who is given it", "for x in ds:\n    lib.bump(data)", before="import lib"),
    changes(
        "by who is given a function",
        "for x in ds:\n    lib.run(change)",
        before=f"import lib\n{CHANGE}",
    ),
    changes("by an operator's method", "for x in ds:\n    data.__iadd__(1)"),
    changes("by numpy", "for x in ds:\n    np.add.at(data, [0], 1)"),
    changes("as output", "for x in ds:\n    np.add(data, 1, data)"),
    changes(
        "by a callback",
        "model.fit(ds, callbacks=[Change()])",
        before="model = tf.keras.Sequential()\nclass Change(tf.keras.callbacks.Callback):\n"
        "    def on_train_batch_end(self, batch, logs=None):\n        data[:] = 1",
    ),
    changes("an iterator taken from later", "it = iter(ds)\nnext(it)\ndata[:] = 1\nnext(it)"),
    changes("a file of a pattern", "for x in ds:\n    open('f1', 'w').write('new')", ds=FILES),
    changes(
        "a file, by a function",
        "for x in ds:\n    log(1)",
        ds=FILES,
        before="def log(i):\n    open('f%d' % i, 'w').write('new')",
    ),
    changes("a file, elsewhere", "for x in ds:\n    lib.dump('f1')", ds=f"import lib\n{FILES}"),
    changes(
        "a file, by its path",
        "for x in ds:\n    paths[1].write_text('new')",
        ds="import pathlib\npaths = [pathlib.Path(n) for n in ('a', 'b')]\n"
        "ds = tf.data.Dataset.from_tensor_slices([str(p) for p in paths]).map(tf.io.read_file)"
        ".batch(1)",
    ),
    changes(
        "a file whose name a map makes",
        "for x in ds:\n    open('f1', 'w').write('new')",
        ds="ds = tf.data.Dataset.range(9)\n"
        "ds = ds.map(lambda i: tf.io.read_file('f' + tf.strings.as_string(i))).batch(1)",
    ),
    refuses(
        "a cache in a file",
        eager("ds = tf.data.TextLineDataset('f').cache('cache').batch(2)"),
        reason="writes-state",
        shapes=(),
    ),
    refuses(
        "a dataset that is no one's",
        eager(
            "ds = tf.data.Dataset.range(9).concatenate(lib.more()).batch(2)", before="import lib"
        ),
        reason="source-not-seen",
        shapes=(),
    ),
)


def saves(name: str, train: str, *, before: str = "pass") -> Case:
    source = eager("ds = tf.data.Dataset.range(9).batch(2)", before=before, train=train)
    return refuses(name, source, reason="iterator-in-checkpoint", shapes=())


test_saved_iterators = bench(
    InsertPrefetch,
    saves("set later", "it = iter(ds)\nckpt = tf.train.Checkpoint()\nckpt.it = it"),
    saves("another name", "it = iter(ds)\nother = it\ntf.train.Checkpoint(x=other).save('c')"),
    saves("in a dict", "kept = {'it': iter(ds)}\ntf.train.Checkpoint(**kept).save('c')"),
    saves(
        "by a function",
        "it = iter(ds)\nkeep(it)",
        before="def keep(what):\n    tf.train.Checkpoint(what=what).save('c')",
    ),
    refuses(
        "with the module that has it",
        """
        import tensorflow as tf

        class Data(tf.Module):
            def __init__(self):
                self.it = iter(tf.data.Dataset.range(9).batch(2))

        tf.train.Checkpoint(data=Data()).save('c')
        """,
        reason="iterator-in-checkpoint",
        shapes=(),
    ),
)

A = "tf.data.experimental.AUTOTUNE"


def puts(name: str, pipeline: str, *, at: str, before: str = "", train: str = TRAIN) -> Case:
    """A rewrite that puts a prefetch at the one place that says `at`."""
    source = eager(pipeline, before=before, train=train)
    assert source.count(at) == 1
    return rewrites(name, source, source.replace(at, f"{at}.prefetch({A})"), contract="exact")


test_rewritten = bench(
    InsertPrefetch,
    puts(
        "of which class it is, is asked",
        "ds = tf.data.TextLineDataset('f')\nif isinstance(ds, tf.data.TextLineDataset):\n"
        "    print('text')",
        at="in ds",
        train="for x in ds:\n    print(x)",
    ),
    puts(
        "an iterator that is only taken from, beside a checkpoint",
        "ds = tf.data.TextLineDataset('f').batch(2)",
        train="it = iter(ds)\ntf.train.Checkpoint().save('c')\nprint(next(it))",
        at=".batch(2)",
    ),
    puts(
        "a map over options, constants and features",
        "ds = tf.data.TFRecordDataset('f').map(parse).batch(8)",
        before="import argparse\nparser = argparse.ArgumentParser()\n"
        "options = parser.parse_args()\nSIZE = [28, 28]\nFEATURES = {\n"
        "    'image': tf.io.FixedLenFeature([], tf.string)}\n"
        "def parse(x):\n    x = tf.io.parse_single_example(x, FEATURES)['image']\n"
        "    return tf.reshape(tf.io.decode_raw(x, tf.uint8), SIZE) * options.scale",
        at=".batch(8)",
    ),
    puts(
        "a map over what the callers give",
        "def make(size):\n"
        "    return tf.data.TextLineDataset('f').map(lambda x: tf.reshape(x, [size])).batch(8)",
        train="for x in make(3):\n    print(x)",
        at=".batch(8)",
    ),
    puts(
        "a sum that begins with a number, in a name that had something else",
        "data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).batch(2)",
        train="total = data\nprint(total)\ntotal = 0\nfor x in ds:\n    total += x",
        at=".batch(2)",
    ),
    puts(
        "sums that begin with a tensor, a loss and a text",
        "data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).batch(2)",
        before="mse = tf.keras.losses.MeanSquaredError()",
        train="for x in ds:\n    noise = tf.random.uniform([2])\n    noise += 1.\n"
        "    loss = mse(x, noise)\n    loss += sum(more)\n    said = 'loss %s' % loss\n"
        "    said += f'{noise}'",
        at=".batch(2)",
    ),
    puts(
        "a generator over arrays that nothing changes",
        "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(8)",
        before="(x, y), _ = tf.keras.datasets.mnist.load_data()\nx = x / 255.\n"
        "def gen():\n    for i in range(len(x)):\n        yield x[i], y[i]",
        train="for a, b in ds:\n    print(a, b, x.shape, x.mean())",
        at=".batch(8)",
    ),
    puts(
        "a generator over a list of constants",
        "ds = tf.data.Dataset.from_generator(gen, tf.string).batch(8)",
        before="WORDS = ['a', 'b']\ndef gen():\n    for word in WORDS:\n        yield word",
        train="for x in ds:\n    print(x, WORDS[0], WORDS.index('b'))",
        at=".batch(8)",
    ),
    rewrites(
        "a method over constants of its object",
        """
        import tensorflow as tf

        class Reader:
            def __init__(self):
                self.size = [28, 28]
                self.scale = 0.5

            def parse(self, x):
                return self.scaled(tf.reshape(tf.io.decode_raw(x, tf.uint8), self.size))

            def scaled(self, x):
                return x * self.scale

            def train(self):
                d = tf.data.TextLineDataset('f').map(self.parse).batch(2)
                for x in d:
                    print(x)
        """,
        """
        import tensorflow as tf

        class Reader:
            def __init__(self):
                self.size = [28, 28]
                self.scale = 0.5

            def parse(self, x):
                return self.scaled(tf.reshape(tf.io.decode_raw(x, tf.uint8), self.size))

            def scaled(self, x):
                return x * self.scale

            def train(self):
                d = tf.data.TextLineDataset('f').map(self.parse).batch(2).prefetch(tf.data.AUTOTUNE)
                for x in d:
                    print(x)
        """,
        target_tf=(2, 4),
        contract="exact",
        shapes=(),
    ),
    puts(
        "a counter of an object",
        "ds = tf.data.Dataset.from_tensor_slices(data).batch(8)",
        before="data = np.zeros(9)\nclass Go:\n    def __init__(self):\n        self.step = 0\n"
        "    def count(self):\n        self.step += 1\ngo = Go()",
        train="for x in ds:\n    go.count()",
        at=".batch(8)",
    ),
    puts(
        "sums and products that begin with tensors",
        "ds = tf.data.Dataset.from_tensor_slices(data).batch(8)",
        before="data = np.zeros(9)\nlayer = tf.keras.layers.Dense(3)",
        train="for x in ds:\n    y = layer(x)\n    y *= 2\n    y += 1\n"
        "    z = y / tf.sqrt(y)\n    z += 1",
        at=".batch(8)",
    ),
    puts("one line", "ds = tf.data.TFRecordDataset('f').batch(8)", at=".batch(8)"),
    puts(
        "several statements",
        "ds = tf.data.TFRecordDataset('f')\nds = ds.map(tf.io.decode_png)\nds = ds.batch(8)",
        at=".batch(8)",
    ),
    puts(
        "ways that join",
        "ds = tf.data.TFRecordDataset('f').batch(8)\nif training:\n    ds = ds.shuffle(10)",
        before="training = True",
        at="in ds",
    ),
    puts(
        "several epochs over the whole dataset",
        "ds = tf.data.TFRecordDataset('f').shuffle(9).batch(8)",
        train="for epoch in range(3):\n    for i, (x, y) in enumerate(ds):\n        step(x, y)",
        at=".batch(8)",
    ),
    puts(
        "left early, but nothing shared below",
        "ds = tf.data.TFRecordDataset('f').shuffle(9).batch(8)",
        train="for epoch in range(3):\n    for x in ds:\n        if x > 0:\n            break",
        at=".batch(8)",
    ),
    puts(
        "fit, with other uses of the dataset",
        "ds = tf.data.TFRecordDataset('f').batch(8)\nvalid = ds.take(100)",
        before="model = tf.keras.Sequential()",
        train="model.fit(ds, epochs=2)",
        at="fit(ds",
    ),
    puts(
        "validation data",
        "ds = tf.data.TFRecordDataset('f').batch(8)",
        before="model = tf.keras.Sequential()",
        train="model.fit([1], [2], validation_data=ds)",
        at=".batch(8)",
    ),
    puts(
        "fit and evaluate share one",
        "ds = tf.data.TFRecordDataset('f').batch(8)",
        before="model = tf.keras.Sequential()",
        train="model.fit(x=ds, epochs=2)\nmodel.evaluate(ds)\nprint(ds.element_spec)",
        at=".batch(8)",
    ),
    puts(
        "zip, and as_numpy_iterator",
        "a = tf.data.TextLineDataset('f')\nds = tf.data.Dataset.zip((a, a)).batch(8)",
        train="for i, x in zip(range(3), ds.as_numpy_iterator()):\n    print(i, x)",
        at=".batch(8)",
    ),
    puts(
        "map_and_batch, cache and repeat",
        "ds = tf.data.TFRecordDataset('f').cache()\n"
        "ds = ds.apply(tf.data.experimental.map_and_batch(tf.io.decode_png, 8)).repeat(2)",
        at=".repeat(2)",
    ),
    puts(
        "a prefetch in the middle",
        "ds = tf.data.TFRecordDataset('f').prefetch(1).map(tf.io.decode_png)",
        at="decode_png)",
    ),
    puts(
        "a comprehension",
        "ds = tf.data.TFRecordDataset('f').batch(8)",
        train="print([float(x) for x in ds])",
        at=".batch(8)",
    ),
    puts(
        "random draws without a seed",
        "ds = tf.data.Dataset.range(9).map(lambda x: tf.random.uniform([])).batch(8)",
        before="tf.random.set_seed(1)",
        at=".batch(8)",
    ),
    puts(
        "files interleaved by a function that makes datasets",
        "ds = tf.data.Dataset.list_files('f*')\n"
        "ds = ds.interleave(lambda f: tf.data.TextLineDataset(f).skip(1).map(g)).batch(8)",
        before="def g(line):\n    print('traced')\n    return tf.strings.length(line)",
        at=".batch(8)",
    ),
    puts(
        "a static table",
        "ds = tf.data.Dataset.range(9).map(lambda x: table.lookup(x)).batch(8)",
        before="values = tf.lookup.KeyValueTensorInitializer([1], [2])\n"
        "table = tf.lookup.StaticHashTable(values, 0)",
        at=".batch(8)",
    ),
    puts(
        "a generator of its own numbers",
        "ds = tf.data.Dataset.from_generator(gen, tf.float32).batch(8)",
        before="SIZE = 9\ndef gen():\n    row = [0]\n    for i in range(SIZE):\n"
        "        row.append(i)\n        yield row[-1] * 0.5",
        at=".batch(8)",
    ),
    puts(
        "a file written before it is read",
        "with tf.io.TFRecordWriter(path) as out:\n    out.write(b'x')\n"
        "ds = tf.data.TFRecordDataset(path).batch(8)",
        before="path = 'f'",
        at=".batch(8)",
    ),
    puts(
        "a builder's return",
        "def make(training):\n    ds = tf.data.TFRecordDataset('f')\n    if training:\n"
        "        ds = ds.shuffle(9)\n    return ds",
        train="for x in make(True):\n    print(x)",
        at="return ds",
    ),
    puts(
        "a builder of several",
        "def make():\n    train = tf.data.TFRecordDataset('f').batch(8)\n"
        "    test = tf.data.Dataset.range(3)\n    return train, test",
        train="train, test = make()\nfor x in train:\n    print(x)",
        at=".batch(8)",
    ),
    puts(
        "through a parameter",
        "def train(data):\n    for x in data:\n        print(x)",
        train="train(tf.data.TFRecordDataset('f').batch(8))",
        at=".batch(8)",
    ),
    rewrites(
        "a conditional expression",
        eager(
            "ds = tf.data.TFRecordDataset('f').batch(8)\nvalid = ds.take(9)",
            train="for x in valid if valid else ds:\n    print(x)",
        ),
        eager(
            "ds = tf.data.TFRecordDataset('f').batch(8)\nvalid = ds.take(9)",
            train=f"for x in (valid if valid else ds).prefetch({A}):\n    print(x)",
        ),
        contract="exact",
    ),
    rewrites(
        "a chain in parentheses, with comments",
        """
        import tensorflow as tf
        ds = (
            tf.data.TFRecordDataset('f')  # records
            .map(lambda x: tf.io.decode_raw(x, tf.float32),
                 num_parallel_calls=2)
            # in batches
            .batch(8)
        )
        for x in ds:
            print(x)
        """,
        """
        import tensorflow as tf
        ds = (
            tf.data.TFRecordDataset('f')  # records
            .map(lambda x: tf.io.decode_raw(x, tf.float32),
                 num_parallel_calls=2)
            # in batches
            .batch(8)
            .prefetch(tf.data.experimental.AUTOTUNE)
        )
        for x in ds:
            print(x)
        """,
        contract="exact",
    ),
    rewrites(
        "one prefetch for loops in functions, where the pipeline ends",
        """
        import tensorflow as tf
        db = tf.data.TFRecordDataset('f')
        db = db.batch(8)
        it = iter(db)
        print(next(it))

        def main():
            for x in db:
                print(x)
            for x in db:
                print(x)

        if __name__ == '__main__':
            main()
        """,
        """
        import tensorflow as tf
        db = tf.data.TFRecordDataset('f')
        db = db.batch(8).prefetch(tf.data.experimental.AUTOTUNE)
        it = iter(db)
        print(next(it))

        def main():
            for x in db:
                print(x)
            for x in db:
                print(x)

        if __name__ == '__main__':
            main()
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a chain with a comment at its end",
        """
        import tensorflow as tf
        ds = (  # ours
            tf.data.TFRecordDataset('f')
            .batch(8)  # eight
        )
        for x in ds:
            print(x)
        """,
        """
        import tensorflow as tf
        ds = (  # ours
            tf.data.TFRecordDataset('f')
            .batch(8).prefetch(tf.data.experimental.AUTOTUNE)  # eight
        )
        for x in ds:
            print(x)
        """,
        contract="exact",
    ),
    rewrites(
        "a chain with backslashes",
        """
        import tensorflow as tf
        ds = tf.data.TFRecordDataset('f') \\
            .map(lambda x: x) \\
            .batch(8)
        for x in ds:
            print(x)
        """,
        """
        import tensorflow as tf
        ds = tf.data.TFRecordDataset('f') \\
            .map(lambda x: x) \\
            .batch(8) \\
            .prefetch(tf.data.experimental.AUTOTUNE)
        for x in ds:
            print(x)
        """,
        contract="exact",
    ),
    rewrites(
        "a dataset on self",
        """
        import tensorflow as tf

        class Trainer:
            def __init__(self, files):
                self.ds = tf.data.TFRecordDataset(files)
                self.ds = self.ds.batch(8)

            def train(self):
                for x in self.ds:
                    print(x)
        """,
        """
        import tensorflow as tf

        class Trainer:
            def __init__(self, files):
                self.ds = tf.data.TFRecordDataset(files)
                self.ds = self.ds.batch(8).prefetch(tf.data.experimental.AUTOTUNE)

            def train(self):
                for x in self.ds:
                    print(x)
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "tfds.load of several by name, and what is said of them",
        *(
            f"""
        import tensorflow as tf
        import tensorflow_datasets as tfds
        data, info = tfds.load('mnist', with_info=True, as_supervised=True)
        train, test = data['train'], data['test']
        ds = train.map(lambda x, y: (tf.sqrt(x), y)).batch(info.features.size){end}
        for x, y in ds:
            print(x)
        """
            for end in ("", f".prefetch({A})")
        ),
        contract="exact",
    ),
    rewrites(
        "tfds.load with a map",
        """
        import tensorflow as tf
        import tensorflow_datasets as tfds
        (train, test), info = tfds.load('mnist', split=['train', 'test'], with_info=True)
        train = train.map(lambda x: x).batch(8)
        for x in train:
            print(x)
        """,
        """
        import tensorflow as tf
        import tensorflow_datasets as tfds
        (train, test), info = tfds.load('mnist', split=['train', 'test'], with_info=True)
        train = train.map(lambda x: x).batch(8).prefetch(tf.data.experimental.AUTOTUNE)
        for x in train:
            print(x)
        """,
        contract="exact",
    ),
)


def graph(seed: str, iterator: str) -> str:
    return eager(
        f"{seed}\nds = tf.data.TextLineDataset('f').batch(8)\n{iterator}",
        train="w = tf.get_variable('w', [3])\nwith tf.Session() as sess:\n    sess.run(w)",
    )


ONE_SHOT = "it = ds.make_one_shot_iterator()"
NOT_INJECTED = "o = tf.data.Options()\no.experimental_optimization.inject_prefetch = False"

COUNT = "print(len(tf.get_default_graph().get_operations()))"

test_graphs = bench(
    InsertPrefetch,
    refuses("ops that are counted", graph("", f"{ONE_SHOT}\n{COUNT}"), reason="graph-read"),
    rewrites(
        "ops that are counted before the pipeline is made",
        graph(COUNT, ONE_SHOT),
        graph(COUNT, ONE_SHOT).replace(".batch(8)", f".batch(8).prefetch({A})"),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    offers(
        "a seed, and initialisers made later",
        graph("tf.set_random_seed(1)", ONE_SHOT),
        contract="resampled",
        changes="other seeds",
    ),
    rewrites(
        "the same, allowed",
        graph("tf.set_random_seed(1)", ONE_SHOT),
        graph("tf.set_random_seed(1)", ONE_SHOT).replace(".batch(8)", f".batch(8).prefetch({A})"),
        contract="resampled",
        allow=("resampled",),
    ),
    offers(
        "a seed that a helper sets",
        graph("import lib\nlib.set_seed(1)", ONE_SHOT),
        contract="resampled",
        changes="other seeds",
    ),
    offers(
        "a seed that an estimator sets",
        graph("config = tf.estimator.RunConfig(tf_random_seed=1)", ONE_SHOT),
        contract="resampled",
        changes="other seeds",
    ),
    offers(
        "a seed that is written to the graph",
        graph("tf.get_default_graph().seed = 1", ONE_SHOT),
        contract="resampled",
        changes="other seeds",
    ),
    offers(
        "a function that a traced one calls",
        eager(
            "def make():\n    return tf.data.TextLineDataset('f').batch(2)",
            before="tf.random.set_seed(1)",
            train="@tf.function\ndef train():\n    for x in make():\n        print(x)\n"
            "    return tf.random.uniform([])",
        ),
        contract="resampled",
        changes="other seeds",
    ),
    rewrites(
        "a seed, on a version that counts random ops only",
        graph("tf.set_random_seed(1)", f"{NOT_INJECTED}\n{ONE_SHOT}"),
        graph("tf.set_random_seed(1)", f"{NOT_INJECTED}\n{ONE_SHOT}").replace(
            ".batch(8)", ".batch(8).prefetch(tf.data.AUTOTUNE)"
        ),
        contract="exact",
        target_tf=(2, 21),
    ),
    *(
        rewrites(
            f"no seed: {iterator}",
            graph("", iterator),
            graph("", iterator).replace(".batch(8)", f".batch(8).prefetch({A})"),
            contract="exact",
        )
        for iterator in (
            ONE_SHOT,
            "it = ds.make_initializable_iterator()",
            "it = tf.data.make_initializable_iterator(ds)",
            "it = tf.compat.v1.data.make_one_shot_iterator(ds)",
            "it = tf.data.Iterator.from_structure(ds.output_types)\ninit = it.make_initializer(ds)",
        )
    ),
)


def generated(train: str, iterator: str = ONE_SHOT) -> str:
    """A graph whose elements a generator makes."""
    return eager(
        f"def gen():\n    for i in range(9):\n        yield i\n{FROM_GEN}\n{iterator}", train=train
    )


WITH = "with tf.Session() as sess:\n    sess.run(it.get_next())"

test_sessions_of_generators = bench(
    InsertPrefetch,
    refuses(
        "a session that a function holds open",
        generated("def main():\n    sess = tf.Session()\n    sess.run(it.get_next())\nmain()"),
        reason="session-left-open",
    ),
    refuses(
        "one of two sessions",
        generated(f"{WITH}\ndef main():\n    sess = tf.Session()\n    sess.run(w)\nmain()"),
        reason="session-left-open",
    ),
    refuses(
        "sessions of other files", generated("elements = it.get_next()"), reason="session-left-open"
    ),
    rewrites(
        "a session that a `with` closes",
        generated(WITH),
        generated(WITH).replace(".batch(2)", f".batch(2).prefetch({A})"),
        contract="exact",
    ),
)


MADE = "ds = tf.data.TextLineDataset('f').batch(2)"
COUNTED = f"{MADE}.map(lambda x: tf.py_function(print, [x], tf.string))"
LOOP = "for x in ds:\n    print(x)"

test_where_tensorflow_reads_ahead_by_itself = bench(
    InsertPrefetch,
    *(
        leaves_alone(f"in a loop on {version}", eager(MADE, train=LOOP), target_tf=version)
        for version in ((2, 11), (2, 21))
    ),
    leaves_alone("in a session on 2.11", graph("", ONE_SHOT), target_tf=(2, 11)),
    leaves_alone("nothing is refused either", eager(COUNTED, train=LOOP), target_tf=(2, 11)),
    refuses(
        "it is on 2.10",
        eager(COUNTED, train=LOOP),
        reason="python-in-pipeline",
        target_tf=(2, 10),
    ),
    rewrites(
        "not yet on 2.10",
        eager(MADE, train=LOOP),
        eager(MADE, train=LOOP).replace(".batch(2)", ".batch(2).prefetch(tf.data.AUTOTUNE)"),
        contract="exact",
        target_tf=(2, 10),
    ),
    *(
        rewrites(
            f"turned off by {option}",
            eager(MADE, before=off, train=LOOP),
            eager(MADE, before=off, train=LOOP).replace(
                ".batch(2)", ".batch(2).prefetch(tf.data.AUTOTUNE)"
            ),
            contract="exact",
            target_tf=(2, 21),
        )
        for option in (
            "experimental_optimization.inject_prefetch",
            "experimental_optimization.apply_default_optimizations",
            "autotune.enabled",
        )
        for off in (f"o = tf.data.Options()\no.{option} = False",)
    ),
)


def spelled(head: str, pipeline: str) -> str:
    return f"{head}\nds = {pipeline}\nfor x in ds:\n    print(x)\n"


def spells(
    name: str,
    head: str,
    text: str,
    *,
    pipeline: str = "tf.data.TFRecordDataset('f').batch(8)",
    target_tf: tuple[int, ...] | None = None,
) -> Case:
    before, after = spelled(head, pipeline), spelled(head, f"{pipeline}.prefetch({text})")
    return rewrites(name, before, after, contract="exact", target_tf=target_tf, shapes=("crlf",))


test_spelling = bench(
    InsertPrefetch,
    spells("nothing known", "import tensorflow as tf", A),
    spells("2.4", "import tensorflow as tf", "tf.data.AUTOTUNE", target_tf=(2, 4)),
    spells("2.3", "import tensorflow as tf", A, target_tf=(2, 3)),
    spells("1.12", "import tensorflow as tf", "1", target_tf=(1, 12)),
    spells(
        "as the file does",
        "import tensorflow as tf\nprint(tf.data.AUTOTUNE)",
        "tf.data.AUTOTUNE",
    ),
    spells("its own name", f"import tensorflow as tf\nAUTO = {A}", "AUTO"),
    spells(
        "a name that comes too late",
        "import tensorflow as tf\nif tf:\n    AUTO = tf.data.AUTOTUNE",
        "tf.data.AUTOTUNE",
    ),
    spells(
        "another alias",
        "import tensorflow.compat.v1 as tf1",
        "tf1.data.experimental.AUTOTUNE",
        pipeline="tf1.data.TFRecordDataset('f').batch(8)",
    ),
    spells(
        "only tf.data",
        "from tensorflow import data",
        "data.experimental.AUTOTUNE",
        pipeline="data.TFRecordDataset('f').batch(8)",
    ),
    spells(
        "no name for it",
        "from tensorflow.data import TFRecordDataset",
        "1",
        pipeline="TFRecordDataset('f').batch(8)",
    ),
)
