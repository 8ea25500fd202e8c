"""One run of a script: what is asked for, and what is put in place to see or to time it."""

import contextlib
import importlib
import json
import os
import platform
import sys
from time import time as clock

from . import execution, growth, loops, plots, randomness, shield


def main():
    began = clock()
    with open(os.environ.pop("TFREWRITE_PROBE"), "rb") as file:
        asked = json.loads(file.read().decode("utf-8"))
    script = sys.argv[1]
    sys.argv[:] = sys.argv[1:]
    tree = os.getcwd()
    unprotected = shield.raise_shield(os.path.dirname(tree), asked["record"])
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    asked["script"] = script
    if script.lower().endswith(".ipynb"):  # which Jupyter runs in its own folder
        os.chdir(sys.path[0])
        script = sys.argv[0] = os.path.basename(script)
    run = Timed(asked, tree, began) if asked["kind"] == "timed" else Observed(asked, tree, began)
    if unprotected:
        run.notes.append(unprotected)
    execution.Execution(run, script, asked).go()


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

    def plots_imported(self):
        """Matplotlib was imported, or a part of it."""
        plots.install(lambda: self.loops.is_cut, self.notes)

    def forget(self):
        """This process was forked by the script: what it does is not recorded."""

    def finish(self):
        """The script is over, and TensorFlow still there."""

    def close(self):
        """So is what it left to be done at its exit."""

    def summary(self):
        return {
            "elapsed_s": clock() - self.began,
            "peak_memory_mb": growth.peak_memory_mb(),
            "notes": self.notes,
            "served": _served(),
            "environment": _environment(self.tensorflow),
        }


class Observed(Run):
    """Sees and records; takes its time."""

    def __init__(self, asked, tree, began):
        Run.__init__(self, asked, tree, began)
        from . import pipelines, recording, traffic, weights, written_files

        self.recorder = recording.Recorder(self.folder)
        self.loops = loops.CountedLoops(
            self.parents, asked["steps"], asked["budget_s"], asked["idle_limit"]
        )
        self.weights = weights.Weights(self.recorder)
        nudge = asked.get("nudge")
        self.nudges = weights.Nudges(self.weights, nudge) if nudge is not None else None
        self.growth = growth.Growth(self.weights)
        self.traffic = traffic.Traffic()
        room = os.path.dirname(tree)
        places = [(tree, ""), (os.path.join(room, "home"), "~")]
        self.files = written_files.WrittenFiles(
            places + [(own, place) for place, own in shield.written_to(room)]
        )
        self.generators = pipelines.Generators()
        self.loops.weights_changed = self.weights.changed
        self.loops.on_step = self._stepped
        self.loops.on_turn = self._turned
        self.loops.on_begin = self._begun
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
            self.recorder, weights, self.loops, self.traffic, nudges, self.asked.get("early")
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
        self.generators.install(parts.datasets)

    def keras_imported(self):
        from . import keras_fit

        keras_fit.install(self.loops, self.recorder, self.weights)

    def _begun(self):
        self.weights.forget_garbage()
        return self.weights.record("initial")

    def _turned(self):
        if self.nudges is not None and not self.loops.step:
            with self._unseen():
                self.nudges.begin()

    @contextlib.contextmanager
    def _unseen(self):
        """What is done to weights here is no work of the script, and makes no step of a turn."""
        worked = self.loops.worked
        yield
        self.weights.changed()
        self.loops.worked = worked

    def _stepped(self, loop):
        self.traffic.end_step()
        self.weights.record("weights", loop)
        if self.nudges is not None:
            with self._unseen():
                self.nudges.step()
        self.growth.note()
        self.recorder.flush()
        self.traffic.begin_step()

    def forget(self):
        self.recorder.forget()

    def finish(self):
        self.loops.finish()
        if self.tensorflow is not None:
            self.weights.record_end()

    def close(self):
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
            cut_at=self.loops.cut_at,
            idle=sorted(self.loops.idle),
            graph_nodes=self.growth.graph_nodes,
            memory_mb=self.growth.memory_mb,
            retraces=self.growth.retraces(),
            traffic=self.traffic.a_step(),
            forgotten=self.weights.forgotten,
            reads_ahead=self.generators.unfinished > 0,
            executed=_executed(self.tree, self.asked["script"]),
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


def _executed(tree, script):
    """The files of the tree that are loaded as modules, and the script."""
    # A module that loads itself when it is looked into is not looked into.
    files = [vars(module).get("__file__") for module in list(sys.modules.values()) if module]
    found = {script}
    for name in files:
        path = os.path.join(tree, name) if isinstance(name, str) else ""
        if path.startswith(tree + os.sep):
            found.add(os.path.relpath(path, tree))
    return sorted(found)


def _served():
    """The data sets that were made up; the module is there only where that was asked for."""
    module = sys.modules.get(__package__ + ".synthetic")
    return module.served() if module is not None else []


def _is_tracing(parts):
    if parts.context.executing_eagerly():
        return False
    return bool(getattr(parts.ops.get_default_graph(), "building_function", False))


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
