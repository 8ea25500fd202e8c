"""TFR102 feed-dict-to-dataset."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.batches.fed_keys import FedKey
from tfrewrite.analysis.graphs.placeholders import Placeholder
from tfrewrite.analysis.graphs.sharing import sums_what_is_fed
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.batch_pipeline import BatchPipeline
from tfrewrite.writing.default_placeholders import tensorflow_of
from tfrewrite.writing.draws import changed_draws
from tfrewrite.writing.fetched_batches import FetchedBatchPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.batches.batch_effects import BatchEffects
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.edits import Edit


class FeedDictToDataset(Rule):
    """Puts batches that a session loop makes behind a tf.data pipeline that makes them ahead.

    It is made on request only, since on a CPU it makes most loops slower: select `TFR102` by its
    code or its name. `tfrewrite apply --verify` keeps it only where it was seen to be faster.

    ## Why it is slow
    With a feed, the graph waits while Python makes the batch, and Python waits while the graph
    runs. Behind a pipeline the next batch is made, in another thread, while the step runs.

    ## Before
    ```python
    x = tf.placeholder(tf.float32, [None, 784])
    ...
    for i in range(steps):
        images = read(paths[i])
        sess.run(train, feed_dict={x: images, keep_prob: 0.5})
    ```

    ## After
    ```python
    batch_iterator = tf.data.Iterator.from_structure(tf.float32)
    next_x = batch_iterator.get_next()
    x = tf.placeholder_with_default(next_x, None)
    x.set_shape([None, 784])
    ...
    def batches():
        for i in range(steps):
            images = read(paths[i])
            yield images
    start_batches = batch_iterator.make_initializer(
        tf.data.Dataset.from_generator(
            batches, x.dtype, x.shape
        ).prefetch(1)
    )
    sess.run(start_batches)
    for i in range(steps):
        sess.run(train, feed_dict={keep_prob: 0.5})
    ```
    What feeds `x` elsewhere still does. Numbers such as rates stay in the feed. Where the same
    batch is fed again under an `if` after the run, the run fetches it for that. The generator goes
    through one range of the loop, so that a data set, a generator or a random stream is left where
    the loop left it, and the last, smaller batch comes as it came. Where another graph may be the
    default one by then, the pipeline is made under `with x.graph.as_default():`.

    Placeholders may be made elsewhere, and the iterator takes the way that they take: a function
    that is called once and gives them back at its end, as `return x, y, loss`, gives it back as
    well, and an object of a class of the file that is made once has one more attribute. A dict may
    be filled piece by piece, also one that is made before the loop: what belongs to the batch
    leaves it, the rest stays, and so does what is filled under an `if`. A function or a method of
    the file that makes the dict is called by the pipeline; where it only names what it is given,
    the loop writes the rest of the dict itself. A bar of `tqdm` stays around the turns.

    Where the batch is fed to several runs, or the loop goes over a generator of the file, a run of
    its own takes the batch, and the rest of the turn stays as it is:
    ```python
    def batches():
        for images, labels in pairs(paths):
            yield images, labels
    batch_iterator = tf.data.Dataset.from_generator(
        batches, (x.dtype, y.dtype)
    ).prefetch(1).make_initializable_iterator()
    next_batch = batch_iterator.get_next()
    def batches_ahead():
        sess.run(batch_iterator.initializer)
        while True:
            try:
                batch = sess.run(next_batch)
            except tf.errors.OutOfRangeError:
                return
            yield batch
    for step, (images, labels) in enumerate(batches_ahead()):
        sess.run(train, feed_dict={x: images, y: labels})
        print(step, sess.run(loss, feed_dict={x: images, y: labels}))
    ```
    So the run that finds no next batch computes nothing: it draws no dropout mask, counts no step,
    and its error cannot be taken for that of a queue. Nor need anybody know how often the loop
    turns.

    A run of its own is also the way out where elements in place of a feed could be told from it:
    where the run may not need the batch, or reads by chance what it writes (a critic's loss beside
    a clip of its weights), where another run fails for want of a feed, where the op or the name of
    the placeholder is shown, or the graph is written to a file before the loop. Nothing changes at
    the placeholder then. So it may also be one that callers give, one of several objects of a
    class, an item of a dict, or made on a device, if it has the same type of numbers in all cases
    and is surely the same tensor before the loop as in it.

    ## Contract
    - `exact`: each run takes one batch, the same in the same order. The shape is set afterwards,
      since the graph optimizer takes the shape of what is fed for unknown, and was seen to round in
      other ways where it knows more.
      An error of the batch that nobody catches still ends the program, as an error of the run that
      takes it, and so after what the turn does before that run. The `.meta` file of a checkpoint
      holds the pipeline as well. A batch that a run of its own takes has the type of its
      placeholder, and is seen by nothing but feeds and `len()`. The run that is fed is the same
      as before: where chance decides in it what is read before it is written, chance still does.
    - `rounding`: the run sums a list (`add_n`, `accumulate_n`, `gradients`) with something fed in
      it.
    - `resampled`: the graph has a seed, and ops without one of their own may be made after the
      placeholders. On 1.15 they get other seeds. Not so on 2.21: with `target-tf` 2.21 or later the
      site is `exact`.

    ## Refuses
    Whatever it cannot show to be unseen. The batch must depend on the turn of a `for` loop and on
    nothing that the loop computes (`depends-on-loop`: reinforcement learning, a state that goes
    on), and must be used for nothing but to be fed and counted in its turn (`batch-used`: print it,
    feed it as two types, after the loop, or before it is all made). Its code must be known
    (`batch-code-not-seen`): numpy, functions and `next_batch` methods of the file, generators of
    the file, `mnist.train.next_batch`, readers of arrays and images. The same is said of a dict
    that is not written out, in the loop or at the end of a function of the file, by placeholders
    that the loop can name. What is made of the batch after some of it was put into the dict is
    refused where it could change that (`batch-changes-state`). A random stream or an object that
    goes on with each batch must not be used by the loop, nor by a pipeline that the loop runs
    (`shared-stream`, `shared-state`), and the loop must come to its end (`left-early`): by Ctrl-C
    it may be left too, so nothing may go on after that, nor at the exit. The rest of the loop must
    be known to leave the arrays and files alone (`source-changes`, `call-between`). The run must be
    made once in each turn (`not-each-turn`). A generator must be called in the header of the loop,
    by itself or in `enumerate` (`source-consumed`): one that is made before may be taken up again.
    A `while` stays as it is (`loop-not-counted`). What is fed must be a placeholder of numbers that
    the file makes (`placeholder-elsewhere`, `placeholder-unclear`): not a sparse one, a variable or
    a text, nor what a named tuple holds, or a function gives whose callers are not all seen. The
    loop must not stand under what places or binds ops (`placeholder-scope`), nobody may list the
    ops that are made from there on (`graph-read`), and the graph must stay in the program
    (`graph-exported`, `distributed`) and be made in it (`graph-imported`). The session must be
    opened by a `with`, or a variable of the module must hold it or its object
    (`session-left-open`): one that a function holds is destroyed when Python is half gone, if an
    exception ends the script, and was seen to wait for a batch in the making for ever. A generator
    that fills one array again and again is refused (`batch-changes-state`): a tensor may share the
    memory of the array it is made of. A dict that is filled piece by piece, or made by a function,
    leaves a run of its own no place, so there the placeholder must be reached from where it is
    made, and the run must surely need the batch (`fetch-not-seen`, `run-without-feed`) and read
    nothing by chance (`races-with-update`).

    ## When it does not help
    Where making a batch is cheap: an element costs something by itself, on 2.21 more than on 1.15,
    so that slices and drawn rows become slower, and a run of its own costs one more run. Preparing
    rows in Python shares the interpreter with the loop. What gains is a batch that waits, as for a
    disk or a store on the network, or that is made without the interpreter's lock, as what is
    unpacked, where a core is free: most where making it takes as long as the step.

    On 2.21 each start of a pipeline was measured to cost some 40 ms, and it is started for each
    pass through the loop: an epoch has to be long for that, and an inner loop of five turns is not.
    A batch of 1 MB that TensorFlow's own thread makes cost some 1,300 page faults there, 2 ms,
    which were gone with `MALLOC_ARENA_MAX=1` in the environment.
    """

    code = "TFR102"
    name = "feed-dict-to-dataset"
    contracts = (Contract.EXACT, Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"placeholder",), (b".run(", b".eval("))
    reasons = {
        "loop-not-counted": "The loop is a `while` or has an `else`: its turns are not known.",
        "not-each-turn": "The run is not made exactly once in each turn.",
        "source-consumed": "What the loop goes over cannot be gone over a second time.",
        "depends-on-loop": "The batch depends on what the loop computes, or on an earlier turn.",
        "batch-used": "The batch is used for more than to be fed in its turn.",
        "batch-code-not-seen": "Something that makes the batch is not known, or can be seen to.",
        "batch-changes-state": "Making the batch changes what others may hold.",
        "source-changes": "The loop changes what the batches are made of.",
        "call-between": "Something in the loop may do anything, also to what batches are made of.",
        "shared-stream": "The loop, or a pipeline in it, draws from the stream of the batches.",
        "shared-state": "The loop uses an object that goes on with each batch.",
        "left-early": "The loop may be left, and what batches are drawn from had gone on further.",
        "inside-try": "An exception of the batch would be caught, and come as another type.",
        "placeholder-elsewhere": "What is fed is not known to be one placeholder of this file.",
        "placeholder-unclear": "It is not told for which numbers the placeholder is made.",
        "placeholder-scope": "A `with` would place or bind the ops of the pipeline.",
        "fetch-not-seen": "It cannot be told that each run takes a batch.",
        "races-with-update": "The order of what the run writes and reads is left to chance.",
        "run-without-feed": "Another run needs the placeholder and does not feed it.",
        "called-in-loop": "The loop is in a function called in a loop: the graph would grow.",
        "session-unknown": "It is not known what the session is, or whether it is there before.",
        "hooked-session": "The session closes its graph, and its hooks run it as well.",
        "session-left-open": "A script that fails would hang: nothing closes the session before.",
        "run-options": "The run asks for options or metadata of its own.",
        "distributed": "The graph may run in another process than the script.",
        "graph-exported": "The graph leaves the program, and the pipeline cannot.",
        "graph-imported": "Ops of the graph come from elsewhere, by names.",
        "graph-surgery": "The file changes the graph or gradients afterwards.",
        "graph-read": "The file lists or counts ops, or names placeholders by their op.",
        "graph-finalized": "The graph is closed, and making an op raises.",
        "eager-mode": "Outside of a graph there are no placeholders.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }
    on_request = True
    may_lose = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        used: set[ast.AST] = set()
        for batch in facts.fed_batches.all():
            span = facts.source.span(batch.run.call)
            if not _is_outline(facts, batch):
                continue
            found = _judged(facts, batch)
            if isinstance(found, Obstacle):
                yield Refusal(span, found.reason, found.message)
                continue
            changed = {found.batch.loop, *found.calls}
            if used & changed:
                continue  # the same placeholder or loop is rewritten for another run
            used |= changed
            yield _rewrite(facts, found, taken)


def _is_outline(facts: Facts, batch: FedBatch) -> bool:
    """Whether a batch goes, turn for turn, into placeholders that have no default yet."""
    if batch.obstacle is not None and batch.obstacle.reason == "not-each-turn":
        under = facts.source.parent(batch.statement)
        if isinstance(under, (ast.If, ast.Try)):
            return False
    entries = batch.entries or batch.kept
    symbols = {facts.graph.trace(entry.key).symbol for entry in entries}
    return "placeholder_with_default" not in symbols and not facts.fetched_batches.is_fetched(batch)


@dataclass(frozen=True)
class _Judged:
    """A batch that may be made ahead."""

    batch: FedBatch
    placeholders: list[Placeholder]
    """Those that get a default; none where a run of its own takes the batch."""
    calls: list[ast.Call]
    """What makes the tensors that are fed."""
    place: ast.stmt
    """The statement before which the pipeline is made."""
    effects: BatchEffects


def _judged(facts: Facts, batch: FedBatch) -> _Judged | Obstacle:
    """A batch with its placeholders and the place of its pipeline; or why it stays as it is."""
    found = _ahead(facts, batch)
    if isinstance(found, Obstacle) or facts.session_ends.is_safe(batch.run):
        return found
    message = (
        f"no `with` opens `{batch.run.session}`: where an exception ends the script, Python might"
        " wait for the pipeline for ever"
    )
    return Obstacle("session-left-open", message)


def _ahead(facts: Facts, batch: FedBatch) -> _Judged | Obstacle:
    obstacle = facts.pipeline_places.forbidden(batch)
    if obstacle is not None:
        return obstacle
    used = batch.obstacle is not None and batch.obstacle.reason == "batch-used"
    if batch.obstacle is not None and not used:
        return batch.obstacle
    if used or facts.fetched_batches.generator(batch.loop) is not None:
        return _fetched(facts, batch)
    found = _at_placeholders(facts, batch)
    if isinstance(found, Obstacle) and found.reason in _NOT_OF_A_RUN_OF_ITS_OWN:
        return _fetched(facts, batch) if facts.fetched_batches.is_whole(batch) else found
    return found


# What speaks against elements in place of what is fed, and not against a run that takes a batch
# and no more, to be fed as it was: the placeholder stays as it is, wherever it is made
# ("placeholder-elsewhere", "-unclear", "-scope"), with its op and its name ("graph-read": what
# lists ops is asked for again, from the pipeline on). Each turn takes one batch, whatever else it
# runs ("fetch-not-seen"), and a run that is not fed fails as it did ("run-without-feed"). What is
# fed is there when the run begins, as it was, and the run is made of the same ops: what chance
# decides it decides as before ("races-with-update").
_NOT_OF_A_RUN_OF_ITS_OWN = frozenset(
    "placeholder-elsewhere placeholder-unclear placeholder-scope graph-read fetch-not-seen"
    " run-without-feed races-with-update".split()
)


def _at_placeholders(facts: Facts, batch: FedBatch) -> _Judged | Obstacle:
    """A batch whose elements come where nothing is fed."""
    placeholders = []
    for entry in batch.entries:
        placeholder = facts.placeholders.of(entry.key, batch.loop)
        if isinstance(placeholder, Obstacle):
            return placeholder
        placeholders.append(placeholder)
    calls = [one.call for one in placeholders]
    effects = facts.batches_ahead.effects(batch)
    obstacle = (
        facts.placeholders.together(placeholders)
        or facts.pipeline_places.tensorflow(batch, calls)
        or facts.taken_batches.reached(batch, effects)
        or facts.batches_ahead.obstacle(batch, effects)
        or facts.taken_batches.race(batch)
    )
    place = obstacle or facts.pipeline_places.place(
        batch, min(map(facts.source.statement, calls), key=facts.source.span)
    )
    if isinstance(place, Obstacle):
        return place
    return _Judged(batch, placeholders, calls, place, effects)


def _fetched(facts: Facts, fed: FedBatch) -> _Judged | Obstacle:
    """A batch that a run of its own takes, and that is fed as it was."""
    batch = facts.fetched_batches.of(fed)
    if isinstance(batch, Obstacle):
        return batch
    keys = [facts.fed_keys.of(entry.key, batch.loop) for entry in batch.entries]
    calls = [one.call for one in keys if isinstance(one, FedKey)]
    effects = facts.batches_ahead.effects(batch)
    places = facts.pipeline_places
    obstacle = places.tensorflow(batch, calls[:1]) or facts.batches_ahead.obstacle(batch, effects)
    place = obstacle or places.place(batch)
    if isinstance(place, Obstacle):
        return place
    return _Judged(batch, [], calls, place, effects)


def _rewrite(facts: Facts, found: _Judged, taken: set[str]) -> Rewrite:
    batch, place = found.batch, found.place
    first = min(map(facts.source.statement, found.calls), key=facts.source.span)
    changes = changed_draws(facts, first, "after the placeholders")
    contract = Contract.EXACT
    because = "they depend on nothing that the loop does, and each run takes exactly one"
    if batch.own_run:
        changes = changed_draws(facts, place)
        because = "they depend on nothing that the loop does, and are fed as they were"
    elif sums_what_is_fed(facts.graph.trace(batch.run.fetches)) and not changes:
        contract = Contract.ROUNDING
        because += "; TensorFlow may sum a list in another order where nothing is fed"
    if changes:
        contract = Contract.RESAMPLED
    keys = ", ".join(f"`{facts.source.segment(entry.key)}`" for entry in batch.entries)
    return Rewrite(
        facts.source.span(batch.run.call),
        f"make the batches of {keys} ahead, in a tf.data pipeline; {_pays(found.effects)}",
        because,
        contract,
        _edits(facts, found, taken, first),
        changes=changes,
    )


def _edits(facts: Facts, found: _Judged, taken: set[str], first: ast.stmt) -> tuple[Edit, ...]:
    batch, place = found.batch, found.place
    in_graph = not facts.default_graphs.same(first, place)
    if batch.own_run:
        tf = tensorflow_of(facts, found.calls[0])
        return FetchedBatchPipeline(facts, batch, tf, place, taken, in_graph=in_graph).edits()
    placeholders = found.placeholders
    return BatchPipeline(facts, batch, placeholders, place, taken, in_graph=in_graph).edits()


def _pays(effects: BatchEffects) -> str:
    if effects.files:
        return "making one waits for files, so this may pay"
    if effects.own_code:
        return "it pays where making one takes long and a core is free: measure it"
    return "making one is cheap here, so this is likely slower: measure it"
