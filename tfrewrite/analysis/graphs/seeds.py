"""The seeds of random ops: whether new ops in the graph change them."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.pipelines.dataset_uses import Consumer, Taking
from tfrewrite.analysis.program.python_calls import CallEffect, effect_of_path, gives_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts

# Measured: an op without a seed has its seed from the number of ops made before it on 1.15, and
# from the number of random ops on 2.21. When that changed in between was not measured.
_COUNTS_RANDOM_OPS_ONLY = (2, 21)
_GRAPH_SEEDS = frozenset(
    ["set_random_seed", "random.set_random_seed", "random.set_seed", "keras.utils.set_random_seed"]
)
# They also forget the kernels that were made, so that a compiled function is set up anew: a small
# step of 1.3 ms took 110 ms, and 26 (2.15) or 84 (2.21) eagerly.
_FORGETTING = frozenset(["random.set_seed", "keras.utils.set_random_seed"])
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_TRACING = frozenset({"function", "contrib.eager.defun", "contrib.eager.function", "wrap_function"})
_TRACED_METHODS = frozenset({"train_step", "test_step", "call", "model_fn"})
_ONLY_EAGER = frozenset(
    ["enable_eager_execution", "enable_v2_behavior", "compat.v1.enable_eager_execution"]
)
_ONLY_GRAPH = frozenset(
    [
        "Session",
        "InteractiveSession",
        "placeholder",
        "disable_v2_behavior",
        "disable_eager_execution",
        "global_variables_initializer",
        "get_default_graph",
        "Graph",
        "set_random_seed",
        "random.set_random_seed",
    ]
)


class Seeds:
    """Questions about where the draws of random ops come from."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._own = facts.own_calls
        self._flow = facts.flow
        self._target_tf = facts.target_tf

    def shifted_by_new_ops(self, place: ast.expr, consumer: Consumer | None) -> bool:
        """Whether ops added at a place give the random ops made after them other seeds.

        Only in a graph whose seed is set: without, the draws are others in each run anyway.
        `consumer` is None where nobody in the file takes the elements.
        """
        depend = self.depend_on_ops_before
        return depend and self._in_graph(place, consumer) and self._draws_unseeded

    @property
    def depend_on_ops_before(self) -> bool:
        """Whether ops without a seed get one that depends on how many ops there are before them."""
        if self._target_tf is not None and self._target_tf >= _COUNTS_RANDOM_OPS_ONLY:
            return False
        return self._graph_seed

    def _in_graph(self, place: ast.expr, consumer: Consumer | None) -> bool:
        """Whether the pipeline is made in a graph, as far as it may be."""
        function = self._source.function(place)
        traced = function is not None and self._traces and self._may_be_traced(function, set())
        if consumer is not None and consumer.taking in (Taking.LOOP, Taking.ITERATOR):
            return traced
        if consumer is not None and consumer.taking is Taking.GRAPH:
            return True
        if consumer is None and traced:
            return True
        return bool(self._symbols & _ONLY_GRAPH) and not self._symbols & _ONLY_EAGER

    def set_in_turns_of(self, calls: Iterable[ast.Call]) -> ast.Call | None:
        """What sets the seed of eager mode in each turn of a loop that makes one of some calls."""
        turned = {self._loop(call) for call in calls} - {None}
        for call in self._calls:
            if self._names.tf(call.func) in _FORGETTING and turned & self._loops_of(call, set()):
                return call
        return None

    def _loops_of(self, call: ast.Call, seen: set[ast.AST]) -> set[ast.AST | None]:
        """The loops each of whose turns makes a call, by itself or in functions of the file."""
        loop = self._loop(call)
        function = self._source.function(call)
        if loop is not None or not isinstance(function, ast.FunctionDef) or function in seen:
            return {loop}
        seen.add(function)
        callers = self._own.calls(function) or []
        return {loop for one in callers for loop in self._loops_of(one, seen)}

    def _loop(self, call: ast.Call) -> ast.AST | None:
        """The innermost loop around a call."""
        return next((one for one in self._flow.enclosing(call) if isinstance(one, _LOOPS)), None)

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return self._source.all(ast.Call)

    @cached_property
    def _symbols(self) -> frozenset[str]:
        symbols = (self._names.tf(call.func) for call in self._calls)
        return frozenset(symbol for symbol in symbols if symbol is not None)

    @cached_property
    def _traces(self) -> bool:
        """Whether functions of the file may run in a graph: traced, or called by one that is."""
        named = [*self._source.all(ast.Name), *self._source.all(ast.Attribute)]
        return any(self._names.tf(node) in _TRACING for node in named) or any(
            function.name in _TRACED_METHODS for function in self._source.all(ast.FunctionDef)
        )

    def _may_be_traced(self, function: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a function may run in a graph, by itself or by one that calls it."""
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return True
        in_class = isinstance(self._source.parent(function), ast.ClassDef)
        calls = self._own.calls(function)
        if in_class or not calls or function.name in _TRACED_METHODS:
            return True
        seen.add(function)
        callers = [self._source.function(call) for call in calls]
        return any(
            one is not None and one not in seen and self._may_be_traced(one, seen)
            for one in callers
        )

    @cached_property
    def _graph_seed(self) -> bool:
        if self._symbols & _GRAPH_SEEDS or any(self._may_seed(call) for call in self._calls):
            return True
        return any(
            node.attr == "seed" and isinstance(node.ctx, ast.Store)
            for node in self._source.all(ast.Attribute)
        )

    def _may_seed(self, call: ast.Call) -> bool:
        """Whether a call sets a graph's seed in a way of its own: an estimator, another file."""
        if any(keyword.arg == "tf_random_seed" for keyword in call.keywords):
            return True
        path = self._names.dotted(call.func) or ""
        if path.startswith(("numpy.", "random.")) or self._own.function(call) is not None:
            return False
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        return "seed" in name.lower() and self._names.tf(call.func) is None

    @cached_property
    def _draws_unseeded(self) -> bool:
        """Whether the file may make random ops that have no seed of their own."""
        return any(self._may_draw(call) for call in self._calls)

    def _may_draw(self, call: ast.Call) -> bool:
        symbol = self._names.tf(call.func)
        path = self._names.dotted(call.func)
        if symbol is None:
            if path is None:
                return isinstance(call.func, ast.Name) and self._own.function(call) is None
            known = effect_of_path(path) is not CallEffect.UNKNOWN or gives_data(path)
            return not known and not path.startswith("builtins.")
        if symbol.startswith("data."):
            return False
        return self.symbol_draws(symbol, call)

    def symbol_draws(self, symbol: str, call: ast.Call) -> bool:
        """Whether a call of a TensorFlow symbol may make random ops without a seed of their own."""
        if symbol in _GRAPH_SEEDS or symbol.startswith(("app.", "flags.", "logging.")):
            return False
        effect = effect_of(symbol)
        if effect is None or symbol.startswith(("keras.", "layers.", "contrib.")):
            return True
        seeded = any(keyword.arg == "seed" for keyword in call.keywords)
        makes = "creates" in effect.flags and not symbol.endswith("Variable")
        optimizer = symbol.startswith("train.")
        return ("random" in effect.flags and not seeded) or (makes and not optimizer)
