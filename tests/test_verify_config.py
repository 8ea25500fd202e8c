"""`[tool.tfrewrite.verify]` is read, and what is wrong in it is named with its line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfrewrite.config import VERIFY_KEYS, ConfigError
from tfrewrite.model import Contract
from tfrewrite.verify import config
from tfrewrite.verify.settings import VerifySettings, interpreter, split_arguments

PYTHON = Path(sys.executable)
HEAD = '[project]\nname = "steps"\n\n[tool.tfrewrite]\n\n[tool.tfrewrite.verify]\n'


def load(tmp_path: Path, body: str, head: str = HEAD) -> VerifySettings:
    path = tmp_path / "pyproject.toml"
    path.write_text(head + body)
    return config.load(path, PYTHON)


EVERYTHING = """\
args = "--data 'my data' -q"
contract = "shifted"
device = "both"
legacy-keras = true
memory-limit = 4_000
python = "envs/tf1/bin/python"
quick = true
runs = 5
seeds = 3
steps = 20
synthetic-data = true
timeout = 60

[[tool.tfrewrite.verify.scripts]]
path = "./train.py"
args = ["--epochs", "2"]
python = "python3"
steps = "all"
timeout = 1.5
contract = "exact"

[[tool.tfrewrite.verify.scripts]]
path = "examples/other.py"
"""


def test_everything(tmp_path: Path) -> None:
    read = load(tmp_path, EVERYTHING)
    assert read.arguments == ("--data", "my data", "-q")
    assert read.contract is Contract.SHIFTED
    assert (read.device, read.legacy_keras, read.synthetic, read.quick) == (
        "both",
        True,
        True,
        True,
    )
    assert (read.memory_limit_mb, read.timeout_s) == (4000, 60)
    assert (read.runs, read.seeds, read.steps) == (5, 3, 20)
    assert read.python == tmp_path / "envs/tf1/bin/python"
    assert read.root == tmp_path
    (own, other) = read.scripts
    assert (own.path, own.arguments, own.python) == ("train.py", ("--epochs", "2"), Path("python3"))
    assert (own.steps, own.timeout_s, own.contract) == (0, 1.5, Contract.EXACT)
    assert (other.arguments, other.python, other.steps) == (None, None, None)


def test_every_key_is_one_that_is_read() -> None:
    first_table = EVERYTHING.partition("\n\n")[0]
    keys = {line.partition(" =")[0] for line in first_table.splitlines()}
    assert keys | {"scripts"} == set(VERIFY_KEYS)


def test_without_a_file_or_a_table(tmp_path: Path) -> None:
    for read in (config.load(None, PYTHON), load(tmp_path, "", "[tool.tfrewrite]\n")):
        assert (read.python, read.scripts, read.steps, read.contract) == (PYTHON, (), None, None)
        assert (read.runs, read.timeout_s, read.device, read.quick) == (None, 300, "auto", False)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("step = 3\n", r":7: no setting 'step' in \[tool.tfrewrite.verify\]; .* 'steps'\?"),
        ("quick = true\nfrobnicate = 1\n", r":8: no setting 'frobnicate' .*there are args, "),
        ("args = 1\n", r":7: args must be a string, or a list"),
        ("args = ['a', 1]\n", r":7: args must be a string, or a list"),
        ('args = "it\'s"\n', r":7: args: .*cannot be split as a shell does it: No closing"),
        ('contract = "exakt"\n', r":7: no contract 'exakt'; did you mean 'exact'\?"),
        ("contract = 1\n", r":7: contract must be a string, not a number"),
        ('device = "tpu"\n', r":7: no device 'tpu'; there are auto, cpu, gpu, both"),
        ("legacy-keras = 1\n", r":7: legacy-keras must be true or false"),
        ("synthetic-data = 'yes'\n", r":7: synthetic-data must be true or false"),
        ("quick = 'no'\n", r":7: quick must be true or false"),
        ("memory-limit = 0\n", r":7: memory-limit must be a number above 0"),
        ("timeout = -1\n", r":7: timeout must be a number above 0"),
        ("timeout = true\n", r":7: timeout must be a number above 0"),
        ("timeout = inf\n", r":7: timeout must be a number above 0"),
        ("timeout = nan\n", r":7: timeout must be a number above 0"),
        ("python = 3\n", r":7: python must be a string"),
        ("runs = 1\n", r":7: runs must be a whole number of at least 2"),
        ("seeds = 0\n", r":7: seeds must be a whole number of at least 1"),
        ("seeds = 1.5\n", r":7: seeds must be a whole number"),
        ("seeds = true\n", r":7: seeds must be a whole number"),
        ("steps = 0\n", r":7: '0' is no number of steps; write 40, or all"),
        ("steps = -3\n", r":7: '-3' is no number of steps"),
        ("steps = 2.5\n", r":7: '2.5' is no number of steps"),
        ("steps = true\n", r":7: 'True' is no number of steps"),
        ("steps = 'most'\n", r":7: 'most' is no number of steps"),
        ("scripts = 'train.py'\n", r":7: scripts must be a list of tables"),
        ("scripts = ['train.py']\n", r":7: scripts must be a list of tables"),
        ("scripts = [{ args = 'x' }]\n", r":7: each of scripts needs a path"),
        ("scripts = [{ path = 1 }]\n", r":7: path must be a string"),
        (
            "steps = 1\nscripts = [\n  { path = 'a' },\n  { path = 'b', steps = 'x' },\n]\n",
            r":10: 'x' is no number of steps",
        ),
        (
            "scripts = [\n  { path = 'a', timeout = 1 },\n  { path = 'b', timout = 3 },\n]\n",
            r":9: no setting 'timout' in \[tool.tfrewrite.verify.scripts\]; .* 'timeout'\?",
        ),
        (
            "[[tool.tfrewrite.verify.scripts]]\npath = 'a'\nsteps = 1\n{}".format(
                "[[tool.tfrewrite.verify.scripts]]\nsteps = 'x'\npath = 'b'\n"
            ),
            r":11: 'x' is no number of steps",
        ),
        ("[[tool.tfrewrite.verify.scripts]]\nsteps = 1\n", r":7: each of scripts needs a path"),
    ],
)
def test_wrong_settings(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml" + said):
        load(tmp_path, body)


def test_a_table_written_in_a_line(tmp_path: Path) -> None:
    head = "[tool.tfrewrite]\njobs = 1\n"
    assert load(tmp_path, "verify = { steps = 3, quick = true }\n", head).steps == 3
    with pytest.raises(ConfigError, match=r":3: 'x' is no number"):
        load(tmp_path, "verify = { quick = true, steps = 'x' }\n", head)
    with pytest.raises(ConfigError, match=r":3: verify must be a table"):
        load(tmp_path, "verify = 1\n", head)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "verify.md").read_text()
    example = page.partition("```toml\n")[2].partition("```")[0]
    read = load(tmp_path, example, head="")
    assert [one.path for one in read.scripts] == ["train.py", "gan/main.py"]
    assert read.device == "cpu"
    for key in VERIFY_KEYS:
        assert key == "scripts" or f"`--{key}" in page


# Which settings hold.


def test_a_scripts_own_settings_hold_over_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    read = load(tmp_path, EVERYTHING)
    own = read.of(tmp_path, "train.py")
    assert (own.arguments, own.steps, own.timeout_s) == (("--epochs", "2"), 0, 1.5)
    assert (own.contract, own.python, own.runs) == (Contract.EXACT, Path("python3"), 5)
    assert read.of(tmp_path, "examples/other.py") == read
    assert read.of(tmp_path, "third.py") == read


def test_the_command_line_holds_over_both(tmp_path: Path) -> None:
    read = load(tmp_path, EVERYTHING).told(
        steps=7, arguments=None, contract=Contract.ROUNDING, device=None, quick=False
    )
    assert (read.steps, read.contract, read.device, read.quick) == (
        7, Contract.ROUNDING, "both", True,
    )  # fmt: skip
    own = read.of(tmp_path, "train.py")
    assert (own.steps, own.contract, own.arguments) == (
        7, Contract.ROUNDING, ("--epochs", "2"),
    )  # fmt: skip
    assert load(tmp_path, EVERYTHING).told(steps=0).steps == 0


def test_no_arguments_are_something_else_than_none_said(tmp_path: Path) -> None:
    body = "args = '-a'\nscripts = [{ path = 'x.py', args = [] }, { path = 'y.py' }]\n"
    read = load(tmp_path, body)
    assert read.of(tmp_path, "x.py").arguments == ()
    assert read.of(tmp_path, "y.py").arguments == ("-a",)


def test_paths_are_relative_to_the_settings_or_to_the_folder(tmp_path: Path) -> None:
    for name in ("examples/train.py", "old/model.py", "top.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    body = (
        "scripts = [{ path = 'examples/train.py', steps = 1 }, { path = 'model.py', steps = 2 }, "
        "{ path = 'top.py' }, { path = '../outside.py' }]\n"
    )
    read = load(tmp_path, body)
    assert read.listed(tmp_path / "examples") == ["train.py"]
    assert read.of(tmp_path / "examples", "train.py").steps == 1
    assert read.listed(tmp_path / "old") == ["model.py"]
    assert read.of(tmp_path / "old", "model.py").steps == 2
    with pytest.raises(ConfigError, match=r"verify\.scripts: there is no file model\.py"):
        read.listed(tmp_path)


def test_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "python9"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    with pytest.raises(ConfigError, match=r"python9: this cannot be executed; .*--python"):
        interpreter(program)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert interpreter(Path("python9")) == program
    assert interpreter(Path("~/bin/python9")) == program
    assert interpreter(Path("bin/python9")) == Path("bin/python9")
    with pytest.raises(ConfigError, match=r"bin: a directory; name the interpreter in it"):
        interpreter(Path("bin"))
    with pytest.raises(ConfigError, match=r"python8: there is no such interpreter"):
        interpreter(Path("python8"))


def test_arguments_are_split_as_a_shell_does_it() -> None:
    assert split_arguments("--name 'a b' \"c\" d\\ e") == ("--name", "a b", "c", "d e")
    with pytest.raises(ValueError, match="cannot be split"):
        split_arguments("'")
