"""The hooks of `.pre-commit-hooks.yaml`, installed and run by pre-commit itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_steps import CORPUS, GIT, ROOT, source_tree
from notebook_maker import notebook, sources, written

SCRIPT = CORPUS / "softmax_update_then_metrics"

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a repository of its own, as a user's configuration would name one."""
    home = source_tree(tmp_path_factory.mktemp("hooks") / "tfrewrite")
    _repository(home)
    return home


def _repository(home: Path) -> None:
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        _git(home, *arguments)


def _git(home: Path, *arguments: str) -> Done:
    named = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
    command = [GIT, "-C", str(home), *named, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installs."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def project(tmp_path: Path, hooks: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a legacy script that has something to rewrite."""
    shutil.copy(SCRIPT / "original.py", tmp_path / "train.py")
    cells = notebook((SCRIPT / "original.py").read_text(encoding="utf-8"))
    (tmp_path / "train.ipynb").write_bytes(written(cells))
    (tmp_path / "notes.txt").write_text("sess.run(x)\n")
    revision = _git(hooks, "rev-parse", "HEAD").stdout.strip()
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks.as_uri()}\n  rev: {revision}\n"
        "  hooks:\n  - id: tfrewrite-check\n  - id: tfrewrite-apply\n    stages: [manual]\n"
    )
    _repository(tmp_path)
    return tmp_path


@pytest.fixture
def pre_commit(project: Path, store: Path) -> Callable[..., Done]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "PRE_COMMIT_HOME": str(store),
        "XDG_CACHE_HOME": str(store / "cache"),
        "PRE_COMMIT_COLOR": "never",
    }

    def run(*arguments: str) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", *arguments],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return run


def test_the_manifest(pre_commit: Callable[..., Done]) -> None:
    done = pre_commit("validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.pypi
def test_the_hooks(project: Path, pre_commit: Callable[..., Done]) -> None:
    checked = pre_commit("run", "--all-files")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "train.py:" in checked.stdout
    assert "train.ipynb:cell 1:" in checked.stdout
    assert "TFR101" in checked.stdout
    assert "notes.txt" not in checked.stdout
    made = pre_commit("run", "tfrewrite-apply", "--all-files", "--hook-stage", "manual")
    assert made.returncode == 1
    assert "files were modified by this hook" in made.stdout
    assert (project / "train.py").read_bytes() == (SCRIPT / "expected.py").read_bytes()
    (cell,) = sources((project / "train.ipynb").read_bytes())
    assert cell == (SCRIPT / "expected.py").read_text(encoding="utf-8")
    _git(project, "add", "train.py", "train.ipynb")
    again = pre_commit("run", "--all-files")
    assert again.returncode == 0, again.stdout + again.stderr
