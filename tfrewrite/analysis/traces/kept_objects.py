"""Whether objects that a trace has looked into stay as they are.

A trace keeps what it reads of a model, a layer or an optimizer in Python: which weights are
trainable, rates, activations. Only their variables may change.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Array, Number, Own, Tensor, Thing
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.traces.trace import Trace

_RATES = frozenset({"learning_rate", "lr"})
_REARRANGING = ("pop", "add")  # lists and sets have them, too
_CHANGING = ("adapt", "enable_lora", "quantize", "exclude_from_weight_decay", "set_dtype_policy")
_SETTING_KERAS = (
    "set_learning_phase", "set_floatx", "set_global_policy", "set_policy", "clear_session",
    "set_image_data_format", "set_epsilon",
)  # fmt: skip
_INDIFFERENT = ("matplotlib.", "numpy.", "os.", "sys.")


def changed_later(facts: Facts, trace: Trace, calls: Sequence[ast.Call]) -> Obstacle | None:
    """What changes an object of Keras once the function may have been traced."""
    if not trace.things:
        return None
    for store in facts.source.all(ast.Attribute):
        if not isinstance(store.ctx, ast.Load) and _may_be_seen(facts, store):
            if _is_rate(facts, store):
                continue
            if _is_data(facts, store) and comes_first(facts, store, calls):
                continue
            message = (
                f"line {store.lineno} sets `{ast.unparse(store)}`, and a trace keeps what it has"
                " read"
            )
            return Obstacle("object-changes", message)
    for name in _SETTING_KERAS:
        for call in facts.classes.calls(name):
            if not comes_first(facts, call, calls):
                message = f"`{ast.unparse(call.func)}` in line {call.lineno} changes what layers do"
                return Obstacle("object-changes", message)
    for name in (*_REARRANGING, *_CHANGING):
        for call in facts.classes.calls(name):
            func = call.func
            if not isinstance(func, ast.Attribute) or facts.names.dotted(func) is not None:
                continue
            owner = facts.eager_values.value(func.value)
            changes = isinstance(owner, Thing) or ast.unparse(func.value).endswith("layers")
            if name in _CHANGING:
                changes = facts.own_calls.function(call) is None
            if changes and not comes_first(facts, call, calls):
                message = f"line {call.lineno} changes `{ast.unparse(func.value)}`"
                return Obstacle("object-changes", message)
    return None


def _may_be_seen(facts: Facts, store: ast.Attribute) -> bool:
    """Whether an assignment may change an object that a trace has looked into."""
    receiver = store.value
    if store.attr == "stop_training":
        return False  # it is looked at after each epoch
    path = facts.names.dotted(receiver) or ""
    if path.startswith(_INDIFFERENT):
        return False
    if isinstance(receiver, ast.Name):
        cls = facts.classes.of_self(receiver)
        if cls is not None:
            return store.attr == "trainable"
    found = facts.eager_values.value(receiver)
    if isinstance(found, Own):
        return store.attr == "trainable"
    return not isinstance(found, (Tensor, Array, Number))


def _is_rate(facts: Facts, store: ast.Attribute) -> bool:
    """A learning rate is a variable, unless it is a schedule or another function."""
    return store.attr in _RATES and _is_data(facts, store)


def _is_data(facts: Facts, store: ast.Attribute) -> bool:
    """Whether what is stored is a plain value: no function, and no other layer."""
    statement = facts.source.parent(store)
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return False
    value = statement.value
    if isinstance(value, ast.BinOp):
        sides = (value.left, value.right)
        if any(isinstance(s, ast.Constant) and isinstance(s.value, (int, float)) for s in sides):
            return True
    return isinstance(facts.eager_values.value(value), (Number, Array, Tensor))


def comes_first(facts: Facts, node: ast.AST, calls: Sequence[ast.Call]) -> bool:
    """Whether a statement runs once, before the function is called for the first time."""
    home = facts.source.function(node)
    if isinstance(home, ast.FunctionDef) and home.name in ("__init__", "build"):
        return True
    if _is_being_made(facts, node, home, calls):
        return True
    outermost: ast.AST = node
    for outer in facts.flow.enclosing(node):
        if isinstance(outer, (ast.For, ast.While)):
            outermost = outer
    if not facts.reached_once.holds(outermost):
        return False
    line = facts.source.statement(outermost).end_lineno or 0
    return all(line < reached for call in calls for reached in _reached(facts, call, home, set()))


def _is_being_made(
    facts: Facts, node: ast.AST, home: ast.AST | None, calls: Sequence[ast.Call]
) -> bool:
    """Whether a function changes an object that it has made, and that nobody else has seen yet."""
    store = node.func if isinstance(node, ast.Call) else node
    receiver = store.value if isinstance(store, ast.Attribute) else None
    if home is None or not isinstance(receiver, ast.Name):
        return False
    made = [
        one
        for binding in facts.scopes.bindings(receiver)
        for one in ([binding.value] if isinstance(binding.value, ast.Call) else [None])
    ]
    here = all(one is not None and facts.source.function(one) is home for one in made)
    callers: set[ast.AST] = set()
    for call in calls:
        _callers(facts, call, callers)
    return bool(made) and here and home not in callers


def _callers(facts: Facts, node: ast.AST, found: set[ast.AST]) -> None:
    """The functions from which a place is reached."""
    function = facts.source.function(node)
    if function is None or function in found:
        return
    found.add(function)
    if isinstance(function, ast.FunctionDef):
        for call in facts.step_functions.calls(function) or ():
            _callers(facts, call, found)


def _reached(facts: Facts, node: ast.AST, home: ast.AST | None, seen: set[ast.AST]) -> list[int]:
    """The lines of a function or of the module from which a place is reached; 0 for any."""
    function = facts.source.function(node)
    if function is home:
        loop = facts.flow.loop(node)
        return [min(getattr(node, "lineno", 0), getattr(loop, "lineno", 10**9))]
    if not isinstance(function, ast.FunctionDef) or function in seen:
        return [0]
    above = facts.step_functions.calls(function)
    if not above:
        return [0]
    seen = {*seen, function}
    return [line for call in above for line in _reached(facts, call, home, seen)]
