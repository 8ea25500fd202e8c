"""Whether anybody could tell that the batches of a loop are made ahead, in another thread."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.batches.batch_effects import BatchEffects
from tfrewrite.analysis.batches.feed_entries import conditions
from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.python_calls import CallEffect
from tfrewrite.analysis.symbols import PYTHON_OPS, SUMMARY_WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Their methods take arrays, and shuffle them by numpy's global stream.
_WITH_DATA = ("keras.", "estimator.", "contrib.learn.", "contrib.keras.")
_GOING_ON = frozenset({"builtins.map", "builtins.filter", "builtins.iter"})
_PASSING_ON = frozenset({"builtins.zip", "builtins.enumerate"})
_ITERATING = frozenset({"__iter__", "__next__", "__getitem__", "__len__"})


class BatchesAhead:
    """Decides it from the code of the batch and that of the rest of the loop."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._managers = facts.managers
        self._own = facts.own_calls
        self._tracer = facts.graph
        self._sessions = facts.sessions
        self._moves = facts.moves
        self._catching = facts.catching
        self._handlers = facts.handlers
        self._code = facts.batch_code
        self._data = facts.data_values
        self._pipelines = facts.running_pipelines
        self._headers = facts.loop_headers

    def effects(self, batch: FedBatch) -> BatchEffects:
        """What the code of a batch does."""
        values = dict.fromkeys(entry.value for entry in batch.entries)
        return self._code.effects([*batch.making, *values], batch.local, batch.source)

    def obstacle(self, batch: FedBatch, effects: BatchEffects) -> Obstacle | None:
        """What would show that batches are made ahead, or is not known."""
        if effects.obstacle is not None:
            return effects.obstacle
        errors = self._errors()
        if errors is not None:
            return errors
        header = self._header(batch)
        if isinstance(header, Obstacle):
            return header
        needs = [*effects.reads, *header.reads]
        return (
            self._rebound(needs, batch)
            or self._in_graph(effects)
            or self._elsewhere(batch, needs)
            or (self._writes_files(batch) if effects.files else None)
            or self._exceptions(batch)
            or (self._consumed(batch, effects) if effects.goes_on else None)
        )

    def _errors(self) -> Obstacle | None:
        """Code that says what numpy does with errors: that holds in the thread that says it."""
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func)
            if path in ("numpy.seterr", "numpy.errstate"):
                message = f"line {call.lineno} says what numpy does with errors, in one thread only"
                return Obstacle("batch-code-not-seen", message)
        return None

    # The loop's header, which the pipeline repeats

    def _header(self, batch: FedBatch) -> BatchEffects | Obstacle:
        assert isinstance(batch.loop, ast.For)
        if batch.source is not None:
            return self._made_once(batch, batch.source)
        for call in _calls_in(self._headers.beside(batch.loop.iter)):
            if self._moves.effect(call) is not CallEffect.PURE:
                what = ast.unparse(call.func)
                message = f"what `{what}` does for a bar comes when the first batches may be made"
                return Obstacle("call-between", message)
        looped = self._headers.beneath(batch.loop.iter)
        header = self._code.effects(looped, frozenset())
        text = ast.unparse(batch.loop.iter)
        called = all(isinstance(one, ast.Call) for one in looped)
        again = self._headers.is_range(batch.loop.iter) or all(map(self._data.reiterable, looped))
        if not again and not (called and header.obstacle):
            message = f"`{text}` may be something that can be gone over only once"
            return Obstacle("source-consumed", message)
        if header.obstacle is not None or header.goes_on or header.files:
            message = f"what the loop goes over, `{text}`, would be made twice"
            return Obstacle("source-consumed", message)
        return header

    def _made_once(self, batch: FedBatch, source: ast.Call) -> BatchEffects | Obstacle:
        """Whether a generator is given nothing that the loop, or the code of the batch, sets."""
        for node in ast.walk(source):
            if isinstance(node, ast.Name) and node.id in batch.local:
                message = f"`{ast.unparse(source)}` reads `{node.id}`, which the loop sets"
                return Obstacle("depends-on-loop", message)
        return BatchEffects()

    def _rebound(self, needs: list[ast.expr], batch: FedBatch) -> Obstacle | None:
        """Whether what the batch is made of gets another value while the loop runs."""
        for need in needs:
            if not isinstance(need, ast.Name):
                continue
            for binding in self._scopes.bindings(need):
                inside = batch.loop in self._source.ancestors(binding.node)
                function = self._source.function(binding.node)
                around = [*self._source.ancestors(need), *self._source.ancestors(batch.loop)]
                hidden = function is not None and function not in around
                if isinstance(binding.node, ast.arg):
                    continue
                if inside or hidden:
                    line = getattr(binding.node, "lineno", need.lineno)
                    message = f"`{need.id}` gets another value in line {line}"
                    return Obstacle("source-changes", message)
        return None

    def _in_graph(self, effects: BatchEffects) -> Obstacle | None:
        """Python that the graph runs, and so each turn of the loop."""
        for word in PYTHON_OPS:
            if word in self._source.text:
                message = f"`{word}` runs Python in the graph, which may draw or change arrays"
                return Obstacle("shared-stream" if effects.goes_on else "call-between", message)
        return None

    # The rest of the loop

    def _elsewhere(self, batch: FedBatch, needs: list[ast.expr]) -> Obstacle | None:
        """Whether the rest of the loop may change what batches are made of."""
        if _ITERATING & self._classes.magic:
            message = "a class of this file redefines how it is looped over or indexed"
            return Obstacle("call-between", message)
        leaves, calls = self._rest(batch)
        for node in (
            inner for leaf in leaves if not isinstance(leaf, ast.With) for inner in ast.walk(leaf)
        ):
            if self._resumes(node):
                line, text = getattr(node, "lineno", 0), ast.unparse(node)
                message = (
                    f"`{text}` in line {line} may go on with a generator, which may do anything"
                )
                return Obstacle("call-between", message)
        for node in leaves:
            if isinstance(node, ast.With) and not self._managers.known(node):
                message = f"it is not known what the `with` of line {node.lineno} does"
                return Obstacle("call-between", message)
        roots = {part.id for need in needs for part in ast.walk(need) if isinstance(part, ast.Name)}
        for call in self._source.ancestors(batch.run.call):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                given = {one.id for one in ast.walk(call.func) if isinstance(one, ast.Name)}
                if given & roots:
                    message = f"line {call.lineno} may change `{ast.unparse(call.func.value)}`"
                    return Obstacle("source-changes", message)
        crossed = [node for node in leaves if not isinstance(node, ast.With)]
        found = self._moves.obstacle(crossed, needs, frozenset(calls))
        if found is None:
            return None
        reason = "source-changes" if found.reason in _CHANGING else "call-between"
        return Obstacle(reason, found.message)

    def _writes_files(self, batch: FedBatch) -> Obstacle | None:
        """What in the rest of the loop may write files, of which a later batch may be made."""
        pieces, calls = self._rest(batch)
        leaves = [node for piece in pieces for node in ast.walk(piece)]
        for call in (node for node in leaves if isinstance(node, ast.Call)):
            path = self._names.dotted(call.func) or ""
            saves = path.startswith("matplotlib.") and "save" in path
            known = call in self._sessions.runs or self.looked_into(call) is not None
            if saves or (call in calls and not known and not self._is_log(call)):
                message = f"line {call.lineno} may write a file, and batches are read from files"
                return Obstacle("source-changes", message)
        return None

    def _is_log(self, call: ast.Call) -> bool:
        """Whether what an object of TensorFlow writes are events and checkpoints."""
        assert isinstance(call.func, ast.Attribute)
        symbol = self._tracer.trace(call.func.value).symbol
        return symbol in SUMMARY_WRITERS or symbol.endswith(("train.Saver", "Session"))

    def _resumes(self, node: ast.AST) -> bool:
        """Whether code of a generator, written somewhere else, may run where a node stands."""
        if isinstance(node, ast.Call):
            return self._names.dotted(node.func) == "builtins.next"
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            return False
        name = node.id if isinstance(node, ast.Name) else node.attr
        return name in self._generators and self._names.dotted(node) is None

    @cached_property
    def _generators(self) -> frozenset[str]:
        """The names and attributes of this file that stand for generators, or hold one."""
        given: list[tuple[ast.expr, ast.expr | None]] = []
        for assign in self._source.all(ast.Assign):
            given += [(target, assign.value) for target in assign.targets]
        given += [(one.target, one.value) for one in self._source.all(ast.AnnAssign)]
        given += [(one.target, one.value) for one in self._source.all(ast.NamedExpr)]
        found: set[str] = set()
        for target, value in given:
            if value is not None and self._is_generator(value):
                parts = list(ast.walk(target))
                found |= {part.id for part in parts if isinstance(part, ast.Name)}
                found |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
        return frozenset(found)

    def _is_generator(self, value: ast.expr) -> bool:
        match value:
            case ast.GeneratorExp():
                return True
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return any(map(self._is_generator, parts))
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_generator(body) or self._is_generator(orelse)
            case ast.Starred(value=inner):
                return self._is_generator(inner)
            case ast.Call(args=parts):
                path = self._names.dotted(value.func)
                if path in _GOING_ON:
                    return True
                function = self._own.function(value)
                yields = any(
                    isinstance(node, (ast.Yield, ast.YieldFrom))
                    for node in (ast.walk(function) if function is not None else ())
                )
                return yields or (path in _PASSING_ON and any(map(self._is_generator, parts)))
        return False

    def _rest(self, batch: FedBatch) -> tuple[list[ast.AST], set[ast.AST]]:
        """What else a turn evaluates, in pieces without jumps, and the calls that are passed."""
        walk = _Rest(self)
        for statement in batch.loop.body:
            if statement in batch.making and statement not in batch.copied:
                continue
            if statement in batch.filling:
                walk.pieces += conditions(statement)
                continue
            if statement is batch.filed:
                walk.pieces += [one for entry in batch.kept for one in (entry.key, entry.value)]
            elif statement is batch.statement:
                walk.run_statement(batch)
            else:
                walk.statement(statement)
        walk.follow()
        return walk.pieces, walk.calls

    def _exceptions(self, batch: FedBatch) -> Obstacle | None:
        caught = self._catching.seen(batch.statement)
        if not caught:
            return None
        message = f"{caught}: one that making a batch raises would come from the run instead"
        return Obstacle("inside-try", message)

    # What goes on with each batch

    def _consumed(self, batch: FedBatch, effects: BatchEffects) -> Obstacle | None:
        """Whether a stream or an object is read further than the loop takes batches."""
        for node in ast.walk(batch.loop):
            leaves = isinstance(node, ast.Break) and self._flow.loop(node) is batch.loop
            if leaves or isinstance(node, (ast.Return, ast.Raise, ast.Assert, ast.Yield)):
                line = getattr(node, "lineno", 0)
                message = (
                    f"line {line} may leave the loop early, and what batches are drawn from would"
                    " have gone on further"
                )
                return Obstacle("left-early", message)
        after = self._handlers.going_on(batch.statement) or self._catching.at_the_exit
        if after:
            message = (
                f"{after}, and what batches are drawn from would have gone on further where the"
                " loop is interrupted"
            )
            return Obstacle("left-early", message)
        pieces, _ = self._rest(batch)
        behind = self._pipelines.behind(pieces)
        for call, function in behind:
            if function is None:
                message = f"it is not known what the generator of line {call.lineno} draws from"
                return Obstacle("shared-stream", message)
        for piece in (*pieces, *self._code_of(one for _, one in behind if one is not None)):
            for node in ast.walk(piece):
                found = self._draws(node, effects) or self._uses_state(node, effects)
                if found is not None:
                    return found
        return next(filter(None, (self._kept_elsewhere(one) for one in effects.states)), None)

    def _code_of(
        self, functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef]
    ) -> list[ast.AST]:
        """All that some functions, and those that they call, evaluate."""
        walk = _Rest(self)
        for function in functions:
            walk.pieces += function.body
        walk.follow()
        return walk.pieces

    def _draws(self, node: ast.AST, effects: BatchEffects) -> Obstacle | None:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        path = self._names.dotted(node) or ""
        for stream in effects.streams:
            if path == stream or path.startswith(f"{stream}."):
                message = f"line {node.lineno} uses `{stream}` as well, from which batches draw"
                return Obstacle("shared-stream", message)
        return None

    def _uses_state(self, node: ast.AST, effects: BatchEffects) -> Obstacle | None:
        if not isinstance(node, ast.Name):
            return None
        if node.id in effects.variables:
            message = f"line {node.lineno} uses `{node.id}` as well, which making a batch sets"
            return Obstacle("shared-state", message)
        for state in effects.states:
            root = state
            while isinstance(root, ast.Attribute):
                root = root.value
            parent = self._source.parent(node)
            if isinstance(root, ast.Name) and root.id == node.id:
                match parent, state:
                    case ast.Attribute(attr=one), ast.Attribute(attr=other) if one != other:
                        continue  # `mnist.test`, beside `mnist.train`
                if self._is_count(parent):
                    continue
            elif not self._data.dataset(node):
                continue
            message = f"line {node.lineno} uses `{ast.unparse(state)}` as well"
            return Obstacle("shared-state", message)
        return None

    def _is_count(self, part: ast.AST | None) -> bool:
        outer = self._source.parent(part) if part is not None else None
        return isinstance(outer, ast.Attribute) and outer.attr == "num_examples"

    def _kept_elsewhere(self, state: ast.expr) -> Obstacle | None:
        """Whether a random stream of the file's own goes by another name as well."""
        if not isinstance(state, ast.Name) or self._data.dataset(state):
            return None
        for use in self._scopes.uses(state):
            parent = self._source.parent(use)
            goes_on = isinstance(parent, ast.Call) and (
                self._names.dotted(parent.func) == "builtins.next"
            )
            if not isinstance(parent, ast.Attribute) and not goes_on:
                message = f"line {use.lineno} hands `{use.id}` on"
                return Obstacle("shared-state", message)
        return None

    # Calls

    def looked_into(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the file that a call runs, where nothing stands between."""
        function = self._own.function(call)
        if isinstance(function, ast.FunctionDef) and not function.decorator_list:
            return function
        return None

    def harmless(self, call: ast.Call) -> bool:
        """Whether a call belongs to the graph, which knows nothing of the arrays of a script."""
        if call in self._sessions.runs:
            return True
        if not isinstance(call.func, ast.Attribute) or self._names.dotted(call.func) is not None:
            return False
        receiver = self._tracer.trace(call.func.value)
        if receiver.kind is not Kind.OBJECT or receiver.symbol.startswith(_WITH_DATA):
            return False
        return bool(receiver.symbol)


_CHANGING = frozenset({"feed-changes", "rebound-between"})


def _calls_in(exprs: list[ast.expr]) -> list[ast.Call]:
    return [node for one in exprs for node in ast.walk(one) if isinstance(node, ast.Call)]


class _Rest:
    def __init__(self, ahead: BatchesAhead) -> None:
        self._ahead = ahead
        self.pieces: list[ast.AST] = []
        self.calls: set[ast.AST] = set()
        self._entered: set[ast.AST] = set()

    def run_statement(self, batch: FedBatch) -> None:
        run = batch.run
        match batch.statement:
            case ast.Assign(targets=targets):
                self.pieces += targets
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self.pieces.append(target)
        self.pieces.append(run.fetches)
        self._around(run.call, batch.statement)
        if batch.filed is None:
            self.pieces += [one for entry in batch.kept for one in (entry.key, entry.value)]

    def _around(self, call: ast.Call, statement: ast.stmt) -> None:
        """Takes what is evaluated in the statement of a run beside the run."""
        child: ast.AST = call
        for outer in self._ahead._source.ancestors(call):
            if outer is statement:
                return
            if isinstance(outer, ast.Call):
                function = self._ahead.looked_into(outer)
                if function is not None and function not in self._entered:
                    self._entered.add(function)
                    self._block(function.body)
            self.pieces += [
                one
                for one in ast.iter_child_nodes(outer)
                if isinstance(one, (ast.expr, ast.keyword)) and one is not child
            ]
            child = outer

    def statement(self, statement: ast.stmt) -> None:
        """Takes a statement apart at its jumps."""
        match statement:
            case ast.Break() | ast.Continue() | ast.Pass():
                return
            case (
                ast.If(test=test, body=body, orelse=orelse)
                | ast.While(test=test, body=body, orelse=orelse)
            ):
                self.pieces.append(test)
                self._block([*body, *orelse])
            case ast.For(target=target, iter=looped, body=body, orelse=orelse):
                self.pieces += [target, looped]
                self._block([*body, *orelse])
            case ast.With(items=items, body=body):
                self.pieces.append(statement)
                self.pieces += [item.context_expr for item in items]
                self._block(body)
            case ast.Return(value=value):
                self.pieces += [value] if value is not None else []
            case ast.Raise(exc=error):
                self.pieces += [error] if error is not None else []
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self._block([*body, *orelse, *final])
                for handler in handlers:
                    self._block(handler.body)
            case _:
                self.pieces.append(statement)

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def follow(self) -> None:
        """Goes into the functions of the file, and passes what the graph does."""
        for call in self._calls():
            function = self._ahead.looked_into(call)
            if function is not None:
                self.calls.add(call)
                if function not in self._entered:
                    self._entered.add(function)
                    self._block(function.body)
            elif self._ahead.harmless(call):
                self.calls.add(call)

    def _calls(self) -> Iterator[ast.Call]:
        done = 0
        while done < len(self.pieces):
            piece = self.pieces[done]
            done += 1
            if isinstance(piece, ast.With):
                continue
            for node in ast.walk(piece):
                if isinstance(node, ast.Call):
                    yield node
