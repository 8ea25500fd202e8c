"""Writes down what a run shows: one line for each value, its numbers in a file beside it.

A value is written whole while it is small. Of a large one a fixed choice of its elements is kept,
with a digest of all its bytes, so that a run can be followed step by step without filling the disk.
The program `compare.py` reads it.
"""

import hashlib
import json
import os
import threading

import numpy as np

WHOLE = 1 << 14
"""Arrays with more elements than this are kept in part."""
WHOLE_AT_END = 1 << 22
NUMERIC = "biufc"


class Recorder(object):
    """The record of one run, in a folder of its own."""

    def __init__(self, folder):
        self._values = open(os.path.join(folder, "values.bin"), "wb")  # noqa: SIM115
        self._lines = open(os.path.join(folder, "values.jsonl"), "w")  # noqa: SIM115
        self._at = 0
        self._last = {}
        self._chosen = {}
        self._lock = threading.Lock()
        self.now = lambda kind: 0

    def value(self, kind, name, value, at_end=False, of_update=False, loop=None, trained=True):
        """Notes the value of an observable; the same value as at the last step costs a line."""
        array = np.asarray(value)
        if array.dtype.kind not in NUMERIC:
            array = _widened(array)
        entry = {"kind": kind, "name": name, "step": self.now(kind)}
        if of_update:
            entry["of_update"] = True
        if not trained:
            entry["trained"] = False
        if loop is not None:
            entry["loop"] = loop
        if array is None:
            entry["text"] = _digest(repr(value).encode("utf-8", "replace"))
        else:
            entry.update(self._kept(kind, name, array, WHOLE_AT_END if at_end else WHOLE))
        with self._lock:
            self._lines.write(json.dumps(entry) + "\n")

    def _kept(self, kind, name, array, limit):
        array = np.ascontiguousarray(array)
        digest = _digest(array.tobytes() if array.size < limit else memoryview(array).cast("B"))
        entry = {"dtype": array.dtype.str, "shape": list(array.shape), "digest": digest}
        with self._lock:
            known = self._last.get((kind, name))
            if known is None or known["digest"] != digest or known["dtype"] != entry["dtype"]:
                part = array.reshape(-1)
                if part.size > limit:
                    part = part[self._places(part.size, limit)]
                data = part.tobytes()
                known = {"digest": digest, "dtype": entry["dtype"], "at": self._at, "n": part.size}
                self._values.write(data)
                self._at += len(data)
                self._last[kind, name] = known
            entry.update(at=known["at"], n=known["n"])
        return entry

    def _places(self, size, limit):
        """Which elements are kept: one of each stretch, and not the same one of each.

        At even distances these could all be of one column.
        """
        known = self._chosen.get((size, limit))
        if known is None:
            stretch = -(-size // limit)
            numbers = np.arange(size // stretch, dtype=np.uint64)
            within = (numbers * np.uint64(2654435761) >> np.uint64(7)) % np.uint64(stretch)
            known = (numbers * np.uint64(stretch) + within).astype(np.int64)
            self._chosen[size, limit] = known
        return known

    def flush(self):
        with self._lock:
            self._values.flush()
            self._lines.flush()

    def forget(self):
        """In a forked process: what it inherited unwritten is written by the other."""
        self._lock = threading.Lock()
        with open(os.devnull, "wb") as nowhere:
            for file in (self._values, self._lines):
                os.dup2(nowhere.fileno(), file.fileno())

    def close(self):
        self.flush()
        self._values.close()
        self._lines.close()


def _widened(array):
    """An array of numbers that numpy has no type for (bfloat16), or None for what is no number."""
    if array.dtype.kind == "V" and array.dtype.names is None:
        try:
            return array.astype(np.float32)
        except (TypeError, ValueError):
            return None
    return None


def _digest(data):
    return hashlib.blake2b(data, digest_size=16).hexdigest()
