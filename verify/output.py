"""What a script prints, read without waiting for it and kept only up to a limit."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from typing import IO

CHUNK = 1 << 16
POLL_S = 0.05


class Kept:
    """The beginning and the end of a stream; what lies between is counted and dropped.

    The beginning tells what the script set out to do, the end holds the traceback.
    """

    def __init__(self, limit: int) -> None:
        self.half = max(limit // 2, 1)
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        excess = len(self.tail) - self.half
        if excess > 0:
            del self.tail[:excess]
            self.dropped += excess

    def text(self) -> str:
        gap = f"\n[... {self.dropped} bytes left out ...]\n".encode() if self.dropped else b""
        return bytes(self.head + gap + self.tail).decode("utf-8", errors="replace")


class Streams:
    """The two output pipes of a process, read without ever waiting longer than asked.

    A descendant that left the process group can hold a pipe open for ever, so the end of the
    stream is not what reading stops at. Where the system can tell of the end of the process
    itself, waiting stops at that moment.
    """

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        self.stdout = Kept(limit)
        self.stderr = Kept(limit)
        self.selector = selectors.DefaultSelector()
        self.pipes: list[IO[bytes]] = []
        for pipe, kept in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self.selector.register(pipe, selectors.EVENT_READ, kept)
                self.pipes.append(pipe)
        self.end = handle(process.pid)
        if self.end is not None:
            self.selector.register(self.end, selectors.EVENT_READ, None)

    def read(self, timeout_s: float) -> bool:
        """Takes what is there, and tells whether there was anything."""
        if not self.selector.get_map():
            time.sleep(timeout_s)
            return False
        ready = self.selector.select(timeout_s)
        for key, _ in ready:
            data = b"" if key.data is None else os.read(key.fd, CHUNK)
            if data:
                key.data.add(data)
            else:
                self.selector.unregister(key.fileobj)
        return bool(ready)

    def drain(self, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while self.selector.get_map() and time.monotonic() < deadline:
            if not self.read(POLL_S):
                return

    def close(self) -> None:
        self.selector.close()
        for pipe in self.pipes:
            pipe.close()
        if self.end is not None:
            os.close(self.end)


def handle(pid: int) -> int | None:
    """A file descriptor for a process, which becomes readable when it ends; Linux has that."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
