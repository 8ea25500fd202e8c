"""The settings of `[tool.tfrewrite]`, read from `pyproject.toml` and checked key by key."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from tfrewrite.model import Contract

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = dict[str, Any]

_OVERRIDES = ("select", "ignore", "allow", "target-tf")
VERIFY_KEYS = (
    "args", "contract", "device", "legacy-keras", "memory-limit", "python", "quick", "runs",
    "scripts", "seeds", "steps", "synthetic-data", "timeout",
)  # fmt: skip
VERIFY_SECTION = "tool.tfrewrite.verify"
_KEYS = (*_OVERRIDES, "exclude", "include", "jobs", "cache-dir", "per-file-ignores", "per-file")


class ConfigError(Exception):
    """A setting that is wrong; names the file, the line and what to do."""


@dataclass(frozen=True)
class Override:
    """Settings for the files that a pattern names; None leaves what holds for all."""

    pattern: str
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    allow: frozenset[Contract] = frozenset()
    target_tf: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Settings:
    """What holds for a run, from the file and the command line together."""

    root: str
    source: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    allow: frozenset[Contract] = frozenset()
    target_tf: tuple[int, ...] | None = None
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    jobs: int = 0
    cache_dir: str = ""
    overrides: tuple[Override, ...] = ()


def find(start: str) -> Path | None:
    """The nearest `pyproject.toml` with a `[tool.tfrewrite]` table, from a path upwards."""
    here = Path(start).resolve()
    for directory in (here, *here.parents) if here.is_dir() else here.parents:
        candidate = directory / "pyproject.toml"
        if candidate.is_file() and "tool.tfrewrite" in _text(candidate):
            return candidate
    return None


def load(path: Path | None, *, root: str = ".") -> Settings:
    """The settings of a file; without one, what holds by default."""
    if path is None:
        return Settings(str(Path(root).resolve()))
    reader = Reader(path)
    table = reader.table()
    reader.check_keys(table, _KEYS, "tool.tfrewrite")
    overrides = [*reader.per_file_ignores(table), *reader.per_file(table)]
    cache_dir = reader.string(table, "cache-dir")
    return Settings(
        root=str(path.resolve().parent),
        source=str(path),
        select=reader.strings(table, "select"),
        ignore=reader.strings(table, "ignore"),
        allow=reader.contracts(table),
        target_tf=reader.version(table),
        exclude=reader.strings(table, "exclude"),
        include=reader.strings(table, "include"),
        jobs=reader.jobs(table),
        cache_dir=str(path.resolve().parent / cache_dir) if cache_dir else "",
        overrides=tuple(overrides),
    )


def parse_contract(name: str) -> Contract:
    """The contract of this name, or `ValueError` with what was probably meant."""
    try:
        return Contract(name.strip())
    except ValueError:
        names = [contract.value for contract in Contract]
        raise ValueError(f"no contract {name!r}; {_near(name, names)}") from None


def parse_version(text: str) -> tuple[int, ...]:
    """A TensorFlow version such as 1.15, or `ValueError`."""
    if not re.fullmatch(r"[12](\.\d+){0,2}", text.strip()):
        raise ValueError(f"{text!r} is not a TensorFlow version; write it as 1.15 or 2.12")
    return tuple(int(part) for part in text.strip().split("."))


class Reader:
    """Reads one file, and blames the line that is wrong.

    What is blamed is looked for in a section, which is the table itself, or one of several tables
    of that name.
    """

    def __init__(self, path: Path, section: str = "tool.tfrewrite", number: int = 0) -> None:
        self._path = path
        self._section = section
        self._number = number

    def within(self, section: str, number: int = 0) -> Reader:
        """The same file, for values of an inner table, or of the one with this number."""
        return Reader(self._path, section, number)

    @cached_property
    def _lines(self) -> list[str]:
        return self._content.splitlines()

    @cached_property
    def _content(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ConfigError(f"{self._path}: cannot be read: {reason}") from error

    def table(self) -> Table:
        try:
            document = tomllib.loads(self._content)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{self._path}: not valid TOML: {error}") from error
        table = document.get("tool", {}).get("tfrewrite", {})
        if not isinstance(table, dict):
            raise self.wrong("tfrewrite", "[tool.tfrewrite] must be a table")
        return table

    def wrong(self, key: str, message: str) -> ConfigError:
        line = self._line_of(key)
        return ConfigError(f"{self._path}{f':{line}' if line else ''}: {message}")

    def _line_of(self, key: str) -> int:
        """The line that gives the key a value in this section, or near it; 0 if there is none."""
        # The key at the left, in the name of a table, or within an inline table.
        name = re.escape(key)
        patterns = [
            rf"""^\s*["']?{name}["']?\s*=""",
            rf"""^\s*\[[^#]*\b{name}\b""",
            rf"""^[^#]*[{{,.\s"']{name}["']?\s*=""",
            rf"""^\s*\[?[^=#]*["'.]?\b{name}\b""",
        ]
        first, last = self._lines_of_section()
        for start, end in ((first, last), (first, len(self._lines))):
            for pattern in patterns:
                for number in range(start, end):
                    if re.search(pattern, self._lines[number]):
                        return number + 1
        return first + 1 if first else 0

    def _lines_of_section(self) -> tuple[int, int]:
        """From its header to the next one."""
        header = re.compile(rf"^\s*\[+\s*{re.escape(self._section)}\s*\]")
        headers = [at for at, line in enumerate(self._lines) if header.search(line)]
        if self._number < len(headers):
            first = headers[self._number]
            return first, self._next_header(first)
        outer, _, inner = self._section.rpartition(".")
        if outer == "tool":
            first = next((at for at, line in enumerate(self._lines) if "tool.tfrewrite" in line), 0)
            return first, len(self._lines)
        # Written within the outer table: its entries are told apart by the path that each has.
        first, last = self.within(outer)._lines_of_section()
        entry = re.compile(r"""[{,]\s*["']?path["']?\s*=""")
        entries = [at for at in range(first, last) for _ in entry.finditer(self._lines[at])]
        if self._number < len(entries):
            return entries[self._number], last
        return max(0, self.within(outer)._line_of(inner) - 1), last

    def _next_header(self, line: int) -> int:
        later = range(line + 1, len(self._lines))
        return next((at for at in later if re.match(r"\s*\[", self._lines[at])), len(self._lines))

    def check_keys(self, table: Table, known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key == "verify" and where == "tool.tfrewrite":
                inner = self.within(VERIFY_SECTION)
                inner.check_keys(self.inner(table, key), VERIFY_KEYS, VERIFY_SECTION)
            elif key not in known:
                raise self.wrong(key, f"no setting {key!r} in [{where}]; {_near(key, known)}")

    def strings(self, table: Table, key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(key, f'{key} must be a list of strings, as in {key} = ["..."]')
        return tuple(value)

    def string(self, table: Table, key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, f"{key} must be a string, not {_type(value)}")
        return value

    def jobs(self, table: Table) -> int:
        value = table.get("jobs", 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong("jobs", "jobs must be a whole number, 0 for one for each processor")
        return value

    def contracts(self, table: Table) -> frozenset[Contract]:
        try:
            return frozenset(parse_contract(name) for name in self.strings(table, "allow"))
        except ValueError as error:
            raise self.wrong("allow", str(error)) from error

    def version(self, table: Table) -> tuple[int, ...] | None:
        text = self.string(table, "target-tf")
        try:
            return parse_version(text) if text else None
        except ValueError as error:
            raise self.wrong("target-tf", str(error)) from error

    def per_file_ignores(self, table: Table) -> list[Override]:
        ignores = self.inner(table, "per-file-ignores")
        return [Override(key, ignore=self.strings(ignores, key)) for key in ignores]

    def per_file(self, table: Table) -> list[Override]:
        tables = self.inner(table, "per-file")
        return [self._override(key, self.inner(tables, key)) for key in tables]

    def _override(self, pattern: str, table: Table) -> Override:
        self.check_keys(table, _OVERRIDES, f'tool.tfrewrite.per-file."{pattern}"')
        return Override(
            pattern,
            self.strings(table, "select") if "select" in table else None,
            self.strings(table, "ignore"),
            self.contracts(table),
            self.version(table),
        )

    def inner(self, table: Table, key: str) -> Table:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"{key} must be a table, not {_type(value)}")
        return value


def overridden(settings: Settings, overrides: tuple[Override, ...]) -> Settings:
    """The settings with overrides applied, a later one over an earlier one."""
    for override in overrides:
        settings = replace(
            settings,
            select=settings.select if override.select is None else override.select,
            ignore=(*settings.ignore, *override.ignore),
            allow=settings.allow | override.allow,
            target_tf=override.target_tf or settings.target_tf,
        )
    return settings


def _near(word: str, known: tuple[str, ...] | list[str]) -> str:
    near = get_close_matches(word.strip(), known, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(known)}" if known else "none is known here yet"


def _type(value: object) -> str:
    names = {str: "a string", int: "a number", bool: "a boolean", list: "a list", dict: "a table"}
    return names.get(type(value), type(value).__name__)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
