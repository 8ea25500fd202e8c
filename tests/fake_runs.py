"""Stands in for the processes of a verification, so that its tests need no TensorFlow."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfrewrite.verify.process import Ending, RunRequest, RunResult
from tfrewrite.verify.trees import Modules

NOTHING_SEEN: dict[str, list[Any]] = {
    "series": [],
    "only_original": [],
    "only_rewritten": [],
    "passing": [],
}


@dataclass(frozen=True)
class Ran:
    """A run that was asked for."""

    request: RunRequest
    asked: dict[str, Any]
    text: str
    """The script as it was to be run."""
    beside: int
    """How many others ran when it began."""

    @property
    def script(self) -> str:
        return self.request.script

    @property
    def kind(self) -> str:
        return str(self.asked["kind"])

    @property
    def sources(self) -> dict[str, str]:
        """All that the script imports, as it was to be run."""
        found = {}
        for name in Modules.on_disk(self.request.tree).reached(self.script):
            new = dict(self.request.replacements).get(name)
            found[name] = (new or (self.request.tree / name).read_bytes()).decode()
        return found

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.request.environment)


@dataclass
class FakeRuns:
    """Takes the place of `run_script`: notes each run, and gives what the test wants of it."""

    prints: Callable[[Ran], str] = lambda run: "loss 1.5\n"  # noqa: ARG005
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int = 0
    takes_s: float = 0.0
    """As the run is said to have taken."""
    step_s: Callable[[Ran], float] = lambda run: 0.1  # noqa: ARG005
    """How long a step takes in a timed run."""
    lasts_s: float = 0.0
    """As it does take."""
    seen: dict[str, list[Any]] = field(default_factory=lambda: NOTHING_SEEN)
    """What comes of comparing records."""
    made: list[Ran] = field(default_factory=list)
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: RunRequest) -> RunResult:
        if not request.launcher:
            asked = json.loads(Path(request.arguments[0]).read_text())
            seen = [{"w": [1.0]} for _ in asked["scalars"]] if "scalars" in asked else self.seen
            Path(request.arguments[1]).write_text(json.dumps(seen))
            return RunResult(Ending.EXITED, 0.1, exit_code=0)
        asked = json.loads(Path(dict(request.environment)["TFREWRITE_PROBE"]).read_text())
        with self._lock:
            run = Ran(request, asked, _text(request), self._running)
            self._running += 1
            self.made.append(run)
        time.sleep(self.lasts_s)
        with self._lock:
            self._running -= 1
        if self.exit_code == 0:
            record = Path(asked["record"], "summary.json")
            record.write_text(json.dumps(self._summary(run)))
            record.with_name("values.jsonl").touch()
        return RunResult(
            Ending.EXITED, self.takes_s, exit_code=self.exit_code, stdout=self.prints(run)
        )

    def _summary(self, run: Ran) -> dict[str, Any]:
        found = {
            "ended": "returned",
            "exit_code": 0,
            "steps": 9,
            "limits": {},
            "elapsed_s": 1.0,
            "peak_memory_mb": 100.0,
            "notes": [],
            "environment": {"python": "3.7", "tensorflow": "1.15.5", "devices": ["CPU"]},
            "executed": list(run.sources),
            **self.summary,
        }
        if run.kind == "timed":
            step_s = self.step_s(run)
            steps = [step_s * step for step in range(9)]
            found |= {
                "turns_of": {"1": 9},
                "began": 0.0,
                "times": {"1": steps},
                "ends": {"1": [one + step_s for one in steps]},
            }
        return found

    def of(self, kind: str) -> list[Ran]:
        return [run for run in self.made if run.kind == kind]


def _text(request: RunRequest) -> str:
    own = dict(request.replacements).get(request.script)
    return (own or (request.tree / request.script).read_bytes()).decode()
