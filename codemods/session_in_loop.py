"""TFR106 session-in-loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs import kept_sessions
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.program.turns import in_most_turns, turns
from tfrewrite.model import Contract, Refusal, Report, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.kept_session import kept_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.opened_sessions import OpenedSession

_FEW_TURNS = 3
_COST = (
    "opening one, and restoring a checkpoint, takes many times as long as a run of a small network"
)


class SessionInLoop(Rule):
    """Opens a session once before a loop and not in each turn of it; reports models loaded anew.

    ## Why it is slow
    A new session takes the whole graph in again, optimises it again and starts with empty
    variables, so that a checkpoint has to be read again, too. A Keras model takes longer still.

    ## Before
    ```python
    for image in images:
        with tf.Session() as sess:
            saver.restore(sess, "model.ckpt")
            print(sess.run(logits, feed_dict={x: image}))
    ```

    ## After
    ```python
    kept_session = tf.Session()
    saver.restore(kept_session, "model.ckpt")
    for image in images:
        with kept_session.as_default() as sess:
            print(sess.run(logits, feed_dict={x: image}))
    ```
    It is closed by a line after the loop, if anything follows there.

    ## Contract
    - `exact`: all that is run computes from what is fed, or from a checkpoint that every turn
      restored and that nothing in the file writes meanwhile. Whether another program writes it
      meanwhile the file does not say.

    A checkpoint that is not there raises before the loop, and not in its first turn, also where the
    loop makes no turn at all.

    ## Refuses
    What a session keeps must not be seen by the next turn: runs that update, draw random numbers or
    take elements, or read variables without a restore (`keeps-state`), and fetches that cannot be
    followed (`fetch-not-traced`). The checkpoint must stay what it is, where its path leads: the
    loop runs no programs, writes no files and does not ask whether one is there by now
    (`checkpoint-may-change`).

    ## Reports
    Where a function opens a session or loads a model, and a loop calls it, or a loop makes a graph
    of its own in each turn, the cure is in the hands of the owner: open it once, and give it to the
    function. Nothing is said where each turn trains, or works through data of its own, or restores
    another checkpoint: cross validation, ensembles and searches need their sessions.
    """

    code = "TFR106"
    name = "session-in-loop"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow", b"keras"), (b"Session(", b"load_model("))
    reasons = {
        "keeps-state": "A run leaves something in the session, or needs one that is new.",
        "fetch-not-traced": "It is not known what a run computes from.",
        "run-elsewhere": "Something else runs the graph while the session is open.",
        "run-options": "A run asks for options or metadata.",
        "builds-ops": "Ops are made while the session is open, or code runs that is not known.",
        "session-used": "The session is used for more than to run in it.",
        "session-arguments": "The session's target or configuration may change, or it prints.",
        "restored-late": "It is restored after something else, or by what is no plain Saver.",
        "checkpoint-may-change": "Something may write or move the checkpoint in the meantime.",
        "error-caught": "An error of restoring would be caught in the loop.",
        "operand-not-sure": "It is not sure that what it needs is there before the loop.",
        "rebound-in-loop": "What it needs gets another value in the loop.",
        "scope-in-loop": "It is opened under another `with` inside the loop.",
        "generator": "What resumes the generator would find its session open.",
        "graph-changes": "The default graph is another one in the meantime.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for opened in facts.opened_sessions.all():
            if not _is_short(facts, opened):
                continue
            loops = facts.hoisting.loops(opened.call)
            if not loops:
                yield from _called_in_loop(facts, opened)
            elif _is_outline(facts, opened.call, loops):
                yield from _in_loop(facts, opened, loops, taken)
        yield from _loaded(facts)


def _is_short(facts: Facts, opened: OpenedSession) -> bool:
    """Whether little is done in a session, so that opening it weighs."""
    nodes = facts.opened_sessions.reached(opened.block)
    runs = any(node in facts.sessions.runs for node in nodes if isinstance(node, ast.Call))
    return runs and not facts.opened_sessions.may_work_long(opened)


def _is_outline(facts: Facts, node: ast.AST, loops: list[ast.AST]) -> bool:
    """Whether a loop does something again and again, and nothing else that takes long."""
    if turns(loops) <= _FEW_TURNS or not in_most_turns(facts.flow, node, loops[0]):
        return False
    return not facts.opened_sessions.works_otherwise(loops[0])


# A session opened in the loop itself


def _in_loop(
    facts: Facts, opened: OpenedSession, loops: list[ast.AST], taken: set[str]
) -> Iterator[Site]:
    span = facts.source.span(opened.call)
    if any(_varies(facts, one.path, loops[0]) for one in kept_sessions.restores(opened)):
        return  # each turn is about a model of its own
    if _own_graph(facts, loops[0]):
        line = getattr(loops[0], "lineno", opened.call.lineno)
        message = f"each turn of the loop of line {line} makes a graph and a session: {_COST};"
        yield Report(span, f"{message} build the graph and open the session once, before the loop")
        return
    if opened.managed is None:
        line = getattr(loops[0], "lineno", opened.call.lineno)
        message = f"each turn of the loop of line {line} opens a session: {_COST};"
        yield Report(span, f"{message} open it once, before the loop")
        return
    found = _place(facts, opened)
    if isinstance(found, Obstacle):
        yield Refusal(span, found.reason, found.message)
        return
    name = facts.names.fresh("kept_session", taken)
    taken.add(name)
    yield Rewrite(
        span,
        f"open the session once, before the loop of line {found.before.lineno}: {_COST}",
        "what is run in it computes from what is fed, and from a checkpoint that stays",
        Contract.EXACT,
        kept_session(facts, opened, found.before, name),
    )


def _place(facts: Facts, opened: OpenedSession) -> Place | Obstacle:
    place = facts.hoisting.place(opened.call, kept_sessions.operands(facts, opened))
    if isinstance(place, Obstacle):
        return place
    return kept_sessions.obstacle(facts, opened, place) or place


def _own_graph(facts: Facts, loop: ast.AST) -> bool:
    """Whether a graph is made, or thrown away, in each turn."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute))
        and facts.names.tf(node) in ("Graph", "reset_default_graph")
        for node in facts.opened_sessions.reached([loop])
    )


def _varies(facts: Facts, value: ast.expr, loop: ast.AST) -> bool:
    """Whether a value is another one in each turn, as far as is seen."""
    for name in (node for node in ast.walk(value) if isinstance(node, ast.Name)):
        found = facts.hoisting.unsure(name, loop)
        if found is not None and found.reason == "rebound-in-loop":
            return True
    return False


# A function that opens a session, called in a loop


def _called_in_loop(facts: Facts, opened: OpenedSession) -> Iterator[Site]:
    function = facts.source.function(opened.call)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if function.name == "__init__" or not _stays_inside(facts, opened):
        return
    calls = facts.own_calls.calls(function) or []
    paths = [one.path for one in kept_sessions.restores(opened)]
    paths += [keyword.value for keyword in opened.call.keywords]
    for call in sorted(calls, key=facts.source.span):
        loops = facts.hoisting.loops(call)
        if not loops or not _is_outline(facts, call, loops):
            continue
        if any(_given_varies(facts, path, call, loops[0]) for path in paths):
            continue
        line = getattr(loops[0], "lineno", call.lineno)
        yield Report(
            facts.source.span(opened.call),
            f"the loop of line {line} calls `{function.name}`, which opens a session each time:"
            f" {_COST}; open it once and give it to the function",
        )
        return


def _stays_inside(facts: Facts, opened: OpenedSession) -> bool:
    """Whether a function does not give its session to its callers, who may keep it."""
    return all(
        isinstance(facts.source.parent(use), (ast.Attribute, ast.Call)) for use in opened.uses
    )


def _given_varies(facts: Facts, value: ast.expr, call: ast.Call, loop: ast.AST) -> bool:
    """Whether a loop gives a function another value in each turn for what `value` is made of."""
    return any(
        _varies(facts, argument, loop)
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        if (parameter := facts.own_calls.parameter(call, argument)) is not None
        and _mentions(facts, value, parameter.name)
    )


def _mentions(facts: Facts, value: ast.expr, name: str) -> bool:
    """Whether a value is made of a name, or of a name that is bound to something made of it."""
    names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    bound = [binding.value for one in names for binding in facts.scopes.bindings(one)]
    return any(one.id == name for one in names) or any(
        isinstance(node, ast.Name) and node.id == name
        for one in bound
        if one is not None
        for node in ast.walk(one)
    )


# A model loaded in the loop


def _loaded(facts: Facts) -> Iterator[Site]:
    for call in sorted(facts.classes.calls("load_model"), key=facts.source.span):
        symbol = facts.names.tf(call.func) or ""
        if not symbol.endswith("keras.models.load_model") or not call.args:
            continue
        function = facts.source.function(call)
        places = [(call, "")]
        if isinstance(function, ast.FunctionDef) and not facts.hoisting.loops(call):
            title = f"`{function.name}`, which "
            places = [(one, title) for one in facts.own_calls.calls(function) or []]
        for place, title in places:
            loops = facts.hoisting.loops(place)
            if not loops or not _is_outline(facts, place, loops):
                continue
            varies = _varies(facts, call.args[0], loops[0]) or (
                title and _given_varies(facts, call.args[0], place, loops[0])
            )
            if varies:
                continue
            line = getattr(loops[0], "lineno", place.lineno)
            yield Report(
                facts.source.span(call),
                f"the loop of line {line} {'calls ' + title if title else ''}loads the same model"
                " in each turn; load it once, before the loop",
            )
            break
