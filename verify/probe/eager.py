"""Sees what a script reads from eager tensors, and when something was computed.

Only a read by a file of the script's own is noted; TensorFlow and Keras read all the time.
"""

import sys
import threading

from .own_code import is_own

READS = (
    "numpy",
    "__array__",
    "__float__",
    "__int__",
    "__bool__",
    "__format__",
    "__str__",
    "__repr__",
)


class EagerObserver(object):
    """Stands between the script and its tensors; `tree` is the folder of the script."""

    def __init__(self, recorder, loops, tree):
        self._recorder = recorder
        self._loops = loops
        self._tree = tree
        self._inside = threading.local()

    def install(self, ops, tfe, def_function):
        self._install_reads(ops)
        self._install_execution(tfe)
        self._install_functions(def_function)

    def _install_reads(self, ops):
        base = getattr(ops, "_EagerTensorBase", None)
        if base is None:
            return
        for method in READS:
            real = base.__dict__.get(method)
            if real is not None:
                setattr(base, method, self._reading(real))

    def _reading(self, real):
        def read(tensor, *arguments, **options):
            value = real(tensor, *arguments, **options)
            if not getattr(self._inside, "on", False) and is_own(sys._getframe(1), self._tree):
                self._inside.on = True
                try:
                    array = tensor._numpy()
                    shape = "x".join(str(size) for size in array.shape) or "scalar"
                    self._recorder.value("read", "%s %s" % (array.dtype, shape), array)
                except Exception:  # noqa: BLE001, S110  what cannot be noted is read all the same
                    pass
                finally:
                    self._inside.on = False
            return value

        read.__name__ = getattr(real, "__name__", "read")
        read.__doc__ = real.__doc__
        return read

    def _install_execution(self, tfe):
        """Every op that runs eagerly goes through one of these."""
        for name in ("TFE_Py_FastPathExecute", "TFE_Py_Execute"):
            real = getattr(tfe, name, None)
            if real is not None:
                setattr(tfe, name, self._working(real))

    def _install_functions(self, def_function):
        function = getattr(def_function, "Function", None)
        if function is not None:
            function.__call__ = self._working(function.__call__)

    def _working(self, real):
        loops = self._loops

        def work(*arguments, **options):
            loops.worked = True
            return real(*arguments, **options)

        work.__name__ = getattr(real, "__name__", "work")
        work.__doc__ = getattr(real, "__doc__", None)
        return work
