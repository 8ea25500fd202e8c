"""TFR201 compile-train-step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.traces.trace import REASONS
from tfrewrite.edits import Decorate
from tfrewrite.model import Contract, Refusal, Rewrite, Site, Span
from tfrewrite.rule import Rule
from tfrewrite.triggers import SURELY_TF2
from tfrewrite.writing.drawn_anew import drawn_anew
from tfrewrite.writing.spelling import named_before, spelled_at

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.trace import Trace


class CompileTrainStep(Rule):
    """Puts `@tf.function` on the function that makes a training step, or an evaluation.

    ## Why it is slow
    In eager mode each op of the step, of its gradient and of the optimizer goes through Python on
    its own. A function that TensorFlow compiles goes through Python once, when it is traced; from
    then on a step is one call. Even a step of a single op gains: its tape alone costs more than the
    call. Without a tape a call costs as much as some small ops do, and a layer of Keras more than
    that.

    ## Before
    ```python
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_object(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for images, labels in dataset:
        loss = train_step(images, labels)
    ```

    ## After
    ```python
    @tf.function
    def train_step(images, labels):
        ...
    ```
    A function or method with a tape, which a loop calls, here or around its callers. The steps of a
    model that `fit` trains are left alone, since it compiles them; so is what is compiled already,
    by hand or by its callers.

    A function without a tape is compiled too where it surely runs 16 ops or more, a layer, loss or
    metric of Keras counted as 12: `test_step`, an update of a target network. It has to be called
    in most turns of a loop that is not known to make 50 turns or fewer, and that holds no long loop
    of its own, as one over epochs does. Of two that call each other the outer one is compiled.
    Nothing is said of one that is recorded by a tape or part of a step that is written out, that
    makes its layers, or that Keras calls; and of one that cannot be compiled only where it calls a
    model, or several layers.

    ## Contract
    - `rounding`: the same ops on the same objects in the same order. Compiled, they may be fused.
      Slots that an optimizer makes under a `tf.name_scope` are not named for it, which Keras shows
      before 3.
    - `resampled`: `tf.random` or `tf.nn.dropout` is called in the step, and a trace draws from a
      stream of its own, also with an op seed where there are several traces. Layers of Keras that
      draw keep their stream in a variable from Keras 3 on; before, they draw as those do. So
      where there are such, only `target-tf` 2.16 or later gives `rounding`; a model that is told
      `training=False` draws nothing. A `tf.random.Generator` and stateless draws are the same
      everywhere.

    A step that fails ends the script as before. The error may have another type: shapes that do not
    fit are found by the trace, which raises a `ValueError`, and an exception of the file's own
    becomes a `StagingError`. Ops that do not wait for the one that fails, as the count of an
    optimizer, may be done all the same. An op whose result nobody uses is not done, so that it
    does not fail either.

    ## Refuses
    The function is gone through as a trace would, with all that its callers give it, all that it
    captures, and all functions, models and layers of this file that it calls. What is not known to
    be the same when it is replayed is refused. The callers must all be here (`callers-not-seen`),
    and give tensors (`argument-not-known`) that do not get longer from call to call, as a text does
    to which words are added (`shape-varies`), Python values that do not vary (`argument-varies`:
    each value would be traced anew, and 1, 1.0 and True share a trace), and always the same model
    or optimizer (`two-objects`: variables are made in the first trace only). An array of numpy
    becomes a tensor, so it may only go where that makes no difference (`numpy-argument`): into a
    model, a metric, `tf.cast`, a crossentropy over classes. Other losses fit `[n]` and `[n, 1]` to
    each other for tensors only before Keras 3, so they take arrays with `target-tf` 2.16 or later.
    What is captured must stay as it is (`captured-not-fixed`): names bound once, attributes set in
    `__init__` only, lists that nobody changes. Nothing may change a model, layer or optimizer in
    Python (`object-changes`): a trace keeps `trainable`, rates and activations; a learning rate is
    a variable and may change.
    Where only some of the function is in the way, as a loss that is read at its end, TFR202 makes a
    compiled function of the step in it.
    Losses that layers add by themselves must be read in the trace in which they are added
    (`python-effect`).
    In the body nothing may be done in Python that others see (`python-effect`), need the value of a
    tensor (`reads-on-host`), or depend on one (`tensor-decides`). `len` of a tensor is a number in
    a trace, too, since AutoGraph sees to it, but not in a lambda, nor in what Keras calls.
    Options of the graph optimizer, as for mixed precision or XLA, begin to hold for what is
    compiled, so nothing is where the file sets some (`graph-options`).
    Variables must be there, or be made by a model or an optimizer at first (`makes-variables`).
    What works eagerly and fails in a trace is known for some (`fails-when-traced`): a tensor
    unpacked or given to `tf.constant`, an op given a type as its name. Keras keeps the mask of an
    `Embedding` or `Masking` as an attribute of the tensor, which does not go into a trace or out:
    where the file makes masks, what a layer gives may not be an argument, captured or returned
    (`mask-lost`). A crossentropy of Keras that is given what `tf.nn.softmax` or `tf.sigmoid` made
    goes on from the logits beneath it in a trace, and from the probabilities, cut off at 1e-7, in
    eager mode (`logits-found`); with `activation="softmax"` it finds the logits both times, if the
    layer and the crossentropy are in one trace, or both in none.
    The update by an optimizer of Keras has to come after all that is read of a variable. It does
    where the gradient is computed from what was read, as with all usual losses. Where the loss is
    linear in what a model gives (`tf.reduce_mean(critic(x))`), the order hangs on an edge of the
    graph that the graph optimizer of 2.21 was seen to lose, and such compiled steps gave other
    numbers than in eager mode (`races-with-update`). For the same reason a model or layer that the
    step may call more than once, as it does the discriminator of a GAN, has to come to a loss that
    bends with each call (`called-again`). A model may be called again where nothing is updated, and
    where none is told to train or keeps a state.

    A step is left alone where somebody could tell how it failed (`exception-seen`): a `finally`, an
    `except` that goes on, looks at more than numbers or is for some errors only, functions for
    `atexit`. A function whose first trace failed or was broken off can never make its variables, so
    that a script is left alone, too, where further steps may be made after Ctrl-C, or by code out
    of sight, a window or a server that is given what makes them, after an error. In a notebook,
    run the cell that defines the function again.

    Where each turn sets the seed, TensorFlow sets up anew what is compiled, and takes longer for it
    than for the step (`seeded-each-turn`).

    ## When it does not help
    Where the loop makes few steps: tracing takes as long as some dozens of them, or hundreds of
    small ones. That holds for an evaluation of few batches, too. Each shape of the arguments is
    traced once, so a last batch that is smaller costs one more trace.
    """

    code = "TFR201"
    name = "compile-train-step"
    contracts = (Contract.ROUNDING, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), SURELY_TF2)
    reasons = REASONS | {
        "callers-not-seen": "It is not called in this file, or may be called from elsewhere.",
        "saved-with-object": "It would be saved as a part of its object.",
        "made-in-loop": "It is defined anew in each turn of a loop, and would be traced anew.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        judged = [(one, facts.step_traces.replayed(one)) for one in facts.step_functions.all()]
        judged += [(one.step, one.found) for one in facts.forward_steps.all]
        for step, found in judged:
            span = _header(facts, step.function)
            if isinstance(found, Obstacle):
                yield Refusal(span, found.reason, found.message)
                continue
            name = spelled_at(facts, step.function, "function")
            if name is None or not named_before(facts, step.function, name):
                message = "the function cannot name TensorFlow where it stands"
                yield Refusal(span, "tensorflow-not-named", message)
                continue
            yield _rewrite(facts, step.function, found, name)


def _header(facts: Facts, function: ast.FunctionDef) -> Span:
    span = facts.source.span(function)
    return Span(span.line, span.column, span.line, len(facts.source.line(span.line)))


def _rewrite(facts: Facts, function: ast.FunctionDef, trace: Trace, name: str) -> Rewrite:
    changes = drawn_anew(facts, trace)
    return Rewrite(
        _header(facts, function),
        f"compile `{function.name}`, which a loop calls for each step",
        "each call does the same to the same objects, and nothing in Python besides",
        Contract.RESAMPLED if changes else Contract.ROUNDING,
        (Decorate(facts.source.span(function), name),),
        changes=changes,
    )
