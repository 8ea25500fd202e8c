"""Writes the calls that take the place of `predict` and `fit`, and the functions that choose."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.edits import Edit, InsertBefore, ReplaceExpression

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.keras_calls import KerasCall


@dataclass(frozen=True)
class Helper:
    """A function that looks at the data at run time, and its body with `np` for numpy."""

    name: str
    text: str


PREDICT = Helper(
    "predict_one_batch",
    '''\
    def predict_one_batch(model, x, batch_size=None, **options):
        """The same as `model.predict`, without the pipeline that it builds in each call."""
        one_batch = type(x) is np.ndarray and x.ndim > 1 and 0 < len(x) <= (batch_size or 32)
        if one_batch and x.dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
            return model.predict_on_batch(x)
        return model.predict(x, batch_size=batch_size, **options)
    ''',
)
FIT = Helper(
    "fit_one_row",
    '''\
    def fit_one_row(model, x, y, **options):
        """The same as `model.fit`, without the pipeline that it builds in each call."""
        numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
        arrays = all(type(a) is np.ndarray and a.dtype in numbers for a in (x, y))
        if arrays and x.shape[:1] == y.shape[:1] == (1,):
            model.train_on_batch(x, y)
        else:
            model.fit(x, y, **options)
    ''',
)
FIT_BATCH = Helper(
    "fit_one_batch",
    '''\
    def fit_one_batch(model, x, y, batch_size=None, **options):
        """The same as `model.fit` but for the order of rows, without a pipeline for each call."""
        numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
        arrays = all(type(a) is np.ndarray and a.ndim and a.dtype in numbers for a in (x, y))
        if arrays and 0 < len(x) == len(y) <= (batch_size or 32):
            model.train_on_batch(x, y)
        else:
            model.fit(x, y, batch_size=batch_size, **options)
    ''',
)


def by_method(facts: Facts, call: ast.Call, method: str, arguments: Iterable[ast.expr]) -> Edit:
    """`model.method(arguments)` in the place of another call of the model."""
    assert isinstance(call.func, ast.Attribute)
    receiver = facts.source.segment(call.func.value)
    given = ", ".join(facts.source.segment(one) for one in arguments)
    return ReplaceExpression(facts.source.span(call), f"{receiver}.{method}({given})")


def by_helper(
    facts: Facts, call: ast.Call, helper: Helper, numpy: str, place: ast.stmt
) -> tuple[Edit, ...]:
    """`helper(model, arguments)` in the place of a call, and the helper where there is none."""
    assert isinstance(call.func, ast.Attribute)
    existing = _existing(facts, helper, numpy, place)
    name = existing or facts.names.fresh(helper.name)
    receiver = facts.source.segment(call.func.value)
    given = [facts.source.segment(one) for one in call.args]
    given += [f"{one.arg}={facts.source.segment(one.value)}" for one in call.keywords]
    text = f"{name}({', '.join([receiver, *given])})"
    replaced = ReplaceExpression(facts.source.span(call), text)
    if existing:
        return (replaced,)
    lead = "\n" * _missing_lines(facts, place)
    body = _text(helper, name, numpy)
    return (InsertBefore(facts.source.span(place), f"{lead}{body}\n\n"), replaced)


def _text(helper: Helper, name: str, numpy: str) -> str:
    text = textwrap.dedent(helper.text).replace("np.", f"{numpy}.")
    return text.replace(helper.name, name)


def _existing(facts: Facts, helper: Helper, numpy: str, place: ast.stmt) -> str:
    """The name of such a function that stands above a place already."""
    for statement in facts.source.tree.body:
        if statement.lineno > place.lineno:
            break
        if isinstance(statement, ast.FunctionDef):
            made = ast.parse(_text(helper, statement.name, numpy)).body[0]
            if ast.dump(made) == ast.dump(statement):
                return statement.name
    return ""


def _missing_lines(facts: Facts, place: ast.stmt) -> int:
    """How many blank lines there should be above a function that are not there yet."""
    lines = facts.source.text.splitlines()
    first = min([place.lineno, *(d.lineno for d in getattr(place, "decorator_list", ()))]) - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    blank = 0
    while first - blank > 0 and not lines[first - blank - 1].strip():
        blank += 1
    return max(0, 2 - blank) if first - blank > 0 else 0


def before_first(facts: Facts, calls: Sequence[KerasCall]) -> ast.stmt | None:
    """The statement of the module before which a helper stands that all of these calls use."""
    places = [_outermost(facts, one.call) for one in calls]
    return min(places, key=lambda place: place.lineno, default=None)


def _outermost(facts: Facts, node: ast.AST) -> ast.stmt:
    """The statement of the module that a node stands in."""
    statement = facts.source.statement(node)
    for outer in facts.source.ancestors(node):
        if isinstance(outer, ast.stmt):
            statement = outer
    return statement
