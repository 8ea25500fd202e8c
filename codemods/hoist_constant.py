"""TFR205 hoist-constant."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.steady_constants import MAKING
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import SURELY_TF2
from tfrewrite.writing.hoisted import hoisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_BECAUSE = (
    "it is made of values that stay the same, nothing changes a tensor, and all that is done with"
    " it is to compute"
)
_WIDTH = 50
# Their cost is not that of what they are given, and other rules look after them.
_WHOLE_MODELS = frozenset(
    "fit predict evaluate train_on_batch test_on_batch predict_on_batch".split()
)


class HoistConstant(Rule):
    """Makes a tensor once before an eager loop and not in each turn of it.

    ## Why it is slow
    Op by op, `tf.zeros([64, 32])` is an op that is run, and so are `tf.ones`, `tf.range`, `tf.cast`
    and the like; `tf.constant` of a list converts it, and of an array takes as long as to copy it.
    `tf.constant(2.0)` is quick, as TensorFlow remembers numbers.

    ## Before
    ```python
    for sentence in sentences:
        state = tf.zeros([1, 64])
        positions = tf.range(32)
        for word in sentence:
            state = cell(word, state)
        print(score(state, positions).numpy())
    ```

    ## After
    ```python
    initial_state = tf.zeros([1, 64])
    positions = tf.range(32)
    for sentence in sentences:
        state = initial_state
        for word in sentence:
            state = cell(word, state)
        print(score(state, positions).numpy())
    ```
    Each goes to just before the outermost loop in which it stays the same, and not out of a `with`
    block, so that it is made on the same device. A name that gets other values in the loop keeps
    its assignment.

    ## Contract
    `exact`: a tensor cannot be changed, so that one is as good as many that hold the same. It takes
    its memory until the function around the loop ends. Where making it fails, it does so before the
    loop has done anything.

    ## Refuses
    What it is made of must stay as it is: a name that the loop leaves alone is not enough, since an
    array may be written to and a list may grow (`operand-unknown`, `operand-not-sure`). Making it
    must not be able to fail where the loop may make no turn (`may-fail`): a size that is not
    written out may be negative, an array may hold anything. Who keeps the tensor in a list or an
    attribute, compares it by `is`, asks a tape for its gradient or is not known may tell that it is
    one object (`used-otherwise`). A function that is called from elsewhere may be traced
    (`callers-not-seen`).

    Nothing is said of what surely is traced, where a constant costs nothing; of a step with its
    tape, which TFR201 and TFR202 compile; of a loop that makes a `tf.function` in each turn, which
    is TFR204's; and of files that are not known to be for TensorFlow 2.
    Random tensors and variables are not constants.

    ## When it does not help
    Numbers: `x * 2.0` takes as long as `x * two`. What is made takes little of a step that trains
    a model.
    """

    code = "TFR205"
    name = "hoist-constant"
    contracts = (Contract.EXACT,)
    triggers = (
        (b"tensorflow",),
        SURELY_TF2,
        (b"constant", b"convert_to", b"zeros", b"ones", b"fill", b"eye", b"range", b"linspace",
         b"cast", b"one_hot"),
        (b"for ", b"while "),
    )  # fmt: skip
    reasons = {
        "operand-not-sure": "It is not sure that a value is there before the loop, to stay.",
        "operand-unknown": "It is not known what a value is: a list may grow, an array change.",
        "rebound-in-loop": "A value is set in the loop.",
        "may-fail": "Making it may fail, and the loop may not make it even once.",
        "used-otherwise": "It may be seen that all turns have the same tensor.",
        "scope-in-loop": "It is made under a `with` inside the loop.",
        "generator": "What resumes the generator may change the device and more.",
        "callers-not-seen": "Its function may be called in a trace.",
        "set-up-in-loop": "The loop changes how TensorFlow runs ops, or where.",
        "ops-shown": "The file shows each op that runs.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        if not facts.source.calls_in_loop(MAKING):
            return
        calls = list(facts.steady_constants.all())
        if not calls or not facts.eager_code.is_tf2:
            return
        for call in calls:
            fate = facts.tensor_uses.fate(call)
            if facts.eager_code.traced(call) or any(map(facts.eager_code.in_step, fate.uses)):
                continue
            if any(_is_for_whole_model(facts, use) for use in fate.uses):
                continue
            found = _everywhere(facts, call) or _place(facts, call, fate.elsewhere)
            if isinstance(found, Place) and _compiles(facts, found.before):
                continue
            if isinstance(found, Obstacle):
                yield Refusal(facts.source.span(call), found.reason, found.message)
            else:
                yield _rewrite(facts, call, found, taken)


def _compiles(facts: Facts, loop: ast.stmt) -> bool:
    """Whether a loop makes a `tf.function` in each turn, which comes first: it costs far more."""
    return any(loop in facts.source.ancestors(one.making) for one in facts.compiled_functions.all)


def _is_for_whole_model(facts: Facts, use: ast.AST) -> bool:
    """Whether a tensor is given to a method that runs a whole model."""
    call = facts.source.parent(use)
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _WHOLE_MODELS
    )


def _everywhere(facts: Facts, call: ast.Call) -> Obstacle | None:
    if facts.dynamics.obstacle_in_eager_code:
        return Obstacle("dynamic-code", facts.dynamics.obstacle_in_eager_code)
    if facts.steady_constants.watched:
        return Obstacle("ops-shown", facts.steady_constants.watched)
    return facts.hoisting.resumed(call)


def _place(facts: Facts, call: ast.Call, elsewhere: ast.AST | None) -> Place | Obstacle:
    found = facts.steady_constants.place(call)
    if isinstance(found, Obstacle):
        return found
    if elsewhere is not None:
        line = getattr(elsewhere, "lineno", call.lineno)
        message = f"line {line} may tell which object it is, or hands it to who may"
        return Obstacle("used-otherwise", message)
    setting = facts.eager_code.sets_up(found.before)
    if setting is not None:
        text = ast.unparse(setting.func)
        message = f"`{text}` in line {setting.lineno} changes how ops are run, or where"
        return Obstacle("set-up-in-loop", message)
    return facts.eager_code.unsure(call) or found


def _rewrite(facts: Facts, call: ast.Call, place: Place, taken: set[str]) -> Rewrite:
    built = facts.built_values.of(call)
    text = facts.source.in_one_line(call)
    if len(text) > _WIDTH:
        text = f"{ast.unparse(call.func)}(...)"
    return Rewrite(
        facts.source.span(call),
        f"make `{text}` once, before the loop: each turn runs the op anew, with the same result",
        _BECAUSE,
        Contract.EXACT,
        hoisted(facts, built, place.before, _title(facts, call), taken),
    )


def _title(facts: Facts, call: ast.Call) -> str:
    """What a tensor is called before the loop, where it needs a name there."""
    statement = facts.source.parent(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return f"initial_{name}"
    symbol = (facts.names.tf(call.func) or "").rpartition(".")[2]
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Name) and symbol in ("constant", "convert_to_tensor", "cast"):
        return f"{first.id}_tensor"
    return "constant_tensor" if symbol == "convert_to_tensor" else f"{symbol}_tensor"
