"""Writes placeholders that take the elements of an iterator where nothing is fed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, ReplaceStatement
from tfrewrite.writing.hoisted import text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.placeholders import Placeholder

WIDTH = 100
"""How long a line may be that is written anew."""


def with_defaults(
    facts: Facts, placeholders: list[Placeholder], iterator: str, taken: set[str]
) -> list[Edit]:
    """An iterator that a dataset is given to later, and its elements as defaults.

    The graph optimiser takes the shape of what is fed for unknown, whatever the placeholder
    says. It must not know more of an element, or it would round in other ways; so the shapes
    are set afterwards, where only Python sees them.
    """

    def fresh(base: str) -> str:
        name = facts.names.fresh(base, taken)
        taken.add(name)
        return name

    names = [fresh(f"next_{_word(one)}") for one in placeholders]
    dtypes = [text_of(facts, one.dtype) for one in placeholders]
    first = min(placeholders, key=lambda one: facts.source.span(one.statement))
    targets = ", ".join(names)
    tf = tensorflow_of(facts, first.call)
    lines = f"{iterator} = {tf}.data.Iterator.from_structure({structure(dtypes)})\n"
    room = WIDTH - facts.source.span(first.statement).column
    if len(f"{targets} = {iterator}.get_next()") > room:
        targets = fresh("next_elements")
        names = [f"{targets}[{index}]" for index in range(len(names))]
    lines += f"{targets} = {iterator}.get_next()"
    if facts.source.line(first.statement.lineno - 1).lstrip().startswith("#"):
        lines += "\n\n"  # the comment is about the placeholder
    edits: list[Edit] = [InsertBefore(facts.source.span(first.statement), lines)]
    for one, name in zip(placeholders, names, strict=True):
        edits.append(
            ReplaceStatement(facts.source.span(one.statement), defaulted(facts, one, name))
        )
    return edits


def defaulted(facts: Facts, placeholder: Placeholder, default: str) -> str:
    """The statement of a placeholder that has a default."""
    given = [default, "None"]
    if placeholder.name is not None:
        given.append(f"name={text_of(facts, placeholder.name)}")
    target = text_of(facts, placeholder.target)
    tf = tensorflow_of(facts, placeholder.call)
    text = f"{target} = {tf}.placeholder_with_default({', '.join(given)})"
    if placeholder.shape is not None and ast.unparse(placeholder.shape) != "None":
        text += f"\n{target}.set_shape({text_of(facts, placeholder.shape)})"
    return text


def tensorflow_of(facts: Facts, call: ast.Call) -> str:
    """What TensorFlow is called where a placeholder is made."""
    func = call.func
    assert isinstance(func, ast.Attribute)
    return facts.source.segment(func.value)


def structure(parts: list[str]) -> str:
    """A tuple, or the one thing itself."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _word(placeholder: Placeholder) -> str:
    target = placeholder.target
    return (target.id if isinstance(target, ast.Name) else target.attr).strip("_").lower()
