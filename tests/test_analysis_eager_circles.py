"""Values that hang on each other in circles are given up before it takes long."""

from __future__ import annotations

import ast
import time

from analysis_helpers import facts
from tfrewrite.analysis.eager.abstract_values import Unknown

NAMES = 14


def in_circles() -> str:
    """Each turn of a loop makes each name of all that there are."""
    names = [f"v{number}" for number in range(NAMES)]
    made = "\n".join(f"    {name} = max({', '.join(names)})" for name in names)
    begin = "\n".join(f"{name} = {number}" for number, name in enumerate(names))
    return f"import tensorflow as tf\n{begin}\nwhile ask():\n{made}\nprint({names[0]})\n"


def test_names_that_are_made_of_each_other() -> None:
    found = facts(in_circles())
    began = time.process_time()
    values = [found.eager_values.value(name) for name in found.source.all(ast.Name)]
    assert time.process_time() - began < 30
    assert any(isinstance(one, Unknown) for one in values)
