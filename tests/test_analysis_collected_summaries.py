"""What `merge_all` collects, traps first: all that may come in unseen."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.effects import effect_of, symbols_of
from tfrewrite.analysis.graphs.fetches import Fetch, fetch_of
from tfrewrite.analysis.graphs.nodes import Kind, beneath

NOISE = "tf.random_uniform([])"
LOSS = "tf.summary.scalar('loss', loss)\n"
HELPER = "def show(name, value):\n    tf.summary.scalar(name, value)\n"


def fetch(text: str, merged: str = "tf.summary.merge_all()") -> Fetch:
    """What a run of the merged summaries would fetch, by this code after the usual graph."""
    found = with_graph(f"{text}\nv = {merged}  # here\n")
    return fetch_of(found.collected_summaries.followed(found.graph.trace(expression(found))), "v")


# ---- traps: summaries that are not seen --------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "unknown(loss)",
        "import mymodel",
        "from mymodel import show",
        "from . import mymodel",
        "import mymodel\nmymodel.show(loss)",
        "def f():\n    import mymodel\nf()",
        "queue = tf.train.batch([tf.constant(1.0)], 2)",
        "queue = tf.train.shuffle_batch_join([[tf.constant(1.0)]], 2, 9, 3)",
        "files = tf.train.string_input_producer(['a'])",
        "tf.contrib.layers.optimize_loss(loss, None, 0.1, 'SGD')",
        "tf.contrib.layers.summarize_tensor(loss)",
        "tf.contrib.layers.summarize_activations()",
        "tf.contrib.slim.summarize_weights()",
        "tf.contrib.slim.adaptive_clipping_fn(report_summary=True)",
        "from tensorflow.contrib import slim\nslim.summarize_collection('losses')",
        "from tensorflow.contrib import slim\nslim.learning.create_train_op(loss, optimizer)",
        "tf.contrib.factorization.KMeans([x], 3).training_graph()",
        "tf.import_graph_def(saved)",
        "tf.train.import_meta_graph('model.meta')",
        "tf.estimator.Estimator(print)",
        "tf.keras.callbacks.TensorBoard('logs', histogram_freq=1)",
        "tf.train.Supervisor()",
        "tf.cond(loss > 0, lambda: tf.summary.scalar('a', loss), lambda: '')",
        "tf.map_fn(lambda k: tf.summary.scalar('a', k), x)",
        "tf.py_func(print, [x], [])",
        "tf.add_to_collection('summaries', loss)",
        "tf.get_default_graph().add_to_collection('summaries', loss)",
        "tf.get_collection_ref(tf.GraphKeys.SUMMARIES).append(loss)",
        "tf.get_default_graph()._collections['summaries'] = [loss]",
        "key = 'summaries'",
        "tf.summary.merge([loss], collections=['summaries'])",
        "from tensorflow.python.framework.ops import add_to_collection",
        "getattr(tf.summary, 'scalar')('a', loss)",
        "for module in [tf.train]:\n    module.batch([x], 3)",
        "def f(module=tf):\n    module.train.batch([x], 3)\nf()",
        "def f(show):\n    show('a', loss)\nf(tf.summary.scalar)",
        "import importlib\nimportlib.import_module('mymodel')",
        "__import__('mymodel')",
        "import runpy\nrunpy.run_path('model.py')",
        "import functools\nfunctools.partial(tf.summary.scalar, 'a')(loss)",
        "list(map(tf.summary.scalar, ['a'], [loss]))",
        "from tensorflow.python.summary import summary\nsummary.scalar('a', loss)",
        "class Net(tf.keras.Model):\n    pass\nNet()",
        "from library import wrap\n@wrap\ndef f():\n    pass",
        "@unknown\ndef f():\n    pass",
        "@tf.function\ndef f():\n    pass",
    ],
)
def test_what_may_make_summaries_unseen(code: str) -> None:
    found = fetch(f"{LOSS}{code}")
    assert found.trouble == "fetch-not-traced"
    assert found.message.startswith("`v` depends on all summaries of the graph, and line ")


@pytest.mark.parametrize(
    ("code", "merged"),
    [
        (LOSS, "tf.summary.merge_all('summaries')"),
        (LOSS, "tf.summary.merge_all(key='others')"),
        (LOSS, "tf.summary.merge_all(scope='train')"),
        (LOSS, "[tf.summary.merge_all() for k in range(2)][0]"),
        (LOSS, "tf.summary.merge_all() if flag else loss"),
        (LOSS, "tf.summary.merge([tf.summary.merge_all()])"),
        ("", "tf.summary.merge_all()"),
        (f"def never():\n    {LOSS}", "tf.summary.merge_all()"),
        (f"{LOSS}def f():\n    return tf.summary.merge_all()\ng(f)", "f()"),
    ],
)
def test_collections_that_are_not_followed(code: str, merged: str) -> None:
    assert fetch(code, merged).trouble == "fetch-not-traced"


@pytest.mark.parametrize(
    "code",
    [
        "tf.summary.scalar('a', loss, collections=['others'])",
        "tf.summary.scalar('a', loss, ['others'])",
        f"tf.summary.scalar(*['a', {NOISE}])",
        f"tf.summary.scalar(**dict(name='a', tensor={NOISE}))",
        f"with unknown:\n    {LOSS}",
        "tf.summary.scalar('a', unknown)",
        f"list(map(lambda k: tf.summary.scalar('a', k), [{NOISE}]))",
        f"def show(*ks):\n    for k in ks:\n        tf.summary.scalar('a', k)\nshow({NOISE})",
        f"def show(**values):\n    tf.summary.scalar('a', values['k'])\nshow(k={NOISE})",
        f"{HELPER}show(*['a', {NOISE}])",
        f"{HELPER}import functools\nfunctools.partial(show, 'a')({NOISE})",
        f"{HELPER}f = lambda k: show('a', k)\nf({NOISE})",
        f"def f(k):\n    def inner():\n        tf.summary.scalar('a', k)\n    inner()\nf({NOISE})",
        f"k = loss\ndef f():\n    global k\n    k = {NOISE}\nf()\ntf.summary.scalar('a', k)",
        "for k in tf.trainable_variables():\n    tf.summary.histogram(k.op.name, k)",
        (
            "class A:\n    @staticmethod\n    def show(n, k):\n        tf.summary.scalar('a', k)\n"
            f"    def f(self):\n        self.show(loss, {NOISE})\nA().f()"
        ),
        f"class A:\n    def f(self, k):\n        tf.summary.scalar('a', k)\nA.f(A(), {NOISE})",
    ],
)
def test_summaries_that_are_not_followed(code: str) -> None:
    assert fetch(code).trouble == "fetch-not-traced"


# ---- traps: what is beneath --------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        f"{LOSS}tf.summary.scalar('a', {NOISE})",
        "tf.summary.histogram('a', tf.nn.dropout(logits, 0.5))",
        f"tf.summary.image('a', x + {NOISE})\ntf.summary.audio('b', x, 8000)",
        f"if flag:\n    tf.summary.scalar('a', {NOISE})",
        f"try:\n    tf.summary.scalar('a', {NOISE})\nexcept ValueError:\n    pass",
        f"for k in [loss, {NOISE}]:\n    tf.summary.scalar('a', k)",
        f"for n, k in {{'a': loss, 'b': {NOISE}}}.items():\n    tf.summary.scalar(n, k)",
        f"ks = [loss]\nks.append({NOISE})\nfor k in ks:\n    tf.summary.scalar('a', k)",
        f"[tf.summary.scalar('a', k) for k in [loss, {NOISE}]]",
        f"f = tf.summary.scalar\nf('a', {NOISE})",
        f"from tensorflow import summary\nsummary.scalar('a', {NOISE})",
        f"tf.compat.v1.summary.scalar('a', {NOISE})",
        f"{HELPER}show('a', loss)\nshow('b', {NOISE})",
        f"{HELPER}show('a', value={NOISE})",
        f"{HELPER}[show('a', k) for k in [loss, {NOISE}]]",
        f"{HELPER}def more(k):\n    show('a', k)\nmore(loss)\nmore({NOISE})",
        f"def show(k={NOISE}):\n    tf.summary.scalar('a', k)\nshow()",
        f"def show(n, k):\n    tf.summary.scalar('a', k)\n    show(n - 1, {NOISE})\nshow(3, loss)",
        f"k = loss\ndef f():\n    tf.summary.scalar('a', k)\nk = {NOISE}\nf()",
        f"def d(f):\n    tf.summary.scalar('a', {NOISE})\n    return f\n@d\ndef g():\n    pass",
        f"def g():\n    yield tf.summary.scalar('a', {NOISE})\nlist(g())",
        f"class A:\n    def __add__(self, k):\n        tf.summary.scalar('a', {NOISE})\nA() + 1",
        (
            f"class A:\n    def __init__(self, k):\n        self.k = k\n        self.show()\n"
            f"    def show(self):\n        tf.summary.scalar('a', self.k)\nA(loss)\nA({NOISE})"
        ),
        (
            "class A:\n    def __init__(self):\n        self.show(loss)\n"
            f"        self.show({NOISE})\n"
            "    def show(self, k):\n        tf.summary.scalar('a', k)\nA()"
        ),
        (
            f"class A:\n    def show(self):\n        {LOSS}class B(A):\n    def show(self):\n"
            f"        tf.summary.scalar('a', {NOISE})\nB().show()"
        ),
    ],
)
def test_noise_is_found_wherever_a_summary_is_made(code: str) -> None:
    assert fetch(code).trouble in ("random-beneath", "fetch-not-traced")


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("tf.summary.scalar('a', tf.assign(b, b))", "writes-state"),
        ("_, k = tf.metrics.mean(loss)\ntf.summary.scalar('a', k)", "writes-state"),
        ("tf.summary.scalar('a', tf.Print(loss, [loss]))", "host-effect-beneath"),
        (
            "q = tf.FIFOQueue(3, [tf.float32])\ntf.summary.scalar('a', q.dequeue())",
            "iterator-beneath",
        ),
        (
            f"with tf.control_dependencies([tf.assign(b, b)]):\n    {LOSS}",
            "writes-state",
        ),
    ],
)
def test_other_effects_beneath(code: str, trouble: str) -> None:
    assert fetch(code).trouble == trouble


def test_control_inputs_of_the_merged_summaries_are_beneath_them() -> None:
    code = (
        f"{LOSS}with tf.control_dependencies([tf.assign(b, b)]):\n    k = tf.summary.merge_all()\n"
    )
    assert fetch(code, "k").trouble == "writes-state"


# ---- what is followed --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        LOSS,
        f"tf.reset_default_graph()\ntf.set_random_seed(1)\n{LOSS}",
        f"with tf.name_scope('summaries'):\n    {LOSS}",
        f"import os\nfrom tensorflow.python.framework import ops\n{LOSS}",
        "tf.summary.histogram('h', logits)\ntf.summary.text('t', tf.as_string(loss))",
        f"if flag:\n    {LOSS}",
        f"dense = tf.layers.dense(x, 3)\ntf.losses.absolute_difference(dense, logits)\n{LOSS}",
        f"tf.contrib.layers.relu(x, 3)\nk = tf.keras.layers.Dense(3)\nk(x)\n{LOSS}",
        f"with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n{LOSS}",
        f"print(tf.__version__, tf.VERSION, isinstance(x, tf.Tensor))\n{LOSS}",
        f"print(x.get_shape().as_list())\nx.set_shape([3, 8])\n{LOSS}",
        f"from tensorflow.examples.tutorials import mnist as m\nm.read_data_sets('data')\n{LOSS}",
        "for n, k in {'a': loss, 'b': accuracy}.items():\n    tf.summary.scalar(n, k)",
        "for k in [w, b]:\n    tf.summary.histogram(k.op.name, k)",
        f"{HELPER}show('a', loss)\nshow('b', accuracy)",
        f"slim = tf.contrib.slim\nslim.fully_connected(x, 3, activation_fn=tf.nn.relu)\n{LOSS}",
        f"tf.cast(x, tf.float32)\ntf.get_variable('k', [3], tf.int32)\n{LOSS}",
        f"{HELPER}def more(k):\n    show(k.op.name, k)\nmore(loss)\nmore(accuracy)",
        (
            "class A:\n    def __init__(self, k):\n        self.k = k\n        self.show()\n"
            "    def show(self):\n        tf.summary.scalar('a', self.k)\nA(loss)\nA(accuracy)"
        ),
    ],
)
def test_summaries_that_only_read(code: str) -> None:
    found = fetch(code)
    assert found.message == ""
    assert found.reads_only


def test_what_is_made_later_is_not_collected() -> None:
    assert fetch(
        f"{LOSS}k = tf.summary.merge_all()\ntf.summary.scalar('a', {NOISE})", "k"
    ).reads_only


@pytest.mark.parametrize("merged", ["[loss, {}]", "dict(a={})", "(x, [{}])"])
def test_merged_summaries_are_followed_in_structures(merged: str) -> None:
    call = "tf.summary.merge_all()"
    values = {
        node.symbol for root in fetch(LOSS, merged.format(call)).roots for node in beneath(root)
    }
    assert "summary.scalar" in values


def test_a_value_without_summaries_stays_the_same_node() -> None:
    found = with_graph("v = [loss, accuracy]  # here\n")
    value = found.graph.trace(expression(found))
    assert found.collected_summaries.followed(value) is value


def test_other_rules_see_a_collection_as_before() -> None:
    found = with_graph(f"{LOSS}v = tf.summary.merge_all()  # here\n")
    value = found.graph.trace(expression(found))
    assert found.collected_summaries.followed(value).inputs
    assert value.kind is Kind.OP and not value.inputs
    assert value.effect is not None and value.effect.collections


def test_what_runs_once_is_followed_as_a_run_of_that_function_sees_it() -> None:
    """So it is known of a helper's tensor that the update of the same function waits for it."""
    code = "def main():\n    h = tf.tanh(w)\n    tf.summary.scalar('a', h)\n"
    code += "    k = tf.summary.merge_all()\n"
    found = with_graph(code + "    v = k  # here\nmain()\n")
    merged = found.collected_summaries.followed(found.graph.trace(expression(found)))
    (tanh,) = (node for node in beneath(merged) if node.symbol == "tanh")
    call = next(call for call in found.classes.calls("tanh"))
    assert found.graph.trace(call) is tanh
    twice = with_graph(code + "    v = k  # here\nmain()\nmain()\n")
    merged = twice.collected_summaries.followed(twice.graph.trace(expression(twice)))
    call = next(call for call in twice.classes.calls("tanh"))
    assert twice.graph.trace(call) not in set(beneath(merged))


def test_what_the_table_says_to_register_is_told_from_what_was_seen_to_add_summaries() -> None:
    """On 1.15.5, where each symbol that adds to any collection was called and its graph read."""
    adding = {
        f"train.{name}"
        for name in (
            "batch batch_join input_producer maybe_batch maybe_batch_join range_input_producer"
            " shuffle_batch shuffle_batch_join slice_input_producer string_input_producer"
        ).split()
    } | {
        f"contrib.{module}.{name}"
        for module in ("layers", "slim")
        for name in (
            "optimize_loss summarize_activation summarize_collection summarize_tensor"
            " summarize_tensors"
        ).split()
    }
    registering = {
        symbol
        for symbol in symbols_of("1")
        if (effect := effect_of(symbol, "1")) is not None and effect.registers
    }
    assert adding < registering
    collected = with_graph("").collected_summaries
    seen = {symbol for symbol in registering if collected.symbol_may_add(symbol)}
    assert {symbol for symbol in seen if not symbol.startswith("contrib.opt.")} == adding | {
        "add_to_collection",
        "add_to_collections",
    }
