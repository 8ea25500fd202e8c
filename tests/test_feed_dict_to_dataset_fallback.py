"""TFR102 where what speaks against elements does not speak against a run that takes a batch."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from fed_scripts import in_a_session
from rulebench import SHAPES, Case, bench, offers, refuses, rewrites
from tfrewrite.codemods.feed_dict_to_dataset import FeedDictToDataset

_HEAD = """\
import numpy as np
import tensorflow as tf
X = np.zeros([1000, 4])
Y = np.zeros([1000, 1])
"""
_GRAPH = """\
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.zeros([4, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
"""
_OPENED = "sess = tf.Session()\n"
_BUILD = """\
def build():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.zeros([4, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, y, train
x, y, train = build()
sess = tf.Session()
"""
_MODEL = """\
class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.w = tf.Variable(tf.zeros([4, 1]))
        loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - self.y))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
model = Model()
"""
_NET = """\
def build():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    return {"x": x, "y": y, "both": tf.matmul(x, y, transpose_b=True)}
net = build()
sess = tf.Session()
"""
_RATIO = _GRAPH.replace("[None, 4])", "[None, 4]) / 255.", 1)
_OF_MODEL = "sess.run(model.train, {})"
_OF_NET = 'sess.run(net["both"], {})'
_OF_FIRST = {"x": "next_x", "y": "next_y"}


def _loop(run: str, given: dict[str, str], takes: str = "") -> str:
    fed = ", ".join(f"{key}: {value}" for key, value in given.items())
    return f"for i in range(9):\n{takes}    {run.replace('{}', f'{{{fed}}}')}\n"


def loop(run: str = "sess.run(train, {})", keys: dict[str, str] = _OF_FIRST) -> str:
    """A loop that feeds slices."""
    slices = ("X[i:i + 9]", "Y[i:i + 9]")
    return _loop(run, dict(zip(keys, slices, strict=False)))


def taken(run: str, keys: dict[str, str], graph: str = "") -> str:
    """The pipeline of that loop, and the loop with a run that takes each batch."""
    slices = ("X[i:i + 9]", "Y[i:i + 9]")[: len(keys)]
    dtypes = ", ".join(f"{key}.dtype" for key in keys)
    made = (
        "batch_iterator = tf.data.Dataset.from_generator(\n"
        f"    batches, {f'({dtypes})' if len(keys) > 1 else dtypes}\n"
        ").prefetch(1).make_initializable_iterator()\n"
        "next_batch = batch_iterator.get_next()\n"
    )
    if graph:
        made = f"with {graph}.graph.as_default():\n{textwrap.indent(made, '    ')}"
    takes = f"    {', '.join(keys.values())} = sess.run(next_batch)\n"
    return (
        f"def batches():\n    for i in range(9):\n        yield {', '.join(slices)}\n{made}"
        f"sess.run(batch_iterator.initializer)\n{_loop(run, keys, takes)}"
    )


def falls_back(
    name: str,
    *,
    graph: str = _GRAPH,
    run: str = "sess.run(train, {})",
    keys: dict[str, str] = _OF_FIRST,
    around: str = "",
    rest: str = "",
    in_graph: str = "",
    shapes: Sequence[str] = SHAPES,
) -> Case:
    """A loop that stands in a function, where one is `around` it, and what a run makes of it."""

    def script(loop: str) -> str:
        inner = textwrap.indent(loop, "    ") if around else loop
        return in_a_session(f"{_HEAD}{graph}{around}{inner}{rest}")

    before, after = script(loop(run, keys)), script(taken(run, keys, in_graph))
    return rewrites(name, before, after, contract="exact", shapes=shapes)


def refused(
    name: str,
    reason: str,
    *,
    graph: str = _GRAPH,
    loop: str = loop(),
    around: str = "",
    rest: str = "",
    shapes: Sequence[str] = SHAPES,
) -> Case:
    inner = textwrap.indent(loop, "    ") if around else loop
    return refuses(name, f"{_HEAD}{graph}{around}{inner}{rest}", reason=reason, shapes=shapes)


_RACING = "clip = w.assign(tf.clip_by_value(w, -0.01, 0.01))\n"
_OF_CLIP = "sess.run([train, clip], {})"

test_refused = bench(
    FeedDictToDataset,
    refused(
        "a batch that is printed, where the run races",
        "batch-used",
        graph=_GRAPH + _RACING,
        loop="for i in range(9):\n    bx = X[i:i + 9]\n    sess.run([train, clip], {x: bx, y: Y})\n"
        "    print(bx)\n",
    ),
    refused(
        "a dict that is filled, where the run races",
        "races-with-update",
        graph=_GRAPH + _RACING,
        loop="for i in range(9):\n    feed = {y: Y}\n    feed[x] = X[i:i + 9]\n"
        "    sess.run([train, clip], feed)\n",
    ),
    refused(
        "the loop draws what the batch draws, and the run races",
        "shared-stream",
        graph=_GRAPH + _RACING,
        loop="for i in range(9):\n    chosen = np.random.randint(0, 99, 9)\n"
        "    sess.run([train, clip], {x: X[chosen], y: Y[chosen]})\n    np.random.rand()\n",
    ),
    refused(
        "a run that asks for its trace, and races",
        "run-options",
        graph=_GRAPH + _RACING + "meta = tf.RunMetadata()\n",
        loop=loop("sess.run([train, clip], {}, run_metadata=meta)"),
    ),
    refused(
        "a session with hooks, which count runs",
        "hooked-session",
        graph=_GRAPH.replace("tf.Session", "tf.train.MonitoredSession") + _RACING,
        loop=loop(_OF_CLIP),
    ),
    refused(
        "a session whose runs are counted",
        "dynamic-code",
        graph=_GRAPH + _RACING + "sess.run = counted(sess.run)\n",
        loop=loop(_OF_CLIP),
    ),
    refused(
        "a graph that is closed, and a run that races",
        "graph-finalized",
        graph=_GRAPH + _RACING + "sess.graph.finalize()\n",
        loop=loop(_OF_CLIP),
    ),
    refused(
        "ops are counted after the loop, and the run races",
        "graph-read",
        graph=_GRAPH + _RACING,
        loop=loop(_OF_CLIP),
        rest="print(len(sess.graph.get_operations()))\n",
    ),
    refused(
        "a pipeline under control dependencies",
        "placeholder-scope",
        graph=_GRAPH + _RACING,
        loop=loop(_OF_CLIP),
        around="with tf.control_dependencies([clip]):\n",
    ),
    refused(
        "a variable that is fed",
        "placeholder-elsewhere",
        loop="for i in range(9):\n    sess.run(loss, {x: X[:1], y: Y[:1], w: X[i:i + 1].T})\n",
    ),
    refused(
        "a placeholder of texts",
        "placeholder-unclear",
        graph=_GRAPH + "z = tf.placeholder(tf.string)\n",
        loop="for i in range(9):\n    sess.run(z, {z: X[i].astype(str)})\n",
    ),
    refused(
        "a placeholder of a type that is not told",
        "placeholder-unclear",
        graph=_GRAPH.replace("tf.float32, [None, 4]", "types[0], [None, 4]"),
    ),
    refused(
        "a placeholder of rows",
        "placeholder-elsewhere",
        graph=_GRAPH + "z = tf.sparse_placeholder(tf.float32)\n",
        loop="for i in range(9):\n    sess.run(z, {z: (X[i:i + 9], Y[i:i + 9], [9])})\n",
    ),
    refused(
        "a name in place of a tensor",
        "placeholder-elsewhere",
        graph=_GRAPH.replace("[None, 4]", "[None, 4], name='x'"),
        loop="for i in range(9):\n    sess.run(train, {'x:0': X[i:i + 9], y: Y[:9]})\n",
    ),
    refused(
        "callers that give placeholders of two types",
        "placeholder-elsewhere",
        graph=_GRAPH + "z = tf.placeholder(tf.float64, [None, 4])\n",
        around="def fit(x, y):\n",
        rest="fit(x, y)\nfit(z, y)\n",
        shapes=("crlf", "tabs"),
    ),
    refused(
        "callers of whom one gives something else",
        "placeholder-elsewhere",
        around="def fit(x, y):\n",
        rest="fit(x, y)\nfit(other, y)\n",
        shapes=("crlf", "tabs"),
    ),
    refused(
        "a function that is handed on, whose callers are not seen",
        "placeholder-elsewhere",
        around="def fit(x, y):\n",
        rest="fit(x, y)\nagain = fit\n",
        shapes=("crlf", "tabs"),
    ),
    refused(
        "callers in a loop",
        "called-in-loop",
        around="def fit(x, y):\n",
        rest="for _ in range(3):\n    fit(x, y)\n",
        shapes=("crlf", "tabs"),
    ),
    refused(
        "one value that is fed as two types",
        "batch-used",
        graph=_GRAPH + "z = tf.placeholder(tf.int32)\n" + _RACING,
        loop="for i in range(9):\n    rows = X[i:i + 9]\n"
        "    sess.run([train, clip], {x: rows, y: Y[:9], z: rows})\n",
    ),
    refused(
        "a dict whose placeholder is another one later",
        "placeholder-elsewhere",
        graph=_NET + 'net["x"] = tf.placeholder(tf.float64, [None, 4])\n',
        loop=loop(_OF_NET, {'net["x"]': "", 'net["y"]': ""}),
    ),
    refused(
        "a dict that the loop changes",
        "placeholder-elsewhere",
        graph=_NET,
        loop=loop(_OF_NET, {'net["x"]': "", 'net["y"]': ""}) + "    net.update(y=net['x'])\n",
    ),
    refused(
        "an object that is another one in the next turn",
        "placeholder-elsewhere",
        graph=_MODEL + "other = Model()\nm = model\n",
        loop=loop("sess.run(m.train, {})", {"m.x": "", "m.y": ""}) + "    m = other\n",
    ),
    refused(
        "a placeholder that the outer loop makes",
        "placeholder-elsewhere",
        graph="sess = tf.Session()\n",
        loop="x = tf.placeholder(tf.float32)\n"
        "for i in range(9):\n    sess.run(x, {x: X[i:i + 9]})\n",
        around="for _ in range(2):\n",
    ),
)

_NESTED = """\
z = tf.placeholder(tf.float32, [None, 4])
"""
_DRAWN_INSIDE = """\
for epoch in range(3):
    for i in range(9):
        chosen = np.random.randint(0, 1000, 9)
        sess.run(train, {x: X[chosen], y: Y[chosen]})
    drawn = np.random.randint(0, 1000, 9)
    print(sess.run(z, {z: X[drawn]}))
"""
_DRAWN_AHEAD = """\
def batches():
    for i in range(9):
        chosen = np.random.randint(0, 1000, 9)
        yield X[chosen], Y[chosen]
start_batches = batch_iterator.make_initializer(
    tf.data.Dataset.from_generator(
        batches, (x.dtype, y.dtype), (x.shape, y.shape)
    ).prefetch(1)
)
for epoch in range(3):
    sess.run(start_batches)
    for i in range(9):
        sess.run(train)
    drawn = np.random.randint(0, 1000, 9)
    print(sess.run(z, {z: X[drawn]}))
"""
_WITH_DEFAULTS = """\
batch_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
next_x, next_y = batch_iterator.get_next()
x = tf.placeholder_with_default(next_x, None)
x.set_shape([None, 4])
y = tf.placeholder_with_default(next_y, None)
y.set_shape([None, 1])
"""
_OWN_PIPELINE = """\
def noise():
    while True:
        yield np.random.rand(4)
noises = tf.data.Dataset.from_generator(noise, tf.float64).make_one_shot_iterator().get_next()
"""
_DRAWING = """\
for i in range(9):
    chosen = np.random.randint(0, 1000, 9)
    sess.run([train], {x: X[chosen], y: Y[chosen]})
    print(sess.run(noises))
"""

test_pipelines_beside = bench(
    FeedDictToDataset,
    rewrites(
        "a batch that is drawn around a loop whose batches are drawn",
        in_a_session(f"{_HEAD}{_GRAPH}{_NESTED}{_DRAWN_INSIDE}"),
        in_a_session(
            f"{_HEAD}{_WITH_DEFAULTS}{''.join(_GRAPH.splitlines(keepends=True)[2:])}{_NESTED}"
            f"{_DRAWN_AHEAD}"
        ),
        contract="exact",
        refused=("shared-stream",),
    ),
    refuses(
        "a pipeline of the file's own that draws as well",
        f"{_HEAD}{_GRAPH}{_OWN_PIPELINE}{_DRAWING}",
        reason="shared-stream",
    ),
    refuses(
        "a pipeline of the file's own of which nothing is known",
        f"{_HEAD}{_GRAPH}{_OWN_PIPELINE.replace('(noise,', '(other.noise,')}{_DRAWING}",
        reason="shared-stream",
    ),
)

test_races_and_fetches = bench(
    FeedDictToDataset,
    falls_back(
        "a critic's loss beside the clip of its weights",
        graph=_GRAPH.replace("tf.square(tf.matmul(x, w) - y)", "tf.matmul(x, w) * y") + _RACING,
        run="print(sess.run([train, loss, clip], {})[1])",
    ),
    falls_back(
        "a loss that the update does not wait for",
        graph=_GRAPH.replace("tf.square(tf.matmul(x, w) - y)", "tf.matmul(x, w) - y"),
        run="print(sess.run([train, loss], {})[1])",
    ),
    falls_back(
        "a norm of the weights, fetched with the update",
        graph=_GRAPH + "norm = tf.reduce_sum(tf.square(w))\n",
        run="print(sess.run([train, norm], {})[1])",
    ),
    falls_back(
        "two updates in one run",
        graph=_GRAPH + "other = tf.train.AdamOptimizer(0.1).minimize(loss)\n",
        run="sess.run([train, other], {})",
    ),
    falls_back(
        "two updates in one group",
        graph=_GRAPH + _RACING + "both = tf.group(train, clip)\n",
        run="sess.run(both, {})",
    ),
    falls_back(
        "the fetch does not need the batch",
        run="sess.run(w, {})",
    ),
    falls_back(
        "the fetch needs only its shape",
        graph=_GRAPH + "s = tf.shape(x)\n",
        run="sess.run(s, {})",
    ),
    falls_back(
        "the fetch needs it in some turns",
        graph=_GRAPH + "fetch = loss if len(X) > 3 else w\n",
        run="sess.run(fetch, {})",
    ),
    rewrites(
        "a tensor on the way is fed as well",
        in_a_session(
            f"{_HEAD}{_GRAPH}hidden = tf.matmul(x, w)\nout = tf.nn.relu(hidden)\n"
            "for i in range(9):\n    sess.run(out, {x: X[i:i + 9], hidden: Y})\n"
        ),
        in_a_session(
            f"{_HEAD}{_GRAPH}hidden = tf.matmul(x, w)\nout = tf.nn.relu(hidden)\n"
            + taken("sess.run(out, {})", {"x": "next_x"}).replace(
                "{x: next_x", "{x: next_x, hidden: Y"
            )
        ),
        contract="exact",
    ),
    rewrites(
        "an update that does not ask for the batch, which is drawn",
        in_a_session(
            f"{_HEAD}{_GRAPH}plain = tf.reduce_sum(tf.square(w)) + tf.reduce_mean(x)\n"
            "step = tf.train.GradientDescentOptimizer(0.1).minimize(plain)\n"
            "for i in range(9):\n    chosen = np.random.randint(0, 1000, 10)\n"
            "    sess.run(step, {x: X[chosen]})\nprint(np.random.rand())\n"
        ),
        in_a_session(
            f"{_HEAD}{_GRAPH}plain = tf.reduce_sum(tf.square(w)) + tf.reduce_mean(x)\n"
            "step = tf.train.GradientDescentOptimizer(0.1).minimize(plain)\n"
            + taken("sess.run(step, {})", {"x": "next_x"}).replace(
                "        yield X[i:i + 9]",
                "        chosen = np.random.randint(0, 1000, 10)\n        yield X[chosen]",
            )
            + "print(np.random.rand())\n"
        ),
        contract="exact",
    ),
    falls_back(
        "a run that fails because it is not fed",
        rest="try:\n    print(sess.run(loss, {x: X}))\nexcept tf.errors.InvalidArgumentError:\n"
        "    print('not fed')\n",
        shapes=("function", "main", "crlf", "tabs"),
    ),
    offers(
        "draws after the loop, with the seed of the graph",
        in_a_session(
            f"{_HEAD}tf.set_random_seed(1)\n{_GRAPH}{_RACING}{loop(_OF_CLIP)}"
            "print(sess.run(tf.random_normal([2])))\n"
        ),
        contract="resampled",
        changes="draws of ops without a seed",
    ),
)

test_readers = bench(
    FeedDictToDataset,
    falls_back("a placeholder without a name, which is shown", rest="print(x)\n"),
    falls_back(
        "ops are counted between the placeholders and the loop",
        graph=_GRAPH + "print(len(tf.get_default_graph().get_operations()))\n",
    ),
    falls_back(
        "the graph is written between the placeholders and the loop",
        graph=_GRAPH + "writer = tf.summary.FileWriter('logs', sess.graph)\n",
    ),
    falls_back("the kind of its op is read", graph=_GRAPH + "print(x.op.type)\n"),
    falls_back(
        "a placeholder without a name in a collection",
        graph=_GRAPH + "tf.add_to_collection('inputs', x)\n",
        rest="print([one.name for one in tf.get_collection('inputs')])\n",
    ),
    falls_back(
        "placeholders without a name in a list that is shown",
        graph=_GRAPH + "given = [x, y]\nprint(given)\n",
    ),
    falls_back(
        "a placeholder that Keras feeds",
        graph=_GRAPH + "given = tf.keras.layers.Input(tensor=x)\n",
    ),
)

_MODEL_KEYS = {"model.x": "next_x", "model.y": "next_y"}
_PLAIN_SHAPES = ("crlf", "tabs")

test_keys = bench(
    FeedDictToDataset,
    falls_back(
        "placeholders on a device",
        graph="with tf.device('/gpu:0'):\n"
        + textwrap.indent(_GRAPH.removesuffix(_OPENED), "    ")
        + _OPENED,
    ),
    falls_back(
        "a shape that is known only later",
        graph=_GRAPH.replace("y = tf.", "n = 1\ny = tf.").replace("[None, 1]", "[None, n]"),
    ),
    falls_back(
        "a shape that is computed",
        graph=_GRAPH.replace("[None, 4]", "[None, len(X[0])]"),
    ),
    falls_back(
        "placeholders in two places",
        graph="with tf.name_scope('of_x'):\n    " + _GRAPH,
    ),
    falls_back("a tensor that is computed of a placeholder", graph=_RATIO),
    falls_back(
        "a function that makes them, called twice",
        graph=_BUILD + "other = build()\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "a function that makes them, handed on",
        graph=_BUILD + "make = build\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "what it gives back has a name",
        graph=_BUILD.replace("x, y, train =", "r = x, y, train ="),
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "it is no placeholder any more",
        graph=_BUILD + "x = x * 2\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "callers give them",
        around="def fit(x, y):\n",
        rest="fit(x, y)\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "callers give those of one type",
        graph=_GRAPH + "z = tf.placeholder(tf.float32, [None, 4])\n",
        around="def fit(x, y):\n",
        rest="fit(x, y)\nfit(z, y)\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "callers give an object",
        graph=_MODEL + "other = Model()\n",
        run="sess.run(m.train, {})",
        keys={"m.x": "next_x", "m.y": "next_y"},
        around="def fit(m):\n",
        rest="fit(model)\nfit(other)\n",
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "two models",
        graph=_MODEL + "other = Model()\n",
        run=_OF_MODEL,
        keys=_MODEL_KEYS,
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "a model without room for more attributes",
        graph=_MODEL.replace("    def", "    __slots__ = ('x', 'y', 'w', 'train')\n    def"),
        run=_OF_MODEL,
        keys=_MODEL_KEYS,
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "a model on a device",
        graph=_MODEL.replace("model =", "with tf.device('/gpu:0'): model ="),
        run=_OF_MODEL,
        keys=_MODEL_KEYS,
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "items of a dict that a function gives back",
        graph=_NET,
        run=_OF_NET,
        keys={'net["x"]': "next_x", 'net["y"]': "next_y"},
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "items of a list",
        graph=_GRAPH + "given = [x, y]\n",
        keys={"given[0]": "next_value", "given[1]": "next_value_2"},
        shapes=_PLAIN_SHAPES,
    ),
    falls_back(
        "models in graphs of their own",
        graph="first, second = tf.Graph(), tf.Graph()\nwith first.as_default():\n"
        + textwrap.indent(_BUILD.removesuffix(_OPENED), "    ")
        + "with second.as_default():\n    other = build()\n",
        around="with tf.Session(graph=first) as sess:\n",
        in_graph="x",
        shapes=_PLAIN_SHAPES,
    ),
)
