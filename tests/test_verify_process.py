"""A run in isolation ends, leaves nothing behind, and says what happened, whatever the script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

from tfrewrite.verify import family, limits, process
from tfrewrite.verify.output import Kept
from tfrewrite.verify.process import RECORD, Ending, RunRequest, RunResult, run_script

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")


def run(
    folder: Path,
    source: str,
    *,
    time_limit_s: float = 30.0,
    output_limit: int = 1 << 20,
    arguments: tuple[str, ...] = (),
    replacements: tuple[tuple[str, bytes], ...] = (),
    environment: tuple[tuple[str, str], ...] = (),
    launcher: tuple[str, ...] = (),
    record: Path | None = None,
    memory_limit_mb: float | None = None,
    disk_limit_mb: float | None = None,
) -> RunResult:
    (folder / "script.py").write_text(dedent(source))
    return run_script(
        RunRequest(
            python=Path(sys.executable),
            tree=folder,
            script="script.py",
            arguments=arguments,
            replacements=replacements,
            environment=environment,
            launcher=launcher,
            record=record,
            time_limit_s=time_limit_s,
            memory_limit_mb=memory_limit_mb,
            disk_limit_mb=disk_limit_mb,
            output_limit=output_limit,
        )
    )


def is_alive(pid: int) -> bool:
    """Whether it still runs; one that has ended and that nobody waited for counts as gone."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def command_line(pid: int) -> str:
    """What a process was called with, which its forks share; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def is_gone_soon(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def test_an_ordinary_script(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import sys
        print("out", *sys.argv[1:])
        print("err", file=sys.stderr)
        """,
        arguments=("--steps", "3"),
    )
    assert result.succeeded
    assert (result.ending, result.exit_code, result.signal) == (Ending.EXITED, 0, None)
    assert (result.stdout, result.stderr, result.dropped) == ("out --steps 3\n", "err\n", 0)
    assert 0 < result.elapsed_s < 30


def test_a_traceback_is_kept(tmp_path: Path) -> None:
    result = run(tmp_path, "raise RuntimeError('so it goes')")
    assert not result.succeeded
    assert result.exit_code == 1
    assert result.stderr.endswith("RuntimeError: so it goes\n")
    assert result.describe() == "ended with exit code 1"


def test_a_hanging_script_is_stopped(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("waiting")
        time.sleep(600)
        """,
        time_limit_s=1.0,
    )
    assert result.ending is Ending.TIMED_OUT
    assert not result.succeeded
    assert result.exit_code is None
    assert result.stdout == "waiting\n"
    assert 1.0 <= result.elapsed_s < 10
    assert result.describe() == "was stopped after 1 s"


def test_children_end_with_a_script_that_is_stopped(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os, time
        child = os.fork()
        if child:
            print(child)
        time.sleep(600)
        """,
        time_limit_s=1.0,
    )
    assert result.ending is Ending.TIMED_OUT
    assert is_gone_soon(int(result.stdout))


def test_children_that_outlive_their_script_are_ended(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os, time
        child = os.fork()
        if not child:
            time.sleep(600)
        print(child)
        """,
    )
    assert result.succeeded
    assert result.elapsed_s < 10
    assert is_gone_soon(int(result.stdout))


LEAVES_THE_GROUP = """
    import os, time
    child = os.fork()
    if not child:
        os.setsid()
        if os.fork():
            os._exit(0)
        print(os.getpid(), flush=True)
        {then}
        time.sleep(600)
    time.sleep({stays})
"""


@linux
def test_a_child_that_left_the_group_and_holds_the_pipe_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    result = run(tmp_path, LEAVES_THE_GROUP.format(then="", stays=0.3))
    assert result.succeeded
    assert is_gone_soon(int(result.stdout))
    assert time.monotonic() - began < 10


@linux
def test_a_child_that_left_with_another_environment_is_ended_when_it_was_seen(
    tmp_path: Path,
) -> None:
    # Seen while its parent, which has the mark, is still there.
    result = run(
        tmp_path,
        """
        import os, subprocess, sys, time
        code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
        command = [sys.executable, "-c", code]
        subprocess.Popen(command, env={}, start_new_session=True)
        time.sleep(1.2)
        """,
    )
    assert result.succeeded
    assert is_gone_soon(int(result.stdout))


@linux
def test_processes_of_others_are_let_be(tmp_path: Path) -> None:
    # One with the mark of another run, and one that only names this kind of mark.
    others = [
        subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"],
            env={"TFREWRITE_RUN_0": "1", "OTHER": "TFREWRITE_RUN_1=1"},
        )
        for _ in range(2)
    ]
    try:
        assert run(tmp_path, LEAVES_THE_GROUP.format(then="", stays=0.7)).succeeded
        assert [other.poll() for other in others] == [None, None]
    finally:
        for other in others:
            other.kill()
            other.wait()


@linux
def test_a_number_that_went_to_another_process_is_not_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as other:
        entry = family.entry_of(other.pid)
        assert entry is not None
        family.end_process(other.pid, entry.start - 1)
        time.sleep(0.05)
        assert other.poll() is None
        family.end_process(other.pid, entry.start)
        assert other.wait(5) == -signal.SIGKILL


@linux
def test_a_family_that_goes_on_forking_is_ended(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os, time
        if os.fork():
            time.sleep(0.3)
            os._exit(0)
        for _ in range(200):
            os.setsid() if os.getpid() != os.getsid(0) else None
            if os.fork():
                os._exit(0)
            time.sleep(0.01)
        """,
        arguments=(str(tmp_path),),
    )
    assert result.succeeded
    left = [pid for pid in family.all_numbers() if str(tmp_path) in command_line(pid)]
    assert left == []


def test_endless_output_is_bounded(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import sys
        sys.stdout.write("first line\\n")
        while True:
            sys.stdout.write("x" * 65536)
        """,
        time_limit_s=1.0,
        output_limit=10_000,
    )
    assert result.ending is Ending.TIMED_OUT
    assert result.dropped > 65536
    assert len(result.stdout) < 10_100
    assert result.stdout.startswith("first line\n")
    assert f"[... {result.dropped} bytes left out ...]" in result.stdout


def test_a_full_pipe_does_not_block_the_script(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import sys
        sys.stderr.write("e" * 1_000_000)
        sys.stdout.write("o" * 1_000_000 + "end")
        """,
        output_limit=1000,
    )
    assert result.succeeded
    assert result.stdout.endswith("end")
    assert result.dropped == 2_000_003 - 2000


HOARDS = """
    import os, time
    {first}
    hoard = [bytearray(os.urandom(1) * 20_000_000) for _ in range({blocks})]
    print(len(hoard), flush=True)
    time.sleep({stays})
"""


@linux
def test_a_memory_limit(tmp_path: Path) -> None:
    source = HOARDS.format(first="", blocks=10, stays=600)
    result = run(tmp_path, source, memory_limit_mb=150)
    assert result.ending is Ending.OUT_OF_MEMORY
    assert not result.succeeded
    assert result.peak_memory_mb is not None
    assert 150 < result.peak_memory_mb < 300
    assert result.elapsed_s < 10
    assert result.describe().endswith(f" {result.peak_memory_mb:.0f} MB of memory")


@linux
def test_memory_within_the_limit_is_reported(tmp_path: Path) -> None:
    source = HOARDS.format(first="", blocks=5, stays=0.3)
    result = run(tmp_path, source, memory_limit_mb=200)
    assert result.succeeded
    assert result.peak_memory_mb is not None
    assert 100 < result.peak_memory_mb < 150
    assert result.notes == ()


@linux
def test_the_memory_of_children_counts_too(tmp_path: Path) -> None:
    source = HOARDS.format(first="os.fork() and os.fork()", blocks=4, stays=600)
    result = run(tmp_path, source, memory_limit_mb=200)
    assert result.ending is Ending.OUT_OF_MEMORY


@linux
def test_what_processes_share_counts_once(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os, time
        shared = bytearray(b"x") * 100_000_000
        for _ in range(3):
            if not os.fork():
                break
        time.sleep(1)
        """,
        memory_limit_mb=200,
    )
    assert result.succeeded
    assert result.peak_memory_mb is not None
    assert 100 < result.peak_memory_mb < 200


def test_a_memory_limit_where_it_cannot_be_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "PROC", tmp_path / "proc")
    result = run(tmp_path, "print(1)", memory_limit_mb=1)
    assert result.succeeded
    assert result.peak_memory_mb is None
    assert "memory limit was not applied" in result.notes[0]
    assert run(tmp_path, "print(1)").notes == ()


@pytest.mark.parametrize("place", [".", "~", "$TMPDIR/new"])
def test_a_disk_limit(tmp_path: Path, place: str) -> None:
    result = run(
        tmp_path,
        f"""
        import os, time
        place = os.path.expandvars(os.path.expanduser({place!r}))
        os.makedirs(place, exist_ok=True)
        for number in range(100):
            with open(os.path.join(place, str(number)), "wb") as file:
                file.write(os.urandom(1_000_000))
            time.sleep(0.02)
        """,
        disk_limit_mb=10,
    )
    assert result.ending is Ending.OUT_OF_DISK
    assert not result.succeeded
    assert result.disk_mb is not None
    assert 10 < result.disk_mb < 80
    assert result.describe().endswith(f" {result.disk_mb:.0f} MB to disk")


def test_what_was_in_the_tree_does_not_count_as_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(os.urandom(3_000_000))
    result = run(tmp_path, "import time\ntime.sleep(0.7)", disk_limit_mb=2)
    assert result.succeeded
    assert result.disk_mb is not None
    assert result.disk_mb < 1


def test_very_many_files_are_counted_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ENTRIES_AT_ONCE", 7)
    monkeypatch.setattr(limits, "DISK_EVERY_S", 0.0)
    watch = limits.DiskWatch(tmp_path, 1.0)
    for number in range(100):
        folder = tmp_path / str(number % 10)
        folder.mkdir(exist_ok=True)
        (folder / str(number)).write_bytes(os.urandom(20_000))
    looks = 1
    while not watch.is_exceeded():
        looks += 1
        assert looks < 100
    assert 5 < looks < 20


@linux
def test_the_end_is_noticed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "POLL_S", 30.0)
    result = run(tmp_path, "import os, time\nos.close(1)\ntime.sleep(0.2)\nos._exit(3)")
    assert result.exit_code == 3
    assert 0.15 < result.elapsed_s < 10


def test_a_launcher_stands_before_the_script(tmp_path: Path) -> None:
    launcher = tmp_path / "launch.py"
    launcher.write_text(
        "import runpy, sys\nsys.argv[:] = sys.argv[2:]\nrunpy.run_path(sys.argv[0])"
    )
    result = run(
        tmp_path,
        "import sys\nprint(*sys.argv, sys.flags.optimize)",
        launcher=("-O", str(launcher), "--own"),
        arguments=("--steps", "3"),
    )
    assert result.stdout == "script.py --steps 3 1\n"


def test_a_record_is_kept_outside_of_the_copy(tmp_path: Path) -> None:
    tree, record = tmp_path / "tree", tmp_path / "records" / "run 1"
    tree.mkdir()
    result = run(
        tree,
        """
        import os, shutil
        shutil.rmtree(os.path.dirname(os.getcwd()))
        os.chdir("/")
        open(os.path.join(os.environ["TFREWRITE_RECORD"], "step"), "w").write("1")
        os._exit(0)
        """,
        record=record,
    )
    assert result.succeeded
    assert RECORD == "TFREWRITE_RECORD"
    assert (record / "step").read_text() == "1"
    assert sorted(tree.iterdir()) == [tree / "script.py"]
    assert not Path(result.room).exists()


def test_the_record_of_an_outer_run_is_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RECORD, str(tmp_path))
    assert run(tmp_path, f"import os\nprint(os.environ.get({RECORD!r}))").stdout == "None\n"


def test_a_hard_exit_keeps_code_and_output(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os
        print("seen")
        os._exit(7)
        """,
    )
    assert (result.ending, result.exit_code, result.stdout) == (Ending.EXITED, 7, "seen\n")


def test_a_script_that_ends_itself_by_a_signal(tmp_path: Path) -> None:
    result = run(tmp_path, "import os\nos.kill(os.getpid(), 11)")
    assert (result.ending, result.signal, result.exit_code) == (Ending.SIGNALLED, 11, None)
    assert not result.succeeded
    assert result.describe() == "was ended by signal 11 (SIGSEGV)"


def test_a_script_that_kills_its_own_group_does_not_take_us_along(tmp_path: Path) -> None:
    result = run(tmp_path, "import os\nos.killpg(0, 9)")
    assert (result.ending, result.signal) == (Ending.SIGNALLED, signal.SIGKILL)


def test_standard_input_is_at_its_end(tmp_path: Path) -> None:
    result = run(tmp_path, "import sys\nprint(repr(sys.stdin.read()))\ninput()")
    assert result.stdout == "''\n"
    assert "EOFError" in result.stderr


def test_the_tree_of_the_user_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_text("1 2 3")
    (tmp_path / "alias.txt").symlink_to("data/numbers.txt")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    result = run(
        tmp_path,
        """
        import os, shutil
        print(open("alias.txt").read())
        open("data/numbers.txt", "w").write("overwritten")
        open("checkpoint", "w").write("new")
        shutil.rmtree(os.getcwd())
        print(os.path.exists("data"))
        """,
    )
    assert result.stdout == "1 2 3\nFalse\n"
    assert result.succeeded
    assert (tmp_path / "data" / "numbers.txt").read_text() == "1 2 3"
    after = sorted(path.name for path in tmp_path.rglob("*"))
    assert after == sorted([*before, "script.py"])


def test_home_and_temporary_folder_are_its_own_and_go_with_it(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        """
        import os, tempfile
        print(os.path.expanduser("~"))
        print(tempfile.mkdtemp())
        print(os.getcwd())
        open(os.path.expanduser("~/.keras"), "w").close()
        """,
    )
    assert result.succeeded
    places = [Path(line) for line in result.stdout.splitlines()]
    assert Path.home() not in places
    assert tmp_path not in places
    assert not any(place.exists() for place in places)


def test_folders_without_permission_are_removed_too(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A temporary folder of its own: others may be at work in the common one.
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    result = run(
        tmp_path,
        """
        import os
        os.makedirs("locked/inner")
        os.chmod("locked", 0)
        """,
    )
    assert result.succeeded
    assert list(temporary.iterdir()) == []


def test_a_named_pipe_in_the_tree_does_not_block_the_copy(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".git").mkdir()
    result = run(tmp_path, "import os\nprint(sorted(os.listdir('.')))")
    assert result.stdout == "['script.py']\n"


def test_the_run_starts_from_a_fresh_copy_each_time(tmp_path: Path) -> None:
    source = "import os\nprint(os.path.exists('state'))\nopen('state', 'w').close()"
    assert run(tmp_path, source).stdout == "False\n"
    assert run(tmp_path, source).stdout == "False\n"


def test_replacements_stand_in_for_files_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("value = 'original'")
    result = run(
        tmp_path,
        "from helper import value\nprint(value, open('new/file').read())",
        replacements=(("helper.py", b"value = 'replaced'"), ("new/file", b"added")),
    )
    assert result.stdout == "replaced added\n"
    assert (tmp_path / "helper.py").read_text() == "value = 'original'"


@pytest.mark.parametrize("outside", ["../escaped", "/escaped"])
def test_a_replacement_outside_the_copy_is_refused(tmp_path: Path, outside: str) -> None:
    result = run(tmp_path, "print('ran')", replacements=((outside, b""),))
    assert result.ending is Ending.NOT_STARTED
    assert "outside" in result.error
    assert result.stdout == ""


def test_the_environment_can_be_added_to(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "import os\nprint(os.environ['TF_CPP_MIN_LOG_LEVEL'], 'PYTHONHOME' in os.environ)",
        environment=(("TF_CPP_MIN_LOG_LEVEL", "3"),),
    )
    assert result.stdout == "3 False\n"


def test_no_such_interpreter(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print(1)")
    result = run_script(RunRequest(tmp_path / "nowhere" / "python", tmp_path, "script.py"))
    assert result.ending is Ending.NOT_STARTED
    assert "nowhere/python" in result.error
    assert result.describe().startswith("could not be started: ")


def test_no_such_script(tmp_path: Path) -> None:
    result = run_script(RunRequest(Path(sys.executable), tmp_path, "absent.py"))
    assert result.ending is Ending.NOT_STARTED
    assert "absent.py" in result.error


def test_no_such_tree(tmp_path: Path) -> None:
    result = run_script(RunRequest(Path(sys.executable), tmp_path / "absent", "script.py"))
    assert result.ending is Ending.NOT_STARTED


def test_output_that_is_no_text_is_still_shown(tmp_path: Path) -> None:
    result = run(tmp_path, "import sys\nsys.stdout.buffer.write(b'ok \\xff\\n')")
    assert result.stdout == "ok \ufffd\n"


def test_no_file_descriptor_is_left_open(tmp_path: Path) -> None:
    run(tmp_path, "print(1)")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        run(tmp_path, "print(1)")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


# With mounts of its own, if the system allows that, as the probe has them.
OWN_MOUNTS = """
import ctypes, os, subprocess, sys, time
if ctypes.CDLL(None).unshare(0x10020000) and ctypes.CDLL(None).unshare(0x20000):
    print("no mounts")
    sys.exit()
time.sleep({after})
"""


@linux
def test_one_that_hides_is_known_by_its_mounts(tmp_path: Path) -> None:
    seconds = f"{600 + os.getpid() / 1e7:.7f}"
    hidden = f"subprocess.Popen(['/bin/sh', '-c', '(sleep {seconds} &)'], env={{}},"
    found = run(tmp_path, OWN_MOUNTS.format(after=0.3) + hidden + " start_new_session=True).wait()")
    if "no mounts" in found.stdout:
        pytest.skip("no mounts of its own are to be had here")
    assert found.succeeded, found.stderr
    numbers = family.all_numbers()
    assert [one for one in numbers if seconds in command_line(one)] == []


@linux
def test_runs_beside_each_other_do_not_end_each_other(tmp_path: Path) -> None:
    """The number of the mounts of a run that ended is soon that of another."""
    folders = [tmp_path / str(number) for number in range(24)]
    for folder in folders:
        folder.mkdir()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda one: run(one, OWN_MOUNTS.format(after=0.15)), folders))
    assert [one.describe() for one in results if not one.succeeded] == []
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


@linux
def test_mounts_are_kept_until_all_is_over(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(OWN_MOUNTS.format(after=600))
    process = subprocess.Popen([sys.executable, str(script)], start_new_session=True)
    its = family.Family(process, "NO_SUCH_MARK")
    try:
        deadline = time.monotonic() + 10
        while its.mounts is None and time.monotonic() < deadline and process.poll() is None:
            its.know_mounts()
        if its.mounts is None:
            pytest.skip("no mounts of its own are to be had here")
        kept = its.mounts_kept
        assert kept is not None
        assert (os.fstat(kept).st_dev, os.fstat(kept).st_ino) == family.mounts_of(process.pid)
    finally:
        its.end()
    assert [vars(its)[name] for name in ("mounts", "mounts_kept")] == [None, None]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(kept)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([b"abc"], "abc"),
        ([b"abcdefgh"], "abcdefgh"),
        ([b"abcd", b"efghijkl"], "abcd\n[... 4 bytes left out ...]\nijkl"),
        ([b"a", b"b", b"cdefghijk", b"l"], "abcd\n[... 4 bytes left out ...]\nijkl"),
    ],
)
def test_what_is_kept_is_the_beginning_and_the_end(pieces: list[bytes], text: str) -> None:
    kept = Kept(8)
    for piece in pieces:
        kept.add(piece)
    assert kept.text() == text
