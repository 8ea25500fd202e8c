"""The action, the template and the example workflow do what they say, step by step."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

from ci_steps import CORPUS, ROOT, Machine, read, source_tree
from report_samples import validate
from tfrewrite.reports import sarif

SCRIPT = CORPUS / "softmax_update_then_metrics" / "original.py"
SMALL = CORPUS / "run_eagerly_left_in" / "original.py"
GITLAB = "https://gitlab.com/gitlab-org/gitlab/-/raw/master"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return source_tree(tmp_path_factory.mktemp("package") / "tfrewrite")


@pytest.fixture
def machine(tmp_path: Path, package: Path) -> Machine:
    """A checkout with one legacy script on its main branch, and one more on a branch of ours."""
    machine = Machine(tmp_path)
    machine.git("init", "--quiet", "--initial-branch=main")
    folder = machine.workspace / "my scripts"
    folder.mkdir()
    shutil.copy(SCRIPT, folder / "old.py")
    (machine.workspace / "clean.py").write_text("x = 1\n")
    machine.commit()
    machine.git("update-ref", "refs/remotes/origin/main", "HEAD")
    machine.git("checkout", "--quiet", "-b", "topic")
    shutil.copy(SCRIPT, folder / "new.py")
    machine.commit()
    machine.variables["GITHUB_ACTION_PATH"] = str(package)
    return machine


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("action.yml", "https://json.schemastore.org/github-action.json"),
        ("ci/github-workflow.yml", "https://json.schemastore.org/github-workflow.json"),
        ("ci/gitlab.yml", f"{GITLAB}/app/assets/javascripts/editor/schema/ci.json"),
    ],
)
def test_the_files_are_what_their_schemas_want(file: str, schema: str) -> None:
    validate(read(file), schema)


def test_the_documentation_shows_the_workflow_that_is_tested() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    workflow = (ROOT / "ci" / "github-workflow.yml").read_text(encoding="utf-8")
    assert f"```yaml\n{workflow}```" in text


def test_every_input_of_the_action_is_documented() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    action = read("action.yml")
    for name in [*action["inputs"], *action["outputs"]]:
        assert f"`{name}`" in text
    for name in read("ci/gitlab.yml")["variables"]:
        assert f"`{name}`" in text


def test_inputs_reach_the_shell_as_variables_only() -> None:
    """An expression within a script would be code to bash, whoever wrote it."""
    for step in read("action.yml")["runs"]["steps"]:
        assert "${{" not in step["run"]
    for job in read("ci/github-workflow.yml")["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job["steps"])


@pytest.mark.pypi
def test_the_action(machine: Machine) -> None:
    action = read("action.yml")
    install, check = action["runs"]["steps"]
    inputs = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}

    machine.expressions = inputs
    done = machine.run(install["run"], install["env"])
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path(machine.paths.read_text().strip()).iterdir()) == [
        "tfrewrite"
    ]

    machine.expressions = {**inputs, "inputs.paths": "my scripts\nclean.py\n"}
    done = machine.run(check["run"], check["env"])
    assert done.returncode == 1, done.stderr
    assert "::warning file=my scripts/new.py,line=" in done.stdout
    assert "::warning file=my scripts/old.py,line=" in done.stdout
    assert machine.output("status") == "1"
    report = json.loads((machine.workspace / machine.output("sarif")).read_text())
    validate(report, sarif.SCHEMA)
    summary = json.loads((machine.workspace / machine.output("json")).read_text())["summary"]
    assert summary["files"] == 3
    assert machine.summary.read_text().startswith("### tfrewrite")

    machine.expressions = {
        **inputs,
        "inputs.since": "origin/main",
        "inputs.fail": "false",
        "inputs.options": "--ignore=TFR301\n--quiet",
    }
    done = machine.run(check["run"], check["env"])
    assert done.returncode == 0, done.stderr
    assert "new.py" in done.stdout
    assert "old.py" not in done.stdout

    machine.expressions = {**inputs, "inputs.since": "$(touch pwned); `touch pwned`"}
    done = machine.run(check["run"], check["env"])
    assert done.returncode == 2
    assert "is no revision" in done.stderr
    assert not (machine.workspace / "pwned").exists()


@pytest.mark.pypi
def test_the_template_for_gitlab(machine: Machine, package: Path) -> None:
    template = read("ci/gitlab.yml")
    check = template["tfrewrite-check"]
    machine.with_python()
    machine.variables |= {
        **template["variables"],
        "TFREWRITE_PACKAGE": str(package),
        "CI_PROJECT_DIR": str(machine.workspace),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": machine.git("rev-parse", "origin/main"),
    }
    for line in template[check["extends"]]["before_script"]:
        done = machine.run(line)
        assert done.returncode == 0, done.stderr
    whole, changed = [machine.run(line) for line in check["script"]]
    assert (whole.returncode, whole.stdout) == (0, ""), whole.stderr
    assert changed.returncode == 1, changed.stderr
    reports = check["artifacts"]["reports"]
    issues = json.loads((machine.workspace / reports["codequality"]).read_text())
    files = {one["location"]["path"] for one in issues}
    assert files == {"my scripts/new.py", "my scripts/old.py"}
    suites = JUnitXml.fromfile(str(machine.workspace / reports["junit"]))
    assert {suite.name for suite in suites} == {"my scripts/new.py"}

    # On the main branch there is nothing to compare with, and findings are reported only.
    machine.variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = ""
    assert [machine.run(line).returncode for line in check["script"]] == [0, 0]


@pytest.mark.pypi
@pytest.mark.tensorflow
def test_the_example_workflow(machine: Machine, package: Path, tf2_python: Path) -> None:
    workflow = read("ci/github-workflow.yml")
    machine.with_python()
    machine.variables |= {**workflow["env"], "TFREWRITE": str(package)}
    machine.expressions = {"github.base_ref": "main"}

    install, check = [step for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    done = machine.run(install["run"])
    assert done.returncode == 0, done.stderr
    done = machine.run(check["run"], check["env"])
    assert done.returncode == 1, done.stderr
    assert "new.py" in done.stdout
    assert "old.py" not in done.stdout
    validate(json.loads((machine.workspace / "reports/check.sarif").read_text()), sarif.SCHEMA)

    # Whatever would be rewritten has to be run for a pass.
    shutil.rmtree(machine.workspace / "my scripts")
    shutil.copy(SMALL, machine.workspace / "fit.py")
    (machine.workspace / "pyproject.toml").write_text(
        '[tool.tfrewrite.verify]\nquick = true\nscripts = [{ path = "fit.py" }]\n'
    )
    # Stands for what is installed for the scripts: a TensorFlow takes too long to install.
    (machine.home / "temp" / "scripts").symlink_to(tf2_python.parent.parent)
    again, needs, verify = [step for step in workflow["jobs"]["verify"]["steps"] if "run" in step]
    assert again == install
    assert "requirements.txt" in needs["run"]
    done = machine.run(verify["run"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in machine.summary.read_text()
    report = json.loads((machine.workspace / "reports/verification.json").read_text())
    assert [one["script"] for one in report["verifications"]] == ["fit.py"]
    page = (machine.workspace / "reports/verification.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
