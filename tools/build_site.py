"""Builds the documentation site, and checks what came out.

    python tools/build_site.py [--zensical PROGRAM] [--into DIRECTORY]

Pages are those in docs/, with CHANGELOG.md and CONTRIBUTING.md; docs/zensical.toml says how they
look and in which order they stand. Links between them are written for a reader of the repository,
and are changed into links between pages. A picture, and what else a page links to, is copied; other
files stay where they are. Then every link of every page that was built has to lead to something,
with its anchor, and no page may load anything from elsewhere.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "zensical.toml"
COPIES = "files"
ELSEWHERE = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages that are no part of docs/, and what they are called on the site."""
ALL_RULES = '"rules/*"'
"""Stands in the configuration for the pages of the rules, in the order of their index."""

_TARGET = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_GROUP = re.compile(r"^## (.+)$|^\| \[(\w+)\]\((\w+\.md)\) (\S+)", re.MULTILINE)
_LOADED_BY_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
_LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
_NOT_LOADED = {"canonical", "next", "prev"}


class SiteError(Exception):
    """What is wrong with the pages, for the person at the terminal."""


# From the repository to the pages ----------------------------------------------------------------


@dataclass(frozen=True)
class Pages:
    """The sources of all pages, in a folder of their own."""

    root: Path
    folder: Path

    def prepare(self) -> None:
        docs = self.root / "docs"
        for source in [*docs.rglob("*.md"), *(self.root / name for name in ELSEWHERE)]:
            target = self.folder / self._place(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self._relinked(source, target), encoding="utf-8")
        for style in docs.glob("*.css"):
            shutil.copyfile(style, self.folder / style.name)

    def _place(self, source: Path) -> str:
        """Where a file of the repository is on the site."""
        within = source.relative_to(self.root).as_posix()
        if within.startswith("docs/"):
            return within.removeprefix("docs/")
        return ELSEWHERE.get(within, f"{COPIES}/{within}")

    def _relinked(self, source: Path, target: Path) -> str:
        parts = _FENCED.split(source.read_text(encoding="utf-8"))
        parts[::2] = [
            _TARGET.sub(lambda found: self._link(found[1], source, target), part)
            for part in parts[::2]
        ]
        return "".join(parts)

    def _link(self, link: str, source: Path, target: Path) -> str:
        address = urlsplit(link)
        if address.scheme or not address.path:
            return link
        meant = Path(os.path.normpath(source.parent / unquote(address.path)))
        if not meant.is_file() or not meant.is_relative_to(self.root):
            return link  # and the check of what is built will say so
        name = self._place(meant)
        place = self.folder / name
        if name.startswith(f"{COPIES}/") or meant.suffix != ".md":
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(meant, place)
        anchor = f"#{address.fragment}" if address.fragment else ""
        return Path(os.path.relpath(place, target.parent)).as_posix() + anchor


def configuration(text: str, index: str) -> str:
    """The configuration with the rules in their groups."""
    groups: dict[str, list[str]] = {}
    for title, code, page, name in _GROUP.findall(index):
        if title:
            groups[title] = []
        else:
            groups[[*groups][-1]].append(f'{{ "{code} {name}" = "rules/{page}" }}')
    lines = [f'{{ "{title}" = [{", ".join(pages)}] }}' for title, pages in groups.items() if pages]
    return text.replace(ALL_RULES, ",\n    ".join(lines))


def check_navigation(config: str, folder: Path) -> None:
    """Nobody finds a page that the navigation leaves out."""
    listed = set(_listed(tomllib.loads(config)["project"]["nav"]))
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.md")
        if COPIES not in path.relative_to(folder).parts
    }
    problems = [f"docs/{CONFIG} does not list {name}" for name in sorted(there - listed)]
    problems += [
        f"docs/{CONFIG} lists {name}, which is not there" for name in sorted(listed - there)
    ]
    if problems:
        raise SiteError("\n".join(problems))


def _listed(entry: object) -> Iterator[str]:
    match entry:
        case str():
            yield entry
        case list():
            for one in entry:
                yield from _listed(one)
        case dict():
            yield from _listed([*entry.values()])


# What was built ----------------------------------------------------------------------------------


@dataclass
class Page(HTMLParser):
    """What a page has to point at, what it points to, and what it loads."""

    file: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.anchors |= {has[name] for name in ("id", "name") if name in has}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        address = has.get(_LOADING.get(tag, ""))
        if address and has.get("rel") not in _NOT_LOADED:
            self.loaded.append(address)


def problems_in(site: Path) -> Iterator[str]:
    """Links that lead nowhere, and what would be loaded from elsewhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        # The page for addresses that are not there is shown at any address: its links are absolute.
        for link in [*page.links, *page.loaded] if name != "404.html" else ():
            problem = _problem_with(link, file, pages)
            if problem:
                yield f"{name}: {link}: {problem}"
        yield from (
            f"{name}: {address}: is loaded from elsewhere"
            for address in page.loaded
            if _is_elsewhere(address)
        )
    for file in sorted(site.rglob("*.css")):
        for found in _LOADED_BY_CSS.findall(file.read_text(encoding="utf-8")):
            address = "".join(found)
            if _is_elsewhere(address):
                yield f"{file.relative_to(site)}: {address}: is loaded from elsewhere"


def _is_elsewhere(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


def _problem_with(link: str, file: Path, pages: dict[Path, Page]) -> str:
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return ""
    meant = file if not address.path else file.parent / unquote(address.path)
    meant = Path(os.path.normpath(meant))
    if meant.is_dir():
        meant /= "index.html"
    if not meant.is_file():
        return "there is no such file"
    anchor = unquote(address.fragment)
    if anchor and meant in pages and anchor not in pages[meant].anchors:
        return "there is no such anchor"
    return ""


# The whole ---------------------------------------------------------------------------------------


def build(zensical: Path, into: Path, root: Path = ROOT) -> None:
    """Makes the site anew in a folder; what is wrong with it is raised as a `SiteError`."""
    project = into.parent / f"{into.name}-sources"
    shutil.rmtree(project, ignore_errors=True)
    Pages(root, project / "pages").prepare()
    config = configuration(
        (root / "docs" / CONFIG).read_text(encoding="utf-8"),
        (root / "docs" / "rules" / "index.md").read_text(encoding="utf-8"),
    )
    check_navigation(config, project / "pages")
    (project / CONFIG).write_text(config, encoding="utf-8")
    run = subprocess.run(
        [zensical, "build", "--strict", "--clean", "--config-file", CONFIG],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    if run.returncode:
        raise SiteError(run.stdout.partition("Traceback")[0].rstrip())
    problems = [*problems_in(project / "site")]
    if problems:
        raise SiteError("\n".join(problems))
    shutil.rmtree(into, ignore_errors=True)
    (project / "site").rename(into)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zensical", type=Path, default=ROOT / ".envs" / "docs/bin/zensical")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "site")
    options = parser.parse_args()
    into = options.into.resolve()
    try:
        build(options.zensical.absolute(), into)
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len([*into.rglob('*.html')])} pages in {into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
