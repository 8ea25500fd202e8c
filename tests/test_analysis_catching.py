"""Who may catch an exception of a run."""

from __future__ import annotations

import textwrap

import pytest

from analysis_helpers import facts, marked


def caught(text: str) -> str:
    found = facts("import tensorflow as tf\n" + textwrap.dedent(text))
    statement = marked(found, "here")
    block, _ = found.source.position(statement)
    return found.catching.caught(block, statement)


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception:\n    pass",
        "except ValueError as e:\n    if e:\n        continue\n    raise",
        "except tf.errors.InvalidArgumentError:\n    break",
        "except:\n    print(1)",
        "finally:\n    print(1)",
        "except KeyboardInterrupt:\n    pass\nfinally:\n    save()",
    ],
)
def test_what_goes_on_after_an_exception_catches_it(handler: str) -> None:
    loop = f"try:\n    a = run()  # here\n{handler}\n"
    assert caught("for i in v:\n" + textwrap.indent(loop, "    "))


@pytest.mark.parametrize(
    "handler",
    [
        "except KeyboardInterrupt:\n    print('stopped')",
        "except tf.errors.OutOfRangeError:\n    pass",
        "except ValueError:\n    print('bad')\n    raise",
    ],
)
def test_what_ends_the_work_does_not(handler: str) -> None:
    assert not caught(f"try:\n    a = run()  # here\n{handler}\n")


@pytest.mark.parametrize(
    "handler",
    [
        "except ValueError:\n    print(a)\n    raise",
        "except ValueError as error:\n    log.write(str(error))\n    raise",
        "except ValueError:\n    save(model)\n    raise",
        "except ValueError:\n    print(seen[-1])\n    raise",
    ],
)
def test_what_looks_at_what_was_done_before_an_exception_sees_it(handler: str) -> None:
    body = "a = run()  # here\nlog.write(a)\nmodel.last = a\nseen[0] = a"
    assert caught(f"try:\n{textwrap.indent(body, '    ')}\n{handler}\n")


def test_a_handler_that_looks_at_something_else_does_not() -> None:
    body = "a = run()  # here\nlog.write(a)"
    handler = "except ValueError as error:\n    print(error, name)\n    np.seterr()\n    raise"
    text = f"import numpy as np\ntry:\n{textwrap.indent(body, '    ')}\n{handler}\n"
    assert not caught(text)


def test_a_manager_that_is_not_known_may_catch() -> None:
    assert caught("with quiet():\n    a = run()  # here\n")
    assert not caught("with tf.Session() as sess:\n    a = run()  # here\n")


@pytest.mark.parametrize(("body", "catches"), [("import other", False), ("other = find()", True)])
def test_a_try_around_nothing_but_imports_calls_no_function(body: str, *, catches: bool) -> None:
    text = f"""
        try:
            {body}
        except ImportError:
            other = None
        @decorated
        def step():
            a = run()  # here
            print(a)
    """
    assert bool(caught(text)) is catches


CALLER = """
sess = tf.Session()
def one():
    a = sess.run(loss)  # here
    {after}

def two():
    one()

for i in v:
    try:
        two()
    except Exception:
        continue
"""


@pytest.mark.parametrize(
    "after",
    [
        "seen.append(1)",
        "b = seen.pop()",
        "b = print(a)",
        "b, (c, d.last) = 1, (2, 3)",
        "d[0] = a",
        "global b; b = a",
        "b = a; later = lambda: b",
    ],
)
def test_a_caller_of_a_caller_may_catch_what_outlives_the_function(after: str) -> None:
    assert caught(CALLER.format(after=after))


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("def one(self):", "go = lambda: Model().one()\n    go()"),
        ("def one(self):", "getattr(Model(), 'one')()"),
        ("def one(self):", "getattr(Model(), name)()"),
        ("def __init__(self):", "Model()"),
        ("def __call__(self):", "Model()()"),
        ("def __next__(self):", "next(Model())"),
    ],
)
@pytest.mark.parametrize("catches", ["try:\n    {}\nexcept E:\n    pass", "with quiet():\n    {}"])
def test_a_function_may_be_called_without_its_name(function: str, call: str, catches: str) -> None:
    text = (
        f"class Model:\n    {function}\n        a.append(run())  # here\n{catches.format(call)}\n"
    )
    assert caught(text)


def test_a_generator_runs_where_its_elements_are_taken() -> None:
    text = """
    def one():
        a.append(run())  # here
        yield 1
    steps = one()
    try:
        next(steps)
    except E:
        pass
    """
    assert caught(text)


def test_a_text_that_is_no_name_of_a_method_is_none() -> None:
    text = """
    class Model:
        def train(self):
            a.append(run())  # here
    print("train", getattr(model, "layer%d" % i), getattr(tf.train, name))
    try:
        open("train")
    except OSError:
        pass
    Model().train()
    """
    assert not caught(text)


@pytest.mark.parametrize("after", ["b = sess.run(loss)", "b, (c, d) = len(a), (2, 3)", "return a"])
def test_names_of_a_function_do_not_outlive_it(after: str) -> None:
    assert not caught(CALLER.format(after=after))


def test_what_comes_before_the_runs_has_been_done_in_any_case() -> None:
    text = CALLER.format(after="b = sess.run(loss)")
    assert not caught(text.replace("    a = sess", "    seen.append(1)\n    a = sess"))


def test_an_update_outlives_the_function() -> None:
    text = CALLER.format(after="b = sess.run(loss)")
    found = facts("import tensorflow as tf\n" + text)
    statement = marked(found, "here")
    block, _ = found.source.position(statement)
    assert found.catching.caught(block, statement, updates=True)


@pytest.mark.parametrize(("given", "looks"), [("f", True), ("v.close", False), ("v.save", True)])
def test_what_runs_at_the_exit_looks_at_what_was_done(given: str, *, looks: bool) -> None:
    text = f"import atexit\natexit.register({given})\nv.append(run())  # here\n"
    assert bool(caught(text)) is looks


def test_a_decorator_has_its_function_run_at_the_exit() -> None:
    text = "from atexit import register\n@register\ndef f():\n    pass\nv.append(1)  # here\n"
    assert caught(text)


@pytest.mark.parametrize(
    "block", ["except E:\n    a = run()  # here", "else:\n    a = run()  # here"]
)
def test_the_last_block_comes_after_all_others(block: str) -> None:
    first = "" if "except" in block else "except E:\n    raise\n"
    text = f"try:\n    pass\n{first}{block}\n"
    assert caught(f"{text}finally:\n    show()\n")
    assert not caught(text)
    assert not caught("try:\n    pass\nfinally:\n    a = run()  # here\n")


def test_an_else_block_is_not_caught() -> None:
    assert not caught("try:\n    pass\nexcept Exception:\n    pass\nelse:\n    a = run()  # here\n")
