"""TFR109 fed-tensor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.model import Contract, Report, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.wired_elements import wired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.batches.fed_tensors import Elements, FedTensor
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.placeholders import Placeholder


class FedTensorRule(Rule):
    """Reports a tensor in a `feed_dict`, and lets the graph take the elements of a data set itself.

    ## Why it is slow
    It is not slow but wrong: TensorFlow takes arrays and numbers in a feed, and raises a TypeError
    where it meets a tensor. Examples that were published as the quick way to train from `tf.data`
    do it all the same. What they mean is that the graph takes each element itself, without a feed.

    ## Before
    ```python
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.float32, [None])
    ...
    dataset = tf.data.Dataset.from_generator(examples, (tf.float32, tf.int32)).batch(100)
    next_element = dataset.make_one_shot_iterator().get_next()
    while True:
        sess.run(train, feed_dict={x: next_element[0], y: next_element[1]})
    ```

    ## After
    ```python
    element_iterator = tf.data.Iterator.from_structure((tf.float32, tf.float32))
    next_x, next_y = element_iterator.get_next()
    x = tf.placeholder_with_default(next_x, None)
    x.set_shape([None, 784])
    y = tf.placeholder_with_default(next_y, None)
    y.set_shape([None])
    ...
    dataset = tf.data.Dataset.from_generator(examples, (tf.float32, tf.int32)).batch(100)
    start_elements = element_iterator.make_initializer(
        dataset.map(
            lambda *element: (tf.cast(element[0], tf.float32), tf.cast(element[1], tf.float32))
        )
    )
    sess.run(start_elements)
    while True:
        sess.run(train)
    ```
    Each part of an element gets the type of its placeholder. What is fed elsewhere still is.

    ## Contract
    - `exact`: the first turn of the loop raised, so there is no value that could change. A
      verification is inconclusive, since the original fails.

    It is a report without a rewrite where more is done with the element than to feed it, where it
    is fed to several runs or does not come from a one-shot iterator over a data set whose parts
    are seen, where placeholders and iterator are not made beside each other, and where the
    exception is caught.

    ## When it does not help
    A tensor that is fed on purpose, so that another value takes its place, has to be fetched first:
    `sess.run(train, feed_dict={x: sess.run(other)})`.
    """

    code = "TFR109"
    name = "fed-tensor"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow",), (b".run(", b".eval("), (b"feed_dict", b"{"))
    reasons = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        for fed in facts.fed_tensors.all():
            span = facts.source.span(fed[0].run.call)
            values = ", ".join(f"`{facts.source.segment(one.value)}`" for one in fed)
            what = f"{values} {'is a tensor' if len(fed) == 1 else 'are tensors'}"
            found = _wiring(facts, fed)
            if found is None:
                advice = "fetch it first, or build on it and not on a placeholder"
                yield Report(span, f"{what}: TensorFlow refuses it in a feed (TypeError); {advice}")
                continue
            placeholders, elements, loop = found
            yield Rewrite(
                span,
                f"let the graph take the elements: {what}, and refused in a feed (TypeError)",
                "as it is, the first turn of the loop raises",
                Contract.EXACT,
                wired(facts, fed, placeholders, elements, loop, taken),
            )


def _wiring(
    facts: Facts, fed: list[FedTensor]
) -> tuple[list[Placeholder], Elements, ast.For | ast.While] | None:
    """The placeholders, the data set and the loop, if its elements can go into the placeholders."""
    run = fed[0].run
    func = run.call.func
    loops = facts.hoisting.loops(run.call)
    loop = loops[-1] if loops else None
    statement = facts.source.statement(run.call)
    if run.kind is not SessionKind.PLAIN or not run.direct or not isinstance(func, ast.Attribute):
        return None
    if not isinstance(loop, (ast.For, ast.While)) or run.feed is not fed[0].feed:
        return None
    if facts.dynamics.obstacle or facts.catching.seen(statement):
        return None
    if facts.hoisting.unsure(func.value, loop) is not None:
        return None
    placeholders = [facts.placeholders.of(one.key, loop) for one in fed]
    known = [one for one in placeholders if not isinstance(one, Obstacle) and one.way.direct]
    elements = facts.fed_tensors.elements(fed)
    if len(known) != len(fed) or elements is None:
        return None
    return (known, elements, loop) if _beside(facts, known, elements, loop) else None


def _beside(
    facts: Facts, placeholders: list[Placeholder], elements: Elements, loop: ast.stmt
) -> bool:
    """Whether the placeholders and then the data set come one after the other, before the loop."""
    if len({one.call for one in placeholders}) != len(placeholders):
        return False
    if len({ast.unparse(one.call.func) for one in placeholders}) != 1:
        return False
    statements = [*(one.statement for one in placeholders), *elements.statements]
    if len({id(facts.source.position(one)[0]) for one in statements}) != 1:
        return False
    places = [facts.source.position(one)[1] for one in statements]
    count = len(placeholders)
    if max(places[:count]) > min(places[count:]) or places[count:] != sorted(places[count:]):
        return False
    return facts.hoisting.comes_first(elements.statements[-1], loop)
