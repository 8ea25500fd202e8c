"""Which names hold sums of gradients, and all that is done with them."""

from analysis_helpers import facts, marked
from tfrewrite.analysis.eager.accumulator_code import Deed
from tfrewrite.analysis.facts import Facts

TEXT = """
    import tensorflow as tf

    losses = 0
    sums = [tf.zeros_like(v) for v in model.trainable_variables]
    for step, (x, y) in enumerate(dataset):
        with tf.GradientTape() as tape:
            loss = (model(x) - y) ** 2
        gradients = tape.gradient(loss, model.trainable_variables)
        losses += loss
        sums = [s + g for s, g in zip(sums, gradients)]  # add
        if step % 4 == 3:
            means = [s / 4 for s in sums]  # read
            means, norm = tf.clip_by_global_norm(means, 1.0)
            optimizer.apply_gradients(zip(means, model.trainable_variables))
            sums = [tf.zeros_like(v) for v in model.trainable_variables]
"""


def test_only_what_an_optimizer_applies_is_one() -> None:
    found = facts(TEXT)
    (one,) = found.accumulators.all
    assert (one.name, one.many, one.others) == ("sums", True, [])
    assert [statement.lineno for statement in one.of(Deed.RESET)] == [5, 16]
    assert one.of(Deed.SUM) == [marked(found, "add")]
    assert {reading.at.lineno for reading in one.readings} == {marked(found, "read").lineno}


def test_uses_that_are_not_known_are_kept_apart() -> None:
    (one,) = facts(TEXT + "        record(sums)\n").accumulators.all
    assert [use.lineno for use in one.others] == [17]


def seen(text: str) -> bool:
    found = facts(text)
    (one,) = found.accumulators.all
    return found.accumulators.is_seen(one, None)


def test_functions_that_share_it_are_not_seen_through() -> None:
    assert seen(TEXT)
    shared = "    def reset():\n        for s in sums:\n            s.assign(tf.zeros_like(s))\n"
    assert not seen(TEXT + shared)


def is_fresh(added: str) -> bool:
    before = "sums = [s + g for s, g in zip(sums, gradients)]"
    assert before in TEXT
    found = facts(TEXT.replace(before, added))
    (one,) = found.accumulators.all
    total = marked(found, "add")
    turn = found.periods.turn(total)
    assert turn is not None
    return found.accumulators.is_fresh(total, one, turn)


def test_gradients_of_other_turns_are_noticed() -> None:
    add = "sums = [s + g for s, g in zip(sums, gradients)]"
    assert is_fresh(add)
    assert is_fresh(f"gradients = [tf.identity(g) for g in gradients]; {add}")
    assert not is_fresh(f"gradients = [k + g for k, g in zip(kept, gradients)]; {add}")


def joined(found: Facts) -> list[int]:
    (one,) = found.accumulators.all
    return [statement.lineno for statement, _ in found.accumulators.extensions(one)]


def test_lists_that_are_joined() -> None:
    add = "sums = [s + g for s, g in zip(sums, gradients)]"
    plain = TEXT.replace("means = [s / 4 for s in sums]  # read", "pass").replace(
        "means, norm = tf.clip_by_global_norm(means, 1.0)", "pass"
    ).replace("zip(means, ", "zip(sums, ")  # fmt: skip
    assert joined(facts(plain.replace(add, "sums += gradients"))) == [11]
    assert joined(facts(plain.replace(add, "sums = sums + gradients"))) == [11]
    assert joined(facts(plain)) == []
    assert joined(facts(plain.replace(add, "sums += arrays()"))) == []
    other = plain.replace("for v in model.trainable_variables", "for v in [extra]")
    assert joined(facts(other.replace(add, "sums += gradients"))) == []
