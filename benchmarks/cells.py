"""Writes the code of notebooks and of Markdown as scripts: `cells.py FROM TO`.

`FROM/a.ipynb` becomes `TO/a.nb.py`, `FROM/b.md` becomes `TO/b.md.py`, and a script is copied. What
only IPython understands is commented out: magics, commands of a shell, and questions (`tf?`).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

_FENCED = re.compile(r"^```[ ]?python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CELL_OF_A_SHELL = re.compile(r"\s*%%(?!time|capture)")
_SHELL = re.compile(r"(\s*)((?:[\w, ]+=[ ]*)?[!%].*)")
_QUESTION = re.compile(r"\s*\??\w[\w.]*\?+\s*$")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("source", type=Path, metavar="FROM")
    parser.add_argument("target", type=Path, metavar="TO")
    given = parser.parse_args(arguments)
    for path in sorted(one for one in given.source.rglob("*") if one.is_file()):
        target = given.target / path.relative_to(given.source)
        if path.suffix == ".py":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        elif path.suffix in (".ipynb", ".md") and (code := code_of(path)):
            target.parent.mkdir(parents=True, exist_ok=True)
            ending = ".nb.py" if path.suffix == ".ipynb" else ".md.py"
            target.with_suffix(ending).write_text(code, encoding="utf-8")
    return 0


def code_of(path: Path) -> str:
    """The code of a notebook or a Markdown file; empty where there is none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        return "\n\n".join(_python(block) for block in _FENCED.findall(text))
    try:
        notebook: dict[str, Any] = json.loads(text)
    except ValueError:
        return ""
    cells = notebook.get("cells", [])
    code = [one.get("source", "") for one in cells if one.get("cell_type") == "code"]
    found = "\n\n".join(_python("".join(one)) for one in code)
    return f"{found}\n" if found else ""


def _python(cell: str) -> str:
    """A cell without what only IPython understands."""
    lines = cell.split("\n")
    if _CELL_OF_A_SHELL.match(cell):
        return "\n".join(f"# {line}" for line in lines)
    found: list[str] = []
    goes_on = False  # a command of a shell over several lines
    for line in lines:
        found.append(f"# {line}" if goes_on else _line(line))
        goes_on = line.endswith("\\") and (goes_on or bool(_SHELL.match(line)))
    return "\n".join(found)


def _line(line: str) -> str:
    shell = _SHELL.match(line)
    if shell:
        return f"{shell[1]}pass  # {shell[2]}"
    return f"# {line}" if _QUESTION.match(line) else line


if __name__ == "__main__":
    sys.exit(main())
