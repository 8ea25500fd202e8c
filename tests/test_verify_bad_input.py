"""Whatever a script does, there is a clear verdict with its reason, and nothing of it is left.

The scripts need no TensorFlow, since a run without it takes half a second; they run where there is
one. After every test the fixture `place` holds the user's folder to what it was before, and looks
for temporary folders and processes.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tfrewrite.options import Options
from tfrewrite.verify import settings
from tfrewrite.verify.model import Kind, Verdict, Verification
from tfrewrite.verify.runs import PROBE, Conditions
from tfrewrite.verifying import VerifyOptions, VerifySession, rendered

pytestmark = pytest.mark.tensorflow
linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")

TRAIN = """
import numpy as np
w = np.zeros(4)
for step in range(5):
    w = w - 0.1 * (w - 1)
    print("loss", float(((w - 1) ** 2).sum()))
"""
ALL_LOSSES = "all 5 values of 1 observables are the same bit for bit"
CHANGED = b"\n# another version\n"
ENOUGH_S = 60.0
SHORT_S = 1.5


class Place:
    """A user's folder with a script, the rewritten version elsewhere, and what must stay clean."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.python = python
        self.project = folder / "project"
        self.temporary = folder / "tmp"
        self.other = folder / "other.py"
        for one in (self.project, self.temporary):
            one.mkdir()
        self.before: dict[str, Any] = {}

    def write(self, original: str | bytes, rewritten: str | bytes | None = None) -> None:
        source = as_bytes(original)
        (self.project / "train.py").write_bytes(source)
        self.other.write_bytes(source + CHANGED if rewritten is None else as_bytes(rewritten))

    def options(self, **options: Any) -> VerifyOptions:
        self.before = contents(self.project)
        given = {"python": self.python, "timeout_s": ENOUGH_S, "quick": True, **options}
        paths = given.pop("paths", [self.project / "train.py", self.other])
        return VerifyOptions(paths, quiet=True, rules=Options([str(paths[0])]), **given)

    def verify(
        self, original: str | bytes, rewritten: str | bytes | None = None, **options: Any
    ) -> Verification:
        self.write(original, rewritten)
        (found,) = VerifySession(self.options(**options)).verifications()
        return found

    def require_clean(self) -> None:
        assert contents(self.project) == self.before
        assert list(self.temporary.iterdir()) == []
        assert processes_with(str(self.temporary)) == []


@pytest.fixture
def place(tmp_path: Path, tf1_python: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    found = Place(tmp_path, tf1_python)
    monkeypatch.setattr(tempfile, "tempdir", str(found.temporary))
    yield found
    found.require_clean()


def as_bytes(source: str | bytes) -> bytes:
    return source if isinstance(source, bytes) else dedent(source).encode()


def contents(folder: Path) -> dict[str, Any]:
    """Everything below a folder, byte for byte, with modes and times."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


def processes_with(text: str) -> list[str]:
    """The processes whose environment names this, as that of every run names its folders."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_bytes().decode())
        except OSError:  # noqa: PERF203  it has ended meanwhile
            continue
    return found


FAILING = {
    "an exception": (
        "raise ValueError('so it goes')",
        "fails: ValueError: so it goes",
        "by itself",
    ),
    "several lines": (
        "raise ValueError('first\\n  more\\nlast')",
        "ValueError: first",
        "by itself",
    ),
    "input": ("n = input('how many? ')", "asks for input, and there is none", "--args"),
    "a hard exit": (TRAIN + "import os; os._exit(3)", "ended itself with exit code 3", "printed"),
    "an exit": (TRAIN + "    if step: raise SystemExit(3)", "with exit code 3", "printed"),
    "words at the exit": (
        "import sys\nsys.exit('no data here')",
        "ended itself with exit code 1: no data here",
        "printed",
    ),
    "a required option": (
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--data", required=True)
        parser.parse_args()
        """,
        "ended itself with exit code 2",
        "--args",
    ),
    "a required argument": ("import sys\nprint(sys.argv[1])", "IndexError", "--args"),
    "a required flag": (
        """
        from absl import app, flags
        flags.DEFINE_string("data", None, "where it is")
        flags.mark_flag_as_required("data")
        app.run(lambda _: None)
        """,
        "ended itself with exit code 1",
        "--args",
    ),
    "a missing module": (
        "import no_such.module",
        "needs the module no_such, which this interpreter does not have",
        "install no_such",
    ),
    "a module of another package": ("import cv2.no_such", "cv2", "install opencv-python-headless"),
    "a module of Colab": (
        "raise ModuleNotFoundError(\"No module named 'google.colab'\")",
        "needs the module google.colab, which this interpreter does not have",
        "in Colab alone",
    ),
    "a missing file": ("open('data.csv')", "FileNotFoundError", "must be in its folder"),
    "a file of another folder": ("open('/no/data.csv')", "FileNotFoundError", "in its folder"),
    "a missing GPU": ("raise SystemExit('this needs a GPU')", "this needs a GPU", "do without"),
    "no CUDA": ("raise RuntimeError('no CUDA device')", "no CUDA device", "do without"),
    "no device": (
        """
        class InvalidArgumentError(Exception): pass
        raise InvalidArgumentError('''Cannot assign a device for operation add: was explicitly
        assigned to /device:GPU:0 but available devices are [ CPU:0 ].
        [[add]]''')
        """,
        "InvalidArgumentError: Cannot assign a device for operation add",
        "where there is a GPU",
    ),
    "a signal of its own": (
        "import os\nos.kill(os.getpid(), 9)",
        "was ended by signal 9 (SIGKILL)",
        "by itself",
    ),
    "the end of its group": ("import os\nos.killpg(0, 15)", "signal 15 (SIGTERM)", "by itself"),
    "a segmentation fault": (
        "import ctypes\nctypes.string_at(0)",
        "was ended by signal 11 (SIGSEGV)",
        "by itself",
    ),
    "old syntax": ("print 'x'", "fails: SyntaxError", "by itself"),
    "no standard error": ("import sys\nsys.stderr = None\nraise ValueError('x')", "x", "by itself"),
    "a closed standard error": (
        "import sys\nsys.stderr.close()\nsys.exit('hm')",
        "ended itself with exit code 1: hm",
        "printed",
    ),
    "no stream at all": ("import sys\nsys.stderr = 3\nraise ValueError('x')", "x", "by itself"),
    "a hook for exceptions": (
        "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\nraise ValueError('so it goes')",
        "fails: ValueError: so it goes",
        "by itself",
    ),
    "a thread that goes on": (
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(600,)).start()
        raise ValueError("so it goes")
        """,
        "fails: ValueError: so it goes",
        "by itself",
    ),
    "another program": (
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', ''])",
        "becomes another program",
        "beforehand",
    ),
    "a code that is true": (TRAIN + "raise SystemExit(True)", "with exit code 1", "printed"),
    "no directory any more": (
        "import os, shutil\nshutil.rmtree(os.getcwd())\nraise ValueError('so it goes')",
        "fails: ValueError: so it goes",
        "by itself",
    ),
}


@pytest.mark.parametrize(("script", "reason", "advice"), FAILING.values(), ids=FAILING)
def test_an_original_that_fails_shows_nothing(
    place: Place, script: str | bytes, reason: str, advice: str
) -> None:
    found = place.verify(script)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("the original ")
    assert reason in found.reason
    assert advice in found.advice
    assert "verify/probe" not in found.output
    assert "\n" not in found.reason


def test_the_end_of_what_it_wrote_is_kept(place: Place) -> None:
    script = "import nothing_here\n"
    (place.project / "helper.py").write_text(script)
    found = place.verify("print('begins')\nimport helper\n")
    assert found.output.splitlines() == [
        "Traceback (most recent call last):",
        '  File "train.py", line 2, in <module>',
        "    import helper",
        f'  File "{found.output.split(chr(34))[3]}", line 1, in <module>',
        "    import nothing_here",
        "ModuleNotFoundError: No module named 'nothing_here'",
    ]


BEYOND_THE_PROBE = {
    "functions of Python that are gone": (
        TRAIN + "import os\nos.replace = os.walk = os.stat = os.getpid = os.path.join = None",
        "could not be observed: TypeError",
        "replaces parts of Python",
    ),
    "no open any more": (
        TRAIN + "import builtins\nbuiltins.open = None",
        "could not be observed: TypeError",
        "replaces parts of Python",
    ),
    "files that are not its own": (
        TRAIN + "import os\nos.closerange(3, 4096)",
        "could not be observed: OSError",
        "closes files",
    ),
}


@pytest.mark.parametrize(
    ("script", "reason", "advice"), BEYOND_THE_PROBE.values(), ids=BEYOND_THE_PROBE
)
def test_an_original_that_takes_away_what_it_takes_to_observe_it(
    place: Place, script: str, reason: str, advice: str
) -> None:
    found = place.verify(script)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert reason in found.reason
    assert advice in found.advice


ENDLESS = {
    "sleeps": "import time\nprint('waiting')\ntime.sleep(600)",
    "will not be ended": """
        import signal
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(one, signal.SIG_IGN)
        while True:
            signal.pause()
        """,
    "prints": "while True: print('waiting ' * 1000)",
    "leaves a process": """
        import os, time
        if not os.fork():
            os.setsid()
        time.sleep(600)
        """,
    "waits for a thread": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(600,)).start()",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
def test_an_original_without_an_end(place: Place, script: str) -> None:
    began = time.monotonic()
    found = place.verify(script, timeout_s=SHORT_S)
    assert time.monotonic() - began < 20
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == "the original was stopped after 2 s"
    assert "--timeout" in found.advice and "--steps" in found.advice
    assert len(found.output) < 1 << 20 or "waiting" in found.output


def test_what_takes_more_disk_than_it_may(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "Conditions", functools.partial(Conditions, disk_limit_mb=20.0))
    found = place.verify(
        """
        import time
        with open("big.bin", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
                file.flush()
                time.sleep(0.01)
        """
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "MB to disk" in found.reason
    assert "--steps" in found.advice


@linux
def test_what_takes_more_memory_than_it_may(place: Place) -> None:
    script = "import time\nkept = [bytearray(300 << 20)]\ntime.sleep(600)"
    found = place.verify(script, memory_limit_mb=200.0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "MB of memory" in found.reason
    assert "--memory-limit" in found.advice


POOL = """
import multiprocessing
import pickle

class Kept(object):
    pass

def square(x):
    return x * x

if __name__ == "__main__":
    assert pickle.loads(pickle.dumps(square)) is square
    assert type(pickle.loads(pickle.dumps(Kept()))) is Kept
    pool = multiprocessing.get_context("{}").Pool(2)
    print("total", sum(pool.map(square, [0.5, 1.5, 2.5])))
"""
THREADS = """
import sys, threading, time
import numpy as np

def train():
    w = np.zeros(4)
    for step in range(5):
        w = w - 0.1 * (w - 1)
        print("loss", float(((w - 1) ** 2).sum()))

def later():
    time.sleep(0.2)
    threading.Thread(target=train).start()
"""
WELL = {
    "has no loop": ("import numpy as np\nprint(float(np.arange(5).sum()) / 3)", "all 1 values"),
    "ends in the middle": (TRAIN + "    if step == 2: raise SystemExit", "all 3 values"),
    "ends with code 0": (TRAIN + "    if step == 2: raise SystemExit(0)", "all 3 values"),
    "ends hard": ("import os\n" + TRAIN + "    if step == 2: os._exit(0)", "all 3 values"),
    "reads an empty input": (TRAIN + "import sys\nassert sys.stdin.read() == ''", ALL_LOSSES),
    "goes elsewhere": ("import os\nos.chdir('/')" + TRAIN, ALL_LOSSES),
    "goes into its own folder": (
        "import os\nos.mkdir('out')\nos.chdir('out')" + TRAIN + "np.save('w.npy', w)",
        "all 6 values of 2 observables",
    ),
    "writes over itself": (
        TRAIN + "open('train.py', 'w').write('1')",
        "all 6 values of 2 observables",
    ),
    "leaves files open": (
        TRAIN + "log = open('log.csv', 'w')\nlog.write('1.5,2.5')",
        "all 7 values of 3 observables",
    ),
    "deletes its folder": ("import os, shutil\nshutil.rmtree(os.getcwd())" + TRAIN, ALL_LOSSES),
    "makes a deep folder": (
        TRAIN + "import os\nfor _ in range(1200):\n    os.mkdir('deep')\n    os.chdir('deep')",
        ALL_LOSSES,
    ),
    "makes what cannot be read": (
        TRAIN + "import os\nos.mkfifo('pipe.npy')\nos.symlink('/dev/zero', 'zero')\n"
        "os.mkdir('closed')\nos.chmod('closed', 0)",
        ALL_LOSSES,
    ),
    "forks": (
        TRAIN + "import os\nif not os.fork(): raise SystemExit\nos.wait()",
        ALL_LOSSES,
    ),
    "leaves a process": (
        TRAIN + "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(600)",
        ALL_LOSSES,
    ),
    "forks its workers": (POOL.format("fork"), "all 1 values"),
    "spawns its workers": (POOL.format("spawn"), "all 1 values"),
    "forgets its modules": (TRAIN + "import sys\nsys.modules.clear()", ALL_LOSSES),
    "has a clock of its own": ("import time\ntime.time = None" + TRAIN, ALL_LOSSES),
    "has a code that is none to the system": (TRAIN + "raise SystemExit(256)", ALL_LOSSES),
    "writes at its exit": (
        TRAIN + "import atexit\natexit.register(lambda: np.save('w.npy', w))",
        "all 6 values of 2 observables",
    ),
    "writes to its home": (
        TRAIN + "import os\nnp.save(os.path.expanduser('~/w.npy'), w)",
        "all 6 values of 2 observables",
    ),
    "writes a pickle": (
        TRAIN + "import pickle\nfound = {'w': w, 'loss': [0.5, 0.25], 'name': 'a', 'best': None}\n"
        "pickle.dump(found, open('found.pkl', 'wb'))",
        "all 10 values of 5 observables",
    ),
    "writes a pickle of a class": (
        TRAIN + "import pickle\nclass Kept(object): pass\n"
        "pickle.dump(Kept(), open('kept.pkl', 'wb'))",
        "all 6 values of 2 observables",
    ),
    "trains in a thread": (THREADS + "threading.Thread(target=later).start()", ALL_LOSSES),
    "leaves a thread": (
        THREADS + "threading.Thread(target=later).start()\nsys.exit(0)",
        ALL_LOSSES,
    ),
    "trains in several threads": (
        THREADS.replace("print(", "losses.append(")
        .replace('"loss", ', "")
        .replace("def train", "losses = []\ndef train")
        + "threads = [threading.Thread(target=train) for _ in range(4)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "for loss in sorted(losses): print('loss', loss)",
        "all 20 values of 1 observables",
    ),
    "prints to two places": (
        """
        import os, sys
        class Tee(object):
            def __init__(self, out):
                self.out, self.file = out, open("log.txt", "w")
            def write(self, text):
                self.out.write(text)
                self.file.write(text)
        sys.stdout = Tee(sys.stdout)
        """
        + TRAIN.replace("\n", "\n" + " " * 8)
        + "\n        os._exit(0)",
        "all 10 values of 2 observables",
    ),
    "prints to a file": ("import sys\nsys.stdout = open('log.txt', 'w')" + TRAIN, "all 5 values"),
    "prints nowhere": (
        "import sys\nsys.stdout = None" + TRAIN + "np.save('w.npy', w)",
        "all 1 values",
    ),
    "closes its output": (TRAIN + "import os\nos.close(1)", ALL_LOSSES),
    "has a hook": ("import sys\nsys.excepthook = print" + TRAIN, ALL_LOSSES),
    "comes from the future": (
        "'''What it does.'''\nfrom __future__ import division\nassert __doc__" + TRAIN,
        ALL_LOSSES,
    ),
    "has a cookie": (
        "# -*- coding: latin-1 -*-\nassert len('\xfc') == 1".encode("latin-1") + TRAIN.encode(),
        ALL_LOSSES,
    ),
    "has a mark": (b"\xef\xbb\xbf" + TRAIN.encode(), ALL_LOSSES),
    "has other ends of lines": (TRAIN.replace("\n", "\r\n").encode(), ALL_LOSSES),
    "prints what is no text": (TRAIN + "import os\nos.write(1, b'\\xff\\xfe\\0')", ALL_LOSSES),
    "prints a made-up name": (
        TRAIN.replace("import numpy as np", "import uuid\nimport numpy as np\nprint(uuid.uuid4())"),
        "",
    ),
}


@pytest.mark.parametrize(("script", "reason"), WELL.values(), ids=WELL)
def test_odd_scripts_that_can_be_verified(place: Place, script: str | bytes, reason: str) -> None:
    found = place.verify(script)
    assert (found.verdict, found.output) == (Verdict.PASS, "")
    assert reason in found.reason


def test_arguments_are_passed_on(place: Place) -> None:
    found = place.verify(
        "import sys\nassert sys.argv == ['train.py', '--data', 'a b'], sys.argv\n" + TRAIN,
        arguments="--data 'a b'",
    )
    assert found.reason == ALL_LOSSES


def test_modules_of_the_script_that_are_named_like_ours(place: Place) -> None:
    names = ["loops", "recording", "compare", "run", "weights", "growth", "sessions", "tfrewrite"]
    for name in names:
        (place.project / f"{name}.py").write_text("def half(x):\n    return x / 2.0\n")
    uses = [f"import {name}\nprint('{name}', {name}.half(3))\n" for name in names]
    found = place.verify("".join(uses))
    assert found.reason.startswith(f"all {len(names)} values")


@pytest.mark.parametrize("name", ["train", "train.txt"])
def test_loops_are_cut_alike_whatever_the_file_is_called(place: Place, name: str) -> None:
    place.write(TRAIN)
    (place.project / "train.py").rename(place.project / name)
    options = place.options(paths=[place.project / name, place.other])
    (found,) = VerifySession(options).verifications()
    assert found.reason == ALL_LOSSES


def test_times_of_a_script_without_a_loop(place: Place) -> None:
    found = place.verify("import numpy as np\nprint(1 / 3)", quick=False, runs=2)
    assert found.verdict is Verdict.PASS
    assert found.speed is not None and found.speed.steady is None


@pytest.mark.parametrize("script", ["", "x = 1\n", "print('done')\nx = 0.5\n"])
def test_where_nothing_is_to_be_seen(place: Place, script: str) -> None:
    found = place.verify(script)
    if "print" not in script:
        assert found.verdict is Verdict.INCONCLUSIVE
        assert found.reason == "nothing was seen that could be compared"
        assert "print" in found.advice


NOISY = """
import time
import numpy as np
noise = np.random.RandomState(int(time.time() * 1e6) % 2**32)
for step in range(5):
    print("step", step, "loss", float(3.0 + noise.rand()))
"""


@pytest.mark.parametrize("contract", ["exact", "rounding", "shifted"])
def test_noise_shows_nothing(place: Place, contract: str) -> None:
    found = place.verify(NOISY, contract=contract)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "differs" in found.reason and "run" in found.reason
    assert "seed" in found.advice


def test_what_is_no_noise_is_seen_beside_it(place: Place) -> None:
    script = "import time\nprint('run', time.time() * 1.5)" + TRAIN
    assert place.verify(script, contract="rounding").verdict is Verdict.PASS
    found = place.verify(script, script.replace("0.1 *", "0.1001 *"), contract="rounding")
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "could not be started"),
        ("#!/bin/sh\nexit 0\n", "does not seem to be a Python"),
        ('#!/bin/sh\nexec cat "$@"\n', "does not seem to be a Python"),
        ("#!/bin/sh\necho oh >&2\nexit 5\n", "ended with exit code 5 before anything"),
        ("no program\n", "could not be started"),
    ],
    ids=["not executable", "says nothing", "cat", "fails", "text"],
)
def test_an_interpreter_that_is_none(
    place: Place, tmp_path: Path, text: str | None, reason: str
) -> None:
    python = tmp_path / "python"
    python.write_text(text or "#!/bin/sh\n")
    python.chmod(0o644 if text is None else 0o755)
    place.write(TRAIN)
    session = VerifySession(place.options(python=python))
    if text is None:
        assert session.run() == 2
        return
    (found,) = session.verifications()
    assert found.verdict is Verdict.INCONCLUSIVE
    assert reason in found.reason
    assert "interpreter" in found.advice or "--python" in found.advice


@pytest.mark.parametrize("module", ["numpy", "tensorflow"])
def test_an_interpreter_that_lacks_what_it_takes(place: Place, tmp_path: Path, module: str) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(
        dedent(
            f"""
            import sys
            class Hidden(object):
                def find_spec(self, name, path=None, target=None):
                    if name == {module!r}:
                        raise ModuleNotFoundError("No module named '%s'" % name)
            sys.meta_path.insert(0, Hidden())
            """
        )
    )
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH={tmp_path}/path:$PYTHONPATH exec {place.python} "$@"\n'
    )
    python.chmod(0o755)
    found = place.verify("import tensorflow as tf\n" + TRAIN, python=python)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == f"the original needs {module}, which this interpreter does not have"
    assert "--python" in found.advice


def test_a_device_that_is_not_there(place: Place) -> None:
    found = place.verify(TRAIN, device="gpu")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "a GPU was asked for" in found.reason
    assert "--device cpu" in found.advice


WORSE = {
    "fails": (TRAIN + "raise ValueError('x')", "fails: ValueError: x"),
    "cannot be read": ("print 'x'", "fails: SyntaxError"),
    "exits with a code": (TRAIN + "raise SystemExit(3)", "ended itself with exit code 3"),
    "exits before": (TRAIN + "    if step == 2: raise SystemExit", "ends before line 4"),
    "exits hard": (TRAIN + "    if step == 2: __import__('os')._exit(0)", "ends before line 4"),
    "exits at the end": (
        TRAIN + "raise SystemExit",
        "the rewritten version ends by sys.exit, the original by itself",
    ),
    "is killed": (TRAIN + "import os\nos.kill(os.getpid(), 9)", "signal 9 (SIGKILL)"),
    "asks": (TRAIN + "input()", "asks for input"),
}


@pytest.mark.parametrize(("rewritten", "reason"), WORSE.values(), ids=WORSE)
def test_a_rewritten_version_that_does_worse_fails(
    place: Place, rewritten: str, reason: str
) -> None:
    found = place.verify(TRAIN, rewritten)
    assert found.verdict is Verdict.FAIL
    assert reason in found.reason
    assert "do not use the rewritten version" in found.advice


WRITES = TRAIN + "import atexit, os, pickle\nhistory = {'loss': [0.5, 0.25], 'name': 'a'}\n"
OTHER_FILES = {
    "at its exit": ("atexit.register(lambda: np.save('w.npy', w * {}))", "w.npy"),
    "to its home": ("np.save(os.path.expanduser('~/w.npy'), w * {})", "~/w.npy"),
    "a pickle": (
        "history['loss'][0] *= {}\npickle.dump(history, open('h.pkl', 'wb'))",
        "h.pkl:loss(2 numbers)",
    ),
    "a shorter pickle": (
        "history['loss'] = [0.5] * round(100 * {})\npickle.dump(history, open('h.pkl', 'wb'))",
        "h.pkl:loss(100 numbers)",
    ),
    "bytes": ("(w * {}).tofile('w.bin')", "w.bin"),
    "text of another kind": ("open('notes.md', 'w').write('loss %.3f' % {})", "notes.md"),
}


@pytest.mark.parametrize(("write", "name"), OTHER_FILES.values(), ids=OTHER_FILES)
@pytest.mark.parametrize("contract", ["exact", "rounding"])
def test_other_files_are_seen(place: Place, write: str, name: str, contract: str) -> None:
    found = place.verify(
        WRITES + write.format("1.0"), WRITES + write.format("1.01"), contract=contract
    )
    assert found.verdict is Verdict.FAIL
    assert name in found.reason


@pytest.mark.usefixtures("shielded")
def test_other_files_in_tmp_are_seen(place: Place) -> None:
    write = "os.makedirs('/tmp/of-a-run/a')\nnp.save('/tmp/of-a-run/a/w.npy', w * {})"
    found = place.verify(WRITES + write.format("1.0"), WRITES + write.format("1.01"))
    assert found.verdict is Verdict.FAIL
    assert "of-a-run/a/w.npy" in found.reason


def test_bytes_that_differ_from_run_to_run_show_nothing(place: Place) -> None:
    script = TRAIN + "import os\nopen('noise.bin', 'wb').write(os.urandom(9))"
    assert place.verify(script, contract="rounding").verdict is Verdict.PASS
    found = place.verify(script, contract="exact")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "noise.bin" in found.reason


HIDDEN = """
import os, subprocess
if not os.fork():
    os.setsid()
    if not os.fork():
        os.setsid()
        os.chdir('/')
        os.execve('/bin/sleep', ['sleep', '{seconds}'], {{}})
    os._exit(0)
os.wait()
subprocess.Popen(['/bin/sh', '-c', '(sleep {seconds} &)'], env={{}}, start_new_session=True).wait()
"""


@linux
@pytest.mark.usefixtures("shielded")
def test_processes_that_hide_do_not_stay(place: Place) -> None:
    seconds = f"{600 + os.getpid() / 1e7:.7f}"
    found = place.verify(TRAIN + HIDDEN.format(seconds=seconds))
    assert found.reason == ALL_LOSSES
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert seconds.encode() not in path.read_bytes()
        except OSError:  # noqa: PERF203  it has ended meanwhile
            continue


SHIELDED = """
import os, sys
sys.path.insert(0, ".")
from probe import shield
print(shield.raise_shield(os.path.abspath("room"), os.path.abspath("record")) or "up")
for place in ("/tmp", "/var/tmp", "/dev/shm", "room", "record"):
    open(place + "/of-nobody", "w").close()
for place, own in shield.written_to(os.path.abspath("room")):
    print(place[1:], os.listdir(own))
"""


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as somebody else already")
def test_files_are_protected_whoever_runs_it() -> None:
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no interpreter that everybody may run")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)
        shutil.copytree(PROBE, folder / "probe")
        for own in ("room", "record"):
            (folder / own).mkdir()
            (folder / own).chmod(0o777)
        found = subprocess.run(
            [python, "-B", "-c", SHIELDED], cwd=folder, user=65534, group=65534, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if "not protected" in found.stdout:
            pytest.skip(found.stdout)
        assert found.stdout.splitlines() == ["up", "tmp ['of-nobody']", "var/tmp ['of-nobody']"]
        assert (folder / "room" / "of-nobody").exists()
    for place in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108
        assert not Path(place, "of-nobody").exists()


UNDONE = """
import ctypes
library = ctypes.CDLL(None)
for place in (b"/tmp", b"/var/tmp", b"/dev/shm", b"/"):
    library.umount2(place, 2)
    library.mount(b"none", place, None, 32 | 4096, None)
library.unshare(0x20000)
library.mount(b"none", b"/", None, 32 | 4096, None)
with open({path!r}, "w") as file:
    file.write("0.5")
"""


@linux
@pytest.mark.usefixtures("shielded")
def test_a_script_cannot_undo_what_protects_files(place: Place, tmp_path: Path) -> None:
    elsewhere = Path("/var/lib") / f"{tmp_path.name}-undone.txt"
    try:
        found = place.verify(TRAIN + UNDONE.format(path=str(elsewhere)))
    finally:
        written = elsewhere.exists()
        elsewhere.unlink(missing_ok=True)
    assert not written
    assert "writes elsewhere" in found.reason


@linux
@pytest.mark.usefixtures("shielded")
def test_shared_memory_is_gone_with_the_run(place: Place) -> None:
    other = Path("/dev/shm") / f"tfrewrite-test-{os.getpid()}"  # noqa: S108
    found = place.verify(ELSEWHERE.format(path=str(other)))
    assert found.verdict is Verdict.PASS, found.reason
    assert not other.exists()


ELSEWHERE = """
import os
path = {path!r}
print("seen", os.path.exists(path))
with open(path, "a") as file:
    file.write("0.5")
print("now", os.path.getsize(path))
"""


@pytest.fixture
def shielded(tf1_python: Path, tmp_path: Path) -> None:
    for name in ("room", "record"):
        (tmp_path / name).mkdir()
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from probe import shield\n"
        "print(shield.raise_shield(sys.argv[2], sys.argv[3]))"
    )
    folders = [PROBE.parent, tmp_path / "room", tmp_path / "record"]
    said = subprocess.run(
        [tf1_python, "-c", code, *folders], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.strip()
    if said:
        pytest.skip(said)


@pytest.mark.usefixtures("shielded")
def test_a_script_that_writes_elsewhere_cannot(place: Place, tmp_path: Path) -> None:
    elsewhere = Path("/var/lib") / f"{tmp_path.name}.txt"
    try:
        found = place.verify(ELSEWHERE.format(path=str(elsewhere)))
    finally:
        written = elsewhere.exists()
        elsewhere.unlink(missing_ok=True)
    assert not written
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "writes elsewhere" in found.reason
    assert "Read-only" in found.reason
    assert "another path" in found.advice


@pytest.mark.usefixtures("shielded")
def test_what_is_written_to_tmp_is_gone_with_the_run(place: Place) -> None:
    with tempfile.NamedTemporaryFile("w+", dir="/tmp", prefix="tfrewrite-test") as mine:
        mine.write("12345")
        mine.flush()
        found = place.verify(ELSEWHERE.format(path=mine.name))
        assert found.verdict is Verdict.PASS, found.reason  # each run appends to what was there
        mine.seek(0)
        assert mine.read() == "12345"
    other = Path("/tmp") / f"{Path(mine.name).name}-new"  # noqa: S108
    assert place.verify(ELSEWHERE.format(path=str(other))).verdict is Verdict.PASS
    assert not other.exists()


def test_a_rewritten_version_that_hangs_fails(place: Place) -> None:
    found = place.verify(TRAIN, TRAIN + "import time\ntime.sleep(600)", timeout_s=10.0)
    assert found.verdict is Verdict.FAIL
    assert "the rewritten version was stopped after 10 s" in found.reason


def test_a_rewritten_version_without_enough_time_shows_nothing(place: Place) -> None:
    original = TRAIN + "import time\ntime.sleep(3)"
    found = place.verify(original, original + "\ntime.sleep(600)", timeout_s=5.0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "--timeout" in found.advice


def test_paths_that_make_no_pair(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write(TRAIN, TRAIN)
    script, missing = place.project / "train.py", place.project / "missing.py"
    binary, unknown = place.project / "binary.py", place.project / "unknown.py"
    binary.write_bytes(b"print(1.5)\0\n")
    unknown.write_text("# coding: nonsense\n")
    for paths, said in (
        ([script, binary], "null bytes"),
        ([binary, script], "null bytes"),
        ([unknown, script], "unknown encoding: nonsense"),
        ([script, place.other], "the same"),
        ([script, script], "the same"),
        ([script, missing], str(missing)),
        ([missing, script], str(missing)),
        ([missing], str(missing)),
        ([script, place.project], "two files or two directories"),
    ):
        code = VerifySession(place.options(paths=paths)).run()
        complaint = capsys.readouterr().err
        assert said in complaint, paths
        assert complaint.count("\n") == 1
        assert code == 2, paths


def test_an_interpreter_that_does_not_exist(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write(TRAIN)
    for python in (place.project / "python", place.project):
        assert VerifySession(place.options(python=python)).run() == 2
        assert str(python) in capsys.readouterr().err


def test_what_a_script_prints_does_nothing_to_a_report(place: Place) -> None:
    evil = "\\x1b[2J\\x1b]0;title\\x07<script>alert(1)</script>\\r\\u202e"
    script = f"print('{evil} loss', 0.5)\n"
    shown = [
        place.verify(script + f"raise ValueError('{evil}')\n"),
        place.verify(script, script.replace("0.5", "0.75")),
        place.verify(script, script.replace("loss", "other")),
    ]
    options = place.options()
    for format_ in ("text", "markdown", "html", "json"):
        report = rendered(shown, format_, options)
        assert "\x1b" not in report and "\x07" not in report and "\u202e" not in report
        if format_ == "html":
            assert "<script>alert" not in report
        if format_ == "markdown":
            assert "<script>alert" not in re.sub(
                r"^```.*?^```$", "", report, flags=re.MULTILINE | re.DOTALL
            )
    assert [one.verdict for one in shown] == [
        Verdict.INCONCLUSIVE,
        Verdict.FAIL,
        Verdict.FAIL,
    ]


def test_files_beyond_what_is_compared_are_told(place: Place) -> None:
    found = place.verify("for n in range(250):\n    open('%d.txt' % n, 'w').write('0.5')")
    assert found.verdict is Verdict.PASS
    assert found.environment is not None
    assert "50 of the files that it wrote were not compared" in found.environment.notes
    assert found.numerics is not None
    assert {one.kind for one in found.numerics.compared} == {Kind.FILE}


@linux
def obey_signals() -> None:
    """What a shell starts in the background ignores some, and so would all that it starts."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("scripts", [1, 2])
def test_a_signal_ends_the_runs(place: Place, number: signal.Signals, scripts: int) -> None:
    hanging = "import time\nopen('started', 'w').close()\nwhile True: time.sleep(1)\n"
    place.write(hanging)
    names = ["train.py", "second.py"][:scripts]
    paths = [place.project / "train.py", place.other]
    if scripts > 1:
        paths = [place.project, place.other.with_name("others")]
        paths[1].mkdir()
        for name in names:
            (paths[0] / name).write_text(hanging)
            (paths[1] / name).write_text(hanging + "x = 1\n")
        listed = ", ".join(f'{{ path = "{name}" }}' for name in names)
        settings_file = f"[tool.tfrewrite.verify]\nscripts = [{listed}]\n"
        (place.project / "pyproject.toml").write_text(settings_file)
    place.before = contents(place.project)
    process = subprocess.Popen(
        [sys.executable, "-m", "tfrewrite", "verify", *map(str, paths), "--quick", "--jobs", "2",
         "--python", str(place.python)],
        env={**os.environ, "TMPDIR": str(place.temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=obey_signals,  # noqa: PLW1509  no thread runs here
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while len(list(place.temporary.glob("*/work/started"))) < scripts:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    process.send_signal(number)
    began = time.monotonic()
    out, complaint = process.communicate(timeout=20)
    assert time.monotonic() - began < 10
    assert process.returncode == 128 + number
    assert (out, complaint.splitlines()[-1]) == ("", "tfrewrite: interrupted; nothing was written")
