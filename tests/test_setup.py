"""The set-up is not fooled by what only looks like an interpreter, and knows when it is done."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from own_programs import program

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    return program("envs/setup.py")


def fake_python(path: Path, answer: str, code: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{answer}'\nexit {code}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one folder on its search path and a pyenv of its own."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_a_shim_that_is_switched_off_is_passed_over(setup: ModuleType, machine: Path) -> None:
    fake_python(machine / "bin" / "python3.7", "pyenv: command not found", code=127)
    real = fake_python(machine / "pyenv" / "versions" / "3.7.16" / "bin" / "python", "3 7")
    assert setup.find_python(((3, 7),)) == real


def test_a_python_of_another_version_is_passed_over(setup: ModuleType, machine: Path) -> None:
    fake_python(machine / "bin" / "python3.7", "3 8")
    assert setup.find_python(((3, 7),)) is None


def test_the_preferred_version_comes_first(setup: ModuleType, machine: Path) -> None:
    fake_python(machine / "bin" / "python3.97", "3 97")
    preferred = fake_python(machine / "bin" / "python3.98", "3 98")
    assert setup.find_python(((3, 98), (3, 97))) == preferred


def test_no_python_at_all(setup: ModuleType, machine: Path) -> None:
    assert setup.find_python(((3, 99),)) is None
    absent = setup.Environment("tf1", machine / "env", ((3, 99),), optional=True)
    with pytest.raises(setup.SetupError, match=r"no Python 3\.99 on the search path"):
        setup.make(absent)


def test_an_environment_is_ready_only_as_stamped(setup: ModuleType, tmp_path: Path) -> None:
    environment = setup.Environment("tf1", tmp_path, ((3, 7),))
    fake_python(environment.python, "3 7")
    assert not environment.is_ready()
    environment.stamp.write_text("of another lock file")
    assert not environment.is_ready()
    environment.stamp.write_text(environment.contents())
    assert environment.is_ready()
    environment.python.unlink()
    assert not environment.is_ready()


def test_every_environment_is_locked_with_hashes(setup: ModuleType) -> None:
    for environment in setup.CATALOGUE.values():
        lines = environment.lock.read_text().splitlines()
        pinned = [line for line in lines if "==" in line and not line.startswith(" ")]
        assert pinned
        assert all(line.endswith("\\") for line in pinned), environment.name
        assert sum("--hash=sha256:" in line for line in lines) >= len(pinned)


def test_a_failed_command_shows_what_it_said(setup: ModuleType) -> None:
    with pytest.raises(setup.SetupError, match="no luck today"):
        setup.call(sys.executable, "-c", "print('no luck today'); raise SystemExit(3)")


def test_an_interpreter_can_be_asked_for(
    setup: ModuleType, machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = fake_python(machine / "bin" / "python3.98", "3 98")
    assert setup.show_python("3.98") == 0
    assert capsys.readouterr().out == f"{there}\n"
    assert setup.show_python("3.99") == 1
