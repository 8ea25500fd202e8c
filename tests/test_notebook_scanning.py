"""The places of cells in a JSON text are found whatever stands around them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrewrite.notebooks.scanning import NotJson, elements, scan
from tfrewrite.notebooks.sources import Source, Spelling

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["source", "cells", "outputs", "a", '"', "é"])
CELL = st.dictionaries(NAMES, VALUES, max_size=4)
DOCUMENT = st.dictionaries(NAMES, VALUES, max_size=4)
SPACES = st.sampled_from([None, 0, 1, "\t"])


@given(
    around=DOCUMENT,
    cells=st.lists(CELL | VALUES, max_size=4),
    indent=SPACES,
    escaped=st.booleans(),
)
def test_every_value_is_found_where_it_stands(
    *, around: dict[str, object], cells: list[object], indent: int | str | None, escaped: bool
) -> None:
    made = {**around, "cells": cells}
    text = " \n" + json.dumps(made, indent=indent, ensure_ascii=escaped) + "\r\n "
    found = scan(text)
    assert found.members == {name: value for name, value in made.items() if name != "cells"}
    assert found.cells is not None
    assert len(found.cells) == len(cells)
    for seen, cell in zip(found.cells, cells, strict=True):
        wanted = cell if isinstance(cell, dict) else {}
        members = {name: one.value for name, one in seen.members.items()}
        assert members == {name: one for name, one in wanted.items() if name != "outputs"}
        for one in seen.members.values():
            assert json.loads(text[one.start : one.end]) == one.value


@given(st.lists(VALUES, max_size=4), SPACES)
def test_the_elements_of_a_list(values: list[object], indent: int | str | None) -> None:
    text = json.dumps(values, indent=indent)
    assert [json.loads(text[start:end]) for start, end in elements(text, 0)] == values


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"', '{"a":', '{"a":1,}', '{"a" 1}', "{a:1}", '{"cells":[1 2]}', "{} {}"]
)
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(NotJson):
        scan(text)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


SOURCES = st.text(st.sampled_from("ab\n\r\t\\\"é<>&'\u2028\U0001f600\x0c"))


@given(old=SOURCES, new=SOURCES, as_list=st.booleans(), escaped=st.booleans(), indent=SPACES)
def test_a_source_says_what_was_asked_for(
    *, old: str, new: str, as_list: bool, escaped: bool, indent: int | str | None
) -> None:
    value = [f"{line}\n" for line in old.split("\n")] if as_list else old
    text = json.dumps({"cells": [{"source": value}]}, indent=indent, ensure_ascii=escaped)
    (cell,) = scan(text).cells or ()
    source = Source(text, cell.members["source"])
    assert source.text == "".join(value)
    spelling = Spelling.of(text, source.between or ", ")
    for wanted in (new, source.text, ""):
        said = json.loads(source.rewritten(wanted, spelling))
        assert isinstance(said, list) == as_list
        assert "".join(said) == wanted
        if as_list:
            assert all(one.endswith("\n") for one in said[:-1])
    for number, line in enumerate(source.text.split("\n")[:-1], 1):
        for column, letter in enumerate(line):
            at = source.place(number, column)
            assert json.loads(f'"{_first(text, at)}"') == letter


def _first(text: str, at: int) -> str:
    """The character of a JSON string that begins at a place, as it is written."""
    if text[at] != "\\":
        return text[at]
    if text[at + 1] != "u":
        return text[at : at + 2]
    pair = text[at + 2 : at + 4].lower() in {"d8", "d9", "da", "db"}
    return text[at : at + (12 if pair else 6)]
