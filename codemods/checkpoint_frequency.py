"""TFR404 checkpoint-frequency."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How
from tfrewrite.edits import ReplaceExpression
from tfrewrite.model import Contract, Report, Rewrite, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_CALLBACK = "keras.callbacks.ModelCheckpoint"
_SINCE = (1, 14)
_FITTING = frozenset({"fit", "fit_generator"})


class CheckpointFrequency(Rule):
    """Says `save_freq='epoch'` for a `ModelCheckpoint` with `period=1`, and reports other periods.

    ## Why it is slow
    It is not slow, it ends: `period` has been deprecated since TensorFlow 1.14, and Keras 3, the
    Keras of 2.16 and later, raises a TypeError. What takes its place counts something else.

    ## Before
    ```python
    saving = tf.keras.callbacks.ModelCheckpoint("model.h5", period=1)
    ```

    ## After
    ```python
    saving = tf.keras.callbacks.ModelCheckpoint("model.h5", save_freq="epoch")
    ```

    ## Contract
    - `exact`: a period of one epoch is what `save_freq="epoch"` means, wherever there are both
      (1.14 to 2.15). On Keras 3 the original does not run. On 1.14 and later a warning goes.

    ## Refuses
    It reports only, and says why. A period of several epochs: `save_freq` counts samples in 1.15
    and batches later, so that it takes the steps per epoch, and a checkpoint by batches is written
    before the validation of the epoch, without `val_loss` in its name or as its monitor. A period
    that is not a number in the call, or that stands beside a `save_freq`. Standalone Keras, where
    there is a `save_freq` since 2.4 only. With `target-tf` below 1.14 it says nothing.

    ## When it does not help
    A checkpoint for each epoch takes as long as before.
    """

    code = "TFR404"
    name = "checkpoint-frequency"
    contracts = (Contract.EXACT,)
    triggers = ((b"ModelCheckpoint",), (b"period",), (b"keras",))
    reasons = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        if facts.target_tf is not None and facts.target_tf < _SINCE:
            return
        for call in sorted(facts.source.all(ast.Call), key=facts.source.span):
            period = next((k for k in call.keywords if k.arg == "period"), None)
            if period is not None and facts.names.tf(call.func) == _CALLBACK:
                yield _site(facts, call, period)


def _site(facts: Facts, call: ast.Call, period: ast.keyword) -> Site:
    span = facts.source.span(call)
    beside = [k.arg for k in call.keywords if k.arg in ("save_freq", None)]
    value = period.value
    if beside or len(call.args) > 6:
        other = "save_freq" if "save_freq" in beside or not beside else "`**`"
        return Report(span, f"`period` is gone in Keras 3; beside {other} it is not known which one"
                            " counts: leave one of them out")  # fmt: skip
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        text = facts.source.segment(value)
        message = f"`period` is gone in Keras 3; if `{text}` is 1, say `save_freq='epoch'`"
        return Report(span, f"{message}, else {_by_batches(facts, text)}")
    if value.value != 1:
        return Report(span, f"`period` is gone in Keras 3; {_by_batches(facts, str(value.value))}")
    if _is_standalone(facts, call.func):
        message = "`period` is gone in Keras 3; `save_freq='epoch'` is the same since Keras 2.4"
        return Report(span, message)
    return Rewrite(
        span,
        "say `save_freq='epoch'`: `period` is deprecated, and a TypeError in Keras 3",
        "a period of one epoch is what it means",
        Contract.EXACT,
        (ReplaceExpression(span, _renamed(facts, call, period)),),
    )


def _by_batches(facts: Facts, period: str) -> str:
    """What to say for a period of several epochs."""
    steps = _steps_per_epoch(facts)
    number = f"{period} * {steps}" if steps else f"{period} times the steps per epoch"
    return (
        f"`save_freq` counts batches (samples in 1.15), {number} here, and saves before the epoch's"
        " validation"
    )


def _steps_per_epoch(facts: Facts) -> int | None:
    """The steps per epoch, where the only `fit` of the file says them."""
    fits = [c for c in facts.source.all(ast.Call) if getattr(c.func, "attr", "") in _FITTING]
    given = [k.value for call in fits for k in call.keywords if k.arg == "steps_per_epoch"]
    if len(fits) == 1 and given and isinstance(given[0], ast.Constant):
        return given[0].value if type(given[0].value) is int else None
    return None


def _is_standalone(facts: Facts, func: ast.expr) -> bool:
    """Whether a name comes from the package `keras`, and not from TensorFlow."""
    while isinstance(func, ast.Attribute):
        func = func.value
    if not isinstance(func, ast.Name):
        return False
    for binding in facts.scopes.bindings(func):
        if binding.how is How.IMPORT and binding.path.partition(".")[0] == "keras":
            return True
        if binding.how is How.ASSIGN and binding.value is not None:
            if _is_standalone(facts, binding.value):
                return True
    return False


def _renamed(facts: Facts, call: ast.Call, period: ast.keyword) -> str:
    source = facts.source
    text = source.segment(call)
    start, end = source.offsets(ast.copy_location(ast.Name("period"), period))
    offset = source.offsets(call)[0]
    quote = "'" if source.text.count("'") > source.text.count('"') else '"'
    new = f"save_freq={quote}epoch{quote}"
    return text[: start - offset] + new + text[end - offset :]
