"""TFR105 run-to-callable."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.program.turns import in_most_turns, turns
from tfrewrite.codemods.drop_unused_fetches import DropUnusedFetches
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns
from tfrewrite.edits import ReplaceExpression
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.hoisted import made_before, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun
    from tfrewrite.edits import Edit
    from tfrewrite.model import Span

_FEW_TURNS = 10
_LONG_TITLE = 30


class RunToCallable(Rule):
    """Makes a callable before a loop out of a `session.run` that feeds nothing.

    It saves the same short time in each turn, whatever the run does, and is made on request only:
    select `TFR105` by its code or its name.

    ## Why it is slow
    Each `run` takes its fetches apart anew, looks each of them up in the graph, asks the session
    whether the graph has grown, and puts the results together again. A callable has done that
    once.

    ## Before
    ```python
    for step in range(10000):
        sess.run(train_op)
    ```

    ## After
    ```python
    run_train_op = sess.make_callable(train_op)
    for step in range(10000):
        run_train_op()
    ```
    It goes to just before the outermost loop in which the session and the fetches stay the same.

    ## Contract
    - `exact`: the same ops run in the same order, and what they give has the same types and the
      same structure, errors included.

    What is another is the message of an error that a run raises. `run` adds the lines of the
    script that made the op and sets `error.op`; a callable does neither, which makes a script that
    fails harder to mend. That is why the rule waits to be asked. Fetches that no session of theirs
    can run, such as `None`, raise before the loop and not in its first turn. A session that the
    script has closed ends it with a `CancelledError`, and not with a `RuntimeError`.

    ## Refuses
    Where it is not shown that what is fetched is there before the loop (`operand-not-sure`), stays
    (`rebound-in-loop`, `fetch-changes`) and is made of tensors and operations (`fetch-unknown`): an
    empty list, or one that may be empty, and the handle of a tensor, come out of a callable as
    something else. A session that is monitored has no callables (`hooked-session`), one that is not
    known may have none (`session-unknown`), and one that may be closed in the meantime raises
    another error (`session-closed`). Where something looks at the message of an error
    (`message-read`), or catches in the loop what making the callable raises (`error-caught`). Runs
    that another rule makes fewer come after that (`fewer-first`).

    ## When it does not help
    Where a step takes more than some milliseconds. Runs with a feed gain nothing: `make_callable`
    with a `feed_list` makes a dict and calls `run`.
    """

    code = "TFR105"
    name = "run-to-callable"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow",), (b".run(",))
    reasons = {
        "session-unknown": "It is not known what sort of session it is, and so what it can do.",
        "hooked-session": "A monitored session makes no callables.",
        "session-closed": "The session may be closed, and then a callable raises another error.",
        "run-options": "The run asks for options or metadata.",
        "fetch-unknown": "It is not known that tensors and operations are fetched, and some.",
        "fetch-changes": "The list or dict that is fetched may be changed meanwhile.",
        "operand-not-sure": "It is not sure that what is fetched is there before the loop.",
        "rebound-in-loop": "What is fetched, or the session, gets another value in the loop.",
        "scope-in-loop": "The run stands under a `with` inside the loop.",
        "message-read": "Something may look at the message of an error of the run.",
        "error-caught": "A handler in the loop catches what making a callable may raise.",
        "fewer-first": "Another rule makes fewer or smaller runs of it, which saves more.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }
    on_request = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        runs = [run for run in facts.sessions.runs.values() if _is_outline(facts, run)]
        runs.sort(key=lambda run: facts.source.span(run.call))
        earlier = _made_fewer(facts) if runs else []
        taken: set[str] = set()
        made: set[tuple[ast.stmt, str]] = set()
        for run in runs:
            found = _obstacle(facts, run, earlier) or _place(facts, run)
            if isinstance(found, Obstacle):
                yield Refusal(facts.source.span(run.call), found.reason, found.message)
            elif (key := (found.before, _what(_session(run), run.fetches))) not in made:
                made.add(key)  # The next of the kind takes the callable of this, once it is there.
                yield _rewrite(facts, run, found, taken)


# The outline: a run without a feed in each turn of a loop


def _is_outline(facts: Facts, run: SessionRun) -> bool:
    if not run.direct or run.feed is not None:
        return False
    loops = facts.hoisting.loops(run.call)
    if not loops or turns(loops) <= _FEW_TURNS:
        return False
    if isinstance(facts.source.function(run.call), ast.Lambda):
        return False  # there is no statement to put before it
    if isinstance(facts.scopes.of(run.call).node, ast.ClassDef):
        return False  # a new name there is an attribute
    return in_most_turns(facts.flow, run.call, loops[0]) and not _has_hotter(
        facts, run.call, loops[0]
    )


def _has_hotter(facts: Facts, call: ast.Call, loop: ast.AST) -> bool:
    """Whether runs stand in a loop within the loop, so that this one is one of few."""
    runs = [other for other in facts.sessions.runs if other is not call]
    runs += [other for other in facts.source.all(ast.Call) if _is_callable(facts, other.func)]
    if any(loop in facts.hoisting.loops(other)[1:] for other in runs):
        return True
    return any(
        in_most_turns(facts.flow, other, loop) and facts.opened_sessions.steps_within(function.body)
        for other in ast.walk(loop)
        if isinstance(other, ast.Call) and (function := facts.own_calls.function(other)) is not None
    )


def _is_callable(facts: Facts, func: ast.expr) -> bool:
    """Whether a name stands for what `make_callable` gave."""
    bindings = facts.scopes.bindings(func) if isinstance(func, ast.Name) else []
    return any(
        isinstance(binding.value, ast.Call)
        and isinstance(binding.value.func, ast.Attribute)
        and binding.value.func.attr == "make_callable"
        for binding in bindings
    )


# What stands in the way


def _made_fewer(facts: Facts) -> list[tuple[str, Span]]:
    """Where other rules make fewer or smaller runs of those that there are."""
    return [
        (rule.code, site.span)
        for rule in (MergeSessionRuns, DropUnusedFetches)
        for site in rule().sites(facts)
        if isinstance(site, Rewrite) and site.contract in facts.allowed
    ]


def _obstacle(facts: Facts, run: SessionRun, earlier: list[tuple[str, Span]]) -> Obstacle | None:
    if facts.dynamics.changed_meaning:
        return Obstacle("dynamic-code", facts.dynamics.changed_meaning)
    if facts.dynamics.rewires_graph:
        message = "the file replaces functions, or changes a graph that is built already"
        return Obstacle("dynamic-code", message)
    if run.kind is SessionKind.HOOKED:
        return Obstacle("hooked-session", f"`{run.session}` has no `make_callable`")
    own = run.obstacle(who="the run", hooks_see="each run")
    if own is not None:
        return own
    span = facts.source.span(run.call)
    for code, other in earlier:
        if span.overlaps(other):
            return Obstacle("fewer-first", f"{code} has something to do here first: select it, too")
    return facts.fixed_fetches.obstacle(facts.fixed_fetches.operands(run.fetches))


def _place(facts: Facts, run: SessionRun) -> Place | Obstacle:
    operands = facts.fixed_fetches.operands(run.fetches)
    place = facts.hoisting.place(run.call, [_session(run), *operands])
    if isinstance(place, Obstacle):
        return place
    return (
        facts.fixed_fetches.changed(operands, place.before)
        or _error(facts, run, place.before)
        or _closing(facts, run, place.before)
        or place
    )


def _error(facts: Facts, run: SessionRun, loop: ast.stmt) -> Obstacle | None:
    """Who would notice that an error has another message, or comes earlier."""
    looking = facts.handlers.looking(run.call)
    if looking:
        return Obstacle("message-read", f"{looking}, and a callable's says less")
    catching = facts.handlers.catching_more_than_the_graph(run.call, loop)
    if catching:
        return Obstacle("error-caught", f"{catching}; a callable that fails is made outside of it")
    return None


def _closing(facts: Facts, run: SessionRun, loop: ast.stmt) -> Obstacle | None:
    """What may close the session while callables of it are used, where the error is caught."""
    if not facts.handlers.catching(run.call):
        return None
    for call in facts.classes.calls("close"):
        if isinstance(call.func, ast.Attribute) and facts.sessions.kind(call.func.value):
            same = facts.source.function(call) is facts.source.function(loop)
            if not same or not facts.hoisting.comes_first(loop, facts.source.statement(call)):
                message = f"line {call.lineno} may close it, and what a run then raises is caught"
                return Obstacle("session-closed", message)
    return None


# What is written


def _session(run: SessionRun) -> ast.expr:
    assert isinstance(run.call.func, ast.Attribute)
    return run.call.func.value


def _what(session: ast.expr, fetches: ast.expr) -> str:
    return f"{ast.dump(session)} {ast.dump(fetches)}"


def _there(facts: Facts, run: SessionRun, before: ast.stmt) -> str:
    """The callable of the same run that stands right before the loop, if there is one."""
    block, index = facts.source.position(before)
    for statement in reversed(block[:index]):
        match statement:
            case ast.Assign(
                targets=[ast.Name() as name],
                value=ast.Call(
                    func=ast.Attribute(value=session, attr="make_callable"),
                    args=[fetches],
                    keywords=[],
                ),
            ):
                same = _what(session, fetches) == _what(_session(run), run.fetches)
                if same and len(facts.scopes.bindings(name)) == 1:
                    return name.id
            case _:
                return ""
    return ""


def _rewrite(facts: Facts, run: SessionRun, place: Place, taken: set[str]) -> Rewrite:
    session = text_of(facts, _session(run))
    fetches = text_of(facts, run.fetches)
    there = _there(facts, run, place.before)
    if there:
        edits: tuple[Edit, ...] = (ReplaceExpression(facts.source.span(run.call), f"{there}()"),)
    else:
        name = facts.names.fresh(_title(facts, run), taken)
        taken.add(name)
        made = f"{session}.make_callable({fetches})"
        edits = made_before(facts, run.call, place.before, name, made)
    return Rewrite(
        facts.source.span(run.call),
        f"make a callable of `{session}.run({fetches})` before the loop of line"
        f" {place.before.lineno}, which saves some of what a run costs beside its ops: worth it"
        " where a step takes less than some milliseconds",
        "the session and what is fetched stay the same in each turn, and nothing is fed",
        Contract.EXACT,
        edits,
    )


def _title(facts: Facts, run: SessionRun) -> str:
    """What the callable is called: `run_train_op` for `sess.run(self.train_op)`."""
    operands = facts.fixed_fetches.operands(run.fetches)
    words = [word for word in map(_word, operands) if word]
    title = "_".join(["run", *dict.fromkeys(words)])
    if len(operands) > 2 or len(words) != len(operands) or len(title) > _LONG_TITLE:
        return "run_step"
    return title


def _word(operand: ast.expr) -> str:
    name = operand.attr if isinstance(operand, ast.Attribute) else ""
    name = operand.id if isinstance(operand, ast.Name) else name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_").lower()
