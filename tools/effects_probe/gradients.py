"""Does the gradient wait for the argument's value?"""

import tensorflow as tf

from . import setting
from .beneath import flatten, keras_inner
from .setting import SYMBOLIC, Hang, v1

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
    if value and setting.API == 1 and isinstance(x, SYMBOLIC):
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
