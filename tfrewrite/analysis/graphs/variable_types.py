"""Which type the variables of a graph have, as far as it matters to what is assigned to them."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.number_sorts import Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.graphs.nodes import Node
    from tfrewrite.analysis.program.names import Names
    from tfrewrite.analysis.program.numbers import Numbers
    from tfrewrite.analysis.program.source import Source

# What there is to know of a type: whether it takes a float, and whether a large integer wraps.
_TYPES = {
    "float16": "float", "float32": "float", "float64": "float",
    "int32": "int32", "int64": "int64", "bool": "bool",
}  # fmt: skip
# What an initial value is of when nothing is said.
_FLOATS = frozenset(
    "zeros ones random_normal random_uniform truncated_normal random.normal random.uniform"
    " random.truncated_normal".split()
)
_DTYPE_AT = {"Variable": 5, "get_variable": 2, "constant": 1, "zeros": 1, "ones": 1}


class VariableTypes:
    """Tells `float`, `int32`, `int64` and `bool` apart, by the call that makes a variable."""

    def __init__(self, source: Source, names: Names, numbers: Numbers) -> None:
        self._source = source
        self._names = names
        self._numbers = numbers

    def of(self, variables: Sequence[Node]) -> str | None:
        """The type of some variables, all floats being one; None where it is not known."""
        found = {self._made_of(one.expr) for one in variables}
        return found.pop() if len(found) == 1 else None

    def is_one_float(self, variable: Node) -> bool:
        """Whether a variable holds one float, so that a run gives one of numpy's floats for it."""
        maker = variable.expr
        symbol = self._names.tf(maker.func) if isinstance(maker, ast.Call) else None
        if not isinstance(maker, ast.Call) or symbol is None or self.of([variable]) != "float":
            return False
        given = {keyword.arg: keyword.value for keyword in maker.keywords}
        name = "initial_value" if symbol == "Variable" else "initializer"
        first = maker.args[0] if maker.args and symbol == "Variable" else None
        initial = first or given.get(name)
        sort = self._numbers.of(initial) if initial is not None else None
        return sort is Number.FLOAT and "validate_shape" not in given

    def _made_of(self, maker: ast.AST) -> str | None:
        if not isinstance(maker, ast.Call):
            return None
        given = {keyword.arg: keyword.value for keyword in maker.keywords}
        symbol = (self._names.tf(maker.func) or "").rpartition(".")[2]
        named = self._named(maker, given, symbol)
        if named is not None:
            return named or None
        if symbol == "Variable":
            initial = maker.args[0] if maker.args else given.get("initial_value")
            return self._type_of(initial) if initial is not None else None
        initial = maker.args[3] if len(maker.args) > 3 else given.get("initializer")
        if initial is None:
            return "float"
        made = self._names.tf(initial.func) if isinstance(initial, ast.Call) else None
        if made is not None and made.endswith("initializer") and self._one_scope_type:
            return "float"
        of = self._type_of(initial)
        return of if of == "float" else None

    @cached_property
    def _one_scope_type(self) -> bool:
        """Whether no variable scope says of which type its variables are."""
        scopes = [c for c in self._source.all(ast.Call) if "scope" in ast.unparse(c.func)]
        return not any(keyword.arg == "dtype" for call in scopes for keyword in call.keywords)

    def _named(self, maker: ast.Call, given: dict[str | None, ast.expr], symbol: str) -> str | None:
        """The type that a call is given; empty where it is one that is not known."""
        place = _DTYPE_AT.get(symbol)
        said = given.get("dtype")
        if said is None and place is not None and len(maker.args) > place:
            said = maker.args[place]
        if said is None:
            return None
        if isinstance(said, ast.Constant):
            return _TYPES.get(str(said.value), "")
        return _TYPES.get((self._names.tf(said) or "").removeprefix("dtypes."), "")

    def _type_of(self, initial: ast.expr) -> str | None:
        """The type of the variable that an initial value makes."""
        if isinstance(initial, ast.Call):
            symbol = self._names.tf(initial.func)
            if symbol in _FLOATS or symbol == "constant":
                given = {keyword.arg: keyword.value for keyword in initial.keywords}
                named = self._named(initial, given, symbol)
                if named is not None:
                    return named or None
                if symbol in _FLOATS:
                    plain = symbol in ("zeros", "ones") or len(initial.args) < 4
                    return "float" if plain else None
                return self._type_of(initial.args[0]) if initial.args else None
        if isinstance(initial, (ast.List, ast.Tuple)):
            found = {self._type_of(one) for one in initial.elts}
            return found.pop() if len(found) == 1 else None
        of_python = {Number.FLOAT: "float", Number.SMALL: "int32", Number.BOOL: "bool"}
        sort = self._numbers.of(initial)
        return of_python.get(sort) if sort is not None else None
