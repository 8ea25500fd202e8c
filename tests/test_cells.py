"""Notebooks and Markdown become scripts, for the sweeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from own_programs import program

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def cells() -> ModuleType:
    return program("benchmarks/cells.py")


def notebook(*code: str | list[str]) -> str:
    cells = [{"cell_type": "code", "source": one} for one in code]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "x = 1"}, *cells]})


def test_a_tree_is_written_out(cells: ModuleType, tmp_path: Path) -> None:
    source, target = tmp_path / "from", tmp_path / "to"
    (source / "deep").mkdir(parents=True)
    (source / "a.py").write_text("a = 1\n")
    (source / "deep" / "b.ipynb").write_text(notebook(["import os\n", "b = 2"], "c = 3"))
    (source / "c.md").write_text("# C\n```python\n%time\nd = 4\n```\ntext\n```\nno = 5\n```\n")
    (source / "d.md").write_text("only text\n")
    (source / "e.ipynb").write_text("{broken")
    assert cells.main([str(source), str(target)]) == 0
    assert (target / "a.py").read_text() == "a = 1\n"
    assert (target / "deep" / "b.nb.py").read_text() == "import os\nb = 2\n\nc = 3\n"
    assert (target / "c.md.py").read_text() == "pass  # %time\nd = 4\n"
    assert len([one for one in target.rglob("*") if one.is_file()]) == 3


@pytest.mark.parametrize(
    ("cell", "script"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("if colab:\n  !pip install x", "if colab:\n  pass  # !pip install x"),
        ("!pip \\\n  install x\ny = 2", "pass  # !pip \\\n#   install x\ny = 2"),
        ("files = !ls", "pass  # files = !ls"),
        ("%%bash\nls\n", "# %%bash\n# ls\n# "),
        ("%%time\nx = 1", "pass  # %%time\nx = 1"),
        ("tf.function?", "# tf.function?"),
        ("y = x % 2", "y = x % 2"),
        ("a != b", "a != b"),
        ("ok = a != b", "ok = a != b"),
    ],
)
def test_what_only_ipython_understands_is_a_comment(
    cells: ModuleType, tmp_path: Path, cell: str, script: str
) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook(cell))
    assert cells.code_of(path) == f"{script}\n"
