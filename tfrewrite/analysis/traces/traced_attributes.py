"""What reading the attributes of objects gives in a traced function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import (
    Group,
    Number,
    Own,
    Tensor,
    Thing,
    Value,
    with_parts,
)
from tfrewrite.analysis.traces.trace import TraceError

if TYPE_CHECKING:
    from tfrewrite.analysis.traces.tracing import Tracer


class TracedAttributes:
    """Goes through attributes for a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._names = tracer.facts.names
        self._values = tracer.values
        self._models = tracer.models

    def value(self, attribute: ast.Attribute) -> Value:
        """What reading an attribute gives."""
        path = self._names.dotted(attribute)
        if path is not None:
            return self._values.value(attribute)
        owner = with_parts(self._tracer.value(attribute.value))
        line, name = attribute.lineno, attribute.attr
        match owner:
            case Tensor(array=True) if name in ("shape", "ndim", "dtype"):
                return Number()
            case Tensor(static=static) if name in ("shape", "ndim"):
                if not static or self._tracer.relaxed:
                    message = f"the shape read in line {line} is not known in a trace"
                    raise TraceError("fails-when-traced", message)
                return Number()
            case Tensor() if name == "dtype":
                return Number()
            case Number():
                return Number()
            case Thing(kind="model" | "layer"):
                self._has_variables(owner, name, line)
                self._has_losses(owner, name, line)
                self._tracer.use(owner)
            case Thing():
                self._tracer.use(owner)
            case Own(cls=cls):
                self._tracer.check_class(cls)
        found = self._values.of_attribute(owner, name)
        if isinstance(owner, Own):
            found = self._models.part_of(owner, found)
        if (
            isinstance(owner, Own)
            and isinstance(found, Group)
            and self._values.members.is_keras(owner.cls)
        ):
            self._has_variables(owner, name, line)
            self._has_losses(owner, name, line)
        return self._tracer.names.known(found, ast.unparse(attribute), line)

    def _has_variables(self, owner: Thing | Own, name: str, line: int) -> None:
        """The list of a model's variables is empty before it is called for the first time."""
        if not name.endswith(("variables", "weights")):
            return
        if not self._models.is_built(owner):
            message = (
                f"line {line} reads `{name}` of a model that may have none yet, since it was not"
                " called before"
            )
            raise TraceError("not-followed", message)

    def _has_losses(self, owner: Thing | Own, name: str, line: int) -> None:
        """Losses that layers have added outside of the trace stay in it as they were at first."""
        if name != "losses" or not self._tracer.facts.kept_losses.are_added:
            return
        if not self._models.was_called(owner) and self._tracer.within is None:
            message = f"line {line} reads losses that a layer may have added before"
            raise TraceError("captured-not-fixed", message)
