"""Reports on verifications say what was found out, and what scripts wrote changes none of them."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import verification_samples as samples
from tfrewrite.model import Contract
from tfrewrite.reports.markup import prose
from tfrewrite.reports.safe import printable
from tfrewrite.reports.verification import html, json_report, markdown, text, words
from tfrewrite.verify.model import Compared, Kind, Ratio, Verdict, Verification

ONE_OF_EACH = {
    "pass": samples.passing(),
    "fail": samples.failing(),
    "inconclusive": samples.inconclusive(),
    "slower": samples.slower(),
    "no speed": samples.without_speed(),
    "odd": samples.odd_numbers(),
}


def refuse(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def read(verifications: tuple[Verification, ...]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json_report.render(verifications), parse_constant=refuse)
    return document


def test_text_of_a_pass() -> None:
    lines = text.render([samples.passing()]).splitlines()
    assert lines[0] == (
        "PASS  examples/mnist_softmax.py: Same numbers within rounding, and steps are 1.52 times "
        "as fast"
    )
    assert (
        lines[1]
        == "    All 5 observables stay within the noise envelope over 60 steps and 3 seeds."
    )
    report = "\n".join(lines)
    assert "numerics  pass [rounding]: at most 0.4 times the distance allowed\n" in report
    assert "60 steps, then the loops were ended; 3 seeds" in report
    assert re.search(r"steady state +1\.52  \(1\.47 to 1\.58\) +5\.\d\d ms -> 2\.\d\d ms\n", report)
    assert re.search(r"first step +0\.980  \(0\.910 to 1\.060\)", report)
    assert re.search(r"start-up +1\.002 ", report)
    assert re.search(r"whole run +1\.12 ", report)
    assert re.search(r"control +1\.001 .* original against original\n", report)
    assert "growth    original   +910.0% step time in 1,000 steps, graph nodes 120 to 946" in report
    assert "rewritten  +0.1% step time in 1,000 steps, graph nodes 122, constant, 0 ret" in report
    assert "58 retraces, memory +53 MB in 59 steps, peak 471 MB\n" in report
    assert "0 retraces, memory +1 MB in 59 steps, peak 412 MB\n" in report
    assert "traffic   original   4 runs a step, 1.25 MB fed, 21% of a step outside" in report
    assert "rewritten  1 run a step, 0 bytes fed, 4% of a step outside of runs\n" in report
    assert "ran on    Python 3.7.17, TensorFlow 1.15.5, numpy 1.18.5, CPU, 2 cores" in report
    assert "note      TF_DETERMINISTIC_OPS could not be applied" in report
    assert "diverged" not in report
    assert "What to do" not in report


def test_text_of_a_failure() -> None:
    report = text.render([samples.failing()])
    assert report.startswith("FAIL  examples/cifar/train.py: ")
    assert (
        "diverged  step 4, cross_entropy:0 (fetched): original 0.69314718, rewritten 0.70121104; "
        "214 times the distance allowed\n"
    ) in report
    assert "    What to do: Leave out one rewrite after the other" in report
    assert "speed     not-measured: No equivalence, no speed figure.\n" in report
    assert report.count("At step 4 the loss") == 1


def test_text_of_a_run_that_failed() -> None:
    report = text.render([samples.inconclusive()])
    assert report.startswith("INCONCLUSIVE  legacy/rnn.py: ")
    assert "      | ModuleNotFoundError: No module named 'sonnet'\n" in report
    long = replace(samples.inconclusive(), output="".join(f"line {n}\n" for n in range(1000)))
    report = text.render([long])
    assert "The last 20 lines of what it wrote:\n      | line 980\n" in report
    assert len(report.splitlines()) < 30


def test_text_of_several() -> None:
    several = samples.several()
    lines = text.render(several).splitlines()
    verdicts = [line.split("  ")[0] for line in lines if not line.startswith(" ")]
    assert verdicts[:-1] == ["PASS", "FAIL", "INCONCLUSIVE", "PASS", "PASS"]
    assert lines[-1] == "3 passes, 1 failure, 1 inconclusive in 5 scripts (2 min 49 s)"
    assert "    What to do: Name an interpreter that has what the script needs: --python PATH." in (
        lines
    )
    assert len(text.render(several, quiet=True).splitlines()) == 6
    assert text.render(several, verbose=True).count("    took ") == 5
    assert text.render([]) == "nothing verified in 0 scripts (0.00 µs)\n"


def test_json_has_all_there_is() -> None:
    document = read((samples.passing(),))
    assert document["schema_version"] == 1
    assert document["verdict"] == "pass"
    assert document["summary"] == {"scripts": 1, "pass": 1, "fail": 0, "inconclusive": 0}
    (one,) = document["verifications"]
    assert one["script"] == "examples/mnist_softmax.py"
    assert one["diff"] == samples.DIFF
    assert [change["outcome"] for change in one["changes"]] == ["kept", "kept, judged as rounding"]
    numerics = one["numerics"]
    assert (numerics["verdict"], numerics["contract"]) == ("pass", "rounding")
    assert numerics["worst_ratio_to_envelope"] == 0.4
    assert numerics["diverged"] is None
    assert len(numerics["observables"]) == 5
    assert len(numerics["observables"][0]["points"]) == 60
    speed = one["speed"]
    assert speed["verdict"] == "faster"
    assert (speed["ratio"], speed["ci95"]) == (
        speed["steady_state"]["ratio"],
        speed["steady_state"]["ci95"],
    )
    for part in ("first_step", "start_up", "whole_run", "control"):
        assert speed[part]["ci95"][0] < speed[part]["ratio"] < speed[part]["ci95"][1]
    measured = samples.speed().runs
    assert [run["steps_s"] for run in speed["runs"]] == [list(run.steps_s) for run in measured]
    assert one["growth"]["original"]["retraces"] == 58
    assert len(one["growth"]["rewritten"]["graph_nodes"]) == 60
    assert one["growth"]["original"]["traffic"]["runs_a_step"] == 4
    assert one["growth"]["rewritten"]["traffic"]["outside_of_runs"] == 0.04
    assert one["environment"]["tensorflow"] == "1.15.5"
    assert one["elapsed_s"] == 41.7


def test_json_of_what_is_missing_or_diverged() -> None:
    document = read(samples.several())
    assert document["verdict"] == "fail"
    _, failed, unknown, _, quick = document["verifications"]
    assert failed["numerics"]["diverged"] == {
        "step": 4,
        "observable": "cross_entropy:0",
        "kind": "fetched",
        "original": "0.69314718",
        "rewritten": "0.70121104",
        "ratio_to_envelope": 214.3,
    }
    assert failed["speed"]["verdict"] == "not-measured"
    assert (failed["speed"]["ratio"], failed["speed"]["ci95"]) == (None, None)
    assert failed["growth"] == {"original": None, "rewritten": None}
    assert unknown["numerics"] is unknown["speed"] is unknown["environment"] is None
    assert unknown["output"].endswith("No module named 'sonnet'\n")
    assert quick["speed"] is None
    assert read(())["verdict"] == "inconclusive"


def test_json_is_strict_and_stable() -> None:
    odd = samples.odd_numbers()
    rendered = json_report.render([odd])
    assert rendered.isascii()
    assert rendered == json_report.render([samples.odd_numbers()])
    (one,) = read((odd,))["verifications"]
    assert one["elapsed_s"] == "Infinity"
    assert one["numerics"]["worst_ratio_to_envelope"] == "NaN"
    assert one["growth"]["rewritten"]["step_time_slope"] == "-Infinity"
    assert one["speed"]["runs"][0]["steps_s"] == ["Infinity", "NaN", 1e308, 0.0, 5e-324]


@pytest.mark.parametrize("hostile", samples.HOSTILE)
def test_json_gives_the_text_itself(hostile: str) -> None:
    rendered = json_report.render([samples.hostile(hostile)])
    assert rendered.isascii()
    assert not re.search(r"\\ud[89a-f]..(?!\\u)", rendered), "a lone surrogate"
    (one,) = json.loads(rendered)["verifications"]
    whole = hostile.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    assert one["headline"] == one["environment"]["python"] == whole


@pytest.mark.parametrize("hostile", samples.HOSTILE)
@pytest.mark.parametrize("verbose", [False, True])
def test_text_holds_nothing_that_a_terminal_obeys(hostile: str, verbose: bool) -> None:  # noqa: FBT001
    report = text.render([samples.hostile(hostile)] * 2, verbose=verbose)
    report.encode("utf-8")
    for line in report.removesuffix("\n").split("\n"):
        assert printable(line) == line
        assert len(line) < 1_100
    if "[bold" in hostile:
        assert "[bold red]x[/]" in report


def test_markdown() -> None:
    report = markdown.render([samples.passing()])
    assert report.startswith(
        "#### ✅ **PASS** <code>examples/mnist&#95;softmax&#46;py</code>: Same"
    )
    assert "| <code>TFR101</code> merge&#45;session&#45;runs | 42 | rounding | kept | two" in report
    assert re.search(r"\n\| steady state \| 5\.\d+ ms \| 2\.\d+ ms \| 1\.52 \| 1\.47 to 1", report)
    assert "\n| control |  |  | 1.001 | 0.984 to 1.019 |\n" in report
    assert f"<details><summary>Diff</summary>\n\n```diff\n{samples.DIFF}```\n\n</details>" in report
    report = markdown.render([samples.failing()])
    assert "**Diverged:** <code>cross&#95;entropy&#58;0</code> at step 4, 214 times" in report
    assert "| <code>0.69314718</code> | <code>0.70121104</code> |" in report
    assert "| exact | broken by these together |" in report
    report = markdown.render(samples.several())
    assert report.startswith(
        "### ❌ Verification: 3 passes, 1 failure, 1 inconclusive in 5 scripts"
    )
    assert report.count("\n#### ") == 5
    assert markdown.render([]).startswith("### ⚠️ Verification: nothing verified")


@pytest.mark.parametrize("hostile", samples.HOSTILE)
def test_markdown_means_what_the_text_says(hostile: str) -> None:
    report = markdown.render([samples.hostile(hostile)])
    report.encode("utf-8")
    outside, fence = [], ""
    for line in report.split("\n"):
        if fence:
            assert printable(line) == line
            fence = "" if line == fence else fence
            continue
        opened = re.fullmatch(r"(`{3,})(diff)?", line)
        fence = opened[1] if opened else ""
        if not opened:
            outside.append(line)
    assert not fence
    prose = "\n".join(outside)
    tags = set(re.findall(r"<[^>]*>", prose))
    assert tags == {"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"}
    assert prose.count("<details>") == prose.count("</details>") == 2
    rows = [line.count("|") for line in outside if line.startswith("|")]
    assert set(rows) <= {3, 6, 7}, "a cell was divided"
    for sign in ("`", "@", "[bold", "[link", "https:", "www.", "{{", "onerror=", "__"):
        assert sign not in prose
    assert not re.search(r"(?<!&)#(?!#|\d|\s)", prose)


def test_markdown_calls_nobody() -> None:
    assert prose("@a #1") == "&#64;&#8203;a &#35;&#8203;1"
    assert prose("1. a") == "1&#46; a"
    assert prose("1) a") == "1&#41; a"
    assert prose("    code") == "code"
    assert prose("step 1.5 (x), y; z.") == "step 1.5 (x), y; z."


@pytest.mark.parametrize("limit", [60_000, 20_000, 9_000, 3_000, 500])
def test_markdown_fits_into_a_comment(limit: int) -> None:
    long = "".join(f"+{'`' * (n % 90)}{n}\n" for n in range(5_000))
    subject = replace(samples.subject(), diff=f"@@ -0,0 +1,5000 @@\n{long}")
    several = [replace(one, subject=subject) for one in samples.several()]
    report = markdown.render(several, limit=limit)
    assert len(report) <= limit
    assert "FAIL" in report
    if limit == 60_000:
        assert report.count("more lines, in the other reports") == 5
    if limit == 500:
        assert report.endswith("more\n")


def test_the_verdict_on_all_is_the_worst() -> None:
    passing, failing, unknown = samples.passing(), samples.failing(), samples.inconclusive()
    assert words.overall([]) is Verdict.INCONCLUSIVE
    assert words.overall([passing]) is Verdict.PASS
    assert words.overall([passing, unknown]) is Verdict.INCONCLUSIVE
    assert words.overall([unknown, failing, passing]) is Verdict.FAIL


def test_the_outcome_of_a_rewrite_claims_no_more_than_was_shown() -> None:
    exact = replace(samples.changes()[0], contract=Contract.EXACT)
    passing, failing = samples.passing(), samples.failing()
    assert passing.numerics
    assert words.outcome(exact, passing) == "kept, judged as rounding"
    same = replace(passing.numerics, compared=(samples.compared("a", scale=0),))
    assert words.outcome(exact, replace(passing, numerics=same)) == "kept"
    nothing = replace(passing.numerics, compared=())
    assert words.outcome(exact, replace(passing, numerics=nothing)) == "kept, judged as rounding"
    assert words.outcome(exact, failing) == "broken by these together"
    alone = replace(failing, subject=replace(failing.subject, changes=(exact,)))
    assert words.outcome(exact, alone) == "broken"
    assert words.outcome(exact, samples.inconclusive()) == "not shown"


def test_the_worst_comes_first() -> None:
    def one(name: str, verdict: Verdict, worst: float) -> Compared:
        return Compared(name, Kind.READ, (), verdict, worst)

    order = words.worst_first(
        [
            one("a", Verdict.PASS, 0.9),
            one("b", Verdict.FAIL, 2.0),
            one("c", Verdict.FAIL, math.nan),
            one("d", Verdict.INCONCLUSIVE, 1.0),
            one("e", Verdict.FAIL, 3.0),
        ]
    )
    assert [each.name for each in order] == ["c", "e", "b", "d", "a"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0.00 µs"),
        (4.56e-7, "0.46 µs"),
        (0.00123, "1.23 ms"),
        (0.0999, "99.9 ms"),
        (59.5, "59.5 s"),
        (169.3, "2 min 49 s"),
        (7200.0, "2.0 h"),
        (math.inf, "unknown"),
        (math.nan, "unknown"),
        (1e300, "1.00e+300 s"),
    ],
)
def test_durations(value: float, said: str) -> None:
    assert words.seconds(value) == said


def test_numbers() -> None:
    assert words.number(12_300.4) == "12,300"
    assert words.number(0.000_012) == "1.20e-05"
    assert words.number(math.nan) == "not a number"
    assert words.factor(1.0042) == "1.004"
    assert words.factor(math.inf) == "infinite"
    assert words.interval(Ratio(1.2, 1.05, 1.35)) == "1.05 to 1.35"
    assert words.memory(512.4) == "512 MB"
    assert words.memory(12_512.4) == "12.51 GB"
    assert words.slope(math.nan) == "unknown"
    assert words.nodes([5, 5]) == "5, constant"
    assert words.clipped("abc", 2) == "ab... (1 more characters)"


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_report_can_be_made(name: str) -> None:
    one = ONE_OF_EACH[name]
    assert one.headline in text.render([one])
    assert prose(one.headline) in markdown.render([one])
    assert read((one,))["verifications"][0]["headline"] == one.headline


def test_only_the_page_needs_jinja(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom tfrewrite.reports.verification import json_report, markdown, text\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert not {"jinja2", "markupsafe", "rich", "libcst"} & set(done.stdout.split())


def test_the_times_beside_a_ratio_are_those_that_it_is_of() -> None:
    found = samples.passing()
    assert found.speed is not None and found.speed.steady is not None
    steady = replace(found.speed.steady, times_s=(0.008, 0.004))
    judged = replace(found, speed=replace(found.speed, steady=steady))
    assert "8.00 ms -> 4.00 ms" in text.render([judged])
    assert "8.00 ms" in markdown.render([judged])


def test_what_has_no_step_is_said_to_have_none() -> None:
    found = samples.failing()
    assert found.numerics is not None and found.numerics.divergence is not None
    divergence = replace(found.numerics.divergence, step=0, kind=Kind.PRINTED, observable="loss #")
    printed = replace(found, numerics=replace(found.numerics, divergence=divergence))
    for render in (text.render, markdown.render, html.render):
        assert "step 0" not in render([printed])
    assert "diverged  loss # (printed)" in text.render([printed])


def test_times_that_were_not_taken_do_not_grow() -> None:
    found = samples.passing()
    untimed = replace(
        found, growth=tuple(replace(one, step_time_slope=math.nan) for one in found.growth)
    )
    assert "step time in 1,000 steps" not in text.render([untimed])
    assert "step time in 1,000 steps" in text.render([found])
