"""What may add ops to a graph, and what may draw random numbers; what is not known, may."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, marked, with_graph

SESSION = "sess = tf.Session()\nvalue = sess.run(loss)\n"


def builds(text: str) -> bool:
    found = with_graph(SESSION + text)
    return found.building.first_op(ast.walk(expression(found))) is not None


@pytest.mark.parametrize(
    "code",
    [
        "for one in loss:  # here\n    pass", "for one in unknown:  # here\n    pass",
        "a, b = logits  # here", "print(*logits)  # here", "a = [k for k in logits]  # here",
        "a = loss in [w, loss]  # here",
    ],
)  # fmt: skip
def test_what_taking_apart_makes(code: str) -> None:
    found = with_graph(SESSION + code + "\n")
    assert found.building.first_op([*ast.walk(marked(found, "here"))]) is not None


@pytest.mark.parametrize(
    "code",
    [
        "for one in range(3):  # here\n    pass",
        "for one in tf.trainable_variables():  # here\n    pass",
        "a, b = value, 1  # here", "print(*[1, 2])  # here", "a = [k for k in value]  # here",
        "a = 1 in [1, 2]  # here", "for a, b in zip(value, [1]):  # here\n    pass",
        "for one in rows():  # here\n    pass", "for one in made:  # here\n    pass",
        "for one in variables:  # here\n    pass",
    ],
)  # fmt: skip
def test_what_taking_apart_does_not_make(code: str) -> None:
    before = "def rows():\n    yield 1\nmade = rows()\nvariables = tf.trainable_variables()\n"
    found = with_graph(SESSION + before + code + "\n")
    nodes = [node for node in ast.walk(marked(found, "here")) if not isinstance(node, ast.Call)]
    assert found.building.first_op(nodes) is None


def draws(text: str) -> bool:
    found = with_graph(SESSION + text)
    return found.building.first_draw(ast.walk(expression(found))) is not None


@pytest.mark.parametrize(
    "code",
    [
        "tf.zeros([3])", "loss * 2", "-loss", "loss < 1", "w[0]", "sum([loss, loss])",
        "np.add(loss, 1)", "list(map(tf.square, [1.]))", "unknown(1)", "unknown.method(1)",
        "1 + unknown", "tf.train.Saver()", "tf.global_variables_initializer()", "w.assign(value)",
        "optimizer.minimize(loss)", "sess.run(loss + 1)", "[loss + i for i in range(3)]",
        "lambda: tf.zeros([3])", "tf.train.import_meta_graph('m')",
    ],
)  # fmt: skip
def test_what_may_make_ops(code: str) -> None:
    assert builds(f"a = {code}  # here\n")


@pytest.mark.parametrize(
    "code",
    [
        "sess.run(loss)", "loss.eval()", "value * 2", "value[0]", "value.tolist()",
        "np.mean(value)", "len(unknown)", "range(unknown)",
        "'%d' % unknown", "print(loss)", "len([1])", "max(value, 1)",
        "tf.Session()", "tf.summary.FileWriter('logs')", "tf.logging.info('x')", "sess.close()",
        "tf.train.latest_checkpoint('logs')", "tf.gfile.Exists('f')", "loss is None",
        "os.path.join('a', 'b')", "hashlib.sha256(value.tobytes()).hexdigest()",
    ],
)  # fmt: skip
def test_what_makes_none(code: str) -> None:
    assert not builds(f"import os, hashlib\na = {code}  # here\n")


@pytest.mark.parametrize(
    ("made", "makes"),
    [
        ("sess.make_callable(loss)", False),
        ("unknown.make_callable(loss)", True),
        ("sess.make_callable(loss) if value else unknown", True),
    ],
)
def test_a_callable_of_a_session_runs_the_graph(made: str, *, makes: bool) -> None:
    text = f"run_loss = {made}\ntotal = 0.0\nresult = run_loss()\n"
    assert builds(f"{text}run_loss()  # here\n") is makes
    assert builds(f"{text}total + result / 2  # here\n") is makes


def test_the_objects_of_training_make_no_ops_once_they_are_there() -> None:
    assert not builds("saver = tf.train.Saver()\na = saver.save(sess, 'model')  # here\n")
    assert not builds("writer = tf.summary.FileWriter('l')\na = writer.flush()  # here\n")


def test_lists_hold_what_is_put_into_them() -> None:
    assert builds("xs = []\nxs.append(loss)\na = sum(xs)  # here\n")
    assert not builds("xs = []\nxs.append(value)\na = sum(xs)  # here\n")


@pytest.mark.parametrize(
    "code",
    [
        "tf.random_normal([3])", "tf.nn.dropout(x, 0.5)", "tf.layers.dense(x, 3)", "unknown(1)",
        "unknown.method(1)", "dataset.shuffle(3)",
        "list(map(tf.random_normal, [[3]]))", "tf.get_variable('v', [3])",
    ],
)  # fmt: skip
def test_what_may_draw(code: str) -> None:
    assert draws(f"dataset = tf.data.Dataset.range(3)\na = {code}  # here\n")


@pytest.mark.parametrize(
    "code",
    [
        "tf.random_normal([3], seed=1)", "tf.zeros([3])", "loss * 2", "sess.run(loss)",
        "tf.argmax(logits, 1)", "value.mean()", "print(value)", "dataset.batch(3)",
    ],
)  # fmt: skip
def test_what_draws_nothing(code: str) -> None:
    assert not draws(f"dataset = tf.data.Dataset.range(3)\na = {code}  # here\n")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("tf.exp(w)", False),
        ("tf.summary.merge_all()", False),
        ("tf.train.Saver()", False),
        ("sess.run(loss)", False),
        ("w.assign(value)", False),
        ("np.mean(value)", False),
        ("tf.Variable(1.0)", True),
        ("tf.summary.scalar('loss', loss)", True),
        ("optimizer.minimize(loss)", True),
        ("tf.cond(loss > 0, f, g)", True),
        ("unknown(loss)", True),
    ],
)
def test_what_may_add_to_collections(code: str, *, expected: bool) -> None:
    found = with_graph(f"{SESSION}a = {code}  # here\n")
    nodes = ast.walk(expression(found))
    assert (found.building.first_registration(nodes) is not None) is expected
