"""What a trace of a function would do, or why it would not be the same as the calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfrewrite.analysis.eager.abstract_values import Bottom, Own, Thing, Value
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.gradient_flow import Read

REASONS = {
    "argument-not-known": "It is not known that what a caller gives is made of tensors.",
    "argument-varies": "A caller gives Python values that vary, and each would be traced.",
    "numpy-argument": "An array is computed with, whose type a tensor does not share.",
    "shape-varies": "The shape of an argument may differ in each call.",
    "two-objects": "It may be given another model or optimizer in another call.",
    "captured-not-fixed": "It uses something from outside that may change or is not known.",
    "called-again": "It may call a model twice, and no gradient waits for all that is read.",
    "races-with-update": "No gradient waits for all that is read of what is updated.",
    "object-changes": "A model, layer or optimizer is changed in Python in the meantime.",
    "model-not-seen": "What a model or class does when it is called is not in this file.",
    "python-effect": "It does something in Python that would only be done when it is traced.",
    "reads-on-host": "It needs the value of a tensor in Python.",
    "tensor-decides": "A tensor decides what is done next.",
    "makes-variables": "It makes variables, which only the first trace may.",
    "fails-when-traced": "It does what works in eager mode and fails in a trace.",
    "unknown-call": "What it calls is not known to do the same in a trace.",
    "not-followed": "It is written in a way that is not followed.",
    "unrolls": "A trace would write out each turn of a long loop.",
    "mask-lost": "A mask of Keras is on a tensor that comes from outside, or that it returns.",
    "logits-found": "A crossentropy of Keras finds the logits of a softmax eagerly or traced only.",
    "returns-python": "It returns what a trace turns into something else.",
    "exception-seen": "Somebody catches its exceptions, and sees how far it came.",
    "not-eager": "The file is not run as TensorFlow 2 runs it.",
    "seeded-each-turn": "A seed is set in each turn, and what is compiled is set up anew.",
    "graph-options": "The file sets an option that changes what compiled code computes.",
    "dynamic-code": "The file changes names, attributes or classes unseen.",
    "tensorflow-not-named": "TensorFlow has no name where the function stands.",
}
"""Why a step may not be replayed, as the rules that compile steps explain it."""


@dataclass
class Trace:
    """What a trace of a function would do."""

    returned: Value = field(default_factory=Bottom)
    symbols: list[tuple[str, int]] = field(default_factory=list)
    """The functions of TensorFlow that are called, each with its line."""
    shapeless: str = ""
    """What has a shape that only its values tell, in words."""
    draws: list[ast.Call] = field(default_factory=list)
    """Calls of TensorFlow that draw from a stream that eager mode has another one of."""
    layers_draw: bool = False
    """Whether layers draw, whose stream is a variable from Keras 3 on."""
    generators: bool = False
    """Whether a `tf.random.Generator` draws, whose stream is a variable, too."""
    bodies: set[ast.AST] = field(default_factory=set)
    """The functions of the file that are gone through."""
    things: list[Thing] = field(default_factory=list)
    """The objects of Keras and TensorFlow that are used."""
    repeated: list[frozenset[Read]] = field(default_factory=list)
    """What calls read that may be calls of one model or layer, each."""
    settled: set[Read] = field(default_factory=set)
    """The reads that gradients are computed from, and so come before any update by these."""
    loose: str = ""
    """A read that a gradient is taken beneath and may not be computed from, in words."""
    by_optimizer: bool = False
    """Whether an optimizer makes updates."""
    updates: bool = False
    """Whether it changes variables."""
    trains: bool = False
    """Whether a model or layer is called as in training, where it may change variables."""
    asked: list[Thing | Own] = field(default_factory=list)
    """The models and other objects of Keras that are surely called."""
    ops: int = 0
    """About how many ops are surely run in each call, one by one; no fewer than that."""
    masked: str = ""
    """What it is given or captures that may have a mask of Keras, which a trace does not get."""
    logits: str = ""
    """The crossentropy that computes another thing in a trace than in eager mode, in words."""

    @property
    def again(self) -> str:
        """A model or layer that is called more than once, with nothing to fix when it is read."""
        for reads in self.repeated:
            for read in reads - self.settled:
                return read.words
        return ""


class TraceError(Exception):
    """A trace that would not be the same."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.obstacle = Obstacle(reason, message)
