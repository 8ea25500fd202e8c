"""The values that the tokens of `samples` stand for, made in the graph of the moment."""

import numpy as np
import tensorflow as tf

from . import setting
from .samples import SEQ
from .setting import TF2, outside, v1


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
            if setting.API == 1:
                return v1.train.get_or_create_global_step()
            return tf.Variable(0, dtype=tf.int64)
        if what == "loss":
            if setting.API == 2:
                variable = self.made("variable")
                return lambda: tf.reduce_sum(variable * variable)
            return tf.reduce_sum(tf.square(self.made("variable")))
        if what == "grads_and_vars":
            return [(self._make("f:4,4"), self.made("variable"))]
        if what == "grads_list":
            return [self._make("f:4,4"), self._make("f:4")]
        if what == "optimizer":
            if setting.API == 2:
                return tf.keras.optimizers.SGD(0.1)
            return v1.train.GradientDescentOptimizer(0.1)
        if what in ("cell", "cells"):
            if setting.API == 2:
                make = lambda: tf.keras.layers.LSTMCell(4)  # noqa: E731
            else:
                make = lambda: v1.nn.rnn_cell.BasicLSTMCell(4)  # noqa: E731
            return make() if what == "cell" else [make(), make()]
        if what == "state4":
            a, b = self._make("f:4,4"), self._make("f:4,4")
            return v1.nn.rnn_cell.LSTMStateTuple(a, b) if setting.API == 1 else [a, b]
        if what == "states":
            return (self.made("state4"), self.made("state4"))
        if what == "state":
            a, b = self._make("f:2,4"), self._make("f:2,4")
            return v1.nn.rnn_cell.LSTMStateTuple(a, b) if setting.API == 1 else [a, b]
        if what == "op":
            return tf.no_op() if setting.API == 2 else v1.no_op()
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
        if what == "sequence_features":
            return {"b": (tf.io if TF2 else tf).FixedLenSequenceFeature([], tf.float32)}
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
