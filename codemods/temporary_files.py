"""TFR502 temporary-files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tfrewrite.analysis.program.left_files import Sort
from tfrewrite.model import Report, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

_MESSAGES = {
    Sort.EVENTS: (
        "each turn makes a writer, and each writer a file of events of its own, which TensorBoard"
        " reads one by one; make one writer before the loop"
    ),
    Sort.WRITERS: (
        "each turn makes a writer of events, with a thread and an open file that stay until it is"
        " closed; those of one second write over one another; make one writer before the loop"
    ),
    Sort.TEMPORARY: (
        "each turn leaves a temporary file or directory behind, and nothing in this file takes"
        " them away; use `tempfile.TemporaryDirectory`, or one for all turns"
    ),
    Sort.NEW_SAVER: (
        "each turn saves by a saver of its own, and a saver deletes only what it has written"
        " itself: every checkpoint stays; one saver made before the loop keeps the last five"
    ),
    Sort.KEEPS_ALL: (
        "every checkpoint of this loop stays, as `max_to_keep` says, and each is as large as all"
        " variables; give the number of those that are needed"
    ),
    Sort.NUMBERED: (
        "each call writes a checkpoint with a number of its own, and deletes none:"
        " `tf.train.CheckpointManager` keeps as many as `max_to_keep` says"
    ),
    Sort.CALLBACK: (
        "each epoch leaves a checkpoint of its own, and none is deleted; without `{epoch}` in its"
        " name there is one, and with `save_best_only=True` one for each improvement"
    ),
}


class TemporaryFiles(Rule):
    """Reports checkpoints, event files and temporary files that pile up turn by turn.

    ## Why it is slow
    It costs disk space, and the time to write what nobody reads. A checkpoint is as large as all
    variables, with those of Adam three times the model. Each writer of events leaves a file
    (`create_file_writer`, 2.21), or a thread and an open file (`FileWriter`, 1.15.5 and 2.21).

    ## Before
    ```python
    for epoch in range(100):
        train(epoch)
        saver = tf.train.Saver()
        saver.save(sess, "model/weights", global_step=epoch)
        writer = tf.summary.FileWriter("log")
        writer.add_summary(summary, epoch)
    ```

    ## After
    Nothing is rewritten, and nothing is ever deleted. To be written by hand:
    ```python
    saver = tf.train.Saver()
    writer = tf.summary.FileWriter("log")
    for epoch in range(100):
        train(epoch)
        saver.save(sess, "model/weights", global_step=epoch)
        writer.add_summary(summary, epoch)
    ```

    ## Contract
    None: it only reports. What is needed afterwards the owner knows.

    ## Reports
    - A writer of events that is made in each turn for one directory.
    - `tempfile.mkdtemp()`, `mkstemp()` and `NamedTemporaryFile(delete=False)` in each turn, where
      the file has nothing that removes anything.
    - Checkpoints with a name for each turn: by a saver that is made in each turn, by a saver or
      manager whose `max_to_keep` is 0 or None, by `tf.train.Checkpoint.save`.
    - A `ModelCheckpoint` with `{epoch}` in its path and without `save_best_only`, where `fit` is
      told to make ten epochs or more.

    All of it in loops that train one model, with ten turns or more as far as the text says it. It
    is silent where each turn has a path, a model, a graph or a session of its own: those are runs
    of their own. Savers as they are by default keep five checkpoints, and a path that stays the
    same is written over. `model.save("model_%d.h5" % epoch)` and the like are left out: who writes
    the number into a name wants to keep what has it.

    ## When it does not help
    Where every one of the checkpoints is looked at.
    """

    code = "TFR502"
    name = "temporary-files"
    contracts = ()
    triggers = (
        (b"tensorflow", b"keras"),
        (
            b"FileWriter", b"SummaryWriter", b"create_file_writer", b"tempfile", b".save(",
            b"ModelCheckpoint",
        ),
        (b"for ", b"while ", b"fit"),
    )  # fmt: skip
    reasons: ClassVar[dict[str, str]] = {}

    def sites(self, facts: Facts) -> Iterator[Site]:
        for pile in facts.left_files.all:
            yield Report(facts.source.span(pile.call), _MESSAGES[pile.sort])
