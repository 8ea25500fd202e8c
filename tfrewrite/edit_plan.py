"""Sorts edits by the nodes that they concern, and decides where comments go."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from tfrewrite.edits import (
    Decorate,
    Edit,
    EditError,
    InsertBefore,
    RemoveStatement,
    ReplaceExpression,
    ReplaceStatement,
)
from tfrewrite.places import Line, NodeT, Place, Places
from tfrewrite.snippets import Snippet, Snippets, comments_in, fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.model import Span


@dataclass
class Work:
    """What is to be done at one statement."""

    inserts: list[Snippet] = field(default_factory=list)
    replacement: Snippet | None = None
    removed: bool = False
    kept: bool = False
    """Whether the comments of what is removed are in new code already."""


@dataclass
class Plan:
    """All edits, by the node that they concern."""

    expressions: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)
    statements: dict[cst.CSTNode, Work] = field(default_factory=lambda: defaultdict(Work))
    decorators: dict[cst.CSTNode, list[cst.Decorator]] = field(
        default_factory=lambda: defaultdict(list)
    )
    comments_before: dict[Line, list[str]] = field(default_factory=lambda: defaultdict(list))
    comments_after: dict[Line, list[str]] = field(default_factory=lambda: defaultdict(list))
    on_the_way: set[cst.CSTNode] = field(default_factory=set)

    def gone(self, line: Line) -> bool:
        """Whether nothing stands in the place of a line."""
        nodes = line.body if isinstance(line, cst.SimpleStatementLine) else (line,)
        works = [self.statements.get(node) for node in nodes]
        return all(work is not None and work.removed and not work.inserts for work in works)


def plan_for(module: cst.Module, edits: Sequence[Edit]) -> Plan:
    # The copy that the wrapper makes by default is for trees in which a node stands twice; a tree
    # fresh from the parser has none.
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    wanted = {edit.span for edit in edits}
    wanted |= {edit.comments_to for edit in edits if isinstance(edit, RemoveStatement)}
    places = Places(module, positions, wanted)
    snippets = Snippets(module.default_newline)
    plan = Plan()
    for edit in edits:
        _enter(plan, module, places, snippets, edit)
    _move_comments(plan, places, edits)
    return plan


def _enter(plan: Plan, module: cst.Module, places: Places, snippets: Snippets, edit: Edit) -> None:
    if isinstance(edit, ReplaceExpression):
        expression = _found(places.expressions, edit.span, edit)
        _enter_expression(plan, module, snippets, edit, expression)
        plan.on_the_way.update(expression.ancestors)
    elif isinstance(edit, Decorate):
        function = _found(places.statements, edit.span, edit)
        _enter_decorator(plan, snippets, edit, function)
        plan.on_the_way.update(function.ancestors)
    else:
        statement = _found(places.statements, edit.span, edit)
        _enter_statement(plan, snippets, edit, statement)
        plan.on_the_way.update(statement.ancestors)


def _enter_expression(
    plan: Plan,
    module: cst.Module,
    snippets: Snippets,
    edit: ReplaceExpression,
    place: Place[cst.BaseExpression],
) -> None:
    if any(isinstance(outer, cst.FormattedString) for outer in place.ancestors):
        raise EditError("an expression within an f-string cannot be replaced alone", edit)
    if any(outer in plan.expressions for outer in (*place.ancestors, place.node)):
        raise EditError("an expression and a part of it cannot both be replaced", edit)
    new = _expression(snippets, edit, _indent(module, place))
    plan.expressions[place.node] = fitted(place.node, new, place.parent)
    if not edit.kept:
        _keep_comments(plan, place, new)


def _enter_statement(
    plan: Plan,
    snippets: Snippets,
    edit: InsertBefore | ReplaceStatement | RemoveStatement,
    place: Place[cst.CSTNode],
) -> None:
    if not place.in_block:
        raise EditError("an `elif` cannot be edited as a statement of its own", edit)
    work = plan.statements[place.node]
    if isinstance(edit, InsertBefore):
        work.inserts.append(_statements(snippets, edit))
    elif work.removed or work.replacement is not None:
        raise EditError("a statement cannot be replaced or removed twice", edit)
    elif isinstance(edit, RemoveStatement):
        work.removed, work.kept = True, edit.kept
    elif isinstance(place.node, cst.BaseCompoundStatement):
        raise EditError("only a simple statement can be replaced", edit)
    else:
        work.replacement = _statements(snippets, edit)
        _keep_comments(plan, place, *work.replacement.statements)


def _enter_decorator(
    plan: Plan, snippets: Snippets, edit: Decorate, place: Place[cst.CSTNode]
) -> None:
    if not isinstance(place.node, cst.FunctionDef):
        raise EditError("only a function can be decorated", edit)
    try:
        expression = snippets.expression(edit.text, "")
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        raise EditError("the new decorator is not one expression", edit) from error
    plan.decorators[place.node].append(cst.Decorator(expression))


def _indent(module: cst.Module, place: Place[cst.BaseExpression]) -> str:
    """The indentation of the statement that an expression belongs to."""
    return "".join(
        module.default_indent if outer.indent is None else outer.indent
        for outer in place.ancestors
        if isinstance(outer, cst.IndentedBlock)
    )


def _expression(snippets: Snippets, edit: ReplaceExpression, indent: str) -> cst.BaseExpression:
    try:
        return snippets.expression(edit.text, indent)
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        raise EditError("the new code is not one expression", edit) from error


def _statements(snippets: Snippets, edit: InsertBefore | ReplaceStatement) -> Snippet:
    try:
        return snippets.statements(edit.text)
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        raise EditError("the new code does not parse", edit) from error


def _found(found: dict[Span, Place[NodeT]], span: Span, edit: Edit) -> Place[NodeT]:
    place = found.get(span)
    if place is None:
        where = f"{span.line}:{span.column + 1}"
        raise EditError(f"nothing that can be edited stands at {where}", edit)
    return place


def _keep_comments(plan: Plan, place: Place[cst.CSTNode], *new: cst.CSTNode) -> None:
    """Comments inside what is replaced go above its statement, unless the new code has them."""
    repeated = Counter(comment for node in new for comment in comments_in(node))
    comments = comments_in(_without_parentheses(place.node))
    plan.comments_after[place.line] += _not_repeated(comments, repeated)


def _not_repeated(comments: Sequence[str], repeated: Counter[str]) -> list[str]:
    """The comments that the new code does not have itself."""
    left = []
    for comment in comments:
        if repeated[comment]:
            repeated[comment] -= 1
        else:
            left.append(comment)
    return left


def _without_parentheses(node: cst.CSTNode) -> cst.CSTNode:
    """What of a node is replaced: the parentheses around it stay, with their comments."""
    if isinstance(node, cst.BaseExpression) and not isinstance(node, (cst.Tuple, cst.GeneratorExp)):
        return node.with_changes(lpar=(), rpar=())
    return node


def _move_comments(plan: Plan, places: Places, edits: Sequence[Edit]) -> None:
    removals = sorted(
        (edit for edit in edits if isinstance(edit, RemoveStatement)), key=lambda edit: edit.span
    )
    heirs = {places.statements[edit.span].line: edit.comments_to for edit in removals}
    told: set[Line] = set()
    for edit in removals:
        if edit.kept:
            continue
        place = places.statements[edit.span]
        if not plan.gone(place.line):
            comments = comments_in(place.node)
        elif place.line in told:
            continue
        else:
            told.add(place.line)
            comments = comments_in(place.line)
        _hand_over(plan, places, edit, heirs, comments)


def _hand_over(
    plan: Plan,
    places: Places,
    edit: RemoveStatement,
    heirs: dict[Line, Span],
    comments: Sequence[str],
) -> None:
    target = edit.comments_to
    for _ in range(len(heirs) + 1):
        heir = _found(places.statements, target, edit).line
        if not plan.gone(heir) or heir not in heirs:
            break
        target = heirs[heir]
    else:
        raise EditError("the comments of a removed statement have nowhere to go", edit)
    plan.on_the_way.update(places.statements[target].ancestors)
    work = plan.statements.get(places.statements[target].node)
    if edit.moved and work is not None and work.inserts:
        repeated = Counter(one for new in work.inserts[-1].statements for one in comments_in(new))
        work.inserts[-1] = work.inserts[-1].under(_not_repeated(comments, repeated))
        return
    lists = plan.comments_before if edit.span < target else plan.comments_after
    lists[heir].extend(comments)
