"""What the probe knows of generators that pipelines read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tfrewrite.verify.probe.pipelines import Generators


class DatasetV2:
    """Hands out what it is given, as TensorFlow hands it to a pipeline."""

    @staticmethod
    def from_generator(generator: Callable[..., Any], args: tuple[int, ...] = ()) -> Any:
        return lambda: iter(generator(*args))


def test_a_generator_that_was_not_read_to_its_end_is_known() -> None:
    generators = Generators()  # type: ignore[no-untyped-call]

    class Datasets:
        class DatasetV2(DatasetV2):
            pass

    generators.install(Datasets)  # type: ignore[no-untyped-call]

    def batches(count: int) -> Iterator[int]:
        yield from range(count)

    epoch = Datasets.DatasetV2.from_generator(batches, args=(3,))
    assert list(epoch()) == [0, 1, 2]
    assert generators.unfinished == 0
    begun = epoch()
    next(begun)
    assert generators.unfinished == 1
    assert list(begun) == [1, 2]
    assert generators.unfinished == 0
    listed = Datasets.DatasetV2.from_generator(lambda: [5, 6])
    assert list(listed()) == [5, 6]


def test_a_tensorflow_without_them_is_left_alone() -> None:
    Generators().install(None)  # type: ignore[no-untyped-call]
