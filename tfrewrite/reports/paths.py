"""How reports name files: relative where that is possible, with forward slashes."""

from __future__ import annotations

import os
from pathlib import PurePath
from urllib.parse import quote

CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where GitHub and GitLab say what the paths in reports are relative to."""


def relative(path: str) -> str:
    """As programs want it: below the checkout that CI names, or else the working directory.

    What lies elsewhere keeps the name that the user gave it.
    """
    here = os.path.abspath(".")  # noqa: PTH100
    full = os.path.normpath(os.path.join(here, path))  # noqa: PTH118
    for base in (_checkout(here), here):
        if base and _within(full, base):
            return _slashes(os.path.relpath(full, base))
    return _slashes(os.path.normpath(path))


def uri(named: str) -> str:
    """What `relative` gave as an address: every byte that could mean something else is encoded."""
    if PurePath(named).is_absolute():
        return PurePath(named).as_uri()
    return quote(os.fsencode(named), safe="/")


def _checkout(here: str) -> str:
    named = (os.environ.get(name, "") for name in CHECKOUTS)
    return next((os.path.normpath(one) for one in named if one and _within(here, one)), "")


def _within(path: str, base: str) -> bool:
    return path == base or path.startswith(os.path.join(os.path.normpath(base), ""))  # noqa: PTH118


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")
