"""The formats that outcomes are written in.

Each is a module beside this one with a function `render(run, view)`, which gives the whole report
as text. A new one needs that module and a line below. A module is imported when its format is
asked for, so that no run pays for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from tfrewrite.reports.summary import Run


class Format(str, Enum):
    """Names of formats, as the command line knows them."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    HTML = "html"


_MODULES = {
    Format.TEXT: "text",
    Format.JSON: "json_report",
    Format.GITHUB: "github",
    Format.GITLAB: "gitlab",
    Format.SARIF: "sarif",
    Format.JUNIT: "junit",
    Format.MARKDOWN: "markdown",
    Format.HTML: "html",
}

WITH_FIXES = frozenset({Format.SARIF})
"""Formats that show what each rewrite would replace."""

WITH_STATISTICS = frozenset({Format.TEXT, Format.JSON, Format.MARKDOWN, Format.HTML})
"""Formats that have room for counts; beside the others, `--statistics` prints them."""


@dataclass(frozen=True)
class View:
    """How much is to be shown, in formats that are read by people."""

    quiet: bool = False
    verbose: bool = False
    statistics: bool = False


PLAIN = View()


class _Module(Protocol):
    def render(self, run: Run, view: View) -> str: ...


def render(format_: Format, run: Run, view: View) -> str:
    """The report in this format."""
    module = cast("_Module", import_module(f"tfrewrite.reports.{_MODULES[format_]}"))
    return module.render(run, view)
