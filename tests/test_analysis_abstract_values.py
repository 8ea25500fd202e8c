"""Values joined, and the objects that parts of them belong to."""

from __future__ import annotations

import ast

from tfrewrite.analysis.eager.abstract_values import (
    Array,
    Bottom,
    Group,
    Number,
    Own,
    Tensor,
    Thing,
    Unknown,
    changed,
    group,
    join,
    joined,
    made_by,
    may_be_one,
    part_of,
    parts,
)


def test_a_list_is_changed_under_all_of_its_names() -> None:
    here, there = frozenset({(ast.Pass(),)}), frozenset({(ast.Pass(),)})
    empty, other = Group((), Bottom(), here), Group((), Bottom(), there)
    new = Group(None, Tensor(), here)
    assert changed(empty, here, new) == new
    both = changed(group(empty, other), here, new)
    assert isinstance(both, Group)
    assert both.items == (new, other)
    assert changed(other, here, new) == other


def test_two_values_are_joined_to_what_holds_of_both() -> None:
    one, two = Number(ast.Constant(1)), Number(ast.Constant(2))
    assert join(Bottom(), one) == one
    again = join(one, Number(ast.Constant(1)))
    assert isinstance(again, Number)
    assert again.literal is not None
    assert join(one, two) == Number()
    assert join(one, Number(ast.Constant(value=True))) == Number()
    assert join(one, Tensor()) == Number(tensor=Tensor())
    assert join(Tensor(), Tensor(static=False)) == Tensor(static=False)
    assert isinstance(join(Tensor(), Array()), Unknown)
    assert isinstance(join(Unknown("why"), Tensor()), Unknown)
    either = join(join(one, Tensor(squashed=True)), Tensor(static=False))
    assert either == Number(tensor=Tensor(squashed=True, static=False))
    assert parts(either) == [either, Tensor(squashed=True, static=False)]
    both = join(group(one, Tensor()), group(two, Tensor()))
    assert isinstance(both, Group)
    assert both.items == (Number(), Tensor())
    assert joined() == Bottom()


def test_what_a_call_gives_is_made_by_the_call() -> None:
    inner, outer = ast.Constant(1), ast.Constant(2)
    thing = Thing("model", "keras.Sequential", frozenset({inner}))
    assert made_by(thing, outer) == Thing("model", "keras.Sequential", frozenset({outer}))
    assert parts(made_by(group(thing, Tensor()), outer))[0] == made_by(thing, outer)


def test_a_part_belongs_to_the_object_that_made_it() -> None:
    first, second, call = ast.Pass(), ast.Pass(), ast.Call(ast.Name("f"), [], [])
    cls = ast.parse("class A: pass").body[0]
    assert isinstance(cls, ast.ClassDef)
    layer = Thing("layer", "keras.layers.Dense", frozenset({call}))
    one, other = (
        part_of(layer, Own(cls, frozenset({maker})), lambda _: True) for maker in (first, second)
    )
    assert isinstance(one, Thing)
    assert isinstance(other, Thing)
    assert not may_be_one(one, other)
    assert may_be_one(one, layer)
    any_part = part_of(layer, Own(cls, frozenset({cls})), lambda _: True)
    assert isinstance(any_part, Thing)
    assert may_be_one(one, any_part)
    assert part_of(layer, Own(cls), lambda _: False) == layer
    both = join(one, other)
    assert isinstance(both, Thing)
    assert may_be_one(both, one)
