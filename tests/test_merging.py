"""Reports of several runs, put together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner, Result

import verification_samples as samples
from notebook_maker import notebook, written
from report_samples import ODD_RUNS, everything
from test_reports_markdown import rows
from test_verification_page import ATTRIBUTES, TAGS, Structure
from tfrewrite.cli import app
from tfrewrite.config import ConfigError
from tfrewrite.engine import handle_bytes
from tfrewrite.merging import merge
from tfrewrite.model import Outcome, Status
from tfrewrite.policy import Policy
from tfrewrite.reports import html, json_report, markdown
from tfrewrite.reports.paths import relative
from tfrewrite.reports.remarks import remarks
from tfrewrite.reports.summary import Run
from tfrewrite.reports.verification import json_report as verification_report
from tfrewrite.verify.model import Ratio, Verification
from toys import TOYS


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


def checked(name: str, run: Run) -> Path:
    path = Path(name)
    path.write_text(json_report.render(run))
    return path


def verified(name: str, *found: Verification) -> Path:
    path = Path(name)
    path.write_text(verification_report.render(found))
    return path


def faster(by: float) -> Verification:
    one = samples.passing()
    assert one.speed is not None
    ratio = Ratio(by, by - 0.05, by + 0.05)
    return replace(one, speed=replace(one.speed, steady=ratio))


def report(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", *arguments])


def test_a_report_of_findings_comes_back_whole() -> None:
    run = everything()
    merged = merge([checked("a.json", run)])
    assert merged.run is not None
    assert merged.run.counts() == run.counts()
    assert merged.run.by_rule() == run.by_rule()
    assert merged.run.elapsed_s == 1.5
    key = {one.path: index for index, one in enumerate(run.outcomes)}
    back = sorted(remarks(merged.run, read=True), key=lambda one: key[one.path])
    assert [(one.title, one.text, one.fingerprint) for one in back] == [
        (one.title, one.text, one.fingerprint) for one in remarks(run)
    ]


def test_cells_of_notebooks_come_back() -> None:
    data = written(notebook("old(1)", "old(*x)\nbug()", "y = 1  # tfrewrite: ignore"))
    run = Run((handle_bytes(data, "n.ipynb", Policy(TOYS)),))
    merged = merge([checked("a.json", run)])
    assert merged.run is not None
    assert [one.text for one in remarks(merged.run, read=True)] == [
        one.text for one in remarks(run)
    ]
    (back,), (notice,) = merged.run.outcomes[0].notices, run.outcomes[0].notices
    assert back.cell == notice.cell
    assert "in cell 2, line 2" in html.page(merged)


def test_shards_make_one() -> None:
    run = everything()
    parts = [Run((one,), 1.0) for one in run.outcomes]
    merged = merge([checked(f"{number}.json", part) for number, part in enumerate(parts)])
    assert merged.run is not None
    assert merged.run.counts() == run.counts()
    assert merged.run.elapsed_s == 4.0


def test_the_last_report_on_a_file_holds() -> None:
    old = Run((Outcome("x.py", Status.FAILED, error="line 1: no"),))
    new = Run((Outcome("x.py", Status.UNCHANGED),))
    paths = [checked("a.json", old), checked("b.json", new)]
    merged = merge(paths)
    assert merged.run is not None
    assert merged.run.counts()["failed"] == 0
    backwards = merge(paths[::-1])
    assert backwards.run is not None
    assert backwards.run.counts()["failed"] == 1


def test_names_stay_those_of_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = checked("a.json", everything()).resolve()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert rows(markdown.comment(merge([path])))[1][0] == "m/x.py:1"
    assert ">m/x.py:1<" in html.page(merge([path]))


def test_verifications_have_a_history() -> None:
    paths = [verified(f"day{day}.json", faster(1 + day / 10)) for day in (1, 2, 3)]
    merged = merge([*paths, verified("other.json", samples.failing())])
    histories = {one[-1].script: [each.source for each in one] for one in merged.verified}
    script = faster(1).subject.script
    if samples.failing().subject.script == script:
        assert histories == {script: ["day1.json", "day2.json", "day3.json", "other.json"]}
    else:
        assert histories[script] == ["day1.json", "day2.json", "day3.json"]
    first = next(one for one in merged.verified if one[0].source == "day1.json")
    assert [one.ratio.value for one in first if one.ratio][:3] == [1.1, 1.2, 1.3]


def test_scripts_of_one_name_are_told_apart() -> None:
    def of(folder: str, script: str = "train.py") -> Verification:
        subject = replace(faster(2).subject, script=script, original=f"{folder}/train.py")
        return replace(faster(2), subject=subject)

    days = [
        verified(f"day{day}.json", of("a"), of("b"), of("a", "train.py on gpu")) for day in (1, 2)
    ]
    merged = merge(days)
    assert [(one[0].script, len(one)) for one in merged.verified] == [
        ("a/train.py", 2),
        ("b/train.py", 2),
        ("train.py on gpu", 2),
    ]
    alone = merge([verified("c.json", of("a"))])
    assert alone.verified[0][0].script == "train.py"


def test_the_page_and_the_comment() -> None:
    verified("day1.json", faster(1.1))
    verified("day2.json", faster(1.3))
    checked("check.json", everything())
    done = report("check.json", "day1.json", "day2.json", "--output", "html=a.html,markdown=a.md")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    page = Path("a.html").read_text()
    found = Structure(page)
    assert found.tags <= TAGS
    assert {attribute for attribute, _ in found.attributes} <= ATTRIBUTES
    text = " ".join(" ".join(found.text).split())
    script = faster(1).subject.script
    assert f"History of {script}" in text
    assert "Original / rewritten in each report" in text
    assert "day1.json pass rounding faster 1.10 1.05 to 1.15" in text
    assert "TFR901 rename-old exact" in text
    assert "1 pass in 1 script" in text

    said = Path("a.md").read_text()
    cells = rows(said)
    assert cells[0][:6] == [script, "pass", "rounding", "faster", "1.30", "1.25 to 1.35"]
    assert ["day1.json", "pass", "rounding", "faster", "1.10", "1.05 to 1.15"] in cells
    assert report("check.json", "day1.json").stdout.startswith("### tfrewrite")


def test_one_verification_has_no_history() -> None:
    page = html.page(merge([verified("a.json", samples.passing(), samples.inconclusive())]))
    assert "History" not in page
    assert "inconclusive" in page


def test_numbers_that_are_none() -> None:
    merged = merge([verified("a.json", samples.odd_numbers()), verified("b.json", faster(2))])
    assert "<h1>" in html.page(merged)
    assert markdown.comment(merged)


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_hostile_text_is_text(text: str) -> None:
    merged = merge([verified("a.json", samples.hostile(text)), verified("b.json", faster(2))])
    assert Structure(html.page(merged)).tags <= TAGS
    assert "<script" not in markdown.comment(merged)


def test_a_comment_stays_short() -> None:
    paths = [verified(f"{day}.json", *samples.several()) for day in range(60)]
    said = markdown.comment(merge([*paths, checked("c.json", everything())]))
    assert len(said) < 62_000
    assert said.count("<details>") == said.count("</details>")
    assert "TFR901" in said


@given(ODD_RUNS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_odd_reports_come_back(run: Run) -> None:
    run = Run(tuple({relative(one.path): one for one in run.outcomes}.values()))
    merged = merge([checked("odd.json", run)])
    assert merged.run is not None
    key = {relative(one.path): index for index, one in enumerate(run.outcomes)}
    back = sorted(remarks(merged.run, read=True), key=lambda one: key[one.path])
    assert [one.text for one in back] == [one.text for one in remarks(run)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.json: not JSON"),
        ("[]", "a.json: not a report that `--format json` wrote"),
        ("{}", "a.json: neither findings nor verifications"),
        ('{"findings": []}', "KeyError: 'schema_version'"),
        (
            '{"schema_version": 2, "findings": []}',
            "has schema_version 2, and this tfrewrite reads 1",
        ),
        ('{"schema_version": 1, "verifications": [3]}', "a.json: not a report"),
        ("[" * 100_000, "a.json: not JSON"),
    ],
)
def test_what_is_no_report(text: str, said: str) -> None:
    Path("a.json").write_text(text)
    with pytest.raises(ConfigError) as error:
        merge([Path("a.json")])
    assert said in str(error.value)
    done = report("a.json")
    assert done.exit_code == 2
    assert done.stderr.startswith("tfrewrite: a.json: ")


def test_a_file_that_is_not_there() -> None:
    done = report("none.json")
    assert done.exit_code == 2
    assert "none.json: cannot be read: No such file" in done.stderr
    checked("a.json", Run(()))
    assert report("a.json", "--output", "sarif=x").exit_code == 2


def test_a_report_reads_what_check_writes() -> None:
    assert json.loads(json_report.render(everything()))["schema_version"] == 1
