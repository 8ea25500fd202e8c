"""Rewrites that touch each other wait for the next round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.compose import Candidate, together
from tfrewrite.edits import Edit, InsertBefore, RemoveStatement, ReplaceExpression, ReplaceStatement
from tfrewrite.model import Contract, Rewrite, Span
from toys import HoistMake, MergePairs, RenameOld

if TYPE_CHECKING:
    from tfrewrite.rule import Rule


def candidate(rule: type[Rule], span: Span, *edits: Edit) -> Candidate:
    return Candidate(rule, Rewrite(span, "what", "why", Contract.EXACT, edits))


def line(number: int, end: int | None = None) -> Span:
    return Span(number, 0, end or number, 9)


def replace_line(number: int, rule: type[Rule] = RenameOld, text: str = "x") -> Candidate:
    return candidate(rule, line(number), ReplaceStatement(line(number), text))


def test_what_does_not_touch_goes_together_in_the_order_of_the_text() -> None:
    first, second = replace_line(1), replace_line(2)
    assert together([second, first]) == [first, second]


def test_the_lower_code_wins() -> None:
    later = replace_line(1, MergePairs)
    earlier = replace_line(1, RenameOld)
    assert together([later, earlier]) == [earlier]


def test_what_lies_between_the_edits_of_one_belongs_to_it() -> None:
    wide = candidate(
        RenameOld, line(1), ReplaceStatement(line(1), "x"), RemoveStatement(line(9), line(1))
    )
    assert together([replace_line(5, MergePairs), wide]) == [wide]


def test_an_insertion_reaches_only_the_start_of_its_statement() -> None:
    loop = line(1, 9)
    insertion = candidate(RenameOld, line(1), InsertBefore(loop, "x = 1"))
    inside = replace_line(5, MergePairs)
    assert together([insertion, inside]) == [insertion, inside]


class Guard(RenameOld):
    code = "TFR001"
    judges_the_rest = True


def test_what_is_sound_because_of_the_rest_waits_until_the_rest_is_done() -> None:
    guard, other = replace_line(1, Guard), replace_line(9, HoistMake)
    assert together([guard, other]) == [other]
    assert together([guard, replace_line(5, Guard)]) == [guard, replace_line(5, Guard)]


def test_the_same_new_name_is_made_once_a_round() -> None:
    texts = [
        "n = 1",
        "def n(): pass",
        "import n",
        "import a as n",
        "for n in x: pass",
        "class n: 1",
    ]
    for text in texts:
        one, two = replace_line(1, HoistMake, text), replace_line(3, HoistMake, "n = 2")
        assert together([one, two]) == [one]
    assert len(together([replace_line(1, HoistMake, "m = n"), replace_line(3, text="n = 2")])) == 2


def test_code_that_does_not_parse_is_left_to_the_surgery() -> None:
    broken = replace_line(1, text="if")
    expression = candidate(RenameOld, line(2), ReplaceExpression(line(2), "x"))
    assert together([broken, expression]) == [broken, expression]
