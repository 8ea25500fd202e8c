"""Runs the steps of an action or a workflow in bash, as their runners do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"
GIT = shutil.which("git") or "git"
BASH = shutil.which("bash") or "bash"
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def read(path: str) -> dict[str, Any]:
    """A file of this repository; YAML 1.1 takes the key `on` for a truth value."""
    document: dict[Any, Any] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in document.items()}


@dataclass
class Machine:
    """What a runner gives to the steps of a job, in folders of its own."""

    home: Path
    expressions: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = self.home / "work space"
        self.workspace.mkdir(parents=True)
        (self.home / "temp").mkdir()
        self.outputs, self.summary, self.paths = (
            self.home / name for name in ("outputs", "summary.md", "paths")
        )
        for file in (self.outputs, self.summary, self.paths):
            file.write_text("")

    def run(
        self, script: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """One step, with the shell that GitHub takes for `shell: bash`."""
        file = self.home / "step.sh"
        file.write_text(self.filled(script))
        own = {name: self.filled(str(value)) for name, value in (env or {}).items()}
        return subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", str(file)],
            cwd=self.workspace,
            env={**self._environment(), **self.variables, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.expressions[found[1]], text)

    def _environment(self) -> dict[str, str]:
        added = self.paths.read_text().split("\n")[:-1]
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT", "CI", "VIRTUAL_ENV", "TFREWRITE", "PYTHON"))
        }
        return {
            **kept,
            "PATH": os.pathsep.join([*reversed(added), kept["PATH"]]),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(self.outputs),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_PATH": str(self.paths),
            "RUNNER_TEMP": str(self.home / "temp"),
        }

    def output(self, name: str) -> str:
        lines = dict(line.split("=", 1) for line in self.outputs.read_text().splitlines())
        return lines[name]

    def git(self, *arguments: str) -> str:
        named = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
        command = [GIT, "-C", str(self.workspace), *named, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", "m")
        return self.git("rev-parse", "HEAD")

    def with_python(self) -> None:
        """An environment named `python`, as `actions/setup-python` or an image provides it."""
        subprocess.run(
            [sys.executable, "-m", "venv", self.home / "python"], check=True, timeout=120
        )
        self.paths.write_text(f"{self.home / 'python' / 'bin'}\n")


def source_tree(folder: Path) -> Path:
    """What an installation of this checkout needs, so that nothing is built within it."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("tfrewrite", "codemods", "verify"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
