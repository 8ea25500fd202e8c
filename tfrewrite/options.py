"""The options that commands share, and the settings that they make with the settings file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tfrewrite.config import ConfigError, Settings, find, load, parse_contract, parse_version

if TYPE_CHECKING:
    from collections.abc import Sequence

STDIN = "-"


class Format(str, Enum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True)
class Options:
    """What the command line says, as it says it."""

    paths: Sequence[str]
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    allow: Sequence[str] = ()
    target_tf: str = ""
    exclude: Sequence[str] = ()
    config: Path | None = None
    format: Format = Format.TEXT
    output: Path | None = None
    jobs: int | None = None
    no_cache: bool = False
    statistics: bool = False
    quiet: bool = False
    verbose: bool = False
    shard: str = ""

    def settings(self) -> Settings:
        """The settings file with what the command line says over it; `ConfigError` if wrong."""
        start = "." if self.paths[0] == STDIN else self.paths[0]
        settings = load(self.config or find(start))
        try:
            allowed = frozenset(parse_contract(name) for name in split(self.allow))
        except ValueError as error:
            raise ConfigError(f"--allow: {error}") from error
        try:
            target = parse_version(self.target_tf) if self.target_tf else settings.target_tf
        except ValueError as error:
            raise ConfigError(f"--target-tf: {error}") from error
        return replace(
            settings,
            select=split(self.select) or settings.select,
            ignore=(*settings.ignore, *split(self.ignore)),
            allow=settings.allow | allowed,
            target_tf=target,
            exclude=(*settings.exclude, *split(self.exclude)),
            jobs=settings.jobs if self.jobs is None else self.jobs,
        )

    def shard_of(self) -> tuple[int, int]:
        """Which part of how many is to be handled; (1, 1) is all."""
        if not self.shard:
            return (1, 1)
        number, slash, count = self.shard.partition("/")
        if slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
            return (int(number), int(count))
        raise ConfigError(f"--shard: {self.shard!r} is no part of a whole; write it as 3/10")


def split(values: Sequence[str]) -> tuple[str, ...]:
    """The parts of options that take commas and may repeat."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files and directories; - reads standard input."),
]
Select = Annotated[
    list[str],
    typer.Option("--select", metavar="RULES", help="Only these: codes, prefixes or names."),
]
Ignore = Annotated[
    list[str], typer.Option("--ignore", metavar="RULES", help="All but these rules.")
]
Allow = Annotated[
    list[str],
    typer.Option(
        "--allow",
        metavar="CONTRACT",
        help="Also make rewrites that promise less: shifted, resampled, precision.",
    ),
]
TargetTf = Annotated[
    str, typer.Option("--target-tf", metavar="VERSION", help="The TensorFlow it runs on.")
]
Exclude = Annotated[
    list[str],
    typer.Option("--exclude", metavar="PATTERN", help="Leave these files out, as .gitignore does."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings, in place of pyproject.toml's."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How findings are written.")]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Write the report to this file.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=0, metavar="N", help="Processes; 0: one a processor.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")]
Statistics = Annotated[bool, typer.Option("--statistics", help="Count findings by rule.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every file's status too.")]
Shard = Annotated[
    str, typer.Option("--shard", metavar="I/N", help="Handle one part of N of the files.")
]
