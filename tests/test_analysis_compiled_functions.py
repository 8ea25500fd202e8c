"""Which functions are compiled, how they are made, and who calls them."""

import ast

from analysis_helpers import facts, function
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.traces.compiled_functions import Compiled


def only(found: Facts) -> Compiled:
    (one,) = found.compiled_functions.all
    return one


def called_in(found: Facts, one: Compiled) -> list[int] | None:
    calls = found.compiled_functions.calls(one)
    return None if calls is None else sorted(call.lineno for call in calls)


def test_decorators_in_all_their_forms() -> None:
    found = facts("""
        import functools
        import tensorflow as tf
        from tensorflow import function as compiled

        @tf.function
        def one(x): ...
        @tf.function(jit_compile=True)
        def two(x): ...
        @functools.partial(tf.function, reduce_retracing=True)
        def three(x): ...
        @compiled
        def four(x): ...
        @tf.custom_gradient
        def five(x): ...
    """)
    made = found.compiled_functions.all
    assert [one.name for one in made] == ["one", "two", "three", "four"]
    assert [sorted(one.settings) for one in made] == [[], ["jit_compile"], ["reduce_retracing"], []]
    assert all(one.decorated for one in made)


def test_functions_that_are_compiled_by_a_call() -> None:
    found = facts("""
        import tensorflow as tf

        def step(x): ...

        compiled = tf.function(step, jit_compile=True)
        compiled(1)
        tf.function(autograph=False)(step)(2)
        other = tf.function(lambda x: x)
    """)
    first, second, third = found.compiled_functions.all
    assert first.code is second.code is function(found, "step")
    assert called_in(found, first) == [7]
    assert called_in(found, second) == [8]
    assert list(first.settings) == ["jit_compile"]
    assert list(second.settings) == ["autograph"]
    assert isinstance(third.code, ast.Lambda)
    assert called_in(found, third) == []
    assert found.compiled_functions.traced(function(found, "step")) == [first, second]


def test_a_function_that_is_compiled_under_its_own_name() -> None:
    found = facts("""
        import tensorflow as tf

        def step(x): ...

        step(1)
        step = tf.function(step)
        step(2)
    """)
    assert only(found).code is function(found, "step")
    assert called_in(found, only(found)) == [8]


def test_a_name_that_is_compiled_at_times_only() -> None:
    found = facts("""
        import tensorflow as tf

        def step(x): ...

        if fast:
            step = tf.function(step)
        step(2)
    """)
    assert called_in(found, only(found)) is None


def test_methods_and_attributes() -> None:
    found = facts("""
        import tensorflow as tf

        class Trainer:
            def __init__(self):
                self.step = tf.function(self.one)

            def one(self, x): ...

            @tf.function
            def two(self, x): ...

            def fit(self):
                self.step(1)
                self.two(2)
    """)
    first, second = found.compiled_functions.all
    assert first.code is function(found, "one")
    assert (called_in(found, first), called_in(found, second)) == ([14], [15])


def test_a_function_that_is_handed_on_has_callers_that_are_not_seen() -> None:
    found = facts("""
        import tensorflow as tf

        @tf.function
        def step(x): ...

        step(1)
        strategy.run(step)
    """)
    assert called_in(found, only(found)) is None
    assert [call.lineno for call in found.compiled_functions.some_calls(only(found))] == [7]


def test_code_of_another_file_is_not_seen() -> None:
    found = facts("""
        import tensorflow as tf
        from mylib import step

        compiled = tf.function(step)
    """)
    assert only(found).code is None


def test_whether_the_file_turns_compiling_off() -> None:
    on = facts("import tensorflow as tf\ntf.config.run_functions_eagerly(True)\n")
    off = facts("import tensorflow as tf\ntf.config.run_functions_eagerly(False)\n")
    both = facts(
        "import tensorflow as tf\n"
        "tf.config.run_functions_eagerly(True)\ntf.config.run_functions_eagerly(False)\n"
    )
    assert on.compiled_functions.always_eager
    assert both.compiled_functions.eager and not both.compiled_functions.always_eager
    assert on.compiled_functions.eager and not off.compiled_functions.eager
