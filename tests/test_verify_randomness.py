"""What is random in Python is pinned in a run, and stays random."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PINNED = """\
import random, sys, tempfile, types
stream = types.SimpleNamespace(seed=int, RandomState=type("RandomState", (), {{}}))
sys.modules["numpy"] = types.SimpleNamespace(random=stream)
sys.path.insert(0, {verify!r})
from probe import randomness

randomness.pin_python({seed}, {tree!r})
"""


def printed(text: str, tree: Path, *, seed: int = 1) -> list[str]:
    """What a script prints whose generators are pinned."""
    pinned = PINNED.format(verify=str(ROOT / "verify"), seed=seed, tree=str(tree))
    done = subprocess.run(
        [sys.executable, "-c", pinned + text],
        capture_output=True,
        text=True,
        check=True,
        cwd=tree,
    )
    return done.stdout.split()


NINE = "print(*(r.random() for _ in range(9)))"
BARE = "class Own(random.Random):\n    def __init__(self):\n        pass\n"
WITH = "class Own(random.Random):\n    def __init__(self, a):\n        super().__init__()\n"
DRAWS = [
    f"r = random.Random()\n{NINE}",
    "print(*(random.Random().random() for _ in range(9)))",
    f"{BARE}r = Own()\n{NINE}",
    f"{WITH}r = Own(3)\n{NINE}",
]


@pytest.mark.parametrize("text", DRAWS)
def test_a_generator_without_a_seed_draws_the_same_in_each_run(text: str, tmp_path: Path) -> None:
    first = printed(text, tmp_path)
    assert first == printed(text, tmp_path)
    assert len(set(first)) == 9


def test_a_seed_of_its_own_holds(tmp_path: Path) -> None:
    text = "print(random.Random(5).random(), random.Random(x=5).random())"
    assert printed(text, tmp_path) == printed(text, tmp_path, seed=2)
    real = subprocess.run(
        [sys.executable, "-c", "import random; print(random.Random(5).random())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed(text, tmp_path) == [real.stdout.strip()] * 2


def test_temporary_files_have_different_names(tmp_path: Path) -> None:
    text = "print(*(tempfile.mkstemp(dir='.')[1] for _ in range(5)))"
    assert len(set(printed(text, tmp_path))) == 5
    reloaded = "import importlib\nimportlib.reload(tempfile)\n"
    assert len(set(printed(reloaded + text, tmp_path))) == 5
