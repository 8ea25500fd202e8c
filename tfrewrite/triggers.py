"""Strings that several rules look for before a file is read any further."""

from __future__ import annotations

MAKES_FUNCTION = (b".function", b"import function", b", function", b"    function,")
"""One of these is in a file that makes a `tf.function`, by whatever name it imports it."""
