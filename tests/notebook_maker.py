"""Notebooks for tests, written in every style of JSON that a program may have written them in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Style:
    """How a notebook is written."""

    indent: int | str | None = 1
    separators: tuple[str, str] | None = None
    ascii_only: bool = False
    as_string: bool = False
    """Whether a source is one string."""
    ends: str = "\n"
    trailing: str = "\n"
    mark: bool = False
    for_html: bool = False
    sorted: bool = True


STYLES = {
    "jupyter": Style(),
    "colab": Style(indent=2, ascii_only=True, for_html=True, trailing=""),
    "strings": Style(indent=4, as_string=True),
    "compact": Style(indent=None, separators=(",", ":"), trailing=""),
    "compact strings": Style(indent=None, as_string=True, ascii_only=True),
    "spaced": Style(indent=None),
    "windows": Style(indent="\t", ends="\r\n", mark=True, sorted=False),
}


def cell(source: str | list[str], kind: str = "code", **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source, **more}
    if kind == "code":
        made = {"outputs": [], "execution_count": None, **made}
    return made


def notebook(*cells: str | dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A notebook of code cells; what is no string is a cell already."""
    named = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {
        "cells": [cell(one) if isinstance(one, str) else one for one in cells],
        "metadata": {**named, **metadata},
        "nbformat": 4,
        "nbformat_minor": 2,
    }


def written(made: dict[str, Any], style: Style = STYLES["jupyter"]) -> bytes:
    cells = [{**one, "source": _source(one["source"], style)} for one in made.get("cells", [])]
    text = json.dumps(
        {**made, "cells": cells} if "cells" in made else made,
        indent=style.indent,
        separators=style.separators,
        ensure_ascii=style.ascii_only,
        sort_keys=style.sorted,
    )
    if style.for_html:
        for letter in "<>&":
            text = text.replace(letter, f"\\u{ord(letter):04x}")
    text = text.replace("\n", style.ends) + style.trailing
    return (b"\xef\xbb\xbf" if style.mark else b"") + text.encode()


def _source(source: str | list[str], style: Style) -> str | list[str]:
    if style.as_string or isinstance(source, list):
        return source
    parts = source.split("\n")
    return [f"{one}\n" for one in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def sources(data: bytes) -> list[str]:
    """The sources of all cells, as any reader of JSON sees them."""
    cells = json.loads(data.decode("utf-8-sig"))["cells"]
    return ["".join(one["source"]) for one in cells]
