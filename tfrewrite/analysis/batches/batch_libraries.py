"""Which libraries make batches, and what is known of their functions."""

from __future__ import annotations

from tfrewrite.analysis.program.data_values import MOVING_RANGE

_STREAMS = ("numpy.random", "random")
_DRAWING = frozenset(
    "rand randn random uniform normal randint choice permutation random_sample standard_normal"
    " integers sample shuffle permuted choices gauss randrange binomial poisson beta exponential"
    " laplace gamma multivariate_normal bytes ranf triangular".split()
)
_READING_FILES = frozenset(
    [
        "numpy.load", "numpy.loadtxt", "numpy.fromfile", "numpy.genfromtxt", "cv2.imread",
        "imageio.imread", "skimage.io.imread", "scipy.misc.imread", "PIL.Image.open",
        "matplotlib.pyplot.imread", "matplotlib.image.imread", "scipy.io.loadmat",
        "scipy.ndimage.imread",
    ]
)  # fmt: skip
_COMPUTING = frozenset(
    [
        *(
            f"numpy.{name}"
            for name in "flip fliplr flipud rot90 roll pad atleast_1d atleast_2d atleast_3d"
            " column_stack dstack swapaxes moveaxis rollaxis split array_split broadcast_to"
            " meshgrid outer sin cos tan tanh median percentile interp searchsorted in1d isin"
            " setdiff1d intersect1d"
            " ascontiguousarray asanyarray newaxis digitize histogram std var clip mod remainder"
            " floor_divide true_divide".split()
        ),
        *(f"cv2.{name}" for name in "resize cvtColor flip warpAffine getRotationMatrix2D".split()),
        "scipy.misc.imresize", "skimage.transform.resize", "scipy.ndimage.rotate",
        "scipy.ndimage.zoom", "scipy.ndimage.shift",
    ]
)  # fmt: skip
_MAKING = frozenset({"collections.deque", "numpy.ndarray", *MOVING_RANGE})


def draws(name: str) -> bool:
    """Whether a function or method of this name draws from a random stream."""
    return name in _DRAWING


def stream_of(path: str) -> str | None:
    """The global random stream that a function draws from."""
    module, _, name = path.rpartition(".")
    return module if module in _STREAMS and draws(name) else None


def reads_files(path: str) -> bool:
    """Whether a function does no more than to read a file."""
    return path in _READING_FILES


def computes(path: str) -> bool:
    """Whether a function computes something new of what it is given, and writes nowhere else."""
    return path in _COMPUTING


def only_makes(path: str) -> bool:
    """Whether calling a class makes an object, and does nothing else."""
    return path in _MAKING
