"""The weights of a script that opens sessions: which count as another, and which as the same."""

from __future__ import annotations

import importlib
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

WEIGHTS = "tfrewrite.verify.probe.weights"


class Numpy(ModuleType):
    """As much of numpy as is needed; the probe runs where there is one, the tests need none."""

    @staticmethod
    def ascontiguousarray(value: float) -> SimpleNamespace:
        return SimpleNamespace(nbytes=8, tobytes=repr(value).encode)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "numpy", Numpy("numpy"))
    monkeypatch.delitem(sys.modules, WEIGHTS, raising=False)
    yield
    sys.modules.pop(WEIGHTS, None)


class Recorder:
    """Keeps what is recorded, by its name."""

    def __init__(self) -> None:
        self.final: dict[str, float] = {}

    def value(self, kind: str, name: str, value: Any, **_: object) -> None:
        assert kind == "final"
        assert name not in self.final
        self.final[name] = float(value)


class Variable:
    name = "w:0"
    op = None


class Graph:
    def get_collection(self, _: str) -> list[Variable]:
        return [Variable()]


class Session:
    """A session in which the only variable has a value."""

    _closed = False
    graph = Graph()

    def __init__(self, value: float) -> None:
        self.value = value


def weights() -> tuple[Any, Recorder]:
    recorder = Recorder()
    found = importlib.import_module(WEIGHTS).Weights(recorder)
    found.run = lambda session, names: (
        [session.value for _ in names] if isinstance(names, list) else session.value
    )
    found.in_graph = lambda graph, _=False: graph.get_collection("")
    return found, recorder


def ended(*values: float, left_open: float | None = None) -> list[float]:
    """The values at the end that are recorded, of sessions closed one after the other."""
    found, recorder = weights()
    sessions = [Session(value) for value in values]
    for session in sessions:
        found.used(session)
        found.record_end(session)
        session._closed = True
    last = Session(left_open or 0)
    if left_open is not None:
        found.used(last)
    found.record_end()
    names = [re.sub(r"^.*?( in session \d+)?$", r"\1", name) for name in recorder.final]
    assert names == ["", *(f" in session {number + 2}" for number in range(len(names) - 1))]
    return list(recorder.final.values())


def test_sessions_with_other_weights_all_count() -> None:
    assert ended(1, 2, 3) == [1, 2, 3]
    assert ended(1, left_open=2) == [1, 2]


def test_a_session_that_only_restores_does_not_count_again() -> None:
    assert ended(1, 1, 1) == [1]
    assert ended(1, 1, 2, 2, 1) == [1, 2]
    assert ended(1, left_open=1) == [1]


def test_a_session_that_is_forgotten_keeps_its_weights() -> None:
    found, recorder = weights()
    for value in (1.0, 2.0):
        found.used(Session(value))  # which nothing else refers to
    assert [value for _, value, _ in found.values()] == [1.0, 2.0]
    found.record_end()
    assert sorted(recorder.final.values()) == [1.0, 2.0]


def test_not_all_of_many_forgotten_sessions_are_kept() -> None:
    found, _ = weights()
    for value in range(50):
        found.used(Session(float(value)))
    assert [value for _, value, _ in found.values()] == [46.0, 47.0, 48.0, 49.0]


def test_a_new_session_with_known_weights_is_no_change() -> None:
    found, _ = weights()
    first, second, third = Session(1), Session(1), Session(2)
    found.used(first)
    assert found.changed()
    assert not found.changed()
    found.used(second)
    assert not found.changed()
    found.used(third)
    assert found.changed()
    second.value = 2
    assert found.changed(), "what an open session had before was another value"


class Counter:
    """A variable in eager mode."""

    def __init__(self, name: str) -> None:
        self.name = name

    def numpy(self) -> float:
        return 1.0


def test_what_keras_2_counts_for_itself_is_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = importlib.import_module(WEIGHTS).Weights(None)

    class Model:
        def __init__(self) -> None:
            self._init_batch_counters()
            self.kernel = Counter("kernel")
            weights.made(self.kernel)

        def _init_batch_counters(self) -> None:
            self._train_counter = Counter("Variable:0")
            self._predict_counter = Counter("Variable:0")
            for one in (self._train_counter, self._predict_counter):
                weights.made(one)

        def compile(self) -> None:
            self._configure_steps_per_execution(8)

        def _configure_steps_per_execution(self, steps: int) -> None:
            self._steps_per_execution = Counter(f"steps:{steps}")
            weights.made(self._steps_per_execution)

        def fit(self) -> None: ...

        def evaluate(self) -> None: ...

    keras = ModuleType("keras")
    keras.__dict__.update(
        models=SimpleNamespace(Model=Model), callbacks=SimpleNamespace(Callback=object)
    )
    monkeypatch.setitem(sys.modules, "keras", keras)
    keras_fit = importlib.import_module("tfrewrite.verify.probe.keras_fit")
    for _ in range(2):
        keras_fit.install(None, None, weights)
    model = Model()
    model.compile()
    assert [name for name, _, _ in weights.values()] == [model.kernel.name]


def test_variables_that_nobody_can_reach_are_not_there() -> None:
    class Eager:
        name = "v:0"
        trainable = True

        def __init__(self) -> None:
            self.itself = self

        def numpy(self) -> float:
            return 1.5

    recorder = Recorder()
    weights = importlib.import_module(WEIGHTS).Weights(recorder)
    kept = Eager()
    for variable in (Eager(), kept):
        weights.made(variable)
    del variable
    weights.record_end()
    assert recorder.final == {"v:0 (2)": 1.5}


def test_of_variables_made_in_eager_mode_those_that_are_gone_are_known() -> None:
    found, _ = weights()
    kept, other = Variable(), Variable()
    found.made(kept)
    found.made(other)
    assert found.forgotten == []
    del other
    assert found.forgotten == ["w:0 (2)"]
