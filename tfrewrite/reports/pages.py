"""What all pages share: they need nothing but themselves, no network and no scripts.

What comes from scripts is made printable and escaped wherever a template shows it, and a page
forbids the browser everything but its own style sheet.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment as Templates
from jinja2 import StrictUndefined, Template
from markupsafe import Markup

from tfrewrite.reports.safe import printable
from tfrewrite.reports.verification import words

LONGEST = 2_000
"""Of one text that a page shows, in characters."""


def style() -> Markup:
    return Markup(_text_of("page.css"))  # noqa: S704 - ours, and no part of it from a script


def policy() -> str:
    digest = b64encode(sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def template(name: str) -> Template:
    """A template of this package, by its path within it."""
    templates = Templates(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    return templates.from_string(_text_of(name))


def _text_of(name: str) -> str:
    return files("tfrewrite.reports").joinpath(name).read_text(encoding="utf-8")


def _shown(value: object) -> object:
    """Every value on its way into a page, before it is escaped."""
    if isinstance(value, Markup):
        return value
    return printable(words.clipped(str(value), LONGEST))
