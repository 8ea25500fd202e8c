"""What a long command says at a terminal while it works; in a pipe, nothing."""

from __future__ import annotations

import shutil
import sys
import threading
import time

from tfrewrite.reports.safe import printable

LONGEST_NAME = 40


class Live:
    """One line that changes, and lines above it that stay. Several threads may use it."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def show(self, script: str, what: str) -> None:
        """What is being done now."""
        elapsed = time.monotonic() - self._began
        self._write(f"\r\x1b[K{_fitted(f'{elapsed:4.0f} s  {_name(script)}: {what}')}")

    def keep(self, script: str, what: str) -> None:
        """Something that stays to be read."""
        self._write(f"\r\x1b[K{printable(f'{_name(script)}: {what}')}\n")

    def clear(self) -> None:
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        if not self._silent:
            with self._lock:
                sys.stderr.write(text)
                sys.stderr.flush()


def _name(script: str) -> str:
    """Its end tells scripts apart."""
    return script if len(script) <= LONGEST_NAME else f"...{script[-LONGEST_NAME:]}"


def _fitted(line: str) -> str:
    """As much as one line of the terminal holds; the cursor stays on it."""
    return printable(line)[: max(20, shutil.get_terminal_size().columns - 1)]
