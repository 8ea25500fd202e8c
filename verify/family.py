"""The processes of one run: the script and all that it started, wherever they went.

A process belongs to the run when it is in the session of the script, when its parent was seen to
belong, when its environment has the variable that only this run has, or when it sees the mounts
that only this run has. That takes Linux's /proc; elsewhere only the process group of the script is
known.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tfrewrite.verify.output import handle

PROC = Path("/proc")
END_WITHIN_S = 2.0
"""How long the ending of processes is repeated, for those that go on starting others."""
ROUND_S = 0.005
QUIET_ROUNDS = 3
"""One may have been missed in a round: it was made by another that ended in that moment."""


@dataclass(frozen=True)
class Entry:
    """What /proc/PID/stat says of a process. Number and start together name it for ever."""

    state: str
    parent: int
    session: int
    start: int

    @property
    def runs(self) -> bool:
        """Whether it has not ended; one that only nobody has waited for yet does not run."""
        return self.state not in {"Z", "X"}


class Family:
    """Who belongs to the run of `process`; `mark` is the name of its variable."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self.process = process
        self.mark = mark.encode() + b"="
        self.strangers: set[int] = set()
        leader = entry_of(process.pid)
        self.known = leader is not None
        """Whether this system lets us see the processes at all."""
        self.members: dict[int, int] = {} if leader is None else {process.pid: leader.start}
        self.own_mounts = mounts_of(os.getpid())
        self.mounts: tuple[int, int] | None = None
        self.mounts_kept: int | None = None

    def know_mounts(self) -> None:
        """Takes note of the mounts of the script, once it has its own; an ended one has none.

        What a process cannot put off is what it sees of the files: its parent may be gone, and its
        session, its environment and its folder be others. The mounts are kept open: else their
        number would be free when the last of these processes has ended, and that of another run.
        """
        if self.mounts is not None or mounts_of(self.process.pid) in {None, self.own_mounts}:
            return
        with contextlib.suppress(OSError):
            kept = os.open(mounts_path(self.process.pid), os.O_RDONLY | os.O_CLOEXEC)
            status = os.fstat(kept)
            self.mounts, self.mounts_kept = (status.st_dev, status.st_ino), kept

    def forget_mounts(self) -> None:
        if self.mounts_kept is not None:
            os.close(self.mounts_kept)
        self.mounts = self.mounts_kept = None

    def look(self) -> None:
        """Takes in who is new. A number once seen to be a stranger's is not asked for again."""
        self.living()
        for pid in all_numbers() - self.strangers - self.members.keys():
            entry = entry_of(pid)
            if entry is not None and self.has(pid, entry):
                self.members[pid] = entry.start
            else:
                self.strangers.add(pid)

    def has(self, pid: int, entry: Entry) -> bool:
        if pid == os.getpid():
            return False
        return (
            entry.session == self.process.pid
            or entry.parent in self.members
            or self.is_marked(pid)
            or (self.mounts is not None and mounts_of(pid) == self.mounts)
        )

    def is_marked(self, pid: int) -> bool:
        try:
            environment = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return False
        return environment.startswith(self.mark) or b"\0" + self.mark in environment

    def living(self) -> list[int]:
        """The members that still run. The others are forgotten, as their numbers may be reused."""
        entries = {pid: entry_of(pid) for pid in self.members}
        for pid, entry in entries.items():
            if entry is None or entry.start != self.members[pid]:
                del self.members[pid]
        return [
            pid for pid, entry in entries.items() if pid in self.members and entry and entry.runs
        ]

    def end(self) -> None:
        """Ends the script and all of its descendants, whether or not it still runs.

        The script is waited for afterwards only: until then its number, which is that of the group
        and of the session, is given to nobody else, so this meets processes of this run only.
        """
        deadline = time.monotonic() + END_WITHIN_S
        # A number that was a stranger's may be a member's by now.
        self.strangers.clear()
        try:
            self.end_group()
            quiet = 0
            while self.known and quiet < QUIET_ROUNDS and time.monotonic() < deadline:
                quiet = 0 if self.end_living() else quiet + 1
                time.sleep(ROUND_S)
        finally:
            self.end_group()
            self.process.wait()
            self.forget_mounts()

    def end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end_living(self) -> bool:
        """Whether there was anyone left to end. Who is new is looked at before it can be gone."""
        self.look()
        living = self.living()
        for pid in living:
            end_process(pid, self.members[pid])
        return bool(living)


def end_process(pid: int, start: int) -> None:
    """Ends the process that began at `start`, and never one that got its number afterwards."""
    end = handle(pid)
    try:
        entry = entry_of(pid)
        if entry is None or entry.start != start:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if end is None:
                os.kill(pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(end, signal.SIGKILL)
    finally:
        if end is not None:
            os.close(end)


def mounts_path(pid: int) -> Path:
    return PROC / str(pid) / "ns" / "mnt"


def mounts_of(pid: int) -> tuple[int, int] | None:
    """The number of the mounts that a process sees, if this system lets us ask."""
    try:
        status = mounts_path(pid).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def all_numbers() -> set[int]:
    try:
        return {int(name) for name in os.listdir(PROC) if name.isdecimal()}  # noqa: PTH208
    except OSError:
        return set()


def entry_of(pid: int) -> Entry | None:
    try:
        stat = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name before the closing bracket may hold anything.
    fields = stat[stat.rfind(b")") + 2 :].split()
    return Entry(fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))
