"""Turns what the probe noted into growth, timed runs and the facts about the surroundings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tfrewrite.verify import timing
from tfrewrite.verify.model import Environment, Growth, TimedRun, Traffic, Version
from tfrewrite.verify.runs import Conditions, Observation


def of(observed: Mapping[Version, Observation], runs: Sequence[TimedRun]) -> tuple[Growth, ...]:
    """Memory and graphs as the observed run had them, times as the timed runs had them."""
    return tuple(_growth(version, run, runs) for version, run in observed.items())


def _growth(version: Version, run: Observation, runs: Sequence[TimedRun]) -> Growth:
    summary = run.summary
    timed = [one for one in runs if one.version is version]
    peaks = [one.peak_memory_mb for one in timed] or [float(summary.get("peak_memory_mb", 0.0))]
    slopes = [timing.slope(one.steps_s) for one in timed]
    return Growth(
        version=version,
        step_time_slope=median(slopes) if slopes else 0.0,
        graph_nodes=tuple(summary.get("graph_nodes", ())),
        memory_mb=tuple(summary.get("memory_mb", ())),
        retraces=int(summary.get("retraces", 0)),
        peak_memory_mb=median(peaks),
        traffic=_traffic(summary.get("traffic", ())),
    )


def _traffic(a_step: Sequence[float]) -> Traffic | None:
    if not a_step or not a_step[0]:
        return None
    runs, fed_bytes, inside_s, outside_s = a_step
    whole_s = inside_s + outside_s
    return Traffic(int(runs), int(fed_bytes), outside_s / whole_s if whole_s > 0 else 0.0)


def timed_run(run: Observation, version: Version, order: int) -> TimedRun:
    """The times of one process: those of the loop with the most steps."""
    summary = run.summary
    began = float(summary["began"])
    loop = _main_loop(summary["times"])
    starts: list[float] = summary["times"].get(loop, [])
    ends: list[float] = summary["ends"].get(loop, [])
    steps = tuple(end - start for start, end in zip(starts, ends, strict=False))
    return TimedRun(
        version=version,
        order=order,
        start_up_s=starts[0] - began if starts else float(summary["elapsed_s"]),
        first_step_s=steps[0] if steps else 0.0,
        steps_s=steps,
        whole_s=float(summary["elapsed_s"]),
        peak_memory_mb=float(summary["peak_memory_mb"]),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    )


def _main_loop(times: Mapping[str, Sequence[float]]) -> str:
    return max(times, key=lambda loop: len(times[loop]), default="")


def environment(run: Observation, conditions: Conditions) -> Environment:
    """The facts, and what was put in place of something else."""
    found: Mapping[str, Any] = run.summary.get("environment", {})
    notes = [str(note) for note in (*run.summary.get("notes", ()), *run.result.notes)]
    if run.result.dropped:
        notes.append(f"{run.result.dropped:,} bytes of what it printed were not compared")
    if made_up := run.summary.get("made_up"):
        notes.append(f"made-up data stood in for {', '.join(map(str, made_up))}")
    if conditions.legacy_keras:
        notes.append("Keras 2 (tf-keras) was used as tf.keras")
    devices = [str(one) for one in found.get("devices", ())]
    return Environment(
        interpreter=str(found.get("interpreter", conditions.python)),
        python=str(found.get("python", "")),
        tensorflow=str(found.get("tensorflow", "")),
        numpy=str(found.get("numpy", "")),
        platform=str(found.get("platform", "")),
        processor=str(found.get("processor", "")),
        cores=int(found.get("cores", 0)),
        threads="as TensorFlow chooses",
        device="GPU" if "GPU" in devices else "CPU",
        notes=tuple(notes),
    )
