"""TFR209 side-effects-when-tracing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.traces.trace_effects import Sort
from tfrewrite.model import Report, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import MAKES_FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.compiled_functions import Compiled
    from tfrewrite.analysis.traces.trace_effects import TraceEffect

_MESSAGES = {
    Sort.PRINT: (
        "`{text}` prints only when {traced}{shown}: `tf.print` prints in each call (to stderr,"
        " unless output_stream says otherwise)"
    ),
    Sort.LOG: "`{text}` logs only when {traced}, and a tensor without its value",
    Sort.HOST_READ: (
        "`{text}` raises when {traced}: a tensor of a graph has no value yet; use the tensor"
        " itself, print it with `tf.print`, or return it and ask what the call gives for its value"
    ),
    Sort.NUMPY: (
        "`{text}` raises when {traced}: numpy cannot take a tensor of a graph; use TensorFlow's own"
        " function, or `tf.numpy_function`"
    ),
    Sort.FORMAT: (
        "`{text}` is formatted as a number, which raises when {traced}: a tensor of a graph has no"
        " value yet"
    ),
    Sort.CLOCK: (
        "`{text}` is read only when {traced}, and every later call sees that moment: take the time"
        " around the call, or use `tf.timestamp()`"
    ),
    Sort.DRAW: (
        "`{text}` is drawn only when {traced}, and every later call uses that draw: draw with"
        " `tf.random`, or before the call and hand it in"
    ),
    Sort.ARGUMENT: (
        "`{text}` raises when {traced}: a compiled function may not change its arguments; make a"
        " new list and return it"
    ),
    Sort.VARIABLE: (
        "`{text}` raises when {traced}: a compiled function may make variables in its first trace"
        " only; make it before, or under a test for whether it is there"
    ),
}
_CHANGE = "`{text}` happens only when {traced}, and not in each call"
_LEAK = (
    "`{text}` happens only when {traced}, and what it stores is a tensor of the graph, which raises"
    " wherever it is used outside: return it, or assign it to a `tf.Variable`"
)


class SideEffectsWhenTracing(Rule):
    """Reports what a `tf.function` does in Python, which happens when it is traced or fails.

    ## Why it is slow
    It is not slow but wrong. A `tf.function` runs its Python once, to see which ops it makes, and
    runs those ops from then on. A print, a counter, `np.random.rand()` or `time.time()` happens at
    that trace only, and what they gave is part of the graph. `.numpy()` and the functions of numpy
    ask for a value that is not there yet, and raise.

    ## Before
    ```python
    @tf.function
    def train_step(x, y):
        noise = np.random.normal(size=(32, 10))
        loss = loss_fn(y, model(x + noise))
        losses.append(loss)
        print("loss", loss.numpy())
        return loss
    ```

    ## After
    Nothing is rewritten. What to write is said for each place; here it would be
    ```python
    @tf.function
    def train_step(x, y):
        noise = tf.random.normal((32, 10))
        loss = loss_fn(y, model(x + noise))
        tf.print("loss", loss)
        return loss

    losses.append(train_step(x, y))
    ```

    ## Contract
    None: it only reports. `tf.print` in place of `print` prints what was never printed, in another
    form and to stderr; a draw that is made in each call gives other numbers. No contract covers
    that, and which of the two the owner meant is not in the file.

    ## Refuses
    Nothing. It is silent where Python at the trace is meant: a print of a text about tracing, what
    is made under a test for whether it is there already, branches of `tf.executing_eagerly()`, code
    under `tf.init_scope()` and what `tf.py_function` or `tf.numpy_function` runs. It is silent too
    where the file turns compiling off with `tf.config.run_functions_eagerly(True)`, and where it is
    not known whether a value is a tensor.

    ## When it does not help
    Where the function is traced by code of another file, which is not looked at.
    """

    code = "TFR209"
    name = "side-effects-when-tracing"
    contracts = ()
    triggers = ((b"tensorflow",), MAKES_FUNCTION)
    reasons = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        if facts.compiled_functions.always_eager:
            return
        told: set[ast.AST] = set()
        for one in facts.compiled_functions.all:
            for effect in facts.trace_effects.of(one):
                if effect.node not in told:
                    told.add(effect.node)
                    yield Report(facts.source.span(effect.node), _message(facts, effect, one))


def _message(facts: Facts, effect: TraceEffect, one: Compiled) -> str:
    lines = facts.source.segment(effect.node).splitlines()
    text = lines[0] if len(lines) == 1 else f"{lines[0].rstrip()} ..."
    traced = f"`{one.name}` is traced"
    words = _MESSAGES.get(effect.sort) or (_LEAK if effect.leaks else _CHANGE)
    shown = ", and a tensor without its value" if effect.leaks else ""
    return words.format(text=text, traced=traced, shown=shown)
