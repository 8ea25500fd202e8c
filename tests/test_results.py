"""The page of results says what the samples say, and samples are those of the corpus as it is."""

from __future__ import annotations

import math
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import corpus_gain
import pytest
import results_charts as charts
import results_page as page
import results_samples as samples
import results_statistics as statistics
from corpus_gain import Timed
from results_samples import EXPERT, ORIGINAL, REWRITTEN, Curve, Due, Machine, Process, Sample

from corpus_cases import CASES, Case
from tfrewrite.verify.model import Ratio, TimedRun, Version

MACHINE = Machine("A processor", 1, "Linux", "3.11.7", "2.21.0")
ORDER = (EXPERT, REWRITTEN, ORIGINAL, ORIGINAL, REWRITTEN, EXPERT)


def sample(
    script: str = "a_script",
    *,
    tensorflow: str = "2.21",
    family: str = "1",
    rewritten: float = 0.5,
    expert: float | None = 0.5,
    rounds: int = 4,
    noise: float = 0.01,
    steps: bool = True,
    curves: dict[str, Curve] | None = None,
) -> Sample:
    """The original takes a second for a step."""
    source = random.Random(len(script))  # noqa: S311
    costs = {ORIGINAL: 1.0, REWRITTEN: rewritten, EXPERT: expert or 0.0}
    versions = [one for _ in range(rounds // 2) for one in ORDER if costs[one]]
    processes = []
    for version in versions:
        cost = costs[version] * math.exp(source.gauss(0, noise))
        process = Process(version, 100, 2.0, 3 * cost, cost, 9 + cost * 100, 300.0, 0.5)
        processes.append(process if steps else replace(process, step_s=None, first_step_s=0.0))
    flat = Curve(((1, 80), (100, 80)), ((1, 200.0), (100, 200.0)), ((1, 3.0), (2, 1.0), (50, 1.0)))
    return Sample(
        script=script,
        title="A script",
        tensorflow=tensorflow,
        rules=("TFR101",),
        family=family,
        digest=f"digest of {script}",
        probe="probe",
        taken="2026-01-01",
        machine=MACHINE,
        way="steady" if steps else "whole",
        expert="none" if expert is None else "timed",
        processes=tuple(processes),
        curves=curves or {ORIGINAL: flat, REWRITTEN: flat},
    )


GROWING = Curve(
    ((1, 100), (50, 500), (100, 900)),
    ((1, 200.0), (100, 400.0)),
    ((1, 9.0), (2, 0.1), (50, 0.5), (100, 1.0)),
)


# What is published.


def test_the_page_is_what_the_samples_say() -> None:
    chosen = samples.read()
    expected = page.render(chosen, samples.read_due(), page.read_tools())
    assert page.PAGE.read_text() == expected, "make results brings it up to date"


def test_the_charts_are_what_the_samples_say() -> None:
    drawn = page.pictures(samples.read())
    kept = {path.name: path.read_text() for path in page.CHARTS.glob("*.svg")}
    assert kept == drawn, "make results brings them up to date"


def test_the_readme_is_what_the_samples_say() -> None:
    text = page.README.read_text()
    assert page.MARKS[0] in text
    assert text == page.with_figures(text, samples.read(), samples.read_due()), (
        "make results brings it up to date"
    )


def test_the_readme_has_no_other_figures_of_speed() -> None:
    before, _, rest = page.README.read_text().partition(page.MARKS[0])
    text = before + rest.partition(page.MARKS[1])[2]
    assert re.findall(r"[0-9.]+ ?(?:times|ms|µs|s\b|x\b|MB)", text) == []


def test_each_chart_of_the_page_is_there() -> None:
    shown = [part.partition(")")[0] for part in page.PAGE.read_text().split("](results/charts/")]
    assert set(shown[1:]) == {path.name for path in page.CHARTS.glob("*.svg")}


def test_samples_have_the_names_of_their_files() -> None:
    names = {path.name for path in samples.SAMPLES.glob("*.json")}
    assert names == {samples.file_name(one) for one in samples.read()}


# Which samples are still true.


def subject(tmp_path: Path, name: str = "a_script", text: str = "print(1)\n") -> samples.Subject:
    texts = {ORIGINAL: text, REWRITTEN: "print(1 )\n"}
    return samples.Subject(
        name, "A script", "2.21", ("TFR101",), "1", tmp_path, "original.py", texts
    )


def on_both(tmp_path: Path, name: str) -> list[samples.Subject]:
    one = subject(tmp_path, name)
    return [replace(one, tensorflow=version) for version in samples.TIMED_ON]


def of_subject(one: samples.Subject, probe: str = "probe") -> Sample:
    return replace(sample(one.name), digest=one.digest, probe=probe)


def test_a_sample_is_kept_under_a_new_name(tmp_path: Path) -> None:
    old, new = subject(tmp_path, "old_name"), subject(tmp_path, "new_name")
    samples.write(of_subject(old), tmp_path)
    kept = samples.adopt([new], "probe", tmp_path)
    assert [one.script for one in kept] == ["new_name"]
    assert [path.name for path in tmp_path.iterdir()] == ["new_name-2.21.json"]
    assert samples.due(on_both(tmp_path, "new_name"), kept, 4) == [("new_name", "1.15")]


def test_two_scripts_may_change_names(tmp_path: Path) -> None:
    first, second = subject(tmp_path, "first", "1\n"), subject(tmp_path, "second", "2\n")
    for one in (first, second):
        samples.write(of_subject(one), tmp_path)
    now = [replace(first, name="second"), replace(second, name="first")]
    samples.adopt(now, "probe", tmp_path)
    found = {one.script: one.digest for one in samples.read(tmp_path)}
    assert found == {"second": first.digest, "first": second.digest}


def test_a_changed_script_is_due_and_its_sample_stays_meanwhile(tmp_path: Path) -> None:
    samples.write(of_subject(subject(tmp_path)), tmp_path)
    changed = subject(tmp_path, text="print(2)\n")
    kept = samples.adopt([changed], "probe", tmp_path)
    assert kept == []
    assert ("a_script", "2.21") in samples.due([changed], kept, 1)
    assert [one.script for one in samples.read(tmp_path)] == ["a_script"]


def test_a_changed_probe_makes_samples_due(tmp_path: Path) -> None:
    one = subject(tmp_path)
    samples.write(of_subject(one, "an older probe"), tmp_path)
    assert samples.adopt([one], "probe", tmp_path) == []


def test_the_sample_of_a_script_that_is_gone_goes(tmp_path: Path) -> None:
    samples.write(of_subject(subject(tmp_path, "gone", "0\n")), tmp_path)
    samples.adopt([subject(tmp_path)], "probe", tmp_path)
    assert samples.read(tmp_path) == []


def test_fewer_rounds_than_asked_are_too_few(tmp_path: Path) -> None:
    one = subject(tmp_path)
    kept = [of_subject(one)]
    assert samples.due([one], kept, 4) == []
    assert samples.due([one], kept, 5) == [("a_script", "2.21")]


def test_what_was_never_measured_is_due_first(tmp_path: Path) -> None:
    found = [row for name in ("one", "two") for row in on_both(tmp_path, name)]
    few = replace(of_subject(found[0]), tensorflow="1.15")
    assert samples.due(found, [few], 5) == [
        ("two", "1.15"),
        ("one", "2.21"),
        ("two", "2.21"),
        ("one", "1.15"),
    ]


def test_each_text_counts_and_the_name_does_not(tmp_path: Path) -> None:
    one = subject(tmp_path)
    assert one.digest == replace(one, name="other", title="Other").digest
    for version in samples.VERSIONS:
        assert one.digest != replace(one, texts={**one.texts, version: "pass\n"}).digest
    assert one.digest != replace(one, timed_loop=2).digest


def test_what_is_written_is_read(tmp_path: Path) -> None:
    one = sample(noise=0.0, curves={ORIGINAL: GROWING, REWRITTEN: GROWING})
    samples.write(one, tmp_path)
    assert samples.read(tmp_path) == [one]


def test_the_demo_is_a_subject() -> None:
    demo = samples.demo("1.15")
    assert demo.texts[ORIGINAL] != demo.texts[REWRITTEN]
    assert demo.family == "demo"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_corpus_gives_subjects(case: Case) -> None:
    if case.is_left_alone or case.fails or set(case.rules) <= samples.NOT_FOR_SPEED:
        assert not samples.is_timed(case)
        return
    on_request = bool(case.request or case.allow)
    for version in samples.timed_on(case):
        one = samples.subject_of(case, version)
        assert one.family == ("request" if on_request else case.rules[0][3])
        assert set(one.texts) >= {ORIGINAL, REWRITTEN}  # and has a piece to make longer in each
        assert (one.texts[ORIGINAL] != one.texts[REWRITTEN]) == bool(one.rules)


def test_what_a_tensorflow_does_by_itself_is_not_timed(tmp_path: Path) -> None:
    rows = {(case.name, "2.21") for case in CASES if case.rules == ("TFR301",)}
    done = samples.others(samples.subjects()).done_already
    assert rows and rows <= set(done)
    told = page.left_out([], samples.Due(done_already=(("a_script", "2.21"),)))
    assert "leaves alone what that one does itself: `a_script` (2.21)" in told[1]


# What the samples say.


def test_a_script_counts_once() -> None:
    rows = [
        sample("one", tensorflow="1.15", rewritten=1.0, noise=0.0),
        sample("one", tensorflow="2.21", rewritten=0.25, noise=0.0),
        sample("other", rewritten=0.125, noise=0.0),
    ]
    mean = statistics.geometric_mean(rows)
    assert mean.value == pytest.approx(4.0)  # of 2, which is of 1 and 4, and 8
    assert mean.low == pytest.approx(4.0)


def test_the_interval_is_as_wide_as_the_noise() -> None:
    quiet = statistics.geometric_mean([sample(name, noise=0.01) for name in "abc"])
    noisy = statistics.geometric_mean([sample(name, noise=0.1) for name in "abc"])
    assert quiet.low < quiet.value < quiet.high
    assert quiet.high / quiet.low < 1.05 < noisy.high / noisy.low


def test_intervals_hold_the_truth() -> None:
    held = 0
    for trial in range(60):
        rows = [sample("x" * (10 * trial + size), noise=0.05) for size in range(1, 5)]
        mean = statistics.geometric_mean(rows)
        held += mean.low <= 2.0 <= mean.high
    assert held >= 51  # of 60: 57 are expected, and fewer are chance in one of 200 cases


def verdicts(chosen: list[Sample]) -> list[bool | None]:
    return [one.holds for one in statistics.goals(chosen)]


def test_all_goals_hold() -> None:
    assert verdicts([sample("a", rewritten=0.1, expert=0.1), sample("b", rewritten=0.2)]) == [
        True,
        True,
        True,
    ]


def test_each_goal_can_fail() -> None:
    fast = sample("fast", rewritten=0.01, expert=0.01)
    assert verdicts([sample("a", rewritten=0.5)]) == [False, True, True]
    assert verdicts([fast, sample("slow", rewritten=1.2, expert=None)]) == [True, False, True]
    assert verdicts([fast, sample("b", rewritten=0.5, expert=0.2)]) == [True, True, False]


def test_what_is_within_chance_is_not_shown() -> None:
    unsure = sample("noisy", rewritten=0.25, expert=None, noise=0.2)
    assert verdicts([unsure])[0] is None
    near = sample("near", rewritten=0.7, expert=0.68, noise=0.1)
    assert statistics.share_of_expert(near) is not None
    assert not statistics.is_told_from_expert(near)


def test_what_may_lose_is_kept_only_where_it_is_faster() -> None:
    same = sample("same", family="request", rewritten=1.0, noise=0.0)
    for rules, kept in ((("TFR102",), "drops"), (("TFR105",), "keeps")):
        assert page.fate(replace(same, rules=rules)) == kept
        assert page.fate(replace(sample(rewritten=0.5, noise=0.0), rules=rules)) == "keeps"
        assert page.fate(replace(sample(rewritten=2.0, noise=0.0), rules=rules)) == "drops"


def test_what_is_on_request_has_no_part_in_the_goals() -> None:
    asked = sample("asked", family="request", rewritten=2.0)
    assert verdicts([sample("fast", rewritten=0.1, expert=0.1), asked]) == [True, True, True]
    assert verdicts([asked]) == []


def test_the_share_of_an_expert_who_saves_nothing_is_not_told() -> None:
    assert statistics.share_of_expert(sample(rewritten=0.9, expert=0.99, noise=0.0)) is None
    assert statistics.share_of_expert(sample(rewritten=0.9, expert=None)) is None
    one = sample(rewritten=0.6, expert=0.5, noise=0.0)
    assert statistics.share_of_expert(one) == pytest.approx(0.8)


def test_an_expert_who_writes_the_same_has_the_same_times() -> None:
    one = replace(sample(expert=None), expert="same")
    assert statistics.share_of_expert(one) == 1.0
    assert statistics.goals([one])[2].holds


# The page.


def test_the_page_tells_what_is_there_and_what_is_not() -> None:
    rows = [
        sample("grows", curves={ORIGINAL: GROWING, REWRITTEN: sample().curves[REWRITTEN]}),
        sample("slower", family="2", rewritten=1.5, expert=None),
        sample("less", family="4", rewritten=0.5, expert=0.2),
        sample("asked", family="request"),
        sample("no_steps", family="4", steps=False),
    ]
    due = Due((("new", "1.15"), ("new", "2.21"), ("less", "2.21")), 7, ("other",))
    text = page.render(rows, due, None)
    assert text == page.render(rows, due, None)
    for part in (
        "## On request",
        "| slower | 2.21 |",
        "**slower**",
        "%, less |",
        "| no_steps (whole run) |",
        "| grows | 2.21 | 100 | 100 | 900 | 80 |",
        "3 pairs of a script and a TensorFlow are not measured yet",
        "- Not measured yet: `new` (1.15, 2.21).",
        "- Changed since they were measured: `less` (2.21).",
        "- 7 scripts that tfrewrite leaves alone",
        "- Not rewritten to be faster: `other`.",
    ):
        assert part in text


def test_a_page_of_nothing_says_so() -> None:
    assert "Nothing has been measured yet." in page.render([], Due(), None)


def test_the_readme_gets_its_figures() -> None:
    text = f"before\n{page.MARKS[0]}old\n{page.MARKS[1]}\nafter\n"
    rows = [sample("tfrewrite demo", family="demo"), sample("a")]
    made = page.with_figures(text, rows, Due())
    assert made.startswith(f"before\n{page.MARKS[0]}- this script on TensorFlow 2.21.0: a step is")
    assert "- the slow script of the corpus: " in made
    unfinished = page.with_figures(text, rows, Due((("b", "1.15"),)))
    assert "- the slow script of the corpus measured so far: " in unfinished
    assert made.endswith(f"{page.MARKS[1]}\nafter\n")
    assert page.with_figures("no place\n", rows, Due()) == "no place\n"


# The charts.


def test_charts_are_svg_with_the_names_and_figures_as_text() -> None:
    bars = [charts.Bar("a <b>", Ratio(85.0, 80.0, 90.0), 86.0), charts.Bar("c", Ratio(1, 1, 1))]
    drawn = charts.gains("Gains & more", bars)
    tree = ET.fromstring(drawn)  # noqa: S314  our own
    texts = [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a <b>", "85x", "c", "1x", "Gains & more"} <= set(texts)
    assert "nan" not in drawn


def test_growth_is_drawn_with_both_versions() -> None:
    one = sample("grows", curves={ORIGINAL: GROWING, REWRITTEN: sample().curves[REWRITTEN]})
    drawn = page.growth_chart(one)
    assert ET.fromstring(drawn).tag.endswith("svg")  # noqa: S314  our own
    assert drawn.count('class="curve original"') == drawn.count('class="curve rewritten"') == 4
    assert "prefers-color-scheme: dark" in drawn


# What is measured.


def timed(version: str, steps_s: list[float], turns: int | None = None) -> Timed:
    run = TimedRun(
        Version.ORIGINAL, 0, 1.0, steps_s[0] if steps_s else 0.0, tuple(steps_s), 9, 1, 0
    )
    ends = sum(steps_s[1:]) / ((turns or len(steps_s)) * (1 - 1 / len(steps_s))) if steps_s else 0
    return Timed(version, run, turns or len(steps_s), ends if len(steps_s) >= 5 else None)


def test_steady_steps_tell_what_a_step_costs() -> None:
    way, costs = corpus_gain.step_costs(
        [timed(ORIGINAL, [9.0] + [1.0] * 20), timed(REWRITTEN, [9.0] + [0.5] * 20)]
    )
    assert (way, costs) == ("steady", [1.0, 0.5])


def test_several_batches_in_a_step_are_told_by_the_turns() -> None:
    way, costs = corpus_gain.step_costs(
        [timed(ORIGINAL, [1.0] * 40), timed(REWRITTEN, [4.0] * 10, turns=40)]
    )
    assert way == "mean"
    assert costs == [pytest.approx(1.0), pytest.approx(1.0)]


def test_too_few_steps_tell_nothing() -> None:
    few = [timed(ORIGINAL, [1.0] * 3), timed(REWRITTEN, [1.0] * 3)]
    assert corpus_gain.step_costs(few) == ("whole", [None, None])
    assert corpus_gain.step_costs([timed(ORIGINAL, []), timed(REWRITTEN, [])])[0] == "whole"


def test_curves_are_kept_in_few_points() -> None:
    assert corpus_gain.thinned([5.0, 6.0, 7.0]) == ((1, 5.0), (2, 6.0), (3, 7.0))
    assert corpus_gain.thinned([]) == ()
    many = corpus_gain.thinned([float(place) for place in range(1000)])
    assert (len(many), many[0], many[-1]) == (60, (1, 0.0), (1000, 999.0))
    steps = corpus_gain.binned([9.0] + [1.0] * 600)
    assert steps[0] == (1, 9.0)
    assert len(steps) == 61


@pytest.mark.tensorflow
def test_a_script_is_measured(
    tmp_path: Path, tf1_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(samples.INTERPRETERS, "1.15", tf1_python)
    (tmp_path / "original.py").write_text(SCRIPT)
    one = replace(
        subject(tmp_path),
        tensorflow="1.15",
        texts={ORIGINAL: SCRIPT, REWRITTEN: SCRIPT.replace("for each", "once")},
    )
    found = corpus_gain.measured(one, 2, "probe")
    assert [len(found.of(version)) for version in (ORIGINAL, REWRITTEN)] == [2, 2]
    assert (found.way, found.expert, found.rounds) == ("steady", "none", 2)
    assert found.machine.tensorflow == "1.15.5"
    assert all(run.turns == 40 and run.step_s for run in found.processes)
    assert len(found.curves[ORIGINAL].nodes) == 40
    assert "a_script on 1.15" in page.in_a_line(found)


@pytest.mark.tensorflow
def test_a_script_that_fails_is_no_sample(
    tmp_path: Path, tf1_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(samples.INTERPRETERS, "1.15", tf1_python)
    broken = "raise SystemExit('broken')\n"
    (tmp_path / "original.py").write_text(broken)
    texts = {ORIGINAL: broken, REWRITTEN: broken}
    one = replace(subject(tmp_path), tensorflow="1.15", texts=texts)
    with pytest.raises(corpus_gain.RunFailedError, match="broken"):
        corpus_gain.measured(one, 2, "probe")


SCRIPT = """\
import tensorflow as tf
w = tf.Variable([1.0])
step = w.assign_add([1.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(40):  # for each
        sess.run(step)
"""
