"""Which steps stand in loops, and what a function of one would take and give."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.eager.inline_steps import InlineStep
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.sure_values import SureValues

HEAD = "import tensorflow as tf\nmodel, data, optimizer, mean = make()\n"
STEP = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def steps(text: str) -> tuple[list[InlineStep], list[InlineStep | Obstacle]]:
    found = facts(HEAD + textwrap.dedent(text))
    every = found.inline_steps.all
    return every, [found.step_names.of(one) for one in every]


def loop(step: str = STEP, before: str = "", after: str = "") -> str:
    body = textwrap.indent(before + step + after, "    ")
    return f"for x in data:\n{body}"


def named(text: str) -> InlineStep:
    _, (found,) = steps(text)
    assert isinstance(found, InlineStep), found
    return found


def obstacle(text: str) -> str:
    _, (found,) = steps(text)
    assert isinstance(found, Obstacle), found
    return found.message


def test_the_step_ends_at_its_last_update() -> None:
    ((step,), _) = steps(loop(after="mean.update_state(loss)\nprint(loss)\n"))
    assert [type(one) for one in step.statements] == [ast.With, ast.Assign, ast.Expr, ast.Expr]
    assert isinstance(step.around, ast.For)


def test_the_function_would_stand_above_the_outermost_loop() -> None:
    ((step,), _) = steps("while more():\n" + textwrap.indent(loop(), "    "))
    assert isinstance(step.around, ast.While)


@pytest.mark.parametrize(
    "text",
    [
        STEP,
        "for x in data:\n    with x:\n" + textwrap.indent(STEP, "        "),
        "for x in data:\n    pass\nelse:\n" + textwrap.indent(STEP, "    "),
        "class A:\n" + textwrap.indent(loop(), "    "),
        "@tf.function\ndef run():\n" + textwrap.indent(loop(), "    "),
    ],
)
def test_other_tapes_are_no_steps(text: str) -> None:
    assert steps(text) == ([], [])


def test_a_step_may_stand_under_conditions() -> None:
    inner = "if x:\n    pass\nelif x is None:\n" + textwrap.indent(STEP, "    ")
    assert len(steps(loop(inner))[0]) == 1


def test_a_tape_in_another_is_of_its_step() -> None:
    inner = "with tf.GradientTape() as outer:\n" + textwrap.indent(STEP, "    ")
    assert len(steps(loop(inner))[0]) == 1


def test_parameters_are_what_the_loop_changes() -> None:
    assert named(loop()).parameters == ("x",)
    step = named(loop(STEP.replace("model(x)", "model(x) * rate"), before="rate = next_rate()\n"))
    assert step.parameters == ("x", "rate")
    step = named("rate = 1.0\n" + loop(STEP.replace("model(x)", "model(x) * rate")))
    assert step.parameters == ("x",)


def test_a_comprehension_reads_parameters() -> None:
    step = named(loop(STEP.replace("grads = tape", "grads = [x * g for g in ()] or tape")))
    assert step.parameters == ("x",)


def test_results_are_what_is_read_elsewhere() -> None:
    assert named(loop()).results == ()
    assert named(loop(after="print(loss)\n")).results == ("loss",)
    assert named(loop() + "print(loss, grads)\n").results == ("loss", "grads")
    assert named(loop() + "def show():\n    print(loss)\n").results == ("loss",)
    assert named(loop() + "del loss\n").results == ("loss",)
    assert named(loop() + "loss += 1\n").results == ("loss",)


def test_what_another_loop_binds_again_is_not_read_from_this_one() -> None:
    _, found = steps(loop() + loop(after="print(loss)\n"))
    assert [one.results for one in found if isinstance(one, InlineStep)] == [(), ("loss",)]


def test_what_is_carried_to_the_next_turn_goes_through_the_loop() -> None:
    carried = STEP.replace("model(x)", "model(x) + old").replace(
        "grads =", "old = 2 * loss\ngrads ="
    )
    step = named("old = 0.0\n" + loop(carried))
    assert (step.parameters, step.results) == (("x", "old"), ("old",))
    added = STEP.replace("grads =", "total += loss\ngrads =")
    step = named("total = tf.zeros([])\n" + loop(added))
    assert (step.parameters, step.results) == (("x", "total"), ("total",))


@pytest.mark.parametrize(
    ("inserted", "words"),
    [
        ("if x is None:\n    break\n", "leaves the step"),
        ("if x is None:\n    continue\n", "leaves the step"),
        ("def inner():\n    pass\n", "makes more than values"),
        ("import os\n", "makes more than values"),
        ("if x is None:\n    loss = 1\n    seen = 2\nloss += seen\n", "may be of the turn before"),
        ("del x\n", "deletes `x`"),
        ("del y\n", "deletes `y`"),
        ("twice = x\n", "another name too"),
        ("twice = [x]\n", "another name too"),
        ("twice = other = loss * 2\n", "another name too"),
    ],
)
def test_what_cannot_be_lifted_out(inserted: str, words: str) -> None:
    step = STEP.replace("grads =", inserted + "grads =")
    assert words in obstacle(loop(step, before="y = x\n", after="print(twice, seen)\n"))


def test_a_result_must_be_sure() -> None:
    step = STEP.replace("grads =", "if x is None:\n    n = 2 * loss\ngrads =")
    assert "under a condition" in obstacle(loop(step) + "print(n)\n")
    both = STEP.replace("grads =", "if x is None:\n    n = 1\nelse:\n    n = 2\ngrads =")
    assert named(loop(both) + "print(n)\n").results == ("n",)


def test_names_of_others_cannot_be_bound() -> None:
    run = "def run():\n    global loss\n" + textwrap.indent(loop(), "    ")
    assert "outside of the function" in obstacle(run)
    assert "hands names of the module out" in obstacle("__all__ = ['loss']\n" + loop())


def test_which_object_a_result_is_may_be_asked() -> None:
    assert "asks which object" in obstacle(loop(after="print(loss is other)\n"))
    assert named(loop(after="print(loss is None)\n")).results == ("loss",)


def test_a_line_that_goes_on_is_not_cut() -> None:
    step = STEP.rstrip("\n") + "; print(x)\n"
    assert "goes on" in obstacle(loop(step))


@pytest.mark.parametrize(
    ("before", "number"),
    [
        ("", 0),
        ("y = tf.square(x)\n", 1),
        ("y = tf.square(x)\nz = tf.cast(2 * y, tf.float32)\n", 2),
        ("z = tf.random.normal([2])\ny = tf.square(x)\n", 1),
        ("y = tf.square(x)\nprint(y)\n", 0),
        ("y = tf.square(unknown)\n", 0),
        ("y = tf.square(model(x))\n", 0),
        ("y = z = tf.square(x)\n", 0),
        ("y = tf.random.normal([2])\n", 0),
        ("y = tf.Variable(1.0)\n", 0),
    ],
)
def test_longer_steps_begin_with_ops(before: str, number: int) -> None:
    text = loop(before=before).replace("in data", "in tf.data.Dataset.range(9)")
    found = facts(HEAD + text)
    (step,) = found.inline_steps.all
    wider = found.inline_steps.wider(step)
    longer = [len(one.statements) - len(step.statements) for one in wider]
    assert longer == [*[number] * bool(number), 0]


UPDATE = "optimizer.apply_gradients(zip(grads, model.variables))\n"


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        (STEP + UPDATE, [4]),
        ("loss, grads = step(x)\n" + UPDATE + "print(loss)\n", [1]),
        ("if x:\n    grads = step(x)\n    " + UPDATE, [1]),
        (UPDATE + UPDATE + "print(x)\n" + UPDATE, [2, 1]),
        ("with x:\n    " + UPDATE, []),
        ("for y in x:\n    " + UPDATE, [1]),
        ("table.apply(x)\n", []),
        ("print(tf.apply_gradients(x))\n", []),
    ],
)
def test_updates_beside_a_step_are_found(body: str, sizes: list[int]) -> None:
    found, _ = steps(loop(body))
    assert [len(one.statements) for one in found] == sizes


FUNCTION = "def run(grads):\n    print(grads)\n" + textwrap.indent(UPDATE, "    ")
CALLS = "for x in data:\n    run([x])\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (FUNCTION + CALLS, 1),
        (FUNCTION + "run([1])\n", 0),
        (FUNCTION, 0),
        ("@tf.function\n" + FUNCTION + CALLS, 0),
        (FUNCTION.replace("    opt", "    with data:\n        opt") + CALLS, 0),
        (FUNCTION + CALLS + "runs = [run]\n", 0),
    ],
)
def test_updates_of_functions_that_loops_call(text: str, count: int) -> None:
    assert len(steps(text)[0]) == count


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (UPDATE, ""),
        (UPDATE + "mean.update_state(x)\n", ""),
        (UPDATE + "mean.update_state(net(x))\n", "`net` in line 8"),
        (UPDATE + "mean.update_state(own(x))\n", "`own` in line 8"),
        (UPDATE.replace("(grads", "(own(grads)"), "`own` in line 7"),
    ],
)
def test_what_may_read_what_an_update_changes(body: str, what: str) -> None:
    head = "net = tf.keras.layers.Dense(1)\ndef own(x):\n    return x\n"
    found = facts(HEAD + head + loop(body))
    (step,) = found.inline_steps.all
    races = found.inline_steps.races(step)
    assert what in (races.message if races else "")
    assert (races is None) == (not what)


def test_a_step_is_reported_at_what_makes_it_one() -> None:
    ((step,), _) = steps(loop())
    assert ast.unparse(step.heart) == "tf.GradientTape()"
    ((update,), _) = steps(loop(UPDATE))
    assert ast.unparse(update.heart) == UPDATE.strip()


def test_shorter_steps_end_at_earlier_updates() -> None:
    found = facts(HEAD + loop())
    (step,) = found.inline_steps.all
    shorter = found.inline_steps.shorter(step)
    assert shorter is not None
    assert len(shorter.statements) == 2
    assert found.inline_steps.shorter(shorter) is None


RUN = "def run(self, model):\n" + textwrap.indent(loop(), "    ")
CLASS = "class A:\n" + textwrap.indent(RUN, "    ")


@pytest.mark.parametrize(
    ("text", "place", "owner"),
    [
        (loop(), ast.For, ""),
        (RUN + "run(1, 2)\n", ast.For, ""),
        (RUN, ast.FunctionDef, ""),
        (RUN + "run(1, 2)\nrun(1, 2)\n", ast.FunctionDef, ""),
        (RUN + "for _ in data:\n    run(1, 2)\n", ast.FunctionDef, ""),
        (CLASS, ast.FunctionDef, "self"),
        (CLASS.replace("    def", "    @property\n    def"), None, ""),
        (CLASS.replace("for x", "self = 1\n        for x", 1), None, ""),
        ("if data:\n" + textwrap.indent(RUN, "    "), None, ""),
        ("def outer():\n" + textwrap.indent(RUN, "    ") + "    run()\n    run()\n", None, ""),
    ],
)
def test_the_function_is_made_once(text: str, place: type | None, owner: str) -> None:
    found = facts(HEAD + text)
    (step,) = found.inline_steps.all
    placed = found.inline_steps.placed(step)
    if place is None:
        assert isinstance(placed, Obstacle)
        assert placed.reason == "traced-again"
    else:
        assert isinstance(placed, InlineStep)
        assert (type(placed.place), placed.owner) == (place, owner)


def test_before_a_function_all_of_its_names_are_parameters() -> None:
    found = facts(HEAD + CLASS)
    (step,) = found.inline_steps.all
    placed = found.inline_steps.placed(step)
    assert isinstance(placed, InlineStep)
    full = found.step_names.of(placed)
    assert isinstance(full, InlineStep)
    assert full.parameters == ("model", "x")


def test_what_a_function_makes_is_not_handed_on() -> None:
    found = facts(HEAD + RUN.replace("    for x", "    import tensorflow as tf\n    for x", 1))
    (step,) = found.inline_steps.all
    placed = found.inline_steps.placed(step)
    assert isinstance(placed, InlineStep)
    assert isinstance(found.step_names.of(placed), Obstacle)


@pytest.mark.parametrize(
    ("text", "bound", "missing"),
    [
        ("a = 1", {"a"}, None),
        ("a: int = 1", {"a"}, None),
        ("a: int", set(), None),
        ("for a in b:\n    c = a", set(), None),
        ("if b:\n    a = 1", set(), None),
        ("if b:\n    a = 1\nprint(a)", set(), "a"),
        ("if b:\n    a = 1\nelse:\n    a = 2\nprint(a)", {"a"}, None),
        ("a = 1\ndel a\nprint(a)", set(), "a"),
        ("a += 1", set(), "a"),
        ("with b() as a:\n    c = a", {"a", "c"}, None),
        ("a, (c, *d) = b", {"a", "c", "d"}, None),
    ],
)
def test_values_that_are_sure(text: str, bound: set[str], missing: str | None) -> None:
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    found = SureValues(names, ())
    found.go_through(tree.body)
    assert found.bound == bound
    assert (found.missing.id if found.missing else None) == missing
