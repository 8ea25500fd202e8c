"""Whether a graph may get a pipeline, and where that is made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts

_EXPORTING = (
    "saved_model", "SavedModelBuilder", "simple_save", "freeze_graph", "write_graph",
    "convert_variables_to_constants", "export_meta_graph", "TFLiteConverter", "toco_convert",
    "extract_sub_graph", "graph_transforms",
)  # fmt: skip
_IMPORTING = ("import_meta_graph", "import_graph_def")
_DISTRIBUTED = ("train.Server", "ClusterSpec", "replica_device_setter", "grpc://")


class PipelinePlaces:
    """Asks for a batch that is fed whether its graph could make it, and from where on."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._scopes = facts.scopes
        self._hoisting = facts.hoisting

    def forbidden(self, batch: FedBatch) -> Obstacle | None:
        """Why the graph of a batch must not have a pipeline."""
        return self._file() or self._run(batch)

    def _file(self) -> Obstacle | None:
        """Whether the graph is made in this program, and stays in it."""
        if self._facts.dynamics.obstacle:
            return Obstacle("dynamic-code", self._facts.dynamics.obstacle)
        if self._facts.dynamics.rewires_graph:
            return Obstacle("graph-surgery", "the file changes the graph or gradients afterwards")
        for word in _EXPORTING:
            if word in self._source.text:
                message = (
                    f"`{word}`: a graph that leaves the program would take the pipeline with it"
                )
                return Obstacle("graph-exported", message)
        for word in _IMPORTING:
            if word in self._source.text:
                message = f"`{word}`: what a graph that is read from elsewhere needs is not seen"
                return Obstacle("graph-imported", message)
        for word in _DISTRIBUTED:
            if word in self._source.text:
                message = f"`{word}`: the pipeline's Python has to run in the process of the script"
                return Obstacle("distributed", message)
        return None

    def _run(self, batch: FedBatch) -> Obstacle | None:
        """Whether the session is known, is here, and leaves the graph open."""
        run = batch.run
        if run.kind is SessionKind.HOOKED:
            return Obstacle("hooked-session", f"`{run.session}` closes its graph and runs hooks")
        if run.kind is SessionKind.UNKNOWN:
            message = f"it is not known which kind of session `{run.session}` is"
            return Obstacle("session-unknown", message)
        if "operation_timeout_in_ms" in self._source.text:
            message = "`operation_timeout_in_ms` ends runs that wait for a batch"
            return Obstacle("session-unknown", message)
        if run.options:
            return Obstacle("run-options", "the run asks for options or metadata of its own")
        if isinstance(self._scopes.of(run.call).node, ast.ClassDef):
            return Obstacle("session-unknown", "the loop stands in the body of a class")
        func = run.call.func
        if run.direct and isinstance(func, ast.Attribute):
            unsure = self._hoisting.unsure(func.value, batch.loop)
            if unsure is not None:
                return Obstacle("session-unknown", unsure.message)
        elif len(run.call.args) > 1 or any(one.arg == "session" for one in run.call.keywords):
            return Obstacle("session-unknown", "the session is given to `eval` or `run`")
        for call in self._source.all(ast.Call):
            if self._facts.names.tf(call.func) in ("Session", "InteractiveSession"):
                if call.args or any(keyword.arg in ("target", None) for keyword in call.keywords):
                    message = f"the session of line {call.lineno} may be one of another process"
                    return Obstacle("distributed", message)
        return None

    def tensorflow(self, batch: FedBatch, calls: list[ast.Call]) -> Obstacle | None:
        """Whether the loop calls TensorFlow as all those calls do."""
        prefixes = {ast.unparse(call.func) for call in calls}
        if len(prefixes) != 1:
            return Obstacle("placeholder-unclear", "TensorFlow goes by several names")
        func = calls[0].func
        assert isinstance(func, ast.Attribute)
        root: ast.expr = func.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return Obstacle("placeholder-unclear", "TensorFlow is not called by its name")
        scope = self._scopes.of(batch.loop)
        if scope.owner(root.id) is not self._scopes.of(calls[0]).owner(root.id):
            return Obstacle("placeholder-unclear", f"`{root.id}` means something else at the loop")
        return None

    def place(self, batch: FedBatch, first: ast.stmt | None = None) -> ast.stmt | Obstacle:
        """The statement before which the pipeline is made, the outermost loop, if nobody notices.

        `first` is that of the first placeholder, where these change.
        """
        place = self._hoisting.outermost(batch.loop)
        if first is None:
            noticed = self._facts.graph_readers.noticing(None, place)
        else:
            noticed = self._facts.graph_readers.noticing("Placeholder", first)
            noticed = noticed or self._facts.op_names.shown_placeholder()
        found = (
            noticed
            or self._facts.graph_readers.closed(place)
            or self._facts.placeholders.scopes_around(place)
            or self._again(place, set())
        )
        if found is not None:
            return found
        block, _ = self._source.position(place)
        parent = self._source.parent(place)
        if isinstance(parent, ast.If) and block is parent.orelse and isinstance(place, ast.If):
            return Obstacle("placeholder-elsewhere", "there is no statement before the loop")
        return place

    def _again(self, node: ast.AST, seen: set[ast.AST]) -> Obstacle | None:
        """Whether the loop stands in a function that is called in a loop: the graph would grow."""
        function = self._source.function(node)
        if not isinstance(function, ast.FunctionDef) or function in seen:
            return None
        seen.add(function)
        for call in self._facts.classes.calls(function.name):
            if self._hoisting.loops(call):
                message = (
                    f"line {call.lineno} calls `{function.name}` in a loop, and the pipeline would"
                    " be made each time"
                )
                return Obstacle("called-in-loop", message)
            found = self._again(call, seen)
            if found is not None:
                return found
        return None
