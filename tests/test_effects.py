"""The effects table: what it says of symbols whose effect is known, traps first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from own_programs import ROOT, program
from tfrewrite.analysis.effects import Effect, effect_of, tensorflow_versions

TABLE = ROOT / "tfrewrite" / "analysis" / "effects.json"


def effect(symbol: str, version: Any = "1") -> Effect:
    found = effect_of(symbol, version)
    assert found is not None, f"{symbol} is not in the table"
    return found


# ---- traps -----------------------------------------------------------------------------------


def test_an_unknown_symbol_is_unknown_and_not_pure() -> None:
    assert effect_of("no.such.symbol") is None
    assert effect_of("train.NoSuchOptimizer.minimize", "1") is None


def test_batch_normalization_updates_are_not_beneath_its_result() -> None:
    layer = effect("layers.batch_normalization")
    assert not layer.writes
    assert layer.registers
    assert layer.creates
    # contrib's, with updates_collections=None, has them beneath.
    assert effect("contrib.layers.batch_norm").writes


def test_dropout_that_is_off_by_default_still_counts_as_random() -> None:
    assert effect("layers.dropout").random
    assert effect("keras.layers.Dropout.__call__").random


def test_metrics_write_beneath_what_they_return() -> None:
    accuracy = effect("metrics.accuracy")
    assert accuracy.writes
    assert accuracy.creates
    assert not accuracy.pure


def test_reading_from_a_collection_is_not_pure_because_anything_may_be_in_it() -> None:
    for symbol in ("summary.merge_all", "losses.get_total_loss", "global_variables_initializer"):
        assert effect(symbol).collections, symbol
        assert not effect(symbol).pure, symbol


def test_a_collection_that_is_handed_out_is_not_pure_either() -> None:
    for symbol in ("get_collection", "get_collection_ref"):
        assert effect(symbol).collections, symbol
        assert not effect(symbol).leaves_no_trace, symbol


def test_what_adds_to_a_collection_of_the_caller_s_leaves_a_trace() -> None:
    for symbol in ("add_to_collection", "add_to_collections"):
        assert effect(symbol).registers, symbol
        assert not effect(symbol).leaves_no_trace, symbol


def test_a_graph_that_has_a_global_step_is_asked_for_it_too() -> None:
    # In an empty graph the answer is None, and nothing is read.
    step = effect("train.get_global_step")
    assert step.reads
    assert step.returns_tensor
    assert not step.creates
    both = effect("train.get_or_create_global_step")
    assert both.reads
    assert both.creates


def test_what_takes_a_function_is_not_known_from_the_table_alone() -> None:
    for symbol in ("cond", "while_loop", "map_fn", "py_func", "scan", "data.Dataset.map"):
        assert effect(symbol).calls, symbol
        assert not effect(symbol).pure, symbol


def test_an_optional_function_is_named_and_does_not_make_the_symbol_unknown() -> None:
    dense = effect("layers.dense")
    assert "activation" in dense.callables
    assert not dense.calls


def test_a_square_waits_for_its_argument_but_may_be_computed_after_the_update() -> None:
    # On a ref variable the update may change the buffer before the loss itself has read it.
    loss = effect("nn.l2_loss")
    assert loss.waits_for("t")
    assert "t" not in loss.completes
    assert "features" in effect("nn.relu").completes


def test_the_gradient_of_inference_batch_norm_does_not_wait_for_its_input() -> None:
    assert not effect("layers.batch_normalization").waits_for("inputs")


def test_what_a_derivative_is_made_of_is_not_told_by_a_sample() -> None:
    for symbol in ("gradients", "hessians"):
        for version in ("1", "2"):
            assert effect(symbol, version).op is None
            assert not effect(symbol, version).gradient


def test_loops_keep_their_arrays_to_themselves() -> None:
    rnn = effect("nn.dynamic_rnn")
    assert not rnn.writes
    assert rnn.reads


# ---- flags -----------------------------------------------------------------------------------

PURE = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "boolean_mask",
    "cast",
    "clip_by_norm",
    "clip_by_value",
    "concat",
    "contrib.seq2seq.sequence_loss",
    "cos",
    "decode_raw",
    "diag",
    "div",
    "equal",
    "exp",
    "expand_dims",
    "fill",
    "floor",
    "gather",
    "gather_nd",
    "greater",
    "io.decode_raw",
    "io.parse_sequence_example",
    "io.parse_single_sequence_example",
    "log",
    "logical_and",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "nn.bias_add",
    "nn.conv2d",
    "nn.elu",
    "nn.l2_loss",
    "nn.l2_normalize",
    "nn.leaky_relu",
    "nn.log_softmax",
    "nn.max_pool",
    "nn.moments",
    "nn.relu",
    "nn.sigmoid_cross_entropy_with_logits",
    "nn.softmax",
    "nn.softmax_cross_entropy_with_logits",
    "nn.sparse_softmax_cross_entropy_with_logits",
    "nn.tanh",
    "one_hot",
    "ones_like",
    "pad",
    "pow",
    "parse_single_sequence_example",
    "range",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "reshape",
    "sigmoid",
    "slice",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string_join",
    "strings.format",
    "strings.join",
    "strings.substr",
    "substr",
    "subtract",
    "summary.merge",
    "tile",
    "transpose",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
    "image.resize_images",
    "train.exponential_decay",
]


@pytest.mark.parametrize("symbol", PURE)
def test_pure(symbol: str) -> None:
    found = effect(symbol)
    assert found.stateless, sorted(found.flags)
    assert found.returns_tensor
    assert found.leaves_no_trace


RANDOM = [
    "nn.dropout",
    "layers.dropout",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "random_shuffle",
    "multinomial",
    "random.uniform",
    "image.random_flip_left_right",
    "image.random_brightness",
    "random_crop",
    "contrib.layers.dropout",
    "data.Dataset.shuffle",
    "nn.nce_loss",
    "train.shuffle_batch",
]


@pytest.mark.parametrize("symbol", RANDOM)
def test_random(symbol: str) -> None:
    assert effect(symbol).random
    assert not effect(symbol).pure


WRITES = [
    "assign",
    "assign_add",
    "assign_sub",
    "scatter_update",
    "Variable.assign",
    "Variable.assign_add",
    "train.AdamOptimizer.minimize",
    "train.GradientDescentOptimizer.apply_gradients",
    "metrics.mean",
    "data.Iterator.get_next",
    "train.batch",
    "train.ExponentialMovingAverage.apply",
    "FIFOQueue.enqueue",
]


@pytest.mark.parametrize("symbol", WRITES)
def test_writes(symbol: str) -> None:
    assert effect(symbol).writes
    assert not effect(symbol).pure


def test_taking_the_next_element_is_told_from_other_writes() -> None:
    for symbol in ("data.Iterator.get_next", "FIFOQueue.dequeue", "train.batch"):
        assert effect(symbol).iterates, symbol
    assert not effect("assign").iterates


def test_creating_and_reading_variables() -> None:
    for symbol in ("Variable", "get_variable", "layers.dense", "layers.conv2d"):
        assert effect(symbol).creates, symbol
        assert effect(symbol).reads, symbol
        assert not effect(symbol).stateless, symbol
        assert effect(symbol).pure, symbol
    assert effect("Variable.read_value").reads
    assert not effect("Variable.read_value").creates


def test_effects_on_the_host() -> None:
    for symbol in ("py_func", "Print", "print", "read_file", "write_file"):
        assert effect(symbol).host, symbol


def test_modules_that_are_never_called_are_taken_for_the_worst() -> None:
    assert effect("gfile.Remove").host
    assert effect("Session").host
    assert not effect("Session").returns_tensor


def test_what_may_fail_on_its_data() -> None:
    assert effect("check_numerics").asserts
    assert effect("assert_equal").asserts
    assert not effect("matmul").asserts


def test_what_returns_no_tensor() -> None:
    for symbol in ("train.AdamOptimizer", "layers.Dense", "float32", "zeros_initializer"):
        assert not effect(symbol).returns_tensor, symbol


def test_layers_are_known_by_their_call() -> None:
    assert effect("layers.Dense.__call__").creates
    assert effect("keras.layers.Dense.__call__").op == "BiasAdd"


# ---- op, alias, gradient ---------------------------------------------------------------------


def test_the_op_that_makes_the_result() -> None:
    assert effect("matmul").op == "MatMul"
    assert effect("nn.bias_add").op == "BiasAdd"
    assert effect("argmax").op == "ArgMax"


def test_results_that_are_their_input_s_own_buffer() -> None:
    for symbol in ("identity", "reshape", "squeeze", "expand_dims", "stop_gradient"):
        assert effect(symbol).alias, symbol
    for symbol in ("matmul", "add", "square", "nn.relu", "reduce_mean"):
        assert not effect(symbol).alias, symbol


GRADIENTS = [
    ("argmax", "input", "none"),
    ("stop_gradient", "input", "none"),
    ("equal", "x", "none"),
    ("cast", "x", "none"),
    ("reduce_mean", "input_tensor", "constant"),
    ("reduce_sum", "input_tensor", "constant"),
    ("add", "x", "constant"),
    ("subtract", "y", "constant"),
    ("matmul", "a", "constant"),
    ("matmul", "b", "constant"),
    ("nn.bias_add", "bias", "constant"),
    ("nn.conv2d", "input", "constant"),
    ("reshape", "tensor", "constant"),
    ("multiply", "x", "constant"),
    ("nn.dropout", "x", "constant"),
    ("square", "x", "value"),
    ("exp", "x", "value"),
    ("reduce_max", "input_tensor", "value"),
    ("nn.l2_loss", "t", "value"),
    ("nn.relu", "features", "value"),
    ("nn.softmax", "logits", "value"),
    ("nn.softmax_cross_entropy_with_logits", "logits", "value"),
    ("nn.sparse_softmax_cross_entropy_with_logits", "logits", "value"),
    ("nn.sigmoid_cross_entropy_with_logits", "logits", "value"),
    ("losses.mean_squared_error", "predictions", "value"),
    ("layers.dense", "inputs", "constant"),
    ("layers.dense", "*", "constant"),
]


@pytest.mark.parametrize(("symbol", "argument", "kind"), GRADIENTS)
def test_gradient(symbol: str, argument: str, kind: str) -> None:
    assert effect(symbol).gradient[argument] == kind


# ---- versions --------------------------------------------------------------------------------


def test_versions_are_kept_apart_where_they_differ() -> None:
    assert effect_of("placeholder", "2") is None
    assert effect_of("Variable.assign", "2") is not None
    assert effect_of("compat.v1.placeholder") == effect_of("placeholder", "1")
    assert tensorflow_versions()["1"].startswith("1.15")
    assert tensorflow_versions()["2"].startswith("2.")


def test_names_that_keras_2_had_are_known_in_version_2() -> None:
    assert effect("keras.losses.mean_squared_error", "2") == effect("keras.losses.MSE", "2")
    assert effect("losses.mean_absolute_error", "2") == effect("losses.MAE", "2")
    # TensorFlow 1 has another function of that name, which registers what it gives.
    assert effect("losses.mean_squared_error", "1").registers
    assert effect_of("losses.mean_squared_error") == effect_of("losses.mean_squared_error", "1")


def test_without_a_version_the_worse_of_both_holds() -> None:
    both = effect_of("nn.dropout")
    assert both is not None
    assert both.flags >= effect("nn.dropout", "1").flags | effect("nn.dropout", "2").flags


@pytest.mark.parametrize(
    "symbol",
    [
        "io.decode_raw",
        "io.parse_sequence_example",
        "io.parse_single_sequence_example",
        "roll",
        "strings.format",
        "strings.join",
        "strings.substr",
    ],
)
def test_what_functions_of_tf_data_use_is_known_in_version_2(symbol: str) -> None:
    assert effect(symbol, "2").stateless


def test_either_keeps_what_holds_in_both() -> None:
    a = Effect(
        frozenset({"random", "not-tensor"}),
        op="A",
        gradient={"x": "value", "y": "none"},
        completes=frozenset("x"),
    )
    b = Effect(frozenset({"reads"}), op="B", alias=True, gradient={"x": "constant"})
    both = a.either(b)
    assert both == b.either(a)
    assert both.flags == {"random", "reads"}
    assert both.op is None
    assert both.alias
    assert both.gradient == {"x": "constant"}
    assert both.completes == frozenset()


# ---- the generator ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return program("tools/generate_effects.py")


def symbols_of(text: str) -> dict[str, Any]:
    return {s: group["effect"] for group in json.loads(text)["effects"] for s in group["symbols"]}


def test_rendering_depends_on_nothing_but_the_content(generator: ModuleType) -> None:
    symbols: dict[str, dict[str, Any]] = {"b": {"op": "B", "flags": ["random"]}, "a": {"flags": []}}
    backwards = {k: dict(reversed(v.items())) for k, v in reversed(symbols.items())}
    versions = {"1": "1.15.5", "2": "2.21.0"}
    text = generator.render(versions, symbols)
    assert text == generator.render(dict(reversed(versions.items())), backwards)
    assert symbols_of(text) == symbols
    assert text.index('"a"') < text.index('"b"')


def test_the_checked_in_table_is_what_the_generator_writes(generator: ModuleType) -> None:
    table = json.loads(TABLE.read_text())
    assert table["schema"] == generator.SCHEMA
    assert generator.render(table["tensorflow"], symbols_of(TABLE.read_text())) == TABLE.read_text()
    assert TABLE.stat().st_size < 600_000


def test_what_is_merged_from_two_releases_is_no_better_than_either(generator: ModuleType) -> None:
    old = {"flags": ["random"], "op": "Mul", "gradient": {"x": "value"}, "completes": ["x"]}
    new = {"flags": ["reads"], "op": "Select", "gradient": {"x": "constant", "y": "value"}}
    assert generator.weaker(old, new) == {
        "flags": ["random", "reads"],
        "gradient": {"x": "constant"},
    }
    table = generator.combine({"f": old}, {"f": new}, {"f": new, "g": new})
    assert table["f"]["v"] == "1"
    assert table["v2:f"] == new
    assert table["v2:g"] == new


def test_an_interrupted_probe_is_taken_up_behind_the_symbol_that_crashed(
    generator: ModuleType, tmp_path: Path
) -> None:
    raw = tmp_path / "raw.jsonl"
    raw.write_text('{"begin": "a"}\n{"symbol": "a", "flags": []}\n{"begin": "b"}\n{"sym')
    done, begun = generator.read_lines(raw)
    assert list(done) == ["a"]
    assert begun == "b"


# ---- the table against TensorFlow itself -----------------------------------------------------

SAMPLE = [
    "nn.dropout",
    "matmul",
    "reduce_mean",
    "nn.l2_loss",
    "assign_add",
    "layers.dropout",
    "argmax",
]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("variable", "label"), [("TFREWRITE_TF1_PYTHON", "tf1"), ("TFREWRITE_TF2_PYTHON", "tf2")]
)
def test_probing_again_gives_what_is_checked_in(
    generator: ModuleType, tmp_path: Path, variable: str, label: str
) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no TensorFlow interpreter")
    api = "1" if label == "tf1" else "2"
    listing = tmp_path / "list.json"
    generator.call(python, "list", api, str(listing), home=tmp_path)
    known = json.loads(listing.read_text())["symbols"]
    symbols = [s for s in SAMPLE if s in known]
    assert len(symbols) >= 3
    records = generator.probe(python, api, symbols, tmp_path / "raw.jsonl")
    for symbol in symbols:
        live = generator.effect_of(symbol, records[symbol])
        expected = effect(symbol, api)
        # The plain keys hold for 1.15 and for compat.v1 of TensorFlow 2, so they may say less.
        assert set(live.get("flags", ())) <= expected.flags, symbol
        assert live.get("op") == expected.op or expected.op is None, symbol
        for argument, kind in expected.gradient.items():
            measured = live.get("gradient", {}).get(argument)
            assert measured == kind or generator.WORST[kind] <= generator.WORST[measured], symbol


def test_the_table_loads_without_tensorflow() -> None:
    code = (
        "import sys\n"
        "from tfrewrite.analysis.effects import effect_of\n"
        "assert effect_of('matmul') is not None\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
