"""Settings that come from the command line, and which sort of number each one is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts

_DEFINED = {"DEFINE_float": "float", "DEFINE_integer": "int"}
_FLAGS = ("tensorflow.app.flags.FLAGS", "tensorflow.flags.FLAGS", "absl.flags.FLAGS")
_MAX_CALLERS = 4


class Settings:
    """Finds what `args.rate` or `FLAGS.rate` is."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls

    def value(self, expr: ast.Attribute) -> str | None:
        """`float`, `int`, or `real` for one of the two; None where it is not sure."""
        if not isinstance(expr.value, ast.Name) or self._is_set(expr.attr):
            return None
        if self._names.dotted(expr.value) in _FLAGS:
            return self._flag(expr.attr)
        return self._argument(expr.attr) if self._is_parsed(expr.value) else None

    def parsed_anew(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether flags may get other values in some code: by a call of `FLAGS`, or of a method."""
        return any(
            isinstance(node, (ast.Name, ast.Attribute))
            and self._names.dotted(node) in _FLAGS
            and not self._is_read(node)
            for node in nodes
        )

    def _is_read(self, flags: ast.AST) -> bool:
        """Whether one flag is read, and nothing else done with all of them."""
        flag = self._source.parent(flags)
        if not isinstance(flag, ast.Attribute) or not isinstance(flag.ctx, ast.Load):
            return False
        call = self._source.parent(flag)
        return not (isinstance(call, ast.Call) and call.func is flag)

    def _is_set(self, attribute: str) -> bool:
        """Whether the program itself gives an attribute of this name a value."""
        return any(
            node.attr == attribute and not isinstance(node.ctx, ast.Load)
            for node in self._source.all(ast.Attribute)
        )

    def _flag(self, name: str) -> str | None:
        found = set()
        for call in self._source.all(ast.Call):
            maker = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if maker.startswith("DEFINE_") and call.args and _is_text(call.args[0], name):
                default = call.args[1] if len(call.args) > 1 else None
                found.add(_DEFINED.get(maker) if _number(default) else None)
        return found.pop() if len(found) == 1 else None

    def _is_parsed(self, value: ast.expr, depth: int = 0) -> bool:
        """Whether a value is what `argparse` made of the command line, and nothing else."""
        if depth > _MAX_CALLERS or self._is_result(value):
            return depth <= _MAX_CALLERS
        values: list[ast.expr] | None = None
        if isinstance(value, ast.Call):
            function = self._own.function(value)
            values = self._own.returned(function) if function is not None else None
        elif isinstance(value, ast.Name):
            bindings = self._scopes.bindings(value)
            binding = bindings[0] if len(bindings) == 1 else None
            if binding is not None and binding.how is How.PARAMETER:
                values = self._own.given(binding)
            elif binding is not None and binding.how is How.ASSIGN and binding.value is not None:
                values = [binding.value]
            elif binding is not None and binding.how is How.UNPACK and binding.index == 0:
                made = binding.value
                name = getattr(made.func, "attr", "") if isinstance(made, ast.Call) else ""
                return name == "parse_known_args"
        return bool(values) and all(self._is_parsed(one, depth + 1) for one in values or ())

    def _is_result(self, value: ast.expr) -> bool:
        return (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "parse_args"
            and len(value.args) + len(value.keywords) == 0
        )

    def _argument(self, name: str) -> str | None:
        """The sort of an argument, by its `type` and its default."""
        if any(map(self._classes.calls, ("set_defaults", "add_argument_group", "add_subparsers"))):
            return None
        found = {
            self._added(call)
            for call in self._classes.calls("add_argument")
            if _destination(call) == name
        }
        return found.pop() if len(found) == 1 else None

    def _added(self, call: ast.Call) -> str | None:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if not set(given) <= {"type", "default", "help", "dest", "metavar", "required"}:
            return None
        sort = self._names.dotted(given["type"]) if "type" in given else None
        kind = {"builtins.float": "float", "builtins.int": "int"}.get(sort or "")
        default = given.get("default")
        required = given.get("required")
        if default is None:
            first = call.args[0].value if isinstance(call.args[0], ast.Constant) else "-"
            always = isinstance(required, ast.Constant) and required.value is True
            return kind if always or not str(first).startswith("-") else None
        if kind is None or not _number(default):
            return None
        # A default that is no text is taken as it is.
        whole = isinstance(_value(default), int)
        return kind if whole == (kind == "int") else "real"


def _destination(call: ast.Call) -> str:
    """The name of the attribute that an argument becomes."""
    for keyword in call.keywords:
        if keyword.arg == "dest":
            return str(getattr(keyword.value, "value", ""))
    texts = [one.value for one in call.args if isinstance(one, ast.Constant)]
    options = [text for text in texts if isinstance(text, str)]
    long = [text for text in options if text.startswith("--")] or options
    return long[0].lstrip("-").replace("-", "_") if long else ""


def _is_text(expr: ast.expr, text: str) -> bool:
    return isinstance(expr, ast.Constant) and expr.value == text


def _number(expr: ast.expr | None) -> bool:
    value = _value(expr)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _value(expr: ast.expr | None) -> object:
    if isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.USub):
        expr = expr.operand
    return expr.value if isinstance(expr, ast.Constant) else None
