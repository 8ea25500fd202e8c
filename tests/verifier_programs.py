"""The programs on which the verifier is tested: each with rewrites that are right and wrong.

A folder of `verifier_programs/` holds a training script, `original.py`, and `variants.toml`, which
describes its rewrites as edits of that script, or names a file where an edit would be too long.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfrewrite.model import Contract

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent / "verifier_programs"
VERSIONS = frozenset({"1.15", "2.21"})
KINDS = frozenset(
    {
        "accumulator",
        "batch-order",
        "double-update",
        "dropout-in-evaluation",
        "dropped-batch",
        "dtype",
        "fewer-steps",
        "formula",
        "frozen-scalar",
        "hyperparameter",
        "learning-rate",
        "loss-before-update",
        "metric-mean",
        "missing-clip",
        "missing-update-ops",
        "off-by-one",
        "optimizer-recreated",
        "partial-batch",
        "random-stream",
        "stale-state",
        "stale-weights",
        "training-flag",
        "wrong-axis",
        "wrong-batch-metric",
    }
)
"""What can be wrong with a rewrite."""


@dataclass(frozen=True)
class Edit:
    """A piece of the original, which occurs there once, and what stands in its place."""

    old: str
    new: str


@dataclass(frozen=True)
class Variant:
    """One rewrite of a program, and the contract that it keeps, or pretends to keep."""

    name: str
    contract: Contract
    kind: str = ""
    """What is wrong with it; empty where it is right."""
    near: bool = False
    """Whether it is wrong by little, so that the numbers are close to those of the original."""
    edits: tuple[Edit, ...] = ()
    file: str = ""

    @property
    def is_right(self) -> bool:
        return not self.kind

    def source(self, program: Program) -> str:
        """The rewritten script."""
        if self.file:
            return (program.folder / self.file).read_text(encoding="utf-8")
        text = program.original
        for edit in self.edits:
            found = text.count(edit.old)
            if found != 1:
                where = f"{program.name}/variants.toml, {self.name}"
                raise ValueError(f"{where}: found {found} times, not once: {edit.old!r}")
            text = text.replace(edit.old, edit.new)
        return text


@dataclass(frozen=True)
class Program:
    """A training script, with the versions of TensorFlow on which it runs."""

    name: str
    title: str
    tensorflow: tuple[str, ...]
    steps: int
    """How many training steps it makes by itself."""
    right: tuple[Variant, ...]
    wrong: tuple[Variant, ...]

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def original(self) -> str:
        return (self.folder / "original.py").read_text(encoding="utf-8")

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self.right + self.wrong


def programs() -> tuple[Program, ...]:
    """All programs, by name."""
    return tuple(load(path.parent) for path in sorted(FOLDER.glob("*/variants.toml")))


def load(folder: Path) -> Program:
    settings = tomllib.loads((folder / "variants.toml").read_text(encoding="utf-8"))
    return Program(
        name=folder.name,
        title=settings["title"],
        tensorflow=tuple(settings["tensorflow"]),
        steps=settings["steps"],
        right=tuple(variant(entry) for entry in settings["right"]),
        wrong=tuple(variant(entry) for entry in settings["wrong"]),
    )


def variant(entry: dict[str, Any]) -> Variant:
    contract = Contract(entry.pop("contract"))
    edits = tuple(Edit(**edit) for edit in entry.pop("edits", ()))
    return Variant(contract=contract, edits=edits, **entry)
