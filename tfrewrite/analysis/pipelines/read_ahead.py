"""Whether anybody could tell that a pipeline is read ahead of its consumer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.pipelines.dataset_calls import (
    KERAS_SOURCES,
    PLAIN_TRANSFORMATIONS,
    TRANSFORMATIONS,
    WITH_FUNCTIONS,
    functions_given,
)
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, Taking
from tfrewrite.analysis.pipelines.stages import Lost, Stage, stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.facts import Facts

_SHUFFLING = frozenset({"shuffle", "shuffle_and_repeat", "make_csv_dataset", "list_files"})
_RANDOM = frozenset({"random", "RandomDataset", "sample_from_datasets"})
_REPEATING = frozenset(
    {"repeat", "shuffle_and_repeat", "make_csv_dataset", "concatenate", "flat_map", "interleave"}
)
_SWALLOWING = ("suppress", "raises", "assertRaises", "assertRaisesRegex")
_NAMESPACES = frozenset(f"builtins.{name}" for name in ("globals", "setattr", "exec", "eval"))
_OWN_NAMESPACES = frozenset({"builtins.vars", "builtins.locals"})
_REACHING_IN = frozenset({"__globals__", "__dict__", "f_globals", "__code__", "__defaults__"})
_SAVING = ("Checkpoint", ".save")
_SAVED_ITERATORS = ("make_saveable_from_iterator", "CheckpointInputPipelineHook")


class ReadAhead:
    """Decides whether reading ahead is unseen: in the values, their order, and everywhere else."""

    def __init__(self, facts: Facts) -> None:
        self._own = facts.own_calls
        self._iterators = facts.iterators
        self._uses = facts.pipelines.uses
        self._settled = facts.settled
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._dynamics = facts.dynamics
        self._flow = facts.flow
        self._pipelines = facts.pipelines
        self._code = facts.element_code
        self._generators = facts.generators
        self._sources = facts.changed_sources
        self._ends = facts.session_ends

    def obstacle(self, consumer: Consumer, place: ast.expr) -> Obstacle | None:
        """What could be seen of reading ahead of a consumer, with a prefetch at a place."""
        parts = list(stages(self._pipelines.value(consumer.expr)))
        checks = [
            self.whole_file(),
            self.device(place, parts),
            *(self.stage(part) for part in parts),
            self._left_early(consumer, parts),
            self._sources.obstacle(consumer, parts),
            self.saved(consumer),
            self.left_open(consumer, parts),
        ]
        return next((found for found in checks if found is not None), None)

    def whole_file(self) -> Obstacle | None:
        if "enable_debug_mode" in self._source.text:
            message = "in tf.data's debug mode every function runs as Python, for each element"
            return Obstacle("debug-mode", message)
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func)
            if path in _NAMESPACES or (path in _OWN_NAMESPACES and not call.args):
                message = f"`{ast.unparse(call.func)}(...)` may change what any name is"
                return Obstacle("function-not-seen", message)
        if self._dynamics.reached_otherwise:
            message = f"{self._dynamics.reached_otherwise} may change what any name is"
            return Obstacle("function-not-seen", message)
        reaching: list[ast.expr] = [
            *(one for one in self._source.all(ast.Attribute) if one.attr in _REACHING_IN),
            # Not `"google.colab" in sys.modules`.
            *(
                one
                for one in self._dynamics.modules
                if not isinstance(self._source.parent(one), ast.Compare)
            ),
        ]
        if reaching:
            message = f"`{ast.unparse(reaching[0])}` may change what any name is"
            return Obstacle("function-not-seen", message)
        if any(word in self._source.text for word in _SAVED_ITERATORS):
            message = "an iterator is saved in checkpoints, whose content would not fit any more"
            return Obstacle("iterator-in-checkpoint", message)
        return None

    def saved(self, consumer: Consumer) -> Obstacle | None:
        """Whether an iterator may come into a checkpoint, whose content would not fit any more."""
        made = consumer.node
        iterates = consumer.taking in (Taking.ITERATOR, Taking.GRAPH)
        if not iterates or not isinstance(made, ast.Call) or self._iterators.only_taken_from(made):
            return None
        if not any(word in self._source.text for word in _SAVING):
            return None
        message = f"the iterator of line {made.lineno} may be saved in checkpoints"
        return Obstacle("iterator-in-checkpoint", message)

    def left_open(self, consumer: Consumer, parts: Iterable[Stage | Lost]) -> Obstacle | None:
        """Whether Python may have to end while a generator is at work for a session."""
        if consumer.taking is not Taking.GRAPH:
            return None
        for part in parts:
            if isinstance(part, Lost) or part.name != "from_generator" or self._ends.all_safe:
                continue
            message = (
                f"where an exception ends the script, Python might wait for the generator in"
                f" line {part.making.lineno} for ever: no `with` closes the session"
            )
            return Obstacle("session-left-open", message)
        return None

    def device(self, place: ast.expr, parts: Iterable[Stage | Lost]) -> Obstacle | None:
        """A prefetch belongs on the CPU, or exactly where a script moves elements to a device."""
        if any(isinstance(part, Stage) and part.name == "copy_to_device" for part in parts):
            message = "the pipeline moves elements to a device, where the prefetch has to be placed"
            return Obstacle("device-placement", message)
        for outer in self._flow.enclosing(place):
            for item in outer.items if isinstance(outer, ast.With) else ():
                manager = item.context_expr
                if not isinstance(manager, ast.Call) or self._names.tf(manager.func) != "device":
                    continue
                if "cpu" not in ast.unparse(manager).lower():
                    message = f"the pipeline is made under `{ast.unparse(manager)}`"
                    return Obstacle("device-placement", message)
        return None

    # Stages

    def stage(self, part: Stage | Lost) -> Obstacle | None:
        if isinstance(part, Lost):
            return Obstacle("source-not-seen", part.why)
        if part.name == "from_generator":
            return self._generators.obstacle(part.making) or self._unsettled_generator(part)
        if part.name in WITH_FUNCTIONS:
            if any(keyword.arg is None for keyword in part.making.keywords):
                message = f"line {part.making.lineno} passes a function in a dict"
                return Obstacle("function-not-seen", message)
            obstacles = (self._function(func) for func in functions_given(part))
            return next((found for found in obstacles if found is not None), None)
        if part.name in ("cache", "snapshot") and (part.making.args or part.making.keywords):
            message = f"`{part.name}` in line {part.making.lineno} writes files as it is read"
            return Obstacle("writes-state", message)
        if part.name in TRANSFORMATIONS and part.name not in PLAIN_TRANSFORMATIONS:
            line = part.call.end_lineno
            message = f"it is not known what `{part.name}` in line {line} does"
            return Obstacle("function-not-seen", message)
        return None

    def _function(self, func: ast.expr) -> Obstacle | None:
        found = self._code.traced(func)
        if found is not None:
            return found
        taken = self._settled.taken(func, traced=True)
        if not taken:
            return None
        message = f"the function in line {func.lineno} uses {taken}: that may be no data, or change"
        return Obstacle("function-not-seen", message)

    def _unsettled_generator(self, part: Stage) -> Obstacle | None:
        given = [k.value for k in part.making.keywords if k.arg == "generator"]
        generators = [*part.making.args[:1], *given]
        passed = any(k.arg in ("args", None) for k in part.making.keywords)
        taken = "arguments" if passed or len(part.making.args) > 3 else ""
        for generator in generators:
            taken = taken or self._settled.taken(generator, traced=False)
        if not taken:
            return None
        message = f"the generator in line {part.making.lineno} uses {taken}: that may change"
        return Obstacle("generator-shares-state", message)

    # Leaving early

    def _left_early(self, consumer: Consumer, parts: list[Stage | Lost]) -> Obstacle | None:
        """Whether an iterator is left before its end, and what it drew is missed by the next one.

        Measured on 2.21: the generator behind a reshuffling `shuffle` is one for all iterators of
        the dataset. Read ahead over the end of a repetition, or of the first of two datasets, it
        has given one seed more. Graph iterators, and ops that draw in a `map`, start afresh.
        """
        if consumer.taking is Taking.GRAPH:
            return None
        for part in parts:
            if not isinstance(part, Stage):
                continue
            if not self.redraws(part, parts):
                continue
            name = f"`{part.name}` in line {part.call.end_lineno}"
            if self._may_leave(consumer) and self._goes_on(consumer, part):
                message = (
                    f"line {_line(consumer)} may stop before the pipeline ends and start again:"
                    f" the next order of {name} would depend on how far was read ahead"
                )
                return Obstacle("left-early", message)
            if self._taken_meanwhile(consumer, part):
                message = (
                    f"elements may be taken elsewhere while line {_line(consumer)} takes them:"
                    f" the order of {name} would depend on how far was read ahead"
                )
                return Obstacle("left-early", message)
        return None

    def redraws(self, part: Stage, parts: list[Stage | Lost]) -> bool:
        """Whether what a part gives next time depends on how far it has been read."""
        return self._reshuffles(part, parts) or self._cached_draw(part)

    def left_by(self, consumer: Consumer, part: Stage, *, stopped: bool) -> bool:
        """Whether anybody leaves a part before its end, and it is begun again.

        `stopped` says that something between the part and the consumer may stop earlier.
        """
        leaves = stopped or self._may_leave(consumer)
        again = leaves and self._goes_on(consumer, part)
        return again or any(True for _ in self._other_uses(consumer, part))

    def _reshuffles(self, part: Stage, parts: list[Stage | Lost]) -> bool:
        if any(self._code.shuffles(func) for func in functions_given(part)):
            return True
        if not self.draws_anew(part):
            return False
        return any(
            isinstance(above, Stage) and above.name in _REPEATING and part in set(stages(above))
            for above in parts
        )

    def draws_anew(self, part: Stage) -> bool:
        """Whether each iteration has an order of its own."""
        given = {keyword.arg: keyword.value for keyword in part.making.keywords}
        if part.name in KERAS_SOURCES:
            kept = given.get("shuffle")
            if kept is None:
                return part.name != "timeseries_dataset_from_array"
            return not (isinstance(kept, ast.Constant) and kept.value is False)
        if part.name in _SHUFFLING:
            again = given.get("reshuffle_each_iteration")
            return not (isinstance(again, ast.Constant) and again.value is False)
        again = given.get("rerandomize_each_iteration")
        fixed = again is None or (isinstance(again, ast.Constant) and again.value is False)
        return part.name in _RANDOM and not fixed

    def _cached_draw(self, part: Stage) -> bool:
        """Whether random elements are cached once a first iteration has come to their end."""
        return part.name == "cache" and any(
            isinstance(below, Stage)
            and (
                below.name in _SHUFFLING
                or self.draws_anew(below)
                or any(self._code.calls_to(func, "random") for func in functions_given(below))
            )
            for below in stages(part)
        )

    def _may_leave(self, consumer: Consumer) -> bool:
        if consumer.beside or consumer.taking is Taking.ITERATOR or self._may_be_caught(consumer):
            return True
        if isinstance(consumer.node, ast.Call):
            # A callback may stop a training; the second argument of a generator's fit is its steps.
            steps = {"steps", "steps_per_epoch", "validation_steps", "callbacks", None}
            by_keyword = any(keyword.arg in steps for keyword in consumer.node.keywords)
            method = getattr(consumer.node.func, "attr", "")
            return by_keyword or len(consumer.node.args) > (1 if "generator" in method else 4)
        if not isinstance(consumer.node, (ast.For, ast.AsyncFor)):
            return False
        return any(
            isinstance(node, (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom))
            or self._leaves(node, consumer.node)
            for statement in consumer.node.body
            for node in ast.walk(statement)
        )

    def _may_be_caught(self, consumer: Consumer) -> bool:
        """Whether an exception may end the taking, and not the program."""
        if any(isinstance(outer, ast.Try) for outer in self._flow.enclosing(consumer.node)):
            return True
        for node in self._source.all(ast.With):
            for item in node.items:
                manager = item.context_expr
                name = ast.unparse(manager.func) if isinstance(manager, ast.Call) else ""
                if name.rpartition(".")[2] in _SWALLOWING:
                    return True
        if self._source.function(consumer.node) is None:
            return False
        return any(
            isinstance(node, ast.Call)
            for caught in self._source.all(ast.Try)
            for statement in caught.body
            for node in ast.walk(statement)
        )

    def _leaves(self, node: ast.AST, loop: ast.AST) -> bool:
        return isinstance(node, ast.Break) and self._flow.loop(node) is loop

    def _goes_on(self, consumer: Consumer, part: Stage) -> bool:
        """Whether elements may be taken from the same dataset once more."""
        if consumer.taking is Taking.VALIDATION:
            return True
        if self._source.function(consumer.node) is not self._source.function(part.call):
            return True
        around = set(self._loops(part.call))
        if any(loop not in around for loop in self._loops(consumer.node)):
            return True
        return any(True for _ in self._other_uses(consumer, part))

    def _taken_meanwhile(self, consumer: Consumer, part: Stage) -> bool:
        """Whether somebody else takes elements before a consumer has come to the end."""
        for use in self._other_uses(consumer, part):
            if self._source.function(use) is not self._source.function(consumer.node):
                return True
            if consumer.node in self._source.ancestors(use):
                return True
        return False

    def _other_uses(self, consumer: Consumer, part: Stage) -> Iterator[ast.expr]:
        """Every place that has hold of the same dataset, and is not on the way to a consumer."""
        mine = stages(self._pipelines.value(consumer.expr))
        own = {one.call for one in mine if isinstance(one, Stage)}
        for kind in (ast.Name, ast.Attribute, ast.Call):
            for node in self._source.all(kind):
                if node is consumer.expr or isinstance(getattr(node, "ctx", None), ast.Store):
                    continue
                value = self._pipelines.value(node)
                if value is None or part not in stages(value):
                    continue
                if not self._is_handed_on(node, own):
                    yield node

    def _is_handed_on(self, use: ast.expr, own: set[ast.Call]) -> bool:
        """Whether a use only gives a name to a dataset, builds on it, or describes it."""
        parent = self._source.parent(use)
        match parent:
            case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.IfExp() | ast.keyword():
                return not isinstance(parent, ast.keyword) or self._builds(parent, own)
            case ast.Tuple() | ast.List():
                return True
            case ast.Attribute():
                call = self._source.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return call in own
                return self._uses.describes(use)
            case ast.Call():
                return parent in own or self._uses.describes(use) or self._is_given(parent, use)
        return False

    def _builds(self, keyword: ast.keyword, own: set[ast.Call]) -> bool:
        return self._source.parent(keyword) in own

    def _is_given(self, call: ast.Call, use: ast.expr) -> bool:
        """Whether a dataset becomes a parameter of a function of the file, which is looked at."""
        return self._own.parameter(call, use) is not None

    def _loops(self, node: ast.AST) -> Iterator[ast.AST]:
        for outer in self._flow.enclosing(node):
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
                yield outer


def _line(consumer: Consumer) -> int:
    return consumer.expr.lineno
