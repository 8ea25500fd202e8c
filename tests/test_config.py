"""Settings are read, and what is wrong in them is named with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfrewrite.config import ConfigError, Settings, find, load, overridden, parse_version
from tfrewrite.model import Contract

if TYPE_CHECKING:
    from pathlib import Path


def settings(tmp_path: Path, body: str) -> Settings:
    path = tmp_path / "pyproject.toml"
    path.write_text(f'[project]\nname = "x"\n\n[tool.tfrewrite]\n{body}')
    return load(path)


def test_everything(tmp_path: Path) -> None:
    read = settings(
        tmp_path,
        """\
        select = ["TFR1", "insert-prefetch"]
        ignore = ["TFR103"]
        allow = ["shifted"]
        target-tf = "1.15"
        exclude = ["old/"]
        include = ["*.py"]
        jobs = 3
        cache-dir = ".cache"

        [tool.tfrewrite.per-file-ignores]
        "tests/*" = ["TFR101"]

        [tool.tfrewrite.per-file."examples/*.py"]
        select = ["TFR301"]
        allow = ["resampled"]
        target-tf = "2.12"
        """,
    )
    assert read.select == ("TFR1", "insert-prefetch")
    assert read.allow == {Contract.SHIFTED}
    assert read.target_tf == (1, 15)
    assert read.jobs == 3
    assert read.cache_dir == str(tmp_path / ".cache")
    ignores, examples = read.overrides
    assert overridden(read, (ignores,)).ignore == ("TFR103", "TFR101")
    both = overridden(read, (ignores, examples))
    assert both.select == ("TFR301",)
    assert both.allow == {Contract.SHIFTED, Contract.RESAMPLED}
    assert both.target_tf == (2, 12)


def test_without_a_file() -> None:
    assert load(None).select == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('selct = ["TFR101"]\n', r"toml:5: no setting 'selct' in .*; did you mean 'select'\?"),
        ("jobs = 1\nfrobnicate = 2\n", r"toml:6: no setting 'frobnicate' .*there are select, "),
        ('select = "TFR101"\n', r"toml:5: select must be a list of strings"),
        ("exclude = [1]\n", r"toml:5: exclude must be a list of strings"),
        ('jobs = "many"\n', r"toml:5: jobs must be a whole number"),
        ("jobs = true\n", "jobs must be a whole number"),
        ("jobs = -1\n", "jobs must be a whole number"),
        ("target-tf = 1.15\n", r"toml:5: target-tf must be a string"),
        ('target-tf = "new"\n', "is not a TensorFlow version"),
        ('allow = ["shfted"]\n', r"toml:5: no contract 'shfted'; did you mean 'shifted'\?"),
        ("per-file = 1\n", "per-file must be a table, not a number"),
        ('[tool.tfrewrite.per-file."a"]\njob = 1\n', r"toml:6: no setting 'job' in "),
        ("[tool.tfrewrite.verify]\ntrials = 1\n", "no setting 'trials' in .*verify"),
        ("select = = 1\n", "not valid TOML.*line 5"),
    ],
)
def test_wrong_settings(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        settings(tmp_path, body)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_the_nearest_file_with_settings(tmp_path: Path) -> None:
    outer = tmp_path / "pyproject.toml"
    outer.write_text("[tool.tfrewrite]\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert find(str(inner)) == outer
    assert find(str(inner / "script.py")) == outer


@pytest.mark.parametrize("text", ["", "3.0", "1.x", "1.15.0.0", "v1.15"])
def test_versions_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not a TensorFlow version"):
        parse_version(text)
