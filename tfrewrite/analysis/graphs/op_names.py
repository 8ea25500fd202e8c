"""Where a script shows the names of its ops.

TensorFlow numbers ops of one name: `Exp`, `Exp_1`, `Exp_2`. Where fewer are made, those that are
made later have lower numbers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.nodes import Node

_NAMING = frozenset({"name", "op"})
_SHOWING = (
    "builtins.print", "builtins.str", "builtins.repr", "builtins.format", "pprint.", "logging.",
    "tensorflow.logging.", "absl.logging.", "warnings.warn",
)  # fmt: skip
_SHOWING_METHODS = frozenset("format write debug info warning warn error critical log".split())
_SUMMARIES = ("summary.", "contrib.summary.", "contrib.layers.summar")
_TAGGED = frozenset("scalar histogram image audio text tensor_summary summarize_tensor".split())
_TELLING = 4  # letters, of which one name may be a part of another
_SCOPES = frozenset({"name", "scope", "default_name"})
_NAMES = frozenset({"name", "name_or_scope"})
_OPERATORS = {
    "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "USub": "neg", "Invert": "logicalnot",
    "BitAnd": "logicaland", "BitOr": "logicalor", "BitXor": "logicalxor", "MatMult": "matmul",
}  # fmt: skip


class OpNames:
    """Questions about names of ops."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._tracer = facts.graph
        self._op_making = facts.op_making
        self._afterwards = facts.afterwards
        self._sessions = facts.sessions
        self._handlers = facts.handlers
        self._built_values = facts.built_values

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
        for node in nodes:
            if isinstance(node, ast.Call) and self._keeps_a_scope(node):
                return _seen(node, "makes a variable, whose name has the number of its scope")
            if isinstance(node, ast.withitem) and self._shows_scope(node):
                return _seen(node.context_expr, "gets the name of a scope, which has a number")
        found = self._showing(nodes)
        if found is not None or expr is None:
            return found
        return self._named_alike(nodes, self._words(expr))

    def shown_alike(self, statement: ast.stmt, call: ast.Call) -> Obstacle | None:
        """What shows or keeps, in a statement or after it, a name like those that a call gives.

        A call that makes one op of a certain kind leaves the numbers of all others alone.
        """
        nodes = self._afterwards.rest(statement).nodes
        given = self._texts(call)
        kinds = {self._op_making.symbol(call).rpartition(".")[2], getattr(call.func, "attr", "")}
        # What is assigned was a constant of its own.
        constants = {"const"} if any(kind.startswith("assign") for kind in kinds) else set()
        found = self._showing(nodes, given | constants | {_plain(kind) for kind in kinds if kind})
        return found or (self._named_alike(nodes, given) if given else None)

    def _showing(self, nodes: list[ast.AST], alike: set[str] | None = None) -> Obstacle | None:
        """What shows the name of an op made in some code, of any or of one that is called alike."""
        made = set(nodes)
        for node in nodes:
            for value in self._named(node):
                for maker in self._makers(value):
                    if maker not in made:
                        continue
                    words = self._words(maker) if alike is not None else set()
                    if alike is None or any(_alike(one, other) for one in alike for other in words):
                        return _seen(node, "may show the name of an op, which has a number")
        return None

    def _makers(self, value: ast.expr) -> list[ast.expr]:
        """What makes the tensors that a value is or holds."""
        found: list[ast.expr] = []
        seen: set[Node] = set()
        stack = [self._tracer.trace(one) for one in self._parts(value)]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.kind in (Kind.STRUCTURE, Kind.CHOICE, Kind.ELEMENT):
                stack += node.values
            elif isinstance(node.expr, ast.expr):
                if node.kind is Kind.VARIABLE or self._op_making.makes(node.expr):
                    found.append(node.expr)
        return found

    def _parts(self, value: ast.expr) -> list[ast.expr]:
        """A value, and what the containers are made of that its name is bound to."""
        bindings = self._scopes.bindings(value) if isinstance(value, ast.Name) else []
        found = [value]
        for binding in bindings:
            match binding.value:
                case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                    found += elements
                case ast.Dict(values=elements):
                    found += elements
                case ast.ListComp(elt=element):
                    found.append(element)
        return found

    def _named_alike(self, nodes: list[ast.AST], words: set[str]) -> Obstacle | None:
        """A summary or a variable whose name gets a number after that of the ops of its name."""
        keeps = any(isinstance(node, ast.Call) and self._keeps_a_name(node) for node in nodes)
        for node in nodes if keeps else ():
            if not isinstance(node, ast.Call):
                continue
            name, scope = self._kept_name(node), self._scope_name(node)
            alike = name is not None and any(_alike(_plain(name), word) for word in words)
            if name == "" or alike or (scope is not None and _plain(scope) in words):
                what = "keeps the name of a summary or a variable, which may get another number"
                return _seen(node, what)
        return None

    def _keeps_a_name(self, call: ast.Call) -> bool:
        """Whether a call makes a summary or a variable."""
        symbol = self._names.tf(call.func)
        effect = effect_of(symbol) if symbol is not None else None
        creates = effect is not None and "creates" in effect.flags
        creates = creates or (symbol or "").startswith("keras.layers.")
        return creates or self._kept_name(call) is not None

    def _scope_name(self, call: ast.Call) -> str | None:
        """The name of a scope that variables and summaries made in it have theirs from."""
        symbol = self._names.tf(call.func) or str(getattr(call.func, "attr", ""))
        default: str | None = None
        if symbol.startswith(("metrics.", "keras.layers.")):
            default, given = symbol.rpartition(".")[2], []
        elif symbol in ("name_scope", "op_scope"):
            given = call.args[:1] if symbol == "name_scope" else call.args[1:2]
        else:
            return None
        given = [one.value for one in call.keywords if one.arg in _SCOPES] + given
        texts = [one.value for one in given if isinstance(one, ast.Constant)]
        return next((text for text in texts if isinstance(text, str)), default)

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
        return _text(given[0])

    def _words(self, expr: ast.expr) -> set[str]:
        """What the ops of an expression may be called, as far as that is seen."""
        words: set[str] = set()
        for node in self._afterwards.within(expr):
            if isinstance(node, ast.BinOp | ast.UnaryOp):
                name = type(node.op).__name__
                words.add(_OPERATORS.get(name, name.lower()))
            if not isinstance(node, ast.Call):
                continue
            words |= self._texts(node)
            symbol = self._op_making.symbol(node)
            effect = effect_of(symbol) if symbol else None
            words |= {_plain(symbol.rpartition(".")[2])}
            words |= {_plain(effect.op)} if effect is not None and effect.op else set()
        return {word for word in words if word}

    def _texts(self, call: ast.Call) -> set[str]:
        """The texts that a call is given, one of which may be a name."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        texts = [one.value for one in given if isinstance(one, ast.Constant)]
        return {_plain(text) for text in texts if isinstance(text, str)} - {""}

    def _named(self, node: ast.AST) -> list[ast.expr]:
        """The values whose name a piece of code gets."""
        run = self._sessions.runs.get(node) if isinstance(node, ast.Call) else None
        if run is not None:
            return [run.fetches] if self._handlers.reading(run.call) else []
        match node:
            case ast.Attribute(value=value, attr=attribute) if attribute in _NAMING:
                return [] if attribute == "op" and self._is_only_run(node) else [value]
            case ast.Call(func=func, args=arguments, keywords=keywords) if self._shows(func):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                return [one.value if isinstance(one, ast.Starred) else one for one in given]
            case ast.Call(func=func, args=[first, *others]):
                path = self._names.dotted(func)
                if path == "builtins.getattr":
                    return [first]
                return others if path == "builtins.map" and self._shows(first) else []
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
                return value.elts if isinstance(value, ast.Tuple) else [value]
            case ast.FormattedValue(value=value):
                return [value]
        return []

    def _is_only_run(self, operation: ast.Attribute) -> bool:
        """Whether the operation that is taken from a tensor is run, and nothing else."""
        built = self._built_values.of(operation)
        return bool(built.runs) and built.elsewhere is None

    def _shows(self, func: ast.expr) -> bool:
        """Whether a function makes a text of what it is given."""
        path = self._names.dotted(func)
        if path is not None:
            return path.startswith(_SHOWING)
        return isinstance(func, ast.Attribute) and func.attr in _SHOWING_METHODS

    def _shows_scope(self, item: ast.withitem) -> bool:
        """Whether a text is made of the name that a scope has got."""
        name, manager = item.optional_vars, item.context_expr
        func = manager.func if isinstance(manager, ast.Call) else manager
        scope = str(getattr(func, "attr", getattr(func, "id", ""))).endswith("name_scope")
        if not scope or not isinstance(name, ast.Name):
            return False
        users = map(self._source.parent, self._scopes.uses(name))
        return any(
            isinstance(user, (ast.BinOp, ast.FormattedValue))
            or (isinstance(user, ast.Call) and self._shows(user.func))
            for user in users
        )

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


def _text(value: ast.expr) -> str:
    """A text as it is written; empty where it is anything else."""
    literal = value.value if isinstance(value, ast.Constant) else ""
    return literal if isinstance(literal, str) else ""


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
