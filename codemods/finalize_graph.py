"""TFR113 finalize-graph."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION, SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.edits import InsertBefore
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.sessions import SessionRun


class FinalizeGraph(Rule):
    """Closes the graph just before a session loop, so that an op made in the loop raises.

    It is a guard for the time to come, and made on request only: select `TFR113` by its code or
    its name.

    ## Why it is slow
    An op made in each turn of a loop makes every step slower than the one before, and nothing says
    so. In a graph that is finalized the first such op raises
    `RuntimeError: Graph is finalized and cannot be modified.`

    ## Before
    ```python
    with tf.Session() as sess:
        sess.run(init_op)
        for step in range(1000):
            sess.run(train_op)
    ```

    ## After
    ```python
    with tf.Session() as sess:
        sess.run(init_op)
        sess.graph.finalize()
        for step in range(1000):
            sess.run(train_op)
    ```

    ## Contract
    - `exact`: only where nothing in the loop or after it makes ops, so that nothing raises that did
      not raise before. Saving, restoring and writing summaries work on a finalized graph (measured
      on 1.15.5 and 2.21).

    The program is taken to end with the file. What runs it once more in the same process, in the
    same graph, finds the graph closed.

    ## Refuses
    Whatever makes ops in the loop or after it (`builds-ops`), also where nothing names it: in a
    generator or a `map` that goes on, in a method such as `__iter__` or `__str__`, at the exit. And
    whatever cannot be shown to make none: an operator on what may be a tensor, a call into another
    file. A loop in a function whose callers are not all in the file (`callers-not-seen`), since ops
    may be made after it returns. A session that the place before the loop does not know
    (`session-unknown`). It waits until no other rule that is selected has anything left to do.

    ## When it does not help
    It makes nothing faster by itself.
    """

    code = "TFR113"
    name = "finalize-graph"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow",), (b".run(", b".eval("))
    reasons = {
        "builds-ops": "Something in the loop or after it makes ops, or may make some.",
        "callers-not-seen": "What follows the function that the loop is in is not known.",
        "session-unknown": "There is no session before the loop whose graph could be closed.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }
    on_request = True
    judges_the_rest = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        if any(node.attr == "finalize" for node in facts.source.all(ast.Attribute)):
            return
        closed: set[ast.AST | None] = set()
        for loop, runs in _session_loops(facts):
            function = facts.source.function(loop)
            if function in closed:
                continue
            span = facts.source.span(runs[0].call)
            graph = _graph(facts, loop, runs)
            obstacle = graph if isinstance(graph, Obstacle) else _obstacle(facts, loop)
            if obstacle is not None:
                yield Refusal(span, obstacle.reason, obstacle.message)
                continue
            closed.add(function)
            yield Rewrite(
                span,
                f"close the graph before the loop of line {loop.lineno}",
                "nothing in the loop or after it makes ops, so nothing raises that did not before",
                Contract.EXACT,
                (InsertBefore(facts.source.span(loop), f"{graph}.finalize()"),),
            )


def _session_loops(facts: Facts) -> list[tuple[ast.stmt, list[SessionRun]]]:
    """The outermost loops that run a graph whose session does not close it by itself."""
    found: dict[ast.stmt, list[SessionRun]] = {}
    for call in sorted(facts.sessions.runs, key=facts.source.span):
        run = facts.sessions.runs[call]
        loops = [loop for loop in facts.hoisting.loops(call) if isinstance(loop, ast.stmt)]
        if loops and run.kind is not SessionKind.HOOKED:
            if not isinstance(facts.scopes.of(call).node, ast.ClassDef):
                found.setdefault(loops[-1], []).append(run)
    return sorted(found.items(), key=lambda item: facts.source.span(item[0]))


def _graph(facts: Facts, loop: ast.stmt, runs: list[SessionRun]) -> str | Obstacle:
    """How the graph of a loop is called just before the loop."""
    for run in runs:
        func = run.call.func
        if run.kind is not SessionKind.PLAIN or not isinstance(func, ast.Attribute):
            continue
        if run.direct and facts.hoisting.unsure(func.value, loop) is None:
            return f"{facts.source.segment(func.value)}.graph"
    by_default = all(run.session == DEFAULT_SESSION for run in runs)
    makes_graphs = any(
        facts.names.tf(node) == "Graph" for node in facts.source.all(ast.Attribute)
    ) or any(facts.names.tf(node) == "Graph" for node in facts.source.all(ast.Name))
    if by_default and facts.names.alias is not None and not makes_graphs:
        return f"{facts.names.alias}.get_default_graph()"
    name = runs[0].session
    return Obstacle("session-unknown", f"`{name}` is not sure to be a session before the loop")


def _obstacle(facts: Facts, loop: ast.stmt) -> Obstacle | None:
    if facts.dynamics.obstacle:
        return Obstacle("dynamic-code", facts.dynamics.obstacle)
    for node in facts.source.all(ast.Attribute):
        if node.attr in ("get_session_handle", "get_session_tensor"):
            message = (
                f"line {node.lineno} keeps tensors in the session: runs make ops to fetch them"
            )
            return Obstacle("builds-ops", message)
    rest = facts.afterwards.rest(loop)
    if rest.unseen:
        return Obstacle("callers-not-seen", f"{rest.unseen}: ops may be made after it returns")
    op = facts.building.first_op(rest.nodes)
    if op is None:
        return None
    text = facts.source.segment(op).splitlines()[0]
    message = f"`{text}` in line {op.lineno} makes ops in the graph, or may do so"
    return Obstacle("builds-ops", message)
