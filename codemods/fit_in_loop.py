"""TFR405 fit-in-loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.keras_helpers import FIT, FIT_BATCH, before_first, by_helper, by_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.keras_calls import KerasCall
    from tfrewrite.edits import Edit

_BATCH = 32
_BECAUSE = {
    Contract.EXACT: (
        "one row, or a batch that is not shuffled, is one step, and nothing else that `fit` does"
        " is used"
    ),
    Contract.ROUNDING: (
        "one batch is one step: the same rows in another order than that which `fit` shuffles them"
        " into, and no layer or loss can tell"
    ),
}

# `fit` sets the metrics of a model back at first, and these show what has been counted since. In
# Keras 3 `train_on_batch` has done so from April 2026 on (its pull request 22617).
_SHOWING_METRICS = ("metrics", "get_metrics_result", "compiled_metrics", "compiled_loss", "result")
_GIVING_METRICS = ("train_on_batch", "test_on_batch")


@dataclass(frozen=True)
class _Made:
    """What is put in the place of a call, and what that promises."""

    edits: tuple[Edit, ...]
    contract: Contract


class FitInLoop(Rule):
    """Makes `model.fit` of one batch, in a loop, a call of `model.train_on_batch`.

    ## Why it is slow
    `fit` is made for epochs of many batches. Each call builds a tf.data pipeline that shuffles,
    starts its threads, sets up callbacks and a history, and makes one step. `train_on_batch` makes
    the same compiled step on the arrays themselves.

    ## Before
    ```python
    for state, action, reward in minibatch:
        target = model.predict_on_batch(state)
        target[0][action] = reward
        model.fit(state, target, epochs=1, verbose=0)
    ```

    ## After
    ```python
    def fit_one_row(model, x, y, **options):
        \"\"\"The same as `model.fit`, without the pipeline that it builds in each call.\"\"\"
        numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
        arrays = all(type(a) is np.ndarray and a.dtype in numbers for a in (x, y))
        if arrays and x.shape[:1] == y.shape[:1] == (1,):
            model.train_on_batch(x, y)
        else:
            model.fit(x, y, **options)


    for state, action, reward in minibatch:
        target = model.predict_on_batch(state)
        target[0][action] = reward
        fit_one_row(model, state, target, epochs=1, verbose=0)
    ```
    Where the text says that both arrays have one row, or how many of a single batch,
    `train_on_batch` is called as it is. Elsewhere a function looks at the arrays: for one row where
    something speaks for that (`target[0]` gets a value), else for one batch.

    ## Contract
    - `exact`: the same step on the same row, or on a batch that `fit` is told not to shuffle.
      Weights, losses, the optimizer's state and what others draw from random streams afterwards
      were the same to the bit on 2.21 and 2.15, for dense, convolutional and recurrent networks,
      batch norm, dropout and learning rate schedules.
    - `rounding`: a batch of several rows, which `fit` shuffles. The step is the same but for the
      order in which rows are added up.

    Arrays that the model does not take raise an error, too, which may have another text and type;
    where somebody looks into it, or catches errors by their types, the call stays (`message-read`).

    ## Refuses
    With several rows, dropout would meet other rows, and layers, activations and losses of the
    file's own may tell one row from another (`rows-shuffled`). More than one batch
    (`several-batches`), a history that is used (`history-used`), metrics that somebody looks at,
    or goes on to count in by `train_on_batch` (`metrics-read`), callbacks, validation, weights of
    classes or samples and a progress bar, which shows the loss (`other-arguments`), stay. At the
    end of each `fit` an optimizer with `use_ema` puts the averages in the place of the weights
    (`optimizer-ema`). The method for a batch is traced for itself, so that a model, layer or
    optimizer must not have been changed in Python since the first trace (`object-changes`).

    ## When it does not help
    Where the row comes from data that is all there before the loop: one `fit` with `batch_size=1`
    and `shuffle=False` makes the same steps in one pipeline.
    """

    code = "TFR405"
    name = "fit-in-loop"
    contracts = (Contract.EXACT, Contract.ROUNDING)
    triggers = ((b"keras",), (b".fit(",))
    reasons = {
        "model-unknown": "It is not known whether the object is a Keras model.",
        "own-method": "A model of the file has a fit, or what fit is made of, of its own.",
        "other-arguments": "The call asks for more than one silent epoch.",
        "history-used": "The history of the call is used.",
        "metrics-read": "The file looks at metrics, which fit sets back each time.",
        "rows-unknown": "It is not known how many rows there are, and it cannot be asked either.",
        "rows-shuffled": "Something in a model may tell the rows apart, which fit shuffles.",
        "several-batches": "The data is more than one batch.",
        "optimizer-ema": "The optimizer changes the weights at the end of each fit.",
        "message-read": "Something looks at the message or type of an error, which may differ.",
        "runs-eagerly": "Models run eagerly, op by op, where this was not measured.",
        "steps-per-execution": "The model takes several batches at once.",
        "other-backend": "Keras may work with another library than TensorFlow.",
        "distributed": "A batch is spread over several devices.",
        "graph-mode": "The file is for TensorFlow 1, where this was not measured.",
        "object-changes": "A model is changed in Python in the meantime; a trace would see it.",
        "traced-effects": "Tracing a model of the file has effects, and may be done more often.",
        "precision-policy": "Numbers are converted by a policy of the file's own.",
        "random-in-model": "Random ops may be part of a model; ops before them give them seeds.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        calls = list(facts.keras_calls.repeated("fit", "train_on_batch"))
        calls = [one for one in calls if _is_outline(one.call)]
        first = before_first(facts, calls)
        for one in calls:
            assert first is not None
            yield _site(facts, one, first)


def _is_outline(call: ast.Call) -> bool:
    """Whether a call may be one of one step: no epochs, no data set."""
    for keyword in call.keywords:
        if keyword.arg == "epochs" and not _is(keyword.value, 1):
            return False
        if keyword.arg in ("steps_per_epoch", "nb_epoch"):
            return False
    return len(call.args) + sum(keyword.arg in ("x", "y") for keyword in call.keywords) > 1


def _is(value: ast.expr, *expected: object) -> bool:
    return isinstance(value, ast.Constant) and value.value in expected


def _site(facts: Facts, one: KerasCall, place: ast.stmt) -> Site:
    span = facts.source.span(one.call)
    obstacle = (
        facts.keras_calls.obstacle(one)
        or _history(facts, one.call)
        or _metrics(facts)
        or _arguments(one.call)
        or _optimizer(facts)
    )
    found = obstacle or _made(facts, one.call, place)
    if isinstance(found, Obstacle):
        return Refusal(span, found.reason, found.message)
    text = ast.unparse(one.receiver)
    return Rewrite(
        span,
        f"make the step of `{text}` without a pipeline of its own: a loop calls `fit` in each turn,"
        " which builds a pipeline for anything",
        _BECAUSE[found.contract],
        found.contract,
        found.edits,
    )


def _history(facts: Facts, call: ast.Call) -> Obstacle | None:
    if not isinstance(facts.source.parent(call), ast.Expr):
        return Obstacle("history-used", "what `fit` gives is used")
    for read in facts.classes.reads("history"):
        if not _of_another_fit(facts, read.value):
            message = f"line {read.lineno} may read the history of the model"
            return Obstacle("history-used", message)
    for word in ("stop_training", "on_train_begin", "on_epoch_end"):
        if facts.classes.reads(word):
            return Obstacle("history-used", f"the file reads `{word}`")
    return None


def _metrics(facts: Facts) -> Obstacle | None:
    """Who may see that `fit` sets the metrics back, and `train_on_batch` may go on with them."""
    message = "line {} may see the metrics, which `train_on_batch` of older Keras 3 goes on with"
    for name in _SHOWING_METRICS:
        for read in facts.classes.reads(name):
            if facts.names.dotted(read) is None:
                return Obstacle("metrics-read", message.format(read.lineno))
    for name in _GIVING_METRICS:
        for call in facts.classes.calls(name):
            if not isinstance(facts.source.parent(call), ast.Expr):
                return Obstacle("metrics-read", message.format(call.lineno))
    return None


def _of_another_fit(facts: Facts, value: ast.expr) -> bool:
    """Whether a value is what another call of `fit` gave, and not the model."""
    bindings = facts.scopes.bindings(value) if isinstance(value, ast.Name) else []
    return bool(bindings) and all(
        binding.how is How.ASSIGN
        and isinstance(binding.value, ast.Call)
        and isinstance(binding.value.func, ast.Attribute)
        and binding.value.func.attr == "fit"
        for binding in bindings
    )


def _arguments(call: ast.Call) -> Obstacle | None:
    """What a call asks for beside one silent epoch."""
    if len(call.args) != 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return Obstacle("other-arguments", "its data is not written as the first two arguments")
    silent = False
    for keyword in call.keywords:
        value = keyword.value
        known = keyword.arg in ("epochs", "batch_size") or (
            keyword.arg == "shuffle" and isinstance(value, ast.Constant)
        )
        if keyword.arg == "verbose" and _is(value, 0):
            silent = True
        elif not known:
            shown = f"{keyword.arg or '**'}={ast.unparse(value)}"
            return Obstacle("other-arguments", f"it is called with `{shown}`")
    if not silent:
        return Obstacle("other-arguments", "without `verbose=0` it prints the loss of each step")
    return None


def _optimizer(facts: Facts) -> Obstacle | None:
    for call in facts.source.all(ast.Call):
        for keyword in call.keywords:
            if keyword.arg == "use_ema" and not _is(keyword.value, 0):
                message = f"the optimizer of line {call.lineno} averages the weights at its end"
                return Obstacle("optimizer-ema", message)
    for store in facts.source.all(ast.Attribute):
        if store.attr == "use_ema" and not isinstance(store.ctx, ast.Load):
            message = f"the optimizer of line {store.lineno} may average the weights at its end"
            return Obstacle("optimizer-ema", message)
    for name in ("MovingAverage", "SWA", "Lookahead", "deserialize", "from_config"):
        for call in facts.classes.calls(name):
            message = f"`{name}` in line {call.lineno} may be an optimizer that averages weights"
            return Obstacle("optimizer-ema", message)
    return None


def _made(facts: Facts, call: ast.Call, place: ast.stmt) -> _Made | Obstacle:
    x, y = call.args
    rows = facts.batch_rows.of(x)
    exact = facts.batch_rows.exactly(x)
    same = exact is not None and exact == facts.batch_rows.exactly(y)
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    unshuffled = "shuffle" in options and _is(options["shuffle"], 0)
    direct = (by_method(facts, call, "train_on_batch", [x, y]),)
    if same and exact == 1:
        return _Made(direct, Contract.EXACT)
    size = _batch_size(options.get("batch_size"))
    text = ast.unparse(x)
    if rows is not None and size is not None and rows > size:
        message = f"`{text}` has up to {rows} rows, in batches of {size}"
        return Obstacle("several-batches", message)
    if same and size is not None and unshuffled:
        return _Made(direct, Contract.EXACT)
    if same and size is not None:
        return facts.row_order.obstacle or _Made(direct, Contract.ROUNDING)
    numpy = facts.names.alias_of("numpy")
    if facts.keras_calls.is_whole_set(x) or facts.keras_calls.is_from_dataset(x):
        message = f"`{text}` seems to be more than a batch of arrays"
        return Obstacle("several-batches", message)
    if numpy is None or not isinstance(x, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        message = f"it is not known how many rows `{text}` has; where it is one batch, call"
        return Obstacle("rows-unknown", f"{message} `train_on_batch`")
    if _speaks_for_one(facts, call, y):
        return _Made(by_helper(facts, call, FIT, numpy, place), Contract.EXACT)
    if unshuffled:
        message = f"it is not known how many rows `{text}` has, which `fit` must not shuffle"
        return Obstacle("rows-unknown", f"{message}; where it is one batch, call `train_on_batch`")
    obstacle = facts.row_order.obstacle
    if obstacle is not None:
        return obstacle
    return _Made(by_helper(facts, call, FIT_BATCH, numpy, place), Contract.ROUNDING)


def _batch_size(given: ast.expr | None) -> int | None:
    """How many rows go into a batch; None where that is not written out."""
    if given is None or _is(given, None):
        return _BATCH
    value = given.value if isinstance(given, ast.Constant) else None
    return value if isinstance(value, int) and value > 0 else None


def _speaks_for_one(facts: Facts, call: ast.Call, y: ast.expr) -> bool:
    """Whether the text takes a target for one row: it changes or reads its first row only."""
    if facts.batch_rows.of(y) == 1 or facts.batch_rows.of(call.args[0]) == 1:
        return True
    function = facts.source.function(call) or facts.source.tree
    if not isinstance(y, ast.Name):
        return False
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == y.id
        and _is(node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice, 0)
        for node in ast.walk(function)
    )
