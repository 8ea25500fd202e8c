"""What code that makes batches is found to do, beside making them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfrewrite.analysis.obstacle import Obstacle


@dataclass(eq=False)
class BatchEffects:
    """What remains to be asked of the code around, once the batch's own code is known."""

    reads: list[ast.expr] = field(default_factory=list)
    """Names and attributes that are read and are not the code's own."""
    streams: set[str] = field(default_factory=set)
    """The global random streams that are drawn from."""
    states: list[ast.expr] = field(default_factory=list)
    """Objects that go on to their next batch, or to their next draw."""
    variables: set[str] = field(default_factory=set)
    """Global variables that functions of the file set, such as the place in a list."""
    files: bool = False
    own_code: bool = False
    """Whether functions of the file, or loops, work on the batch."""
    obstacle: Obstacle | None = None

    @property
    def goes_on(self) -> bool:
        """Whether something shows how many batches have been made."""
        return bool(self.streams or self.states or self.variables)
