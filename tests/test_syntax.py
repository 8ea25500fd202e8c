"""The two gates agree, and neither is stopped by a warning."""

from __future__ import annotations

import pytest

from tfrewrite import syntax
from tfrewrite.syntax import NotPython


@pytest.mark.parametrize(
    "text", ["", "x = '\\d'\n", "x is 1\n", "# é\n", "async def f(): await x\n"]
)
def test_python_passes_without_a_word(text: str) -> None:
    syntax.parse(text)
    syntax.check(text)
    syntax.check_result(text)


@pytest.mark.parametrize("text", ["print 'x'\n", "if x:\n", "x = 0777", "\0", "f(" * 300])
def test_both_gates_say_the_same(text: str) -> None:
    with pytest.raises(NotPython) as parsing:
        syntax.parse(text)
    with pytest.raises(NotPython) as checking:
        syntax.check(text)
    assert str(parsing.value) == str(checking.value)


@pytest.mark.parametrize(
    "text", ["prin 'x'\n", "print('x'\n", "x = 10 20\n", "# print 'x'\ndef f(:\n"]
)
def test_not_every_error_is_python_2(text: str) -> None:
    with pytest.raises(NotPython) as caught:
        syntax.parse(text)
    assert "Python 2" not in str(caught.value)


def test_a_result_must_compile() -> None:
    syntax.parse("return 1\n")
    with pytest.raises(NotPython, match="outside function"):
        syntax.check_result("return 1\n")
