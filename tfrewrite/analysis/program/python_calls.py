"""What ordinary Python and numpy calls do: nothing, print something, or change an argument.

TensorFlow's own symbols are not here: their effects are measured (see `effects.json`).
"""

from __future__ import annotations

import ast
from enum import Enum


class CallEffect(Enum):
    """What a call does, beside giving a value."""

    PURE = "pure"
    HOST = "host"  # writes to the screen, a log, a plot; reads a clock or a random stream
    MUTATES = "mutates"  # changes its first argument or its receiver
    UNKNOWN = "unknown"


_PURE_BUILTINS = frozenset(
    "abs all any bool bytes chr complex dict divmod enumerate filter float format frozenset hash"
    " hex int isinstance issubclass len list max min oct ord pow range repr reversed round set"
    " slice"
    " sorted str sum tuple type zip xrange unicode long".split()
)
# What draws from a random stream of its own.
NUMPY_STREAMS = frozenset({"numpy.random.RandomState", "numpy.random.default_rng"})
STREAM_OBJECTS = NUMPY_STREAMS | {"random.Random"}
# Functions that call back into what they are given are as unknown as that.
_CALLING_BACK = frozenset({"builtins.filter", "builtins.map"})
_PURE_MODULES = ("math", "string")
_HOST_PATHS = (
    "builtins.print",
    "time.",
    "logging.",
    "sys.stdout.",
    "sys.stderr.",
    "random.",
    "matplotlib.pyplot.",
    "absl.logging.",
    "tensorflow.logging.",
    "tensorflow.print",
    "datetime.",
)
_PURE_PATHS = frozenset(f"os.path.{name}" for name in "join basename dirname splitext".split())
_PURE_IN_NUMPY = frozenset(
    "mean sum std var min max amin amax abs absolute argmax argmin argsort array asarray zeros ones"
    " full empty arange linspace reshape concatenate stack vstack hstack expand_dims squeeze"
    " transpose sqrt exp log log10 log2 square power maximum minimum clip round floor ceil isnan"
    " isinf isfinite any all equal not_equal less greater where dot matmul prod cumsum average"
    " unique bincount float32 float64 float16 int8 int16 int32 int64 uint8 bool_ eye tile repeat"
    " ravel sign array_equal allclose sort nonzero count_nonzero diff add subtract multiply divide"
    " zeros_like ones_like".split()
)
_DRAWING_IN_NUMPY = frozenset(
    "rand randn random uniform normal randint choice permutation seed random_sample".split()
)
_KEYWORDS_IN_NUMPY = frozenset("axis dtype keepdims size shape order a x low high p".split())
# Builtins that give one element after the other, and only once.
LAZY = frozenset(f"builtins.{name}" for name in "zip enumerate reversed".split())
_MUTATING_PATHS = frozenset(
    [
        "random.shuffle",
        "numpy.random.shuffle",
        *(f"numpy.{name}" for name in ("copyto put place putmask fill_diagonal resize".split())),
        "numpy.put_along_axis",
    ]
)
# Builtins that loop over what they are given.
CONSUMING = frozenset(
    [
        *(
            f"builtins.{name}"
            for name in "all any dict enumerate frozenset list max min set".split()
        ),
        *(f"builtins.{name}" for name in "sorted sum tuple zip reversed".split()),
        "numpy.sum",
    ]
)
_UNARY_IN_NUMPY = frozenset(
    f"numpy.{name}"
    for name in (
        "abs absolute fabs negative positive sign exp exp2 expm1 log log2 log10 log1p sqrt cbrt"
        " square reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh floor ceil trunc rint"
        " isnan isinf isfinite logical_not invert conj conjugate deg2rad rad2deg degrees radians"
    ).split()
)
_NO_OUTPUT_ARGUMENT = frozenset(
    f"numpy.{name}" for name in "where linspace arange full array zeros ones reshape".split()
)
# Expressions that give no array which something else may hold.
_NO_PLACES = (
    ast.Constant, ast.UnaryOp, ast.BinOp, ast.Compare, ast.List, ast.Tuple, ast.JoinedStr,
)  # fmt: skip
# Attributes of an array which, when they are set, change it for all who look at its memory.
SET_IN_ARRAYS = frozenset("shape strides dtype flat real imag data mask".split())
REDUCING_METHODS = frozenset(
    "mean sum std var min max prod cumsum all any round dot argmax argmin argsort ptp".split()
)
_MUTATING_METHODS = frozenset(
    "append extend insert add update remove discard clear sort reverse pop popleft appendleft"
    " setdefault fill itemset put resize setflags partition".split()
)
_PURE_METHODS = frozenset(
    "format join split rsplit strip lstrip rstrip lower upper title startswith endswith replace"
    " ljust rjust center zfill encode decode count index find copy keys values items get mean sum"
    " std var min max argmax argmin astype reshape ravel flatten transpose tolist item round"
    " squeeze dot cumsum prod all any nonzero total_seconds strftime isoformat".split()
)


# Libraries that know no tensors: whatever they return is data, made when the graph is built.
_DATA_LIBRARIES = frozenset(
    "argparse collections copy csv cv2 datetime glob gzip h5py imageio itertools json math"
    " matplotlib numpy os pandas pathlib pickle PIL random re scipy sklearn skimage string struct"
    " sys time urllib zipfile".split()
)


def gives_data(path: str) -> bool:
    """Whether what a library's name gives is ordinary data, and can be no part of a graph."""
    return path.partition(".")[0] in _DATA_LIBRARIES


def effect_of_path(path: str) -> CallEffect:
    """The effect of calling what a dotted path names, such as `builtins.len` or `numpy.mean`."""
    if path in _MUTATING_PATHS:
        return CallEffect.MUTATES
    if path in _CALLING_BACK:
        return CallEffect.UNKNOWN
    if path.startswith(_HOST_PATHS):
        return CallEffect.UNKNOWN if "._" in path else CallEffect.HOST
    module, _, name = path.rpartition(".")
    if module == "builtins":
        return CallEffect.PURE if name in _PURE_BUILTINS else CallEffect.UNKNOWN
    if module == "numpy":
        return CallEffect.PURE if name in _PURE_IN_NUMPY else CallEffect.UNKNOWN
    if module == "numpy.random":
        return CallEffect.HOST if name in _DRAWING_IN_NUMPY else CallEffect.UNKNOWN
    if path in _PURE_PATHS:
        return CallEffect.PURE
    if any(path.startswith(f"{pure}.") for pure in _PURE_MODULES):
        return CallEffect.PURE
    return CallEffect.UNKNOWN


def effect_of_method(name: str) -> CallEffect:
    """The effect of a method of a built-in or numpy object."""
    if name in _MUTATING_METHODS:
        return CallEffect.MUTATES
    return CallEffect.PURE if name in _PURE_METHODS else CallEffect.UNKNOWN


def writes_to_argument(call: ast.Call, path: str | None) -> bool:
    """Whether a call is given an array to write to: `out=`, or its positional spelling.

    A `key=` is as bad: it is a function that is called back.
    """
    if any(keyword.arg in ("out", "key", "copy", "file", None) for keyword in call.keywords):
        return True
    method = call.func.attr if path is None and isinstance(call.func, ast.Attribute) else ""
    if method in REDUCING_METHODS:
        return _may_be_written(call, 1)
    if path is None or not path.startswith("numpy.") or path in _NO_OUTPUT_ARGUMENT:
        return False
    if any(keyword.arg not in _KEYWORDS_IN_NUMPY for keyword in call.keywords):
        return True
    if path.startswith("numpy.random."):
        return False
    return _may_be_written(call, 1 if path in _UNARY_IN_NUMPY else 2)


def _may_be_written(call: ast.Call, first: int) -> bool:
    """Whether one of the arguments from a position on may be an array to write to."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return True
    return not all(isinstance(argument, _NO_PLACES) for argument in call.args[first:])
