"""Writes the elements of a dataset in place of what a run was to be fed with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.edits import (
    Edit,
    InsertBefore,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
)
from tfrewrite.writing.default_placeholders import (
    structure,
    tensorflow_of,
    with_defaults,
)
from tfrewrite.writing.feedless import without_feed
from tfrewrite.writing.hoisted import indentation_of, text_of

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_tensors import Elements, FedTensor
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.placeholders import Placeholder


def wired(
    facts: Facts,
    fed: list[FedTensor],
    placeholders: list[Placeholder],
    elements: Elements,
    loop: ast.For | ast.While,
    taken: set[str],
) -> tuple[Edit, ...]:
    """Gives the dataset to the placeholders before the loop, and feeds what is left."""
    iterator = placeholders[0].way.start + facts.names.fresh("element_iterator", taken)
    start = facts.names.fresh("start_elements", taken)
    taken |= {iterator.rpartition(".")[2], start}
    edits = with_defaults(facts, placeholders, iterator, taken)
    first, *others = elements.statements
    tf = tensorflow_of(facts, placeholders[0].call)
    casts = [
        f"{tf}.cast({part}, {text_of(facts, one.dtype)})"
        for one, part in zip(placeholders, elements.parts, strict=True)
    ]
    parameter = "element" if elements.parts == ("element",) else "*element"
    unit = indentation_of(facts, loop)
    function = f"lambda {parameter}: {structure(casts)}"
    if len(casts) > 1:
        function = f"\n{unit * 2}{function}\n{unit}"
    mapped = f"{text_of(facts, elements.dataset)}.map({function})"
    text = f"{start} = {iterator}.make_initializer(\n{unit}{mapped}\n)"
    edits.append(ReplaceStatement(facts.source.span(first), text))
    edits += [RemoveStatement(facts.source.span(o), facts.source.span(first)) for o in others]
    func = fed[0].run.call.func
    assert isinstance(func, ast.Attribute)
    run = f"{text_of(facts, func.value)}.run({start})"
    edits.append(InsertBefore(facts.source.span(loop), run))
    return (*edits, _without(facts, fed))


def _without(facts: Facts, fed: list[FedTensor]) -> Edit:
    """The run without what it was fed with; without a feed where nothing is left of it."""
    run, feed = fed[0].run, fed[0].feed
    gone = {one.key for one in fed}
    kept = [
        f"{text_of(facts, key)}: {text_of(facts, value)}"
        for key, value in zip(feed.keys, feed.values, strict=True)
        if key is not None and key not in gone
    ]
    if kept:
        return ReplaceExpression(facts.source.span(feed), f"{{{', '.join(kept)}}}")
    return ReplaceExpression(facts.source.span(run.call), without_feed(facts, run))
