"""TFR403 steps-per-execution."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import trained_models
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.with_argument import with_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.trained_models import Trained

_SETTING = "steps_per_execution"
_BEFORE = "experimental_steps_per_execution"
_SINCE = (2, 4)


class StepsPerExecution(Rule):
    """Lets `fit` take several batches in one call of its compiled step.

    ## Why it is slow
    For each batch `fit` comes back to Python, asks its callbacks and moves the progress bar. For a
    small model that takes longer than the step.

    ## Before
    ```python
    model.compile("adam", "mse")
    model.fit(x, y, epochs=20)
    ```

    ## After
    ```python
    model.compile("adam", "mse", steps_per_execution=8)
    model.fit(x, y, epochs=20)
    ```
    How many: the largest divisor up to 32 of the steps of an epoch where the file shows these,
    else 8.

    ## Contract
    - `exact`: the same steps in the same order. Measured on 2.15 and 2.21, with 2 to 50 batches at
      once, also where these do not go into an epoch: history, weights, evaluations, predictions and
      the number of steps were the same to the bit for dense, convolutional and recurrent networks,
      batch norm, dropout, schedules, class weights, validation and early stops.

    A progress bar moves by so many batches at a time. A training that is broken off with Ctrl-C
    stops at the end of an execution. Where the data raises an error, the optimizer
    may count one step less.

    ## Refuses
    Where Keras cannot count the batches of an epoch (`steps-unknown`): generators, a pipeline with
    a `filter` or from a generator or files. Measured on 2.21: without that a last execution of an
    epoch takes more batches than are left, or counts one step less. A `steps_per_epoch` that has no
    divisor (`steps-uneven`): it is rounded up. Callbacks that see batches (`sees-batches`): those
    with a method or setting of that name, `TerminateOnNaN`, `TensorBoard`, a `save_freq` that is
    not `"epoch"`, and all that are not seen. Models that are trained batch by batch as well
    (`batch-by-batch`), that run eagerly, or that are not made in the file of Keras' own parts
    (`model-not-seen`, `custom-code`, `code-not-seen`).

    ## When it does not help
    Where a step takes some milliseconds or more, or an epoch has few steps. The first execution
    is traced with all its steps.
    """

    code = "TFR403"
    name = "steps-per-execution"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow", b"keras"), (b".compile(",), (b".fit",))
    reasons = trained_models.REASONS | {
        "steps-unknown": "Keras may not know how many batches an epoch has.",
        "steps-uneven": "No number of batches goes into the steps that are asked for.",
        "sees-batches": "Something may be called for each batch.",
        "compiled-by-xla": "XLA compiles the steps, with which this was not tried.",
        "batch-by-batch": "Single batches are trained or tried as well.",
    }
    on_request = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        if facts.target_tf is not None and facts.target_tf < _SINCE:
            return
        for one in facts.trained_models.all:
            if not one.options.keys() & {_SETTING, _BEFORE} and not facts.fit_steps.few:
                yield _site(facts, one)


def _by_xla(one: Trained) -> Obstacle | None:
    setting = one.options.get("jit_compile")
    if setting is None or (isinstance(setting, ast.Constant) and setting.value in (False, "auto")):
        return None
    message = f"`jit_compile={ast.unparse(setting)}` may have XLA compile the steps"
    return Obstacle("compiled-by-xla", message)


def _site(facts: Facts, one: Trained) -> Site:
    span = facts.source.span(one.compiling)
    obstacle = (
        _by_xla(one)
        or facts.trained_models.obstacle(one)
        or facts.fit_callbacks.obstacle
        or facts.fit_steps.obstacle
    )
    if obstacle is not None:
        return Refusal(span, obstacle.reason, obstacle.message)
    number = facts.fit_steps.at_once
    text = ast.unparse(one.receiver)
    return Rewrite(
        span,
        f"take {number} batches of `{text}` at once: for each `fit` comes back to Python",
        "nothing looks at single batches, and Keras knows how many an epoch has",
        Contract.EXACT,
        (with_argument(facts, one.compiling, f"{_SETTING}={number}"),),
    )
