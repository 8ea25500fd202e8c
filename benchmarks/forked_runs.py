"""Runs scripts, each in a fork of a process that has imported TensorFlow and done nothing with it.

    PYTHON benchmarks/forked_runs.py SECONDS

Reads a path a line, and answers each with a line of JSON: what the script printed, the exception
that ended it, the values of all variables, the names of the module, and the time it took. A script
that takes longer than so many seconds is ended. Runs in any TensorFlow.
"""

import gc
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
import types
import warnings
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np
import tensorflow as tf
from tensorflow.compat import v1
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

warnings.simplefilter("ignore")
logging.getLogger("tensorflow").setLevel(logging.ERROR)

LARGEST = 1000000
CLOCK = 1000.0
SESSION = v1.Session.__bases__[0]
IN_GRAPH = tf.__version__.startswith("1.")


def told(value):
    """What is compared of an array."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        return repr(array.tolist())[:200]
    return [float(np.sum(array)), float(np.sum(np.abs(array)))]


class Sessions:
    """Has all sessions compute in one order, and notes what their variables hold at the end."""

    def __init__(self):
        self.open = []
        self.values = []
        start, close = SESSION.__init__, SESSION.close

        def started(session, target="", graph=None, config=None):
            config = config or v1.ConfigProto()
            config.intra_op_parallelism_threads = config.inter_op_parallelism_threads = 1
            start(session, target, graph, config)
            self.open.append(session)

        def closed(session):
            self.note(session)
            close(session)

        SESSION.__init__, SESSION.close = started, closed

    def note(self, session):
        if session not in self.open:
            return
        self.open.remove(session)
        for kind in (v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.LOCAL_VARIABLES):
            for variable in session.graph.get_collection(kind):
                try:
                    value = told(session.run(variable))
                except Exception as error:  # noqa: BLE001  such as one that has no value yet
                    value = type(error).__name__
                self.values.append([variable.name, value])

    def all(self):
        for session in list(self.open):
            self.note(session)
        return self.values


def of_eager_mode():
    """The values of all variables that are there, in an order of their own."""
    found = [one for one in gc.get_objects() if isinstance(one, BaseResourceVariable)]
    values = [[f"{one.name} {one.shape}", told(one.numpy())] for one in found]
    return sorted(values, key=lambda one: (one[0], one[1][-1]))


def seeded():
    """As if each run were the same; the clock stands still."""
    random.seed(5)
    np.random.seed(5)
    time.time = time.perf_counter = lambda: CLOCK
    if not IN_GRAPH:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.random.set_seed(5)


def run(path, out):
    """What came of the script, and how it ended."""
    text = Path(path).read_text()
    clock, seconds = time.time, time.time()
    sessions = Sessions()
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"], sys.argv = module, [path]
    seeded()
    ended = None
    try:
        exec(compile(text, path, "exec"), module.__dict__)  # noqa: S102
    except SystemExit as error:
        ended = f"SystemExit {error.code!r}"
    except Exception as error:  # noqa: BLE001
        ended = type(error).__name__
    seconds = clock() - seconds
    graphs = IN_GRAPH or "disable_v2_behavior()" in text
    values = sessions.all() if graphs else of_eager_mode()
    sys.stdout.flush()
    printed = "" if out.stat().st_size > LARGEST else out.read_text()
    names = {
        name: [one.__name__ for one in type(value).__mro__[:-1]]
        for name, value in vars(module).items()
        if not name.startswith("_")
    }
    return {
        "ended": ended, "printed": printed, "values": values, "names": names, "seconds": seconds,
    }  # fmt: skip


def in_fork(path, answers):
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    out = Path(folder, "printed")
    os.dup2(os.open(str(out), os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stdout = os.fdopen(1, "w")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(sys.argv[1]))
    with os.fdopen(answers, "w") as stream:
        json.dump(run(path, out), stream)


def answered(path):
    """The line of a run; one that was ended from outside says so."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            in_fork(path, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        line = stream.read()
    os.waitpid(child, 0)
    killed = {"ended": "killed", "printed": "", "values": [], "names": {}, "seconds": 0.0}
    return line or json.dumps(killed)


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        print(answered(line.strip()), flush=True)


if __name__ == "__main__":
    main()
