"""Remembers what was found in a file, so that looking at it again costs next to nothing.

What is remembered is addressed by content: the bytes of the file, the rules and settings asked of
it, this program's own files, and the Python that runs it. Beside that, the time stamps and sizes
of files spare reading those that were not touched.

It is one sqlite file in the user's cache directory (`$XDG_CACHE_HOME/tfrewrite`), where caches
belong, and not in the tree that is checked: `check` writes nothing there. It holds positions and
messages, no source. Whatever is wrong with it, nothing fails: it is put aside and made anew.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sqlite3
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import codec
from tfrewrite.discovery import is_notebook
from tfrewrite.model import Outcome, Status
from tfrewrite.registry import PACKAGE
from tfrewrite.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfrewrite.policy import Policy

_SETTLED_NS = 2_000_000_000
"""A file touched less than this ago can change again without its time stamps showing it."""

_KEPT_DAYS = 30
_TABLES = """
    CREATE TABLE IF NOT EXISTS stamps (path TEXT PRIMARY KEY, stamp TEXT, digest BLOB);
    CREATE TABLE IF NOT EXISTS outcomes (key BLOB PRIMARY KEY, body TEXT, day INTEGER);
"""


@dataclass(frozen=True)
class Entry:
    """A file as it is now, and under which key its outcome is kept."""

    path: str
    key: bytes
    digest: bytes
    stamp: str
    """Empty where time stamps cannot be trusted yet."""


def default_directory() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tfrewrite"


class Cache:
    """The outcomes of earlier runs."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "outcomes-1.sqlite"

    def recall(
        self, files: Sequence[tuple[str, Policy, bool]]
    ) -> tuple[dict[str, Entry], dict[str, Outcome]]:
        """For each (path, policy, named): where its outcome is kept, and the outcome if it is."""
        entries: dict[str, Entry] = {}
        outcomes: dict[str, Outcome] = {}

        def look(database: sqlite3.Connection) -> None:
            rows = database.execute("SELECT path, stamp, digest FROM stamps")
            stamps = {path: (stamp, digest) for path, stamp, digest in rows}
            for path, policy, named in files:
                asked = fingerprint(policy, named=named, notebook=is_notebook(path))
                entry = _entry(path, stamps, asked)
                if entry is not None:
                    entries[path] = entry
            for path, entry in entries.items():
                row = database.execute("SELECT body FROM outcomes WHERE key = ?", [entry.key])
                outcome = _decoded(row.fetchone(), path)
                if outcome is not None:
                    outcomes[path] = outcome

        self._with_database(look)
        return entries, outcomes

    def remember(self, made: Iterable[tuple[Entry, Outcome]]) -> None:
        """Keeps outcomes that follow from the content alone."""
        lasting = [(entry, outcome) for entry, outcome in made if _lasting(outcome)]
        today = int(time.time() // 86_400)

        def keep(database: sqlite3.Connection) -> None:
            database.executemany(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)",
                [(entry.key, codec.encode(outcome), today) for entry, outcome in lasting],
            )
            database.executemany(
                "INSERT OR REPLACE INTO stamps VALUES (?, ?, ?)",
                [(_full(entry.path), entry.stamp, entry.digest) for entry, _ in lasting],
            )
            database.execute("DELETE FROM outcomes WHERE day < ?", [today - _KEPT_DAYS])

        if lasting:
            self._with_database(keep)

    def _with_database(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Does some work, or none where the cache cannot be used; a damaged one is put aside."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as database, database:
                work(database)
        except (sqlite3.OperationalError, OSError):
            pass  # locked, or not writable: still whole
        except sqlite3.DatabaseError:
            with suppress(OSError):
                self._path.unlink()

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=2)
        try:
            # Nothing here is worth waiting for the disk.
            database.execute("PRAGMA synchronous = OFF")
            database.executescript(_TABLES)
        except sqlite3.Error:
            database.close()
            raise
        return database


def fingerprint(policy: Policy, *, named: bool, notebook: bool = False) -> bytes:
    """What the outcome of a file depends on, beside its bytes."""
    return hashlib.sha256(f"{_policy_text(policy)}\n{named} {notebook}".encode()).digest()


@cache
def _policy_text(policy: Policy) -> str:
    rules = ",".join(f"{rule.__module__}.{rule.__qualname__}" for rule in policy.rules)
    allowed = ",".join(sorted(contract.value for contract in policy.allowed))
    return f"{rules}\n{allowed}\n{policy.target_tf}\n{policy.known}\n{_program()}\n{sys.version}"


@cache
def _program() -> str:
    """This program: every file of it, with its size and time."""
    packages = [importlib.import_module(name) for name in ("tfrewrite", PACKAGE)]
    roots = {Path(root) for package in packages for root in package.__path__}
    files = sorted({path for root in roots for path in root.rglob("*.*")})
    stats = [(path, path.stat()) for path in files if path.suffix in {".py", ".json"}]
    listing = "\n".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
    return f"{__version__} {hashlib.sha256(listing.encode()).hexdigest()}"


def _entry(path: str, stamps: dict[str, tuple[str, bytes]], asked: bytes) -> Entry | None:
    try:
        status = os.stat(path)  # noqa: PTH116
        stamp = (
            f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} "
            f"{status.st_ino} {status.st_dev}"
        )
        known, digest = stamps.get(_full(path), ("", b""))
        if known != stamp:
            digest = hashlib.sha256(Path(path).read_bytes()).digest()
    except OSError:
        return None  # the engine will say what is wrong with it
    settled = max(status.st_mtime_ns, status.st_ctime_ns) < time.time_ns() - _SETTLED_NS
    key = hashlib.sha256(digest + asked).digest()
    return Entry(path, key, digest, stamp if settled else "")


def _full(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100  a hundred times as fast


def _decoded(row: tuple[str] | None, path: str) -> Outcome | None:
    if row is None:
        return None
    try:
        return codec.decode(row[0], path)
    except (ValueError, KeyError, TypeError):
        return None


def _lasting(outcome: Outcome) -> bool:
    return outcome.status in {Status.UNCHANGED, Status.WOULD_REWRITE}
