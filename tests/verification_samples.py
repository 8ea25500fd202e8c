"""Verifications for the tests of their reports: one for each way in which they end."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from tfrewrite.model import Contract
from tfrewrite.verify.model import (
    Change,
    Compared,
    Divergence,
    Environment,
    Growth,
    Kind,
    Numerics,
    Point,
    Ratio,
    Speed,
    SpeedVerdict,
    Subject,
    TimedRun,
    Traffic,
    Verdict,
    Verification,
    Version,
)

DIFF = """\
# TFR101 merge-session-runs [rounding]: two runs of one session with the same feeds become one
#   safe because nothing between the two runs changes a variable
--- a/examples/mnist_softmax.py
+++ b/examples/mnist_softmax.py
@@ -38,10 +38,9 @@
 with tf.Session() as sess:
     sess.run(tf.global_variables_initializer())
     for step in range(FLAGS.steps):
         batch_x, batch_y = mnist.train.next_batch(100)
-        sess.run(train_step, feed_dict={x: batch_x, y_: batch_y})
-        loss_value = sess.run(cross_entropy, feed_dict={x: batch_x, y_: batch_y})
--- this comment looks like a header
+        _, loss_value = sess.run([train_step, cross_entropy], feed_dict={x: batch_x, y_: batch_y})
+
         if step % 100 == 0:
             print("step %d: loss %.4f" % (step, loss_value))

@@ -61,4 +61,4 @@
     total = 0
-    images = tf.constant(mnist.test.images)
+    images = test_images
     print(sess.run(accuracy, feed_dict={x: images, y_: mnist.test.labels}))
"""

HOSTILE = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "]]></script></style></title></svg></details></pre>--><script>document.title='owned'</script>",
    "``` ````` `",
    "| a | b |",
    "[bold red]x[/]",
    "[link](javascript:alert(1)) ![i](https://example.org/x.png)",
    "@someone #1 https://example.org www.example.org :tada:",
    "\ud800 lone \udfff",
    "\u202egnp.exe\u2066",
    "{{ 7 * 7 }} {% raw %} ${x}",
    "a\r\nb\x00c\x85d\u2028e",
    "# heading\n\n1. one\n- two\n    code",
    "' onmouseover='document.title=1' \"",
    "x" * 20_000,
)


def run(version: Version, order: int, step_s: float, *, growing: float = 0.0) -> TimedRun:
    chance = random.Random(order)  # noqa: S311 - noise, not secrets
    steps = [
        step_s * (1 + growing * index) * (1 + chance.gauss(0, 0.03))
        + (chance.random() < 0.03) * step_s
        for index in range(60)
    ]
    steps[0] = 0.62 + chance.gauss(0, 0.02)
    whole = 3.1 + math.fsum(steps)
    return TimedRun(version, order, 3.1, steps[0], tuple(steps), whole, 512.0 - order, 0.41)


def speed(before_s: float = 4.1e-3, after_s: float = 2.7e-3) -> Speed:
    runs = []
    for order in range(12):
        version = Version.ORIGINAL if order % 4 in {0, 3} else Version.REWRITTEN
        is_first = version is Version.ORIGINAL
        growing = 0.012 if is_first and after_s < before_s else 0.0
        runs.append(run(version, order + 1, before_s if is_first else after_s, growing=growing))
    ratio = before_s / after_s
    verdict = SpeedVerdict.FASTER if ratio > 1 else SpeedVerdict.SLOWER
    return Speed(
        verdict,
        f"A step takes {after_s / before_s:.2f} of the time, and the interval excludes 1.",
        Ratio(ratio, ratio * 0.97, ratio * 1.04),
        Ratio(0.98, 0.91, 1.06),
        Ratio(1.002, 0.981, 1.022),
        Ratio(1.12, 1.08, 1.15),
        Ratio(1.001, 0.984, 1.019),
        tuple(runs),
        ("The load was above the number of cores when run 7 began; its times were kept.",),
    )


def growth() -> tuple[Growth, ...]:
    steps = range(60)
    return (
        Growth(
            Version.ORIGINAL,
            9.1,
            tuple(120 + 14 * step for step in steps),
            tuple(402 + 0.9 * step for step in steps),
            58,
            471.2,
            Traffic(4, 1_254_400, 0.213),
        ),
        Growth(
            Version.REWRITTEN,
            0.001,
            (122,) * 60,
            tuple(403 + step / 90 for step in steps),
            0,
            412.0,
            Traffic(1, 0, 0.04),
        ),
    )


def compared(name: str, kind: Kind = Kind.FETCHED, *, scale: float = 0.2) -> Compared:
    points = []
    for step in range(1, 61):
        allowed = 4.8e-7 * 1.13**step
        distance = 0.0 if step < 4 or scale == 0 else allowed * scale * (1 + math.sin(step))
        points.append(Point(step, distance, allowed, identical=distance == 0))
    worst = max(point.distance / point.allowed for point in points)
    verdict = Verdict.PASS if worst <= 1 else Verdict.FAIL
    return Compared(name, kind, tuple(points), verdict, worst)


def environment() -> Environment:
    return Environment(
        "/home/me/.envs/tf1/bin/python",
        "3.7.17",
        "1.15.5",
        "1.18.5",
        "Linux-6.1.0-26-amd64-x86_64-with-debian-12.7",
        "AMD EPYC 7B13",
        2,
        "intra 2, inter 2",
        "CPU",
        ("TF_DETERMINISTIC_OPS could not be applied: TensorFlow 1.15 does not have it.",),
    )


def changes() -> tuple[Change, ...]:
    return (
        Change(
            "TFR101",
            "merge-session-runs",
            42,
            "two runs of one session with the same feeds become one",
            Contract.ROUNDING,
        ),
        Change(
            "TFR201",
            "hoist-graph-op",
            63,
            "an op that each turn of the loop added to the graph is made once",
            Contract.EXACT,
        ),
    )


def subject(script: str = "examples/mnist_softmax.py") -> Subject:
    return Subject(script, script, f"/tmp/copy/{script}", Contract.ROUNDING, DIFF, changes())  # noqa: S108


def passing() -> Verification:
    numerics = Numerics(
        Verdict.PASS,
        Contract.ROUNDING,
        "At every step each observable stays within the script's own sensitivity to rounding.",
        0.4,
        None,
        (
            compared("cross_entropy:0"),
            compared("accuracy:0", scale=0.11),
            compared("Variable (784, 10)", Kind.WEIGHTS, scale=0.05),
            compared("Variable_1 (10,)", Kind.FINAL, scale=0),
            compared("line 1: step #: loss #", Kind.PRINTED, scale=0),
        ),
        60,
        whole=False,
        seeds=3,
        notes=("The loops were ended after 60 steps: the final save was not seen.",),
    )
    return Verification(
        subject(),
        Verdict.PASS,
        "Same numbers within rounding, and steps are 1.52 times as fast",
        "All 5 observables stay within the noise envelope over 60 steps and 3 seeds.",
        "",
        numerics,
        speed(),
        growth(),
        environment(),
        "",
        41.7,
    )


def failing() -> Verification:
    good = passing()
    assert good.numerics
    observable = compared("cross_entropy:0", scale=130)
    divergence = Divergence("cross_entropy:0", Kind.FETCHED, 4, "0.69314718", "0.70121104", 214.3)
    numerics = replace(
        good.numerics,
        verdict=Verdict.FAIL,
        reason="At step 4 the loss is 214 times further away than rounding explains.",
        worst_ratio=260.0,
        divergence=divergence,
        compared=(*good.numerics.compared[1:], observable),
    )
    return replace(
        good,
        subject=subject("examples/cifar/train.py"),
        verdict=Verdict.FAIL,
        headline="The rewritten script computes something else from step 4 on",
        reason=numerics.reason,
        advice="Leave out one rewrite after the other: tfrewrite apply --verify does that.",
        numerics=numerics,
        speed=Speed(SpeedVerdict.NOT_MEASURED, "No equivalence, no speed figure."),
        growth=(),
    )


def inconclusive() -> Verification:
    return Verification(
        replace(subject("legacy/rnn.py"), changes=()),
        Verdict.INCONCLUSIVE,
        "The original script fails, so there is nothing to compare with",
        "It ended with exit code 1: ModuleNotFoundError: No module named 'sonnet'.",
        "Name an interpreter that has what the script needs: --python PATH.",
        output="Traceback (most recent call last):\n"
        '  File "legacy/rnn.py", line 3, in <module>\n'
        "    import sonnet as snt\nModuleNotFoundError: No module named 'sonnet'\n",
        elapsed_s=2.31,
    )


def slower() -> Verification:
    return replace(
        passing(),
        subject=subject("examples/tiny_mlp.py"),
        headline="Same numbers within rounding, but steps are slower: 0.85 times the speed",
        speed=speed(2.3e-3, 2.7e-3),
    )


def without_speed() -> Verification:
    return replace(
        passing(),
        subject=subject("examples/quick.py"),
        headline="Same numbers within rounding; speed was not measured",
        speed=None,
        growth=(),
    )


def several() -> tuple[Verification, ...]:
    return passing(), failing(), inconclusive(), slower(), without_speed()


def odd_numbers() -> Verification:
    """Everything that is measured is infinite, not a number, huge or missing."""
    inf, nan = math.inf, math.nan
    points = (
        Point(0, 0.0, 0.0, identical=True),
        Point(1, 1e-300, 1e-310, identical=False),
        Point(2, nan, 1e-7, identical=False),
        Point(3, inf, 1e300, identical=False),
        Point(3, 5e-324, inf, identical=False),
        Point(9, 1e308, nan, identical=False),
    )
    observables = (
        Compared("odd", Kind.READ, points, Verdict.FAIL, inf, "differs between runs"),
        Compared("one", Kind.FILE, points[1:2], Verdict.INCONCLUSIVE, nan),
        Compared("none", Kind.READ, (), Verdict.PASS, 0.0),
    )
    numerics = Numerics(Verdict.FAIL, Contract.EXACT, "Odd.", nan, None, observables)
    runs = (
        TimedRun(Version.ORIGINAL, 1, nan, inf, (inf, nan, 1e308, 0.0, 5e-324), inf, nan, nan),
        TimedRun(Version.ORIGINAL, 2, 0.0, 0.0, (), 0.0, 0.0, 0.0),
        TimedRun(Version.REWRITTEN, 3, -1.0, 1e9, (1e9,), 1e9, 1e12, 1e3),
    )
    ratio = Ratio(inf, 0.0, nan)
    odd = Speed(
        SpeedVerdict.NO_CHANGE,
        "Odd.",
        ratio,
        Ratio(nan, nan, nan),
        ratio,
        Ratio(1e9, -1.0, inf),
        ratio,
        runs,
    )
    grown = (
        Growth(Version.ORIGINAL, nan, (), (nan, inf, 1e308, -1.0), 0, inf),
        Growth(Version.REWRITTEN, -inf, (7,), (), 10**12, nan),
    )
    return replace(passing(), numerics=numerics, speed=odd, growth=grown, elapsed_s=inf)


def hostile(text: str) -> Verification:
    """One whose every text from the outside is this one."""
    good = failing()
    assert good.numerics
    divergence = Divergence(text, Kind.PRINTED, 1, text, text, math.inf)
    numerics = replace(
        good.numerics,
        reason=text,
        divergence=divergence,
        compared=tuple(replace(one, name=text, note=text) for one in good.numerics.compared),
        notes=(text,),
    )
    change = Change(text, text, 1, text, Contract.EXACT, text)
    hunk = text.replace("\n", "\n+")
    return Verification(
        Subject(
            text, text, text, Contract.ROUNDING, f"{text}\n@@ -0,0 +1,9 @@\n+{hunk}\n", (change,)
        ),
        Verdict.FAIL,
        text,
        text,
        text,
        numerics,
        replace(speed(), reason=text, notes=(text,)),
        growth(),
        Environment(text, text, text, text, text, text, 2, text, text, (text,)),
        f"{text}\n{text}",
        1.0,
    )
