"""TFR303 hoist-iterator."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.edits import InsertBefore, ReplaceExpression
from tfrewrite.model import Contract, Report, Rewrite, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.pipelines.first_elements import FirstElement
    from tfrewrite.analysis.program.hoisting import Place

_SHUFFLED = (
    "which batches the steps get: they come one after the other from a shuffled pass over the data,"
    " and no longer each from the start of a new shuffle"
)
_PLAIN = (
    "which batches the steps get: one after the other, where each step had the first batch again;"
    " the model is trained on other data"
)


class HoistIterator(Rule):
    """Reports `next(iter(ds))` in a loop: each turn gets the first batch of a new iterator.

    ## Why it is slow
    Each turn makes an iterator, starts the pipeline, fills its shuffle and prefetch buffers, takes
    one batch and throws the rest away. And without a `shuffle` it is the same batch in each turn,
    which is very likely a bug: the model never sees the rest of the data.

    ## Before
    ```python
    dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(1000).batch(32, drop_remainder=True)
    for step in range(1000):
        train_step(next(iter(dataset)))
    ```

    ## After
    ```python
    dataset = tf.data.Dataset.from_tensor_slices(data).shuffle(1000).batch(32, drop_remainder=True)
    dataset_iterator = iter(dataset.repeat())
    for step in range(1000):
        train_step(next(dataset_iterator))
    ```
    The `repeat` is left out where the dataset repeats itself for ever.

    ## Contract
    - `resampled`: the steps get other batches. A dataset that is shuffled gave each step batches
      from the start of a new shuffle; now they come from one pass after another, so that no
      element comes twice in a pass. A dataset that is not shuffled gave each step the same batch:
      there the numbers are not equal in distribution either, so that this is a report, and a
      rewrite only with `--allow resampled`.

    ## Refuses
    It reports only, and says why, where the iterator cannot be made once. The elements depend on
    what the loop does: a generator over a replay buffer, variables, files or arrays that are
    written. The last batch may be smaller than the first (`drop_remainder` is not given). The
    dataset is not known to be there before the loop, or to stay the same.
    It says nothing of a sample: under an `if`, beside a loop or a `fit` over a dataset, of
    `take(1)`, or of a dataset that the loop itself changes.

    ## When it does not help
    Where a loop has few turns, or wants the first batch each time. The larger the shuffle buffer,
    the more is gained: it is filled for each iterator.
    """

    code = "TFR303"
    name = "hoist-iterator"
    contracts = (Contract.RESAMPLED,)
    triggers = ((b"tensorflow",), (b"iter(",))
    reasons = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for first in facts.first_elements.all:
            yield _site(facts, first, taken)


def _site(facts: Facts, first: FirstElement, taken: set[str]) -> Site:
    shuffled = facts.first_elements.shuffled(first)
    place = facts.first_elements.place(first)
    text = facts.source.segment(first.call)
    what = "starts a new shuffle" if shuffled else "gets the first batch again, very likely a bug"
    if isinstance(place, Obstacle):
        why = f"one iterator for all turns is not made here: {place.message}"
        return Report(facts.source.span(first.call), f"each turn of `{text}` {what}; {why}")
    if not shuffled and Contract.RESAMPLED not in facts.allowed:
        how = "with --allow resampled one iterator is made before the loop, and gives other data"
        return Report(facts.source.span(first.call), f"each turn of `{text}` {what}; {how}")
    return _rewrite(facts, first, place, shuffled=shuffled, taken=taken)


def _rewrite(
    facts: Facts, first: FirstElement, place: Place, *, shuffled: bool, taken: set[str]
) -> Rewrite:
    source = facts.source
    root = first.dataset
    own = getattr(root, "attr", getattr(root, "id", "dataset"))
    name = facts.names.fresh(f"{own.strip('_')}_iterator", taken)
    taken.add(name)
    text = source.segment(root) if source.span(root).line == root.end_lineno else ast.unparse(root)
    if not isinstance(root, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        text = f"({text})"
    repeated = "" if facts.first_elements.endless(first) else ".repeat()"
    return Rewrite(
        source.span(first.call),
        f"make one iterator before the loop of line {place.before.lineno}, and not one in each"
        " turn",
        "nothing that makes the elements depends on the loop, and all batches have the same size",
        Contract.RESAMPLED,
        (
            InsertBefore(source.span(place.before), f"{name} = iter({text}{repeated})"),
            ReplaceExpression(source.span(first.made), name),
        ),
        changes=_SHUFFLED if shuffled else _PLAIN,
    )
