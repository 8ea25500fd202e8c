"""TFR210 jit-compile."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import trained_models
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces import trace
from tfrewrite.edits import ReplaceExpression
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.with_argument import with_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.trained_models import Trained
    from tfrewrite.analysis.traces.compiled_functions import Compiled

_SETTING = "jit_compile"
_BEFORE = "experimental_compile"
_SINCE = (2, 5)
_FIRST_WITH = (2, 1)
_FIRST_FIT_WITH = (2, 8)
_COMMON_REASONS = trained_models.REASONS | trace.REASONS
_HARMLESS_SETTINGS = frozenset({"reduce_retracing", "experimental_relax_shapes", "autograph"})
_CHANGES = (
    "all random numbers that are drawn in the step, dropout masks too: XLA draws them from a stream"
    " of its own, whatever the seed"
)


class JitCompile(Rule):
    """Lets XLA compile a training step that is a `tf.function` already, or that `fit` makes.

    ## Why it is slow
    A `tf.function` still runs its ops one by one, each with its own buffers. XLA makes one program
    of them. Recurrent layers gain most; small dense networks may as well become slower: let
    `tfrewrite verify` tell.

    ## Before
    ```python
    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_object(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    model.compile("adam", "mse")
    ```

    ## After
    ```python
    @tf.function(jit_compile=True)
    def train_step(images, labels):
        ...

    model.compile("adam", "mse", jit_compile=True)
    ```
    With `target-tf` below 2.5 it is `experimental_compile=True`, which was not tried; `compile`
    takes it since 2.8.

    ## Contract
    - `rounding`: the same mathematics, fused otherwise.
    - `precision`: the step draws random numbers. Measured on 2.10, 2.15 and 2.21: with XLA they are
      others, with and without seeds: `tf.random`, `tf.nn.dropout`, those of a
      `tf.random.Generator`, and the layers of Keras 2 and 3. Stateless draws were others on 2.15
      and 2.21.

    An index out of range raises an error in TensorFlow's own kernels on a CPU, and none in XLA's.

    ## Refuses
    What is not known to be compiled by XLA (`not-for-xla`): each op, layer, loss, metric and
    optimizer that is let through was tried on 2.10, 2.15 and 2.21. Among those that are not:
    texts, `tf.print`, `py_function`, summaries, assertions, datasets in the step. What has a shape
    that depends on values (`needs-static-shape`): `tf.where` with one argument, `boolean_mask`,
    `tf.unique`, slices up to a tensor. Batches of many shapes (`shape-varies`), strategies that
    spread them. A step is gone through as a trace would, and refused for the reasons of TFR201
    where that is not followed to its end; so are models of `fit` that are not made in the file of
    Keras' own parts (`model-not-seen`, `custom-code`, `code-not-seen`). A step that another
    compiled function calls (`called-in-trace`), and settings that were not tried
    (`other-settings`).

    ## When it does not help
    Each shape is compiled by itself: a last batch that is smaller costs another compilation, of
    some hundred milliseconds to many seconds. So it loses in short runs, and on a CPU often with
    large convolutions and products, whose own kernels are fast. Steps of `fit` hardly gain there:
    most of their time is Python. Measure, or let `apply --verify` do it.
    """

    code = "TFR210"
    name = "jit-compile"
    contracts = (Contract.ROUNDING, Contract.PRECISION)
    triggers = ((b"tensorflow", b"keras"), (b"function", b".compile("))
    reasons = _COMMON_REASONS | {
        "not-for-xla": "It uses what XLA does not compile, or is not known to compile.",
        "needs-static-shape": "Something in it has a shape that depends on values.",
        "called-in-trace": "Another compiled function calls it.",
        "other-settings": "It is made with other settings, with which this was not tried.",
        "callers-not-seen": "It is not called in this file, or may be called from elsewhere.",
        "saved-with-object": "It would be saved as a part of its object.",
        "made-in-loop": "It is defined anew in each turn of a loop, and would be compiled anew.",
    }
    on_request = True
    may_lose = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        target = facts.target_tf
        if target is not None and target < _FIRST_WITH:
            return
        yield from _functions(facts)
        if target is None or target >= _FIRST_FIT_WITH:
            for one in facts.trained_models.all:
                if _SETTING not in one.options:
                    yield _of_fit(facts, one)


# Steps that are written out


def _functions(facts: Facts) -> Iterator[Site]:
    made = {one.code: one for one in facts.compiled_functions.all if one.decorated}
    for step in facts.step_functions.compiled():
        one = made[step.function]
        if one.settings.keys() & {_SETTING, _BEFORE}:
            continue
        span = facts.source.span(one.making)
        obstacle = (
            _settings(facts, one) or _in_trace(facts, step.calls or ()) or facts.xla.shapes_vary
        )
        found = obstacle or facts.step_traces.followed(step)
        if isinstance(found, Obstacle):
            yield Refusal(span, found.reason, found.message)
            continue
        unordered = found.again or (found.loose if found.by_optimizer else "")
        if unordered:
            message = f"without XLA the order in which {unordered} is read and updated is not fixed"
            yield Refusal(span, "called-again", message)
            continue
        unfit = facts.xla.obstacle(found)
        if unfit is not None:
            yield Refusal(span, unfit.reason, unfit.message)
            continue
        yield _rewrite(facts, one.making, f"`{one.name}`", draws=facts.xla.draws(found))


def _settings(facts: Facts, one: Compiled) -> Obstacle | None:
    other = sorted(one.settings.keys() - _HARMLESS_SETTINGS)
    if other or not _is_simple(facts, one.making):
        what = (
            f"with `{other[0]}`" if other else "in another way than `tf.function` or a call of it"
        )
        return Obstacle("other-settings", f"`{one.name}` is made {what}")
    assert isinstance(one.code, ast.FunctionDef)
    if len(one.code.decorator_list) > 1:
        return Obstacle("other-settings", f"`{one.name}` has another decorator besides")
    return None


def _is_simple(facts: Facts, making: ast.expr) -> bool:
    made = making.func if isinstance(making, ast.Call) else making
    plain = isinstance(making, ast.Call) and any(k.arg is None for k in making.keywords)
    return facts.names.tf(made) == "function" and not plain


def _in_trace(facts: Facts, calls: tuple[ast.Call, ...]) -> Obstacle | None:
    for call in calls:
        if facts.step_functions.is_traced(call):
            message = f"line {call.lineno}, which calls it, is part of a compiled function itself"
            return Obstacle("called-in-trace", message)
    return None


# Steps that `fit` makes


def _of_fit(facts: Facts, one: Trained) -> Site:
    span = facts.source.span(one.compiling)
    obstacle = facts.xla.shapes_vary or facts.trained_models.obstacle(one) or facts.xla.of_fit(one)
    if obstacle is not None:
        return Refusal(span, obstacle.reason, obstacle.message)
    what = f"the steps of `{ast.unparse(one.receiver)}`"
    return _rewrite(facts, one.compiling, what, draws=facts.xla.fit_draws)


def _rewrite(facts: Facts, making: ast.expr, what: str, *, draws: bool) -> Rewrite:
    target = facts.target_tf
    setting = _BEFORE if target is not None and target < _SINCE else _SETTING
    span = facts.source.span(making)
    text = f"{setting}=True"
    if isinstance(making, ast.Call):
        edit = with_argument(facts, making, text)
    else:
        edit = ReplaceExpression(span, f"{facts.source.segment(making)}({text})")
    return Rewrite(
        span,
        f"let XLA compile {what}: one program in place of many ops",
        "all that the step does is known to be compiled by XLA, with shapes that are fixed",
        Contract.PRECISION if draws else Contract.ROUNDING,
        (edit,),
        changes=_CHANGES if draws else "",
    )
