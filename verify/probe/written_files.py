"""What a script leaves in its folder: arrays, checkpoints and texts, as observables."""

import contextlib
import gc
import io
import os
import shutil
import stat

import numpy as np

TEXTS = (".txt", ".csv", ".tsv", ".json", ".log")
LARGEST_TEXT = 2 << 20
LARGEST = 256 << 20
MOST = 200
NOT_COMPARED = ("events.out.tfevents", "checkpoint")
ENDINGS_NOT_COMPARED = (".meta", ".pyc", ".data-00000-of-00001")


class WrittenFiles(object):
    """Told from what was there at the beginning by size and time."""

    def __init__(self, tree):
        self._tree = tree
        self._before = dict(self._all())

    def record(self, recorder, folder):
        """Arrays and checkpoints as values; texts as copies in `folder`.

        Returns how many were too many.
        """
        _write_what_is_buffered()
        written = [path for path, state in self._all() if self._before.get(path) != state]
        for path in sorted(written)[:MOST]:
            name = os.path.relpath(path, self._tree)
            if os.path.basename(path).startswith(NOT_COMPARED) or path.endswith(
                ENDINGS_NOT_COMPARED
            ):
                continue
            try:
                self._record(recorder, folder, name, path)
            except Exception as error:  # noqa: BLE001  a file that cannot be read is told, too
                recorder.value("file", name + " (unreadable)", type(error).__name__)
        return max(0, len(written) - MOST)

    def _record(self, recorder, folder, name, path):
        size = os.path.getsize(path)
        if size > LARGEST:
            recorder.value("file", name + " (size)", size)
        elif path.endswith(".npy"):
            recorder.value("file", name, np.load(path, allow_pickle=False), at_end=True)
        elif path.endswith(".npz"):
            with np.load(path, allow_pickle=False) as arrays:
                for key in sorted(arrays.files):
                    recorder.value("file", "%s:%s" % (name, key), arrays[key], at_end=True)
        elif path.endswith(".index"):
            _record_checkpoint(recorder, name[: -len(".index")], path[: -len(".index")])
        elif path.endswith((".h5", ".hdf5")):
            _record_hdf5(recorder, name, path)
        elif path.endswith(TEXTS) and size <= LARGEST_TEXT:
            target = os.path.join(folder, name.replace(os.sep, "__"))
            shutil.copyfile(path, target)
        else:
            with open(path, "rb") as file:
                recorder.value("other file", name, np.frombuffer(file.read(), np.uint8))

    def _all(self):
        for folder, folders, names in os.walk(self._tree):
            folders[:] = [one for one in folders if one != "__pycache__"]
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode):  # a pipe or a device would be read for ever
                    yield path, (status.st_size, status.st_mtime)


def _write_what_is_buffered():
    """A log that the script left open is closed by the interpreter, after we looked."""
    for one in gc.get_objects():
        if issubclass(type(one), io.IOBase):
            with contextlib.suppress(Exception):  # it is closed, or cannot be written to
                one.flush()


def _record_checkpoint(recorder, name, prefix):
    from tensorflow.python.training import checkpoint_utils

    reader = checkpoint_utils.load_checkpoint(prefix)
    for key in sorted(reader.get_variable_to_shape_map()):
        if "OBJECT_GRAPH" not in key and "save_counter" not in key:
            recorder.value("file", "%s:%s" % (name, key), reader.get_tensor(key), at_end=True)


def _record_hdf5(recorder, name, path):
    import h5py

    with h5py.File(path, "r") as file:

        def note(key, item):
            if isinstance(item, h5py.Dataset):
                recorder.value("file", "%s:%s" % (name, key), item[()], at_end=True)

        file.visititems(note)
