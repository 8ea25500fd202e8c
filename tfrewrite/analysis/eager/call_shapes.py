"""Whether what a function is given has another shape in each call, where the text shows it.

A compiled function is traced for each shape. A text that gets longer word by word, or a window
that opens, would be traced in every turn.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Array, Number
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Binding

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LONGEST = 40
_CUT = "[:]"
# They put together what they are given, so that it gets longer.
_JOINING = frozenset(
    "concat stack concatenate append hstack vstack column_stack pad insert tile repeat".split()
)
# Which of their arguments says how much they make.
_SIZES = {
    "zeros": 0, "ones": 0, "empty": 0, "fill": 0, "full": 0, "eye": 0, "range": 0, "arange": 0,
    "tile": 1, "repeat": 1, "reshape": 1, "broadcast_to": 1, "pad": 1,
}  # fmt: skip
# How much they give depends on the values that they are given.
_CHOOSING = frozenset("boolean_mask unique nonzero".split())


class CallShapes:
    """Goes back from an expression to what it is made of."""

    def __init__(self, facts: Facts) -> None:
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._classes = facts.classes
        self._values = facts.eager_values

    def varies(self, expr: ast.expr) -> str:
        """How the shape of an expression is another one each time; empty where that is not seen."""
        return self._varies(expr, (), set())

    def _varies(self, node: ast.AST, path: tuple[Binding | str, ...], seen: set[Binding]) -> str:
        match node:
            case ast.Name(ctx=ast.Load()) if len(path) < _LONGEST:
                return self._name(node, path, seen)
            case ast.Call():
                return self._call(node, path, seen)
            case ast.Subscript(value=value, slice=index):
                words = self._part(node)
                taken = any(isinstance(one, ast.Slice) for one in ast.walk(index))
                if not taken or words:
                    return words or self._varies(value, path, seen)
                rest = any(map(_is_rest, ast.walk(index)))
                # What is joined and cut again slides; what is only cut gets shorter.
                if not rest or any(isinstance(one, str) for one in path):
                    return ""
                return self._varies(value, (*path, _CUT), seen)
            case ast.Lambda():
                return ""
        return self._of_parts(node, path, seen)

    def _of_parts(self, node: ast.AST, path: tuple[Binding | str, ...], seen: set[Binding]) -> str:
        found = (self._varies(one, path, seen) for one in ast.iter_child_nodes(node))
        return next(filter(None, found), "")

    def _name(self, name: ast.Name, path: tuple[Binding | str, ...], seen: set[Binding]) -> str:
        if self._names.dotted(name) is not None:
            return ""
        for binding in self._flow.reaching(name):
            around = path[path.index(binding) :] if binding in path else ()
            ways = {one for one in around if isinstance(one, str)}
            if ways == {_CUT}:
                return f"`{name.id}` gets shorter in line {name.lineno}"
            if ways and _CUT not in ways:
                return f"`{name.id}` is put together with more in line {name.lineno}"
            if binding in seen:
                continue
            seen.add(binding)
            longer = self._lengthened(binding, name)
            if longer is not None:
                return f"`{name.id}` gets longer in line {longer.lineno}"
            for value in self._made_of(binding):
                words = self._varies(value, (*path, binding), seen)
                if words:
                    return words
        return ""

    def _made_of(self, binding: Binding) -> list[ast.expr]:
        if binding.how is How.PARAMETER:
            return self._own.given(binding) or []
        given = binding.how in (How.ASSIGN, How.UNPACK, How.AUGMENT)
        if binding.how is How.LOOP and binding.value is not None:
            return self._generated(binding.value)
        return [binding.value] if given and binding.value is not None else []

    def _generated(self, iterable: ast.expr) -> list[ast.expr]:
        """What the generators of the file give that a loop goes through."""
        made: list[ast.AST | None] = [*ast.walk(iterable)]
        for name in (node for node in ast.walk(iterable) if isinstance(node, ast.Name)):
            if self._names.dotted(name) is None:
                made += [binding.value for binding in self._flow.reaching(name)]
        functions = [self._own.function(call) for call in made if isinstance(call, ast.Call)]
        return [one for f in functions if f is not None for one in self._own.yielded(f)]

    def _lengthened(self, binding: Binding, use: ast.Name) -> ast.Call | None:
        """Where a list that a binding makes gets another item in each turn of a loop of its use."""
        if not isinstance(binding.value, (ast.List, ast.ListComp)):
            return None
        around = {one for one in self._flow.enclosing(use) if isinstance(one, _LOOPS)}
        around -= set(self._flow.enclosing(binding.node))
        for name in ("append", "extend", "insert"):
            for call in self._classes.calls(name):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else None
                if not isinstance(owner, ast.Name) or owner.id != binding.name:
                    continue
                here = not around.isdisjoint(self._flow.enclosing(call))
                if here and binding in self._scopes.bindings(owner):
                    return call
        return None

    def _call(self, call: ast.Call, path: tuple[Binding | str, ...], seen: set[Binding]) -> str:
        dotted = self._names.dotted(call.func)
        text = ast.unparse(call.func)
        name = text.rpartition(".")[2]
        if dotted is None and self._own.function(call) is None:
            inner = call.func.value if isinstance(call.func, ast.Attribute) else None
            return self._varies(inner, path, seen) if inner is not None else ""
        if name in _CHOOSING and dotted is not None:
            return f"what `{text}` gives in line {call.lineno} depends on values"
        size = _SIZES.get(name, len(call.args))
        if dotted is not None and any(map(self._counts, call.args[size : size + 1])):
            return f"line {call.lineno} gives `{text}` another size each time"
        longer = (*path, name) if name in _JOINING else path
        function = self._own.function(call)
        if function is not None:
            made = self._own.given_back(function) or self._own.yielded(function)
            found = (self._varies(one, path, seen) for one in made)
            return next(filter(None, found), "")
        given = (self._varies(one, longer, seen) for one in _arguments(call))
        return next(filter(None, given), "")

    def _counts(self, size: ast.expr) -> bool:
        """Whether a size is made of what a loop counts."""
        return any(
            binding.how is How.AUGMENT or isinstance(binding.node, ast.For)
            for name in ast.walk(size)
            if isinstance(name, ast.Name) and self._names.dotted(name) is None
            for binding in self._flow.reaching(name)
            if isinstance(self._values.value(name), Number)
        )

    def _part(self, part: ast.Subscript) -> str:
        """Whether as much of something is taken each time."""
        owner = self._values.value(part.value)
        found = self._values.value(part)
        if isinstance(owner, Array) and owner.steady and isinstance(found, Array):
            if not found.steady:
                return f"line {part.lineno} takes another part of it each time"
        return ""


def _is_rest(index: ast.AST) -> bool:
    """Whether all is taken but for what an index cuts off: `[1:]`, `[:-1]`."""
    match index:
        case ast.Slice(lower=ast.Constant(value=0) | None, upper=ast.UnaryOp(op=ast.USub())):
            return True
        case ast.Slice(lower=lower, upper=None):
            return lower is not None and not isinstance(lower, ast.UnaryOp)
    return False


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
