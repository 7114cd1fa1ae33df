"""The links of the documents lead to files that exist, and to headings that exist in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.spec_links import anchor_of
from tests.house.source_tree import ROOT, write_tree

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(text: str) -> Iterator[str]:
    """The anchors of a document's headings, as code hosts make them: repeated ones are numbered."""
    seen: dict[str, int] = {}
    for heading in HEADING.findall(FENCED.sub("", text)):
        name = anchor_of(heading)
        count = seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{count}" if count else name


def dead_links(document: Path) -> list[str]:
    """Links to files or headings that do not exist; links to the web are not followed, nor what is code."""
    found = []
    for target, anchor in LINK.findall(CODE.sub("", FENCED.sub("", document.read_text(encoding="utf-8")))):
        path = document.parent / target if target else document
        if "://" in target or target.startswith("mailto:"):
            continue
        if not path.exists():
            found.append(target)
        elif anchor and anchor not in set(anchors(path.read_text(encoding="utf-8"))):
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_links_of_a_document_lead_somewhere(document: Path) -> None:
    assert dead_links(document) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    text = "# A `b` (c)\n\n[a](docs/gone.md#part) [b](https://example.org/x#y) [c](#a-b) [d](#a-b-c) [e](docs/d.md#two)"
    tree = write_tree(tmp_path, {"README.md": text, "docs/d.md": "## One\n\n```\n## Two\n```\n"})

    assert dead_links(tree / "README.md") == ["docs/gone.md", "#a-b", "docs/d.md#two"]


def test_links_to_headings_are_no_fault(tmp_path: Path) -> None:
    text = "## 9. _push: linking & [forks](x.md), `*1`\n\n## Twice\n\n## Twice\n"
    links = "[a](d.md#9-_push-linking--forks-1) [b](d.md#twice) [c](d.md#twice-1) [d](d.md) `[e](gone.md)`"
    tree = write_tree(tmp_path, {"d.md": text, "README.md": links})

    assert dead_links(tree / "README.md") == []


def test_the_documents_for_people_lead_to_the_specification() -> None:
    names = ("README", "CONTRIBUTING", *(f"docs/{name}" for name in LEADING_TO_THE_SPECIFICATION))

    missing = [name for name in names if "spec/" not in (ROOT / f"{name}.md").read_text(encoding="utf-8")]
    assert missing == []


LEADING_TO_THE_SPECIFICATION = ("architecture", "api", "configuration", "network", "replaying", "snapshots")
