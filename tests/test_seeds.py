"""The examples of the five articles that the project began with, and what becomes of each.

The articles are 000 `sess.run` is slow, 001 time grows with each iteration, 002 slow after 1500
iterations and much memory, 003 slower after each epoch, 004 the first step is slow. A row names a
script of the corpus of the same shape, which test_corpus.py runs, and what the tool makes of it.
The script's folder is named for article and example, with a letter where an example has several.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from corpus_cases import CASES, Case, rewrite
from tfrewrite.engine import rewrite_text
from tfrewrite.model import Kind, Outcome, Status
from tfrewrite.registry import all_rules

HERE = Path(__file__).resolve().parent
FOLDERS = {case.name: case for case in CASES}


@dataclass(frozen=True)
class Row:
    """One example, by article and number, and one script of its shape."""

    example: str
    case: str
    rewrites: tuple[str, ...] = ()
    """The rules that rewrite it, those that the folder asks for among them."""
    reports: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    """Contracts that are only offered by default, with what would change in words."""


ROWS = [
    # 000: an update with its loss, then an accuracy; merged; tensors that are fed.
    Row("000-1", "article_000_1_accuracy_after_update", ("TFR101",), offers=("shifted",)),
    Row("000-2", "article_000_2_feed_slices", ("TFR102",)),
    Row("000-3", "article_000_3_tensors_fed", ("TFR109",)),
    # 001: ops made in a loop, eager and in graph mode; constants made beforehand; a trace.
    Row("001-1", "article_001_1a_ops_in_eager_loop", ("TFR205",)),
    Row("001-1", "article_001_1b_losses_read_late", ("TFR206",)),
    Row("001-1", "article_001_1c_metrics_built_in_loop", ("TFR103",)),
    Row("001-2", "article_001_2_constants_beforehand"),
    Row("001-3", "article_001_3a_trace_without_values", reports=("TFR208", "TFR209")),
    Row("001-3", "article_001_3b_tracing_effects", reports=("TFR209",)),
    # 002: a pipeline and a tape; gradients gathered, wrongly and rightly; mixed precision.
    Row("002-1", "article_002_1_pipeline_and_tape", ("TFR202", "TFR302")),
    Row("002-2", "article_002_2a_gradients_lost", ("TFR202",), reports=("TFR211",)),
    Row("002-2", "article_002_2b_gradients_gathered", ("TFR202", "TFR206")),
    Row("002-2", "article_002_2c_gradients_gathered_step", ("TFR201", "TFR206")),
    Row("002-3", "article_002_3a_fit_in_half_precision", ("TFR601",)),
    Row("002-3", "article_002_3b_half_precision_refused"),
    # 003: a compiled step with arguments; `period`; what is left behind.
    Row("003-1", "article_003_1_step_with_arguments"),
    Row("003-2", "article_003_2a_checkpoint_period", ("TFR404",)),
    Row("003-2", "article_003_2b_checkpoint_every_fifth", reports=("TFR404",)),
    Row("003-3", "article_003_3_files_left_behind", reports=("TFR502",)),
    # 004: `fit`; weights set by hand; a compiled step without a result.
    Row("004-1", "article_004_1a_fit_as_it_is"),
    Row("004-1", "article_004_1b_fit_batches_at_once", ("TFR403",)),
    Row("004-1", "article_004_1c_fit_for_xla", ("TFR210",)),
    Row("004-2", "article_004_2_weights_by_hand"),
    Row("004-3", "article_004_3_step_without_result"),
]

# What the articles explain, and the test of the report that shows it measured.
EXPLAINED = {
    "000: runs and bytes fed per step, time outside of TensorFlow": (
        "test_verify_traffic.py",
        "test_it_is_said_in_words",
    ),
    "001: nodes of the graph, traces, slope of the step's time": (
        "test_verification_reports.py",
        "test_text_of_a_pass",
    ),
    "001: nodes of a graph that grows, in runs": (
        "test_verify_growth.py",
        "test_nodes_and_memory_of_a_graph_that_grows",
    ),
    "001: traces, in runs": (
        "test_verify_growth.py",
        "test_traces_of_a_function_that_gets_numbers",
    ),
    "002: peak memory": ("test_verification_reports.py", "test_json_has_all_there_is"),
    "002: how much more memory it is with each step": (
        "test_verify_growth.py",
        "test_how_memory_went",
    ),
    "003: traces of a step that gets its model": (
        "test_verify_growth.py",
        "test_traces_of_a_step_that_gets_its_model",
    ),
    "004: the first step apart from the steady state": (
        "test_verify_timing.py",
        "test_first_step_start_up_and_whole_run_are_told_apart",
    ),
}


def case_of(row: Row) -> Case:
    assert row.case in FOLDERS, f"{row.example}: there is no corpus/{row.case}"
    return FOLDERS[row.case]


def applied(outcome: Outcome) -> list[str]:
    assert outcome.status is not Status.FAILED, outcome.error
    return sorted({one.rule for one in outcome.findings if one.applicable})


def test_every_example_has_its_row() -> None:
    examples = {f"00{article}-{number}" for article in range(5) for number in (1, 2, 3)}
    assert {row.example for row in ROWS} == examples


def test_every_folder_is_named_for_its_example() -> None:
    named = {(name[:13], name) for name in FOLDERS if name.startswith("article_")}
    assert named == {(f"article_{row.example.replace('-', '_')}", row.case) for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.example} {row.case}")
def test_what_becomes_of_it(row: Row) -> None:
    case = case_of(row)
    outcome = rewrite(case)
    assert applied(outcome) == sorted(row.rewrites)
    told = {one.rule for one in outcome.findings if one.kind is Kind.REPORT}
    assert told == set(row.reports)
    assert case.tensorflow, "it is run by test_corpus.py"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.example} {row.case}")
def test_what_becomes_of_it_by_default(row: Row) -> None:
    outcome = rewrite(case_of(row), by_default=True)
    asked_for = {rule.code for rule in all_rules() if rule.on_request}
    assert applied(outcome) == sorted(() if row.offers else set(row.rewrites) - asked_for)
    offered = [one for one in outcome.findings if one.kind is Kind.REWRITE and not one.applicable]
    assert [one.contract.value for one in offered if one.contract] == list(row.offers)
    assert all(one.changes for one in offered)


def test_what_a_report_of_a_trace_says() -> None:
    """The two reports of 001-3 on one call, by what they name; the rule alone would not tell."""
    outcome = rewrite(FOLDERS["article_001_3a_trace_without_values"])
    printed, read = (one.message for one in outcome.findings if one.rule == "TFR209")
    assert "prints only when `chain` is traced" in printed
    assert "`tf.print`" in printed
    assert "`tf.reduce_sum(x).numpy()` raises when `chain` is traced" in read


def test_a_step_with_arguments_is_refused_where_it_is_called_with_several_models() -> None:
    """003-1 before somebody compiled it: with one model it is compiled, with two it is refused."""
    compiled = (FOLDERS["article_003_1_step_with_arguments"].folder / "original.py").read_text()
    assert compiled.count("@tf.function\n") == 1
    eager = compiled.replace("@tf.function\n", "")
    rules = [rule for rule in all_rules() if rule.code == "TFR201"]
    one = rewrite_text(eager, rules, path="original.py")
    assert one.after == compiled
    call = "        error = learn(x, kind, classifier, descent)\n"
    made = "classifier = tf.keras.Sequential("
    assert (eager.count(call), eager.count(made)) == (1, 1)
    other = next(line for line in eager.splitlines(keepends=True) if line.startswith(made))
    more = eager.replace(call, call + call.replace("classifier", "other"))
    more = more.replace(other, other + other.replace("classifier", "other"))
    several = rewrite_text(more, rules, path="original.py")
    assert several.after == more
    assert [refusal.reason for refusal in several.refusals] == ["two-objects"]


def test_what_piles_up_is_never_deleted() -> None:
    assert all(not rule.contracts for rule in all_rules() if rule.code == "TFR502")


@pytest.mark.parametrize(("file", "test"), EXPLAINED.values(), ids=EXPLAINED)
def test_what_an_article_explains_is_measured(file: str, test: str) -> None:
    assert f"def {test}(" in (HERE / file).read_text()
