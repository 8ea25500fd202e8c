"""The options that commands share, and the settings that they make with the settings file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tfrewrite.config import ConfigError, Settings, find, load, parse_contract, parse_version
from tfrewrite.reports.formats import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STDIN = "-"


class ListFormat(str, Enum):
    """How the rules are listed."""

    TEXT = "text"
    JSON = "json"


class ReportFormat(str, Enum):
    """How several results are written as one."""

    MARKDOWN = "markdown"
    HTML = "html"


class VerifyFormat(str, Enum):
    """How verifications are written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


class Device(str, Enum):
    """What scripts run on."""

    AUTO = "auto"
    CPU = "cpu"
    GPU = "gpu"
    BOTH = "both"


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
    outputs: Sequence[str] = ()
    jobs: int | None = None
    no_cache: bool = False
    statistics: bool = False
    quiet: bool = False
    verbose: bool = False
    shard: str = ""
    since: str = ""
    stdin_filename: str = ""

    def require_sense(self, *, interactive: bool = False) -> None:
        """`ConfigError` where options do not go with what is to be read."""
        if STDIN not in self.paths:
            if self.stdin_filename:
                raise ConfigError("--stdin-filename names what - reads: give - as the path")
            return
        if len(self.paths) > 1:
            raise ConfigError("- stands for standard input, and takes no other path beside it")
        if self.since:
            raise ConfigError("--since asks git about files, and standard input is none")
        if self.shard:
            raise ConfigError("--shard divides files, and standard input is one")
        if interactive:
            raise ConfigError("--interactive asks on standard input, so it cannot read a file too")
        if self.stdin_filename and Path(self.stdin_filename).is_dir():
            raise ConfigError(
                f"--stdin-filename: {self.stdin_filename}: a directory; name the file in it"
            )

    def settings_file(self) -> Path | None:
        """The one that is named, or the nearest above the first path."""
        if self.config:
            return self.config
        first = self.paths[0]
        return find((self.stdin_filename or ".") if first == STDIN else first)

    def settings(self) -> Settings:
        """The settings file with what the command line says over it; `ConfigError` if wrong."""
        settings = load(self.settings_file())
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
ListFormatOption = Annotated[ListFormat, typer.Option("--format", help="How rules are listed.")]
Outputs = Annotated[
    list[str],
    typer.Option(
        "--output", metavar="[FORMAT=]FILE", help="Write a report to this file; may repeat."
    ),
]
Since = Annotated[
    str,
    typer.Option(
        "--since", metavar="REV", help="Only findings on lines that git saw change since then."
    ),
]
StdinFilename = Annotated[
    str,
    typer.Option(
        "--stdin-filename",
        metavar="FILE",
        help="With -: the name that reports and settings know it by.",
    ),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=0, metavar="N", help="Processes; 0: one a processor.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write the cache.")]
Statistics = Annotated[
    bool, typer.Option("--statistics", help="Count by rule, contract and reason.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every file's status too.")]
Shard = Annotated[
    str, typer.Option("--shard", metavar="I/N", help="Handle one part of N of the files.")
]

Reports = Annotated[
    list[Path],
    typer.Argument(metavar="FILES...", help="What `--format json` has written; - reads one."),
]
ReportFormatOption = Annotated[
    ReportFormat, typer.Option("--format", help="How the result is written.")
]

# What `verify` takes, and `apply --verify`.

VerifyPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="ORIGINAL [REWRITTEN]",
        help="Two files or directories; one alone is held against what the rules make of it.",
    ),
]
Python = Annotated[
    Path | None,
    typer.Option("--python", metavar="FILE", help="The interpreter that scripts run in."),
]
Arguments = Annotated[
    str, typer.Option("--args", metavar="TEXT", help="What the script is called with.")
]
Steps = Annotated[
    str,
    typer.Option(
        "--steps",
        metavar="N|all",
        help="Cut loops short after so many steps; by default 40, if the script is not quick.",
    ),
]


def _whole(least: int) -> Callable[[str], int]:
    """Reads a whole number; says what is wrong with another text in words."""

    def parse(text: str) -> int:
        if not text.strip().lstrip("+-").isdecimal():
            raise typer.BadParameter(f"{text!r} is no whole number; write {least} or more")
        if int(text) < least:
            raise typer.BadParameter(f"{text} is too few; write {least} or more")
        return int(text)

    return parse


def _number(unit: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is no number; write how many {unit}, as in 300"
            ) from None
        if value < 1:
            raise typer.BadParameter(f"{text} is too little; write how many {unit}, 1 or more")
        return value

    return parse


Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds", parser=_whole(1), metavar="N", help="Compare under so many seeds, 1 or more."
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs", parser=_whole(2), metavar="N", help="Time so many runs of each, 2 or more."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        parser=_number("seconds"),
        metavar="SECONDS",
        help="End a run after this time, 1 or more.",
    ),
]
MemoryLimit = Annotated[
    float | None,
    typer.Option(
        "--memory-limit",
        parser=_number("MB"),
        metavar="MB",
        help="End a run that takes more, 1 or more.",
    ),
]
DeviceOption = Annotated[Device | None, typer.Option("--device", help="What scripts run on.")]
ContractOption = Annotated[
    str,
    typer.Option(
        "--contract",
        metavar="CONTRACT",
        help="What is promised: by default what the rewrites claim; of two files rounding.",
    ),
]
SyntheticData = Annotated[
    bool, typer.Option("--synthetic-data", help="Make up well-known data sets, without network.")
]
LegacyKeras = Annotated[bool, typer.Option("--legacy-keras", help="Use Keras 2 (tf-keras).")]
NumbersOnly = Annotated[bool, typer.Option("--quick", help="Compare numbers, and no times.")]
VerifyFormatOption = Annotated[
    VerifyFormat, typer.Option("--format", help="How the result is written.")
]
VerifyQuiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print a line for each script, and errors.")
]
VerifyVerbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print all of several scripts in full.")
]
VerifyJobs = Annotated[
    int, typer.Option("--jobs", min=1, metavar="N", help="Scripts at once, while not timing.")
]

# What only `apply` takes.

KeepWhatPays = Annotated[
    bool,
    typer.Option("--verify", help="Run the scripts, and keep only what holds and slows none."),
]
MinSpeedup = Annotated[
    float | None,
    typer.Option(
        "--min-speedup",
        min=1,
        metavar="FACTOR",
        help="With --verify: keep only what makes a script so many times as fast, as in 1.05.",
    ),
]
