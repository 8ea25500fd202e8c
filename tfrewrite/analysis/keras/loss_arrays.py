"""Whether a loss of Keras computes the same for a numpy array as for the tensor of it.

Keras 3 makes tensors of all that a loss is given. Before, a loss of Keras' own fits the shapes of
targets and predictions to each other, `[n]` and `[n, 1]`, where both are tensors, and an array it
broadcasts; and the `call` of a loss of the file gets the array itself. Measured on 2.15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_KERAS_3 = (2, 16)
# Nothing is fitted: their predictions have a dimension of classes, which targets have as well or
# lack. One class alone, of which the loss is always nothing, is not looked for.
_BY_CLASSES = frozenset(
    f"{module}.{name}"
    for module in ("keras.losses", "losses")
    for name in ("SparseCategoricalCrossentropy", "CategoricalCrossentropy")
)


def is_same_for_arrays(facts: Facts, symbol: str) -> bool:
    """Whether a loss of a class of Keras may be given an array, as if that were a tensor."""
    return makes_tensors(facts) or symbol in _BY_CLASSES


def makes_tensors(facts: Facts) -> bool:
    """Whether a loss makes a tensor of each array before it does anything with it."""
    return facts.target_tf is not None and facts.target_tf >= _KERAS_3
