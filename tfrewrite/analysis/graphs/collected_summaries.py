"""What `tf.summary.merge_all()` collects, where all that may make a summary before it is seen.

It merges the summaries that the graph has at that moment. They are followed as if all that the
file makes until then were among them: there may be fewer, in another graph or under a condition.
So what is beneath the merged summaries is known, but not that all of it is computed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.graphs.graph import GRAPH_MODE
from tfrewrite.analysis.graphs.nodes import (
    COLLECTED,
    Frame,
    Kind,
    Node,
    beneath,
    plain,
    text,
    unknown,
)
from tfrewrite.analysis.symbols import (
    BUILDING_NOTHING,
    DATASETS,
    SESSIONS,
    SUMMARY_WRITERS,
    VARIABLES,
)

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_SUMMARIES = frozenset(
    f"summary.{kind}" for kind in "scalar histogram image audio text tensor_summary".split()
)
_LABELS = frozenset({"name", "family", "display_name", "summary_description"})
_MAX_SUMMARIES = 64
_MAX_DEPTH = 4
# Others of TensorFlow 1.15.5 that add to the collection of summaries: each symbol that adds to any
# was measured, and its source was searched for what does so with some arguments only.
_QUEUES = ("batch", "batch_join", "input_producer")
_TRAINING_IN_CONTRIB = frozenset({"optimize_loss", "adaptive_clipping_fn"})
_OF_COLLECTIONS = frozenset({"add_to_collection", "add_to_collections", "get_collection_ref"})
_ADDING_NONE_IN_CONTRIB = tuple(
    f"contrib.{module}." for module in "layers losses rnn framework slim".split()
)
_ADDING_NONE_IN_KERAS = tuple(
    f"keras.{module}." for module in "layers initializers regularizers activations".split()
)
# What these do to the machine cannot be probed; to the graph they do nothing, or empty it.
_KNOWN = frozenset(
    "set_random_seed random.set_random_seed reset_default_graph train.checkpoint_exists"
    " train.write_graph io.write_graph disable_v2_behavior disable_eager_execution".split()
)
_NAMING = frozenset({"name_scope", "variable_scope"})
_OF_TENSORS = frozenset({"get_shape", "set_shape", "as_list", "eval"})
_OF_GRAPHS = frozenset({"as_default", "device", "name_scope", "finalize", "as_graph_def"})
_GRAPHS = frozenset({"Graph", "get_default_graph"})
_HANDLING_COLLECTIONS = _OF_COLLECTIONS | {"SUMMARIES", "_collections"}
_RUNNING_CODE = frozenset(f"builtins.{name}" for name in "__import__ exec eval execfile".split())
_CALLING_NOTHING = frozenset({"builtins.print", "builtins.isinstance"})
_IMPORTING = frozenset("importlib imp pkgutil runpy".split())
_DECORATORS = frozenset(
    "builtins.property builtins.staticmethod builtins.classmethod functools.wraps"
    " contextlib.contextmanager".split()
)


class CollectedSummaries:
    """Follows what `merge_all` gives to the values that summaries are made of."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes
        self._own = facts.own_calls
        self._tracer = facts.graph
        self._building = facts.building
        self._beforehand = facts.beforehand
        self._known: dict[Node, Node] = {}

    def followed(self, value: Node) -> Node:
        """A fetched value, or a structure of some, with all that merged summaries are made of."""
        value = plain(value)
        if value.kind is Kind.OP and value.symbol == COLLECTED:
            if value not in self._known:
                self._known[value] = self._collected(value)
            return self._known[value]
        if value.kind is not Kind.STRUCTURE:
            return value
        inputs = [(key, self.followed(part)) for key, part in value.inputs]
        if all(new is plain(old) for (_, new), (_, old) in zip(inputs, value.inputs, strict=True)):
            return value
        return Node(Kind.STRUCTURE, value.expr, inputs=inputs, many=value.many)

    def _collected(self, value: Node) -> Node:
        call = value.expr
        assert isinstance(call, ast.Call)
        if call.args or call.keywords or value.many:
            return unknown(call, f"`{text(call)}`, which collects values from the whole graph")
        past = self._beforehand.past(self._source.statement(call))
        why = past.unseen or self._unseen(past.nodes)
        made = [node for node in past.nodes if self._is_summary(node)]
        if not why and not made:
            why = "none of them is seen"
        if why:
            return unknown(call, f"all summaries of the graph, and {why}")
        summaries: list[Node] = []
        for summary in made:
            assert isinstance(summary, ast.Call)
            summaries += self._shown(summary)
        if len(summaries) > _MAX_SUMMARIES:
            return unknown(call, "all summaries of the graph, which are too many")
        inputs = [("", summary) for summary in summaries]
        merged = Node(
            Kind.OP,
            call,
            COLLECTED,
            [("inputs", Node(Kind.STRUCTURE, call, inputs=inputs))],
            effect=effect_of("summary.merge", GRAPH_MODE),
        )
        merged.controls = value.controls
        return merged

    def _is_summary(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._names.tf(node.func) in _SUMMARIES

    def _summary(self, call: ast.Call, frame: Frame | None) -> Node:
        """The node of a summary, without what is only written on it."""
        node = plain(self._tracer.trace(call, frame))
        given = dict(node.inputs)
        starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        if node.kind is Kind.OP and (starred or given.keys() & {"**", "collections"}):
            return unknown(call, f"the summary of line {call.lineno}, which may not be collected")
        if node.kind is not Kind.OP:
            return node
        inputs = [(key, value) for key, value in node.inputs if key not in _LABELS]
        shown = Node(Kind.OP, call, node.symbol, inputs, effect=node.effect, many=node.many)
        shown.controls = node.controls
        return shown

    def _shown(self, call: ast.Call) -> list[Node]:
        """A summary in each call of the function that makes it, from as near as it is known."""
        function = self._source.function(call)
        for depth in range(_MAX_DEPTH + 1):
            frames = self._frames(function, depth)
            shown = [self._summary(call, frame) for frame in frames or ()]
            if shown and not any(node.kind is Kind.UNKNOWN for node in beneath(*shown)):
                return shown
        if shown:
            return shown
        name = getattr(function, "name", "a lambda")
        return [unknown(call, f"the summary of line {call.lineno}, and on who calls `{name}`")]

    def _frames(self, function: ast.AST | None, depth: int) -> list[Frame | None] | None:
        """All evaluations of a function, seen from so many calls away; None where some are not.

        What runs once only needs no call to be told apart from others.
        """
        if function is None:
            return [None]
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        if depth == 0:
            return [None] if self._beforehand.once(function) else None
        cls = self._source.parent(function)
        if isinstance(cls, ast.ClassDef):
            frames = self._of_objects(cls, function, depth)
            if frames is not None:
                return frames
        calls = self._beforehand.callers(function)
        found: list[Frame | None] = []
        for call in calls or ():
            outers = self._frames(self._source.function(call), depth - 1)
            if outers is None or len(found) > _MAX_SUMMARIES:
                return None
            for outer in outers:
                receiver = None
                if isinstance(cls, ast.ClassDef):
                    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
                    receiver = self._tracer.trace(owner, outer)
                    if receiver.kind is not Kind.INSTANCE or not function.args.args:
                        return None
                found.append(self._tracer.inlining.frame(call, function, outer, receiver))
        return found if calls else None

    def _of_objects(
        self, cls: ast.ClassDef, method: ast.FunctionDef, depth: int
    ) -> list[Frame | None] | None:
        """What a method sees in each object of a class, where its arguments are known from that."""
        made = self._classes.instantiations(cls)
        if self._classes.extended(cls) or self._classes.family(cls) is None:
            return None
        found: list[Frame | None] = []
        for call in made:
            outers = self._frames(self._source.function(call), depth - 1)
            if outers is None or len(found) > _MAX_SUMMARIES:
                return None
            for outer in outers:
                frame = self._tracer.objects.frame(self._tracer.trace(call, outer), method)
                if not _parameters(method) <= frame.arguments.keys():
                    return None
                found.append(frame)
        return found or None

    # What may make summaries

    def _unseen(self, nodes: list[ast.AST]) -> str:
        """What may make a summary that is not seen as one, in words; empty where nothing may."""
        found = [node for node in nodes if self._may_add(node)]
        if not found:
            return ""
        first = min(found, key=lambda node: getattr(node, "lineno", 0))
        return f"line {getattr(first, 'lineno', 0)} may add some that are not known"

    def _may_add(self, node: ast.AST) -> bool:
        match node:
            case ast.Call():
                return self._call_may_add(node)
            case ast.Import() | ast.ImportFrom():
                return self._building.first_op([node]) is not None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return not all(map(self._is_known_decorator, node.decorator_list))
            case ast.alias(name=name):
                return name in _HANDLING_COLLECTIONS
            case ast.Attribute() | ast.Name():
                handles = getattr(node, "attr", "") in _HANDLING_COLLECTIONS
                return handles or self._hands_on(node)
            case ast.Constant(value="summaries"):
                user = self._source.parent(node)
                return not isinstance(user, ast.Call) or self._names.tf(user.func) not in _NAMING
        return False

    def _hands_on(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a part of TensorFlow that may add summaries is given to be called elsewhere."""
        path = self._names.dotted(node) or ""
        user = self._source.parent(node)
        if isinstance(user, ast.Attribute) or _is_alias(user):
            return False
        if path == "tensorflow":
            return True
        symbol = self._names.tf(node)
        if symbol is None or (isinstance(user, ast.Call) and user.func is node):
            return False
        value = self._tracer.trace(node)
        if value.kind is Kind.OBJECT:
            return symbol in _SUMMARIES or self.symbol_may_add(symbol)
        about = symbol.endswith("__")  # the version
        return value.kind is Kind.UNKNOWN and not about  # a module, or not known

    def _is_known_decorator(self, decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._names.dotted(called) in _DECORATORS or self._own.named(called) is not None

    def _call_may_add(self, call: ast.Call) -> bool:
        symbol = self._names.tf(call.func)
        if symbol is not None:
            return self.symbol_may_add(symbol)
        cls = self._classes.defined(call.func)
        if cls is not None:
            return self._classes.family(cls) is None
        path = self._names.dotted(call.func) or ""
        if path in _RUNNING_CODE or path.partition(".")[0] in _IMPORTING:
            return True
        if path in _CALLING_NOTHING or self._building.makes_none(call):
            return False
        value = self._tracer.trace(call)
        if value.effect is not None and value.expr is call:
            return self.symbol_may_add(value.symbol)
        if not isinstance(call.func, ast.Attribute):
            return True
        receiver = self._tracer.trace(call.func.value)
        if receiver.kind is Kind.OBJECT and receiver.symbol in _GRAPHS:
            return call.func.attr not in _OF_GRAPHS
        tensor = receiver.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT, Kind.CONSTANT)
        return not tensor or call.func.attr not in _OF_TENSORS

    def symbol_may_add(self, symbol: str) -> bool:
        """Whether a symbol of TensorFlow may add summaries that are not looked at."""
        if symbol in _SUMMARIES | VARIABLES | SESSIONS | SUMMARY_WRITERS | _KNOWN:
            return False
        if symbol.startswith((*BUILDING_NOTHING, *DATASETS)):
            return False
        effect = effect_of(symbol, GRAPH_MODE)
        name = symbol.rpartition(".")[2]
        if effect is None or effect.calls or name in _OF_COLLECTIONS:
            return True
        if effect.host and not effect.returns_tensor:
            return True  # it could not be probed
        if symbol.startswith("train."):
            return name.endswith(_QUEUES)
        if symbol.startswith("contrib."):
            shows = "summar" in name or name in _TRAINING_IN_CONTRIB
            return shows or not symbol.startswith(_ADDING_NONE_IN_CONTRIB)
        if symbol.startswith("keras."):
            return not symbol.startswith(_ADDING_NONE_IN_KERAS)
        return symbol.startswith("estimator.")


def _parameters(function: ast.FunctionDef) -> set[str]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {one.arg for one in every if one is not None}


def _is_alias(statement: ast.AST | None) -> bool:
    """Whether an assignment gives a value one more name, by which it is known as before."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return len(targets) == 1 and isinstance(targets[0], ast.Name)
