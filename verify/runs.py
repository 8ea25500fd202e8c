"""Runs one version of a script under the probe, to be observed or to be timed."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tfrewrite.discovery import is_notebook
from tfrewrite.verify.instrument import Instrumented, instrument
from tfrewrite.verify.notebooks import python_of
from tfrewrite.verify.process import Ending, RunRequest, RunResult, run_script, temporary_room

PROBE = Path(__file__).resolve().parent / "probe"
MARKED = (b"for ", b"while ")
LARGEST_SOURCE = 2 << 20
IDLE_TURNS = 10
"""A loop that computes and changes nothing gets this many times the steps of one that trains."""
OUTPUT_LIMIT = 4 << 20
COMPARING_LIMIT_S = 120.0
"""Comparing what was recorded takes its own time, however little a run may take."""


@dataclass(frozen=True)
class Conditions:
    """What holds for all runs of a verification."""

    python: Path
    arguments: tuple[str, ...] = ()
    time_limit_s: float = 300.0
    memory_limit_mb: float | None = None
    disk_limit_mb: float | None = 10_000.0
    device: str = "auto"
    is_tf1: bool = False
    """Written for TensorFlow 1: where only 2 is there, it gets the interface that it knows."""
    legacy_keras: bool = False
    synthetic: bool = False
    places: tuple[str, ...] = ()
    """Folders of the tree that are on the path, beside that of the script."""


@dataclass(frozen=True)
class Nudge:
    """How the weights of a run are moved: at random, by a unit in the last place or by a part."""

    seed: int
    part: float = 0.0


@dataclass(frozen=True)
class Program:
    """A version of a script in its tree; `replacements` are the files that differ from the tree."""

    tree: Path
    script: str
    replacements: tuple[tuple[str, bytes], ...] = ()
    marked: Instrumented = field(default_factory=lambda: Instrumented((), ()), repr=False)

    @classmethod
    def of(
        cls, tree: Path, script: str, replacements: tuple[tuple[str, bytes], ...] = ()
    ) -> Program:
        """With marks at the loops of all files of the tree; a notebook is run as a script."""
        sources = dict(_sources(tree))
        with contextlib.suppress(OSError):  # whatever its name is
            sources[script] = (tree / script).read_bytes()
        if is_notebook(script) and script in sources:
            replacements = tuple({script: sources[script], **dict(replacements)}.items())
        replacements = python_of(replacements)
        sources.update(replacements)
        return cls(tree, script, replacements, instrument(sources))

    @property
    def files(self) -> tuple[tuple[str, bytes], ...]:
        return tuple({**dict(self.replacements), **dict(self.marked.files)}.items())


@dataclass(frozen=True)
class Observation:
    """What an observed run recorded. `summary` is the probe's own account of it."""

    folder: Path
    result: RunResult
    summary: Mapping[str, Any]

    @property
    def is_complete(self) -> bool:
        """Whether the script came to an end at which the probe could write everything down."""
        return (
            self.result.ending is Ending.EXITED
            and self.summary.get("ended") in {"returned", "exit", "os._exit"}
            and self.summary.get("exit_code") == 0
        )

    @property
    def steps(self) -> int:
        return int(self.summary.get("steps", 0))

    @property
    def was_cut(self) -> bool:
        return bool(self.summary.get("limits"))

    @property
    def printed(self) -> str:
        return self.result.stdout.replace(self.result.room, "")


class Laboratory:
    """Where runs are made; keeps what they record until it is closed."""

    def __init__(self, conditions: Conditions, folder: Path) -> None:
        self.conditions = conditions
        self.watch: Callable[[Program, Observation], None] | None = None
        """Told of every observed run."""
        self.given_up = threading.Event()
        """Once set, ends what runs, and what would be run."""
        self._folder = folder
        self._runs = 0

    @classmethod
    @contextlib.contextmanager
    def opened(cls, conditions: Conditions) -> Iterator[Laboratory]:
        with temporary_room() as room:
            yield cls(conditions, room)

    def observe(
        self,
        program: Program,
        *,
        seed: int,
        steps: int,
        budget_s: float = 0.0,
        nudge: Nudge | None = None,
        early: Mapping[str, Sequence[bool]] | None = None,
        settings: tuple[tuple[str, str], ...] = (),
    ) -> Observation:
        """`steps` 0 is all; with a budget, as many as that time allows.

        With `early`, values that are fetched together with an update are marked, and where it names
        a tensor and a time, the script is given the value of before the last update instead.
        `settings` are variables of the environment that only this run has.
        """
        asked = {
            "kind": "observed",
            "seed": seed,
            "steps": 1 if budget_s else steps,
            "budget_s": budget_s,
            "idle_limit": 0 if budget_s else steps * IDLE_TURNS,
            "nudge": nudge and asdict(nudge),
            "early": early,
        }
        folder, result = self._run(program, asked, settings)
        found = Observation(folder, result, _summary(folder))
        if self.watch is not None:
            self.watch(program, found)
        return found

    def time(
        self,
        program: Program,
        observed: Observation,
        *,
        seed: int,
        longer: int = 1,
        at_least_s: float = 0.0,
    ) -> Observation:
        """The same run again, with nothing but a look at the clock at each step.

        Where the loops that train were cut short they have `longer` times as many turns, and go on
        for `at_least_s` seconds.
        """
        asked = {
            "kind": "timed",
            "seed": seed,
            "limits": observed.summary.get("limits", {}),
            "idle": observed.summary.get("idle", []),
            "longer": longer,
            "at_least_s": at_least_s,
            "step_loops": [int(loop) for loop in observed.summary.get("steps_of", {})],
            "started": time.time(),
        }
        folder, result = self._run(program, asked)
        return Observation(folder, result, _summary(folder))

    def compute(self, program: str, *arguments: str) -> RunResult:
        """Runs one of our own programs where numpy is."""
        return run_script(
            RunRequest(
                python=self.conditions.python,
                tree=PROBE,
                script=program,
                arguments=arguments,
                time_limit_s=max(self.conditions.time_limit_s, COMPARING_LIMIT_S),
                given_up=self.given_up,
            )
        )

    def file(self, name: str) -> Path:
        return self._folder / name

    def _run(
        self, program: Program, asked: dict[str, Any], more: tuple[tuple[str, str], ...] = ()
    ) -> tuple[Path, RunResult]:
        self._runs += 1
        conditions = self.conditions
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        settings = {
            **asked,
            "record": str(folder),
            "parents": {str(mark.loop): mark.parent for mark in program.marked.marks},
            "is_tf1": conditions.is_tf1,
            "synthetic": conditions.synthetic,
        }
        asked_file = folder / "asked.json"
        asked_file.write_text(json.dumps(settings))
        request = RunRequest(
            python=conditions.python,
            tree=program.tree,
            script=program.script,
            arguments=conditions.arguments,
            replacements=program.files,
            environment=(*_environment(conditions), *more, ("TFREWRITE_PROBE", str(asked_file))),
            launcher=(str(PROBE),),
            time_limit_s=conditions.time_limit_s,
            memory_limit_mb=conditions.memory_limit_mb,
            disk_limit_mb=conditions.disk_limit_mb,
            output_limit=OUTPUT_LIMIT,
            given_up=self.given_up,
        )
        return folder, run_script(request)


def _environment(conditions: Conditions) -> tuple[tuple[str, str], ...]:
    # A relative place is taken from where the run begins, which is the copy of the tree.
    places = (str(PROBE / "path"), *conditions.places, os.environ.get("PYTHONPATH"))
    path = os.pathsep.join(filter(None, places))
    settings = {
        "PYTHONPATH": path,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "MPLBACKEND": "Agg",
    }
    if conditions.device == "gpu":  # with it some ops of XLA fail on a CPU, which does without
        settings["TF_DETERMINISTIC_OPS"] = "1"
    if conditions.device == "cpu":
        settings["CUDA_VISIBLE_DEVICES"] = "-1"
    if conditions.legacy_keras:
        settings["TF_USE_LEGACY_KERAS"] = "1"
    return tuple(settings.items())


def _sources(tree: Path) -> Iterator[tuple[str, bytes]]:
    """The Python files of a tree that may hold loops; links are not followed."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if not _is_left_out(name))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.endswith(".py") or path.is_symlink():
                continue
            try:
                data = path.read_bytes() if path.stat().st_size < LARGEST_SOURCE else b""
            except OSError:
                continue
            if any(word in data for word in MARKED):
                yield path.relative_to(tree).as_posix(), data


def _is_left_out(folder: str) -> bool:
    return folder.startswith(".") or folder in {"__pycache__", "node_modules", "site-packages"}


def _summary(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
