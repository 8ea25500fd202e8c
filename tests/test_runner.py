"""Many files, in order, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from tfrewrite.cache import Cache
from tfrewrite.config import ConfigError, Override, Settings
from tfrewrite.discovery import Found
from tfrewrite.model import Outcome, Site, Status
from tfrewrite.plan import Plan
from tfrewrite.rule import Rule
from tfrewrite.runner import FEW, Keep, Means, run
from toys import TOYS, RenameOld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts

MANY = 3 * FEW


class Kill(Rule):
    """Takes its process with it, as a crash of a parser does."""

    code = "TFR910"
    name = "kill"
    contracts = ()
    reasons: ClassVar[dict[str, str]] = {}
    triggers = ((b"kill",),)
    parent = os.getpid()

    def sites(self, facts: Facts) -> Iterator[Site]:
        del facts
        if os.getpid() != self.parent:
            os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


def files(root: Path, count: int = MANY) -> list[Found]:
    paths = [root / f"{number:03}.py" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"old({number})\n" if number % 3 == 0 else f"x = {number}\n")
    return [Found(str(path)) for path in paths]


def plan(*rules: type[Rule], write: bool = False, settings: Settings | None = None) -> Plan:
    return Plan(settings or Settings("/"), write=write, rules=rules or TOYS)


def statuses(outcomes: list[Outcome]) -> list[Status]:
    return [outcome.status for outcome in outcomes]


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    found = files(tmp_path)
    alone = run(found, plan(), Means(jobs=1))
    assert [outcome.path for outcome in alone] == [one.path for one in found]
    assert statuses(alone).count(Status.WOULD_REWRITE) == MANY // 3
    assert run(found, plan(), Means(jobs=2)) == alone
    assert all(outcome.after == "" for outcome in alone)


def test_any_executor_will_do(tmp_path: Path) -> None:
    found = files(tmp_path)
    with ThreadPoolExecutor(2) as executor:
        outcomes = run(found, plan(), Means(executor=executor, keep=Keep(texts=True)))
    assert outcomes[3].after == "new(3)\n"
    assert [outcome.path for outcome in outcomes] == [one.path for one in found]


def test_writing_in_processes(tmp_path: Path) -> None:
    found = files(tmp_path)
    outcomes = run(found, plan(write=True), Means(jobs=2))
    assert statuses(outcomes).count(Status.REWRITTEN) == MANY // 3
    assert Path(found[3].path).read_text() == "new(3)\n"
    assert len(list(tmp_path.iterdir())) == MANY


def test_a_bad_file_stops_no_other(tmp_path: Path) -> None:
    found = files(tmp_path)
    Path(found[0].path).write_bytes(b"\0")
    Path(found[1].path).write_text("print 'x'\n")
    Path(found[2].path).unlink()
    missing = Found("nowhere", named=True, problem="no such file")
    left_out = Found("empty", named=True, skipped="no Python files")
    outcomes = run([missing, *found, left_out], plan(write=True), Means(jobs=2))
    assert statuses(outcomes)[:4] == [Status.FAILED] * 4
    assert outcomes[-1].status is Status.SKIPPED
    assert statuses(outcomes).count(Status.REWRITTEN) == MANY // 3 - 1


def test_a_worker_that_dies_costs_its_file_only(tmp_path: Path) -> None:
    found = files(tmp_path)
    Path(found[4].path).write_text("kill\n")
    outcomes = run(found, plan(RenameOld, Kill), Means(jobs=2))
    assert outcomes[4].status is Status.FAILED
    assert "died" in outcomes[4].error
    assert statuses(outcomes).count(Status.FAILED) == 1
    assert statuses(outcomes).count(Status.WOULD_REWRITE) == MANY // 3


def test_the_cache_spares_the_second_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = files(tmp_path)
    means = Means(jobs=1, cache=Cache(tmp_path / "cache"))
    first = run(found, plan(), means)
    with monkeypatch.context() as patch:
        patch.setattr("tfrewrite.engine.handle", None)
        assert run(found, plan(), means) == first
    written = run(found, plan(write=True), means)
    assert statuses(written).count(Status.REWRITTEN) == MANY // 3
    texts = run(found, plan(), Means(jobs=1, cache=means.cache, keep=Keep(texts=True)))
    assert statuses(texts) == [Status.UNCHANGED] * MANY


def test_progress_reaches_the_total(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = files(tmp_path)
    run(found, plan(), Means(jobs=2, progress=lambda done, total: told.append((done, total))))
    assert told[-1] == (MANY, MANY)
    assert told == sorted(told)


def test_settings_for_some_files(tmp_path: Path) -> None:
    found = files(tmp_path, 7)
    override = Override("000.py", ignore=("TFR901",))
    settings = Settings(str(tmp_path), overrides=(override,))
    outcomes = run(found, plan(settings=settings), Means(jobs=1))
    assert [len(outcome.findings) for outcome in outcomes] == [0, 0, 0, 1, 0, 0, 1]


def test_wrong_settings_for_some_files_are_found_at_once() -> None:
    settings = Settings("/", overrides=(Override("x", select=("TFR99",)),))
    with pytest.raises(ConfigError, match="there is no rule 'TFR99'"):
        plan(settings=settings)
