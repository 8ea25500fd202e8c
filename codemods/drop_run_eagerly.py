"""TFR207 drop-run-eagerly."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, RemoveStatement
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.without_argument import without_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.obstacle import Obstacle

_SWITCHES = frozenset(["config.run_functions_eagerly", "config.experimental_run_functions_eagerly"])
_CHANGES = (
    "which units a dropout drops, and other draws of layers: a graph has other seeds than ops that"
    " run one by one"
)


class DropRunEagerly(Rule):
    """Lets Keras compile its steps again where `run_eagerly=True` was left in.

    ## Why it is slow
    Run eagerly, each op of a step is called from Python by itself. It is meant for looking for
    bugs, and it is often forgotten in the code.

    ## Before
    ```python
    model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(10)])
    model.compile("adam", "mse", run_eagerly=True)
    ```

    ## After
    ```python
    model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(10)])
    model.compile("adam", "mse")
    ```
    The same for a `tf.config.run_functions_eagerly(True)` by itself on a line, in a file that
    compiles such models and has no functions of its own that are traced.

    ## Contract
    - `rounding`: the same steps as graphs, whose ops are fused.
    - `resampled`: layers draw random numbers (dropout, noise, augmentation). Those of Keras 3 draw
      the same either way: with `target-tf` 2.21 or later the site is `rounding`.

    ## Refuses
    Whatever might need values, or would be kept by a graph as it was when traced. A model that is
    not a `Sequential`, a `Model(inputs, outputs)` or one of `keras.applications` of this file
    (`model-not-seen`), or a `Sequential` whose first layer has no shape (`built-by-step`): built by
    its first step, its variables have other names on 2.21. Classes that derive from Keras' but
    callbacks, `Lambda`, `py_function`, loaded models, functions of the file as losses, metrics,
    activations or the like (`custom-code`). Imports of libraries that may hold layers
    (`code-not-seen`). Attributes that
    are set after the model is compiled, such as `trainable` (`changes-while-training`). A
    `steps_per_execution` or `jit_compile`, which would begin to hold (`held-back`), and options of
    the graph optimizer, which would, too (`graph-options`). Functions of
    the file under `tf.function` (`functions-not-shown`). Switches that are also turned off, or
    stand under a condition (`switched`). A crossentropy with a softmax or sigmoid of TensorFlow
    (`logits-found`, see TFR201). A file in which somebody could tell how a step failed
    (`exception-seen`, see TFR201): a graph raises other types of errors, and a model whose first
    trace failed does not train any more on 2.21.

    ## When it does not help
    With large layers and batches, where the ops take their time and not the calls. The first step
    of a graph takes longer.
    """

    code = "TFR207"
    name = "drop-run-eagerly"
    contracts = (Contract.ROUNDING, Contract.RESAMPLED)
    triggers = (
        (b"tensorflow", b"keras"),
        (b"run_eagerly=", b"run_eagerly =", b"functions_eagerly"),
    )
    reasons = {
        "model-not-seen": "How the model is made is not seen in this file.",
        "built-by-step": "The first step builds the model, and names its variables.",
        "logits-found": "A crossentropy finds the logits beneath a softmax in a graph only.",
        "custom-code": "The model runs code that is not Keras' own, and may need values.",
        "code-not-seen": "A library is imported that may hold layers or losses.",
        "changes-while-training": "An attribute is set that a graph would keep as it was.",
        "exception-seen": "Somebody catches errors of its steps, and may tell how far they came.",
        "graph-options": "The file sets an option that changes what compiled code computes.",
        "held-back": "Another argument of compile has no effect while steps run eagerly.",
        "functions-not-shown": "Functions of the file are traced, or nothing is seen to run.",
        "function-not-seen": "Names may change unseen.",
        "iterator-in-checkpoint": "Iterators are saved in checkpoints.",
        "debug-mode": "The file asks for tf.data's debug mode.",
        "switched": "The switch stands under a condition, or is turned off again.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in sorted(facts.source.all(ast.Call), key=facts.source.span):
            if call in facts.eager_runs.compiles:
                keyword = next((k for k in call.keywords if k.arg == "run_eagerly"), None)
                if keyword is not None and _is_true(keyword.value):
                    obstacle = facts.eager_runs.obstacle(call)
                    yield _site(facts, call, obstacle, (without_argument(facts, call, keyword),))
            elif facts.names.tf(call.func) in _SWITCHES and _turns_on(call):
                yield _switch(facts, call)


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _turns_on(call: ast.Call) -> bool:
    return any(_is_true(one) for one in [*call.args, *(k.value for k in call.keywords)])


def _switch(facts: Facts, call: ast.Call) -> Site:
    source = facts.source
    span = source.span(call)
    statement = source.statement(call)
    block, index = source.position(statement)
    others = [one for one in source.all(ast.Call) if facts.names.tf(one.func) in _SWITCHES]
    plain = isinstance(statement, ast.Expr) and statement.value is call
    conditional = any(
        isinstance(one, ast.Try)
        or (isinstance(one, ast.If) and "__name__" not in source.segment(one.test))
        for one in source.ancestors(statement)
    )
    if not plain or conditional or len(others) > 1 or index + 1 == len(block):
        message = "functions run eagerly here under a condition, or for a while: leave that out"
        return Refusal(span, "switched", message)
    if facts.eager_runs.traces or not facts.eager_runs.compiles:
        message = "which functions run eagerly is not shown to be Keras' alone"
        return Refusal(span, "functions-not-shown", message)
    found = (facts.eager_runs.obstacle(one) for one in facts.eager_runs.compiles)
    obstacle = next((one for one in found if one is not None), None)
    removed = RemoveStatement(source.span(statement), source.span(block[index + 1]))
    return _site(facts, call, obstacle, (removed,))


def _site(facts: Facts, call: ast.Call, obstacle: Obstacle | None, edits: tuple[Edit, ...]) -> Site:
    span = facts.source.span(call)
    if obstacle is not None:
        message = f"what runs eagerly may not run as a graph: {obstacle.message}"
        return Refusal(span, obstacle.reason, message)
    draws = facts.eager_runs.draws
    return Rewrite(
        span,
        "let Keras compile its steps: this runs each op from Python",
        "the model is made of Keras' own parts, and nothing sets its attributes later",
        Contract.RESAMPLED if draws else Contract.ROUNDING,
        edits,
        changes=_CHANGES if draws else "",
    )
