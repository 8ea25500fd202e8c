"""Whether anybody could tell that a pipeline is read ahead of its consumer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.dataset_calls import (
    PLAIN_TRANSFORMATIONS,
    TRANSFORMATIONS,
    WITH_FUNCTIONS,
    functions_given,
)
from tfrewrite.analysis.dataset_uses import Consumer, Taking
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.stages import Lost, Stage, stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfrewrite.analysis.changed_sources import ChangedSources
    from tfrewrite.analysis.element_code import ElementCode
    from tfrewrite.analysis.flow import Flow
    from tfrewrite.analysis.generators import Generators
    from tfrewrite.analysis.names import Names
    from tfrewrite.analysis.pipelines import Pipelines
    from tfrewrite.analysis.scopes import Scopes
    from tfrewrite.analysis.settled import Settled
    from tfrewrite.analysis.source import Source

_SHUFFLING = frozenset({"shuffle", "shuffle_and_repeat", "make_csv_dataset", "list_files"})
_REPEATING = frozenset({"repeat", "shuffle_and_repeat", "make_csv_dataset"})
_NAMESPACES = frozenset(f"builtins.{name}" for name in ("globals", "setattr", "exec", "eval"))
_SAVED_ITERATORS = ("make_saveable_from_iterator", "CheckpointInputPipelineHook")


class ReadAhead:
    """Decides whether reading ahead is unseen: in the values, their order, and everywhere else."""

    def __init__(
        self,
        source: Source,
        scopes: Scopes,
        names: Names,
        flow: Flow,
        pipelines: Pipelines,
        code: ElementCode,
        generators: Generators,
        sources: ChangedSources,
        settled: Settled,
    ) -> None:
        self._settled = settled
        self._source = source
        self._scopes = scopes
        self._names = names
        self._flow = flow
        self._pipelines = pipelines
        self._code = code
        self._generators = generators
        self._sources = sources

    def obstacle(self, consumer: Consumer, place: ast.expr) -> Obstacle | None:
        """What could be seen of reading ahead of a consumer, with a prefetch at a place."""
        parts = list(stages(self._pipelines.value(consumer.expr)))
        checks = [
            self._whole_file(),
            self._device(place, parts),
            *(self._stage(part) for part in parts),
            self._left_early(consumer, parts),
            self._sources.obstacle(consumer, parts),
        ]
        return next((found for found in checks if found is not None), None)

    def _whole_file(self) -> Obstacle | None:
        if "enable_debug_mode" in self._source.text:
            message = "in tf.data's debug mode every function runs as Python, for each element"
            return Obstacle("debug-mode", message)
        for call in self._source.all(ast.Call):
            if self._names.dotted(call.func) in _NAMESPACES:
                message = f"`{ast.unparse(call.func)}(...)` may change what any name is"
                return Obstacle("function-not-seen", message)
        if any(word in self._source.text for word in _SAVED_ITERATORS) or self._saves_iterator():
            message = "an iterator is saved in checkpoints, whose content would not fit any more"
            return Obstacle("iterator-in-checkpoint", message)
        return None

    def _saves_iterator(self) -> bool:
        for node in self._source.all(ast.Call):
            if self._names.tf(node.func) == "train.Checkpoint":
                for keyword in node.keywords:
                    if isinstance(keyword.value, ast.Name):
                        bindings = self._scopes.bindings(keyword.value)
                        if any(self._is_iterator(binding.value) for binding in bindings):
                            return True
                    if self._is_iterator(keyword.value):
                        return True
        return False

    def _is_iterator(self, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Call):
            return False
        path = self._names.dotted(value.func) or ""
        method = value.func.attr if isinstance(value.func, ast.Attribute) else path
        return path == "builtins.iter" or method.endswith("_iterator")

    def _device(self, place: ast.expr, parts: Iterable[Stage | Lost]) -> Obstacle | None:
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

    def _stage(self, part: Stage | Lost) -> Obstacle | None:
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
        message = f"the function in line {func.lineno} uses {taken}, which may change"
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
        message = f"the generator in line {part.making.lineno} uses {taken}, which may change"
        return Obstacle("generator-shares-state", message)

    # Leaving early

    def _left_early(self, consumer: Consumer, parts: list[Stage | Lost]) -> Obstacle | None:
        """Whether an iterator is left before its end, and what it drew is missed by the next one.

        Measured on 2.21: the generator behind a reshuffling `shuffle` is one for all iterators of
        the dataset. Read ahead over the end of a repetition, it has given one seed more. Graph
        iterators, and ops that draw in a `map`, start afresh.
        """
        if consumer.taking is Taking.GRAPH or not self._may_leave(consumer):
            return None
        shared = [
            part
            for part in parts
            if isinstance(part, Stage)
            and (self._reshuffles(part, parts) or self._cached_draw(part))
        ]
        for part in shared:
            if self._goes_on(consumer, part):
                message = (
                    f"line {_line(consumer)} may stop before the pipeline ends and start again:"
                    f" the next order of `{part.name}` in line {part.call.end_lineno} would depend"
                    " on how far was read ahead"
                )
                return Obstacle("left-early", message)
        return None

    def _reshuffles(self, part: Stage, parts: list[Stage | Lost]) -> bool:
        if any(self._code.shuffles(func) for func in functions_given(part)):
            return True
        if part.name not in _SHUFFLING:
            return False
        fixed = any(
            keyword.arg == "reshuffle_each_iteration"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is False
            for keyword in part.making.keywords
        )
        return not fixed and any(
            isinstance(above, Stage) and above.name in _REPEATING and part in set(stages(above))
            for above in parts
        )

    def _cached_draw(self, part: Stage) -> bool:
        """Whether random elements are cached once a first iteration has come to their end."""
        return part.name == "cache" and any(
            isinstance(below, Stage)
            and (
                below.name in _SHUFFLING
                or any(self._code.calls_to(func, "random") for func in functions_given(below))
            )
            for below in stages(part)
        )

    def _may_leave(self, consumer: Consumer) -> bool:
        if consumer.beside or consumer.taking is Taking.ITERATOR:
            return True
        if isinstance(consumer.node, ast.Call):
            steps = {"steps", "steps_per_epoch", "validation_steps"}
            return any(
                keyword.arg in steps or keyword.arg is None for keyword in consumer.node.keywords
            )
        if any(isinstance(outer, ast.Try) for outer in self._flow.enclosing(consumer.node)):
            return True
        return isinstance(consumer.node, (ast.For, ast.AsyncFor)) and any(
            isinstance(node, (ast.Return, ast.Raise)) or self._leaves(node, consumer.node)
            for statement in consumer.node.body
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
        return any(
            part in set(stages(self._pipelines.value(other.expr)))
            for other in self._pipelines.consumers
            if other is not consumer
        )

    def _loops(self, node: ast.AST) -> Iterator[ast.AST]:
        for outer in self._flow.enclosing(node):
            if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
                yield outer


def _line(consumer: Consumer) -> int:
    return consumer.expr.lineno
