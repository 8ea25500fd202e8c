"""Puts a mark at every loop of a script, by which a run tells its steps apart and is cut short.

    for x in batches():          for x in marks.steps((batches()), 3):
    while step < last:           while marks.go((step < last), 3):

Lines stay where they are, so that a traceback names the line that the owner knows. A loop in a
generator is left alone: its turns fall between those of the loop that it feeds. So is one that only
assigns to the variables that it goes over: all its turns are one update.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tfrewrite import syntax, textfile
from tfrewrite.analysis.program.source import Source

MARKS = "_tfrewrite_marks"
_STEPS = f"__import__('{MARKS}').steps(("
_GO = f"__import__('{MARKS}').go(("

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
ASSIGNING = frozenset({"assign", "assign_add", "assign_sub"})
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module)
Loop = ast.For | ast.While


@dataclass(frozen=True)
class Mark:
    """A marked loop. `parent` is the loop around it in the same function, or 0."""

    loop: int
    path: str
    line: int
    parent: int


@dataclass(frozen=True)
class Instrumented:
    """The files of a tree that hold marks, and the marks."""

    files: tuple[tuple[str, bytes], ...]
    marks: tuple[Mark, ...]


def instrument(sources: Mapping[str, bytes]) -> Instrumented:
    """Marks the loops of all files, by their paths; a file that cannot be read is left out."""
    files: list[tuple[str, bytes]] = []
    marks: list[Mark] = []
    for path in sorted(sources):
        try:
            file = textfile.decode(sources[path])
            text, new = _marked(file.text, path, first=len(marks) + 1)
        except (textfile.TextFileError, syntax.NotPython):
            continue
        if new:
            files.append((path, file.encoded(text)))
            marks += new
    return Instrumented(tuple(files), tuple(marks))


def _marked(text: str, path: str, first: int) -> tuple[str, list[Mark]]:
    source = Source(text, syntax.parse(text))
    loops = sorted(_loops(source), key=lambda loop: (loop.lineno, loop.col_offset))
    numbers = {loop: number for number, loop in enumerate(loops, first)}
    insertions = [one for loop in loops for one in _insertions(source, loop, numbers[loop])]
    marks = [
        Mark(number, path, loop.lineno, _parent(source, loop, numbers))
        for loop, number in numbers.items()
    ]
    return _inserted(text, insertions), marks


def _loops(source: Source) -> Iterator[Loop]:
    generators = _generators(source)
    loops: list[Loop] = [*source.all(ast.For), *source.all(ast.While)]
    for loop in loops:
        if _scope(source, loop) not in generators and not _is_update(loop):
            yield loop


def _is_update(loop: Loop) -> bool:
    """Such as `for gradient, variable in zip(...): variable.assign_sub(rate * gradient)`."""
    if not isinstance(loop, ast.For) or loop.orelse:
        return False
    targets = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    assigned = set()
    for statement in loop.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr=name))):
                if name not in ASSIGNING:
                    return False
                assigned.add(held.id if isinstance(held, ast.Name) else "")
            case ast.Assign() | ast.AugAssign():
                pass
            case _:
                return False
    return bool(assigned & targets)


def _generators(source: Source) -> set[ast.AST]:
    yields: Iterable[ast.AST] = (*source.all(ast.Yield), *source.all(ast.YieldFrom))
    return {_scope(source, node) for node in yields}


def _scope(source: Source, node: ast.AST) -> ast.AST:
    return next(one for one in source.ancestors(node) if isinstance(one, SCOPES))


def _parent(source: Source, loop: Loop, numbers: Mapping[Loop, int]) -> int:
    for one in source.ancestors(loop):
        if isinstance(one, SCOPES):
            return 0
        if isinstance(one, (ast.For, ast.While)):
            return numbers.get(one, 0)
    return 0


def _insertions(source: Source, loop: Loop, number: int) -> list[tuple[int, str]]:
    held, mark = (loop.iter, _STEPS) if isinstance(loop, ast.For) else (loop.test, _GO)
    start, end = source.offsets(held)
    return [(start, mark), (end, f"), {number})")]


def _inserted(text: str, insertions: list[tuple[int, str]]) -> str:
    parts = []
    done = 0
    for offset, new in sorted(insertions, key=lambda one: one[0]):
        glue = " " if new in {_STEPS, _GO} and text[offset - 1].isalpha() else ""
        parts += [text[done:offset], glue, new]
        done = offset
    return "".join([*parts, text[done:]])
