"""TFR207 drop-run-eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.edits import ReplaceExpression
from tfrewrite.model import Contract, Refusal, Report, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.drawn_anew import drawn_anew
from tfrewrite.writing.left_out import without_keyword

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.trace import Trace


class DropRunEagerly(Rule):
    """Lets Keras compile the steps of a model that is told to run them eagerly.

    ## Why it is slow
    `run_eagerly=True` is for looking into a step with a debugger. Each op of the model, of its
    gradient and of the optimizer then goes through Python on its own, in each step. Without it
    Keras traces the step once, and runs it as one.

    ## Before
    ```python
    model.compile(optimizer="adam", loss="mse", run_eagerly=True)
    ```

    ## After
    ```python
    model.compile(optimizer="adam", loss="mse")
    ```
    `tf.config.run_functions_eagerly(True)`, which does it to all functions of a program, is
    reported.

    ## Contract
    - `rounding`: the same ops on the same objects in the same order. Compiled, they may be fused.
    - `resampled`: the model draws by `tf.random` or `tf.nn.dropout`, and a trace draws from another
      stream; or layers of Keras draw, and `target-tf` is not 2.16 or later, from which on they
      keep their stream in a variable.

    ## Refuses
    The model, its losses and its metrics are gone through as a trace would (see TFR201), and what
    is not known to be the same when it is replayed is refused: what Python does in them
    (`python-effect`), values of tensors that it needs (`reads-on-host`, `tensor-decides`), what
    they take from outside that may change (`captured-not-fixed`). A model that is not made in this
    file is not known (`model-not-seen`), and neither is one with a step of its own (`own-step`).
    Nothing may change layers or optimizer in Python between its runs (`object-changes`).

    ## When it does not help
    Where `fit` makes a few steps only: tracing takes as long as some dozens of them.
    """

    code = "TFR207"
    name = "drop-run-eagerly"
    contracts = (Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"tensorflow", b"keras"), (b"run_eagerly", b"run_functions_eagerly"))
    reasons = {
        "model-not-seen": "What the model does is not in this file.",
        "own-step": "The model has a step of its own, or another method that Keras would run.",
        "captured-not-fixed": "It uses something from outside that may change or is not known.",
        "object-changes": "A model, layer or optimizer is changed in Python in the meantime.",
        "python-effect": "It does something in Python that would only be done when it is traced.",
        "reads-on-host": "It needs the value of a tensor in Python.",
        "tensor-decides": "A tensor decides what is done next.",
        "makes-variables": "It makes variables, which only the first trace may.",
        "fails-when-traced": "It does what works in eager mode and fails in a trace.",
        "numpy-argument": "An array is computed with, whose type a tensor does not share.",
        "unknown-call": "What it calls is not known to do the same in a trace.",
        "not-followed": "It is written in a way that is not followed.",
        "unrolls": "A trace would write out each turn of a long loop.",
        "runs-not-seen": "Nothing in this file trains the model, or asks it for predictions.",
        "exception-seen": "Somebody catches exceptions of a run, and sees how far it came.",
        "not-eager": "The file is not run as TensorFlow 2 runs it.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call, keyword in facts.compiled_models.eager():
            found = facts.compiled_models.replayed(call)
            span = facts.source.span(call)
            if isinstance(found, Obstacle):
                yield Refusal(span, found.reason, found.message)
            else:
                yield _rewrite(facts, call, keyword, found)
        for call in facts.compiled_models.switches():
            message = (
                "all functions that are compiled run eagerly from here on; take it out once"
                " nothing is debugged any more"
            )
            yield Report(facts.source.span(call), message)


def _rewrite(facts: Facts, call: ast.Call, keyword: ast.keyword, trace: Trace) -> Rewrite:
    changes = drawn_anew(facts, trace)
    span = facts.source.span(call)
    return Rewrite(
        span,
        "let Keras compile the steps of this model",
        "each step does the same to the same objects, and nothing in Python besides",
        Contract.RESAMPLED if changes else Contract.ROUNDING,
        (ReplaceExpression(span, without_keyword(facts, call, keyword)),),
        changes=changes,
    )
