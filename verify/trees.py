"""What a directory holds: its Python files, what they import of each other, which can be run.

Imports are followed as far as names tell. A module that is loaded in another way, by a name that
is made while the script runs, is not found.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from tfrewrite import syntax, textfile
from tfrewrite.discovery import Filter, discover
from tfrewrite.verify.notebooks import readable

NOT_SCRIPTS = ("setup.py", "conftest.py", "noxfile.py", "versioneer.py", "__init__.py")
NOT_SCRIPT_FOLDERS = frozenset({"test", "tests", "testing", "doc", "docs"})
LIBRARIES = ("tensorflow", "keras", "tf_keras", "tf_slim", "tflearn", "sonnet")
"""What brings TensorFlow with it; `tensorflow_datasets` and its like begin with the first."""
WORK = frozenset({"run", "fit", "fit_generator", "train", "train_and_evaluate", "evaluate"})
"""Methods by whose names a statement is taken to compute something."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

Read = Callable[[str], "bytes | None"]
"""The content of a file, by its path in the tree; None where there is no such file."""


def python_files(folder: Path) -> dict[str, bytes]:
    """The files that `check` would look at by default, by their paths in the folder.

    A link stands for the file that it leads to, which is in the folder, too. A notebook is there as
    the script that it is run as.
    """
    found = {}
    real = folder.resolve()
    for one in discover([str(folder)], Filter(str(real))):
        if not one.problem and not one.skipped:
            path = Path(one.path).resolve()
            try:
                data = path.read_bytes()
            except OSError:
                continue  # `apply` could not read it either, and says so
            found[path.relative_to(real).as_posix()] = readable(path.name, data) or data
    return found


class Modules:
    """The files of a tree, as imports name them."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._parsed: dict[str, ast.Module | None] = {}

    @classmethod
    def of(cls, sources: Mapping[str, bytes]) -> Modules:
        return cls(sources.get)

    @classmethod
    def on_disk(cls, folder: Path) -> Modules:
        """Files are read when they are asked for, so the folder may be large."""

        def read(name: str) -> bytes | None:
            try:
                return (folder / name).read_bytes()
            except (OSError, ValueError):
                return None

        return cls(read)

    def text(self, name: str) -> str:
        """The source, or nothing where it cannot be read."""
        data = self._read(name)
        data = None if data is None else readable(name, data)
        try:
            return "" if data is None else textfile.decode(data).text
        except textfile.TextFileError:
            return ""

    def parsed(self, name: str) -> ast.Module | None:
        if name not in self._parsed:
            self._parsed[name] = self._parse(name)
        return self._parsed[name]

    def _parse(self, name: str) -> ast.Module | None:
        if self._read(name) is None:
            return None
        try:
            return syntax.parse(self.text(name))
        except (syntax.NotPython, RecursionError):
            return None

    def reached(self, script: str) -> list[str]:
        """The script and what it imports of the tree, directly or not, in the order of finding."""
        found = [script]
        for name in found:
            found += [one for one in self.imported(name, script) if one not in found]
        return found

    def imported(self, name: str, script: str) -> list[str]:
        """What a file imports of the tree, when it is `script` that was started."""
        found = dict.fromkeys(file for _, files in self._found(name, script) for file in files)
        return [one for one in found if one != name]

    def places(self, script: str) -> tuple[str, ...]:
        """The folders beside that of the script which have to be on the path for what it reaches.

        Whoever runs it has them there, or has installed what they hold.
        """
        own = PurePosixPath(script).parent
        found = {
            place
            for name in self.reached(script)
            for place, _ in self._found(name, script)
            if place is not None and place != own
        }
        return tuple(str(place) for place in _places(own) if place in found)

    def _found(self, name: str, script: str) -> Iterator[tuple[PurePosixPath | None, list[str]]]:
        """The files that each import stands for, with the place on the path where they are."""
        for base, parts in self._named(name):
            # As on Python's path, the first place that has it counts.
            for place in _places(PurePosixPath(script).parent) if base is None else [base]:
                files = list(self._files(place, parts))
                if files:
                    yield (place if base is None else None), files
                    break

    def _named(self, name: str) -> Iterator[tuple[PurePosixPath | None, list[str]]]:
        """The dotted names of all imports, and where a relative one begins."""
        own = PurePosixPath(name).parent
        for node in ast.walk(self.parsed(name) or ast.Module([], [])):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield None, alias.name.split(".")
            elif isinstance(node, ast.ImportFrom):
                parts = node.module.split(".") if node.module else []
                above = [own, *own.parents]
                base = above[min(node.level, len(above)) - 1] if node.level else None
                for alias in node.names:
                    yield base, [*parts, alias.name]

    def _files(self, place: PurePosixPath, parts: list[str]) -> Iterator[str]:
        """What is executed by an import of this name: each package on the way, and the module."""
        for length in range(1, len(parts) + 1):
            path = place.joinpath(*parts[:length])
            for candidate in (f"{path}.py", f"{path}/__init__.py"):
                if self._read(candidate) is not None:
                    yield candidate

    def uses_tensorflow(self, script: str) -> bool:
        """Whether it imports TensorFlow, itself or by a module of the tree."""
        return any(
            any(part.startswith(LIBRARIES[0]) or part in LIBRARIES for part in _roots(tree))
            for tree in map(self.parsed, self.reached(script))
            if tree is not None
        )


class Scripts:
    """Which files of a tree do something when they are run, rather than when they are imported."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._names = list(sources)
        self.modules = Modules.of(sources)

    def runnable(self) -> list[str]:
        """The scripts that work with TensorFlow. Tests and set-up are not run."""
        return [
            name
            for name in self._names
            if not _is_of_other_use(name)
            and self._is_script(name)
            and self.modules.uses_tensorflow(name)
        ]

    def _is_script(self, name: str) -> bool:
        tree = self.modules.parsed(name)
        if tree is None:
            return False
        if any(_is_main_guard(one) for one in tree.body):
            return True
        return name not in self._imported and _works(tree)

    @cached_property
    def _imported(self) -> frozenset[str]:
        """What another file imports, and which therefore does its work for that one."""
        return frozenset(
            one for name in self._names for one in self.modules.imported(name, script=name)
        )


def _places(own: PurePosixPath) -> list[PurePosixPath]:
    """Where modules are looked for: the script's folder, those above it, and `src`."""
    return [own, *own.parents, PurePosixPath("src")]


def _roots(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _is_of_other_use(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        path.name in NOT_SCRIPTS
        or path.name.startswith("test_")
        or path.stem.endswith("_test")
        or not NOT_SCRIPT_FOLDERS.isdisjoint(path.parts[:-1])
    )


def _is_main_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If):
        return False
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node))
        for node in ast.walk(statement.test)
    )


def _works(tree: ast.Module) -> bool:
    """Whether there is a loop at the top, a call as in `main()`, or of a method that works."""
    return any(
        isinstance(node, (ast.For, ast.While))
        or (isinstance(node, ast.Call) and _is_method(node, WORK))
        or (isinstance(node, ast.Expr) and _calls_a_function(node.value))
        for node in _executed(tree.body)
    )


def _is_method(call: ast.Call, names: frozenset[str]) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in names


def _calls_a_function(expr: ast.expr) -> bool:
    called = expr.func if isinstance(expr, ast.Call) else None
    return isinstance(called, ast.Name) and not hasattr(builtins, called.id)


def _executed(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What runs when the file does: all but the insides of functions and classes."""
    for node in nodes:
        if not isinstance(node, FUNCTIONS):
            yield node
            yield from _executed(ast.iter_child_nodes(node))
