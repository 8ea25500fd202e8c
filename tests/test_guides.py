"""The commands that guides show do what they show, on the script that they speak of.

A block of `console` has commands behind `$` and what they print; `...` stands for any lines. Those
of one page are run one after the other in one folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

import verification_samples as samples
from ci_steps import GIT, ROOT
from tfrewrite.cli import app
from tfrewrite.reports.verification import json_report

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
SCRIPT = ROOT / "examples" / "train.py"
TF1 = "/opt/tf1/bin/python"
REFUSED = """\
import tensorflow as tf
from mine import batches, callback

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.zeros([3, 1]))
error = tf.matmul(x, w) - y
loss = tf.reduce_mean(error * error)
accuracy = tf.reduce_max(error)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for images, labels in batches:
        feed = {x: images, y: labels}
        sess.run(train, feed_dict=feed)
        loss_value = sess.run(loss, feed_dict=feed)
        callback(loss_value)
        accuracy_value = sess.run(accuracy, feed_dict=feed)
        print(loss_value, accuracy_value)
"""
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECONDS = re.compile(r"\(\d+\.\d+ s\)")
_ENDS = {"check": 1, "--diff": 1, "after.py": 1}
"""Commands exit with 0, but where there is something to do, or two versions differ."""


@dataclass(frozen=True)
class Shown:
    """A command, and what the page says it prints: empty where it says nothing."""

    command: str
    output: str

    @property
    def needs_tensorflow(self) -> bool:
        return "verify" in self.command

    @property
    def exit_code(self) -> int:
        return next((code for word, code in _ENDS.items() if word in self.command.split()), 0)

    def agrees(self, printed: str) -> bool:
        pattern = "\n".join(map(re.escape, _SECONDS.sub("(1.0 s)", self.output).split("\n")))
        pattern = pattern.replace(re.escape("..."), r"(?:.*)")
        return re.fullmatch(pattern, _SECONDS.sub("(1.0 s)", printed), re.DOTALL) is not None


def shown_in(page: Path) -> Iterator[Shown]:
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Shown(command, output)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project on a branch of its own, with the script of the guides as it was and as it is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)
    shutil.copy(SCRIPT, tmp_path / "train.py")
    text = SCRIPT.read_text(encoding="utf-8")
    (tmp_path / "before.py").write_text(text)
    (tmp_path / "after.py").write_text(text.replace("Optimizer(0.1)", "Optimizer(0.1001)"))
    named = ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "train.py"],
        [*named, "commit", "--quiet", "-m", "m"],
        ["checkout", "--quiet", "-b", "topic"],
    ):
        subprocess.run([GIT, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def run(shown: Shown, python: Path | None = None) -> str:
    program, *arguments = shown.command.replace(TF1, str(python)).split()
    assert program == "tfrewrite"
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == shown.exit_code, done.output
    return done.stdout


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_commands_of_a_guide(page: Path) -> None:
    told = [*shown_in(page)]
    assert len(told) > 3
    for shown in told:
        if not shown.needs_tensorflow:
            printed = run(shown)
            assert not shown.output or shown.agrees(printed), printed


@pytest.mark.tensorflow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_verifies(page: Path, tf1_python: Path) -> None:
    """The quick ones: those that compare times take minutes."""
    quick = [shown for shown in shown_in(page) if "--quick" in shown.command]
    assert quick
    for shown in quick:
        printed = run(shown, tf1_python)
        assert shown.agrees(printed), printed


def test_the_diff_of_the_home_page_is_that_of_the_script() -> None:
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    diff = run(Shown("tfrewrite apply train.py --diff", ""))
    for line in home.partition("```diff\n")[2].partition("```")[0].splitlines():
        assert line in diff.splitlines()


def test_the_first_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line.partition("  #")[0].rstrip() for line in readme.splitlines()]
    for command in ("tfrewrite check train.py", "tfrewrite apply train.py --diff"):
        assert command in lines
        assert "TFR101" in run(Shown(command, ""))
    refused = next(line for line in lines if "refused (" in line)
    assert refused in (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8")
    Path("train.py").write_text(REFUSED, encoding="utf-8")
    assert refused in CliRunner().invoke(app, ["check", "train.py"]).stdout.splitlines()
    for named in re.findall(r"tfrewrite explain ([\w-]+)", readme):
        assert run(Shown(f"tfrewrite explain {named}", "")).startswith(named)


def commands_in(page: Path) -> list[str]:
    """Those of the blocks without a language, whatever is said beside them."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("tfrewrite ")]


@pytest.mark.parametrize("page", ["README.md", "docs/ci.md"])
def test_the_commands_for_ci(page: str) -> None:
    """On a clone with legacy scripts, beside reports of shards and of verifications."""
    Path("src").mkdir()
    shutil.copy(SCRIPT, Path("src", "old.py"))
    subprocess.run([GIT, "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    shard = Shown("tfrewrite check . --shard N/2 --output json=shard-N.json", "")
    for number in ("1", "2"):
        CliRunner().invoke(app, shard.command.replace("N", number).split()[1:])
    shutil.copy("shard-1.json", "check.json")
    for name in ("verify-1.json", "verify-2.json"):
        Path(name).write_text(json_report.render(samples.several()), encoding="utf-8")
    told = [
        command
        for command in commands_in(ROOT / page)
        if command.split()[1] in {"check", "report"} and "verify" not in command.split()
    ]
    assert len(told) >= 3
    for command in told:
        arguments = command.replace("verify-*.json", "verify-1.json verify-2.json").split()[1:]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == (1 if arguments[0] == "check" else 0), done.output
        for file in re.findall(r"\w+\.(?:html|sarif|xml)", command):
            assert Path(file).stat().st_size > 100
