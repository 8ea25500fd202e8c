"""Files that loops leave behind."""

from analysis_helpers import facts
from tfrewrite.analysis.program.left_files import Sort

TEXT = """
    import tempfile
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model)
    for epoch in range(EPOCHS):
        with tf.GradientTape() as tape:
            loss = model(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        writer = tf.summary.create_file_writer("log")
        place = tempfile.mkdtemp()
        if epoch % 2 == 0:
            checkpoint.save("models/m")
"""


def sorts(text: str) -> list[Sort]:
    return [pile.sort for pile in facts(text).left_files.all]


def test_in_the_order_of_the_text() -> None:
    assert sorts(TEXT) == [Sort.EVENTS, Sort.TEMPORARY, Sort.NUMBERED]


def test_turns_are_counted_where_the_text_says_them() -> None:
    assert sorts(TEXT.replace("EPOCHS", "9")) == []
    assert sorts(TEXT.replace("EPOCHS", "19")) == [Sort.EVENTS, Sort.TEMPORARY]
    assert len(sorts(TEXT.replace("EPOCHS", "20"))) == 3


def test_only_writers_are_told_of_where_files_are_removed() -> None:
    assert sorts(TEXT + "    shutil.rmtree('models')\n") == [Sort.EVENTS]
    assert sorts(TEXT + "    from shutil import rmtree as away\n    away(place)\n") == [Sort.EVENTS]


def test_turns_that_are_runs_of_their_own() -> None:
    assert sorts(TEXT.replace("place =", "model = tf.keras.Sequential(); place =")) == []
    assert Sort.EVENTS not in sorts(TEXT.replace('"log"', '"log/%d" % epoch'))


def test_a_loop_goes_on_after_a_checkpoint() -> None:
    assert Sort.NUMBERED not in sorts(TEXT + "            break\n")
    assert Sort.NUMBERED not in sorts(TEXT.replace("epoch % 2 == 0", "loss < best"))


def test_what_makes_it() -> None:
    (pile,) = (one for one in facts(TEXT).left_files.all if one.sort is Sort.NUMBERED)
    assert pile.made.lineno == 5
    assert pile.call.lineno == 13
