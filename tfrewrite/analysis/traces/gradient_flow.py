"""From which reads of variables a tensor is computed, and whether its gradient waits for them.

An update by an optimizer of Keras has to come after every read of its variable in the same step.
Where the gradient itself is computed from what was read, it does. Where it is not, as with a loss
that is linear in what a model gives, only an edge of the graph keeps the order, and TensorFlow was
seen to lose it (docs/measurements.md).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Read:
    """One call of a model, or one use of a variable, in the course of a step."""

    node: ast.AST
    number: int
    """Tells apart what the same place of the file does again."""
    words: str


@dataclass(frozen=True)
class Flow:
    """What a tensor is computed from."""

    straight: frozenset[Read] = frozenset()
    """Reads on which the tensor's gradient may not depend."""
    bent: frozenset[Read] = frozenset()
    """Reads beneath something whose gradient is computed from its value."""
    derived: bool = False
    """Whether it is made of a gradient, whose own gradient nothing is known of."""

    def __or__(self, other: Flow) -> Flow:
        if other == NO_FLOW:
            return self
        return Flow(
            self.straight | other.straight, self.bent | other.bent, self.derived or other.derived
        )

    def through_bend(self) -> Flow:
        """After a function whose gradient is computed from its value."""
        return Flow(frozenset(), self.straight | self.bent, self.derived)


NO_FLOW = Flow()
