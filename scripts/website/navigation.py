"""The navigation of the site, as docs/README.md has it: a chapter for each reader, and the pages in their order.

Nothing lists the pages twice: in a document of `LISTING`, a line of a list or a table that begins with a link to a page
gives that page its place.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ENTRY = "docs/README.md"
"""The first page of the site."""
LISTING = (ENTRY, "docs/spec/README.md")
"""The pages that list others: what the second one lists stands below it."""
BESIDE = ("*.md", "tests/vectors/README.md")
"""Pages of the site that are not in docs/."""
CHAPTER = re.compile(r"^## (?P<title>.+)$|^(?:- |\| )\[(?P<name>[^\]]+)\]\((?P<link>[^)#:]+\.md)\)", re.MULTILINE)


class Chapter(NamedTuple):
    """A heading, and below it the pages by their short names."""

    title: str
    pages: tuple[tuple[str, str], ...]


def pages(root: Path) -> set[str]:
    """Every page that the site has to have."""
    found = [*(root / "docs").rglob("*.md"), *(path for pattern in BESIDE for path in root.glob(pattern))]
    return {path.relative_to(root).as_posix() for path in found}


def chapters(document: str, text: str) -> Iterator[Chapter]:
    """The chapters of a document that lists pages; headings without pages are left out."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in CHAPTER.finditer(text):
        if line["title"]:
            found.append((line["title"], []))
        elif found:
            page = posixpath.normpath(posixpath.join(posixpath.dirname(document), line["link"]))
            found[-1][1].append((line["name"], page))
    yield from (Chapter(title, tuple(listed)) for title, listed in found if listed)


def contents(document: str, text: str) -> str:
    """The chapters of a document as Sphinx reads them: nothing that a reader of the page sees."""
    return "".join(_tree(chapter, has_caption=document == ENTRY) for chapter in chapters(document, text))


def _tree(chapter: Chapter, *, has_caption: bool) -> str:
    caption = f":caption: {chapter.title}\n" if has_caption else ""
    entries = "".join(f"{name} </{page.removesuffix('.md')}>\n" for name, page in chapter.pages)
    return f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}```\n"


def faults(root: Path) -> list[str]:
    """Pages without a place, or with several."""
    places: dict[str, list[str]] = {ENTRY: ["the entry"]}
    for document in LISTING:
        for chapter in chapters(document, (root / document).read_text(encoding="utf-8")):
            for _, page in chapter.pages:
                places.setdefault(page, []).append(f"{document}, {chapter.title}")
    missing = [f"{page} is not in the navigation" for page in sorted(pages(root) - places.keys())]
    twice = [f"{page} is there twice: {' and '.join(found)}" for page, found in places.items() if len(found) > 1]
    gone = [f"{page} does not exist" for page in places if not (root / page).is_file()]
    return missing + twice + gone
