"""Which layers only compute."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, use
from tfrewrite.analysis.keras.pure_layers import is_pure_layer

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"


@pytest.mark.parametrize(
    ("text", "pure"),
    [
        ("a = L.Rescaling(2.)", True),
        ("a = L.experimental.preprocessing.Resizing(2, 2)", True),
        ("a = tf.keras.Sequential([L.Resizing(2, 2), L.Rescaling(2.)])", True),
        ("a = tf.keras.Sequential([L.Resizing(2, 2), L.RandomFlip()])", False),
        ("a = tf.keras.Sequential(many)", False),
        ("a = L.Dense(2)", False),
        ("a = Rescaling(2.)", False),
        ("a = L.Rescaling(2.)\nif late:\n    a = L.RandomFlip()", False),
        ("for a in [L.Rescaling(2.)]:\n    pass", False),
    ],
)
def test_layers_that_only_compute(text: str, *, pure: bool) -> None:
    found = facts(f"{HEAD}{text}\na(x)  # here")
    name = use(found, "a")
    assert isinstance(name, ast.Name)
    assert is_pure_layer(found.names, found.scopes, name) is pure
