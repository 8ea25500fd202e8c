"""How many batches a model's `fit` may take at once, so that nobody can tell.

Keras takes the batches of one execution without asking Python in between. Where it knows how many
there are in an epoch, it makes the last execution of an epoch a shorter one; where it does not, it
was measured to make other steps (`docs/measurements.md`).
"""

from __future__ import annotations

import ast
import math
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Array
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.stages import Lost, Stage, stages
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_USUAL = 8
_FEWEST, _MOST = 4, 32
_BATCH = 32
# Stages whose number of elements follows from that of what is beneath them.
_COUNTED = frozenset(
    "from_tensor_slices from_tensors range zip Dataset.from_tensor_slices Dataset.from_tensors"
    " Dataset.range Dataset.zip batch padded_batch map prefetch shuffle cache take skip repeat"
    " shard with_options enumerate concatenate".split()
)
_LENGTHS: frozenset[str | None] = frozenset({"steps_per_epoch", "validation_steps", "steps"})
_BATCHWISE = ("train_on_batch", "test_on_batch", "predict_on_batch", "make_train_function")
_MAX_DEPTH = 5
_NOTHING = ast.Constant(None)


class FitSteps:
    """Questions about all that is done with the models of a file by Keras' own loops."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._classes = facts.classes

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """Why the number of batches in an epoch may not be known, or asked for in another way."""
        for name in _BATCHWISE:
            for call in self._classes.calls(name):
                message = f"line {call.lineno} calls `{name}`, which takes one batch"
                return Obstacle("batch-by-batch", message)
        for call in self._calls:
            found = self._of_call(call)
            if found is not None:
                return found
        if self.at_once is None:
            message = f"no number of batches goes evenly into all of {self._lengths}"
            return Obstacle("steps-uneven", message)
        return None

    @cached_property
    def at_once(self) -> int | None:
        """How many batches to take; None where none goes into the lengths that the calls ask for.

        A divisor of the steps of an epoch where these are known. Else there is a remainder, which
        Keras takes care of where it counts the batches.
        """
        if self._lengths:
            return _divisor(math.gcd(*self._lengths), 2)
        if None not in self._known:
            return _divisor(math.gcd(*(steps or 0 for steps in self._known)), _FEWEST) or _USUAL
        return _USUAL

    @property
    def few(self) -> bool:
        """Whether the epochs have so few steps that there is nothing to gain."""
        asked = [*self._lengths, *(_FEWEST if one is None else one for one in self._known)]
        return max(asked, default=_FEWEST) < _FEWEST

    @cached_property
    def _known(self) -> list[int | None]:
        """The steps of an epoch of each `fit`, where arrays of a known length are given."""
        return [self._steps(call) for call in self._facts.trained_models.fits]

    @cached_property
    def _calls(self) -> list[ast.Call]:
        """Every call that goes through batches."""
        names = ("evaluate", "predict", "evaluate_generator", "predict_generator")
        others = [call for name in names for call in self._classes.calls(name)]
        return [*self._facts.trained_models.fits, *others]

    @cached_property
    def _lengths(self) -> list[int]:
        """The numbers of batches that calls ask for."""
        return [
            value.value
            for call in self._calls
            for keyword in call.keywords
            if keyword.arg in _LENGTHS and (value := self._constant(keyword.value)) is not None
            if isinstance(value.value, int)
        ]

    def _of_call(self, call: ast.Call) -> Obstacle | None:
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        line = call.lineno
        if None in options or any(isinstance(one, ast.Starred) for one in call.args):
            return Obstacle("steps-unknown", f"line {line} passes arguments by a star")
        name = getattr(call.func, "attr", "")
        if name.endswith("_generator") or len(call.args) > 2:
            message = f"how many batches `{name}` goes through in line {line} is not seen"
            return Obstacle("steps-unknown", message)
        for length in sorted(filter(None, _LENGTHS.intersection(options))):
            found = self._constant(options[length])
            if found is None or type(found.value) is not int or found.value < 1:
                message = f"`{length}` in line {line} is not a number that the file shows"
                return Obstacle("steps-unknown", message)
        x = call.args[0] if call.args else options.get("x")
        y = call.args[1] if len(call.args) > 1 else options.get("y", _NOTHING)
        arrays = name != "predict" and not (isinstance(y, ast.Constant) and y.value is None)
        if arrays and "steps_per_epoch" in options:
            message = f"line {line} takes a part of its arrays in each epoch"
            return Obstacle("steps-unknown", message)
        asked = not {"steps", "steps_per_epoch"}.isdisjoint(options)
        if not arrays and not self._is_counted(x, name, asked=asked):
            text = "nothing" if x is None else f"`{ast.unparse(x)}`"
            message = f"it is not known that Keras can count the batches of {text} in line {line}"
            return Obstacle("steps-unknown", message)
        return self._of_validation(options, line)

    def _of_validation(self, options: dict[str | None, ast.expr], line: int) -> Obstacle | None:
        data = options.get("validation_data")
        if data is None or self._is_pair(data, 0):
            return None
        if self._is_counted(data, "fit", asked="validation_steps" in options):
            return None
        text = ast.unparse(data)
        message = f"it is not known that Keras can count the batches of `{text}` in line {line}"
        return Obstacle("steps-unknown", message)

    def _is_pair(self, expr: ast.expr, depth: int) -> bool:
        """Whether a value is a tuple of arrays, or None."""
        match expr:
            case ast.Tuple() | ast.List() | ast.Constant(value=None):
                return True
            case ast.Name() if depth < _MAX_DEPTH:
                bindings = self._scopes.bindings(expr)
                return bool(bindings) and all(
                    binding.how is How.ASSIGN
                    and binding.value is not None
                    and self._is_pair(binding.value, depth + 1)
                    for binding in bindings
                )
        return False

    def _is_counted(self, expr: ast.expr | None, name: str, *, asked: bool) -> bool:
        """Whether Keras can count the batches of what is given without targets beside it.

        Where a number of batches is asked for, the data must have no end.
        """
        if expr is None:
            return False
        pipeline = self._facts.pipelines.value(expr)
        if pipeline is None:
            return name == "predict" and not asked and self._is_array(expr)
        parts = list(stages(pipeline))
        if any(isinstance(part, Lost) or part.name not in _COUNTED for part in parts):
            return False
        names = {part.name for part in parts if isinstance(part, Stage)}
        turns = {_ends(part) for part in parts if isinstance(part, Stage) and part.name == "repeat"}
        if asked:
            return turns == {False} and "take" not in names
        return turns <= {True}

    def _is_array(self, expr: ast.expr) -> bool:
        """Whether a value is an array, and neither a generator nor a dataset."""
        if self._facts.batch_rows.of(expr) is not None:
            return True
        if self._facts.keras_calls.is_from_dataset(expr):
            return False
        return isinstance(self._facts.eager_values.value(expr), Array)

    def _constant(self, expr: ast.expr) -> ast.Constant | None:
        """The number that is given, by itself or under a name that stands for nothing else."""
        if isinstance(expr, ast.Constant):
            return expr
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
                value = bindings[0].value
                return value if isinstance(value, ast.Constant) else None
        return None

    def _steps(self, call: ast.Call) -> int | None:
        """The steps of an epoch of a `fit`, where arrays of a known length are given."""
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        x = call.args[0] if call.args else options.get("x")
        if x is None or "validation_split" in options:
            return None
        rows = self._facts.batch_rows.exactly(x)
        size = options.get("batch_size")
        known = self._constant(size) if size is not None else ast.Constant(_BATCH)
        batch = known.value if known is not None else None
        if rows is None or not isinstance(batch, int) or batch < 1:
            return None
        return -(-rows // batch)


def _ends(stage: Stage) -> bool | None:
    """Whether a `repeat` comes to an end; None where that is not written out."""
    given = [*stage.making.args, *(keyword.value for keyword in stage.making.keywords)]
    match given[:1]:
        case [] | [ast.Constant(value=None)]:
            return False
        case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))]:
            return False
        case [ast.Constant(value=int())]:
            return True
    return None


def _iterate(number: int) -> Iterator[int]:
    yield from (one for one in range(_MOST, 1, -1) if number % one == 0)


def _divisor(number: int, fewest: int) -> int | None:
    """The largest number of batches at once that goes into a number of them."""
    return next((one for one in _iterate(number) if one >= fewest), None)
