"""TFR103 hoist-graph-building."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.hoisting import Place
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.sessions import SessionKind
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.hoisted import changed_draws, hoisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.built_values import Built
    from tfrewrite.analysis.facts import Facts

_WIDTH = 50
_SHORT_NAMES = {
    "global_variables_initializer": "init",
    "initialize_all_variables": "init",
    "local_variables_initializer": "local_init",
    "merge_all": "summary",
}
_MAKERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)
_VARYING = ("rebound-in-loop", "operand-not-sure", "operand-unknown", "operand-varies")


class HoistGraphBuilding(Rule):
    """Makes ops once before a session loop and not in each turn of it.

    ## Why it is slow
    A call such as `tf.argmax(logits, 1)` makes a new op each time. In a loop the graph grows with
    every turn, and the session has to take in the changed graph before each run.

    ## Before
    ```python
    for epoch in range(1000):
        sess.run(train_op, feed_dict=batch)
        correct = tf.equal(tf.argmax(logits, 1), labels)
        accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
        print(sess.run(accuracy, feed_dict=held_out))
    ```

    ## After
    ```python
    correct = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    for epoch in range(1000):
        sess.run(train_op, feed_dict=batch)
        print(sess.run(accuracy, feed_dict=held_out))
    ```

    ## Contract
    - `exact`: each run gets an op that is made of the same operands.

    ## When it does not help
    Where the loop makes few turns, or goes on making other ops.
    """

    code = "TFR103"
    name = "hoist-graph-building"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), (b".run(", b".eval("))
    reasons = {
        "random-op": "An op made anew draws anew, from a seed of its own.",
        "creates-variables": "New variables, as of an optimizer's slots, come with each turn.",
        "registers": "It adds to a collection of the graph, which other code may read.",
        "collection-changes": "It reads a collection, to which the loop may add.",
        "effect-unknown": "It is not known what a call does beside making an op.",
        "own-function": "The file's function does more than to make ops, or may do so.",
        "operand-not-sure": "It is not sure that an operand is there before the loop, to stay.",
        "operand-unknown": "It is not known what an operand is: a list may grow, an array change.",
        "operand-varies": "An operand is what a run of the graph gives in each turn.",
        "rebound-in-loop": "An operand gets another value in the loop.",
        "used-otherwise": "More is done with the value than to fetch it or to build on it.",
        "two-in-one-run": "One run takes two elements, and their order is left to chance.",
        "conditional": "A setting may keep the loop from making it at all.",
        "may-be-caught": "The loop may catch an exception that making it raises.",
        "scope-in-loop": "It is made under a `with` inside the loop.",
        "generator": "What resumes the generator may change the scopes that ops are made in.",
        "hooked-session": "The session closes its graph, so that making an op raises.",
        "shape-changes": "The loop tells the graph more of a tensor's shape.",
        "eager-mode": "Outside of a graph the call itself computes.",
        "graph-read": "The file lists, counts, looks up or writes the ops of the graph.",
        "graph-finalized": "The graph is closed, and making an op raises.",
        "graph-changes": "The default graph is another one in the meantime.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for expr in _built_in_loops(facts):
            built = facts.built_values.of(expr, facts.op_making.larger)
            if not _is_run_in_loop(facts, built) or _is_of_another_rule(facts, built):
                continue
            if _assigns_what_varies(facts, built):
                continue
            found = _forbidden(facts, built) or _place(facts, built)
            if isinstance(found, Obstacle):
                yield Refusal(facts.source.span(expr), found.reason, found.message)
            else:
                yield _rewrite(facts, built, found, taken)


def _built_in_loops(facts: Facts) -> list[ast.expr]:
    """The largest expressions that make ops in each turn of a loop, in the order of the text."""
    found: set[ast.expr] = set()
    for kind in _MAKERS:
        for node in facts.source.all(kind):
            if facts.hoisting.loops(node) and facts.op_making.makes(node):
                if not isinstance(facts.scopes.of(node).node, ast.ClassDef):
                    if not isinstance(facts.source.function(node), ast.Lambda):
                        found.add(facts.op_making.larger(node) or node)
    return sorted(found, key=facts.source.span)


def _is_run_in_loop(facts: Facts, built: Built) -> bool:
    """Whether a loop that makes an op also runs it; not so where a loop builds a model."""
    loops = set(facts.hoisting.loops(built.expr))
    return any(loops & set(facts.source.ancestors(run.call)) for run in built.runs)


def _is_of_another_rule(facts: Facts, built: Built) -> bool:
    """Whether TFR104 looks after it: an element of an iterator that is only fetched."""
    for element in facts.next_elements.all():
        if element.call is built.expr:
            return element.built.elsewhere is None
    return False


def _assigns_what_varies(facts: Facts, built: Built) -> bool:
    """Whether a variable gets another value in each turn, which TFR108 looks after."""
    call = built.expr
    if not isinstance(call, ast.Call) or "assign" not in facts.op_making.symbol(call):
        return False
    innermost = facts.hoisting.loops(call)[0]
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    found = (facts.op_making.obstacle(one, innermost) for one in given)
    return any(one is not None and one.reason in _VARYING for one in found)


def _forbidden(facts: Facts, built: Built) -> Obstacle | None:
    """What speaks against making ops elsewhere, wherever that is."""
    if facts.dynamics.obstacle_beside_queues:
        return Obstacle("dynamic-code", facts.dynamics.obstacle_beside_queues)
    if built.elsewhere is not None:
        line = getattr(built.elsewhere, "lineno", built.expr.lineno)
        message = f"line {line} does more with it than to fetch it or to build on it"
        return Obstacle("used-otherwise", message)
    for run in built.runs:
        if run.kind is SessionKind.HOOKED:
            message = f"`{run.session}` closes its graph, and making an op raises"
            return Obstacle("hooked-session", message)
    rival = _rival(facts, built)
    if rival is not None:
        message = f"the element of line {rival.lineno} may be taken by the same run"
        return Obstacle("two-in-one-run", message)
    return facts.hoisting.resumed(built.expr)


def _rival(facts: Facts, built: Built) -> ast.Call | None:
    """Another element that the loop takes from the same iterator."""
    loops = set(facts.hoisting.loops(built.expr))
    elements = facts.next_elements.all()
    mine = [one for one in elements if one.call is built.expr]
    for other in elements:
        for one in mine:
            if other is not one and ast.dump(other.iterator) == ast.dump(one.iterator):
                if loops & set(facts.hoisting.loops(other.call)):
                    return other.call
    return None


def _place(facts: Facts, built: Built) -> Place | Obstacle:
    def obstacle_in(loop: ast.AST) -> Obstacle | None:
        return facts.op_making.obstacle(built.expr, loop) or facts.conditions.obstacle(
            built.expr, loop
        )

    place = facts.hoisting.place_by(built.expr, obstacle_in)
    if isinstance(place, Obstacle):
        return place
    for call in facts.classes.calls("set_shape"):
        if place.before in facts.source.ancestors(call):
            message = f"line {call.lineno} changes what is known of a shape, which ops are made by"
            return Obstacle("shape-changes", message)
    seen = facts.graph_readers.obstacle(None, place.before) or facts.op_names.shown(place.before)
    return seen or place


def _rewrite(facts: Facts, built: Built, place: Place, taken: set[str]) -> Rewrite:
    edits = hoisted(facts, built, place.before, _title(facts, built.expr), taken)
    changes = changed_draws(facts, place.before)
    return Rewrite(
        facts.source.span(built.expr),
        f"build `{_short(facts, built.expr)}` once, before the loop: as it is the graph grows with"
        " each turn, and so does the time of a step",
        "each turn makes the same ops of the same operands, and all that is done with them is to"
        " run them",
        Contract.RESAMPLED if changes else Contract.EXACT,
        edits,
        changes=changes,
    )


def _short(facts: Facts, expr: ast.expr) -> str:
    text = facts.source.segment(expr)
    return (
        text if len(text) <= _WIDTH and "\n" not in text else f"{text.split('(')[0].strip()}(...)"
    )


def _title(facts: Facts, expr: ast.expr) -> str:
    symbol = facts.op_making.symbol(expr).rpartition(".")[2]
    if isinstance(expr, ast.Call) and not symbol:
        symbol = ast.unparse(expr.func).rpartition(".")[2]
    return f"{_SHORT_NAMES.get(symbol, symbol)}_op"
