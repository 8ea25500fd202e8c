"""Whether a step function may be traced once, and replayed in place of its calls."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Code, Own, Thing, Value, joined
from tfrewrite.analysis.eager.step_arguments import StepArguments, given_to
from tfrewrite.analysis.eager.step_names import asks_which
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.kept_objects import changed_later
from tfrewrite.analysis.traces.trace import Trace
from tfrewrite.analysis.traces.trace_borders import mask_lost, returnable

if TYPE_CHECKING:
    from tfrewrite.analysis.eager.step_functions import Step
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.flow import Loop

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class StepTraces:
    """Goes through steps as a trace would, and looks at what stands around them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._classes = facts.classes
        self._own = facts.own_calls
        self._values = facts.eager_values
        self._steps = facts.step_functions
        self._arguments = StepArguments(facts)
        self._replayed: dict[ast.FunctionDef, Trace | Obstacle] = {}
        self._open: set[ast.FunctionDef] = set()

    def followed(self, step: Step) -> Trace | Obstacle:
        """What goes on in a compiled step; nothing is said of whether its trace holds for ever."""
        return self.around(step) or self._traced(step)

    def replayed(self, step: Step) -> Trace | Obstacle:
        """What a trace of a step function does, or why it may not take the place of its calls."""
        if step.function not in self._replayed:
            self._replayed[step.function] = self._judged(step)
        return self._replayed[step.function]

    def _judged(self, step: Step) -> Trace | Obstacle:
        found = self.around(step) or self._traced(step)
        if isinstance(found, Obstacle):
            return found
        assert step.calls is not None
        seeding = self._facts.seeds.set_in_turns_of(step.calls)
        if seeding is not None:
            message = (
                f"line {seeding.lineno} sets the seed in each turn, upon which TensorFlow sets up"
                " a compiled function anew, which takes longer than the step does"
            )
            return Obstacle("seeded-each-turn", message)
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

    @cached_property
    def _may_keep_states(self) -> bool:
        """Whether layers of the file may change variables of theirs though nothing says so."""
        stateful = any(keyword.arg == "stateful" for keyword in self._source.all(ast.keyword))
        return stateful or bool(self._classes.calls("set_learning_phase"))

    # What stands around it

    def around(self, step: Step) -> Obstacle | None:
        function, calls = step.function, step.calls
        if self._facts.dynamics.obstacle_in_eager_code:
            return Obstacle("dynamic-code", self._facts.dynamics.obstacle_in_eager_code)
        if self._facts.otherwise_run:
            return Obstacle("not-eager", self._facts.otherwise_run)
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
        words = self._facts.endings.told(calls)
        if words:
            return Obstacle("exception-seen", words)
        for call in calls:
            for outer in self._source.ancestors(call):
                if self._steps.is_tape(outer):
                    message = f"the tape of line {outer.lineno} records what it does"
                    return Obstacle("not-followed", message)
        return None

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
                value = self._arguments.of(function, name, known)
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
        found = self.replayed(self._steps.step(function))
        self._open.discard(function)
        return [] if isinstance(found, Obstacle) else found.asked

    def _loop(self, step: Step) -> Loop | None:
        """The outermost loop that all calls stand in, where it is one."""
        found: set[Loop | None] = set()
        for call in step.calls or ():
            loops = [one for one in self._flow.enclosing(call) if isinstance(one, _LOOPS)]
            found.add(loops[-1] if loops else None)
        return found.pop() if len(found) == 1 else None


def _owner(call: ast.Call) -> str:
    """The object that a method is called of; empty for a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
