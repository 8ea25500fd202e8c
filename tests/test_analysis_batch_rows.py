"""How many rows an array has, as far as the text says it."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked


def rows(expression: str, before: str = "") -> int | None:
    found = facts(
        f"import numpy as np\nimport tensorflow as tf\n{before}\nresult = {expression}  # here\n"
    )
    statement = marked(found, "here")
    assert isinstance(statement, ast.Assign)
    return found.batch_rows.of(statement.value)


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x[0]",
        "x[:, None]",
        "[1, 2]",
        "np.expand_dims(x, 1)",
        "np.expand_dims(x, (0, 1))",
        "np.reshape(x, [-1, 4])",
        "np.reshape(x, [n, 4])",
        "np.reshape(x, 4)",
        "x.reshape(4)",
        "x.reshape(-1, 4)",
        "x.reshape((4,))",
        "np.array(x)",
        "tf.constant(x)",
        "tf.constant(np.array([x]), shape=[3, 4])",
        "tf.constant(np.array([x]), tf.float32, [3, 4])",
        "np.array([])",
        "np.array([*x])",
        "np.stack([x, y], axis=1)",
        "np.stack([x, y], 1, out)",
        "np.zeros(4)",
        "np.concatenate([x, y])",
        "np.concatenate([x[None], y[None]])",
        "np.concatenate([x[None], y[None]], axis=0)",
        "np.array([x]) + y",
        "np.array([x]) @ y",
        "make(np.array([x]))",
        "np.array([x]) if a else x",
    ],
)
def test_what_is_not_known(expression: str) -> None:
    assert rows(expression) is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x[None]", 1),
        ("x[np.newaxis, :]", 1),
        ("x[tf.newaxis, ...]", 1),
        ("np.expand_dims(x, 0)", 1),
        ("tf.expand_dims(x, axis=0)", 1),
        ("np.reshape(x, [1, 4])", 1),
        ("tf.reshape(x, (2, -1))", 2),
        ("x.reshape(1, -1)", 1),
        ("x.reshape((3, 4)).astype('float32') / 255.0", 3),
        ("np.array([x, y])", 2),
        ("np.float32(np.array([x]))", 1),
        ("tf.constant(np.array([x]), tf.float32)", 1),
        ("tf.cast(tf.expand_dims(x, 0), dtype=tf.float32)", 1),
        ("np.zeros((5, 4))", 5),
        ("np.random.normal(0, 1, (6, 4))", 6),
        ("np.random.uniform(size=(6, 4))", 6),
        ("np.random.rand(7, 2)", 7),
        ("np.concatenate((np.zeros((5, 4)), y), axis=1)", 5),
        ("2 * np.zeros((5, 4)) - 1", 5),
        ("np.zeros((5, 4)) if a else np.zeros((3, 4))", 5),
    ],
)
def test_what_an_array_is_made_by(expression: str, expected: int) -> None:
    assert rows(expression) == expected


def test_names_and_their_sizes() -> None:
    assert rows("np.zeros((size, 2))", "size = 8") == 8
    assert rows("rng.normal(0, 1, (6, 4))", "rng = np.random.RandomState(1)") == 6
    assert rows("rng.normal(0, 1, (6, 4))", "rng = make()") is None
    assert rows("np.zeros((size, 2))", "size = 8\nsize = f()") is None
    assert rows("a", "a = np.zeros((3, 2))\na = a * 2") == 3
    assert rows("a", "a = np.zeros((3, 2))\nif b:\n    a = f()") is None
    assert rows("a", "a = np.zeros((3, 2))\na += b") is None
    assert rows("a", "a = np.zeros((3, 2), '>f4')") is None
    assert rows("a", "a = np.zeros((3, 2))\na.shape = (6, 1)") is None


def test_a_value_that_is_made_of_itself_adds_nothing() -> None:
    assert rows("a", "a = np.zeros((3, 2))\nwhile b:\n    a = a * 2") == 3
    assert rows("a", "while b:\n    a = a * 2") is None


def test_functions_of_the_file() -> None:
    one = "def one(v):\n    return v[None]\n"
    assert rows("one(x)", one) == 1
    assert rows("one(x)", f"{one}one = g\n") is None
    assert rows("one(x)", "def one(v):\n    if v:\n        return v[None]\n") is None
    assert rows("one(x)", "def one(v):\n    return one(v)\n") is None


def test_what_callers_give() -> None:
    def given(*calls: str) -> int | None:
        found = facts(
            "import numpy as np\ndef f(v, n=4):\n    w = np.zeros((n, 2))\n    pass  # here\n"
            + "\n".join(calls)
        )
        function = found.source.function(marked(found, "here"))
        assert isinstance(function, ast.FunctionDef)
        size = function.body[0]
        assert isinstance(size, ast.Assign)
        return found.batch_rows.of(size.value)

    assert given("f(1)") == 4
    assert given("f(1)", "f(1, n=6)") == 6
    assert given("f(1, m)") is None
    assert given("g(f)") is None
    assert given() is None


def test_an_exact_number() -> None:
    found = facts("import numpy as np\na = np.zeros((3, 2)) if b else np.zeros((2, 2))  # here\n")
    statement = marked(found, "here")
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.IfExp)
    assert found.batch_rows.of(statement.value) == 3
    assert found.batch_rows.exactly(statement.value) is None
    assert found.batch_rows.exactly(statement.value.body) == 3


def test_numbers_that_objects_keep() -> None:
    def kept(value: str, more: str = "pass") -> int | None:
        found = facts(
            f"""\
            import numpy as np
            class Agent:
                def __init__(self):
                    self.size = {value}
                    {more}

                def replay(self):
                    return np.zeros((self.size, 4))  # here
            """
        )
        statement = marked(found, "here")
        assert isinstance(statement, ast.Return)
        assert statement.value is not None
        return found.batch_rows.of(statement.value)

    assert kept("16") == 16
    assert kept("size") is None
    assert kept("16", "self.size = 8") is None
    assert kept("16", "self.size += 8") is None
