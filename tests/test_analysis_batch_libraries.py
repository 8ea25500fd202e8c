"""What is known of the functions of libraries that make batches."""

from __future__ import annotations

import pytest

from tfrewrite.analysis.batches.batch_libraries import (
    computes,
    draws,
    only_makes,
    reads_files,
    stream_of,
)


@pytest.mark.parametrize(
    ("path", "stream"),
    [
        ("numpy.random.randn", "numpy.random"),
        ("numpy.random.shuffle", "numpy.random"),
        ("random.choice", "random"),
        ("numpy.random.seed", None),
        ("numpy.random.RandomState", None),
        ("secrets.choice", None),
        ("numpy.choice", None),
    ],
)
def test_which_stream_is_drawn_from(path: str, stream: str | None) -> None:
    assert stream_of(path) == stream


def test_what_else_functions_do() -> None:
    assert draws("permutation")
    assert not draws("seed")
    assert reads_files("cv2.imread")
    assert not reads_files("cv2.imwrite")
    assert computes("numpy.pad")
    assert computes("cv2.resize")
    assert not computes("numpy.copyto")
    assert only_makes("collections.deque")
    assert not only_makes("collections.UserDict")
