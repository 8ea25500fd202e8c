"""Reads for Python in loops, and where they can be made instead."""

from analysis_helpers import facts
from tfrewrite.analysis.eager.host_reads import Collected, Deferred
from tfrewrite.analysis.obstacle import Obstacle

HEAD = """
import tensorflow as tf

x = tf.ones([2, 3])
"""


def fates(body: str) -> list[str]:
    """What becomes of each read, in the order of the text."""
    found = facts(f"{HEAD}\n{body}")
    result = []
    for read in found.host_reads.all():
        match found.host_reads.fate(read):
            case Deferred(block=block, moves=moves):
                result.append(f"line {block.lineno} {'moves' if moves else 'keeps'}")
            case Collected(after=after):
                result.append(f"before {after.lineno}")
            case Obstacle(reason=reason):
                result.append(reason)
            case None:
                result.append("")
    return result


def test_forms_of_a_read() -> None:
    loop = (
        "for n in range(3):\n"
        "    t = tf.reduce_sum(x)\n"
        "    print(float(t), t.numpy(), float(t.numpy()), t.numpy().item())\n"
        "    print(float(), t.item(), t.numpy(3), np.float32(t), tf.numpy())\n"
        "float(t)\n"
    )
    found = facts(f"{HEAD}\n{loop}")
    reads = [found.source.segment(read.expr) for read in found.host_reads.all()]
    assert reads == ["float(t)", "t.numpy()", "float(t.numpy())", "t.numpy().item()"]


def test_a_read_goes_to_the_block_that_looks_at_it() -> None:
    loop = (
        "for n in range(3):\n"
        "    t = tf.reduce_sum(x)\n"
        "    value = float(t)\n"
        "    other = float(tf.reduce_sum(x))\n"
        "    if n == 2:\n"
        "        print(value, other)\n"
    )
    assert fates(loop) == ["line 10 moves", "line 10 keeps"]
    assert fates(loop.replace("    if", "    t = 3\n    if"))[0] == "line 11 keeps"
    assert fates(f"{loop}print(value, other)\n") == ["", ""]
    assert fates(loop.replace("n == 2", "value > other")) == ["", ""]
    assert fates(f"__all__ = []\n{loop}") == ["", ""]


def test_reads_for_a_list_go_behind_the_loop() -> None:
    loop = (
        "values = []\n"
        "for n in range(3):\n"
        "    values.append(float(tf.reduce_sum(x)))\n"
        "print(values)\n"
    )
    assert fates(loop) == ["before 9"]
    assert fates(loop.replace("range(3)", "data")) == ["keeps-many"]
    assert fates(loop.replace("range(3)", "range(20000)")) == ["keeps-many"]
    assert fates(loop.replace("print(values)", "")) == [""]
    assert fates(loop.replace("float(tf.reduce_sum(x))", "x.numpy()")) == ["tensor-unknown"]
    assert fates(f"def late():\n    print(values)\n{loop}") == [""]
    within = "".join(f"    {line}\n" for line in loop.splitlines())
    assert fates(f"for epoch in data:\n{within.replace('range(3)', 'data')}") == ["before 10"]


def test_sums_stay() -> None:
    assert fates("t = 0.0\nfor n in range(3):\n    t += float(tf.reduce_sum(x))\n") == ["summed"]
