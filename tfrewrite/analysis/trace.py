"""What a trace of a function would do, or why it would not be the same as the calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfrewrite.analysis.abstract_values import Bottom, Thing, Value
from tfrewrite.analysis.obstacle import Obstacle


@dataclass
class Trace:
    """What a trace of a function would do."""

    returned: Value = field(default_factory=Bottom)
    draws: list[ast.Call] = field(default_factory=list)
    """Calls of TensorFlow that draw from a stream that eager mode has another one of."""
    layers_draw: bool = False
    """Whether layers draw, whose stream is a variable from Keras 3 on."""
    things: list[Thing] = field(default_factory=list)
    """The objects of Keras and TensorFlow that are used."""
    again: str = ""
    """A model or layer that is called more than once, in words."""
    updates: bool = False
    """Whether it changes variables."""


class TraceError(Exception):
    """A trace that would not be the same."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.obstacle = Obstacle(reason, message)
