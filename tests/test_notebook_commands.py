"""The commands on notebooks, from the outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from notebook_maker import STYLES, cell, notebook, sources, written
from tfrewrite import registry
from tfrewrite.cli import app
from toys import TOYS

Cli = Callable[..., Result]
MADE = notebook(
    cell("# words", "markdown"),
    "%matplotlib inline\nx = 1\ny = old(x)",
    "old(*x)  # tfrewrite: ignore[TFR903]\nbug()",
    "for i in y:\n    f(make())\ny",
)
BOTTOM = "2 rewrites to make, 1 report, 1 refusal, 1 exemption without use in 1 file"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the program with the toy rules in a directory with one notebook."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setattr("tfrewrite.plan.all_rules", lambda: TOYS)
    monkeypatch.setattr(registry, "all_rules", lambda: TOYS)
    Path("n.ipynb").write_bytes(written(MADE))
    runner = CliRunner()
    return lambda *arguments, stdin=None: runner.invoke(app, [*arguments], input=stdin)


def test_findings_name_cell_and_line(cli: Cli) -> None:
    done = cli("check", ".")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("n.ipynb")] == [
        "n.ipynb:cell 2:3:5: TFR901 [exact] old -> new",
        "n.ipynb:cell 3:1: TFR901 refused (starred): an argument is starred; write them out",
        "n.ipynb:cell 3:2:1: TFR904 [report] this is a bug",
        "n.ipynb:cell 4:2:7: TFR903 [exact] out of the loop",
        "n.ipynb:cell 3:1:10: warning: this exemption from TFR903 exempts nothing; remove it",
    ]
    assert lines[-1].startswith(BOTTOM)


def test_programs_get_the_place_in_the_file_and_in_the_cell(cli: Cli) -> None:
    first = json.loads(cli("check", "n.ipynb", "--format", "json").stdout)
    lines = Path("n.ipynb").read_text().split("\n")
    found = {one["rule"]: one for one in first["findings"]}
    assert lines[found["TFR901"]["line"] - 1].strip() == '"y = old(x)"'
    assert lines[found["TFR901"]["line"] - 1][found["TFR901"]["column"] - 1 :] == 'old(x)"'
    assert lines[found["TFR903"]["line"] - 1].strip() == '"    f(make())\\n",'
    cells = {
        rule: (one["cell"], one["cell_line"], one["cell_column"]) for rule, one in found.items()
    }
    assert cells == {"TFR901": (2, 3, 5), "TFR903": (4, 2, 7), "TFR904": (3, 2, 1)}
    (refused,) = first["refusals"]
    assert (refused["cell"], refused["cell_line"], refused["cell_column"]) == (3, 1, 1)
    (notice,) = first["unused_exemptions"]
    assert (notice["cell"], notice["cell_line"], notice["cell_column"]) == (3, 1, 10)
    again = json.loads(cli("check", "n.ipynb", "--format", "json").stdout)
    for one in (first, again):
        del one["summary"]["elapsed_s"]
    assert again == first  # from the cache
    assert (
        "cell"
        not in json.loads(cli("check", "-", "--format", "json", stdin="old(1)").stdout)["findings"][
            0
        ]
    )


def test_a_diff_shows_cells(cli: Cli) -> None:
    done = cli("apply", "n.ipynb", "--diff")
    assert done.exit_code == 1
    assert done.stdout == (
        "# TFR901 rename-old [exact]: old -> new\n"
        "#   safe because they are the same\n"
        "--- a/n.ipynb:cell 2\t\n"
        "+++ b/n.ipynb:cell 2\t\n"
        "@@ -1,3 +1,3 @@\n"
        " %matplotlib inline\n"
        " x = 1\n"
        "-y = old(x)\n"
        "+y = new(x)\n"
        "# TFR903 hoist-make [exact]: out of the loop\n"
        "#   safe because no arguments\n"
        "--- a/n.ipynb:cell 4\t\n"
        "+++ b/n.ipynb:cell 4\t\n"
        "@@ -1,3 +1,4 @@\n"
        "+made_0 = make()\n"
        " for i in y:\n"
        "-    f(make())\n"
        "+    f(made_0)\n"
        " y\n"
    )
    assert Path("n.ipynb").read_bytes() == written(MADE)


def test_apply_writes_what_the_diff_showed(cli: Cli) -> None:
    Path("n.ipynb").write_bytes(written(MADE, STYLES["windows"]))
    done = cli("apply", ".")
    assert done.exit_code == 0
    assert "n.ipynb:cell 2:3:5: TFR901 [exact] old -> new (done)" in done.stdout
    data = Path("n.ipynb").read_bytes()
    after = notebook(*MADE["cells"])
    after["cells"] = [dict(one) for one in MADE["cells"]]
    after["cells"][1]["source"] = "%matplotlib inline\nx = 1\ny = new(x)"
    after["cells"][3]["source"] = "made_0 = make()\nfor i in y:\n    f(made_0)\ny"
    assert data == written(after, STYLES["windows"])
    assert "nothing to do" not in cli("check", ".").stdout  # the report is still there
    assert cli("apply", ".").exit_code == 0
    assert Path("n.ipynb").read_bytes() == data


def test_each_rewrite_is_asked_about_by_cell(cli: Cli) -> None:
    done = cli("apply", "n.ipynb", "--interactive", stdin="n\ny\n")
    assert "Make this rewrite at n.ipynb:cell 2:3? [y/n/a/q/?]" in done.stderr
    assert "Make this rewrite at n.ipynb:cell 4:2? [y/n/a/q/?]" in done.stderr
    assert "-y = old(x)" in done.stderr
    assert sources(Path("n.ipynb").read_bytes())[1:] == [
        MADE["cells"][1]["source"],
        MADE["cells"][2]["source"],
        "made_0 = make()\nfor i in y:\n    f(made_0)\ny",
    ]


def test_a_notebook_may_come_through_a_pipe(cli: Cli) -> None:
    done = cli("apply", "-", stdin=written(notebook("x = old(1)")))
    assert sources(done.stdout_bytes) == ["x = new(1)"]
    assert cli("check", "-", stdin="{'nbformat': old(1)}").stdout.startswith("<stdin>:1:14: TFR901")


def test_what_fails_or_is_left_alone_says_so(cli: Cli) -> None:
    Path("bad.ipynb").write_text("{")
    Path("r.ipynb").write_bytes(written(notebook("x", kernelspec={"language": "R"})))
    checkpoints = Path(".ipynb_checkpoints")
    checkpoints.mkdir()
    (checkpoints / "n-checkpoint.ipynb").write_bytes(written(MADE))
    done = cli("check", ".", "--verbose")
    assert done.exit_code == 2
    assert "bad.ipynb: error: line 1, column 2: not valid JSON" in done.stderr
    assert "r.ipynb: skipped: its kernel runs r, not Python" in done.stdout
    assert "checkpoint" not in done.stdout
    done = cli("check", "r.ipynb")
    assert done.exit_code == 0
    assert "r.ipynb: skipped: its kernel runs r, not Python" in done.stderr
