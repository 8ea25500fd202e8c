"""Whether layers of the file put masks on what they give.

Keras keeps a mask as a Python attribute of the tensor, where the next layer or loss finds it. A
tensor that goes into a compiled function from outside, or comes out of it, is another object in the
trace, without the attribute: measured on 2.21, a step that was given what an `Embedding` with
`mask_zero` made computed another loss when it was compiled.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_WORDS = re.compile(r"\bmask_zero\b(?!\s*=\s*False\b)|\bMasking\b|\bcompute_mask\b|keras_mask\b")
_EMBEDDING_ARGUMENTS = 4
"""The options of an embedding that come before `mask_zero`, at least."""


class KerasMasks:
    """Finds where the file makes masks."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names

    @cached_property
    def made(self) -> int:
        """The first line that may make one; 0 where none does. A comment counts, too."""
        found = _WORDS.search(self._source.text)
        if found is not None:
            return self._source.text.count("\n", 0, found.start()) + 1
        for call in self._source.all(ast.Call):
            if (self._names.tf(call.func) or "").endswith("layers.Embedding"):
                starred = any(isinstance(one, ast.Starred) for one in call.args)
                unseen = starred or any(keyword.arg is None for keyword in call.keywords)
                if unseen or len(call.args) > _EMBEDDING_ARGUMENTS:
                    return call.lineno
        return 0
