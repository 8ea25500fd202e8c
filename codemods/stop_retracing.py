"""TFR203 stop-retracing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.turns import turns
from tfrewrite.analysis.traces.number_uses import Swap
from tfrewrite.edits import ReplaceExpression
from tfrewrite.model import Contract, Refusal, Report, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import MAKES_FUNCTION
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding
    from tfrewrite.analysis.traces.compiled_functions import Compiled

_FEW_TURNS = 4
_MAX_DEPTH = 4
_RELAXED = "reduce_retracing"
_RELAXED_BEFORE = "experimental_relax_shapes"
_FIRST_REDUCING = (2, 9)
_FIRST_KERAS_3 = (2, 16)
_CHANGES = (
    "the draws of random ops: their stream began anew at each trace, so that each call drew the"
    " same numbers (where a seed is set), a dropout the same mask; now it goes on from call to call"
)


class StopRetracing(Rule):
    """Gives a compiled function a tensor in place of a Python number that differs in each call.

    ## Why it is slow
    A Python number is a constant of the graph, so a `tf.function` is traced anew for each value
    that it has not seen, and each graph is kept.

    ## Before
    ```python
    @tf.function
    def train_step(x, step):
        loss = loss_fn(x) * tf.cast(step, tf.float32)
        ...

    for step, x in enumerate(dataset):
        train_step(x, step)
    ```

    ## After
    ```python
    for step, x in enumerate(dataset):
        train_step(x, tf.constant(step))
    ```
    Where the number is computed with, the tensor gets the type of what it meets:
    `tf.constant(weight, tf.float32)`.

    A slice whose length changes, as `x[:step]`, is reported and not rewritten: with
    `reduce_retracing=True` (`experimental_relax_shapes` before 2.9) the function is traced for any
    length, but its code then sees an unknown shape, and may need it.

    ## Contract
    - `exact`: the number is only shown: the step of a summary, or printed by `tf.print`.
    - `rounding`: it is computed with, after `tf.cast` or directly with a tensor that surely is
      float32. TensorFlow folds a constant into the ops around, and divides by it by multiplying
      with its reciprocal: quotients differed in the last bit, products and sums did not.
    - `resampled`: ops such as `tf.random.normal` and `tf.nn.dropout` draw in it. A function that is
      traced in each call begins their stream anew in each call: with a seed, each drew the same
      numbers, and each dropout dropped the same units. That was hardly meant, and ends with the
      traces. Layers such as `Dropout` are such ops up to TensorFlow 2.15; with `target-tf` 2.16 or
      later they are not.

    ## Refuses
    Where the function needs a number (`needs-python-value`): it tests or counts by it, indexes,
    makes a shape or a text of it, hands it on out of sight, or computes with it in Python, which is
    done in double precision: `1 - 0.999 ** step` is another in float32. Also where the type of
    the tensor that it meets is not known, since a tensor does not take on another one's type.
    All else that its trace reads or does was done anew for each number, and is done once then:
    Python values that may change (`python-value`), objects that may (`state-changes`), effects such
    as a print (`python-effect`), variables that it makes (`makes-variables`), and code that is not
    seen (`call-not-seen`, `code-not-seen`). What follows the loop must be in the file
    (`callers-not-seen`), and nothing may count the traces (`traces-counted`).

    ## When it does not help
    Where the loop is short, or the same few numbers come again and again: each is traced once.
    Numbers of numpy are tensors to a `tf.function` already.
    """

    code = "TFR203"
    name = "stop-retracing"
    contracts = (Contract.EXACT, Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), MAKES_FUNCTION)
    reasons = {
        "needs-python-value": "It does something with the number that a tensor does not do alike.",
        "python-value": "It reads another Python value when it is traced, which may change.",
        "python-effect": "It does something in Python at each trace that can be seen.",
        "call-not-seen": "What it calls is not known, and may differ from trace to trace.",
        "code-not-seen": "The code of the function is not in this file.",
        "state-changes": "An object that it uses may be changed between two calls.",
        "makes-variables": "It makes variables, which a function may do at its first trace only.",
        "callers-not-seen": "What follows the loop is not all in the file, and may change objects.",
        "traces-counted": "The file looks at how often functions are traced.",
        "no-tensorflow-name": "The file has no name for TensorFlow, such as `tf`.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        if facts.compiled_functions.eager or facts.compiled_functions.in_graphs:
            return
        for one in facts.compiled_functions.all:
            if "input_signature" in one.settings:
                continue  # numbers become tensors by it
            for call in facts.compiled_functions.some_calls(one):
                if facts.compiled_functions.runs(call) is one:
                    yield from _site(facts, one, call)


def _site(facts: Facts, one: Compiled, call: ast.Call) -> Iterator[Site]:
    loops = [loop for loop in facts.hoisting.loops(call) if isinstance(loop, ast.stmt)]
    if not loops or turns(loops) <= _FEW_TURNS:
        return
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    growing = next((one for one in given if _changes_length(facts, one, loops)), None)
    if growing is not None and not one.settings.keys() & {_RELAXED, _RELAXED_BEFORE}:
        yield _report(facts, one, growing)
    varying = [argument for argument in given if _varies(facts, argument, loops)]
    if not varying:
        return
    swaps = _forbidden(facts, one, loops) or _swaps(facts, one, call, varying)
    if isinstance(swaps, Obstacle):
        yield Refusal(facts.source.span(call), swaps.reason, swaps.message)
        return
    yield _rewrite(facts, one, call, swaps)


def _changes_length(facts: Facts, argument: ast.expr, loops: list[ast.stmt]) -> bool:
    """Whether an argument is a slice that has another length in each turn, as `x[:step]`."""
    if not isinstance(argument, ast.Subscript):
        return False
    index = argument.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    for part in parts:
        if isinstance(part, ast.Slice):
            bounds = [bound for bound in (part.lower, part.upper) if bound is not None]
            varying = [bound for bound in bounds if _varies(facts, bound, loops)]
            if len(varying) == 1:  # the length of `x[i : i + 32]` stays
                return True
    return False


def _report(facts: Facts, one: Compiled, argument: ast.expr) -> Report:
    before = facts.target_tf is not None and facts.target_tf < _FIRST_REDUCING
    setting = _RELAXED_BEFORE if before else _RELAXED
    text = facts.source.segment(argument)
    return Report(
        facts.source.span(argument),
        f"`{one.name}` is traced anew for each length of `{text}`: `tf.function({setting}=True)`"
        " traces it for any length, where its code does not ask for the shape; or pad it",
    )


def _varies(facts: Facts, argument: ast.expr, loops: list[ast.stmt]) -> bool:
    """Whether an argument is a number of Python that is another one in most turns."""
    if facts.number_uses.sort(argument) is None:
        return False
    return any(
        _changes(facts, part, loops)
        for part in ast.walk(argument)
        if isinstance(part, (ast.Name, ast.Attribute, ast.Call))
    )


def _changes(facts: Facts, part: ast.expr, loops: list[ast.stmt], depth: int = 0) -> bool:
    """Whether a part of an expression gives something else in each turn."""
    if isinstance(part, ast.Call):
        path = facts.names.dotted(part.func) or ""
        return path.startswith(("time.", "random."))
    if isinstance(part, ast.Name):
        return any(_counts(facts, one, loops, depth) for one in facts.scopes.bindings(part))
    return isinstance(part, ast.Attribute) and facts.number_uses.is_counter(part)


def _counts(facts: Facts, binding: Binding, loops: list[ast.stmt], depth: int) -> bool:
    """Whether a loop gives a name another number in each turn."""
    if binding.how is How.LOOP:
        return binding.node in loops and turns([binding.node]) > _FEW_TURNS
    if binding.how not in (How.AUGMENT, How.ASSIGN) or binding.value is None:
        return False
    if not any(loop in facts.source.ancestors(binding.node) for loop in loops):
        return False
    if binding.how is How.AUGMENT:
        return True
    parts = [part for part in ast.walk(binding.value) if isinstance(part, ast.expr)]
    if any(isinstance(part, ast.Name) and part.id == binding.name for part in parts):
        return True
    return depth < _MAX_DEPTH and any(_changes(facts, part, loops, depth + 1) for part in parts)


def _forbidden(facts: Facts, one: Compiled, loops: list[ast.stmt]) -> Obstacle | None:
    unsure = facts.compiled_functions.unsure(one)
    if unsure is not None:
        return unsure
    if facts.names.alias is None:
        return Obstacle("no-tensorflow-name", "the file imports parts of TensorFlow only")
    rest = facts.afterwards.rest(loops[-1])
    return facts.steady_traces.obstacle(one, loops[-1], rest.nodes, once=True, unseen=rest.unseen)


def _swaps(
    facts: Facts, one: Compiled, call: ast.Call, varying: list[ast.expr]
) -> list[tuple[ast.expr, Swap]] | Obstacle:
    found: list[tuple[ast.expr, Swap]] = []
    for argument in varying:
        parameter = facts.number_uses.parameter(one, call, argument)
        sort = facts.number_uses.sort(argument)
        if parameter is None or sort is None:
            message = f"what becomes of `{facts.source.segment(argument)}` is not seen"
            return Obstacle("needs-python-value", message)
        swap = facts.number_uses.swap(one, parameter, sort)
        if isinstance(swap, Obstacle):
            return swap
        found.append((argument, swap))
    return found


def _rewrite(
    facts: Facts, one: Compiled, call: ast.Call, swaps: list[tuple[ast.expr, Swap]]
) -> Rewrite:
    tf = facts.names.alias
    edits = []
    for argument, swap in swaps:
        dtype = f", {tf}.{swap.dtype}" if swap.dtype else ""
        text = f"{tf}.constant({text_of(facts, argument)}{dtype})"
        edits.append(ReplaceExpression(facts.source.span(argument), text))
    draws = facts.steady_traces.draws(one)
    target = facts.target_tf
    random = draws.ops or (draws.layers and (target is None or target < _FIRST_KERAS_3))
    exact = all(swap.exact for _, swap in swaps)
    contract = Contract.EXACT if exact else Contract.ROUNDING
    names = ", ".join(f"`{facts.source.segment(argument)}`" for argument, _ in swaps)
    return Rewrite(
        facts.source.span(call),
        f"give `{one.name}` a tensor for {names}: it is traced anew for each number",
        "what it does with the number a tensor does as well, and all else that its trace reads"
        " stays the same",
        Contract.RESAMPLED if random else contract,
        tuple(edits),
        changes=_CHANGES if random else "",
    )
