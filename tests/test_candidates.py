"""The functions of some trees that work with tensors are counted, by how they run then and now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from own_programs import ROOT, program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

SCRIPT = """\
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices((tf.ones([640, 4]), tf.ones([640, 1]))).batch(4)
loss_object = tf.keras.losses.MeanSquaredError()


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)


model = Net()
optimizer = tf.keras.optimizers.SGD(0.1)


def error(y, pred):
    return tf.reduce_mean(tf.square(tf.subtract(y, pred)))


@tf.function
def weighed(x):
    return tf.square(x)


def plot(name, count):
    print(name, count)


def normed(x):
    return tf.nn.l2_normalize(x)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = error(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def noisy_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x))
        open("loss.txt", "w").write(str(loss))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def train(start):
    print(tf.square(start))
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


for x, y in data:
    train_step(x, y)
for x, y in data:
    noisy_step(x, y)
train(1.0)
"""
OLD = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
def doubled(x):
    return tf.add(x, x)
"""


@pytest.fixture(scope="module")
def candidates() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))  # it takes `sweep` from beside it
    yield program("benchmarks/candidates.py")
    sys.path.remove(str(ROOT / "benchmarks"))


def test_functions_are_counted_by_kind(
    candidates: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "owner+name"
    tree.mkdir()
    (tree / "train.py").write_text(SCRIPT)
    (tree / "old.py").write_text(OLD)
    (tree / "broken.py").write_text("x = = 1\n")
    assert candidates.main([str(tree), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    # `weighed`; `call`; `train_step` and `error`; `train`; `noisy_step`; `normed`.
    assert "| owner/name | 7 | 1 | 1 | 2 | 1 | 1 | 1 | 60.0% | 75.0% |" in printed
    assert "| python-effect | 1 |" in printed
    assert (tree / "train.py").read_text() == SCRIPT, "the tree itself is left as it is"


def test_a_parameter_has_to_reach_an_op(candidates: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(SCRIPT)
    names = {one.key[0] for one in candidates.candidates(candidates.facts_of(path))}
    assert names == {"call", "error", "weighed", "normed", "train_step", "noisy_step", "train"}
