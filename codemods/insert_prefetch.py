"""TFR301 insert-prefetch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.pipelines.stages import End
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.prefetched import prefetched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.obstacle import Obstacle
    from tfrewrite.analysis.pipelines.dataset_uses import Consumer

_CHANGES = (
    "initial weights, dropout masks and other draws of ops without a seed of their own: two more"
    " ops in the graph give the ops made after them other seeds (TensorFlow 1.15 derives them from"
    " the number of ops)"
)


# The first TensorFlow that ends pipelines with a prefetch by itself, and what can turn that off.
_INJECTING = (2, 11)
_TURNING_OFF = frozenset({"inject_prefetch", "apply_default_optimizations", "autotune"})


class InsertPrefetch(Rule):
    """Puts `.prefetch(AUTOTUNE)` at the end of a tf.data pipeline that training waits for.

    ## Why it is slow
    Without a prefetch the next batch is made when the loop asks for it, so that the step waits for
    the input and then the input waits for the step. With one, batches are made while the step runs.

    ## Before
    ```python
    dataset = tf.data.TFRecordDataset(files).map(parse).batch(32)
    for images, labels in dataset:
        train_step(images, labels)
    ```

    ## After
    ```python
    dataset = tf.data.TFRecordDataset(files).map(parse).batch(32).prefetch(tf.data.AUTOTUNE)
    for images, labels in dataset:
        train_step(images, labels)
    ```
    It goes to the end of the definition, or to the place where the dataset is consumed, if it is
    also used in other ways or comes there by several ways. A `repeat`, `take`, `skip`, `enumerate`
    or `with_options` after a prefetch does no work, so that pipeline stays as it is, and so do
    those that read ahead by themselves: distributed datasets, `make_csv_dataset`, a bare
    `tfds.load`.

    ## Contract
    - `exact`: the same elements in the same order. Without a graph-level seed in the file, and
      in eager mode, nothing else can change either.
    - `resampled`: the graph has a seed, and ops without one of their own may be made after the
      pipeline. On 1.15 the two ops of the prefetch give those ops other seeds, on 2.21 not.

    ## Refuses
    What could be seen of reading ahead. The functions of a `map` are traced once, so what they do
    in Python does not matter; their ops do: `py_function`, `tf.print`, reading a variable
    (`reads-variable`), changing state. They may use options, constants and attributes in which
    there is nothing but data. A generator is Python for each element, so it must use nothing that
    others change, draw from no shared stream, and read no files; arrays and lists that nothing in
    the file changes are fine. In a graph its session must be opened by a `with`, or a variable of
    the module must hold it (`session-left-open`): if an exception ends the script, one of a
    function was seen to wait for ever for the generator at work. Sources that change in the
    meantime (`source-changes`): files, and on 1.15 also arrays, which an eager dataset looks into
    while it runs. Iterators left early (`left-early`): all iterators of a dataset share the
    generator behind a reshuffling `shuffle`, so one that has read ahead over the end of a `repeat`,
    or of the first of two datasets, moves the order that the next one begins with (measured on
    1.15.5, and on 2.21 without the prefetch that it injects); a callback may end a training early
    too. Iterators that a checkpoint may take in (`iterator-in-checkpoint`). A file that lists or
    counts ops (`graph-read`): a graph gets two more, which are also in the graph that a summary
    writer is given. What is not in the file is not assumed to be harmless.

    ## When it does not help
    Where making a batch costs little beside the step or the step little beside the batch, or all
    cores are busy anyway. TensorFlow 2.11 and later inject a prefetch by themselves
    (`inject_prefetch`), so that one of your own gains nothing there, and may cost a little: with
    `target-tf` 2.11 or later nothing is found, unless the file sets options that turn it off. For
    the same reason a pipeline whose functions can be seen at work is already racy there.
    """

    code = "TFR301"
    name = "insert-prefetch"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = (
        (b"tensorflow",),
        # A source, or what shows that an unknown one is tf.data's.
        (b"Dataset", b"_dataset", b"tensorflow_datasets", b".batch(", b"num_parallel_calls"),
    )
    reasons = {
        "source-not-seen": "What the pipeline reads from is not in this file.",
        "function-not-seen": "A function of the pipeline does something that is not known.",
        "generator-not-seen": "What a generator does is not known.",
        "generator-shares-state": "A generator uses what others may change, or changes it.",
        "generator-random": "A generator draws from a random stream that others draw from too.",
        "generator-io": "A generator prints, or reads or writes files.",
        "session-left-open": "A script that fails would hang: nothing closes its session before.",
        "python-in-pipeline": "A py_function runs Python for each element, and can be seen to.",
        "host-effect": "An op of the pipeline prints or has another effect for each element.",
        "reads-variable": "The elements depend on variables, which training changes.",
        "writes-state": "An op of the pipeline changes state.",
        "left-early": "An iterator is left before its end, and the next one would go on elsewhere.",
        "source-changes": "Files or arrays that the pipeline reads are changed in the meantime.",
        "iterator-in-checkpoint": "The iterator's state is saved, and would have another form.",
        "device-placement": "The prefetch would be placed on a device other than the CPU.",
        "graph-read": "The file lists or counts the ops of the graph, and there would be two more.",
        "debug-mode": "In tf.data's debug mode all functions run as Python, for each element.",
        "prefetch-on-some-ways": "Some ways to the consumer read ahead, and cannot be told apart.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        if _is_injected(facts):
            return
        for place, consumers in _places(facts).items():
            yield _site(facts, place, consumers)
        for consumer in facts.pipelines.consumers:
            if _is_ambiguous(facts, consumer):
                message = "a prefetch ends the pipeline on some ways only: put one where they join"
                span = facts.source.span(consumer.expr)
                yield Refusal(span, "prefetch-on-some-ways", message)


def _is_injected(facts: Facts) -> bool:
    """Whether TensorFlow puts a prefetch at the end of the file's pipelines by itself."""
    if facts.target_tf is None or facts.target_tf < _INJECTING:
        return False
    return all(node.attr not in _TURNING_OFF for node in facts.source.all(ast.Attribute))


def _places(facts: Facts) -> dict[ast.expr, list[Consumer]]:
    """Where pipelines without a prefetch end, with all that take elements from there."""
    found: dict[ast.expr, list[Consumer]] = {}
    for consumer in facts.pipelines.consumers:
        value = facts.pipelines.value(consumer.expr)
        if facts.pipelines.end(value) is not End.AHEAD and facts.pipelines.works(value):
            for place in facts.pipelines.places(consumer):
                found.setdefault(place, []).append(consumer)
    return found


def _is_ambiguous(facts: Facts, consumer: Consumer) -> bool:
    value = facts.pipelines.value(consumer.expr)
    return facts.pipelines.end(value) is End.MIXED and not facts.pipelines.places(consumer)


def _site(facts: Facts, place: ast.expr, consumers: list[Consumer]) -> Site:
    span = facts.source.span(place)
    for consumer in consumers:
        obstacle = facts.read_ahead.obstacle(consumer, place)
        if obstacle is not None:
            return Refusal(span, obstacle.reason, _advice(obstacle))
    counting = facts.graph_readers.counting(facts.source.statement(place))
    if counting is not None:
        return Refusal(span, counting.reason, counting.message)
    shifts = any(facts.seeds.shifted_by_new_ops(place, consumer) for consumer in consumers)
    lines = ", ".join(sorted({str(consumer.expr.lineno) for consumer in consumers}, key=int))
    return Rewrite(
        span,
        f"read ahead of line {lines}: no prefetch ends this pipeline",
        "the order of the elements stays, and nothing that makes them can be seen at work",
        Contract.RESAMPLED if shifts else Contract.EXACT,
        (prefetched(facts, place),),
        changes=_CHANGES if shifts else "",
    )


def _advice(obstacle: Obstacle) -> str:
    return f"reading ahead could be seen: {obstacle.message}"
