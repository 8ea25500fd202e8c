"""Models that Keras trains, and whether what it runs for a step may be traced."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis import keras_things
from tfrewrite.analysis.abstract_values import (
    Code,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    parts,
)
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.kept_objects import changed_later
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.trace import Trace

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_RUNNING = (
    "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch",
)  # fmt: skip
_PLAIN = frozenset(
    "run_eagerly loss_weights steps_per_execution jit_compile auto_scale_loss".split()
)
_CALLED = frozenset({"loss", "metrics", "weighted_metrics", "optimizer"})
# A model that has these does something else than Keras in a step, or at another time.
_STEPS = frozenset(
    "train_step test_step predict_step make_train_function make_test_function compile fit"
    " make_predict_function compute_loss compute_metrics evaluate predict train_on_batch".split()
)


class CompiledModels:
    """Answers whether `fit` may trace the step of a model."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._values = facts.eager_values
        self._names = facts.names
        self._classes = facts.classes

    def replayed(self, compiling: ast.Call) -> Trace | Obstacle:
        """What a trace of a step of a model does, or why it may not take its place."""
        facts = self._facts
        if facts.dynamics.obstacle_in_eager_code:
            return Obstacle("dynamic-code", facts.dynamics.obstacle_in_eager_code)
        otherwise = facts.step_functions.otherwise_run
        if otherwise:
            return Obstacle("not-eager", otherwise)
        assert isinstance(compiling.func, ast.Attribute)
        model = self._values.value(compiling.func.value)
        found = self._model(model) or self._given(compiling)
        if isinstance(found, Obstacle):
            return found
        trace = facts.tracing.called([(model, [Tensor(nest=True)]), *found])
        if isinstance(trace, Obstacle):
            return trace
        runs = [call for name in _RUNNING for call in self._classes.calls(name)]
        if not runs:
            return Obstacle("runs-not-seen", "nothing in this file trains or asks the model")
        for run in runs:
            words = facts.catching.seen(facts.source.statement(run))
            if words:
                return Obstacle("exception-seen", words)
        return changed_later(facts, trace, runs) or trace

    def eager(self) -> list[tuple[ast.Call, ast.keyword]]:
        """Every call of `compile` that asks for eager steps, with the argument that does."""
        return [
            (call, keyword)
            for call in sorted(self._classes.calls("compile"), key=lambda one: one.lineno)
            for keyword in call.keywords
            if keyword.arg == "run_eagerly"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is True
            and isinstance(call.func, ast.Attribute)
        ]

    def switches(self) -> list[ast.Call]:
        """Calls that make all compiled functions of the program run eagerly."""
        return [
            call
            for name in ("run_functions_eagerly", "experimental_run_functions_eagerly")
            for call in self._classes.calls(name)
            if self._names.tf(call.func) == f"config.{name}"
            and call.args
            and isinstance(call.args[0], ast.Constant)
            and call.args[0].value is True
        ]

    def _model(self, model: Value) -> Obstacle | None:
        match model:
            case Thing(kind="model"):
                return None
            case Own(cls=cls):
                base = self._values.members.base(cls)
                if base not in keras_things.MODELS:
                    message = f"what `{cls.name}` inherits is not in this file"
                    return Obstacle("model-not-seen", message)
                for owner in self._values.members.family(cls) or ():
                    for statement in owner.body:
                        name = getattr(statement, "name", "")
                        if name in _STEPS:
                            message = f"`{cls.name}` has a `{name}` of its own"
                            return Obstacle("own-step", message)
                return None
            case Unknown(why=why):
                return Obstacle("model-not-seen", why)
        return Obstacle("model-not-seen", "what is compiled is no model that this file shows")

    def _given(self, compiling: ast.Call) -> list[tuple[Value, list[Value]]] | Obstacle:
        """The losses, metrics and optimizers that a step calls, with what it gives them."""
        effect = effect_of("keras.Model.compile", "2")
        names = effect.parameters if effect is not None else ()
        names = names or ("optimizer", "loss", "loss_weights", "metrics", "weighted_metrics")
        pairs = [*zip(names, compiling.args, strict=False)]
        pairs += [(keyword.arg or "", keyword.value) for keyword in compiling.keywords]
        found: list[tuple[Value, list[Value]]] = []
        for name, argument in pairs:
            if name in _PLAIN:
                continue
            if name not in _CALLED:
                message = f"`{name or '**'}` is given to `compile`, and is not followed"
                return Obstacle("not-followed", message)
            value = self._values.value(argument)
            for part in parts(value):
                obstacle = self._part(name, part, found)
                if obstacle is not None:
                    return obstacle
        return found

    def _part(
        self, name: str, part: Value, found: list[tuple[Value, list[Value]]]
    ) -> Obstacle | None:
        pair: list[Value] = [Tensor(), Tensor()]
        match part:
            case Number(tensors=False):
                return None  # the name of one of Keras' own
            case Thing(kind="optimizer") if name == "optimizer":
                found.append((part, []))
                return None
            case Thing(kind="loss" | "metric"):
                found.append((part, pair))
                return None
            case Code() | Own() if name != "optimizer":
                found.append((part, pair))
                return None
            case Library(path=path):
                effect = effect_of(path.removeprefix("tensorflow."), "2")
                if effect is not None and effect.pure:
                    return None
            case Unknown(why=why):
                return Obstacle("not-followed", f"the `{name}` of the model: {why}")
            case Group():
                return None  # one that is empty
        return Obstacle("not-followed", f"the `{name}` of the model is not followed")
