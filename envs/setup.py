"""Makes the project's environments: `python3 envs/setup.py dev tf1 tf2`.

It needs a Python with `venv` and nothing else. Each environment is installed from a lock file
beside this one, exact versions with hashes, by a pinned uv that lives in the project. Interpreters
are looked for on the machine and never downloaded. An environment that is up to date costs one
read of its stamp, so that `make` can ask every time.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "envs"
ENVIRONMENTS = ROOT / ".envs"
UV = ENVIRONMENTS / "tools" / "bin" / "uv"

Version = tuple[int, int]


@dataclass(frozen=True)
class Environment:
    """One virtual environment: where it is, what goes in, and on which Python."""

    name: str
    path: Path
    versions: tuple[Version, ...]
    """The Python versions that it works on, the preferred one first."""
    optional: bool = False
    """Whether a machine without such a Python does without."""
    project: bool = False
    """Whether tfrewrite itself is installed into it, as a checkout."""

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.name}.txt"

    @property
    def python(self) -> Path:
        return self.path / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.path / ".ready"

    def contents(self) -> str:
        """A digest of all that decides what is installed; the stamp holds it when that is done."""
        digest = hashlib.sha256(self.lock.read_bytes())
        if self.project:
            digest.update((ROOT / "pyproject.toml").read_bytes())
        return digest.hexdigest()

    def is_ready(self) -> bool:
        try:
            return self.stamp.read_text() == self.contents() and self.python.exists()
        except OSError:
            return False


MODERN: tuple[Version, ...] = ((3, 11), (3, 12), (3, 13), (3, 10))

CATALOGUE = {
    environment.name: environment
    for environment in (
        Environment("dev", ROOT / ".venv", MODERN, project=True),
        Environment("tf1", ENVIRONMENTS / "tf1", ((3, 7),), optional=True),
        Environment("tf2", ENVIRONMENTS / "tf2", MODERN, optional=True),
        Environment("keras2", ENVIRONMENTS / "keras2", ((3, 11), (3, 10)), optional=True),
        Environment("bench", ENVIRONMENTS / "bench", MODERN),
        Environment("docs", ENVIRONMENTS / "docs", ((3, 11), (3, 12), (3, 13))),
    )
}


class SetupError(Exception):
    """What went wrong and what to do about it, for the person at the terminal."""


def interpreters(version: Version) -> Iterator[Path]:
    """Where a Python of this version may be: this one, the search path, pyenv's folder."""
    name = f"python{version[0]}.{version[1]}"
    if sys.version_info[:2] == version:
        yield Path(sys.executable)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield Path(folder) / name
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for home in sorted((pyenv / "versions").glob(f"{version[0]}.{version[1]}.*"), reverse=True):
        yield home / "bin" / "python"


def answers(python: Path, version: Version) -> bool:
    """Whether it runs and is what its name says: a pyenv shim exists for what is switched off."""
    if not python.is_file():
        return False
    question = "import sys; print(*sys.version_info[:2])"
    try:
        run = subprocess.run(
            [python, "-c", question], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.stdout.split() == [str(part) for part in version]


def find_python(versions: tuple[Version, ...]) -> Path | None:
    for version in versions:
        for python in interpreters(version):
            if answers(python, version):
                return python
    return None


def say(message: str) -> None:
    print(f"setup: {message}", file=sys.stderr, flush=True)


def call(*command: str | Path) -> None:
    """Runs a quiet command and shows what it said only where it failed."""
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    environment["UV_PYTHON_DOWNLOADS"] = "never"
    run = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        line = " ".join(str(part) for part in command)
        raise SetupError(f"this failed:\n  {line}\n{run.stdout.rstrip()}")


def install_uv() -> None:
    """A uv of the locked version, in an environment of its own."""
    lock = LOCKS / "tools.txt"
    stamp = UV.parent.parent / ".ready"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if UV.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing uv into .envs/tools")
    home = UV.parent.parent
    shutil.rmtree(home, ignore_errors=True)
    try:
        call(sys.executable, "-m", "venv", home)
    except SetupError as error:
        hint = "On Debian and Ubuntu the package python3-venv is needed for it."
        raise SetupError(f"{error}\n{hint}") from None
    pip = (home / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    call(*pip, "install", "--require-hashes", "--requirement", lock)
    stamp.write_text(wanted)


def make(environment: Environment) -> None:
    """Brings one environment up to date; without a stamp nobody takes it for finished."""
    if environment.is_ready():
        return
    python = find_python(environment.versions)
    if python is None:
        wanted = " or ".join(f"{major}.{minor}" for major, minor in environment.versions)
        raise SetupError(f"no Python {wanted} on the search path or in ~/.pyenv/versions")
    install_uv()
    say(f"making {environment.path.relative_to(ROOT)} with {python}")
    environment.stamp.unlink(missing_ok=True)
    if not environment.python.exists():
        call(UV, "venv", "--quiet", "--clear", "--python", python, environment.path)
    pip = (UV, "pip")
    into = ("--quiet", "--python", environment.python)
    call(*pip, "sync", *into, "--require-hashes", environment.lock)
    if environment.project:
        call(*pip, "install", *into, "--no-deps", "--editable", ROOT)
    environment.stamp.write_text(environment.contents())


def provide(environment: Environment) -> bool:
    """Makes an environment, and tells whether one can go on with what came of it."""
    try:
        make(environment)
    except SetupError as error:
        if not environment.optional:
            say(f"cannot make the environment {environment.name}: {error}")
            return False
        say(f"left out {environment.name}: {error}")
    return True


@contextmanager
def only_one() -> Iterator[None]:
    """Keeps two `make` from building the same environment; the later one waits, then finds it."""
    ENVIRONMENTS.mkdir(exist_ok=True)
    with (ENVIRONMENTS / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def show_python(version: str) -> int:
    major, _, minor = version.partition(".")
    python = find_python(((int(major), int(minor)),))
    if python is None:
        return 1
    print(python)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=", ".join(CATALOGUE))
    parser.add_argument("--find", metavar="X.Y", help="print where a Python of this version is")
    options = parser.parse_args()
    if options.find:
        return show_python(options.find)
    unknown = set(options.names) - set(CATALOGUE)
    if unknown:
        parser.error(f"no such environment: {', '.join(sorted(unknown))}")
    with only_one():
        return 0 if all(provide(CATALOGUE[name]) for name in options.names) else 1


if __name__ == "__main__":
    sys.exit(main())
