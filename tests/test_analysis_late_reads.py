"""Which values of a module's variable a function may find."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, use

READS = """\
def show():
    print(data)  # here
"""


def found(text: str) -> list[str]:
    program = facts(text)
    bindings = program.late_reads.reaching(use(program, "data"))
    return sorted(ast.unparse(one.value) if one.value else "?" for one in bindings)


ALL = ["first()", "second()"]


@pytest.mark.parametrize(
    "text",
    [
        "data = first()\n{}show()\ndata = second()\n",
        "data = first()\n{}show()\ndata = second()\nshow()\n",
        "data = first()\n{}data = second()\n",  # who calls it is not in this file
        "data = first()\n{}run(show)\ndata = second()\nshow()\n",
        "data = first()\n{}data = second()\nrun(show)\n",
        "data = first()\n{}def main():\n    show()\nmain()\ndata = second()\nshow()\n",
        "data = first()\n{}def main():\n    show()\ndata = second()\nrun(main)\nshow()\n",
        "data = first()\n{}g = lambda: show()\ndata = second()\nshow()\n",
        "data = first()\n{}class A:\n    show()\ndata = second()\nshow()\n",
        "data = first()\n{}if known:\n    data = second()\nshow()\n",
        "data = first()\n{}for i in range(3):\n    show()\n    data = second()\n",
        "data = first()\n{}for i in range(3):\n    data = second()\nshow()\n",
        "data = first()\n{}try:\n    data = second()\nexcept E:\n    pass\nshow()\n",
        "data = first()\n{}@registered\ndef main():\n    show()\ndata = second()\nmain()\n",
        "data = first()\n{}def main():\n    show()\n    main()\ndata = second()\nmain()\n",
        "data = first()\n{}def main(n=show()):\n    pass\ndata = second()\nshow()\n",
    ],
)
def test_what_may_run_before_the_last_value_may_find_the_first(text: str) -> None:
    assert found(text.format(READS)) == ALL


@pytest.mark.parametrize(
    "text",
    [
        "data = first()\n{}def change():\n    global data\n    data = second()\nchange()\nshow()\n",
        "data = first()\n{}with second() as data:\n    pass\nshow()\n",
        "data = first()\n{}data += second()\nshow()\n",
        "data = first()\n{}for data in second():\n    pass\nshow()\n",
    ],
)
def test_a_value_that_comes_in_another_way_is_not_followed(text: str) -> None:
    assert len(found(text.format(READS))) == 2


@pytest.mark.parametrize(
    "text",
    [
        "data = first()\n{}data = second()\nshow()\n",
        "{}data = first()\ndata = second()\nshow()\n",
        "data = first()\n{}data = second()\nif __name__ == '__main__':\n    show()\n",
        "data = first()\n{}data = second()\nfor i in range(3):\n    show()\n",
        "data = first()\n{}def main():\n    show()\ndata = second()\nmain()\nshow()\n",
        "data = first()\n{}show = other\ndata = second()\nshow()\n",
        "data = first()\n{}data, other = second(), 3\nshow()\n",
    ],
)
def test_what_runs_after_the_last_value_finds_that(text: str) -> None:
    (value,) = found(text.format(READS))
    assert value.startswith(("second()", "(second()"))


MAIN = "if __name__ == '__main__':"


@pytest.mark.parametrize(
    "text",
    [
        "data = first()\n{0}{1}\n    data = second()\nshow()\n",
        "data = first()\n{0}{1}\n    if known:\n        data = second()\n    show()\n",
        "data = first()\n{0}{1}\n    show()\n    data = second()\n    show()\n",
        "data = first()\n{0}{1}\n    for i in range(3):\n        show()\n        data = second()\n",
        "data = first()\n{0}{1}\n    pass\nelse:\n    data = second()\nshow()\n",
        "data = first()\n{0}if known:\n    {1}\n        data = second()\n        show()\n",
        "data = first()\n{0}if __name__ != '__main__':\n    data = second()\nshow()\n",
        "data = first()\n{0}{1}\n    data = second()\n{1}\n    show()\n",
    ],
)
def test_what_a_script_alone_sets_may_not_be_set(text: str) -> None:
    assert found(text.format(READS, MAIN)) == ALL


@pytest.mark.parametrize(
    "text",
    [
        "data = first()\n{0}{1}\n    data = second()\n    show()\n",
        "{0}{1}\n    data = first()\n    data = second()\n    if known:\n        show()\n",
        "{0}def main():\n    show()\n{1}\n    data = first()\n    data = second()\n    main()\n",
        "{0}{1}\n    data = first()\ndata = second()\nshow()\n",
    ],
)
def test_what_a_script_sets_before_it_calls_is_found(text: str) -> None:
    assert found(text.format(READS, MAIN)) == ["second()"]


def test_a_value_between_two_calls_may_be_found() -> None:
    text = f"data = zero()\n{READS}data = first()\nshow()\ndata = second()\nshow()\n"
    assert found(text) == ALL
