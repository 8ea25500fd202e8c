"""What is remembered is what would be found again."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notebook_maker import notebook, written
from tfrewrite import cache as cache_module
from tfrewrite import codec
from tfrewrite.cache import Cache, Entry, default_directory
from tfrewrite.engine import handle
from tfrewrite.model import Contract, Outcome, Status
from tfrewrite.policy import Policy
from toys import TOYS, MergePairs, RenameOld

if TYPE_CHECKING:
    from collections.abc import Iterable

POLICY = Policy(TOYS)
TEXT = "old(1)\nold(*x)  # é\nold(shift)\nbug()\ny = 1  # tfrewrite: ignore\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "x.py"
    path.write_text(TEXT)
    past = time.time() - 60
    os.utime(path, (past, past))
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def recall(
    cache: Cache, path: Path, policy: Policy = POLICY, *, named: bool = True
) -> Outcome | None:
    return cache.recall([(str(path), policy, named)])[1].get(str(path))


def remember(cache: Cache, paths: Iterable[Path], policy: Policy = POLICY) -> list[Outcome]:
    files = [(str(path), policy, True) for path in paths]
    outcomes = [handle(path, policy) for path, *_ in files]
    entries, _ = cache.recall(files)
    cache.remember((entries[one.path], one) for one in outcomes)
    return outcomes


def test_an_outcome_comes_back_as_it_was(cache: Cache, script: Path) -> None:
    (outcome,) = remember(cache, [script])
    assert outcome.findings
    assert outcome.refusals
    assert outcome.notices
    assert recall(cache, script) == replace(outcome, before="", after="")


def test_encoding_and_decoding(script: Path) -> None:
    outcome = replace(handle(str(script), POLICY), before="", after="")
    assert codec.decode(codec.encode(outcome), str(script)) == outcome
    nothing = Outcome("y.py", Status.UNCHANGED)
    assert codec.encode(nothing) == ""
    assert codec.decode("", "y.py") == nothing


def test_another_content_is_not_known(cache: Cache, script: Path) -> None:
    remember(cache, [script])
    status = script.stat()
    script.write_text(TEXT.replace("1", "2"))
    os.utime(script, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert recall(cache, script) is None


def test_the_same_content_is_known_wherever_it_lies(cache: Cache, script: Path) -> None:
    remember(cache, [script])
    copy = script.with_name("copy.py")
    copy.write_text(TEXT)
    known = recall(cache, copy)
    assert known is not None
    assert known.path == str(copy)


def test_a_script_and_a_notebook_of_the_same_bytes_are_two(cache: Cache, tmp_path: Path) -> None:
    data = written(notebook("old(1)", "old(*x)", "y = 1  # tfrewrite: ignore"))
    for name, count in (("n.py", 0), ("n.ipynb", 1)):
        path = tmp_path / name
        path.write_bytes(data)
        (outcome,) = remember(cache, [path])
        known = recall(cache, path)
        if outcome.status is not Status.FAILED:
            assert known is not None
            assert known == replace(outcome, before="", after="", cells=())
            assert len(known.refusals) == len(known.findings) == len(known.notices) == count


@pytest.mark.parametrize(
    "policy",
    [
        Policy((RenameOld,)),
        Policy((RenameOld, MergePairs)),
        Policy(TOYS, frozenset({Contract.EXACT})),
        Policy(TOYS, target_tf=(1, 15)),
        Policy(TOYS, known=(("TFR1", "x"),)),
    ],
)
def test_other_settings_are_other_questions(cache: Cache, script: Path, policy: Policy) -> None:
    remember(cache, [script])
    assert recall(cache, script, policy) is None
    assert recall(cache, script, named=False) is None
    assert recall(cache, script) is not None


def test_another_version_of_the_program_asks_anew(
    cache: Cache, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cache, [script])
    cache_module._policy_text.cache_clear()
    monkeypatch.setattr(cache_module, "_program", lambda: "another")
    try:
        assert recall(cache, script) is None
    finally:
        cache_module._policy_text.cache_clear()


def test_unchanged_files_are_not_read(
    cache: Cache, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The change time cannot be set back, so the clock is set forward.
    now = time.time_ns()
    monkeypatch.setattr("tfrewrite.cache.time.time_ns", lambda: now + 60_000_000_000)
    remember(cache, [script])

    def refuse(path: Path) -> bytes:
        raise AssertionError(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert recall(cache, script) is not None


def test_a_file_touched_just_now_is_read(cache: Cache, script: Path) -> None:
    script.write_text(TEXT)
    remember(cache, [script])
    entries, _ = cache.recall([(str(script), POLICY, True)])
    assert entries[str(script)].stamp == ""


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, b"SQLite format 3\0" * 9])
def test_a_damaged_cache_is_made_anew(
    cache: Cache, script: Path, tmp_path: Path, damage: bytes
) -> None:
    remember(cache, [script])
    (tmp_path / "cache" / "outcomes-1.sqlite").write_bytes(damage)
    assert recall(cache, script) is None
    remember(cache, [script])
    assert recall(cache, script) is not None


def test_damage_in_the_middle_is_mended(cache: Cache, script: Path, tmp_path: Path) -> None:
    paths = [script.with_name(f"y{number}.py") for number in range(80)]
    for number, path in enumerate(paths):
        path.write_text(f"{TEXT}# {number}\n")
    remember(cache, paths)
    file = tmp_path / "cache" / "outcomes-1.sqlite"
    data = file.read_bytes()
    file.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    assert recall(cache, paths[0]) is None
    remember(cache, paths)
    assert recall(cache, paths[0]) is not None


def test_a_damaged_entry_is_ignored(
    cache: Cache, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(codec, "encode", lambda _: '{"status": "odd"}')
        remember(cache, [script])
    assert recall(cache, script) is None


def test_a_place_that_cannot_be_written_is_no_obstacle(tmp_path: Path, script: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.remember([(Entry("x.py", b"", b"", ""), Outcome("x.py", Status.UNCHANGED))])
    assert recall(cache, script) is None


def test_failures_are_not_remembered(cache: Cache, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("print 'x'\n")
    remember(cache, [path])
    assert recall(cache, path) is None


def test_old_entries_go(cache: Cache, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(cache, [script])
    later = time.time() + 90 * 86_400
    monkeypatch.setattr("tfrewrite.cache.time.time", lambda: later)
    other = script.with_name("other.py")
    other.write_text("x = 1\n")
    remember(cache, [other])
    assert recall(cache, script) is None
    assert recall(cache, other) is not None


def test_the_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "tfrewrite"
