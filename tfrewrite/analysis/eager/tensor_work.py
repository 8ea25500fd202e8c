"""Which code does nothing but compute with tensors, and with lists of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from tfrewrite.analysis.eager.abstract_values import Library, Number, Tensor, Thing, Value, parts
from tfrewrite.analysis.effects import effect_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_OF_OPS = (
    ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.keyword,
    ast.List, ast.Tuple, ast.expr_context, ast.ListComp,
)  # fmt: skip
# What they give hangs on the shape of a variable, and not on its value.
_OF_SHAPES = frozenset({"zeros_like", "ones_like", "shape"})
# They are the methods by which an optimizer changes variables.
_UPDATES = frozenset({"apply_gradients", "apply"})


class TensorWork:
    """Tells ops from what does more, and which variables they need the values of."""

    def __init__(self, facts: Facts) -> None:
        self._names = facts.names
        self._values = facts.eager_values

    def gives_tensor(self, statement: ast.stmt) -> bool:
        """Whether a statement gives a name to what ops make of tensors."""
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as value):
                return self._is_computed(value)
        return False

    def gives_lists(self, statement: ast.stmt) -> bool:
        """Whether a statement makes lists: an op of each tensor in others, or these clipped."""
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.ListComp() as value):
                return self._is_computed(value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=func) as value):
                is_clipped = self._names.tf(func) == "clip_by_global_norm"
                return is_clipped and all(map(_is_name, names)) and self._is_computed(value)
        return False

    def weights(self, node: ast.AST, *, is_needed: bool = True) -> Iterator[tuple[ast.expr, bool]]:
        """The variables in an expression, and whether their values are needed, not handed on.

        Those that a comprehension runs over are known by the names that it has for them.
        """
        if self._is_weights(node):
            yield node, is_needed
            return
        for part, needed in self._parts(node):
            for found, is_read in self.weights(part, is_needed=needed):
                if is_read or not isinstance(node, ast.comprehension):
                    yield found, is_read

    def _is_computed(self, node: ast.AST, *, is_needed: bool = True) -> bool:
        if self._is_weights(node):
            return not is_needed
        return self._is_of_ops(node) and all(
            self._is_computed(part, is_needed=needed) for part, needed in self._parts(node)
        )

    def _is_weights(self, node: ast.AST) -> TypeGuard[ast.expr]:
        """Whether something is a variable of TensorFlow, or a list of them."""
        if not isinstance(node, (ast.Name, ast.Attribute)) or isinstance(node.ctx, ast.Store):
            return False
        if self._names.dotted(node) is not None:
            return False
        return any(
            isinstance(part, Thing) and part.kind == "variable"
            for part in parts(self._values.value(node))
        )

    def _is_of_ops(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=func):
                return self._is_zip(func) or self._is_op(func)
            case ast.Name(ctx=ast.Load()):
                return all(map(_is_plain, parts(self._values.value(node))))
            case ast.Name():
                return True
            case ast.comprehension(ifs=tests):
                return not tests
        return isinstance(node, _OF_OPS)

    def _is_op(self, func: ast.expr) -> bool:
        effect = effect_of(self._names.tf(func) or "", "2")
        return (
            effect is not None
            and effect.stateless
            and effect.leaves_no_trace
            and effect.returns_tensor
            and not effect.calls
        )

    def _is_zip(self, func: ast.expr) -> bool:
        return self._names.dotted(func) == "builtins.zip"

    def _parts(self, node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
        """What something is made of, and whether it needs the values of variables in it."""
        hands_on = isinstance(node, (ast.Tuple, ast.List, ast.Attribute, ast.comprehension))
        if isinstance(node, ast.Call):
            updates = isinstance(node.func, ast.Attribute) and node.func.attr in _UPDATES
            is_shape = self._names.tf(node.func) in _OF_SHAPES
            hands_on = updates or is_shape or self._is_zip(node.func)
        for part in ast.iter_child_nodes(node):
            yield part, not hands_on


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def _is_plain(value: Value) -> bool:
    """Whether a value is a tensor, or nothing that can be changed."""
    if isinstance(value, Tensor):
        return not value.array
    return isinstance(value, (Number, Library))
