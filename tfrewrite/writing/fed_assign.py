"""Writes one placeholder and one assign op in place of those of each turn, and feeds the value."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION
from tfrewrite.analysis.program.number_sorts import Number
from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression, ReplaceStatement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.assigns import Assign

_VERBS = {"assign": "assign_{}", "assign_add": "add_to_{}", "assign_sub": "subtract_from_{}"}
_VALUES = {"assign": "{}_value", "assign_add": "{}_increase", "assign_sub": "{}_decrease"}


@dataclass(frozen=True, eq=False)
class Fed:
    """An assign with the text that is written for it."""

    assign: Assign
    variable: str
    """What the variable is called where the op is made."""
    op: str
    placeholder: str
    value: str
    """What is fed."""


def fed_value(facts: Facts, value: ast.expr, sort: Number, dtype: str | None) -> str | None:
    """What to feed so that it becomes what the constant became; None where nothing does."""
    text = _text(facts, value)
    numpy = facts.names.alias_of("numpy")
    # It wraps as the constant does, and nobody else holds its memory.
    copied = f"{numpy}.array({text})" if numpy else None
    if sort is Number.FRESH:
        return text
    if sort is Number.ARRAY:
        return copied
    match dtype, sort:
        case ("float", Number.FLOAT) | ("int32" | "int64", Number.SMALL):
            return text
        case ("int64", Number.INT) | ("bool", Number.BOOL):
            return text
        case ("int32", Number.INT):
            return copied
        case ("float", Number.SMALL | Number.INT | Number.REAL):
            hidden = any("float" in scope.bindings for scope in facts.scopes.all())
            return None if hidden else f"float({text})"
    return None


def fed(
    facts: Facts, assign: Assign, variable: str, value: str, taken: set[str], *, own: bool
) -> Fed:
    """Gives an assign its new names; with `own` they are attributes, as the variable is."""
    owner, _, name = variable.rpartition(".")
    base = name.strip("_").lower() or "variable"
    hidden = "_" if own and name.startswith("_") else ""
    names = [
        facts.names.fresh(hidden + form[assign.kind].format(base), taken)
        for form in (_VERBS, _VALUES)
    ]
    taken.update(names)
    prefix = f"{owner}." if own else ""
    return Fed(assign, variable, prefix + names[0], prefix + names[1], value)


def made_before_loop(
    facts: Facts, made: Sequence[Fed], before: ast.stmt, tensorflow: str, *, own_graph: bool
) -> tuple[Edit, ...]:
    """The ops go in front of a loop; under the variable's own graph where that may be another."""
    texts = []
    for one in made:
        lines = _lines(facts, one, tensorflow)
        if own_graph:
            lines = [f"with {one.variable}.graph.as_default():", *(f"    {line}" for line in lines)]
        texts.append("\n".join(lines))
    place = facts.source.span(before)
    return (*(InsertBefore(place, text) for text in texts), *_runs(facts, made, place=before))


def made_with_variables(
    facts: Facts, made: Sequence[Fed], makers: Sequence[ast.stmt], tensorflow: str
) -> tuple[Edit, ...]:
    """The ops go right after the statements that make the variables."""
    edits: list[Edit] = []
    for one, maker in zip(made, makers, strict=True):
        lines = _lines(facts, one, tensorflow)
        block, index = facts.source.position(maker)
        if index + 1 < len(block):
            edits.append(InsertBefore(facts.source.span(block[index + 1]), "\n".join(lines)))
        else:
            text = "\n".join([facts.source.segment(maker), *lines])
            edits.append(ReplaceStatement(facts.source.span(maker), text))
    statement = facts.source.statement(made[0].assign.run.call)
    return (*edits, *_runs(facts, made, place=statement))


def _lines(facts: Facts, made: Fed, tensorflow: str) -> list[str]:
    """The lines that make the placeholder and the op."""
    variable = made.variable
    # With a name of its own it takes none from placeholders that the script makes later.
    name = made.placeholder.rpartition(".")[2].lstrip("_")
    shaped = f'{variable}.dtype.base_dtype, {variable}.get_shape(), name="{name}"'
    call = made.assign.call
    options = [_text(facts, one) for one in call.args[1 if made.assign.by_method else 2 :]]
    options += [
        f"{keyword.arg}={_text(facts, keyword.value)}"
        for keyword in call.keywords
        if keyword.value not in (made.assign.value, made.assign.variable)
    ]
    given = [made.placeholder, *options]
    func = f"{variable}.{made.assign.kind}"
    if not made.assign.by_method:
        func, given = _text(facts, call.func), [variable, *given]
    return [
        f"{made.placeholder} = {tensorflow}.placeholder({shaped})",
        f"{made.op} = {func}({', '.join(given)})",
    ]


def _runs(facts: Facts, made: Sequence[Fed], place: ast.stmt) -> list[Edit]:
    """The run feeds the values, and fetches the ops; it is their name that is gone."""
    above = facts.source.span(place)
    edits: list[Edit] = [
        RemoveStatement(facts.source.span(one.assign.named), above)
        for one in made
        if one.assign.named is not None
    ]
    run = made[0].assign.run
    fetches, feed = _fetches(facts, made), _feed(facts, made)
    text = f"{_session(facts, made[0])}.run({fetches}, feed_dict={feed})"
    return [*edits, ReplaceExpression(facts.source.span(run.call), text)]


def _session(facts: Facts, made: Fed) -> str:
    run = made.assign.run
    if not run.direct:
        default = run.session == DEFAULT_SESSION
        return f"{facts.names.v1}.get_default_session()" if default else run.session
    assert isinstance(run.call.func, ast.Attribute)
    return _text(facts, run.call.func.value)


def _feed(facts: Facts, made: Sequence[Fed]) -> str:
    feed = [f"{one.placeholder}: {one.value}" for one in made]
    old = made[0].assign.run.feed
    if isinstance(old, ast.Dict):
        for key, value in zip(old.keys, old.values, strict=True):
            before = f"{_text(facts, key)}: " if key is not None else "**"
            feed.append(before + _text(facts, value))
    return f"{{{', '.join(feed)}}}"


def _fetches(facts: Facts, made: Sequence[Fed]) -> str:
    fetches = made[0].assign.run.fetches
    if not isinstance(fetches, (ast.List, ast.Tuple)):
        return _fetched(made[0])
    ops = {one.assign.fetched: _fetched(one) for one in made}
    parts = [ops.get(one) or _text(facts, one) for one in fetches.elts]
    if isinstance(fetches, ast.List):
        return f"[{', '.join(parts)}]"
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _fetched(made: Fed) -> str:
    return f"{made.op}.op" if made.assign.gives_nothing else made.op


def _text(facts: Facts, node: ast.expr) -> str:
    """The text of an expression; written anew where it goes over several lines."""
    span = facts.source.span(node)
    return facts.source.segment(node) if span.line == span.end_line else ast.unparse(node)
