"""tfrewrite makes legacy TensorFlow training scripts fast without changing what they compute."""

from tfrewrite.version import __version__

__all__ = ["__version__"]
