"""The specification as one document: it has every section, stands alone, and all its links lead somewhere.

That it is the same page each time is seen with all that is released (`tests/packaging/test_release.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from scripts.generate_specification import Document
from scripts.spec_links import SPECIFICATION
from tests.house.source_tree import write_tree
from tests.house.specification import read_specification

LEAST_REFERENCES = 900
PLANTED = {
    "README.md": "# The specification\n\nRead [one](01-one.md) and [tests](../../tests/README.md).\n",
    "01-one.md": "# One\n\n1. [First](#1-first)\n\n## 1. First\n\nSee \u00a72.1.\n\n## 2.1 Next\n\nSpec 01.\n",
    "CHANGES.md": "# Changes\n",
    "PROOFS.md": "# Proofs\n",
}


class Page:
    """The places of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        self.places = Counter(re.findall(r'<[a-z][^>]*\bid="([^"]+)"', text))
        self.links = re.findall(r'<a [^>]*\bhref="([^"]+)"', text)
        self.loaded = re.findall(r'<(?!a )[a-z][^>]*\b(?:href|src)="([^"]+)"|@import|url\(', text)


@cache
def page() -> Page:
    return Page(Document(SPECIFICATION).render("1.2.3"))


def test_every_link_of_the_document_leads_to_one_place_in_it() -> None:
    inside = [each.removeprefix("#") for each in page().links if each.startswith("#")]

    assert [place for place in inside if page().places[place] != 1] == []
    assert [place for place, count in page().places.items() if count > 1] == []
    assert len(inside) > LEAST_REFERENCES


def test_the_document_stands_alone() -> None:
    assert page().loaded == []
    assert [each for each in page().links if not each.startswith(("#", "https://", "http://"))] == []


def test_every_section_of_every_part_is_a_place_of_the_document() -> None:
    document = Document(SPECIFICATION)
    known = {chapter.part: chapter.sections for chapter in document.chapters}

    for part, told in read_specification(SPECIFICATION).items():
        assert [number for number in told.sections if known[part].get(number) not in page().places] == [], part


def test_references_become_links_and_what_is_outside_becomes_text(tmp_path: Path) -> None:
    text = Document(write_tree(tmp_path, PLANTED)).render("1.2.3")

    assert 'See \u00a7<a href="#01-2.1">2.1</a>.' in text
    assert '<a href="#01-one">Spec 01</a>.' in text
    assert 'Read <a href="#01-one">one</a> and tests.' in text
    assert '<a href="#01-1">First</a>' in text


@pytest.mark.parametrize("wrong", ["See \u00a73.", "[there](#3-there)", "Spec 01, section 4."])
def test_a_reference_that_leads_nowhere_is_found(tmp_path: Path, wrong: str) -> None:
    document = Document(write_tree(tmp_path, {**PLANTED, "01-one.md": f"# One\n\n## 1. First\n\n{wrong}\n"}))
    document.render("1.2.3")

    assert len(document.faults) == 1
