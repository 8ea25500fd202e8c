"""Whether what a pipeline reads is changed while it is read: files, and arrays in memory."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.dataset_calls import FILE_SOURCES, SELF_PREFETCHING, functions_given
from tfrewrite.analysis.dataset_uses import Consumer, Taking
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.python_calls import CallEffect, effect_of_method, effect_of_path
from tfrewrite.analysis.stages import Lost, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.element_code import ElementCode
    from tfrewrite.analysis.flow import Flow
    from tfrewrite.analysis.names import Names
    from tfrewrite.analysis.own_calls import OwnCalls
    from tfrewrite.analysis.scopes import Scopes
    from tfrewrite.analysis.source import Source

_WRITERS = frozenset(
    [
        "io.TFRecordWriter",
        "python_io.TFRecordWriter",
        "data.experimental.TFRecordWriter",
        "io.write_file",
        "write_file",
        "io.gfile.GFile",
        "gfile.GFile",
        "gfile.Open",
        "gfile.FastGFile",
    ]
)
_IN_MEMORY = frozenset({"from_tensors", "from_tensor_slices"})


class ChangedSources:
    """Looks for changes that reading ahead would miss."""

    def __init__(
        self,
        source: Source,
        scopes: Scopes,
        names: Names,
        flow: Flow,
        own: OwnCalls,
        code: ElementCode,
    ) -> None:
        self._source = source
        self._scopes = scopes
        self._names = names
        self._flow = flow
        self._own = own
        self._code = code

    def obstacle(self, consumer: Consumer, parts: list[Stage | Lost]) -> Obstacle | None:
        """What is read, and written while it is."""
        known = [part for part in parts if isinstance(part, Stage)]
        return self._arrays(consumer, known) or self._files(consumer, known)

    # Arrays

    def _arrays(self, consumer: Consumer, parts: list[Stage]) -> Obstacle | None:
        """Measured: on 1.15 an eager dataset looks into the array itself, and sees its changes."""
        if consumer.taking is Taking.GRAPH:
            return None
        for part in parts:
            if part.name in _IN_MEMORY:
                for argument in part.making.args:
                    for use in self._uses(argument):
                        if self._changes(use) and self._while_taking(use, consumer):
                            text = self._source.segment(use)
                            message = f"line {use.lineno} changes `{text}` while it is read"
                            return Obstacle("source-changes", message)
        return None

    def _uses(self, argument: ast.expr) -> Iterator[ast.Name]:
        for node in ast.walk(argument):
            if isinstance(node, ast.Name) and self._names.dotted(node) is None:
                for binding in self._flow.reaching(node):
                    yield from self._own.uses(binding)

    def _changes(self, use: ast.Name) -> bool:
        """Whether a use changes an array in place."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return not isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Call):
            path = self._names.dotted(parent.func)
            return path is not None and effect_of_path(path) is CallEffect.MUTATES
        if isinstance(parent, ast.Attribute) and parent.attr not in ("pop", "get", "update"):
            called = isinstance(self._source.parent(parent), ast.Call)
            return called and effect_of_method(parent.attr) is CallEffect.MUTATES
        return False

    # Files

    def _files(self, consumer: Consumer, parts: list[Stage]) -> Obstacle | None:
        words = set().union(*(self._words(path) for path in self._paths(parts)))
        if not words:
            return None
        for call in self._writers():
            path = call.args[0] if call.args else None
            if (
                path is not None
                and self._words(path) & words
                and self._while_taking(call, consumer)
            ):
                message = f"line {call.lineno} writes files that the pipeline may still be reading"
                return Obstacle("source-changes", message)
        return None

    def _paths(self, parts: list[Stage]) -> Iterator[ast.expr]:
        """What the names of the files that are read come from."""
        in_functions = any(
            self._code.reads_files(func) for part in parts for func in functions_given(part)
        )
        for part in parts:
            read = in_functions or part.name in FILE_SOURCES | SELF_PREFETCHING
            if read and not functions_given(part):
                yield from part.making.args[:1]
                for keyword in part.making.keywords:
                    if keyword.arg in ("filenames", "file_pattern", "tensors"):
                        yield keyword.value

    def _writers(self) -> Iterator[ast.Call]:
        for node in self._source.all(ast.Call):
            symbol = self._names.tf(node.func)
            if symbol in _WRITERS or self._names.dotted(node.func) == "builtins.open":
                mode = "w" if symbol is not None and "Writer" in symbol else _mode(node)
                if symbol in ("io.write_file", "write_file") or set(mode) & set("wax+"):
                    yield node

    def _words(self, path: ast.expr) -> set[object]:
        """The names and strings that a path is made of, through what they are bound to."""
        found: set[object] = set()
        stack: list[ast.AST] = [path]
        while stack:
            for node in ast.walk(stack.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
                elif isinstance(node, ast.Name) and node.id not in found:
                    bindings = self._scopes.bindings(node)
                    if bindings and self._names.dotted(node) is None:
                        found.add(node.id)
                        stack += [b.value for b in bindings if b.value is not None]
        return found

    # When

    def _while_taking(self, change: ast.expr, consumer: Consumer) -> bool:
        """Whether something happens in a loop that also takes elements."""
        taking = set(self._loops(consumer.node))
        if isinstance(consumer.node, (ast.For, ast.AsyncFor)):
            taking.add(consumer.node)
        function = self._source.function(change)
        if function is not None and function is not self._source.function(consumer.node):
            return any(
                isinstance(node, ast.Call) and function in (self._code.bodies(node.func) or ())
                for loop in taking
                for node in ast.walk(loop)
            )
        if consumer.taking in (Taking.GRAPH, Taking.ITERATOR):
            return self._source.span(change) > self._source.span(consumer.expr)
        return any(loop in taking for loop in self._loops(change)) or self._used_in(change, taking)

    def _used_in(self, change: ast.expr, loops: set[ast.AST]) -> bool:
        """Whether what a call opens is used in one of some loops."""
        names = {
            target.id
            for target in ast.walk(self._source.statement(change))
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
        }
        return isinstance(change, ast.Call) and any(
            isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
            for loop in loops
            for node in ast.walk(loop)
        )

    def _loops(self, node: ast.AST) -> Iterator[ast.AST]:
        for outer in self._flow.enclosing(node):
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
                yield outer


def _mode(call: ast.Call) -> str:
    given = [k.value for k in call.keywords if k.arg == "mode"] or call.args[1:2]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else "w"
