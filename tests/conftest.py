"""The interpreters that tests with the marker `tensorflow` run scripts in, and a browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("rulebench")

# How long an example takes depends on what else the machine does. On CI the examples are the same
# each time, so that a change is not refused for what it did not touch; elsewhere they are new ones.
settings.register_profile(
    "tfrewrite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("tfrewrite")

ENVIRONMENTS = Path(__file__).resolve().parent.parent / ".envs"


def interpreter(variable: str, name: str) -> Path:
    """The Python that `variable` names, else the one that `make setup` makes."""
    python = Path(os.environ.get(variable) or ENVIRONMENTS / name / "bin" / "python")
    if python.exists():
        return python
    reason = f"no interpreter for {name}: {python} does not exist ({variable}; `make setup`)"
    if os.environ.get("TFREWRITE_REQUIRE_TF") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def tf1_python() -> Path:
    """A Python with TensorFlow 1.15."""
    return interpreter("TFREWRITE_TF1_PYTHON", "tf1")


@pytest.fixture(scope="session")
def tf2_python() -> Path:
    """A Python with a current TensorFlow 2."""
    return interpreter("TFREWRITE_TF2_PYTHON", "tf2")


@pytest.fixture(scope="session")
def keras2_python() -> Path:
    """A Python with the last TensorFlow that has Keras 2."""
    return interpreter("TFREWRITE_KERAS2_PYTHON", "keras2")


@pytest.fixture
def chromium() -> str:
    """A browser that looks at pages by itself."""
    found = shutil.which("chromium")
    if found:
        return found
    reason = "no chromium on the search path (Debian: apt-get install chromium)"
    if os.environ.get("TFREWRITE_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
