"""Who may tell how a step ended that failed, traps first."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.facts import Facts

HEAD = "import atexit, sys\nimport tensorflow as tf\n\n"


def started(text: str) -> tuple[Facts, list[ast.Call]]:
    found = facts(HEAD + textwrap.dedent(text))
    return found, found.classes.calls("step")


def told(text: str) -> str:
    found, calls = started(text)
    assert calls
    return found.endings.told(calls)


def tried(handler: str, *, turns: str = "for x in data:") -> str:
    return f"{turns}\n    try:\n        step(x)\n{textwrap.indent(handler, '    ')}\n"


@pytest.mark.parametrize(
    "handler",
    [
        "except tf.errors.InvalidArgumentError:\n    raise SystemExit(3)",
        "except (ValueError, OSError):\n    print('no')\n    raise",
        "except Exception:\n    model.save('crash')\n    raise",
        "except:\n    print(optimizer.iterations)\n    raise",
        "except Exception:\n    pass",
        "finally:\n    print('end')",
        "except KeyboardInterrupt:\n    print('the next')",
    ],
)
def test_what_tells_one_ending_from_another(handler: str) -> None:
    assert told(tried(handler))


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception as error:\n    print('failed', error)\n    raise",
        "except:\n    raise",
        "except FileNotFoundError:\n    print(name)\n    raise",
        "except KeyboardInterrupt:\n    raise",
        "except KeyboardInterrupt:\n    print('end')\n    raise SystemExit(1)",
        "except tf.errors.OutOfRangeError:\n    continue",
    ],
)
def test_what_ends_alike(handler: str) -> None:
    assert not told(tried(handler))


def test_a_number_may_be_shown_before_the_end() -> None:
    handler = "except Exception:\n    print('failed at', count)\n    raise"
    assert not told("count = 0\n" + tried(handler))
    assert told("count = tf.Variable(0)\n" + tried(handler))


INTERRUPTED = """
    def train():
        try:
            for x in data:
                step(x)
        except KeyboardInterrupt:
            print("interrupted")

"""


@pytest.mark.parametrize(
    ("rest", "again"),
    [
        ("train()", False),
        ("def main():\n    train()\n\nmain()", False),
        ("train()\ntrain()", True),
        ("while True:\n    train()", True),
        ("train()\nstep(x)", True),
    ],
)
def test_who_makes_steps_after_an_interrupt(rest: str, *, again: bool) -> None:
    assert bool(told(textwrap.dedent(INTERRUPTED) + rest + "\n")) == again


@pytest.mark.parametrize(
    ("leaving", "tells"),
    [
        ("atexit.register(lambda: print(model.weights))", True),
        ("atexit.register(report)", True),
        ("@atexit.register\ndef report():\n    print(1)", True),
        ("import weakref\nweakref.finalize(model, print, 1)", True),
        ("atexit.register(sys.stdout.flush)", False),
        ("import shutil\natexit.register(shutil.rmtree, 'scratch')", False),
    ],
)
def test_what_python_calls_at_the_end(leaving: str, *, tells: bool) -> None:
    assert bool(told(f"{leaving}\nfor x in data:\n    step(x)\n")) == tells


HANDED_ON = """
    import web, wandb, click, asyncio
    app = web.App()

    def train():
        for x in data:
            step(x)

    def main():
        train()

    def again(function):
        function()

    class Own:
        def call(self, function):
            function()

"""


@pytest.mark.parametrize(
    "handing",
    [
        "app.bind(train)",
        "app.bind(command=main)",
        "app.bind(lambda: train())",
        "wandb.agent(1, function=train)",
        "@app.route('/')\ndef serve():\n    main()",
        "@app.job\ndef serve():\n    main()",
        "async def serve():\n    train()",
        "class Test(web.Case):\n    def test(self):\n        self.assertRaises(E, train)",
        "class View:\n    def run(self):\n        train()\n\napp.bind(View().run)",
    ],
)
def test_code_out_of_sight_may_go_on(handing: str) -> None:
    assert told(textwrap.dedent(HANDED_ON) + handing + "\n")


@pytest.mark.parametrize(
    "handing",
    [
        "main()",
        "tf.compat.v1.app.run(main)",
        "again(train)",
        "Own().call(train)",
        "again(lambda: train())",
        "@click.command()\ndef serve():\n    train()",
        "class View:\n    @property\n    def run(self):\n        return train()",
        "app.bind(data)",
    ],
)
def test_code_that_is_seen_or_known_does_not(handing: str) -> None:
    assert not told(textwrap.dedent(HANDED_ON) + handing + "\n")


def types_told(text: str) -> str:
    found, calls = started(text)
    return found.endings.types_told(calls[0])


@pytest.mark.parametrize(
    "handler",
    [
        "except ValueError:\n    continue",
        "except KeyError:\n    pass\nexcept (TypeError, IndexError):\n    pass",
        "except tf.errors.InvalidArgumentError:\n    pass",
        "except ValueError:\n    print(1)\nexcept Exception:\n    print(2)",
    ],
)
def test_what_knows_errors_by_their_types(handler: str) -> None:
    assert types_told(tried(handler))


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception:\n    continue",
        "except:\n    pass",
        "except BaseException:\n    pass\nfinally:\n    print(1)",
        "except KeyError:\n    pass",
        "except KeyboardInterrupt:\n    break\nexcept Exception:\n    pass",
    ],
)
def test_what_takes_all_errors_for_one(handler: str) -> None:
    assert not types_told(tried(handler))


def test_settings_of_devices_raise_no_errors_of_a_call() -> None:
    setting = """
        try:
            {}
        except RuntimeError:
            pass

        class Agent:
            def __call__(self, x):
                return step(x)
    """
    assert not types_told(setting.format("tf.config.set_soft_device_placement(True)"))
    assert not types_told(setting.format("import tqdm"))
    assert types_told(setting.format("agent(x)"))


def going_on(text: str) -> str:
    found, calls = started(text)
    (loop,) = found.source.all(ast.For)
    return found.endings.going_on_within(calls[0], loop)


@pytest.mark.parametrize(
    "handler",
    [
        "except Exception:\n    pass",
        "except KeyboardInterrupt:\n    print(1)",
        "except ValueError:\n    if x:\n        continue\n    raise",
    ],
)
def test_a_loop_that_goes_on_after_an_error(handler: str) -> None:
    assert going_on(tried(handler))
    within = "def train(x):\n    try:\n        step(x)\n" + textwrap.indent(handler, "    ")
    if "continue" not in handler:
        assert going_on(f"{within}\n\nfor x in data:\n    train(x)\n")


def test_a_manager_that_may_catch_lets_a_loop_go_on() -> None:
    assert going_on("for x in data:\n    with suppress(ValueError):\n        step(x)\n")
    assert not going_on("for x in data:\n    with tf.device('CPU'):\n        step(x)\n")


def test_a_loop_that_an_error_ends_does_not_go_on() -> None:
    assert not going_on(tried("except Exception:\n    raise"))
    assert not going_on(tried("finally:\n    print(1)"))
    assert not going_on("try:\n    for x in data:\n        step(x)\nexcept Exception:\n    pass\n")
    function = "def train():\n    for x in data:\n        step(x)\n\n"
    assert not going_on(function + "try:\n    train()\nexcept Exception:\n    pass\n")
