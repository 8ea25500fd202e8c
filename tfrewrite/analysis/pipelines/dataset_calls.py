"""Which calls make a dataset, and what each of them does that a rule may ask about."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.program.names import Names, tf_symbol

if TYPE_CHECKING:
    from tfrewrite.analysis.pipelines.stages import Stage

TRANSFORMATIONS = frozenset(
    [
        "apply",
        "batch",
        "bucket_by_sequence_length",
        "cache",
        "concatenate",
        "enumerate",
        "filter",
        "filter_with_legacy_function",
        "flat_map",
        "group_by_window",
        "ignore_errors",
        "interleave",
        "map",
        "map_with_legacy_function",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "rebatch",
        "rejection_resample",
        "repeat",
        "scan",
        "shard",
        "shuffle",
        "skip",
        "snapshot",
        "sparse_batch",
        "take",
        "take_while",
        "unbatch",
        "unique",
        "window",
        "with_options",
    ]
)
"""Methods of a dataset that give another one."""

_SOURCES = frozenset(
    [
        "Dataset.from_tensors",
        "Dataset.from_tensor_slices",
        "Dataset.from_generator",
        "Dataset.from_sparse_tensor_slices",
        "Dataset.range",
        "Dataset.zip",
        "Dataset.list_files",
        "Dataset.random",
        "Dataset.counter",
        "Dataset.sample_from_datasets",
        "Dataset.choose_from_datasets",
        "Dataset.load",
        "TFRecordDataset",
        "TextLineDataset",
        "FixedLengthRecordDataset",
        "experimental.CsvDataset",
        "experimental.SqlDataset",
        "experimental.RandomDataset",
        "experimental.Counter",
        "experimental.make_csv_dataset",
        "experimental.make_batched_features_dataset",
        "experimental.sample_from_datasets",
        "experimental.choose_from_datasets",
        "experimental.from_list",
        "CsvDataset",
        "SqlDataset",
        "Counter",
        "make_csv_dataset",
        "make_batched_features_dataset",
        "sample_from_datasets",
    ]
)
KERAS_SOURCES = (
    "image_dataset_from_directory",
    "text_dataset_from_directory",
    "audio_dataset_from_directory",
    "timeseries_dataset_from_array",
)

SELF_PREFETCHING = frozenset(
    {
        "make_csv_dataset",
        "make_batched_features_dataset",
        "tensorflow_datasets.load",
        *KERAS_SOURCES,
    }
)
"""Sources that read ahead by themselves, at least in some versions."""

ALREADY_AHEAD = frozenset({"prefetch", "prefetch_to_device", "distribute"}) | SELF_PREFETCHING
"""What ends in reading ahead. A distributed dataset does so for each of its replicas."""

KEEPING_THE_END = frozenset(
    [
        "cache",
        "repeat",
        "take",
        "skip",
        "with_options",
        "enumerate",
        "assert_cardinality",
        "enumerate_dataset",
    ]
)
"""What costs next to nothing, so that a prefetch just before it is as good as one after it."""

WORKLESS = (KEEPING_THE_END - {"cache"}) | frozenset(
    [
        "from_tensors",
        "from_tensor_slices",
        "range",
        "counter",
        "Counter",
        "random",
        "RandomDataset",
        "from_list",
        "zip",
        "shard",
    ]
)
"""What takes so little that nothing is gained by doing it ahead."""

WITH_FUNCTIONS = frozenset(
    [
        "bucket_by_sequence_length",
        "filter",
        "filter_with_legacy_function",
        "flat_map",
        "group_by_window",
        "group_by_reducer",
        "interleave",
        "map",
        "map_and_batch",
        "map_with_legacy_function",
        "parallel_interleave",
        "rejection_resample",
        "scan",
        "take_while",
        "snapshot",
    ]
)
"""Transformations that call a function of the script on the elements."""

PLAIN_TRANSFORMATIONS = frozenset(
    [
        "assert_cardinality",
        "batch",
        "cache",
        "concatenate",
        "copy_to_device",
        "dense_to_ragged_batch",
        "dense_to_sparse_batch",
        "enumerate",
        "enumerate_dataset",
        "ignore_errors",
        "padded_batch",
        "prefetch",
        "prefetch_to_device",
        "ragged_batch",
        "rebatch",
        "repeat",
        "shard",
        "shuffle",
        "shuffle_and_repeat",
        "skip",
        "sparse_batch",
        "take",
        "unbatch",
        "unique",
        "window",
        "with_options",
    ]
)
"""Transformations that run nothing of the script."""

_FUNCTIONS = frozenset(
    [
        "map_func",
        "predicate",
        "key_func",
        "reduce_func",
        "window_size_func",
        "element_length_func",
        "scan_func",
        "class_func",
        "reader_func",
        "shard_func",
    ]
)

_PEEK = 10

BATCHING = frozenset({"batch", "padded_batch"})

FILE_SOURCES = frozenset(
    [
        "TFRecordDataset",
        "TextLineDataset",
        "FixedLengthRecordDataset",
        "CsvDataset",
        "SqlDataset",
        "list_files",
        "make_csv_dataset",
        "make_batched_features_dataset",
        "load",
    ]
)

SHOWS_DATASET = frozenset(
    {"num_parallel_calls", "drop_remainder", "padded_shapes", "reshuffle_each_iteration"}
)
"""Arguments by which a transformation of something unknown is seen to be tf.data's."""


def source_name(names: Names, call: ast.Call) -> str | None:
    """The short name of the source that a call makes; None where it is none."""
    path = names.dotted(call.func)
    if path is None:
        return None
    if path == "tensorflow_datasets.load":
        return path
    symbol = tf_symbol(path)
    if symbol is None:
        return None
    short = symbol.rpartition(".")[2]
    if symbol.startswith("keras.") and short in KERAS_SOURCES:
        return short
    data = symbol.removeprefix("contrib.")
    if data.startswith("data.") and data.removeprefix("data.") in _SOURCES:
        return short
    return None


def transformation_of(names: Names, call: ast.Call) -> tuple[str, ast.Call]:
    """The name of a dataset's method, seen through `apply`, and the call with its arguments."""
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr != "apply":
        return call.func.attr, call
    inner = call.args[0] if call.args else None
    symbol = names.tf(inner.func) if isinstance(inner, ast.Call) else None
    if symbol is None or not isinstance(inner, ast.Call):
        return "apply", call
    known = symbol.startswith(("data.experimental.", "contrib.data."))
    return (symbol.rpartition(".")[2], inner) if known else ("apply", call)


def functions_given(stage: Stage) -> list[ast.expr]:
    """The functions of the script that a transformation calls on the elements."""
    if stage.name not in WITH_FUNCTIONS:
        return []
    first, last = {"scan": (1, 2), "snapshot": (0, 0)}.get(stage.name, (0, 1))
    if stage.name.startswith("group_by"):
        last = 3
    plain = (ast.Constant, ast.List, ast.Tuple, ast.Dict)
    positional = [one for one in stage.making.args[first:last] if not isinstance(one, plain)]
    return positional + [k.value for k in stage.making.keywords if k.arg in _FUNCTIONS]


def is_peek(expr: ast.expr) -> bool:
    """Whether a dataset is but the first few elements of another: `ds.take(1)`."""
    match expr:
        case ast.Call(func=ast.Attribute(attr="take"), args=[ast.Constant(value=int() as count)]):
            return 0 <= count <= _PEEK
    return False


def root_of(expr: ast.expr) -> ast.expr:
    """What a chain of methods begins with."""
    while isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
        if not isinstance(expr.func.value, (ast.Call, ast.Name)):
            break
        expr = expr.func.value
    return expr
