"""Which `with` statements may change what stands in them."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked


def known(manager: str) -> bool:
    found = facts(
        "import contextlib\nimport tqdm\nimport tensorflow as tf\n"
        f"with {manager}:  # here\n    pass\n"
    )
    statement = marked(found, "here")
    assert isinstance(statement, ast.With)
    return found.managers.known(statement)


@pytest.mark.parametrize(
    "manager",
    [
        "contextlib.suppress(ValueError)",
        "timer()",
        "tqdm.contrib.DummyTqdmFile(log)",
        "manager",
        "slim.arg_scope([f])",
        "tf.variable_scope('a', custom_getter=f)",
        "tf.variable_creator_scope(f)",
        "tf.device('/cpu:0'), timer()",
        "stack.enter_context(m)",
    ],
)
def test_what_is_not_known_may_do_anything(manager: str) -> None:
    assert not known(manager)


@pytest.mark.parametrize(
    "manager",
    [
        "tf.Session() as sess",
        "tf.train.MonitoredTrainingSession() as sess",
        "tf.name_scope('a')",
        "tf.GradientTape(persistent=True) as tape",
        "tf.variable_scope('a', reuse=True)",
        "tf.Graph().as_default(), tf.device('/cpu:0')",
        "tf.control_dependencies([a])",
        "open('log') as log",
        "tqdm.tqdm(total=9) as bar",
        "tqdm.auto.trange(9) as bar",
        "sess.as_default()",
    ],
)
def test_what_names_or_places_is_known(manager: str) -> None:
    assert known(manager)


@pytest.mark.parametrize(
    ("manager", "own"),
    [
        ("sess", "__exit__"),
        ("holder.sess", "__exit__"),
        ("sess.as_default()", "as_default"),
        ("other.device('/cpu:0')", "device"),
    ],
)
def test_what_the_file_defines_may_do_anything(manager: str, own: str) -> None:
    found = facts(f"""
        import tensorflow as tf
        class Session:
            def {own}(self, *args):
                return True
        sess = Session()
        with {manager}:  # here
            pass
    """)
    statement = marked(found, "here")
    assert isinstance(statement, ast.With)
    assert not found.managers.known(statement)


def test_a_session_is_known_beside_managers_of_the_file() -> None:
    found = facts("""
        import tensorflow as tf
        class Timer:
            def __exit__(self, *args):
                return True
        sess = tf.Session()
        with sess:  # here
            pass
    """)
    statement = marked(found, "here")
    assert isinstance(statement, ast.With)
    assert found.managers.known(statement)


def test_control_dependencies_are_found_however_they_are_written() -> None:
    found = facts("""
        import tensorflow as tf
        from tensorflow import control_dependencies
        with tf.control_dependencies([a]), control_dependencies(control_inputs=b):  # here
            pass
    """)
    statement = marked(found, "here")
    assert isinstance(statement, ast.With)
    assert [ast.unparse(e) for e in found.managers.control_inputs(statement)] == ["[a]", "b"]
