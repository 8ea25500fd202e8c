"""Whether the models of a file could tell in which order the rows of a batch come.

Sums over the rows are then taken in another order, which is a matter of rounding. Dropout draws a
number for each place in the batch, and a layer or a loss of one's own may do anything.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_LAYER = re.compile(r"(?:^|\.)layers\.(?:\w+\.)*([A-Z]\w*)$")
# Each row comes out of these by itself, but for means and variances over all of them.
_ROW_BY_ROW = frozenset(
    "Activation Add Average AveragePooling1D AveragePooling2D AvgPool2D"
    " BatchNormalization Bidirectional Concatenate Conv1D Conv2D Conv2DTranspose Conv3D"
    " Convolution2D Cropping2D Dense DepthwiseConv2D Dot ELU Embedding Flatten GRU"
    " GlobalAveragePooling1D GlobalAveragePooling2D GlobalAvgPool2D GlobalMaxPool2D"
    " GlobalMaxPooling1D GlobalMaxPooling2D Input InputLayer LSTM LayerNormalization LeakyReLU"
    " MaxPool1D MaxPool2D MaxPooling1D MaxPooling2D Maximum Minimum Multiply Normalization PReLU"
    " Permute ReLU RepeatVector Rescaling Reshape SeparableConv2D SimpleRNN Softmax Subtract"
    " TimeDistributed UpSampling2D ZeroPadding2D".split()
)
_SILENT_AT_INFERENCE = frozenset(
    "ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise SpatialDropout1D"
    " SpatialDropout2D".split()
)
_FUNCTIONAL = re.compile(r"^keras\.(?:\w+\.)*Model$")
_NO_OPS = (
    "keras.Input", "keras.Model", "keras.Sequential", "keras.models.", "keras.layers.",
    "keras.losses.", "keras.optimizers.", "keras.callbacks.", "keras.datasets.", "keras.utils.",
    "keras.initializers.", "keras.regularizers.", "keras.metrics.", "keras.preprocessing.",
    "keras.engine.", "random.set_seed", "set_random_seed", "config.", "data.",
)  # fmt: skip
_OPTIONS = frozenset({"dropout", "recurrent_dropout", "stateful"})
_ORDERING = frozenset(
    "reverse roll cumsum cumprod gather gather_nd scan sort argsort top_k shuffle slice split"
    " strided_slice unstack while_loop map_fn foldl foldr dropout scatter_nd add_loss".split()
)
_UNKNOWN_LAYERS = ("load_model", "model_from_json", "model_from_yaml", "clone_model")
_ACTIVATIONS = ("keras.activations.", "nn.", "keras.layers.")


class RowOrder:
    """Looks for what would notice."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """What may compute something else from the same rows in another order."""
        found = self._layers(_ROW_BY_ROW) or self._own_classes() or self._calls(_OPTIONS)
        found = found or self._losses()
        return Obstacle("rows-shuffled", found) if found else None

    @cached_property
    def at_inference(self) -> Obstacle | None:
        """What may predict something else for a row when other rows are beside it."""
        found = self._layers(_ROW_BY_ROW | _SILENT_AT_INFERENCE) or self._own_classes()
        found = found or self._calls(frozenset({"stateful"})) or self._training_throughout()
        found = found or self._raw_ops()
        return Obstacle("several-batches", found) if found else None

    def _training_throughout(self) -> str:
        """A layer that is told to train whatever the model does, as in `dropout(x, True)`."""
        for call in self._source.all(ast.Call):
            for keyword in call.keywords:
                if keyword.arg == "training" and isinstance(keyword.value, ast.Constant):
                    if keyword.value.value:
                        return f"line {call.lineno} has a layer train, maybe also when it predicts"
            inner = call.func
            if isinstance(inner, ast.Call) and len(call.args) > 1:
                if _LAYER.search(self._names.tf(inner.func) or ""):
                    return f"the layer of line {call.lineno} is called with more than its input"
        for name in ("set_learning_phase", "learning_phase_scope"):
            for call in self._classes.calls(name):
                return f"`{name}` in line {call.lineno} changes what predicting does"
        return ""

    def _raw_ops(self) -> str:
        """Ops that may be part of a model beside its layers, and take means over a batch."""
        symbols = {call: self._names.tf(call.func) or "" for call in self._source.all(ast.Call)}
        if not any(_FUNCTIONAL.search(symbol) for symbol in symbols.values()):
            return ""
        for call, symbol in symbols.items():
            if symbol and not symbol.startswith(_NO_OPS):
                return f"`{ast.unparse(call.func)}` in line {call.lineno} may be part of a model"
        return ""

    def _layers(self, allowed: frozenset[str]) -> str:
        nodes: list[ast.Attribute | ast.Name] = [
            *self._source.all(ast.Attribute),
            *self._source.all(ast.Name),
        ]
        for node in nodes:
            layer = _LAYER.search(self._names.tf(node) or "")
            if layer is not None and layer[1] not in allowed:
                return f"`{layer[1]}` in line {node.lineno} may look at the places of rows"
        return ""

    def _own_classes(self) -> str:
        for cls in self._source.all(ast.ClassDef):
            for base in cls.bases:
                symbol = self._names.tf(base) or ""
                if symbol and not symbol.endswith("Callback"):
                    return f"`{cls.name}` of line {cls.lineno} may look at the order of rows"
        return ""

    def _calls(self, options: frozenset[str]) -> str:
        for call in self._source.all(ast.Call):
            symbol = self._names.tf(call.func) or ""
            name = symbol.rpartition(".")[2]
            if name in _UNKNOWN_LAYERS or "applications" in symbol:
                return f"the layers of the model of line {call.lineno} are not in the file"
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if name in _ORDERING or method == "add_loss":
                return f"`{ast.unparse(call.func)}` in line {call.lineno} depends on an order"
            for keyword in call.keywords:
                if keyword.arg in options:
                    return f"`{keyword.arg}` in line {call.lineno} depends on the places of rows"
                if keyword.arg == "activation" and not self._is_named(keyword.value, _ACTIVATIONS):
                    return f"the activation of line {call.lineno} is one of the file's own"
        return ""

    def _losses(self) -> str:
        for call in self._classes.calls("compile"):
            given = [keyword.value for keyword in call.keywords if keyword.arg == "loss"]
            given += call.args[1:2]
            parts: list[ast.expr] = []
            for value in given:
                match value:
                    case ast.List(elts=elements) | ast.Tuple(elts=elements):
                        parts += elements
                    case ast.Dict(values=values):
                        parts += values
                    case _:
                        parts.append(value)
            for part in parts:
                if not self._is_named(part, ("keras.losses.",)):
                    return f"the loss of line {call.lineno} is not one of Keras' own"
        return ""

    def _is_named(self, value: ast.expr, prefixes: tuple[str, ...]) -> bool:
        """Whether a value is a text, nothing, or what one of Keras' names stands for."""
        if isinstance(value, ast.Constant):
            return True
        named = value.func if isinstance(value, ast.Call) else value
        return (self._names.tf(named) or "").startswith(prefixes)
