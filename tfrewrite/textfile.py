"""Reads a source file so that it can be written back byte for byte, and writes it atomically."""

from __future__ import annotations

import errno
import io
import os
import stat
import tempfile
import tokenize
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOM = b"\xef\xbb\xbf"


class TextFileError(Exception):
    """A file that cannot be read or written; says why and what to do, in one line."""


@dataclass(frozen=True)
class TextFile:
    """A file as it was read. Line ends are those of the file."""

    text: str = field(repr=False)
    data: bytes = field(repr=False)
    encoding: str
    bom: bytes

    def encoded(self, text: str) -> bytes:
        """Another text in the encoding of this file."""
        try:
            if self.bom + self.text.encode(self.encoding) != self.data:
                raise TextFileError(
                    f"its encoding {self.encoding} does not give the same bytes back; "
                    "store the file as UTF-8"
                )
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise TextFileError(
                f"the rewritten file has a character that {self.encoding} cannot write; "
                "store the file as UTF-8"
            ) from error


def read(path: str) -> bytes:
    """The bytes of a file, or `TextFileError`."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise TextFileError("no such file or directory") from error
    except IsADirectoryError as error:
        raise TextFileError("is a directory") from error
    except PermissionError as error:
        raise TextFileError("may not be read; give yourself the permission (chmod u+r)") from error
    except OSError as error:
        raise TextFileError(f"cannot be read: {error.strerror or error}") from error


def decode(data: bytes) -> TextFile:
    """The text of a source file, in the encoding that Python reads it in, or `TextFileError`."""
    if b"\0" in data:
        raise TextFileError("contains null bytes, so it is binary or UTF-16, not Python source")
    bom = _BOM if data.startswith(_BOM) else b""
    encoding = "utf-8"
    try:
        # Most files declare nothing, and asking `tokenize` costs more than all else here.
        if b"coding" in b"".join(data.split(b"\n", 2)[:2]):
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        return TextFile(data[len(bom) :].decode(encoding), data, encoding, bom)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, len(bom) + error.start) + 1
        byte = data[len(bom) + error.start]
        raise TextFileError(
            f"line {line}: byte 0x{byte:02x} is not {encoding}; declare the file's encoding in its "
            "first line (# -*- coding: latin-1 -*-), or exclude it"
        ) from error
    except (SyntaxError, LookupError) as error:
        raise TextFileError(f"its declared encoding is wrong: {error}") from error


def decode_json(data: bytes) -> TextFile:
    """The text of a JSON file, which is UTF-8 whatever it says, or `TextFileError`."""
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        return TextFile(data[len(bom) :].decode(), data, "utf-8", bom)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, len(bom) + error.start) + 1
        raise TextFileError(f"line {line}: is not UTF-8, which JSON has to be") from error


def write(path: str, file: TextFile, text: str) -> None:
    """Puts `text` in the place of what was read, wholly or not at all.

    The new file is written beside the old one, flushed to the disk, and takes its place in one
    rename. A symbolic link stays, and what it points at is replaced.
    """
    data = file.encoded(text)
    target = os.path.realpath(path)
    try:
        _replace(target, file.data, data)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            reason = f"{reason}: free some space"
        elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            reason = f"{reason}: its directory must be writable"
        raise TextFileError(f"cannot be written, and was left as it was: {reason}") from error


def write_all(changes: Sequence[tuple[str, TextFile, str]]) -> None:
    """As `write`, of several files: where one cannot be written, those before it are put back."""
    done: list[tuple[str, TextFile, str]] = []
    for path, file, text in changes:
        try:
            write(path, file, text)
        except TextFileError as error:
            for other, old, new in reversed(done):
                with suppress(TextFileError):
                    write(other, replace(old, text=new, data=old.encoded(new)), old.text)
            raise TextFileError(f"{path}: {error}") from error
        done.append((path, file, text))


def _replace(target: str, old: bytes, new: bytes) -> None:
    status = os.stat(target)  # noqa: PTH116
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise TextFileError("is read-only and was left as it was; chmod u+w to have it rewritten")
    directory, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".tfrewrite", dir=directory)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(new)
            _take_over(stream.fileno(), status)
            stream.flush()
            os.fsync(stream.fileno())
        _require_unchanged(target, old)
        os.replace(temporary, target)  # noqa: PTH105
    except BaseException:
        # Also on Ctrl-C: nothing of ours stays behind.
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise
    _flush_directory(directory)


def _require_unchanged(target: str, old: bytes) -> None:
    if Path(target).read_bytes() != old:
        raise TextFileError("changed while it was being handled, and was left alone; run again")


def _take_over(descriptor: int, status: os.stat_result) -> None:
    """Gives the new file the owner and the mode of the old one, as far as we may."""
    if hasattr(os, "fchown"):
        with suppress(OSError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _flush_directory(directory: str) -> None:
    """Makes the rename itself last; not every file system can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
