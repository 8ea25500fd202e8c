"""Code that changes what names, attributes or the graph mean, unseen by the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import Kind
from tfrewrite.analysis.program.python_calls import gives_data
from tfrewrite.analysis.symbols import SETTINGS

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_NAMESPACES = frozenset(
    f"builtins.{name}" for name in "globals locals vars exec eval setattr delattr".split()
)
_HIDDEN = frozenset(
    "__dict__ __setattr__ __enter__ __class__ enter_context __defaults__ __kwdefaults__ __code__"
    " __globals__ __closure__ f_globals".split()
)
# Names that stand for threads, and for functions that windows call.
_UNSEEN = frozenset(
    "threading multiprocessing concurrent _thread start_queue_runners create_threads QueueRunners"
    " mpl_connect FuncAnimation LooperThread".split()
)
_IMPORTING = frozenset({"importlib.import_module", "builtins.__import__"})
_QUEUES = frozenset({"start_queue_runners", "create_threads", "QueueRunners"})
# What is handed to these is called back later, at any moment.
_HOOKS = (
    "signal.", "weakref.", "sys.settrace", "sys.setprofile", "numpy.seterrcall",
    "numpy.set_string_function", "numpy.set_printoptions",
)  # fmt: skip
_PLAIN_TYPES = frozenset({"int", "float", "list", "dict", "set", "str"})
_RUNNING = frozenset({"run", "eval", "minimize", "apply_gradients", "compute_gradients"})
_REWIRING = (
    "graph_editor",
    "_update_input",
    "_add_control_input",
    "gradient_override_map",
    "RegisterGradient",
    "custom_getter",
    "create_training_graph",
    "create_eval_graph",
    "mixed_precision_graph_rewrite",
    "mock.patch",
    "mock import",
    "import mock",
    "mocker.patch",
    "monkeypatch",
)


def _given(call: ast.Call) -> list[ast.expr]:
    """What a call hands over; the object that a weak reference is to is not kept."""
    weak = isinstance(call.func, ast.Attribute) and call.func.attr in ("ref", "proxy", "finalize")
    return [*call.args[1 if weak else 0 :], *(keyword.value for keyword in call.keywords)]


class Dynamics:
    """Finds, in a file, what makes the rest of the analysis worthless."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes
        self._tracer = facts.graph

    @cached_property
    def rewires_graph(self) -> bool:
        """Whether the file changes edges or gradients of a graph that is already built."""
        return any(word in self._source.text for word in _REWIRING)

    @cached_property
    def obstacle(self) -> str:
        """What makes the rest worthless, in a sentence; empty where there is nothing."""
        return self._obstacle(_UNSEEN)

    @cached_property
    def obstacle_in_eager_code(self) -> str:
        """The same where no graph is built by hand: what is stored in objects is left to others."""
        changing = self._changing(objects=False)
        if changing:
            return f"{changing} may change what anything means"
        running = self._running_unseen(_UNSEEN)
        return f"{running} runs code at moments that the text does not show" if running else ""

    @cached_property
    def obstacle_beside_queues(self) -> str:
        """The same, but for the threads of queue runners: they only run ops of the graph."""
        return self._obstacle(_UNSEEN - _QUEUES)

    def _obstacle(self, unseen: frozenset[str]) -> str:
        if self.changed_meaning:
            return self.changed_meaning
        running = self._running_unseen(unseen)
        return f"{running} runs code at moments that the text does not show" if running else ""

    @cached_property
    def changed_meaning(self) -> str:
        """What changes the meaning of names, attributes or graphs unseen, in a sentence."""
        changing = self._changing() or self._loose_dependencies()
        return f"{changing} may change what anything means" if changing else ""

    def _changing(self, *, objects: bool = True) -> str:
        """Code that changes what names and attributes mean."""
        for statement in self._source.all(ast.ImportFrom):
            module = statement.module or ""
            known = gives_data(module) or module.partition(".")[0] in ("tensorflow", "keras")
            if statement.names[0].name == "*" and (statement.level or not known):
                # It may bring another `print`, or another `tf`.
                return f"`{ast.unparse(statement)}` in line {statement.lineno}"
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func)
            made = path == "builtins.type" and len(call.args) > 1  # a class that has no text
            if made or (path in _NAMESPACES and not self._only_compares(call)):
                return f"`{ast.unparse(call.func)}(...)` in line {call.lineno}"
        for text in self._source.all(ast.Constant):
            if isinstance(text.value, str) and text.value in _HIDDEN:
                return f"`{text.value}` in line {text.lineno}"
        for place in self.modules:
            if not self._is_searched(place):
                return f"`{ast.unparse(place)}` in line {place.lineno}"
        if self.reached_otherwise:
            return self.reached_otherwise
        if self._classes.undecided is not None:
            return f"what decides on methods in line {self._classes.undecided.lineno}"
        for attribute in self._source.all(ast.Attribute):
            if attribute.attr in _HIDDEN:
                return f"`{ast.unparse(attribute)}` in line {attribute.lineno}"
            is_set = not isinstance(attribute.ctx, ast.Load)
            if is_set and self._replaces(attribute, objects=objects):
                return f"`{ast.unparse(attribute)}`, which line {attribute.lineno} replaces,"
        return ""

    @cached_property
    def modules(self) -> list[ast.expr]:
        """The places that say `sys.modules`, under whatever name."""
        if "modules" not in self._source.text:
            return []
        places = (*self._source.all(ast.Attribute), *self._source.all(ast.Name))
        return [place for place in places if self._names.dotted(place) == "sys.modules"]

    @cached_property
    def reached_otherwise(self) -> str:
        """What reaches a name or an attribute by another spelling than the one that it has here."""
        for statement in self._source.all(ast.Import):
            if any(alias.name == "__main__" for alias in statement.names):
                # Every name of the file is an attribute of it.
                return f"`{ast.unparse(statement)}` in line {statement.lineno}"
        for text in self._source.all(ast.Constant):
            if text.value == "__main__" and not self._is_compared(text):
                return f"`{ast.unparse(text)}` in line {text.lineno}"
        for call in self._source.all(ast.Call):
            itself = any(isinstance(one, ast.Name) and one.id == "__name__" for one in call.args)
            if itself and self._names.dotted(call.func) in _IMPORTING:
                return f"`{ast.unparse(call)}` in line {call.lineno}"
        # `model._Model__loss` is what methods of the class call `self.__loss`.
        private = tuple(f"_{cls.name.lstrip('_')}__" for cls in self._source.all(ast.ClassDef))
        for attribute in self._source.all(ast.Attribute):
            if attribute.attr.startswith(private):
                return f"`{ast.unparse(attribute)}` in line {attribute.lineno}"
        return ""

    def _is_compared(self, text: ast.Constant) -> bool:
        parent = self._source.parent(text)
        while isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
            parent = self._source.parent(parent)
        return isinstance(parent, ast.Compare)

    def _is_searched(self, modules: ast.expr) -> bool:
        """Whether it is only looked whether a name is there: `"google.colab" in sys.modules`."""
        match self._source.parent(modules):
            case ast.Compare(
                left=ast.Constant(), ops=[ast.In() | ast.NotIn()], comparators=[searched]
            ):
                return searched is modules
        return False

    def _only_compares(self, call: ast.Call) -> bool:
        """Whether one attribute is looked up and compared: `vars(args)[name] == 3`."""
        lookup = self._source.parent(call)
        return (
            self._names.dotted(call.func) == "builtins.vars"
            and len(call.args) == 1
            and isinstance(lookup, ast.Subscript)
            and lookup.value is call
            and isinstance(self._source.parent(lookup), ast.Compare)
        )

    def _running_unseen(self, unseen: frozenset[str]) -> str:
        """Code that runs at moments which the text does not show."""
        if "__del__" in self._classes.magic:
            return "`__del__` of a class of this file"
        for word, line in self._words():
            if word in unseen:
                return f"`{word}` in line {line}"
        for call in self._classes.calls("defaultdict"):
            made = call.args[0] if call.args else None
            if not (isinstance(made, ast.Name) and made.id in _PLAIN_TYPES):
                return f"`{ast.unparse(call)}` in line {call.lineno}"
        for attribute in self._source.all(ast.Attribute):
            if attribute.attr == "callbacks" and self._names.dotted(attribute) == "gc.callbacks":
                return f"`gc.callbacks` in line {attribute.lineno}"
        for call in self._classes.calls("loop"):
            made_by = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if self._tracer.trace(made_by).symbol == "train.Supervisor":
                return f"`{ast.unparse(call.func)}(...)` in line {call.lineno}"
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func) or ""
            if path.startswith(_HOOKS) and any(map(self._is_code, _given(call))):
                return f"what `{ast.unparse(call.func)}(...)` in line {call.lineno} is given"
        return ""

    def _words(self) -> Iterator[tuple[str, int]]:
        """The names that the code says, whatever they are bound to; comments say none."""
        imports: list[ast.Import | ast.ImportFrom] = [
            *self._source.all(ast.Import),
            *self._source.all(ast.ImportFrom),
        ]
        for node in imports:
            module = getattr(node, "module", None) or ""
            for path in (module, *(alias.name for alias in node.names)):
                for word in path.split("."):
                    yield word, node.lineno
        for name in self._source.all(ast.Name):
            yield name.id, name.lineno
        for attribute in self._source.all(ast.Attribute):
            yield attribute.attr, attribute.lineno

    def _is_code(self, value: ast.expr) -> bool:
        """Whether a value may be a function that does more than to write a number as text."""
        match value:
            case ast.Constant() | ast.Attribute(value=ast.Constant()):
                return False
            case ast.Dict(values=values):
                return any(map(self._is_code, values))
            case ast.Lambda(body=body):
                calls = [node for node in ast.walk(body) if isinstance(node, ast.Call)]
                return any(
                    not isinstance(call.func, ast.Attribute) or self._is_code(call.func)
                    for call in calls
                )
            case ast.Name() | ast.Attribute():
                return self._names.dotted(value) is None
        return True

    def _replaces(self, store: ast.Attribute, *, objects: bool) -> bool:
        """Whether storing an attribute changes a library, a class, or a TensorFlow object."""
        if store.attr in _RUNNING or self._classes.defined(store.value) is not None:
            return True
        if self._names.resembles_library(store.value):
            return True
        if isinstance(store.value, ast.Name) and self._classes.of_self(store.value) is not None:
            return False
        if not objects:
            return False
        value = self._tracer.trace(store.value)
        return value.kind is Kind.OBJECT and value.symbol not in SETTINGS

    def _loose_dependencies(self) -> str:
        """Control dependencies that are not the manager of a `with` where they are written."""
        places: list[ast.Name | ast.Attribute] = [
            *(n for n in self._source.all(ast.Name) if n.id == "control_dependencies"),
            *(n for n in self._source.all(ast.Attribute) if n.attr == "control_dependencies"),
        ]
        for place in places:
            call = self._source.parent(place)
            manager = self._source.parent(call) if isinstance(call, ast.Call) else None
            if not isinstance(manager, ast.withitem):
                return f"`control_dependencies` in line {place.lineno}"
        return ""
