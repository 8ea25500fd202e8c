"""TFR208 tensor-range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.model import Report, Site
from tfrewrite.rule import Rule
from tfrewrite.triggers import MAKES_FUNCTION

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_MANY = 50


class TensorRange(Rule):
    """Reports a long loop over Python's `range` in a `tf.function`: the trace unrolls it.

    ## Why it is slow
    Python runs the loop when the function is traced, so that the graph gets a copy of the body for
    each turn. `tf.range` makes one loop of it, which TensorFlow runs. With many turns it is the
    first call that takes long, again at each new trace, and the graph takes memory.

    ## Before
    ```python
    @tf.function
    def simulate(state):
        for i in range(1000):
            state = tf.tanh(tf.matmul(state, weights))
        return state
    ```

    ## After
    Nothing is rewritten. To be written by hand, where it pays:
    ```python
    @tf.function
    def simulate(state):
        for i in tf.range(1000):
            state = tf.tanh(tf.matmul(state, weights))
        return state
    ```

    ## Contract
    None: it only reports. Whether it pays depends on how often the function is called: the calls
    after the first may be slower with `tf.range`, since a loop costs something for each turn. And
    the loop means something else in places: its counter is a tensor, which is no index of a list
    and has a type, tensors that are carried from turn to turn must keep type and shape, a list that
    is appended to gets one element (without an error), and random ops draw from one stream and not
    from one for each turn.

    ## Refuses
    Nothing. It is silent below 50 copies, where the number of turns is not in the file, where the
    body makes no ops, and where the counter takes layers or functions from a list.

    ## When it does not help
    Where a function that is traced once is called many times.
    """

    code = "TFR208"
    name = "tensor-range"
    contracts = ()
    triggers = ((b"tensorflow",), MAKES_FUNCTION, (b"range",))
    reasons = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        if facts.compiled_functions.always_eager:
            return
        told: set[ast.For] = set()
        for one in facts.compiled_functions.all:
            for unrolled in facts.unrolled_loops.of(one):
                loop = unrolled.loop
                inner = any(outer in told for outer in facts.source.ancestors(loop))
                if unrolled.copies < _MANY or loop in told or inner:
                    continue
                told.add(loop)
                text = facts.source.segment(loop.iter)
                yield Report(
                    facts.source.span(loop.iter),
                    f"`{text}` is unrolled when `{one.name}` is traced, into {unrolled.copies:,}"
                    " copies of the ops below: with `tf.range` the graph holds one, and the first"
                    " call is shorter; what the loop does must allow for a tensor as its counter",
                )
