"""The stand-ins for data sets, looked at inside real TensorFlow (see synthetic_checks.py)."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHECKS = Path(__file__).parent / "synthetic_checks.py"
pytestmark = pytest.mark.tensorflow


def outcomes(python: Path, folder: Path, *arguments: str) -> dict[str, Any]:
    """What the checks found; nothing may come from the network or from an earlier download."""
    result = subprocess.run(
        [str(python), str(CHECKS), *arguments],
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(folder),
            "KERAS_HOME": str(folder / "keras-home"),
            "STANDALONE_KERAS": str(folder),
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def failures(found: dict[str, Any]) -> str:
    return "\n".join(f"{name}\n{text}" for name, text in found["outcomes"].items() if text)


def names_of_checks() -> set[str]:
    tree = ast.parse(CHECKS.read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith(("check_", "last_check_"))
    }


def write_standalone_keras(folder: Path) -> None:
    """A package as Keras 2 is built, for an interpreter that has none."""
    datasets = folder / "keras" / "datasets"
    datasets.mkdir(parents=True)
    (folder / "keras" / "__init__.py").write_text("from . import datasets\n")
    (datasets / "__init__.py").write_text("from . import mnist, cifar10\n")
    (datasets / "mnist.py").write_text("def load_data(path='mnist.npz'):\n    raise OSError\n")
    (datasets / "cifar10.py").write_text("def load_data():\n    raise OSError\n")


def test_in_tensorflow_1_and_2(tf1_python: Path, tf2_python: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    second.mkdir()
    write_standalone_keras(first)
    found = outcomes(tf1_python, first, "early", "standalone")
    newer = outcomes(tf2_python, second, "early")
    assert failures(found) + failures(newer) == ""
    assert set(found["outcomes"]) == set(newer["outcomes"]) == names_of_checks()
    # The same data in every version of numpy.
    common = set(found["digests"]) & set(newer["digests"])
    assert len(common) >= 7
    assert {name: found["digests"][name] for name in common} == {
        name: newer["digests"][name] for name in common
    }


@pytest.mark.parametrize("python", ["tf1_python", "tf2_python"])
def test_what_was_imported_before_is_replaced_too(
    python: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = outcomes(request.getfixturevalue(python), tmp_path, "late")
    assert len(found["outcomes"]) == 3
    assert failures(found) == ""
