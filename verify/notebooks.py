"""Notebooks where scripts are expected: their cells as one Python file, run in their place."""

from __future__ import annotations

from collections.abc import Iterable

from tfrewrite.discovery import is_notebook
from tfrewrite.notebooks.script import NoScript, is_script, script_of

__all__ = ["NoScript", "as_python", "notes_on", "python_of", "readable"]


def as_python(name: str, data: bytes) -> bytes:
    """What Python runs for a file: the file itself, or the cells of a notebook; or `NoScript`."""
    if not is_notebook(name) or is_script(data):
        return data
    return script_of(data).text.encode()


def python_of(files: Iterable[tuple[str, bytes]]) -> tuple[tuple[str, bytes], ...]:
    return tuple((name, as_python(name, data)) for name, data in files)


def readable(name: str, data: bytes) -> bytes | None:
    """As `as_python`; None where nothing can be run."""
    try:
        return as_python(name, data)
    except NoScript:
        return None


def notes_on(name: str, data: bytes) -> list[str]:
    """What a run of a notebook leaves out."""
    if not is_notebook(name) or is_script(data):
        return []
    note = script_of(data).note
    return [f"{name}: {note}"] if note else []
