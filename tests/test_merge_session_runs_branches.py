"""TFR101: runs in a branch that all turns take are those of a step; in another they are not."""

from __future__ import annotations

from rulebench import bench, leaves_alone, offers, refuses, rewrites
from test_merge_session_runs import step
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

# The flag comes from elsewhere, as from the command line.
FLAGS = "import sys\ndataset = sys.argv[1]\n"

TRAPS = [
    leaves_alone(
        "a counter of the loop decides",
        step(
            """
            count += 1
            if count % 10 == 0:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            """,
            before="count = 0\n",
        ),
    ),
    leaves_alone(
        "the batch decides",
        step("""
            if images is not None:
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
        """),
    ),
    leaves_alone(
        "a call decides",
        step(
            """
            if is_time():
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            """
        ),
    ),
    leaves_alone(
        "a condition that never varies, under one that does",
        step(
            """
            count += 1
            if count % 10 == 0:
                if dataset == "mnist":
                    l = sess.run(loss, {x: images, y: labels})
                    a = sess.run(accuracy, {x: images, y: labels})
            """,
            graph=FLAGS,
            before="count = 0\n",
        ),
    ),
    leaves_alone(
        "one run in each of two branches",
        step(
            """
            if dataset == "mnist":
                l = sess.run(loss, {x: images, y: labels})
            else:
                l = sess.run(accuracy, {x: images, y: labels})
            """,
            graph=FLAGS,
        ),
    ),
    refuses(
        "what comes after the branch decides by the metric",
        step(
            """
            if dataset == "mnist":
                sess.run(train_op, {x: images, y: labels})
                l = sess.run(loss, {x: images, y: labels})
            if l < 0.1:
                break
            """,
            graph=FLAGS,
            before="l = 1.0\n",
        ),
        reason="value-acts",
    ),
]

REWRITES = [
    rewrites(
        "both branches of a choice that is made once",
        step(
            """
            if dataset == "mnist":
                l = sess.run(loss, {x: images, y: labels})
                a = sess.run(accuracy, {x: images, y: labels})
            elif dataset == "other":
                a = sess.run(accuracy, {x: images, y: labels})
                l = sess.run(loss, {x: images, y: labels})
            else:
                l, a = 0.0, 0.0
            print(l, a)
            """,
            graph=FLAGS,
        ),
        step(
            """
            if dataset == "mnist":
                l, a = sess.run([loss, accuracy], {x: images, y: labels})
            elif dataset == "other":
                a, l = sess.run([accuracy, loss], {x: images, y: labels})
            else:
                l, a = 0.0, 0.0
            print(l, a)
            """,
            graph=FLAGS,
        ),
        contract="exact",
    ),
    offers(
        "the update, then a metric that is shown after the branch",
        step(
            """
            if dataset == "mnist":
                sess.run(train_op, {x: images, y: labels})
                l = sess.run(loss, {x: images, y: labels})
                print(l)
            """,
            graph=FLAGS,
        ),
        contract="shifted",
    ),
]

test_merge_session_runs_in_branches = bench(MergeSessionRuns, *TRAPS, *REWRITES)
