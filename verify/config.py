"""Reads `[tool.tfrewrite.verify]`, each value checked and its line blamed."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from tfrewrite.config import VERIFY_KEYS, VERIFY_SECTION, Reader, parse_contract
from tfrewrite.model import Contract
from tfrewrite.verify.settings import Script, VerifySettings, split_arguments

Table = dict[str, Any]

DEVICES = ("auto", "cpu", "gpu", "both")
SCRIPT_KEYS = ("path", "args", "python", "steps", "timeout", "contract")
SCRIPTS_SECTION = f"{VERIFY_SECTION}.scripts"
ALL_STEPS = 0
FEWEST_RUNS = 2


def load(path: Path | None, python: Path) -> VerifySettings:
    """What the file says; without one, or without the table, what holds by default."""
    default = VerifySettings(python)
    if path is None:
        return default
    reader = Reader(path)
    table = reader.inner(reader.table(), "verify")
    reader = reader.within(VERIFY_SECTION)
    reader.check_keys(table, VERIFY_KEYS, VERIFY_SECTION)
    base = path.resolve().parent
    return VerifySettings(
        python=_python(reader, table, base) or python,
        scripts=tuple(
            _script(reader.within(SCRIPTS_SECTION, number), one, base)
            for number, one in enumerate(_tables(reader, table))
        ),
        arguments=_arguments(reader, table) or (),
        steps=steps(reader, table),
        seeds=_whole(reader, table, "seeds"),
        runs=_whole(reader, table, "runs", least=FEWEST_RUNS),
        timeout_s=_positive(reader, table, "timeout") or default.timeout_s,
        memory_limit_mb=_positive(reader, table, "memory-limit"),
        device=_device(reader, table),
        contract=_contract(reader, table),
        synthetic=_boolean(reader, table, "synthetic-data"),
        legacy_keras=_boolean(reader, table, "legacy-keras"),
        quick=_boolean(reader, table, "quick"),
        root=base,
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
    value = table["steps"]
    try:
        return parse_steps(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        raise reader.wrong("steps", str(error)) from error


def _script(reader: Reader, table: Table, base: Path) -> Script:
    reader.check_keys(table, SCRIPT_KEYS, SCRIPTS_SECTION)
    path = reader.string(table, "path")
    if not path:
        raise reader.wrong("path", "each of scripts needs a path, as in { path = 'train.py' }")
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
    """A path is relative to the settings file; a bare name is a program, as for a shell."""
    name = reader.string(table, "python")
    if not name:
        return None
    path = Path(name).expanduser()
    is_program = len(path.parts) == 1 and not (base / path).exists()
    return path if is_program else base / path


def _arguments(reader: Reader, table: Table) -> tuple[str, ...] | None:
    if "args" not in table:
        return None
    value = table["args"]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    if not isinstance(value, str):
        raise reader.wrong("args", 'args must be a string, or a list of strings: ["--steps", "9"]')
    try:
        return split_arguments(value)
    except ValueError as error:
        raise reader.wrong("args", f"args: {error}") from error


def _whole(reader: Reader, table: Table, key: str, *, least: int = 1) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise reader.wrong(key, f"{key} must be a whole number of at least {least}")
    return value


def _positive(reader: Reader, table: Table, key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
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
