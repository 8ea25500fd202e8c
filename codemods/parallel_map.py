"""TFR302 parallel-map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.parallel_map import parallel_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.pipelines.dataset_uses import Consumer
    from tfrewrite.analysis.pipelines.stages import Stage

_CHANGES = (
    "initial weights, dropout masks and other draws of ops without a seed of their own: one more op"
    " in the graph gives the ops made after it other seeds (TensorFlow 1.15 derives them from the"
    " number of ops)"
)


class ParallelMap(Rule):
    """Lets the function of a `map` run for several elements at a time, their order kept.

    ## Why it is slow
    Without `num_parallel_calls` a `map` makes one element after the other, each when it is asked
    for, on one core. With it elements are made ahead on as many cores as tf.data finds worth while.

    ## Before
    ```python
    dataset = tf.data.TFRecordDataset(files).map(parse).batch(32)
    ```

    ## After
    ```python
    dataset = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(32)
    ```
    A `map` that only puts its elements together in another way stays as it is, and so does one
    within the function of an `interleave` or `flat_map`. An `interleave` is never touched: in
    parallel it takes from its inputs at other times.

    ## Contract
    - `exact`: the same elements in the same order, to the bit, and errors at the same places.
      Results come in the order of the input unless a script allows another one.
    - `resampled`: the graph has a seed, and ops without one of their own may be made after the map.
      On 1.15 the one op more gives those ops other seeds. Not so on 2.21: with `target-tf` 2.21 or
      later the site is `exact`.

    ## Refuses
    A function that draws random numbers (`random-draws`): elements would get each other's draws,
    with op seeds and a graph seed too. Only the `stateless` draws are fine. Whatever else of the
    function or of what lies beneath can be seen at work, as for TFR301, since a parallel map reads
    ahead: `py_function`, `tf.print`, variables, tables that change, generators that share state,
    files and arrays that change meanwhile, iterators in checkpoints, generators whose session a
    function holds open (`session-left-open`). What it does in Python, a `print` too, happens once
    when the map is made, as before. Calls that are not in the file: Keras layers are among them
    (`function-not-seen`). Files that set `deterministic` to anything but true, or use options made
    elsewhere (`order-may-change`); files with `ignore_errors` (`errors-matter`); datasets that are
    printed (`dataset-shown`), since the class is another. A `shuffle` before a `repeat` before the
    map, where elements are taken more than once (`left-early`). Where nobody in the file takes the
    elements, files are taken to stay as they are, and options that are set there to keep the order;
    arrays are not taken to stay, unless they are made in that function (`consumer-not-seen`).

    ## When it does not help
    Where the function is cheap beside handing an element over, as one product of ten numbers is,
    the cores are busy with the step, or making batches is not what the step waits for. On 2.21 a
    map whose function has no op with state is made parallel by TensorFlow itself
    (`map_parallelization`), so that nothing is gained there; 1.15 does not do it. Let
    `tfrewrite apply --verify` tell.
    """

    code = "TFR302"
    name = "parallel-map"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), (b".map(",))
    reasons = {
        "source-not-seen": "What the pipeline reads from is not in this file.",
        "consumer-not-seen": "Who takes the elements is elsewhere, and may change the arrays.",
        "function-not-seen": "A function of the pipeline does something that is not known.",
        "random-draws": "The function draws random numbers, and elements would swap their draws.",
        "generator-not-seen": "What a generator does is not known.",
        "generator-shares-state": "A generator uses what others may change, or changes it.",
        "generator-random": "A generator draws from a random stream that others draw from too.",
        "generator-io": "A generator prints, or reads or writes files.",
        "session-left-open": "A script that fails would hang: nothing closes its session before.",
        "python-in-pipeline": "A py_function runs Python for each element, and can be seen to.",
        "host-effect": "An op of the pipeline prints or has another effect for each element.",
        "reads-variable": "The elements depend on variables, which training changes.",
        "writes-state": "An op of the pipeline changes state.",
        "errors-matter": "Elements for which a function fails are dropped.",
        "order-may-change": "The file allows results in another order, or sets options unseen.",
        "dataset-shown": "The dataset is printed or asked for its class, which would be another.",
        "left-early": "An iterator is left before its end, and the next one would go on elsewhere.",
        "source-changes": "Files or arrays that the pipeline reads are changed in the meantime.",
        "iterator-in-checkpoint": "The iterator's state is saved, and would have another form.",
        "device-placement": "The pipeline is made for a device other than the CPU.",
        "debug-mode": "In tf.data's debug mode all functions run as Python, for each element.",
        "graph-read": "The file lists or counts the ops of the graph.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        for stage in facts.parallel_maps.all:
            yield _site(facts, stage)


def _site(facts: Facts, stage: Stage) -> Site:
    span = facts.source.span(stage.call)
    obstacle = facts.parallel_maps.obstacle(stage)
    if obstacle is not None:
        return Refusal(span, obstacle.reason, f"in parallel this could be seen: {obstacle.message}")
    consumers: list[Consumer | None] = [*facts.parallel_maps.consumers(stage)] or [None]
    shifts = any(facts.seeds.shifted_by_new_ops(stage.call, one) for one in consumers)
    return Rewrite(
        span,
        "run the function for several elements at a time",
        "the results come in the order of the elements, each depends on its element alone, and"
        " nothing that makes them can be seen at work",
        Contract.RESAMPLED if shifts else Contract.EXACT,
        (parallel_map(facts, stage.call),),
        changes=_CHANGES if shifts else "",
    )
