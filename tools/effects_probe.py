"""Builds TensorFlow's public symbols with sample arguments and notes what stands beneath the result.

Runs inside the TensorFlow interpreter that is asked about (plain Python 3.6+, nothing imported but
the standard library, numpy and TensorFlow) and is started by `generate_effects.py`:

    effects_probe.py list  API OUT            every public symbol of that API, as JSON
    effects_probe.py probe API SYMBOLS OUT    one JSON line per symbol, appended to OUT
    effects_probe.py ops   API OUT            what the op registry says of each op
    effects_probe.py alias OPS OUT            which kernels pass their input's buffer on (1.15)

API is `1` (tf.* of TensorFlow 1, tf.compat.v1.* of TensorFlow 2; probed in a plain graph) or `2`
(tf.* of TensorFlow 2; probed in a FuncGraph, which is what tf.function traces into).

No symbol is classified by its name. What is chosen by hand is the *arguments* (by parameter name),
the modules that are not safe to call blindly, and a handful of ops that the registry calls stateful
and whose state is nobody's (see `HARMLESS`, `READ_OPS`).
"""

# Python 3.6 syntax, and calls of anything with anything: whatever is raised is an answer.
# ruff: noqa: ARG001, ARG005, B007, B905, BLE001, C401, D101, FBT002, FBT003, N818, PERF203, PERF401, PLC0415, PLR0915, PLW0108, PLW0603, PTH123, RET504, RSE102, RUF005, RUF059, S110, S112, S307, SIM105, TRY300, UP004, UP031, E501, RUF021, FURB110, RUF023

import contextlib
import functools
import inspect
import itertools
import json
import os
import re
import signal
import sys
import types
import typing
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import op_def_pb2, types_pb2  # noqa: E402
from tensorflow.python.framework import ops as tf_ops  # noqa: E402
from tensorflow.python.framework import tensor_util  # noqa: E402,F401

TF2 = int(tf.__version__.split(".")[0]) >= 2
v1 = tf.compat.v1

SYMBOL_SECONDS = 90
BASE_TRIES = 160
BASE_KEPT = 3
TOGGLE_TRIES = 90


# ---------------------------------------------------------------------------------------------
# The op registry
# ---------------------------------------------------------------------------------------------

# Registered as stateful so that they are not folded or deduplicated; they touch nothing that lives
# longer than the run.
HARMLESS = frozenset(
    """Empty DeepCopy GuaranteeConst GraphDefVersion RequiresOlderGraphVersion StatelessRandomGetAlg
    DtypeWithDefaultOp IsTensorFloat32Enabled DeviceIndex TensorArrayV2 TensorArrayGradV2
    If While Case StatefulPartitionedCall PartitionedCall RemoteCall ReduceDataset
    DatasetToSingleElement _Arg _Retval _If _While NonSerializableDataset""".split()
)
# TensorFlow registers five read-only resource ops (auto_control_deps_utils.RESOURCE_READ_OPS); these
# are the others that only look.
READ_OPS = frozenset(
    """ReadVariableOp VariableShape ResourceGather ResourceGatherNd _ReadVariablesOp
    VarIsInitializedOp IsVariableInitialized LookupTableFind LookupTableFindV2 LookupTableSize
    LookupTableSizeV2 LookupTableExport LookupTableExportV2 QueueSize QueueSizeV2 QueueIsClosed
    QueueIsClosedV2 IteratorToStringHandle IteratorGetDevice""".split()
)
ASSERTS = frozenset(["Assert", "CheckNumerics", "CheckNumericsV2"])
NEXT = re.compile(
    r"IteratorGetNext|Queue.*Dequeue|QueueDequeue|^ReaderRead|Unstage$|UnstageNoKey$|BarrierTakeMany"
)
FILE_ARGUMENT = re.compile(r"^(filenames?|file_?patterns?|prefix|file_name|dirname)$")


def all_ops():
    op_list = op_def_pb2.OpList()
    if TF2:
        from tensorflow.python.client import pywrap_tf_session as c
    else:
        from tensorflow.python import pywrap_tensorflow as c
    op_list.ParseFromString(c.TF_GetBuffer(c.TF_GetAllOpList()))
    return {op.name: op for op in op_list.op}


class Registry(object):
    """What TensorFlow itself says of an op, boiled down to flags."""

    def __init__(self):
        self.ops = all_ops()
        if TF2:
            from tensorflow.python.framework import auto_control_deps_utils

            self.reads = READ_OPS | frozenset(auto_control_deps_utils.RESOURCE_READ_OPS)
        else:
            self.reads = READ_OPS
        self._flags = {}

    def definition(self, name):
        return self.ops.get(name)

    def flags(self, name):
        if name not in self._flags:
            self._flags[name] = self._classify(name)
        return self._flags[name]

    def makes_handle(self, definition):
        return definition.is_stateful and any(
            a.is_ref or a.type == types_pb2.DT_RESOURCE for a in definition.output_arg
        )

    def local(self, name):
        """Is the resource that this op makes gone when the run is over?"""
        definition = self.ops.get(name)
        if definition is None or name.startswith(("Anonymous", "Placeholder", "_Arg")):
            return False
        return self.makes_handle(definition) and not any(
            a.name == "shared_name" for a in definition.attr
        )

    def _classify(self, name):
        if name in ASSERTS:
            return frozenset(["assert"])
        if name in self.reads:
            return frozenset(["reads"])
        if name in HARMLESS or name.startswith("Ref"):
            return frozenset()
        definition = self.ops.get(name)
        if definition is None:
            return frozenset(["host"])
        arguments = [a.name for a in definition.input_arg]
        names = set(arguments) | set(a.name for a in definition.attr)
        resources = [a for a in definition.input_arg if a.type == types_pb2.DT_RESOURCE]
        refs = [a for a in definition.input_arg if a.is_ref]
        # Files and nothing else have string inputs of these names.
        found = set()
        if name == "MatchingFiles" or any(
            FILE_ARGUMENT.match(a.name) and a.type == types_pb2.DT_STRING
            for a in definition.input_arg
        ):
            found.add("host")
        if "seed" in names and "seed2" in names:
            found.add("random")
        elif resources and ("algorithm" in names or "alg" in names):
            found.update(["random", "writes"])
        if refs or resources:
            if not (self.makes_handle(definition) and not refs and name.startswith("Anonymous")):
                found.add("writes")
            if NEXT.search(name):
                found.add("iterates")
            if "ummary" in name:
                found.add("host")
        elif definition.is_stateful and not found:
            outputs = [a.type for a in definition.output_arg]
            if "Stage" in name or "stage" in name:
                found.update(["writes"] + (["iterates"] if NEXT.search(name) else []))
            elif types_pb2.DT_VARIANT in outputs or self.makes_handle(definition):
                pass
            else:
                found.add("host")
        return frozenset(found)


REGISTRY = Registry()
STATELESS_RANDOM = re.compile(r"^Stateless(Random|Multinomial|Parameterized|Truncated|Sample)")


# ---------------------------------------------------------------------------------------------
# Sample arguments, chosen by the parameter's name
# ---------------------------------------------------------------------------------------------

# A token is a word that stands for a value made afresh in each graph. `f:4,4` is a float
# placeholder of that shape, likewise i (int32), l (int64), b (bool), s (string), c (complex64);
# `n:` is a numpy array, `[..;..]` a list, `=` a Python literal, `@` a made thing (see `Maker.made`).
F44, F4, F0, I4, I0, B44 = "f:4,4", "f:4", "f:", "i:4", "i:", "b:4,4"
IMAGE, SEQ, VOLUME = "f:2,8,8,3", "f:2,6,4", "f:2,6,6,6,3"
TENSORS = [
    F44,
    IMAGE,
    SEQ,
    F4,
    F0,
    VOLUME,
    "i:4,4",
    I4,
    I0,
    B44,
    "b:",
    "[f:4,4;f:4,4]",
    "s:4",
    "s:",
    "c:4,4",
    "u:8,8,3",
    "f:8,8,3",
    "n:4,4",
    "@sparse",
    "@ragged",
    "f:2,6",
    "l:4",
    "[f:2,4;f:2,4]",
    "c:8,8",
    "c:2,8,8,8",
]
CALLABLES = ["@identity", "@unary", "@const", "@binary", "@bool", "@pair", "@dataset_fn", "@accum"]

NAMES = [
    (
        r"^(dtype|out_type|Tout|output_type|type|float_type|T)$",
        ["=tf.float32", "=tf.int32", "=tf.uint8", "=tf.uint16"],
    ),
    (
        r"^(dtypes|types|output_types|tout|component_types|record_defaults)$",
        ["=[tf.float32]", "=tf.float32", "=[tf.float32, tf.float32]", "=[[1.0], [1.0]]"],
    ),
    (
        r"^(shapes|output_shapes|element_shapes)$",
        ["=[[4]]", "=[[]]", "=[tf.TensorShape([4])]", "=[4]"],
    ),
    (r"^(key_dtype)$", ["=tf.string"]),
    (r"^(value_dtype)$", ["=tf.float32", "=tf.int64"]),
    (
        r"^(shape|input_shape|batch_shape|dense_shape|output_shape|tensor_shape|new_shape|target_shape|event_shape|signal_shape|element_shape)$",
        [
            "=[4, 4]",
            "=[4]",
            "=[16]",
            "=[2, 8, 8, 3]",
            "=[2, 16, 16, 3]",
            "=[]",
            "=(4,)",
            "i:2",
            "=[2,2,2,2]",
            "=(8,8,3)",
        ],
    ),
    (
        r"^(size|new_size|glimpse_size|crop_size|target_size|resize_shape)$",
        ["=[6, 6]", "=4", "=[2, 2]", "i:2", "=[4,4,3]"],
    ),
    (
        r"^(axis|dim|dimension|axes|concat_dim|split_dim|batch_axis|seq_axis|seq_dim|reduction_indices)$",
        ["=0", "=1", "=-1", "=[0]", "=[0, 1]", "=[1, 2]", "=2"],
    ),
    (r"^(perm)$", ["=[1, 0]", "=[0]", "=[0, 2, 1]"]),
    (r"^(dims)$", ["=[1, 0]", "=(1,)", "=[4, 4]", "=[2, 1]"]),
    (r"^(multiples|repeats)$", ["=[1, 2]", "=[2]", "=2", "=[1, 1, 2, 1]"]),
    (r"^(paddings)$", ["=[[1, 1], [1, 1]]", "=[[0, 0], [1, 1], [1, 1], [0, 0]]", "=[[1, 1]]"]),
    (r"^(crops)$", ["=[[0, 0], [0, 0]]", "=[[0, 0]]"]),
    (r"^(block_size)$", ["=2"]),
    (r"^(block_shape)$", ["=[2, 2]", "=[2]"]),
    (r"^(begin)$", ["=[0, 0]", "=[0]", "=[0, 0, 0, 0]"]),
    (r"^(end)$", ["=[2, 2]", "=[2]"]),
    (r"^(num_or_size_splits)$", ["=2", "=[2, 2]"]),
    (
        r"^(depth|num_classes|num_units|units|num_outputs|num_splits?|num_out_channels|output_size|proj_units|vocab_size|num_buckets|num_oov_buckets|num_clusters|d_model|hidden_size|output_dim|input_dim|embedding_size|num_segments|num_rows|num_columns|n|num|k|count|batch_size|buffer_size|capacity|min_after_dequeue|num_shards|limit|minlength|maxlength|num_samples|num_true|num_sampled|range_max|maxlen|num_heads|key_dim|groups|max_norm_|window_size|row_length|frame_length|frame_step|fft_length|sampling_rate|num_mel_bins|nbins|max_outputs|num_features|cycle_length|decay_steps|first_decay_steps|decay_rate_steps|num_thresholds|rank|kernel_rank|num_epochs|num_threads|start_index|index|step|target_height|target_width|height|width|out_height|out_width|offset_height|offset_width|crop_height|crop_width|max_value_|num_groups|channels|num_channels|compression_level|row_pooling|cycles|levels|bins|max_tokens|num_bins|sequence_length_|output_mode_|resample_|dim_)$",
        ["=2", "=4", "=1", "=3", I0, "=8"],
    ),
    (
        r"^(filters|num_filters|num_output_channels)$",
        ["=4", "f:2,2,3,4", "f:2,2,3", "f:3,4,4", "f:2,2,2,3,4", "f:3,3,1", "=[[1]]", "f:2,2,4,3"],
    ),
    (
        r"^(filter|kernel|depthwise_filter)$",
        ["f:2,2,3,4", "f:3,4,4", "f:2,2,2,3,4", "f:2,2,3", "f:2,2,3,1", "f:2,2,4,3", F44],
    ),
    (r"^(pointwise_filter)$", ["f:1,1,3,4"]),
    (r"^(filter_sizes)$", ["=[2, 2, 3, 4]"]),
    (r"^(input_sizes)$", ["=[2, 8, 8, 3]"]),
    (r"^(kernel_size|pool_size|window_shape|window)$", ["=2", "=[2, 2]", "=[2]", "=[2, 2, 2]"]),
    (r"^(ksize|ksizes|sizes)$", ["=[1, 2, 2, 1]", "=2", "=[1, 2, 2, 2, 1]"]),
    (
        r"^(strides|stride)$",
        ["=1", "=[1, 1, 1, 1]", "=[1, 2, 2, 1]", "=[1, 1]", "=2", "=[1, 1, 1, 1, 1]"],
    ),
    (r"^(padding|padding_mode)$", ["='SAME'", "='same'", "='VALID'", "=1", "=((1, 1), (1, 1))"]),
    (r"^(pooling_type|pooling_mode)$", ["='MAX'", "='AVG'"]),
    (r"^(rates)$", ["=[1, 1, 1, 1]", "=[2, 2]"]),
    (r"^(dilations)$", ["=[1, 1, 1, 1]", "=[1, 1]", "=2"]),
    (r"^(rate)$", ["=0.5", "=2", F0, "=[1, 1]"]),
    (
        r"^(keep_prob|p|prob|probs|momentum|decay|alpha|epsilon|learning_rate|beta\d?|beta_\d|stddev|rho|decay_rate|end_learning_rate|margin|power|clip_norm|max_norm|clip_value_max|max_value|scale_factor|lam|factor|temperature|threshold|concentration|total_num_replicas_|initial_learning_rate|gain|adjustment_|contrast_factor|saturation_factor|quality_|gamma_|sigma|delta|l1|l2|lr)$",
        ["=0.5", F0, F4, "=2", F44, "=[0.1,0.2,0.3,0.4]"],
    ),
    (
        r"^(clip_value_min|minval|lower|min_value|min_quality|low|minimum)$",
        ["=0.1", "=1", F0, "=2"],
    ),
    (r"^(maxval|upper|max_quality|high|maximum)$", ["=0.9", "=5", "=8", F0]),
    (r"^(max_delta)$", ["=0.2"]),
    (r"^(keep_prob)$", ["=0.5"]),
    (
        r"^(target|targets|labels|y_true|true|label|class_ids|true_classes)$",
        [F44, I4, "i:4,4", "l:4,1", "@sparse_labels", F4, "b:4,4", "l:4", IMAGE],
    ),
    (
        r"^(logits|predictions|y_pred|output|log_probs|y_logit|estimates)$",
        [F44, F4, "f:6,2,4", "i:4,4", "i:4", IMAGE, "b:4,4"],
    ),
    (r"^(bias|biases)$", [F4, "f:3"]),
    (r"^(mean|variance|mean_ss|variance_ss|offset|scale|beta|gamma)$", [F4, "f:3", F0, F44]),
    (r"^(weights)$", [F44, F4, "f:", "f:3,4"]),
    (r"^(params)$", [F44, "f:8,4", "[f:4,4;f:4,4]"]),
    (r"^(cell|cell_fw|cell_bw|rnn_cell)$", ["@cell"]),
    (r"^(cells|cells_fw|cells_bw)$", ["@cells"]),
    (
        r"^(state|initial_state|prev_state)$",
        [
            "@state",
            "@state4",
            "@states",
            F44,
            "f:2,4",
            "[f:2,4;f:2,4]",
            "[f:4,4;f:4,4]",
            "i:3",
            "i:2",
        ],
    ),
    (
        r"^(sequence_length|seq_lengths|seq_lens|sequence_lengths|lengths|input_lengths|label_length|logit_length)$",
        ["i:2", I4],
    ),
    (
        r"^(ids|indices|sp_ids|segment_ids|index|positions|idx|at_indices|classes|sparse_indices|bucket_ids|row_splits|value_rowids|row_lengths|row_limits|indexed_)$",
        [I4, "i:4,1", "@sparse_ids", I0, "l:4,2", "[i:2;i:2]", "i:4,4", "=1", "l:5", "@indexed"],
    ),
    (r"^(partitions)$", [I4, "i:4,4"]),
    (r"^(condition|cond|pred|mask|masks|where|predicate)$", [B44, "b:4", "b:", "=True", "@bool"]),
    (
        r"^(.*_fn|fn|func|function|f|body|map_func|reduce_func|.*_func|callable|initializer_fn|generator|func_|predicate|python_function|fun|forward_fn|g|h|main|test_func|model_fn|kernel_fn|original_cell_|layer_fn|creator)$",
        CALLABLES,
    ),
    (
        r"^(initializer)$",
        ["=tf.zeros_initializer()", "=tf.compat.v1.random_normal_initializer()", F44, "@kv"],
    ),
    (r"^(default_value)$", ["=0.0", "=0", "=''", "=-1"]),
    (r"^(regularizer)$", ["@regularizer"]),
    (r"^(regularizer_list)$", ["[@regularizer;@regularizer]"]),
    (r"^(weights_list)$", ["[f:4,4;f:4]"]),
    (r"^(loop_vars|elems)$", [F44, "[f:;f:]", "[f:4;f:4]"]),
    (r"^(optimizer|opt)$", ["@optimizer", "='SGD'", "='sgd'"]),
    (r"^(loss|total_loss|objective)$", ["@loss", "='mse'", F0, "@loss_fn"]),
    (r"^(losses)$", ["[f:;f:]", "='mse'"]),
    (r"^(grads_and_vars|gradients)$", ["@grads_and_vars", "@resource_grads", "@shared_grads"]),
    (r"^(grads)$", ["@grads_list"]),
    (r"^(grad|grad_ys|delta)$", [F44, F0, F4]),
    (r"^(var_list|variables|trainable_variables|model_variables)$", ["@variables"]),
    (r"^(var_name|variable_name)$", ["='probe_variable'"]),
    (r"^(ref|var|variable|resource|variable_)$", ["@variable", "@ref", "@intvar", "@intvar0"]),
    (r"^(global_step)$", ["l:", I0, "=3", "@global_step"]),
    (r"^(updates)$", [F44, "f:4", "f:4,4", "[f:4,4;f:4,4]"]),
    (r"^ys$", ["@y_of_x"]),
    (r"^xs$", ["@x_of_y"]),
    (
        r"^(tensors|inputs|tensor_list|values|arrays|elements|components|args|tensor_in_|summaries|inp|operands|datasets|ops|control_inputs|tensor_dict|tensors_and_)$",
        [
            F44,
            "[f:4,4;f:4,4]",
            IMAGE,
            SEQ,
            F4,
            VOLUME,
            "=[0.1, 0.2, 0.3]",
            "[f:4;f:4]",
            "[s:;s:]",
            "[s:4;s:4]",
            "[f:;f:]",
            "s:4",
            "s:",
            "[@op;@op]",
            "[f:2,4;f:2,4]",
            I4,
            VOLUME,
            "@datasets",
            "n:4,4",
            "[f:4,4]",
            "@sparse",
            "c:8,8",
            "f:2,6",
            "i:2,6",
            "@dict",
            "[i:4;i:4]",
            "f:4,4",
            "[@sparse;@sparse]",
        ],
    ),
    (r"^(op|op_or_tensor)$", ["@op", F44]),
    (
        r"^(.*filenames?|file_pattern|path|fname|save_path|filename_tensor|files|directory|logdir|export_dir|checkpoint_dir|prefix|ckpt_dir_or_file|asset_filepath|filepath)$",
        ["='probe_file'", "s:", "s:4", "=['probe_file']", "[s:;s:]"],
    ),
    (
        r"^(contents|serialized|input_bytes|bytes|records|serialized_sparse|json_examples|example|string|strings|str|audio_data|str_tensor|string_input|source|hypothesis_|text)$",
        ["s:", "s:4", "s:4,3", "='abc'"],
    ),
    (r"^(features)$", [F44, IMAGE, "@features", F4, VOLUME]),
    (
        r"^(key|keys|name_|collection|collections|metric_name)$",
        ["='losses'", "s:4", "=['losses']", I4, "='trainable_variables'"],
    ),
    (
        r"^(name|tag|scope|default_name|name_or_scope|node_name|op_type|family|display_name|graph_name)$",
        ["='probe'"],
    ),
    (r"^(tags)$", ["='probe'", "s:", "s:4"]),
    (r"^(delimiter|sep|pattern|rewrite)$", ["=','", "='a'"]),
    (r"^(seed)$", ["=1", "=[1, 2]"]),
    (r"^(boxes)$", ["f:4,4", "f:1,2,4", "f:2,3,4"]),
    (r"^(box_ind|box_indices)$", [I4, "i:4"]),
    (r"^(bounding_boxes)$", ["f:1,2,4", "f:2,3,4"]),
    (r"^(image_size)$", ["i:3", "=[8, 8, 3]"]),
    (r"^(scores)$", [F4, "f:2,4,3"]),
    (r"^(max_output_size)$", ["=2"]),
    (
        r"^(image|images|img|image1|img1|img2|image2|frames)$",
        [
            IMAGE,
            "f:8,8,3",
            "u:8,8,3",
            "f:2,16,16,3",
            "u:2,8,8,3",
            "s:",
            "f:2,200,200,3",
            "s:4",
            "f:2,8,8,1",
        ],
    ),
    (r"^(transforms)$", ["=[1., 0., 0., 0., 1., 0., 0., 0.]"]),
    (r"^(angles?)$", ["=0.5", F0]),
    (
        r"^(sp_input|sparse_tensor|sp_a|sp_b|sp_inputs|sp_tensor|st|st_a|sp_values|sparse_input|sparse_tensor_value)$",
        ["@sparse", "[@sparse;@sparse]"],
    ),
    (r"^(rt|rt_input|ragged|rt_)$", ["@ragged"]),
    (r"^(dataset|input_dataset|other_dataset|dataset_or_)$", ["@dataset"]),
    (r"^(iterator)$", ["@iterator"]),
    (r"^(string_handle)$", ["s:"]),
    (r"^(boundaries)$", ["=[1, 2]", "=[1., 2.]"]),
    (r"^(start|stop|delta|num_)$", ["=0.0", "=1", F0, "=5"]),
    (r"^(equation|subscripts)$", ["='ij,jk->ik'", "='ij->ji'"]),
    (r"^(t_list|list_of_tensors)$", ["[f:4,4;f:4,4]", "[f:4;f:4]"]),
    (r"^(true_fn|false_fn|fn1|fn2|true_|false_)$", ["@const"]),
    (r"^(pred_fn_pairs|branch_fns)$", ["@pred_pairs", "@branches"]),
    (r"^(branch_index)$", [I0]),
    (r"^(distribution|distribution_a|distribution_b|dist_)$", ["@normal"]),
    (r"^(loc|mu|rate_)$", ["=0.0", F4]),
    (r"^(scale_diag)$", [F4]),
    (r"^(reduction)$", ["='sum'", "='none'", "='weighted_sum'"]),
    (r"^(layer|base_layer|forward_layer)$", ["@layer"]),
    (r"^(layers)$", ["[@layer;@layer]"]),
    (r"^(decoder)$", ["@decoder"]),
    (r"^(helper)$", ["@helper"]),
    (r"^(memory)$", [SEQ]),
    (r"^(dense_tensor|dense)$", [F44]),
    (r"^(activation|activation_fn)$", ["='relu'", "@identity"]),
    (r"^(data)$", [F44, "[f:4,4;f:4,4]", F4, "u:4", "n:4,4", "[f:2,4;f:2,4]"]),
    (r"^(embedding|embeddings)$", [F44]),
    (r"^(tensor_or_)$", [F44]),
    (r"^(msg|message|err_msg|op_name|namespace_|docstring|label_name)$", ["='message'"]),
    (r"^(method)$", ["='bilinear'", "=0"]),
    (r"^(mode)$", ["='REFLECT'", "='fan_in'", "='min'"]),
    (r"^(training|is_training|trainable)$", ["=False", "=True", "b:"]),
    (r"^(lookup_|table|mapping_strings|mapping)$", ["s:4", "=['a','b']"]),
    (r"^(table_initializer)$", ["@kv"]),
    (r"^(total_length_)$", ["=4"]),
    (r"^(value_index|key_index)$", ["=0", "=1"]),
    (r"^(hypothesis|truth)$", ["@sparse_labels"]),
    (
        r"^(matrix|rhs|a|b|chol|operator|input|tensor|l|r)$",
        [
            F44,
            IMAGE,
            SEQ,
            F4,
            F0,
            VOLUME,
            "i:4,4",
            I4,
            I0,
            B44,
            "b:4",
            "s:4",
            "s:",
            "c:4,4",
            "[f:4,4;f:4,4]",
            "@sparse",
            "c:8,8",
            "c:2,8,8,8",
            "@ragged",
            "n:4,4",
            "f:2,6",
        ],
    ),
    (r"^(diagonal|diag)$", [F4, F44]),
    (r"^(sorted_sequence|sorted_inputs)$", [F44]),
    (r"^(sequence)$", ["=[1, 2, 3]"]),
    (r"^(initial_value)$", ["n:4,4", F44, "=1", "=0.5"]),
    (r"^(sp_weights|class_weights|weights_)$", ["=None"]),
    (r"^(unique)$", ["=True"]),
    (r"^(pooling_ratio)$", ["=[1.0, 1.44, 1.44, 1.0]"]),
    (r"^(thresholds)$", ["=[0.5]"]),
    (r"^(sensitivity|specificity|precision|recall)$", ["=0.5"]),
    (r"^(record_bytes|header_bytes)$", ["=4"]),
    (r"^(.*_encoding)$", ["='UTF-8'"]),
    (r"^(tensors_list|tensors_list_)$", ["@one_list"]),
    (r"^(pos_weight)$", [F0, F4]),
    (r"^(padded_shapes)$", ["=[4]", "=[None]"]),
    (r"^(queue)$", ["@queue"]),
    (r"^(sparse_delta|slices|sparse_grad)$", ["@indexed"]),
    (r"^(type_value|.*_type|.*_dtype)$", ["=tf.float32", "=tf.int32"]),
    (r"^(shape_x|shape_y)$", ["=tf.TensorShape([4])"]),
    (r"^(value_range)$", ["=[0.0, 5.0]"]),
    (r"^(min|max)$", [F0, F4, F44]),
    (r"^(central_fraction|fraction)$", ["=0.5"]),
    (r"^(offsets)$", ["f:2,2"]),
    (r"^(layer)$", ["@layer"]),
    (
        r"^(num_.*|.*_size|.*_bytes|n_.*|max_.*|min_.*|.*_length|.*_dim|.*_capacity|.*_factor|.*_units|.*_channels|.*_height|.*_width|.*_steps|.*_per_class)$",
        ["=4", "=2", "=1", I0, "=0.5", F44, I4],
    ),
    (r"^((is|use|should)_.*|.*_mode)$", ["=True"]),
    (r"^(.*_shapes?)$", ["=[4, 4]", "=[4]", "=[]"]),
    (r"^(.*_names?|.*_key)$", ["='probe'", "=['probe']"]),
    (r"^(dataset.*|.*_dataset)$", ["@dataset"]),
    (r"^(signals?|stfts|magnitudes|spectrograms?)$", ["f:2,64", "c:2,8,5", SEQ]),
]
NAMED = [(re.compile(p), v) for p, v in NAMES]
# Parameters that say nothing about what the op does.
IDLE = re.compile(
    r"^(name|scope|seed|dtype|validate_indices|validate_args|allow_nan_stats|use_cudnn_on_gpu|"
    r"data_format|parallel_iterations|swap_memory|_?sentinel|_?name|op_seed|use_locking_?|"
    r"outputs_collections|variables_collections|collections|import_scope|expected_shape|experimental_.*|capacity|shared_name|container|self|cls|"
    r"caching_device|partitioner|collections_|aggregation_method|device|input_shape|"
    r"enable_xla|autocast|batch_size_|_reuse|reuse|custom_getter|partition_strategy)$"
)
TENSOR_LIKE = re.compile(
    r"^(x|y|labels|logits|predictions|targets?|inputs?|input_tensor|tensors?|values?|image|images|"
    r"x1|x2|a|b|condition|features|params|ids|rate|pred|true_fn|false_fn|filters?|"
    r"strides|padding|perm|shape|initial_value|begin|size|var_list|bias|loss|size_splits|dtype|axis|out_type|Tout|"
    r"message|ksizes|sizes|rates|num_units|vocab_size|embed_dim|window_size|updates|"
    r"input_bytes|seq_axis|sequence_length|pos_weight|input_sizes|output_shape|block_shape|box_ind|boxes|crop_size|t|m|v|gamma|beta|"
    r"variance_epsilon|scale_after_normalization)$"
)


def candidates(name):
    for pattern, values in NAMED:
        if pattern.match(name):
            return values
    return None


class Reached(Exception):
    pass


class Maker(object):
    """Makes the values that tokens stand for, in the graph of the moment."""

    def __init__(self, constants=False, variable_for=None):
        self.constants = constants
        self.variable_for = variable_for  # the first float tensor becomes this ref variable
        self.floats = {}  # parameter -> the float tensors made for it
        self.called = set()  # parameters whose callable was called
        self.parameter = None
        self.given_callables = set()
        self.kept = None

    def make(self, parameter, token):
        self.parameter = parameter
        return self._make(token)

    def _make(self, token):
        if token.startswith("["):
            return [self._make(t) for t in token[1:-1].split(";")]
        if token.startswith("="):
            return eval(token[1:], {"tf": tf, "np": np})
        if token.startswith("@"):
            return self.made(token[1:])
        kind, _, dims = token.partition(":")
        shape = [int(d) for d in dims.split(",")] if dims else []
        if kind == "n":
            return np.full(shape, 0.5, np.float32)
        dtype = {
            "f": tf.float32,
            "i": tf.int32,
            "l": tf.int64,
            "b": tf.bool,
            "s": tf.string,
            "c": tf.complex64,
            "u": tf.uint8,
        }[kind]
        if kind == "f" and self.variable_for is not None:
            wanted, self.variable_for = self.variable_for, None
            size = int(np.prod(shape)) if shape else 1
            return wanted((np.arange(size) / (2.0 * size) + 0.25).reshape(shape).astype(np.float32))
        if self.constants:
            value = {"f": 0.5, "i": 1, "l": 1, "b": True, "s": b"a", "c": 0.5, "u": 1}[kind]
            tensor = tf.constant(value, dtype, shape)
        else:
            tensor = v1.placeholder(dtype, shape)
        if kind == "f":
            self.floats.setdefault(self.parameter, []).append(tensor)
        return tensor

    def _callable(self, function):
        parameter = self.parameter
        self.given_callables.add(parameter)

        def given(*args, **kwargs):
            self.called.add(parameter)
            return function(*args, **kwargs)

        def one_and_more(x, *rest, **kwargs):
            self.called.add(parameter)
            return x

        def none():
            self.called.add(parameter)
            return function()

        def two(a, b):
            self.called.add(parameter)
            return function(a, b)

        def one(x):
            self.called.add(parameter)
            return function(x)

        # TensorFlow looks at the signature of what it is given.
        by_name = {"identity": one_and_more, "const": none, "binary": two, "unary": one}
        return by_name.get(function.__name__, given)

    def made(self, what):
        if what in ("identity", "unary", "const", "binary", "bool", "pair", "dataset_fn", "accum"):

            def identity(x, *rest, **kwargs):
                return x

            def unary(x):
                return x * 1.0

            def const():
                return tf.constant([1.0, 2.0])

            def binary(a, b):
                return a + b

            def bool_(*args):
                return tf.constant(True) if not args else tf.less(tf.reduce_sum(args[0]), 0.0)

            def pair(*args):
                return args if args else (1.0,)

            def dataset_fn(*args):
                return tf.data.Dataset.from_tensors(args[0])

            def accum(a, x):
                return a

            return self._callable(
                {
                    "identity": identity,
                    "unary": unary,
                    "const": const,
                    "binary": binary,
                    "bool": bool_,
                    "pair": pair,
                    "dataset_fn": dataset_fn,
                    "accum": accum,
                }[what]
            )
        if what == "regularizer":
            return self._callable(lambda w: tf.reduce_sum(w))
        if what == "initializer":
            return self._callable(
                lambda shape, dtype=None, **kwargs: tf.zeros(shape, dtype or tf.float32)
            )
        if what == "sparse":
            return tf.SparseTensor(np.array([[0, 0], [1, 2]], np.int64), self._make("f:2"), [4, 4])
        if what == "sparse_ids":
            return tf.SparseTensor(np.array([[0, 0], [1, 0]], np.int64), self._make("l:2"), [2, 4])
        if what == "sparse_labels":
            return tf.SparseTensor(np.array([[0, 0], [1, 0]], np.int64), self._make("i:2"), [2, 4])
        if what == "ragged":
            return tf.RaggedTensor.from_row_lengths(self._make("f:4"), [1, 3])
        if what == "indexed":
            return tf.IndexedSlices(self._make("f:2,4"), tf.constant([0, 2]), tf.constant([4, 4]))
        if what == "shared_grads":
            return [self._make("f:4,4")]
        if what == "variable":
            with outside():
                return tf.Variable(np.full([4, 4], 0.5, np.float32))
        if what == "ref":
            return v1.Variable(np.full([4, 4], 0.5, np.float32), use_resource=False)
        if what == "intvar":
            return tf.Variable(np.full([4], 1, np.int32))
        if what == "intvar0":
            return tf.Variable(1)
        if what == "shared":
            if self.kept is None:
                with outside():
                    self.kept = v1.Variable(np.full([4, 4], 0.5, np.float32), use_resource=True)
            return self.kept
        if what == "variables":
            return [self.made("shared")]
        if what == "loss_fn":
            shared = self.made("shared")
            return lambda: tf.reduce_sum(shared * shared)
        if what == "resource_grads":
            return [(self._make("f:4,4"), self.made("shared"))]
        if what == "global_step":
            if API == 1:
                return v1.train.get_or_create_global_step()
            return tf.Variable(0, dtype=tf.int64)
        if what == "loss":
            if API == 2:
                variable = self.made("variable")
                return lambda: tf.reduce_sum(variable * variable)
            return tf.reduce_sum(tf.square(self.made("variable")))
        if what == "grads_and_vars":
            return [(self._make("f:4,4"), self.made("variable"))]
        if what == "grads_list":
            return [self._make("f:4,4"), self._make("f:4")]
        if what == "optimizer":
            if API == 2:
                return tf.keras.optimizers.SGD(0.1)
            return v1.train.GradientDescentOptimizer(0.1)
        if what in ("cell", "cells"):
            if API == 2:
                make = lambda: tf.keras.layers.LSTMCell(4)  # noqa: E731
            else:
                make = lambda: v1.nn.rnn_cell.BasicLSTMCell(4)  # noqa: E731
            return make() if what == "cell" else [make(), make()]
        if what == "state4":
            a, b = self._make("f:4,4"), self._make("f:4,4")
            return v1.nn.rnn_cell.LSTMStateTuple(a, b) if API == 1 else [a, b]
        if what == "states":
            return (self.made("state4"), self.made("state4"))
        if what == "state":
            a, b = self._make("f:2,4"), self._make("f:2,4")
            return v1.nn.rnn_cell.LSTMStateTuple(a, b) if API == 1 else [a, b]
        if what == "op":
            return tf.no_op() if API == 2 else v1.no_op()
        if what == "y_of_x":
            self.shared = self._make("f:4,4")
            return tf.square(self.shared)
        if what == "x_of_y":
            return self.shared
        if what == "dataset":
            return tf.data.Dataset.from_tensor_slices(np.zeros([8, 4], np.float32))
        if what == "datasets":
            return (self.made("dataset"), self.made("dataset"))
        if what == "iterator":
            return v1.data.make_initializable_iterator(self.made("dataset"))
        if what == "one_list":
            return [[self._make("f:4,4"), self._make("f:4,4")]]
        if what == "one_list_seq":
            return [[self._make(SEQ), self._make(SEQ)]]
        if what == "two":
            return [self._make(SEQ), self._make(SEQ)]
        if what == "cell_args":
            return [self._make("f:2,4"), [self._make("f:2,4"), self._make("f:2,4")]]
        if what == "queue":
            return v1.FIFOQueue(4, [tf.string], shapes=[[]])
        if what == "kv":
            return tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
        if what == "features":
            return {"a": (tf.io if TF2 else tf).FixedLenFeature([], tf.float32)}
        if what == "dict":
            return {"a": self._make("f:4,4")}
        if what == "pred_pairs":
            return [(self._make("b:"), self.made("const"))]
        if what == "branches":
            return [self.made("const"), self.made("const")]
        if what == "layer":
            return tf.keras.layers.Dense(4)
        if what == "normal":
            return v1.distributions.Normal(0.0, 1.0)
        raise KeyError(what)


# ---------------------------------------------------------------------------------------------
# Looking beneath a result
# ---------------------------------------------------------------------------------------------


def flatten(result, tensors, kinds, depth=0):
    """The graph elements of a returned value; `kinds` notes what sort of thing was returned."""
    if depth > 6 or result is None:
        return
    if isinstance(result, tf_ops.Operation):
        tensors.append(result)
        kinds.add("op")
    elif isinstance(result, SYMBOLIC):
        tensors.append(result)
        kinds.add("tensor")
    elif isinstance(result, (str, bytes, int, float, np.ndarray, type)):
        return
    elif is_variable(result):
        kinds.add("variable")
        for part in list(result) if type(result).__name__ == "PartitionedVariable" else [result]:
            handle = getattr(part, "handle", None)
            tensors.append(
                handle if isinstance(handle, SYMBOLIC) else getattr(part, "_variable", None)
            )
        tensors[:] = [t for t in tensors if isinstance(t, (tf_ops.Operation,) + SYMBOLIC)]
    elif isinstance(result, dict):
        for key in sorted(result, key=str):
            flatten(result[key], tensors, kinds, depth + 1)
    elif isinstance(result, (list, tuple, set, frozenset)):
        for item in list(result)[:64]:
            flatten(item, tensors, kinds, depth + 1)
    elif isinstance(result, COMPOSITE):
        for part in tf.nest.flatten(result, expand_composites=True):
            if isinstance(part, SYMBOLIC):
                tensors.append(part)
                kinds.add("tensor")
    elif isinstance(result, tf.TensorArray):
        flatten(getattr(result, "flow", None), tensors, kinds, depth + 1)
    else:
        for attribute in (
            "_variant_tensor",
            "_iterator_resource",
            "_resource_handle",
            "_queue_ref",
            "_reader_ref",
        ):
            try:
                part = getattr(result, attribute, None)
            except Exception:
                part = None
            if isinstance(part, SYMBOLIC):
                tensors.append(part)
                kinds.add("object")


SYMBOLIC = (tf_ops.Tensor,) if not TF2 else (tf_ops.SymbolicTensor,)
COMPOSITE = (
    (tf.SparseTensor, tf.IndexedSlices, tf.RaggedTensor)
    if hasattr(tf, "RaggedTensor")
    else (tf.SparseTensor, tf.IndexedSlices)
)


def is_variable(value):
    if (
        isinstance(value, (tf.Variable, v1.Variable))
        or type(value).__name__ == "PartitionedVariable"
    ):
        return True
    return (
        TF2
        and type(value).__module__.startswith("keras")
        and hasattr(value, "assign")
        and hasattr(value, "_value")
    )


def keras_inner(value):
    inner = getattr(value, "_value", None)
    return inner if inner is not None and hasattr(inner, "handle") else value


def function_bodies(graph):
    library = {}
    for function in graph.as_graph_def().library.function:
        library[function.signature.name] = function
    return library


def function_names(op):
    names = []
    for attribute in op.node_def.attr.values():
        which = attribute.WhichOneof("value")
        if which == "func":
            names.append(attribute.func.name)
        elif which == "list":
            names.extend(f.name for f in attribute.list.func)
    return names


def body(name, library):
    if name in library:
        return library[name]
    if TF2:
        from tensorflow.python.eager import context

        try:
            return context.context().get_function_def(name)
        except Exception:
            return None
    return None


PASSES = frozenset(
    [
        "Identity",
        "Enter",
        "RefEnter",
        "Switch",
        "RefSwitch",
        "Merge",
        "Exit",
        "NextIteration",
        "RefIdentity",
    ]
)


def maker_of(tensor, seen=()):
    op = tensor.op
    if op.type in PASSES and op.inputs and op.name not in seen:
        return maker_of(op.inputs[0], tuple(seen) + (op.name,))
    return op


def ancestors(roots):
    """Every op that has to run, or may run, before one of these is there."""
    ops, stack = {}, [r if isinstance(r, tf_ops.Operation) else r.op for r in roots]
    while stack:
        op = stack.pop()
        if op.name in ops:
            continue
        ops[op.name] = op
        stack.extend(i.op for i in op.inputs)
        stack.extend(op.control_inputs)
    return ops


def flags_beneath(graph, roots):
    flags, stateless, library, names, types_ = set(), False, None, [], set()
    for op in ancestors(roots).values():
        types_.add(op.type)
        found = set(REGISTRY.flags(op.type))
        if found & {"writes", "reads"}:
            handles = [i for i in op.inputs if i.dtype == tf.resource or i.dtype._is_ref_dtype]
            if handles and all(REGISTRY.local(maker_of(h).type) for h in handles):
                found -= {"writes", "reads", "iterates"}
        if (
            not found
            and not op.type.startswith("Ref")
            and any(
                i.dtype._is_ref_dtype and not REGISTRY.local(maker_of(i).type) for i in op.inputs
            )
        ):
            if any(
                maker_of(i).type in ("Variable", "VariableV2")
                for i in op.inputs
                if i.dtype._is_ref_dtype
            ):
                found.add("reads")
        if STATELESS_RANDOM.match(op.type) and op.type != "StatelessRandomGetAlg":
            stateless = True
        flags |= found
        names.extend(function_names(op))
    done = set()
    while names:
        name = names.pop()
        if name in done:
            continue
        done.add(name)
        if library is None:
            library = function_bodies(graph)
        definition = body(name, library)
        if definition is None:
            flags.add("calls")
            continue
        for node in definition.node_def:
            if REGISTRY.definition(node.op) is None:
                names.append(node.op)
                continue
            found = set(REGISTRY.flags(node.op))
            if node.op.startswith(("TensorArray", "Stack")):
                found -= {"writes", "reads", "iterates"}
            flags |= found
            if STATELESS_RANDOM.match(node.op) and node.op != "StatelessRandomGetAlg":
                stateless = True
            for attribute in node.attr.values():
                which = attribute.WhichOneof("value")
                if which == "func":
                    names.append(attribute.func.name)
                elif which == "list":
                    names.extend(f.name for f in attribute.list.func)
    if stateless and flags & {"reads", "writes"}:
        flags.add("random")  # a stateless draw whose seed is kept in a variable
    return flags, types_


# ---------------------------------------------------------------------------------------------
# Gradients: does the gradient wait for the argument's value?
# ---------------------------------------------------------------------------------------------

# Ops that look at a tensor's shape, never at its value: constant under a static shape.
SHAPE_ONLY = frozenset(
    """Shape ShapeN Size Rank ZerosLike OnesLike BroadcastGradientArgs VariableShape
    DynamicStitch_ ConcatOffset_""".split()
)


class Wires(object):
    """A graph's edges by node name, from its GraphDef."""

    def __init__(self, graph_def):
        self.node = {n.name: n for n in graph_def.node}

    @staticmethod
    def source(edge):
        return edge.lstrip("^").split(":")[0]

    def data_inputs(self, name):
        node = self.node[name]
        if node.op in SHAPE_ONLY:
            return []
        return [self.source(e) for e in node.input if not e.startswith("^")]

    def all_inputs(self, name):
        return [self.source(e) for e in self.node[name].input]

    def opaque(self, name):
        return any(
            a.WhichOneof("value") == "func" or (a.WhichOneof("value") == "list" and a.list.func)
            for a in self.node[name].attr.values()
        )

    def closure(self, roots, inputs):
        seen, stack = set(), [r for r in roots if r in self.node]
        while stack:
            name = stack.pop()
            if name in seen:
                continue
            seen.add(name)
            stack.extend(i for i in inputs(name) if i in self.node)
        return seen

    def judge(self, x, y, g):
        """(the gradient has a data edge from x's value, every use of x beneath y precedes g)"""
        beneath_g = self.closure([g], self.data_inputs)
        if any(self.opaque(n) for n in beneath_g):
            return None, False
        value = x in beneath_g
        before_g = self.closure([g], self.all_inputs)
        beneath_y = self.closure([y], self.all_inputs)
        uses, front, seen = set(), [x], set()
        readers = {}
        for name in beneath_y:
            for source in self.data_inputs(name):
                readers.setdefault(source, set()).add(name)
        while front:
            current = front.pop()
            if current in seen:
                continue
            seen.add(current)
            for name in readers.get(current, ()):
                if self.node[name].op in BUFFER_PASSING:
                    front.append(name)
                else:
                    uses.add(name)
        return value, value and bool(uses) and uses <= before_g


# Only used to see through renamings of x; found by `alias` (see generate_effects.py).
BUFFER_PASSING = frozenset(
    "Identity Reshape Squeeze ExpandDims StopGradient PreventGradient Snapshot IdentityN".split()
)
WORST = {"none": 0, "constant": 1, "value": 2}


def optimised(graph, keep):
    """The graph as the runtime's graph optimiser would leave it, these tensors fetched."""
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    from tensorflow.python.framework import meta_graph
    from tensorflow.python.grappler import tf_optimizer

    meta = meta_graph.create_meta_graph_def(
        graph=graph, graph_def=graph.as_graph_def(add_shapes=True)
    )
    train = meta.collection_def["train_op"]
    train.node_list.value.extend(sorted(set(k.name for k in keep)))
    config = config_pb2.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.min_graph_nodes = -1
    rewrites.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.TWO
    rewrites.fail_on_optimizer_errors = False
    return tf_optimizer.OptimizeGraph(config, meta)


def float_tensors(result):
    tensors, kinds = [], set()
    flatten(result, tensors, kinds)
    return [t for t in tensors if isinstance(t, SYMBOLIC) and t.dtype.base_dtype == tf.float32]


def gradient_kinds(graph, maker, result, variables):
    """Argument -> (kind, completes), for each float argument and for the variables made ('*')."""
    ys = []
    for y in float_tensors(result):
        if not any(y is seen for seen in ys):
            ys.append(y)
    if len(ys) > 4:
        return {}
    wanted = [(p, t) for p, tensors in sorted(maker.floats.items()) for t in tensors]
    arguments = set(t.name for _, t in wanted)
    ys = [y for y in ys if y.name not in arguments]
    if not ys:
        return {p: ("none", False) for p, _ in wanted} if not float_tensors(result) else {}
    for variable in variables:
        wanted.append(("*", variable))
    out = {}
    for y in ys:
        seeds = v1.placeholder(tf.float32, y.shape)
        xs = [t for _, t in wanted]
        try:
            grads = tf.gradients(y, [keras_inner(x) for x in xs], grad_ys=seeds)
        except (
            LookupError,
            ValueError,
            TypeError,
            NotImplementedError,
            AttributeError,
            RuntimeError,
        ):
            return {}
        for (parameter, x), grad in zip(wanted, grads):
            if grad is None:
                kind, completes = "none", False
            else:
                root = grad.values if isinstance(grad, tf.IndexedSlices) else grad
                kind, completes = judge(graph, x, y, root)
            if kind is None:
                return {}
            if parameter in out:
                old_kind, old_completes = out[parameter]
                # A second output that does not depend on this argument takes nothing away.
                if kind == "none" and parameter != "*":
                    kind, completes = old_kind, old_completes
                elif old_kind != "none" or parameter == "*":
                    kind = min(kind, old_kind, key=lambda k: WORST[k])
                    completes = completes and old_completes
            out[parameter] = (kind, completes)
    return out


def judge(graph, x, y, grad):
    wires = Wires(graph.as_graph_def())
    if isinstance(x, SYMBOLIC):
        name = x.op.name
    else:
        inner = keras_inner(x)
        value = getattr(inner, "_variable", None)
        handle = getattr(inner, "handle", None)
        if isinstance(handle, SYMBOLIC) and handle.graph is graph:
            name = handle.op.name
        elif isinstance(value, SYMBOLIC):
            name = value.op.name
        else:
            captured = [b for a, b in getattr(graph, "captures", []) if a is handle]
            if not captured:
                return None, False
            name = captured[0].op.name
    value, completes = wires.judge(name, y.op.name, grad.op.name)
    if value is None:
        return None, False
    if value and API == 1 and isinstance(x, SYMBOLIC):
        try:
            after = Wires(optimised(graph, [x, y, grad]))
        except Hang:
            raise
        except Exception:
            return "constant", False
        if not all(n in after.node for n in (name, y.op.name, grad.op.name)):
            return "constant", False
        still, still_completes = after.judge(name, y.op.name, grad.op.name)
        value, completes = bool(still), completes and still_completes
    return ("value" if value else "constant"), completes


# ---------------------------------------------------------------------------------------------
# One attempt: build the symbol once, and look
# ---------------------------------------------------------------------------------------------


class Hang(BaseException):
    pass


PUBLIC_KEYS = frozenset(
    value
    for key, value in vars(v1.GraphKeys).items()
    if key.isupper() and not key.startswith("_") and isinstance(value, str)
)


class Watch(object):
    """Notes which public collections are read, and which variables are made, while it is on."""

    def __init__(self, graph):
        self.graph, self.keys, self.variables = graph, set(), []

    def __enter__(self):
        cls, self.saved = type(self.graph), {}
        watch = self
        original = cls.get_collection

        def get_collection(graph, name, scope=None):
            if name in PUBLIC_KEYS and name not in ("cond_context", "while_context"):
                frame = sys._getframe(1)
                callers = []
                for _ in range(20):
                    if frame is None:
                        break
                    callers.append(frame.f_code.co_name)
                    frame = frame.f_back
                # Looked at only so as not to add the same thing twice.
                # Or to see which variables a custom gradient's function made.
                own = {"_add_elements_to_collection", "add_weight", "_graph_mode_decorator"}
                if not own & set(callers):
                    watch.keys.add(name)
            return original(graph, name, scope)

        self.cls, self.original = cls, original
        self.own = "get_collection" in vars(cls)
        cls.get_collection = get_collection

        def creator(next_creator, **kwargs):
            variable = next_creator(**kwargs)
            watch.variables.append(variable)
            return variable

        self.scope = (
            v1.variable_creator_scope(creator)
            if not TF2 or API == 1
            else tf.variable_creator_scope(creator)
        )
        self.scope.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.scope.__exit__(None, None, None)
        except Exception:
            pass
        if self.own:
            self.cls.get_collection = self.original
        else:
            del self.cls.get_collection


VARIABLE_COLLECTIONS = frozenset(
    [
        "variables",
        "trainable_variables",
        "local_variables",
        "model_variables",
        "moving_average_variables_",
        "metric_variables",
        "global_step",
        "cond_context",
        "while_context",
        "trainable_resource_variables_",
    ]
)


def new_graph():
    if API == 2:
        from tensorflow.python.framework import func_graph

        return func_graph.FuncGraph("probe")
    return tf.Graph()


def sizes(graph):
    return {
        key: len(graph._collections.get(key, ()))
        for key in graph._collections
        if key in PUBLIC_KEYS
    }


class Seen(object):
    __slots__ = ("flags", "op", "gradient", "callables", "required_calls", "result_kind")


def fill(graph):
    """Something in each of the public collections, so that what depends on them has something."""
    variable = v1.Variable(np.full([4], 0.5, np.float32), name="filled")
    loss = v1.placeholder(tf.float32, [])
    for key in ("losses", "regularization_losses"):
        graph.add_to_collection(key, loss)
    graph.add_to_collection("summaries", v1.summary.scalar("filled", loss, collections=[]))
    graph.add_to_collection("update_ops", v1.assign(variable, v1.placeholder(tf.float32, [4])))
    for key in ("local_variables", "model_variables"):
        graph.add_to_collection(key, variable)


def arguments(maker, symbol, tokens):
    """The values for these tokens; what stands before *args goes by position."""
    positional, keyword, last = [], {}, None
    for parameter, token in tokens.items():
        value = maker.make(parameter, token)
        if parameter.startswith("*"):
            last = value if isinstance(value, list) else [value]
        else:
            keyword[parameter] = value
    # By position, as scripts do; custom gradients take nothing else.
    for parameter, has, _ in signature(symbol.target)[0]:
        if has or parameter not in keyword:
            break
        positional.append(keyword.pop(parameter))
    if last is not None:
        positional.extend(last)
    return positional, keyword


def attempt(symbol, tokens, gradients=True, filled=False):
    """Builds `symbol` with these {parameter: token}; raises what it raises."""
    graph = new_graph()
    with graph.as_default():
        if filled:
            fill(graph)
        (v1.set_random_seed if API == 1 else tf.random.set_seed)(7)
        maker = Maker()
        watch = Watch(graph)
        positional, keyword = arguments(maker, symbol, tokens)
        own, call_arguments = {}, {}
        for parameter, value in keyword.items():
            (own if parameter.startswith("self.") else call_arguments)[
                parameter.replace("self.", "")
            ] = value
        owner = symbol.build(own) if symbol.owner else None
        old = set(op.name for op in graph.get_operations())
        before_variables = variables_of(graph)
        before = sizes(graph)
        with watch:
            result = symbol.call(owner, positional, call_arguments)
        if isinstance(result, types.GeneratorType):
            result = None
        tensors, kinds = [], set()
        flatten(result, tensors, kinds)
        roots = list(tensors)
        if API == 2:
            # Functions run every op with an effect that they contain, returned or not.
            roots += [op for op in graph.get_operations() if op.name not in old]
        flags, _ = flags_beneath(graph, roots)
        made = variables_of(graph) - before_variables
        if (
            made
            or watch.variables
            or (
                API == 2
                and symbol.owner is None
                and inspect.isclass(symbol.target)
                and has_variables(result)
            )
        ):
            flags.add("creates")
        if "variable" in kinds:
            flags.add("reads")
        if API == 1 and watch.keys - {"global_step"}:
            flags.add("collections")
        grown = set(k for k, n in sizes(graph).items() if n > before.get(k, 0))
        if API == 1 and grown - VARIABLE_COLLECTIONS:
            flags.add("registers")
        if not kinds - {"object"}:
            flags.add("not-tensor")
        seen = Seen()
        seen.flags = flags
        single = [t for t in tensors if isinstance(t, SYMBOLIC)]
        seen.op = None
        if len(tensors) == 1 and kinds <= {"tensor", "op"}:
            op = tensors[0] if isinstance(tensors[0], tf_ops.Operation) else tensors[0].op
            seen.op = op.type
            if op.type == "Placeholder":
                seen.op = (
                    "Placeholder"
                    if not any(tensors[0] is t for ts in maker.floats.values() for t in ts)
                    else "="
                )
        seen.callables = maker.called
        seen.required_calls = maker.given_callables
        seen.gradient = {}
        if gradients and single and API_GRADIENTS and not flags & {"writes", "iterates"}:
            trainable = [v for v in watch.variables if getattr(v, "trainable", False)]
            if not symbol.owner or symbol.method == "__call__":
                seen.gradient = gradient_kinds(graph, maker, result, trainable)
        return seen


API_GRADIENTS = True


def has_variables(result):
    if is_variable(result):
        return True
    try:
        return any(is_variable(v) for v in (getattr(result, "variables", None) or ()))
    except Exception:
        return False


def variables_of(graph):
    found = set()
    for op in graph.get_operations():
        if op.type in ("VariableV2", "Variable", "VarHandleOp"):
            found.add(op.name)
    return found


# ---------------------------------------------------------------------------------------------
# Symbols
# ---------------------------------------------------------------------------------------------

UNSAFE_MODULES = re.compile(
    r"^(app|flags|logging|gfile|test|sysconfig|profiler|distribute|tpu|lite|estimator|saved_model|"
    r"python_io|config|resource_loader|version|mlir|autodiff|experimental|compat|contrib|raw_ops|"
    r"graph_util|user_ops|spectral_|xla|types|__internal__|internal|keras\.datasets|keras\.applications|"
    r"keras\.preprocessing|keras\.utils|keras\.wrappers|keras\.estimator|keras\.experimental|"
    r"keras\.models|keras\.callbacks|keras\.ops|keras\.tree|keras\.distribution|keras\.export|"
    r"keras\.visualization|keras\.quantizers|keras\.legacy|keras\._.*|io\.gfile|data\.experimental\.service|"
    r"debugging\.experimental|summary\.experimental|train\.experimental|nn\.experimental_|"
    r"keras\.src|keras\.dtype_policies|keras\.saving|keras\.tools|feature_column|manip_|"
    r"keras\.mixed_precision|keras\.remat|security|tools|examples|ragged_|"
    r"metrics_|losses_)(\.|$)"
)
UNSAFE_NAMES = re.compile(
    r"(^|\.)(enable_|disable_)|(^|\.)(reset_default_graph|start_queue_runners|load_library|load_op_library|"
    r"load_file_system_library|.*Session.*|Server|Supervisor|Coordinator|LooperThread|SessionManager|"
    r"ClusterSpec|Scaffold|.*Creator|SyncReplicasOptimizer|replica_device_setter|.*Hook|FileWriter.*|"
    r"create_file_writer|import_graph_def|import_meta_graph|export_meta_graph|write_graph|train|"
    r"basic_train_loop|checkpoints_iterator|summary_iterator|set_.*_policy|trace_on|trace_off|trace_export|"
    r"start_.*server|init_scope|assert_no_new_.*|LogMessage|keras_.*|clear_session|set_session|set_floatx|"
    r"set_epsilon|set_image_data_format|set_learning_phase|set_backend|config|dispatch_for.*|"
    r"register_.*|RegisterGradient|unregister_.*|run_functions_eagerly|set_.*|load_model|save_model|"
    r"evaluation_loop|evaluate_once|wait_for_new_checkpoint|train_step|learning_loop)$"
)
CONTRIB = [
    "layers",
    "slim",
    "rnn",
    "framework",
    "metrics",
    "losses",
    "seq2seq",
    "distributions_",
    "data",
    "opt",
    "summary",
]
METHODS_SKIPPED = re.compile(
    r"^(from_config|get_config|from_proto|to_proto|from_torch|mro|with_traceback|add_note|register|"
    r"from_value|run|eval|save|restore|export.*|load.*|save_.*|with_name_scope|summary|fit|"
    r"evaluate|predict.*|train_on_batch|test_on_batch|close|create_threads|__.*)$"
)
LAYER_METHODS = frozenset(
    [
        "__call__",
        "zero_state",
        "compute_mask",
        "update_state",
        "result",
        "reset_state",
        "reset_states",
    ]
)


def ready_made(cls):
    """Classes whose objects come from elsewhere than their constructor."""
    if cls in (tf.data.Dataset, v1.data.Dataset):
        return "dataset"
    if inspect.isclass(cls) and cls.__name__ in ("Iterator", "IteratorBase", "OwnedIterator"):
        return "iterator"
    if cls is tf.SparseTensor:
        return "sparse"
    if cls is getattr(tf, "RaggedTensor", None):
        return "ragged"
    return None


@contextlib.contextmanager
def outside():
    """Objects of TensorFlow 2 are made eagerly, before the function that uses them is traced."""
    if API == 2:
        with tf.init_scope():
            yield
    else:
        yield


class Symbol(object):
    """A function, a class's constructor, or a method of a class."""

    def __init__(self, path, target, owner=None, method=None):
        self.path, self.target, self.owner, self.method = path, target, owner, method

    def build(self, arguments):
        ready = ready_made(self.owner)
        if ready:
            return Maker().made(ready)
        with outside():
            return self.owner(**arguments)

    def call(self, owner, positional, keyword):
        if self.owner is None:
            if inspect.isclass(self.target):
                with outside():
                    return self.target(*positional, **keyword)
            return self.target(*positional, **keyword)
        return getattr(owner, self.method)(*positional, **keyword)


def is_module(value):
    return inspect.ismodule(value) or type(value).__name__.endswith(("ModuleWrapper", "LazyLoader"))


def enumerate_api():
    """{dotted path: kind} where kind is function, class, method or value; and what is not called."""
    root = v1 if (API == 1 and TF2) else tf
    found, unsafe, first, same = {}, {}, {}, {}
    seen_modules = set()

    def walk(module, prefix, depth):
        if depth > 5 or id(module) in seen_modules:
            return
        seen_modules.add(id(module))
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            path = prefix + name
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if is_module(value):
                try:
                    origin = getattr(value, "__name__", "")
                    dir(value)
                except Exception:
                    continue
                if (
                    "tensorflow" not in origin
                    and "keras" not in origin
                    and "LazyLoader" not in type(value).__name__
                ):
                    continue
                if API == 1 and TF2 and path.startswith("keras"):
                    continue
                if UNSAFE_MODULES.match(path):
                    if not re.match(
                        r"^(compat|contrib|raw_ops|user_ops|experimental|mlir|types|version|xla)",
                        path,
                    ):
                        mark(value, path + ".", 0)
                    continue
                if re.search(r"\.python\.(?!keras\.api)", origin) and not path.startswith(
                    "contrib."
                ):
                    continue
                if path.startswith("contrib.") and path.count(".") > 1:
                    continue
                walk(value, path + ".", depth + 1)
            else:
                add(path, value)

    def mark(module, prefix, depth):
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if is_module(value):
                if API == 1 and TF2 and "keras" in prefix + name:
                    continue
                if depth < 2 and (
                    "tensorflow" in getattr(value, "__name__", "")
                    or "keras" in getattr(value, "__name__", "")
                ):
                    mark(value, prefix + name + ".", depth + 1)
            elif callable(value):
                unsafe[prefix + name] = "function"

    def add(path, value):
        if not callable(value):
            found[path] = "value"
            return
        if UNSAFE_NAMES.search(path):
            unsafe[path] = "function"
            return
        if id(value) in first:
            same[path] = first[id(value)]
            return
        first[id(value)] = path
        if inspect.isclass(value):
            if (
                issubclass(value, BaseException)
                or "Proto" in type(value).__name__
                or type(value).__name__ == "GeneratedProtocolMessageType"
                or type(value).__name__ == "MessageMeta"
            ):
                found[path] = "value"
                return
            if issubclass(value, type(tf.float32)) or issubclass(value, tf.TensorShape):
                found[path] = "class"
                return
            found[path] = "class"
            for method in methods_of(value):
                if inherited_dataset_method(value, method):
                    same[path + "." + method] = "data.Dataset." + method
                else:
                    found[path + "." + method] = "method"
            for name in dir(value):
                if not name.startswith("_") and isinstance(getattr(value, name, None), str):
                    found[path + "." + name] = "value"
            for method in ("run", "eval", "load", "save", "restore"):
                if callable(getattr(value, method, None)):
                    unsafe[path + "." + method] = "method"
        else:
            found[path] = "function"

    walk(root, "", 0)
    if not TF2:
        for name in CONTRIB:
            module = getattr(tf.contrib, name, None)
            if module is not None:
                walk(module, "contrib.%s." % name, 1)
    return found, unsafe, same


def inherited_dataset_method(cls, method):
    base = v1.data.Dataset if API == 1 else tf.data.Dataset
    if not issubclass(cls, tf.data.Dataset) or cls in (tf.data.Dataset, v1.data.Dataset):
        return False
    return getattr(cls, method, None) is getattr(base, method, False) or method == "range"


def base_methods():
    bases = [tf.keras.layers.Layer, tf.Module] if hasattr(tf, "Module") else [tf.keras.layers.Layer]
    return bases


KERAS_METHODS = LAYER_METHODS | frozenset(
    [
        "minimize",
        "apply_gradients",
        "apply",
        "compute_gradients",
        "get_updates",
        "get_gradients",
        "add_weight",
    ]
)
BARE = re.compile(
    r"Spec$|^(Graph|Operation|Tensor|VariableScope|GradientTape|EagerTensor|name_scope|Dimension)$"
)


def methods_of(cls):
    names = []
    if BARE.search(cls.__name__):
        return names
    keras = "keras" in cls.__module__
    layer = any(b in cls.__mro__ for b in base_methods())
    for name in sorted(dir(cls)):
        if name != "__call__" and (name.startswith("_") or METHODS_SKIPPED.match(name)):
            continue
        if (
            layer
            and name not in LAYER_METHODS
            and not any(
                name in vars(b)
                for b in cls.__mro__[:2]
                if "distribution" in b.__module__
                or "random" in b.__module__
                or "lookup" in b.__module__
            )
        ):
            continue
        if keras and name not in KERAS_METHODS:
            continue
        if (
            issubclass(cls, dict)
            or issubclass(cls, int)
            or issubclass(cls, tuple)
            and name != "__call__"
        ):
            continue
        value = getattr(cls, name, None)
        if name == "__call__" and not any("__call__" in vars(b) for b in cls.__mro__[:-1]):
            continue
        if callable(value) and not inspect.isclass(value):
            names.append(name)
    return names


def resolve(path):
    root = v1 if (API == 1 and TF2) else tf
    parts, value, owner = path.split("."), root, None
    for index, part in enumerate(parts):
        owner, value = value, getattr(value, part)
        if inspect.isclass(owner):
            return Symbol(path, value, owner, part)
    return Symbol(path, value)


def defined(path):
    """`module:qualified name` of the Python function behind a symbol, for the static check."""
    try:
        target = resolve(path).target
        if inspect.isclass(target):
            return "%s:%s" % (target.__module__, target.__qualname__)
        from tensorflow.python.util import tf_decorator

        inner = tf_decorator.unwrap(target)[1]
        inner = inspect.unwrap(getattr(inner, "__func__", inner))
        return "%s:%s" % (inner.__module__, inner.__qualname__)
    except Exception:
        return ""


def positional_names(path):
    """The parameters' names by position, without `self`; for a Keras layer those of its `call`."""
    try:
        symbol = resolve(path)
        target = symbol.target
        if symbol.method == "__call__":
            for method in ("update_state", "call"):
                if hasattr(symbol.owner, method) and not signature(target)[0]:
                    target = getattr(symbol.owner, method)
        params, varargs = signature(target)
        spec_kwonly = full_spec(target.__init__ if inspect.isclass(target) else target).kwonlyargs
        return [n for n, _, _ in params if n not in (spec_kwonly or ())]
    except Exception:
        return []


def signature(target):
    """[(name, has default, default)], the name of *args if any."""
    if inspect.isclass(target):
        init = target.__init__
        if init is object.__init__ and target.__new__ is not object.__new__:
            init = target.__new__
        spec = full_spec(init)
        drop = True
        if spec.varargs and len(spec.args) < 2:
            # `def __init__(self, *args, **kwargs)` in front of a base class that says more.
            for base in target.__mro__[1:]:
                inner = vars(base).get("__init__")
                if inner is not None and len(full_spec(inner).args) > 1:
                    spec = full_spec(inner)
                    break
    else:
        spec = full_spec(target)
        drop = inspect.ismethod(target)
    arguments = list(spec.args)
    defaults = dict(
        zip(arguments[len(arguments) - len(spec.defaults or ()) :], spec.defaults or ())
    )
    if arguments and (drop or arguments[0] in ("self", "cls")):
        arguments = arguments[1:]
    out = [(a, a in defaults, defaults.get(a)) for a in arguments]
    for name in spec.kwonlyargs or ():
        out.append(
            (name, name in (spec.kwonlydefaults or {}), (spec.kwonlydefaults or {}).get(name))
        )
    return out, spec.varargs


def full_spec(target):
    from tensorflow.python.util import tf_inspect

    if isinstance(target, functools.partial):
        return full_spec(target.func)

    try:
        spec = tf_inspect.getfullargspec(target)
    except Exception:
        spec = inspect.getfullargspec(target)
    wrapped = getattr(target, "__wrapped__", None)
    if wrapped is not None and spec.varargs and not spec.args:
        spec = inspect.getfullargspec(wrapped)
    return spec


def combinations(names_and_values):
    """The product of the candidates: equal picks first (x and y alike), then by distance."""
    names = [n for n, _ in names_and_values]
    lists = [v for _, v in names_and_values]
    if not lists:
        return [{}]
    out = []
    longest = max(len(v) for v in lists)
    if len(lists) > 1:
        for i in range(longest):
            out.append(tuple(min(i, len(v) - 1) for v in lists))
    limits = [min(len(v), 9) for v in lists]
    if len(lists) == 1:
        limits = [len(lists[0])]
    elif len(lists) > 3:
        limits = [min(n, 4) for n in limits]
    while np.prod(limits) > 20000:
        limits[limits.index(max(limits))] -= 1
    product = sorted(
        itertools.product(*[range(n) for n in limits]), key=lambda t: (sum(t), max(t), t)
    )
    out.extend(product)
    unique, seen = [], set()
    for picks in out:
        if picks not in seen:
            seen.add(picks)
            unique.append({n: v[p] for n, v, p in zip(names, lists, picks)})
    return unique


# What convolutions and pooling want of several arguments at once.
FAMILIES = [
    {"x": IMAGE, "filter": "f:2,2,3,4", "window": "=[1, 2, 2, 1]", "stride": "=[1, 1, 1, 1]"},
    {
        "x": VOLUME,
        "filter": "f:2,2,2,3,4",
        "window": "=[1, 2, 2, 2, 1]",
        "stride": "=[1, 1, 1, 1, 1]",
    },
    {"x": SEQ, "filter": "f:3,4,4", "window": "=2", "stride": "=1"},
    {"x": IMAGE, "filter": "f:2,2,3", "window": "=[2, 2]", "stride": "=[1, 1, 1, 1]"},
    {"x": "f:2,4,4,4", "filter": "f:2,2,3,4", "window": "=2", "stride": "=[1, 2, 2, 1]"},
    {"x": "f:2,3,3,3,4", "filter": "f:2,2,2,3,4", "window": "=2", "stride": "=[1, 2, 2, 2, 1]"},
]
ROLES = {
    "input": "x",
    "value": "x",
    "inputs": "x",
    "filter": "filter",
    "filters": "filter",
    "kernel": "filter",
    "ksize": "window",
    "ksizes": "window",
    "sizes": "window",
    "strides": "stride",
    "stride": "stride",
}
SHAPES = {"f:2,4,4,4": "=[2, 8, 8, 3]", "f:2,3,3,3,4": "=[2, 6, 6, 6, 3]"}


def families(params, prefix):
    names = [n for n, _, _ in params]
    if "labels" in names and "sequence_length" in names:
        roles = {"labels": "@sparse_labels", "sequence_length": "i:2"}
        return [
            dict({prefix + n: t for n, t in roles.items()}, **{prefix + logits: "f:6,2,4"})
            for logits in ("inputs", "logits")
            if logits in names
        ]
    if "padding" not in names or "kernel_size" in names or not {"strides", "stride"} & set(names):
        return []
    out = []
    for family in FAMILIES:
        tokens = {}
        for name, has, default in params:
            role = ROLES.get(name)
            if role and not (has and default is not None):
                doubled = any(ROLES.get(k.replace(prefix, "", 1)) == role for k in tokens)
                if not doubled:
                    tokens[prefix + name] = family[role]
            elif name == "padding":
                tokens[prefix + name] = "='SAME'"
            elif name == "output_shape" and family["x"] in SHAPES:
                tokens[prefix + name] = SHAPES[family["x"]]
            elif name == "dilations" and not has:
                tokens[prefix + name] = family["stride"]
            elif name == "rates" or name == "rate" and not has:
                tokens[prefix + name] = "=2" if name == "rate" else family["stride"]
            elif not has:
                tokens[prefix + name] = (candidates(name) or TENSORS)[0]
        out.append(tokens)
    return out


def plan(target, prefix=""):
    """The base combinations to try, in order."""
    params, varargs = signature(target)
    required = [(n, candidates(n) or TENSORS) for n, has, _ in params if not has and n != "self"]
    optional = [(n, d) for n, has, d in params if has]
    named = [(prefix + n, v) for n, v in required]
    plans = families(params, prefix) + combinations(named)[:BASE_TRIES]
    if varargs and not prefix:
        extra = []
        for token in (
            "[f:4,4;f:4,4]",
            "[f:4,4]",
            "[@op;@op]",
            "[=5]",
            "[i:4;i:4]",
            "[@const;f:4]",
            "[f:4,4;f:2,4]",
            "[@identity]",
        ):
            for p in plans[:4]:
                q = dict(p)
                q["*" + varargs] = token
                extra.append(q)
        plans = (plans + extra) if not required else (extra[:6] + plans + extra[6:])
    # Keyword-only by convention (softmax_cross_entropy_with_logits) or by a deprecated alias.
    loose = [
        (prefix + n, candidates(n) or TENSORS)
        for n, d in optional
        if d is None and TENSOR_LIKE.match(n)
    ]
    plans = plans[:BASE_TRIES]
    sizes_ = sorted({len(loose)} | set(range(1, min(len(loose), 4) + 1)), reverse=True)
    for size in sizes_ if loose else ():
        for subset in itertools.combinations(loose, size):
            names = set(n for n, _ in subset)
            if names >= {"filter", "filters"} or names >= {"x", "inputs"}:
                continue
            plans = plans + combinations(named + list(subset))[: 60 if size == len(loose) else 24]
            if len(plans) > 4 * BASE_TRIES:
                break
    return plans, optional


def toggles(optional):
    """[(parameter, token)] to try, each on its own."""
    out = []
    for name, default in optional:
        if IDLE.match(name):
            continue
        found = candidates(name)
        if isinstance(default, bool):
            out.append((name, "=%r" % (not default)))
            if name in ("training", "is_training"):
                out.append((name, "b:"))
        elif default is None:
            if re.search(
                r"initializer$|regularizer$|constraint$|activation(_fn)?$|_fn$|_func$|^fn$|^func$",
                name,
            ):
                if re.search("initializer$", name):
                    out.append((name, "@initializer"))
                out.append((name, "@identity"))
                out.append((name, "@unary"))
            elif re.search(r"^(training|is_training)$", name):
                out.extend([(name, "=True"), (name, "=False"), (name, "b:")])
            elif found is not None:
                out.extend((name, token) for token in found[:3])
            elif re.search(r"num_|max_|min_", name):
                out.append((name, "=2"))
            else:
                out.extend((name, token) for token in ("=0.5", "=True", "=1", F44))
        elif isinstance(default, float):
            out.append((name, "=0.5"))
            out.append((name, F0))
        elif isinstance(default, int):
            out.append((name, "=%d" % (default + 1)))
        elif callable(default) and not inspect.isclass(default):
            out.append((name, "=None"))
            out.append((name, "@identity"))
        else:
            out.append((name, "=None"))
            if isinstance(default, str) and found:
                out.extend((name, token) for token in found[:2])
    return out


def probe(symbol):
    """What was seen of one symbol, or why nothing was."""
    tries, bases, errors = 0, [], {}
    if symbol.owner is None:
        plans, optional = plan(symbol.target)
    else:
        method = inspect.getattr_static(symbol.owner, symbol.method)
        static = isinstance(method, (staticmethod, classmethod))
        if ready_made(symbol.owner):
            built = [{}]
        elif not static:
            built = workable_constructor(symbol.owner, plan(symbol.owner, "self.")[0])
        if not static and built is None:
            return {"error": "the class could not be built"}
        if static:
            symbol = Symbol(symbol.path, getattr(symbol.owner, symbol.method))
            plans, optional = plan(symbol.target)
            built = [{}]
        else:
            plans, optional = plan(symbol.target)
        if symbol.method == "__call__" and hasattr(symbol.owner, "update_state"):
            plans = plan(symbol.owner.update_state)[0]
        elif (
            symbol.method == "__call__"
            and inspect.isclass(symbol.owner)
            and hasattr(symbol.owner, "call")
        ):
            _, inner = plan(symbol.owner.call)
            optional = optional + [o for o in inner if o[0] not in dict(optional)]
            required, _ = signature(symbol.owner.call)
            names = [n for n, has, _ in required if not has]
            outer = [n for n, has, _ in signature(symbol.target)[0] if not has]
            if symbol.target is not symbol.owner.call and not outer and names:
                # Keras 3: __call__(*args, **kwargs); ask the layer's own `call`.
                plans = combinations(
                    [
                        (
                            "*" + "args",
                            ["[%s]" % t for t in TENSORS if not t.startswith("[")]
                            + ["@one_list", "@one_list_seq", "@cell_args", "@two"],
                        )
                    ]
                )
            elif (
                symbol.target is not symbol.owner.call
                and names
                and set(names) - set(outer)
                and len(names) > len(outer)
            ):
                plans = (
                    combinations([(n, candidates(n) or TENSORS) for n in names])[:BASE_TRIES]
                    + plans
                )
        plans = [dict(c, **p) for p in plans for c in built[:2]]
        if symbol.owner is not None:
            own = [] if ready_made(symbol.owner) else plan(symbol.owner)[1]
            optional = optional + [("self." + n, d) for n, d in own]
    seen = []
    for tokens in plans:
        if tries >= 3 * BASE_TRIES or len(bases) >= BASE_KEPT:
            break
        tries += 1
        try:
            got = attempt(symbol, tokens)
        except Hang:
            raise
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, MemoryError)):
                raise
            errors.setdefault(type(error).__name__, str(error)[:120])
            continue
        bases.append(tokens)
        seen.append(got)
    if not bases and API == 1:
        for tokens in plans[:20]:
            try:
                seen.append(attempt(symbol, tokens, filled=True))
            except Hang:
                raise
            except Exception:
                continue
            bases.append(tokens)
            break
    elif API == 1 and any("collections" in got.flags for got in seen):
        for tokens in bases:
            try:
                seen.append(attempt(symbol, tokens, filled=True))
            except Hang:
                raise
            except Exception:
                continue
    if not bases:
        return {"error": "; ".join("%s: %s" % e for e in sorted(errors.items())[:2])}
    summary = merge(symbol, seen)
    base_ops = set(s.op for s in seen)
    toggled = 0
    stripped = [
        ("self." if n.startswith("self.") else "", n.replace("self.", "", 1), d)
        for n, d in optional
    ]
    extra = []
    by_prefix = {}
    for prefix, n, d in stripped:
        by_prefix.setdefault(prefix, []).append((n, d))
    pairs = [(p + n, t) for p in ("", "self.") for n, t in toggles(by_prefix.get(p, []))]
    training = [n for n, _ in pairs if n in ("training", "is_training")]
    for name, token in pairs:
        if toggled >= TOGGLE_TRIES:
            break
        choices = [dict(bases[0])]
        if training and name not in training:
            choices.append(dict(bases[0], **{training[0]: "=True"}))
        for base in choices:
            if name in base:
                continue
            toggled += 1
            try:
                got = attempt(
                    symbol, dict(base, **{name: token}), token in ("=True", "=False", "b:", "=None")
                )
            except Hang:
                raise
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, MemoryError)):
                    raise
                continue
            extra.append(got)
    summary = merge(symbol, seen + extra)
    summary["op"] = base_ops.pop() if len(base_ops) == 1 else None
    required_names = set()
    for tokens in bases:
        required_names |= set(k for k, t in tokens.items() if "@" in t)
    called = set()
    for got in seen + extra:
        called |= got.callables
    given = set().union(*[got.required_calls for got in seen])
    if given:
        summary["flags"] = sorted(set(summary["flags"]) | {"calls"})
    # A symbol that can be had without a callable is not of unknown effect for that.
    if any(not got.required_calls for got in seen):
        summary["flags"] = sorted(
            set(summary["flags"]) - ({"calls"} if not unknown_bodies(seen) else set())
        )
    summary["callables"] = sorted(c.replace("self.", "") for c in called)
    summary["tries"] = tries + toggled
    summary["bases"] = bases
    return summary


def unknown_bodies(seen):
    return any("calls" in got.flags for got in seen)


def workable_constructor(cls, plans):
    """Up to two {self.parameter: token} with which the class can be built."""
    key = cls.__module__ + "." + cls.__name__ + str(id(cls))
    if key not in CONSTRUCTORS:
        good = []
        for tokens in plans[: BASE_TRIES // 2]:
            graph = new_graph()
            try:
                with graph.as_default(), outside():
                    maker = Maker()
                    cls(
                        **{
                            k.replace("self.", ""): maker.make(k, t)
                            for k, t in tokens.items()
                            if not k.startswith("*")
                        }
                    )
            except Hang:
                raise
            except Exception:
                continue
            good.append(tokens)
            if len(good) == 2:
                break
        CONSTRUCTORS[key] = good or None
    return CONSTRUCTORS[key]


CONSTRUCTORS: typing.Dict[str, typing.Any] = {}


def merge(symbol, seen):
    flags = set()
    for got in seen:
        flags |= got.flags
    if not all("not-tensor" in got.flags for got in seen):
        flags.discard("not-tensor")
    gradient, completes = {}, {}
    for got in seen:
        for parameter, (kind, complete) in got.gradient.items():
            if parameter in gradient:
                kind = min(kind, gradient[parameter], key=lambda k: WORST[k])
                complete = complete and completes[parameter]
            gradient[parameter], completes[parameter] = kind, complete
    clean = lambda p: "0" if p.startswith("*") and p != "*" else p.replace("self.", "")  # noqa: E731
    return {
        "flags": sorted(flags),
        "gradient": {clean(p): k for p, k in sorted(gradient.items())},
        "completes": sorted(clean(p) for p, c in completes.items() if c),
    }


# ---------------------------------------------------------------------------------------------
# Which symbols pass their input's buffer on: a ref variable is changed in place after the result
# is there; a result that changes too is the variable's own buffer.
# ---------------------------------------------------------------------------------------------


def passes_buffer(symbol, tokens):
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(7)
        variable = []

        def make(value):
            variable.append(v1.Variable(value, use_resource=False))
            return variable[0]

        maker = Maker(constants=True, variable_for=make)
        positional, keyword = arguments(maker, symbol, tokens)
        result = symbol.call(None, positional, keyword)
        tensors, kinds = [], set()
        flatten(result, tensors, kinds)
        tensors = [
            t for t in tensors if isinstance(t, SYMBOLIC) and t.dtype.base_dtype == tf.float32
        ]
        if not variable or not tensors:
            return None
        out = tensors[0]
        read = variable[0]._variable if hasattr(variable[0], "_variable") else variable[0]
        direct = any(
            i is read or (i.op.type == "Identity" and i.op.inputs[0] is read) for i in out.op.inputs
        )
        with tf.control_dependencies([out.op]):
            update = v1.assign_add(variable[0], tf.fill(variable[0].shape, 1000.0))
        with tf.control_dependencies([update.op]):
            late = tf.add(tf.identity(out), 0.0)
        config = v1.ConfigProto(
            operation_timeout_in_ms=4000,
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=1,
        )
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        with v1.Session(graph=graph, config=config) as sess:
            sess.run(v1.global_variables_initializer())
            first = np.asarray(sess.run(out))
            last = np.asarray(sess.run(late))
        passed = bool(first.size and np.abs(first).max() < 500 and np.abs(last).max() > 900)
        return passed, (out.op.type if direct else None)


def main(argv):
    global API
    mode = argv[1]
    API = int(argv[2])
    v1.logging.set_verbosity(v1.logging.ERROR)
    if API == 1 and TF2:
        v1.disable_v2_behavior()
    if mode == "list":
        found, unsafe, same = enumerate_api()
        with open(argv[3], "w") as stream:
            json.dump(
                {"tensorflow": tf.__version__, "symbols": found, "unsafe": unsafe, "same": same},
                stream,
                sort_keys=True,
            )
        return
    if mode == "ops":
        table = {
            name: sorted(REGISTRY.flags(name))
            for name in sorted(REGISTRY.ops)
            if REGISTRY.flags(name)
        }
        with open(argv[3], "w") as stream:
            json.dump(table, stream, sort_keys=True, indent=0)
        return
    with open(argv[3]) as stream:
        paths = json.load(stream)

    def on_alarm(*_):
        raise Hang()

    signal.signal(signal.SIGALRM, on_alarm)
    saved_stdout = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    if not os.environ.get("PROBE_STDERR"):
        os.dup2(null, 2)
    with open(argv[4], "a") as stream:
        for path in paths:
            stream.write(json.dumps({"begin": path}) + "\n")
            stream.flush()
            signal.alarm(SYMBOL_SECONDS)
            try:
                symbol = resolve(path)
                record = probe(symbol)
                if (
                    not TF2
                    and symbol.owner is None
                    and "error" not in record
                    and not set(record["flags"])
                    & {
                        "writes",
                        "iterates",
                        "host",
                        "not-tensor",
                        "calls",
                    }
                ):
                    answers = []
                    for tokens in record["bases"]:
                        try:
                            answers.append(passes_buffer(symbol, tokens))
                        except Hang:
                            raise
                        except Exception:
                            pass
                    answers = [a for a in answers if a is not None]
                    if answers:
                        record["alias"] = any(passed for passed, _ in answers)
                        record["kernels"] = sorted(
                            {kernel for passed, kernel in answers if passed and kernel}
                        )
            except Hang:
                record = {"error": "no answer within %d s" % SYMBOL_SECONDS}
            except BaseException as error:
                record = {"error": "%s: %s" % (type(error).__name__, str(error)[:160])}
            finally:
                signal.alarm(0)
            record["symbol"] = path
            record["defined"] = defined(path)
            record["parameters"] = positional_names(path)
            stream.write(json.dumps(record, sort_keys=True) + "\n")
            stream.flush()
    os.dup2(saved_stdout, 1)


API = 1
if __name__ == "__main__":
    main(sys.argv)
