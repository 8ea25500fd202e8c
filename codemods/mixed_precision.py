"""TFR601 mixed-precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import trained_models
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.edits import InsertBefore
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.spelling import named_before, spelled_at
from tfrewrite.writing.with_argument import with_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.mixed_types import Mixed
    from tfrewrite.analysis.keras.trained_models import Trained

_SINCE = (2, 4)
_SETTING = "keras.mixed_precision.set_global_policy"
_CHANGES = (
    "all that the model computes, to about three digits: its layers work with numbers of 16 bits;"
    " what is above 65,504 becomes infinite, and steps are left out whose gradients do"
)
_DRAWS = "; dropout draws its masks in half precision, too, and they are others"


class MixedPrecision(Rule):
    """Lets the layers of a model that `fit` trains compute in half precision.

    It is made on request only, select `TFR601` by its code or its name, and never without
    `--allow precision`.

    ## Why it is slow
    GPUs with tensor cores multiply matrices of 16-bit numbers several times as fast as those of 32
    bits, and activations take half the memory. The weights stay in single precision.

    ## Before
    ```python
    model = tf.keras.Sequential(
        [tf.keras.Input([784]), layers.Dense(512, "relu"), layers.Dense(10, "softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y)
    ```

    ## After
    ```python
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential(
        [
            tf.keras.Input([784]),
            layers.Dense(512, "relu"),
            layers.Dense(10, "softmax", dtype="float32"),
        ]
    )
    ```
    The layer that gives the outputs stays in single precision: losses and metrics need it, and
    what `predict` gives keeps its type. Gradients that would vanish in half precision are scaled:
    `compile` wraps the optimizer for that by itself, in Keras 2 and 3.

    ## Contract
    - `precision`: always. Each activation keeps about three decimal digits, and the masks of
      dropout are others. The scale of the loss begins at 32,768; a step whose scaled gradients
      overflow is left out, and the scale is halved. Data that is not scaled, above 65,504, becomes
      infinite.

    The policy holds for all that Keras makes later in the program. The optimizer of the compiled
    model is another object than the one that was given; `learning_rate` and `iterations` are those
    of the given one. `summary()` counts its variables, too, in Keras 3.

    ## Refuses
    All but a single model of a file (`several-models`) that is made in one function, of layers and
    with settings that were tried (`layer-not-known`, `own-types`, `other-settings`), and trained
    by `fit`. Its outputs must come from a `Dense`, `Activation`, `Softmax` or convolution that is
    seen (`output-not-seen`). Ops between layers, layers that are called on data, and whatever
    looks into a model would meet numbers of 16 bits (`used-elsewhere`). Where no other layer
    multiplies matrices there is `nothing-to-lower`.

    Steps with a tape (`own-loop`) need `get_scaled_loss` and `get_unscaled_gradients` in Keras 2
    and `scale_loss` in Keras 3: write that by hand. An optimizer that is compiled with twice, or
    has a scale or averages, is not scaled by itself, or was not tried (`optimizer-not-known`).

    Also refused, since it was measured to go wrong: an `Embedding` behind another layer or without
    an `Input`, which rounds the numbers of words, so that above 2,048 they become those of other
    words; regularizers of activities and averages of many numbers, whose sums become infinite
    (`sums-too-large`: for whole images not on 2.21, with that as `target-tf`); weights that are
    loaded, an error on 2.15 (`weights-loaded`); models that are saved as a whole, which keep the
    policy wherever they are loaded, and then train without a scale (`model-saved`); conversions to
    TensorFlow Lite, which fail; and checks for numbers that are not finite, which the first scales
    give (`numbers-checked`).

    Losses, layers and imports of the owner's (`custom-code`, `code-not-seen`, `model-not-seen`)
    and functions that the file does not call (`callers-not-seen`) stay as they are. Nothing is
    said of a file that has to do with mixed precision already. It waits until no other rule that
    is selected has anything left to do.

    ## When it does not help
    On a CPU, where it is slower, on 2.15 by far. On GPUs without tensor cores, and with small
    layers: sizes should be multiples of 8. GPUs were not measured here.
    """

    code = "TFR601"
    name = "mixed-precision"
    contracts = (Contract.PRECISION,)
    triggers = ((b"tensorflow", b"keras"), (b".compile(",), (b".fit",))
    reasons = trained_models.REASONS | {
        "several-models": "The file makes several models, or none of layers.",
        "own-loop": "Gradients are taken by hand, and would have to be scaled by hand.",
        "layer-not-known": "A layer of the model, or an option of it, was not tried.",
        "sums-too-large": "Averages of many numbers may become infinite.",
        "used-elsewhere": "A layer, or what it computes, is used for something else as well.",
        "own-types": "A layer has a type of its own.",
        "optimizer-not-known": "The optimizer was not tried with gradients that are scaled.",
        "other-settings": "The model is compiled with settings with which this was not tried.",
        "output-not-seen": "The layer that gives the outputs is not seen, or of another kind.",
        "nothing-to-lower": "Only the layer that gives the outputs multiplies matrices.",
        "model-saved": "The model is saved with its policy, and not only its weights.",
        "weights-loaded": "Weights are loaded, which fails in some versions.",
        "numbers-checked": "Infinite gradients, which are left out, would stop the program.",
        "callers-not-seen": "The file does not itself call what makes the model.",
        "tensorflow-not-named": "TensorFlow has no name where the model is made.",
    }
    on_request = True
    may_lose = True
    judges_the_rest = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        target = facts.target_tf
        if target is not None and target < _SINCE:
            return
        trained = facts.trained_models.all
        if trained and not facts.mixed_parts.asked_for:
            yield _site(facts, trained)


def _site(facts: Facts, trained: list[Trained]) -> Site:
    obstacles = [facts.trained_models.obstacle(one) for one in trained]
    obstacle = next((one for one in obstacles if one is not None), None)
    found = obstacle or facts.mixed_types.found
    if isinstance(found, Obstacle):
        return Refusal(facts.source.span(trained[0].compiling), found.reason, found.message)
    if not found.gains:
        message = "only the layer that gives the outputs multiplies, and it stays as it is"
        return Refusal(facts.source.span(found.making), "nothing-to-lower", message)
    name = spelled_at(facts, found.before, _SETTING)
    if name is None or not named_before(facts, found.before, name):
        message = f"the file imports only parts of TensorFlow: there is no name for `{_SETTING}`"
        span = facts.source.span(found.making)
        return Refusal(span, "tensorflow-not-named", message)
    return _rewrite(facts, found, name)


def _rewrite(facts: Facts, found: Mixed, name: str) -> Rewrite:
    text = facts.source.text
    quote = "'" if text.count("'") > text.count('"') else '"'
    policy = f"{name}({quote}mixed_float16{quote})"
    dtype = f"dtype={quote}float32{quote}"
    edits = [with_argument(facts, layer, dtype) for layer in found.outputs]
    return Rewrite(
        facts.source.span(found.making),
        "let the layers of the model compute in half precision, but for its outputs",
        "the model is made of layers that were tried, and `fit` scales its gradients by itself",
        Contract.PRECISION,
        (InsertBefore(facts.source.span(found.before), policy), *edits),
        changes=_CHANGES + (_DRAWS if facts.xla.fit_draws else ""),
    )
