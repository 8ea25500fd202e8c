"""The site has all pages, its links lead somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from own_programs import ROOT, program

build_site = program("tools/build_site.py")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in {
        "CHANGELOG.md": "See [CI](docs/ci.md#formats).\n",
        "CONTRIBUTING.md": "# Contributing\n",
        "ci/flow.yml": "on: push\n",
        "docs/ci.md": "# CI\n## Formats\n![x](pictures/a.svg)\n",
        "docs/site.css": "a {}\n",
        "docs/pictures/a.svg": "<svg/>\n",
        "docs/pictures/unused.json": "{}\n",
        "docs/guides/own.md": (
            "[a](../ci.md#formats) [b](../../CHANGELOG.md) [c](../../ci/flow.yml) [d](#here)\n"
            "[e](https://x.org) [f](../none.md)\n```\n[g](../../CHANGELOG.md)\n```\n"
        ),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_links_of_the_repository_become_links_of_the_site(repository: Path) -> None:
    folder = repository / "pages"
    build_site.Pages(repository, folder).prepare()
    assert (folder / "guides" / "own.md").read_text() == (
        "[a](../ci.md#formats) [b](../changes.md) [c](../files/ci/flow.yml) [d](#here)\n"
        "[e](https://x.org) [f](../none.md)\n```\n[g](../../CHANGELOG.md)\n```\n"
    )
    assert (folder / "changes.md").read_text() == "See [CI](ci.md#formats).\n"
    assert (folder / "files" / "ci" / "flow.yml").read_text() == "on: push\n"
    assert (folder / "site.css").is_file()
    assert [path.name for path in (folder / "pictures").iterdir()] == ["a.svg"]


def test_rules_stand_in_the_navigation_by_their_groups() -> None:
    index = (
        "# Rules\n## Sessions\n| [TFR1](TFR1.md) one | x | y |\n"
        "## Empty\n## Keras\n| [TFR4](TFR4.md) four |\n"
    )
    text = '[project]\nnav = [{ "Rules" = ["rules/index.md", "rules/*"] }]\n'
    found = build_site.configuration(text, index)
    nav = build_site.tomllib.loads(found)["project"]["nav"]
    assert nav[0]["Rules"][1:] == [
        {"Sessions": [{"TFR1 one": "rules/TFR1.md"}]},
        {"Keras": [{"TFR4 four": "rules/TFR4.md"}]},
    ]


def test_the_pages_that_there_are_are_those_of_the_navigation(tmp_path: Path) -> None:
    build_site.Pages(ROOT, tmp_path).prepare()
    config = build_site.configuration(
        (ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8"),
        (ROOT / "docs" / "rules" / "index.md").read_text(encoding="utf-8"),
    )
    build_site.check_navigation(config, tmp_path)
    (tmp_path / "more.md").write_text("# More\n")
    (tmp_path / "ci.md").unlink()
    with pytest.raises(build_site.SiteError) as error:
        build_site.check_navigation(config, tmp_path)
    assert str(error.value).splitlines() == [
        "docs/zensical.toml does not list more.md",
        "docs/zensical.toml lists ci.md, which is not there",
    ]


def problems(tmp_path: Path, body: str, css: str = "") -> list[str]:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(f"<html><body id=top>{body}</body></html>")
    (tmp_path / "sub" / "index.html").write_text('<h2 id="a-b">x</h2><a name=old></a>')
    (tmp_path / "sub" / "a b.txt").write_text("")
    (tmp_path / "site.css").write_text(css)
    return list(build_site.problems_in(tmp_path))


@pytest.mark.parametrize(
    "body",
    [
        '<a href="#top">x</a>',
        '<a href="sub/index.html#a-b">x</a>',
        '<a href="sub/#old">x</a>',
        '<a href="sub/a%20b.txt">x</a>',
        '<a href="https://example.com/none">x</a>',
        '<a href="mailto:a@example.com">x</a>',
        '<link rel="stylesheet" href="site.css">',
        '<link rel="canonical" href="https://example.com/">',
        '<img src="data:image/png;base64,AA">',
    ],
)
def test_a_site_without_fault(tmp_path: Path, body: str) -> None:
    assert problems(tmp_path, body, "a { background: url(data:image/png;base64,AA) }") == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="none.html">x</a>', "index.html: none.html: there is no such file"),
        ('<a href="#none">x</a>', "index.html: #none: there is no such anchor"),
        ('<a href="sub/#none">x</a>', "index.html: sub/#none: there is no such anchor"),
        ('<img src="none.png">', "index.html: none.png: there is no such file"),
        (
            '<script src="//cdn.org/x.js"></script>',
            "index.html: //cdn.org/x.js: is loaded from elsewhere",
        ),
        (
            '<link rel="preconnect" href="https://fonts.gstatic.com">',
            "index.html: https://fonts.gstatic.com: is loaded from elsewhere",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, body: str, said: str) -> None:
    assert problems(tmp_path, body) == [said]


@pytest.mark.parametrize(
    "css", ["@import 'https://x.org/a.css';", "a { src: url(https://x.org/a.woff2) }"]
)
def test_style_sheets_load_nothing_from_elsewhere(tmp_path: Path, css: str) -> None:
    (problem,) = problems(tmp_path, "", css)
    assert problem.endswith("is loaded from elsewhere")


def test_a_build_that_fails_is_told(repository: Path, tmp_path: Path) -> None:
    (repository / "docs" / "rules").mkdir()
    (repository / "docs" / "rules" / "index.md").write_text("# Rules\n")
    pages = ["ci.md", "guides/own.md", "changes.md", "contributing.md", "rules/index.md"]
    listed = ", ".join(f'"{page}"' for page in pages)
    (repository / "docs" / "zensical.toml").write_text(f"[project]\nnav = [{listed}]\n")
    failing = tmp_path / "zensical"
    failing.write_text("#!/bin/sh\necho 'a link is broken'\necho Traceback\nexit 1\n")
    failing.chmod(0o755)
    with pytest.raises(build_site.SiteError, match=r"^a link is broken$"):
        build_site.build(failing, repository / "build" / "site", repository)
    assert not (repository / "build" / "site").exists()
