"""What was measured of a script of the corpus, and which scripts are due.

A sample is one script on one TensorFlow: processes of its versions, each with what it took. It is
known by the content of the scripts and of what times them, so that it outlives a new name.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from corpus_cases import CASES, Case, rewrite  # noqa: E402  found by the line above
from tfrewrite.demo import SCRIPT as DEMO  # noqa: E402
from tfrewrite.engine import rewrite_text  # noqa: E402
from tfrewrite.model import DEFAULT_CONTRACTS, Outcome  # noqa: E402
from tfrewrite.registry import all_rules  # noqa: E402

INTERPRETERS = {
    "1.15": ROOT / ".envs" / "tf1" / "bin" / "python",
    "2.21": ROOT / ".envs" / "tf2" / "bin" / "python",
}
SAMPLES = ROOT / "docs" / "results" / "samples"
DUE = ROOT / "docs" / "results" / "due.json"
TOOLS = ROOT / "docs" / "results" / "tools.json"

ORIGINAL, REWRITTEN, EXPERT = "original", "rewritten", "expert"
VERSIONS = (ORIGINAL, REWRITTEN, EXPERT)
TIMED_ON = tuple(INTERPRETERS)
"""The TensorFlows that scripts are timed on; the corpus has some for others as well."""

FAMILIES = {
    "1": "Graph mode",
    "2": "Eager mode",
    "3": "Pipelines",
    "4": "Keras",
    "request": "On request",
    "demo": "The demo",
}
NOT_FOR_SPEED = {"TFR109", "TFR404"}
"""What these write is not made to be faster: a script works again, or says the same anew."""

TIMED_BY = (
    *("__main__", "execution", "growth", "keras_fit", "loops", "own_code", "randomness", "run"),
    *("shield", "tensorflow_parts"),
)
"""The parts of the probe that are there when times are taken."""


@dataclass(frozen=True)
class Subject:
    """A script to measure on one TensorFlow: the text of each version, and how it is run.

    The tool is told that TensorFlow when it rewrites the script.
    """

    name: str
    title: str
    tensorflow: str
    rules: tuple[str, ...]
    family: str
    folder: Path
    script: str
    texts: dict[str, str]
    timed_loop: int | None = None
    synthetic: bool = False

    @property
    def digest(self) -> str:
        """Of the texts and of what decides which steps are timed; the name has no part in it."""
        parts = [self.texts.get(version, "") for version in VERSIONS]
        return digest_of([*parts, str(self.timed_loop)])

    @property
    def row(self) -> tuple[str, str]:
        return self.name, self.tensorflow


@dataclass(frozen=True)
class Process:
    """One timed process; seconds and megabytes. `step_s` is None where it had no steps.

    `turns` are those of the loop that is timed, which may be more than the steps that train.
    """

    version: str
    turns: int
    start_up_s: float
    first_step_s: float
    step_s: float | None
    whole_s: float
    peak_mb: float
    load: float


@dataclass(frozen=True)
class Curve:
    """What a version accumulates: points of a step and a value, few enough to be kept."""

    nodes: tuple[tuple[int, float], ...] = ()
    memory_mb: tuple[tuple[int, float], ...] = ()
    step_s: tuple[tuple[int, float], ...] = ()
    retraces: int = 0


@dataclass(frozen=True)
class Machine:
    """On what it was measured."""

    processor: str
    cores: int
    """Those that the processes may use; there may be more."""
    platform: str
    python: str
    tensorflow: str


@dataclass(frozen=True)
class Sample:
    """A script on one TensorFlow. The processes are in the order in which they ran."""

    script: str
    title: str
    tensorflow: str
    rules: tuple[str, ...]
    family: str
    digest: str
    probe: str
    taken: str
    machine: Machine
    way: str
    """What `step_s` is: `steady` steps, the `mean` of all after the first, or `whole`: nothing."""
    expert: str
    """`timed`, `same` as what the tool writes, or `none`."""
    processes: tuple[Process, ...]
    curves: dict[str, Curve] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        return sum(one.version == ORIGINAL for one in self.processes)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.digest, self.probe, self.tensorflow

    def of(self, version: str) -> list[Process]:
        """Those of a version; where the expert writes what the tool does, they are the same."""
        if version == EXPERT and self.expert == "same":
            version = REWRITTEN
        return [one for one in self.processes if one.version == version]


@dataclass(frozen=True)
class Due:
    """What the corpus had to be measured when it was last looked through, and what it had not."""

    rows: tuple[tuple[str, str], ...] = ()
    """Script and TensorFlow of each row that is missing or no longer true."""
    left_alone: int = 0
    not_for_speed: tuple[str, ...] = ()
    done_already: tuple[tuple[str, str], ...] = ()
    """Script and TensorFlow where the tool, told of that TensorFlow, has nothing left to do."""


def subjects() -> list[Subject]:
    """The scripts of the corpus that are rewritten, and that of the demo, on each TensorFlow."""
    found = (subject_of(case, version) for case, version in pairs())
    return [*(demo(version) for version in TIMED_ON), *(one for one in found if one.rules)]


def pairs() -> list[tuple[Case, str]]:
    """The scripts of the corpus that are timed, with each TensorFlow that they are timed on."""
    return [(case, version) for case in CASES if is_timed(case) for version in timed_on(case)]


def others(found: Sequence[Subject]) -> Due:
    """What of the corpus is not timed at all; its rows are for those who know what is there."""
    alone = sum(case.is_left_alone for case in CASES)
    named = (case.name for case in CASES if not case.is_left_alone and not is_timed(case))
    there = {one.row for one in found}
    rows = ((case.name, version) for case, version in pairs())
    done = (row for row in rows if row not in there)
    return Due(left_alone=alone, not_for_speed=tuple(named), done_already=tuple(done))


def is_timed(case: Case) -> bool:
    return not case.is_left_alone and not case.fails and not set(case.rules) <= NOT_FOR_SPEED


def timed_on(case: Case) -> list[str]:
    return [version for version in case.tensorflow if version in TIMED_ON]


def subject_of(case: Case, tensorflow: str) -> Subject:
    original = (case.folder / "original.py").read_text()
    outcome = rewrite(case, target_tf=number_of(tensorflow))
    texts = {ORIGINAL: original, REWRITTEN: outcome.after or original}
    expert = case.folder / "expert.py"
    if expert.exists():
        texts[EXPERT] = expert.read_text()
    return Subject(
        case.name,
        case.title,
        tensorflow,
        rules_of(outcome),
        "request" if case.request or case.allow else min(case.rules)[3],
        case.folder,
        "original.py",
        {version: longer(text, case) for version, text in texts.items()},
        case.timed_loop,
        case.synthetic,
    )


def number_of(tensorflow: str) -> tuple[int, ...]:
    return tuple(int(part) for part in tensorflow.split("."))


def rules_of(outcome: Outcome) -> tuple[str, ...]:
    return tuple(sorted({one.rule for one in outcome.findings if one.applicable}))


def longer(text: str, case: Case) -> str:
    """With as many steps as it takes to time them."""
    if case.longer is None:
        return text
    piece, more = case.longer
    if text.count(piece) != 1:
        raise ValueError(f"each script of corpus/{case.name} must have {piece!r} once")
    return text.replace(piece, more)


def demo(tensorflow: str) -> Subject:
    folder = ROOT / "tfrewrite" / "demo"
    text = (folder / DEMO).read_text()
    rules = [one for one in all_rules() if not one.on_request]
    told = number_of(tensorflow)
    outcome = rewrite_text(text, rules, path=DEMO, allowed=DEFAULT_CONTRACTS, target_tf=told)
    return Subject(
        "tfrewrite demo",
        "The script of the demo",
        tensorflow,
        rules_of(outcome),
        "demo",
        folder,
        DEMO,
        {ORIGINAL: text, REWRITTEN: outcome.after or text},
    )


def probe_digest() -> str:
    """Of the program that takes the times, within the interpreter of the script and around it."""
    probe = ROOT / "verify" / "probe"
    files = [probe / f"{name}.py" for name in TIMED_BY] + [ROOT / "verify" / "instrument.py"]
    return digest_of([path.read_text() for path in files])


def digest_of(texts: Sequence[str]) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(hashlib.sha256(text.encode()).digest())
    return whole.hexdigest()[:16]


# What is kept.


def read(folder: Path = SAMPLES) -> list[Sample]:
    return [read_one(path) for path in sorted(folder.glob("*.json"))]


def read_one(path: Path) -> Sample:
    return sample_of(json.loads(path.read_text()))


def write(sample: Sample, folder: Path = SAMPLES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(sample)
    write_json(path, asdict(sample))
    return path


def file_name(sample: Sample) -> str:
    return f"{sample.script.replace(' ', '_')}-{sample.tensorflow}.json"


def write_json(path: Path, data: dict[str, Any]) -> None:
    """A line for each key, so that differences can be read; there is never half a file."""
    lines = (f"{json.dumps(key)}: {json.dumps(rounded(value))}" for key, value in data.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.unfinished")
    unfinished.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    unfinished.replace(path)


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return value


def sample_of(data: dict[str, Any]) -> Sample:
    given = {
        **data,
        "rules": tuple(data["rules"]),
        "machine": Machine(**data["machine"]),
        "processes": tuple(Process(**one) for one in data["processes"]),
        "curves": {version: curve_of(one) for version, one in data["curves"].items()},
    }
    return Sample(**given)


def curve_of(data: dict[str, Any]) -> Curve:
    points = {
        name: tuple((int(step), float(value)) for step, value in data[name])
        for name in ("nodes", "memory_mb", "step_s")
    }
    return Curve(**points, retraces=data["retraces"])


def read_due(path: Path = DUE) -> Due:
    if not path.exists():
        return Due()
    data = json.loads(path.read_text())
    rows, done = (
        tuple((script, tensorflow) for script, tensorflow in data[key])
        for key in ("rows", "done_already")
    )
    return Due(rows, data["left_alone"], tuple(data["not_for_speed"]), done)


def adopt(found: Sequence[Subject], probe: str, folder: Path = SAMPLES) -> list[Sample]:
    """The samples that are still true of the corpus, by the names that it has now.

    One whose script has another name or title goes by that. One whose script was changed stays
    until it is measured anew, one whose script is gone goes.
    """
    now = {(one.digest, probe, one.tensorflow): one for one in found}
    names = {one.row for one in found}
    kept: dict[str, Sample] = {}
    stale: dict[str, Sample] = {}
    there = {path.name: read_one(path) for path in sorted(folder.glob("*.json"))}
    for name, sample in there.items():
        subject = now.get(sample.key)
        if subject is not None:
            renamed = replace(
                sample,
                script=subject.name,
                title=subject.title,
                rules=subject.rules,
                family=subject.family,
            )
            kept[file_name(renamed)] = renamed
        elif (sample.script, sample.tensorflow) in names:
            stale[name] = sample
    # Another run may be adding samples meanwhile: only what was read, and is not so, is touched.
    wanted = {**stale, **kept}
    for name, sample in wanted.items():
        if there.get(name) != sample:
            write(sample, folder)
    for name in there.keys() - wanted.keys():
        (folder / name).unlink()
    return list(kept.values())


def due(found: Sequence[Subject], current: Sequence[Sample], rounds: int) -> list[tuple[str, str]]:
    """Script and TensorFlow of what is to be measured.

    What has no sample comes before what has one of fewer rounds, and each script on its first
    TensorFlow before any on another, so that a run that is ended early has seen most of the corpus.
    """
    there = {(one.script, one.tensorflow): one.rounds for one in current}
    first = {one.name: one.tensorflow for one in reversed(found)}
    wanted = [one for one in found if there.get(one.row, 0) < rounds]
    wanted.sort(key=lambda one: (one.row in there, one.tensorflow != first[one.name]))
    return [one.row for one in wanted]
