"""Runs a script under observation: `python verify/probe SCRIPT ARGUMENTS...`.

The file that TFREWRITE_PROBE names says what is asked for; what was seen goes into a folder beside
it. Python 3.6 or later with numpy, and whatever TensorFlow is there.
"""

import importlib
import importlib.util
import os
import sys

if __name__ == "__main__":
    # Under a name of its own: a script may well have a module `loops`.
    _folder = os.path.dirname(os.path.abspath(__file__))
    _spec = importlib.util.spec_from_file_location(
        "_tfrewrite_probe",
        os.path.join(_folder, "__init__.py"),
        submodule_search_locations=[_folder],
    )
    assert _spec is not None and _spec.loader is not None
    _package = importlib.util.module_from_spec(_spec)
    sys.modules["_tfrewrite_probe"] = _package
    _spec.loader.exec_module(_package)
    importlib.import_module("_tfrewrite_probe.run").main()
