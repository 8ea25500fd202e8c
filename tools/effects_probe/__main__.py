"""The command line; see the package's own text."""

import json
import os
import signal
import sys
from pathlib import Path

import tensorflow as tf

from . import setting
from .attempts import passes_buffer
from .probing import probe
from .registry import REGISTRY
from .setting import TF2, Hang, v1
from .symbols import defined, enumerate_api, positional_names, resolve

SYMBOL_SECONDS = 90


def main(argv):
    mode = argv[1]
    setting.API = int(argv[2])
    v1.logging.set_verbosity(v1.logging.ERROR)
    if setting.API == 1 and TF2:
        v1.disable_v2_behavior()
    if mode == "list":
        found, unsafe, same = enumerate_api()
        with Path(argv[3]).open("w") as stream:
            json.dump(
                {"tensorflow": tf.__version__, "symbols": found, "unsafe": unsafe, "same": same},
                stream,
                sort_keys=True,
            )
        return
    if mode == "ops":
        table = {
            name: sorted(REGISTRY.flags(name))
            for name in sorted(REGISTRY.ops)
            if REGISTRY.flags(name)
        }
        with Path(argv[3]).open("w") as stream:
            json.dump(table, stream, sort_keys=True, indent=0)
        return
    with Path(argv[3]).open() as stream:
        paths = json.load(stream)

    def on_alarm(*_):
        raise Hang()

    signal.signal(signal.SIGALRM, on_alarm)
    saved_stdout = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    if not os.environ.get("PROBE_STDERR"):
        os.dup2(null, 2)
    with Path(argv[4]).open("a") as stream:
        for path in paths:
            stream.write(json.dumps({"begin": path}) + "\n")
            stream.flush()
            signal.alarm(SYMBOL_SECONDS)
            try:
                symbol = resolve(path)
                record = probe(symbol)
                if (
                    not TF2
                    and symbol.owner is None
                    and "error" not in record
                    and not set(record["flags"])
                    & {
                        "writes",
                        "iterates",
                        "host",
                        "not-tensor",
                        "calls",
                    }
                ):
                    answers = []
                    for tokens in record["bases"]:
                        try:
                            answers.append(passes_buffer(symbol, tokens))
                        except Hang:
                            raise
                        except Exception:
                            pass
                    answers = [a for a in answers if a is not None]
                    if answers:
                        record["alias"] = any(passed for passed, _ in answers)
                        record["kernels"] = sorted(
                            {kernel for passed, kernel in answers if passed and kernel}
                        )
            except Hang:
                record = {"error": "no answer within %d s" % SYMBOL_SECONDS}
            except BaseException as error:
                record = {"error": "%s: %s" % (type(error).__name__, str(error)[:160])}
            finally:
                signal.alarm(0)
            record["symbol"] = path
            record["defined"] = defined(path)
            record["parameters"] = positional_names(path)
            stream.write(json.dumps(record, sort_keys=True) + "\n")
            stream.flush()
    os.dup2(saved_stdout, 1)


if __name__ == "__main__":
    main(sys.argv)
