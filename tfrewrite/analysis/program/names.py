"""Which library API a name is: through imports, aliases, rebinding and shadowing.

A dotted path is what one would have to import to get the same thing, such as `numpy.mean` or
`tensorflow.nn.relu`. For TensorFlow the compatibility prefixes are taken off, so that `tf.Session`
is the symbol `Session` however TensorFlow came into the file.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection
from functools import cached_property

from tfrewrite.analysis.program.scopes import Binding, How, Scopes

_COMPAT = re.compile(r"^tensorflow\.compat\.v[12](?:\.|$)")
_WORD = re.compile(r"[^\W\d]\w*")
_OF_NUMPY = frozenset("abs all any bool divmod max min pow round sum".split())
# The names of Python's own that `from MODULE import *` gives another meaning, in some version.
_BROUGHT = {
    "math": frozenset({"pow"}),
    "matplotlib.pylab": _OF_NUMPY,
    "numpy": _OF_NUMPY,
    "numpy.random": frozenset({"bytes"}),
    "os": frozenset({"open"}),
    "pylab": _OF_NUMPY,
    "scipy": _OF_NUMPY,
    "tensorflow": frozenset("abs bool complex pow print range round slice tuple".split()),
    "tensorflow.keras.backend": frozenset("abs all any eval max min pow round sum".split()),
    "tensorflow.keras.ops": frozenset("abs all any map max min round slice sum".split()),
    "tensorflow.math": frozenset("abs pow round".split()),
}


class Names:
    """Resolves names and attribute chains to the API that they stand for."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._known: dict[Binding, str | None] = {}
        self._dotted: dict[ast.AST, str | None] = {}
        self._open: set[Binding] = set()

    def dotted(self, expr: ast.AST) -> str | None:
        """The dotted path of a name or attribute chain; None where it is not a library's API."""
        if expr not in self._dotted:
            path = self._path(expr)
            self._dotted[expr] = None if path is None or self._patched(path) else path
        return self._dotted[expr]

    def tf(self, expr: ast.AST) -> str | None:
        """The TensorFlow symbol that an expression names, without `tensorflow.` or `compat.v1.`."""
        path = self.dotted(expr)
        return None if path is None else tf_symbol(path)

    def is_tf_module(self, expr: ast.AST) -> bool:
        return self.dotted(expr) == "tensorflow"

    def resembles_library(self, expr: ast.AST) -> bool:
        """Whether an expression names a module or a part of one, also where that is replaced."""
        path = self._path(expr)
        return path is not None and not path.startswith("builtins.")

    @cached_property
    def alias(self) -> str | None:
        """The name by which the whole file can say TensorFlow, such as `tf`."""
        return self.alias_of("tensorflow")

    @cached_property
    def v1(self) -> str | None:
        """How the whole file can say TensorFlow 1, such as `tf` or `tf.compat.v1`."""
        compat = f"{self.alias}.compat.v1"
        spelled = (
            isinstance(node.value, ast.Attribute) and ast.unparse(node) == compat
            for node in self._scopes.source.all(ast.Attribute)
            if node.attr == "v1"
        )
        return compat if any(spelled) else self.alias

    def alias_of(self, path: str) -> str | None:
        """The name by which the whole file can say a module."""
        for name, bindings in self._scopes.module.bindings.items():
            if all(self._binding_path(binding) == path for binding in bindings):
                return name
        return None

    @cached_property
    def version(self) -> str | None:
        """The generation of the API that the file asks for, where the import says it."""
        paths = {
            binding.path
            for bindings in self._scopes.module.bindings.values()
            for binding in bindings
            if binding.how is How.IMPORT
        }
        first = any(path.startswith("tensorflow.compat.v1") for path in paths)
        return "1" if first else None

    @cached_property
    def read(self) -> frozenset[str]:
        """The names whose value the file reads somewhere."""
        return frozenset(
            node.id for node in self._scopes.source.all(ast.Name) if isinstance(node.ctx, ast.Load)
        )

    def fresh(self, base: str, taken: Collection[str] = ()) -> str:
        """A name that means nothing in the file yet."""
        name, number = base, 2
        while name in self._identifiers or name in taken or hasattr(builtins, name):
            name, number = f"{base}_{number}", number + 1
        return name

    @cached_property
    def _identifiers(self) -> frozenset[str]:
        """The words of the file, those in strings too, which may be read as names."""
        return frozenset(re.findall(r"[^\W\d]\w*", _without_comments(self._scopes.source.text)))

    def _path(self, expr: ast.AST) -> str | None:
        if isinstance(expr, ast.Attribute):
            base = self._path(expr.value)
            return None if base is None else _canonical(f"{base}.{expr.attr}")
        if not isinstance(expr, ast.Name):
            return None
        bindings = self._scopes.bindings(expr)
        if not bindings:
            known = hasattr(builtins, expr.id) and expr.id not in self._brought
            return f"builtins.{expr.id}" if known else None
        paths = {self._binding_path(binding) for binding in bindings if binding not in self._open}
        return paths.pop() if len(paths) == 1 else None

    @cached_property
    def _brought(self) -> frozenset[str]:
        """The names of Python's own that may be another module's, by `from numpy import *`."""
        modules = {
            _canonical(star.module or "").removesuffix(".")
            for scope in self._scopes.all()
            for star in scope.star_imports
        }
        return frozenset().union(*(_BROUGHT.get(module, ()) for module in modules))

    def _binding_path(self, binding: Binding) -> str | None:
        if binding not in self._known:
            self._open.add(binding)
            self._known[binding] = self._resolve(binding)
            self._open.discard(binding)
        return self._known[binding]

    def _resolve(self, binding: Binding) -> str | None:
        if binding.how is How.IMPORT and not binding.path.startswith("."):
            return _canonical(binding.path)
        if binding.how is How.ASSIGN and isinstance(binding.value, (ast.Name, ast.Attribute)):
            path = self._path(binding.value)
            return None if path is None or path.startswith("builtins.") else path
        return None

    def _patched(self, path: str) -> bool:
        return any(path == patch or path.startswith(f"{patch}.") for patch in self._patches)

    @cached_property
    def _patches(self) -> frozenset[str]:
        """The API paths that the file itself overwrites, as in `tf.Session = Fake`."""
        source = self._scopes.source
        targets: list[ast.AST] = [
            node for node in source.all(ast.Attribute) if not isinstance(node.ctx, ast.Load)
        ]
        for call in source.all(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr"):
                targets += call.args[:1]
        patches = {self._path(target) for target in targets}
        return frozenset(path for path in patches if path is not None)


def _canonical(path: str) -> str:
    """`tensorflow.compat.v1.Session` and `tensorflow.Session` are one path, keras' too."""
    path = _COMPAT.sub("tensorflow.", path).removesuffix(".")
    if path == "keras" or path.startswith("keras."):
        return f"tensorflow.{path}"
    return path


def tf_symbol(path: str) -> str | None:
    """`tensorflow.nn.relu` -> `nn.relu`; None for another library's path."""
    return path.removeprefix("tensorflow.") if path.startswith("tensorflow.") else None


def _without_comments(text: str) -> str:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    return " ".join(token.string for token in tokens if token.type != tokenize.COMMENT)
