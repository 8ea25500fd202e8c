"""What the classes of Keras and TensorFlow make that training code is written with."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Group, group
from tfrewrite.analysis.effects import Effect, effect_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tfrewrite.analysis.eager.abstract_values import Value

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LAYER = ("keras.layers.",)
_OPTIMIZERS = ("keras.optimizers.", "optimizers.")
_SCHEDULES = ("keras.optimizers.schedules.", "optimizers.schedules.")
_LOSSES = ("keras.losses.", "losses.")
_METRICS = ("keras.metrics.", "metrics.")
_SETTINGS = (
    "keras.initializers.", "initializers.", "keras.regularizers.", "keras.constraints.",
    "random_normal_initializer", "random_uniform_initializer", "zeros_initializer",
    "ones_initializer", "constant_initializer",
)  # fmt: skip
MODELS = frozenset({"keras.Model", "keras.models.Model"})
SEQUENTIAL = frozenset({"keras.Sequential", "keras.models.Sequential"})
# The attributes of models and layers that list their variables.
VARIABLES = frozenset(
    "trainable_variables trainable_weights variables weights non_trainable_variables".split()
)
INPUTS = frozenset({"keras.Input", "keras.layers.Input", "keras.layers.InputLayer"})
# They hold another layer, and do what that does.
WRAPPERS = frozenset({"keras.layers.Bidirectional", "keras.layers.TimeDistributed"})
_DRAWING = ("Dropout", "Noise", "Random")
# What they give is known by its op in a trace, where a crossentropy of Keras goes on from what lies
# beneath it, the logits. In eager mode it does so only for what an activation of Keras gives.
SQUASHING = frozenset(
    "nn.softmax math.softmax nn.sigmoid math.sigmoid sigmoid keras.backend.softmax"
    " keras.backend.sigmoid keras.layers.Softmax".split()
)
# How many tensors they give with `return_state`: the output and their states.
WITH_STATE = {"keras.layers.SimpleRNN": 2, "keras.layers.GRU": 2, "keras.layers.LSTM": 3}
# How many states they keep, which they give in a list where they are given one.
CELLS = {"keras.layers.SimpleRNNCell": 1, "keras.layers.GRUCell": 1, "keras.layers.LSTMCell": 2}
# Their methods `apply_gradients` and `apply` were not traced, or keep a state in Python, as that of
# Nadam before Keras 3; that of Adafactor cannot make its variables in a trace for some names.
_OTHER_OPTIMIZERS = frozenset(
    "Adafactor LossScaleOptimizer MultiOptimizer Nadam Optimizer OptimizerMap"
    " ScheduleFreeAdamW".split()
)
# Their stream is a variable, and the same in a trace.
GENERATORS = frozenset(
    f"random.{name}"
    for name in "Generator.from_seed Generator.from_non_deterministic_state Generator".split()
)
# In Keras 2.15 it cannot be traced in another function: a tensor decides in it.
_FAILING_WHEN_TRACED = frozenset({"keras.layers.SpectralNormalization"})
# A base class of Keras or TensorFlow, and the method that calling such an object runs.
BASES = {
    "keras.Model": "call",
    "keras.models.Model": "call",
    "keras.layers.Layer": "call",
    "keras.Layer": "call",
    "keras.losses.Loss": "call",
    "keras.optimizers.schedules.LearningRateSchedule": "__call__",
    "optimizers.schedules.LearningRateSchedule": "__call__",
    "Module": "__call__",
}
# As long as so many ops take the calls of Keras around a layer, a loss or a metric.
OPS_OF_CALL = 12
# Keyword arguments that are functions, or hold some.
CALLABLE_ARGUMENTS = (
    "activation", "initializer", "regularizer", "constraint", "function", "cell", "layer", "fn",
)  # fmt: skip


def kind_of(symbol: str) -> str | None:
    """What kind of object calling a symbol makes; None where it is none that is known."""
    name = symbol.rpartition(".")[2]
    if symbol == "Variable":
        return "variable"
    if symbol in GENERATORS:
        return "generator"
    if symbol in MODELS | SEQUENTIAL or symbol.startswith("keras.applications."):
        return "model" if name[:1].isupper() else None
    if symbol == "train.Checkpoint" or symbol.startswith("summary.create_file_writer"):
        return None
    if symbol.startswith(_SETTINGS):
        return "setting"
    if not name[:1].isupper() or symbol in _FAILING_WHEN_TRACED:
        return None
    if symbol.startswith(_SCHEDULES):
        return "schedule"
    if symbol.startswith(_OPTIMIZERS):
        return None if name in _OTHER_OPTIMIZERS else "optimizer"
    if symbol.startswith(_LAYER):
        return "layer" if symbol in WRAPPERS or _is_known_layer(symbol) else None
    for prefixes, kind in ((_LOSSES, "loss"), (_METRICS, "metric")):
        if symbol.startswith(prefixes):
            effect = effect_of(f"{symbol}.__call__", "2")
            return None if effect is None or effect.host or effect.calls else kind
    return None


def of_cell(symbol: str, given: Sequence[Value], output: Value) -> Value | None:
    """What a cell gives for an input and a list of states; None for all other calls."""
    states = given[1] if len(given) > 1 else None
    if symbol not in CELLS or not isinstance(states, Group):
        return None
    return group(output, group(*[output] * CELLS[symbol]))


def draws(symbol: str, options: Collection[str]) -> bool:
    """Whether calling an object of a class, made with some options, may draw random numbers."""
    if symbol.startswith("keras.applications.") or any("dropout" in one for one in options):
        return True
    return symbol.startswith("keras.layers.") and any(word in symbol for word in _DRAWING)


def makes_variables(symbol: str) -> bool:
    """Whether a layer of a class may make variables when it is called."""
    effect = effect_of(f"{symbol}.__call__", "2")
    return effect is None or effect.creates or effect.calls or symbol in WRAPPERS


def is_crossentropy(symbol: str) -> bool:
    """Whether a loss, a metric or a function of Keras looks for logits beneath what it is given."""
    return "rossentropy" in symbol or not symbol


def effect_of_loss(symbol: str) -> Effect | None:
    """What calling an object of a loss does; its function is looked at where that says more."""
    called = effect_of(f"{symbol}.__call__", "2")
    if called is None or called.gradient:
        return called
    module, _, name = symbol.rpartition(".")
    function = effect_of(f"{module}.{_CAPITAL.sub('_', name).lower()}", "2")
    return called if function is None else replace(called, gradient=function.gradient)


def _is_known_layer(symbol: str) -> bool:
    if symbol in ("keras.layers.Layer", "keras.layers.Lambda"):
        return symbol == "keras.layers.Lambda"
    effect = effect_of(f"{symbol}.__call__", "2")
    return effect is not None and not effect.host and not effect.calls
