"""TFR204 hoist-tf-function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.program.turns import in_most_turns
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import MAKES_FUNCTION
from tfrewrite.writing.hoisted import hoisted_statement, hoisted_value, is_movable
from tfrewrite.writing.hoisted_function import hoisted_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.compiled_functions import Compiled
    from tfrewrite.edits import Edit

_FIRST_KERAS_3 = (2, 16)
_CHANGES = (
    "the draws of random ops: their stream began anew with each new function, so that each turn"
    " drew the same numbers (where a seed is set); now it goes on from turn to turn"
)


class HoistTfFunction(Rule):
    """Makes a `tf.function` once before a loop and not in each turn of it.

    ## Why it is slow
    A new `tf.function` knows no graph yet: it is traced at its first call, which takes as long as
    many of its steps. Made in each turn of a loop it is traced in each, and nothing that it has
    compiled is ever used again.

    ## Before
    ```python
    for epoch in range(10):

        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss

        for x, y in dataset:
            train_step(x, y)
    ```

    ## After
    ```python
    @tf.function
    def train_step(x, y):
        ...

    for epoch in range(10):
        for x, y in dataset:
            train_step(x, y)
    ```
    It goes to just before the outermost loop in which all that it reads stays the same, and not out
    of a `with` block. So does `step = tf.function(train_step)`, and `tf.function(train_step)(x)`
    gets a name there.

    ## Contract
    - `exact`: each trace gives the same graph, so that one is as good as many, and no op of it
      draws random numbers but from variables (layers of Keras 3, `tf.random.Generator`).
    - `resampled`: ops such as `tf.random.normal` and `tf.nn.dropout` draw in it. With a seed, their
      stream begins anew at each trace, so that each turn drew the same numbers; traced once, they
      go on. Layers such as `Dropout` are such ops up to TensorFlow 2.15; with `target-tf` 2.16 or
      later they are not.

    ## Refuses
    A trace sees the Python values of its moment, so all that the function reads from outside must
    stay what it is: numbers, objects and containers that change in the loop (`python-value`), an
    attribute of a model or layer that is set there, or a model that code of another file gets hold
    of (`state-changes`). What the function does in Python, a print or a counter, is done at each
    trace (`python-effect`). Code that is not in the file (`call-not-seen`, `code-not-seen`) may do
    either. A function that makes variables (`makes-variables`) may do so at its first trace only,
    and so may one that takes another way by an argument (`python-branch`). Where the loop
    goes on after an error of the function (`exception-seen`), it has to be made anew: one whose
    first trace failed, or was broken off, can never make variables. A function that is handed on,
    kept, or used before it is made (`used-otherwise`) may be needed as often as it is made, and a
    file may count the traces (`traces-counted`).

    ## When it does not help
    Where the loop makes two or three long turns.
    """

    code = "TFR204"
    name = "hoist-tf-function"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), MAKES_FUNCTION)
    reasons = {
        "python-value": "It reads a Python value when it is traced that may change in the loop.",
        "python-effect": "It does something in Python at each trace that can be seen.",
        "call-not-seen": "What it calls is not known, and may differ from trace to trace.",
        "code-not-seen": "The code of the function is not in this file.",
        "state-changes": "An object that it uses may be changed in the loop.",
        "makes-variables": "It makes variables, which a function may do at its first trace only.",
        "python-branch": "Which way it takes depends on an argument, perhaps a Python value.",
        "exception-seen": "The loop goes on after an error of it, and needs a new function then.",
        "used-otherwise": "It is more than called later in the same turn.",
        "scope-in-loop": "It is made under a `with` inside the loop.",
        "traces-counted": "The file looks at how often functions are traced.",
        "shares-its-lines": "Its definition shares its lines with other code.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for one in facts.compiled_functions.all:
            calls = facts.compiled_functions.calls(one)
            if not _is_outline(facts, one, calls):
                continue
            found = _forbidden(facts, one, calls) or _place(facts, one)
            if isinstance(found, Place):
                edits = _edits(facts, one, found.before, taken)
                if edits is not None:
                    yield _rewrite(facts, one, found, edits)
                    continue
                found = Obstacle("shares-its-lines", "its definition shares a line with other code")
            yield Refusal(facts.source.span(one.making), found.reason, found.message)


def _made(one: Compiled) -> ast.expr | ast.stmt:
    """What is evaluated in each turn: the definition, or the call of `tf.function`."""
    if one.decorated and isinstance(one.code, ast.stmt):
        return one.code
    return one.making


def _is_outline(facts: Facts, one: Compiled, calls: list[ast.Call] | None) -> bool:
    """Whether a function is made in each turn of a loop that calls it."""
    made = _made(one)
    loops = facts.hoisting.loops(made)
    if not loops or isinstance(facts.scopes.of(made).node, ast.ClassDef):
        return False
    if facts.compiled_functions.eager or facts.compiled_functions.in_graphs:
        return False
    if not in_most_turns(facts.flow, made, loops[0]):
        return False
    called = calls if calls is not None else facts.compiled_functions.some_calls(one)
    return any(loops[0] in facts.source.ancestors(call) for call in called)


def _forbidden(facts: Facts, one: Compiled, calls: list[ast.Call] | None) -> Obstacle | None:
    unsure = facts.compiled_functions.unsure(one)
    if unsure is not None:
        return unsure
    if (
        calls is None
        or not _is_only(facts, one)
        or not all(_comes_later(facts, one, call) for call in calls)
    ):
        message = f"`{one.name}` is handed on, kept, or used before it is made"
        return Obstacle("used-otherwise", message)
    for setting in one.settings.values():
        for name in ast.walk(setting):
            if isinstance(name, ast.Name) and facts.names.dotted(name) is None:
                message = f"`{name.id}` in line {name.lineno} says how it is made, and may change"
                return Obstacle("python-value", message)
    return _branch(facts, one)


def _is_only(facts: Facts, one: Compiled) -> bool:
    """Whether the name that the function gets stands for nothing else, and is never deleted."""
    statement = facts.source.statement(_made(one))
    if one.decorated and isinstance(statement, ast.FunctionDef):
        name = statement.name
    elif isinstance(statement, ast.Assign) and statement.value is one.making:
        name = ast.unparse(statement.targets[0])
    else:
        return True
    owner = facts.scopes.of(statement).owner(name)
    return owner is not None and len(owner.bindings.get(name, ())) == 1


def _comes_later(facts: Facts, one: Compiled, call: ast.Call) -> bool:
    """Whether a call stands in the same turn, behind what makes the function."""
    if call.func is one.making:
        return True
    statement = facts.source.statement(_made(one))
    if not one.decorated and facts.compiled_functions.binding(one) is None:
        return False  # an attribute, which may be read from elsewhere
    block, index = facts.source.position(statement)
    return any(later in facts.source.ancestors(call) for later in block[index + 1 :])


def _branch(facts: Facts, one: Compiled) -> Obstacle | None:
    """A test of a parameter: a second way may make variables at a later trace, which fails."""
    for body in facts.steady_traces.bodies(one):
        for node in ast.walk(body):
            if not isinstance(node, (ast.If, ast.IfExp, ast.While)):
                continue
            for name in ast.walk(node.test):
                if isinstance(name, ast.Name) and facts.traced_code.is_parameter(name):
                    message = f"line {node.lineno} goes by `{name.id}`, which the caller gives"
                    return Obstacle("python-branch", message)
    return None


def _place(facts: Facts, one: Compiled) -> Place | Obstacle:
    made = _made(one)

    def obstacle_in(loop: ast.AST) -> Obstacle | None:
        meanwhile = facts.afterwards.within(loop)
        unsure = _maker_unsure(facts, one, loop) or _made_after_errors(facts, one, loop)
        return unsure or facts.steady_traces.obstacle(one, loop, meanwhile)

    return facts.hoisting.place_by(made, obstacle_in)


def _maker_unsure(facts: Facts, one: Compiled, loop: ast.AST) -> Obstacle | None:
    """Whether the function that `tf.function` is called with may be another one in each turn."""
    if one.decorated or not isinstance(one.making, ast.Call) or not one.making.args:
        return None
    given = one.making.args[0]
    if isinstance(given, ast.Lambda):
        return None
    if isinstance(given, ast.Name):
        found = facts.hoisting.unsure(given, loop)
        if found is not None:
            return Obstacle("python-value", found.message)
    return None


def _made_after_errors(facts: Facts, one: Compiled, loop: ast.AST) -> Obstacle | None:
    """Whether a turn may need a new function: one whose first trace failed stays useless."""
    for call in facts.compiled_functions.calls(one) or ():
        words = facts.endings.going_on_within(call, loop)
        if words:
            return Obstacle("exception-seen", f"{words}, and then needs a new function")
    return None


def _edits(
    facts: Facts, one: Compiled, before: ast.stmt, taken: set[str]
) -> tuple[Edit, ...] | None:
    if one.decorated:
        assert isinstance(one.code, ast.FunctionDef)
        return hoisted_function(facts, one.code, before)
    statement = facts.source.statement(one.making)
    if isinstance(statement, ast.Assign) and statement.value is one.making:
        return hoisted_statement(facts, statement, before) if is_movable(facts, statement) else None
    named = one.code.name if isinstance(one.code, ast.FunctionDef) else "function"
    name = facts.names.fresh(f"compiled_{named.strip('_')}", taken)
    taken.add(name)
    return hoisted_value(facts, one.making, before, name, "")


def _rewrite(facts: Facts, one: Compiled, place: Place, edits: tuple[Edit, ...]) -> Rewrite:
    draws = facts.steady_traces.draws(one)
    target = facts.target_tf
    from_ops = draws.ops or (draws.layers and (target is None or target < _FIRST_KERAS_3))
    return Rewrite(
        facts.source.span(one.making),
        f"make `{one.name}` once, before the loop of line {place.before.lineno}",
        "all that it reads when it is traced stays the same in the loop, and it leaves no trace in"
        " Python, so that one graph is as good as many",
        Contract.RESAMPLED if from_ops else Contract.EXACT,
        edits,
        changes=_CHANGES if from_ops else "",
    )
