"""How a verification is asked for: the command line over `[tool.tfrewrite.verify]`."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tfrewrite.config import ConfigError
from tfrewrite.model import Contract
from tfrewrite.verify.experiment import SEEDS_FOR_DISTRIBUTIONS, Effort
from tfrewrite.verify.runs import Conditions


@dataclass(frozen=True)
class Script:
    """What holds for one script of a directory; None is: as for all."""

    path: str
    arguments: tuple[str, ...] | None = None
    python: Path | None = None
    steps: int | None = None
    timeout_s: float | None = None
    contract: Contract | None = None


@dataclass(frozen=True)
class VerifySettings:
    """What holds for all scripts, and what for single ones."""

    python: Path
    scripts: tuple[Script, ...] = ()
    arguments: tuple[str, ...] = ()
    steps: int | None = None
    seeds: int | None = None
    runs: int | None = None
    timeout_s: float = 300.0
    memory_limit_mb: float | None = None
    device: str = "auto"
    contract: Contract | None = None
    synthetic: bool = False
    legacy_keras: bool = False
    quick: bool = False
    root: Path = field(default_factory=Path)
    """The folder of the settings file: the paths of scripts are relative to it."""
    fixed: frozenset[str] = frozenset()
    """What the command line says, and no script's own settings change."""

    def told(self, **options: Any) -> VerifySettings:
        """With what the command line says; None, False and nothing are: as set."""
        said = {
            name: value
            for name, value in options.items()
            if value is not None and value is not False and value != ()
        }
        return replace(self, **said, fixed=self.fixed | frozenset(said))

    def listed(self, folder: Path) -> list[str]:
        """The scripts of a folder that the settings name, by their paths in it."""
        found = {one: self._name_in(one, folder) for one in self.scripts}
        for one, name in found.items():
            if name is not None and not (folder / name).is_file():
                raise ConfigError(f"tool.tfrewrite.verify.scripts: there is no file {one.path}")
        return list(dict.fromkeys(name for name in found.values() if name is not None))

    def of(self, folder: Path, script: str) -> VerifySettings:
        """With what is set for this script of a folder."""
        own = next((one for one in self.scripts if self._name_in(one, folder) == script), None)
        if own is None:
            return self
        set_here = {
            "arguments": own.arguments,
            "python": own.python,
            "steps": own.steps,
            "timeout_s": own.timeout_s,
            "contract": own.contract,
        }
        changes: dict[str, Any] = {
            name: value
            for name, value in set_here.items()
            if value is not None and name not in self.fixed
        }
        return replace(self, **changes)

    def _name_in(self, one: Script, folder: Path) -> str | None:
        """How a folder calls it. One that is not below the folder may be meant relative to it."""
        real = folder.resolve()
        place = Path(os.path.normpath(self.root.resolve() / one.path))
        if place.is_relative_to(real):
            return place.relative_to(real).as_posix()
        relative = Path(one.path)
        if relative.is_absolute() or ".." in relative.parts or not (real / relative).is_file():
            return None
        return relative.as_posix()

    def conditions(self, *, is_tf1: bool, device: str, places: tuple[str, ...] = ()) -> Conditions:
        return Conditions(
            python=interpreter(self.python),
            arguments=self.arguments,
            time_limit_s=self.timeout_s,
            memory_limit_mb=self.memory_limit_mb,
            device=device,
            is_tf1=is_tf1,
            legacy_keras=self.legacy_keras,
            synthetic=self.synthetic,
            places=places,
        )

    def effort(self, promise: Contract) -> Effort:
        several = SEEDS_FOR_DISTRIBUTIONS if promise is Contract.RESAMPLED else 1
        return Effort(
            steps=self.steps, seeds=self.seeds or several, runs=self.runs, timed=not self.quick
        )


def split_arguments(text: str) -> tuple[str, ...]:
    """The arguments of a script, as a shell would split them; `ValueError` if it would not."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"{text!r} cannot be split as a shell does it: {error}") from error


def interpreter(named: Path) -> Path:
    """The program that is meant: a bare name is looked for as a shell does it."""
    path = named.expanduser()
    if len(path.parts) == 1 and not path.exists():
        path = Path(shutil.which(str(path)) or path)
    if not path.exists():
        problem = "there is no such interpreter"
    elif path.is_dir():
        problem = "a directory; name the interpreter in it, as in bin/python"
    elif not os.access(path, os.X_OK):
        problem = "this cannot be executed"
    else:
        return path
    raise ConfigError(f"{named}: {problem}; name one with --python")
