"""What TensorFlow's op registry says of each op, boiled down to flags."""

import re

from tensorflow.core.framework import op_def_pb2, types_pb2

from .setting import TF2

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
