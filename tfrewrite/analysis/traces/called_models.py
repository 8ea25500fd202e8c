"""Which models, layers and other objects a trace has called, and so surely have their variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Own, Thing, Value, may_be_one, part_of, parts
from tfrewrite.analysis.keras import keras_things

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.gradient_flow import Read
    from tfrewrite.analysis.traces.trace import Trace

# They have their variables, if any, from the start.
_MADE_WHOLE = ("variable", "generator", "metric")


class CalledModels:
    """Keeps what was called in a trace, and tells what that has made."""

    def __init__(self, facts: Facts, trace: Trace, asked: Sequence[Thing | Own]) -> None:
        self._source = facts.source
        self._members = facts.eager_values.members
        self._trace = trace
        self._asked = asked
        self._called: list[tuple[Thing | Own, frozenset[Read]]] = []
        """With what each call reads."""

    @property
    def all(self) -> list[Thing | Own]:
        """What was called, as often as it was."""
        return [one for one, _ in self._called]

    def note(self, owner: Thing | Own, reads: frozenset[Read]) -> None:
        """A model is called, perhaps again."""
        before = [done for one, done in self._called if may_be_one(owner, one)]
        if before:
            self._trace.repeated += [reads, *before]
        self._called.append((owner, reads))

    def add(self, owner: Thing | Own, reads: frozenset[Read] = frozenset()) -> None:
        """An object is called; whether it was before is of no account."""
        self._called.append((owner, reads))

    def is_built(self, owner: Thing | Own) -> bool:
        """Whether a model surely has all its variables by now."""
        return self._is_built(owner, set())

    def _is_built(self, owner: Thing | Own, seen: set[ast.ClassDef]) -> bool:
        if isinstance(owner, Thing):
            made = self.was_called(owner) or owner.built or self._is_whole(owner)
            return made or not keras_things.makes_variables(owner.symbol)
        if self.was_called(owner):
            return True
        if owner.cls in seen:
            return False
        seen.add(owner.cls)
        members = self._members.all(owner.cls)
        return members is not None and all(
            self._is_built(part, seen)
            for member in members
            for part in parts(self.part_of(owner, member))
            if isinstance(part, (Thing, Own))
        )

    def _is_whole(self, thing: Thing) -> bool:
        """Whether an object that has its variables from the start was made in an `__init__`."""
        if thing.kind in ("loss", "setting"):
            return True
        makers = [self._source.function(call) for call in thing.made]
        early = all(getattr(one, "name", "__init__") == "__init__" for one in makers)
        return thing.kind in _MADE_WHOLE and bool(makers) and early

    def was_called(self, owner: Thing | Own) -> bool:
        """Whether just this object has been called, here or before."""
        called = [*self._asked, *self.all]
        return any((one.made, one.of) == (owner.made, owner.of) for one in called)

    def part_of(self, owner: Own, value: Value) -> Value:
        """What an object of the file holds, known by the object where it made that itself."""
        family = self._members.family(owner.cls) or ()

        def makes(call: ast.AST) -> bool:
            function = self._source.function(call)
            return function is not None and self._source.parent(function) in family

        return part_of(value, owner, makes)
