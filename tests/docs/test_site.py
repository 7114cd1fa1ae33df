"""The site of the documents: every page has one place in its navigation, says whom it is for, and all of it is made."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts.website.navigation import ENTRY, Chapter, chapters, contents, faults, pages
from tests.house.source_tree import ROOT, write_tree

PLACE = (
    f"give it a line `- [Name](page.md): what one finds there.` in {ENTRY}, below the heading of those who read it "
    "(a part of the specification in docs/spec/README.md)"
)
OPENING = re.compile(r"\A# [^\n]+\n\nFor [^\n:]+: [^\n]+\.\n")


def test_every_page_has_one_place_in_the_navigation() -> None:
    assert faults(ROOT) == [], PLACE


def test_pages_without_a_place_with_two_and_without_a_file_are_found(tmp_path: Path) -> None:
    entry = "# All\n\n- [Early](early.md): before any heading.\n\n## A\n\n- [One](one.md): x, as [two](two.md)\n"
    again = "- [Gone](gone.md)\n| [Deep](spec/README.md) | x |\n\n## B\n\n- [Again](one.md)\n"
    part = "# Spec\n\n## Parts\n\n| [01](01.md) | bytes |\n"
    tree = write_tree(
        tmp_path,
        {"docs/README.md": entry + again, "docs/spec/README.md": part, "docs/spec/01.md": "", "docs/one.md": ""}
        | {"docs/two.md": "", "CHANGELOG.md": "", "src/NOTES.md": ""},
    )

    assert faults(tree) == [
        "CHANGELOG.md is not in the navigation",
        "docs/two.md is not in the navigation",
        "docs/one.md is there twice: docs/README.md, A and docs/README.md, B",
        "docs/gone.md does not exist",
    ]


def test_the_navigation_has_the_readers_as_captions_and_the_names_of_the_list() -> None:
    text = "# x\n\n## Operators\n\n- [Install](containers.md): y\n- [Changes](../CHANGELOG.md)\n\n## None\n\ntext\n"

    assert [*chapters(ENTRY, text)] == [
        Chapter("Operators", (("Install", "docs/containers.md"), ("Changes", "CHANGELOG.md")))
    ]
    assert contents(ENTRY, text) == (
        "\n\n```{toctree}\n:hidden:\n:caption: Operators\n\nInstall </docs/containers>\nChanges </CHANGELOG>\n```\n"
    )


@pytest.mark.parametrize("page", sorted(each for each in pages(ROOT) if each.startswith("docs/")))
def test_a_page_says_first_whom_it_is_for(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    assert OPENING.match(text), "begin below the title with `For operators: ` and what they will be able to do"


@pytest.mark.skipif("BUILD_SITE" not in os.environ, reason="it installs the generator and takes half a minute")
def test_the_site_is_made_without_a_warning_and_asks_no_other_host() -> None:
    made = subprocess.run([ROOT / "scripts" / "site"], capture_output=True, text=True, timeout=600, check=False)  # noqa: S603 - our own script

    assert made.returncode == 0, made.stdout + made.stderr
    site = ROOT / "build" / "site"
    built = {path.relative_to(site).with_suffix(".md").as_posix() for path in site.rglob("*.html")}
    assert pages(ROOT) <= built
    asked = [
        found
        for path in site.rglob("*")
        if path.suffix in {".html", ".css"}
        for found in re.findall(
            r'<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?//|url\(["\']?http', path.read_text("utf-8")
        )
    ]
    assert asked == []
