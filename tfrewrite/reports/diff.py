"""A unified diff that says above each hunk which rule made it, what it promises, and why.

`patch` and `git apply` take words between the patches of two files, but not between two hunks of
one. So every hunk is a patch of its own, to the file as the hunks above have left it.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tfrewrite.model import Outcome
from tfrewrite.reports.safe import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.model import Finding

Opcode = tuple[str, int, int, int, int]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKS = {"equal": " ", "delete": "-", "insert": "+", "replace": "-"}


def render(outcome: Outcome) -> bytes:
    """The diff of one file, its lines in the encoding of that file; empty where nothing changes.

    That of a notebook is one of its cells, for people to read: `patch` finds no file to apply it
    to, and the notebook's JSON is left to `apply`.
    """
    if outcome.cells:
        return b"".join(render(one) for one in _cells(outcome))
    mark = "\ufeff" if outcome.encoding == "utf-8-sig" else ""
    old, new = _LINE.findall(mark + outcome.before), _LINE.findall(mark + outcome.after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    made = [finding for finding in outcome.findings if finding.touched]
    encoding = "utf-8" if mark else outcome.encoding
    parts: list[bytes] = []
    for hunk in matcher.get_grouped_opcodes(3):
        header = "".join([*_reasons(hunk, made), *_header(outcome.path, hunk)])
        # A path is bytes that need not be text at all.
        parts.append(header.encode(errors="surrogateescape"))
        parts.append("".join(_lines(hunk, old, new)).encode(encoding))
    return b"".join(parts)


def _cells(outcome: Outcome) -> Iterator[Outcome]:
    for cell in outcome.cells:
        path = f"{outcome.path}:cell {cell.number}"
        ends = "" if cell.before.endswith("\n") and cell.after.endswith("\n") else "\n"
        yield Outcome(
            path, outcome.status, cell.findings, before=cell.before + ends, after=cell.after + ends
        )


def _reasons(hunk: Sequence[Opcode], made: list[Finding]) -> Iterator[str]:
    for finding in _makers(hunk, made):
        contract = finding.contract.value if finding.contract else "report"
        yield f"# {finding.rule} {finding.name} [{contract}]: {printable(finding.message)}\n"
        if finding.because:
            yield f"#   safe because {printable(finding.because)}\n"
        if finding.changes:
            yield f"#   changes: {printable(finding.changes)}\n"


def _header(path: str, hunk: Sequence[Opcode]) -> Iterator[str]:
    yield f"--- {_quoted('a/', path)}\n"
    yield f"+++ {_quoted('b/', path)}\n"
    old_count, new_count = hunk[-1][2] - hunk[0][1], hunk[-1][4] - hunk[0][3]
    start = hunk[0][3]
    yield f"@@ -{_range(start, old_count)} +{_range(start, new_count)} @@\n"


def _lines(hunk: Sequence[Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    for tag, old_start, old_end, new_start, new_end in hunk:
        if tag != "insert":
            yield from _marked(_MARKS[tag], old[old_start:old_end])
        if tag in {"insert", "replace"}:
            yield from _marked("+", new[new_start:new_end])


def _makers(hunk: Sequence[Opcode], made: list[Finding]) -> list[Finding]:
    """The findings whose edits touch a line that the hunk changes, or stand right beside one."""
    changed = {
        line for tag, start, end, _, _ in hunk if tag != "equal" for line in range(start, end + 2)
    }
    return [finding for finding in made if changed & set(finding.touched)] or made


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line
        else:
            yield f"{mark}{line}\n\\ No newline at end of file\n"


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _quoted(prefix: str, path: str) -> str:
    """A path as git writes it: quoted where it holds anything unusual, ended by a tab at spaces."""
    name = prefix + path.replace("\\", "/").lstrip("/").removeprefix("./")
    if re.search(r'[\x00-\x1f"\x7f]', name):
        escaped = "".join(f"\\{ord(c):03o}" if c < " " or c in '"\x7f' else c for c in name)
        return f'"{escaped}"'
    return f"{name}\t" if " " in name else name
