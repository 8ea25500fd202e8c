"""TFR302: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.parallel_map import ParallelMap

FUNCTION = "def f(x):\n    return tf.sqrt(tf.cast(x, tf.float32)) / 3."
LOOP = "for x in ds.batch(4):\n    step(x)"
RANGE = "ds = tf.data.Dataset.range(9).map(f)"


def script(*parts: str, function: str = FUNCTION, pipeline: str = RANGE, loop: str = LOOP) -> str:
    head = "import numpy as np\nimport tensorflow as tf\n"
    return head + "\n".join((*parts, function, pipeline, loop)) + "\n"


def made(text: str, spelled: str = "tf.data.experimental.AUTOTUNE") -> str:
    """The same with parallel calls in each map."""
    return text.replace(".map(f)", f".map(f, num_parallel_calls={spelled})")


def drawing(expression: str) -> str:
    return script(function=f"def f(x):\n    return {expression}")


test_left_alone = bench(
    ParallelMap,
    leaves_alone("parallel already", script(pipeline="ds = tf.data.Dataset.range(9).map(f, 4)")),
    leaves_alone(
        "parallel by keyword",
        script(pipeline="ds = tf.data.Dataset.range(9).map(f, num_parallel_calls=None)"),
    ),
    leaves_alone(
        "arguments that may say so",
        script(pipeline="more = {}\nds = tf.data.Dataset.range(9).map(f, **more)"),
    ),
    leaves_alone(
        "nothing is computed",
        script(
            function="def f(x, y):\n    return {'a': x[0]}, y",
            pipeline="a = tf.data.TFRecordDataset('a')\nds = tf.data.Dataset.zip((a, a)).map(f)",
        ),
    ),
    leaves_alone(
        "within an interleave",
        script(
            pipeline="ds = tf.data.Dataset.range(3).interleave(\n"
            "    lambda i: tf.data.Dataset.range(i).map(f), cycle_length=2)"
        ),
    ),
    leaves_alone(
        "within a flat_map, in a function",
        script(
            "def read(i):\n    return tf.data.Dataset.range(i).map(f)",
            pipeline="ds = tf.data.Dataset.range(3).flat_map(read)",
        ),
    ),
    leaves_alone("the map of pandas", script(pipeline="ds = pd.Series([1]).map(f)")),
    leaves_alone("the map of a pool", script(pipeline="ds = Pool(3).map(f)")),
    leaves_alone("the builtin", script(pipeline="ds = list(map(f, [1]))", loop="print(ds)")),
    leaves_alone(
        "a contrib dataset, from before parallel calls",
        script(pipeline="ds = tf.contrib.data.TextLineDataset('a').map(f)"),
    ),
    leaves_alone(
        "another module's tf", script().replace("import tensorflow as tf", "import tflearn as tf")
    ),
)

test_refused = bench(
    ParallelMap,
    refuses("a draw", drawing("x + tf.random.uniform([])"), reason="random-draws"),
    refuses("a draw with a seed", drawing("tf.random.normal([], seed=3)"), reason="random-draws"),
    refuses("a flip", drawing("tf.image.random_flip_left_right(x)"), reason="random-draws"),
    refuses("dropout", drawing("tf.nn.dropout(x, 0.5)"), reason="random-draws"),
    refuses("a draw by name", drawing("tf.map_fn(tf.random.shuffle, x)"), reason="random-draws"),
    refuses(
        "a random function itself",
        script(pipeline="ds = tf.data.TFRecordDataset('a').map(tf.image.random_flip_left_right)"),
        reason="random-draws",
    ),
    refuses(
        "a draw two calls down",
        script(
            "def g(x):\n    return tf.image.random_crop(x, [2, 2, 3])",
            function=("def f(x):\n    return g(x)"),
        ),
        reason="random-draws",
    ),
    refuses(
        "a draw in a lambda",
        script(pipeline="ds = tf.data.Dataset.range(9).map(lambda x: tf.random.uniform([]) * 2)"),
        reason="random-draws",
    ),
    refuses(
        "a shuffle within the function",
        drawing(
            "tf.data.experimental.get_single_element(tf.data.Dataset.range(x).shuffle(9).batch(9))"
        ),
        reason="random-draws",
    ),
    refuses(
        "a generator of numbers",
        script(
            "rng = tf.random.Generator.from_seed(1)",
            function=("def f(x):\n    return rng.normal([]) + 1"),
        ),
        reason=("function-not-seen",),
    ),
    refuses(
        "a py_function",
        drawing("tf.py_function(lambda v: v, [x], tf.int64)"),
        reason="python-in-pipeline",
    ),
    refuses("a print for each element", drawing("tf.print(x) or x + 1"), reason="host-effect"),
    refuses("the clock", drawing("tf.timestamp() + 1."), reason="host-effect"),
    refuses(
        "a counter",
        script("n = tf.Variable(0)", function="def f(x):\n    return n.assign_add(1)"),
        reason=("reads-variable",),
    ),
    refuses(
        "a variable that is read",
        script("n = tf.Variable(0.)", function="def f(x):\n    return n * 2."),
        reason="reads-variable",
    ),
    refuses(
        "a variable of an object that has a shape",
        script(
            "class Net:\n    def __init__(self):\n        self.w = tf.Variable(0.)\nnet = Net()",
            function="def f(x):\n    m = net\n    return x + m.w",
            loop=LOOP + "\n    net.w.assign(3.)",
        ),
        reason="reads-variable",
    ),
    refuses(
        "a layer",
        script("layer = tf.keras.layers.RandomFlip()", function=("def f(x):\n    return layer(x)")),
        reason="function-not-seen",
    ),
    refuses(
        "a layer in a stack",
        script(
            "both = tf.keras.Sequential([\n    tf.keras.layers.Resizing(8, 8),\n"
            "    tf.keras.layers.RandomZoom(0.1)])",
            function="def f(x):\n    return both(x)",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "a layer with a table",
        script(
            "words = tf.keras.layers.TextVectorization()",
            function="def f(x):\n    return words(x)",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "a function of elsewhere",
        script("from lib import f", function=""),
        reason="function-not-seen",
        shapes=(),
    ),
    refuses(
        "a function that is a parameter",
        script(
            function="",
            pipeline="def make(f):\n    return tf.data.Dataset.range(9).map(f)",
            loop="print(make)",
        ),
        reason="function-not-seen",
    ),
    refuses(
        "a function defined twice",
        script("def f(x):\n    return tf.random.uniform([])"),
        reason="function-not-seen",
        shapes=(),
    ),
    refuses(
        "any order is fine",
        script("options = tf.data.Options()\noptions.experimental_deterministic = False"),
        reason="order-may-change",
    ),
    refuses(
        "any order is fine, by a name that is not seen",
        script("options = tf.data.Options()\noptions.deterministic = quick"),
        reason="order-may-change",
    ),
    refuses(
        "another map may have any order",
        script("ds2 = tf.data.Dataset.range(3).map(abs, 2, deterministic=False)"),
        reason="order-may-change",
    ),
    refuses(
        "options of elsewhere",
        script("import lib", pipeline=f"{RANGE}.with_options(lib.options())"),
        reason="order-may-change",
        shapes=(),
    ),
    refuses(
        "failing elements are dropped",
        script(pipeline=f"{RANGE}.apply(tf.data.experimental.ignore_errors())"),
        reason="errors-matter",
    ),
    refuses("the dataset is printed", script(loop=f"print(ds)\n{LOOP}"), reason="dataset-shown"),
    refuses(
        "the dataset is in a text", script(loop=f"name = f'{{ds}}'\n{LOOP}"), reason="dataset-shown"
    ),
    refuses(
        "its class is asked for",
        script(loop=f"kind = type(ds).__name__\n{LOOP}"),
        reason="dataset-shown",
    ),
    refuses(
        "a generator that shares a counter",
        script(
            "seen = []\ndef gen():\n    for i in range(9):\n        yield len(seen)",
            pipeline="ds = tf.data.Dataset.from_generator(gen, tf.int32).map(f)",
            loop="for x in ds:\n    seen.append(x)",
        ),
        reason="generator-shares-state",
    ),
    refuses(
        "a generator that prints",
        script(
            "def gen():\n    for i in range(9):\n        print(i)\n        yield i",
            pipeline="ds = tf.data.Dataset.from_generator(gen, tf.int32).map(f)",
        ),
        reason="generator-io",
    ),
    refuses(
        "a generator, and a session that a function holds open",
        script(
            "def gen():\n    for i in range(9):\n        yield i",
            pipeline="ds = tf.data.Dataset.from_generator(gen, tf.int32).map(f)\n"
            "it = ds.make_one_shot_iterator()",
            loop="def main():\n    sess = tf.Session()\n    sess.run(it.get_next())\nmain()",
        ),
        reason="session-left-open",
    ),
    refuses(
        "the order of the next turn depends on how far was read",
        script(
            pipeline="ds = tf.data.Dataset.range(9).shuffle(9).repeat().map(f)",
            loop="for epoch in range(2):\n    for x in ds:\n        if done(x):\n            break",
        ),
        reason="left-early",
    ),
    refuses(
        "a take above the map leaves early",
        script(
            pipeline="ds = tf.data.Dataset.range(9).shuffle(9).repeat().map(f).take(5)",
            loop="for epoch in range(2):\n    for x in ds:\n        step(x)",
        ),
        reason="left-early",
    ),
    refuses(
        "a first look at a repeated shuffle",
        script(
            pipeline="ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).map(f)",
            loop=f"first = next(iter(ds))\n{LOOP}",
        ),
        reason="left-early",
    ),
    refuses(
        "repeated and shuffled, and nobody seen",
        script(
            pipeline="def make():\n"
            "    return tf.data.TextLineDataset('a').shuffle(9).repeat().map(tf.io.decode_raw)",
            loop="",
        ),
        reason="left-early",
    ),
    refuses(
        "Keras shuffles the files, and the cache keeps an order that was read to the end",
        script(
            pipeline="ds = tf.keras.utils.image_dataset_from_directory('a').cache().map(\n"
            "    lambda x, y: (x / 255., y))",
            loop="first = next(iter(ds))\nmodel = tf.keras.Sequential()\nmodel.fit(ds, epochs=3)",
        ),
        reason="left-early",
    ),
    refuses(
        "arrays of somebody else, and nobody seen",
        script(
            pipeline="def make(x):\n    return tf.data.Dataset.from_tensor_slices(x).map(f)",
            loop="",
        ),
        reason="consumer-not-seen",
    ),
    refuses(
        "an array that the loop changes",
        script(
            pipeline="data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).map(f)",
            loop="for x in ds:\n    data[0] += 1",
        ),
        reason="source-changes",
    ),
    refuses(
        "a dataset of elsewhere",
        script(pipeline="import lib\nds = lib.load().batch(2).map(f)"),
        reason="source-not-seen",
        shapes=(),
    ),
    refuses(
        "the iterator is saved",
        script(loop="it = iter(ds)\ncheckpoint = tf.train.Checkpoint(it=it)\nnext(it)"),
        reason="iterator-in-checkpoint",
    ),
    refuses(
        "the ops are counted",
        script(
            loop="it = tf.compat.v1.data.make_one_shot_iterator(ds)\n"
            "print(len(tf.compat.v1.get_default_graph().get_operations()))"
        ),
        reason="graph-read",
    ),
    refuses(
        "in debug mode",
        script("tf.data.experimental.enable_debug_mode()"),
        reason="debug-mode",
    ),
    refuses("names that change unseen", script("globals()['f'] = g"), reason="function-not-seen"),
)


test_rewritten = bench(
    ParallelMap,
    rewrites("the plain form", script(), made(script()), contract="exact"),
    rewrites(
        "the shape of an element",
        *(
            write(
                script(
                    function="def f(x):\n    print(x.shape.rank, x.dtype)\n    return tf.sqrt(x)",
                    loop=LOOP + "\n    v.assign(3.)",
                )
            )
            for write in (str, made)
        ),
        contract="exact",
    ),
    rewrites(
        "by its keyword",
        script(pipeline="ds = tf.data.Dataset.range(9).map(map_func=f)"),
        script(
            pipeline="ds = tf.data.Dataset.range(9).map(map_func=f,"
            " num_parallel_calls=tf.data.experimental.AUTOTUNE)"
        ),
        contract="exact",
    ),
    rewrites(
        "several in a chain, one parallel already",
        script(pipeline="ds = tf.data.Dataset.range(9).map(f).map(f, 2).batch(3).map(f)"),
        made(script(pipeline="ds = tf.data.Dataset.range(9).map(f).map(f, 2).batch(3).map(f)")),
        contract="exact",
    ),
    rewrites(
        "the file's own spelling",
        script("AUTOTUNE = tf.data.AUTOTUNE"),
        made(script("AUTOTUNE = tf.data.AUTOTUNE"), "AUTOTUNE"),
        contract="exact",
        shapes=(),
    ),
    rewrites(
        "as the target spells it",
        script(),
        made(script(), "tf.data.AUTOTUNE"),
        contract="exact",
        target_tf=(2, 15),
    ),
    rewrites(
        "before there was AUTOTUNE",
        script(),
        made(script(), "4"),
        contract="exact",
        target_tf=(1, 12),
    ),
    rewrites(
        "an argument on a line of its own",
        script(pipeline="ds = tf.data.Dataset.range(9).map(\n    f\n)"),
        script(
            pipeline="ds = tf.data.Dataset.range(9).map(\n    f,\n"
            "    num_parallel_calls=tf.data.experimental.AUTOTUNE\n)"
        ),
        contract="exact",
        shapes=("crlf",),
    ),
    rewrites(
        "with a comma and a comment",
        script(pipeline="ds = tf.data.Dataset.range(9).map(\n    f,  # (each)\n)"),
        script(
            pipeline="ds = tf.data.Dataset.range(9).map(\n    f,"
            " num_parallel_calls=tf.data.experimental.AUTOTUNE,  # (each)\n)"
        ),
        contract="exact",
        shapes=("crlf",),
    ),
    rewrites(
        "a lambda in parentheses",
        script(pipeline="ds = tf.data.Dataset.range(9).map((lambda x: x + 1))"),
        script(
            pipeline="ds = tf.data.Dataset.range(9).map((lambda x: x + 1),"
            " num_parallel_calls=tf.data.experimental.AUTOTUNE)"
        ),
        contract="exact",
    ),
    rewrites(
        "stateless draws",
        drawing("x + tf.random.stateless_uniform([], seed=[1, 2])"),
        made(drawing("x + tf.random.stateless_uniform([], seed=[1, 2])")),
        contract="exact",
    ),
    rewrites(
        "a layer that only computes",
        script(
            "scaled = tf.keras.layers.Rescaling(1. / 255)",
            function="def f(x):\n    return scaled(x)",
        ),
        made(
            script(
                "scaled = tf.keras.layers.Rescaling(1. / 255)",
                function="def f(x):\n    return scaled(x)",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "what it prints, it prints once",
        script(function="def f(x):\n    print('tracing')\n    return tf.abs(x)"),
        made(script(function="def f(x):\n    print('tracing')\n    return tf.abs(x)")),
        contract="exact",
    ),
    rewrites(
        "shuffled and repeated behind the map",
        script(
            pipeline="ds = tf.data.Dataset.range(9).map(f).shuffle(9).repeat()",
            loop="for epoch in range(2):\n    for x in ds:\n        if done(x):\n            break",
        ),
        made(
            script(
                pipeline="ds = tf.data.Dataset.range(9).map(f).shuffle(9).repeat()",
                loop="for epoch in range(2):\n    for x in ds:\n        if done(x):\n"
                "            break",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "shuffled and repeated before the map, and taken once",
        script(pipeline="ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).map(f)"),
        made(script(pipeline="ds = tf.data.Dataset.range(9).shuffle(9).repeat(2).map(f)")),
        contract="exact",
        shapes=("main", "crlf"),
    ),
    rewrites(
        "options of this file, in order",
        script(
            "options = tf.data.Options()\noptions.experimental_deterministic = True",
            pipeline=f"{RANGE}.with_options(options)",
        ),
        made(
            script(
                "options = tf.data.Options()\noptions.experimental_deterministic = True",
                pipeline=f"{RANGE}.with_options(options)",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "files, and nobody seen",
        script(
            pipeline="def make(path):\n    return tf.data.TextLineDataset(path).map(f)", loop=""
        ),
        made(
            script(
                pipeline="def make(path):\n    return tf.data.TextLineDataset(path).map(f)",
                loop="",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "a fresh array, and nobody seen",
        script(
            pipeline="def make():\n    data = np.arange(9)\n"
            "    return tf.data.Dataset.from_tensor_slices(data).map(f)",
            loop="",
        ),
        made(
            script(
                pipeline="def make():\n    data = np.arange(9)\n"
                "    return tf.data.Dataset.from_tensor_slices(data).map(f)",
                loop="",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "in an apply of its own, and before a fit",
        script(
            pipeline="ds = tf.data.Dataset.range(9).map(f).batch(3)",
            loop="model = tf.keras.Sequential()\nmodel.fit(ds, epochs=2)",
        ),
        made(
            script(
                pipeline="ds = tf.data.Dataset.range(9).map(f).batch(3)",
                loop="model = tf.keras.Sequential()\nmodel.fit(ds, epochs=2)",
            )
        ),
        contract="exact",
    ),
    rewrites(
        "a flag and the time of tracing",
        script(
            "import time\nfrom absl import flags\nFLAGS = flags.FLAGS",
            function="def f(x):\n    return x + FLAGS.n + int(time.time())",
        ),
        made(
            script(
                "import time\nfrom absl import flags\nFLAGS = flags.FLAGS",
                function="def f(x):\n    return x + FLAGS.n + int(time.time())",
            )
        ),
        contract="exact",
        shapes=("crlf",),
    ),
)

GRAPH = script(
    "tf.set_random_seed(3)",
    loop="x = ds.make_one_shot_iterator().get_next()\nw = tf.get_variable('w', [3])\n"
    "sess = tf.Session()\nsess.run(x)",
)

test_draws = bench(
    ParallelMap,
    offers("a seeded graph", GRAPH, contract="resampled", changes="initial weights"),
    rewrites("allowed", GRAPH, made(GRAPH), contract="resampled", allow=("resampled",)),
    rewrites(
        "a seeded graph on 2.21",
        GRAPH,
        made(GRAPH, "tf.data.AUTOTUNE"),
        contract="exact",
        target_tf=(2, 21),
    ),
    rewrites(
        "a graph without a seed",
        GRAPH.replace("tf.set_random_seed(3)\n", ""),
        made(GRAPH.replace("tf.set_random_seed(3)\n", "")),
        contract="exact",
    ),
    offers(
        "a seeded graph, and nobody seen",
        script(
            "tf.set_random_seed(3)\nw = tf.get_variable('w', [3])\nsess = tf.Session()",
            pipeline="def make(path):\n    return tf.data.TextLineDataset(path).map(f)",
            loop="",
        ),
        contract="resampled",
        changes="other seeds",
    ),
)
