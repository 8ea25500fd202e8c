"""Which values get a name and are never read under it."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

# What is called by one of these names may look at any variable of its caller.
_LOOKING = frozenset(
    "breakpoint set_trace embed interact _getframe currentframe stack run_line_magic magic dir"
    " runcall post_mortem dump_session getmembers getgeneratorlocals".split()
)
# The variables of a frame that runs or has raised.
_OF_FRAMES = "f_locals"
# They find the variables that a text names in the frame of their caller.
_EVALUATING = ("numexpr.", "pandasql.", "patsy.")
_BY_TEXT = frozenset({"evaluate", "query", "eval", "sqldf"})


class Unread:
    """Follows a name from where it gets a value to everybody who may read that value."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow

    def unread(self, target: ast.Name) -> bool:
        """Whether nothing in this file reads the value that a statement stores under a name."""
        owner = self._scopes.of(target).owner(target.id)
        if owner is None or isinstance(owner.node, ast.ClassDef):
            return False  # every name there is an attribute
        statement = self._source.statement(target)
        bindings = owner.bindings.get(target.id, [])
        if any(binding.how is How.AUGMENT or _deletes(binding) for binding in bindings):
            return False
        uses = self._scopes.uses(target)
        if uses and all(self._source.statement(b.node) is statement for b in bindings):
            return False  # without this binding the name would be another variable
        return not any(
            self._source.statement(binding.node) is statement
            for use in uses
            for binding in self._flow.reaching(use)
        )

    def importable(self, target: ast.Name | ast.FunctionDef | ast.ClassDef) -> bool:
        """Whether another module may import the name: no private one, and not of a main script."""
        name = target.id if isinstance(target, ast.Name) else target.name
        owner = self._scopes.of(target).owner(name)
        if owner is not self._scopes.module or name.startswith("_"):
            return False
        inner: ast.AST = target
        for outer in self._source.ancestors(target):
            if isinstance(outer, ast.If) and _asks_for_main(outer.test) and inner in outer.body:
                return False
            inner = outer
        return True

    def named_otherwise(self, target: ast.Name) -> ast.AST | None:
        """What may read a name of the module as an attribute, by an import, or by a text.

        The module can be had from `sys.modules` or an import of `__main__`, and `timeit` or
        `doctest` evaluate texts in it.
        """
        if self._scopes.of(target).owner(target.id) is not self._scopes.module:
            return None
        for attribute in self._source.all(ast.Attribute):
            if attribute.attr == target.id:
                return attribute
        for statement in self._source.all(ast.ImportFrom):
            if any(alias.name == target.id for alias in statement.names):
                return statement
        for text in self._source.all(ast.Constant):
            if isinstance(text.value, str) and target.id in re.findall(r"\w+", text.value):
                return text
        return None

    @cached_property
    def looked_at(self) -> str:
        """What may read any variable without naming it, in words; empty where nothing does."""
        for attribute in self._source.all(ast.Attribute):
            if attribute.attr == _OF_FRAMES:
                return f"`{ast.unparse(attribute)}` in line {attribute.lineno}"
        for call in self._source.all(ast.Call):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if isinstance(call.func, ast.Attribute):
                name = call.func.attr
            path = self._names.dotted(call.func) or ""
            looking = name in _LOOKING and not path.startswith(("numpy.", "tensorflow."))
            if looking or path.startswith(_EVALUATING) or _evaluates(name, call):
                return f"`{ast.unparse(call.func)}(...)` in line {call.lineno}"
        return ""


def _evaluates(name: str, call: ast.Call) -> bool:
    """Whether a call evaluates a text, as `table.query("x > @limit")` does."""
    first = call.args[0] if call.args else None
    text = isinstance(first, ast.JoinedStr) or (
        isinstance(first, ast.Constant) and isinstance(first.value, str)
    )
    return name in _BY_TEXT and text


def _deletes(binding: Binding) -> bool:
    return isinstance(binding.node, ast.Delete)


def _asks_for_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="__main__")],
        ):
            return True
        case ast.Compare(
            left=ast.Constant(value="__main__"),
            ops=[ast.Eq()],
            comparators=[ast.Name(id="__name__")],
        ):
            return True
    return False
