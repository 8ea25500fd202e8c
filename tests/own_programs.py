"""Imports the project's programs that are in no package: those of tools/, benchmarks/ and envs/."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def program(path: str) -> ModuleType:
    """One of them, by its place below the project."""
    spec = importlib.util.spec_from_file_location(path.replace("/", "_")[:-3], ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
