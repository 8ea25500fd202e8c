"""What of a step may be done right after it: prints, and books that are kept in Python.

A compiled step cannot print or read a tensor in Python halfway. What only looks at values that stay
as they are until the end of the step may do so at its end, where nothing else is seen in between.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from tfrewrite.analysis.eager.abstract_values import Array, Number, Tensor
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.classes import Store
    from tfrewrite.analysis.program.source import Source

_SHOWING = ("builtins.print", "logging.", "absl.logging.", "sys.stdout.", "sys.stderr.")
_SUMMARIES = frozenset(f"summary.{name}" for name in "scalar histogram image text".split())
_READING = frozenset("numpy item tolist".split())
_LOOKING = _READING | frozenset(
    "format mean sum max min std round lower upper join strip as_list astype any all".split()
)
_ABOUT_IT = frozenset("shape dtype ndim size".split())
_TO_PYTHON = frozenset(f"builtins.{name}" for name in "float int bool str len".split())
_CHANGING = frozenset(
    "append extend insert add update remove discard clear pop sort reverse fill put".split()
)
_PARTS = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.FormattedValue, ast.Starred, ast.keyword,
)  # fmt: skip
_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class Deferred:
    """Finds the statements of a step that may be done after it instead."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._values = facts.eager_values

    def of(self, statements: Sequence[ast.stmt]) -> tuple[ast.stmt, ...]:
        """Those statements of a step that may follow it, in their order."""
        within = {node for one in statements for node in ast.walk(one)}
        found: list[ast.stmt] = []
        later: list[ast.stmt] = []
        for one in reversed(list(in_turn(statements))):
            if (
                has_own_lines(self._source, one)
                and self._keeps_books(one, within)
                and self._may_wait(one, later)
            ):
                found.append(one)
            else:
                later.append(one)
        for one in statements:
            if is_tape(one) and all(inner in found for inner in one.body):
                found = [kept for kept in found if kept not in one.body]
        return tuple(reversed(found))

    # What it does

    def _keeps_books(self, statement: ast.stmt, within: set[ast.AST]) -> bool:
        """Whether a statement does nothing but to show values, and to write them down."""
        match statement:
            case ast.Expr(value=ast.Call() as call):
                return self._shows(call, within) or self._notes(call, within)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                return self._is_count(target) and self._looks(value, within)
            case ast.AugAssign(target=ast.Attribute() as target, value=value):
                return self._holds_number(target) and self._looks(value, within)
            case ast.Assign(targets=[ast.Name()], value=value):
                return self._reads_host(value) and self._looks(value, within)
            case ast.Assign(targets=[ast.Attribute() as target], value=value):
                return self._stores(target) is not None and self._looks(value, within)
            case ast.With() if _is_writer(statement):
                return all(
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Call)
                    and self._is_summary(one.value, within)
                    for one in statement.body
                )
            case ast.If(test=test, body=body, orelse=orelse):
                return self._looks(test, within) and all(
                    self._keeps_books(one, within) for one in (*body, *orelse)
                )
        return False

    def _shows(self, call: ast.Call, within: set[ast.AST]) -> bool:
        """Whether a call prints, or writes a summary."""
        if self._is_summary(call, within):
            return True
        path = self._names.dotted(call.func) or ""
        if not path.startswith(_SHOWING) and self._names.tf(call.func) != "print":
            return False
        if any(keyword.arg not in ("end", "sep", "flush") for keyword in call.keywords):
            return False
        return all(self._looks(one, within) for one in (*call.args, *call.keywords))

    def _is_summary(self, call: ast.Call, within: set[ast.AST]) -> bool:
        if self._names.tf(call.func) not in _SUMMARIES or not self._is_written_alike(call):
            return False
        return all(self._looks(one, within) for one in (*call.args, *call.keywords))

    def _is_written_alike(self, call: ast.Call) -> bool:
        """Whether no variable says if a summary is written, and for which step.

        They may be given for all summaries at once.
        """
        steps = [*call.args[2:3], *(one.value for one in call.keywords if one.arg == "step")]
        none = isinstance(steps[0], ast.Constant) and steps[0].value is None if steps else True
        setting = [*self._classes.calls("record_if")]
        setting += self._classes.calls("set_step") if none else []
        return all(
            isinstance(self._values.value(one), Number)
            for setter in setting
            for one in (*setter.args, *(keyword.value for keyword in setter.keywords))
        )

    def _notes(self, call: ast.Call, within: set[ast.AST]) -> bool:
        """Whether a call appends a value to a list."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "append":
            return False
        if len(call.args) != 1 or call.keywords:
            return False
        return self._is_list(func.value) and self._looks(call.args[0], within)

    def _counts(self, call: ast.Call, name: ast.Name) -> bool:
        """Whether a call gives the length of a list; what is in it may change."""
        return self._names.dotted(call.func) == "builtins.len" and self._is_list(name)

    def _is_list(self, owner: ast.expr) -> bool:
        """Whether a name, or an attribute of the object, holds lists that are made for it."""
        if isinstance(owner, ast.Attribute):
            stores = self._stores(owner) or []
            return bool(stores) and all(
                not one.augmented and one.index is None and self._makes_list(one.value)
                for one in stores
            )
        bindings = self._scopes.bindings(owner) if isinstance(owner, ast.Name) else []
        return bool(bindings) and all(
            one.how is How.ASSIGN and self._makes_list(one.value) for one in bindings
        )

    def _makes_list(self, value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return self._names.dotted(value.func) == "builtins.list"
        return isinstance(value, (ast.List, ast.ListComp))

    def _is_count(self, target: ast.Name) -> bool:
        """Whether a name holds a number of Python, which adding to makes another one of."""
        bindings = self._scopes.bindings(target)
        return bool(bindings) and all(
            one.how is How.AUGMENT or isinstance(self._values.bound(one), Number)
            for one in bindings
        )

    def _holds_number(self, attribute: ast.Attribute) -> bool:
        """The same of an attribute of the object."""
        begun = [one for one in self._stores(attribute) or () if not one.augmented]
        return bool(begun) and all(
            one.value is not None
            and one.index is None
            and isinstance(self._values.value(one.value), Number)
            for one in begun
        )

    def _stores(self, attribute: ast.Attribute) -> list[Store] | None:
        """All that is stored in an attribute of the object, where storing it does no more."""
        owner = attribute.value
        cls = self._classes.of_self(owner) if isinstance(owner, ast.Name) else None
        if cls is None or attribute.attr in self._classes.properties:
            return None
        return self._classes.stores(cls, attribute.attr)

    def _reads_host(self, value: ast.expr) -> bool:
        """Whether an expression needs the value of a tensor, so that it cannot be traced."""
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                if self._names.dotted(node.func) in _TO_PYTHON:
                    return True
                if isinstance(node.func, ast.Attribute) and node.func.attr in _READING:
                    return True
        return False

    def _looks(self, part: ast.AST, within: set[ast.AST]) -> bool:
        """Whether an expression does nothing and gives the same at the end of the step."""
        match part:
            case ast.Constant():
                return True
            case ast.Name():
                return self._names.dotted(part) is not None or self._stays(part, within)
            case ast.Attribute(value=value, attr=attribute):
                if self._names.dotted(part) is not None:
                    return True
                if self._stores(part):
                    return self._is_plain(part)
                return attribute in _ABOUT_IT and self._looks(value, within)
            case ast.Call(args=[ast.Name() as name], keywords=[]) if self._counts(part, name):
                return True
            case ast.Call(func=func):
                if not all(self._looks(one, within) for one in (*part.args, *part.keywords)):
                    return False
                return self._is_idle(func) or (
                    isinstance(func, ast.Attribute)
                    and self._names.dotted(func) is None
                    and func.attr in _LOOKING
                    and self._looks(func.value, within)
                )
        if isinstance(part, _PARTS):
            children = [one for one in ast.iter_child_nodes(part) if not isinstance(one, _MARKS)]
            return all(self._looks(one, within) for one in children)
        return False

    def _is_idle(self, func: ast.expr) -> bool:
        """Whether a function of a library only computes."""
        symbol = self._names.tf(func)
        if symbol is not None:
            effect = effect_of(symbol, "2")
            return (
                effect is not None
                and effect.stateless
                and effect.leaves_no_trace
                and effect.returns_tensor
                and not effect.calls
            )
        path = self._names.dotted(func)
        return path is not None and effect_of_path(path) is CallEffect.PURE

    def _stays(self, name: ast.Name, within: set[ast.AST]) -> bool:
        """Whether what a name holds is no object that the step changes."""
        # What the step binds is given back by it, and only tensors can be.
        if any(binding.node in within for binding in self._scopes.bindings(name)):
            return True
        return isinstance(self._values.value(name), (Number, Tensor, Array))

    def _is_plain(self, attribute: ast.Attribute) -> bool:
        """Whether an attribute of the object holds nothing that can be changed in place."""
        return self._holds_number(attribute) and all(
            one.value is not None and isinstance(self._values.value(one.value), (Number, Array))
            for one in self._stores(attribute) or ()
        )

    # What comes after it in the step

    def _may_wait(self, statement: ast.stmt, later: Iterable[ast.stmt]) -> bool:
        """Whether what follows in the step takes no part in what a statement does."""
        reads = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        reads |= {n.attr for n in ast.walk(statement) if isinstance(n, ast.Attribute)}
        writes = _written(statement)
        for one in later:
            for node in _header(one):
                match node:
                    case ast.Attribute(attr=name, ctx=ast.Load()) if name in writes:
                        return False
                    case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if name in reads:
                        return False
                    case ast.Name(id=name, ctx=ast.Load()) if name in writes:
                        return False
                    case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in reads:
                        return False
                    case ast.Subscript(ctx=ast.Store() | ast.Del()):
                        return False
                    case ast.Call(func=ast.Attribute(attr=method)) if method in _CHANGING:
                        return False
        return True


def has_own_lines(source: Source, statement: ast.stmt) -> bool:
    """Whether nothing else stands on the lines of a statement."""
    first = source.line(statement.lineno)[: statement.col_offset]
    last = source.line(statement.end_lineno or statement.lineno)
    rest = last.encode()[statement.end_col_offset or 0 :].decode(errors="replace").strip()
    return not first.strip() and (not rest or rest.startswith("#"))


def in_turn(statements: Sequence[ast.stmt]) -> Iterable[ast.stmt]:
    """The statements as they are done, those under a tape each by itself."""
    for one in statements:
        yield one
        if is_tape(one):
            yield from one.body


def is_tape(statement: ast.stmt) -> TypeGuard[ast.With]:
    """Whether a statement opens tapes: what is under them is a part of the step."""
    return isinstance(statement, ast.With) and not _is_writer(statement)


def _is_writer(statement: ast.With) -> bool:
    """Whether a `with` is `writer.as_default()`."""
    managers = [item.context_expr for item in statement.items]
    return (
        len(managers) == 1
        and isinstance(managers[0], ast.Call)
        and (isinstance(managers[0].func, ast.Attribute) and managers[0].func.attr == "as_default")
    )


def _header(statement: ast.stmt) -> Iterable[ast.AST]:
    """All of a statement, but of a `with` only what comes before its body."""
    if is_tape(statement):
        for item in statement.items:
            yield from ast.walk(item)
    else:
        yield from ast.walk(statement)


def _written(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement sets, and those of lists that it appends to."""
    found = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr="append"):
                found.add(name)
    return found
