"""Writes docs/results.md and its charts from the samples; nothing is measured here.

The same samples give the same text, which a test relies on. `make bench` calls it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import check_speed
import results_charts as charts
import results_samples as samples
import results_statistics as statistics
from results_samples import EXPERT, FAMILIES, ORIGINAL, REWRITTEN, ROOT, Due, Process, Sample

from tfrewrite.registry import all_rules
from tfrewrite.reports.verification import words
from tfrewrite.reports.verification.charts import Unit, memory_unit, seconds_unit
from tfrewrite.verify.model import Ratio, SpeedVerdict

PAGE = ROOT / "docs" / "results.md"
CHARTS = ROOT / "docs" / "results" / "charts"
README = ROOT / "README.md"
MARKS = ("<!-- figures: made by make bench -->\n", "<!-- end of figures -->")

HEAD = """\
# Results

Made by `make bench` and `make bench-tools` from the samples in `docs/results`: not changed by hand.

Each script of the corpus that tfrewrite rewrites is run as it was (`original.py`), as tfrewrite
writes it, and as somebody who knows TensorFlow would write it by hand (`expert.py`, where there is
one). tfrewrite is told the TensorFlow (`target-tf`); `expected.py` is what it writes untold, which
for some has a prefetch more. The processes of the three take turns. A time is the median of
the processes of a version. A gain is the time of the original divided by that of the rewritten
version, so that above 1 is faster, with a 95% interval; both by the statistics of
`tfrewrite verify`. What a step costs is found as there: from the quickest steady steps, or from
the typical ones where steps are of several kinds or grow. The share is the part of the time that
the expert saves which tfrewrite saves as well; ", less" marks those where the difference from the
expert is beyond chance. That each pair computes the same is shown by `tests/test_corpus.py`.
"""
GOALS = """\
The slow scripts are those that tfrewrite rewrites with its settings as they are; what is made on
request only is told apart. A script that ran on two TensorFlows counts once in a mean.
"""
MISSING = """\
Of the corpus as it is now, {} pairs of a script and a TensorFlow are not measured yet; they are
listed under "Not timed".
"""
MEANS = """\
How many times as fast, with 95% intervals: they tell of other processes of the same scripts, not
of other scripts. The whole run is as long as the benchmark makes it, imports and start included.
"""
GROWING = """\
These scripts make ops while they train. Their graph grows with each step or epoch, and a step takes
longer the more ops there are, so that the gain has no fixed size: it grows with the number of
steps, which is given here. Times are of the turns of the timed loop. Nodes and memory are of a
process that was observed, after each step that changed the weights; where a script has learned all
that it can, or a turn trains nothing, these are fewer than the turns.
"""

VERDICTS = {True: "yes", False: "**no**", None: "not shown"}


def write() -> None:
    """Brings the page, the charts and the README up to date."""
    chosen, due, tools = samples.read(), samples.read_due(), read_tools()
    drawn = pictures(chosen)
    CHARTS.mkdir(parents=True, exist_ok=True)
    for path in CHARTS.glob("*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, picture in drawn.items():
        (CHARTS / name).write_text(picture)
    PAGE.write_text(render(chosen, due, tools))
    README.write_text(with_figures(README.read_text(), chosen, due))


def read_tools(path: Path = samples.TOOLS) -> dict[str, Any] | None:
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def render(chosen: Sequence[Sample], due: Due, tools: dict[str, Any] | None) -> str:
    parts = [HEAD, *machines(chosen), *goals(chosen, due)]
    for family, name in FAMILIES.items():
        rows = of_family(chosen, family)
        if rows:
            parts += section(family, name, rows)
    parts += growing(chosen)
    parts += left_out(chosen, due)
    if tools is not None:
        parts.append(check_speed.section(tools))
    return "\n".join(parts)


# The parts of the page.


def machines(chosen: Sequence[Sample]) -> list[str]:
    named = unique(
        f"{sample.machine.processor}, {cores(sample)}, {sample.machine.platform}"
        for sample in chosen
    )
    lines = [f"- Machine: {one}" for one in named]
    versions = unique(
        f"TensorFlow {one.machine.tensorflow} on Python {one.machine.python}" for one in chosen
    )
    if not lines:
        return ["Nothing has been measured yet.\n"]
    rounds = sorted(Counter(one.rounds for one in chosen).items())
    counted = [f"{number} for {count}" for number, count in rounds]
    days = sorted({one.taken for one in chosen})
    loads = sorted(run.load for one in chosen for run in one.processes)
    lines.append(f"- {', '.join(versions)}")
    lines.append(
        f"- {len(chosen)} pairs, {' to '.join(ends(days))}; processes of each version:"
        f" {', '.join(counted)} of these; the load of the machine was {median(loads):.1f} in the"
        f" median, {loads[-1]:.1f} at most"
    )
    return ["\n".join(lines) + "\n"]


def cores(sample: Sample) -> str:
    count = sample.machine.cores
    return "1 core for each process" if count == 1 else f"{count} cores"


def ends(values: Sequence[str]) -> list[str]:
    return [values[0], values[-1]] if values[0] != values[-1] else [values[0]]


def goals(chosen: Sequence[Sample], due: Due) -> list[str]:
    found = statistics.goals(chosen)
    if not found:
        return []
    rows = [f"| {one.asked} | {one.measured} | {VERDICTS[one.holds]} |" for one in found]
    missing = len(due.rows)
    note = f"\n{MISSING.format(missing)}" if missing else ""
    return [
        "## Goals\n",
        GOALS,
        table(("asked", "measured", "holds"), rows) + "\n" + note,
        *means(chosen),
    ]


def means(chosen: Sequence[Sample]) -> list[str]:
    slow = statistics.counted(chosen)
    rows = []
    groups = [(FAMILIES[family], of_family(slow, family)) for family in FAMILIES]
    for name, group in [*groups, ("all", slow)]:
        if group:
            rows.append(mean_row(name, group))
    header = (
        *("family", "scripts", "a step", "the first step", "the whole run"),
        "a step, where an expert's is there",
        "by the expert",
    )
    return [
        "### Geometric means\n",
        MEANS,
        table(header, rows) + "\n",
        picture("families.svg", "Geometric means of the gains of each family"),
    ]


def mean_row(name: str, group: Sequence[Sample]) -> str:
    by_hand = [one for one in group if one.expert != "none"]
    stepping = [one for one in group if all(run.first_step_s for run in one.processes)]
    cells = [
        name,
        str(len({one.script for one in group})),
        gain(statistics.geometric_mean(group)),
        gain(statistics.geometric_mean(stepping, statistics.first_step)) if stepping else "-",
        gain(statistics.geometric_mean(group, statistics.whole)),
        gain(statistics.geometric_mean(by_hand)) if by_hand else "-",
        gain(statistics.geometric_mean(by_hand, after=EXPERT)) if by_hand else "-",
    ]
    return f"| {' | '.join(cells)} |"


NOTES = {
    "request": """\
Made only if asked for, by `--select` or `--allow`: they pay on some machines and data only, or
change what is promised. They are no part of the means above. TFR102 makes scripts slower whose
batches are cheap. So `tfrewrite apply --verify` keeps what it makes, as what TFR210 and TFR601
make, only where it was seen to be faster: the last column says what it does if it finds these
times.
""",
    "demo": "What `make demo` works on.\n",
    "3": """\
Where a process has one core, nothing can be done beside the step, which is what these rules are
for.
""",
}


def section(family: str, name: str, rows: Sequence[Sample]) -> list[str]:
    parts = [f"## {name}\n"]
    if family in NOTES and (family != "3" or any(one.machine.cores == 1 for one in rows)):
        parts.append(NOTES[family])
    header = ["script", "TensorFlow", "rules", "original", "rewritten", "expert", "gain"]
    header += ["expert's gain", "share"]
    lines = [times_row(one) for one in rows]
    if family == "request":
        header.append("`--verify`")
        lines = [f"{line} {fate(one)} |" for line, one in zip(lines, rows, strict=True)]
    parts.append(table(header, lines) + "\n")
    if family != "demo":
        parts.append(picture(f"{family}.svg", f"{name}: how many times as fast each script is"))
    second = ("script", "TensorFlow", "turns", "first step", "whole run", "peak memory", "nodes")
    parts += [
        "What it was and what it is:\n",
        table(second, [other_row(one) for one in rows]) + "\n",
    ]
    return parts


def times_row(one: Sample) -> str:
    compared = statistics.compared(one)
    cells = [
        one.script + ("" if one.way != "whole" else " (whole run)"),
        one.tensorflow,
        " ".join(one.rules),
        cost(one, ORIGINAL, statistics.step),
        cost(one, REWRITTEN, statistics.step),
        {"none": "-", "same": "the same text"}.get(one.expert)
        or cost(one, EXPERT, statistics.step),
        gain(compared.ratio) + slower(statistics.verdict(one)),
        experts_gain(one),
        share(one),
    ]
    return f"| {' | '.join(cells)} |"


def fate(one: Sample) -> str:
    """What `apply --verify` does with the rewrites of a script whose times are these."""
    found = statistics.verdict(one)
    losing = any(rule.may_lose for rule in all_rules() if rule.code in one.rules)
    kept = found is SpeedVerdict.FASTER if losing else found is not SpeedVerdict.SLOWER
    return "keeps" if kept else "drops"


def experts_gain(one: Sample) -> str:
    if one.expert == "none":
        return "-"
    ratio = statistics.compared(one, after=EXPERT if one.expert == "timed" else REWRITTEN).ratio
    return words.factor(ratio.value)


def share(one: Sample) -> str:
    found = statistics.share_of_expert(one)
    if found is None:
        return "-"
    told = found >= statistics.GOAL_OF_EXPERT or not statistics.is_told_from_expert(one)
    return f"{found:.0%}" + ("" if told else ", less")


def slower(verdict: SpeedVerdict) -> str:
    return ", **slower**" if verdict is SpeedVerdict.SLOWER else ""


def other_row(one: Sample) -> str:
    slow = statistics.verdict(one, statistics.whole)
    has_steps = all(run.first_step_s for run in one.processes)
    cells = [
        one.script,
        one.tensorflow,
        f"{round(median(run.turns for run in one.of(ORIGINAL))):,}",
        change(one, statistics.first_step) if has_steps else "-",
        change(one, statistics.whole) + slower(slow),
        peak(one),
        nodes(one),
    ]
    return f"| {' | '.join(cells)} |"


def change(one: Sample, figure: Callable[[Process], float]) -> str:
    return f"{cost(one, ORIGINAL, figure)} → {cost(one, REWRITTEN, figure)}"


def peak(one: Sample) -> str:
    before, after = (
        median(run.peak_mb for run in one.of(version)) for version in (ORIGINAL, REWRITTEN)
    )
    return f"{before:,.0f} → {after:,.0f} MB"


def nodes(one: Sample) -> str:
    before, after = (one.curves[version].nodes for version in (ORIGINAL, REWRITTEN))
    if not before or not after or not (before[-1][1] or after[-1][1]):
        return "-"
    return f"{before[-1][1]:,.0f} → {after[-1][1]:,.0f}"


def growing(chosen: Sequence[Sample]) -> list[str]:
    rows = [one for one in chosen if statistics.grows(one) and one.family != "demo"]
    if not rows:
        return []
    parts = [
        "## Graphs that grow\n",
        GROWING,
    ]
    header = (
        *("script", "TensorFlow", "steps seen", "nodes after the first", "after the last"),
        *("rewritten", "memory after the last", "turns timed", "gain of their first tenth"),
        "of their last tenth",
    )
    parts.append(table(header, [growth_row(one) for one in rows]) + "\n")
    parts += [
        picture(growth_name(one), f"{one.script}: nodes, memory and step time")
        for one in pictured(chosen)
    ]
    return parts


def pictured(chosen: Sequence[Sample]) -> list[Sample]:
    """One sample of each growing script, of the oldest TensorFlow."""
    found: dict[str, Sample] = {}
    for one in sorted(chosen, key=lambda sample: (sample.script, sample.tensorflow)):
        if statistics.grows(one) and one.family != "demo":
            found.setdefault(one.script, one)
    return list(found.values())


def growth_row(one: Sample) -> str:
    before, after = one.curves[ORIGINAL], one.curves[REWRITTEN]
    cells = [
        one.script,
        one.tensorflow,
        f"{before.nodes[-1][0]:,}",
        f"{before.nodes[0][1]:,.0f}",
        f"{before.nodes[-1][1]:,.0f}",
        f"{after.nodes[-1][1]:,.0f}" if after.nodes else "-",
        f"{before.memory_mb[-1][1]:,.0f} → {after.memory_mb[-1][1]:,.0f} MB"
        if before.memory_mb and after.memory_mb
        else "-",
        f"{one.of(ORIGINAL)[0].turns:,}",
        words.factor(part_gain(one, last=False)),
        words.factor(part_gain(one, last=True)),
    ]
    return f"| {' | '.join(cells)} |"


def part_gain(one: Sample, *, last: bool) -> float:
    """How many times as fast the first or last tenth of the steps are, but for the first step."""
    costs = []
    for version in (ORIGINAL, REWRITTEN):
        points = [value for _, value in one.curves[version].step_s[1:]]
        tenth = max(1, len(points) // 10)
        costs.append(median(points[-tenth:] if last else points[:tenth]) if points else 1.0)
    return costs[0] / costs[1]


def left_out(chosen: Sequence[Sample], due: Due) -> list[str]:
    lines = []
    measured = {(one.script, one.tensorflow) for one in chosen}
    old = [row for row in due.rows if row in measured]
    new = [row for row in due.rows if row not in measured]
    if due.left_alone:
        lines.append(
            f"- {due.left_alone} scripts that tfrewrite leaves alone: there is nothing to compare."
        )
    if due.not_for_speed:
        lines.append(f"- Not rewritten to be faster: {scripts(due.not_for_speed)}.")
    if due.done_already:
        found = rows_in_words(due.done_already)
        lines.append(
            f"- Told which TensorFlow, it leaves alone what that one does itself: {found}."
        )
    if new:
        lines.append(f"- Not measured yet: {rows_in_words(new)}.")
    if old:
        lines.append(f"- Changed since they were measured: {rows_in_words(old)}.")
    return ["## Not timed\n", "\n".join(lines) + "\n"] if lines else []


def rows_in_words(rows: Iterable[tuple[str, str]]) -> str:
    """Each script once, with its TensorFlows."""
    found: dict[str, list[str]] = {}
    for name, version in sorted(rows):
        found.setdefault(name, []).append(version)
    return ", ".join(f"`{name}` ({', '.join(versions)})" for name, versions in found.items())


def scripts(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# The charts.


def pictures(chosen: Sequence[Sample]) -> dict[str, str]:
    """Each chart by the name of its file."""
    slow = statistics.counted(chosen)
    drawn = {}
    bars = [mean_bar(FAMILIES[family], of_family(slow, family)) for family in FAMILIES]
    bars.append(mean_bar("all", slow))
    kept = [one for one in bars if one is not None]
    if kept:
        drawn["families.svg"] = charts.gains("Geometric means of the gains", kept)
    for family, name in FAMILIES.items():
        rows = of_family(chosen, family)
        if rows and family != "demo":
            ordered = sorted(rows, key=lambda one: -statistics.compared(one).effect)
            drawn[f"{family}.svg"] = charts.gains(f"{name}: gains", [bar(one) for one in ordered])
    for one in pictured(chosen):
        drawn[growth_name(one)] = growth_chart(one)
    return drawn


def mean_bar(name: str, group: Sequence[Sample]) -> charts.Bar | None:
    if not group:
        return None
    count = len({one.script for one in group})
    return charts.Bar(
        f"{name}: {count} script{'s' * (count > 1)}", statistics.geometric_mean(group)
    )


def bar(one: Sample) -> charts.Bar:
    expert = None
    if one.expert != "none":
        after = EXPERT if one.expert == "timed" else REWRITTEN
        expert = statistics.compared(one, after=after).ratio.value
    name = f"{one.script} · {one.tensorflow}"
    return charts.Bar(name, statistics.compared(one).ratio, expert)


def growth_name(one: Sample) -> str:
    return f"growth-{one.script}.svg"


def growth_chart(one: Sample) -> str:
    memory = [value for curve in one.curves.values() for _, value in curve.memory_mb]
    steps = [value for curve in one.curves.values() for _, value in curve.step_s]
    panels = [
        ("Nodes of the graph", Unit(""), versions_of(one, "nodes")),
        ("Memory", memory_unit(memory), versions_of(one, "memory_mb")),
        ("Time of a step", seconds_unit(steps), versions_of(one, "step_s")),
    ]
    return charts.growth(f"{one.script} · TensorFlow {one.tensorflow}", panels)


def versions_of(one: Sample, name: str) -> list[tuple[str, Sequence[tuple[int, float]]]]:
    found = []
    for version in (ORIGINAL, REWRITTEN):
        points: Sequence[tuple[int, float]] = getattr(one.curves[version], name)
        # The first step holds what is made once, beside which nothing else would be seen.
        found.append((version, points[1:] if name == "step_s" else points))
    return found


# Small parts.


def of_family(chosen: Iterable[Sample], family: str) -> list[Sample]:
    found = [one for one in chosen if one.family == family]
    return sorted(found, key=lambda one: (one.script, one.tensorflow))


def table(header: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join((f"| {' | '.join(header)} |", "|---" * len(header) + "|", *rows))


def picture(name: str, said: str) -> str:
    return f"![{said}](results/charts/{name})\n"


def cost(one: Sample, version: str, figure: Callable[[Process], float]) -> str:
    return words.seconds(statistics.middle(one, version, figure))


def gain(ratio: Ratio) -> str:
    return f"{words.factor(ratio.value)} ({words.interval(ratio)})"


def unique(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def in_a_line(one: Sample) -> str:
    before, after = (cost(one, version, statistics.step) for version in (ORIGINAL, REWRITTEN))
    found = f"{one.script} on {one.tensorflow}: {before} -> {after}, {one.way}"
    return f"{found}, {gain(statistics.compared(one).ratio)}; of the expert's {share(one)}"


# The README.


def with_figures(text: str, chosen: Sequence[Sample], due: Due) -> str:
    """The README with the figures that the samples give; as it is, if it has no place for them."""
    before, mark, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not mark or not end:
        return text
    return f"{before}{mark}{figures(chosen, due)}{end}{after}"


def figures(chosen: Sequence[Sample], due: Due) -> str:
    """What the README says of the demo and of the corpus."""
    lines = []
    for one in of_family(chosen, "demo"):
        ratio = statistics.compared(one).ratio
        lines.append(
            f"- this script on TensorFlow {one.machine.tensorflow}: a step is {ratio.value:.2f}"
            f" times as fast (95% interval {words.interval(ratio)})"
        )
    slow = statistics.counted(chosen)
    if slow:
        mean = statistics.geometric_mean(slow)
        count = len({one.script for one in slow})
        measured = {one.script for one in chosen}
        more = " measured so far" if {name for name, _ in due.rows} - measured else ""
        lines.append(
            f"- {words_of(count)} of the corpus{more}: {mean.value:.1f} times in the geometric"
            f" mean ({mean.low:.1f} to {mean.high:.1f})"
        )
    return "\n".join(lines) + "\n"


def words_of(count: int) -> str:
    return "the slow script" if count == 1 else f"the {count} slow scripts"
