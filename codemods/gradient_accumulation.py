"""TFR211 gradient-accumulation."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from tfrewrite.analysis.eager.accumulator_code import Deed
from tfrewrite.model import Report, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.eager.accumulators import Accumulator, Reading
    from tfrewrite.analysis.facts import Facts


class GradientAccumulation(Rule):
    """Reports gradients that are to be gathered over several steps, and are not.

    ## Why it is slow
    It is not slow, it is wrong, or rather: the steps whose gradients are lost are computed for
    nothing. Gradients of several small batches are summed and applied at once, to train as with a
    large batch in less memory. Where the sum begins anew in each step, a single batch of several
    counts, and the script trains all the same, so that nobody notices.

    ## Before
    ```python
    for step, (x, y) in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        sums = [tf.zeros_like(g) for g in gradients]
        sums = [s + g for s, g in zip(sums, gradients)]
        if (step + 1) % 8 == 0:
            optimizer.apply_gradients(zip([s / 8 for s in sums], model.trainable_variables))
    ```

    ## After
    Nothing is rewritten. Very likely meant:
    ```python
    sums = [tf.zeros_like(v) for v in model.trainable_variables]
    for step, (x, y) in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x))
        gradients = tape.gradient(loss, model.trainable_variables)
        sums = [s + g for s, g in zip(sums, gradients)]
        if (step + 1) % 8 == 0:
            optimizer.apply_gradients(zip([s / 8 for s in sums], model.trainable_variables))
            sums = [tf.zeros_like(v) for v in model.trainable_variables]
    ```

    ## Contract
    None: it only reports. A repaired script trains on other numbers.

    ## Reports
    - Sums that are set to zeros in each turn of a loop, or call of a step, where the update comes
      at every so many turns only.
    - Sums that are set to zeros just before the update reads them.
    - An update in each turn, where the sums are set to zeros at every so many turns only.
    - Sums that nothing ever sets to zeros again after an update at every so many turns.
    - `sums += gradients` of two lists, which makes one longer and adds nothing, and
      `for s, g in zip(sums, gradients): s += g`, which gives a name another value.

    Whether the sums are divided by the number of steps is left to the owner. It is silent about
    sums that several functions share, that are handed to functions, or are used in any way that it
    does not know: momentum and other sums of an optimizer written by hand are no accumulation. It
    knows sums in eager mode and in a `tf.function`, and not those of a graph and its sessions.

    ## When it does not help
    Where the update comes at every turn by intention, and the sums are left over.
    """

    code = "TFR211"
    name = "gradient-accumulation"
    contracts = ()
    triggers = ((b"tensorflow",), (b"apply_gradients(", b".apply("), (b"zeros", b"[0", b"= 0"))
    reasons: ClassVar[dict[str, str]] = {}
    judges_the_original = True

    def sites(self, facts: Facts) -> Iterator[Site]:
        found = facts.accumulators.all
        if found and facts.dynamics.obstacle_in_eager_code:
            return
        for one in found:
            yield from _first(
                _made_longer(facts, one),
                _adds_nothing(facts, one),
                _reset_in_each_turn(facts, one),
                _reset_before_update(facts, one),
                _applied_in_each_turn(facts, one),
                _never_reset(facts, one),
            )


def _first(*found: Report | None) -> Iterator[Report]:
    yield from [one for one in found if one is not None][:1]


def _reset_in_each_turn(facts: Facts, one: Accumulator) -> Report | None:
    """Zeros, one sum and a conditional update in the same turn."""
    asked, when = facts.accumulators, facts.periods
    for total in one.of(Deed.SUM):
        turn = when.turn(total)
        sums = [other for other in one.of(Deed.SUM) if turn and when.inside(other, turn)]
        if turn is None or len(sums) != 1 or not asked.is_seen(one, turn):
            continue
        resets = [
            reset
            for reset in one.of(Deed.RESET)
            if when.turn(reset) is turn and when.precedes(reset, total)
        ]
        readings = [reading for reading in one.readings if when.inside(reading.call, turn)]
        conditions = [_period(facts, reading, total) for reading in readings]
        if not resets or not conditions or not all(conditions):
            continue
        if not asked.is_fresh(total, one, turn) or _in_both_branches(facts, readings):
            continue
        where = f"line {readings[0].call.lineno}"
        return Report(
            facts.source.span(resets[-1]),
            f"`{one.name}` is zeroed in each turn, and the update of {where} comes only when"
            f" `{_text(conditions[0])}`: it applies the gradients of that one turn, and those of"
            " the others are lost; zero it once before the loop, and after each update",
        )
    return None


def _in_both_branches(facts: Facts, readings: list[Reading]) -> bool:
    """Whether there is an update in each turn, this one or that one."""
    return any(
        facts.periods.are_alternatives(one.call, other.call)
        for one in readings
        for other in readings
    )


def _period(facts: Facts, reading: Reading, total: ast.stmt) -> ast.expr | None:
    """The condition of an update that comes after a sum, in some turns only."""
    when = facts.periods
    turn = when.turn(total)
    update = facts.source.statement(reading.call)
    if turn is None or when.turn(update) is not turn or not when.is_after(update, total):
        return None
    return when.period(update, total, turn)


def _reset_before_update(facts: Facts, one: Accumulator) -> Report | None:
    asked, when = facts.accumulators, facts.periods
    for reading in one.readings:
        turn = when.turn(reading.at)
        if turn is None or not asked.is_seen(one, turn):
            continue
        for reset in one.of(Deed.RESET):
            if when.turn(reset) is not turn or not when.precedes(reset, reading.at):
                continue
            sums = [other for other in one.of(Deed.SUM) if when.turn(other) is turn]
            before = [other for other in sums if when.is_after(reset, other)]
            lost = before and len(before) == len(sums)
            if lost and when.period(reset, before[0], turn) is not None:
                return Report(
                    facts.source.span(reset),
                    f"`{one.name}` is zeroed before the update of line"
                    f" {reading.call.lineno} reads it: zeros are applied, and what was summed is"
                    " lost; zero it after the update",
                )
    return None


def _applied_in_each_turn(facts: Facts, one: Accumulator) -> Report | None:
    asked, when = facts.accumulators, facts.periods
    sums = one.of(Deed.SUM)
    if len(sums) != 1 or one.of(Deed.SCALE) or not asked.is_seen(one, None):
        return None
    turn = when.turn(sums[0])
    if turn is None or any(when.turn(reading.at) is not turn for reading in one.readings):
        return None
    updates = [facts.source.statement(reading.call) for reading in one.readings]
    if any(when.is_conditional(update, sums[0], turn) for update in updates):
        return None
    if not all(when.is_after(update, sums[0]) for update in updates):
        return None
    if not all(asked.has_steady_share(reading, turn) for reading in one.readings):
        return None
    resets = [reset for reset in one.of(Deed.RESET) if when.inside(reset, turn)]
    conditions = [when.period(reset, sums[0], turn) for reset in resets]
    if not conditions or not all(conditions):
        return None
    return Report(
        facts.source.span(one.readings[0].call),
        f"each turn applies the sum so far, and `{one.name}` is zeroed only when"
        f" `{_text(conditions[0])}`: the gradients of earlier turns are applied again and again;"
        " make the update under that condition too, before the zeros",
    )


def _never_reset(facts: Facts, one: Accumulator) -> Report | None:
    asked, when = facts.accumulators, facts.periods
    resets, sums = one.of(Deed.RESET), one.of(Deed.SUM)
    if len(resets) != 1 or len(sums) != 1 or one.of(Deed.SCALE) or not asked.is_seen(one, None):
        return None
    turn = when.turn(sums[0])
    if turn is None or not isinstance(turn, (ast.For, ast.While)) or one.others:
        return None
    if isinstance(one.home, ast.ClassDef):
        return None  # others than this file may zero it
    before = when.precedes(resets[0], turn)
    conditions = [_period(facts, reading, sums[0]) for reading in one.readings]
    if not before or not conditions or not all(conditions):
        return None
    if not all(test and when.comes_again(test, turn, resets[0]) for test in conditions):
        return None
    return Report(
        facts.source.span(one.readings[0].call),
        f"nothing zeroes `{one.name}` after the update: each update applies the gradients"
        " of all turns since the start once more; zero it after the update",
    )


def _adds_nothing(facts: Facts, one: Accumulator) -> Report | None:
    asked = facts.accumulators
    if one.of(Deed.SUM) or not asked.is_seen(one, None) or not asked.holds_tensors(one):
        return None
    for statement in one.of(Deed.NOTHING):
        return Report(
            facts.source.span(_innermost(statement)),
            f"this gives a name another value and leaves `{one.name}` as it is, so that zeros are"
            f" applied in line {one.readings[0].call.lineno}; write `{one.name} = [s + g for s, g"
            f" in zip({one.name}, ...)]`",
        )
    return None


def _made_longer(facts: Facts, one: Accumulator) -> Report | None:
    for statement, added in facts.accumulators.extensions(one):
        return Report(
            facts.source.span(statement),
            f"this joins two lists and adds nothing: the update of line"
            f" {one.readings[0].call.lineno} takes the first of `{one.name}`, which are zeros;"
            f" write `{one.name} = [s + g for s, g in zip({one.name}, {_text(added)})]`",
        )
    return None


def _innermost(statement: ast.stmt) -> ast.stmt:
    """The last statement that a statement holds."""
    body = getattr(statement, "body", None)
    return _innermost(body[-1]) if isinstance(body, list) and body else statement


def _text(expr: ast.expr | None) -> str:
    return ast.unparse(expr) if expr is not None else ""
