"""Annotations, as the runner of GitHub Actions reads them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given

from report_samples import ODD_RUNS, everything
from tfrewrite.reports import github
from tfrewrite.reports.remarks import remarks
from tfrewrite.reports.safe import printable
from tfrewrite.reports.summary import Run


@dataclass(frozen=True)
class Command:
    """A workflow command."""

    name: str
    properties: dict[str, str]
    data: str


def command(line: str) -> Command | None:
    """The runner's own way: cut at the first `::` behind the name, then put characters back."""
    line = line.lstrip()
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    head, _, data = line[2:].partition("::")
    name, _, rest = head.partition(" ")
    properties = dict(part.split("=", 1) for part in rest.strip().split(",") if "=" in part)
    return Command(
        name,
        {key: _back(value, ("%3A", ":"), ("%2C", ",")) for key, value in properties.items()},
        _back(data),
    )


def _back(value: str, *more: tuple[str, str]) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        value = value.replace(code, character)
    return value


def read(report: str) -> list[Command]:
    commands = [command(line) for line in report.split("\n")]
    return [one for one in commands if one is not None]


def test_everything() -> None:
    report = github.render(everything())
    found = read(report)
    assert [(one.name, one.properties["file"], one.properties["line"]) for one in found] == [
        ("error", "bad.py", "7"),
        ("warning", "m/x.py", "1"),
        ("warning", "m/x.py", "1"),
        ("warning", "m/x.py", "5"),
        ("warning", "m/x.py", "6"),
        ("notice", "m/x.py", "3"),
        ("notice", "m/x.py", "4"),
    ]
    assert found[2] == Command(
        "warning",
        {
            "file": "m/x.py",
            "line": "1",
            "endLine": "1",
            "title": "TFR901 rename-old (exact)",
            "col": "9",
        },
        "old -> new\nbecause they are the same",
    )
    assert report.endswith(
        "\n2 rewrites to make, 1 available with --allow, 1 report, 1 refusal, "
        "1 exemption without use, 1 file failed in 4 files (1 skipped)\n"
    )


def test_escapes_are_written() -> None:
    line = github.render(everything()).splitlines()[2]
    assert line == (
        "::warning file=m/x.py,line=1,endLine=1,title=TFR901 rename-old (exact),col=9"
        "::old -> new%0Abecause they are the same"
    )


def lines_of(text: str) -> str:
    return "\n".join(map(printable, text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))


@given(ODD_RUNS)
def test_odd_text_comes_through(run: Run) -> None:
    report = github.render(run)
    report.encode("utf-8")
    assert not any(ord(char) < 32 and char not in "\n\t" for char in report)
    read_back = sorted(
        (one.properties["file"], one.properties["title"], one.data) for one in read(report)
    )
    meant = [(lines_of(one.path), one.title, lines_of(one.text)) for one in remarks(run)]
    assert read_back == sorted(meant)
    assert report.count("\n") == len(meant) + 1
