"""The program; also `python -m tfrewrite`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command line."""
    try:
        from tfrewrite.cli import app  # noqa: PLC0415  Ctrl-C can come while it is imported

        app(prog_name="tfrewrite")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
