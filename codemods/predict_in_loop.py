"""TFR401 predict-in-loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.keras_helpers import PREDICT, before_first, by_helper, by_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.keras_calls import KerasCall
    from tfrewrite.edits import Edit

_BATCH = 32
_SILENT = (0, False)
_MOST_AT_ONCE = 256
_BECAUSE = {
    Contract.EXACT: (
        "one batch goes through the same compiled function, and the result is a new array"
    ),
    Contract.ROUNDING: (
        "each row comes out of the same compiled function by itself, and the result is a new array"
    ),
}
_BAR = "; the progress bar is no longer printed"


@dataclass(frozen=True)
class _Made:
    """What is put in the place of a call, and what that promises."""

    edits: tuple[Edit, ...]
    contract: Contract


class PredictInLoop(Rule):
    """Makes `model.predict` of a single batch, in a loop, a call of `model.predict_on_batch`.

    ## Why it is slow
    `predict` is made for many batches. Each call builds a tf.data pipeline, starts its threads,
    sets up callbacks and takes the result out of them again, whatever the model.
    `predict_on_batch` runs the same compiled function on the array itself. A `tf.function` written
    by hand saves little more.

    ## Before
    ```python
    for state, action, reward, next_state, done in minibatch:
        target = model.predict(np.reshape(state, [1, 4]), verbose=0)
        best = np.amax(model.predict(next_state, verbose=0)[0])
    ```

    ## After
    ```python
    def predict_one_batch(model, x, batch_size=None, **options):
        \"\"\"The same as `model.predict`, without the pipeline that it builds in each call.\"\"\"
        one_batch = type(x) is np.ndarray and x.ndim > 1 and 0 < len(x) <= (batch_size or 32)
        if one_batch and x.dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
            return model.predict_on_batch(x)
        return model.predict(x, batch_size=batch_size, **options)


    for state, action, reward, next_state, done in minibatch:
        target = model.predict_on_batch(np.reshape(state, [1, 4]))
        best = np.amax(predict_one_batch(model, next_state, verbose=0)[0])
    ```
    Where the text says how many rows there are, the method is called as it is. Elsewhere a function
    looks at the data, and calls `predict` for all but an array of numbers in one batch. The result
    is a new numpy array in both cases, which may be written to.

    ## Contract
    - `exact`: one batch goes through the same compiled function of the model, so that outputs,
      random draws and the states of layers are the same to the bit; measured on 2.21 and 2.15 for
      dense, convolutional and recurrent networks, batch norm, dropout, and for integers and floats
      of each width. Weights are read anew in each call. A layer that draws in `predict`, too, told
      so by `training=True`, is refused before 2.16 (`random-in-model`): there a batch alone has a
      trace of its own, and draws again what the first `predict` drew.
    - `rounding`: up to 256 rows, which `predict` takes in batches of 32, in one; the layers of the
      file treat each row by itself. Those of 33 rows of a convolution were seen to differ.

    The progress bar of a `predict` without `verbose=0`, which shows times, is no longer printed.
    An array that the model does not take, by its shape or as it holds texts, raises an error, too,
    which may have another text and type. So calls are left alone where somebody looks into the
    error, or catches errors by their types (`message-read`).

    ## Refuses
    A batch alone is traced for itself: a model that is changed in Python in the meantime
    (`object-changes`), or that asks for the number of rows when it is traced (`traced-effects`),
    might be another one there.
    What may be no Keras model (`model-unknown`) and models with such methods of their own
    (`own-method`) stay. So do calls that ask for steps, callbacks or a progress bar
    (`other-arguments`), several inputs and other data whose rows are not known (`rows-unknown`),
    and what is more than one batch (`several-batches`) where it is long, since a batch of all rows
    takes more memory, or where a layer may look at the batch as a whole. Nothing is said of
    `predict` out of loops, nor where it is called at each tenth turn only.

    ## When it does not help
    Where the model itself takes most of the time, and where `x` turns out to be long. An array that
    is there from the start is faster still in one `predict` of all rows before the loop.
    """

    code = "TFR401"
    name = "predict-in-loop"
    contracts = (Contract.EXACT, Contract.ROUNDING)
    triggers = ((b"keras",), (b".predict(",))
    reasons = {
        "model-unknown": "It is not known whether the object is a Keras model.",
        "own-method": "A model of the file has a predict, or what predict is made of, of its own.",
        "other-arguments": "The call asks for steps, callbacks or a progress bar.",
        "rows-unknown": "It is not known how many rows there are, and it cannot be asked either.",
        "several-batches": "The data is more than one batch.",
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
        calls = list(facts.keras_calls.repeated("predict", "predict_on_batch"))
        first = before_first(facts, calls)
        for one in calls:
            assert first is not None
            yield _site(facts, one, first)


def _site(facts: Facts, one: KerasCall, place: ast.stmt) -> Site:
    span = facts.source.span(one.call)
    obstacle = facts.keras_calls.obstacle(one) or _arguments(one.call)
    found = obstacle or _made(facts, one.call, place)
    if isinstance(found, Obstacle):
        return Refusal(span, found.reason, found.message)
    text = ast.unparse(one.receiver)
    bar = "" if any(keyword.arg == "verbose" for keyword in one.call.keywords) else _BAR
    return Rewrite(
        span,
        f"put the batch through `{text}` without a pipeline of its own: a loop calls `predict` in"
        f" each turn, which builds a pipeline for anything{bar}",
        _BECAUSE[found.contract],
        found.contract,
        found.edits,
    )


def _arguments(call: ast.Call) -> Obstacle | None:
    """What a call asks for beside the prediction."""
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if starred or len(call.args) > 2 or len(_data(call)) != 1:
        return Obstacle("other-arguments", "its arguments are not all written out")
    for keyword in call.keywords:
        value = keyword.value
        if keyword.arg == "verbose":
            if not isinstance(value, ast.Constant) or value.value not in _SILENT:
                message = f"`verbose={ast.unparse(value)}` may print a progress bar"
                return Obstacle("other-arguments", message)
        elif keyword.arg not in ("batch_size", "x"):
            return Obstacle("other-arguments", f"it is called with `{keyword.arg or '**'}`")
    return None


def _data(call: ast.Call) -> list[ast.expr]:
    """What is predicted, by position or by name."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "x"]
    return [*call.args[:1], *named]


def _made(facts: Facts, call: ast.Call, place: ast.stmt) -> _Made | Obstacle:
    (data,) = _data(call)
    size = _batch_size(call)
    text = ast.unparse(data)
    several = isinstance(data, (ast.List, ast.Tuple))
    parts = data.elts if isinstance(data, (ast.List, ast.Tuple)) else [data]
    rows = [facts.batch_rows.of(part) for part in parts]
    if rows and None not in rows and size is not None:
        most = max(row for row in rows if row is not None)
        if len(set(rows)) > 1:
            return Obstacle("rows-unknown", f"the parts of `{text}` have different numbers of rows")
        edits = (by_method(facts, call, "predict_on_batch", [data]),)
        if most <= size:
            return _Made(edits, Contract.EXACT)
        message = f"`{text}` has up to {most} rows, in batches of {size}"
        if most > _MOST_AT_ONCE:
            return Obstacle("several-batches", message)
        beside = facts.row_order.at_inference
        if beside is not None:
            return Obstacle("several-batches", f"{message}, and {beside.message}")
        return _Made(edits, Contract.ROUNDING)
    if facts.keras_calls.is_whole_set(data):
        message = f"`{text}` seems to be a whole set of data: predict it once, before the loop"
        return Obstacle("several-batches", message)
    numpy = facts.names.alias_of("numpy")
    if facts.keras_calls.is_from_dataset(data):
        message = f"`{text}` is what a loop takes out of a dataset: predict the whole of that"
        return Obstacle(
            "several-batches", f"{message}, before the loop, or call `predict_on_batch`"
        )
    several = several or (isinstance(data, ast.BinOp) and isinstance(data.left, ast.List))
    other = several or facts.keras_calls.is_tensor(data) or not isinstance(data, _ARRAYS)
    if other or numpy is None:
        message = f"it is not known how many rows `{text}` has; where it is one batch, call"
        return Obstacle("rows-unknown", f"{message} `predict_on_batch`")
    return _Made(by_helper(facts, call, PREDICT, numpy, place), Contract.EXACT)


_ARRAYS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp, ast.NamedExpr)


def _batch_size(call: ast.Call) -> int | None:
    """How many rows go into a batch; None where that is not written out."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "batch_size"]
    given += call.args[1:]
    if not given:
        return _BATCH
    value = given[0].value if isinstance(given[0], ast.Constant) else 0
    if value is None:
        return _BATCH
    return value if isinstance(value, int) and value > 0 else None
