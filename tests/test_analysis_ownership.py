"""Which objects belong to one variable alone."""

from __future__ import annotations

import pytest

from analysis_helpers import facts, use


def alone(text: str) -> bool:
    found = facts(f"import numpy as np\nbox = []\n{text}\nbox.append(1)  # here\n")
    return found.ownership.alone(use(found, "box"))


@pytest.mark.parametrize(
    "text",
    [
        "other = box",
        "holder.box = box",
        "d['box'] = box",
        "rows.append(box)",
        "d = {'box': box}",
        "d.setdefault('box', box)",
        "view = box[0:2]",
        "view = np.asarray(box)",
        "unknown(box)",
        "def f(b=box): pass",
        "g = lambda: box",
        "def give():\n    return box",
        "box = other = []",
        "box = sess.run(loss)",
        "for box in boxes: pass",
    ],
)
def test_what_is_handed_on_or_taken_over_is_not_alone(text: str) -> None:
    assert not alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "print(box, len(box))",
        "n = np.mean(box)",
        "n = box[0] + 1",
        "box[0] = 2",
        "for v in box: pass",
        "text = f'{box}'",
        "def show():\n    print(box)",
    ],
)
def test_what_is_only_read_stays_alone(text: str) -> None:
    assert alone(text)


def test_a_sum_that_starts_as_a_number_is_a_number() -> None:
    found = facts("total = -1.5\ntotal += v\nprint(total)  # here\n")
    assert found.ownership.number(use(found, "total"))
    found = facts("total = start\ntotal += v\nprint(total)  # here\n")
    assert not found.ownership.number(use(found, "total"))
