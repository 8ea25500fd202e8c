"""What a run may take of memory and disk, looked after while it runs.

Looking must not slow down what is timed: each look is cheap, and they are far apart.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tfrewrite.verify.family import PROC, Family

MEGABYTE = 10**6
MEMORY_EVERY_S = 0.1
FAMILY_EVERY_S = 0.5
DISK_EVERY_S = 0.5
ENTRIES_AT_ONCE = 2000
PART_OF_FREE = 0.9
"""Whatever the limit, this much of the free disk is the most that a run may take."""
GROWN = 1.02
"""By how much the sum of several processes has to grow before it is looked at more closely."""


class Pace:
    """When it is time to look again."""

    def __init__(self, every_s: float) -> None:
        self.every_s = every_s
        self.next = 0.0

    def is_due(self) -> bool:
        now = time.monotonic()
        if now < self.next:
            return False
        self.next = now + self.every_s
        return True


class MemoryWatch:
    """The resident memory of all processes of a run together.

    Pages that processes share would count once for each of them. So where there are several, their
    proportional sizes are summed; these are dear to ask for, and asked for only when the plain
    sum is above the limit or above what it was before.
    """

    def __init__(self, family: Family, limit_mb: float | None) -> None:
        self.family = family
        self.limit_mb = limit_mb
        self.peak_mb = 0.0
        self.highest_sum = 0.0
        self.pace = Pace(MEMORY_EVERY_S)
        self.family_pace = Pace(FAMILY_EVERY_S)

    def is_exceeded(self) -> bool:
        if not self.family.known or not self.pace.is_due():
            return False
        if self.family_pace.is_due():
            self.family.look()
        now = self.taken_mb()
        self.peak_mb = max(self.peak_mb, now)
        return self.limit_mb is not None and now > self.limit_mb

    def taken_mb(self) -> float:
        living = self.family.living()
        sizes = [resident(pid) for pid in living]
        self.peak_mb = max([self.peak_mb, *(highest for _, highest in sizes)])
        total = sum(now for now, _ in sizes)
        if len(living) < 2:
            return total
        if self.limit_mb is not None and total > self.limit_mb:
            return sum(map(proportional, living))
        if total <= self.highest_sum * GROWN:
            return 0.0
        self.highest_sum = total
        return sum(map(proportional, living))


def resident(pid: int) -> tuple[float, float]:
    """The resident memory of a process now, and the highest that it had, in MB."""
    sizes = kilobytes(PROC / str(pid) / "status", ("VmRSS", "VmHWM"))
    return sizes.get("VmRSS", 0.0), sizes.get("VmHWM", 0.0)


def proportional(pid: int) -> float:
    sizes = kilobytes(PROC / str(pid) / "smaps_rollup", ("Pss",))
    return sizes["Pss"] if sizes else resident(pid)[0]


def kilobytes(path: Path, wanted: tuple[str, ...]) -> dict[str, float]:
    """The wanted lines of a file as `VmRSS:  1024 kB`, in MB."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {
        name: int(rest.split()[0]) * 1024 / MEGABYTE for name, _, rest in pairs if name in wanted
    }


def offer_to_the_kernel(pid: int) -> None:
    """When the machine runs out of memory, the script is to go and not the user's programs."""
    with contextlib.suppress(OSError):
        (PROC / str(pid) / "oom_score_adj").write_text("1000")


class DiskWatch:
    """What a run has added to its room. Files written elsewhere are not seen.

    The room may hold very many files, so a part of them is looked at each time.
    """

    def __init__(self, room: Path, limit_mb: float | None) -> None:
        self.room = room
        self.limit_mb = limit_mb
        self.pace = Pace(DISK_EVERY_S)
        self.grown_mb = 0.0
        if limit_mb is not None:
            self.limit_mb = min(limit_mb, shutil.disk_usage(room).free / MEGABYTE * PART_OF_FREE)
            # Some file systems give a file its blocks late.
            self.before = sum(max(stat.st_size, stat.st_blocks * 512) for stat in files(room))
            self.walk = files(room)
            self.total = 0

    def is_exceeded(self) -> bool:
        if self.limit_mb is None or not self.pace.is_due():
            return False
        part = list(islice(self.walk, ENTRIES_AT_ONCE))
        self.total += sum(stat.st_blocks * 512 for stat in part)
        grown_mb = (self.total - self.before) / MEGABYTE
        self.grown_mb = max(self.grown_mb, grown_mb)
        if len(part) < ENTRIES_AT_ONCE:
            self.walk = files(self.room)
            self.total = 0
        return grown_mb > self.limit_mb


def files(folder: Path) -> Iterator[os.stat_result]:
    """All files below a folder; what vanishes meanwhile or may not be read is passed over."""
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    yield entry.stat(follow_symlinks=False)
