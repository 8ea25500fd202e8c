"""The functions that make one step of a training loop, and what their callers give them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from tfrewrite.analysis.abstract_values import (
    Array,
    Code,
    Dataset,
    Group,
    Library,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    Value,
    joined,
    parts,
)
from tfrewrite.analysis.eager_values import in_comprehension
from tfrewrite.analysis.kept_objects import changed_later
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.step_names import asks_which
from tfrewrite.analysis.trace import Trace
from tfrewrite.analysis.tracing import mask_lost, returnable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.flow import Loop

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FEW = 4
# They run the functions that they are given in a trace of their own.
_COMPILING = frozenset({"function", "autograph.to_graph", "compat.v1.wrap_function"})
_EAGER_ONLY = (
    "config.run_functions_eagerly", "config.experimental_run_functions_eagerly",
)  # fmt: skip
_V1 = frozenset(
    "disable_eager_execution disable_v2_behavior Session InteractiveSession placeholder"
    " enable_eager_execution enable_v2_behavior".split()
)


@dataclass(frozen=True)
class Step:
    """A function that makes a step, with all its calls; None where they are not all known."""

    function: ast.FunctionDef
    calls: tuple[ast.Call, ...] | None


class StepFunctions:
    """Finds the functions that loops call to make a step, and asks whether they can be traced."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._flow = facts.flow
        self._scopes = facts.scopes
        self._values = facts.eager_values
        self._classes = facts.classes
        self._own = facts.own_calls
        self._replayed: dict[ast.FunctionDef, Trace | Obstacle] = {}
        self._open: set[ast.FunctionDef] = set()

    def all(self) -> list[Step]:
        """Every function with a tape that a loop calls, or that nothing in the file calls."""
        functions = sorted(self._source.all(ast.FunctionDef), key=lambda node: node.lineno)
        found = [self.eager(one) for one in functions if self._has_tape(one)]
        return [one for one in found if one is not None]

    def eager(self, function: ast.FunctionDef) -> Step | None:
        """A function that a loop calls, or nothing in the file, where no trace goes through it."""
        if function.decorator_list or self._is_for_fit(function):
            return None
        if self._is_compiled(function, set()):
            return None
        return self._in_loops(function)

    def compiled(self) -> list[Step]:
        """Every function with a tape that is a `tf.function` and that loops outside of it call."""
        found = []
        for one in self._facts.compiled_functions.all:
            if not one.decorated or not isinstance(one.code, ast.FunctionDef):
                continue
            if not self._has_tape(one.code) or self._is_for_fit(one.code):
                continue
            found.append(self._in_loops(one.code))
        return [one for one in found if one is not None]

    def step(self, function: ast.FunctionDef) -> Step:
        """A function as a step, whatever it does and whoever calls it."""
        calls = self.calls(function)
        return Step(function, None if calls is None else tuple(calls))

    def _in_loops(self, function: ast.FunctionDef) -> Step | None:
        """The same, unless something calls it and no loop does."""
        step = self.step(function)
        called = not step.calls or any(self._is_repeated(call, set()) for call in step.calls)
        return step if called else None

    def followed(self, step: Step) -> Trace | Obstacle:
        """What goes on in a compiled step; nothing is said of whether its trace holds for ever."""
        return self.around(step) or self._traced(step)

    def replayed(self, step: Step) -> Trace | Obstacle:
        """What a trace of a step function does, or why it may not take the place of its calls."""
        if step.function not in self._replayed:
            self._replayed[step.function] = self._judged(step)
        return self._replayed[step.function]

    def _told_apart(self, step: Step) -> str:
        """Where it is asked which object it gives, which may be one that it was given."""
        for call in step.calls or ():
            statement = self._source.parent(call)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            names = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            uses = [use for name in names for use in self._scopes.uses(name)]
            for use in (call, *uses):
                if asks_which(self._source, use):
                    return f"line {use.lineno} asks which object it gives"
        return ""

    def _judged(self, step: Step) -> Trace | Obstacle:
        found = self.around(step) or self._traced(step)
        if isinstance(found, Obstacle):
            return found
        assert step.calls is not None
        if found.again and (found.updates or found.trains or self._may_keep_states):
            # Measured with 2.21, in scripts that know nothing of this tool.
            message = (
                f"{found.again} may be called twice in a step, which may compute wrong compiled"
            )
            return Obstacle("called-again", message)
        if found.by_optimizer and found.loose:
            message = (
                f"the gradient may not be computed from what {found.loose} gives, so that nothing"
                " but the graph makes the update wait until it is read, which TensorFlow was seen"
                " to lose"
            )
            return Obstacle("races-with-update", message)
        words = returnable(found.returned) or self._told_apart(step)
        if words:
            return Obstacle("returns-python", words)
        masked = found.masked or mask_lost(self._facts, found.returned, "what it returns")
        if masked:
            return Obstacle("mask-lost", masked)
        logits = found.logits or self._facts.lost_logits.in_step(step, found.returned)
        if logits:
            return Obstacle("logits-found", logits)
        left = self._facts.kept_losses.read_outside(step.function, found.bodies)
        return left or changed_later(self._facts, found, step.calls) or found

    @cached_property
    def _may_keep_states(self) -> bool:
        """Whether layers of the file may change variables of theirs though nothing says so."""
        stateful = any(keyword.arg == "stateful" for keyword in self._source.all(ast.keyword))
        return stateful or bool(self._classes.calls("set_learning_phase"))

    # Who calls it

    def calls(self, function: ast.FunctionDef) -> list[ast.Call] | None:
        """Every call of a function; None where it is also used, or may be, in another way."""
        cls = self._source.parent(function)
        if not isinstance(cls, ast.ClassDef):
            return self._own.calls(function)
        if self._values.members.subclassed(cls) or self._values.members.family(cls) is None:
            return None
        found = []
        for use in self._classes.reads(function.name):
            if self._names.dotted(use) is not None:
                continue
            owner = self._receiver(use)
            if isinstance(owner, Own) and owner.cls is not cls:
                continue
            if isinstance(owner, (Thing, Dataset, Tensor, Array, Group, Number)):
                continue
            parent = self._source.parent(use)
            if not isinstance(owner, Own) or not isinstance(parent, ast.Call):
                return None
            if parent.func is not use or not isinstance(use.value, (ast.Name, ast.Attribute)):
                return None  # what is compiled holds its object weakly, and a new one is gone
            found.append(parent)
        return found

    def _receiver(self, use: ast.Attribute) -> Value:
        if isinstance(use.value, ast.Name):
            cls = self._classes.of_self(use.value)
            if cls is not None:
                return Own(cls)
        return self._values.value(use.value)

    def is_traced(self, node: ast.AST) -> bool:
        """Whether a place is in a function that is compiled, or that a compiled one calls."""
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef):
            return function is not None
        return self._is_for_fit(function) or self._is_compiled(function, set())

    def _has_tape(self, function: ast.FunctionDef) -> bool:
        """Whether a function opens a tape, once in each call."""
        tape = self._tapes.get(function)
        return tape is not None and not any(
            isinstance(outer, _LOOPS) for outer in self._flow.enclosing(tape)
        )

    @cached_property
    def _tapes(self) -> dict[ast.AST | None, ast.With]:
        """The first tape of each function that opens some."""
        found: dict[ast.AST | None, ast.With] = {}
        for node in sorted(self._source.all(ast.With), key=lambda one: one.lineno):
            if self.is_tape(node):
                found.setdefault(self._source.function(node), node)
        return found

    def is_tape(self, node: ast.AST) -> TypeGuard[ast.With]:
        """Whether a statement opens a tape."""
        made = [item.context_expr for item in getattr(node, "items", ())]
        return isinstance(node, ast.With) and any(
            isinstance(one, ast.Call) and self._names.tf(one.func) == "GradientTape" for one in made
        )

    def _is_for_fit(self, function: ast.FunctionDef) -> bool:
        """Whether it is the step of a model that `fit` compiles."""
        cls = self._source.parent(function)
        if not isinstance(cls, ast.ClassDef) or function.name not in ("train_step", "test_step"):
            return False
        bases = [self._names.tf(base) or ast.unparse(base) for base in cls.bases]
        return any(base.endswith("Model") for base in bases)

    def _is_compiled(self, function: ast.FunctionDef, seen: set[ast.AST]) -> bool:
        """Whether a function runs in the trace of another one, or is compiled by hand."""
        if function in seen:
            return False
        seen.add(function)
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._names.tf(called) == "function":
                return True
        uses: list[ast.expr] = [
            name
            for name in self._source.all(ast.Name)
            if name.id == function.name and self._scopes.function(name) is function
        ]
        if isinstance(self._source.parent(function), ast.ClassDef):
            uses += self._classes.reads(function.name)
        for use in uses:
            parent = self._source.parent(use)
            if isinstance(parent, ast.keyword):
                parent = self._source.parent(parent)
            if not isinstance(parent, ast.Call):
                continue
            if parent.func is not use:
                symbol = self._names.tf(parent.func)
                if symbol in _COMPILING or _runs_replicas(parent):
                    return True
            around = self._source.function(parent)
            if isinstance(around, ast.FunctionDef) and self._is_compiled(around, seen):
                return True
        return False

    def _is_repeated(self, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a place is reached in the turns of a loop, here or around a caller."""
        if self._flow.loop(node) is not None or in_comprehension(self._source.ancestors(node)):
            return True
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return False
        seen.add(function)
        calls = self.calls(function)
        return any(self._is_repeated(call, seen) for call in calls or ())

    # What stands around it

    def around(self, step: Step) -> Obstacle | None:
        function, calls = step.function, step.calls
        if self._facts.dynamics.obstacle_in_eager_code:
            return Obstacle("dynamic-code", self._facts.dynamics.obstacle_in_eager_code)
        if self.otherwise_run:
            return Obstacle("not-eager", self.otherwise_run)
        if self._facts.graph_option:
            return Obstacle("graph-options", self._facts.graph_option)
        if calls is None:
            message = f"not all callers of `{function.name}` are seen"
            return Obstacle("callers-not-seen", message)
        if not calls:
            message = f"nothing in this file calls `{function.name}`"
            return Obstacle("callers-not-seen", message)
        loop = self._flow.loop(function)
        if loop is not None:
            message = f"it is made anew in each turn of the loop of line {loop.lineno}"
            return Obstacle("made-in-loop", message)
        cls = self._source.parent(function)
        if isinstance(cls, ast.ClassDef) and self._values.members.base(cls) is not None:
            for name in ("save", "export"):
                for saving in self._classes.calls(name):
                    message = f"line {saving.lineno} may save it with its object"
                    return Obstacle("saved-with-object", message)
        if isinstance(cls, ast.ClassDef):
            for owner in self._values.members.family(cls) or ():
                if "__slots__" in self._scopes.inside(owner).bindings:
                    message = (
                        f"`{owner.name}` has slots: a compiled method cannot refer to its objects"
                    )
                    return Obstacle("fails-when-traced", message)
        for call in calls:
            words = self._facts.catching.seen(self._source.statement(call))
            if words:
                return Obstacle("exception-seen", words)
            for outer in self._source.ancestors(call):
                if self.is_tape(outer):
                    message = f"the tape of line {outer.lineno} records what it does"
                    return Obstacle("not-followed", message)
        return None

    @cached_property
    def otherwise_run(self) -> str:
        """Why functions of the file are not run as TensorFlow 2 runs them."""
        target = self._facts.target_tf
        if self._names.version == "1" or (target is not None and target < (2,)):
            return "the file is written for TensorFlow 1"
        for node in self._source.all(ast.Call):
            symbol = self._names.tf(node.func) or ""
            if symbol in _V1 or symbol.startswith("contrib."):
                return f"`{ast.unparse(node.func)}` in line {node.lineno} is of TensorFlow 1"
            if symbol in _EAGER_ONLY:
                return f"`{ast.unparse(node.func)}` in line {node.lineno} switches traces off"
            if symbol.startswith("distribute."):
                return f"`{ast.unparse(node.func)}` in line {node.lineno} places variables"
        return ""

    # What it is given

    def _traced(self, step: Step) -> Trace | Obstacle:
        function = step.function
        arguments = function.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            return Obstacle("not-followed", f"`{function.name}` takes any number of arguments")
        names = [a.arg for a in arguments.args]
        given: dict[str, Value] = {}
        cls = self._source.parent(function)
        if isinstance(cls, ast.ClassDef):
            given[names.pop(0)] = Own(cls, frozenset({cls}))
        masked = ""
        allowed = [*names, *(a.arg for a in arguments.kwonlyargs)]
        for name in allowed:
            exprs = list(given_to(step, names, name))
            if any(one is None for one in exprs) and any(one is not None for one in exprs):
                return Obstacle("argument-varies", f"`{name}` is given by some callers only")
            known = [one for one in exprs if one is not None]
            if known:
                value = self._argument(function, name, known)
                if isinstance(value, Obstacle):
                    return value
                given[name] = value
                found = joined(*map(self._values.value, known))
                masked = masked or mask_lost(self._facts, found, f"`{name}`")
        asked = self._asked_before(step)
        if isinstance(cls, ast.ClassDef):
            trace = self._facts.tracing.replayed(Code(function, Own(cls)), given, None, asked)
        else:
            trace = self._facts.tracing.replayed(Code(function), given, self._loop(step), asked)
        if isinstance(trace, Trace):
            trace.masked = masked or trace.masked
        return trace

    def _asked_before(self, step: Step) -> list[Thing | Own]:
        """The models that were called by what the arguments come from, as gradients of them do."""
        found: list[Thing | Own] | None = None
        for call in step.calls or ():
            asked = [one for given in call.args for one in self._asked_for(given, call)]
            found = asked if found is None else [one for one in found if one in asked]
        return found or []

    def _asked_for(self, given: ast.expr, call: ast.Call) -> list[Thing | Own]:
        """The models that a compiled function has called which gave an argument, or what it is of.

        Such a function is one of the file that can be followed; a method is one of the same object.
        """
        bindings = self._flow.reaching(given) if isinstance(given, ast.Name) else []
        made = bindings[0].value if len(bindings) == 1 else None
        if isinstance(made, ast.ListComp):
            return self._asked_for(made.generators[0].iter, call)
        if not isinstance(made, ast.Call):
            return []
        function = self._own.function(made)
        if not isinstance(function, ast.FunctionDef):
            return [one for inner in made.args for one in self._asked_for(inner, call)]
        compiled = bool(function.decorator_list) and _owner(made) == _owner(call)
        if not compiled or function in self._open:
            return []
        self._open.add(function)
        found = self.replayed(self.step(function))
        self._open.discard(function)
        return [] if isinstance(found, Obstacle) else found.asked

    def _loop(self, step: Step) -> Loop | None:
        """The outermost loop that all calls stand in, where it is one."""
        found: set[Loop | None] = set()
        for call in step.calls or ():
            loops = [one for one in self._flow.enclosing(call) if isinstance(one, _LOOPS)]
            found.add(loops[-1] if loops else None)
        return found.pop() if len(found) == 1 else None

    def _argument(
        self, function: ast.FunctionDef, name: str, exprs: list[ast.expr]
    ) -> Value | Obstacle:
        """What is known of a parameter, at every call."""
        if any(isinstance(one, ast.Starred) for one in exprs):
            return Obstacle("argument-not-known", f"`{name}` is passed by a star")
        values = [self._values.value(expr) for expr in exprs]
        found = joined(*values)
        for value in (*values, found):
            if isinstance(value, Unknown):
                message = f"it is not known what `{name}` is: {value.why}"
                return Obstacle("argument-not-known", message)
        for expr in exprs:
            words = self._facts.call_shapes.varies(expr)
            if words:
                message = f"`{name}` has another shape in each call, and a trace for each: {words}"
                return Obstacle("shape-varies", message)
        for part in parts(found):
            if isinstance(part, Array) and not part.steady:
                message = f"`{name}` may have another shape in each call, and a trace for each"
                return Obstacle("shape-varies", message)
        match found:
            case Number():
                return self._number(name, found, values, exprs)
            case Group(items=None, each=Tensor(array=False) as each, lazy=False):
                if all(map(self._facts.list_lengths.is_steady, exprs)):
                    return Group(None, _handed(each))
                message = f"`{name}` may hold another number of tensors in each call"
                return Obstacle("shape-varies", f"{message}, and a trace for each")
            case Tensor() | Array() | Group():
                return self._tensors(name, found)
            case Thing() | Own():
                return self._object(function, name, found)
            case Library():
                return found
            case Code(node=ast.FunctionDef() as node) if self._source.function(node) is None:
                return found
        message = f"it is not known what `{name}` is"
        return Obstacle("argument-not-known", message)

    def _tensors(self, name: str, value: Value) -> Value | Obstacle:
        """What tensors and arrays are for the function: tensors of a known shape."""
        match value:
            case Tensor():
                return _handed(value)
            case Array():
                return Tensor(array=True)
            case Group(items=items) if items is not None and not value.lazy:
                made = [self._tensors(name, item) for item in items]
                good = [one for one in made if not isinstance(one, Obstacle)]
                if len(good) == len(made):
                    return Group(tuple(good), joined(*good))
        return Obstacle("argument-not-known", f"`{name}` is not made of tensors only")

    def _number(
        self, name: str, found: Number, values: list[Value], exprs: list[ast.expr]
    ) -> Value | Obstacle:
        message = (
            f"`{name}` is a Python value that varies: the function would be traced anew for each"
            " value; pass a tensor"
        )
        if found.tensors or any(isinstance(v, Number) and v.varies for v in values):
            return Obstacle("argument-varies", message)
        literals = [v.literal for v in values if isinstance(v, Number) and v.literal is not None]
        if len(literals) < len(values):
            if len({ast.dump(expr) for expr in exprs}) > 1:
                return Obstacle("argument-varies", message)
            return Number()
        kinds = {(type(one.value), repr(one.value)) for one in literals}
        if len(kinds) > _FEW or len({one.value for one in literals}) < len(kinds):
            # A trace for 1 is taken for 1.0 and True as well.
            return Obstacle("argument-varies", message)
        return found

    def _object(self, function: ast.FunctionDef, name: str, found: Thing | Own) -> Value | Obstacle:
        home = self._source.function(function)
        if len(found.made) == 1:
            (made,) = found.made
            beside = home is not None and self._source.function(made) is home
            once = self._flow.loop(made) is None
            once = once and not in_comprehension(self._source.ancestors(made))
            if self._values.runs_once(made) or (beside and once):
                return found
        message = (
            f"`{name}` may be another object in another call; variables can be made in the first"
            " trace only"
        )
        return Obstacle("two-objects", message)


def given_to(step: Step, names: list[str], name: str) -> Iterator[ast.expr | None]:
    """What each call gives for a parameter; `names` are those that may be given by position."""
    for call in step.calls or ():
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        position = names.index(name) if name in names else len(call.args)
        if None in keywords or any(isinstance(one, ast.Starred) for one in call.args):
            yield ast.copy_location(ast.Starred(call.func), call)
        elif position < len(call.args):
            yield call.args[position]
        else:
            yield keywords.get(name)


def _owner(call: ast.Call) -> str:
    """The object that a method is called of; empty for a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _handed(tensor: Tensor) -> Tensor:
    """What a tensor is in a trace that is given it, without what Keras' activations put on it."""
    return Tensor(nest=tensor.nest, squashed=tensor.layered)


def _runs_replicas(call: ast.Call) -> bool:
    """Whether a call is `strategy.run(function, ...)` or the like."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in ("run", "experimental_run_v2", "map", "map_fn", "vectorized_map")
