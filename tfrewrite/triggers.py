"""Strings that several rules look for before a file is read any further."""

from __future__ import annotations

MAKES_FUNCTION = (b".function", b"import function", b", function", b"    function,")
"""One of these is in a file that makes a `tf.function`, by whatever name it imports it."""

# Eager code of TensorFlow 2 that says so: it has one of these.
SURELY_TF2 = (
    b"GradientTape", b".numpy()", *MAKES_FUNCTION, b"set_seed", b"set_random_seed", b"Module",
)  # fmt: skip
