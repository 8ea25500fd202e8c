"""Runs a script so that it can do no harm and leave nothing behind.

Each run is a fresh process in its own copy of the script's directory tree, with its own working
directory, home and temporary folder. It reads nothing from the terminal, has limits of time, memory
and disk, takes all its descendants with it when it ends, and what it prints is kept only up to a
limit. The files of the user are read and never written.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tfrewrite.verify.family import Family
from tfrewrite.verify.limits import DiskWatch, MemoryWatch, offer_to_the_kernel
from tfrewrite.verify.output import POLL_S, Streams

GRACE_S = 1.0
"""How long after the end of the script its output may still arrive from the pipes."""
RECORD = "TFREWRITE_RECORD"
"""The variable of the script's environment that names the folder for recordings."""
NOT_COPIED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
NOT_INHERITED = frozenset({"PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "VIRTUAL_ENV", RECORD})
NO_MEMORY_LIMIT = "the memory limit was not applied: this system has no /proc to see it in"


class Ending(str, Enum):
    """How a run came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    OUT_OF_DISK = "out-of-disk"
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
    launcher: tuple[str, ...] = ()
    """What stands between the interpreter and the script: a program that runs the script."""
    record: Path | None = None
    """A folder of the caller outside the copy, which the script finds by the variable `RECORD`.

    It is made if it is not there, and stays.
    """
    time_limit_s: float = 300.0
    memory_limit_mb: float | None = None
    """Of resident memory, all processes of the run together."""
    disk_limit_mb: float | None = None
    """Of what the run adds to its copy of the tree, its home and its temporary folder."""
    output_limit: int = 1 << 20
    """How many bytes are kept of each of the two output streams."""
    given_up: threading.Event | None = None
    """Set when nobody wants the result any more, to end the run."""


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
    peak_memory_mb: float | None = None
    """As seen from outside, a few times a second; None where the system does not tell."""
    disk_mb: float | None = None
    """What it had added to its room, for a run with a limit; seen as seldom."""
    room: str = ""
    """The folder of the copy and the rest, gone by now: what was printed may name it."""
    notes: tuple[str, ...] = ()
    """What was asked for and could not be applied."""

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.EXITED and self.exit_code == 0

    def describe(self) -> str:
        """The ending in words, for a message to the user."""
        match self.ending:
            case Ending.EXITED:
                return f"ended with exit code {self.exit_code}"
            case Ending.SIGNALLED:
                return f"was ended by signal {self.signal} ({signal_name(self.signal or 0)})"
            case Ending.TIMED_OUT:
                return f"was stopped after {self.elapsed_s:.0f} s"
            case Ending.OUT_OF_MEMORY:
                return f"was stopped when it had taken {self.peak_memory_mb or 0:.0f} MB of memory"
            case Ending.OUT_OF_DISK:
                return f"was stopped when it had written {self.disk_mb or 0:.0f} MB to disk"
            case Ending.NOT_STARTED:
                return f"could not be started: {self.error}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def run_script(request: RunRequest) -> RunResult:
    """Runs the script and returns when it and all of its descendants are gone."""
    with temporary_room() as room:
        # The name is the mark, not the value: a run inside of a run bears both.
        mark = f"TFREWRITE_RUN_{uuid.uuid4().hex}"
        try:
            furnish(request, room)
            disk = DiskWatch(room, request.disk_limit_mb)
            process = start(request, room, mark)
        except (OSError, shutil.Error, ValueError) as error:
            return RunResult(Ending.NOT_STARTED, 0.0, error=str(error), room=str(room))
        return watch(process, request, Family(process, mark), disk)


@contextlib.contextmanager
def temporary_room() -> Iterator[Path]:
    """A folder that is gone afterwards, whatever lies in it by then."""
    room = Path(tempfile.mkdtemp(prefix="tfrewrite-")).resolve()
    try:
        yield room
    finally:
        try:
            remove(room)
        except BaseException:
            remove(room)  # a signal came in between; no other is heard
            raise


def remove(folder: Path) -> None:
    """Takes a folder away, however deep it is: one after another, its folders are brought up.

    A script can make a folder that is too deep for a path, and for a function that calls itself.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        for entry in entries_of(here):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    Path(entry.path).chmod(stat.S_IRWXU)
                    waiting.append(Path(entry.path).rename(folder / uuid.uuid4().hex))
                else:
                    Path(entry.path).unlink()
        if here != folder:
            with contextlib.suppress(OSError):
                here.rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def entries_of(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def furnish(request: RunRequest, room: Path) -> None:
    """Makes the copy of the tree, the other folders of the run, and that for recordings."""
    work = room / "work"
    copy_tree(request.tree, work)
    for relative, content in request.replacements:
        target = work / relative
        if not target.resolve().is_relative_to(work.resolve()):
            raise OSError(f"{relative} lies outside {request.tree}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if not (work / request.script).is_file():
        raise FileNotFoundError(f"no script {request.script} in {request.tree}")
    (room / "home").mkdir()
    (room / "tmp").mkdir()
    if request.record is not None:
        request.record.mkdir(parents=True, exist_ok=True)


def start(request: RunRequest, room: Path, mark: str) -> subprocess.Popen[bytes]:
    command = [*request.launcher, request.script, *request.arguments]
    process = subprocess.Popen(
        [str(request.python.absolute()), *command],
        cwd=room / "work",
        env={**surroundings(room, request), mark: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    offer_to_the_kernel(process.pid)
    return process


def copy_tree(source: Path, target: Path) -> None:
    """Copies files, directories and links; a pipe or socket in the tree would block the copying."""

    def unwanted(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [name for name, path in paths.items() if is_left_out(path) or is_special(path)]

    shutil.copytree(source, target, symlinks=True, ignore=unwanted)


def is_left_out(path: Path) -> bool:
    """What no script needs beside it: histories, caches, and whole environments."""
    return path.name in NOT_COPIED or os.path.exists(path / "pyvenv.cfg")  # noqa: PTH110  no error where not allowed


def is_special(path: Path) -> bool:
    mode = path.lstat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def surroundings(room: Path, request: RunRequest) -> dict[str, str]:
    """The environment of the run: that of this process, with every private place its own."""
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in NOT_INHERITED and not key.startswith("XDG_")
    }
    record = {} if request.record is None else {RECORD: str(request.record.absolute())}
    return {
        **inherited,
        "HOME": str(room / "home"),
        "TMPDIR": str(room / "tmp"),
        # What was printed before a hard end has to be there to be shown.
        "PYTHONUNBUFFERED": "1",
        **record,
        **dict(request.environment),
    }


def watch(
    process: subprocess.Popen[bytes], request: RunRequest, family: Family, disk: DiskWatch
) -> RunResult:
    """Reads both streams until the script ends or is at a limit; then ends what is left of it."""
    began = time.monotonic()
    deadline = began + request.time_limit_s
    memory = MemoryWatch(family, request.memory_limit_mb)
    stopped: Ending | None = None
    with contextlib.closing(Streams(process, request.output_limit)) as streams:
        try:
            while not has_ended(process) and stopped is None:
                streams.read(POLL_S)
                family.know_mounts()
                if time.monotonic() > deadline or is_given_up(request):
                    stopped = Ending.TIMED_OUT
                elif memory.is_exceeded():
                    stopped = Ending.OUT_OF_MEMORY
                elif disk.is_exceeded():
                    stopped = Ending.OUT_OF_DISK
            elapsed = time.monotonic() - began
        finally:
            family.end()
        streams.drain(GRACE_S)
    status = process.returncode
    ending = stopped or (Ending.SIGNALLED if status < 0 else Ending.EXITED)
    unlimited = request.memory_limit_mb is not None and not family.known
    return RunResult(
        ending=ending,
        elapsed_s=elapsed,
        exit_code=status if ending is Ending.EXITED else None,
        signal=-status if ending is Ending.SIGNALLED else None,
        stdout=streams.stdout.text(),
        stderr=streams.stderr.text(),
        dropped=streams.stdout.dropped + streams.stderr.dropped,
        peak_memory_mb=memory.peak_mb if family.known else None,
        disk_mb=None if request.disk_limit_mb is None else disk.grown_mb,
        room=str(disk.room),
        notes=(NO_MEMORY_LIMIT,) if unlimited else (),
    )


def is_given_up(request: RunRequest) -> bool:
    return request.given_up is not None and request.given_up.is_set()


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the script has ended, asked so that its process number stays taken where possible."""
    if hasattr(os, "waitid"):
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, how) is not None
    return process.poll() is not None
