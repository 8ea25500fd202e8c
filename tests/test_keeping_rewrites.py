"""What files are with only some of their rewrites made."""

from __future__ import annotations

from itertools import combinations

from tfrewrite.keeping.rewrites import Place, Rewrites, RewrittenFile
from tfrewrite.policy import Policy
from tfrewrite.rule import Rule
from toys import TOYS, Crash

TEXT = """def f():
    for step in x:
        a = one(make())
        b = one(2)
        old(3), old(4)
"""


def file(
    text: str = TEXT, name: str = "f.py", rules: tuple[type[Rule], ...] = TOYS
) -> RewrittenFile:
    return RewrittenFile(name, name, text.encode(), Policy(rules), named=True)


def test_each_is_known_by_rule_and_line() -> None:
    places = file().full.made
    assert sorted((place.rule, place.line) for place in places) == [
        ("TFR901", 5), ("TFR902", 3), ("TFR903", 3),
    ]  # fmt: skip


def test_all_of_them_give_what_the_engine_gives() -> None:
    one = file()
    assert one.with_only(one.full.made).data == one.full.data
    assert b"made_0 = make()\n    for step in x:\n        a, b = many(made_0, 2)" in one.full.data
    assert b"new(3), new(4)" in one.full.data


def test_every_subset_makes_just_those() -> None:
    one = file()
    for count in range(len(one.full.made) + 1):
        for chosen in combinations(one.full.made, count):
            version = one.with_only(chosen)
            assert set(version.made) == set(chosen)
            text = version.outcome.after
            rules = {place.rule for place in chosen}
            assert ("new(" in text) is ("TFR901" in rules)
            assert ("many(" in text) is ("TFR902" in rules)
            assert ("made_0" in text) is ("TFR903" in rules)
    assert one.with_only([]).outcome.after == TEXT


def test_what_builds_on_another_comes_after_it() -> None:
    """Both touch one statement: the second is judged on the text that the first has made."""
    one = file("a = one(1)\nb = one(2)\nmake()\nfor i in x:\n    old(make())\n")
    order = [place.rule for place in one.full.made]
    assert order.index("TFR901") < order.index("TFR903")


def test_what_is_not_made_has_no_data_of_its_own() -> None:
    rewrites = Rewrites([file(), file("plain(1)\n", "g.py"), file("old(1)\n", "h.py")])
    assert rewrites.versions(frozenset()) == {}
    (last,) = (place for place in rewrites.all if place.file == "h.py")
    found = rewrites.versions(frozenset([last]))
    assert {name: version.data for name, version in found.items()} == {"h.py": b"new(1)\n"}
    assert rewrites.made(frozenset([last, Place("h.py", 9, "TFR901")])) == {last}


def test_what_the_rules_say_is_kept_with_the_place() -> None:
    rewrites = Rewrites([file("old(1); old(2)\n")])
    (place,) = rewrites.all
    assert [one.message for one in rewrites.findings(place)] == ["old -> new"] * 2
    assert all(one.touched for one in rewrites.findings(place))


def test_the_file_is_never_written() -> None:
    one = RewrittenFile("f.py", "/none/f.py", b"old(1)\n", Policy(TOYS, write=True), named=True)
    assert one.full.data == b"new(1)\n"


def test_a_file_that_fails_has_no_rewrites() -> None:
    assert file("crash(1)\nold(2)\n", rules=(*TOYS, Crash)).full.made == ()
    assert file("old(\n").full.made == ()
