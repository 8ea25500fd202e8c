"""The functions of a script that a pipeline calls, and what of them could be seen from outside.

The function of a `map` is traced once, when the `map` is called: what it does in Python happens
then, and a prefetch cannot move it. What runs for each element are its TensorFlow ops, so only
those that read or write state matter. A generator is Python that runs for each element, and
everything in it matters.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.nodes import Kind, Node
from tfrewrite.analysis.keras.pure_layers import is_pure_layer
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.dataset_calls import TRANSFORMATIONS
from tfrewrite.analysis.program.python_calls import (
    CallEffect,
    effect_of_method,
    effect_of_path,
    gives_data,
)
from tfrewrite.analysis.symbols import PYTHON_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_PYTHON_IN_GRAPH = (*PYTHON_OPS, "eager_py_func")
_READING_FILES = frozenset({"io.read_file", "read_file"})
_STATIC_TABLES = frozenset(
    [
        "StaticHashTable",
        "StaticVocabularyTable",
        "KeyValueTensorInitializer",
        "HashTable",
        "index_table_from_file",
        "index_table_from_tensor",
        "index_to_string_table_from_file",
        "index_to_string_table_from_tensor",
        "string_to_index_table_from_file",
    ]
)
_TRACE_TIME_LIBRARIES = frozenset(
    ["functools", "logging", "absl", "typing", "operator", "warnings"]
)
_DESCRIBING = frozenset({"shape", "dtype", "ndim", "rank", "dims"})
_PLAIN_GETTERS = frozenset({"get_static_value", "get_logger"})
_TENSOR_METHODS = frozenset(
    ["set_shape", "get_shape", "shape", "as_list", "with_shape", "to_tensor", "values"]
)


class ElementCode:
    """Questions about the functions that make or change the elements of a dataset."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._classes = facts.classes
        self._tracer = facts.graph
        self._own = facts.own_calls

    def bodies(self, func: ast.expr) -> list[ast.AST] | None:
        """The code of a function and of all the functions of the file that it may call.

        None where the function is not in this file.
        """
        start: ast.AST | None = func if isinstance(func, ast.Lambda) else self._own.named(func)
        if start is None and self._is_partial(func):
            assert isinstance(func, ast.Call)
            return self.bodies(func.args[0]) if func.args else None
        if start is None:
            return None
        found: list[ast.AST] = [start]
        if not self._own.is_plain(start):
            return None
        for body in found:
            for node in ast.walk(body):
                if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                    function = self._own.named(node)
                    if function is not None and function not in found:
                        if not self._own.is_plain(function):
                            return None
                        found.append(function)
        return found

    def traced(self, func: ast.expr) -> Obstacle | None:
        """What a function that is traced into the pipeline does that could be seen."""
        text = self._source.segment(func).split("\n")[0]
        symbol = self._names.tf(func)
        if symbol is not None:
            return self._symbol(symbol, text, func.lineno)
        bodies = self.bodies(func)
        if bodies is None:
            message = f"what `{text}` in line {func.lineno} does is not in this file"
            return Obstacle("function-not-seen", message)
        for body in bodies:
            for node in ast.walk(body):
                found = self._traced_node(node, bodies)
                if found is not None:
                    return found
        return None

    def calls_to(self, func: ast.expr, flag: str) -> bool:
        """Whether a traced function calls a TensorFlow symbol with some effect."""
        symbols = [self._names.tf(func)]
        for body in self.bodies(func) or ():
            symbols += [self._names.tf(n.func) for n in ast.walk(body) if isinstance(n, ast.Call)]
        effects = [effect_of(symbol) for symbol in symbols if symbol is not None]
        return any(effect is not None and flag in effect.flags for effect in effects)

    def shuffles(self, func: ast.expr) -> bool:
        """Whether a function makes datasets that are shuffled."""
        return any(
            isinstance(node, ast.Attribute) and node.attr in ("shuffle", "shuffle_and_repeat")
            for body in self.bodies(func) or ()
            for node in ast.walk(body)
        )

    def reads_files(self, func: ast.expr) -> bool:
        """Whether a traced function reads a file for each element."""
        if self._names.tf(func) in _READING_FILES:
            return True
        return any(
            isinstance(node, ast.Call) and self._names.tf(node.func) in _READING_FILES
            for body in self.bodies(func) or ()
            for node in ast.walk(body)
        )

    def files_read(self, func: ast.expr) -> Iterator[ast.expr]:
        """What a traced function makes the names of the files of that it reads."""
        for body in self.bodies(func) or ():
            for node in ast.walk(body):
                if isinstance(node, ast.Call) and self._names.tf(node.func) in _READING_FILES:
                    yield from node.args

    def is_local(self, name: ast.Name, bodies: list[ast.AST]) -> bool:
        """Whether a name belongs to one of some functions, and not to what is around them."""
        owner = self._scopes.of(name).owner(name.id)
        if owner is None:
            return False
        return any(
            owner.node is body or body in self._source.ancestors(owner.node) for body in bodies
        )

    def _is_partial(self, func: ast.expr) -> bool:
        return isinstance(func, ast.Call) and self._names.dotted(func.func) == "functools.partial"

    def _traced_node(self, node: ast.AST, bodies: list[ast.AST]) -> Obstacle | None:
        if isinstance(node, ast.Call):
            return self._traced_call(node, bodies)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            parent = self._source.parent(node)
            method = isinstance(parent, ast.Call) and parent.func is node
            if method or (isinstance(node, ast.Name) and self.is_local(node, bodies)):
                return None
            if isinstance(node, ast.Attribute) and self._describes(node, bodies):
                return None
            if self._names.dotted(node) is None and self._own.named(node) is None:
                return self._captured(node)
        return None

    def _describes(self, node: ast.Attribute, bodies: list[ast.AST]) -> bool:
        """Whether an attribute says of what kind an element is, as its shape does."""
        owner: ast.expr = node
        while isinstance(owner, ast.Attribute) and owner.attr in _DESCRIBING:
            owner = owner.value
        return (
            owner is not node
            and isinstance(owner, ast.Name)
            and self.is_local(owner, bodies)
            and self._classes.of_self(owner) is None
        )

    def _captured(self, value: ast.Name | ast.Attribute) -> Obstacle | None:
        """A value from outside: harmless, unless it is a variable whose value changes."""
        if self._may_be_variable(self._tracer.trace(value), value):
            text = self._source.segment(value)
            message = (
                f"line {value.lineno} reads `{text}` for each element, which may be a variable"
            )
            return Obstacle("reads-variable", message)
        return None

    def _may_be_variable(self, node: Node, expr: ast.expr) -> bool:
        if any(part.kind is Kind.VARIABLE for part in alternatives(node)):
            return True
        if not any(part.kind is Kind.UNKNOWN for part in alternatives(node)):
            return False
        if isinstance(expr, ast.Attribute):
            owner = self._tracer.trace(expr.value)
            if owner.kind is Kind.OBJECT:  # an optimizer's counter, a layer's weights
                return True
        bindings = self._scopes.bindings(expr) if isinstance(expr, ast.Name) else []
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.arg):
            given = self._own.given(bindings[0])
            if given is not None:
                return any(self._may_be_variable(self._tracer.trace(g), g) for g in given)
        return ".assign" in self._source.text

    def _traced_call(self, call: ast.Call, bodies: list[ast.AST]) -> Obstacle | None:
        text = self._source.segment(call.func).split("\n")[0]
        path = self._names.dotted(call.func)
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self._symbol(symbol, text, call.lineno)
        if path is not None:
            known = gives_data(path) or effect_of_path(path) is not CallEffect.UNKNOWN
            if path in ("builtins.next", "builtins.iter"):
                return Obstacle("writes-state", f"`{text}` in line {call.lineno} changes state")
            if known or path.partition(".")[0] in {*_TRACE_TIME_LIBRARIES, "builtins"}:
                return None
        elif self._is_seen(call) or self._is_harmless_method(call, bodies):
            return None
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            variable = self._captured(call.func.value)
            if variable is not None:
                return variable
        message = f"what `{text}(...)` in line {call.lineno} does is not known"
        return Obstacle("function-not-seen", message)

    def _is_seen(self, call: ast.Call) -> bool:
        """Whether a call is of a function of the file, or of a layer that only computes."""
        if self._own.function(call) is not None:
            return True
        name = call.func
        return isinstance(name, ast.Name) and is_pure_layer(self._names, self._scopes, name)

    def _is_harmless_method(self, call: ast.Call, bodies: list[ast.AST]) -> bool:
        """A method of an element, of a Python value, or of a table that never changes."""
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver = call.func.value
        root: ast.AST = receiver
        made: str | None = None
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(root, ast.Call):
                made = self._names.tf(root.func) or made
            root = root.func if isinstance(root, ast.Call) else root.value
        if isinstance(root, (ast.Constant, ast.JoinedStr)):
            return True
        if isinstance(root, ast.Name) and self.is_local(root, bodies):
            return self._classes.of_self(root) is None or self._is_plain(receiver)
        if self._is_static_table(receiver) and call.func.attr == "lookup":
            return True
        if made is not None:
            dataset = made.startswith("data.") and call.func.attr in TRANSFORMATIONS
            return dataset or call.func.attr in _TENSOR_METHODS
        return self._is_plain(receiver) and (
            effect_of_method(call.func.attr) is not CallEffect.UNKNOWN
        )

    def _is_plain(self, receiver: ast.expr) -> bool:
        kind = self._tracer.trace(receiver).kind
        return kind in (Kind.CONSTANT, Kind.STRUCTURE, Kind.OP)

    def _is_static_table(self, receiver: ast.expr) -> bool:
        values: list[ast.expr | None] = []
        if isinstance(receiver, ast.Name):
            values = [binding.value for binding in self._scopes.bindings(receiver)]
        elif isinstance(receiver, ast.Attribute) and isinstance(receiver.value, ast.Name):
            cls = self._classes.of_self(receiver.value)
            stores = self._classes.stores(cls, receiver.attr) if cls else None
            values = [store.value for store in stores or ()]
        return bool(values) and all(
            isinstance(value, ast.Call)
            and (self._names.tf(value.func) or "").rpartition(".")[2] in _STATIC_TABLES
            for value in values
        )

    def _symbol(self, symbol: str, text: str, line: int) -> Obstacle | None:
        """What running an op of TensorFlow for each element could show."""
        short = symbol.rpartition(".")[2]
        if short in _PYTHON_IN_GRAPH:
            message = f"`{text}` in line {line} runs Python code for each element"
            return Obstacle("python-in-pipeline", message)
        if symbol.startswith(("data.", "contrib.data.")):
            if short == "from_generator":
                message = f"the generator in line {line} is made anew for each element"
                return Obstacle("generator-not-seen", message)
            return None
        if short in _STATIC_TABLES or symbol in _READING_FILES:
            return None
        effect = effect_of(symbol)
        if effect is None:
            message = f"what `{text}` in line {line} does is not known"
            return Obstacle("function-not-seen", message)
        summarises = symbol.startswith("summary.")
        if summarises or ("host" in effect.flags and effect.returns_tensor):
            message = f"`{text}` in line {line} can be seen each time that it runs"
            return Obstacle("host-effect", message)
        if effect.flags & {"writes", "iterates"}:
            return Obstacle("writes-state", f"`{text}` in line {line} changes state")
        if (
            short.startswith("get_")
            and "not-tensor" in effect.flags
            and short not in _PLAIN_GETTERS
        ):
            message = f"what `{text}` in line {line} gives is not known"
            return Obstacle("function-not-seen", message)
        if effect.flags & {"reads", "creates", "collections"}:
            message = f"`{text}` in line {line} reads variables for each element"
            return Obstacle("reads-variable", message)
        return None


def alternatives(node: Node) -> Iterator[Node]:
    """What a value may be, or may hold."""
    seen: set[Node] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        yield current
        if current.kind in (Kind.CHOICE, Kind.STRUCTURE, Kind.ELEMENT):
            stack.extend(current.values)
