"""Measures what the five articles explain, and writes docs/articles.md with its pictures.

    PYTHONPATH=tests python benchmarks/articles.py [--only NAME ...]

For each study one script of the corpus is verified as `tfrewrite verify` does it, with what the
tool makes of it; where that is nothing, with itself. The pictures are the charts of the report,
each in a file of its own. With `--only` these studies are measured anew, and the others are taken
from docs/articles/measured.json, where all that the text needs is kept. Needs the interpreters that
`make setup` makes; `make articles` does all that.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
from pictures import picture
from results_samples import INTERPRETERS, ROOT

from corpus_cases import CASES, Case
from tfrewrite.model import Contract
from tfrewrite.reports.verification import html, words
from tfrewrite.verify.experiment import Effort, Pair, verify
from tfrewrite.verify.judging import Promise
from tfrewrite.verify.model import Speed, Subject, Verdict, Verification, Version
from tfrewrite.verify.runs import Conditions, Laboratory, Program
from tfrewrite.verify.tf_generation import is_tf1_script

PAGE = ROOT / "docs" / "articles.md"
PICTURES = ROOT / "docs" / "articles"
MEASURED = PICTURES / "measured.json"
TEMPLATE = Path(__file__).with_name("articles.md.jinja")
SCRIPT = "original.py"
TIMES, MEMORY, NODES = "Time of each step", "Memory", "Graph nodes"
FILES = {TIMES: "times", MEMORY: "memory", NODES: "nodes"}
WIDTH = 110
RUNS = 3
"""So many processes of each version are timed."""


@dataclass(frozen=True)
class Study:
    """A script that shows what an article explains, and the charts that show it."""

    name: str
    case: str
    tensorflow: str
    charts: tuple[str, ...]
    longer: tuple[str, str] | None = None
    """A piece of the script, and what takes its place so that there are more steps."""
    first_step: bool = False
    """Whether the first step is what is to be seen: else the axis ends below it."""


STUDIES = (
    Study("runs", "article_000_1_accuracy_after_update", "1.15", (TIMES,)),
    Study(
        "graph",
        "article_001_1c_metrics_built_in_loop",
        "1.15",
        (NODES, MEMORY),
        longer=("range(9)", "range(100)"),
    ),
    Study(
        "assigns", "assign_rate_in_loop", "1.15", (NODES, TIMES), longer=("range(5)", "range(30)")
    ),
    Study(
        "eager",
        "article_002_1_pipeline_and_tape",
        "2.21",
        (MEMORY, TIMES),
        longer=("EPOCHS = 3", "EPOCHS = 30"),
    ),
    Study("epochs", "function_made_in_loop", "2.21", (TIMES,)),
    Study(
        "arguments",
        "article_003_1_step_with_arguments",
        "2.21",
        (TIMES,),
        longer=("EPOCHS = 3", "EPOCHS = 100"),
    ),
    Study("first", "article_004_3_step_without_result", "2.21", (TIMES,), first_step=True),
    Study("retraced", "counter_as_number", "2.21", (TIMES,), first_step=True),
)


@dataclass(frozen=True)
class Side:
    """What was measured of one version, in words."""

    step: str
    first_step: str
    slope: str
    nodes: str
    memory_from: str
    memory_to: str
    peak: str
    retraces: int
    runs: int
    traffic: str


@dataclass(frozen=True)
class Found:
    """What a study found, in words."""

    case: str
    digest: str
    tensorflow: str
    machine: str
    rules: tuple[str, ...]
    contract: str
    identical: bool
    steps: int
    ratio: str
    interval: str
    first_ratio: str
    original: Side
    rewritten: Side


def main() -> None:
    asked = parse()
    PICTURES.mkdir(exist_ok=True)
    for study in STUDIES:
        if asked.only and study.name not in asked.only:
            continue
        print(f"{study.name}: {study.case}", flush=True)
        verification = measured(study)
        for name, figure in drawings(study, verification):
            (PICTURES / name).write_text(picture(figure))
        known = {**kept(), study.name: asdict(found(study, verification))}
        MEASURED.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    missing = [study.name for study in STUDIES if study.name not in kept()]
    if missing:
        sys.exit(f"not measured yet, so that there is no page: {', '.join(missing)}")
    PAGE.write_text(page(kept()))


def kept() -> dict[str, Any]:
    """What was measured, last time or this time, by the studies' names."""
    found: dict[str, Any] = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    return found


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=[study.name for study in STUDIES])
    return parser.parse_args()


def page(measured: dict[str, Any]) -> str:
    """The text, with what was measured in its places; every place has to have a value."""
    environment = jinja2.Environment(  # noqa: S701 - Markdown
        undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    text = environment.from_string(TEMPLATE.read_text()).render(measured)
    return "\n\n".join(filled(block) for block in text.strip().split("\n\n")) + "\n"


def filled(block: str) -> str:
    """A paragraph with its lines filled, now that its values have their lengths."""
    if block.lstrip().startswith(("#", "!")):
        return block.strip()
    return textwrap.fill(
        " ".join(block.split()), WIDTH, break_long_words=False, break_on_hyphens=False
    )


def case_of(study: Study) -> Case:
    return next(case for case in CASES if case.name == study.case)


def measured(study: Study) -> Verification:
    case = case_of(study)
    original, rewritten = (longer(study, case, name) for name in (SCRIPT, "expected.py"))
    promise = max((Contract(one) for one in case.contracts), key=list(Contract).index, default=None)
    contract = promise or Contract.EXACT
    pair = Pair(
        Subject(SCRIPT, SCRIPT, "expected.py", contract), original, rewritten, Promise(contract)
    )
    is_tf1 = is_tf1_script((case.folder / SCRIPT).read_text())
    conditions = Conditions(INTERPRETERS[study.tensorflow], is_tf1=is_tf1)
    with Laboratory.opened(conditions) as laboratory:
        verification = verify(pair, laboratory, Effort(steps=0, runs=RUNS), lambda _: None)
    if verification.verdict is not Verdict.PASS:
        sys.exit(f"{study.case}: {verification.reason}\n{verification.output}")
    return verification


def longer(study: Study, case: Case, name: str) -> Program:
    text = (case.folder / name).read_text()
    if study.longer is not None:
        piece, more = study.longer
        assert text.count(piece) == 1, f"{case.name}/{name} must have {piece!r} once"
        text = text.replace(piece, more)
    return Program.of(case.folder, SCRIPT, ((SCRIPT, text.encode()),))


def digest(study: Study) -> str:
    """Tells whether what was measured is of the scripts as they are."""
    case = case_of(study)
    texts = (longer(study, case, name).replacements[0][1] for name in (SCRIPT, "expected.py"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def drawings(study: Study, verification: Verification) -> Iterator[tuple[str, str]]:
    """The charts of the report that a study shows, by the names of their files."""
    speed, growth = verification.speed, verification.growth
    assert speed is not None
    if case_of(study).is_left_alone:  # there is one version; its twin is not to be seen
        runs = tuple(run for run in speed.runs if run.version is Version.ORIGINAL)
        speed = replace(speed, runs=runs)
        growth = tuple(one for one in growth if one.version is Version.ORIGINAL)
    top = float("inf") if study.first_step else html.top_of(speed)
    figures = [*html.speed_charts(study.name, speed, top), *html.growth_charts(study.name, growth)]
    for title in study.charts:
        [figure] = [one for one in figures if f"<strong>{title}</strong>" in one]
        yield f"{study.name}-{FILES[title]}.svg", figure


def found(study: Study, verification: Verification) -> Found:
    numerics, speed, environment = (
        verification.numerics,
        verification.speed,
        verification.environment,
    )
    assert numerics is not None
    assert speed is not None
    assert environment is not None
    ratios = dict(words.ratios(speed))
    steady, first = ratios["steady state"], ratios["first step"]
    return Found(
        case=study.case,
        digest=digest(study),
        tensorflow=environment.tensorflow,
        machine=f"{environment.processor}, {environment.cores} cores",
        rules=case_of(study).rules,
        contract=numerics.contract.value,
        identical=all(one.identical for one in numerics.compared),
        steps=numerics.steps,
        ratio=words.factor(steady.value),
        interval=words.interval(steady),
        first_ratio=words.factor(first.value),
        original=side(verification, speed, Version.ORIGINAL),
        rewritten=side(verification, speed, Version.REWRITTEN),
    )


def side(verification: Verification, speed: Speed, version: Version) -> Side:
    growth = words.grown(verification, version)
    assert growth is not None
    return Side(
        step=words.seconds(words.typical(speed, "steady state", version)),
        first_step=words.seconds(words.typical(speed, "first step", version)),
        slope=words.slope(growth.step_time_slope),
        nodes=words.nodes(growth.graph_nodes),
        memory_from=words.memory(growth.memory_mb[0]) if growth.memory_mb else "",
        memory_to=words.memory(growth.memory_mb[-1]) if growth.memory_mb else "",
        peak=words.memory(growth.peak_memory_mb),
        retraces=growth.retraces,
        runs=growth.traffic.runs if growth.traffic else 0,
        traffic=words.traffic(growth.traffic),
    )


if __name__ == "__main__":
    main()
