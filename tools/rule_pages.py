"""Writes docs/rules/ and docs/refusals.md from what the rules say of themselves.

    python tools/rule_pages.py [--check]

With `--check` nothing is written, and what is not current is named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tfrewrite import catalogue, refusals
from tfrewrite.registry import all_rules

if TYPE_CHECKING:
    from tfrewrite.rule import Rule

DOCS = Path(__file__).resolve().parent.parent / "docs"
GROUPS = {
    "TFR1": "Sessions and graphs",
    "TFR2": "Eager loops and tf.function",
    "TFR3": "Input pipelines",
    "TFR4": "Keras",
    "TFR5": "Files",
    "TFR6": "Precision",
}
_INDEX = """\
# Rules

{count} rules. Each has a page: why the pattern is slow, the code before and after, what is
promised, when it is refused and when it does not help. `tfrewrite explain TFR101` prints the same.

*Promises* are the [contracts](../settings.md#contracts) that a site of the rule can carry. `apply`
makes `exact` and `rounding` by itself and lists the others. *Report* means that the rule points
something out and never rewrites. *On request* means that the rule runs only where `--select` names
it outright.
"""
_MADE = (
    "<!-- Made by tools/rule_pages.py from {source}: change it there, and run `make docs`. -->\n\n"
)


def pages() -> dict[str, str]:
    """All texts, by their place in docs/."""
    rules = {
        f"rules/{rule.code}.md": _made(f"codemods/{rule.__module__.rpartition('.')[2]}.py")
        + catalogue.page(rule)
        for rule in all_rules()
    }
    return {
        **rules,
        "rules/index.md": _made("codemods/") + "".join(_index()),
        "refusals.md": _made("tfrewrite/refusals.md") + refusals.page(),
    }


def _made(source: str) -> str:
    return _MADE.format(source=source)


def _index() -> Iterator[str]:
    yield _INDEX.format(count=len(all_rules()))
    for prefix, title in GROUPS.items():
        yield f"\n## {title}\n\n| rule | what it does | promises |\n|---|---|---|\n"
        for rule in all_rules():
            if rule.code.startswith(prefix):
                yield _row(rule)


def _row(rule: type[Rule]) -> str:
    promises = ", ".join(f"`{contract.value}`" for contract in rule.contracts) or "report"
    if rule.on_request:
        promises += "; on request"
    summary = catalogue.summary(rule)
    return f"| [{rule.code}]({rule.code}.md) {rule.name} | {summary} | {promises} |\n"


def out_of_date(docs: Path = DOCS) -> list[str]:
    """Pages that are not what they would be now, and pages of rules that are no more."""
    wanted = pages()
    there = {f"rules/{path.name}" for path in (docs / "rules").glob("*.md")}
    stale = {
        name
        for name, text in wanted.items()
        if not (docs / name).is_file() or (docs / name).read_text(encoding="utf-8") != text
    }
    return sorted(stale | there - wanted.keys())


def write(docs: Path = DOCS) -> None:
    wanted = pages()
    for name in out_of_date(docs):
        if name in wanted:
            (docs / name).parent.mkdir(exist_ok=True)
            (docs / name).write_text(wanted[name], encoding="utf-8")
        else:
            (docs / name).unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    stale = out_of_date()
    if not parser.parse_args().check:
        write()
        return 0
    for name in stale:
        print(f"docs/{name} is not current: run make docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
