"""Reads `[tool.tfrewrite.verify]`, each value checked and its line blamed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tfrewrite.config import Reader, parse_contract
from tfrewrite.model import Contract
from tfrewrite.verify.settings import Script, VerifySettings, split_arguments

Table = dict[str, Any]

DEVICES = ("auto", "cpu", "gpu", "both")
SCRIPT_KEYS = ("path", "args", "python", "steps", "timeout", "contract")
ALL_STEPS = 0


def load(path: Path | None, python: Path) -> VerifySettings:
    """What the file says; without one, or without the table, what holds by default."""
    if path is None:
        return VerifySettings(python)
    reader = Reader(path)
    table = reader.inner(reader.table(), "verify")
    base = path.resolve().parent
    return VerifySettings(
        python=_python(reader, table, base) or python,
        scripts=tuple(_script(reader, one, base) for one in _tables(reader, table)),
        arguments=_arguments(reader, table),
        steps=steps(reader, table),
        seeds=_whole(reader, table, "seeds"),
        runs=_whole(reader, table, "runs") or VerifySettings(python).runs,
        timeout_s=_positive(reader, table, "timeout") or VerifySettings(python).timeout_s,
        memory_limit_mb=_positive(reader, table, "memory-limit"),
        device=_device(reader, table),
        contract=_contract(reader, table),
        synthetic=_boolean(reader, table, "synthetic-data"),
        legacy_keras=_boolean(reader, table, "legacy-keras"),
        quick=_boolean(reader, table, "quick"),
    )


def parse_steps(text: str) -> int:
    """A number of steps, 0 for all; `ValueError` with what to write."""
    if text == "all":
        return ALL_STEPS
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ValueError(f"{text!r} is no number of steps; write 40, or all")


def steps(reader: Reader, table: Table) -> int | None:
    if "steps" not in table:
        return None
    try:
        return parse_steps(str(table["steps"]))
    except ValueError as error:
        raise reader.wrong("steps", str(error)) from error


def _script(reader: Reader, table: Table, base: Path) -> Script:
    reader.check_keys(table, SCRIPT_KEYS, "tool.tfrewrite.verify.scripts")
    path = reader.string(table, "path")
    if not path:
        raise reader.wrong("scripts", "each of scripts needs a path, as in { path = 'train.py' }")
    return Script(
        os.path.normpath(path),
        _arguments(reader, table),
        _python(reader, table, base),
        steps(reader, table),
        _positive(reader, table, "timeout"),
        _contract(reader, table),
    )


def _tables(reader: Reader, table: Table) -> list[Table]:
    value = table.get("scripts", [])
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise reader.wrong("scripts", "scripts must be a list of tables with a path each")
    return value


def _python(reader: Reader, table: Table, base: Path) -> Path | None:
    name = reader.string(table, "python")
    return base / name if name else None


def _arguments(reader: Reader, table: Table) -> tuple[str, ...]:
    if isinstance(table.get("args"), str):
        return split_arguments(table["args"])
    return reader.strings(table, "args")


def _whole(reader: Reader, table: Table, key: str) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise reader.wrong(key, f"{key} must be a whole number of at least 1")
    return value


def _positive(reader: Reader, table: Table, key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise reader.wrong(key, f"{key} must be a number above 0")
    return float(value)


def _boolean(reader: Reader, table: Table, key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise reader.wrong(key, f"{key} must be true or false")
    return value


def _device(reader: Reader, table: Table) -> str:
    value = reader.string(table, "device") or "auto"
    if value not in DEVICES:
        raise reader.wrong("device", f"no device {value!r}; there are {', '.join(DEVICES)}")
    return value


def _contract(reader: Reader, table: Table) -> Contract | None:
    name = reader.string(table, "contract")
    if not name:
        return None
    try:
        return parse_contract(name)
    except ValueError as error:
        raise reader.wrong("contract", str(error)) from error
