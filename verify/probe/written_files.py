"""What a script leaves in its folders: arrays, checkpoints, pickles and texts, as observables."""

import contextlib
import gc
import io
import os
import pickle
import shutil
import stat
import zipfile

import numpy as np

PICKLES = (".pkl", ".pickle", ".p")
TEXTS = (".txt", ".csv", ".tsv", ".json", ".log")
NUMERIC = "biufc"
LARGEST_TEXT = 2 << 20
LARGEST = 256 << 20
MOST = 200
NOT_COMPARED = ("events.out.tfevents", "checkpoint")
ENDINGS_NOT_COMPARED = (".meta", ".pyc", ".data-00000-of-00001")


class WrittenFiles(object):
    """Told from what was there at the beginning by size and time.

    `places` are folders and what they are called before the names of the files in them.
    """

    def __init__(self, places):
        self._places = places
        self._before = {path: state for path, _, state in self._all()}

    def record(self, recorder, folder):
        """Arrays and checkpoints as values; texts as copies in `folder`.

        Returns how many were too many.
        """
        _write_what_is_buffered()
        written = [
            (path, name) for path, name, state in self._all() if self._before.get(path) != state
        ]
        for path, name in sorted(written)[:MOST]:
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
        elif path.endswith(".keras"):
            with zipfile.ZipFile(path) as parts:
                for part in parts.namelist():
                    if part.endswith(".h5"):
                        _record_hdf5(recorder, name, io.BytesIO(parts.read(part)))
        elif path.endswith(PICKLES) and _record_pickle(recorder, name, path):
            pass
        elif path.endswith(TEXTS) and size <= LARGEST_TEXT:
            target = os.path.join(folder, name.replace(os.sep, "__"))
            shutil.copyfile(path, target)
        else:
            with open(path, "rb") as file:
                data = np.frombuffer(file.read(), np.uint8)
            recorder.value("other file", name, data, at_end=True)

    def _all(self):
        """Each file with its name and its state."""
        for place, called in self._places:
            for folder, folders, names in os.walk(place):
                folders[:] = [one for one in folders if not _is_left_out(one, called)]
                for name in names:
                    path = os.path.join(folder, name)
                    try:
                        status = os.stat(path)
                    except OSError:
                        continue
                    if stat.S_ISREG(status.st_mode):  # a pipe or a device would be read for ever
                        shown = os.path.join(called, os.path.relpath(path, place))
                        yield path, shown, (status.st_size, status.st_mtime)


def _is_left_out(folder, called):
    """Caches of Python; and in a home, which has a name, what libraries keep for themselves."""
    return folder == "__pycache__" or (bool(called) and folder.startswith("."))


def _write_what_is_buffered():
    """A log that the script left open is closed by the interpreter, after we looked."""
    for one in gc.get_objects():
        if issubclass(type(one), io.IOBase):
            with contextlib.suppress(Exception):  # it is closed, or cannot be written to
                one.flush()


def _record_pickle(recorder, name, path):
    """The numbers in a pickle, as it is written by the script; whether it holds nothing else."""
    try:
        with open(path, "rb") as file:
            found = list(_leaves(pickle.load(file), name))  # noqa: S301  it is the script's own
    except Exception:  # noqa: BLE001  it may hold anything
        return False
    for key, value in found:
        recorder.value("file", key, value, at_end=True)
    return True


def _leaves(value, name):
    """The numbers and texts in lists and dictionaries; what holds anything else raises.

    A list of numbers is a series, as a column of a table is.
    """
    if isinstance(value, dict):
        for key in value:
            for pair in _leaves(value[key], "%s:%s" % (name, key)):
                yield pair
    elif isinstance(value, (list, tuple)):
        plain = all(np.ndim(one) == 0 and _is_number(one) for one in value)
        for place, one in enumerate(value):
            shown = "(%d numbers)" % len(value) if plain else "[%d]" % place
            for pair in _leaves(one, "%s%s" % (name, shown)):
                yield pair
    elif value is None or isinstance(value, str):
        yield name, str(value)
    elif _is_number(value):
        yield name, value
    else:
        raise TypeError("no number")


def _is_number(value):
    return np.asarray(value).dtype.kind in NUMERIC


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
