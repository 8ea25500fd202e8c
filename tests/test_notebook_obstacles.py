"""A notebook that does what no script can do is not rewritten, and the reason is named."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

import pytest

from notebook_maker import cell, notebook, written
from tfrewrite.engine import handle_bytes
from tfrewrite.model import Contract, Outcome, Refusal, Site, Status
from tfrewrite.policy import Policy
from tfrewrite.rule import Rule
from toys import TOYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts


def handled(*cells: str | dict[str, object]) -> Outcome:
    return handle_bytes(written(notebook("x = old(1)", *cells)), "n.ipynb", Policy(TOYS))


@pytest.mark.parametrize(
    "source",
    [
        "for _ in x:\n    f(_)",
        "_ = 1\nf(_)",
        "self._1\nx.Out",
        "get_ipython().run_line_magic('matplotlib', 'inline')\n%who",
        "get_ipython().magic('matplotlib inline')",
        "get_ipython().run_line_magic('load_ext', 'tensorboard')",
        "import IPython\nshell = IPython.get_ipython()\nshell.magic('%load_ext tensorboard')",
        "x.push(1)\nrun_cell(2)\nq.reset()",
        "'google.colab' in str(get_ipython())",
    ],
)
def test_what_a_script_could_do(source: str) -> None:
    assert handled(source).status is Status.WOULD_REWRITE


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("y = _ + 1", "`_` in cell 2 is what IPython makes of earlier cells"),
        ("f(_3)", "`_3` in cell 2 is what IPython makes of earlier cells"),
        ("Out[3]", "`Out` in cell 2 is what IPython makes of earlier cells"),
        ("get_ipython().run_cell('x = 2')", "`run_cell` in cell 2 may change what any name means"),
        ("get_ipython().magic('run x')", "`magic` in cell 2 may change what any name means"),
        (
            "get_ipython().run_line_magic('load_ext', 'x')",
            "`run_line_magic` in cell 2 may change what any name means",
        ),
        ("get_ipython().magic(x)", "`magic` in cell 2 may change what any name means"),
        ("get_ipython().user_ns['x'] = 2", "`user_ns` in cell 2 may change what any name means"),
        (
            "get_ipython().events.register('a', f)",
            "`events` in cell 2 may change what any name means",
        ),
        (
            "%config InteractiveShell.ast_node_interactivity = 'all'",
            "`ast_node_interactivity` in cell 2 changes what cells show",
        ),
        ("%run x.py", "`%run` in cell 2 may change what any name means"),
        (
            cell("f(1 / 0)", metadata={"tags": ["a", "raises-exception"]}),
            "cell 2 is there to fail, and how far it is run is not known",
        ),
    ],
)
def test_what_only_a_notebook_does(made: str | dict[str, object], said: str) -> None:
    outcome = handled(made)
    assert outcome.status is Status.UNCHANGED
    assert [one.message for one in outcome.refusals] == [f"old -> new: {said}"]


class Unsure(Rule):
    """Refuses wherever code is run that the text does not show."""

    code = "TFR909"
    name = "unsure"
    contracts = (Contract.EXACT,)
    reasons: ClassVar[dict[str, str]] = {"dynamic-code": "any name may mean anything"}
    triggers = ((b"old",),)

    def sites(self, facts: Facts) -> Iterator[Site]:
        for call in facts.source.all(ast.Call):
            if ast.unparse(call.func) in {"exec", "eval"}:
                yield Refusal(facts.source.span(call), "dynamic-code", "code runs unseen")


@pytest.mark.parametrize(
    ("source", "reason", "said"),
    [
        ("%run x.py", "cannot-edit", "`%run` in cell 1 may change what any name means"),
        ("await f()", "cannot-edit", "the `await` outside of functions in cell 1 is not analysed"),
        ("x\r", "cannot-edit", "a carriage return within a line in cell 1 is not analysed"),
        ("eval('x')", "dynamic-code", "code runs unseen"),
    ],
)
def test_a_rule_that_refuses_for_a_magic_names_it(source: str, reason: str, said: str) -> None:
    outcome = handle_bytes(written(notebook(source, "old")), "n.ipynb", Policy((Unsure,)))
    assert [(one.reason, one.message) for one in outcome.refusals] == [(reason, said)]
