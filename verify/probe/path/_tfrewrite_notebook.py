"""What a notebook finds in IPython and not in Python, where its cells run as one script."""

import importlib.util
import os
import sys
import types

cells = ()
"""The number of each cell, and the line of the script on which it begins."""


def show(value):
    """The value of a cell's last expression."""
    if value is not None:
        sys.stdout.write("%r\n" % (value,))


def display(*values, **options):
    for value in values:
        sys.stdout.write("%r\n" % (value,))


def write(name, text, append):
    with open(os.path.expanduser(name), "a" if append else "w") as file:
        file.write(text)


class Shell(object):
    """Does nothing, whatever it is asked to do."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **options: None


_shell = Shell()


def get_ipython():
    return _shell


class _Shown(object):
    """A picture, a page or a sound that nobody looks at."""

    def __init__(self, *arguments, **options):
        pass

    def __repr__(self):
        return "<%s>" % type(self).__name__


def install():
    """Modules of these names, where IPython is not there."""
    if importlib.util.find_spec("IPython") is not None:
        return
    module = types.ModuleType("IPython")
    shown = types.ModuleType("IPython.display")
    for name in ("Audio", "HTML", "Image", "JSON", "Javascript", "Latex", "Markdown", "SVG",
                 "Video", "YouTubeVideo"):  # fmt: skip
        setattr(shown, name, type(name, (_Shown,), {}))
    shown.display = display
    shown.clear_output = lambda *arguments, **options: None
    module.display = shown
    module.get_ipython = get_ipython
    module.__path__ = []
    sys.modules["IPython"] = module
    sys.modules["IPython.display"] = shown
