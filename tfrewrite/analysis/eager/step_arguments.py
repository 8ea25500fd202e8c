"""What a step function is given, at all of its calls, and whether one trace can stand for that."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Code,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    joined,
    parts,
)
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.eager.step_functions import Step
    from tfrewrite.analysis.facts import Facts

_FEW = 4


class StepArguments:
    """Takes together what the callers of a function give for its parameters."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._values = facts.eager_values
        self._once = facts.reached_once
        self._shapes = facts.call_shapes
        self._lengths = facts.list_lengths

    def of(self, function: ast.FunctionDef, name: str, exprs: list[ast.expr]) -> Value | Obstacle:
        """What is known of a parameter, at every call."""
        if any(isinstance(one, ast.Starred) for one in exprs):
            return Obstacle("argument-not-known", f"`{name}` is passed by a star")
        values = [self._values.value(expr) for expr in exprs]
        found = joined(*values)
        for value in (*values, found):
            if isinstance(value, Unknown):
                message = f"it is not known what `{name}` is: {value.why}"
                return Obstacle("argument-not-known", message)
        for expr in exprs:
            words = self._shapes.varies(expr)
            if words:
                message = f"`{name}` has another shape in each call, and a trace for each: {words}"
                return Obstacle("shape-varies", message)
        for part in parts(found):
            if isinstance(part, Array) and not part.steady:
                message = f"`{name}` may have another shape in each call, and a trace for each"
                return Obstacle("shape-varies", message)
        match found:
            case Number():
                return self._number(name, found, values, exprs)
            case Group(items=None, each=Tensor(array=False) as each, lazy=False):
                if all(map(self._lengths.is_steady, exprs)):
                    return Group(None, _handed(each))
                message = f"`{name}` may hold another number of tensors in each call"
                return Obstacle("shape-varies", f"{message}, and a trace for each")
            case Tensor() | Array() | Group():
                return self._tensors(name, found)
            case Thing() | Own():
                return self._object(function, name, found)
            case Library():
                return found
            case Code(node=ast.FunctionDef() as node) if self._source.function(node) is None:
                return found
        message = f"it is not known what `{name}` is"
        return Obstacle("argument-not-known", message)

    def _tensors(self, name: str, value: Value) -> Value | Obstacle:
        """What tensors and arrays are for the function: tensors of a known shape."""
        match value:
            case Tensor():
                return _handed(value)
            case Array():
                return Tensor(array=True)
            case Group(items=items) if items is not None and not value.lazy:
                made = [self._tensors(name, item) for item in items]
                good = [one for one in made if not isinstance(one, Obstacle)]
                if len(good) == len(made):
                    return Group(tuple(good), joined(*good))
        return Obstacle("argument-not-known", f"`{name}` is not made of tensors only")

    def _number(
        self, name: str, found: Number, values: list[Value], exprs: list[ast.expr]
    ) -> Value | Obstacle:
        message = (
            f"`{name}` is a Python value that varies: the function would be traced anew for each"
            " value; pass a tensor"
        )
        if found.tensors or any(isinstance(v, Number) and v.varies for v in values):
            return Obstacle("argument-varies", message)
        literals = [v.literal for v in values if isinstance(v, Number) and v.literal is not None]
        if len(literals) < len(values):
            if len({ast.dump(expr) for expr in exprs}) > 1:
                return Obstacle("argument-varies", message)
            return Number()
        kinds = {(type(one.value), repr(one.value)) for one in literals}
        if len(kinds) > _FEW or len({one.value for one in literals}) < len(kinds):
            # A trace for 1 is taken for 1.0 and True as well.
            return Obstacle("argument-varies", message)
        return found

    def _object(self, function: ast.FunctionDef, name: str, found: Thing | Own) -> Value | Obstacle:
        home = self._source.function(function)
        if len(found.made) == 1:
            (made,) = found.made
            beside = home is not None and self._source.function(made) is home
            if self._once.holds(made) or (beside and not self._once.in_turns(made)):
                return found
        message = (
            f"`{name}` may be another object in another call; variables can be made in the first"
            " trace only"
        )
        return Obstacle("two-objects", message)


def given_to(step: Step, names: list[str], name: str) -> Iterator[ast.expr | None]:
    """What each call gives for a parameter; `names` are those that may be given by position."""
    for call in step.calls or ():
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        position = names.index(name) if name in names else len(call.args)
        if None in keywords or any(isinstance(one, ast.Starred) for one in call.args):
            yield ast.copy_location(ast.Starred(call.func), call)
        elif position < len(call.args):
            yield call.args[position]
        else:
            yield keywords.get(name)


def _handed(tensor: Tensor) -> Tensor:
    """What a tensor is in a trace that is given it, without what Keras' activations put on it."""
    return Tensor(nest=tensor.nest, squashed=tensor.layered)
