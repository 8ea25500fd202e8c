"""Files that a training loop leaves behind in each of its turns, so that they pile up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.scopes import How
from tfrewrite.analysis.program.turns import in_most_turns

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_WRITERS = frozenset(
    "summary.FileWriter train.SummaryWriter summary.create_file_writer"
    " contrib.summary.create_file_writer summary.experimental.create_file_writer".split()
)
_TEMPORARY = frozenset({"tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.NamedTemporaryFile"})
# What takes files away, or has another program do it.
_REMOVING = re.compile(
    r"rmtree|rmdir|unlink|^remove|^Remove|^[Dd]elete|clean|TemporaryDirectory|^system$|subprocess"
)
_TRAINING = frozenset(
    "apply_gradients minimize train_on_batch fit fit_generator optimize gradient run".split()
)
_OWN_RUN = frozenset(
    "Session Graph InteractiveSession reset_default_graph keras.backend.clear_session"
    " keras.Sequential keras.models.Sequential keras.Model keras.models.Model".split()
)
_ENDING = (ast.Break, ast.Return, ast.Raise)
_FEW = 10


class Sort(Enum):
    """What piles up, and by whose doing."""

    EVENTS = "events"
    WRITERS = "writers"
    TEMPORARY = "temporary"
    NEW_SAVER = "new saver"
    KEEPS_ALL = "keeps all"
    NUMBERED = "numbered"
    CALLBACK = "callback"


@dataclass(frozen=True, eq=False)
class Pile:
    """A call that leaves a file or a directory behind in each turn or epoch."""

    call: ast.Call
    sort: Sort
    made: ast.Call
    """What makes the thing that leaves it: a saver, a callback, or the call itself."""


class LeftFiles:
    """Finds what piles up, where the text shows it for certain."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._classes = facts.classes
        self._hoisting = facts.hoisting
        self._periods = facts.periods
        self._opened = facts.opened_sessions

    @cached_property
    def all(self) -> list[Pile]:
        """Everything that piles up, in the order of the text."""
        found = [*self._saved(), *self._callbacks(), *self._temporary()]
        if found and self._takes_files_away():
            found = []
        found += self._events()
        return sorted(found, key=lambda pile: self._source.span(pile.call))

    def _events(self) -> Iterator[Pile]:
        """Writers of events that are made in each turn, for one directory."""
        for call in self._source.all(ast.Call):
            if self._names.tf(call.func) not in _WRITERS or not self._in_each_turn(call):
                continue
            loops = self._hoisting.loops(call)
            paths = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "logdir")]
            if paths and not any(self._varies(one, loop) for one in paths for loop in loops):
                name = self._names.tf(call.func) or ""
                new = name.endswith("create_file_writer")
                yield Pile(call, Sort.EVENTS if new else Sort.WRITERS, call)

    def _temporary(self) -> Iterator[Pile]:
        """Temporary files in no directory of their own."""
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func)
            if path not in _TEMPORARY or not self._in_each_turn(call):
                continue
            given = {one.arg: one.value for one in call.keywords}
            stays = not path.endswith("NamedTemporaryFile") or _says(given.get("delete"), "False")
            if stays and "dir" not in given and not call.args:
                yield Pile(call, Sort.TEMPORARY, call)

    def _saved(self) -> Iterator[Pile]:
        """Checkpoints that each have a name of their own, and that nothing deletes."""
        for call in self._source.all(ast.Call):
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "save":
                continue
            loops = self._hoisting.loops(call)
            if not loops or not self._comes_again(call, loops[0]):
                continue
            if self._turns(call, loops) < _FEW or not self._is_training(loops):
                continue
            made = self._made(call.func.value)
            symbol = self._names.tf(made.func) if made is not None else None
            if made is None or symbol is None:
                continue
            if symbol == "train.Saver" and self._is_numbered(call, loops[0]):
                if self._hoisting.loops(made) == loops:
                    yield Pile(call, Sort.NEW_SAVER, made)
                elif self._keeps_all(made, 3) and not self._hoisting.loops(made):
                    yield Pile(call, Sort.KEEPS_ALL, made)
            elif symbol == "train.CheckpointManager" and self._keeps_all(made, 2):
                yield Pile(call, Sort.KEEPS_ALL, made)
            elif symbol == "train.Checkpoint":
                yield Pile(call, Sort.NUMBERED, made)

    def _callbacks(self) -> Iterator[Pile]:
        """Callbacks of Keras that write a checkpoint with the epoch in its name."""
        fits = [
            call
            for call in self._source.all(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("fit", "fit_generator")
        ]
        if not any(self._epochs(fit) >= _FEW for fit in fits):
            return
        for call in self._source.all(ast.Call):
            if self._names.tf(call.func) != "keras.callbacks.ModelCheckpoint":
                continue
            given = {one.arg: one.value for one in call.keywords}
            best = given.get("save_best_only") or (call.args[3] if len(call.args) > 3 else None)
            path = given.get("filepath") or (call.args[0] if call.args else None)
            period = self._periods.number(given["period"]) if "period" in given else 1
            plain = None not in given and "options" not in given and period == 1
            if plain and (best is None or _says(best, "False")) and self._names_epoch(path):
                yield Pile(call, Sort.CALLBACK, call)

    def _takes_files_away(self) -> bool:
        """Whether the file may delete what it has written, at some time."""
        for call in self._source.all(ast.Call):
            path = self._names.dotted(call.func) or ""
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            own = path.rpartition(".")[2]
            if _REMOVING.search(name) or _REMOVING.search(own) or path.startswith("subprocess."):
                return True
        return False

    # Loops

    def _in_each_turn(self, call: ast.Call) -> bool:
        """Whether a loop that trains one model does it in most of its many turns."""
        loops = self._hoisting.loops(call)
        if not loops or not in_most_turns(self._flow, call, loops[0]):
            return False
        return self._turns(call, loops) >= _FEW and self._is_training(loops)

    def _comes_again(self, node: ast.AST, loop: ast.AST) -> bool:
        """Whether a loop comes to a node in each turn or every so many, and then goes on."""
        child = node
        for outer in self._flow.enclosing(node):
            if isinstance(outer, (ast.If, ast.For, ast.While)) and isinstance(child, ast.stmt):
                block, index = self._source.position(child)
                if any(isinstance(later, _ENDING) for later in block[index + 1 :]):
                    return False
            if outer is loop:
                return True
            if isinstance(outer, (ast.IfExp, ast.BoolOp, ast.ExceptHandler)):
                return False
            if isinstance(outer, ast.If):
                if not any(isinstance(part, ast.Mod) for part in ast.walk(outer.test)):
                    return False
            child = outer
        return True

    def _is_training(self, loops: list[ast.AST]) -> bool:
        """Whether the turns of a loop train one model, and are no runs of their own."""
        if isinstance(loops[0], ast.For) and isinstance(loops[0].iter, ast.Call):
            if self._names.tf(loops[0].iter.func) == "train.checkpoints_iterator":
                return False
        nodes = list(self._opened.reached(loops[:1]))
        if any(
            isinstance(node, ast.Call) and self._names.tf(node.func) in _OWN_RUN for node in nodes
        ):
            return False
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _TRAINING
            for node in nodes
        )

    def _turns(self, node: ast.AST, loops: list[ast.AST]) -> float:
        """How often something is done at least, as far as the text says it."""
        turns = 1.0
        for loop in loops:
            match loop:
                case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[count])):
                    turns *= self._periods.number(count) or float("inf")
                case ast.For(iter=ast.List(elts=elements) | ast.Tuple(elts=elements)):
                    turns *= len(elements)
                case _:
                    turns = float("inf")
        for outer in self._flow.enclosing(node):
            if isinstance(outer, ast.If):
                for part in ast.walk(outer.test):
                    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
                        turns /= self._periods.number(part.right) or 1
        return turns

    def _epochs(self, fit: ast.Call) -> int:
        given = [one.value for one in fit.keywords if one.arg in ("epochs", "nb_epoch")]
        return (self._periods.number(given[0]) if given else None) or 1

    def _varies(self, value: ast.expr, loop: ast.AST) -> bool:
        """Whether a path may be another one in each turn."""
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and self._names.dotted(node.func) != "os.path.join":
                return True
            if isinstance(node, ast.Name) and self._names.dotted(node) is None:
                found = self._hoisting.unsure(node, loop)
                if found is not None and found.reason == "rebound-in-loop":
                    return True
        return False

    # Things that save

    def _made(self, expr: ast.expr) -> ast.Call | None:
        """The call that makes the object of a method, where it is the only one."""
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            if len(bindings) == 1 and bindings[0].how is How.ASSIGN:
                value = bindings[0].value
                return value if isinstance(value, ast.Call) else None
        if isinstance(expr, ast.Attribute) and isinstance(expr.value, ast.Name):
            cls = self._classes.of_self(expr.value)
            stores = self._classes.stores(cls, expr.attr) if cls is not None else None
            if stores and len(stores) == 1 and isinstance(stores[0].value, ast.Call):
                return stores[0].value
        return expr if isinstance(expr, ast.Call) else None

    def _is_numbered(self, save: ast.Call, loop: ast.AST) -> bool:
        """Whether each checkpoint of a saver gets a name of its own."""
        if any(one.arg == "global_step" for one in save.keywords) or len(save.args) > 2:
            return True
        path = save.args[1] if len(save.args) > 1 else None
        return path is not None and any(
            isinstance(node, ast.Name)
            and self._names.dotted(node) is None
            and (found := self._hoisting.unsure(node, loop)) is not None
            and found.reason == "rebound-in-loop"
            for node in ast.walk(path)
        )

    def _keeps_all(self, made: ast.Call, position: int) -> bool:
        """Whether a saver or manager is told to delete nothing."""
        given = [one.value for one in made.keywords if one.arg == "max_to_keep"]
        given += made.args[position : position + 1]
        return len(given) == 1 and (_says(given[0], "None") or _says(given[0], "0"))

    def _names_epoch(self, path: ast.expr | None, depth: int = 0) -> bool:
        """Whether a path has a place for the number of the epoch."""
        match path:
            case ast.Constant(value=str(text)):
                return re.search(r"(?<!{){epoch", text) is not None
            case ast.Call(args=parts) if self._names.dotted(path.func) == "os.path.join":
                return any(self._names_epoch(part, depth + 1) for part in parts)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._names_epoch(left, depth + 1) or self._names_epoch(right, depth + 1)
            case ast.Name() if depth < _FEW:
                bindings = self._scopes.bindings(path)
                one = bindings[0] if len(bindings) == 1 else None
                return one is not None and one.how is How.ASSIGN and self._names_epoch(
                    one.value, depth + 1
                )  # fmt: skip
        return False


def _says(expr: ast.expr | None, text: str) -> bool:
    return isinstance(expr, ast.Constant) and repr(expr.value) == text
