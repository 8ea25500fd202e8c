"""Reads the JSON reports of several runs, of shards or of days, and puts them together.

They are read in the order given. Of a file that several speak of, the last report holds; a script
that several have verified, under the same path, has a history.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tfrewrite import outputs
from tfrewrite.config import ConfigError
from tfrewrite.model import (
    CellPlace,
    Contract,
    Finding,
    Kind,
    Notice,
    Outcome,
    Refused,
    Span,
    Status,
)
from tfrewrite.options import STDIN
from tfrewrite.reports import html, json_report, markdown
from tfrewrite.reports.merged import Merged, Verified
from tfrewrite.reports.paths import relative
from tfrewrite.reports.summary import Run
from tfrewrite.reports.verification import json_report as verification_report
from tfrewrite.verify.model import Ratio

Table = Mapping[str, Any]


@dataclass
class _Collected:
    """What was read so far."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    elapsed_s: float = 0.0
    checked: bool = False
    verified: dict[tuple[str, str], list[Verified]] = field(default_factory=dict)
    """By the name of the script, and by its path as it was given."""


def report_on(paths: Sequence[Path], format_: str, wanted: Sequence[str]) -> int:
    """One run of `report`: its exit code."""
    try:
        targets = outputs.targets(wanted, format_, ("markdown", "html"))
        merged = merge(paths)
        for name, target in targets:
            text = html.page(merged) if name == "html" else markdown.comment(merged)
            outputs.write(text.encode("utf-8", "replace"), target)
    except ConfigError as error:
        outputs.complain(f"tfrewrite: {error}")
        return 2
    return 0


def merge(paths: Sequence[Path]) -> Merged:
    """All reports as one; `ConfigError` where a file is none."""
    collected = _Collected()
    for path in paths:
        _add(path, collected)
    outcomes = tuple(collected.outcomes[name] for name in sorted(collected.outcomes))
    return Merged(
        Run(outcomes, collected.elapsed_s) if collected.checked else None,
        tuple(_histories(collected.verified)),
        read=True,
    )


def _add(path: Path, collected: _Collected) -> None:
    try:
        _read(path, collected)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: not a report that `--format json` wrote: {type(error).__name__}: {error}"
        ) from error


def _read(path: Path, collected: _Collected) -> None:
    document = _document(path)
    if "verifications" in document:
        _require_version(path, document, verification_report.SCHEMA_VERSION)
        for one in document["verifications"]:
            verified = _verified(relative(str(path)), one)
            collected.verified.setdefault((verified.script, one["original"]), []).append(verified)
    elif "findings" in document:
        _require_version(path, document, json_report.SCHEMA_VERSION)
        collected.checked = True
        collected.elapsed_s += float(document["summary"]["elapsed_s"])
        collected.outcomes |= {one.path: one for one in _outcomes(document)}
    else:
        raise ConfigError(
            f"{path}: neither findings nor verifications; give files that `check --format json` "
            "or `verify --format json` wrote"
        )


def _document(path: Path) -> Table:
    try:
        data = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
        document = json.loads(data)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: not a report that `--format json` wrote")
    return document


def _require_version(path: Path, document: Table, known: int) -> None:
    version = document["schema_version"]
    if version != known:
        raise ConfigError(
            f"{path}: has schema_version {version!r}, and this tfrewrite reads {known}; use the "
            "version that wrote it"
        )


def _outcomes(document: Table) -> Iterable[Outcome]:
    findings, refusals, notices = (
        _by_path(document[name]) for name in ("findings", "refusals", "unused_exemptions")
    )
    for file in document["files"]:
        path = file["path"]
        yield Outcome(
            path,
            Status(file["status"]),
            tuple(map(_finding, findings.get(path, ()))),
            tuple(map(_refused, refusals.get(path, ()))),
            tuple(Notice(_span(one), one["message"], _cell(one)) for one in notices.get(path, ())),
            error=file["error"],
        )


def _by_path(remarks: Iterable[Table]) -> dict[str, list[Table]]:
    found: dict[str, list[Table]] = {}
    for one in remarks:
        found.setdefault(one["path"], []).append(one)
    return found


def _finding(one: Table) -> Finding:
    return Finding(
        one["rule"],
        one["name"],
        _span(one),
        one["message"],
        Kind(one["kind"]),
        Contract(one["contract"]) if one["contract"] else None,
        one["because"],
        one["changes"],
        bool(one["applicable"]),
        bool(one["applied"]),
        cell=_cell(one),
    )


def _refused(one: Table) -> Refused:
    said = one["reason"], one["message"]
    return Refused(one["rule"], one["name"], _span(one), *said, _cell(one))


def _cell(one: Table) -> CellPlace | None:
    """Where in a notebook it is."""
    if "cell" not in one:
        return None
    return CellPlace(int(one["cell"]), int(one["cell_line"]), int(one["cell_column"]) - 1)


def _span(one: Table) -> Span:
    line, column = int(one["line"]), int(one["column"]) - 1
    last = int(one.get("end_line", line))
    return Span(line, column, last, column)


def _verified(source: str, one: Table) -> Verified:
    speed = one["speed"] or {}
    return Verified(
        source,
        one["script"],
        one["verdict"],
        one["headline"],
        one["contract"],
        speed.get("verdict", ""),
        _ratio(speed),
    )


def _histories(
    found: Mapping[tuple[str, str], Sequence[Verified]],
) -> Iterator[tuple[Verified, ...]]:
    """Of each script; two that have one name are told apart by their paths."""
    names = Counter(script for script, _ in found)
    for script, path in sorted(found):
        name = script
        if names[script] > 1:
            name = path if path.endswith(script) else f"{script} ({path})"
        yield tuple(replace(one, script=name) for one in found[script, path])


def _ratio(speed: Table) -> Ratio | None:
    if speed.get("ratio") is None:
        return None
    low, high = speed["ci95"]
    # What is not finite is written as a word, and `float` reads these.
    return Ratio(float(speed["ratio"]), float(low), float(high))
