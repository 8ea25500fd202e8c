"""Where layers put masks on what they give."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

START = "import tensorflow as tf\nlayers = tf.keras.layers\n"


@pytest.mark.parametrize(
    "line",
    [
        "e = layers.Embedding(9, 4)",
        "e = layers.Embedding(9, 4, mask_zero=False)",
        "e = layers.Embedding(9, 4, 'uniform', None)",
        "mask = tf.cast(x > 0, tf.float32)",
    ],
)
def test_no_masks(line: str) -> None:
    assert facts(f"{START}{line}\n").keras_masks.made == 0


@pytest.mark.parametrize(
    "line",
    [
        "e = layers.Embedding(9, 4, mask_zero=True)",
        "e = layers.Embedding(9, 4, mask_zero = flag)",
        "e = layers.Embedding(9, 4, None, None, None, True)",
        "e = layers.Embedding(*sizes)",
        "e = layers.Embedding(**options)",
        "options = {'mask_zero': True}",
        "m = layers.Masking()",
        "from keras.layers import Masking as M",
        "def compute_mask(self, x): return x > 0",
        "x._keras_mask = mask",
    ],
)
def test_masks(line: str) -> None:
    assert facts(f"{START}{line}\n").keras_masks.made == 3
