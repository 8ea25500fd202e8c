"""The graph that a script builds, as far as its text tells: values, and what lies beneath them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tfrewrite.analysis.effects import Effect

_MAX_DEPTH = 4
COLLECTED = "summary.merge_all"
"""What merges all summaries; where it is known which may be among them, it has them beneath."""


class Kind(Enum):
    """What a traced value is."""

    CONSTANT = "constant"  # a Python value; running the graph does not change it
    OP = "op"  # the result of a TensorFlow call or of an operator on tensors
    VARIABLE = "variable"  # a variable's state; what initialises it is not beneath it
    CHOICE = "choice"  # one of the inputs, by the way the program takes
    ELEMENT = "element"  # one of the results of a call that gives several
    STRUCTURE = "structure"  # a list, tuple or dict of the inputs
    OBJECT = "object"  # a TensorFlow object that is no tensor: an optimizer, a layer, a session
    INSTANCE = "instance"  # an object of a class of this file
    UNKNOWN = "unknown"


@dataclass(eq=False, repr=False)
class Node:
    """A value of the program that builds the graph; the same value only if the same node."""

    kind: Kind
    expr: ast.AST
    symbol: str = ""
    inputs: list[tuple[str, Node]] = field(default_factory=list)
    """Each value that goes in, with the parameter's name (`labels`)."""
    controls: list[Node] = field(default_factory=list)
    effect: Effect | None = None
    why: str = ""
    many: bool = False
    """Whether the expression may be evaluated more than once, each time making another value."""
    instance_of: ast.ClassDef | None = None
    hidden: str = ""
    """The symbol of the tensor that it is, unless the manager of a `with` changes that."""

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.symbol} in line {getattr(self.expr, 'lineno', 0)}>"

    @property
    def values(self) -> list[Node]:
        return [node for _, node in self.inputs]

    def argument(self, name: str) -> Node | None:
        """What is given for a parameter, by its name."""
        return next((node for key, node in self.inputs if key == name), None)


@dataclass(eq=False)
class Surroundings:
    """What `with` statements do to the code under them."""

    controls: list[Node] = field(default_factory=list)
    obstacle: str = ""
    """The words for a manager that is not known, where there is one."""


@dataclass(eq=False)
class Frame:
    """One evaluation of a function: what its parameters are, and from where it was called."""

    function: ast.AST
    arguments: dict[str, Node]
    around: Surroundings = field(default_factory=Surroundings)
    many: bool = False
    depth: int = 0
    caller: Frame | None = None


def plain(node: Node) -> Node:
    """The value itself, where there is only one to choose from."""
    seen = {node}
    while node.kind is Kind.CHOICE:
        others = {value for value in node.values if value is not node}
        if len(others) != 1:
            return node
        node = others.pop()
        if node in seen:
            return node
        seen.add(node)
    return node


def may_grow(value: Node, depth: int = 0) -> bool:
    """Whether a value is a list that others may add a tensor to, or a tuple with one in it.

    What holds nothing but numbers or texts is data, and stays so.
    """
    value = plain(value)
    if depth > _MAX_DEPTH or value.kind not in (Kind.STRUCTURE, Kind.CHOICE):
        return depth > _MAX_DEPTH
    if any(may_grow(one, depth + 1) for one in value.values):
        return True
    fixed = isinstance(value.expr, (ast.Tuple, ast.Starred, ast.GeneratorExp))
    if isinstance(value.expr, ast.Call) and isinstance(value.expr.func, ast.Name):
        fixed = value.expr.func.id in ("zip", "tuple", "enumerate", "reversed")
    if fixed or value.kind is Kind.CHOICE:
        return False
    return not value.inputs or any(plain(one).kind is not Kind.CONSTANT for one in value.values)


def beneath(*roots: Node, stop: frozenset[Node] = frozenset()) -> Iterator[Node]:
    """The nodes and everything that has to run for them, each once; not below those in `stop`."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        if node not in stop:
            stack.extend(node.values)
            stack.extend(node.controls)


def flags(*roots: Node) -> frozenset[str]:
    """All effects of what has to run for some values."""
    found: set[str] = set()
    for node in beneath(*roots):
        if node.effect is not None:
            found |= node.effect.flags
        if node.kind is Kind.VARIABLE:
            found.add("reads")
    return frozenset(found)


def is_python(value: Node) -> bool:
    """Whether a value is an ordinary Python value, with no tensor in it."""
    if value.kind in (Kind.STRUCTURE, Kind.CHOICE):
        seen: set[Node] = set()
        stack = [value]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.kind in (Kind.STRUCTURE, Kind.CHOICE):
                stack.extend(node.values)
            elif node.kind is not Kind.CONSTANT:
                return False
        return True
    return value.kind is Kind.CONSTANT


def tensors(node: Node) -> list[Node]:
    """What goes into a value and is not known before the graph runs."""
    return [value for value in map(plain, node.values) if not is_python(value)]


def unknown(expr: ast.AST, why: str) -> Node:
    """A value that cannot be followed, with the words for the reason."""
    return Node(Kind.UNKNOWN, expr, why=why)


def choice(expr: ast.AST, values: list[Node]) -> Node:
    """One of several values."""
    return Node(Kind.CHOICE, expr, inputs=[("", value) for value in values])


def text(expr: ast.AST) -> str:
    """An expression for a message: on one line, and not too long."""
    written = ast.unparse(expr)
    return written if len(written) <= 60 else f"{written[:57]}..."
