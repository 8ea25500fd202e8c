"""Reads of tensors for Python, `float(loss)` and `loss.numpy()`, that a loop makes in each turn.

What a tensor holds never changes, so that it may be read later, as long as it is the same tensor
and reading it cannot fail. A variable is not read later: it changes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Tensor, Thing
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.turns import in_most_turns, turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.flow import Loop
    from tfrewrite.analysis.program.scopes import Binding

_MOST_KEPT = 10_000
_NAMES_OF_READ = 3  # `value = float(loss)`


@dataclass(frozen=True, eq=False)
class Read:
    """A read, and the tensor that is read."""

    expr: ast.Call
    tensor: ast.expr
    statement: ast.stmt
    loop: Loop


@dataclass(frozen=True, eq=False)
class Deferred:
    """A read whose value has a name that only one `if` of the same turn looks at."""

    read: Read
    name: str
    block: ast.If
    place: ast.stmt
    """The statement of the block before which it is read."""
    moves: bool
    """Whether the tensor has a name of its own that is still the same there."""


@dataclass(frozen=True, eq=False)
class Collected:
    """A read whose values go into a list that is looked at after the loop."""

    read: Read
    name: str
    after: ast.stmt
    """The statement behind the loop."""


class HostReads:
    """Finds the reads that could be made later."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._hoisting = facts.hoisting
        self._values = facts.eager_values
        self._scalars = facts.scalar_tensors
        self._steps = facts.step_functions
        self._compiled = facts.compiled_functions

    def all(self) -> Iterator[Read]:
        """Every read that makes up a statement's value in each turn of a loop."""
        for call in sorted(self._source.all(ast.Call), key=self._source.span):
            tensor = self._tensor(call)
            statement = self._source.statement(call)
            loop = self._flow.loop(call)
            if tensor is None or loop is None or self._steps.is_traced(call):
                continue
            if isinstance(self._scopes.of(statement).node, ast.ClassDef):
                continue
            if in_most_turns(self._flow, call, loop):
                yield Read(call, tensor, statement, loop)

    def fate(self, read: Read) -> Deferred | Collected | Obstacle | None:
        """Where a read can be made instead; None where its value is needed at once."""
        return self._fate(read) if self._is_of_tensorflow(read) else None

    def _fate(self, read: Read) -> Deferred | Collected | Obstacle | None:
        parent = self._source.parent(read.expr)
        match parent:
            case ast.Assign(targets=[ast.Name() as target]) if parent is read.statement:
                return self._deferred(read, target)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
                message = f"`{name}` is summed in each turn, in the order and type of its terms"
                return Obstacle("summed", message)
            case ast.Call(func=ast.Attribute(value=ast.Name() as values, attr="append")):
                if self._source.parent(parent) is read.statement and not parent.keywords:
                    return self._collected(read, values)
        return None

    # The read

    def _tensor(self, call: ast.Call) -> ast.expr | None:
        """What a call reads for Python, if it does; never a part of a larger read."""
        found = self._read_by(call)
        outer = self._source.parent(call)
        if isinstance(outer, ast.Attribute):
            outer = self._source.parent(outer)
        if found is None or (isinstance(outer, ast.Call) and self._read_by(outer) is not None):
            return None
        return found

    def _read_by(self, call: ast.Call) -> ast.expr | None:
        if call.keywords:
            return None
        if self._names.dotted(call.func) == "builtins.float" and len(call.args) == 1:
            inner = call.args[0]
            read = self._read_by(inner) if isinstance(inner, ast.Call) else None
            return read if read is not None else inner
        if not isinstance(call.func, ast.Attribute) or call.args:
            return None
        if self._names.dotted(call.func) is not None:
            return None
        owner = call.func.value
        if call.func.attr == "item" and isinstance(owner, ast.Call):
            return self._read_by(owner)
        return owner if call.func.attr == "numpy" else None

    def _is_of_tensorflow(self, read: Read) -> bool:
        """Whether it is a tensor or the like that is read, and not a text or another number."""
        plain = isinstance(read.expr.func, ast.Name) and read.expr.args[0] is read.tensor
        if not plain or self._scalars.surely(read.tensor):
            return True
        found = self._values.value(read.tensor)
        return isinstance(found, Thing) or (isinstance(found, Tensor) and not found.array)

    def _unsure(self, read: Read, *, arrays: bool) -> Obstacle | None:
        """Why a tensor may be no tensor, or reading it may fail; `arrays` may be read whole."""
        if self._scalars.surely(read.tensor):
            return None
        func = read.expr.func
        whole = arrays and isinstance(func, ast.Attribute) and func.attr == "numpy"
        if whole and self._is_computed(read.tensor):
            return None
        text = self._source.in_one_line(read.tensor)
        message = f"it is not known that `{text}` is a tensor, which stays what it is"
        if whole:
            return Obstacle("tensor-unknown", message)
        return Obstacle("tensor-unknown", f"{message}, and of one number")

    def _is_shared(self, name: ast.Name) -> bool:
        """Whether a name is one of another function, or handed out by the module."""
        home = self._scopes.of(name)
        public = home is self._scopes.module and "__all__" in home.bindings
        return public or home.owner(name.id) is not home

    def _is_computed(self, expr: ast.expr) -> bool:
        """Whether a value is surely what an op gave.

        It may be a variable where it is handed through: `tf.cast` gives back a variable that has
        the type already.
        """
        if isinstance(expr, ast.Name):
            bindings = self._flow.reaching(expr)
            return bool(bindings) and all(self._binds_computed(one) for one in bindings)
        found = self._values.value(expr)
        if not isinstance(found, Tensor) or found.nest or found.array:
            return False
        if isinstance(expr, (ast.BinOp, ast.UnaryOp)):
            return True
        if not isinstance(expr, ast.Call):
            return False
        symbol = self._names.tf(expr.func)
        effect = effect_of(symbol, "2") if symbol is not None else None
        if effect is not None:
            return effect.op is not None and effect.pure
        return self._runs_compiled(expr)

    def _binds_computed(self, binding: Binding) -> bool:
        value = binding.value
        if binding.how is How.UNPACK:
            # What a trace gives back are tensors, whatever it is in the function.
            tensors = isinstance(value, ast.Call) and self._runs_compiled(value)
            return tensors and isinstance(self._values.bound(binding), Tensor)
        plain = binding.how is How.ASSIGN and value is not None and not isinstance(value, ast.Name)
        return plain and value is not None and self._is_computed(value)

    def _runs_compiled(self, call: ast.Call) -> bool:
        return self._compiled.runs(call) is not None and not self._compiled.eager

    # Looked at in an `if`

    def _deferred(self, read: Read, target: ast.Name) -> Deferred | Obstacle | None:
        bound = self._own.bindings_at(target)
        if len(bound) != 1:
            return None
        binding = bound[0]
        seen = [use for use in self._scopes.uses(target) if binding in self._flow.reaching(use)]
        block = self._only_block(read, seen)
        if block is None or any(self._flow.reaching(use) != [binding] for use in seen):
            return None
        if self._is_shared(target):
            return None
        if any(one.how in (How.AUGMENT, How.OTHER) for one in self._scopes.bindings(target)):
            return None
        return self._unsure(read, arrays=True) or Deferred(
            read,
            target.id,
            block,
            self._place(read, target.id, block),
            self._is_same_at(read, block),
        )

    def _only_block(self, read: Read, uses: list[ast.Name]) -> ast.If | None:
        """The `if` behind a statement in whose body all uses of its value stand."""
        block, index = self._source.position(read.statement)
        home = self._source.function(read.statement)
        if not uses or any(self._source.function(use) is not home for use in uses):
            return None
        for later in block[index + 1 :]:
            if isinstance(later, ast.If) and all(
                any(one in later.body for one in (self._source.statement(use), *self._around(use)))
                for use in uses
            ):
                return later
        return None

    def _place(self, read: Read, name: str, block: ast.If) -> ast.stmt:
        """Where a block may begin with one more read: behind those that it begins with."""
        own = {one.id for one in ast.walk(read.tensor) if isinstance(one, ast.Name)}
        for statement in block.body:
            value = statement.value if isinstance(statement, ast.Assign) else None
            first = isinstance(value, ast.Call) and self._read_by(value) is not None
            names = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
            stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
            if not first or stored & own or name in {one.id for one in names}:
                return statement
            if len(names) > _NAMES_OF_READ:
                return statement
        return block.body[0]

    def _around(self, use: ast.Name) -> list[ast.stmt]:
        return [one for one in self._source.ancestors(use) if isinstance(one, ast.stmt)]

    def _is_same_at(self, read: Read, block: ast.If) -> bool:
        """Whether the name of a tensor still stands for it at the beginning of a block."""
        if not isinstance(read.tensor, ast.Name):
            return False
        statements, index = self._source.position(read.statement)
        _, last = self._source.position(block)
        between = [*statements[index + 1 : last], block.test]
        home = self._source.function(read.statement)
        for binding in self._scopes.bindings(read.tensor):
            node = binding.node
            if node is read.statement:
                continue
            if not isinstance(node, ast.arg) and self._source.function(node) is not home:
                return False
            if any(one is node or one in self._source.ancestors(node) for one in between):
                return False
        return True

    # Collected in a list

    def _collected(self, read: Read, values: ast.Name) -> Collected | Obstacle | None:
        bindings = self._scopes.bindings(values)
        made = bindings[0] if len(bindings) == 1 else None
        if made is None or not _is_new_list(made) or self._is_shared(values):
            return None
        after = self._behind_loop(read, made.node, values)
        if after is None:
            return None
        return (
            self._unsure(read, arrays=False)
            or self._too_many(read, made.node)
            or Collected(read, values.id, after)
        )

    def _behind_loop(self, read: Read, made: ast.AST, values: ast.Name) -> ast.stmt | None:
        """What follows the loop that fills a list, where the list is looked at only then."""
        assert isinstance(made, ast.stmt)
        block, index = self._source.position(made)
        around = list(self._source.ancestors(read.statement))
        outer = next((one for one in block[index + 1 :] if one in around), None)
        if not isinstance(outer, (ast.For, ast.While)) or read.loop not in (outer, *around):
            return None
        home = self._source.function(made)
        rest = block[block.index(outer) + 1 :]
        uses = [use for use in self._scopes.uses(values) if use is not values]
        later = all(
            self._source.function(use) is home
            and any(one in rest for one in (self._source.statement(use), *self._around(use)))
            for use in uses
        )
        inside = self._source.function(read.statement) is home
        return rest[0] if uses and rest and later and inside else None

    def _too_many(self, read: Read, made: ast.AST) -> Obstacle | None:
        """Whether more tensors than a few would be kept."""
        loops = self._hoisting.loops(read.statement)
        around = set(self._hoisting.loops(made))
        filling = [one for one in loops if one not in around]
        if turns(filling) <= _MOST_KEPT:
            return None
        if around and len(filling) == 1 and isinstance(filling[0], ast.For):
            return None  # one epoch
        message = "all tensors of the loop would be kept, and it is not known how many these are"
        return Obstacle("keeps-many", message)


def _is_new_list(binding: Binding) -> bool:
    statement = binding.node
    return (
        binding.how is How.ASSIGN
        and isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(binding.value, ast.List)
        and not binding.value.elts
    )
