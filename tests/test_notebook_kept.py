"""`apply --verify` on a folder of notebooks, on TensorFlow: what holds is written, and no more."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from keeping_script import READ, SCRIPT, UNREAD
from notebook_maker import STYLES, cell, notebook, written
from tfrewrite.cli import app

FIRST = """%matplotlib inline
!mkdir -p logs
!pip install -q tensorflow
import numpy as np
import tensorflow as tf
from IPython import get_ipython
from IPython.display import HTML, clear_output, display
get_ipython().run_line_magic("load_ext", "tensorboard")
"""
MODEL = """model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
x = np.ones((4, 2), "float32")
"""
LOOP = """total = 0.0
for i in range(5):
    p = model.predict(x * i, verbose=0)
    clear_output(wait=True)
    total += float(p.sum())
"""
LAST = """%%time
display(HTML("<b>done</b>"))
with open("logs/total.txt", "w") as file:
    file.write(str(total))
total
"""


@pytest.mark.tensorflow
def test_what_holds_is_written_and_nothing_else(tmp_path: Path, tf2_python: Path) -> None:
    shown = [{"output_type": "stream", "name": "stdout", "text": ["\u00e9 <b>\n"]}]
    good = written(
        notebook(
            cell("# words", "markdown"), FIRST, MODEL, cell(LOOP, outputs=shown), "model?", LAST
        ),
        STYLES["colab"],
    )
    bad = written(notebook("import no_such_module", FIRST, MODEL, LOOP))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "good.ipynb").write_bytes(good)
    (folder / "bad.ipynb").write_bytes(bad)
    report = tmp_path / "report.json"
    done = CliRunner().invoke(
        app,
        ["apply", "--verify", str(folder), "--select", "TFR401", "--quick", "--seeds", "1",
         "--device", "cpu", "--python", str(tf2_python), "--output", f"json={report}"],
    )  # fmt: skip
    found = {one["script"]: one for one in json.loads(report.read_text())["verifications"]}
    assert found["good.ipynb"]["verdict"] == "pass", done.output
    assert found["bad.ipynb"]["verdict"] == "inconclusive"
    assert "needs the module no_such_module" in found["bad.ipynb"]["reason"]
    assert done.exit_code == 1, "of one notebook nothing was shown"
    assert "`!pip install -q tensorflow` (cell 2)" in done.output
    assert "mkdir" not in done.output

    assert (folder / "bad.ipynb").read_bytes() == bad
    kept = (folder / "good.ipynb").read_bytes()
    old, new = good.split(b"\n"), kept.split(b"\n")
    changes = [line for line in difflib.ndiff([*map(repr, old)], [*map(repr, new)])
               if line.startswith("- ")]  # fmt: skip
    assert len(changes) == 1
    assert "model.predict(x * i" in changes[0]
    before, after = (nbformat.reads(one.decode(), as_version=4) for one in (good, kept))
    assert "predict_one_batch(model, x * i" in after.cells[3].source
    after.cells[3].source = before.cells[3].source
    assert after == before


@pytest.mark.tensorflow
def test_a_notebook_of_version_1_with_data_beside_it(tmp_path: Path, tf1_python: Path) -> None:
    head, _, rest = SCRIPT.partition("inputs = ")
    _, _, rest = rest.partition("\n")
    graph, _, loop = rest.partition("with tf.Session() as sess:")
    cells = [
        f"%matplotlib inline\n{head}",
        'inputs = np.loadtxt("data/inputs.csv", delimiter=",", dtype=np.float32)\ninputs.shape',
        f"{graph}sess = tf.InteractiveSession()",
        f"%%time\nif sess:{loop}batch_loss",
    ]
    folder = tmp_path / "notebooks" / "deep"
    (folder / "data").mkdir(parents=True)
    rows = (",".join(str((row * 7 + column) % 5 - 2) for column in range(8)) for row in range(640))
    (folder / "data" / "inputs.csv").write_text("\n".join(rows))
    path = folder / "train.ipynb"
    path.write_bytes(written(notebook(*cells), STYLES["compact"]))
    report = tmp_path / "report.json"
    done = CliRunner().invoke(
        app,
        ["apply", "--verify", str(tmp_path / "notebooks"), "--select", "TFR107", "--quick",
         "--seeds", "1", "--device", "cpu", "--python", str(tf1_python),
         "--output", f"json={report}"],
    )  # fmt: skip
    (one,) = json.loads(report.read_text())["verifications"]
    assert (one["script"], one["verdict"]) == ("deep/train.ipynb", "pass"), done.output
    assert [change["trial"]["kept"] for change in one["changes"]] == [True]
    assert done.exit_code == 0
    expected = [*cells[:3], cells[3].replace(UNREAD, READ)]
    assert path.read_bytes() == written(notebook(*expected), STYLES["compact"])
