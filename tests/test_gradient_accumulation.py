"""TFR211, what is left alone first."""

import textwrap
from pathlib import Path

from rulebench import Case, bench, leaves_alone, reports
from tfrewrite.codemods.gradient_accumulation import GradientAccumulation
from tfrewrite.codemods.outline_train_step import OutlineTrainStep
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Kind

CORPUS = Path(__file__).parent.parent / "corpus"

HEAD = """\
import tensorflow as tf

STEPS = 4
dataset = make_dataset()
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
"""
ZEROS = "sums = [tf.zeros_like(v) for v in model.trainable_variables]"
ADD = "sums = [s + g for s, g in zip(sums, gradients)]"
APPLY = "optimizer.apply_gradients(zip(sums, model.trainable_variables))"
GRADIENT = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
gradients = tape.gradient(loss, model.trainable_variables)
"""
VARIABLES = (
    "sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]"
)
IN_PLACE = """\
for s, g in zip(sums, gradients):
    s.assign_add(g)
"""
ZERO_IN_PLACE = """\
for s in sums:
    s.assign(tf.zeros_like(s))
"""


def under(header: str, *lines: str) -> str:
    return header + "\n" + "".join(textwrap.indent(line.rstrip() + "\n", "    ") for line in lines)


def loop(*lines: str, head: str = "for step, (x, y) in enumerate(dataset):") -> str:
    return under(head, *lines)


def due(*lines: str, test: str = "(step + 1) % STEPS == 0") -> str:
    return under(f"if {test}:", *lines)


def alone(name: str, *parts: str) -> Case:
    return leaves_alone(name, HEAD + "\n".join(parts))


def told(name: str, *parts: str, message: str) -> Case:
    return reports(name, HEAD + "\n".join(parts), message=message)


def trainer(*step: str, more: str = "") -> str:
    """A class whose method makes one step."""
    init = under("def __init__(self):", "self.count = 0", OWN_ZEROS)
    return under("class Trainer:", init, under("def step(self, x, y):", *step), more)


def own_due(*lines: str) -> str:
    return due(*lines, test="self.count % STEPS == 0")


OWN_ZEROS = "self.sums = [tf.zeros_like(v) for v in model.trainable_variables]"
OWN_ADD = "self.sums = [s + g for s, g in zip(self.sums, gradients)]"
OWN_APPLY = "optimizer.apply_gradients(zip(self.sums, model.trainable_variables))"
EACH_TURN = "is zeroed in each turn"

test_gradient_accumulation = bench(
    GradientAccumulation,
    alone("the right form", ZEROS, loop(GRADIENT, ADD, due(APPLY, ZEROS))),
    alone(
        "the right form with variables",
        VARIABLES,
        loop(GRADIENT, IN_PLACE, due(APPLY, ZERO_IN_PLACE)),
    ),
    alone(
        "zeros at the start of each group",
        loop(GRADIENT, due(ZEROS, test="step % STEPS == 0"), ADD, due(APPLY)),
    ),
    alone(
        "divided in the update, zeros after it",
        ZEROS,
        loop(
            GRADIENT,
            ADD,
            due(
                "mean = [s / STEPS for s in sums]",
                ZEROS,
                "optimizer.apply_gradients(zip(mean, model.trainable_variables))",
            ),
        ),
    ),
    alone(
        "zeros in each epoch",
        under("for epoch in range(3):", ZEROS, loop(GRADIENT, ADD), APPLY),
    ),
    alone(
        "small batches of each batch",
        loop(
            ZEROS,
            under("for x, y in small_batches(x, y):", GRADIENT, ADD),
            due(APPLY),
        ),
    ),
    alone(
        "gradients of two losses, at some turns only",
        loop(
            ZEROS,
            GRADIENT,
            ADD,
            "others = tape.gradient(loss, model.trainable_variables)",
            "sums = [s + o for s, o in zip(sums, others)]",
            due(APPLY),
        ),
    ),
    alone("an update in each turn", loop(ZEROS, GRADIENT, ADD, APPLY)),
    alone(
        "an update where the loss is finite",
        loop(ZEROS, GRADIENT, ADD, due(APPLY, test="ok(loss)")),
    ),
    alone("each first turn", loop(ZEROS, GRADIENT, ADD, due(APPLY, test="step % 1 == 0"))),
    alone(
        "training in each other epoch",
        under(
            "for epoch in range(4):",
            loop(ZEROS, GRADIENT, ADD, due(APPLY, test="epoch % 2 == 0")),
        ),
    ),
    alone(
        "sums that go on by another name",
        "total = [0.0, 0.0]",
        loop(
            ZEROS, GRADIENT, ADD, "total = [t + s for t, s in zip(total, sums)]", due(APPLY)
        ),
    ),
    alone(
        "gradients that are carried over",
        "kept = [0.0, 0.0]",
        loop(
            ZEROS,
            GRADIENT,
            "gradients = [k + g for k, g in zip(kept, gradients)]",
            "kept = gradients",
            ADD,
            due(APPLY),
        ),
    ),
    alone(
        "a loss that is carried over under one tape",
        "total = 0.0",
        under(
            "with tf.GradientTape(persistent=True) as tape:",
            loop(
                "total = total + tf.reduce_mean((model(x) - y) ** 2)",
                "gradients = tape.gradient(total, model.trainable_variables)",
                ZEROS,
                ADD,
                due(APPLY),
            ),
        ),
    ),
    alone("handed to a function", loop(ZEROS, GRADIENT, ADD, "record(sums)", due(APPLY))),
    alone(
        "handed to what may zero it", ZEROS, loop(GRADIENT, ADD, due(APPLY, "reset(sums)"))
    ),
    alone(
        "zeroed by a function of the file",
        VARIABLES,
        under("def reset():", ZERO_IN_PLACE),
        loop(GRADIENT, IN_PLACE, due(APPLY, "reset()")),
    ),
    alone("another name for it", ZEROS, "alias = sums", loop(GRADIENT, ADD, due(APPLY))),
    alone(
        "momentum",
        ZEROS,
        loop(GRADIENT, "sums = [0.9 * s + g for s, g in zip(sums, gradients)]", due(APPLY)),
    ),
    alone("sums in each turn, never zeroed", ZEROS, loop(GRADIENT, ADD, APPLY)),
    alone(
        "squares of an optimizer by hand",
        ZEROS,
        loop(
            GRADIENT,
            "sums = [s + g * g for s, g in zip(sums, gradients)]",
            "steps = [g / tf.sqrt(s) for g, s in zip(gradients, sums)]",
            due("optimizer.apply_gradients(zip(steps, model.trainable_variables))"),
        ),
    ),
    alone(
        "decay in place of zeros",
        ZEROS,
        loop(GRADIENT, ADD, due(APPLY, "sums = [s * 0.5 for s in sums]")),
    ),
    alone(
        "all batches of an epoch, in an epoch",
        under(
            "def epoch(length):",
            ZEROS,
            loop(GRADIENT, ADD, due(APPLY, test="(step + 1) % length == 0")),
        ),
    ),
    alone(
        "one update at the end of a known number of turns",
        ZEROS,
        loop(GRADIENT, ADD, due(APPLY, test="(step + 1) % 4 == 0"), head="for step in range(7):"),
    ),
    alone(
        "a running mean",
        ZEROS,
        loop(
            GRADIENT,
            ADD,
            "mean = [s / (step % STEPS + 1) for s in sums]",
            "optimizer.apply_gradients(zip(mean, model.trainable_variables))",
            due(ZEROS),
        ),
    ),
    alone(
        "zeros that make the slots of an optimizer",
        ZEROS,
        APPLY,
        loop(GRADIENT, "optimizer.apply_gradients(zip(gradients, model.trainable_variables))"),
    ),
    alone(
        "a list that is to be longer",
        "sums = [tf.zeros_like(extra)]",
        loop(
            GRADIENT,
            "sums += gradients",
            "optimizer.apply_gradients(zip(sums, [extra] + model.trainable_variables))",
        ),
    ),
    alone(
        "a list that has become an array",
        "import numpy as np",
        ZEROS,
        "sums = np.array(sums, dtype=object)",
        loop(GRADIENT, "sums += gradients", due(APPLY)),
    ),
    alone(
        "arrays that change in place",
        "import numpy as np",
        "sums = [np.zeros(v.shape) for v in model.trainable_variables]",
        loop(GRADIENT, "for s, g in zip(sums, gradients):\n    s += g", due(APPLY)),
    ),
    alone(
        "the right form in a function",
        under(
            "@tf.function\ndef gather(x, y):",
            GRADIENT,
            "for s, g in zip(sums, gradients):\n    s.assign_add(g)",
        ),
        VARIABLES,
        loop("gather(x, y)", due(APPLY, ZERO_IN_PLACE)),
    ),
    alone(
        "the right form on an object",
        trainer(GRADIENT, OWN_ADD, "self.count += 1", own_due(OWN_APPLY, OWN_ZEROS)),
    ),
    alone(
        "sums of an object that another method adds to",
        trainer(
            OWN_ZEROS, GRADIENT, OWN_ADD, "self.count += 1", "self.more(x)", own_due(OWN_APPLY),
            more=under("def more(self, x):", GRADIENT, OWN_ADD),
        ),
    ),
    alone(
        "sums of an object that others look at",
        trainer(OWN_ZEROS, GRADIENT, OWN_ADD, "self.count += 1", own_due(OWN_APPLY)),
        "total = [t + s for t, s in zip(total, trainer.sums)]",
    ),
    alone(
        "sums of an object that others may zero",
        trainer(loop(GRADIENT, OWN_ADD, due(OWN_APPLY))),
    ),
    alone(
        "a count that stays",
        trainer(OWN_ZEROS, GRADIENT, OWN_ADD, own_due(OWN_APPLY)),
    ),
    alone("zeros that are not TensorFlow's", "tf = fake()", loop(ZEROS, GRADIENT, ADD, due(APPLY))),
    told(
        "zeros in each turn", loop(GRADIENT, ZEROS, ADD, due(APPLY, ZEROS)), message=EACH_TURN
    ),
    told(
        "zeros like the gradients, and a mean",
        loop(
            GRADIENT,
            "sums = [tf.zeros_like(g) for g in gradients]",
            "sums = [tf.add(s, g) for s, g in zip(sums, gradients)]",
            due(
                "mean = [s / STEPS for s in sums]",
                "optimizer.apply_gradients(zip(mean, model.trainable_variables))",
                "sums = [tf.zeros_like(g) for g in gradients]",
            ),
        ),
        message="`(step + 1) % STEPS == 0`: it applies the gradients of that one turn",
    ),
    told(
        "numbers that are zeros, an index, and clipped gradients",
        loop(
            "sums = [0.0] * len(model.trainable_variables)",
            GRADIENT,
            "gradients = [tf.clip_by_norm(g, 1.0) for g in gradients]",
            "for i, g in enumerate(gradients):\n    if g is not None:\n        sums[i] += g",
            due(
                "clipped, norm = tf.clip_by_global_norm(sums, 1.0)",
                "optimizer.apply_gradients(zip(clipped, model.trainable_variables))",
            ),
        ),
        message=EACH_TURN,
    ),
    told(
        "variables that are zeroed in place",
        VARIABLES,
        loop(ZERO_IN_PLACE, GRADIENT, IN_PLACE, due(APPLY)),
        message=EACH_TURN,
    ),
    told(
        "the next turn before the update",
        loop(ZEROS, GRADIENT, ADD, due("continue", test="(step + 1) % STEPS"), APPLY),
        message=EACH_TURN,
    ),
    told(
        "the update in the other branch",
        loop(ZEROS, GRADIENT, ADD, "if step % STEPS:\n    pass\nelse:\n    " + APPLY),
        message=EACH_TURN,
    ),
    told(
        "a counter that begins anew",
        "count = 0",
        loop(
            ZEROS, GRADIENT, ADD, "count += 1", due(APPLY, "count = 0", test="count == STEPS"),
            head="for x, y in dataset:",
        ),
        message=EACH_TURN,
    ),
    told(
        "in a step that knows its number",
        under("@tf.function\ndef train_step(x, y, step):", ZEROS, GRADIENT, ADD, due(APPLY)),
        loop("train_step(x, y, step)"),
        message=EACH_TURN,
    ),
    told(
        "a single tensor",
        "w = tf.Variable(1.0)",
        loop(
            "total = tf.zeros_like(w)",
            "with tf.GradientTape() as tape:\n    loss = (w * x - y) ** 2",
            "total += tape.gradient(loss, w)",
            due("optimizer.apply_gradients([(total / STEPS, w)])"),
        ),
        message="`total` is zeroed in each turn",
    ),
    told(
        "zeros that a function makes",
        under("def zeros():", "return [tf.zeros_like(v) for v in model.trainable_variables]"),
        loop("sums = zeros()", GRADIENT, ADD, due(APPLY)),
        message=EACH_TURN,
    ),
    told(
        "sums of an object, in its step",
        trainer(OWN_ZEROS, GRADIENT, OWN_ADD, "self.count += 1", own_due(OWN_APPLY)),
        message="`self.sums` is zeroed in each turn",
    ),
    told(
        "sums of an object, in its loop",
        trainer(
            loop(
                OWN_ZEROS,
                GRADIENT,
                "for i, g in enumerate(gradients):\n    self.sums[i] += g",
                due(
                    "means = [s / STEPS for s in self.sums]",
                    "self.optimizer.apply_gradients(zip(means, model.trainable_variables))",
                ),
            )
        ),
        message="`self.sums` is zeroed in each turn",
    ),
    told(
        "zeros of an object before the update",
        trainer(loop(GRADIENT, OWN_ADD, due(OWN_ZEROS, OWN_APPLY))),
        message="`self.sums` is zeroed before the update",
    ),
    told(
        "added by a map",
        loop(
            ZEROS, GRADIENT, "sums = tf.nest.map_structure(tf.add, sums, gradients)",
            due("optimizer.apply_gradients([(s / STEPS, v) for s, v in"
                " zip(sums, model.trainable_variables)])"),
        ),
        message=EACH_TURN,
    ),
    told(
        "zeros before the update",
        ZEROS,
        loop(GRADIENT, ADD, due(ZEROS, APPLY)),
        message="is zeroed before the update",
    ),
    told(
        "zeros in place before the update",
        VARIABLES,
        loop(GRADIENT, IN_PLACE, due(ZERO_IN_PLACE, APPLY)),
        message="is zeroed before the update",
    ),
    told(
        "the update outside of the condition",
        ZEROS,
        loop(GRADIENT, ADD, APPLY, due(ZEROS)),
        message="each turn applies the sum so far",
    ),
    told(
        "never zeroed",
        ZEROS,
        loop(GRADIENT, ADD, due(APPLY)),
        message="nothing zeroes `sums`",
    ),
    told(
        "never zeroed, in several epochs",
        under(
            "def train(every):",
            ZEROS,
            under(
                "for epoch in range(5):",
                loop(GRADIENT, ADD, due(APPLY, test="(step + 1) % every == 0")),
            ),
        ),
        message="nothing zeroes `sums`",
    ),
    told(
        "lists that are joined",
        ZEROS,
        loop(GRADIENT, "sums += gradients", due(APPLY, ZEROS)),
        message="this joins two lists",
    ),
    told(
        "lists that are joined, from a function",
        under("def gradient(x, y):", GRADIENT, "return loss, gradients"),
        "wanted = model.trainable_variables",
        "sums = [tf.zeros_like(v) for v in wanted]",
        loop("loss, gradients = gradient(x, y)", "sums = sums + gradients", due(APPLY)),
        message="this joins two lists",
    ),
    told(
        "a name in place of the sum",
        ZEROS,
        loop(GRADIENT, "for s, g in zip(sums, gradients):\n    s += g", due(APPLY, ZEROS)),
        message="leaves `sums` as it is",
    ),
)  # fmt: skip


def test_what_another_rule_writes_anew_is_reported_as_it_was() -> None:
    """In functions of their own the sums are not seen any more."""
    text = (CORPUS / "article_002_2a_gradients_lost" / "original.py").read_text(encoding="utf-8")
    found = rewrite_text(text, [OutlineTrainStep, GradientAccumulation])
    assert "update_step(" in found.after
    (report,) = [one for one in found.findings if one.kind is Kind.REPORT]
    assert report.span.line == text[: text.index("gathered = ")].count("\n") + 1
    again = rewrite_text(found.after, [OutlineTrainStep, GradientAccumulation])
    assert [one.kind for one in again.findings] == []
