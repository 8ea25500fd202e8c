"""SARIF 2.1.0, held against the published schema and applied as an editor would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings

from notebook_maker import notebook, sources, written
from report_samples import ODD_RUNS, SOURCE, applied, everything, published, validate
from test_fixes import applied as changed
from tfrewrite import registry
from tfrewrite.engine import handle_bytes
from tfrewrite.fixes import with_fixes
from tfrewrite.model import Replacement, Span
from tfrewrite.policy import Policy
from tfrewrite.reports import sarif
from tfrewrite.reports.remarks import Category, remarks
from tfrewrite.reports.safe import sound
from tfrewrite.reports.summary import Run
from toys import TOYS


def read(report: str) -> dict[str, Any]:
    document = json.loads(report)
    validate(document, sarif.SCHEMA)
    (run,) = document["runs"]
    rules = run["tool"]["driver"].get("rules", [])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["kind"] == "fail" or result["level"] == "none"
    found: dict[str, Any] = run
    return found


def replacements_of(change: dict[str, Any]) -> tuple[Replacement, ...]:
    return tuple(
        Replacement(
            Span(
                one["deletedRegion"]["startLine"],
                one["deletedRegion"]["startColumn"] - 1,
                one["deletedRegion"]["endLine"],
                one["deletedRegion"]["endColumn"] - 1,
            ),
            one["insertedContent"]["text"],
        )
        for one in change["replacements"]
    )


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)


def test_the_schema_is_the_published_one() -> None:
    schema = published(sarif.SCHEMA)
    assert "2.1.0" in schema["title"]
    assert "toolExecutionNotifications" in schema["definitions"]["invocation"]["properties"]
    with pytest.raises(AssertionError, match="runs"):
        validate({"version": "2.1.0"}, sarif.SCHEMA)


@pytest.mark.usefixtures("toys")
def test_everything() -> None:
    run = read(sarif.render(everything()))
    found = [
        (one["ruleId"], one["kind"], one["level"], one["properties"]["category"])
        for one in run["results"]
    ]
    assert found == [
        ("TFR902", "fail", "warning", "rewrite"),
        ("TFR901", "fail", "warning", "rewrite"),
        ("TFR901", "informational", "none", "refusal"),
        ("TFR901", "fail", "note", "available"),
        ("TFR904", "fail", "warning", "report"),
        ("unused-exemption", "fail", "note", "unused-exemption"),
    ]
    assert run["results"][2]["message"]["text"] == (
        "refused (starred): an argument is starred; write them out"
    )
    assert run["results"][2]["properties"]["reason"] == "starred"
    place = run["results"][1]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "m/x.py"},
        "region": {"startLine": 1, "startColumn": 9, "endLine": 1, "endColumn": 15},
    }
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "line 7: Python 2 syntax"
    region = notification["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == 7


@pytest.mark.usefixtures("toys")
def test_rules_bring_their_help() -> None:
    rules = read(sarif.render(everything()))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TFR901", "TFR902", "TFR904", "unused-exemption"]
    assert rules[0]["name"] == "rename-old"
    assert rules[0]["shortDescription"]["text"].startswith("Calls `new` where `old` is called")
    assert "- `starred`: the number of arguments is not known" in rules[0]["help"]["markdown"]
    assert rules[0]["properties"]["contracts"] == ["exact", "shifted"]


def test_the_help_of_real_rules() -> None:
    rules = [sarif._rule(rule) for rule in registry.all_rules()]
    document = json.loads(sarif.render(Run(())))
    document["runs"][0]["tool"]["driver"]["rules"] = rules
    validate(document, sarif.SCHEMA)
    assert all("## " in rule["help"]["text"] for rule in rules)


@pytest.mark.usefixtures("toys")
def test_fixes_can_be_applied() -> None:
    results = read(sarif.render(everything()))["results"]
    assert ["fixes" in one for one in results] == [False, True, False, False, False, False]
    ((change,),) = [fix["artifactChanges"] for fix in results[1]["fixes"]]
    assert change["artifactLocation"]["uri"] == "m/x.py"
    fix = replacements_of(change)
    assert changed(SOURCE, fix) == SOURCE.replace("old(1)", "new(1)")


@pytest.mark.usefixtures("toys")
def test_fixes_of_a_notebook_can_be_applied(tmp_path: Path) -> None:
    """As an editor would, to the text of the file on disk."""
    data = written(notebook("%matplotlib inline\nx = old(1)", "for i in x:\n    f(make())"))
    file = tmp_path / "n b.ipynb"
    file.write_bytes(data)
    outcome = with_fixes(handle_bytes(data, str(file), Policy(TOYS)))
    results = read(sarif.render(Run((outcome,))))["results"]
    made = file.read_text()
    for result in reversed(results):
        (fix,) = result["fixes"]
        (change,) = fix["artifactChanges"]
        assert (
            change["artifactLocation"]
            == result["locations"][0]["physicalLocation"]["artifactLocation"]
        )
        made = changed(made, replacements_of(change))
        assert "in cell " in result["message"]["text"]
    assert made == outcome.after
    assert sources(made.encode()) == [
        "%matplotlib inline\nx = new(1)",
        "made_0 = make()\nfor i in x:\n    f(made_0)",
    ]


@pytest.mark.usefixtures("toys")
def test_what_is_done_is_told_and_has_no_fix() -> None:
    results = read(sarif.render(applied()))["results"]
    assert results[1]["properties"]["category"] == "done"
    assert results[1]["level"] == "none"
    assert not any("fixes" in one for one in results)


def test_addresses_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    result = read(sarif.render(everything()))["results"][1]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "sub/m/x.py"}
    assert result["fixes"][0]["artifactChanges"][0]["artifactLocation"] == place


def test_nothing() -> None:
    run = read(sarif.render(Run(())))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


@given(ODD_RUNS)
@settings(max_examples=60)
def test_odd_text_comes_through(run: Run) -> None:
    report = sarif.render(run)
    assert report.isascii()
    results = read(report)["results"]
    meant = [one for one in remarks(run) if one.category is not Category.FAILURE]
    for result, remark in zip(results, meant, strict=True):
        text = result["message"]["text"].replace("\\[", "[").replace("\\", "")
        said = f"refused ({remark.label}): " if remark.category is Category.REFUSAL else ""
        assert text == (said + sound(remark.text)).replace("\\", "")
        address = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote(address, errors="surrogateescape") == remark.path


def test_code_in_a_message_is_no_link() -> None:
    assert sarif._plain("x[0](1) and [a](2)") == "x\\[0](1) and \\[a](2)"
    assert sarif._plain("sess.run([a, b], feed_dict={x: y})") == (
        "sess.run([a, b], feed_dict={x: y})"
    )
