"""Tells the code of the script from that of the libraries that it uses."""

import os


def is_own(frame, tree):
    """Whether this is a call from a file below the folder of the script."""
    name = frame.f_code.co_filename
    if name.startswith("<"):
        return False
    return not os.path.isabs(name) or name.startswith(tree)
