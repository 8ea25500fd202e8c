"""What counts as a step, and how loops come to an end when there were enough."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest

from tfrewrite.verify.instrument import instrument
from tfrewrite.verify.probe.loops import CountedLoops, Loops, TimedLoops
from tfrewrite.verify.runs import PROBE

Scope = dict[str, Any]


@pytest.fixture(autouse=True)
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(PROBE / "path"))
    monkeypatch.delitem(sys.modules, "_tfrewrite_marks", raising=False)
    yield
    sys.modules.pop("_tfrewrite_marks", None)


class Weights:
    """Stands in for weights: `update()` changes them, `evaluate()` computes and changes nothing."""

    def __init__(self, loops: CountedLoops) -> None:
        self.loops = loops
        self.value = self.seen = 0

    def update(self) -> None:
        self.loops.worked = True
        self.value += 1

    def evaluate(self) -> None:
        self.loops.worked = True

    def changed(self) -> bool:
        before, self.seen = self.seen, self.value
        return before != self.value


def counted(text: str, steps: int = 0, idle_limit: int = 0) -> tuple[Scope, CountedLoops]:
    found = instrument({"x.py": dedent(text).encode()})
    parents = {mark.loop: mark.parent for mark in found.marks}
    loops = CountedLoops(parents, steps, 0.0, idle_limit)
    weights = Weights(loops)
    loops.weights_changed = weights.changed
    scope: Scope = {"update": weights.update, "evaluate": weights.evaluate, "log": []}
    run(found.files[0][1], loops, scope)
    loops.finish()
    return scope, loops


def run(code: bytes, loops: Loops, scope: Scope) -> None:
    import _tfrewrite_marks  # noqa: PLC0415  on the path by the fixture

    _tfrewrite_marks.watch(loops)
    exec(compile(code, "x.py", "exec"), scope)  # noqa: S102


def test_a_turn_that_changes_weights_is_a_step() -> None:
    _, loops = counted("for x in range(5): update()\nfor x in range(7): evaluate()\n")
    assert (loops.step, loops.steps_of) == (5, {1: 5})
    assert loops.limits == {}


def test_the_last_turn_counts_however_the_loop_is_left() -> None:
    _, loops = counted(
        """
        for x in range(5):
            update()
            if x == 2: break
        try:
            while True:
                update()
                raise ValueError
        except ValueError:
            log.append('caught')
        def f():
            for x in range(9):
                update()
                return
        f()
        """
    )
    assert loops.steps_of == {1: 3, 2: 1, 3: 1}


def test_the_innermost_loop_makes_the_steps() -> None:
    scope, loops = counted(
        """
        for epoch in range(10):
            for batch in range(4):
                update()
            evaluate()
            log.append(epoch)
        log.append('end')
        """,
        steps=6,
    )
    assert loops.steps_of == {2: 6}
    assert scope["log"] == [0, 1, "end"]
    assert loops.limits == {1: 2, 2: 6}


def test_an_update_in_the_outer_loop_is_a_step_of_its_own() -> None:
    _, loops = counted(
        """
        for step in range(3):
            for k in range(2): update()
            update()
        """
    )
    assert loops.steps_of == {2: 6, 1: 3}
    _, loops = counted(
        """
        for step in range(3):
            update()
            for k in range(2): update()
        """
    )
    assert loops.steps_of == {2: 6, 1: 3}


def test_what_was_initialised_before_the_loop_is_no_step() -> None:
    _, loops = counted("update()\nfor x in range(3): evaluate()\nfor x in range(2): update()\n")
    assert loops.steps_of == {2: 2}


def test_a_spent_loop_gets_one_turn_when_it_is_entered_again() -> None:
    scope, loops = counted(
        """
        def train():
            for x in range(10):
                update()
                last = x
            return last
        log.append(train())
        log.append(train())
        """,
        steps=4,
    )
    assert scope["log"] == [3, 0]
    assert loops.steps_of == {1: 5}


def test_each_of_two_phases_has_its_steps() -> None:
    _, loops = counted(
        "for x in range(50): update()\nwhile True:\n    update()\nfor x in range(50): update()\n",
        steps=4,
    )
    assert loops.steps_of == {1: 4, 2: 4, 3: 4}


def test_else_runs_where_a_loop_was_cut() -> None:
    scope, _ = counted(
        "for x in range(9): update()\nelse: log.append('else')\n"
        "while True: update()\nelse: log.append('while')\n",
        steps=2,
    )
    assert scope["log"] == ["else", "while"]


def test_an_evaluation_without_end_is_ended() -> None:
    scope, loops = counted(
        "n = 0\nwhile True:\n    evaluate()\n    n += 1\nfor x in range(100): log.append(x)\n",
        steps=2,
        idle_limit=20,
    )
    assert scope["n"] == 20
    assert len(scope["log"]) == 100  # it computes nothing, so it is not ended
    assert loops.step == 0


def test_a_condition_that_computes_belongs_to_the_turn_before() -> None:
    scope, loops = counted(
        """
        n = 0
        def going():
            evaluate()
            return n < 3
        while going():
            n += 1
            update()
        """
    )
    assert (scope["n"], loops.steps_of) == (3, {1: 3})


def test_loops_in_called_functions_and_recursion() -> None:
    _, loops = counted(
        """
        def step():
            for layer in range(2): log.append(layer)
            update()
        def descend(n):
            for x in range(1):
                update()
                if n: descend(n - 1)
        for x in range(3): step()
        descend(2)
        """
    )
    assert loops.steps_of == {3: 3, 2: 3}


EPOCHS = """
    for epoch in range(10):
        for batch in range(4):
            log.append((epoch, batch))
            update()
        for check in range(30):
            evaluate()
    """


def timed(loops: CountedLoops, **options: Any) -> tuple[TimedLoops, list[Any]]:
    found = instrument({"x.py": dedent(EPOCHS).encode()})
    parents = {mark.loop: mark.parent for mark in found.marks}
    made = TimedLoops(parents, loops.limits, list(loops.steps_of), loops.idle, **options)
    scope: Scope = {"update": lambda: None, "evaluate": lambda: None, "log": []}
    run(found.files[0][1], made, scope)
    made.finish()
    return made, scope["log"]


def test_weights_are_as_at_first_until_the_first_update() -> None:
    """A loop that is entered after an update, in the first step, does not see them so."""
    found = instrument({"x.py": dedent(INSIDE).encode()})
    loops = CountedLoops({mark.loop: mark.parent for mark in found.marks}, 0, 0.0, 0)
    weights, begun = Weights(loops), []

    def begin() -> bool:
        begun.append(weights.value)
        return weights.value > 0

    loops.weights_changed, loops.on_begin = weights.changed, begin
    run(found.files[0][1], loops, {"update": weights.update})
    assert begun == [1]


INSIDE = """
    update()
    for step in range(3):
        update()
        for slot in range(2): pass
    """


def test_a_timed_run_takes_the_turns_of_the_counted_one() -> None:
    scope, loops = counted(EPOCHS, steps=6, idle_limit=5)
    made, log = timed(loops)
    assert log == scope["log"]
    assert len(made.times[2]) == len(made.ends[2]) == 6
    assert all(end >= start for start, end in zip(made.times[2], made.ends[2], strict=True))


def test_a_timed_run_can_be_longer_where_loops_train() -> None:
    _, loops = counted(EPOCHS, steps=6, idle_limit=5)
    assert loops.limits == {1: 2, 2: 6, 3: 5}
    made, log = timed(loops, longer=3)
    assert log == [(step // 4, step % 4) for step in range(18)]
    assert made.turns_of == {1: 5, 2: 18, 3: 5 + 4}


def test_a_timed_run_can_last_for_a_time() -> None:
    _, loops = counted(EPOCHS, steps=6)
    _, log = timed(loops, at_least_s=30.0)
    assert len(log) == 40
    _, log = timed(loops, at_least_s=1e-9)
    assert len(log) == 6


def test_batches_that_are_made_at_once_count_each() -> None:
    loops = CountedLoops({}, 10, 0.0, 0)
    loops.weights_changed = lambda: True
    seen: list[int] = []
    loops.on_step = lambda _: seen.append(loops.step)
    loops.begin_batch(-1)
    while loops.batch(-1, 4):
        pass
    assert seen == [4, 8, 12]
    assert (loops.steps_of, loops.limits) == ({-1: 12}, {-1: 12})
    again = TimedLoops({}, loops.limits, [-1])
    assert [again.batch(-1) for _ in range(12)] == [True] * 11 + [False]


def test_a_batch_lasts_until_the_next_one_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of `fit` for each batch costs more than the batch: it is part of the step."""
    now = iter([1.0, 2.0, 10.0, 11.0, 30.0, 33.0])
    monkeypatch.setattr("tfrewrite.verify.probe.loops.clock", lambda: next(now))
    loops = TimedLoops({}, {}, [-1])
    for _ in range(3):
        loops.begin_batch(-1)
        assert loops.batch(-1)
    assert loops.times == {-1: [1.0, 10.0, 30.0]}
    assert loops.ends == {-1: [10.0, 30.0, 33.0]}


def test_traced_loops_are_not_touched() -> None:
    found = instrument({"x.py": b"for x in y: log.append(x)\nwhile n(): pass\n"})
    loops = CountedLoops({1: 0, 2: 0}, 1, 0.0, 0)
    loops.is_tracing = lambda: True
    turns = iter([True, True, False])
    scope: Scope = {"y": [1, 2, 3], "log": [], "n": lambda: next(turns)}
    run(found.files[0][1], loops, scope)
    assert scope["log"] == [1, 2, 3]
    assert loops.turns_of == {}


def test_loops_of_a_pipeline_have_no_steps() -> None:
    """TensorFlow calls Python from threads of its own, while a step changes weights."""
    text = """
        import _thread, time
        def made():
            for row in range(3): update()
            log.append(1)
        for x in range(4):
            update()
            _thread.start_new_thread(made, ())
            while len(log) <= x: time.sleep(0.01)
    """
    _, loops = counted(text)
    assert 1 not in loops.steps_of
