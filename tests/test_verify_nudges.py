"""Weights that are moved by a unit in the last place change no step of the script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfrewrite.verify.runs import Conditions, Laboratory, Nudge, Program

pytestmark = pytest.mark.tensorflow

EPOCHS = """
import tensorflow as tf
w = tf.Variable([1.0, 2.0])
seen = tf.Variable(0.0, trainable=False)
for epoch in range(3):
    seen.assign(0.0)
    for number in range(4):
        w.assign_sub(0.1 * (w - 3.0))
        seen.assign_add(1.0)
    for number in range(2):
        value = tf.reduce_sum(w) + float(number)
    print(epoch, float(value))
"""


def test_moved_weights_make_the_steps_that_the_others_make(
    tf2_python: Path, tmp_path: Path
) -> None:
    """A turn of the loop around the steps is none, though weights were moved before it began."""
    (tmp_path / "train.py").write_text(EPOCHS)
    program = Program.of(tmp_path, "train.py")
    with Laboratory.opened(Conditions(tf2_python)) as laboratory:
        plain, moved, by_a_part = (
            laboratory.observe(program, seed=1, steps=0, nudge=nudge)
            for nudge in (None, Nudge(0), Nudge(0, 0.001))
        )
        names = []
        for run in (plain, moved, by_a_part):
            assert run.is_complete, run.result.stderr
            lines = (run.folder / "values.jsonl").read_text().splitlines()
            entries = [json.loads(line) for line in lines]
            names.append([
                (one["name"], one["step"], one["loop"])
                for one in entries
                if one["kind"] == "weights"
            ])  # fmt: skip
    assert plain.steps == moved.steps == by_a_part.steps == 12
    assert plain.summary["steps_of"] == moved.summary["steps_of"]
    assert names[0] == names[1] == names[2]
    assert len({plain.printed, moved.printed, by_a_part.printed}) == 3
