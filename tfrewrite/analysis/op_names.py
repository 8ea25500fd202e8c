"""Where a script shows the names of its ops.

TensorFlow numbers ops of one name: `Exp`, `Exp_1`, `Exp_2`. Where fewer are made, those that are
made later have lower numbers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.nodes import Node

_NAMING = frozenset({"name", "op"})
_SHOWING = frozenset(f"builtins.{name}" for name in ("print", "str", "repr", "format"))
_LOGGING = ("logging.", "tensorflow.logging.", "absl.logging.", "warnings.warn", "pprint.")
_SUMMARIES = ("summary.", "contrib.summary.", "contrib.layers.summar")
_TAGGED = frozenset("scalar histogram image audio text tensor_summary summarize_tensor".split())
_TELLING = 4  # letters, of which one name may be a part of another
_NAMES = frozenset({"name", "name_or_scope"})
_OPERATORS = {
    "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "USub": "neg", "Invert": "logicalnot",
    "BitAnd": "logicaland", "BitOr": "logicalor", "BitXor": "logicalxor", "MatMult": "matmul",
}  # fmt: skip


class OpNames:
    """Questions about names of ops."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._tracer = facts.graph
        self._op_making = facts.op_making
        self._afterwards = facts.afterwards

    def shown_placeholder(self) -> Obstacle | None:
        """What shows the name of a placeholder that has its name from TensorFlow."""
        for kind in (ast.Attribute, ast.Call, ast.BinOp, ast.FormattedValue):
            for node in self._source.all(kind):
                named = self._named(node) or self._collected(node)
                for value in (part for one in named for part in _parts(self._tracer.trace(one))):
                    if value.symbol == "placeholder" and not _has_name(value.expr):
                        return _seen(node, "shows the name of a placeholder, which has a number")
        return None

    def _collected(self, node: ast.AST) -> list[ast.expr]:
        """What goes into a collection of the graph, which knows it by its name."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return []
        return list(node.args[1:]) if node.func.attr.startswith("add_to_collection") else []

    def shown(self, statement: ast.stmt, expr: ast.expr | None = None) -> Obstacle | None:
        """What shows, or keeps, the name of an op that is made in a statement or after it.

        With `expr` also what may be called as the ops that this expression makes are.
        """
        nodes = self._afterwards.rest(statement).nodes
        made = set(nodes)
        for node in nodes:
            for value in self._named(node):
                if self._op_making.is_tensor(value) and self._tracer.trace(value).expr in made:
                    return _seen(node, "shows the name of an op, which has a number")
            if isinstance(node, ast.Call) and self._keeps_a_scope(node):
                return _seen(node, "makes a variable, whose name has the number of its scope")
        return self._named_alike(nodes, expr) if expr is not None else None

    def _named_alike(self, nodes: list[ast.AST], expr: ast.expr) -> Obstacle | None:
        """A summary or a variable whose name gets a number after that of the ops of its name."""
        words: set[str] | None = None
        for node in nodes:
            name = self._kept_name(node) if isinstance(node, ast.Call) else None
            if name is None:
                continue
            words = self._words(expr) if words is None else words
            if name == "" or any(_alike(_plain(name), word) for word in words):
                what = "keeps the name of a summary or a variable, which may get another number"
                return _seen(node, what)
        return None

    def _kept_name(self, call: ast.Call) -> str | None:
        """The name in a checkpoint or an event file that a call asks for; empty where not told."""
        symbol = self._names.tf(call.func)
        if symbol is None:
            return None
        last = symbol.rpartition(".")[2]
        if symbol.startswith(_SUMMARIES) and last in _TAGGED:
            at, default = 0, None
        elif symbol == "Variable":
            at, default = 4, "Variable"
        elif symbol in ("get_variable", "variable_scope"):
            at, default = 0, None
        else:
            return None
        if any(isinstance(one, ast.Starred) for one in call.args):
            return ""
        named = [one.value for one in call.keywords if one.arg in _NAMES]
        given = [*named, *call.args[at : at + 1]]
        if not given:
            return default
        return given[0].value if _is_text(given[0]) else ""  # type: ignore[attr-defined]

    def _words(self, expr: ast.expr) -> set[str]:
        """What the ops of an expression may be called, as far as that is seen."""
        words: set[str] = set()
        for node in self._afterwards.within(expr):
            if isinstance(node, ast.BinOp | ast.UnaryOp):
                name = type(node.op).__name__
                words.add(_OPERATORS.get(name, name.lower()))
            if not isinstance(node, ast.Call):
                continue
            words |= {
                _plain(one.value)
                for one in (*node.args, *(keyword.value for keyword in node.keywords))
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            symbol = self._op_making.symbol(node)
            effect = effect_of(symbol) if symbol else None
            words |= {_plain(symbol.rpartition(".")[2])}
            words |= {_plain(effect.op)} if effect is not None and effect.op else set()
        return {word for word in words if word}

    def _named(self, node: ast.AST) -> list[ast.expr]:
        """The values whose name a piece of code gets."""
        match node:
            case ast.Attribute(value=value, attr=attribute) if attribute in _NAMING:
                return [value]
            case ast.Call(func=func, args=arguments) if self._shows(func):
                return list(arguments)
            case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="format"), args=arguments):
                return list(arguments)
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
                return value.elts if isinstance(value, ast.Tuple) else [value]
            case ast.FormattedValue(value=value):
                return [value]
        return []

    def _shows(self, func: ast.expr) -> bool:
        path = self._names.dotted(func) or ""
        return path in _SHOWING or path.startswith(_LOGGING)

    def _keeps_a_scope(self, call: ast.Call) -> bool:
        """Whether a call makes a variable under a scope that only gives names."""
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol) if symbol is not None else None
        if effect is None or not effect.creates:
            return False
        managers = [
            item.context_expr
            for outer in self._source.ancestors(call)
            if isinstance(outer, ast.With)
            for item in outer.items
        ]
        return any(
            isinstance(one, ast.Call) and self._names.tf(one.func) == "name_scope"
            for one in managers
        )


def _has_name(maker: ast.AST | None) -> bool:
    if not isinstance(maker, ast.Call):
        return False
    return len(maker.args) > 2 or any(keyword.arg == "name" for keyword in maker.keywords)


def _parts(value: Node) -> list[Node]:
    """A value, or what a list, tuple or dict of values holds."""
    stack, found = [value], []
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.kind in (Kind.STRUCTURE, Kind.CHOICE):
            stack += node.values
        else:
            found.append(node)
    return found


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _plain(name: str) -> str:
    """A name without its scopes and its number, as TensorFlow compares them."""
    last = name.rstrip("/").rpartition("/")[2]
    return last.rstrip("0123456789").replace("_", "").lower()


def _alike(name: str, word: str) -> bool:
    """Whether an op may be called so: `Mean` is made by `reduce_mean`."""
    shorter, longer = sorted((name, word), key=len)
    return name == word or (len(shorter) >= _TELLING and shorter in longer)


def _seen(node: ast.AST, what: str) -> Obstacle:
    return Obstacle("graph-read", f"line {getattr(node, 'lineno', 0)} {what}")
