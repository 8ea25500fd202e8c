"""Where the names of ops are shown."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import marked, with_graph

LOOP = "for i in range(3):  # here\n    h = tf.exp(w)\n    {}\n"


def shown(text: str) -> bool:
    found = with_graph(text)
    return found.op_names.shown(marked(found, "here")) is not None


@pytest.mark.parametrize(
    "code",
    [
        "print(h.name)", "print(h)", "print(f'{h}')", "str(h)", "print('%s' % h)",
        "'{}'.format(h)", "'%s %d' % (h, i)", "h.op.type",
        "g = h.op\n    sess.run(g)\n    print(g)",
        "print(tf.log(w).name)",
        "print([h, w])", "print(*[h])", "hs = {'h': h}\n    print(hs)", "logging.info('%s', h)",
        "import logging\n    logging.info('%s', h)", "log.info('%s', h)", "getattr(h, 'name')",
        "try:\n        sess.run(h)\n    except Exception as error:\n        print(error)",
        "print([one.name for one in [w, h]])", "hs = [h]\n    list(map(str, hs))", "form.format(h)",
        "with tf.name_scope('a'):\n        v = tf.Variable(1.0)",
    ],
)  # fmt: skip
def test_of_ops_made_in_the_loop(code: str) -> None:
    assert shown(LOOP.format(code))


@pytest.mark.parametrize(
    "code",
    [
        "print(loss.name)",
        "try:\n        sess.run(loss)\n    except Exception as error:\n        print(error)",
        "try:\n        sess.run(h)\n    except Exception:\n        print('no')",
        "print(logits, w)",
        "v = tf.Variable(1.0)",
        "print(i)",
        "f(h)",
        "print('%s' % sess.run(h), i + 1)",
        "h.op.run(session=sess)",
        "g = h.op\n    sess.run([g])",
    ],
)
def test_of_others(code: str) -> None:
    assert not shown(LOOP.format(code))


def test_only_what_comes_later() -> None:
    assert not shown("g = tf.log(w)\nprint(g.name)\n" + LOOP.format("pass"))
    assert shown(LOOP.format("pass") + "g = tf.log(w)\nprint(g.name)\n")


def alike(made: str, later: str) -> bool:
    found = with_graph(f"for i in range(3):  # here\n    h = {made}\n{later}\n")
    statement = marked(found, "here")
    assert isinstance(statement, ast.For) and isinstance(statement.body[0], ast.Assign)
    return found.op_names.shown(statement, statement.body[0].value) is not None


@pytest.mark.parametrize(
    ("made", "later"),
    [
        ("tf.exp(w, name='loss')", "tf.summary.scalar('loss', w)"),
        ("tf.exp(w, name='a/loss_1')", "tf.summary.scalar('Loss', w)"),
        ("tf.reduce_mean(w)", "tf.summary.scalar('mean', w)"),
        ("w + tf.exp(w)", "tf.summary.histogram('add', w)"),
        ("tf.exp(w, 'n')", "tf.Variable(0, name='n')"),
        ("tf.exp(w)", "tf.summary.scalar(w.name, w)"),
        ("tf.exp(w)", "tf.summary.scalar(*given)"),
        ("tf.exp(w, 'n')", "with tf.name_scope('n'):\n    tf.summary.scalar('a', w)"),
        ("tf.exp(w, 'n')", "tf.metrics.mean(w, name='n')"),
        ("tf.reduce_mean(w)", "tf.metrics.mean(w)"),
        ("tf.exp(w, 'dense')", "tf.keras.layers.Dense(2)(x)"),
    ],
)
def test_names_that_get_another_number(made: str, later: str) -> None:
    assert alike(made, later)


@pytest.mark.parametrize(
    ("made", "later"),
    [
        ("tf.exp(w)", "tf.summary.scalar('loss', w)"),
        ("tf.reduce_mean(w, name='accuracy')", "tf.summary.scalar('loss', w)"),
        ("tf.exp(w)", "tf.Variable(0)"),
        ("tf.exp(w)", "tf.get_variable('w', [1])"),
        ("tf.exp(w)", "tf.summary.merge_all()"),
        ("tf.exp(w, 'n')", "with tf.name_scope('n'):\n    tf.log(w)"),
        ("tf.exp(w, 'n')", "with tf.name_scope('m'):\n    tf.summary.scalar('a', w)"),
        ("tf.exp(w)", "tf.metrics.mean(w, name='n')"),
    ],
)
def test_names_that_stay(made: str, later: str) -> None:
    assert not alike(made, later)
