"""TFR303: what is left alone first, then what is reported, then what is rewritten on request."""

from __future__ import annotations

from rulebench import bench, leaves_alone, offers, reports, rewrites
from tfrewrite.codemods.hoist_iterator import HoistIterator

PLAIN = "ds = tf.data.Dataset.range(99).batch(8, drop_remainder=True)"
SHUFFLED = "ds = tf.data.Dataset.range(99).shuffle(99).batch(8, drop_remainder=True)"
LOOP = "for step in range(9):\n    train(next(iter(ds)))"


def script(*parts: str, pipeline: str = SHUFFLED, loop: str = LOOP) -> str:
    head = "import numpy as np\nimport tensorflow as tf\n"
    return head + "\n".join((*parts, pipeline, loop)) + "\n"


def made(text: str, repeated: str = ".repeat()") -> str:
    """The same with one iterator before the only loop."""
    text = text.replace("iter(ds)", "ds_iterator")
    return text.replace("for step", f"ds_iterator = iter(ds{repeated})\nfor step")


test_left_alone = bench(
    HoistIterator,
    leaves_alone("not in a loop", script(loop="x = next(iter(ds))")),
    leaves_alone("one iterator", script(loop="it = iter(ds)\nfor i in range(9):\n    next(it)")),
    leaves_alone("a dict", script(loop="d = {}\nfor i in range(9):\n    next(iter(d.values()))")),
    leaves_alone("the loop's own", script(loop="for ds in many:\n    print(next(iter(ds)))")),
    leaves_alone(
        "rebuilt in each turn",
        script(loop="for i in range(3):\n    ds = ds.skip(1)\n    print(next(iter(ds)))"),
    ),
    leaves_alone(
        "made of the loop's variable",
        script(loop="for i in range(3):\n    print(next(iter(ds.skip(i))))"),
    ),
    leaves_alone(
        "a sample, under a condition",
        script(loop="for i in range(9):\n    if i % 3 == 0:\n        show(next(iter(ds)))"),
    ),
    leaves_alone(
        "a sample, beside the loop that trains",
        script(
            loop="for epoch in range(9):\n    for x in ds:\n        train(x)\n"
            "    show(next(iter(ds)))"
        ),
    ),
    leaves_alone(
        "a sample, beside a loop that counts",
        script(
            loop="for epoch in range(9):\n    for i, x in enumerate(ds):\n        train(x)\n"
            "    show(next(iter(ds)))"
        ),
    ),
    leaves_alone(
        "a sample, beside a fit",
        script(loop="for epoch in range(9):\n    model.fit(ds)\n    show(next(iter(ds)))"),
    ),
    leaves_alone(
        "the first, in so many words",
        script(loop="for i in range(9):\n    show(next(iter(ds.take(1))))"),
    ),
    leaves_alone("its own next", script("def next(x):\n    return x")),
)

test_reported = bench(
    HoistIterator,
    reports("the same batch in each turn", script(pipeline=PLAIN), message="very likely a bug"),
    reports(
        "by its method",
        script(pipeline=PLAIN, loop=LOOP.replace("next(iter(ds))", "iter(ds).get_next()")),
        message="very likely a bug",
    ),
    reports(
        "a generator over what the loop fills",
        script(
            "seen = []\ndef gen():\n    for x in seen:\n        yield x",
            pipeline="ds = tf.data.Dataset.from_generator(gen, tf.int32).shuffle(9)",
            loop="for step in range(9):\n    seen.append(step)\n    train(next(iter(ds)))",
        ),
        message="not made here",
        allow=("resampled",),
    ),
    reports(
        "a variable that training changes",
        script(
            "w = tf.Variable(1)",
            pipeline="ds = tf.data.Dataset.range(9).shuffle(9).map(lambda x: x * w)",
        ),
        message="may be a variable",
        allow=("resampled",),
    ),
    reports(
        "a smaller last batch",
        script(pipeline="ds = tf.data.Dataset.range(99).shuffle(99).batch(8)"),
        message="drop_remainder",
        allow=("resampled",),
    ),
    reports(
        "an array that the loop changes",
        script(
            pipeline="data = np.zeros(9)\nds = tf.data.Dataset.from_tensor_slices(data).shuffle(9)",
            loop=f"{LOOP}\n    data[0] += 1",
        ),
        message="changes `data` while it is read",
        allow=("resampled",),
    ),
    reports(
        "a source of elsewhere",
        script(pipeline="import lib\nds = lib.load().batch(2, drop_remainder=True).shuffle(9)"),
        message="not made here",
        allow=("resampled",),
        shapes=(),
    ),
)

ENDLESS = "ds = tf.data.Dataset.range(99).shuffle(99).repeat().batch(8).prefetch(1)"

test_rewritten = bench(
    HoistIterator,
    offers("a new shuffle in each turn", script(), contract="resampled", changes="new shuffle"),
    rewrites("allowed", script(), made(script()), contract="resampled", allow=("resampled",)),
    rewrites(
        "the same batch in each turn, and other data allowed",
        script(pipeline=PLAIN),
        made(script(pipeline=PLAIN)),
        contract="resampled",
        allow=("resampled",),
    ),
    rewrites(
        "endless already",
        script(pipeline=ENDLESS),
        made(script(pipeline=ENDLESS), ""),
        contract="resampled",
        allow=("resampled",),
    ),
    rewrites(
        "out of two loops, by a method",
        script(
            loop="for step in range(3):\n    for i in range(4):\n"
            "        x = iter(ds).get_next()\n        train(x)"
        ),
        made(
            script(
                loop="for step in range(3):\n    for i in range(4):\n"
                "        x = iter(ds).get_next()\n        train(x)"
            )
        ),
        contract="resampled",
        allow=("resampled",),
    ),
    rewrites(
        "an expression, and a name that is taken",
        script(
            "dataset_iterator = 3",
            loop="n = 0\nwhile n < 9:\n    train(next(iter(ds.prefetch(1))))\n    n += 1",
        ),
        script(
            "dataset_iterator = 3",
            loop="n = 0\ndataset_iterator_2 = iter(ds.prefetch(1).repeat())\nwhile n < 9:\n"
            "    train(next(dataset_iterator_2))\n    n += 1",
        ),
        contract="resampled",
        allow=("resampled",),
    ),
)
