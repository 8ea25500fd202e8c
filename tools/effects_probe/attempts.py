"""One attempt: build a symbol once with given arguments, and look."""

import inspect
import sys
import types

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops as tf_ops

from . import setting
from .beneath import flags_beneath, flatten, is_variable
from .gradients import gradient_kinds
from .maker import Maker
from .setting import SYMBOLIC, TF2, v1
from .symbols import signature

PUBLIC_KEYS = frozenset(
    value
    for key, value in vars(v1.GraphKeys).items()
    if key.isupper() and not key.startswith("_") and isinstance(value, str)
)
# What a caller's own collection is named in `samples`.
CALLERS_KEY = "probe"
READING = ("get_collection", "get_collection_ref")


class Watch(object):
    """Notes which public collections are read, and which variables are made, while it is on."""

    def __init__(self, graph):
        self.graph, self.keys, self.variables = graph, set(), []

    def __enter__(self):
        cls = self.cls = type(self.graph)
        watch = self
        original, reference = cls.get_collection, cls.get_collection_ref
        self.own = {n: vars(cls)[n] for n in READING if n in vars(cls)}

        def note(name):
            if name in PUBLIC_KEYS and name not in ("cond_context", "while_context"):
                frame = sys._getframe(2)
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

        def get_collection(graph, name, scope=None):
            note(name)
            return original(graph, name, scope)

        def get_collection_ref(graph, name):
            # The graph of a function's body shares the collections of variables; an optimizer looks
            # whether its update is already among the training ops.
            shared = name in v1.GraphKeys._VARIABLE_COLLECTIONS
            if not shared and name != v1.GraphKeys.TRAIN_OP:
                note(name)
            return reference(graph, name)

        cls.get_collection, cls.get_collection_ref = get_collection, get_collection_ref

        def creator(next_creator, **kwargs):
            variable = next_creator(**kwargs)
            watch.variables.append(variable)
            return variable

        self.scope = (
            v1.variable_creator_scope(creator)
            if not TF2 or setting.API == 1
            else tf.variable_creator_scope(creator)
        )
        self.scope.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.scope.__exit__(None, None, None)
        except Exception:
            pass
        for name in READING:
            if name in self.own:
                setattr(self.cls, name, self.own[name])
            else:
                delattr(self.cls, name)


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
    if setting.API == 2:
        from tensorflow.python.framework import func_graph

        return func_graph.FuncGraph("probe")
    return tf.Graph()


def sizes(graph):
    return {
        key: len(graph._collections.get(key, ()))
        for key in graph._collections
        if key in PUBLIC_KEYS or (isinstance(key, str) and key == CALLERS_KEY)
    }


class Seen(object):
    __slots__ = ("flags", "op", "gradient", "callables", "required_calls", "asks_graph")


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
    v1.train.create_global_step(graph)


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
        (v1.set_random_seed if setting.API == 1 else tf.random.set_seed)(7)
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
        if setting.API == 2:
            # Functions run every op with an effect that they contain, returned or not.
            roots += [op for op in graph.get_operations() if op.name not in old]
        flags, _ = flags_beneath(graph, roots)
        made = variables_of(graph) - before_variables
        if (
            made
            or watch.variables
            or (
                setting.API == 2
                and symbol.owner is None
                and inspect.isclass(symbol.target)
                and has_variables(result)
            )
        ):
            flags.add("creates")
        if "variable" in kinds:
            flags.add("reads")
        if setting.API == 1 and watch.keys - {"global_step"}:
            flags.add("collections")
        grown = set(k for k, n in sizes(graph).items() if n > before.get(k, 0))
        if setting.API == 1 and grown - VARIABLE_COLLECTIONS:
            flags.add("registers")
        if not kinds - {"object"}:
            flags.add("not-tensor")
        seen = Seen()
        seen.flags = flags
        seen.asks_graph = bool(watch.keys)
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
        if gradients and single and not flags & {"writes", "iterates"}:
            trainable = [v for v in watch.variables if getattr(v, "trainable", False)]
            if not symbol.owner or symbol.method == "__call__":
                seen.gradient = gradient_kinds(graph, maker, result, trainable)
        return seen


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


# Which symbols pass their input's buffer on: a ref variable is changed in place after the result is
# there; a result that changes too is the variable's own buffer.


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
