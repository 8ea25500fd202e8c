"""What is built holds all there is: the mapped layout makes the list of packages ours to keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def setuptools() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: dict[str, Any] = table["tool"]["setuptools"]
    return found


def packages_in(folder: str, name: str) -> set[str]:
    home = ROOT / folder
    return {
        ".".join([name, *path.parent.relative_to(home).parts]) for path in home.rglob("__init__.py")
    }


def test_every_package_is_built(setuptools: dict[str, Any]) -> None:
    there = (
        packages_in("tfrewrite", "tfrewrite")
        | packages_in("codemods", "tfrewrite.codemods")
        | packages_in("verify", "tfrewrite.verify")
    )
    assert set(setuptools["packages"]) == there


def test_every_data_file_is_built(setuptools: dict[str, Any]) -> None:
    home = ROOT / "tfrewrite"
    built = {
        path for pattern in setuptools["package-data"]["tfrewrite"] for path in home.glob(pattern)
    }
    others = {
        path for path in home.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    assert others <= built
