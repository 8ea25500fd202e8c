"""Writes a call without one of its arguments, all else as it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from tfrewrite.analysis.facts import Facts


def without_keyword(facts: Facts, call: ast.Call, keyword: ast.keyword) -> str:
    """The text of a call without a keyword argument, and without the comma that goes with it."""
    source = facts.source
    start, end = source.offsets(call)
    assert keyword.arg is not None
    value_start, value_end = source.offsets(keyword.value)
    name_start = source.text.rindex(keyword.arg, start, value_start)
    before, after = source.text[start:name_start], source.text[value_end:end]
    if "#" in before or "#" in after:
        return f"{source.text[start:value_start]}False{after}"
    following = re.match(r"\s*,\s*(?P<rest>[^\s)])", after)
    if following is None:
        return _without_comma(before) + re.sub(r"^\s*,(?=\s*\))", _kept_comma(before), after)
    begins = re.search(r"(\(|\n)\s*$", before) is not None
    return before + after[following.start("rest") :] if begins else _without_comma(before) + after


def _without_comma(before: str) -> str:
    return re.sub(r",\s*$", "", before)


def _kept_comma(before: str) -> str:
    """A comma at the end of the last argument stays one at the end of what is then the last."""
    return "," if re.search(r",\s*$", before) else ""
