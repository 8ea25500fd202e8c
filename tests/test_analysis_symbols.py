"""The symbols that are known by name, each held against what is measured of TensorFlow."""

from __future__ import annotations

import pytest

from tfrewrite.analysis import symbols
from tfrewrite.analysis.effects import effect_of


@pytest.mark.parametrize(
    "group",
    [
        symbols.VARIABLES,
        symbols.PLAIN_SESSIONS,
        symbols.HOOKED_SESSIONS,
        symbols.SUMMARY_WRITERS,
    ],
)
def test_symbols_are_written_as_the_names_come_out(group: frozenset[str]) -> None:
    for symbol in group:
        assert not symbol.startswith(("tf.", "tensorflow.", "compat.")), symbol


def test_no_session_is_both_plain_and_hooked() -> None:
    assert not symbols.PLAIN_SESSIONS & symbols.HOOKED_SESSIONS
    assert symbols.SESSIONS == symbols.PLAIN_SESSIONS | symbols.HOOKED_SESSIONS


def test_no_symbol_is_two_things() -> None:
    groups = [symbols.VARIABLES, symbols.SESSIONS, symbols.SUMMARY_WRITERS, symbols.CONFIGURATION]
    assert sum(map(len, groups)) == len(frozenset().union(*groups))


def test_what_makes_a_variable_is_measured_to_make_one() -> None:
    for symbol in ("Variable", "get_variable"):
        effect = effect_of(symbol, "1")
        assert effect is None or effect.creates, symbol
