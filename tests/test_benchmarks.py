"""The benchmark says of each requirement whether it holds, from the samples that it took."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from own_programs import program

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return program("benchmarks/check_speed.py")


SECONDS = {
    "COLD": 3.0,
    "WARM": 0.9,
    "RUFF": 1.0,
    "UPGRADE": 10.0,
    "BARE": 0.02,
    "HELP": 0.12,
    "RULES": 0.13,
}


def verdicts(bench: ModuleType, **changed: float) -> list[bool]:
    samples = {
        getattr(bench, key): bench.Samples([value], [100.0])
        for key, value in {**SECONDS, **changed}.items()
    }
    return [holds for _, _, holds in bench.requirements(samples)]


def test_all_requirements_hold(bench: ModuleType) -> None:
    assert verdicts(bench) == [True] * 5


@pytest.mark.parametrize(
    ("name", "seconds", "at"),
    [("COLD", 3.4, 0), ("WARM", 1.0, 1), ("HELP", 0.18, 2), ("RULES", 0.18, 3)],
)
def test_each_can_fail(bench: ModuleType, name: str, seconds: float, at: int) -> None:
    assert verdicts(bench, **{name: seconds}) == [index != at for index in range(5)]


def test_memory_can_fail(bench: ModuleType) -> None:
    samples = {
        getattr(bench, key): bench.Samples([value], [301.0]) for key, value in SECONDS.items()
    }
    assert bench.requirements(samples)[-1][2] is False


def test_tools_take_turns_and_their_memory_is_seen(bench: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    small = bench.Task("small", (sys.executable, "-c", "pass"))
    large = bench.Task("large", (sys.executable, "-c", "len(b'x' * 600_000_000)"))
    samples = bench.measure([small, large], 2, tmp_path)
    assert [len(samples[name].seconds) for name in ("small", "large")] == [2, 2]
    # The figure of a small process can be that of this one, which it was split off from.
    assert min(samples["large"].peak_mb) > 550


def test_a_tool_that_fails_stops_the_benchmark(bench: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    broken = bench.Task("broken", (sys.executable, "-c", "raise SystemExit('no such option')"), {0})
    with pytest.raises(SystemExit, match=r"(?s)broken ended with exit code 1.*no such option"):
        bench.run_task(broken, tmp_path)


def test_what_is_kept_makes_the_section(bench: ModuleType) -> None:
    kept = {
        "tree": "models, 2 Python files",
        "rounds": 3,
        "taken": "2026-01-01",
        "machine": "A processor",
        "load": [0.5, 1.25],
        "versions": ["tfrewrite 1", "ruff 2"],
        "samples": {
            getattr(bench, key): {"seconds": [value], "peak_mb": [100.0]}
            for key, value in {**SECONDS, "WARM": 2.0}.items()
        },
    }
    section = bench.section(kept)
    for part in (
        "its load was 0.5 at first and 1.2 in the end",
        "| tfrewrite check, cold | 3.00 (3.00-3.00) | 0.300 | 100 MB |",
        "| warm check: below 1/10 of tf_upgrade_v2 | 0.200 | **no** |",
    ):
        assert part in section
