"""Methods of Keras models that are called again and again: in loops, or in what loops call."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import gives_tensor
from tfrewrite.analysis.keras.keras_models import Sort
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_FEW_TURNS = 3
_MAX_CALLERS = 5
_FIRST_TARGET = (2, 2)
_DATASET = re.compile(r"dataset|_ds\b|\bds\b|\.take\(|\.batch\(", re.IGNORECASE)
_WHOLE = re.compile(
    r"(?:^|_)(?:train|test|val|valid|validation|dev|dataset|data|all)s?(?:$|_)", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class KerasCall:
    """`model.method(data, ...)`, on what is a Keras model or may be one."""

    call: ast.Call
    receiver: ast.expr
    sort: Sort
    loop: ast.AST
    """The loop that makes it again and again, here or around a caller."""


class KerasCalls:
    """Finds the calls, and what speaks against making them in another way."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._classes = facts.classes

    def repeated(self, method: str, cheaper: str) -> Iterator[KerasCall]:
        """The calls of a method in loops, but for those beside its cheaper counterpart.

        A function that already calls `predict_on_batch` chooses between the two.
        """
        for call in sorted(self._classes.calls(method), key=self._source.span):
            if not isinstance(call.func, ast.Attribute):
                continue
            receiver = call.func.value
            function = self._source.function(call)
            beside = [one for one in self._classes.calls(cheaper) if one is not call]
            if function is not None and any(self._source.function(b) is function for b in beside):
                continue
            loop = self.loop_around(call)
            if loop is None:
                continue
            sort = self._facts.keras_models.sort(receiver)
            if sort is not Sort.OTHER:
                yield KerasCall(call, receiver, sort, loop)

    def loop_around(self, node: ast.AST) -> ast.AST | None:
        """The loop that evaluates a node in most of its many turns, here or around a caller."""
        return self._loop(node, set(), 0)

    def _loop(self, node: ast.AST, seen: set[ast.AST], depth: int) -> ast.AST | None:
        """The loop that evaluates a node in most of its turns, here or around a caller."""
        loops = self._facts.hoisting.loops(node)
        for loop in loops:
            if turns(loops) > _FEW_TURNS:
                return None if self._is_periodic(node, loop) else loop
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen or depth > _MAX_CALLERS:
            return None
        seen.add(function)
        for call in self._classes.calls(function.name):
            found = self._loop(call, seen, depth + 1)
            if found is not None:
                return found
        return None

    def _is_periodic(self, node: ast.AST, loop: ast.AST) -> bool:
        """Whether a loop comes to a node at each tenth turn only, or after an error."""
        child = node
        for outer in self._facts.flow.enclosing(node):
            if outer is loop:
                break
            if isinstance(outer, ast.ExceptHandler):
                return True
            if isinstance(outer, ast.If) and child in outer.body:
                if any(isinstance(part, ast.Mod) for part in ast.walk(outer.test)):
                    return True
            child = outer
        return False

    def obstacle(self, one: KerasCall) -> Obstacle | None:
        """Why a call may do more than to put one batch through the model."""
        text = ast.unparse(one.receiver)
        target = self._facts.target_tf
        if one.sort is Sort.UNKNOWN:
            message = f"it is not known what `{text}` is, and so what its method does"
            return Obstacle("model-unknown", message)
        if target is not None and target < _FIRST_TARGET:
            message = "before TensorFlow 2.2 `predict_on_batch` may give tensors"
            return Obstacle("graph-mode", message)
        if self._facts.names.version == "1":
            return Obstacle("graph-mode", "the file asks for TensorFlow 1")
        looking = self._facts.handlers.looking(one.call)
        looking = looking or self._facts.endings.types_told(one.call)
        if looking:
            return Obstacle("message-read", looking)
        models = self._facts.keras_models
        training = getattr(one.call.func, "attr", "") == "fit"
        return (
            models.own_method(one.receiver)
            or models.obstacle
            or self._facts.model_traces.obstacle(training=training)
        )

    def is_from_dataset(self, data: ast.expr) -> bool:
        """Whether a name holds what a loop takes out of a dataset: tensors, as far as is seen."""
        names = [node for node in ast.walk(data) if isinstance(node, ast.Name)]
        for _ in range(2):  # `for batch in dataset: x, y = batch`
            bound = [one for name in names for one in self._facts.scopes.bindings(name)]
            loops = [one for one in bound if one.how is How.LOOP and one.value is not None]
            if any(_DATASET.search(ast.unparse(one.value)) for one in loops if one.value):
                return True
            values = [one.value for one in bound if one.how is not How.LOOP and one.value]
            names = [node for v in values for node in ast.walk(v) if isinstance(node, ast.Name)]
        return False

    def is_tensor(self, data: ast.expr) -> bool:
        """Whether ops of TensorFlow or Keras give the data, which is no array then."""
        if not isinstance(data, ast.Call):
            return False
        symbol = self._facts.names.tf(data.func) or ""
        return gives_tensor(symbol) or symbol.startswith("keras.ops.")

    @staticmethod
    def is_whole_set(data: ast.expr) -> bool:
        """Whether a name says that it holds a whole set of data, and not a batch of it."""
        name = data.attr if isinstance(data, ast.Attribute) else ""
        name = data.id if isinstance(data, ast.Name) else name
        return bool(_WHOLE.search(name)) and "batch" not in name.lower()
