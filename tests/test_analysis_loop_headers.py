"""What loops go over, beneath a bar."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts

_HEAD = "import tqdm as bars\nfrom tqdm import tqdm, trange\n"


def looked_at(header: str, head: str = _HEAD) -> tuple[str, list[str], list[str], bool]:
    """What a loop is without its bar, what is beneath and beside that, and whether it counts."""
    read = facts(f"{head}for i in {header}:\n    print(i)\n")
    (loop,) = read.source.all(ast.For)
    headers = read.loop_headers
    beneath = [ast.unparse(one) for one in headers.beneath(loop.iter)]
    beside = [ast.unparse(one) for one in headers.beside(loop.iter)]
    return headers.text(loop.iter), beneath, beside, headers.is_range(loop.iter)


@pytest.mark.parametrize(
    "header",
    [
        "rows",
        "range(9)",
        "enumerate(rows, 1)",
        "tqdm()",
        "tqdm(*rows)",
        "tqdm.write(rows)",
        "bar(rows)",
    ],
)
def test_no_bar(header: str) -> None:
    assert looked_at(header) == (header, [header], [], header == "range(9)")


def test_bars() -> None:
    assert looked_at("tqdm(rows)") == ("rows", ["rows"], [], False)
    assert looked_at("tqdm(range(9), 'a', total=n)") == (
        "range(9)",
        ["range(9)"],
        ["'a'", "n"],
        True,
    )
    assert looked_at("bars.tqdm(\n    rows,\n    desc='a')") == ("rows", ["rows"], ["'a'"], False)


def test_bars_that_count_up() -> None:
    assert looked_at("trange(2, n, desc='a')") == ("range(2, n)", ["2", "n"], ["'a'"], True)
    assert looked_at("bars.tqdm_notebook(trange(4))") == ("trange(4)", ["trange(4)"], [], True)


def test_bars_that_are_counted() -> None:
    found = looked_at("enumerate(tqdm(rows, leave=a), start=1)")
    assert found == ("enumerate(rows, start=1)", ["rows"], ["a", "1"], False)


def test_names_of_the_file() -> None:
    own = "from tqdm import trange\ndef tqdm(rows):\n    return rows\n"
    assert looked_at("tqdm(rows)", own)[0] == "tqdm(rows)"
    assert looked_at("trange(9)", f"{_HEAD}range = list\n")[0] == "trange(9)"
