"""The shared analysis of a file: made when asked for, once, and told what the owner allows."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.facts import Facts
from tfrewrite.model import DEFAULT_CONTRACTS, Contract


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.contrib.graph_editor as ge\nge.connect(a, b)",
        "op._update_input(0, other)",
        "op._add_control_input(other)",
        "with g.gradient_override_map({'Relu': 'Mine'}): pass",
        "@tf.RegisterGradient('Mine')\ndef f(op, grad): pass",
    ],
)
def test_a_file_that_rewires_its_graph_says_so(text: str) -> None:
    assert facts(text).dynamics.rewires_graph


def test_most_files_do_not_rewire_their_graph() -> None:
    assert not facts("import tensorflow as tf\ntf.gradients(loss, w)\n").dynamics.rewires_graph


def test_nothing_is_made_before_it_is_asked_for() -> None:
    found = facts("a = 1\n")
    before = set(vars(found))
    assert found.names is found.names
    assert set(vars(found)) - before == {"names", "scopes"}


def test_all_parts_talk_about_the_same_tree() -> None:
    tree = ast.parse("a = 1\n")
    found = Facts.build("a = 1\n", tree)
    assert found.source.tree is tree
    assert found.scopes.source is found.source


def test_what_the_owner_allows_and_aims_at_is_kept() -> None:
    tree = ast.parse("")
    plain = Facts.build("", tree)
    assert (plain.target_tf, plain.allowed) == (None, DEFAULT_CONTRACTS)
    told = Facts.build("", tree, target_tf=(1, 15), allowed=frozenset({Contract.SHIFTED}))
    assert (told.target_tf, told.allowed) == ((1, 15), frozenset({Contract.SHIFTED}))


def test_an_empty_file_can_be_asked_anything() -> None:
    found = facts("")
    assert found.sessions.runs == {}
    assert found.names.alias is None
    assert not found.classes.dynamic
    assert not found.classes.overloads
    assert list(found.source.blocks()) == []
