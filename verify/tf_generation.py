"""Whether a script was written for TensorFlow 1, so that `tensorflow` has to mean its interface.

Where a script runs under TensorFlow 2, the probe can give it `tensorflow.compat.v1` under the name
`tensorflow`. That helps a script that says `tf.placeholder` and breaks one that counts on eager
mode, so the answer is yes only where a name settles it. The table of effects tells which names
exist in which version, but it holds what could be measured and not all that there is. So a name
counts only if it stands directly in `tf` or `tf.train`, or in a package there that version 2 does
not have at all, such as `tf.layers`. `tf.summary.FileWriter` proves nothing, and is never alone.
"""

from __future__ import annotations

import ast
from functools import cache

from tfrewrite import syntax
from tfrewrite.analysis.effects import Version, symbols_of
from tfrewrite.analysis.program.names import Names, tf_symbol
from tfrewrite.analysis.program.scopes import How, Scopes
from tfrewrite.analysis.program.source import Source

_SETTLING = ("", "train")
"""The packages that both versions have and whose members the table knows well."""
_GONE = frozenset({"contrib", "examples"})
"""Packages of version 1 that are more than the table has of them."""
_MOVED = frozenset({"compat", "estimator", "keras", "mixed_precision", "python"})
"""These differ among the releases of version 2, and between a release and what it installs."""
_VERSION = frozenset({"VERSION", "__version__"})
_MISSING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError"})


def is_tf1_script(text: str) -> bool:
    """Whether it uses, as TensorFlow's own, names that TensorFlow 2 does not have.

    Not so for a script that imports `tensorflow.compat.v1` itself, that asks which version there
    is before it uses them, or that cannot be read.
    """
    try:
        source = Source(text, syntax.parse(text))
        return _Script(source).is_for_version_1()
    except (syntax.NotPython, RecursionError):
        return False


class _Script:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._scopes = Scopes(source)
        self._names = Names(self._scopes)

    def is_for_version_1(self) -> bool:
        imported = self._imported()
        if any(path.startswith("tensorflow.compat.v1") for path, _ in imported):
            return False
        used = [(path, node) for path, node in imported + self._spelled() if _is_gone(path)]
        return any(not self._is_guarded(node) for _, node in used)

    def _imported(self) -> list[tuple[str, ast.AST]]:
        """What import statements name, and each statement."""
        found: list[tuple[str, ast.AST]] = []
        for plain in self._source.all(ast.Import):
            found += [(alias.name, plain) for alias in plain.names]
        for chosen in self._source.all(ast.ImportFrom):
            if not chosen.level:
                found += [(f"{chosen.module}.{alias.name}", chosen) for alias in chosen.names]
        return found

    def _spelled(self) -> list[tuple[str, ast.AST]]:
        """The library paths that expressions spell, where no version is spelled with them."""
        found: list[tuple[str, ast.AST]] = []
        for node in self._source.all(ast.Attribute):
            path = self._names.dotted(node)
            if path is not None and not self._says_version(node, frozenset()):
                found.append((path, node))
        return found

    def _says_version(self, expr: ast.AST | None, seen: frozenset[str]) -> bool:
        """Whether `compat` is on the way to it: `tf.compat.v1.Session`, an alias of that."""
        if isinstance(expr, ast.Attribute):
            return expr.attr == "compat" or self._says_version(expr.value, seen)
        if not isinstance(expr, ast.Name) or expr.id in seen:
            return False
        return any(
            binding.path.startswith("tensorflow.compat")
            if binding.how is How.IMPORT
            else self._says_version(binding.value, seen | {expr.id})
            for binding in self._scopes.bindings(expr)
        )

    def _is_guarded(self, node: ast.AST) -> bool:
        """Whether the script is prepared for the name not to be there."""
        inner = node
        for outer in self._source.ancestors(node):
            if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
                if self._asks_for_version(outer.test, depth=2):
                    return True
            if isinstance(outer, ast.Try) and inner in outer.body:
                if any(_names_in(handler.type) & _MISSING for handler in outer.handlers):
                    return True
            inner = outer
        return False

    def _asks_for_version(self, test: ast.AST, depth: int) -> bool:
        """Whether a test looks at the version, or at what there is, itself or through a name."""
        for node in ast.walk(test):
            if isinstance(node, ast.Attribute) and node.attr in _VERSION:
                return True
            if isinstance(node, ast.Name):
                values = [binding.value for binding in self._scopes.bindings(node)]
                if node.id == "hasattr" or any(
                    value is not None and depth and self._asks_for_version(value, depth - 1)
                    for value in values
                ):
                    return True
        return False


def _names_in(expr: ast.AST | None) -> set[str]:
    if expr is None:
        return set()
    return {node.id for node in ast.walk(expr) if isinstance(node, ast.Name)}


@cache
def _is_gone(path: str) -> bool:
    """Whether a path that begins with `tensorflow.` is of version 1 only."""
    symbol = tf_symbol(path)
    if symbol is None:
        return False
    parts = symbol.split(".")
    if parts[0] in _MOVED:
        return False
    if parts[0] in _GONE:
        return True
    first, second = _places("1"), _places("2")
    for length in range(1, len(parts) + 1):
        place = ".".join(parts[:length])
        if place in second:
            continue
        # The first part of the path that version 2 does not have.
        return place in first and ".".join(parts[: length - 1]) in _SETTLING
    return False


@cache
def _places(version: Version) -> frozenset[str]:
    """All symbols of a version, and the packages and classes that they are in."""
    return frozenset(
        symbol[:end]
        for symbol in symbols_of(version)
        for end in [*(i for i, letter in enumerate(symbol) if letter == "."), len(symbol)]
    )
