"""Runs a script so that it can do no harm and leave nothing behind.

Each run is a fresh process in its own copy of the script's directory tree, with its own working
directory, home and temporary folder. It reads nothing from the terminal, has a time limit, takes
its whole process group with it when it ends, and what it prints is kept only up to a limit. The
files of the user are read and never written.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO

POLL_S = 0.05
GRACE_S = 1.0
"""How long after the end of the script its output may still arrive from the pipes."""
CHUNK = 1 << 16
NOT_COPIED = frozenset({".git", ".hg", ".svn", "__pycache__"})
NOT_INHERITED = frozenset({"PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "VIRTUAL_ENV"})


class Ending(str, Enum):
    """How a run came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    NOT_STARTED = "not-started"


@dataclass(frozen=True)
class RunRequest:
    """One run of `script`, a path relative to the directory `tree`, by the interpreter `python`.

    `replacements` are files of the copy, by relative path, that get another content: so is the
    rewritten version of a script run in the surroundings of the original.
    """

    python: Path
    tree: Path
    script: str
    arguments: tuple[str, ...] = ()
    replacements: tuple[tuple[str, bytes], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    time_limit_s: float = 300.0
    output_limit: int = 1 << 20
    """How many bytes are kept of each of the two output streams."""


@dataclass(frozen=True)
class RunResult:
    """What came of a run. `exit_code` is set for `EXITED`, `signal` for `SIGNALLED`."""

    ending: Ending
    elapsed_s: float
    exit_code: int | None = None
    signal: int | None = None
    stdout: str = field(default="", repr=False)
    stderr: str = field(default="", repr=False)
    dropped: int = 0
    """How many bytes of output were beyond the limit."""
    error: str = ""
    """Why it was not started."""

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.EXITED and self.exit_code == 0

    def describe(self) -> str:
        """The ending in words, for a message to the user."""
        match self.ending:
            case Ending.EXITED:
                return f"ended with exit code {self.exit_code}"
            case Ending.SIGNALLED:
                return f"was ended by signal {self.signal}"
            case Ending.TIMED_OUT:
                return f"was stopped after {self.elapsed_s:.0f} s"
            case Ending.NOT_STARTED:
                return f"could not be started: {self.error}"


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


def run_script(request: RunRequest) -> RunResult:
    """Runs the script and returns when it and all of its process group are gone."""
    with tempfile.TemporaryDirectory(prefix="tfrewrite-", ignore_cleanup_errors=True) as room:
        try:
            process = start(request, Path(room))
        except (OSError, shutil.Error) as error:
            return RunResult(Ending.NOT_STARTED, 0.0, error=str(error))
        return watch(process, request)


def start(request: RunRequest, room: Path) -> subprocess.Popen[bytes]:
    work, home, temporary = room / "work", room / "home", room / "tmp"
    copy_tree(request.tree, work)
    for relative, content in request.replacements:
        target = work / relative
        if not target.resolve().is_relative_to(work.resolve()):
            raise OSError(f"{relative} lies outside {request.tree}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if not (work / request.script).is_file():
        raise FileNotFoundError(f"no script {request.script} in {request.tree}")
    home.mkdir()
    temporary.mkdir()
    return subprocess.Popen(
        [str(request.python.absolute()), request.script, *request.arguments],
        cwd=work,
        env=surroundings(home, temporary, request.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def copy_tree(source: Path, target: Path) -> None:
    """Copies files, directories and links; a pipe or socket in the tree would block the copying."""

    def unwanted(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name in NOT_COPIED or is_special(Path(folder, name))]

    shutil.copytree(source, target, symlinks=True, ignore=unwanted)


def is_special(path: Path) -> bool:
    mode = path.lstat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def surroundings(
    home: Path, temporary: Path, additions: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    """The environment of the run: that of this process, with every private place its own."""
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in NOT_INHERITED and not key.startswith("XDG_")
    }
    return {
        **inherited,
        "HOME": str(home),
        "TMPDIR": str(temporary),
        # What was printed before a hard end has to be there to be shown.
        "PYTHONUNBUFFERED": "1",
        **dict(additions),
    }


def watch(process: subprocess.Popen[bytes], request: RunRequest) -> RunResult:
    """Reads both streams until the script ends or its time is up; then ends what is left of it."""
    began = time.monotonic()
    deadline = began + request.time_limit_s
    timed_out = False
    with contextlib.closing(Streams(process, request.output_limit)) as streams:
        try:
            while not has_ended(process) and not timed_out:
                streams.read(POLL_S)
                timed_out = time.monotonic() > deadline
            elapsed = time.monotonic() - began
        finally:
            end_group(process)
        streams.drain(GRACE_S)
    status = process.returncode
    ended_by_itself = Ending.SIGNALLED if status < 0 else Ending.EXITED
    ending = Ending.TIMED_OUT if timed_out else ended_by_itself
    return RunResult(
        ending=ending,
        elapsed_s=elapsed,
        exit_code=status if ending is Ending.EXITED else None,
        signal=-status if ending is Ending.SIGNALLED else None,
        stdout=streams.stdout.text(),
        stderr=streams.stderr.text(),
        dropped=streams.stdout.dropped + streams.stderr.dropped,
    )


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the script has ended, asked so that its process number stays taken where possible."""
    if hasattr(os, "waitid"):
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, how) is not None
    return process.poll() is not None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the script and all that it started in its process group, whether or not it still runs.

    The script is waited for afterwards only: until then its number, which is that of the group,
    is given to nobody else, so this meets processes of this run and no others.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Streams:
    """The two output pipes of a process, read without ever waiting longer than asked.

    A descendant that left the process group can hold a pipe open for ever, so the end of the
    stream is not what reading stops at.
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

    def read(self, timeout_s: float) -> bool:
        """Takes what is there, and tells whether there was anything."""
        if not self.selector.get_map():
            time.sleep(timeout_s)
            return False
        ready = self.selector.select(timeout_s)
        for key, _ in ready:
            data = os.read(key.fd, CHUNK)
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
