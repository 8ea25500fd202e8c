"""TFR502, what is left alone first."""

import textwrap

from rulebench import Case, bench, leaves_alone, reports
from tfrewrite.codemods.temporary_files import TemporaryFiles

GRAPH = """\
import tempfile
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
train_op = tf.train.AdamOptimizer().minimize(loss)
summary = tf.summary.scalar("loss", loss)
sess = tf.Session()
"""
EAGER = """\
import os
import tempfile
import tensorflow as tf

EPOCHS = 50
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
"""
RUN = "value, text = sess.run([loss, summary, train_op], {x: batch})[:2]"
STEP = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
optimizer.apply_gradients(
    zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
WRITER = 'writer = tf.summary.FileWriter("log")'
SAVE = 'saver.save(sess, "model/weights", global_step=i)'


def loop(*lines: str, head: str = "for i, batch in enumerate(batches):") -> str:
    return head + "\n" + "".join(textwrap.indent(line.rstrip() + "\n", "    ") for line in lines)


def epochs(*lines: str, count: str = "EPOCHS") -> str:
    return loop(*lines, head=f"for epoch in range({count}):")


def alone(name: str, *parts: str, head: str = GRAPH) -> Case:
    return leaves_alone(name, head + "\n".join(parts))


def told(name: str, *parts: str, message: str, head: str = GRAPH) -> Case:
    return reports(name, head + "\n".join(parts), message=message)


def fitted(callback: str, *, count: str = "100") -> str:
    fit = f"model.fit(x, y, epochs={count}, callbacks=[saving])"
    return f"saving = tf.keras.callbacks.{callback}\n{fit}\n"


EVENTS = "each turn makes a writer"
LEAVES = "each turn leaves a temporary file"
EPOCH = "each epoch leaves a checkpoint"

test_temporary_files = bench(
    TemporaryFiles,
    alone("a writer before the loop", WRITER, loop(RUN, "writer.add_summary(text, i)")),
    alone("a writer for each fold", loop(RUN, 'writer = tf.summary.FileWriter("log/%d" % i)')),
    alone(
        "a writer for each run, by its time",
        "import time",
        loop(RUN, 'writer = tf.summary.FileWriter("log" + time.ctime())'),
    ),
    alone(
        "a session in each turn",
        loop("with tf.Session() as sess:", "    " + WRITER, "    " + RUN),
    ),
    alone("a writer in few turns", loop(WRITER, RUN, head="for i in range(3):")),
    alone("a writer at some turns", loop(RUN, "if i % 100 == 0:", "    " + WRITER)),
    alone("a loop that does not train", loop(WRITER, "writer.add_graph(graphs[0])")),
    alone(
        "checkpoints that are evaluated as they come",
        loop(
            RUN, WRITER, head="for path in tf.train.checkpoints_iterator('model'):"
        ),
    ),
    alone("a writer of the file's own", "tf.summary.FileWriter = Fake", loop(RUN, WRITER)),
    alone("a saver as it is by default", "saver = tf.train.Saver()", loop(RUN, SAVE)),
    alone("a saver that keeps some", "saver = tf.train.Saver(max_to_keep=100)", loop(RUN, SAVE)),
    alone(
        "a path that stays",
        "saver = tf.train.Saver(max_to_keep=0)",
        loop(RUN, 'saver.save(sess, "model/weights")'),
    ),
    alone(
        "a new saver that writes over",
        loop(RUN, 'tf.train.Saver().save(sess, "model/weights")'),
    ),
    alone(
        "all of the few that there are",
        "saver = tf.train.Saver(max_to_keep=None)",
        loop(RUN, "if i % 10 == 0:", "    " + SAVE, head="for i in range(90):"),
    ),
    alone(
        "a temporary directory that is removed",
        "import shutil",
        loop(RUN, "place = tempfile.mkdtemp()", "shutil.rmtree(place)"),
    ),
    alone(
        "temporary directories in a place of their own",
        loop(RUN, "place = tempfile.mkdtemp(dir=scratch)"),
    ),
    alone(
        "temporary files that go by themselves",
        loop(RUN, "file = tempfile.NamedTemporaryFile()", "file.write(text)"),
    ),
    alone("one temporary directory", "place = tempfile.mkdtemp()", loop(RUN)),
    alone("the best", fitted('ModelCheckpoint("best.h5", save_best_only=True)'), head=EAGER),
    alone(
        "each improvement",
        fitted('ModelCheckpoint("m-{epoch}.h5", "val_loss", 0, True)'),
        head=EAGER,
    ),
    alone("one path", fitted('ModelCheckpoint("last.h5")'), head=EAGER),
    alone("few epochs", fitted('ModelCheckpoint("m-{epoch}.h5")', count="9"), head=EAGER),
    alone(
        "a number of epochs that the file does not say",
        fitted('ModelCheckpoint("m-{epoch}.h5")', count="args.epochs"),
        head=EAGER,
    ),
    alone(
        "names with the epoch in them",
        epochs(STEP, "model.save('model_%d.keras' % epoch)"),
        head=EAGER,
    ),
    alone(
        "a manager",
        "manager = tf.train.CheckpointManager(tf.train.Checkpoint(m=model), 'models', 3)",
        epochs(STEP, "manager.save()"),
        head=EAGER,
    ),
    alone(
        "each twentieth epoch of fifty",
        "checkpoint = tf.train.Checkpoint(model=model)",
        epochs(STEP, "if epoch % 20 == 0:", "    checkpoint.save('models/m')"),
        head=EAGER,
    ),
    alone(
        "a checkpoint after the loop",
        "checkpoint = tf.train.Checkpoint(model=model)",
        epochs(STEP),
        "checkpoint.save('models/m')",
        head=EAGER,
    ),
    alone(
        "a checkpoint that is written over",
        "checkpoint = tf.train.Checkpoint(model=model)",
        epochs(STEP, "checkpoint.write('models/m')"),
        head=EAGER,
    ),
    alone(
        "checkpoints that are deleted by hand",
        "checkpoint = tf.train.Checkpoint(model=model)",
        epochs(
            STEP,
            "path = checkpoint.save('models/m')",
            "for old in tf.io.gfile.glob('models/*')[:-6]:",
            "    tf.io.gfile.remove(old)",
        ),
        head=EAGER,
    ),
    told("a writer in each step", loop(RUN, WRITER, "writer.add_summary(text, i)"), message=EVENTS),
    told(
        "a writer in each epoch",
        epochs(
            STEP,
            "writer = tf.summary.create_file_writer(os.path.join('log', 'train'))",
            "with writer.as_default():",
            "    tf.summary.scalar('loss', loss, step=epoch)",
        ),
        message=EVENTS,
        head=EAGER,
    ),
    told("directories", loop(RUN, "place = tempfile.mkdtemp()"), message=LEAVES),
    told(
        "files that stay",
        loop(RUN, "file = tempfile.NamedTemporaryFile(suffix='.npy', delete=False)"),
        message=LEAVES,
    ),
    told(
        "a saver in each turn",
        loop(RUN, "saver = tf.train.Saver()", SAVE),
        message="by a saver of its own",
    ),
    told(
        "a saver that keeps all",
        "saver = tf.train.Saver(max_to_keep=0)",
        loop(RUN, "saver.save(sess, 'model/' + str(i))"),
        message="every checkpoint of this loop stays",
    ),
    told(
        "a saver that keeps each hundredth",
        "saver = tf.train.Saver(max_to_keep=None)",
        loop(RUN, "if i % 100 == 0:", "    " + SAVE),
        message="every checkpoint of this loop stays",
    ),
    told(
        "a manager that keeps all",
        "manager = tf.train.CheckpointManager(\n"
        "    tf.train.Checkpoint(m=model), 'models', max_to_keep=None)",
        epochs(STEP, "manager.save()"),
        message="every checkpoint of this loop stays",
        head=EAGER,
    ),
    told(
        "checkpoints by number",
        "checkpoint = tf.train.Checkpoint(model=model)",
        epochs(STEP, "checkpoint.save(file_prefix='models/m')"),
        message="deletes none",
        head=EAGER,
    ),
    told("a callback", fitted('ModelCheckpoint("m-{epoch:02d}.h5")'), message=EPOCH, head=EAGER),
    told(
        "a callback, its path elsewhere",
        "path = os.path.join('models', 'm-{epoch}.h5')",
        fitted(
            "ModelCheckpoint(filepath=path, save_weights_only=True, save_best_only=False)",
            count="EPOCHS",
        ),
        message=EPOCH,
        head=EAGER,
    ),
)  # fmt: skip
