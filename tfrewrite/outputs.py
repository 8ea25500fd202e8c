"""Where reports go: `--output html=FILE` names a format and a file, `--output FILE` a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from tfrewrite.config import ConfigError
from tfrewrite.reports.safe import printable

Target = tuple[str, Path | None]
"""A format, and the file that has it; None is standard output."""


def targets(outputs: Sequence[str], format_: str, formats: Collection[str]) -> list[Target]:
    """What `--output` and `--format` ask for together, or `ConfigError`.

    Standard output has the report of that format, unless a file has it.
    """
    found: list[Target] = []
    for output in (part.strip() for one in outputs for part in one.split(",")):
        name, equals, target = output.partition("=")
        if not equals and output:
            found.append((format_, _writable(Path(output))))
        elif name in formats and target:
            found.append((name, _writable(Path(target))))
        else:
            raise ConfigError(
                f"--output: {output!r}: write FILE, or one of {', '.join(formats)} with a file, "
                "as in html=report.html"
            )
    files = [target for _, target in found]
    for file in files:
        if files.count(file) > 1:
            raise ConfigError(f"--output: {file}: two reports cannot go to one file")
    if all(name != format_ for name, _ in found):
        found.append((format_, None))
    return found


def write(report: bytes, target: Path | None) -> None:
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(report)
        sys.stdout.flush()
        return
    try:
        target.write_bytes(report)
    except OSError as error:
        raise ConfigError(f"--output: {target}: {error.strerror or error}") from error


def complain(line: str) -> None:
    """One line for people, on standard error."""
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _writable(target: Path) -> Path:
    """Asked before anything runs, so that no result is lost for want of a folder."""
    folder = target.parent
    if target.is_dir():
        raise ConfigError(f"--output: {target}: a directory; name a file")
    if not folder.is_dir():
        raise ConfigError(f"--output: {target}: there is no directory {folder}")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise ConfigError(f"--output: {target}: cannot be written")
    return target
