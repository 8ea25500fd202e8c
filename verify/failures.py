"""Why a run did not come to a good end, in words, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tfrewrite.verify.model import Verdict
from tfrewrite.verify.process import Ending, RunResult
from tfrewrite.verify.runs import Observation

LAST_LINES = 30
BY_ITSELF = "run it by itself with this interpreter first"
CUT_SHORT = (
    "its loops were cut short, which may be why: try --steps all, perhaps with less data, or "
    "run it by itself with this interpreter"
)
GIVE_ARGUMENTS = "give the arguments it needs by --args"
NEEDS_GPU = "verify it where there is a GPU, or let it do without one"
OF_ARGUMENTS = re.compile(r"argparse\.|\bArgumentError\b|\bFlagsError\b|UnparsedFlagAccessError")
MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
PACKAGES = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""What a module is installed by, where that has another name."""
USAGE = re.compile(r"^(?:usage|Usage):|FATAL Flags parsing error", re.MULTILINE)
NO_GPU = re.compile(
    r"Cannot assign a device for operation.*GPU|Could not satisfy .*device.*GPU|"
    r"\bGPU:\d+ unknown device|\b(?:CUDA|cuDNN|GPUs?)\b",
    re.DOTALL | re.IGNORECASE,
)
NO_PYTHON = re.compile(r"\bprobe: Is a directory|\bprobe: cannot (?:read|open|execute)")
PROTECTED = re.compile(r"Read-only file system")
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

EAGER_ONLY = re.compile(
    r"not 'Tensor'|'Tensor' object has no attribute '(?:numpy|assign)'|"
    r"eager execution is (?:not )?enabled|before any operations have been created|"
    r"module 'tensorflow(?:\.[\w.]+)?' has no attribute '(?:function|math|keras|GradientTape)'"
)


class Inconclusive(Exception):  # noqa: N818  it is no error
    """The runs cannot tell; says why, what to do, and what the run printed."""

    def __init__(self, verdict: Verdict, reason: str, advice: str = "", output: str = "") -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
        self.advice = advice
        self.output = output


@dataclass(frozen=True)
class Failure:
    """`is_ours` where it is not the script that is to blame."""

    reason: str
    advice: str = ""
    output: str = ""
    is_ours: bool = False


def require_success(run: Observation, *, of_original: bool) -> None:
    """A run that failed ends the experiment; if it was the original's, nothing is shown."""
    if run.is_complete:
        return
    why = explain(run)
    if of_original:
        raise Inconclusive(
            Verdict.INCONCLUSIVE, f"the original {why.reason}", why.advice, why.output
        )
    reason = f"the rewritten version {why.reason}, where the original comes to its end"
    if why.is_ours:
        raise Inconclusive(Verdict.INCONCLUSIVE, reason, why.advice, why.output)
    raise Inconclusive(Verdict.FAIL, reason, "do not use the rewritten version", why.output)


def explain(run: Observation) -> Failure:
    result, summary = run.result, run.summary
    output = _end(result.stderr or result.stdout)
    ended, error = summary.get("ended"), str(summary.get("error", ""))
    if result.ending is not Ending.EXITED and ended != "error":
        return _of_ending(result, output)
    if ended == "probe-failed":
        return Failure(
            f"could not be observed: {_line_that_says_why(error)}",
            "if the script replaces parts of Python or numpy, or closes files that are not its "
            "own, let it not; else this is a bug in tfrewrite or a TensorFlow that it does not "
            "know: please report it",
            error,
            is_ours=True,
        )
    if not summary:
        return _of_silence(result, output)
    if ended == "exec":
        return Failure(
            "becomes another program (os.exec...), which cannot be followed",
            "give it beforehand what it starts itself anew for, such as a variable of the "
            "environment",
            output,
        )
    if ended == "error":
        failure = _of_error(error, output)
        version = str(summary.get("environment", {}).get("tensorflow", ""))
        if version.startswith("1.") and failure.advice == BY_ITSELF and EAGER_ONLY.search(error):
            return replace(
                failure,
                advice=f"it seems to be written for TensorFlow 2, and here is {version}: name "
                "such an interpreter with --python PATH",
            )
        cut = run.was_cut and failure.advice == BY_ITSELF
        return replace(failure, advice=CUT_SHORT) if cut else failure
    return _of_exit(f"ended itself with exit code {summary.get('exit_code')}", error, output)


def _of_ending(result: RunResult, output: str) -> Failure:
    """The script did not come to its own end."""
    if result.ending is Ending.NOT_STARTED:
        return Failure(
            f"could not be started: {result.error}",
            "name the program of a Python that has TensorFlow: --python PATH",
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
    return Failure(result.describe(), BY_ITSELF, output)


def _of_silence(result: RunResult, output: str) -> Failure:
    """Nothing was recorded: the interpreter did not come to run the script, or did not tell."""
    missing = MISSING_MODULE.search(result.stderr)
    if missing:
        return _of_error(missing[0], output)
    if result.exit_code == 0 or NO_PYTHON.search(result.stderr):
        return Failure(
            "was not run by the interpreter, which does not seem to be a Python",
            "name the program of a Python that has TensorFlow: --python PATH",
            output,
            is_ours=True,
        )
    return Failure(
        f"{result.describe()} before anything could be recorded",
        "see what it printed; the interpreter must be Python 3.6 or later, with numpy",
        output,
    )


def _of_exit(reason: str, said: str, output: str) -> Failure:
    if said:
        reason += f": {_line_that_says_why(said)}"
    if USAGE.search(output):
        return Failure(reason, GIVE_ARGUMENTS, output)
    if NO_GPU.search(said):
        return Failure(reason, NEEDS_GPU, output)
    return Failure(reason, "see what it printed", output)


def _of_error(error: str, output: str) -> Failure:
    reason = f"fails: {_line_that_says_why(error)}"
    module = MISSING_MODULE.search(error)
    if module and module[1].split(".")[0] in {"tensorflow", "numpy"}:
        return Failure(
            f"needs {module[1]}, which this interpreter does not have",
            "name an interpreter that has it: --python PATH",
            output,
        )
    if module:
        reason = f"needs the module {module[1]}, which this interpreter does not have"
        return Failure(reason, _how_to_get(module[1]), output)
    if "EOFError" in error and "reading a line" in error:
        return Failure("asks for input, and there is none", "give what it needs by --args", output)
    if PROTECTED.search(error):
        advice = (
            "a script that is verified can write in its folder, its home and /tmp only: give it "
            "another path, by --args or in the script"
        )
        return Failure(f"writes elsewhere: {_line_that_says_why(error)}", advice, output)
    if MISSING_FILE.search(error):
        advice = "the data it reads must be in its folder; known data sets: --synthetic-data"
        return Failure(reason, advice, output)
    if re.search(r"URLError|HTTPError|URL fetch failure|ConnectionError|gaierror", error):
        advice = (
            "it loads something from the network: a well-known data set is made up by "
            "--synthetic-data, other data must be in its folder"
        )
        return Failure(reason, advice, output)
    if TF1_NAMES.search(error):
        advice = "it is written for TensorFlow 1: name such an interpreter with --python PATH"
        return Failure(reason, advice, output)
    if KERAS_3.search(error):
        advice = "it is written for Keras 2: try --legacy-keras (with tf-keras), or --python PATH"
        return Failure(reason, advice, output)
    if NO_GPU.search(error):
        return Failure(reason, NEEDS_GPU, output)
    if OF_ARGUMENTS.search(error) or "sys.argv[" in output:
        return Failure(reason, GIVE_ARGUMENTS, output)
    return Failure(reason, BY_ITSELF, output)


def _how_to_get(module: str) -> str:
    if module.startswith("google.colab"):
        return "it is there in Colab alone: verify a copy without the cells that need it"
    name = module.partition(".")[0]
    return f"install {PACKAGES.get(name, name)} there, or name another with --python PATH"


def _line_that_says_why(error: str) -> str:
    """The first that names the error; the lines before it show where, those after it more of it."""
    lines = [line for line in error.splitlines() if line.strip()]
    names = [line for line in lines if not line[0].isspace() and not line.startswith("Traceback")]
    return (names or lines or ["no reason was given"])[0].strip()[:300]


def _end(text: str) -> str:
    return "\n".join(text.splitlines()[-LAST_LINES:])
