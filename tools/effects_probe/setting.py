"""What every part of the probe stands on: TensorFlow itself, and which API of it is asked about."""

import contextlib
import os
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import ops as tf_ops  # noqa: E402

TF2 = int(tf.__version__.split(".")[0]) >= 2
v1 = tf.compat.v1
API = 1  # or 2; set once, by __main__, and read as setting.API

SYMBOLIC = (tf_ops.Tensor,) if not TF2 else (tf_ops.SymbolicTensor,)
COMPOSITE = (
    (tf.SparseTensor, tf.IndexedSlices, tf.RaggedTensor)
    if hasattr(tf, "RaggedTensor")
    else (tf.SparseTensor, tf.IndexedSlices)
)


class Hang(BaseException):
    pass


@contextlib.contextmanager
def outside():
    """Objects of TensorFlow 2 are made eagerly, before the function that uses them is traced."""
    if API == 2:
        with tf.init_scope():
            yield
    else:
        yield
