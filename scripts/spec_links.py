"""Links from documents to the specification: anchors of headings, and citations turned into links."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SPECIFICATION = Path(__file__).resolve().parents[1] / "docs" / "spec"
CITED = re.compile(r"\bspec (\d\d), section (\d+(?:\.\d+)*)\b")
HEADING = re.compile(r"^#{2,4} (\d+(?:\.\d+)*)\.? +(.+?)\s*$", re.MULTILINE)
MARKUP = re.compile(r"[`*]|\]\([^)]*\)|(?<!\w)\[")


def anchor_of(heading: str) -> str:
    """The anchor that code hosts give to a heading."""
    return re.sub(r"[^\w\- ]", "", MARKUP.sub("", heading).lower()).replace(" ", "-")


@cache
def headings(part: str) -> dict[str, tuple[str, str]]:
    """The sections of a part by number: the title, and the link from `docs/`."""
    path = next(SPECIFICATION.glob(f"{part}-*.md"))
    return {
        match[1]: (match[2], f"spec/{path.name}#{anchor_of(match[0].lstrip('#').strip())}")
        for match in HEADING.finditer(path.read_text(encoding="utf-8"))
    }


def linked(text: str, way: str = "") -> str:
    """A text with its citations as links; `way` leads from the document to `docs/`."""
    return CITED.sub(lambda cited: f"[{cited[0]}]({way}{headings(cited[1])[cited[2]][1]})", text)


def section_called(part: str, title: str) -> str:
    """A citation of the section with this title; nothing where there is none."""
    numbers = (number for number, (said, _) in headings(part).items() if said == title)
    return next((f"spec {part}, section {number}" for number in numbers), "")
