"""Which ops stand beneath a result, and what they do to state."""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops as tf_ops

from .registry import REGISTRY, STATELESS_RANDOM
from .setting import COMPOSITE, SYMBOLIC, TF2, v1


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
