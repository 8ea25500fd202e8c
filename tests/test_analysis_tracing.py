"""What is known of values in eager code, and whether functions can be traced and replayed."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import class_, expression, facts, function, marked, use
from tfrewrite.analysis import keras_things
from tfrewrite.analysis.abstract_values import (
    Array,
    Bottom,
    Code,
    Dataset,
    Done,
    Group,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    changed,
    group,
    join,
    joined,
    made_by,
    may_be_one,
    part_of,
    parts,
)
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.kept_objects import changed_later
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.trace import Trace, TraceError
from tfrewrite.analysis.tracing import returnable

START = """\
import numpy as np
import tensorflow as tf

xs = np.zeros((64, 6), np.float32)
data = tf.data.Dataset.from_tensor_slices((xs, xs)).batch(16)
weights = tf.Variable(tf.ones([6]))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""
NONE = Number(ast.Constant(None))


def start(text: str) -> Facts:
    return facts(START + text)


def value(text: str) -> Value:
    """What the expression on the line marked `here` gives."""
    found = start(text)
    return found.eager_values.value(expression(found))


def replayed(text: str, **arguments: Value) -> Trace | Obstacle:
    found = start(text)
    return found.tracing.replayed(Code(function(found, "step")), arguments)


def test_a_list_is_changed_under_all_of_its_names() -> None:
    here, there = frozenset({(ast.Pass(),)}), frozenset({(ast.Pass(),)})
    empty, other = Group((), Bottom(), here), Group((), Bottom(), there)
    new = Group(None, Tensor(), here)
    assert changed(empty, here, new) == new
    both = changed(group(empty, other), here, new)
    assert isinstance(both, Group)
    assert both.items == (new, other)
    assert changed(other, here, new) == other


def test_two_values_are_joined_to_what_holds_of_both() -> None:
    one, two = Number(ast.Constant(1)), Number(ast.Constant(2))
    assert join(Bottom(), one) == one
    again = join(one, Number(ast.Constant(1)))
    assert isinstance(again, Number)
    assert again.literal is not None
    assert join(one, two) == Number()
    assert join(one, Number(ast.Constant(value=True))) == Number()
    assert join(one, Tensor()) == Number(tensor=Tensor())
    assert join(Tensor(), Tensor(static=False)) == Tensor(static=False)
    assert isinstance(join(Tensor(), Array()), Unknown)
    assert isinstance(join(Unknown("why"), Tensor()), Unknown)
    either = join(join(one, Tensor(squashed=True)), Tensor(static=False))
    assert either == Number(tensor=Tensor(squashed=True, static=False))
    assert parts(either) == [either, Tensor(squashed=True, static=False)]
    both = join(group(one, Tensor()), group(two, Tensor()))
    assert isinstance(both, Group)
    assert both.items == (Number(), Tensor())
    assert joined() == Bottom()


def test_what_a_call_gives_is_made_by_the_call() -> None:
    inner, outer = ast.Constant(1), ast.Constant(2)
    thing = Thing("model", "keras.Sequential", frozenset({inner}))
    assert made_by(thing, outer) == Thing("model", "keras.Sequential", frozenset({outer}))
    assert parts(made_by(group(thing, Tensor()), outer))[0] == made_by(thing, outer)


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        ("Variable", "variable"),
        ("keras.Sequential", "model"),
        ("keras.layers.Dense", "layer"),
        ("keras.layers.Bidirectional", "layer"),
        ("keras.layers.Layer", None),
        ("keras.optimizers.Adam", "optimizer"),
        ("optimizers.SGD", "optimizer"),
        ("keras.optimizers.LossScaleOptimizer", None),
        ("keras.optimizers.Nadam", None),
        ("keras.optimizers.ScheduleFreeAdamW", None),
        ("keras.optimizers.schedules.ExponentialDecay", "schedule"),
        ("losses.MeanSquaredError", "loss"),
        ("keras.losses.mse", None),
        ("keras.metrics.Mean", "metric"),
        ("random.Generator.from_seed", "generator"),
        ("matmul", None),
    ],
)
def test_kinds_of_things(symbol: str, kind: str | None) -> None:
    assert keras_things.kind_of(symbol) == kind


def test_which_layers_draw_and_make_variables() -> None:
    assert keras_things.draws("keras.layers.Dropout", [])
    assert keras_things.draws("keras.layers.LSTM", ["recurrent_dropout"])
    assert not keras_things.draws("keras.layers.LSTM", ["units"])
    assert keras_things.makes_variables("keras.layers.Dense")
    assert not keras_things.makes_variables("keras.layers.Dropout")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = xs[0:16]  # here", Array()),
        ("for i in range(3):\n    v = xs[i:i + 16]  # here", Array()),
        ("for i in range(3):\n    v = xs[:i]  # here", Array(steady=False)),
        ("v = xs[xs > 1]  # here", Array(steady=False)),
        ("v = tf.matmul(weights, weights)  # here", Tensor()),
        ("v = weights * 2  # here", Tensor()),
        ("v = data.shuffle(10)  # here", Dataset()),
        ("v = next(iter(data))  # here", Tensor(nest=True)),
        ("for x, y in data:\n    v = x  # here", Tensor(nest=True)),
        ("for i, (x, y) in enumerate(data):\n    v = i  # here", Number(varies=True)),
        ("for i, (x, y) in enumerate(data):\n    v = y  # here", Tensor(nest=True)),
        ("(a, b), c = (xs, weights), 3\nv = a  # here", Array(shape=(64, 6))),
        ("v = model.trainable_variables  # here", Group(None, Thing("variable", "Variable"))),
        (
            "@tf.function\ndef f():\n    return weights * 2, 3\nv = f()  # here",
            group(Tensor(), Tensor()),
        ),
        ("v = np.random.RandomState(1).normal(size=3)  # here", Array(shape=(3,))),
    ],
)
def test_values_of_expressions(text: str, expected: Value) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "literal"),
    [("not False", True), ("not 3", False), ("-2", -2), ("-0.5", -0.5), ("+2", None), ("~2", None)],
)
def test_signs_are_a_part_of_numbers(text: str, literal: object) -> None:
    found = value(f"v = {text}  # here")
    assert isinstance(found, Number)
    assert (found.literal.value if found.literal else None) == literal
    trace = replayed(f"def step():\n    return {text}\n")
    assert isinstance(trace, Trace)
    inside = trace.returned
    assert isinstance(inside, Number)
    assert (inside.literal.value if inside.literal else None) == literal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v = something  # here", "not bound"),
        ("v = open('f')  # here", "open"),
        ("ragged = data.padded_batch(3)\nfor x in ragged:\n    v = x  # here", "differ in shape"),
        ("v = tf.keras.layers.Dense(4, activation=something)  # here", "something"),
        ("items = [1]\nitems.append(2)\nv = items  # here", "may be changed"),
    ],
)
def test_what_is_not_known_says_why(text: str, words: str) -> None:
    found = value(text)
    assert isinstance(found, Unknown)
    assert words in found.why


def test_a_functional_model_holds_the_code_of_its_layers() -> None:
    found = start("""
inputs = tf.keras.Input((6,))
h = tf.keras.layers.Lambda(lambda t: t)(inputs)
for _ in range(2):
    h = tf.keras.layers.Dropout(0.5)(h)
net = tf.keras.Model(inputs, h)  # here
""")
    net = found.eager_values.value(expression(found))
    assert isinstance(net, Thing)
    assert net.draws
    assert [type(node) for node in net.code] == [ast.Lambda]


def test_a_captured_name_is_bound_once() -> None:
    found = start("k = 1.0\nj = 1.0\nj = 2.0\n\ndef f():\n    return k + j  # here\n")
    assert isinstance(found.eager_values.captured(use(found, "k")), Number)
    assert isinstance(found.eager_values.captured(use(found, "j")), Unknown)


TRAINER = """
class Trainer:
    gamma = 0.9

    def __init__(self, rate):
        self.rate = rate
        self.layers = []
        self.layers.append(tf.keras.layers.Dense(1))
        self.count = 0

    def step(self):
        self.count += 1

trainer = Trainer(0.1)
"""


def test_members_are_what_init_stores() -> None:
    found = start(TRAINER)
    members, cls = found.eager_values.members, class_(found, "Trainer")
    rate = members.member(cls, "rate")
    assert isinstance(rate, Number)
    assert not rate.varies
    assert isinstance(members.member(cls, "gamma"), Number)
    layers = members.member(cls, "layers")
    assert isinstance(layers, Group)
    assert isinstance(layers.each, Thing)
    assert isinstance(members.member(cls, "count"), Unknown)
    assert isinstance(members.member(cls, "step"), Code)
    assert members.base(cls) is None
    assert not members.subclassed(cls)


def test_a_list_of_the_class_that_is_changed_is_unknown() -> None:
    text = "class Trainer:\n    rates = [1.0]\n\ntrainer = Trainer()\n"
    found = start(text)
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rates"), Group)
    found = start(text + "trainer.rates[0] = 2.0\n")
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rates"), Unknown)


def test_a_member_that_somebody_else_sets_is_unknown() -> None:
    found = start(TRAINER + "trainer.rate = 0.2\n")
    assert isinstance(found.eager_values.members.member(class_(found, "Trainer"), "rate"), Unknown)


def test_places_that_are_reached_once() -> None:
    found = start("""
def once():
    pass  # once

def twice():
    pass  # twice

once()
twice()
twice()
for i in range(3):
    pass  # loop
""")
    assert found.eager_values.runs_once(marked(found, "once"))
    assert not found.eager_values.runs_once(marked(found, "twice"))
    assert not found.eager_values.runs_once(marked(found, "loop"))


def test_a_trace_knows_what_it_uses_and_gives() -> None:
    found = replayed(
        """
def step(x):
    noise = tf.random.normal([16, 6])
    y = model(x + noise)
    weights.assign_sub(tf.reduce_mean(y) * weights)
    return {"y": y, "n": noise}
""",
        x=Tensor(),
    )
    assert isinstance(found, Trace)
    assert len(found.draws) == 1
    assert found.updates
    assert [thing.kind for thing in found.things] == ["model"]
    assert not returnable(found.returned)


def test_both_sides_of_a_condition_are_gone_through() -> None:
    text = """
def step(x, flag):
    if flag:
        y = x * 2
    else:
        y = 3
    return y
"""
    found = replayed(text, x=Tensor(), flag=Number())
    assert isinstance(found, Trace)
    assert returnable(found.returned)
    found = replayed(text, x=Tensor(), flag=Number(ast.Constant(value=True)))
    assert isinstance(found, Trace)
    assert not returnable(found.returned)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("return x.numpy()", "reads-on-host"),
        ("return x if x > 1 else 2", "tensor-decides"),
        ("return tf.Variable(x)", "makes-variables"),
        ("return unseen(x)", "captured-not-fixed"),
        ("a, b = x\n    return a", "fails-when-traced"),
        ("return step(x)", "not-followed"),
        ("x.value = 3", "python-effect"),
        ("return tf.py_function(len, [x], tf.int32)", "python-effect"),
        ("return tf.no_such_thing(x)", "unknown-call"),
        ("return [v for v in range(500)]", "unrolls"),
    ],
)
def test_what_stops_a_trace(lines: str, reason: str) -> None:
    found = replayed(f"def step(x):\n    {lines}\n", x=Tensor())
    assert isinstance(found, Obstacle)
    assert found.reason == reason


def test_an_error_of_a_trace_is_an_obstacle() -> None:
    assert TraceError("not-followed", "words").obstacle == Obstacle("not-followed", "words")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Tensor(), ""),
        (NONE, ""),
        (group(Tensor(), group(Tensor())), ""),
        (Number(), "Python value"),
        (Thing("variable", "Variable"), "variable"),
        (Tensor(array=True), "numpy"),
        (Done("`assign`"), "`assign`"),
        (Group(None, Tensor(), lazy=True), "only once"),
        (Dataset(), "no tensor"),
    ],
)
def test_what_a_trace_can_give(given: Value, words: str) -> None:
    assert (words in returnable(given)) if words else not returnable(given)


LOOP = """
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    return tape.gradient(loss, model.trainable_variables)

def run():
    for x, y in data:
        step(x)

run()
"""


def test_steps_are_found_by_the_loops_around_their_callers() -> None:
    found = start(LOOP)
    (step,) = found.step_functions.all()
    assert step.function.name == "step"
    assert step.calls is not None
    assert len(step.calls) == 1
    assert isinstance(found.step_functions.replayed(step), Trace)


def test_a_function_that_no_loop_calls_is_no_step() -> None:
    text = LOOP.replace("    for x, y in data:\n        step(x)", "    step(xs)")
    assert not start(text).step_functions.all()


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("model.trainable = False\n", "", False),
        ("for layer in model.layers:\n    layer.trainable = False\n", "", False),
        ("", "model.trainable = False\n", True),
        ("", "model.learning_rate = 0.1\n", False),
        ("", "tf.keras.backend.clear_session()\n", True),
        ("tf.keras.backend.set_floatx('float64')\n", "", False),
    ],
)
def test_objects_may_change_before_the_first_call_only(
    before: str, after: str, *, changed: bool
) -> None:
    text = LOOP.replace("\nrun()\n", f"\n{before}run()\n{after}")
    found = start(text)
    (step,) = found.step_functions.all()
    assert step.calls is not None
    trace = Trace(things=[Thing("model", "keras.Sequential")])
    assert (changed_later(found, trace, step.calls) is not None) is changed
    assert changed_later(found, Trace(), step.calls) is None


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("k = 1\nk = 2\nfor x in data:\n    step(x)\nk = 3\n", True),
        ("k = 1\nfor x in data:\n    step(x)\n    k = 2\n", False),
        ("k = 1\nfor k in data:\n    step(x)\n", False),
        ("if xs:\n    k = 1\nelse:\n    k = 2\nfor x in data:\n    step(x)\n", False),
        ("def other():\n    global k\n    k = 1\nk = 2\nfor x in data:\n    step(x)\n", False),
    ],
)
def test_what_is_captured_during_a_loop(text: str, *, known: bool) -> None:
    found = start("def step(x):\n    return x * k  # here\n" + text)
    (loop,) = found.source.all(ast.For)
    value = found.eager_values.captured(use(found, "k"), loop)
    assert isinstance(value, Number) == known
    assert isinstance(found.eager_values.captured(use(found, "k")), Unknown)


def test_two_lists_make_one() -> None:
    found = value("(model.trainable_variables + [weights])  # here\n")
    assert isinstance(found, Group)
    assert {one.kind for one in parts(found) if isinstance(one, Thing)} == {"variable"}
    known = value("([xs] + [1])  # here\n")
    assert isinstance(known, Group)
    assert known.items is not None
    assert [type(one) for one in known.items] == [Array, Number]


def test_what_a_tape_gives() -> None:
    text = "with tf.GradientTape() as tape:\n    y = model(xs)\n"
    assert value(text + "tape.gradient(y, xs + weights)  # here\n") == Tensor()
    found = value(text + "tape.gradient(y, [weights, weights])  # here\n")
    assert found == group(Tensor(), Tensor())
    assert isinstance(value(text + "tape.gradient(y, other)  # here\n"), Unknown)


def test_what_a_loss_gives() -> None:
    text = "loss = tf.keras.losses.MeanSquaredError()\n"
    assert value(text + "loss(xs, model(xs))  # here\n") == Tensor()
    assert isinstance(value(text + "loss(xs, tf.keras.Input((3,)))  # here\n"), Unknown)


BLOCK = """
class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.Sequential()
        self.inner.add(tf.keras.layers.Dense(1))

    def call(self, x):
        return self.inner(x)


"""


BLOCKS = """
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = tf.keras.Sequential()
        self.blocks.add(Block())
"""


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("net = tf.keras.Sequential()\nnet.add(Block())\n", True),
        ("net = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nnet.add(Block())\n", True),
        ("net = other = tf.keras.Sequential()\nother.add(Block())\n", True),
        ("net = Block().inner\nnet.add(Block())\n", False),
        ("net = tf.keras.Sequential()\nnet = Block().inner\nnet.add(Block())\n", False),
        ("net = find()\nnet.add(Block())\n", False),
        (BLOCKS, True),
        (BLOCKS.replace("tf.keras.Sequential()", "Block().inner"), False),
        (BLOCKS + "Net().blocks = Block().inner\n", False),
    ],
)
def test_layers_are_added_to_one_model(text: str, *, apart: bool) -> None:
    found = start(BLOCK + text)
    inner = next(
        one.value
        for one in found.source.all(ast.Assign)
        if ast.unparse(one.targets[0]) == "self.inner"
    )
    made = found.eager_values.value(inner)
    assert isinstance(made, Thing)
    assert (not made.code) == apart


PARTS = """
class Block(tf.keras.Model):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = tf.keras.layers.Dense(4)

    def call(self, x):
        return self.inner(x)


shared = tf.keras.layers.Dense(4)


def get():
    return shared


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        one = tf.keras.layers.Dense(4)
        MADE

    def call(self, x):
        CALLED
        return x


net = Net()


def step(x):
    return net(x)
"""
DENSE = "tf.keras.layers.Dense(4)"
IN_TURN = "for part in self.parts:\n            x = part(x)"
LISTED = f"self.parts = [{DENSE} for _ in range(3)]"
PAIR = "x = self.a(self.b(x))"


@pytest.mark.parametrize(
    ("made", "called", "again"),
    [
        (f"self.a = {DENSE}", "x = self.a(self.a(x))", True),
        (f"self.a = self.b = {DENSE}", PAIR, True),
        (f"self.a = {DENSE}\n        self.b = self.a", PAIR, True),
        (f"self.a = {DENSE}\n        self.b = one if self else self.a", PAIR, True),
        ("self.a = get()\n        self.b = get()", PAIR, True),
        ("self.a = Block()\n        self.b = self.a", PAIR, True),
        ("self.a = Block()\n        self.b = tf.keras.Sequential([self.a])", PAIR, True),
        (LISTED, f"{IN_TURN}\n        {IN_TURN}", True),
        (LISTED, f"{IN_TURN}\n        x = self.parts[0](x)", True),
        ("self.parts = [one for _ in range(3)]", IN_TURN, True),
        ("self.parts = [one, one]", IN_TURN, True),
        ("self.a = one", "x = tf.add_n([self.a(part) for part in (x, x)])", True),
        ("self.a = one", "for part in (x, x):\n            x = self.a(part)", True),
        ("self.a = one", "x = tf.add_n([2 * part for part in (self.a(x), x)])", False),
        (LISTED, IN_TURN, False),
        (LISTED, "x = tf.add_n([part(x) for part in self.parts])", False),
        (f"self.parts = [one, {DENSE}]", IN_TURN, False),
        ("self.parts = [Block() for _ in range(3)]", IN_TURN, False),
        ("self.a = Block()\n        self.b = Block()", PAIR, False),
        ("self.a = Block()\n        self.b = Block()", "x = self.a.inner(self.b.inner(x))", False),
        ("self.a = Block()", "x = self.a.inner(self.a(x))", True),
    ],
)
def test_what_is_called_again(made: str, called: str, *, again: bool) -> None:
    found = replayed(PARTS.replace("MADE", made).replace("CALLED", called), x=Tensor())
    assert isinstance(found, Trace), found
    assert bool(found.again) == again


def test_a_part_belongs_to_the_object_that_made_it() -> None:
    first, second, call = ast.Pass(), ast.Pass(), ast.Call(ast.Name("f"), [], [])
    cls = ast.parse("class A: pass").body[0]
    assert isinstance(cls, ast.ClassDef)
    layer = Thing("layer", "keras.layers.Dense", frozenset({call}))
    one, other = (
        part_of(layer, Own(cls, frozenset({maker})), lambda _: True) for maker in (first, second)
    )
    assert isinstance(one, Thing)
    assert isinstance(other, Thing)
    assert not may_be_one(one, other)
    assert may_be_one(one, layer)
    any_part = part_of(layer, Own(cls, frozenset({cls})), lambda _: True)
    assert isinstance(any_part, Thing)
    assert may_be_one(one, any_part)
    assert part_of(layer, Own(cls), lambda _: False) == layer
    both = join(one, other)
    assert isinstance(both, Thing)
    assert may_be_one(both, one)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("x[:2]", ""),
        ("x[: tf.shape(x)[0]]", ""),
        ("x[: tf.argmax(x[0])]", "the part that line 9 takes"),
        ("x[tf.argmax(x[0]) :]", "the part that line 9 takes"),
        ("x[x > 0.0]", "the part that line 9 takes"),
        ("tf.where(x > 0.0)", "what `tf.where` gives in line 9"),
    ],
)
def test_what_has_a_shape_that_only_values_tell(part: str, words: str) -> None:
    found = replayed(f"def step(x):\n    y = {part}\n    return x\n", x=Tensor())
    assert isinstance(found, Trace)
    assert found.shapeless == words


def test_what_a_trace_calls_of_tensorflow_is_noted() -> None:
    text = """\
generator = tf.random.Generator.from_seed(3)
def step(x):
    y = tf.reduce_mean(x)
    return y + generator.normal([3])
"""
    found = replayed(text, x=Tensor())
    assert isinstance(found, Trace)
    assert found.symbols == [("reduce_mean", 10)]
    assert found.generators


def test_steps_that_are_compiled() -> None:
    text = """\
def take(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def once(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weights * x)
    weights.assign_sub(tape.gradient(loss, weights))

@tf.function
def compute(x):
    return x

for x, y in data:
    step(x)
    take(x)
    compute(x)
once(xs)
"""
    steps = start(text).step_functions
    assert [one.function.name for one in steps.all()] == ["take"]
    (one,) = steps.compiled()
    assert one.function.name == "step"
    found = steps.followed(one)
    assert isinstance(found, Trace)
    assert [symbol for symbol, _ in found.symbols] == ["reduce_sum"]
