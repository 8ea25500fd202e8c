"""Where something is, as a person reads it."""

from __future__ import annotations

from tfrewrite.model import Finding, Notice, Refused


def place(path: str, remark: Finding | Refused | Notice, *, column: bool = True) -> str:
    """`train.py:12:5`, and in a notebook `train.ipynb:cell 3:12:5`; all count from 1."""
    if remark.cell is None:
        at = (remark.span.line, remark.span.column + 1)
    else:
        path = f"{path}:cell {remark.cell.number}"
        at = (remark.cell.line, remark.cell.column + 1)
    return f"{path}:{at[0]}:{at[1]}" if column else f"{path}:{at[0]}"
