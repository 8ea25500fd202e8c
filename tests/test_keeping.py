"""`apply --verify` on TensorFlow: keeps what holds and pays, and nothing else."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from keeping_script import READ, SCRIPT, UNREAD
from tfrewrite.analysis.facts import Facts
from tfrewrite.cli import app
from tfrewrite.codemods.drop_unused_fetches import DropUnusedFetches
from tfrewrite.codemods.feed_dict_to_dataset import FeedDictToDataset
from tfrewrite.edits import ReplaceExpression
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Contract, Rewrite, Site
from tfrewrite.rule import Rule


class Hasten(Rule):
    """Trains with another rate, and says that this changes nothing."""

    code = "TFR998"
    name = "hasten"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"0.05",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for node in facts.source.all(ast.Constant):
            if node.value == 0.05:
                span = facts.source.span(node)
                edits = (ReplaceExpression(span, "0.051"),)
                yield Rewrite(span, "train faster", "it is nearly the same", Contract.EXACT, edits)


@pytest.mark.tensorflow
def test_one_good_one_slow_and_one_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tf1_python: Path
) -> None:
    piped = rewrite_text(SCRIPT, (FeedDictToDataset,)).after
    assert "tf.data.Dataset.from_generator(" in piped, "what slows it"
    rules = (DropUnusedFetches, FeedDictToDataset, Hasten)
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: rules)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    report = tmp_path / "report.json"
    done = CliRunner().invoke(
        app,
        ["apply", str(script), "--verify", "--select", "TFR102,TFR107,TFR998", "--runs", "3",
         "--steps", "all", "--device", "cpu", "--python", str(tf1_python),
         "--output", f"json={report}"],
    )  # fmt: skip
    found = json.loads(report.read_text())
    (one,) = found["verifications"]
    trials = {change["rule"]: change["trial"] for change in one["changes"]}
    grounds = {rule: trial["ground"] for rule, trial in trials.items()}
    assert grounds == {
        "TFR107": "faster", "TFR102": "slower", "TFR998": "contract-broken",
    }, done.output  # fmt: skip
    assert (one["verdict"], one["speed"]["verdict"]) == ("pass", "faster")
    assert trials["TFR107"]["share_of_gain"] == 1
    assert found["rewrites"] == {"kept": 1, "dropped": 2}
    assert done.exit_code == 1, "a promise was broken"
    assert script.read_text() == SCRIPT.replace(UNREAD, READ)
