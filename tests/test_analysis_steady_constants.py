"""Which tensors could be made once, and before which loop."""

from analysis_helpers import facts
from tfrewrite.analysis.obstacle import Obstacle

HEAD = """
import numpy as np
import tensorflow as tf

SIZE = int(input())
"""


def places(body: str) -> dict[str, str | int]:
    """The line that each constant goes before, or the reason why it stays."""
    found = facts(f"{HEAD}{body}")
    result: dict[str, str | int] = {}
    for call in found.steady_constants.all():
        place = found.steady_constants.place(call)
        text = found.source.in_one_line(call)
        result[text] = place.reason if isinstance(place, Obstacle) else place.before.lineno
    return result


def test_a_constant_leaves_all_loops_in_which_it_stays() -> None:
    assert places(
        "for a in range(3):\n"
        "    scale = a * 2\n"
        "    for b in range(4):\n"
        "        print(tf.ones([2]), tf.zeros([b]), tf.fill([2], a), tf.fill([2], scale))\n"
    ) == {"tf.ones([2])": 6, "tf.fill([2], a)": 8, "tf.fill([2], scale)": 8}


def test_it_must_be_made_where_making_it_may_fail() -> None:
    sure = "for a in range(3):\n    print(tf.ones([SIZE]))\n"
    assert places(sure) == {"tf.ones([SIZE])": 6}
    for unsure in (
        "for a in data:\n    print(tf.ones([SIZE]))\n",
        "for a in range(3):\n    if a > SIZE:\n        continue\n    print(tf.ones([SIZE]))\n",
        "try:\n    for a in range(3):\n        print(tf.ones([SIZE]))\nexcept ValueError: pass\n",
        "import sys\nfor a in range(3):\n    sys.exit() if a else 0; print(tf.ones([SIZE]))\n",
        "while SIZE:\n    print(tf.ones([SIZE]))\n",
    ):
        assert places(unsure) == {"tf.ones([SIZE])": "may-fail"}, unsure


def test_what_watches_ops_is_seen() -> None:
    assert not facts(HEAD).steady_constants.watched
    shown = facts(f"{HEAD}\ntf.debugging.set_log_device_placement(True)\n")
    assert "set_log_device_placement" in shown.steady_constants.watched


def test_a_tensor_made_of_constants_is_one() -> None:
    loop = "rows = tf.range(3)\nfor a in range(3):\n    print(tf.cast(rows, tf.float32))\n"
    assert places(loop) == {"tf.cast(rows, tf.float32)": 7}
    watched = loop.replace("print(", "tape.watch(rows); print(")
    assert places(watched) == {"tf.cast(rows, tf.float32)": "operand-unknown"}
