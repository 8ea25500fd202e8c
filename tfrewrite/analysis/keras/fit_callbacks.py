"""Whether what is called during `fit` can tell single batches from several at once."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_BASE = "keras.callbacks.Callback"
# They do something at the end or the beginning of an epoch only.
_BY_EPOCH = frozenset(
    f"keras.callbacks.{name}"
    for name in "EarlyStopping ReduceLROnPlateau LearningRateScheduler CSVLogger ModelCheckpoint"
    " LambdaCallback History".split()
)
# What makes one of them do something at batches, with the values that keep it from that.
_SETTINGS: dict[str, tuple[object, ...]] = {
    "save_freq": ("epoch",),
    "on_batch_begin": (None,),
    "on_batch_end": (None,),
    "on_train_batch_begin": (None,),
    "on_train_batch_end": (None,),
    "period": (1,),
}
_MAX_DEPTH = 5


class FitCallbacks:
    """Questions about the callbacks of a file."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._classes = facts.classes

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """What may see each batch of a training."""
        calls = [
            *self._facts.trained_models.fits,
            *(call for name in ("evaluate", "predict") for call in self._classes.calls(name)),
        ]
        for call in calls:
            for keyword in call.keywords:
                if keyword.arg == "callbacks":
                    words = self._of(keyword.value, 0)
                    if words:
                        message = f"{words} may do something at each batch, in line {call.lineno}"
                        return Obstacle("sees-batches", message)
        return None

    def _of(self, expr: ast.expr, depth: int) -> str:
        """The words for what may see batches in what is given as callbacks; empty if nothing."""
        if depth > _MAX_DEPTH:
            return "a callback"
        match expr:
            case ast.Constant(value=None):
                return ""
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return next(filter(None, (self._of(one, depth + 1) for one in elements)), "")
            case ast.Name():
                return self._of_name(expr, depth)
            case ast.Call():
                return self._of_call(expr)
        return f"`{ast.unparse(expr)}`"

    def _of_name(self, name: ast.Name, depth: int) -> str:
        bindings = self._scopes.bindings(name)
        text = f"`{name.id}`"
        if not bindings or any(b.how is not How.ASSIGN or b.value is None for b in bindings):
            return text
        for use in self._scopes.uses(name):
            parent = self._source.parent(use)
            if isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend", "insert"):
                return text  # a list that grows
        values = [binding.value for binding in bindings if binding.value is not None]
        return next(filter(None, (self._of(value, depth + 1) for value in values)), "")

    def _of_call(self, call: ast.Call) -> str:
        text = f"`{ast.unparse(call.func)}`"
        if self._names.tf(call.func) in _BY_EPOCH:
            for keyword in call.keywords:
                if keyword.arg is None:
                    return text
                allowed = _SETTINGS.get(keyword.arg)
                value = keyword.value
                if allowed is not None and not (
                    isinstance(value, ast.Constant) and value.value in allowed
                ):
                    return f"`{keyword.arg}={ast.unparse(value)}` of {text}"
            # The third of a LambdaCallback of Keras 2 is called for each batch.
            most = 2 if self._names.tf(call.func) == "keras.callbacks.LambdaCallback" else 3
            return text if len(call.args) > most else ""
        cls = self._classes.defined(call.func)
        if cls is None or [self._names.tf(base) for base in cls.bases] != [_BASE]:
            return text
        words = {name for node in ast.walk(cls) for name in _named(node)}
        if any("batch" in word for word in words) or cls.decorator_list or cls.keywords:
            return f"`{cls.name}`"
        return ""


def _named(node: ast.AST) -> list[str]:
    """The names that a piece of code says: of methods, attributes, variables."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Name):
        return [node.id]
    return []
