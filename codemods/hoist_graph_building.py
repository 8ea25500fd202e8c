"""TFR103 hoist-graph-building."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.nodes import flags
from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.symbols import SESSIONS
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.draws import changed_draws
from tfrewrite.writing.hoisted import hoisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.built_values import Built
    from tfrewrite.analysis.graphs.savers import Saver

_SAME_OPS = (
    "each turn makes the same ops of the same operands, and all that is done with them is to run"
    " them"
)
_KEEPING_ALL = (
    "each turn's saver saves the same variables and deletes nothing, and one that keeps all writes"
    " the same files"
)
_WIDTH = 50
_SHORT_NAMES = {
    "global_variables_initializer": "init",
    "initialize_all_variables": "init",
    "local_variables_initializer": "local_init",
    "merge_all": "summary",
}
_MAKERS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)
_RENEWING = frozenset({"Graph", "reset_default_graph"})
_BEGINNING = SESSIONS | _RENEWING
_VARYING = ("rebound-in-loop", "operand-not-sure", "operand-unknown", "operand-varies")


class HoistGraphBuilding(Rule):
    """Makes ops once before a session loop and not in each turn of it.

    ## Why it is slow
    In a graph a call such as `tf.argmax(logits, 1)` computes nothing: it makes an op, a new one
    each time. In a loop the graph grows with every turn, and the session has to take in the changed
    graph and plan anew before each run. A step costs many times as much, and more with every step.
    Memory grows with it. A `tf.train.Saver()` for each checkpoint adds some ops for each variable.

    ## Before
    ```python
    for epoch in range(1000):
        sess.run(train_op, feed_dict=batch)
        correct = tf.equal(tf.argmax(logits, 1), labels)
        accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
        print(sess.run([accuracy, sample(noise)], feed_dict=held_out))
    ```

    ## After
    ```python
    correct = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    sample_op = sample(noise)
    for epoch in range(1000):
        sess.run(train_op, feed_dict=batch)
        print(sess.run([accuracy, sample_op], feed_dict=held_out))
    ```
    Each goes to just before the outermost loop in which its operands stay the same, and not out of
    a `with` block. A saver becomes `tf.train.Saver(max_to_keep=0)`: one that is made for each
    checkpoint deletes none, and this one deletes none either.

    ## Contract
    - `exact`: each run gets ops of the same kind and operands as before, and the runs stay. What
      lies beneath them, draws and elements of an iterator too, is run as often as before.
    - `resampled`: the graph has a seed, and random ops without one of their own may be made in the
      loop or after it. On 1.15 they have their seeds from the number of ops made before. Not so on
      2.21: with `target-tf` 2.21 or later the site is `exact`.

    What cannot be built raises before the loop instead of in its first turn, also where the loop
    makes no turn at all. The graph in a checkpoint's `.meta` file is smaller, and the `max_to_keep`
    that it holds is that of the new saver.

    ## Refuses
    Ops that are not the same when made again: random ones (`random-op`), and whatever makes
    variables, as optimizers with slots do (`creates-variables`), adds to a collection, as summaries
    and optimizers do (`registers`), or reads one to which the loop adds (`collection-changes`).
    Operands that change: `rebound-in-loop`, `operand-varies`; feed those through a placeholder that
    is made before the loop. A name that stays is not enough, as a list may grow and an array be
    written to (`operand-unknown`, `operand-not-sure`). Functions of the file that do more than to
    make ops (`own-function`), and what is not known (`effect-unknown`).

    Values that are kept, printed or handed on, or stored in an attribute, a dict or a list that is
    fetched (`used-otherwise`). What is only made if a setting asks for it (`conditional`;
    `step % 10 == 0` is no setting), where its exception would be caught here or by a caller
    (`may-be-caught`), under a `with` inside the loop (`scope-in-loop`), or under one around it
    whose manager is not known (`manager-unknown`). A file that looks at the graph's ops, or shows
    the names of such as are made later, also by the message of an exception: those of summaries and
    of variables that are saved get other numbers, where they or their scopes are called like an op
    of the loop (`graph-read`).

    What a function makes and runs that is itself called in a loop, in a graph that stays, is left
    there (`loop-elsewhere`): make it once, where the graph is made.

    A variable that gets another value in each turn is TFR108's, and an element of an iterator that
    is fetched as it is TFR104's.

    ## When it does not help
    Where the loop makes few turns, or where it goes on making other ops that are refused.
    """

    code = "TFR103"
    name = "hoist-graph-building"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), (b".run(", b".eval(", b".save("))
    reasons = {
        "random-op": "An op made anew draws anew, from a seed of its own.",
        "creates-variables": "New variables, as of an optimizer's slots, come with each turn.",
        "registers": "It adds to a collection of the graph, which other code may read.",
        "collection-changes": "It reads a collection, to which the loop may add.",
        "effect-unknown": "It is not known what a call does beside making an op.",
        "own-function": "The file's function does more than to make ops, or may do so.",
        "loop-elsewhere": "A function that is called in a loop makes it, in each call.",
        "operand-not-sure": "It is not sure that an operand is there before the loop, to stay.",
        "operand-unknown": "It is not known what an operand is: a list may grow, an array change.",
        "operand-varies": "An operand is what a run of the graph gives in each turn.",
        "rebound-in-loop": "An operand gets another value in the loop.",
        "saver-settings": "The saver has settings of its own, such as how many to keep.",
        "used-otherwise": "More is done with the value than to fetch it or to build on it.",
        "two-in-one-run": "One run takes two elements, and their order is left to chance.",
        "conditional": "A setting may keep the loop from making it at all.",
        "may-be-caught": "An exception that making it raises may be caught, here or by a caller.",
        "scope-in-loop": "It is made under a `with` inside the loop.",
        "manager-unknown": "A `with` around the loop may change what is made under it.",
        "generator": "What resumes the generator may change the scopes that ops are made in.",
        "hooked-session": "The session closes its graph, so that making an op raises.",
        "run-options": "The run asks for metadata, in which ops have names.",
        "shape-changes": "The loop tells the graph more of a tensor's shape.",
        "eager-mode": "Outside of a graph the call itself computes.",
        "graph-read": "The file lists, counts, looks up, names or writes the ops of the graph.",
        "graph-finalized": "The graph is closed, and making an op raises.",
        "graph-changes": "The default graph, or a part of it, is another one in the meantime.",
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
            yield _site(facts, built, found, _title(facts, expr), taken)
        for built, call in _built_per_call(facts):
            yield Refusal(facts.source.span(built.expr), "loop-elsewhere", _per_call(call))
        for saver in facts.savers.in_loops():
            found = saver.obstacle or _everywhere(facts, saver.built) or _saver_place(facts, saver)
            yield _site(facts, saver.built, found, "saver", taken, _keeping_all(facts, saver.call))


def _built_in_loops(facts: Facts) -> list[ast.expr]:
    """The largest expressions that make ops in each turn of a loop, in the order of the text.

    Only loops that run the graph concern this rule.
    """
    found: set[ast.expr] = set()
    running = {outer for call in facts.sessions.runs for outer in facts.source.ancestors(call)}
    for kind in _MAKERS if running else ():
        for node in facts.source.all(kind):
            if running & set(facts.hoisting.loops(node)) and facts.op_making.makes(node):
                if not isinstance(facts.scopes.of(node).node, ast.ClassDef):
                    if not isinstance(facts.source.function(node), ast.Lambda):
                        found.add(facts.op_making.larger(node) or node)
    return sorted(found, key=facts.source.span)


def _built_per_call(facts: Facts) -> Iterator[tuple[Built, ast.Call]]:
    """What functions make and run that a loop calls, with a call of that kind."""
    functions = {facts.source.function(run.call) for run in facts.sessions.runs.values()}
    repeated = {one: _repeated(facts, one) for one in functions}
    found: dict[ast.expr, ast.Call] = {}
    for kind in _MAKERS if any(repeated.values()) else ():
        for node in facts.source.all(kind):
            call = repeated.get(facts.source.function(node))
            if call is not None and not facts.hoisting.loops(node) and facts.op_making.makes(node):
                found[facts.op_making.larger(node) or node] = call
    for expr in sorted(found, key=facts.source.span):
        built = facts.built_values.of(expr, facts.op_making.larger)
        home = facts.source.function(expr)
        is_run = any(facts.source.function(run.call) is home for run in built.runs)
        assigns = "assign" in facts.op_making.symbol(expr)
        if is_run and not assigns and not _is_of_another_rule(facts, built):
            yield built, found[expr]


def _repeated(facts: Facts, function: ast.AST | None) -> ast.Call | None:
    """A call of a function in a loop that goes on with the same graph."""
    if not isinstance(function, ast.FunctionDef) or _begins_graph(facts, function):
        return None
    for call in facts.own_calls.calls(function) or ():
        loops = facts.hoisting.loops(call)
        if loops and not _begins_graph(facts, loops[-1]):
            return call
    return None


def _begins_graph(facts: Facts, place: ast.AST) -> bool:
    """Whether a graph or a session is begun in some code."""
    calls = [node for node in ast.walk(place) if isinstance(node, ast.Call)]
    return any(facts.names.tf(call.func) in _BEGINNING for call in calls)


def _renews_graph(facts: Facts, loop: ast.AST) -> bool:
    """Whether each turn of a loop has a graph of its own."""
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)]
    return any(facts.names.tf(call.func) in _RENEWING for call in calls)


def _per_call(call: ast.Call) -> str:
    return (
        f"`{ast.unparse(call.func)}` makes it in each call, and the loop around line {call.lineno}"
        " calls that: the graph grows; make it once, where the graph is made"
    )


def _is_run_in_loop(facts: Facts, built: Built) -> bool:
    """Whether a loop that makes an op also runs it; not so where a loop builds a model."""
    loops = set(facts.hoisting.loops(built.expr))
    if any(loops & set(facts.source.ancestors(run.call)) for run in built.runs):
        return True
    growing = {one for one in loops if not _renews_graph(facts, one)}
    return any(growing & set(facts.source.ancestors(run.call)) for run in built.stored)


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
    assigned = [one.value for one in facts.assigns.all() if one.call is call]
    if any(map(facts.op_making.is_tensor, assigned)):
        return False
    innermost = facts.hoisting.loops(call)[0]
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    found = (facts.op_making.obstacle(one, innermost) for one in given)
    return any(one is not None and one.reason in _VARYING for one in found)


def _forbidden(facts: Facts, built: Built) -> Obstacle | None:
    """What speaks against making ops elsewhere, wherever that is."""
    found = _everywhere(facts, built)
    if found is not None:
        return found
    if built.elsewhere is not None:
        line = getattr(built.elsewhere, "lineno", built.expr.lineno)
        if built.stored:
            message = (
                f"line {line} puts it into what is fetched: give it a name of its own, or make the"
                " whole before the loop"
            )
            return Obstacle("used-otherwise", message)
        message = f"line {line} does more with it than to fetch it or to build on it"
        return Obstacle("used-otherwise", message)
    for run in built.runs:
        if run.kind is SessionKind.HOOKED:
            message = f"`{run.session}` closes its graph, and making an op raises"
            return Obstacle("hooked-session", message)
        if run.options:
            message = f"line {run.call.lineno} asks for metadata, in which the ops have names"
            return Obstacle("run-options", message)
    told = facts.graph_readers.told(built.runs)
    if told is not None:
        return told
    rival = _rival(facts, built)
    if rival is not None:
        message = f"the element of line {rival.lineno} may be taken by the same run"
        return Obstacle("two-in-one-run", message)
    taking = "iterates" in flags(facts.graph.trace(built.expr))
    for run in built.runs if taking else ():
        if facts.next_elements.takes_two(run):
            message = f"the run of line {run.call.lineno} takes two elements of one iterator"
            return Obstacle("two-in-one-run", message)
    return None


def _everywhere(facts: Facts, built: Built) -> Obstacle | None:
    if facts.dynamics.obstacle_beside_queues:
        return Obstacle("dynamic-code", facts.dynamics.obstacle_beside_queues)
    if facts.dynamics.rewires_graph:
        return Obstacle("graph-changes", "the file rewires a graph, or replaces what builds it")
    return facts.hoisting.resumed(built.expr)


def _rival(facts: Facts, built: Built) -> ast.Call | None:
    """Another element that the loop takes from the same iterator."""
    loops = set(facts.hoisting.loops(built.expr))
    elements = facts.next_elements.all()
    parts = set(ast.walk(built.expr))
    mine = [one for one in elements if one.call in parts]
    for other in elements:
        for one in mine:
            if other is not one and ast.dump(other.iterator) == ast.dump(one.iterator):
                if loops & set(facts.hoisting.loops(other.call)):
                    return other.call
    return None


def _place(facts: Facts, built: Built) -> Place | Obstacle:
    def obstacle_in(loop: ast.AST) -> Obstacle | None:
        return (
            facts.op_making.obstacle(built.expr, loop)
            or facts.conditions.obstacle(built.expr, loop)
            or _unknown_manager(facts, built.expr)
        )

    return _unseen(facts, facts.hoisting.place_by(built.expr, obstacle_in), built.expr)


def _unknown_manager(facts: Facts, expr: ast.expr) -> Obstacle | None:
    """A `with` around the loop, or around what calls it, that may change what is made under it."""
    around = facts.graph.placement.surroundings(expr, None)
    message = f"it is made under {around.obstacle}"
    return Obstacle("manager-unknown", message) if around.obstacle else None


def _saver_place(facts: Facts, saver: Saver) -> Place | Obstacle:
    def obstacle_in(loop: ast.AST) -> Obstacle | None:
        variables = (facts.op_making.obstacle(one, loop) for one in saver.variables)
        collected = facts.op_making.changing_collections("train.Saver", loop)
        found = next(filter(None, variables), None) or collected
        return found or facts.conditions.obstacle(saver.call, loop)

    return _unseen(facts, facts.hoisting.place_by(saver.call, obstacle_in), saver.call)


def _unseen(facts: Facts, place: Place | Obstacle, expr: ast.expr) -> Place | Obstacle:
    """A place, if nothing would notice that the ops are made there."""
    if isinstance(place, Obstacle):
        return place
    before = place.before
    inside = set(facts.afterwards.within(before))
    for call in facts.classes.calls("set_shape"):
        if call in inside:
            message = f"line {call.lineno} changes what is known of a shape, which ops are made by"
            return Obstacle("shape-changes", message)
    seen = facts.graph_readers.obstacle(None, before) or facts.op_names.shown(before, expr)
    return seen or place


def _site(
    facts: Facts,
    built: Built,
    found: Place | Obstacle,
    title: str,
    taken: set[str],
    text: str = "",
) -> Site:
    span = facts.source.span(built.expr)
    if isinstance(found, Obstacle):
        return Refusal(span, found.reason, found.message)
    changes = changed_draws(facts, found.before)
    return Rewrite(
        span,
        f"build `{_short(facts, built.expr)}` once, before the loop: as it is the graph grows with"
        " each turn, and so does the time of a step",
        _KEEPING_ALL if text else _SAME_OPS,
        Contract.RESAMPLED if changes else Contract.EXACT,
        hoisted(facts, built, found.before, title, taken, text),
        changes=changes,
    )


def _keeping_all(facts: Facts, saver: ast.Call) -> str:
    """The text of a saver that deletes no checkpoint."""
    given = [facts.source.segment(one) for one in saver.args]
    given += [f"{one.arg}={facts.source.segment(one.value)}" for one in saver.keywords]
    arguments = ", ".join(" ".join(one.split()) for one in given)
    comma = ", " if arguments else ""
    return f"{facts.source.segment(saver.func)}({arguments}{comma}max_to_keep=0)"


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
