"""The sweep says what the checks of some trees found, by tree, rule and reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from own_programs import program

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.zeros([2, 1]))
first, second = tf.matmul(x, w), tf.matmul(x, w) * 2.0
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(first))
other = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(second))
with tf.Session() as sess:
    for i in range(9):
        print(sess.run(first, {x: batch}))
        print(sess.run(second, {x: batch}))
    for i in range(9):
        sess.run(train, {x: batch})
        sess.run(other, {x: batch})
"""


@pytest.fixture(scope="module")
def sweep() -> ModuleType:
    return program("benchmarks/sweep.py")


def test_all_rules_and_contracts_are_asked_for(sweep: ModuleType) -> None:
    options = sweep.everything()
    assert "TFR113" in options[1].split(",")
    assert options[3] == "shifted,resampled,precision"


def test_trees_are_checked_and_counted(
    sweep: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "owner+name"
    tree.mkdir()
    (tree / "train.py").write_text(SCRIPT)
    (tree / "old.py").write_text("print 'x'\n")
    (tree / "broken.py").write_text("x = = 1\n")
    assert sweep.main([str(tree), "--json", str(tmp_path / "kept"), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| owner/name | 3 | 1 | 1 | 101 rounding 1 |" in printed
    assert "| TFR101 merge-session-runs | rounding | 1 | 1 |" in printed
    assert "| TFR101 | 1 | two-updates 1 |" in printed
    assert (tmp_path / "kept" / "owner+name.everything.json").exists()


def test_the_rules_can_be_chosen_by_how_their_codes_begin(
    sweep: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    options = sweep.everything(("TFR2", "TFR301"))
    assert {"TFR202", "TFR301"} < set(options[1].split(","))
    assert "TFR302" not in options[1]
    assert sweep.main([str(tmp_path), "--select", "TFR2,TFR3", "--jobs", "1"]) == 0
    assert "TFR101" not in capsys.readouterr().out


def test_a_tree_that_is_not_there_stops_it(sweep: ModuleType, tmp_path: Path) -> None:
    with pytest.raises((SystemExit, FileNotFoundError)):
        sweep.main([str(tmp_path / "none")])
