"""A run in isolation ends, leaves nothing behind, and says what happened, whatever the script."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tfrewrite.verify.process import Ending, Kept, RunRequest, RunResult, run_script


def run(
    folder: Path,
    source: str,
    *,
    time_limit_s: float = 30.0,
    output_limit: int = 1 << 20,
    arguments: tuple[str, ...] = (),
    replacements: tuple[tuple[str, bytes], ...] = (),
    environment: tuple[tuple[str, str], ...] = (),
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
            time_limit_s=time_limit_s,
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


def test_a_child_that_left_the_group_and_holds_the_pipe_holds_nobody_up(tmp_path: Path) -> None:
    began = time.monotonic()
    result = run(
        tmp_path,
        """
        import os, time
        child = os.fork()
        if not child:
            os.setsid()
            print(os.getpid(), flush=True)
            time.sleep(600)
        time.sleep(0.5)
        """,
    )
    os.kill(int(result.stdout), signal.SIGKILL)
    assert result.succeeded
    assert time.monotonic() - began < 10


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
    assert result.describe() == "was ended by signal 11"


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
