"""Why a run did not come to a good end, in words, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfrewrite.verify.process import Ending
from tfrewrite.verify.runs import Observation

LAST_LINES = 30
MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
MISSING_FILE = re.compile(r"FileNotFoundError: .*?No such file or directory: (.+)")
KERAS_3 = re.compile(
    r"Argument\(s\) not recognized: \{'lr'|reset_states|unexpected keyword argument '(?:lr|decay|"
    r"period|batch_input_shape)'|has no attribute 'reset_states'|Only input tensors may be passed"
    r"|`decay` is deprecated|module 'keras\.[\w.]+' has no attribute"
)
TF1_NAMES = re.compile(
    r"module 'tensorflow(?:\.[\w.]+)?' has no attribute '(?:placeholder|Session|ConfigProto|"
    r"get_variable|contrib|global_variables_initializer|app|flags|InteractiveSession|log|"
    r"initialize_all_variables|reset_default_graph|train\.\w+)'"
)


@dataclass(frozen=True)
class Failure:
    """`is_ours` where it is not the script that is to blame."""

    reason: str
    advice: str = ""
    output: str = ""
    is_ours: bool = False


def explain(run: Observation) -> Failure:
    result, summary = run.result, run.summary
    output = _end(result.stderr or result.stdout)
    if result.ending is Ending.NOT_STARTED:
        return Failure(
            f"could not be started: {result.error}",
            "name an interpreter with TensorFlow: --python PATH",
            is_ours=True,
        )
    if result.ending is Ending.TIMED_OUT:
        return Failure(
            f"was stopped after {result.elapsed_s:.0f} s",
            "give it more time with --timeout, or fewer steps with --steps; a script without a "
            "loop that can be cut short runs to its end",
            output,
        )
    if result.ending is Ending.OUT_OF_MEMORY:
        return Failure(result.describe(), "give it more with --memory-limit", output)
    if result.ending is Ending.OUT_OF_DISK:
        return Failure(result.describe(), "let it write less, or verify fewer --steps", output)
    if result.ending is Ending.SIGNALLED:
        return Failure(result.describe(), "run it by itself with this interpreter", output)
    ended, error = summary.get("ended"), str(summary.get("error", ""))
    if ended == "probe-failed":
        return Failure(
            f"could not be observed: {_last_line(error)}",
            "this is a bug in tfrewrite or a TensorFlow that it does not know; please report it",
            error,
            is_ours=True,
        )
    if not summary:
        missing = MISSING_MODULE.search(result.stderr)
        if missing:
            return _of_error(missing[0], output)
        return Failure(
            f"{result.describe()} before anything could be recorded",
            "see what it printed; the interpreter needs numpy and TensorFlow",
            output,
        )
    if ended == "exit":
        code = summary.get("exit_code")
        return Failure(f"ended itself with exit code {code}", "see what it printed", output)
    return _of_error(error or result.describe(), output)


def _of_error(error: str, output: str) -> Failure:
    reason = f"fails: {_last_line(error)}"
    module = MISSING_MODULE.search(error)
    if module and module[1].split(".")[0] in {"tensorflow", "numpy"}:
        return Failure(
            f"needs {module[1]}, which this interpreter does not have",
            "name an interpreter that has it: --python PATH",
            output,
        )
    if module:
        return Failure(
            f"needs the module {module[1]}, which this interpreter does not have",
            f"install {module[1].split('.')[0]} there, or name another with --python PATH",
            output,
        )
    if "EOFError" in error and "reading a line" in error:
        return Failure("asks for input, and there is none", "give what it needs by --args", output)
    if MISSING_FILE.search(error):
        advice = "the data it reads must be in its folder; known data sets: --synthetic-data"
        return Failure(reason, advice, output)
    if re.search(r"URLError|HTTPError|URL fetch failure|ConnectionError|gaierror", error):
        return Failure(reason, "it loads something from the network; try --synthetic-data", output)
    if TF1_NAMES.search(error):
        advice = "it is written for TensorFlow 1: name such an interpreter with --python PATH"
        return Failure(reason, advice, output)
    if KERAS_3.search(error):
        advice = "it is written for Keras 2: try --legacy-keras (with tf-keras), or --python PATH"
        return Failure(reason, advice, output)
    if "ArgumentError" in error or "argparse" in output:
        return Failure(reason, "give the arguments it needs by --args", output)
    return Failure(reason, "run it by itself with this interpreter first", output)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "no reason was given"


def _end(text: str) -> str:
    return "\n".join(text.splitlines()[-LAST_LINES:])
