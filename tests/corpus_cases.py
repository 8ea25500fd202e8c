"""The scripts of corpus/, each a folder with what the tool makes of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfrewrite.engine import rewrite_text
from tfrewrite.model import DEFAULT_CONTRACTS, Contract
from tfrewrite.registry import all_rules

if TYPE_CHECKING:
    from tfrewrite.model import Outcome

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


@dataclass(frozen=True)
class Case:
    """A folder of the corpus, as its case.toml describes it."""

    name: str
    title: str
    tensorflow: tuple[str, ...]
    rules: tuple[str, ...]
    contracts: tuple[str, ...]
    refusals: tuple[str, ...]
    steps: int
    shows: str
    """What is to be learned from it; of what is left alone, why it is."""
    request: tuple[str, ...] = ()
    """Rules that are asked for by their code, beside those that are made by default."""
    allow: tuple[str, ...] = ()
    """Contracts that are allowed, beside those that are by default."""
    fails: str = ""
    """The exception with which the original ends, where it does not work at all."""
    timed_loop: int | None = None
    """For timing: which loop's turns are timed, from 1, where it is not the one that trains."""
    synthetic: bool = False
    """Whether it wants a well-known data set, which is then made up."""
    longer: tuple[str, str] | None = None
    """For timing: a piece of the script, and what takes its place so that there are more steps."""

    @property
    def folder(self) -> Path:
        return CORPUS / self.name

    @property
    def is_left_alone(self) -> bool:
        return not self.rules


def load(folder: Path) -> Case:
    settings: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text())
    lists = ("tensorflow", "rules", "contracts", "refusals")
    settings |= {key: tuple(settings[key]) for key in lists}
    for key in ("request", "allow"):
        settings[key] = tuple(settings.get(key, ()))
    if "longer" in settings:
        settings["longer"] = tuple(settings["longer"])
    return Case(name=folder.name, **settings)


CASES = [load(path.parent) for path in sorted(CORPUS.glob("*/case.toml"))]


def rewrite(
    case: Case, *, by_default: bool = False, target_tf: tuple[int, ...] | None = None
) -> Outcome:
    """What the tool makes of a script as its folder asks for it, or with its default settings."""
    text = (case.folder / "original.py").read_text()
    request = () if by_default else case.request
    allowed = DEFAULT_CONTRACTS | {Contract(one) for one in (() if by_default else case.allow)}
    rules = [one for one in all_rules() if not one.on_request or one.code in request]
    return rewrite_text(text, rules, path="original.py", allowed=allowed, target_tf=target_tf)
