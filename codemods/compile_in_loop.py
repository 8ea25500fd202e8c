"""TFR402 compile-in-loop."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, ClassVar

from tfrewrite.analysis.keras.keras_models import Sort
from tfrewrite.model import Report, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_OPTIMIZER = re.compile(r"^keras\.optimizers\.(?!schedules)(?:\w+\.)*[A-Z]\w*$")
_LAYER = re.compile(r"^keras\.layers\.(?:\w+\.)*[A-Z]\w*$")
_WORKING = frozenset({"fit", "train_on_batch", "fit_generator"})
_HARMLESS = _WORKING | frozenset(
    "compile evaluate predict predict_on_batch test_on_batch summary save save_weights"
    " get_weights".split()
)
_UPDATING = frozenset({"apply_gradients", "minimize", "apply"})


class CompileInLoop(Rule):
    """Reports models that are compiled, and optimizers and layers that are made, in each turn.

    ## Why it is slow
    `compile` throws away the step that Keras has traced and compiled, so that the next `fit` or
    `train_on_batch` does it again, and makes a new optimizer. An optimizer that is made for each
    step makes its variables again. A new loss object costs nothing that could be measured.

    ## Before
    ```python
    for epoch in range(100):
        model.compile(optimizer="adam", loss="mse")
        model.fit(x, y)
    ```

    ## After
    ```python
    model.compile(optimizer="adam", loss="mse")
    for epoch in range(100):
        model.fit(x, y)
    ```

    ## Contract
    None: it only reports. A new optimizer begins without the moments and the count of steps of the
    one before, and a new layer with new weights, so that making them once changes the training,
    very likely for the better. That is for the owner to decide.

    ## Reports
    A `compile` in a loop that trains, an optimizer that is made in a loop and applied there, and a
    layer that is made and called under a `GradientTape`, whose weights nothing ever trains.
    Nothing is said where the model is made in the same loop or function, as in cross validation,
    nor where the file freezes and thaws layers, which takes a `compile` to have an effect.

    ## When it does not help
    Where there are few turns and each trains for long.
    """

    code = "TFR402"
    name = "compile-in-loop"
    contracts = ()
    triggers = ((b"keras",), (b".compile(", b"optimizers", b"GradientTape"))
    reasons: ClassVar[dict[str, str]] = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in sorted(facts.source.all(ast.Call), key=facts.source.span):
            message = _compiled(facts, call) or _optimizer(facts, call) or _layer(facts, call)
            if message:
                yield Report(facts.source.span(call), message)


def _compiled(facts: Facts, call: ast.Call) -> str:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "compile":
        return ""
    loop = facts.keras_calls.loop_around(call)
    if loop is None or facts.keras_models.sort(call.func.value) is not Sort.KERAS:
        return ""
    freezes = any(
        node.attr == "trainable" and not isinstance(node.ctx, ast.Load)
        for node in facts.source.all(ast.Attribute)
    )
    if freezes or _made_anew(facts, call, loop) or not _calls(loop, _WORKING):
        return ""
    function = facts.source.function(call)
    if any(_changes(facts, call.func.value, place) for place in (loop, function) if place):
        return ""
    text = ast.unparse(call.func.value)
    return (
        f"each turn of a loop compiles `{text}` again: its step is traced and compiled anew, and"
        " the optimizer begins without its moments; compile it once, before the loop"
    )


def _changes(facts: Facts, model: ast.expr, loop: ast.AST) -> bool:
    """Whether a loop does something with a model that may call for compiling it again."""
    wanted = ast.dump(model)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(ast.dump(one) == wanted for one in given):
                return True
            func = node.func
            if isinstance(func, ast.Attribute) and ast.dump(func.value) == wanted:
                if func.attr not in _HARMLESS:
                    return True
    return any(
        ast.dump(node.value) == wanted and not isinstance(node.ctx, ast.Load)
        for node in facts.source.all(ast.Attribute)
    )


def _optimizer(facts: Facts, call: ast.Call) -> str:
    if not _OPTIMIZER.match(facts.names.tf(call.func) or ""):
        return ""
    loop = facts.keras_calls.loop_around(call)
    if loop is None or _made_anew(facts, call, loop) or not _is_applied(facts, call):
        return ""
    return (
        "each turn of a loop makes an optimizer, which begins without the moments of the one before"
        " and makes its variables anew; make it once, before the loop"
    )


def _is_applied(facts: Facts, call: ast.Call) -> bool:
    """Whether an optimizer is used where it is made, as it is or by the name that it gets."""
    parent = facts.source.parent(call)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _UPDATING
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    name = parent.targets[0].id
    scope = facts.source.function(call) or facts.source.tree
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _UPDATING
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in ast.walk(scope)
    )


def _layer(facts: Facts, call: ast.Call) -> str:
    """A layer that is made and called at once while gradients are recorded."""
    parent = facts.source.parent(call)
    called = isinstance(parent, ast.Call) and parent.func is call
    symbol = facts.names.tf(call.func) or ""
    if not called or not _LAYER.match(symbol) or not _has_weights(symbol):
        return ""
    if not any(_is_tape(facts, outer) for outer in facts.flow.enclosing(call)):
        return ""
    if facts.keras_calls.loop_around(call) is None:
        return ""
    name = symbol.rpartition(".")[2]
    return (
        f"each turn of a loop makes a new `{name}`, with new weights that nothing trains; make it"
        " once, before the loop"
    )


def _has_weights(symbol: str) -> bool:
    name = symbol.rpartition(".")[2]
    return name.startswith(("Conv", "Dense", "Depthwise", "Separable")) or name in (
        "LSTM", "GRU", "SimpleRNN", "Embedding", "BatchNormalization", "LayerNormalization",
    )  # fmt: skip


def _is_tape(facts: Facts, node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and facts.names.tf(item.context_expr.func) == "GradientTape"
        for item in node.items
    )


def _made_anew(facts: Facts, call: ast.Call, loop: ast.AST) -> bool:
    """Whether each turn has a model of its own: it is made in the loop, or beside the call."""
    places = [loop]
    function = facts.source.function(call)
    if function is not None and loop not in facts.source.ancestors(call):
        places.append(function)
    for place in places:
        for node in ast.walk(place):
            if not isinstance(node, ast.Call):
                continue
            made = facts.classes.defined(node.func) is not None
            if made or facts.keras_models.sort(node) is Sort.KERAS:
                return True
    return False


def _calls(loop: ast.AST, methods: frozenset[str]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
        for node in ast.walk(loop)
    )
