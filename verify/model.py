"""What a verification found out: frozen values that reports read and nothing else.

Times are seconds, memory is MB (10**6 bytes), steps count from 1. A ratio of times is always
original / rewritten, so that above 1 means faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrewrite.model import Contract


class Verdict(str, Enum):
    """What the evidence says. What cannot be shown is inconclusive, never a pass."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class SpeedVerdict(str, Enum):
    """What the measurements say; not measured where the numbers are not shown to be the same."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_CHANGE = "no-measurable-change"
    NOT_MEASURED = "not-measured"


class Version(str, Enum):
    """Which of the two versions a run or a curve belongs to."""

    ORIGINAL = "original"
    REWRITTEN = "rewritten"


class Kind(str, Enum):
    """Where a value was observed."""

    FETCHED = "fetched"
    """Returned by `Session.run`, `.eval` or a session's callable."""
    READ = "read"
    """Brought from TensorFlow to the host: `.numpy()`, `float(tensor)`."""
    WEIGHTS = "weights"
    """A variable, optimiser slots among them, after each step."""
    FINAL = "final"
    """A variable when the script ends."""
    PRINTED = "printed"
    """A line of standard output."""
    FILE = "file"
    """Something in a file that the script wrote."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of times with its 95% interval."""

    value: float
    low: float
    high: float
    times_s: tuple[float, float] | None = None
    """Of the original and of the rewritten version, as they were judged."""


@dataclass(frozen=True)
class Trial:
    """What became of a rewrite where only those are kept that hold and pay, and why."""

    kept: bool
    ground: str
    """A stable id: `faster`, `contract-broken`, `slower` and the like."""
    evidence: str = ""
    """One sentence."""
    gain: Ratio | None = None
    """How much faster the script is with it than without it."""
    share: float | None = None
    """Its part of what all that are kept gain, from 0 to 1."""
    others: int = 0
    """With how many others it was left out, where evidence and gain are of them together."""


@dataclass(frozen=True)
class Change:
    """One rewrite that is part of what is verified, and what it promised."""

    rule: str
    name: str
    line: int
    message: str
    contract: Contract
    changes: str = ""
    trial: Trial | None = None
    """None where nothing was chosen."""


@dataclass(frozen=True)
class Subject:
    """The two versions that were compared. `diff` is a unified diff of all files that differ."""

    script: str
    original: str
    rewritten: str
    contract: Contract
    diff: str = field(default="", repr=False)
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Point:
    """An observable at one moment: how far the versions are apart, and how far they may be.

    `distance` and `allowed` are in the unit of the observable; `step` is 0 for what was seen
    before the first step, and `count` tells how many numbers were compared.
    """

    step: int
    distance: float
    allowed: float
    identical: bool


@dataclass(frozen=True)
class Compared:
    """One observable, from the first moment at which it was seen to the last."""

    name: str
    kind: Kind
    points: tuple[Point, ...]
    verdict: Verdict
    worst_ratio: float
    """The largest distance, as a multiple of what is allowed there; 0 where all is identical."""
    note: str = ""
    """What a reader has to know: read one step late, differs between runs of the original."""

    @property
    def identical(self) -> bool:
        return all(point.identical for point in self.points)


@dataclass(frozen=True)
class Divergence:
    """The first step, and there the observable, where the promise was broken."""

    observable: str
    kind: Kind
    step: int
    original: str
    rewritten: str
    ratio: float
    """Distance as a multiple of what is allowed; infinite where nothing is."""


@dataclass(frozen=True)
class Numerics:
    """Whether both versions compute the same, under the contract."""

    verdict: Verdict
    contract: Contract
    reason: str
    """One sentence."""
    worst_ratio: float = 0.0
    divergence: Divergence | None = None
    compared: tuple[Compared, ...] = ()
    steps: int = 0
    whole: bool = True
    """Whether the script came to its own end; otherwise its loops were ended after `steps`."""
    seeds: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimedRun:
    """One process. `order` is its place among all timed runs."""

    version: Version
    order: int
    start_up_s: float
    """From the start of the interpreter to the first step: imports, data, building the graph."""
    first_step_s: float
    steps_s: tuple[float, ...]
    """Every step, the first among them."""
    whole_s: float
    peak_memory_mb: float
    load: float
    """The machine's load average when the run began."""


@dataclass(frozen=True)
class Speed:
    """How the times compare. Ratios are None where there was nothing to compare."""

    verdict: SpeedVerdict
    reason: str
    steady: Ratio | None = None
    """Time of a step once the first ones are over: what the verdict is about."""
    first_step: Ratio | None = None
    start_up: Ratio | None = None
    whole: Ratio | None = None
    control: Ratio | None = None
    """Original against original, from the same runs: the noise of this machine."""
    runs: tuple[TimedRun, ...] = ()
    notes: tuple[str, ...] = ()
    is_open: bool = False
    """Whether there seems to be a difference, which more runs may show to be one."""


@dataclass(frozen=True)
class Traffic:
    """What a step of a script with sessions exchanges with its graph."""

    runs: int
    fed_bytes: int
    outside: float
    """The part of a step that passes outside of runs."""


@dataclass(frozen=True)
class Growth:
    """What one version accumulates over its steps; one entry a step."""

    version: Version
    step_time_slope: float
    """By which part of the median step time a step gets slower in 1,000 steps; nan if not timed."""
    graph_nodes: tuple[int, ...]
    memory_mb: tuple[float, ...]
    retraces: int
    """How often a `tf.function` was traced again after its first time."""
    peak_memory_mb: float
    traffic: Traffic | None = None
    """None where no session runs in the steps."""


@dataclass(frozen=True)
class Environment:
    """What the runs ran on, as the interpreter of the script told it."""

    interpreter: str
    python: str
    tensorflow: str
    numpy: str
    platform: str
    processor: str
    cores: int
    threads: str
    device: str
    notes: tuple[str, ...] = ()
    """What was presented as what, and which settings could not be applied."""


@dataclass(frozen=True)
class Verification:
    """All there is to say about one subject."""

    subject: Subject
    verdict: Verdict
    headline: str
    """The verdict in one line."""
    reason: str
    advice: str = ""
    """What to do about it; empty where there is nothing to do."""
    numerics: Numerics | None = None
    speed: Speed | None = None
    growth: tuple[Growth, ...] = ()
    environment: Environment | None = None
    output: str = field(default="", repr=False)
    """The end of what a failed run wrote, as it wrote it."""
    elapsed_s: float = 0.0
