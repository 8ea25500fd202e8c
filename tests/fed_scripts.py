"""What the scripts of TFR102's tests have in common."""

from __future__ import annotations

import textwrap

_OPENED = "sess = tf.Session()\n"


def in_a_session(text: str) -> str:
    """A script whose session a `with` opens, around all that comes after."""
    before, opened, after = text.partition(_OPENED)
    return (
        f"{before}with tf.Session() as sess:\n{textwrap.indent(after, '    ')}" if opened else text
    )
