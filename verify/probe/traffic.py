"""What a script exchanges with its graph in a step: runs, what is fed to them, and their time."""

import contextlib
import sys
from time import time as clock


class Traffic(object):
    """Counts runs of sessions, one entry a step; what is recorded meanwhile takes no time of it."""

    def __init__(self):
        self._began = None
        self._steps = []
        self._forget()

    def _forget(self):
        self._runs = 0
        self._fed_bytes = 0
        self._inside_s = 0.0
        self._around_s = 0.0

    @contextlib.contextmanager
    def around(self):
        """A run with all that is recorded of it."""
        began = clock()
        try:
            yield
        finally:
            self._around_s += clock() - began

    def through(self, feed, real):
        """Makes a run and counts it."""
        began = clock()
        try:
            return real()
        finally:
            self._runs += 1
            self._inside_s += clock() - began
            self._fed_bytes += _bytes(feed)

    def end_step(self):
        if self._began is not None:
            outside_s = clock() - self._began - self._around_s
            self._steps.append((self._runs, self._fed_bytes, self._inside_s, outside_s))

    def begin_step(self):
        self._forget()
        self._began = clock()

    def a_step(self):
        """Runs, bytes fed, and seconds within runs and outside, each as in the step in the middle.

        The first step is left out, and with it what comes before it.
        """
        return [sorted(column)[len(column) // 2] for column in zip(*self._steps)]


def _bytes(feed):
    numpy = sys.modules.get("numpy")
    total = 0
    try:
        for value in dict(feed or {}).values():
            size = getattr(value, "nbytes", None)
            total += int(numpy.asarray(value).nbytes if size is None else size)
    except Exception:  # noqa: BLE001  the run itself says what is wrong with the feed
        return total
    return total
