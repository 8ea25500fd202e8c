"""Which expressions make ops, and which of those may be evaluated once for all turns."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import expression, with_graph

SESSION = "sess = tf.Session()\n"
HEAD = """\
import settings
sess = tf.Session()
parts = [w, b]
grown = [w]
grown.append(b)
gradients = tf.gradients(loss, [w, b])
def net(z, k=2):
    return tf.nn.relu(z) * k
def shout(z):
    print(z)
    return tf.exp(z)
def run():
    return sess.run(loss)
"""


def marked_expression(code: str) -> tuple[object, ast.expr, ast.AST]:
    found = with_graph(f"{HEAD}for i in y:\n    f({code})  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call)
    return found, call.args[0], found.hoisting.loops(call)[0]


@pytest.mark.parametrize(
    "code",
    [
        "tf.exp(w)", "w + 1", "-loss", "logits[:, 0]", "net(w)", "w.assign(b)", "1 - loss",
        "settings.x * w", "tf.train.AdamOptimizer().minimize(loss)", "w[0]", "(loss * w)[1:]",
        "tf.losses.get_total_loss()",
    ],
)  # fmt: skip
def test_makes_ops(code: str) -> None:
    found, expr, _ = marked_expression(code)
    assert found.op_making.makes(expr)  # type: ignore[attr-defined]


def test_a_name_that_a_loop_makes_of_a_tensor_and_itself_makes_some() -> None:
    found = with_graph(f"{HEAD}h = w\nfor i in y:\n    h = h * 2\n    f(h * 3)  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert found.op_making.makes(call.args[0])


@pytest.mark.parametrize(("start", "made"), [("w", True), ("''", False), ("settings.x", False)])
def test_a_name_that_a_loop_adds_to(start: str, *, made: bool) -> None:
    found = with_graph(
        f"{HEAD}h = {start}\nfor i in y:\n    h += settings.y[i]\nf('%s' % h)  # here\n"
    )
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert found.op_making.makes(call.args[0]) is made


@pytest.mark.parametrize("code", ["tf.exp(w)", "w + 1", "-loss", "net(w)"])
def test_makes_ops_under_a_manager_that_is_not_known(code: str) -> None:
    found = with_graph(f"{HEAD}with timed():\n    f({code})  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert found.op_making.makes(call.args[0])
    assert found.op_making.symbol(call.args[0]) or code == "net(w)"


def test_a_name_that_a_loop_makes_of_itself_alone_makes_none() -> None:
    found = with_graph(f"{HEAD}for i in y:\n    total = total + i\n    f(total + 1)  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert not found.op_making.makes(call.args[0])


@pytest.mark.parametrize(
    "code",
    [
        "loss", "gradients[0]", "parts[1:]", "i + 1", "settings.x * 2", "np.exp(3)", "run()",
        "sess.run(loss)", "not loss", "loss is None", "tf.float32", "tf.Session()", "[w]",
        "tf.trainable_variables()", "tf.get_collection('losses')", "tf.train.get_global_step()",
    ],
)  # fmt: skip
def test_makes_none(code: str) -> None:
    found, expr, _ = marked_expression(code)
    assert not found.op_making.makes(expr)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.nn.dropout(w, 0.5)", "random-op"),
        ("tf.get_variable('v', [2])", "creates-variables"),
        ("tf.summary.scalar('a', loss)", "registers"),
        ("tf.exp(w * i)", "rebound-in-loop"),
        ("tf.exp(settings.x)", "operand-not-sure"),
        ("tf.add_n(grown)", ""),
        ("tf.exp(missing)", "operand-not-sure"),
        ("tf.exp(sess.run(w))", "operand-varies"),
        ("tf.nosuch(w)", "effect-unknown"),
        ("tf.exp(*parts)", "operand-not-sure"),
        ("tf.exp(w, **parts)", "operand-not-sure"),
        ("tf.exp([z for z in parts])", "operand-not-sure"),
        ("tf.FIFOQueue(3, tf.float32).dequeue()", "effect-unknown"),
        ("shout(w)", "own-function"),
        ("net(i)", "rebound-in-loop"),
        ("net(w)", ""),
        ("tf.exp(w, name='e')", ""),
        ("tf.one_hot(y, w.get_shape().as_list()[1])", ""),
        ("tf.reshape(w, (-1, int(np.prod([2, 3]))))", ""),
        ("tf.add_n(parts) + b", ""),
        ("tf.global_variables_initializer()", "collection-changes"),
        ("gradients[0] * 2", ""),
    ],
)
def test_once_for_all_turns(code: str, reason: str) -> None:
    found, expr, loop = marked_expression(code)
    obstacle = found.op_making.obstacle(expr, loop)  # type: ignore[attr-defined]
    assert (obstacle.reason if obstacle else "") == reason


def test_what_is_made_in_the_statement_of_a_comprehension() -> None:
    text = "a = [{}, [sess.run(tf.global_variables_initializer()) for i in y]]  # here\n"
    for code, reason in (("tf.Variable(1.0)", "collection-changes"), ("loss", "")):
        found = with_graph(SESSION + text.format(code))
        call = next(
            node
            for node in ast.walk(expression(found))
            if isinstance(node, ast.Call) and "initializer" in ast.unparse(node.func)
        )
        obstacle = found.op_making.obstacle(call, found.hoisting.loops(call)[0])
        assert (obstacle.reason if obstacle else "") == reason
