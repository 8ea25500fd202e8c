"""Plots of what a loop left too short.

A script that collects a number in each turn often plots them against all the turns that it meant to
make. Where its loops were cut short there are too few, and matplotlib refuses. Nothing of a plot is
compared, so the run goes on without it.
"""

import functools
import re
import sys

# What is given back is handed on, and no more is done with it.
_DRAWING = "bar barh errorbar fill_between fill_betweenx loglog plot semilogx semilogy step".split()
_TOO_SHORT = re.compile(
    r"same first dimension|same (?:size|length|shape|number)|shape mismatch|broadcast"
    r"|incompatible|not aligned|size mismatch|unequal size",
    re.IGNORECASE,
)
NOTE = "a plot was left out: its loops were cut short, so that there was too little to plot"


def install(is_cut, notes):
    """Once matplotlib is there; `is_cut` tells whether a loop was ended early."""
    module = sys.modules.get("matplotlib.axes")
    axes = getattr(module, "Axes", None)
    if axes is None or hasattr(axes, "_tfrewrite"):
        return
    axes._tfrewrite = True
    for name in _DRAWING:
        real = getattr(axes, name, None)
        if real is not None:
            setattr(axes, name, _lenient(real, is_cut, notes))


def _lenient(real, is_cut, notes):
    @functools.wraps(real)
    def drawing(*arguments, **options):
        try:
            return real(*arguments, **options)
        except ValueError as error:
            if not is_cut() or not _TOO_SHORT.search(str(error)):
                raise
            if NOTE not in notes:
                notes.append(NOTE)
            return []

    return drawing
