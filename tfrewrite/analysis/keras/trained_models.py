"""The models of a file that `fit` trains, with nothing in their steps but what is Keras' own."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras.keras_models import Sort
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_FITTING = ("fit", "fit_generator")
REASONS = {
    "model-not-seen": "How the model is made is not seen in this file.",
    "custom-code": "The model runs code that is not Keras' own.",
    "code-not-seen": "A library is imported that may hold layers or losses.",
    "function-not-seen": "Names may change unseen.",
    "iterator-in-checkpoint": "Iterators are saved in checkpoints.",
    "debug-mode": "The file asks for tf.data's debug mode.",
    "runs-eagerly": "Models run eagerly, op by op.",
    "steps-per-execution": "A model takes several batches at once, or may do so.",
    "other-backend": "Keras may work with another library than TensorFlow.",
    "distributed": "A batch is spread over several devices.",
    "graph-mode": "The file is for TensorFlow 1.",
    "traced-effects": "Tracing a model of the file has effects.",
    "precision-policy": "Numbers are converted by a policy of the file's own.",
    "random-in-model": "Random ops may be part of a model.",
    "dynamic-code": "The file changes names, attributes or classes unseen.",
}
"""Why a model is not known to be trained by Keras' own code, as rules about `fit` explain it."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A model that is compiled in this file, and trained in it."""

    compiling: ast.Call
    receiver: ast.expr
    options: dict[str, ast.expr]
    """What `compile` is given by keyword."""


class TrainedModels:
    """Finds what `compile` and `fit` are called of."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes

    @cached_property
    def fits(self) -> list[ast.Call]:
        """Every call that may train a model of Keras by itself."""
        found = [call for name in _FITTING for call in self._classes.calls(name)]
        return [
            call
            for call in sorted(found, key=self._source.span)
            if isinstance(call.func, ast.Attribute)
            and self._names.dotted(call.func) is None
            and self._facts.keras_models.sort(call.func.value) is not Sort.OTHER
        ]

    @cached_property
    def all(self) -> list[Trained]:
        """Every compiled model that some `fit` of the file may be of, in the order of the text."""
        if not self.fits:
            return []
        found = []
        for call in sorted(self._facts.eager_runs.compiles, key=self._source.span):
            assert isinstance(call.func, ast.Attribute)
            receiver = call.func.value
            if self._facts.keras_models.sort(receiver) is not Sort.OTHER:
                options = {k.arg: k.value for k in call.keywords if k.arg is not None}
                found.append(Trained(call, receiver, options))
        return found

    def obstacle(self, one: Trained) -> Obstacle | None:
        """What of a model or of its training may be other than Keras' own."""
        return (
            self._graph_mode
            or self._facts.keras_models.obstacle
            or self._other_training
            or self._facts.eager_runs.foreign(one.compiling)
        )

    @cached_property
    def _graph_mode(self) -> Obstacle | None:
        target = self._facts.target_tf
        if self._names.version == "1" or (target is not None and target < (2,)):
            return Obstacle("graph-mode", "the file is written for TensorFlow 1")
        return None

    @cached_property
    def _other_training(self) -> Obstacle | None:
        """A model in a wrapper is trained by calls that are not seen."""
        for node in [*self._source.all(ast.Attribute), *self._source.all(ast.Name)]:
            symbol = self._names.tf(node) or ""
            if symbol.startswith(("keras.wrappers", "estimator.", "keras.estimator")):
                message = f"`{ast.unparse(node)}` in line {node.lineno} trains models unseen"
                return Obstacle("model-not-seen", message)
        return None
