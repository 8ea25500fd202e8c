"""The code of one cell as Python that says as much of what it does as the analysis needs.

What is IPython's becomes Python of as many lines. The last expression of a cell is shown, so it
stands in a `print`. Both are undone when the cell is written back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

from tfrewrite import syntax
from tfrewrite.notebooks.ipython import Effect, Magic, magic_of_cell, magics_in

NOT_EDITED = "what IPython runs there is not edited"
SHOW = "print("
TIMES = "get_ipython().timeit"
_CALLED = {
    Effect.SHOWS: "print",
    Effect.OUTSIDE: "get_ipython().system",
    Effect.LOOKS: "get_ipython().run_line_magic",
    Effect.REPEATS: TIMES,
}
"""What stands for a magic; what is not here may do anything to any name."""


class DoesNotFit(Exception):  # noqa: N818
    """A text that cannot be put back into its cell; says why, for the owner of the code."""


@dataclass(frozen=True)
class StandIn:
    """Python in the place of what is IPython's, each in as many lines."""

    python: str
    original: str


@dataclass(frozen=True)
class Shown:
    """Where the last expression of a cell begins; lines from 1, columns from 0."""

    line: int
    column: int


@dataclass(frozen=True)
class Code:
    """One cell. A frozen one stays as it is, whatever its Python is rewritten to."""

    original: str
    python: str
    stand_ins: tuple[StandIn, ...] = ()
    shown: Shown | None = None
    frozen: bool = False
    indent: int = 0
    """How far all lines of the original are indented."""
    bare: bool = False
    """Whether it has magics without their sign."""
    changes_names: str = ""
    """The magic that may give any name another meaning, or the Python that is IPython's alone."""

    @property
    def is_magic(self) -> bool:
        """Whether what changes names is a magic."""
        return self.changes_names.startswith("`")

    def back(self, python: str) -> str:
        """The cell for a rewritten Python; `DoesNotFit` where there is none."""
        if python == self.python:
            return self.original
        if self.frozen:
            raise DoesNotFit(NOT_EDITED)
        new = _unshown(python, self.shown, self.stand_ins)
        for one in self.stand_ins:
            if new.count(one.python) != 1:
                raise DoesNotFit("a magic or shell line would be moved or changed")
            new = new.replace(one.python, one.original)
        return new

    def in_messages(self) -> Iterator[tuple[str, str]]:
        """What messages may quote of what stands for IPython's lines, and those lines."""
        for one in self.stand_ins:
            yield one.python.strip().replace("\n", ""), one.original.strip().partition("\n")[0]
        if self.frozen:
            yield self.python.strip(), self.original.strip().partition("\n")[0]

    def column(self, line: int, column: int) -> int:
        """A column of a line of the Python as one of the original."""
        if self.shown and line == self.shown.line and column >= self.shown.column + len(SHOW):
            column -= len(SHOW)
        return column + self.indent


class Reader:
    """Reads cells; `tag` is a word that no cell contains."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._count = 0

    def code(self, original: str) -> Code:
        """The code of one cell; `syntax.NotPython` names the line in the cell."""
        lines = original.split("\n")
        whole = magic_of_cell(lines)
        if whole is not None and whole.effect is not Effect.RUNS:
            return self._frozen(original, whole)
        if "\r" in original:
            return self._opaque(original, "a carriage return within a line")
        indent = indentation(lines)
        if indent:
            code = self.code("\n".join(dedented(lines)))
            return replace(code, original=original, frozen=True, indent=len(indent))
        code = self._translated(original, lines, whole)
        try:
            tree = syntax.parse(code.python)
        except syntax.NotPython:
            code = self._translated(original, lines, whole, bare=True)
            tree = syntax.parse(code.python)
        may_wait = "await" in code.python or "async" in code.python
        awaited = _awaited(tree) if may_wait else ""
        if awaited:
            return self._opaque(original, f"the `{awaited}` outside of functions")
        return _with_shown(code, tree)

    def _translated(
        self, original: str, lines: list[str], whole: Magic | None, *, bare: bool = False
    ) -> Code:
        magics = [] if whole is None else [whole]
        magics += magics_in(lines, 0 if whole is None else whole.last + 1, bare=bare)
        new = list(lines)
        stand_ins = []
        changes_names = ""
        for magic in magics:
            python, effect = self._stand_in(magic)
            first, last = magic.first, magic.last
            new[first : last + 1] = python.split("\n")
            stand_ins.append(StandIn(python, "\n".join(lines[first : last + 1])))
            if effect is Effect.ANYTHING:
                changes_names = changes_names or f"`{magic.name}`"
        for number, line in enumerate(new):
            if has_future_import(line):
                python = f"'{self._next()}'"
                new[number] = python
                stand_ins.append(StandIn(python, line))
        return Code(
            original, "\n".join(new), tuple(stand_ins), changes_names=changes_names, bare=bare
        )

    def _stand_in(self, magic: Magic) -> tuple[str, Effect]:
        """Python for a line of IPython, and the effect that it has."""
        tag, head, effect = f"'{self._next()}'", magic.indent, magic.effect
        read: Sequence[str] = [name for name in magic.reads if not iskeyword(name)]
        if magic.is_cell:
            return f"print({tag})", effect
        if effect in {Effect.RUNS, Effect.REPEATS}:
            ran = _runnable(magic.code)
            if ran and effect is Effect.RUNS:
                return f"{head}print({tag}); {ran}", effect
            if ran:
                return f"{head}for _turn in {TIMES}({tag}): {ran}", effect
            found = _names(magic.code) if effect is Effect.REPEATS else None
            effect = Effect.ANYTHING if found is None else effect
            read = found or ()
        arguments = ", ".join([tag, *read])
        target = f"{magic.target} = " if magic.target else ""
        ends = "\n" * (magic.last - magic.first)
        return f"{head}{target}{_CALLED.get(effect, 'exec')}({arguments}{ends})", effect

    def _frozen(self, original: str, magic: Magic) -> Code:
        """A cell that is no Python of this program, or is run who knows how often."""
        called = _CALLED.get(magic.effect)
        read: Sequence[str] = ()
        if magic.effect is Effect.REPEATS:
            found = _names(magic.code)
            called, read = (None, ()) if found is None else (TIMES, found)
        if called is None:
            return self._opaque(original, f"`{magic.name}`")
        arguments = ", ".join([f"'{self._next()}'", *read])
        python = f"{called}({arguments})" + "\n" * original.count("\n")
        return Code(original, python, frozen=True)

    def _opaque(self, original: str, name: str) -> Code:
        python = f"exec('{self._next()}')" + "\n" * original.count("\n")
        return Code(original, python, frozen=True, changes_names=name)

    def _next(self) -> str:
        self._count += 1
        return f"{self._tag}{self._count}."


def indentation(lines: list[str]) -> str:
    """What stands before the first line that is not blank."""
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def dedented(lines: list[str]) -> list[str]:
    """The lines without the indentation of the first, as IPython runs them."""
    space = indentation(lines)
    return [line.removeprefix(space) for line in lines]


def _names(code: str) -> Sequence[str] | None:
    """The names that a piece of code says; None where it cannot be read."""
    try:
        tree = syntax.parse(code)
    except syntax.NotPython:
        return None
    return list(dict.fromkeys(one.id for one in ast.walk(tree) if isinstance(one, ast.Name)))


def _runnable(code: str) -> str:
    """The statements that `%time` runs, as they can stand behind a semicolon; a value is shown."""
    try:
        tree = syntax.parse(code)
    except syntax.NotPython:
        return ""
    if any(not isinstance(one, _SIMPLE) for one in tree.body) or not tree.body:
        return ""
    if "\n" in code or _awaited(tree):
        return ""
    code = code.rstrip()
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and not code.endswith(";"):
        return f"print({ast.unparse(tree.body[0].value)})"
    return code


_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.Delete, ast.Pass)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _awaited(tree: ast.Module) -> str:
    """What waits outside of functions, which IPython allows."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Await):
            return "await"
        if isinstance(node, (ast.AsyncFor, ast.AsyncWith)):
            return "async"
        if isinstance(node, ast.comprehension) and node.is_async:
            return "async"
        if not isinstance(node, _FUNCTIONS):
            stack.extend(ast.iter_child_nodes(node))
    return ""


def has_future_import(line: str) -> bool:
    """Whether a line is such an import, which Python allows at the top of a file only."""
    return line.startswith("from __future__ import ") and not set(line) & set("(\\;")


def _with_shown(code: Code, tree: ast.Module) -> Code:
    """The last expression in a `print`, as IPython shows it."""
    found = shown_in(code.python, tree)
    if found is None or _is_stand_in(code.python, tree.body[-1], code.stand_ins):
        return code  # a magic shows what it wants
    start, end = found
    python = f"{code.python[:start]}{SHOW}{code.python[start:end]}){code.python[end:]}"
    line_start = code.python.rfind("\n", 0, start) + 1
    shown = Shown(code.python.count("\n", 0, start) + 1, start - line_start)
    return replace(code, python=python, shown=shown)


def shown_in(python: str, tree: ast.Module) -> tuple[int, int] | None:
    """Where the last expression of a cell stands, whose value IPython shows."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or _is_silent(python, last):
        return None
    return _offsets(python, last.value)


def _is_stand_in(python: str, statement: ast.stmt, stand_ins: tuple[StandIn, ...]) -> bool:
    line = python.split("\n")[statement.lineno - 1]
    return any(line in one.python.split("\n") for one in stand_ins)


def _unshown(python: str, shown: Shown | None, stand_ins: tuple[StandIn, ...]) -> str:
    """The same without the `print` around the last expression."""
    try:
        tree = syntax.parse(python)
    except syntax.NotPython as error:
        raise DoesNotFit("it would begin in one cell and end in another") from error
    last = tree.body[-1] if tree.body else None
    if shown is None:
        silent = not isinstance(last, ast.Expr) or _is_silent(python, last)
        if last and not silent and not _is_stand_in(python, last, stand_ins):
            raise DoesNotFit("the cell would show a value that it does not show now")
        return python
    match last:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[_, *_]) as call):
            start, end = _offsets(python, call)
            inner = python[start + len(SHOW) : end - 1]
            if python.startswith(SHOW, start):
                return python[:start] + inner + python[end:]
    raise DoesNotFit("the cell would no more show what it shows now")


def _is_silent(python: str, last: ast.Expr) -> bool:
    """Whether a semicolon says that the value is not to be shown."""
    _, end = _offsets(python, last.value)
    return python[end:].lstrip(" \t)").startswith(";")


def _offsets(text: str, node: ast.expr) -> tuple[int, int]:
    """Where an expression begins and ends in a text."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    lines = text.split("\n")

    def offset(line: int, column: int) -> int:
        before = sum(len(one) + 1 for one in lines[: line - 1])
        return before + len(lines[line - 1].encode()[:column].decode())

    return (
        offset(node.lineno, node.col_offset),
        offset(node.end_lineno, node.end_col_offset),
    )
