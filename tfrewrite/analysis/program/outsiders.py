"""Code outside of the file that calls its functions, and may go on after an exception of one.

A server goes on after a request that failed, a decorator tries again, and the next test is run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.scopes import Function

# What these are given they call, if at all, where they are called, and let its exceptions pass.
_LETTING_PASS = (
    "builtins.", "functools.", "itertools.", "abc.", "contextlib.", "typing.", "argparse.",
    "timeit.", "six.", "numpy.", "scipy.", "tensorflow.", "keras.", "absl.", "click.", "fire.",
    "gin.", "hydra.", "plac.", "sacred.",
)  # fmt: skip
# Methods that only keep what they are given, for this file to call.
_KEEPING = frozenset("append add insert extend update setdefault set_defaults".split())
_OF_PROPERTIES = frozenset({"setter", "getter", "deleter"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TESTS = ("unittest.", "tensorflow.test.")


class Outsiders:
    """Looks for those to whom a function is handed."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._classes = facts.classes

    def calling(self, function: Function) -> str:
        """The words for somebody who may go on after an exception of a function, if that is seen.

        Who only imports the function is not seen.
        """
        if isinstance(function, ast.AsyncFunctionDef):
            return f"what runs the coroutine `{function.name}`"
        if not isinstance(function, ast.Lambda):
            for decorator in function.decorator_list:
                made = decorator.func if isinstance(decorator, ast.Call) else decorator
                if self._is_foreign(made):
                    return f"the decorator `{ast.unparse(made)}`"
            if self._is_test(function):
                return "what runs the tests"
        for call in self._given_to(function):
            if self._is_foreign(call.func):
                return f"`{ast.unparse(call.func)}(...)` in line {call.lineno}"
        return ""

    def _given_to(self, function: Function) -> Iterator[ast.Call]:
        """The calls that have a function among their arguments, as it is or bound in part."""
        for value in self._values(function):
            call = self._given(value)
            while call is not None and self._names.dotted(call.func) == "functools.partial":
                call = self._given(call)
            if call is not None:
                yield call

    def _given(self, value: ast.expr) -> ast.Call | None:
        """The call that a value is an argument of."""
        parent = self._source.parent(value)
        if isinstance(parent, ast.keyword):
            parent = self._source.parent(parent)
        return parent if isinstance(parent, ast.Call) and parent.func is not value else None

    def _values(self, function: Function) -> list[ast.expr]:
        """The expressions that a function is the value of, by its name."""
        if isinstance(function, ast.Lambda):
            return [function]
        if isinstance(self._source.parent(function), ast.ClassDef):
            found = self._classes.reads(function.name)
            return [one for one in found if self._names.dotted(one) is None]
        return [
            name
            for name in self._source.all(ast.Name)
            if name.id == function.name
            and any(binding.node is function for binding in self._scopes.bindings(name))
        ]

    def _is_foreign(self, func: ast.expr) -> bool:
        """Whether what is called is neither of this file nor known to let exceptions pass."""
        path = self._names.dotted(func)
        if path is not None:
            return not path.startswith(_LETTING_PASS)
        if isinstance(func, ast.Name):
            bindings = self._scopes.bindings(func)
            return not all(isinstance(one.node, _DEFINITIONS) for one in bindings)
        if not isinstance(func, ast.Attribute) or self._classes.has_method(func.attr):
            return False
        harmless = func.attr in _KEEPING | _OF_PROPERTIES
        return not harmless and not self._made_by(func.value).startswith(_LETTING_PASS)

    def _made_by(self, owner: ast.expr) -> str:
        """The path of what made an object, as `click.group` for a function that it decorates."""
        bindings = self._scopes.bindings(owner) if isinstance(owner, ast.Name) else []
        if len(bindings) != 1:
            return ""
        makers = getattr(bindings[0].node, "decorator_list", [bindings[0].value])
        maker = makers[0] if makers else None
        made = maker.func if isinstance(maker, ast.Call) else maker
        return (self._names.dotted(made) if made is not None else None) or ""

    def _is_test(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        cls = self._source.parent(function)
        if not isinstance(cls, ast.ClassDef) or not function.name.startswith("test"):
            return False
        return any((self._names.dotted(base) or "").startswith(_TESTS) for base in cls.bases)
