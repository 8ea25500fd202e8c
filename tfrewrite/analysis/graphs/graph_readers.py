"""Code that can tell how many ops a graph has and what they are called, or that changes graphs."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.symbols import CLOSING_GRAPH, SUMMARY_WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun

_COUNTING = frozenset(
    "get_operations get_operation_by_name as_graph_element as_graph_def graph_def _last_id"
    " _nodes_by_name _nodes_by_id _names_in_use unique_name export_meta_graph write_graph"
    " import_graph_def consumers analyze_ops".split()
)
_PROFILERS = ("profiler.", "contrib.tfprof.", "python.profiler.")
_PROFILING = frozenset({"profile", "advise", "Profiler", "print_model_analysis"})
_PLACEMENT = "log_device_placement"
_RUNNING = frozenset({"run", "eval", "make_callable", "partial_run"})
_GRAPHS = ("graph", "graph_def")
_EAGER = frozenset(
    "enable_eager_execution executing_eagerly enable_v2_behavior eager_mode init_scope"
    " executing_eagerly_outside_functions run_functions_eagerly".split()
)


class GraphReaders:
    """Finds what would notice that ops are fewer, or made elsewhere."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._hoisting = facts.hoisting
        self._handlers = facts.handlers

    def obstacle(self, op_type: str | None, loop: ast.stmt) -> Obstacle | None:
        """What would notice that ops of a type are made once before a loop instead of in it.

        Without a type they may be of any.
        """
        return self.noticing(op_type, loop) or self._changing(loop) or self.closed(loop)

    def noticing(self, op_type: str | None, loop: ast.stmt | None = None) -> Obstacle | None:
        """What would notice, once a loop has begun, that ops are fewer and are called otherwise."""
        line = self.logging_placement
        if line:
            message = f"`log_device_placement` in line {line} prints each op that is made"
            return Obstacle("graph-read", message)
        return self._eager or self._reading(op_type, loop)

    @cached_property
    def logging_placement(self) -> int:
        """The line that may ask for the device of each op to be printed; 0 where none does."""
        for one in self._source.all(ast.keyword):
            off = isinstance(one.value, ast.Constant) and not one.value.value
            if one.arg == _PLACEMENT and not off:
                return one.value.lineno
        found = (one for one in self._source.all(ast.Attribute) if one.attr == _PLACEMENT)
        return next((one.lineno for one in found if isinstance(one.ctx, ast.Store)), 0)

    @cached_property
    def _eager(self) -> Obstacle | None:
        for line, word in self._words():
            if word in _EAGER:
                message = f"`{word}` in line {line}: outside of a graph the call itself takes it"
                return Obstacle("eager-mode", message)
        return None

    def _words(self) -> list[tuple[int, str]]:
        words = [(node.lineno, node.attr) for node in self._source.all(ast.Attribute)]
        words += [(node.lineno, node.id) for node in self._source.all(ast.Name)]
        for statement in self._source.all(ast.ImportFrom):
            words += [(statement.lineno, alias.name) for alias in statement.names]
        return sorted(words)

    def _reading(self, op_type: str | None, loop: ast.stmt | None) -> Obstacle | None:
        counting = self.counting(loop)
        if counting is not None:
            return counting
        for call in self._source.all(ast.Call):
            what = self._looking(call, op_type)
            if what and not self._surely_before(call, loop):
                return _seen(call, what)
        return None

    def counting(self, place: ast.stmt | None = None) -> Obstacle | None:
        """What would notice that the graph has other ops, from a place on if one is given."""
        for node in self._source.all(ast.Attribute):
            counted = node.attr == "version" and self._names.dotted(node) is None
            if node.attr in _COUNTING or (counted and self._may_be_graph(node.value)):
                if not self._surely_before(node, place):
                    return _seen(node, "lists or counts the ops of the graph")
        return None

    def _may_be_graph(self, owner: ast.expr) -> bool:
        """Whether a value is called a graph, or got its value from something that is."""
        bindings = self._scopes.bindings(owner) if isinstance(owner, ast.Name) else []
        values = [owner, *(binding.value for binding in bindings if binding.value is not None)]
        return any("graph" in ast.unparse(value).lower() for value in values)

    def _looking(self, call: ast.Call, op_type: str | None) -> str:
        """What a call does with the graph: it looks up a tensor, or writes the graph to a file."""
        name = getattr(call.func, "attr", "")
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if name == "get_tensor_by_name":
            texts = [one.value if isinstance(one, ast.Constant) else None for one in given]
            other = all(
                isinstance(text, str) and op_type is not None and op_type not in text
                for text in texts
            )
            return "" if other else "looks up a tensor by its name"
        if name in _RUNNING and any(_may_name(text, op_type) for text in _names_in(call)):
            return "runs or feeds a tensor by its name"
        if name == "device" and any(map(self._is_function, given)):
            return "asks a function for the device of each op that is made"
        symbol = self._names.tf(call.func) or ""
        if symbol.startswith(_PROFILERS) and symbol.rpartition(".")[2] in _PROFILING:
            return "profiles the ops of the graph"
        makes_writer = self._names.tf(call.func) in SUMMARY_WRITERS
        graphs = call.args[1:2] + [one.value for one in call.keywords if one.arg in _GRAPHS]
        if makes_writer and any(ast.unparse(one) != "None" for one in graphs):
            return "writes the graph to a file"
        return "writes the graph to a file" if name == "add_graph" else ""

    def _is_function(self, value: ast.expr) -> bool:
        name = getattr(value, "attr", getattr(value, "id", ""))
        own = any(function.name == name for function in self._source.all(ast.FunctionDef))
        return isinstance(value, ast.Lambda) or own

    def _changing(self, loop: ast.stmt) -> Obstacle | None:
        for call in self._source.all(ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name in ("reset_default_graph", "clear_session") or self.enters_graph(call):
                elsewhere = self._source.function(call) is not self._source.function(loop)
                if elsewhere or loop in self._source.ancestors(call):
                    message = f"line {call.lineno} changes the default graph"
                    return Obstacle("graph-changes", message)
        return None

    def closed(self, loop: ast.stmt) -> Obstacle | None:
        """What may have closed the graph when a loop begins."""
        for call in self.closing:
            if not self._surely_after(call, loop):
                message = f"line {call.lineno} closes the graph, and an op made later raises"
                return Obstacle("graph-finalized", message)
        return None

    @cached_property
    def closing(self) -> list[ast.Call]:
        """The calls that close a graph, or give the session of a supervisor that has done so."""
        return [
            call
            for call in self._source.all(ast.Call)
            if getattr(call.func, "attr", "") in ("finalize", "managed_session")
            or self._names.tf(call.func) in CLOSING_GRAPH
        ]

    def enters_graph(self, call: ast.Call) -> bool:
        """Whether a session makes its graph the default one for good."""
        if self._names.tf(call.func) != "InteractiveSession":
            return False
        return len(call.args) > 1 or any(
            keyword.arg in ("graph", None) for keyword in call.keywords
        )

    def told(self, runs: Iterable[SessionRun]) -> Obstacle | None:
        """What looks into an exception of a run, which names the op that failed."""
        for run in runs:
            looking = self._handlers.reading(run.call)
            if looking:
                return Obstacle("graph-read", f"{looking}, which names an op")
        return None

    def _surely_before(self, node: ast.expr, loop: ast.stmt | None) -> bool:
        if loop is None:
            return False
        same = self._source.function(node) is self._source.function(loop)
        if not same or not self._hoisting.comes_first(self._source.statement(node), loop):
            return False
        return not set(self._hoisting.loops(loop)) & set(self._hoisting.loops(node))

    def _surely_after(self, call: ast.Call, loop: ast.stmt) -> bool:
        same = self._source.function(call) is self._source.function(loop)
        if not same or not self._hoisting.comes_first(loop, self._source.statement(call)):
            return False
        shared = set(self._hoisting.loops(loop)) & set(self._hoisting.loops(call))
        return not shared


def _names_in(call: ast.Call) -> list[str]:
    """The names of tensors that a run is given: as what to fetch, or as a key of a feed."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    dicts = [node for one in given for node in ast.walk(one) if isinstance(node, ast.Dict)]
    keys = [key.value for one in dicts for key in one.keys if isinstance(key, ast.Constant)]
    fed = [key for key in keys if isinstance(key, str) and ":" in key]
    named: list[ast.expr] = []
    fetches = call.args[:1] + [one.value for one in call.keywords if one.arg == "fetches"]
    for fetch in fetches:
        if not isinstance(fetch, ast.Dict):
            named += [fetch, *getattr(fetch, "elts", ())]
    texts = [one.value for one in named if isinstance(one, ast.Constant)]
    return [*fed, *(text for text in texts if isinstance(text, str))]


def _may_name(text: str, op_type: str | None) -> bool:
    return op_type is None or op_type in text


def _seen(node: ast.expr, what: str) -> Obstacle:
    return Obstacle("graph-read", f"line {node.lineno} {what}")
