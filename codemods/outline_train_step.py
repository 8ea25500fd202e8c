"""TFR202 outline-train-step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.step_functions import Step
from tfrewrite.edits import EditError, apply_edits
from tfrewrite.line_map import LineMap
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.drawn_anew import drawn_anew
from tfrewrite.writing.outlined import outlined, spans_lines
from tfrewrite.writing.spelling import spelled_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.inline_steps import InlineStep
    from tfrewrite.analysis.trace import Trace
    from tfrewrite.edits import Edit


class OutlineTrainStep(Rule):
    """Makes a compiled function of a training step that is written out in a loop.

    ## Why it is slow
    In eager mode each op of the step goes through Python on its own (see TFR201).

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
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss


    for x, y in dataset:
        loss = train_step(x, y)
        print(float(loss))
    ```

    ## Contract
    As of TFR201: `rounding`, or `resampled` where the step draws.

    ## Refuses
    What TFR201 refuses of the function that it would be.

    ## When it does not help
    Where the loop makes few steps.
    """

    code = "TFR202"
    name = "outline-train-step"
    contracts = (Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), (b"GradientTape",))
    reasons = {
        "callers-not-seen": "Not all calls of the new function are seen.",
        "argument-not-known": "It is not known that what a caller gives is made of tensors.",
        "argument-varies": "A caller gives Python values that vary, and each would be traced.",
        "numpy-argument": "An array is computed with, whose type a tensor does not share.",
        "shape-varies": "The shape of an argument may differ in each call.",
        "two-objects": "It may be given another model or optimizer in another call.",
        "captured-not-fixed": "It uses something from outside that may change or is not known.",
        "object-changes": "A model, layer or optimizer is changed in Python in the meantime.",
        "model-not-seen": "What a model or class does when it is called is not in this file.",
        "python-effect": "It does something in Python that would only be done when it is traced.",
        "reads-on-host": "It needs the value of a tensor in Python.",
        "tensor-decides": "A tensor decides what is done next.",
        "makes-variables": "It makes variables, which only the first trace may.",
        "fails-when-traced": "It does what works in eager mode and fails in a trace.",
        "unknown-call": "What it calls is not known to do the same in a trace.",
        "not-followed": "It is written in a way that is not followed.",
        "unrolls": "A trace would write out each turn of a long loop.",
        "returns-python": "It returns what a trace turns into something else.",
        "exception-seen": "Somebody catches its exceptions, and sees how far it came.",
        "traced-again": "The function around the loop may be called again, and trace it anew.",
        "not-eager": "The file is not run as TensorFlow 2 runs it.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
        "tensorflow-not-named": "TensorFlow has no name where the function stands.",
    }
    on_request = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for step in facts.inline_steps.all():
            name = facts.names.fresh("train_step", taken)
            found = _longest(facts, step, name)
            span = facts.source.span(step.tape.items[0].context_expr)
            if isinstance(found, Obstacle):
                yield Refusal(span, found.reason, found.message)
                continue
            taken.add(name)
            trace, edits = found
            changes = drawn_anew(facts, trace)
            yield Rewrite(
                span,
                f"make a compiled function `{name}` of this step",
                "each call does the same to the same objects, and nothing in Python besides",
                Contract.RESAMPLED if changes else Contract.ROUNDING,
                edits,
                changes=changes,
            )


def _longest(
    facts: Facts, step: InlineStep, name: str
) -> tuple[Trace, tuple[Edit, ...]] | Obstacle:
    """The step with as many of its updates as can be traced; why not all, where none can."""
    first = _found(facts, step, name)
    shorter = facts.inline_steps.shorter(step)
    while isinstance(first, Obstacle) and shorter is not None:
        found = _found(facts, shorter, name)
        if not isinstance(found, Obstacle):
            return found
        shorter = facts.inline_steps.shorter(shorter)
    return first


def _found(facts: Facts, bare: InlineStep, name: str) -> tuple[Trace, tuple[Edit, ...]] | Obstacle:
    """What the step does as a function, and how it becomes one."""
    step = facts.inline_steps.obstacle(bare) or facts.inline_steps.with_names(bare)
    if isinstance(step, Obstacle):
        return step
    if spans_lines(step):
        return Obstacle("not-followed", "a text in the step goes over several lines")
    decorator = spelled_at(facts, step.loop, "function")
    if decorator is None:
        return Obstacle("tensorflow-not-named", "TensorFlow has no name at the loop")
    edits = outlined(facts, step, name, decorator)
    try:
        text = apply_edits(facts.source.text, edits)
        tree = ast.parse(text)
    except (EditError, SyntaxError) as error:
        return Obstacle("not-followed", f"the step cannot be lifted out: {error}")
    new = type(facts).build(text, tree, target_tf=facts.target_tf, allowed=facts.allowed)
    (function,) = (one for one in new.source.all(ast.FunctionDef) if one.name == name)
    calls = new.own_calls.calls(function)
    trace = new.step_functions.replayed(Step(function, None if calls is None else tuple(calls)))
    if isinstance(trace, Obstacle):
        return Obstacle(trace.reason, _of_this_text(trace.message, facts, step, function, text))
    return trace, edits


def _of_this_text(
    message: str, facts: Facts, step: InlineStep, function: ast.FunctionDef, text: str
) -> str:
    """A message about the new text, with the lines of the text that is there."""
    lines = LineMap(facts.source.text)
    lines.advance(text)
    start = step.statements[0].lineno
    end = step.statements[-1].end_lineno or start

    def origin(found: re.Match[str]) -> str:
        number = int(found[1])
        if function.lineno < number <= (function.end_lineno or 0):
            number = min(start + number - function.lineno - 1, end)
        else:
            number = lines.origin(number)
        return f"line {number}"

    said = message.replace("it returns", "the function would return", 1)
    return re.sub(r"\bline (\d+)", origin, said)
