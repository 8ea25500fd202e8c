"""One run of a script: what is asked for, what is put in place, and how it ended."""

import builtins
import contextlib
import importlib
import importlib.util
import io
import json
import os
import platform
import re
import sys
import threading
import time
import traceback
import types

from . import growth, loops, randomness, shield


def main():
    began = time.time()
    with open(os.environ.pop("TFREWRITE_PROBE"), "rb") as file:
        asked = json.loads(file.read().decode("utf-8"))
    script = sys.argv[1]
    sys.argv[:] = sys.argv[1:]
    tree = os.getcwd()
    unprotected = shield.raise_shield(os.path.dirname(tree), asked["record"])
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    run = Timed(asked, tree, began) if asked["kind"] == "timed" else Observed(asked, tree, began)
    if unprotected:
        run.notes.append(unprotected)
    Execution(run, script, asked).go()


class Run(object):
    """What observed and timed runs have in common."""

    def __init__(self, asked, tree, began):
        self.asked = asked
        self.tree = tree
        self.folder = asked["record"]
        self.began = asked.get("started") or began
        self.tensorflow = None
        self.notes = []
        self.parents = {int(loop): parent for loop, parent in asked["parents"].items()}
        randomness.pin_python(asked["seed"], tree)

    def watch(self, followed):
        import _tfrewrite_marks

        _tfrewrite_marks.watch(followed)

    def install(self, parts):
        """TensorFlow was imported."""
        self.tensorflow = parts
        self.loops.is_tracing = lambda: _is_tracing(parts)

    def keras_imported(self):
        """Keras was imported, or there was another chance to look whether it was."""

    def forget(self):
        """This process was forked by the script: what it does is not recorded."""

    def finish(self):
        """The script is over, and TensorFlow still there."""

    def summary(self):
        return {
            "elapsed_s": time.time() - self.began,
            "peak_memory_mb": growth.peak_memory_mb(),
            "notes": self.notes,
            "environment": _environment(self.tensorflow),
        }


class Observed(Run):
    """Sees and records; takes its time."""

    def __init__(self, asked, tree, began):
        Run.__init__(self, asked, tree, began)
        from . import recording, weights, written_files

        self.recorder = recording.Recorder(self.folder)
        self.loops = loops.CountedLoops(
            self.parents, asked["steps"], asked["budget_s"], asked["idle_limit"]
        )
        self.weights = weights.Weights(self.recorder)
        nudge = asked.get("nudge")
        self.nudges = weights.Nudges(self.weights, nudge) if nudge is not None else None
        self.growth = growth.Growth(self.weights)
        self.files = written_files.WrittenFiles(tree)
        self.loops.weights_changed = self.weights.changed
        self.loops.on_step = self._stepped
        self.loops.on_turn = self._turned
        self.loops.on_begin = lambda: self.weights.record("initial")
        self.recorder.now = self._now
        self.watch(self.loops)

    def _now(self, kind):
        """The step to which a value belongs: the one that is being made, or the last one made."""
        made = self.loops.step
        return made + 1 if self.loops.stack and kind not in ("weights", "initial") else made

    def install(self, parts):
        Run.install(self, parts)
        from . import eager, sessions

        weights, nudges = self.weights, self.nudges
        sessions.SessionObserver(
            self.recorder, weights, self.loops, nudges, self.asked.get("early")
        ).install(parts.session)
        base = parts.resource_variables.BaseResourceVariable
        real = base.__init__

        def made(variable, *arguments, **options):
            real(variable, *arguments, **options)
            weights.made(variable)
            if nudges is not None and parts.context.executing_eagerly():
                nudges.made(variable)

        base.__init__ = made
        randomness.Seeds(self.asked["seed"], parts, weights).install()
        eager.EagerObserver(self.recorder, self.loops, self.tree).install(
            parts.ops, parts.execution, parts.def_function
        )
        self.growth.install(parts.def_function)

    def keras_imported(self):
        from . import keras_fit

        keras_fit.install(self.loops, self.recorder)

    def _turned(self):
        if self.nudges is not None and not self.loops.step:
            self.nudges.begin()

    def _stepped(self, loop):
        self.weights.record("weights", loop)
        if self.nudges is not None:
            self.nudges.step()
        self.growth.note()
        self.recorder.flush()

    def forget(self):
        self.recorder.forget()

    def finish(self):
        self.loops.finish()
        if self.tensorflow is not None:
            self.weights.record_end()
        texts = os.path.join(self.folder, "files")
        os.makedirs(texts, exist_ok=True)
        left_out = self.files.record(self.recorder, texts)
        if left_out:
            self.notes.append("%d of the files that it wrote were not compared" % left_out)
        self.recorder.close()

    def summary(self):
        found = Run.summary(self)
        found.update(
            steps=self.loops.step,
            steps_of=self.loops.steps_of,
            turns_of=self.loops.turns_of,
            limits=self.loops.limits,
            idle=sorted(self.loops.idle),
            graph_nodes=self.growth.graph_nodes,
            memory_mb=self.growth.memory_mb,
            retraces=self.growth.retraces(),
            executed=_executed(self.tree),
        )
        return found


class Timed(Run):
    """Looks at the clock where a step begins, and does nothing else."""

    def __init__(self, asked, tree, began):
        Run.__init__(self, asked, tree, began)
        limits = {int(loop): limit for loop, limit in asked["limits"].items()}
        self.loops = loops.TimedLoops(
            self.parents,
            limits,
            asked["step_loops"],
            set(asked["idle"]),
            asked["longer"],
            asked["at_least_s"],
        )
        self.watch(self.loops)

    def install(self, parts):
        Run.install(self, parts)
        from . import weights

        randomness.Seeds(self.asked["seed"], parts, weights.Weights(None)).install()

    def keras_imported(self):
        from . import keras_fit

        keras_fit.install(self.loops)

    def finish(self):
        self.loops.finish()

    def summary(self):
        found = Run.summary(self)
        found.update(
            began=self.began,
            times=self.loops.times,
            ends=self.loops.ends,
            turns_of=self.loops.turns_of,
        )
        return found


class Execution(object):
    """Executes the script as `python SCRIPT` does, and writes the summary however it ends."""

    def __init__(self, run, script, asked):
        self._run = run
        self._script = script
        self._asked = asked
        self._process = os.getpid()
        self._done = False
        self._exit = os._exit
        self._fork = os.fork

    def go(self):
        asked = self._asked
        _write_by_lines()
        if asked.get("synthetic"):
            from . import synthetic

            synthetic.install()
        _after_import(self._imported, self._run.keras_imported)
        if asked.get("is_tf1") and _is_version_2():
            _present_v1()
            self._run.notes.append("tensorflow.compat.v1 was presented as tensorflow")
        os._exit = self._leave
        os.fork = self._forked
        sys.exit(self._execute())

    def _imported(self, module):
        from . import tensorflow_parts

        try:
            self._run.install(tensorflow_parts.Parts(module))
        except Exception:
            self._done = True
            self._write("probe-failed", 1, traceback.format_exc())
            raise

    def _execute(self):
        main = types.ModuleType("__main__")
        main.__file__ = self._script
        main.__builtins__ = builtins
        sys.modules["__main__"] = main
        try:
            with open(self._script, "rb") as file:
                code = compile(file.read(), self._script, "exec", dont_inherit=True)
            exec(code, main.__dict__)  # noqa: S102  it is what the user asked to run
        except SystemExit as error:
            code, text = _exit_code(error)
            if text:
                _complain(text)
            _wait_for_threads()
            return self._finish("exit", code, text)
        except BaseException as error:  # noqa: BLE001
            _complain(_traceback(error))
            lines = traceback.format_exception_only(type(error), error)
            code = self._finish("error", 1, "".join(lines).rstrip())
            if _working_threads():
                _flush()
                self._exit(code)  # there is nothing to wait for
            return code
        _wait_for_threads()
        return self._finish("returned", 0)

    def _forked(self):
        """In place of `os.fork`: what was recorded so far is written down by one process only."""
        child = self._fork()
        if not child and not self._done:
            self._run.forget()
        return child

    def _leave(self, code):
        """In place of `os._exit`, which would end the run before anything is written down."""
        if os.getpid() == self._process and not self._done:
            self._finish("os._exit", code)
            _flush()
        self._exit(code)

    def _finish(self, how, code, text=""):
        if os.getpid() != self._process or self._done:
            return code
        self._done = True
        try:
            self._run.finish()
        except Exception:  # noqa: BLE001
            self._write("probe-failed", code, traceback.format_exc())
            return code
        self._write(how, code, text)
        return code

    def _write(self, how, code, text):
        summary = self._run.summary()
        summary.update(ended=how, exit_code=code, error=text)
        path = os.path.join(self._run.folder, "summary.json")
        with open(path + ".new", "w") as file:
            json.dump(summary, file)
        os.replace(path + ".new", path)


def _executed(tree):
    """The files of the tree that are loaded as modules, the script among them."""
    # A module that loads itself when it is looked into is not looked into.
    files = [vars(module).get("__file__") for module in list(sys.modules.values()) if module]
    found = set()
    for name in files:
        path = os.path.join(tree, name) if isinstance(name, str) else ""
        if path.startswith(tree + os.sep):
            found.add(os.path.relpath(path, tree))
    return sorted(found)


def _is_version_2():
    """Whether the TensorFlow here is version 2, as its installation says without an import."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or not spec.origin:
        return False
    packages = os.path.dirname(os.path.dirname(spec.origin))
    pattern = re.compile(r"(?:tensorflow|tf_nightly)\w*-2\.[^-]*\.(?:dist|egg)-info$")
    return any(pattern.match(name) for name in os.listdir(packages))


def _present_v1():
    """Gives a script of TensorFlow 1 the interface that it knows, where there is only version 2."""
    import tensorflow as real
    import tensorflow.compat.v1 as v1

    v1.disable_v2_behavior()
    # Modules below TensorFlow, such as `tensorflow.keras`, are still found.
    v1.__path__ = list(v1.__path__) + [one for one in real.__path__ if one not in v1.__path__]
    sys.modules["tensorflow"] = v1


def _after_import(tensorflow_imported, keras_imported):
    """Calls when TensorFlow has been imported, and whenever a module of Keras may have been."""
    real = builtins.__import__
    state = {"tensorflow": False, "keras": 0}

    def importing(name, *arguments, **options):
        module = real(name, *arguments, **options)
        if not state["tensorflow"]:
            found = sys.modules.get("tensorflow")
            if found is not None and hasattr(found, "Variable") and _is_complete(found):
                state["tensorflow"] = True
                tensorflow_imported(found)
        if state["tensorflow"] and "keras" in name:
            keras_imported()
        return module

    builtins.__import__ = importing


def _is_complete(module):
    """Whether its import has come to its end."""
    spec = getattr(module, "__spec__", None)
    return not getattr(spec, "_initializing", False)


def _is_tracing(parts):
    if parts.context.executing_eagerly():
        return False
    return bool(getattr(parts.ops.get_default_graph(), "building_function", False))


def _write_by_lines():
    """A line is written in one piece, so that those of several processes do not mix."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        encoding, errors = stream.encoding, stream.errors
        by_lines = io.TextIOWrapper(stream.detach(), encoding, errors, line_buffering=True)
        setattr(sys, name, by_lines)
        setattr(sys, "__%s__" % name, by_lines)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the script may have put anything there
            stream.flush()


def _working_threads():
    return [
        one
        for one in threading.enumerate()
        if one is not threading.current_thread() and not one.daemon
    ]


def _wait_for_threads():
    """As the interpreter does before it ends; they may start others."""
    threads = _working_threads()
    while threads:
        for thread in threads:
            thread.join()
        threads = _working_threads()


def _exit_code(error):
    """The code that `sys.exit` stands for, and what it has to say."""
    if error.code is None:
        return 0, ""
    if isinstance(error.code, int):
        return error.code, ""
    return 1, str(error.code)


def _complain(text):
    """On the script's own standard error, if that can be written to."""
    for stream in (sys.stderr, sys.__stderr__):
        with contextlib.suppress(Exception):  # the script may have put anything there
            stream.write(text.rstrip() + "\n")
            stream.flush()
            return


def _traceback(error):
    """Without the probe's own frames."""
    found = traceback.TracebackException(type(error), error, error.__traceback__)
    _hide_own_frames(found)
    return "".join(found.format())


def _hide_own_frames(found):
    here = os.path.dirname(os.path.abspath(__file__))
    while found is not None:
        found.stack[:] = [one for one in found.stack if not one.filename.startswith(here)]
        _hide_own_frames(found.__cause__)
        found = found.__context__


def _environment(parts):
    found = {
        "interpreter": sys.executable,
        "python": platform.python_version(),
        "platform": "-".join(os.uname()[0:5:2]),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "tensorflow": "",
        "devices": [],
    }
    numpy = sys.modules.get("numpy")
    found["numpy"] = getattr(numpy, "__version__", "")
    if parts is not None:
        found["tensorflow"] = parts.version
        try:
            client = importlib.import_module("tensorflow.python.client.device_lib")
            found["devices"] = [one.device_type for one in client.list_local_devices()]
        except Exception:  # noqa: BLE001
            found["devices"] = []
    return found


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()
