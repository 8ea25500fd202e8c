"""What IPython understands beside Python, and what a line of it may do to the program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_PREFIX = re.compile(r"""(?i:[rbuf]|br|rb|fr|rf)?(?P<quote>\"\"\"|'''|"|')""")
_ASSIGNED = re.compile(r"(?P<target>[^\W\d][\w.]*(?:\s*,\s*[^\W\d]\w*)*)\s*=\s*(?P<sign>[!%])(?!=)")
_HELP = re.compile(r"^(?:\?{1,2}\s*[\w.*%]*|%{0,2}[\w.*\[\]]+\s*\?{1,2})\s*$")
_MAGIC = re.compile(r"(?P<cell>%?)%\s*(?P<name>[^\W\d][\w.]*|!)?(?P<rest>.*)", re.DOTALL)
_OPTIONS = re.compile(r"^\s*(?:-\w+(?:\s*\d+)?\s+)*")
_TAKES_NAME = re.compile(r"--(?:out|err|proc)\b")
_AUTOMATIC = re.compile(r"(?P<name>pip|conda|cd|ls|mkdir|rmdir|cat|cp|mv|rm)\s+(?![=+*/%|&^-]*=)")
_MAY_BE_MAGIC = re.compile(r"^\s*[%!?/,;]|[?]\s*$|=\s*[%!]")
_READ = re.compile(r"[$({]\s*([^\W\d]\w*)")


class Effect(Enum):
    """What a magic does to the program that its notebook is."""

    SHOWS = "shows"  # nothing that the program could tell
    OUTSIDE = "outside"  # something to files, folders or the environment
    LOOKS = "looks"  # it may read any name
    RUNS = "runs"  # the code that it is given, once
    REPEATS = "repeats"  # the code that it is given, as often as it likes
    ANYTHING = "anything"  # it may give any name another meaning


_EFFECTS = {
    Effect.SHOWS: "matplotlib config autosave colors xmode precision pprint doctest_mode "
    "load_ext reload_ext autoreload tensorboard watermark tensorflow_version pip conda "
    "killbgscripts html HTML SVG javascript js latex markdown svg pinfo pinfo2 psearch lsmagic "
    "magic quickref page alias_magic logstart logstop logstate colab",
    Effect.OUTSIDE: "system sx ! bash sh script perl ruby python python2 python3 pypy writefile "
    "file cd pwd ls ll env set_env mkdir rmdir rm mv cp cat man more less head tail touch alias "
    "shell pushd popd dhist bookmark save notebook",
    Effect.LOOKS: "who who_ls whos debug pdb history hist rep psource pdoc pdef pfile",
    Effect.RUNS: "time capture",
    Effect.REPEATS: "timeit",
}
_OF_MAGIC = {name: effect for effect, names in _EFFECTS.items() for name in names.split()}
_EXTENSIONS = frozenset("tensorboard autoreload watermark tensorflow.notebook tensorboard.notebook"
                        " google.colab.data_table version_information memory_profiler"
                        " line_profiler".split())  # fmt: skip


@dataclass(frozen=True)
class Magic:
    """A logical line that is IPython's; lines from 0, the last one included."""

    first: int
    last: int
    indent: str
    effect: Effect
    name: str
    code: str = ""
    """The Python that it runs."""
    target: str = ""
    """The names that its result gets."""
    reads: tuple[str, ...] = ()
    is_cell: bool = False
    """Whether it takes all the rest of its cell."""


def is_harmless(magic: str) -> bool:
    """Whether a magic that is called as a function leaves the program's names alone."""
    name, _, rest = magic.strip().lstrip("%").partition(" ")
    return _effect(name, rest or "?") in {Effect.SHOWS, Effect.OUTSIDE, Effect.LOOKS}


def magic_of_cell(lines: list[str]) -> Magic | None:
    """The cell magic that a cell begins with; Colab takes comments above it."""
    for number, line in enumerate(lines):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith("%%"):
            return None
        match = _MAGIC.fullmatch(line.rstrip())
        assert match is not None
        name = match["name"] or ""
        effect = _effect(name, match["rest"])
        takes_names = effect is Effect.RUNS and not all(
            word.startswith("-") for word in match["rest"].split()
        )
        if takes_names or _TAKES_NAME.search(match["rest"]):
            effect = Effect.ANYTHING  # `%%capture out`, `%%script --out out`
        code = "\n".join(lines[number + 1 :]) if effect is Effect.REPEATS else ""
        return Magic(number, number, "", effect, f"%%{name}", code=code, is_cell=True)
    return None


def magics_in(lines: list[str], first: int = 0, *, bare: bool = False) -> list[Magic]:
    """The lines from `first` on that are IPython's, wherever a statement can begin.

    With `bare`, also what is a magic without its sign, such as `pip install x`.
    """
    found: list[Magic] = []
    if not bare and not any(map(_MAY_BE_MAGIC.search, lines[first:])):
        return found
    number = first
    while number < len(lines):
        magic = _magic(lines, number) or (_bare(lines, number) if bare else None)
        if magic is not None:
            found.append(magic)
            number = magic.last + 1
        else:
            number = _end_of_logical_line(lines, number) + 1
    return found


def _magic(lines: list[str], number: int) -> Magic | None:
    line = lines[number].rstrip()
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    last = number
    if bare[:1] in {"%", "!"} or (assigned := _ASSIGNED.match(bare)):
        while lines[last].rstrip("\n").endswith("\\") and last + 1 < len(lines):
            last += 1
    whole = "\n".join([bare, *(one.rstrip() for one in lines[number + 1 : last + 1])])
    reads = tuple(dict.fromkeys(_READ.findall(whole)))
    if _HELP.match(bare):
        words = tuple(re.findall(r"^\W*([^\W\d]\w*)", bare))
        return Magic(number, last, indent, Effect.SHOWS, "?", reads=words)
    if bare.startswith("!"):
        return Magic(number, last, indent, Effect.OUTSIDE, "!", reads=reads)
    if bare.startswith("%"):
        return _line_magic(whole, number, last, indent, reads)
    if bare[:1] in {"?", "/", ",", ";"}:
        return Magic(number, last, indent, Effect.ANYTHING, bare[0])
    if assigned:
        target, sign = assigned["target"], assigned["sign"]
        effect = Effect.OUTSIDE if sign == "!" else Effect.ANYTHING
        if "." in target:
            effect = Effect.ANYTHING
        return Magic(number, last, indent, effect, sign, target=target, reads=reads)
    return None


def _bare(lines: list[str], number: int) -> Magic | None:
    match = _AUTOMATIC.match(lines[number])
    if match is None:
        return None
    return Magic(number, number, "", Effect.OUTSIDE, match["name"])


def _line_magic(whole: str, number: int, last: int, indent: str, reads: tuple[str, ...]) -> Magic:
    match = _MAGIC.fullmatch(whole)
    assert match is not None
    name, rest = match["name"] or "", match["rest"]
    # There is no such line magic, so nothing is done, or an error is raised.
    effect = Effect.OUTSIDE if match["cell"] else _effect(name, rest)
    code = ""
    if effect in {Effect.RUNS, Effect.REPEATS}:
        code = _OPTIONS.sub("", rest, count=1).strip()
        if name == "capture" or "\n" in code or not code:
            effect = Effect.ANYTHING
    sign = "%%" if match["cell"] else "%"
    return Magic(number, last, indent, effect, f"{sign}{name}", code=code, reads=reads)


def _effect(name: str, rest: str) -> Effect:
    if name in {"load_ext", "reload_ext"}:
        known = rest.split()[:1] and rest.split(maxsplit=1)[0] in _EXTENSIONS
        return Effect.SHOWS if known else Effect.ANYTHING
    return _OF_MAGIC.get(name, Effect.ANYTHING)


def _end_of_logical_line(lines: list[str], number: int) -> int:
    """The last line of what begins in a line: brackets and strings keep it open."""
    depth = 0
    quote = ""
    for at in range(number, len(lines)):
        depth, quote, goes_on = _after(lines[at], depth, quote)
        if not depth and not quote and not goes_on:
            return at
    return len(lines) - 1


def _after(line: str, depth: int, quote: str) -> tuple[int, str, bool]:
    """How many brackets, and which string, are open at the end; whether a backslash ends it."""
    at, end = 0, len(line)
    while at < end:
        letter = line[at]
        if quote:
            if letter == "\\":
                at += 2
            elif line.startswith(quote, at):
                at += len(quote)
                quote = ""
            else:
                at += 1
            continue
        if letter == "#":
            return max(depth, 0), "", False
        if letter == "\\" and at == end - 1:
            return max(depth, 0), "", True
        match = _PREFIX.match(line, at)
        if match is not None:
            quote = match["quote"]
            at = match.end()
            continue
        depth += (letter in "([{") - (letter in ")]}")
        at += 1
    if len(quote) == 1:  # not closed: the next line goes on only after a backslash
        quote = quote if line.endswith("\\") else ""
    return max(depth, 0), quote, False
