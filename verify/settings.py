"""How a verification is asked for: the command line over `[tool.tfrewrite.verify]`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from tfrewrite.model import Contract
from tfrewrite.verify.experiment import SEEDS_FOR_DISTRIBUTIONS, TIMED_RUNS, Effort
from tfrewrite.verify.runs import Conditions


@dataclass(frozen=True)
class Script:
    """What holds for one script of a directory; None is: as for all."""

    path: str
    arguments: tuple[str, ...] = ()
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
    runs: int = TIMED_RUNS
    timeout_s: float = 300.0
    memory_limit_mb: float | None = None
    device: str = "auto"
    contract: Contract | None = None
    synthetic: bool = False
    legacy_keras: bool = False
    quick: bool = False

    def of(self, script: str) -> VerifySettings:
        """With what is set for this script."""
        own = next((one for one in self.scripts if one.path == script), None)
        if own is None:
            return self
        return replace(
            self,
            arguments=own.arguments or self.arguments,
            python=own.python or self.python,
            steps=self.steps if own.steps is None else own.steps,
            timeout_s=own.timeout_s or self.timeout_s,
            contract=own.contract or self.contract,
        )

    def conditions(self, *, is_tf1: bool, device: str) -> Conditions:
        return Conditions(
            python=self.python,
            arguments=self.arguments,
            time_limit_s=self.timeout_s,
            memory_limit_mb=self.memory_limit_mb,
            device=device,
            is_tf1=is_tf1,
            legacy_keras=self.legacy_keras,
            synthetic=self.synthetic,
        )

    def effort(self, promise: Contract) -> Effort:
        several = SEEDS_FOR_DISTRIBUTIONS if promise is Contract.RESAMPLED else 1
        return Effort(
            steps=self.steps, seeds=self.seeds or several, runs=self.runs, timed=not self.quick
        )


def split_arguments(text: str) -> tuple[str, ...]:
    """The arguments of a script, as a shell would split them."""
    return tuple(shlex.split(text))
