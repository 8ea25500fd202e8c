"""Whether the one model of a file may compute in half precision, and where that is said.

Layers keep the policy that is in force when they are made. So what must be seen is every place
that makes one, and the layer that gives the model's outputs, which stays in single precision.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.keras.layer_uses import LAYERS
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_OUTPUTS = frozenset({"Dense", "Activation", "Softmax", "Conv2D", "Conv1D", "Conv2DTranspose"})
_MULTIPLYING = frozenset({"Dense", "Conv1D", "Conv2D", "Conv2DTranspose", "LSTM", "GRU"})
_LEAVING: tuple[type[ast.stmt | ast.expr], ...] = (
    ast.Return,
    ast.Break,
    ast.Continue,
    ast.Yield,
    ast.YieldFrom,
    ast.Try,
)
_USING = frozenset({"compile", "fit", "evaluate", "predict"})
_MAX_DEPTH = 5


@dataclass(frozen=True)
class Mixed:
    """What to write for a model in half precision."""

    making: ast.Call
    """The model."""
    before: ast.stmt
    """The statement with the first layer."""
    outputs: tuple[ast.Call, ...]
    """The layers that give the outputs."""
    gains: bool
    """Whether any other layer multiplies matrices."""


class MixedTypes:
    """Questions about the model of a file."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes

    @cached_property
    def models(self) -> list[ast.Call]:
        """Every call that makes a model of layers."""
        kinds = keras_things.MODELS | keras_things.SEQUENTIAL
        return [call for call in self._calls if self._names.tf(call.func) in kinds]

    @cached_property
    def found(self) -> Mixed | Obstacle:
        """The model of the file and its parts, or why they are not all seen."""
        obstacle = self._obstacle
        if obstacle is not None:
            return obstacle
        making = self.models[0]
        before = self._first
        if isinstance(before, Obstacle):
            return before
        outputs = self._outputs(making)
        if outputs is None:
            message = f"which layer gives the outputs of the model of line {making.lineno}"
            return Obstacle("output-not-seen", f"{message} is not seen, or it is of another kind")
        others = (layer for layer in self._making if layer not in outputs)
        return Mixed(making, before, tuple(outputs), any(map(self._multiplies, others)))

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return sorted(self._source.all(ast.Call), key=self._source.span)

    @cached_property
    def _making(self) -> list[ast.Call]:
        """Every call that makes a layer or an input."""
        kinds = keras_things.INPUTS
        symbols = [(call, self._names.tf(call.func) or "") for call in self._calls]
        return [call for call, name in symbols if name.startswith(LAYERS) or name in kinds]

    def _multiplies(self, layer: ast.Call) -> bool:
        return (self._names.tf(layer.func) or "").rpartition(".")[2] in _MULTIPLYING

    @cached_property
    def _obstacle(self) -> Obstacle | None:
        if len(self.models) != 1:
            message = (
                f"the file makes {len(self.models)} models, of which one may be used elsewhere"
            )
            return Obstacle("several-models", message)
        return self._facts.mixed_parts.obstacle or self._used or self._reset

    @property
    def _used(self) -> Obstacle | None:
        """What else than its training may be done with the layers of the model."""
        uses = self._facts.layer_uses
        stray = uses.stray(self._making)
        if stray is not None:
            text = ast.unparse(self._source.statement(stray)).partition("\n")[0]
            message = (
                f"a layer, or what it computes, has another use in line {stray.lineno}: `{text}`"
            )
            return Obstacle("used-elsewhere", message)
        inside = uses.look_inside() or uses.handed_on()
        if inside is not None:
            text = ast.unparse(inside)
            message = f"`{text}` in line {inside.lineno} may ask for what a layer computes"
            return Obstacle("used-elsewhere", message)
        return None

    @property
    def _reset(self) -> Obstacle | None:
        """A session that is cleared while layers are made, and in Keras 3 the policy with it."""
        first = self._first
        if isinstance(first, Obstacle):
            return None
        home = self._source.function(self.models[0])
        last = max(call.lineno for call in [*self._making, *self.models])
        for call in self._calls:
            if not first.lineno <= call.lineno <= last or self._source.function(call) is not home:
                continue
            clears = (self._names.tf(call.func) or "").endswith("clear_session")
            if clears or self._facts.own_calls.function(call) is not None:
                message = f"`{ast.unparse(call)}` in line {call.lineno} is called among the layers"
                return Obstacle("model-not-seen", message)
        return None

    @cached_property
    def _first(self) -> ast.stmt | Obstacle:
        """The statement that makes the first layer, in the one function that makes them all."""
        making = [*self._making, *self.models]
        homes = {self._source.function(call) for call in making}
        line = self.models[0].lineno
        if len(homes) != 1:
            message = f"the layers of the model of line {line} are made in several functions"
            return Obstacle("model-not-seen", message)
        home = homes.pop() or self._source.tree
        if not isinstance(home, (ast.FunctionDef, ast.Module)):
            return Obstacle("model-not-seen", f"the model of line {line} is made in an expression")
        if isinstance(home, ast.FunctionDef) and not self._is_called(home, set()):
            message = f"`{home.name}` in line {home.lineno} is not called by this file as it is run"
            return Obstacle("callers-not-seen", f"{message}, and the policy is for all Keras")
        place = _first_of(home.body, making)
        if place is None or isinstance(place, ast.ClassDef):
            return Obstacle("model-not-seen", f"where the model of line {line} is made is not seen")
        return place

    def _is_called(self, function: ast.FunctionDef, seen: set[ast.AST]) -> bool:
        """Whether a function is called when the file is run, by whatever functions."""
        if function in seen:
            return False
        seen.add(function)
        for call in self._facts.own_calls.calls(function) or ():
            caller = self._source.function(call)
            if caller is None or (
                isinstance(caller, ast.FunctionDef) and self._is_called(caller, seen)
            ):
                return True
        return False

    # The outputs

    def _outputs(self, making: ast.Call) -> list[ast.Call] | None:
        symbol = self._names.tf(making.func)
        if symbol in keras_things.SEQUENTIAL:
            last = self._last_of_stack(making)
            return self._as_outputs([last]) if last is not None else None
        given = [k.value for k in making.keywords if k.arg == "outputs"] or making.args[1:2]
        if not given:
            return None
        value = given[0]
        parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        found = [self._layer_behind(part, 0) for part in parts]
        if not all(found):
            return None
        return self._as_outputs([one for one in found if one is not None])

    def _as_outputs(self, layers: list[ast.Call]) -> list[ast.Call] | None:
        for layer in layers:
            symbol = self._names.tf(layer.func) or ""
            if symbol.removeprefix(LAYERS) not in _OUTPUTS or not symbol.startswith(LAYERS):
                return None
        return list(dict.fromkeys(layers))

    def _last_of_stack(self, making: ast.Call) -> ast.Call | None:
        """The last layer of a `Sequential`, listed in the call or added behind it."""
        adding = [c for c in self._calls if getattr(c.func, "attr", "") in ("add", "pop")]
        adding = [c for c in adding if self._names.dotted(c.func) is None]
        if making.args or any(keyword.arg != "name" for keyword in making.keywords):
            listed = making.args[0] if making.args else None
            if adding or not isinstance(listed, (ast.List, ast.Tuple)) or not listed.elts:
                return None
            return self._layer(listed.elts[-1])
        if not adding or len(adding[-1].args) != 1 or self._left_early(making, adding[-1]):
            return None
        block, _ = self._source.position(self._source.statement(making))
        for call in adding:
            statement = self._source.statement(call)
            around, _ = self._source.position(statement)
            elsewhere = self._source.function(call) is not self._source.function(making)
            if elsewhere or getattr(call.func, "attr", "") != "add":
                return None
            if call is adding[-1] and around is not block:
                return None
        return self._layer(adding[-1].args[0])

    def _left_early(self, making: ast.Call, last: ast.Call) -> bool:
        """Whether a stack may be used before its last layer is added."""
        home = self._source.function(making)
        uses = self._facts.layer_uses
        nodes: list[ast.stmt | ast.expr] = [
            *(node for kind in _LEAVING for node in self._source.all(kind)),
            *(call for call in self._calls if getattr(call.func, "attr", "") in _USING),
            *(call for call in self._calls if uses.is_stack(call.func)),
        ]
        return any(
            making.lineno <= (node.end_lineno or 0) and node.lineno <= last.lineno
            for node in nodes
            if self._source.function(node) is home
        )

    def _layer(self, expr: ast.expr) -> ast.Call | None:
        symbol = self._names.tf(expr.func) if isinstance(expr, ast.Call) else None
        if isinstance(expr, ast.Call) and (symbol or "").startswith(LAYERS):
            return expr
        return None

    def _layer_behind(self, expr: ast.expr, depth: int) -> ast.Call | None:
        """The layer whose call gives an output: `Dense(1)(x)`, perhaps under a name."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(expr, ast.Name):
            seen = self._facts.flow.reaching(expr)
            value = seen[0].value if len(seen) == 1 and seen[0].how is How.ASSIGN else None
            return self._layer_behind(value, depth + 1) if value is not None else None
        if not isinstance(expr, ast.Call):
            return None
        made = self._layer(expr.func)
        if made is not None:
            return made
        return self._named_layer(expr.func)

    def _named_layer(self, func: ast.expr) -> ast.Call | None:
        """A layer that has a name and is called once: one that is shared gives others, too."""
        bindings = self._scopes.bindings(func) if isinstance(func, ast.Name) else []
        if not isinstance(func, ast.Name) or len(bindings) != 1:
            return None
        value = bindings[0].value if bindings[0].how is How.ASSIGN else None
        shared = len(list(self._scopes.uses(func))) != 1
        return self._layer(value) if value is not None and not shared else None


def _first_of(block: list[ast.stmt], calls: list[ast.Call]) -> ast.stmt | None:
    """The first statement that makes one of some calls, in the innermost block with them all."""
    first = next((one for one in block if _holds(one, calls)), None)
    if isinstance(first, (ast.If, ast.With, ast.For, ast.While)):
        for inner in (first.body, getattr(first, "orelse", [])):
            within = {call for one in inner for call in ast.walk(one)}
            if all(call in within for call in calls):
                return _first_of(inner, calls)
    return first


def _holds(statement: ast.stmt, calls: list[ast.Call]) -> bool:
    return any(node in calls for node in ast.walk(statement))
