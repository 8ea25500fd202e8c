"""TFR202 outline-train-step."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Number
from tfrewrite.analysis.eager.array_shapes import rows
from tfrewrite.analysis.eager.inline_steps import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.turns import turns
from tfrewrite.analysis.traces.trace import REASONS
from tfrewrite.edits import EditError, apply_edits
from tfrewrite.line_map import LineMap
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import SURELY_TF2
from tfrewrite.writing.drawn_anew import drawn_anew
from tfrewrite.writing.outlined import kept_lines, outlined
from tfrewrite.writing.spelling import named_before, spelled_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfrewrite.analysis.eager.inline_steps import InlineStep
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.trace import Trace
    from tfrewrite.edits import Edit


_FEW_TURNS = 50
_LOOPS = (ast.For, ast.While)
# Keras gives methods of the name `train_step` a meaning, and functions are often called so.
_NAMES = {
    (Kind.STEP, False): "train_step", (Kind.STEP, True): "compiled_step",
    (Kind.UPDATE, False): "update_step", (Kind.UPDATE, True): "compiled_update",
    (Kind.FORWARD, False): "forward_step", (Kind.FORWARD, True): "compiled_forward",
}  # fmt: skip


class OutlineTrainStep(Rule):
    """Makes a compiled function of a training step, or an evaluation, written out in a loop.

    So it does where a function that a loop calls makes the step and cannot be compiled as a whole.

    ## Why it is slow
    In eager mode each op of the step, of its gradient and of the optimizer goes through Python on
    its own (`tfrewrite explain TFR201` has figures). A loop cannot be compiled while it prints and
    keeps books between its steps; a function of the tensor work alone can.

    ## Before
    ```python
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        print(float(loss))
    ```

    ## After
    ```python
    @tf.function
    def train_step(y, x):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss


    for x, y in dataset:
        loss = train_step(y, x)
        print(float(loss))
    ```
    The step goes from the tape to the last update by it, with the metrics that are updated right
    after it. It takes what gets another value in the loop, and gives what is read elsewhere, after
    the loop too; names that only the step uses are no longer variables around it.

    - The function stands above the outermost loop. Where the function or method around that may be
      called again, it stands above that, as a function of the module or a method, so that it is
      made only once.
    - An update that stands beside a step, as one at every tenth batch does by gradients that are
      gathered meanwhile, becomes a function of its own (`update_step`), with what computes with
      tensors right before it, and with the lists that are made of tensors right after it. Such
      lists right after a step, as the sums of its gradients, go into that.
    - Where an update would race with what its step reads (see below), the step ends at the
      gradient, and the update becomes a function of its own, with the metrics right after it: once
      the step has come back, all that it reads has been read. It pays for one variable, too.
    - Where no tape looks on, what a loop asks a model, or several layers, becomes a function
      (`forward_step`): an evaluation, a text that is written word by word. It goes from the first
      to the last of the statements around that do nothing but compute with tensors. What the next
      one reads in Python, as `total += int(tf.reduce_sum(right))` does, is computed by it, too. An
      inner loop over a list, or over the rows of an array that surely has few, goes into it whole.
      So it is with a function of the file that steps call as well, as `compute_loss(model, x)`, and
      where a metric that is made anew for each epoch, a sum or a list takes what it gives.
    - Prints, summaries, lists and counts in the middle of the step are done right after it, where
      they only look at numbers and tensors that stay what they are until then. Where something else
      must stay in the loop, the step ends at an update or a gradient before it.
    - A number that is another one in other turns is passed as a tensor, `tf.constant(i)`, where
      that does as well (`tfrewrite explain TFR203`); so is one that an object holds and changes,
      as `self.steps`.
    - What is drawn from numpy in the middle of the step is drawn right before it, and passed.

    In a function that loops call, here or around its callers, and that TFR201 refuses, the step
    becomes a function above it, or a method, in the same way:
    ```python
    def learn(self):
        rows = np.random.randint(0, self.size, size=32)
        states = tf.convert_to_tensor(self.memory[rows])
        loss = self.compiled_step(states)
        self.steps += 1
        return float(loss)
    ```
    What it does in Python before and after stays in it. So it is with a model that it asks without
    a tape: of `np.argmax(model(state).numpy())` the call of the model becomes a function.

    ## Contract
    - `rounding`: the same ops on the same objects in the same order. Compiled, they may be fused.
      A model that makes its variables in the first step, such as a `Sequential` one without an
      `Input`, may give them other names inside TensorFlow; their names and paths in Keras are the
      same. Slots that an optimizer makes under a `tf.name_scope` are not named for it, which Keras
      shows before 3.
    - `resampled`: the step draws, and a trace draws from a stream of its own: `tf.random`,
      `tf.nn.dropout`, and layers of Keras before 3 (see TFR201).

    A step that fails ends the script as before, with an error that may have another type (see
    TFR201). What is printed or counted in the middle of a step is not, if the step fails.

    ## Refuses
    The script with the function in it is looked at as TFR201 looks at a function with its only
    call, so all that it refuses is refused here: Python values that vary and that a tensor cannot
    take the place of (`argument-varies`), models and optimizers that are others in other turns or
    calls (`two-objects`), what is done in Python (`python-effect`) or needs the value of a tensor
    (`reads-on-host`), a `try` around the loop, or a function for
    `atexit` (`exception-seen`), results that are no tensors
    (`returns-python`).
    A step is not lifted out (`not-followed`) where it is left before its end, where a name that is
    read elsewhere gets its value under a condition, where a value may be of the turn before, and
    where a result may have another name as well, since a compiled function gives copies.
    A model that is called twice in a step (`called-again`), or whose loss is linear in what it
    gives (`races-with-update`), is never updated in that step: the order of reads and updates hangs
    on an edge that TensorFlow was seen to lose (TFR201). Nor may one that is called twice train.
    Lists of tensors have to be made anew in each turn and to keep their length (`shape-varies`);
    lists that are changed in place, or hold numbers or arrays, are refused
    (`argument-not-known`). An update beside a step that is computed from the values of variables
    is left alone where it may change them, and so is one that models, layers or functions of the
    file are called beside (`races-with-update`).
    Of a function that loops call nothing is said where its step, or its update, cannot be lifted
    out: TFR201 says why it is not compiled.
    Nothing is said of what asks no more than a layer without a tape, which may be faster as it is,
    of a function in it that TFR201 compiles by itself, and of files that do not say that they are
    for TensorFlow 2 (a tape, `tf.function`, `.numpy()`, a seed). Losses that layers add are lost
    outside of a trace (`python-effect`).
    Where the function around the loop may be called again and stands in another function, or is a
    static method, there is no place for a function that is made once (`traced-again`).

    ## When it does not help
    Where the loop makes few steps: tracing takes as long as some dozens of them, or hundreds of
    small ones. Each shape of the arguments is traced once, so a last batch that is smaller costs
    one more trace. A loop that makes at most fifty steps, as it says itself, is left alone
    (`few-turns`); where an update is made at each fourth of them, at most fifty updates count.
    """

    code = "TFR202"
    name = "outline-train-step"
    contracts = (Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), SURELY_TF2)
    reasons = REASONS | {
        "callers-not-seen": "Not all calls of the new function are seen.",
        "traced-again": "The function around the loop may be called again, and trace it anew.",
        "few-turns": "The loop makes so few steps that compiling one takes longer.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for step in [*facts.inline_steps.all, *facts.forward_stretches.all]:
            found = _longest(facts, step, taken)
            span = facts.source.span(step.heart)
            if isinstance(found, Obstacle):
                if isinstance(step.around, ast.FunctionDef):
                    continue  # TFR201 says what is in the way
                yield Refusal(span, found.reason, found.message)
                continue
            taken.add(found.name)
            changes = drawn_anew(facts, found.trace)
            yield Rewrite(
                span,
                f"make a compiled function `{found.name}` of this step",
                "each call does the same to the same objects, and nothing in Python besides",
                Contract.RESAMPLED if changes else Contract.ROUNDING,
                found.edits,
                changes=changes,
            )


@dataclass(frozen=True)
class _Attempt:
    """A step as a function, and what a trace of it does in the text that it makes."""

    name: str
    edits: tuple[Edit, ...]
    text: str
    facts: Facts
    function: ast.FunctionDef
    calls: tuple[ast.Call, ...] | None
    trace: Trace | Obstacle


@dataclass(frozen=True)
class _Outlined:
    """A step as a function that may take its place."""

    name: str
    edits: tuple[Edit, ...]
    trace: Trace


def _longest(facts: Facts, step: InlineStep, taken: set[str]) -> _Outlined | Obstacle:
    """The step with as much of it as can be traced; why not all, where none can."""
    if step.kind is Kind.FORWARD:
        return _widest(facts, facts.forward_stretches.from_long_to_short(step), taken)
    first = found = _widest(facts, facts.inline_steps.wider(step), taken)
    shorter = facts.inline_steps.shorter(step)
    while isinstance(found, Obstacle) and shorter is not None:
        found = _widest(facts, facts.inline_steps.wider(shorter), taken)
        shorter = facts.inline_steps.shorter(shorter)
    return first if isinstance(found, Obstacle) else found


def _widest(facts: Facts, steps: list[InlineStep], taken: set[str]) -> _Outlined | Obstacle:
    """The first of some that can be traced; why not the last of them, where none can.

    One whose numbers stay the same goes before one that draws in its trace.
    """
    drawing: _Outlined | None = None
    found: _Outlined | Obstacle
    for step in steps:
        found = _found(facts, step, taken)
        if isinstance(found, _Outlined):
            if not drawn_anew(facts, found.trace):
                return found
            drawing = drawing or found
    return drawing or found


def _found(facts: Facts, bare: InlineStep, taken: set[str]) -> _Outlined | Obstacle:
    """What the step does as a function, and how it becomes one."""
    placed = facts.inline_steps.placed(bare)
    if isinstance(placed, Obstacle):
        return placed
    loops = [one for one in facts.flow.enclosing(bare.anchor) if isinstance(one, _LOOPS)]
    count = turns(loops) / facts.periods.turns_between(bare.anchor)
    in_loop = isinstance(bare.around, _LOOPS)
    if in_loop and placed.place is placed.around and count <= _FEW_TURNS:
        message = f"the loop of line {bare.around.lineno} makes few steps, and a trace takes longer"
        return Obstacle("few-turns", message)
    unfit = facts.inline_steps.races(bare)
    if unfit is not None:
        return unfit
    step = facts.step_names.of(placed)
    if isinstance(step, Obstacle):
        return step
    decorator = spelled_at(facts, step.place, "function")
    if decorator is None or not named_before(facts, step.place, decorator):
        line = step.place.lineno
        return Obstacle("tensorflow-not-named", f"TensorFlow has no name before line {line}")
    of_function = bool(step.owner) or isinstance(step.around, ast.FunctionDef)
    name = facts.names.fresh(_NAMES[step.kind, of_function], taken)
    given = _by_rows(facts, step) | {name: ast.unparse(one) for one, name in step.numbers}
    tried = _tried(facts, step, name, decorator, given)
    if isinstance(tried, _Attempt) and _is_varying(tried.trace):
        tensors = _as_tensors(facts, tried, step, given)
        if isinstance(tensors, Obstacle):
            return Obstacle(tensors.reason, _of_this_text(tensors.message, facts, step, tried))
        tried = _tried(facts, step, name, decorator, {**given, **tensors})
    if isinstance(tried, Obstacle):
        return tried
    trace = tried.trace
    if isinstance(trace, Obstacle):
        return Obstacle(trace.reason, _of_this_text(trace.message, facts, step, tried))
    return _Outlined(name, tried.edits, trace)


def _tried(
    facts: Facts, step: InlineStep, name: str, decorator: str, given: Mapping[str, str]
) -> _Attempt | Obstacle:
    """The file with a function of the step, looked at as TFR201 looks at a function."""
    edits = outlined(facts, step, name, decorator, given)
    try:
        text = apply_edits(facts.source.text, edits)
        tree = ast.parse(text)
    except (EditError, SyntaxError) as error:
        return Obstacle("not-followed", f"the step cannot be lifted out: {error}")
    new = type(facts).build(text, tree, target_tf=facts.target_tf, allowed=facts.allowed)
    (function,) = (one for one in new.source.all(ast.FunctionDef) if one.name == name)
    made = new.step_functions.step(function)
    trace = new.step_traces.replayed(made)
    return _Attempt(name, edits, text, new, function, made.calls, trace)


def _by_rows(facts: Facts, step: InlineStep) -> dict[str, str]:
    """Tuples in place of the arrays that a step only goes through, row by row."""
    if facts.scopes.of(step.anchor).owner("tuple") is not None:
        return {}
    found = {}
    for name in step.parameters:
        uses = [one for one in step.nodes if isinstance(one, ast.Name) and one.id == name]
        loops = [facts.source.parent(use) for use in uses]
        through = all(
            isinstance(loop, ast.For) and loop.iter is use
            for use, loop in zip(uses, loops, strict=True)
        )
        if through and all(rows(facts.eager_values.value(use)) for use in uses):
            found[name] = f"tuple({name})"
    return found


def _is_varying(trace: Trace | Obstacle) -> bool:
    return isinstance(trace, Obstacle) and trace.reason == "argument-varies"


def _as_tensors(
    before: Facts, tried: _Attempt, step: InlineStep, passed: Mapping[str, str]
) -> dict[str, str] | Obstacle:
    """Tensors in place of the numbers that are others in other turns."""
    facts = tried.facts
    (one,) = facts.compiled_functions.traced(tried.function)
    (call,) = tried.calls or ()
    given = {}
    for name, argument in zip(step.parameters, call.args, strict=True):
        value = facts.eager_values.value(argument)
        if not isinstance(value, Number) or (value.literal is not None and not value.varies):
            continue
        sort = facts.number_uses.sort(argument)
        parameter = facts.number_uses.parameter(one, call, argument)
        message = f"`{name}` is a Python value that varies: it would be traced for each"
        if sort is None or parameter is None or name in step.results:
            return Obstacle("argument-varies", message)
        swap = facts.number_uses.swap(one, parameter, sort)
        if isinstance(swap, Obstacle):
            return Obstacle("argument-varies", f"{message}, and {swap.message}")
        constant = spelled_at(before, step.anchor, "constant")
        dtype = spelled_at(before, step.anchor, swap.dtype) if swap.dtype else ""
        if constant is None or dtype is None:
            return Obstacle("tensorflow-not-named", "TensorFlow has no name at the loop")
        number = passed.get(name, name)
        given[name] = f"{constant}({number}, {dtype})" if dtype else f"{constant}({number})"
    return given


def _of_this_text(message: str, facts: Facts, step: InlineStep, tried: _Attempt) -> str:
    """A message about the new text, with the lines of the text that is there."""
    lines = LineMap(facts.source.text)
    lines.advance(tried.text)
    kept = kept_lines(facts, step)
    first = tried.function.lineno

    def origin(found: re.Match[str]) -> str:
        number = int(found[1])
        if first < number <= (tried.function.end_lineno or 0):
            return f"line {kept[min(number - first, len(kept)) - 1]}"
        return f"line {lines.origin(number)}"

    said = message.replace("it returns", "the function would return", 1)
    return re.sub(r"\bline (\d+)", origin, said)
