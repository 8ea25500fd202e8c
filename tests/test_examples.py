"""The examples are settings that tfrewrite takes, and the pages show what they hold."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from ci_steps import ROOT
from tfrewrite.config import VERIFY_KEYS, load
from tfrewrite.registry import all_rules, selected
from tfrewrite.verify import config as verify_config

EXAMPLES = ROOT / "examples"
SETTINGS = sorted(EXAMPLES.glob("*.toml"))
PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SETTINGS, ids=lambda path: path.stem)
def test_settings_are_taken(path: Path) -> None:
    settings = load(path)
    assert settings.source == str(path)
    assert selected(settings.select, settings.ignore)
    for override in settings.overrides:
        assert selected(override.select or (), override.ignore)
    assert settings.target_tf or settings.overrides
    verify = verify_config.load(path, Path(sys.executable))
    assert len(verify.scripts) == 2
    assert verify.python.is_relative_to(EXAMPLES)


def test_all_examples_are_listed() -> None:
    listed = set(
        re.findall(r"\]\(([^/)]+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    )
    assert listed == {path.name for path in EXAMPLES.iterdir()} - {"README.md"}
    for path in SETTINGS:
        assert f"(../examples/{path.name})" in PAGE


def test_a_rule_on_request_runs_where_the_example_says_so() -> None:
    """What its comment says of TFR403 holds."""
    settings = load(EXAMPLES / "tensorflow-2.toml")
    codes = {rule.code for rule in selected(settings.select, settings.ignore)}
    assert "TFR403" in codes
    assert {rule.code for rule in all_rules() if rule.on_request} & codes == {"TFR403"}
    assert "TFR208" not in codes


def test_every_setting_is_explained() -> None:
    keys = (
        "select", "ignore", "allow", "target-tf", "exclude", "include", "jobs", "cache-dir",
        "per-file-ignores", "per-file",
    )  # fmt: skip
    for key in keys:
        assert f"| `{key}` |" in PAGE
    shown = {key for path in SETTINGS for key in re.findall(r"(?m)^([\w-]+) =", path.read_text())}
    assert shown <= {*keys, *VERIFY_KEYS}
    assert shown >= {"select", "ignore", "allow", "target-tf", "exclude", "include", "scripts"}


def test_the_example_of_the_page_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(PAGE.partition("```toml\n")[2].partition("```")[0])
    assert load(path).target_tf == (1, 15)


def test_the_hooks_are_those_that_there_are() -> None:
    text = (EXAMPLES / "pre-commit-config.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{text}```" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    offered = {one["id"] for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert set(re.findall(r"- id: (\S+)", text)) == offered
    assert yaml.safe_load(text)["repos"][0]["hooks"] == [{"id": "tfrewrite-check"}]
