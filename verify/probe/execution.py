"""Executes a script as the interpreter would, and writes down how it ended."""

import atexit
import builtins
import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import threading
import traceback
import types

# As they are before the script can replace them: what came of it has to be told in any case.
_open, _replace, _join, _dumps = open, os.replace, os.path.join, json.dumps
_getpid = os.getpid


class Execution(object):
    """Executes the script as `python SCRIPT` does, and writes the summary however it ends.

    What the script wrote is looked at when all that it leaves to be done at its exit is done.
    """

    def __init__(self, run, script, asked):
        self._run = run
        self._script = script
        self._asked = asked
        self._process = os.getpid()
        self._done = False
        self._at_end = None
        self._exit = os._exit
        self._fork = os.fork

    def go(self):
        asked = self._asked
        _write_by_lines()
        atexit.register(self._at_exit)  # the first that is registered is called last
        if asked.get("synthetic"):
            from . import synthetic

            synthetic.install()
        _after_import(self._imported, self._run.keras_imported, self._run.plots_imported)
        if asked.get("is_tf1") and _is_version_2():
            _present_v1()
            self._run.notes.append("tensorflow.compat.v1 was presented as tensorflow")
        os._exit = self._leave
        os.fork = self._forked
        for name in ("execv", "execve"):
            setattr(os, name, self._becoming(getattr(os, name)))
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
        if os.getcwd() != self._run.tree:
            main.__file__ = os.path.abspath(self._script)
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
            _complain(_traceback(error, self._script))
            lines = traceback.format_exception_only(type(error), error)
            code = self._finish("error", 1, "".join(lines).rstrip())
            self._at_exit()
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

    def _becoming(self, real):
        """In place of `os.execv`, by which the process becomes another: that is not followed."""

        def become(*arguments):
            if _getpid() == self._process and not self._done:
                self._write("exec", 0, "")
                _flush()
            return real(*arguments)

        return become

    def _leave(self, code):
        """In place of `os._exit`, which would end the run before anything is written down."""
        if _getpid() == self._process and not self._done:
            self._finish("os._exit", code)
            self._at_exit()
            _flush()
        self._exit(code)

    def _finish(self, how, code, text=""):
        """What there is to be seen while the script's things are still there."""
        if _getpid() != self._process or self._done or self._at_end:
            return code
        self._at_end = how, code, text
        try:
            self._run.finish()
        except Exception:  # noqa: BLE001
            self._fail(code)
        return code

    def _at_exit(self):
        if _getpid() != self._process or self._done or self._at_end is None:
            return
        self._done = True
        how, code, text = self._at_end
        try:
            self._run.close()
        except Exception:  # noqa: BLE001
            self._fail(code)
            return
        self._write(how, code, text)

    def _fail(self, code):
        self._done = True
        self._write("probe-failed", code, _what_happened())

    def _write(self, how, code, text):
        summary = {}
        try:
            summary = self._run.summary()
        except Exception:  # noqa: BLE001  the script may have replaced what that takes
            how, text = "probe-failed", _what_happened()
        summary.update(ended=how, exit_code=code, error=text)
        path = _join(self._run.folder, "summary.json")
        with _open(path + ".new", "w") as file:
            file.write(_dumps(summary))
        _replace(path + ".new", path)


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


def _after_import(tensorflow_imported, keras_imported, plots_imported):
    """Calls when TensorFlow has been imported, and whenever a module of Keras may have been.

    Or one of what scripts draw with.
    """
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
        if "matplotlib" in name:
            plots_imported()
        return module

    builtins.__import__ = importing


def _is_complete(module):
    """Whether its import has come to its end."""
    spec = getattr(module, "__spec__", None)
    return not getattr(spec, "_initializing", False)


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
        return error.code & 0xFF, ""  # as the system takes it
    return 1, str(error.code)


def _complain(text):
    """On the script's own standard error, if that can be written to."""
    for stream in (sys.stderr, sys.__stderr__):
        with contextlib.suppress(Exception):  # the script may have put anything there
            stream.write(text.rstrip() + "\n")
            stream.flush()
            return


def _traceback(error, script):
    """Without the probe's own frames."""
    found = traceback.TracebackException(type(error), error, error.__traceback__)
    _hide_own_frames(found)
    _name_cells(found, script)
    return "".join(found.format())


def _what_happened():
    """The traceback, or what is left of it where the script replaced what makes one."""
    try:
        return traceback.format_exc()
    except Exception:  # noqa: BLE001
        kind, error = sys.exc_info()[:2]
        return "%s: %s" % (kind.__name__, error)


def _hide_own_frames(found):
    here = os.path.dirname(os.path.abspath(__file__))
    while found is not None:
        found.stack[:] = [one for one in found.stack if not one.filename.startswith(here)]
        _hide_own_frames(found.__cause__)
        found = found.__context__


def _name_cells(found, script):
    """Gives the lines of a script that was made of a notebook as those of its cells."""
    helper = sys.modules.get("_tfrewrite_notebook")
    while found is not None and helper is not None:
        for one in found.stack:
            begun = [cell for cell in helper.cells if cell[1] <= one.lineno]
            if one.filename == script and begun:
                one.line  # noqa: B018  it is looked up by its number, once
                number, first = begun[-1]
                one.filename, one.lineno = "%s, cell %d" % (script, number), one.lineno - first + 1
                if getattr(one, "end_lineno", None):
                    one.end_lineno -= first - 1
        found = found.__cause__ or found.__context__
