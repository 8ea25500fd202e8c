"""The bench passes what is right and fails what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rulebench import Case, bench, check, leaves_alone, offers, refuses, reports, rewrites
from toys import Grow, HoistMake, MergePairs, RenameOld, ReportBug

if TYPE_CHECKING:
    from tfrewrite.rule import Rule

test_rename_old = bench(
    RenameOld,
    leaves_alone("another function", "older(1)\n"),
    refuses("a starred argument", "x = old(*y)\n", reason="starred"),
    offers("a shifted value", "x = old(shift)\n", contract="shifted", changes="one step late"),
    rewrites("a call", "x = old(1)\n", "x = new(1)\n", contract="exact"),
    rewrites("one within the other", "old(1, old(2))\n", "new(1, new(2))\n", contract="exact"),
    rewrites(
        "a shifted value, allowed",
        "x = old(shift)\n",
        "x = new(shift)\n",
        contract="shifted",
        allow=("shifted",),
    ),
)

test_merge_pairs = bench(
    MergePairs,
    leaves_alone("something between", "a = one(1)\nprint()\nb = one(2)\n"),
    rewrites(
        "two with comments",
        """
        import tensorflow as tf

        for i in range(3):
            # the first
            a = one(1)
            # the second
            b = one(2)  # and last
            print(a, b)
        """,
        """
        import tensorflow as tf

        for i in range(3):
            # the first
            # the second
            # and last
            a, b = many(1, 2)
            print(a, b)
        """,
        contract="rounding",
    ),
)

test_hoist_make = bench(
    HoistMake,
    rewrites(
        "two in nested loops",
        """
        for i in x:
            for j in y:
                use(make(), make())
        """,
        """
        made_0 = make()
        made_2 = make()
        for i in x:
            for j in y:
                use(made_0, made_2)
        """,
        contract="exact",
    ),
)

test_report_bug = bench(ReportBug, reports("a call", "bug()\n", message="is a bug"))


@pytest.mark.parametrize(
    ("rule", "case"),
    [
        (RenameOld, leaves_alone("rewritten", "old(1)\n")),
        (RenameOld, leaves_alone("refused", "old(*y)\n")),
        (RenameOld, refuses("another reason", "old(*y)\n", reason="why")),
        (RenameOld, refuses("rewritten", "old(1)\n", reason="starred")),
        (RenameOld, rewrites("another text", "old(1)\n", "new(2)\n", contract="exact")),
        (RenameOld, rewrites("another contract", "old(1)\n", "new(1)\n", contract="rounding")),
        (RenameOld, offers("no such words", "old(shift)\n", contract="shifted", changes="nope")),
        (ReportBug, reports("other words", "bug()\n", message="a feature")),
        (Grow, rewrites("for ever", "grow(1)\n", "grow(1)\n", contract="exact")),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_the_bench_fails(rule: type[Rule], case: Case) -> None:
    with pytest.raises(AssertionError):
        check(rule, case)
