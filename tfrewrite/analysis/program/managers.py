"""What the manager of a `with` statement may do to what stands in its body.

Most managers around graph code only name or place what is built. One that is not known may swallow
exceptions, add control dependencies, or change what a call means.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_SCOPES = frozenset(
    "name_scope device container control_dependencies op_scope GradientTape".split()
)
_VARIABLE_SCOPES = frozenset({"variable_scope", "variable_op_scope"})
_VARIABLE_SCOPE_ARGUMENTS = frozenset(
    {
        "name_or_scope",
        "default_name",
        "values",
        "initializer",
        "reuse",
        "dtype",
        "auxiliary_name_scope",
    }
)
# Progress bars: they end what they show, and let exceptions pass.
_BARS = frozenset(
    f"tqdm.{module}{name}" for module in ("", "auto.", "notebook.") for name in ("tqdm", "trange")
)
_METHODS = frozenset({"as_default", "device", "name_scope", "control_dependencies", "test_session"})


class Managers:
    """Tells the managers that change nothing from those that may."""

    def __init__(self, facts: Facts) -> None:
        self._names = facts.names
        self._scopes = facts.scopes
        self._source = facts.source

    def known(self, statement: ast.With | ast.AsyncWith) -> bool:
        """Whether no manager of the statement swallows exceptions or changes what is built.

        Control dependencies are known managers: the tracer follows them.
        """
        return isinstance(statement, ast.With) and all(
            self._known(item.context_expr) for item in statement.items
        )

    def control_inputs(self, statement: ast.With) -> list[ast.expr]:
        """What the body has to wait for, by the control dependencies of the statement."""
        found: list[ast.expr] = []
        for item in statement.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and self._is_control(call.func):
                found += [*call.args, *(keyword.value for keyword in call.keywords)]
        return found

    def _is_control(self, func: ast.expr) -> bool:
        method = func.attr if isinstance(func, ast.Attribute) else ""
        return method == "control_dependencies" or self._names.tf(func) == "control_dependencies"

    def _known(self, manager: ast.expr) -> bool:
        if isinstance(manager, ast.Name):
            made = [binding.value for binding in self._scopes.bindings(manager)]
            return "sess" in manager.id.lower() and not any(map(self._is_own, made))
        if isinstance(manager, ast.Attribute):
            return "sess" in manager.attr.lower() and not self._defines("__exit__")
        if not isinstance(manager, ast.Call):
            return False
        path = self._names.dotted(manager.func)
        if path == "builtins.open" or path in _BARS:
            return True
        symbol = self._names.tf(manager.func)
        if symbol is None:
            method = manager.func.attr if isinstance(manager.func, ast.Attribute) else ""
            return method in _METHODS and not self._defines(method)
        if symbol in _VARIABLE_SCOPES:
            return {keyword.arg for keyword in manager.keywords} <= _VARIABLE_SCOPE_ARGUMENTS
        return symbol in _SCOPES or symbol.endswith("Session")

    def _is_own(self, value: ast.expr | None) -> bool:
        """Whether a value is an object of a class of the file, which may do anything."""
        maker = value.func if isinstance(value, ast.Call) else None
        bindings = self._scopes.bindings(maker) if isinstance(maker, ast.Name) else []
        return any(binding.how is How.CLASS for binding in bindings)

    def _defines(self, method: str) -> bool:
        """Whether a class of the file has a method of a certain name."""
        return any(
            getattr(statement, "name", "") == method
            for cls in self._source.all(ast.ClassDef)
            for statement in cls.body
        )
