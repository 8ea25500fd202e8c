"""TFR108 assign-in-loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.assigns import Home
from tfrewrite.analysis.graphs.nodes import Kind, beneath
from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.analysis.program.number_sorts import ARRAYS
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.draws import changed_draws
from tfrewrite.writing.fed_assign import Fed, fed, fed_value, made_before_loop, made_with_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.assigns import Assign
    from tfrewrite.analysis.graphs.nodes import Node

_OPS = ("Assign", "Placeholder", "Const")
_MAX_CALLERS = 4


class AssignInLoop(Rule):
    """Assigns the values of a loop by one op, which is fed with them, and not by an op for each.

    ## Why it is slow
    `v.assign(x)` sets nothing: it makes an op that sets the variable when it is run, and a constant
    that holds the value. Called in a loop it makes two more ops in each turn. The session has to
    take in the changed graph before the next run, whatever that runs, so that every step costs more
    than the one before, and memory grows.

    ## Before
    ```python
    for epoch in range(100):
        sess.run(tf.assign(lr, 0.1 * 0.95 ** epoch))
        sess.run(train_op)
    ```

    ## After
    ```python
    lr_value = tf.placeholder(lr.dtype.base_dtype, lr.get_shape(), name="lr_value")
    assign_lr = tf.assign(lr, lr_value)
    for epoch in range(100):
        sess.run(assign_lr, feed_dict={lr_value: 0.1 * 0.95 ** epoch})
        sess.run(train_op)
    ```
    The two go to just before the outermost loop in which the variable stays the same, and not out
    of a `with` block; under `with lr.graph.as_default():` where the default graph may be another
    one there. A method that is called in a loop, such as `model.assign_lr(sess, rate)`, gets them
    as attributes, made right after the variable.

    ## Contract
    - `exact`: the same op assigns the same value in the same run.
    - `resampled`: the graph has a seed, and random ops without one of their own may be made after
      the op, in the loop or later. On 1.15 they have their seeds from the number of ops made
      before. Not so on 2.21: with `target-tf` 2.21 or later the site is `exact`.

    A constant and a feed convert most numbers alike, but not all (measured on 1.15.5 and 2.21). So
    the sort of the value and the type of the variable have to be known. An integer for a float
    variable is fed as `float(x)`, since a feed refuses large ones; one that may be too large for
    32 bits as `np.array(x)`, which wraps as the constant did. An array that somebody else may hold
    is fed as a copy, since a resource variable keeps the very memory that it was fed with.

    ## Refuses
    What is not surely a number (`value-unknown`): a tensor cannot be fed, `None` becomes nan, a
    text is read as a number. What a constant does not take and a feed does (`other-type`), as a
    float for an integer variable; where the variable or its type is not known it is the same
    (`variable-unknown`, `type-unknown`). What else a run fetches may read the variable
    (`fetched-beside`), and another call of the same run may come before the value now (`order`).
    Under a `try` (`in-try`) what raises must go on to: adding to a variable that has no value, or
    assigning to one of another graph, raises otherwise. The variable must be there before the loop
    (`operand-not-sure`) and all through it (`rebound-in-loop`); for a method, its constructor must
    make it (`loop-elsewhere`). Under a `with` inside the loop (`scope-in-loop`) and in a generator
    (`generator`), names and devices come from there. Under `control_dependencies`, wherever, a
    constant waits and a feed does not. What lists, names or looks up ops (`graph-read`) or closes
    the graph (`graph-finalized`) would notice.

    ## When it does not help
    Where the loop makes few turns, or goes on making other ops. A value that stays the same in the
    loop needs no placeholder, and one made of tensors has none: those are TFR103's.
    """

    code = "TFR108"
    name = "assign-in-loop"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = (
        (b"tensorflow",),
        (b"assign(", b"assign_add(", b"assign_sub("),
        (b".run(", b".eval("),
    )
    reasons = {
        "value-unknown": "It is not known that the value is a number, and no tensor or None.",
        "other-type": "A constant refuses or converts the value in another way than a feed does.",
        "type-unknown": "It is not known of which type the variable is.",
        "variable-unknown": "It is not known which variable is assigned to.",
        "many-variables": "One run assigns to each variable of a list.",
        "shape-changes": "The shape of the value is not checked against the variable's.",
        "fetched-beside": "The run fetches something that may read or write the variable, too.",
        "control-dependencies": "The constant waits for other ops, and a feed takes its place.",
        "in-try": "An error that is caught may come no more, or be another one.",
        "order": "The value would be found out after another call, and not before it.",
        "own-feed": "The run has a feed that is not written out.",
        "loop-elsewhere": "A function that is called in a loop makes the op.",
        "operand-not-sure": "It is not sure that the variable is there before the loop.",
        "rebound-in-loop": "The variable is another one in the course of the loop.",
        "scope-in-loop": "It is made under a `with` inside the loop.",
        "generator": "What resumes the generator may change the scopes that the op is made in.",
        "hooked-session": "The session closes its graph, so that making an op raises.",
        "run-options": "The run asks for options or metadata of its own.",
        "eager-mode": "Outside of a graph an assign sets the variable itself.",
        "graph-read": "The file lists, counts or looks up the ops of the graph, or shows names.",
        "graph-finalized": "The graph is closed, and making an op raises.",
        "graph-changes": "The default graph is another one in the meantime.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        groups: dict[ast.Call, list[Assign]] = {}
        for assign in facts.assigns.all():
            if _is_outline(facts, assign):
                groups.setdefault(assign.run.call, []).append(assign)
        for group in groups.values():
            found = _obstacle(facts, group) or _where(facts, group)
            if isinstance(found, Obstacle):
                yield Refusal(facts.source.span(group[0].call), found.reason, found.message)
            else:
                yield _rewrite(facts, group, found, taken)


# Whether it is the pattern


def _is_outline(facts: Facts, assign: Assign) -> bool:
    """Whether a run assigns, in each turn of a loop, a value that is not made in the graph."""
    function = facts.source.function(assign.call)
    if isinstance(facts.scopes.of(assign.run.call).node, ast.ClassDef):
        return False  # a new name there is an attribute
    if isinstance(function, ast.Lambda) or _is_tensor(facts, assign.value):
        return False
    loops = facts.hoisting.loops(assign.run.call)
    if loops:
        return not _stays(facts, assign.value, loops[0])
    return not isinstance(assign.value, ast.Constant) and _called_in_loop(facts, function)


def _stays(facts: Facts, value: ast.expr, loop: ast.AST) -> bool:
    """Whether a value is made of what stays the same in a loop."""
    inner = [node for node in ast.walk(value) if isinstance(node, ast.expr)]
    if any(isinstance(node, (ast.Call, ast.Subscript, ast.IfExp)) for node in inner):
        return False
    leaves = [
        node
        for node in inner
        if isinstance(node, (ast.Name, ast.Attribute))
        and not isinstance(facts.source.parent(node), ast.Attribute)
    ]
    return all(facts.hoisting.unsure(leaf, loop) is None for leaf in leaves)


def _is_tensor(facts: Facts, value: ast.expr) -> bool:
    """Whether a value is made of a tensor, as far as that is seen."""
    if facts.numbers.of(value) is not None:
        return False
    made = beneath(facts.graph.trace(value))
    return any(_is_of_graph(node) for node in made)


def _is_of_graph(node: Node) -> bool:
    if node.kind is Kind.OP:
        return isinstance(node.expr, ast.Call)  # an operator's operands may be anything
    return node.kind is Kind.VARIABLE


def _called_in_loop(facts: Facts, function: ast.AST | None, depth: int = 0) -> bool:
    """Whether a function of the file is called in a loop of the file, or by one that is."""
    name = getattr(function, "name", "")
    if not name or depth > _MAX_CALLERS:
        return False
    return any(
        facts.hoisting.loops(call) or _called_in_loop(facts, facts.source.function(call), depth + 1)
        for call in facts.classes.calls(name)
    )


# What speaks against it


def _obstacle(facts: Facts, group: Sequence[Assign]) -> Obstacle | None:
    """What speaks against one op for all turns, wherever it is made."""
    first = group[0]
    if facts.dynamics.obstacle:
        return Obstacle("dynamic-code", facts.dynamics.obstacle)
    if first.many:
        message = "a list of variables is assigned to: make a list of placeholders, and one of ops"
        return Obstacle("many-variables", message)
    return (
        _run_obstacle(facts, group)
        or next(filter(None, (_assign_obstacle(facts, one) for one in group)), None)
        or _beside(facts, group)
        or facts.hoisting.resumed(first.call)
    )


def _run_obstacle(facts: Facts, group: Sequence[Assign]) -> Obstacle | None:
    run = group[0].run
    if run.kind is SessionKind.HOOKED:
        message = f"`{run.session}` closes its graph, and making an op raises"
        return Obstacle("hooked-session", message)
    if run.options:
        return Obstacle("run-options", "the run asks for options or metadata of its own")
    if run.feed is not None and not (run.direct and isinstance(run.feed, ast.Dict)):
        message = f"`{ast.unparse(run.feed)}` is fed to the run: write the feed out"
        return Obstacle("own-feed", message)
    if not _keeps_order(group):
        return Obstacle("order", "the values would be found out after other calls than before")
    if facts.graph.placement.surroundings(run.call, None).controls:
        message = "the op has to wait for others, which a feed in place of the constant leaves out"
        return Obstacle("control-dependencies", message)
    if facts.names.v1 is None:
        return Obstacle("variable-unknown", "the file has no name for TensorFlow as a whole")
    return facts.graph_readers.told([run])


def _keeps_order(group: Sequence[Assign]) -> bool:
    """Whether no call stands between the places where a value was found out and where it is fed."""
    run = group[0].run
    made = {assign.call for assign in group}
    between: list[ast.expr] = [run.call]
    if run.direct and all(assign.named is None for assign in group):
        between = [run.fetches]  # the session is found out first, and the feed last
    within = {node for call in made for node in ast.walk(call)}
    calls = [node for one in between for node in ast.walk(one) if isinstance(node, ast.Call)]
    return all(call is run.call or call in within for call in calls)


def _assign_obstacle(facts: Facts, assign: Assign) -> Obstacle | None:
    """What is not known of a variable and its value, or does not fit."""
    variable = facts.source.segment(assign.variable)
    variables = facts.assigns.variables(assign.variable)
    if variables is None or "partitioner" in facts.source.text:
        message = f"it is not known which variable `{variable}` is, nor of which type"
        return Obstacle("variable-unknown", message)
    if not assign.keeps_shape or any(_may_change_shape(one) for one in variables):
        return Obstacle("shape-changes", f"`{variable}` may get a value of any shape")
    if not all(isinstance(option, ast.Constant) for option in assign.options):
        return Obstacle("operand-not-sure", "the op has options that may change in the loop")
    sort = facts.numbers.of(assign.value)
    value = ast.unparse(assign.value)
    if sort is None:
        message = f"`{value}` may be a tensor, a text or None, which a feed takes in another way"
        return Obstacle("value-unknown", message)
    dtype = facts.numbers.types.of(variables)
    if dtype is None and sort not in ARRAYS:
        message = f"it is not known whether `{variable}` holds floats, integers or something else"
        return Obstacle("type-unknown", message)
    if fed_value(facts, assign.value, sort, dtype) is None:
        message = (
            f"`{value}` ({sort.value}) may be converted for `{variable}` ({dtype or 'any type'})"
            " in another way by a feed than by a constant"
        )
        return Obstacle("other-type", message)
    return None


def _may_change_shape(variable: Node) -> bool:
    maker = variable.expr
    keywords = maker.keywords if isinstance(maker, ast.Call) else []
    return any(keyword.arg in ("validate_shape", None) for keyword in keywords)


def _beside(facts: Facts, group: Sequence[Assign]) -> Obstacle | None:
    """Something else that the same run fetches, and that may meet a variable assigned to."""
    fetches = group[0].run.fetches
    if not isinstance(fetches, (ast.List, ast.Tuple)):
        return None
    assigned = [one for assign in group for one in facts.assigns.variables(assign.variable) or ()]
    if len(set(assigned)) != len(assigned):
        return Obstacle("fetched-beside", "the run assigns to one variable twice")
    mine = {assign.fetched for assign in group}
    for other in fetches.elts:
        for node in beneath(facts.graph.trace(other)) if other not in mine else ():
            writes = node.effect is not None and node.effect.writes
            meets = node.kind is Kind.UNKNOWN or node in assigned
            if meets or (writes and not all(map(_is_not_trained, assigned))):
                message = f"`{ast.unparse(other)}`, fetched by the same run, may meet the variable"
                return Obstacle("fetched-beside", message)
    return None


def _is_not_trained(variable: Node) -> bool:
    """Whether an optimizer leaves a variable alone."""
    keywords = variable.expr.keywords if isinstance(variable.expr, ast.Call) else []
    return any(
        keyword.arg == "trainable"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
        for keyword in keywords
    )


# Where the op goes


def _where(facts: Facts, group: Sequence[Assign]) -> Place | Home | Obstacle:
    first = group[0]
    found: Place | Home | Obstacle
    if facts.hoisting.loops(first.run.call):
        found = facts.hoisting.place(first.run.call, [one.variable for one in group])
    else:
        found = facts.assigns.home(group)
    if isinstance(found, Obstacle):
        return found
    caught = _caught(facts, group, found)
    if caught is not None:
        return caught
    readers = facts.graph_readers
    if isinstance(found, Home):
        noticed = [readers.noticing(op) for op in _OPS]
    else:
        noticed = [readers.obstacle(op, found.before) for op in _OPS]
    shown = (facts.op_names.shown_alike(found.before, one.call) for one in group)
    noticed += [_shadowed(facts, found.before), *shown]
    return next(filter(None, noticed), None) or found


def _caught(facts: Facts, group: Sequence[Assign], found: Place | Home) -> Obstacle | None:
    """A `try` that could catch an error which the new op does not give, or gives otherwise."""
    call = group[0].run.call
    around = [one for one in facts.source.ancestors(call) if isinstance(one, ast.Try)]
    if not around:
        return None
    adding = any(assign.kind != "assign" for assign in group)
    moved = isinstance(found, Home) or _may_be_another_graph(facts, group, found)
    if adding or moved:
        message = f"the `try` of line {around[0].lineno} may catch an error that is another one now"
        return Obstacle("in-try", message)
    return None


def _shadowed(facts: Facts, place: ast.stmt) -> Obstacle | None:
    """A name of the file's that means something else where the op is to be made."""
    scope = facts.scopes.of(place)
    for alias in (facts.names.alias, facts.names.alias_of("numpy")):
        if alias is not None and scope.owner(alias) is not facts.scopes.module:
            message = f"`{alias}` means something else in line {place.lineno}"
            return Obstacle("variable-unknown", message)
    return None


def _may_be_another_graph(facts: Facts, group: Sequence[Assign], place: Place) -> bool:
    """Whether the default graph may be another one, before the loop, than the variable's."""
    if any(one.attr in ("graph", "as_default") for one in facts.source.all(ast.Attribute)):
        return True
    if any(facts.names.tf(call.func) == "Graph" for call in facts.source.all(ast.Call)):
        return True
    made = [one for assign in group for one in facts.assigns.variables(assign.variable) or ()]
    makers = [facts.source.statement(variable.expr) for variable in made]
    if any(map(facts.default_graphs.may_be_replaced, makers)):
        return True
    homes = {facts.source.function(maker) for maker in makers}
    return not homes <= {None, facts.source.function(place.before)}


# What is written


def _rewrite(
    facts: Facts, group: Sequence[Assign], place: Place | Home, taken: set[str]
) -> Rewrite:
    tensorflow = facts.names.v1
    assert tensorflow is not None
    made = [_fed(facts, assign, place, taken) for assign in group]
    if isinstance(place, Place):
        own_graph = _may_be_another_graph(facts, group, place)
        edits = made_before_loop(facts, made, place.before, tensorflow, own_graph=own_graph)
        where = f"before the loop of line {place.before.lineno}"
    else:
        edits = made_with_variables(facts, made, place.makers, tensorflow)
        where = f"in line {place.before.lineno}, where the variable is made,"
    changes = changed_draws(facts, place.before)
    return Rewrite(
        facts.source.span(group[0].call),
        f"assign to `{facts.source.segment(group[0].variable)}` by one op, made {where} and fed"
        " with the value: an op made each time slows down every later step",
        "the same kind of op assigns the value in the same run, and the value is a number that a"
        " feed converts as a constant does",
        Contract.RESAMPLED if changes else Contract.EXACT,
        edits,
        changes=changes,
    )


def _fed(facts: Facts, assign: Assign, place: Place | Home, taken: set[str]) -> Fed:
    sort = facts.numbers.of(assign.value)
    dtype = facts.numbers.types.of(facts.assigns.variables(assign.variable) or ())
    value = fed_value(facts, assign.value, sort, dtype) if sort is not None else None
    assert value is not None
    own = isinstance(place, Home)
    variable = place.variable(assign) if isinstance(place, Home) else assign.variable
    return fed(facts, assign, ast.unparse(variable), value, taken, own=own)
