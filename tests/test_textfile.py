"""Every file is either whole and old or whole and new, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrewrite.textfile import TextFileError, decode, read, write, write_all


def rewrite(path: Path, text: str) -> None:
    write(str(path), decode(read(str(path))), text)


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"x = 1\r\ny\n", "utf-8", "x = 1\r\ny\n"),
        ("\ufeffé\n".encode(), "utf-8", "é\n"),
        ("# coding: latin-1\né\n".encode("latin-1"), "iso-8859-1", "# coding: latin-1\né\n"),
        (b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\n\x80\n", "cp1252", None),
        (b"", "utf-8", ""),
    ],
)
def test_encodings_are_those_that_python_reads(
    data: bytes, encoding: str, text: str | None
) -> None:
    file = decode(data)
    assert file.encoding == encoding
    assert text is None or file.text == text
    assert file.encoded(file.text) == data


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.booleans())
def test_what_is_read_is_written_back(text: str, marked: bool) -> None:  # noqa: FBT001
    data = (b"\xef\xbb\xbf" if marked else b"") + text.encode()
    try:
        file = decode(data)
    except TextFileError:
        assert "coding" in text
        return
    assert file.encoded(file.text) == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = 1\n\xff\n", r"line 2: byte 0xff is not utf-8; declare"),
        (b"\0\1\2", "null bytes"),
        ("x = 1".encode("utf-16"), "null bytes, so it is binary or UTF-16"),
        (b"# coding: nonsense\n", "declared encoding is wrong"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "declared encoding is wrong"),
    ],
)
def test_what_cannot_be_decoded_is_named(data: bytes, said: str) -> None:
    with pytest.raises(TextFileError, match=said):
        decode(data)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(TextFileError, match="no such file"):
        read(str(tmp_path / "none.py"))


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(TextFileError, match="is a directory"):
        read(str(tmp_path))


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(TextFileError, match="may not be read"):
        read(str(tmp_path / "x.py"))


def test_mode_and_encoding_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes("\ufeff# é\r\n".encode())
    path.chmod(0o750)
    rewrite(path, "# ü\r\n")
    assert path.read_bytes() == "\ufeff# ü\r\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    target.write_text("old")
    link.symlink_to(target)
    rewrite(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(TextFileError, match="read-only"):
        rewrite(path, "new")
    assert path.read_text() == "old"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("old")
    file = decode(read(str(path)))
    path.write_text("theirs")
    with pytest.raises(TextFileError, match="changed while it was being handled"):
        write(str(path), file, "new")
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_went_away_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("old")
    file = decode(read(str(path)))
    path.unlink()
    with pytest.raises(TextFileError, match="No such file"):
        write(str(path), file, "new")
    assert not list(tmp_path.iterdir())


def test_a_character_that_the_encoding_lacks(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"# coding: latin-1\n\xe9\n")
    with pytest.raises(TextFileError, match="cannot write"):
        rewrite(path, "# coding: latin-1\n\u20ac\n")
    assert path.read_bytes() == b"# coding: latin-1\n\xe9\n"


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_failing_system_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: int
) -> None:
    path = tmp_path / "x.py"
    path.write_text("old")
    file = decode(read(str(path)))

    def fail(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    name = {"write": "tempfile.mkstemp", "fsync": "os.fsync", "replace": "os.replace"}[failing]
    monkeypatch.setattr(f"tfrewrite.textfile.{name}", fail)
    with pytest.raises(TextFileError, match="cannot be written, and was left as it was"):
        write(str(path), file, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.write_text("old")
    file = decode(read(str(path)))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tfrewrite.textfile.os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(str(path), file, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files fails a write half-way, as a full disk does."""
    path = tmp_path / "x.py"
    path.write_text("old")
    program = dedent("""\
        import resource, signal, sys
        from tfrewrite.textfile import TextFileError, decode, read, write, write_all
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        path = sys.argv[1]
        file = decode(read(path))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write(path, file, "x" * 100_000)
        except TextFileError as error:
            print(error)
        """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "left as it was" in done.stdout
    assert "free some space" in done.stdout
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_in_the_middle_of_a_write(tmp_path: Path) -> None:
    """Killed again and again at any moment of writing, the file is one of the two versions."""
    path = tmp_path / "x.py"
    old, new = "a" * 300_000, "b" * 300_000
    path.write_text(old)
    program = dedent("""\
        import sys
        from tfrewrite.textfile import decode, read, write
        path, texts = sys.argv[1], ("a" * 300_000, "b" * 300_000)
        print("ready", flush=True)
        while True:
            for text in texts:
                write(path, decode(read(path)), text)
        """)
    for delay in (0.0, 0.003, 0.01, 0.02, 0.05):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert path.read_text() in {old, new}
    assert list(tmp_path.glob("[!.]*")) == [path]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_several_files_are_written_all_or_none(tmp_path: Path, bad: int) -> None:
    files = [tmp_path / f"{number}.py" for number in range(3)]
    for file in files:
        file.write_text("x = 1\n")
    changes = [(str(file), decode(file.read_bytes()), "x = 2\n") for file in files]
    files[bad].write_text("mine = 1\n")
    with pytest.raises(TextFileError, match=f"{bad}.py: changed while it was being handled"):
        write_all(changes)
    texts = ["mine = 1\n" if number == bad else "x = 1\n" for number in range(3)]
    assert [file.read_text() for file in files] == texts
    files[bad].write_text("x = 1\n")
    write_all(changes)
    assert {file.read_text() for file in files} == {"x = 2\n"}
    assert len(list(tmp_path.iterdir())) == 3
