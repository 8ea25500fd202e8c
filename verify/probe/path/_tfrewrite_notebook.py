"""What a notebook finds in IPython and not in Python, where its cells run as one script."""

import importlib
import importlib.abc
import importlib.machinery
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


class Handle(object):
    """What is shown in the place of something that was shown before."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, value, **options):
        display(value)

    update = display


def display(*values, **options):
    for value in values:
        sys.stdout.write("%r\n" % (value,))
    wanted = options.get("display_id")
    return Handle("shown" if wanted is True else wanted) if wanted else None


def make_folders(*names):
    for name in names:
        name = os.path.expanduser(name)
        if not os.path.isdir(name):
            os.makedirs(name)


def write(name, text, append):
    with open(os.path.expanduser(name), "a" if append else "w") as file:
        file.write(text)


class Nothing(object):
    """A part of the shell: has all attributes and no content, and does nothing when called."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *arguments, **options):
        return None

    def __repr__(self):
        return "<%s.%s object>" % (__name__, type(self).__name__)

    def __contains__(self, item):
        return False

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __bool__(self):
        return True


class Shell(Nothing):
    """Does nothing, whatever it is asked to do."""

    def getoutput(self, *arguments, **options):
        return []


_shell = Shell()


def get_ipython():
    return _shell


_PICTURES = (
    "Audio Code DisplayObject FileLink FileLinks GeoJSON HTML IFrame Image JSON Javascript Latex "
    "Markdown Math Pretty ProgressBar SVG ScribdDocument TextDisplayObject Video VimeoVideo "
    "YouTubeVideo"
)
_DRAWING = (
    "clear_output display_html display_javascript display_jpeg display_json display_latex "
    "display_markdown display_pdf display_png display_pretty display_svg publish_display_data "
    "set_matplotlib_close set_matplotlib_formats"
)


def _nothing(*arguments, **options):
    return None


class _Shown(object):
    """A picture, a page or a sound that nobody looks at."""

    def __init__(self, *arguments, **options):
        pass

    def __repr__(self):
        return "<%s>" % type(self).__name__


class _PlainProgress(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives bars of text as `tqdm.notebook`, which needs ipywidgets to draw any."""

    def find_spec(self, name, path=None, target=None):
        if name not in ("tqdm.notebook", "tqdm._tqdm_notebook"):
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from tqdm import std

        module.tqdm = module.tqdm_notebook = std.tqdm
        module.trange = module.tnrange = std.trange
        module.IProgress = None
        module.WARN_NOIPYW = ""


def install():
    """IPython as a notebook finds it: already imported, and with a shell."""
    if importlib.util.find_spec("ipywidgets") is None:
        sys.meta_path.insert(0, _PlainProgress())
    if importlib.util.find_spec("IPython") is None:
        _stand_in()
        return
    try:
        importlib.import_module("IPython.display")
    except Exception:  # noqa: BLE001  the notebook will see, if it needs it
        return
    for name in ("IPython", "IPython.core.getipython"):
        if name in sys.modules:
            sys.modules[name].get_ipython = get_ipython
    for name in ("IPython.display", "IPython.core.display", "IPython.core.display_functions"):
        if hasattr(sys.modules.get(name), "display"):
            sys.modules[name].display = display


def _stand_in():
    """Modules of these names, for what notebooks import of them."""
    module = types.ModuleType("IPython")
    shown = types.ModuleType("IPython.display")
    for name in _PICTURES.split():
        setattr(shown, name, type(name, (_Shown,), {}))
    for name in _DRAWING.split():
        setattr(shown, name, _nothing)
    shown.DisplayHandle, shown.update_display = Handle, display
    shown.display = display
    module.display = shown
    module.get_ipython = get_ipython
    module.version_info = (9, 0, 0, "")
    module.__version__ = "9.0.0"
    module.__path__ = []
    sys.modules["IPython"] = module
    sys.modules["IPython.display"] = shown
    # Keras looks for the last, to see that a missing Graphviz is to be said and not raised.
    core, tools, magics, namespace = (
        types.ModuleType("IPython." + name)
        for name in ("core", "core.pylabtools", "core.magics", "core.magics.namespace")
    )
    tools.backend2gui = {}  # old versions of matplotlib look for it
    module.core, core.display, core.pylabtools = core, shown, tools
    core.magics, magics.namespace = magics, namespace
    sys.modules["IPython.core.display"] = shown
    core.__path__ = magics.__path__ = []
    for one in (core, tools, magics, namespace):
        sys.modules[one.__name__] = one
