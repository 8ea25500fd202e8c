"""Whether what a pipeline reads is changed while it is read: files, and arrays in memory."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.effects import gives_tensor
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.dataset_calls import (
    FILE_SOURCES,
    SELF_PREFETCHING,
    functions_given,
)
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, Taking
from tfrewrite.analysis.pipelines.stages import Lost, Stage
from tfrewrite.analysis.program.catching import is_generator
from tfrewrite.analysis.program.ownership import is_number
from tfrewrite.analysis.program.python_calls import (
    SET_IN_ARRAYS,
    CallEffect,
    effect_of_method,
    effect_of_path,
    writes_to_argument,
)
from tfrewrite.analysis.program.scopes import Binding, How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_WRITERS = frozenset(
    "io.TFRecordWriter python_io.TFRecordWriter data.experimental.TFRecordWriter io.write_file"
    " write_file io.gfile.GFile gfile.GFile gfile.Open gfile.FastGFile".split()
)
_HARMLESS_ROOTS = frozenset({"tensorflow", "builtins", "time", "logging"})
_WRITING_METHODS = frozenset(
    "shuffle fill sort partition put itemset resize at setfield byteswap __setitem__".split()
)
_OPERATORS = frozenset(
    f"__i{name}__" for name in "add sub mul truediv floordiv mod pow and or xor matmul".split()
)
_WRITING_PATHS = frozenset(
    ["write_text", "write_bytes", "unlink", "rename", "replace", "touch", "open", "symlink_to"]
)
_IN_MEMORY = frozenset({"from_tensors", "from_tensor_slices"})


class ChangedSources:
    """Looks for changes that reading ahead would miss."""

    def __init__(self, facts: Facts) -> None:
        self._owned = facts.ownership
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._code = facts.element_code
        self._classes = facts.classes
        self._values = facts.eager_values

    def obstacle(self, consumer: Consumer, parts: list[Stage | Lost]) -> Obstacle | None:
        """What is read, and written while it is."""
        known = [part for part in parts if isinstance(part, Stage)]
        return (
            self._arrays(consumer, known)
            or self._files(consumer, known)
            or self._changed_meanwhile(consumer, known)
        )

    def _changed_meanwhile(self, consumer: Consumer, parts: list[Stage]) -> Obstacle | None:
        """Any change in place, or of files, in the loops that take the elements."""
        eager = consumer.taking is not Taking.GRAPH
        arrays = eager and any(part.name in _IN_MEMORY for part in parts)
        files = any(True for _ in self._paths(parts))
        read = self._arrays_read(parts)
        own = {consumer.node}
        for root in (consumer.expr, *(part.call for part in parts)):
            own |= set(ast.walk(root))  # what makes the pipeline does not write to it
        for part in parts:
            for func in functions_given(part):
                for body in self._code.bodies(func) or ():
                    own |= set(ast.walk(body))
        for node in self._in_loops(consumer):
            if node in own:
                continue
            if arrays and (self._writes_in_place(node) or self._lends(node, read)):
                message = f"line {getattr(node, 'lineno', 0)} may change an array that is read"
                return Obstacle("source-changes", message)
            if files and isinstance(node, ast.Call):
                path = self._names.dotted(node.func) or ""
                library = path.partition(".")[0]
                if library in ("os", "shutil", "subprocess") and not path.startswith("os.path."):
                    message = f"line {node.lineno} may change files that are read"
                    return Obstacle("source-changes", message)
                writes = path == "builtins.open" and bool(set(_mode(node)) & set("wax+"))
                if (writes or library not in _HARMLESS_ROOTS) and (
                    self._shares_words(node, parts) or self._names_like(node, parts)
                ):
                    message = f"line {node.lineno} may write files that are read"
                    return Obstacle("source-changes", message)
        return None

    def _in_loops(self, consumer: Consumer) -> Iterator[ast.AST]:
        """All that may run while elements are taken, also in functions of the file.

        A function may be run by another name, by an object, or by somebody whom it was given to:
        each that is so much as named there is taken to run.
        """
        loops = [
            outer
            for outer in (consumer.node, *self._flow.enclosing(consumer.node))
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While))
        ]
        stack: list[ast.AST] = [*loops[-1:]] or [self._source.statement(consumer.node)]
        if consumer.taking in (Taking.ITERATOR, Taking.GRAPH):
            block, index = self._source.position(self._source.statement(consumer.node))
            stack += block[index + 1 :]
        seen: set[ast.AST] = set()
        while stack:
            for node in ast.walk(stack.pop()):
                if node in seen:
                    continue
                seen.add(node)
                yield node
                name = getattr(node, "id", getattr(node, "attr", ""))
                if name and isinstance(getattr(node, "ctx", None), ast.Load):
                    stack += self._code_under.get(name, [])

    @cached_property
    def _code_under(self) -> dict[str, list[ast.AST]]:
        """The functions and classes that a name may lead to, be it by another name."""
        found: dict[str, list[ast.AST]] = {}
        for function in self._source.all(ast.FunctionDef):
            found.setdefault(function.name, []).append(function)
        for cls in self._source.all(ast.ClassDef):
            found.setdefault(cls.name, []).append(cls)
        for assignment in self._source.all(ast.Assign):
            for target in assignment.targets:
                name = getattr(target, "id", getattr(target, "attr", ""))
                if name:
                    found.setdefault(name, []).extend(self._code_in(assignment.value))
        return found

    def _code_in(self, value: ast.expr) -> Iterator[ast.AST]:
        """The functions that a value holds, and the classes that it is an object of."""
        for node in ast.walk(value):
            if isinstance(node, ast.Lambda):
                yield node
            elif isinstance(node, ast.Name):
                call = self._source.parent(node)
                called = isinstance(call, ast.Call) and call.func is node
                for binding in self._scopes.bindings(node):
                    function = isinstance(binding.node, ast.FunctionDef) and (
                        not called or is_generator(binding.node, self._source)
                    )
                    if function or isinstance(binding.node, ast.ClassDef):
                        yield binding.node

    def _lends(self, node: ast.AST, arrays: frozenset[Binding]) -> bool:
        """Whether an array that is read is given to a function that is not known."""
        if not isinstance(node, ast.Call) or self._own.function(node) is not None:
            return False
        path = self._names.dotted(node.func)
        if path is not None and path.startswith(("tensorflow.", "builtins.")):
            return False
        if path is not None and effect_of_path(path) in (CallEffect.PURE, CallEffect.HOST):
            return writes_to_argument(node, path)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return any(
            isinstance(use, ast.Name) and not arrays.isdisjoint(self._flow.reaching(use))
            for one in given
            for use in ast.walk(one)
        )

    def _arrays_read(self, parts: list[Stage]) -> frozenset[Binding]:
        """What bound the names of the arrays that a pipeline reads."""
        return frozenset(
            binding
            for part in parts
            if part.name in _IN_MEMORY
            for argument in part.making.args
            for use in ast.walk(argument)
            if isinstance(use, ast.Name) and self._names.dotted(use) is None
            for binding in self._flow.reaching(use)
        )

    def _writes_in_place(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return not (isinstance(node.value, ast.Name) and self._owned.alone(node.value))
        if isinstance(node, ast.AugAssign):
            return not self._is_no_array(node.target)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            of_self = isinstance(node.value, ast.Name) and self._classes.of_self(node.value)
            return node.attr in SET_IN_ARRAYS and not of_self
        if isinstance(node, ast.Call):
            path = self._names.dotted(node.func)
            method = self._method(node.func)
            of_object = path is None or path.startswith("numpy.")
            named = of_object and (method in _WRITING_METHODS or method in _OPERATORS)
            return named or any(keyword.arg == "out" for keyword in node.keywords)
        return False

    def _method(self, func: ast.expr) -> str:
        """The name of the method that is called, also where that is a text."""
        if isinstance(func, ast.Call) and self._names.dotted(func.func) == "builtins.getattr":
            text = func.args[1] if len(func.args) > 1 else None
            return str(text.value) if isinstance(text, ast.Constant) else ""
        return func.attr if isinstance(func, ast.Attribute) else ""

    def _shares_words(self, call: ast.Call, parts: list[Stage]) -> bool:
        words = set().union(*(self._words(path) for path in self._paths(parts)))
        return any(
            getattr(node, "id", getattr(node, "value", None)) in words
            for argument in call.args
            for node in ast.walk(argument)
            if isinstance(node, ast.Name)
            or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        )

    def _is_no_array(self, target: ast.expr) -> bool:
        """Whether a variable starts as a number, a text or a tensor: `total, correct = 0, 0.`"""
        if isinstance(target, ast.Attribute):
            return self._counts(target)
        if not isinstance(target, ast.Name):
            return False
        if self._owned.number(target):
            return True
        bindings = self._begun_by(target)
        return bool(bindings) and all(
            _unpacks_number(binding)
            or (binding.how is How.ASSIGN and self._cannot_change(binding.value))
            for binding in bindings
        )

    def _begun_by(self, name: ast.Name) -> list[Binding]:
        """What gives a variable its value, before operators change it as in `x *= 2; x += 1`."""
        found: list[Binding] = []
        seen: set[ast.AST] = set()
        stack = [name]
        while stack:
            for binding in self._flow.reaching(stack.pop()):
                if binding.how is not How.AUGMENT:
                    found.append(binding)
                elif binding.node not in seen:
                    seen.add(binding.node)
                    target = getattr(binding.node, "target", None)
                    if not isinstance(target, ast.Name):
                        return []
                    stack.append(target)
        return found

    def _counts(self, target: ast.Attribute) -> bool:
        """Whether an attribute of the file's own object only ever is a number: `self.step += 1`."""
        owner = target.value
        cls = self._classes.of_self(owner) if isinstance(owner, ast.Name) else None
        if cls is None:
            return False
        bound = self._values.members.stores(target.attr)
        stored = [self._source.parent(one) for one in bound]
        family = self._values.members.family(cls) or ()
        return (
            any(isinstance(one, ast.Assign) for one in stored)
            and all(
                isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign))
                and one.value is not None
                and is_number(one.value)
                for one in stored
            )
            and all(
                isinstance(one.value, ast.Name) and self._classes.of_self(one.value) in family
                for one in bound
            )
        )

    def _cannot_change(self, value: ast.expr | None) -> bool:
        """Whether a value is a text, or what an op or a loss of TensorFlow gives."""
        if isinstance(value, ast.BinOp):
            sides = [one for one in (value.left, value.right) if isinstance(one, ast.Call)]
            if any(self._cannot_change(one) for one in sides):
                return True
            value = value.left if isinstance(value.op, ast.Mod) else None
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.JoinedStr) or (
                isinstance(value, ast.Constant) and isinstance(value.value, str)
            )
        symbol = self._names.tf(value.func)
        if symbol is None:
            return self._is_loss(value.func) or self._is_given_by_layer(value)
        return gives_tensor(symbol)

    def _is_given_by_layer(self, call: ast.Call) -> bool:
        """Whether a call is of a layer or model of Keras: `x = self.embedding(x)`."""
        found = self._values.value(call.func)
        return isinstance(found, Thing) and found.kind in ("layer", "model") and not found.code

    def _is_loss(self, func: ast.expr) -> bool:
        """Whether a call is of a loss object: `mse = tf.keras.losses.MeanSquaredError()`."""
        bindings = self._scopes.bindings(func) if isinstance(func, ast.Name) else []
        made = bindings[0].value if len(bindings) == 1 else None
        symbol = self._names.tf(made.func) if isinstance(made, ast.Call) else None
        return (
            symbol is not None
            and bindings[0].how is How.ASSIGN
            and symbol.startswith("keras.losses.")
            and symbol.rpartition(".")[2][0].isupper()
        )

    def _names_like(self, call: ast.Call, parts: list[Stage]) -> bool:
        """Whether a call is given a file's name that begins as the names of those that are read."""
        paths = list(self._paths(parts))
        method = call.func if isinstance(call.func, ast.Attribute) else None
        if method is not None and method.attr in _WRITING_PATHS:
            names = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
            if any(self._words(path) & names for path in paths):
                return True
        read = {_beginning(text) for path in paths for text in self._texts(path)}
        return any(
            text and (begins.startswith(_beginning(text)) or _beginning(text).startswith(begins))
            for argument in call.args
            for text in self._texts(argument)
            for begins in read
        )

    def _texts(self, expr: ast.expr) -> set[str]:
        """The strings that a value is made of, where it is put together in the file."""
        found: set[str] = set()
        seen: set[str] = set()
        stack: list[ast.AST] = [expr]
        while stack:
            for node in ast.walk(stack.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
                elif isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    stack += [
                        binding.value
                        for binding in self._scopes.bindings(node)
                        if binding.how is How.ASSIGN and binding.value is not None
                    ]
        return found

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
            for func in functions_given(part):
                yield from self._code.files_read(func)
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
        statement = self._source.statement(change)
        opened: list[ast.AST] = [statement]
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            opened = [item for item in statement.items if change in ast.walk(item.context_expr)]
        names = {
            target.id
            for part in opened
            for target in ast.walk(part)
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


def _unpacks_number(binding: Binding) -> bool:
    value = binding.value
    if binding.how is How.UNPACK and isinstance(value, ast.Tuple) and binding.index is not None:
        value = value.elts[binding.index]
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _beginning(text: str) -> str:
    """What a file's name begins with, up to the part that varies."""
    return re.split(r"[%{*?\\[]", text)[0]


def _mode(call: ast.Call) -> str:
    given = [k.value for k in call.keywords if k.arg == "mode"] or call.args[1:2]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else "w"
