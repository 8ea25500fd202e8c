"""Verifications for programs: one strict JSON document, whose `schema_version` grows with it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tfrewrite.reports.verification import words
from tfrewrite.verify.model import (
    Change,
    Compared,
    Divergence,
    Environment,
    Growth,
    Numerics,
    Ratio,
    Speed,
    TimedRun,
    Traffic,
    Trial,
    Verdict,
    Verification,
)

SCHEMA_VERSION = 1


def render(verifications: Sequence[Verification], **beside: Any) -> str:
    """Times are seconds, memory is MB; what is not finite is "NaN", "Infinity" or "-Infinity".

    `beside` is what else the document is to hold.
    """
    counts = Counter(one.verdict for one in verifications)
    document = {
        "schema_version": SCHEMA_VERSION,
        "verdict": words.overall(verifications).value,
        "summary": {
            "scripts": len(verifications),
            **{verdict.value: counts[verdict] for verdict in Verdict},
        },
        "verifications": [_verification(one) for one in verifications],
        **beside,
    }
    return json.dumps(_strict(document), indent=2, allow_nan=False) + "\n"


def _strict(value: Any) -> Any:
    """The value without what many readers of JSON stumble over: NaN and lone surrogates."""
    match value:
        case dict():
            return {key: _strict(content) for key, content in value.items()}
        case list() | tuple():
            return [_strict(content) for content in value]
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return value


def _verification(one: Verification) -> dict[str, Any]:
    growth = {version: words.grown(one, version) for version in words.VERSIONS}
    return {
        "script": one.subject.script,
        "original": one.subject.original,
        "rewritten": one.subject.rewritten,
        "contract": one.subject.contract.value,
        "verdict": one.verdict.value,
        "headline": one.headline,
        "reason": one.reason,
        "advice": one.advice,
        "changes": [_change(change, one) for change in one.subject.changes],
        "numerics": _numerics(one.numerics) if one.numerics else None,
        "speed": _speed(one.speed) if one.speed else None,
        "growth": {
            version.value: _growth(grown) if grown else None for version, grown in growth.items()
        },
        "environment": _environment(one.environment) if one.environment else None,
        "output": one.output,
        "elapsed_s": round(one.elapsed_s, 3),
        "diff": one.subject.diff,
    }


def _change(change: Change, one: Verification) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "name": change.name,
        "line": change.line,
        "message": change.message,
        "contract": change.contract.value,
        "changes": change.changes,
        "outcome": words.outcome(change, one),
        "trial": _trial(change.trial) if change.trial else None,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "kept": trial.kept,
        "ground": trial.ground,
        "evidence": trial.evidence,
        "gain": _ratio(trial.gain),
        "share_of_gain": trial.share,
        "others": trial.others,
    }


def _numerics(numerics: Numerics) -> dict[str, Any]:
    return {
        "verdict": numerics.verdict.value,
        "contract": numerics.contract.value,
        "reason": numerics.reason,
        "worst_ratio_to_envelope": numerics.worst_ratio,
        "diverged": _divergence(numerics.divergence) if numerics.divergence else None,
        "steps": numerics.steps,
        "whole": numerics.whole,
        "seeds": numerics.seeds,
        "notes": numerics.notes,
        "observables": [_compared(one) for one in numerics.compared],
    }


def _divergence(divergence: Divergence) -> dict[str, Any]:
    return {
        "step": divergence.step,
        "observable": divergence.observable,
        "kind": divergence.kind.value,
        "original": divergence.original,
        "rewritten": divergence.rewritten,
        "ratio_to_envelope": divergence.ratio,
    }


def _compared(one: Compared) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind.value,
        "verdict": one.verdict.value,
        "worst_ratio_to_envelope": one.worst_ratio,
        "identical": one.identical,
        "note": one.note,
        "points": [
            {
                "step": point.step,
                "distance": point.distance,
                "allowed": point.allowed,
                "identical": point.identical,
            }
            for point in one.points
        ],
    }


def _speed(speed: Speed) -> dict[str, Any]:
    return {
        "verdict": speed.verdict.value,
        "reason": speed.reason,
        # The verdict is about the steady state, so its ratio is also the ratio.
        **_ratio(speed.steady),
        "steady_state": _ratio(speed.steady),
        "first_step": _ratio(speed.first_step),
        "start_up": _ratio(speed.start_up),
        "whole_run": _ratio(speed.whole),
        "control": _ratio(speed.control),
        "notes": speed.notes,
        "runs": [_run(run) for run in speed.runs],
    }


def _ratio(ratio: Ratio | None) -> dict[str, Any]:
    if ratio is None:
        return {"ratio": None, "ci95": None}
    return {"ratio": ratio.value, "ci95": [ratio.low, ratio.high]}


def _run(run: TimedRun) -> dict[str, Any]:
    return {
        "version": run.version.value,
        "order": run.order,
        "start_up_s": run.start_up_s,
        "first_step_s": run.first_step_s,
        "steps_s": run.steps_s,
        "whole_s": run.whole_s,
        "peak_memory_mb": run.peak_memory_mb,
        "load": run.load,
    }


def _growth(growth: Growth) -> dict[str, Any]:
    return {
        "step_time_slope": growth.step_time_slope,
        "graph_nodes": growth.graph_nodes,
        "memory_mb": growth.memory_mb,
        "retraces": growth.retraces,
        "peak_memory_mb": growth.peak_memory_mb,
        "traffic": _traffic(growth.traffic) if growth.traffic else None,
    }


def _traffic(traffic: Traffic) -> dict[str, Any]:
    return {
        "runs_a_step": traffic.runs,
        "fed_bytes_a_step": traffic.fed_bytes,
        "outside_of_runs": traffic.outside,
    }


def _environment(environment: Environment) -> dict[str, Any]:
    return {
        "interpreter": environment.interpreter,
        "python": environment.python,
        "tensorflow": environment.tensorflow,
        "numpy": environment.numpy,
        "platform": environment.platform,
        "processor": environment.processor,
        "cores": environment.cores,
        "threads": environment.threads,
        "device": environment.device,
        "notes": environment.notes,
    }
