"""A notebook as a script that Python runs: its cells in order, without Jupyter.

The script is written for the probe, whose `_tfrewrite_notebook` has what IPython would give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfrewrite import syntax, textfile
from tfrewrite.notebooks.code import Code, dedented, has_future_import, shown_in
from tfrewrite.notebooks.ipython import Effect, Magic, magic_of_cell, magics_in
from tfrewrite.notebooks.notebook import LeftAlone, NotANotebook, Notebook

HELPER = "_tfrewrite_notebook"
SHOW = "_tfrewrite_show"
_PLAIN_ARGUMENT = re.compile(r"""\s*(["']?)([^\s"'${}]+)\1\s*""")
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*[= ]\s*([^\s${}]+)\s*")
_FOLDERS = re.compile(r"(?:!|%)?\s*mkdir\s+(?:-p\s+)?((?:[\w./~][\w./~-]*(?:\s+|\Z))+)")
_FILE = re.compile(r"\s*(-a\s+)?([^\s${}]+)\s*")


class NoScript(Exception):  # noqa: N818
    """A notebook that no script can be made of; says why."""


@dataclass(frozen=True)
class Script:
    """The script, and the lines of the notebook that it leaves out, with their cells."""

    text: str
    left_out: tuple[tuple[int, str], ...] = ()

    @property
    def note(self) -> str:
        """What there is to know of a run of it, in a sentence; empty where all is run."""
        if not self.left_out:
            return ""
        named = ", ".join(f"`{line}` (cell {number})" for number, line in self.left_out[:3])
        more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
        return f"runs without what Jupyter alone can do: {named}{more}"


def is_script(data: bytes) -> bool:
    """Whether a notebook was made a script already."""
    return data.startswith((b"from __future__ import", f"import {HELPER}".encode()))


def script_of(data: bytes) -> Script:
    """The script of a notebook's bytes, or `NoScript`."""
    try:
        notebook = Notebook.read(textfile.decode_json(data).text)
    except (textfile.TextFileError, NotANotebook, LeftAlone, syntax.NotPython) as error:
        raise NoScript(str(error)) from error
    return _Writer(notebook).script()


class _Writer:
    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._future: dict[str, None] = {}
        self._left_out: list[tuple[int, str]] = []

    def script(self) -> Script:
        parts = [self._cell(cell.number, cell.code) for cell in self._notebook.cells]
        line = 2 + len(self._future)
        begins = []
        for cell, part in zip(self._notebook.cells, parts, strict=True):
            begins.append((cell.number, line))
            line += part.count("\n") + 1
        head = (
            f"import {HELPER}; {HELPER}.install(); {HELPER}.cells = {begins}; "
            f"from {HELPER} import display, get_ipython, show as {SHOW}"
        )
        return Script("\n".join([*self._future, head, *parts, ""]), tuple(self._left_out))

    def _cell(self, number: int, code: Code) -> str:
        # A carriage return by itself ends a line for Python, too.
        lines = code.original.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        whole = magic_of_cell(lines)
        if whole is not None and whole.effect is not Effect.RUNS:
            return self._other_language(number, whole, lines)
        lines = dedented(lines)
        magics = [] if whole is None else [whole]
        magics += magics_in(lines, 0 if whole is None else whole.last + 1, bare=code.bare)
        for magic in magics:
            python = self._line(number, magic, lines)
            lines[magic.first : magic.last + 1] = [python] + [""] * (magic.last - magic.first)
        for at, line in enumerate(lines):
            if has_future_import(line):
                self._future[line.partition("#")[0].rstrip()] = None
                lines[at] = ""
        return _showing("\n".join(lines))

    def _line(self, number: int, magic: Magic, lines: list[str]) -> str:
        """Python for a line of IPython: what it does, if that is simple, or nothing."""
        rest = lines[magic.first].strip().partition(" ")[2]
        if magic.effect is Effect.RUNS and magic.code:
            return magic.indent + magic.code
        if magic.name == "%cd" and (found := _PLAIN_ARGUMENT.fullmatch(rest)):
            return f"{magic.indent}__import__('os').chdir({found[2]!r})"
        if found := _FOLDERS.fullmatch(lines[magic.first].strip()):
            return f"{magic.indent}{HELPER}.make_folders{tuple(found[1].split())!r}"
        if magic.name in {"%env", "%set_env"} and (found := _VARIABLE.fullmatch(rest)):
            return f"{magic.indent}__import__('os').environ[{found[1]!r}] = {found[2]!r}"
        if magic.effect is not Effect.SHOWS and not magic.is_cell:
            self._left_out.append((number, lines[magic.first].strip()))
        if magic.target:
            names = magic.target.count(",") + 1
            return f"{magic.indent}{magic.target} = {', '.join(['[]'] * names)}"
        return f"{magic.indent}pass"

    def _other_language(self, number: int, magic: Magic, lines: list[str]) -> str:
        rest = lines[magic.first].strip().partition(" ")[2]
        ends = "\n" * (len(lines) - 1)
        if magic.name in {"%%writefile", "%%file"} and (found := _FILE.fullmatch(rest)):
            text = "\n".join(lines[magic.last + 1 :]).removesuffix("\n") + "\n"
            return f"{HELPER}.write({found[2]!r}, {text!r}, {bool(found[1])}){ends}"
        if magic.effect is not Effect.SHOWS:
            self._left_out.append((number, lines[magic.first].strip()))
        return f"pass{ends}"


def _showing(python: str) -> str:
    """The cell with its last expression shown."""
    try:
        tree = syntax.parse(python)
    except syntax.NotPython:
        return python  # the run says what is wrong with it
    found = shown_in(python, tree)
    if found is None:
        return python
    start, end = found
    return f"{python[:start]}{SHOW}(({python[start:end]})){python[end:]}"
